// Hold'em before the flop: a 13 by 13 matrix of starting hands after any betting line, suited above the diagonal.

import { barList, kindOf, letter, sharesText, stackedBar } from "./bars.js";
import { rankName } from "./cards.js";
import { byId, el } from "./dom.js";
import { capital, percent } from "./text.js";

let chosen = "AA"; // the hand whose details are shown

function handAt(ranks, row, column) {
  if (row === column) return ranks[row] + ranks[row];
  return row < column ? `${ranks[row]}${ranks[column]}s` : `${ranks[column]}${ranks[row]}o`;
}

function handName(hand) {
  const [high, low, kind] = hand;
  if (high === low) return `pair of ${rankName(high)}${high === "6" ? "es" : "s"}`;
  return `${rankName(high)} and ${rankName(low)}, ${kind === "s" ? "suited" : "offsuit"}`;
}

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

function handCell(policy, hand, row, column) {
  const shares = policy.cells[hand];
  const text = shares ? sharesText(policy.labels, shares) : "not reached";
  const attributes = { type: "button", class: "hand-cell", "data-hand": hand, "data-row": row, "data-column": column };
  Object.assign(attributes, { "aria-label": `${handName(hand)}: ${text}`, title: `${hand}: ${text}` });
  const small = shares ? el("small", { "aria-hidden": "true" }, mainAction(policy.labels, shares)) : null;
  const cell = el("button", attributes, el("span", { "aria-hidden": "true" }, hand), small);
  if (shares) cell.style.background = background(policy.labels, shares);
  return el("div", { role: "gridcell" }, cell);
}

function matrixView(policy) {
  const ranks = [...policy.ranks];
  const rows = ranks.map((_, row) => {
    const cells = ranks.map((_, column) => handCell(policy, handAt(ranks, row, column), row, column));
    return el("div", { role: "row", class: "matrix-row" }, cells);
  });
  const label = "Hands before the flop: pairs on the diagonal, suited above it, offsuit below it";
  return el("div", { role: "grid", "aria-label": label, class: "matrix", id: "matrix" }, rows);
}

function showDetails(policy, hand) {
  chosen = hand;
  for (const cell of byId("matrix").querySelectorAll("button")) {
    const current = cell.dataset.hand === hand;
    cell.tabIndex = current ? 0 : -1;
    cell.classList.toggle("hand-current", current);
  }
  const shares = policy.cells[hand];
  const actions = policy.actions.map((word, i) => ({ word, label: policy.labels[i] }));
  const body = shares ? barList(actions, shares) : el("p", { class: "quiet" }, "This hand does not reach this point.");
  byId("details").replaceChildren(el("h2", {}, `${hand} `, el("span", { class: "quiet" }, handName(hand))), body);
}

function moveFocus(event) {
  const cell = event.target.closest("button[data-hand]");
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const step = steps[event.key];
  if (!cell || !step || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  const [row, column] = [Number(cell.dataset.row) + step[0], Number(cell.dataset.column) + step[1]];
  byId("matrix").querySelector(`[data-row="${row}"][data-column="${column}"]`)?.focus();
}

function crumbs(policy, go) {
  const words = ["Start", ...policy.line];
  const items = words.map((word, i) => {
    const last = i === words.length - 1;
    const back = { type: "button", class: "crumb", "data-crumb": i, on: { click: () => go(policy.line.slice(0, i)) } };
    return el("li", {}, last ? el("span", { "aria-current": "page" }, word) : el("button", back, word));
  });
  return el("nav", { "aria-label": "Betting so far" }, el("ol", { class: "crumbs" }, items));
}

function ways(policy, go) {
  const buttons = policy.ways.map((way) => {
    const attributes = { type: "button", class: "button button-small", "data-way": way.word, disabled: way.ends };
    attributes.on = { click: () => go([...policy.line, way.word]) };
    return el("button", attributes, way.label, way.ends ? el("small", {}, "ends betting") : null);
  });
  return buttons.length ? el("p", { class: "ways" }, el("span", {}, "Then:"), buttons) : "";
}

function overall(policy) {
  const text = policy.actions.map((_, i) => `${policy.labels[i]} ${percent(policy.overall[i])}`).join(", ");
  const bar = stackedBar(policy.labels, policy.overall, { fits: 0.08 });
  return el("section", { class: "overall" }, el("h2", {}, "Over all 1,326 hands"), bar, el("p", { class: "quiet" }, text));
}

/** Draws a matrix into `node`; `go(line)` requests another betting line. */
export function drawMatrix(node, policy, go) {
  const text = el("p", { id: "line-text", class: "line-text" }, `${capital(policy.text)}.`);
  const head = [el("div", { class: "line-row" }, crumbs(policy, go), text, ways(policy, go))];
  const focused = document.activeElement?.closest?.("[data-way], [data-crumb]") ? "line-text" : null;
  if (policy.over || !policy.actions.length) {
    node.replaceChildren(...head, el("p", { class: "quiet" }, "The betting before the flop is over here."));
  } else {
    const side = el("div", { class: "matrix-side" }, overall(policy), el("section", { id: "details", class: "panel" }));
    const matrix = matrixView(policy);
    matrix.addEventListener("keydown", moveFocus);
    for (const type of ["focusin", "pointerover", "click"]) {
      matrix.addEventListener(type, (event) => {
        const cell = event.target.closest("button[data-hand]");
        if (cell) showDetails(policy, cell.dataset.hand);
      });
    }
    node.replaceChildren(...head, el("div", { class: "matrix-box" }, matrix, side));
    showDetails(policy, chosen);
  }
  if (focused) {
    byId(focused).tabIndex = -1; // the pressed button is gone; the keyboard continues from here
    byId(focused).focus();
  }
}
