// The table: follows a session over its socket, and sends what the person does.

import { lastOfPath } from "./api.js";
import { drawControls, keyPressed } from "./controls.js";
import { byId, el, say } from "./dom.js";
import { Witness, drawFairness } from "./fairness.js";
import { HandList } from "./hands.js";
import { drawScore } from "./score.js";
import { openSocket } from "./socket.js";
import { rememberSession } from "./storage.js";
import { drawTable } from "./table_view.js";
import { list } from "./text.js";

const session = decodeURIComponent(lastOfPath());
const witness = new Witness(session);
const hands = new HandList(session, (text) => say(byId("error"), text));
const AFTER_ERROR = "after an error"; // asks for the state, which must not wipe the error away
const windowName = Math.random().toString(36).slice(2); // requests of two windows must differ
let state = null;
let pending = null; // the request whose answer is awaited
let requests = 0;
let socket = null;
let connected = false;

function place(of) {
  return of?.hand ? `${of.hand.number}:${of.hand.step}:${of.hand.over}` : "none";
}

/** Whether nothing can be done now. */
function busy() {
  return Boolean(pending) || !connected;
}

/** Sends a message that changes something; nothing else can be done until the answer. */
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
    if (!busy() && state?.next) request({ do: "deal", hand: state.next.number, nonce: witness.nonce(state.next.number) });
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
  state = next;
  witness.watch(next);
  if (pending && (next.request === pending.id || place(next) !== pending.place)) pending = null;
  if (!before) {
    rememberSession(session);
    drawFrame();
  }
  if (before && place(next) !== place(before) && next.request !== AFTER_ERROR) say(byId("error"), "");
  if (!before || (next.hand?.over && place(next) !== place(before))) loadHands();
  drawScore(next.score, next.unit);
  draw();
}

async function loadHands() {
  await hands.load();
  hands.drawDownloads(state.game);
}

/** What stays the same for the whole session. */
function drawFrame() {
  byId("title").replaceChildren(el("span", { class: "nowrap" }, state.title), ` against ${list(state.bots)}`);
  const policies = [...new Set(state.bots)].map((bot) =>
    el("a", { href: `/policy?${new URLSearchParams({ game: state.game, bot })}`, "data-policy": bot }, `Policy of ${bot}`),
  );
  byId("table-links").replaceChildren(...policies);
}

function draw() {
  if (!state) return;
  const { hand } = state;
  const mine = hand?.actions.length > 0;
  document.title = `${mine ? "Your turn - " : ""}${state.title} - OpenFelt`;
  say(byId("notice"), state.notice);
  drawHand(hand);
  drawControls(state, { busy: busy(), doing });
}

function drawHand(hand) {
  const table = hand ?? { seats: emptySeats(), board: [], board_size: 0, street: "", pot: 0 };
  drawTable(byId("table"), table, { unit: state.unit, over: Boolean(hand?.over) });
  byId("table").dataset.hand = hand?.number ?? "";
  drawAccount(hand?.account ?? []);
  if (hand?.over) drawFairnessOnce(hand);
  else byId("fairness").hidden = true;
}

/** Before the first hand: who sits here, without cards. */
function emptySeats() {
  const seat = { cards: [], bet: 0, paid: 0, stack: null, folded: false, button: false, post: "", turn: false, won: null };
  return [{ ...seat, name: "You", you: true }, ...state.bots.map((name) => ({ ...seat, name, you: false }))];
}

let judged = null;
function drawFairnessOnce(hand) {
  const judgement = witness.judge(state.game, hand);
  const shown = JSON.stringify([judgement, hand.number, hand.commitment, hand.seed, hand.nonce]);
  if (judged !== shown) drawFairness(byId("fairness"), judgement, hand);
  judged = shown;
  byId("fairness").hidden = false;
}

/** Only new lines are added, so that a screen reader reads only those. */
function drawAccount(lines) {
  const log = byId("account");
  const shown = [...log.children].map((line) => line.textContent);
  if (shown.some((text, i) => text !== lines[i])) log.replaceChildren();
  const added = lines.slice(log.children.length).map((line) => el("li", {}, line));
  if (!added.length) return;
  log.append(...added);
  log.scrollTop = log.scrollHeight;
}

/** The connection is lost, or the server has closed it with a sentence; it is tried again. */
function lost({ refused }) {
  pending = null;
  connected = false;
  say(byId("connection"), refused ? "The table cannot be opened now, trying again …" : "Connection lost, trying again …");
  byId("main").dataset.connected = "false";
  drawControls(state, { busy: busy(), doing });
}

/** There is no such session in this server's file; it may be in another one, so it is not forgotten. */
function gone() {
  say(byId("connection"), "");
  byId("main").dataset.connected = "false";
  byId("prompt").replaceChildren(el("a", { href: "/" }, "Go to the lobby"));
}

function found() {
  connected = true;
  say(byId("error"), ""); // what it said before is over
  say(byId("connection"), "");
  byId("main").dataset.connected = "true";
}

try {
  sessionStorage.setItem("felt.table", location.pathname); // the replay leads back here
} catch {
  // Then it leads to the lobby.
}
addEventListener("keydown", (event) => keyPressed(event, state, { busy: busy(), doing }));
socket = openSocket(session, { message: receive, up: found, down: lost, gone });
