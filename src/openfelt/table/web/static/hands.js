// The list of a session's earlier hands, newest first.

import { get } from "./api.js";
import { cardName, cardText } from "./cards.js";
import { byId, el } from "./dom.js";
import { list, signed } from "./text.js";

/** Cards as coloured text, with their names for screen readers. */
function smallCards(cards) {
  const shown = cards.map((card) => el("span", { class: `small-card card-${card[1] ?? "plain"}` }, cardText(card)));
  const named = el("span", { class: "visually-hidden" }, list(cards.map(cardName)));
  return [el("span", { "aria-hidden": "true" }, shown), named];
}

function wonText(hand) {
  if (hand.returned) return el("span", { class: "hand-won" }, "cancelled");
  const kind = hand.won > 0 ? "won" : hand.won < 0 ? "lost" : "even";
  return el("span", { class: `hand-won ${kind}` }, signed(hand.won));
}

function luckFreeText(hand) {
  const known = !hand.returned && hand.luck_free !== null && hand.luck_free !== undefined;
  return el("span", { class: "hand-luck-free" }, known ? `luck-adjusted ${signed(hand.luck_free)}` : "");
}

function row(hand) {
  const board = hand.board.length ? [" | ", ...smallCards(hand.board)] : [];
  const parts = [
    el("span", { class: "hand-number" }, el("span", { class: "visually-hidden" }, "Hand "), `#${hand.number}`),
    el("span", { class: "hand-cards" }, smallCards(hand.cards), board),
    el("span", { class: "hand-line" }, hand.line),
    wonText(hand),
    luckFreeText(hand),
  ];
  const inside = hand.link ? el("a", { href: `/hand/${encodeURIComponent(hand.link)}` }, parts) : el("span", {}, parts);
  return el("li", { "data-hand": hand.number }, inside);
}

/** The list of one session; `load()` fetches the newest hands, the button older ones. */
export class HandList {
  constructor(session, onError) {
    this.address = `/api/sessions/${encodeURIComponent(session)}/hands`;
    this.onError = onError;
    this.hands = new Map();
    this.more = null; // whether the server has older hands; null: not known yet
    byId("more-hands").addEventListener("click", () => this.load(Math.min(...this.hands.keys())));
  }

  async load(before = null) {
    try {
      const answer = await get(before === null ? this.address : `${this.address}?before=${before}`);
      for (const hand of answer.hands) this.hands.set(hand.number, hand);
      if (before !== null || this.more === null) this.more = answer.more;
      this.draw();
    } catch (error) {
      this.onError(error.message);
    }
  }

  draw() {
    const newest = [...this.hands.values()].sort((a, b) => b.number - a.number);
    byId("hands").replaceChildren(...newest.map(row));
    byId("no-hands").hidden = newest.length > 0;
    byId("more-hands").hidden = !this.more;
  }

  /** Links to all hands as files. */
  drawDownloads(game) {
    const link = (name, text) => el("a", { href: `${this.address}.${name}`, download: true }, text);
    const links = [link("jsonl", "All hands as JSON lines")];
    if (game.startsWith("holdem")) links.unshift(link("phhs", "All hands as PHH"));
    byId("downloads").replaceChildren(...links);
    byId("downloads").hidden = this.hands.size === 0;
  }
}
