// The ranges at a step of the review: a matrix for each player that is still in the hand.

import { get } from "./api.js";
import { stackedBar } from "./bars.js";
import { byId, el } from "./dom.js";
import { strategyMatrix } from "./strategy_matrix.js";
import { capital, percent } from "./text.js";

const known = new Map(); // by step
let wanted = null; // the step that is to be shown

function playerView(player, place) {
  const label = `Range of ${player.name}: pairs on the diagonal, suited above it, offsuit below it`;
  const overall = player.overall ? [stackedBar(player.labels, player.overall, { fits: 0.08 })] : [];
  const share = `${percent(player.share)} of all hands. ${player.note}`;
  const title = player.overall ? `${capital(player.name)}, to act` : capital(player.name);
  return el("section", { class: "range-box", "data-range": place }, el("h3", {}, title), el("p", { class: "quiet" }, share), overall, strategyMatrix(player, { id: `range-${place}`, label }));
}

function draw(found) {
  byId("ranges").replaceChildren(...found.players.map(playerView));
  byId("ranges").setAttribute("aria-busy", "false");
}

/** Shows the ranges of a step, if the panel is open. */
export async function showRanges(address, step) {
  if (!byId("ranges-panel").open) return;
  wanted = step;
  byId("ranges").setAttribute("aria-busy", "true");
  try {
    if (!known.has(step)) known.set(step, await get(`${address}/ranges?step=${step}`));
    if (wanted === step) draw(known.get(step));
  } catch (error) {
    if (wanted === step) byId("ranges").replaceChildren(el("p", { class: "quiet" }, error.message));
  }
  if (wanted === step) byId("ranges").dataset.step = step;
}
