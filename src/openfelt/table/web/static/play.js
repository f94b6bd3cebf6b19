// The table: receives the state of a session over its socket, and sends the person's actions.

import { lastOfPath } from "./api.js";
import { drawControls, keyPressed } from "./controls.js";
import { byId, el, say } from "./dom.js";
import { DealVerifier, drawFairness } from "./fairness.js";
import { HandList } from "./hands.js";
import { drawScore } from "./score.js";
import { openSocket } from "./socket.js";
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

function place(of) {
  return of?.hand ? `${of.hand.number}:${of.hand.step}:${of.hand.over}` : "none";
}

/** Whether no action is possible now. */
function busy() {
  return Boolean(pending) || !connected;
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
  state = next;
  verifier.record(next);
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

/** The seats before the first hand, without cards. */
function emptySeats() {
  const seat = { cards: [], bet: 0, paid: 0, stack: null, folded: false, button: false, post: "", turn: false, won: null };
  return [{ ...seat, name: "You", you: true }, ...state.bots.map((name) => ({ ...seat, name, you: false }))];
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
function drawAccount(lines) {
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
addEventListener("keydown", (event) => keyPressed(event, state, { busy: busy(), doing }));
socket = openSocket(session, { message: receive, up: found, down: lost, gone });
