// A player's hands at a position as a coloured 13 by 13 matrix: strategy, expected value, equity or weight.

import { el } from "./dom.js";
import { allClasses, arrowKeys, className, classOf, RANKS, SUITS } from "./hand_grid.js";
import { colours, gradient } from "./spot_actions.js";
import { number, percent } from "./text.js";

const LEAST_HEIGHT = 8; // percent of a cell, for hands that are rarely here

/** How many hands of a class share no card with the board. */
function possible(name, board) {
  const [high, low, kind] = name;
  let count = 0;
  for (const first of SUITS) {
    for (const second of SUITS) {
      if (kind === "s" ? first !== second : first === second) continue;
      if (!kind && first > second) continue;
      if (!board.includes(high + first) && !board.includes(low + second)) count += 1;
    }
  }
  return count;
}

function weighted(column, hands, weight, total) {
  return hands.reduce((sum, hand) => sum + (column[hand] ?? 0) * weight[hand], 0) / total;
}

/** The hands of a player by class: Map of {hands (places in the columns), share, strategy, ev, equity}. */
export function byClass(columns, board) {
  const classes = new Map();
  columns.names.forEach((name, place) => {
    const key = classOf(name);
    if (!classes.has(key)) classes.set(key, []);
    classes.get(key).push(place);
  });
  const cells = new Map();
  for (const [key, hands] of classes) {
    const total = hands.reduce((sum, hand) => sum + columns.weight[hand], 0);
    if (!(total > 0)) continue;
    cells.set(key, {
      hands,
      share: total / Math.max(possible(key, board), 1),
      strategy: columns.strategy.map((row) => weighted(row, hands, columns.weight, total)),
      ev: weighted(columns.ev, hands, columns.weight, total),
      equity: weighted(columns.equity, hands, columns.weight, total),
    });
  }
  return cells;
}

function heat(value, low, high) {
  const share = high > low ? Math.round((100 * (value - low)) / (high - low)) : 50;
  return `color-mix(in oklch, #17764a ${share}%, #7b3a86)`;
}

/** What a cell shows: its colours, a small number, and the same in words. */
function looks(cell, view, actions, bounds) {
  if (view === "strategy") {
    const words = actions.map((action, i) => `${action.name} ${percent(cell.strategy[i])}`).join(", ");
    return { paint: gradient(colours(actions), cell.strategy), small: "", words };
  }
  if (view === "ev") {
    const text = number(cell.ev, Math.abs(cell.ev) < 100 ? 1 : 0);
    return { paint: heat(cell.ev, ...bounds), small: text, words: `EV ${text} chips` };
  }
  if (view === "equity") return { paint: heat(cell.equity, 0, 1), small: percent(cell.equity), words: `equity ${percent(cell.equity)}` };
  return { paint: "var(--weight)", small: percent(cell.share), words: `weight ${percent(cell.share)}` };
}

/** A paint as a layer of a background; plain colours become gradients, so that they can have a height. */
function layer(paint) {
  return paint.startsWith("linear-gradient") ? paint : `linear-gradient(${paint}, ${paint})`;
}

function cellView({ name, row, column }, cell, look) {
  const words = look ? look.words : "not here";
  const attributes = { type: "button", class: cell ? "spot-cell" : "spot-cell spot-cell-out", tabindex: -1, "data-hand": name, "data-row": row, "data-column": column, "aria-label": `${className(name)}: ${words}` };
  const view = el("button", attributes, el("span", { "aria-hidden": "true" }, name), look?.small ? el("small", { "aria-hidden": "true" }, look.small) : null);
  if (cell) {
    view.style.backgroundImage = layer(look.paint);
    view.style.backgroundSize = `100% ${Math.max(LEAST_HEIGHT, Math.min(100, 100 * cell.share))}%`;
  }
  return view;
}

/** The matrix; `choose(name, pin)` is called for the class under the pointer or the focus, and on a click. */
export function matrixView({ cells, view, actions, label, choose }) {
  const values = [...cells.values()].map((cell) => cell.ev);
  const bounds = [Math.min(...values), Math.max(...values)];
  const views = allClasses().map((place) => {
    const cell = cells.get(place.name);
    return cellView(place, cell, cell && looks(cell, view, actions, bounds));
  });
  const rows = RANKS.map((_, row) =>
    el("div", { role: "row", class: "spot-matrix-row" },
      views.slice(RANKS.length * row, RANKS.length * (row + 1)).map((each) => el("div", { role: "gridcell" }, each))));
  const grid = el("div", { role: "grid", "aria-label": label, class: "spot-matrix", id: "spot-matrix" }, rows);
  arrowKeys(grid);
  const named = (event) => event.target.closest("[data-hand]")?.dataset.hand;
  grid.addEventListener("focusin", (event) => { if (event.target.matches(":focus-visible")) choose(named(event), "focus"); });
  grid.addEventListener("pointerover", (event) => { if (named(event) && event.pointerType === "mouse") choose(named(event), "hover"); });
  grid.addEventListener("click", (event) => { if (named(event)) choose(named(event), "click"); });
  return grid;
}

/** Marks the class whose hands are listed. */
export function markClass(grid, name, pinned) {
  for (const cell of grid.querySelectorAll("[data-hand]")) {
    const current = cell.dataset.hand === name;
    cell.classList.toggle("spot-current", current);
    cell.classList.toggle("spot-pinned", current && pinned);
    if (current) cell.setAttribute("aria-current", "true");
    else cell.removeAttribute("aria-current");
  }
  if (!grid.querySelector('[tabindex="0"]')) grid.querySelector(`[data-hand="${name}"]`).tabIndex = 0;
}
