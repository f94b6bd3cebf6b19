// The spot page: fill in the form, solve, browse the solution.

import { get, post, upload } from "./api.js";
import { byId, el, say } from "./dom.js";
import { addOpened, opened } from "./spot_compare.js";
import { SpotForm } from "./spot_form.js";
import { SpotResult } from "./spot_result.js";
import { number } from "./text.js";

const PAUSE = 400; // milliseconds after a change, before the server checks the form
const EVERY = 500; // milliseconds between questions about the progress
const RUNNING = ["compiling", "solving", "stopping"];

let form = null;
let result = null;
let key = null; // of the solve that is shown or runs
let isRunning = false;
let isAllowed = true;
let timer = 0;
let checks = 0; // number of the latest check

function query() {
  return new URLSearchParams(location.search);
}

function addressOf(line) {
  const wanted = new URLSearchParams({ solve: key });
  if (line) wanted.set("line", line);
  return `/spot?${wanted}`;
}

function size(bytes) {
  return bytes >= 1e9 ? `${number(bytes / 1e9, 1)} GB` : `${number(Math.max(bytes / 1e6, 0.1), 1)} MB`;
}

function drawButtons() {
  byId("solve").disabled = isRunning || !isAllowed;
  byId("stop").disabled = !isRunning;
  byId("load").disabled = isRunning;
}

/** What can be done with the solution that is shown. */
function drawTools() {
  const others = opened().filter((each) => each.key !== key);
  byId("save").hidden = !result;
  if (result) byId("save").href = `/api/spot/solves/${encodeURIComponent(key)}/solution.zip`;
  byId("compare-label").hidden = !result || !others.length;
  byId("compare").replaceChildren(el("option", { value: "" }, "nothing"), ...others.map((each) => el("option", { value: each.key }, each.label)));
}

function hideResult() {
  result = null;
  byId("result").hidden = true;
  drawTools();
}

function sayMemory(text, isBad = false) {
  byId("memory").textContent = text;
  byId("memory").classList.toggle("field-error", isBad);
}

function changed() {
  clearTimeout(timer);
  timer = setTimeout(check, PAUSE);
}

async function check() {
  checks += 1;
  const mine = checks;
  const missing = form.missing();
  isAllowed = !missing;
  drawButtons();
  byId("setup-summary").replaceChildren(...form.summary());
  if (missing) {
    sayMemory(missing);
    return;
  }
  sayMemory("Checking …");
  try {
    const checked = await post("/api/spot/check", form.read());
    if (mine !== checks) return;
    isAllowed = checked.allowed;
    sayMemory(checked.sentence ?? `Needs ${size(checked.memory)} of memory (limit ${size(checked.limit)}).`, !checked.allowed);
  } catch (error) {
    if (mine !== checks) return;
    isAllowed = false;
    sayMemory(error.message, true);
  }
  drawButtons();
}

function progressText(status) {
  const { state, iterations, exploitability, seconds } = status;
  if (state === "compiling") return "Compiling (first use only) …";
  if (state === "failed") return "";
  const time = `${number(seconds, 1)} s`;
  const facts = iterations ? `${number(iterations)} iterations, exploitability ${number(exploitability, 3)}% of the pot, ${time}` : `first iterations, ${time}`;
  const solved = exploitability > status.form.until ? "Stopped before the target" : "Solved";
  const end = status.loaded ? "Loaded" : solved;
  return { stopping: `Stopping … ${facts}`, solving: `Solving … ${facts}`, done: `${end}: ${facts}.` }[state];
}

function showStatus(status) {
  isRunning = RUNNING.includes(status.state);
  byId("progress").textContent = progressText(status);
  byId("progress").dataset.state = status.state;
  byId("main").setAttribute("aria-busy", String(isRunning));
  if (status.error) say(byId("error"), status.error);
  drawButtons();
}

async function follow() {
  const mine = key;
  while (key === mine) {
    try {
      const status = await get(`/api/spot/solves/${encodeURIComponent(mine)}`);
      if (key !== mine) return;
      showStatus(status);
      if (!RUNNING.includes(status.state)) {
        if (status.state === "done") openResult(status);
        return;
      }
    } catch (error) {
      say(byId("error"), error.message);
      if (error.status) {
        isRunning = false;
        drawButtons();
        return;
      }
    }
    await new Promise((resolve) => { setTimeout(resolve, EVERY); });
  }
}

