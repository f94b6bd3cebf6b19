// Probabilities of actions as bars: one below the other, or stacked in one.

import { el } from "./dom.js";
import { percent } from "./text.js";

const KINDS = { fold: "fold", check: "call", call: "call", bet: "raise", raise: "raise" };
const LETTERS = { fold: "F", call: "C", raise: "R" };

/** The kind of an action by its label: fold, call (or check), raise (or bet). Kuhn's word "bet" may be a call. */
export function kindOf(label) {
  return KINDS[label.toLowerCase().split(" ")[0]] ?? "call";
}

/** The letter of an action, which is also its key at the table. */
export function letter(label) {
  return LETTERS[kindOf(label)];
}

/** "fold 10%, call 90%" */
export function sharesText(labels, shares) {
  return labels.map((label, i) => `${label.toLowerCase()} ${percent(shares[i])}`).join(", ");
}

function bar(label, share) {
  const inner = el("span", { class: `bar-inner share-${kindOf(label)}` });
  inner.style.width = `${100 * share}%`;
  return el("span", { class: "bar-outer", "aria-hidden": "true" }, inner);
}

/** One bar per action, with its label and percentage; the chosen one is marked. */
export function barList(actions, shares, chosen = -1) {
  const rows = actions.map((action, i) => {
    const mark = i === chosen ? el("span", { class: "chosen" }, "◂ chosen") : null;
    const attributes = { class: i === chosen ? "bar-row bar-chosen" : "bar-row", "data-word": action.word };
    const value = el("span", { class: "bar-value" }, percent(shares[i]));
    return el("li", attributes, el("span", { class: "bar-label" }, action.label), bar(action.label, shares[i]), value, mark);
  });
  return el("ul", { class: "bars" }, rows);
}

/** All shares in one bar. Raise comes first, as poker players expect; numbers are shown where they fit. */
export function stackedBar(labels, shares, { fits = 0.2 } = {}) {
  const parts = labels.map((label, i) => {
    const text = shares[i] >= fits ? `${letter(label)} ${Math.round(100 * shares[i])}` : "";
    const part = el("span", { class: `stack-part share-${kindOf(label)}` }, text);
    part.style.flexGrow = String(shares[i]);
    part.hidden = shares[i] < 0.0005;
    return part;
  });
  const text = sharesText(labels, shares);
  const drawn = el("span", { class: "stack-bar", "aria-hidden": "true" }, parts.reverse());
  return el("span", { class: "stack-box", title: text }, drawn, el("span", { class: "visually-hidden" }, text));
}
