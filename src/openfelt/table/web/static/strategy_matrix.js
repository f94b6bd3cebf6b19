// A 13 by 13 matrix of hand classes, coloured by what is done with each; with weights, as high as a hand is likely.

import { kindOf, letter, sharesText } from "./bars.js";
import { el } from "./dom.js";
import { allClasses, arrowKeys, className, RANKS } from "./hand_grid.js";
import { percent } from "./text.js";

const LEAST_HEIGHT = 8; // percent of a cell, for hands that are rarely held
const RARE = 0.0005; // weights below it count as none

/** The shares as a background, from the left: raise, call, fold. */
function background(labels, shares) {
  let from = 0;
  const parts = labels.map((label, i) => [kindOf(label), shares[i]]).reverse().map(([kind, share]) => {
    const part = `var(--${kind}) ${100 * from}% ${100 * (from + share)}%`;
    from += share;
    return part;
  });
  return `linear-gradient(to right, ${parts.join(", ")})`;
}

function mainAction(labels, shares) {
  const best = shares.indexOf(Math.max(...shares));
  return `${letter(labels[best])} ${Math.round(100 * shares[best])}`;
}

/** What a cell says: in words, and in short. */
function cellTexts({ labels, cells, weights }, name) {
  const shares = cells?.[name];
  const weight = weights?.[name];
  if (weights && !(weight >= RARE)) return ["not held", ""];
  if (!weights && !shares) return ["not reached", ""];
  const held = weights ? `weight ${percent(weight)}` : "";
  const done = shares ? sharesText(labels, shares) : "";
  return [[held, done].filter(Boolean).join("; "), shares ? mainAction(labels, shares) : percent(weight)];
}

function cellView(data, { name, row, column }) {
  const shares = data.cells?.[name];
  const weight = data.weights?.[name];
  const [words, small] = cellTexts(data, name);
  const attributes = { type: "button", class: "hand-cell", "data-hand": name, "data-row": row, "data-column": column, tabindex: row + column ? -1 : 0 };
  const spoken = el("span", { class: "visually-hidden" }, `${className(name)}: ${words}`);
  const cell = el("button", { ...attributes, title: `${name}: ${words}` }, el("span", { "aria-hidden": "true" }, name), small ? el("small", { "aria-hidden": "true" }, small) : null, spoken);
  if (!small) cell.classList.add("hand-cell-out");
  else if (shares) cell.style.backgroundImage = background(data.labels, shares);
  else cell.style.backgroundImage = "linear-gradient(var(--held), var(--held))";
  if (small && data.weights) {
    cell.classList.add("hand-cell-part");
    cell.style.backgroundSize = `100% ${Math.max(LEAST_HEIGHT, Math.min(100, 100 * weight))}%`;
  }
  return el("div", { role: "gridcell" }, cell);
}

/** The matrix of {labels, cells: shares by class, weights: by class or nothing}. */
export function strategyMatrix(data, { id, label }) {
  const views = allClasses().map((place) => cellView(data, place));
  const rows = RANKS.map((_, row) => el("div", { role: "row", class: "matrix-row" }, views.slice(RANKS.length * row, RANKS.length * (row + 1))));
  const grid = el("div", { role: "grid", "aria-label": label, class: "matrix", id }, rows);
  arrowKeys(grid);
  return grid;
}
