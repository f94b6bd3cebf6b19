// A deck to choose cards from: four rows of suits, aces first.

import { cardName, cardText } from "./cards.js";
import { el } from "./dom.js";
import { arrowKeys, RANKS, SUITS } from "./hand_grid.js";

/** A grid of 52 buttons; `pick(card)` is called for the one that is pressed. */
export class CardPicker {
  constructor(node, label, pick) {
    this.buttons = new Map();
    const rows = SUITS.map((suit, row) => {
      const cells = RANKS.map((rank, column) => el("div", { role: "gridcell" }, this.button(rank + suit, row, column, pick)));
      return el("div", { role: "row", class: "deck-row" }, cells);
    });
    this.buttons.get("As").tabIndex = 0;
    this.grid = el("div", { role: "grid", "aria-label": label, class: "deck" }, rows);
    arrowKeys(this.grid);
    node.replaceChildren(this.grid);
  }

  button(card, row, column, pick) {
    const attributes = { type: "button", class: `deck-card suit-${card[1]}`, tabindex: -1, "data-pick": card, "data-row": row, "data-column": column, "aria-label": cardName(card), on: { click: () => pick(card) } };
    const button = el("button", attributes, el("span", { "aria-hidden": "true" }, card[0] + cardText(card).at(-1))); // T, since 10 is too wide
    this.buttons.set(card, button);
    return button;
  }

  /** Marks the chosen cards, and disables others. */
  show(chosen, disabled) {
    for (const [card, button] of this.buttons) {
      button.setAttribute("aria-pressed", String(chosen.includes(card)));
      button.setAttribute("aria-disabled", String(disabled(card)));
    }
  }
}

/** Cards as small coloured text, with their names for screen readers. */
export function cardSpans(cards) {
  return cards.map((card) =>
    el("span", { class: `card-tag suit-${card[1]}` }, el("span", { "aria-hidden": "true" }, cardText(card)), el("span", { class: "visually-hidden" }, `${cardName(card)} `)));
}

/** The cards in a text: "Td9d6h". */
export function splitCards(text) {
  return text.match(/.{2}/g) ?? [];
}
