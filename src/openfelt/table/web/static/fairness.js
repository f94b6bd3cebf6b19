// Verifies the deals of a session: the commitment before the deal, the cards seen during it, the seed after it.

import { el } from "./dom.js";
import { announcedDeal, drawnNonces, nonceFor, rememberCommitment, rememberSeen, seenHand } from "./storage.js";
import { drawNonce, verify } from "./verify.js";

const ANOTHER_NONCE = "The hand was dealt with another nonce than this browser's.";

/** Whether all cards that were seen are still in their places. */
function unchanged(before, now) {
  return before.every((card, place) => card === "??" || card === now?.[place]);
}

/** The cards of a hand as a state shows them, after what was seen of it before. */
function look(hand, before) {
  const hands = hand.seats.map((seat) => [...seat.cards]);
  const board = [...hand.board];
  if (before?.number !== hand.number) return { number: hand.number, hands, board, changed: false };
  const same = before.hands.every((cards, seat) => unchanged(cards, hands[seat])) && unchanged(before.board, board);
  return { number: hand.number, hands, board, changed: before.changed || !same };
}

/** {kind: "fair" | "unseen" | "foul", faults}. Only this browser's own nonce is proof: others could try many. */
function verdict(faults, isOurs) {
  if (faults.length) return { kind: "foul", faults };
  return { kind: isOurs ? "fair" : "unseen", faults };
}

function facts({ game, number, seat, seed, nonce }, { seats, board }, commitment) {
  const hands = seats.map((each) => each.cards);
  return { game, number, seat, seed, nonce, commitment, hands, board, folded: seats.map((each) => each.folded) };
}

/** Verifies the deals of one session. */
export class DealVerifier {
  constructor(session) {
    this.session = session;
  }

  /** Records the commitment of the next hand, and the cards that are open now. */
  record({ hand, next }) {
    if (next) rememberCommitment(this.session, next.number, next.commitment);
    if (hand) rememberSeen(this.session, look(hand, seenHand(this.session)));
  }

  /** This browser's nonce for a hand, the same at every attempt. */
  nonce(number) {
    return nonceFor(this.session, number, drawNonce);
  }

  /** The verdict on a finished hand, after all its states were recorded. */
  verdictOn(game, hand) {
    const deal = announcedDeal(this.session, hand.number);
    const faults = verify(facts({ ...hand, game }, hand, deal?.commitment ?? hand.commitment));
    if (deal && deal.commitment !== hand.commitment) faults.push("The commitment is not the one announced before the deal.");
    if (deal?.nonce && deal.nonce !== hand.nonce) faults.push(ANOTHER_NONCE);
    const seen = seenHand(this.session);
    if (seen?.number === hand.number && seen.changed) faults.push("Cards changed during the hand.");
    return verdict(faults, Boolean(deal?.nonce));
  }
}

/** The verdict on a hand in review, by what this browser has stored of its deal, if it dealt it. */
export function verdictOnReview(review) {
  const faults = verify(facts(review, review.end, review.commitment));
  const ours = drawnNonces(review.commitment, review.number);
  if (ours.length && !ours.includes(review.nonce)) faults.push(ANOTHER_NONCE);
  return verdict(faults, ours.length > 0);
}

const SENTENCES = {
  fair: "Fair deal: verified",
  unseen: "The cards match the seed; only the browser that dealt the hand can tell whether the seed was fixed before the deal",
  foul: "Warning: this deal FAILED verification",
};

const EXPLAIN = {
  fair:
    "Before the deal the server showed the commitment, the SHA-256 of its seed; then this browser drew the nonce. " +
    "Seed and nonce determine the shuffle, and all cards of the hand match the shuffle: the server could not choose them.",
  unseen:
    "All cards match the shuffle by seed and nonce, and the seed matches the commitment. " +
    "This browser did not draw the nonce, or no longer stores it, so it cannot tell which of them came first.",
  foul: "The cards, the seed or the nonce do not match what was announced before the deal.",
};

/** Shows a verdict in `node`, with the numbers behind it. */
export function drawFairness(node, { kind, faults }, hand) {
  const sign = { fair: "✓", unseen: "–", foul: "⚠" }[kind];
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
