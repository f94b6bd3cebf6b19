// The table: receives the state of a session over its socket, and sends the person's actions.

import { drawAids } from "./aids.js";
import { lastOfPath } from "./api.js";
import { drawControls, keyPressed } from "./controls.js";
import { byId, el, say } from "./dom.js";
import { DealVerifier, drawFairness } from "./fairness.js";
import { HandList } from "./hands.js";
import { useUnits, withUnits } from "./money.js";
import { drawScore } from "./score.js";
import { DELAYS, openKeys, openSettings, settings } from "./settings.js";
import { openSocket } from "./socket.js";
import { play } from "./sounds.js";
import { rememberSession } from "./storage.js";
import { drawTable } from "./table_view.js";
import { list } from "./text.js";

const session = decodeURIComponent(lastOfPath());
const verifier = new DealVerifier(session);
const hands = new HandList(session, (text) => say(byId("error"), text));
const AFTER_ERROR = "after an error"; // requests the state without clearing the error
const windowName = Math.random().toString(36).slice(2); // requests of two windows must differ
let state = null;
let pending = null; // the request that is not answered yet
let requests = 0;
let socket = null;
let connected = false;
let showing = null; // the timer of the events that are shown one by one
let dealing = null; // the timer of the next hand, if it is dealt automatically

const SETTINGS = ["speed", "units", "made", "odds", "folded", "autodeal", "sound"];
const AUTODEAL = 2500; // milliseconds after the end of a hand
const KEYS = [
  ["F", "Fold"],
  ["C", "Check or call"],
  ["R", "Bet or raise"],
  ["Enter N", "Next hand"],
  ["L", "Review hand"],
  ["Space", "Skip to your turn"],
  ["S", "Settings"],
  ["?", "These keys"],
];

function place(of) {
  return of?.hand ? `${of.hand.number}:${of.hand.step}:${of.hand.over}` : "none";
}

/** Whether no action is possible now. */
function busy() {
  return Boolean(pending) || !connected || showing !== null;
}

/** Sends a message that changes something; no other action is possible until the response. */
function request(message) {
  if (busy() || !state) return;
  requests += 1;
  pending = { id: `${windowName}.${requests}`, place: place(state) };
  say(byId("error"), "");
  if (!socket.send({ ...message, request: pending.id })) pending = null;
  draw();
}

const doing = {
  act(word) {
    request({ do: "act", hand: state.hand.number, step: state.hand.step, action: word });
  },
  deal() {
    if (!busy() && state?.next) request({ do: "deal", hand: state.next.number, nonce: verifier.nonce(state.next.number) });
  },
};

function receive(message) {
  if (message.type === "state") takeState(message);
  else if (message.type === "error") takeError(message);
}

function takeError(message) {
  say(byId("error"), message.error);
  if (!pending || message.request !== pending.id) return;
  pending = null;
  socket.send({ do: "state", request: AFTER_ERROR });
  draw();
}

function takeState(next) {
  const before = state;
  const moved = Boolean(before) && place(next) !== place(before);
  stopShowing();
  clearTimeout(dealing);
  state = next;
  verifier.record(next);
  if (pending && (next.request === pending.id || place(next) !== pending.place)) pending = null;
  if (!before) {
    rememberSession(session);
    drawFrame();
  }
  if (moved && next.request !== AFTER_ERROR) say(byId("error"), "");
  const paced = moved && next.frames.length && DELAYS[settings().speed] && !document.hidden;
  if (paced) showFrame(0);
  else arrive(!before || moved);
}

/** Shows what happened since the person's last action, one event after the other. */
function showFrame(index) {
  const frame = state.frames[index];
  if (!frame) {
    showing = null;
    arrive(true);
    return;
  }
  const cards = frame.board.length + frame.seats.length;
  drawTable(byId("table"), frame, { unit: state.unit, moves: true });
  byId("table").dataset.hand = state.hand.number;
  drawAccount(state.hand.account.slice(0, frame.lines));
  byId("fairness").hidden = true;
  play(cards > shownCards ? "card" : "chips");
  shownCards = cards;
  showing = setTimeout(() => showFrame(index + 1), DELAYS[settings().speed]);
  drawControls(state, { busy: true, doing, waiting: true });
}
let shownCards = 0;

function stopShowing() {
  clearTimeout(showing);
  showing = null;
}

/** Skips the events that are not shown yet. */
function skip() {
  if (showing === null) return;
  stopShowing();
  arrive(true);
}

/** The present state is shown. */
function arrive(moved) {
  const { hand } = state;
  if (moved && (!hand || hand.over || hands.more === null)) loadHands();
  drawScore(state.score, state.unit);
  draw();
  if (!moved) return;
  if (hand?.actions.length) play("turn");
  if (hand?.over) startAutodeal();
}

function startAutodeal() {
  clearTimeout(dealing);
  if (settings().autodeal) dealing = setTimeout(() => !document.hidden && !byId("settings") && doing.deal(), AUTODEAL);
}

