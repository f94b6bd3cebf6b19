// The review of a finished hand: each step, the bots' action probabilities, the person's EV losses.

import { get, lastOfPath } from "./api.js";
import { drawDecision, drawEnd } from "./decision.js";
import { byId, el, isPlainKey, say } from "./dom.js";
import { drawFairness, verdictOnReview } from "./fairness.js";
import { costAt, lossSummary, shortCost } from "./losses.js";
import { shareOrigin } from "./player.js";
import { openKeys, openSettings, settings } from "./settings.js";
import { showRanges } from "./step_ranges.js";
import { drawPlace, drawStepList, listenToSteps, stepByKey } from "./steps.js";
import { drawTable } from "./table_view.js";
import { list } from "./text.js";

const address = `/api/hands/${encodeURIComponent(decodeURIComponent(lastOfPath()))}`;
const KEYS = [
  ["←", "Previous step"],
  ["→", "Next step"],
  ["Home", "First step"],
  ["End", "Last step"],
  ["S", "Settings"],
  ["?", "These keys"],
];

const origin = shareOrigin();
let review = null;
let losses = null; // null until they are computed
let at = 0; // the step that is shown; steps.length is the end

function isEnd() {
  return at === review.steps.length;
}

/** The table as the person saw it, if "hide" is checked: hidden cards are face down. */
function asSeen(table) {
  if (!byId("hide").checked) return table;
  const hidden = (seat) => !seat.you && seat.shown === false;
  const seats = table.seats.map((seat) => (hidden(seat) ? { ...seat, cards: seat.cards.map(() => "??") } : seat));
  return { ...table, seats };
}

/** The table with the equities of the seats, if they are wanted and do not tell of hidden cards. */
function withEquities(table, equities) {
  if (!equities || byId("hide").checked || !settings().equity) return table;
  return { ...table, seats: table.seats.map((seat, i) => ({ ...seat, equity: equities[i] })) };
}

function draw() {
  const step = review.steps[at];
  const table = isEnd() ? review.end : withEquities(step.table, step.equities);
  drawTable(byId("table"), asSeen(table), { unit: review.unit, over: isEnd() });
  byId("table").dataset.step = at;
  drawPlace(review, at);
  drawSpotLink();
  drawRanges();
  if (isEnd()) drawEnd(byId("decision"), review);
  else drawDecision(byId("decision"), review, at, { hide: byId("hide").checked, losses });
}

/** The link to the spot solver, on the streets after the flop of two-player hold'em. */
function drawSpotLink() {
  const step = Math.min(at, review.steps.length - 1);
  const board = review.steps[step].table.board ?? [];
  byId("solve-here").hidden = !review.game.startsWith("holdem") || review.names.length !== 2 || board.length < 3;
  byId("solve-here").href = `/spot?${new URLSearchParams({ hand: decodeURIComponent(lastOfPath()), step })}`;
}

/** The ranges at the step that is shown, or at the last one. */
function drawRanges() {
  const step = Math.min(at, review.steps.length - 1);
  showRanges(`${address}/ranges?step=${step}`, step);
}

function go(to) {
  const next = Math.max(0, Math.min(review.steps.length, to));
  if (next === at) return;
  at = next;
  draw();
}

function drawSteps() {
  const kind = (step) => (step.mover < 0 ? "chance" : step.mover === review.seat ? "you" : "bot");
  const cost = (index) => shortCost(costAt(losses, review, index));
  drawStepList(review, { kind, cost, go });
}

async function loadLosses() {
  const busy = "Computing the EV losses …";
  say(byId("losses"), busy);
  byId("losses").setAttribute("aria-busy", "true");
  try {
    losses = await get(`${address}/losses`);
    const summary = lossSummary(losses, review);
    const text = summary ? el("p", { class: "loss-sum" }, summary) : "";
    byId("losses").replaceChildren(text, el("p", { class: "quiet" }, losses.explain));
  } catch (error) {
    losses = { decisions: [], explain: error.message };
    say(byId("losses"), error.message);
  }
  byId("losses").setAttribute("aria-busy", "false");
  drawSteps();
  draw();
}

async function copyLink() {
  const link = (await origin) + location.pathname;
  try {
    await navigator.clipboard.writeText(link);
    say(byId("copied"), "Link copied.");
    byId("copy").textContent = "Link copied ✓";
  } catch {
    // The clipboard is missing on plain http to other hosts, or refused.
    say(byId("copied"), `Copy this link: ${link}`);
    byId("copied").classList.remove("visually-hidden");
  }
}

function drawFrame() {
  const { names, seat } = review;
  const others = names.slice(1).map((_, after) => names[(seat + 1 + after) % names.length]); // clockwise, as they sit
  const title = el("span", { class: "nowrap" }, review.title);
  const whose = review.player ? ` of ${review.player}` : "";
  byId("title").replaceChildren(`Hand ${review.number}${whose}: `, title, ` against ${list(others)}`);
  document.title = `Hand ${review.number} - ${review.title} - OpenFelt`;
  byId("result").textContent = review.result;
  byId("step-slider").max = review.steps.length;
  if (review.game.startsWith("holdem")) {
    byId("phh").href = `${address}/hand.phh`;
    byId("phh").hidden = false;
    byId("ranges-panel").hidden = false;
  }
  drawFairness(byId("fairness"), verdictOnReview(review), review);
}

function showBackLink() {
  try {
    const table = sessionStorage.getItem("felt.table");
    if (!table?.startsWith("/play/")) return;
    byId("back").href = table;
    byId("back").hidden = false;
  } catch {
    // Without storage there is no link back to the table.
  }
}

function showSettings() {
  openSettings(["equity"], draw);
}

function keyPressed(event) {
  if (!review || document.querySelector("dialog[open]")) return;
  if (event.key === "?" && !event.ctrlKey && !event.altKey && !event.metaKey) openKeys(KEYS);
  if (isPlainKey(event) && event.key.toLowerCase() === "s") showSettings();
  stepByKey(event, { at, last: review.steps.length, go });
}

function listen() {
  listenToSteps({ at: () => at, last: () => review.steps.length, go });
  byId("hide").addEventListener("change", draw);
  byId("ranges-panel").addEventListener("toggle", drawRanges);
  byId("copy").addEventListener("click", copyLink);
  byId("show-settings").addEventListener("click", showSettings);
  byId("show-keys").addEventListener("click", () => openKeys(KEYS));
  addEventListener("keydown", keyPressed);
}

async function start() {
  showBackLink();
  try {
    review = await get(address);
  } catch (error) {
    say(byId("error"), error.message);
    return;
  }
  const first = review.steps.findIndex((step) => step.mover >= 0);
  at = first < 0 ? review.steps.length : first;
  byId("main").dataset.ready = "";
  listen();
  drawFrame();
  drawSteps();
  draw();
  await loadLosses();
}

start();
