// The 13 by 13 grid of hand classes: names, order, and movement by the arrow keys.

import { rankName } from "./cards.js";

export const RANKS = [..."AKQJT98765432"];
export const SUITS = [..."shdc"];
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** The class in a row and column: pairs on the diagonal, suited above it, offsuit below. */
export function classAt(row, column) {
  if (row === column) return RANKS[row] + RANKS[row];
  return row < column ? `${RANKS[row]}${RANKS[column]}s` : `${RANKS[column]}${RANKS[row]}o`;
}

/** The class of two cards, the higher one first: "AhKd" is "AKo". */
export function classOf(hand) {
  const [high, first, low, second] = hand;
  if (high === low) return high + low;
  return high + low + (first === second ? "s" : "o");
}

/** A class in words: "ace and king, suited". */
export function className(name) {
  const [high, low, kind] = name;
  if (high === low) return `pair of ${rankName(high)}${high === "6" ? "es" : "s"}`;
  return `${rankName(high)} and ${rankName(low)}, ${kind === "s" ? "suited" : "offsuit"}`;
}

/** All classes with their places, row by row. */
export function allClasses() {
  return RANKS.flatMap((_, row) => RANKS.map((_, column) => ({ name: classAt(row, column), row, column })));
}

/**
 * Arrow keys, Home and End move the focus among elements with data-row and data-column; one of them is in the
 * tab order.
 */
export function arrowKeys(grid) {
  const at = (row, column) => grid.querySelector(`[data-row="${row}"][data-column="${column}"]`);
  grid.addEventListener("keydown", (event) => {
    const from = event.target.closest("[data-row]");
    if (!from || event.ctrlKey || event.altKey || event.metaKey) return;
    const [row, column] = [Number(from.dataset.row), Number(from.dataset.column)];
    const step = STEPS[event.key];
    const target = step ? at(row + step[0], column + step[1])
      : event.key === "Home" ? at(row, 0)
      : event.key === "End" ? at(row, RANKS.length - 1) : null;
    if (!step && !target) return;
    event.preventDefault();
    target?.focus();
  });
  grid.addEventListener("focusin", (event) => {
    const now = event.target.closest("[data-row]");
    if (!now) return;
    grid.querySelector('[tabindex="0"]')?.setAttribute("tabindex", "-1");
    now.tabIndex = 0;
  });
}
