// Actions of a spot: their words, their colours, and the line that leads to a position.

import { cardText } from "./cards.js";
import { el } from "./dom.js";
import { capital } from "./text.js";

const WORDS = { f: "fold", x: "check", c: "call", b: "bet", r: "raise", a: "all-in" };
const CARD = /^[2-9TJQKA][cdhs]$/;

export function isCard(token) {
  return CARD.test(token);
}

/** A token of a line in words: "bet 120", "2♠". */
function tokenText(token) {
  if (isCard(token)) return cardText(token);
  return token.length > 1 ? `${WORDS[token[0]]} ${token.slice(1)}` : WORDS[token];
}

/** The tokens of a line with who acted: [{token, text}]; OOP acts first on every street. */
export function steps(line) {
  let turn = 0;
  return line.split(" ").filter(Boolean).map((token) => {
    if (isCard(token)) {
      turn = 0;
      return { token, text: tokenText(token) };
    }
    turn += 1;
    return { token, text: `${turn % 2 ? "OOP" : "IP"} ${tokenText(token)}` };
  });
}

/** A colour for each action: folds blue, checks and calls green, bets and raises from red to dark red by size. */
export function colours(actions) {
  const sized = actions.filter(({ code }) => "bra".includes(code[0]));
  return actions.map((action) => {
    if (action.code === "f") return "var(--fold)";
    const place = sized.indexOf(action);
    if (place < 0) return "var(--call)";
    const dark = sized.length > 1 ? Math.round((65 * place) / (sized.length - 1)) : 0;
    return `color-mix(in srgb, var(--raise), #33061f ${dark}%)`;
  });
}

/** Shares as a background, the last action from the left. */
export function gradient(paints, shares) {
  let from = 0;
  const parts = paints.map((paint, i) => [paint, shares[i] ?? 0]).reverse().map(([paint, share]) => {
    const part = `${paint} ${100 * from}% ${100 * (from + share)}%`;
    from += share;
    return part;
  });
  return `linear-gradient(to right, ${parts.join(", ")})`;
}

/** A small square in a colour. */
export function swatch(paint) {
  const square = el("span", { class: "action-swatch", "aria-hidden": "true" });
  square.style.background = paint;
  return square;
}

export function actionText(action) {
  return capital(action.name);
}