function changed() {
  useUnits(state.game);
  byId("account").replaceChildren();
  byId("actions").dataset.shown = "";
  draw();
  if (state.hand?.over) startAutodeal();
}

async function loadHands() {
  await hands.load();
  hands.drawDownloads(state.game);
}

/** What stays the same for the whole session. */
function drawFrame() {
  const against = el("span", { title: list(state.bots) }, list(state.titles));
  byId("title").replaceChildren(el("span", { class: "nowrap" }, state.title), " against ", against);
  const named = new Map(state.bots.map((bot, i) => [bot, state.titles[i]]).filter((_, i) => state.ranges[i]));
  const policies = [...named].map(([bot, title]) =>
    el("a", { href: `/policy?${new URLSearchParams({ game: state.game, bot })}`, "data-policy": bot }, `Ranges of ${title}`),
  );
  const keys = el("button", { id: "show-keys", type: "button", class: "button button-small", "aria-keyshortcuts": "?", on: { click: () => openKeys(KEYS) } }, "Keys");
  const options = el("button", { id: "show-settings", type: "button", class: "button button-small", "aria-keyshortcuts": "S", on: { click: () => openSettings(SETTINGS, changed) } }, "Settings");
  const report = el("a", { href: `/report/${encodeURIComponent(session)}`, id: "show-report" }, "Report");
  byId("table-links").replaceChildren(...policies, report, keys, options);
  useUnits(state.game);
}

function draw() {
  if (!state) return;
  const { hand } = state;
  const mine = hand?.actions.length > 0;
  document.title = `${mine ? "Your turn - " : ""}${state.title} - OpenFelt`;
  say(byId("notice"), state.notice);
  if (showing !== null) return;
  drawHand(hand);
  drawAids(hand);
  drawControls(state, { busy: busy(), doing });
}

function drawHand(hand) {
  const table = hand ?? { seats: emptySeats(), board: [], board_size: 0, street: "", pot: 0 };
  const moves = DELAYS[settings().speed] > 0;
  drawTable(byId("table"), settings().folded ? table : withoutFolded(table), { unit: state.unit, over: Boolean(hand?.over), moves });
  shownCards = table.board.length + table.seats.length;
  byId("table").dataset.hand = hand?.number ?? "";
  drawAccount(hand?.account ?? []);
  if (hand?.over) drawFairnessOnce(hand);
  else byId("fairness").hidden = true;
}

/** A table on which cards stay face down that were not shown at the showdown. */
function withoutFolded(table) {
  const seats = table.seats.map((seat) => (seat.shown === false ? { ...seat, cards: seat.cards.map(() => "??") } : seat));
  return { ...table, seats };
}

/** The seats before the first hand, without cards. */
function emptySeats() {
  const seat = { cards: [], bet: 0, paid: 0, stack: null, folded: false, button: false, post: "", turn: false, won: null };
  return [{ ...seat, name: "You", you: true }, ...state.titles.map((name) => ({ ...seat, name, you: false }))];
}

let drawnVerdict = null;
function drawFairnessOnce(hand) {
  const verdict = verifier.verdictOn(state.game, hand);
  const shown = JSON.stringify([verdict, hand.number, hand.commitment, hand.seed, hand.nonce]);
  if (drawnVerdict !== shown) drawFairness(byId("fairness"), verdict, hand);
  drawnVerdict = shown;
  byId("fairness").hidden = false;
}

/** Only new lines are added, so that a screen reader reads only those. */
function drawAccount(texts) {
  const lines = texts.map(withUnits);
  const log = byId("account");
  const shown = [...log.children].map((line) => line.textContent);
  if (shown.some((text, i) => text !== lines[i])) log.replaceChildren();
  const added = lines.slice(log.children.length).map((line) => el("li", {}, line));
  if (!added.length) return;
  log.append(...added);
  log.scrollTop = log.scrollHeight;
}

/** The connection is lost, or the server has refused it with an error; the socket reconnects. */
function lost({ refused }) {
  pending = null;
  connected = false;
  say(byId("connection"), refused ? "The session cannot be opened now, retrying …" : "Connection lost, reconnecting …");
  byId("main").dataset.connected = "false";
  drawControls(state, { busy: busy(), doing });
}

/** The session is not in this server's file. It stays in the lobby's list, because it may be in another file. */
function gone() {
  say(byId("connection"), "");
  byId("main").dataset.connected = "false";
  byId("prompt").replaceChildren(el("a", { href: "/" }, "Go to the lobby"));
}

function found() {
  connected = true;
  say(byId("error"), ""); // an error of the lost connection
  say(byId("connection"), "");
  byId("main").dataset.connected = "true";
}

try {
  sessionStorage.setItem("felt.table", location.pathname); // the review links back here
} catch {
  // Then it links to the lobby.
}
Object.assign(doing, { skip, keys: () => openKeys(KEYS), settings: () => openSettings(SETTINGS, changed) });
byId("table").addEventListener("click", skip);
addEventListener("keydown", (event) => keyPressed(event, state, { busy: busy(), doing, showing: showing !== null }));
socket = openSocket(session, { message: receive, up: found, down: lost, gone });
