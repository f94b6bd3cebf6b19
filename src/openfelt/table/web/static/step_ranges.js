// The ranges at a step of the review: a matrix for each player that is still in the hand.

import { get } from "./api.js";
import { stackedBar } from "./bars.js";
import { byId, el } from "./dom.js";
import { strategyMatrix } from "./strategy_matrix.js";
import { capital, percent } from "./text.js";

const known = new Map(); // by address
const MOST = 100; // ranges that are kept
let wanted = null; // the address of what is to be shown

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

/** Shows the ranges of a step, which are at `address`, if the panel is open. */
export async function showRanges(address, step) {
  if (!byId("ranges-panel").open) return;
  wanted = address;
  byId("ranges").setAttribute("aria-busy", "true");
  try {
    if (known.size > MOST) known.clear();
    if (!known.has(address)) known.set(address, await get(address));
    if (wanted === address) draw(known.get(address));
  } catch (error) {
    if (wanted === address) byId("ranges").replaceChildren(el("p", { class: "quiet" }, error.message));
  }
  if (wanted === address) byId("ranges").dataset.step = step;
}
