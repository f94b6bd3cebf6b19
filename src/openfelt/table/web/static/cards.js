// Playing cards as SVG: a four-colour deck, rank-only cards for Kuhn and Leduc, and the back.

import { svg } from "./dom.js";

const RANKS = {
  2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine",
  T: "ten", J: "jack", Q: "queen", K: "king", A: "ace",
};
const SUITS = { s: "spades", h: "hearts", d: "diamonds", c: "clubs" };

// Each suit is drawn in a square of 100 by 100.
const SHAPES = {
  s: "M50 4C58 24 92 38 92 64C92 80 80 87 70 87C63 87 57 84 54 79C54 88 58 94 66 98L34 98C42 94 46 88 46 79C43 84 37 87 30 87C20 87 8 80 8 64C8 38 42 24 50 4Z",
  h: "M50 96C42 74 6 58 6 30C6 14 18 5 30 5C40 5 47 11 50 19C53 11 60 5 70 5C82 5 94 14 94 30C94 58 58 74 50 96Z",
  d: "M50 2C59 22 73 39 90 50C73 61 59 78 50 98C41 78 27 61 10 50C27 39 41 22 50 2Z",
  c: "M50 3C63 3 73 13 73 25C73 32 70 37 66 41C80 38 95 47 95 63C95 77 84 85 73 85C64 85 58 81 54 74C54 86 58 93 66 98L34 98C42 93 46 86 46 74C42 81 36 85 27 85C16 85 5 77 5 63C5 47 20 38 34 41C30 37 27 32 27 25C27 13 37 3 50 3Z",
};

/** A rank in words: "ace". */
export function rankName(rank) {
  return RANKS[rank] ?? rank;
}

/** A card in words: "ace of hearts", "king", "face-down card". */
export function cardName(card) {
  if (card === "??") return "face-down card";
  const rank = rankName(card[0]);
  return card.length > 1 ? `${rank} of ${SUITS[card[1]]}` : rank;
}

/** A card in short: A♥, K, or ? for a hidden one. */
export function cardText(card) {
  if (card === "??") return "?";
  const rank = card[0] === "T" ? "10" : card[0];
  return rank + ({ s: "♠", h: "♥", d: "♦", c: "♣" }[card[1]] ?? "");
}

function pip(suit, x, y, size) {
  const place = `translate(${x} ${y}) scale(${size / 100})`;
  return svg("path", { d: SHAPES[suit], transform: place, class: "card-ink" });
}

function rankText(rank, x, y, size) {
  const shown = rank === "T" ? "10" : rank;
  const attributes = { x, y, "font-size": size, "text-anchor": "middle", class: "card-ink card-rank" };
  if (shown === "10") Object.assign(attributes, { textLength: size * 0.9, lengthAdjust: "spacingAndGlyphs" });
  return svg("text", attributes, shown);
}

function front(card) {
  const edge = svg("rect", { x: 1, y: 1, width: 98, height: 138, rx: 10, class: "card-face" });
  const [rank, suit] = card;
  if (suit) return [edge, rankText(rank, 29, 46, 50), pip(suit, 14, 60, 30), pip(suit, 41, 79, 52)];
  const frame = svg("rect", { x: 9, y: 9, width: 82, height: 122, rx: 6, class: "card-frame" });
  const turned = svg("g", { transform: "rotate(180 50 70)" }, rankText(rank, 22, 35, 24));
  return [edge, frame, rankText(rank, 50, 93, 66), rankText(rank, 22, 35, 24), turned];
}

// A lattice of diagonals within the back's frame, as one path.
function lattice() {
  const [left, top, right, bottom, gap] = [11, 11, 89, 129, 13];
  const lines = [];
  for (let start = left - (bottom - top); start < right; start += gap) {
    const from = Math.max(start, left);
    const to = Math.min(start + bottom - top, right);
    if (from >= to) continue;
    lines.push(`M${from} ${top + from - start}L${to} ${top + to - start}`);
    lines.push(`M${from} ${bottom - from + start}L${to} ${bottom - to + start}`);
  }
  return lines.join("");
}

function back() {
  return [
    svg("rect", { x: 1, y: 1, width: 98, height: 138, rx: 10, class: "card-face" }),
    svg("rect", { x: 7, y: 7, width: 86, height: 126, rx: 6, class: "card-back" }),
    svg("path", { d: lattice(), class: "card-lattice" }),
    svg("path", { d: "M50 46L68 70L50 94L32 70Z", class: "card-emblem" }),
  ];
}

/** The drawing of a card, with its name as text alternative. */
export function cardView(card) {
  const hidden = card === "??";
  const kind = hidden ? "card card-hidden" : `card card-${card[1] ?? "plain"}`;
  const attributes = { viewBox: "0 0 100 140", class: kind, role: "img", "aria-label": cardName(card), "data-card": card };
  return svg("svg", attributes, ...(hidden ? back() : front(card)));
}

/** The place of a card that is not dealt yet. */
export function emptyCard() {
  const edge = svg("rect", { x: 2, y: 2, width: 96, height: 136, rx: 10, class: "card-place" });
  return svg("svg", { viewBox: "0 0 100 140", class: "card card-empty", "aria-hidden": "true" }, edge);
}