function labelOf({ form: { board, pot, stack, locks }, exploitability, loaded }) {
  const locked = locks.length ? `, locked: ${locks.length}` : "";
  return `${board}, pot ${pot}, stack ${stack}, ${number(exploitability, 2)}%${locked}${loaded ? ", loaded" : ""}`;
}

function openResult(status) {
  byId("setup").open = false;
  byId("setup-summary").replaceChildren(...form.summary());
  addOpened(key, labelOf(status));
  result = new SpotResult(byId("result"), key, form.locks, (line) => {
    history.pushState(null, "", addressOf(line));
    result.show(line);
  }, (text) => say(byId("error"), text));
  drawTools();
  result.show(query().get("line") ?? "");
}

async function load() {
  const [file] = byId("load-file").files;
  byId("load-file").value = "";
  if (!file || isRunning) return;
  say(byId("error"), "");
  byId("progress").textContent = "Loading …";
  try {
    key = (await upload("/api/spot/solutions", file)).solve;
  } catch (error) {
    byId("progress").textContent = "";
    say(byId("error"), error.message);
    return;
  }
  history.pushState(null, "", addressOf(""));
  key = null; // so that it is opened like any other address
  await open();
}

async function solve(event) {
  event.preventDefault();
  if (isRunning || form.missing()) return;
  isRunning = true;
  drawButtons();
  say(byId("error"), "");
  try {
    key = (await post("/api/spot/solves", form.read())).solve;
  } catch (error) {
    isRunning = false;
    drawButtons();
    say(byId("error"), error.message);
    return;
  }
  hideResult();
  history.pushState(null, "", addressOf(""));
  await follow();
}

async function stop() {
  try {
    showStatus(await post(`/api/spot/solves/${encodeURIComponent(key)}/stop`, {}));
  } catch (error) {
    say(byId("error"), error.message);
  }
}

/** Opens what the address names: a solve, or an empty form. */
async function open() {
  const wanted = query().get("solve");
  if (wanted && wanted === key) {
    result?.show(query().get("line") ?? "");
    return;
  }
  key = wanted;
  hideResult();
  byId("progress").textContent = "";
  isRunning = false;
  if (!wanted) {
    byId("setup").open = true;
    drawButtons();
    return;
  }
  try {
    const status = await get(`/api/spot/solves/${encodeURIComponent(wanted)}`);
    await form.write(status.form);
  } catch (error) {
    say(byId("error"), error.message);
    key = null;
    await form.writeExample();
    return;
  }
  await follow();
}

/** Fills the form in with the spot of a finished hand. */
async function openHand() {
  const [hand, step] = [query().get("hand"), query().get("step") ?? ""];
  say(byId("notice"), "Computing the ranges of the hand …");
  try {
    const spot = await get(`/api/hands/${encodeURIComponent(hand)}/spot?${new URLSearchParams({ step })}`);
    await form.write(spot);
    say(byId("notice"), spot.notice);
    if (spot.bot) offerBotLock(spot.bot);
  } catch (error) {
    say(byId("notice"), "");
    say(byId("error"), error.message);
    await form.writeExample();
  }
}

/** Every decision of the bot can be locked to its policy: the solution then exploits it. */
function offerBotLock({ player, source, name }) {
  byId("bot-lock").hidden = false;
  byId("lock-bot").textContent = `Lock ${player.toUpperCase()} to the policy of ${name}`;
  byId("lock-bot").addEventListener("click", () => form.locks.setPlayer(player, source, name));
}

async function start() {
  form = new SpotForm(changed);
  byId("spot-form").addEventListener("submit", solve);
  byId("stop").addEventListener("click", stop);
  byId("load").addEventListener("click", () => byId("load-file").click());
  byId("load-file").addEventListener("change", load);
  byId("compare").addEventListener("change", ({ target }) => result?.compareWith(opened().find((each) => each.key === target.value) ?? null));
  addEventListener("popstate", open);
  if (query().get("solve")) await open();
  else if (query().get("hand")) await openHand();
  else await form.writeExample();
  byId("main").dataset.ready = "";
  await check();
}

start();
