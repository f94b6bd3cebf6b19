// Watches the deals of a session: what was announced before, what was seen, whether it fits in the end.

import { el } from "./dom.js";
import { announcedDeal, forgetNonce, rememberCommitment, rememberNonce } from "./storage.js";
import { drawNonce, verify } from "./verify.js";

/** A witness of one session's deals. */
export class Witness {
  constructor(session) {
    this.session = session;
    this.seen = null; // {number, cards: the person's, board} as they were during the hand
  }

  /** Takes note of a state: the commitment announced for the next hand, and the cards that are open now. */
  watch(state) {
    if (state.next) rememberCommitment(this.session, state.next.number, state.next.commitment);
    const hand = state.hand;
    if (!hand || hand.over) return;
    const cards = hand.seats[hand.seat].cards;
    this.seen = { number: hand.number, cards: [...cards], board: [...hand.board] };
  }

  /** A fresh nonce for a hand; remembered, so that the hand can be held against it. */
  nonce(number) {
    const nonce = drawNonce();
    rememberNonce(this.session, number, nonce);
    return nonce;
  }

  /** The server refused the deal, so this nonce must not be asked for in the end. */
  refused(number, nonce) {
    forgetNonce(this.session, number, nonce);
  }

  /** {kind: "fair" | "unseen" | "none" | "foul", faults} of a finished hand. */
  judge(game, hand) {
    if (!hand.seed) return { kind: "none", faults: [] };
    const deal = announcedDeal(this.session, hand.number);
    const hands = hand.seats.map((seat) => seat.cards);
    const commitment = deal?.commitment ?? hand.commitment;
    const faults = verify({ game, seed: hand.seed, nonce: hand.nonce, commitment, hands, board: hand.board });
    if (deal && deal.commitment !== hand.commitment) faults.push("The commitment is not the one announced before the deal.");
    if (deal?.nonces.length && !deal.nonces.includes(hand.nonce)) faults.push("The nonce is not the one that this browser drew.");
    if (this.changed(hand)) faults.push("Cards changed between the deal and the end of the hand.");
    if (faults.length) return { kind: "foul", faults };
    return { kind: deal?.nonces.length ? "fair" : "unseen", faults }; // whoever draws the nonce could try many
  }

  changed(hand) {
    if (this.seen?.number !== hand.number) return false;
    const starts = (whole, part) => part.every((card, i) => whole[i] === card);
    return !starts(hand.seats[hand.seat].cards, this.seen.cards) || !starts(hand.board, this.seen.board);
  }
}

const SENTENCES = {
  fair: "Fair deal: verified",
  unseen: "Fair deal: cards match the seed",
  none: "Deal not checked: the server has not revealed its seed",
  foul: "Warning: this deal does NOT check out",
};

const EXPLAIN = {
  fair:
    "Before the deal the server showed the commitment, the sha256 of its seed; then this browser drew the nonce. " +
    "Seed and nonce together give the shuffle, and all cards of the hand are those of the shuffle: nobody could choose them.",
  unseen:
    "All cards are those of the shuffle by seed and nonce, and the seed matches the commitment. " +
    "Whether the commitment came before the nonce, only the browser that dealt the hand can tell.",
  none: "Without the seed the shuffle cannot be repeated.",
  foul: "The cards, the seed or the nonce are not what was promised before the deal.",
};

/** Shows a judgement in `node`, with the numbers behind it. */
export function drawFairness(node, { kind, faults }, hand) {
  const sign = { fair: "✓", unseen: "✓", none: "–", foul: "⚠" }[kind];
  const facts = [
    ["Commitment", hand.commitment],
    ["Seed", hand.seed ?? "not revealed"],
    ["Nonce", hand.nonce],
  ];
  const terms = facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, el("code", {}, value))]);
  const list = faults.length ? el("ul", {}, faults.map((fault) => el("li", {}, fault))) : null;
  const line = el("summary", {}, el("span", { "aria-hidden": "true" }, `${sign} `), SENTENCES[kind]);
  const open = kind === "foul";
  node.replaceChildren(el("details", { open }, line, el("p", {}, EXPLAIN[kind]), list, el("dl", { class: "facts" }, terms)));
  node.dataset.fair = kind;
  node.setAttribute("role", kind === "foul" ? "alert" : "group");
  node.hidden = false;
}
