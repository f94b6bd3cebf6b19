// All cards that can be dealt at the end of a street: frequencies of the next decision, values, equities.

import { cardSpans } from "./board_picker.js";
import { el } from "./dom.js";
import { RANKS, SUITS } from "./hand_grid.js";
import { actionText, colours, swatch } from "./spot_actions.js";
import { chips, share } from "./spot_hands.js";

function order(card) {
  return RANKS.indexOf(card[0]) * SUITS.length + SUITS.indexOf(card[1]);
}

/** The columns: a title, the value by which they sort, and the text. */
function columnsOf(runouts) {
  const paints = colours(runouts.actions);
  const both = (name, title, get, text) => ["OOP", "IP"].map((player, i) => ({ id: `${name}-${player}`, title: [`${title} ${player}`], value: (each) => each[get][i], text }));
  return [
    { id: "card", title: ["Card"], value: (each) => order(each.card), isFirst: true },
    ...runouts.actions.map((action, i) => ({ id: action.code, title: [swatch(paints[i]), `${runouts.player.toUpperCase()} ${actionText(action).toLowerCase()}`], value: (each) => each.frequencies[i], text: share })),
    ...both("ev", "EV", "values", chips),
    ...both("equity", "Equity", "equities", share),
  ];
}

/** A sortable table; `go(card)` opens a card. */
export class RunoutTable {
  constructor(runouts, go) {
    this.runouts = runouts;
    this.go = go;
    this.columns = columnsOf(runouts);
    this.by = this.columns[0];
    this.isDown = false;
    this.head = el("thead");
    this.body = el("tbody");
    this.node = el("table", { class: "hand-table runout-table", id: "runouts" }, this.head, this.body);
    this.draw();
  }

  sort(column) {
    this.isDown = column === this.by ? !this.isDown : !column.isFirst;
    this.by = column;
    this.draw();
    this.head.querySelector(`[data-sort="${column.id}"]`).focus();
  }

  draw() {
    const titles = this.columns.map((column) => {
      const sorted = column === this.by ? (this.isDown ? "descending" : "ascending") : null;
      const mark = sorted ? (this.isDown ? " ▾" : " ▴") : "";
      const button = el("button", { type: "button", class: "sort", "data-sort": column.id, on: { click: () => this.sort(column) } }, column.title, el("span", { "aria-hidden": "true" }, mark));
      return el("th", { scope: "col", "aria-sort": sorted }, button);
    });
    this.head.replaceChildren(el("tr", {}, titles));
    const sign = this.isDown ? -1 : 1;
    const known = (each) => this.by.value(each) ?? -Infinity;
    const sorted = [...this.runouts.cards].sort((a, b) => sign * (known(a) - known(b)) || order(a.card) - order(b.card));
    this.body.replaceChildren(...sorted.map((each) => this.row(each)));
  }

  row(each) {
    const open = el("button", { type: "button", class: "runout-card", on: { click: () => this.go(each.card) } }, cardSpans([each.card]));
    const cells = this.columns.slice(1).map((column) => el("td", {}, column.text(column.value(each))));
    return el("tr", { "data-card": each.card }, el("th", { scope: "row" }, open), cells);
  }
}
