// Two bots play: hand after hand, step by step or by themselves, with all cards and both strategies.

import { get, post } from "./api.js";
import { botChoices, fillSelect, gameChoices, usualBot } from "./choices.js";
import { drawDecision } from "./decision.js";
import { actsOnEnter, byId, el, isPlainKey, say, svg } from "./dom.js";
import { DELAYS, openKeys, settings } from "./settings.js";
import { showRanges } from "./step_ranges.js";
import { drawPlace, drawStepList, listenToSteps, stepByKey } from "./steps.js";
import { drawTable } from "./table_view.js";
import { counted, list, signed } from "./text.js";

const SPEEDS = { slow: 2 * DELAYS.slow, normal: 2 * DELAYS.normal, fast: 2 * DELAYS.fast, "very fast": 60 }; // milliseconds per step
const AT_END = 2; // steps for which the end of a hand is shown
const ICONS = { run: "M6 5v14l11.5-7z", pause: "M6 5h4v14H6zM14 5h4v14h-4z" };
const KEYS = [
  ["Space", "Run or pause"],
  ["←", "Previous step"],
  ["→", "Next step"],
  ["Home", "First step"],
  ["End", "Last step"],
  ["N", "Next hand"],
  ["?", "These keys"],
];

let games = [];
let match = null;
let hand = null;
let at = 0; // the step that is shown; steps.length is the end
let timer = null; // of the next step, while the match runs
let isRunning = false;
let isBusy = false;

function chosenGame() {
  return games.find((game) => game.name === byId("game").value);
}

function botFields() {
  return [...byId("bots").querySelectorAll("select")];
}

function drawBots(wanted = []) {
  const game = chosenGame();
  if (!game) return;
  const choices = botChoices(game);
  const usual = [usualBot(game), ...game.bots.filter((bot) => !bot.delay && bot.name !== usualBot(game)).map((bot) => bot.name)];
  const fields = Array.from({ length: game.players }, (_, place) => {
    const select = el("select", { id: `bot${place}` });
    fillSelect(select, choices, choices.some(([name]) => name === wanted[place]) ? wanted[place] : usual[place]);
    return el("label", {}, `Bot ${place + 1} `, select);
  });
  byId("bots").replaceChildren(...fields);
}

async function begin() {
  pause();
  say(byId("error"), "");
  match = null;
  try {
    await working("Preparing the bots …", async () => {
      match = (await post("/api/matches", { game: byId("game").value, bots: botFields().map((field) => field.value) })).match;
    });
    await nextHand();
    byId("choose").open = !matchMedia("(max-width: 40rem)").matches; // so that the table is in view on a phone
    run();
  } catch (error) {
    say(byId("error"), error.message);
  }
}

/** Shows that something takes a while. */
async function working(text, work) {
  isBusy = true;
  byId("begin").disabled = byId("next-hand").disabled = true;
  const late = setTimeout(() => say(byId("busy"), text), 300);
  try {
    await work();
  } finally {
    isBusy = false;
    clearTimeout(late);
    say(byId("busy"), "");
    byId("begin").disabled = byId("next-hand").disabled = false;
  }
}

async function nextHand() {
  if (isBusy || !match) return;
  await working("The bots are playing …", async () => {
    hand = await post(`/api/matches/${encodeURIComponent(match)}/next`, {});
  });
  at = 0;
  drawHand();
  draw();
}

function drawHand() {
  for (const id of ["stage", "stepper", "side"]) byId(id).hidden = false;
  byId("ranges-panel").hidden = !hand.game.startsWith("holdem");
  byId("title").textContent = `${hand.title}: ${list(hand.bots)}`;
  const totals = hand.bots.map((name, bot) => `${name} ${signed(hand.won[bot])}`);
  byId("result").textContent = `After ${counted(hand.number, "hands")}: ${totals.join(", ")} ${hand.unit}.`;
  say(byId("error"), hand.faults.join(" "));
  drawStepList(hand, { kind: (step) => (step.mover < 0 ? "chance" : "bot"), go: goByHand });
  byId("table").dataset.hand = hand.number;
}

