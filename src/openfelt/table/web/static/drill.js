// Drills: a decision at a time, judged at once; what was missed comes back.

import { drawAids } from "./aids.js";
import { get, post } from "./api.js";
import { botChoices, fillSelect, gameChoices, usualBot } from "./choices.js";
import { actionButton, hint, settle } from "./controls.js";
import { drawDecision } from "./decision.js";
import { actsOnEnter, byId, el, isPlainKey, say } from "./dom.js";
import { drawScore, dueText, duration } from "./drill_score.js";
import { useUnits, withUnits } from "./money.js";
import { openKeys } from "./settings.js";
import { read, sessions, write } from "./storage.js";
import { drawTable } from "./table_view.js";
import { capital, counted } from "./text.js";

const DECK = "felt.drills";
const ANY = ["", "any"];
const SITUATIONS = ["no bet", "facing a bet", "facing a raise"];
const INITIATIVES = [["nobody", "nobody's"], ["you", "yours"], ["the bot", "the bot's"]];
const INTERVALS = [600, 86400, 3 * 86400, 7 * 86400, 21 * 86400]; // seconds, by box
const ABOUT = {
  random: "Decisions of simulated hands; every street is equally likely. Your earlier actions are played by the default bot of the game.",
  spot: "Decisions of simulated hands that came to this spot. The initiative is with whoever bet or raised last on an earlier street.",
  mistakes: "Decisions of your own hands whose EV loss clearly exceeds 0, the most costly first. They are searched for in the sessions of this browser.",
  repeat: "Decisions that you missed, when they are due: after 10 minutes, then 1, 3, 7 and 21 days.",
};
const KEYS = [
  ["F", "Fold"],
  ["C", "Check or call"],
  ["R", "Bet or raise"],
  ["Enter N", "Next drill"],
  ["?", "These keys"],
];

let games = [];
let deck = null;
let drill = null; // the decision that is shown
let wanted = null; // what was chosen when the drills were started
let busy = false;
let answered = false;
let counter = 0; // of the drills that were shown

function chosen(id) {
  return byId(id).value;
}

function chosenGame() {
  return games.find((game) => game.name === chosen("game"));
}

function titles() {
  return new Map(games.map((game) => [game.name, game.title]));
}

function drawForm(query = new URLSearchParams()) {
  const game = chosenGame();
  if (!game) return;
  const bots = botChoices(game, (bot) => bot.drills);
  const usual = query.get("bot") ?? (bots.some(([name]) => name === chosen("bot")) ? chosen("bot") : usualBot(game));
  fillSelect(byId("bot"), bots, usual);
  fillSelect(byId("street"), [ANY, ...game.streets.map((name) => [name, name])], query.get("street") ?? chosen("street"));
  fillSelect(byId("position"), [ANY, ...game.positions.map((name) => [name, name])], query.get("position") ?? chosen("position"));
  fillSelect(byId("situation"), [ANY, ...SITUATIONS.map((name) => [name, name.replace("facing ", "")])], query.get("situation") ?? chosen("situation"));
  fillSelect(byId("initiative"), [ANY, ...INITIATIVES], query.get("initiative") ?? chosen("initiative"));
}

function drawKind() {
  const kind = chosen("kind");
  for (const label of document.querySelectorAll("[data-for]")) label.hidden = !label.dataset.for.split(" ").includes(kind);
  byId("about").textContent = ABOUT[kind];
}

function request() {
  const kind = chosen("kind");
  if (kind === "mistakes") return { kind, sessions: sessions() };
  if (kind === "repeat") return { kind };
  const fields = { kind, game: chosen("game"), bot: chosen("bot") };
  if (kind === "random") return fields;
  return { ...fields, ...Object.fromEntries(["street", "position", "situation", "initiative"].map((name) => [name, chosen(name)])) };
}

/** The choice in a sentence, for the closed form. */
function choiceText() {
  const selected = (id) => byId(id).selectedOptions[0]?.textContent ?? "";
  const kind = selected("kind");
  return chosen("kind") === "random" || chosen("kind") === "spot" ? `${kind}: ${selected("game")} against ${selected("bot")}` : kind;
}

async function openDeck() {
  if (deck) return;
  deck = (await post("/api/drills", {})).deck;
  write(DECK, deck);
}

/** The next decision; hands are searched for mistakes in several requests. */
async function nextDrill() {
  if (busy) return;
  setBusy(true, "Looking for a decision …");
  say(byId("error"), "");
  try {
    await openDeck();
    let found;
    do {
      found = await post(`/api/drills/${encodeURIComponent(deck)}/next`, wanted);
      if (!found.drill && found.left) say(byId("busy"), `Searching your hands for mistakes: ${counted(found.left, "hands")} left …`);
    } while (!found.drill && found.left);
    setBusy(false);
    if (found.drill) show(found);
    else await none();
  } catch (error) {
    setBusy(false);
    byId("choose").open = true;
    say(byId("error"), error.message);
  }
}

/** There is no drill of this kind now. */
async function none() {
  const summary = await get(`/api/drills/${encodeURIComponent(deck)}`);
  const text = wanted.kind === "repeat" ? dueText(summary) : "No more mistakes were found in the sessions of this browser. Play some hands, or choose another kind of drill.";
  byId("choose").open = true;
  say(byId("busy"), text);
  drawScore(byId("score"), summary, titles());
}

