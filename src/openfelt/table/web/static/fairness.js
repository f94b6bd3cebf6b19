// Watches the deals of a session: what was announced before, what was seen, whether it fits in the end.

import { el } from "./dom.js";
import { announcedDeal, drawnNonces, nonceFor, rememberCommitment, rememberSeen, seenHand } from "./storage.js";
import { drawNonce, verify } from "./verify.js";

const ANOTHER_NONCE = "The hand was dealt with another number than this browser's.";

/** Whether all cards that were seen still lie where they lay. */
function stay(before, now) {
  return before.every((card, place) => card === "??" || card === now?.[place]);
}

/** The cards of a hand as a state shows them, after what was seen of it before. */
function look(hand, before) {
  const hands = hand.seats.map((seat) => [...seat.cards]);
  const board = [...hand.board];
  if (before?.number !== hand.number) return { number: hand.number, hands, board, changed: false };
  const same = before.hands.every((cards, seat) => stay(cards, hands[seat])) && stay(before.board, board);
  return { number: hand.number, hands, board, changed: before.changed || !same };
}

/** {kind: "fair" | "unseen" | "foul", faults}; whoever draws the nonce could try many, so only our own is proof. */
function judgement(faults, isOurs) {
  if (faults.length) return { kind: "foul", faults };
  return { kind: isOurs ? "fair" : "unseen", faults };
}

function facts({ game, number, seat, seed, nonce }, { seats, board }, commitment) {
  const hands = seats.map((each) => each.cards);
  return { game, number, seat, seed, nonce, commitment, hands, board, folded: seats.map((each) => each.folded) };
}

/** A witness of one session's deals. */
export class Witness {
  constructor(session) {
    this.session = session;
  }

  /** Takes note of a state: the commitment announced for the next hand, and the cards that are open now. */
  watch({ hand, next }) {
    if (next) rememberCommitment(this.session, next.number, next.commitment);
    if (hand) rememberSeen(this.session, look(hand, seenHand(this.session)));
  }

  /** This browser's nonce for a hand, the same at every try. */
  nonce(number) {
    return nonceFor(this.session, number, drawNonce);
  }

  /** The judgement of a finished hand, after all its states were watched. */
  judge(game, hand) {
    const deal = announcedDeal(this.session, hand.number);
    const faults = verify(facts({ ...hand, game }, hand, deal?.commitment ?? hand.commitment));
    if (deal && deal.commitment !== hand.commitment) faults.push("The commitment is not the one announced before the deal.");
    if (deal?.nonce && deal.nonce !== hand.nonce) faults.push(ANOTHER_NONCE);
    const seen = seenHand(this.session);
    if (seen?.number === hand.number && seen.changed) faults.push("Cards changed while the hand was on.");
    return judgement(faults, Boolean(deal?.nonce));
  }
}

/** The judgement of a hand that is looked back at: by what this browser remembers of its deal, if it dealt it. */
export function judgeReview(review) {
  const faults = verify(facts(review, review.end, review.commitment));
  const ours = drawnNonces(review.commitment, review.number);
  if (ours.length && !ours.includes(review.nonce)) faults.push(ANOTHER_NONCE);
  return judgement(faults, ours.length > 0);
}

const SENTENCES = {
  fair: "Fair deal: verified",
  unseen: "The cards match the seed; whether the server fixed it before the deal only the browser that dealt can tell",
  foul: "Warning: this deal does NOT check out",
};

const EXPLAIN = {
  fair:
    "Before the deal the server showed the commitment, the sha256 of its seed; then this browser drew the nonce. " +
    "Seed and nonce together give the shuffle, and all cards of the hand are those of the shuffle: nobody could choose them.",
  unseen:
    "All cards are those of the shuffle by seed and nonce, and the seed matches the commitment. " +
    "This browser did not draw the nonce, or has forgotten it, so it cannot tell which of them came first.",
  foul: "The cards, the seed or the nonce are not what was promised before the deal.",
};

/** Shows a judgement in `node`, with the numbers behind it. */
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
