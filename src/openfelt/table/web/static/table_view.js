// The table with its seats, board and pot, in play and in the review.

import { kindOf } from "./bars.js";
import { cardView, emptyCard } from "./cards.js";
import { el } from "./dom.js";
import { chips, money, withUnits } from "./money.js";
import { percent, signed } from "./text.js";

// Clockwise from the person.
const PLACES = { 2: ["bottom", "top"], 3: ["bottom", "left", "right"] };

/**
 * Draws `table` ({seats, board, board_size, street, pot}) into `node`; the person sits at the bottom, or the seat `bottom`. With
 * `moves`, chips move to the pot at the end of a betting round, and to the winners at the end of the hand.
 */
export function drawTable(node, table, { unit = "chips", over = false, moves = false, bottom = null } = {}) {
  const flights = moves ? chipFlights(node, table, over) : [];
  const before = new Set([...node.querySelectorAll("[data-place]")].map((card) => card.dataset.place));
  const you = bottom ?? Math.max(0, table.seats.findIndex((seat) => seat.you));
  const players = table.seats.length;
  const views = PLACES[players].map((place, after) => {
    const index = (you + after) % players;
    return seatView(table.seats[index], index, place, { unit, over });
  });
  node.replaceChildren(...views.slice(1), centre(table, unit), views[0]);
  node.dataset.players = players;
  markNew(node, before);
  for (const flight of flights) fly(node, flight);
}

/** Chips that leave their place: {chip, from, to}, `to` being a selector in the new table. */
function chipFlights(node, table, over) {
  const pot = node.querySelector(".pot");
  if (over) {
    const winners = table.seats.map((seat, index) => [seat.won + seat.paid, index]).filter(([paid]) => paid > 0);
    return pot && !node.querySelector(".seat-won") ? winners.map(([, index]) => flight(pot, `[data-seat="${index}"] .plate`)) : [];
  }
  if (table.seats.some((seat) => seat.bet > 0)) return [];
  return [...node.querySelectorAll(".bet[data-bet]:not([data-bet='0'])")].map((bet) => flight(bet, ".pot"));
}

function flight(from, to) {
  return { from: from.getBoundingClientRect(), to };
}

function fly(node, { from, to }) {
  const target = node.querySelector(to)?.getBoundingClientRect();
  if (!target || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const moving = el("span", { class: "chip chip-moving", "aria-hidden": "true" });
  Object.assign(moving.style, { left: `${from.left + from.width / 2}px`, top: `${from.top + from.height / 2}px` });
  document.body.append(moving);
  const [x, y] = [target.left + target.width / 2 - from.left - from.width / 2, target.top + target.height / 2 - from.top - from.height / 2];
  const path = [{ transform: "none" }, { transform: `translate(${x}px, ${y}px)` }];
  moving.animate(path, { duration: 380, easing: "ease-in-out" }).onfinish = () => moving.remove();
}

// New cards appear with a short animation.
function markNew(node, before) {
  for (const card of node.querySelectorAll("[data-place]")) {
    if (!before.has(card.dataset.place)) card.classList.add("card-new");
  }
}

function placed(card, place) {
  const view = card === null ? emptyCard() : cardView(card);
  if (card !== null) view.dataset.place = `${place}:${card}`;
  return view;
}

function centre(table, unit) {
  const cards = Array.from({ length: table.board_size }, (_, i) => placed(table.board[i] ?? null, `board${i}`));
  const board = el("div", { class: "board", "data-board": "", role: "group", "aria-label": boardLabel(table) }, cards);
  if (!table.street && !table.pot) return el("div", { class: "centre" }); // nothing is dealt yet
  const amount = el("strong", {}, money(table.pot, unit));
  const pot = el("p", { class: "pot", "data-pot": table.pot }, chip(), "Pot ", amount);
  const street = el("p", { class: "street", "data-street": table.street }, table.street);
  return el("div", { class: "centre" }, street, table.board_size ? board : null, pot);
}

function boardLabel(table) {
  return table.board.length ? "Board" : "Board, no card yet";
}

function chip() {
  return el("span", { class: "chip", "aria-hidden": "true" });
}

function seatView(seat, index, place, { unit, over }) {
  const classes = ["seat", `seat-${place}`];
  if (seat.folded) classes.push("seat-folded");
  if (seat.turn) classes.push("seat-turn");
  if (over && seat.won > 0) classes.push("seat-won");
  const name = seat.name === "you" ? "You" : seat.name;
  const cards = el("div", { class: "hole" }, seat.cards.map((card, i) => placed(card, `seat${index}.${i}`)));
  const plate = el(
    "div",
    { class: "plate" },
    el("div", { class: "plate-top" }, el("strong", { class: "seat-name" }, name), seat.button && button()),
    el("div", { class: "plate-low" }, el("span", { class: "stack" }, stackText(seat, unit)), post(seat)),
    equityView(seat),
    mark(seat, over),
  );
  const attributes = { class: classes.join(" "), "data-seat": index, role: "group", "aria-label": name };
  if (seat.you) attributes["data-you"] = "";
  return el("section", attributes, el("div", { class: "seat-body" }, cards, plate), betView(seat, over));
}

function stackText(seat, unit) {
  if (seat.stack === null || seat.stack === undefined) return "";
  return money(seat.stack, unit);
}

function equityView(seat) {
  const known = seat.equity !== null && seat.equity !== undefined;
  return known && el("span", { class: "equity", "data-equity": seat.equity }, `equity ${percent(seat.equity)}`);
}

function button() {
  return el("span", { class: "dealer", title: "Dealer button", role: "img", "aria-label": "dealer button" }, "D");
}

function post(seat) {
  return seat.post && el("span", { class: "post" }, seat.post);
}

// The state of a seat in words, so that it does not depend on colour alone.
function mark(seat, over) {
  if (over && seat.won !== null && seat.won !== undefined) {
    const kind = seat.won > 0 ? "won" : seat.won < 0 ? "lost" : "even";
    return el("span", { class: `mark mark-${kind}` }, seat.folded ? `folded, ${signed(seat.won)}` : signed(seat.won));
  }
  if (seat.folded) return el("span", { class: "mark mark-folded" }, "folded");
  if (seat.turn) return el("span", { class: "mark mark-turn" }, seat.you ? "▸ your turn" : "▸ to act");
  return null;
}

/** The bet of a seat with its last action: "Raise to 6", or a blind alone. */
function betView(seat, over) {
  const action = over ? "" : seat.action ?? "";
  const attributes = { class: seat.bet > 0 || action ? "bet" : "bet bet-none", "data-bet": seat.bet };
  if (!seat.bet && !action) return el("div", attributes);
  const label = action ? withUnits(action) : [el("span", { class: "visually-hidden" }, "bet "), chips(seat.bet)];
  if (action) Object.assign(attributes, { "data-last": action, "data-kind": kindOf(action) });
  return el("div", attributes, seat.bet > 0 && chip(), el("span", {}, label));
}