function setBusy(now, text = "") {
  busy = now;
  say(byId("busy"), text);
  byId("start").disabled = now;
  for (const button of byId("actions").querySelectorAll("button")) button.disabled = now;
}

function show(found) {
  drill = found;
  answered = false;
  counter += 1;
  useUnits(found.game);
  for (const id of ["stage", "controls", "hand-panel"]) byId(id).hidden = false;
  byId("verdict").hidden = true;
  byId("choose").open = false;
  byId("choice").textContent = `${choiceText()} (change)`;
  const initiative = found.initiative === "nobody" ? "" : `, ${found.initiative === "you" ? "with" : "without"} the initiative`;
  byId("spot").textContent = `${capital(found.street)}, ${found.situation}; you are ${found.position}${initiative}.`;
  drawTable(byId("table"), found, { unit: found.unit });
  byId("table").dataset.drill = counter;
  byId("account").replaceChildren(...found.account.map((line) => el("li", {}, withUnits(line))));
  byId("account").scrollTop = byId("account").scrollHeight;
  byId("prompt").textContent = "What do you do?";
  drawAids(found);
  drawButtons(found.actions.map((action) => actionButton(action, false, answer)));
}

function drawButtons(buttons) {
  const held = byId("actions").contains(document.activeElement);
  byId("actions").replaceChildren(...buttons);
  settle(byId("actions"));
  if (held) byId("controls").focus({ preventScroll: true });
}

async function answer(word) {
  if (busy || answered) return;
  setBusy(true, "Judging …");
  try {
    const verdict = await post(`/api/drills/${encodeURIComponent(deck)}/answer`, { drill: drill.drill, action: word });
    setBusy(false);
    answered = true;
    drawVerdict(verdict);
  } catch (error) {
    setBusy(false);
    say(byId("error"), error.message);
    drawButtons([nextButton()]);
    answered = true;
  }
}

function nextButton() {
  return el("button", { id: "next-drill", type: "button", class: "button button-main", "aria-keyshortcuts": "Enter N", on: { click: nextDrill } }, "Next drill", hint("Enter"));
}

function verdictText(verdict) {
  if (verdict.close) return `Right: a close decision (${verdict.best} is estimated slightly higher)`;
  return verdict.right ? "Right" : `Missed: the best action is ${verdict.best}`;
}

function scheduleText(box) {
  if (box === null) return "";
  return box > INTERVALS.length ? "Learned: it does not come back." : `It comes back in ${duration(INTERVALS[box - 1])}.`;
}

function drawVerdict(verdict) {
  byId("verdict").hidden = false;
  byId("verdict").dataset.right = verdict.right;
  byId("verdict-title").textContent = withUnits(verdictText(verdict));
  byId("prompt").textContent = withUnits(verdictText(verdict)) + ".";
  say(byId("aids"), scheduleText(verdict.box));
  byId("schedule").textContent = scheduleText(verdict.box);
  byId("explain").textContent = verdict.explain;
  drawDecision(byId("decision"), verdict.review, 0, { hide: false, losses: verdict.losses });
  drawScore(byId("score"), verdict.summary, titles());
  const review = drill.link && el("a", { id: "review-hand", class: "button", href: `/hand/${encodeURIComponent(drill.link)}` }, "Review hand");
  drawButtons([review, nextButton()].filter(Boolean));
}

function keyPressed(event) {
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "?" && !event.ctrlKey && !event.altKey && !event.metaKey) openKeys(KEYS);
  if (!isPlainKey(event) || busy || !drill) return;
  const key = event.key.toLowerCase();
  const action = drill.actions.find((each) => each.key === key);
  if (action && !answered) answer(action.word);
  else if (answered && (key === "n" || (key === "enter" && !actsOnEnter(event.target)))) nextDrill();
}

function listen() {
  byId("form").addEventListener("submit", (event) => {
    event.preventDefault();
    wanted = request();
    nextDrill();
  });
  byId("kind").addEventListener("change", drawKind);
  byId("game").addEventListener("change", () => drawForm());
  byId("show-keys").addEventListener("click", () => openKeys(KEYS));
  addEventListener("keydown", keyPressed);
}

/** The score so far; a deck of another server's file is forgotten. */
async function loadDeck() {
  deck = read(DECK, null);
  if (typeof deck !== "string") deck = null;
  let summary = null;
  try {
    summary = deck && (await get(`/api/drills/${encodeURIComponent(deck)}`));
  } catch (error) {
    if (error.status !== 404) throw error;
    deck = null;
  }
  drawScore(byId("score"), summary, titles());
  if (summary?.due) byId("kind").querySelector("[value=repeat]").textContent = `Repeat what I missed (${summary.due} due)`;
}

async function start() {
  const query = new URLSearchParams(location.search);
  listen();
  try {
    games = (await get("/api/lobby")).games.filter((game) => game.players === 2);
    fillSelect(byId("game"), gameChoices(games), query.get("game") ?? games[0]?.name);
    if ([...byId("kind").options].some((option) => option.value === query.get("kind"))) byId("kind").value = query.get("kind");
    drawForm(query);
    drawKind();
    await loadDeck();
    byId("start").disabled = games.length === 0;
    byId("main").dataset.ready = "";
  } catch (error) {
    say(byId("error"), error.message);
  }
}

start();
