// Hold'em before the flop: a 13 by 13 matrix of starting hands after any betting line, suited above the diagonal.

import { barList, stackedBar } from "./bars.js";
import { byId, el } from "./dom.js";
import { className } from "./hand_grid.js";
import { strategyMatrix } from "./strategy_matrix.js";
import { capital, percent } from "./text.js";

const LABEL = "Hands before the flop: pairs on the diagonal, suited above it, offsuit below it";
let chosen = "AA"; // the hand whose details are shown

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
  byId("details").replaceChildren(el("h2", {}, `${hand} `, el("span", { class: "quiet" }, className(hand))), body);
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
    const matrix = strategyMatrix(policy, { id: "matrix", label: LABEL });
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
