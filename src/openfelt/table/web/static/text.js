// Numbers and words as the pages show them.

const MINUS = "\u2212";

/** A number with at most `digits` digits after the point and a true minus sign. */
export function number(value, digits = 2) {
  const rounded = Number(value.toFixed(digits));
  const text = Math.abs(rounded).toLocaleString("en", { maximumFractionDigits: digits });
  return rounded < 0 ? MINUS + text : text;
}

/** The same with a plus sign if it is above zero. */
export function signed(value, digits = 2) {
  const text = number(value, digits);
  return Number(value.toFixed(digits)) > 0 ? `+${text}` : text;
}

/** The unit for a number, in the singular for 1 ("chip", "chips"). */
function unitFor(value, unit, digits = 2) {
  return Math.abs(Number(value.toFixed(digits))) === 1 && unit.endsWith("s") ? unit.slice(0, -1) : unit;
}

/** A number with its unit: "1 chip", "2 chips". */
export function counted(value, unit, digits = 2) {
  return `${number(value, digits)} ${unitFor(value, unit, digits)}`;
}

/** A share as a whole percentage, or "<1%" and ">99%" near the ends. */
export function percent(share) {
  if (share > 0 && share < 0.005) return "<1%";
  if (share < 1 && share > 0.995) return ">99%";
  return `${Math.round(100 * share)}%`;
}

/** " ± 0.31"; "" where the interval is not known or too small for the digits: "± 0" would claim that it is exact. */
export function spread(interval, digits = 2) {
  const text = number(interval ?? 0, digits);
  return text === "0" ? "" : ` ± ${text}`;
}

/** A rate with its interval, without the unit: "+58.3 ± 102.1". */
export function rate(value, interval, digits) {
  return signed(value, digits) + spread(interval, digits);
}

/** "one", "one and two", "one, two and three". */
export function list(words) {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A summary as a sentence: names in back quotes lose them, it begins with a capital and ends with a stop. */
export function sentence(text) {
  const plain = capital((text ?? "").replaceAll("`", "").trim());
  return plain && !/[.!?]$/.test(plain) ? `${plain}.` : plain;
}
