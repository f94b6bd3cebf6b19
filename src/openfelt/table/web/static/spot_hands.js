// The hands of one class: weight, frequencies and expected values of the actions, equity and its realisation.

import { cardSpans, splitCards } from "./board_picker.js";
import { el } from "./dom.js";
import { className } from "./hand_grid.js";
import { actionText, colours, gradient, swatch } from "./spot_actions.js";

/** A number with a fixed count of digits after the point and a true minus sign; a dash if there is none. */
function fixed(value, digits) {
  if (value === null || value === undefined) return "–";
  const rounded = Number(value.toFixed(digits));
  const text = Math.abs(rounded).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return rounded < 0 ? `\u2212${text}` : text;
}

export function share(value) {
  return value === null || value === undefined ? "–" : `${fixed(100 * value, 1)}%`;
}

export function chips(value) {
  return fixed(value, 2);
}

function actionCell(columns, action, hand) {
  const often = columns.strategy[action][hand];
  return el("td", { "data-share": often }, share(often), " ", el("small", {}, `EV ${chips(columns.action_ev[action][hand])}`));
}

function row(columns, actions, paints, hand) {
  const strip = actions.length ? el("span", { class: "hand-strip", "aria-hidden": "true" }) : null;
  if (strip) strip.style.backgroundImage = gradient(paints, columns.strategy.map((each) => each[hand]));
  return el("tr", { "data-combo": columns.names[hand] },
    el("th", { scope: "row" }, cardSpans(splitCards(columns.names[hand])), strip),
    el("td", {}, share(columns.weight[hand])),
    actions.map((_, action) => actionCell(columns, action, hand)),
    el("td", {}, chips(columns.ev[hand])),
    el("td", {}, share(columns.equity[hand])),
    el("td", {}, share(columns.realisation[hand])));
}

/** The table of the hands of a class; `cell` is null if none of them is here. */
export function handTable(name, cell, columns, actions, player) {
  const head = el("h3", {}, `${name} `, el("span", { class: "quiet" }, `${className(name)}, ${player.toUpperCase()}`));
  if (!cell) return [head, el("p", { class: "quiet" }, "No hand of this class is in the range here.")];
  const paints = colours(actions);
  const column = (text, title) => el("th", { scope: "col" }, title ? el("abbr", { title }, text) : text);
  const titles = actions.map((action, i) => el("th", { scope: "col" }, swatch(paints[i]), actionText(action)));
  const table = el("table", { class: "hand-table" },
    el("thead", {}, el("tr", {}, column("Hand"), column("Weight"), titles, column("EV"), column("Equity"), column("EQR", "Equity realisation: the expected value, divided by the equity's share of the pot"))),
    el("tbody", {}, cell.hands.map((hand) => row(columns, actions, paints, hand))));
  return [head, el("div", { class: "table-scroll", tabindex: 0, role: "region", "aria-label": `Hands of ${name}` }, table), el("p", { class: "quiet" }, "EV in chips of the pot, from here on. EQR: equity realisation.")];
}