function draw() {
  const isEnd = at === hand.steps.length;
  const step = hand.steps[at];
  const table = isEnd ? hand.end : withEquities(step);
  drawTable(byId("table"), table, { unit: hand.unit, over: isEnd, bottom: hand.bottom });
  byId("table").dataset.step = at;
  drawPlace(hand, at);
  if (isEnd) byId("decision").replaceChildren(el("p", { class: "step-said" }, hand.result));
  else drawDecision(byId("decision"), hand, at, { hide: false, losses: null });
  drawRanges();
}

function withEquities({ table, equities }) {
  if (!equities || !settings().equity) return table;
  return { ...table, seats: table.seats.map((seat, i) => ({ ...seat, equity: equities[i] })) };
}

function drawRanges() {
  const step = Math.min(at, hand.steps.length - 1);
  showRanges(`/api/matches/${encodeURIComponent(match)}/ranges?${new URLSearchParams({ hand: hand.number, step })}`, step);
}

function go(to) {
  const next = Math.max(0, Math.min(hand.steps.length, to));
  if (next === at) return;
  at = next;
  draw();
}

/** A step by mouse or key pauses the match. */
function goByHand(to) {
  pause();
  go(to);
}

function drawRun() {
  const [icon, label] = isRunning ? [ICONS.pause, "Pause (space)"] : [ICONS.run, "Run (space)"];
  byId("run").replaceChildren(svg("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: icon })));
  byId("run").setAttribute("aria-label", label);
  byId("run").title = label;
  byId("main").dataset.running = isRunning;
}

function run() {
  if (!hand) return;
  isRunning = true;
  drawRun();
  schedule();
}

function pause() {
  isRunning = false;
  clearTimeout(timer);
  drawRun();
}

function schedule() {
  clearTimeout(timer);
  const steps = at === hand.steps.length ? AT_END : 1;
  timer = setTimeout(tick, SPEEDS[byId("speed").value] * steps);
}

async function tick() {
  if (!isRunning || document.querySelector("dialog[open]")) return isRunning && schedule();
  try {
    if (at === hand.steps.length) await nextHand();
    else go(at + 1);
  } catch (error) {
    pause();
    say(byId("error"), error.message);
    return;
  }
  if (!isRunning) return;
  if (byId("stop").checked && hand.steps[at]?.mover >= 0) pause();
  else schedule();
}

async function nextByHand() {
  try {
    await nextHand();
    if (isRunning) schedule();
  } catch (error) {
    pause();
    say(byId("error"), error.message);
  }
}

function keyPressed(event) {
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "?" && !event.ctrlKey && !event.altKey && !event.metaKey) openKeys(KEYS);
  if (!hand) return;
  const key = event.key.toLowerCase();
  if (isPlainKey(event) && key === "n") nextByHand();
  if (isPlainKey(event) && key === " " && !actsOnEnter(event.target)) {
    event.preventDefault();
    if (isRunning) pause();
    else run();
  }
  stepByKey(event, { at, last: hand.steps.length, go: goByHand });
}

function listen() {
  byId("form").addEventListener("submit", (event) => {
    event.preventDefault();
    begin();
  });
  byId("game").addEventListener("change", () => drawBots());
  byId("run").addEventListener("click", () => (isRunning ? pause() : run()));
  byId("next-hand").addEventListener("click", nextByHand);
  byId("ranges-panel").addEventListener("toggle", () => hand && drawRanges());
  byId("show-keys").addEventListener("click", () => openKeys(KEYS));
  listenToSteps({ at: () => at, last: () => hand.steps.length, go: goByHand });
  addEventListener("keydown", keyPressed);
}

async function start() {
  const query = new URLSearchParams(location.search);
  fillSelect(byId("speed"), Object.keys(SPEEDS).map((name) => [name, name]), "normal");
  listen();
  drawRun();
  try {
    games = (await get("/api/lobby")).games;
    fillSelect(byId("game"), gameChoices(games), query.get("game") ?? games[0]?.name);
    drawBots(query.getAll("bot"));
    byId("begin").disabled = games.length === 0;
    byId("main").dataset.ready = "";
  } catch (error) {
    say(byId("error"), error.message);
  }
}

start();
