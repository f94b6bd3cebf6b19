// The person's buttons and keys at the table.

import { kindOf } from "./bars.js";
import { actsOnEnter, byId, el, isPlainKey, say } from "./dom.js";
import { money, withUnits } from "./money.js";

// A second click of a double click must not press the button that has just appeared under the pointer.
const SETTLING = 400; // milliseconds
let settled = null; // the timer that ends it

function resultText(hand, unit) {
  if (hand.won > 0) return `You win ${money(hand.won, unit)}.`;
  if (hand.won < 0) return `You lose ${money(-hand.won, unit)}.`;
  return "You break even.";
}

function promptText(state, busy, waiting) {
  const { hand } = state;
  if (waiting) return "…";
  if (!hand) return "Ready when you are.";
  if (hand.over) return resultText(hand, state.unit);
  if (hand.actions.length) return busy ? "…" : "Your turn.";
  const mover = hand.seats.find((seat) => seat.turn);
  return mover ? `${mover.name} is to act …` : "…";
}

export function hint(key) {
  return el("kbd", { "aria-hidden": "true" }, key);
}

export function actionButton(action, busy, act) {
  const attributes = { type: "button", class: "button", "data-action": action.word, disabled: busy };
  attributes["data-kind"] = kindOf(action.label);
  attributes["aria-keyshortcuts"] = action.key;
  attributes.on = { click: () => act(action.word) };
  return el("button", attributes, withUnits(action.label), hint(action.key.toUpperCase()));
}

function endButtons(state, busy, deal) {
  const first = !state.hand;
  const next = { id: "next-hand", type: "button", class: "button button-main", disabled: busy || !state.next };
  Object.assign(next, { "aria-keyshortcuts": "Enter N", on: { click: deal } });
  const link = state.hand?.link;
  const review = { id: "review-hand", class: "button", href: `/hand/${encodeURIComponent(link)}`, "aria-keyshortcuts": "L" };
  return [
    link && el("a", review, "Review hand", hint("L")),
    el("button", next, first ? "Deal the first hand" : "Next hand", hint("Enter")),
  ].filter(Boolean);
}

/** What the controls show; they are rebuilt only when it changes, so that the focus stays. */
function signature(state, waiting) {
  const { hand } = state;
  return JSON.stringify([waiting, hand?.number, hand?.step, hand?.over, hand?.link, hand?.actions, state.next?.number]);
}

let focused = null; // the button that had the focus before it was disabled, which removes the focus

function setBusy(box, busy) {
  if (busy && box.contains(document.activeElement)) focused = document.activeElement;
  for (const button of box.querySelectorAll("button")) button.disabled = busy;
  if (busy || !focused) return;
  focused.focus({ preventScroll: true });
  focused = null;
}

/**
 * Draws the buttons for a state; none with `waiting`, while the moves of the bots are shown. The focus never moves to
 * an action by itself: Enter must not act twice.
 */
export function drawControls(state, { busy, doing, waiting = false }) {
  const box = byId("actions");
  if (!state) return;
  say(byId("prompt"), promptText(state, busy, waiting));
  const shown = signature(state, waiting);
  if (box.dataset.shown === shown) {
    setBusy(box, busy);
    return;
  }
  const held = focused !== null || box.contains(document.activeElement);
  focused = null;
  const actions = state.hand?.actions ?? [];
  const over = !state.hand || state.hand.over;
  const buttons = over ? endButtons(state, busy, doing.deal) : actions.map((each) => actionButton(each, busy, doing.act));
  box.replaceChildren(...(waiting ? [] : buttons));
  box.dataset.shown = shown;
  settle(box);
  if (held) byId("controls").focus({ preventScroll: true });
}

export function settle(box) {
  clearTimeout(settled);
  box.classList.add("settling");
  settled = setTimeout(() => box.classList.remove("settling"), SETTLING);
}

/** F, C and R act; Enter and N deal the next hand; L opens the review; Space skips to one's turn. */
export function keyPressed(event, state, { busy, doing, showing }) {
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "?" && state && !event.ctrlKey && !event.altKey && !event.metaKey) doing.keys();
  if (!isPlainKey(event)) {
    if (event.repeat && event.key === "Enter" && event.target.closest?.("#actions")) event.preventDefault();
    return;
  }
  const key = event.key.toLowerCase();
  if (showing && key === " " && !actsOnEnter(event.target)) {
    event.preventDefault();
    doing.skip();
  }
  if (key === "s" && state) doing.settings();
  if (!state || busy) return;
  const over = !state.hand || state.hand.over;
  const action = state.hand?.actions.find((each) => each.key === key);
  if (action && !over) doing.act(action.word);
  else if (over && key === "n") doing.deal();
  else if (over && key === "enter" && !actsOnEnter(event.target)) doing.deal();
  else if (key === "l" && byId("review-hand")) location.assign(byId("review-hand").href);
}
