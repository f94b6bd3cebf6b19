// The steps of a hand: the list, the buttons, the slider and the keys that go from one to another.

import { actsOnEnter, byId, el, isPlainKey } from "./dom.js";

// Scrolls the list alone, never the page.
function keepInView(box, button) {
  const top = button.offsetTop; // within the list, which is positioned
  if (top < box.scrollTop) box.scrollTop = top;
  const low = top + button.offsetHeight - box.clientHeight;
  if (low > box.scrollTop) box.scrollTop = low;
}

function markStep(at) {
  const box = byId("steps");
  for (const button of box.querySelectorAll("button")) {
    const current = Number(button.dataset.step) === at;
    if (current) button.setAttribute("aria-current", "step");
    else button.removeAttribute("aria-current");
    if (current) keepInView(box, button);
  }
}

/** Draws the list of the steps of {steps, result}: `kind(step)` and `cost(index)` say what marks them. */
export function drawStepList({ steps, result }, { kind, cost = () => "", go }) {
  const row = (text, index, word) => {
    const label = cost(index) ? el("span", { class: "step-cost" }, cost(index)) : null;
    const attributes = { type: "button", class: `step step-${word}`, "data-step": index, on: { click: () => go(index) } };
    return el("li", {}, el("button", attributes, el("span", {}, text), label));
  };
  const focused = document.activeElement?.closest?.("#steps [data-step]")?.dataset.step;
  byId("steps").replaceChildren(...steps.map((step, i) => row(step.text, i, kind(step))), row(result, steps.length, "end"));
  if (focused) byId("steps").querySelector(`[data-step="${focused}"]`)?.focus({ preventScroll: true });
}

/** Shows which step is the current one; `steps.length` is the end. */
export function drawPlace({ steps, result }, at) {
  const isEnd = at === steps.length;
  const place = isEnd ? "End" : `Step ${at + 1} of ${steps.length}`;
  const text = isEnd ? result : steps[at].text;
  byId("step-text").replaceChildren(el("span", { class: "quiet" }, `${place}: `), el("strong", {}, text));
  byId("step-slider").max = steps.length;
  byId("step-slider").value = at;
  byId("step-slider").setAttribute("aria-valuetext", `${place}: ${text}`);
  byId("step-first").disabled = byId("step-back").disabled = at === 0;
  byId("step-on").disabled = byId("step-last").disabled = isEnd;
  markStep(at);
}

/** The buttons and the slider; `at()` and `last()` are the current and the last step. */
export function listenToSteps({ at, last, go }) {
  byId("step-first").addEventListener("click", () => go(0));
  byId("step-back").addEventListener("click", () => go(at() - 1));
  byId("step-on").addEventListener("click", () => go(at() + 1));
  byId("step-last").addEventListener("click", () => go(last()));
  byId("step-slider").addEventListener("input", (event) => go(Number(event.target.value)));
}

/** Arrow keys, Home and End. */
export function stepByKey(event, { at, last, go }) {
  const inSlider = event.target === byId("step-slider");
  if (inSlider || (!isPlainKey(event) && !event.repeat)) return;
  if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  const targets = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last };
  if (!(event.key in targets) || (actsOnEnter(event.target) && event.target.matches("select, textarea"))) return;
  event.preventDefault();
  go(targets[event.key]);
}
