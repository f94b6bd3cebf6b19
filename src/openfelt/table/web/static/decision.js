// The panel of one step in the review: action probabilities of the bots, expected values of the actions.

import { barList } from "./bars.js";
import { el } from "./dom.js";
import { costAt, costText } from "./losses.js";
import { number, percent, signed, spread } from "./text.js";

/** The bucket and other internals of a bot, behind a disclosure. */
function internals(thought) {
  const knew = [thought.knew, thought.bucket].filter(Boolean).join("; ");
  return knew && el("details", { class: "explain" }, el("summary", {}, "How the bot sees this hand"), el("p", {}, knew));
}

function searchView(thought, step) {
  const all = thought.visits.reduce((sum, count) => sum + count, 0) || 1;
  const rows = step.actions.map((action, i) => {
    const chosen = i === step.chosen;
    const name = chosen ? [`${action.label} `, el("span", { class: "chosen" }, "◂ chosen")] : action.label;
    const value = thought.values[i] === null ? "–" : signed(thought.values[i]);
    const cells = [percent(thought.visits[i] / all), value].map((text) => el("td", {}, text));
    return el("tr", { class: chosen ? "row-chosen" : null, "data-word": action.word }, el("th", { scope: "row" }, name), cells);
  });
  const head = el("tr", {}, ["Action", "Share of simulations", "Value"].map((name) => el("th", { scope: "col" }, name)));
  return el("table", { class: "search-table loss-table" }, el("thead", {}, head), el("tbody", {}, rows));
}

function thoughtView(thought, step, whose) {
  const searched = thought.visits?.length > 0;
  const own = searched ? `What ${thought.by} considered` : `Action probabilities of ${thought.by}`;
  const parts = [el("h3", {}, thought.own ? own : `What ${thought.by} would do in ${whose} place`)];
  if (searched) parts.push(searchView(thought, step));
  else if (thought.probabilities?.length) parts.push(barList(step.actions, thought.probabilities, thought.own ? step.chosen : -1));
  else parts.push(el("p", {}, "Its action probabilities are not known."));
  parts.push(internals(thought) || "");
  return el("section", { class: "thought", "data-thought": thought.by }, parts);
}

function lossText(action) {
  if (action.loss < 0.005) return "0";
  return number(action.loss) + spread(action.interval);
}

function lossTable(decision, step, unit) {
  const rows = decision.actions.map((action, i) => {
    const chosen = i === step.chosen;
    const name = chosen ? [`${action.label} `, el("span", { class: "chosen" }, "◂ chosen")] : action.label;
    const attributes = { class: chosen ? "row-chosen" : null, "data-word": action.word };
    const cells = [signed(action.value) + spread(action.value_interval), lossText(action)].map((text) => el("td", {}, text));
    return el("tr", attributes, el("th", { scope: "row" }, name), cells);
  });
  const head = el("tr", {}, ["Action", "EV", "EV loss"].map((name) => el("th", { scope: "col" }, name)));
  const caption = el("caption", {}, `Expected value of each action, in ${unit}`);
  return el("table", { class: "loss-table" }, caption, el("thead", {}, head), el("tbody", {}, rows));
}

function lossView(index, review, losses) {
  if (!losses) return [el("p", { class: "quiet busy" }, "Computing the expected values …")];
  const decision = losses.decisions.find((each) => each.step === index);
  if (!decision) return [];
  const found = costAt(losses, review, index);
  const cost = found ? [el("p", { class: "cost" }, costText(found, review.unit))] : [];
  return [...cost, lossTable(decision, review.steps[index], review.unit)];
}

/** Draws step `index` of a review into `node`; with `hide`, without anything that would reveal the bots' cards. */
export function drawDecision(node, review, index, { hide, losses }) {
  const step = review.steps[index];
  if (step.mover < 0) {
    node.replaceChildren(el("p", { class: "quiet" }, "No decision: cards are dealt."));
    return;
  }
  const mine = step.mover === review.seat;
  const parts = [el("p", { class: "step-said" }, step.text)];
  if (mine) parts.push(...lossView(index, review, losses));
  if (!mine && hide) parts.push(el("p", { class: "quiet" }, "Its action probabilities are hidden, because they depend on its cards."));
  else if (!step.thoughts.length && !mine) parts.push(el("p", { class: "quiet" }, "Its action probabilities are not known."));
  else parts.push(...step.thoughts.map((thought) => thoughtView(thought, step, mine ? "your" : "its")));
  node.replaceChildren(...parts);
}

/** The end of the hand: the winnings of each player. */
export function drawEnd(node, review) {
  const rows = review.names.map((name, seat) =>
    el("tr", {}, el("th", { scope: "row" }, seat === review.seat ? (review.player ?? "You") : name), el("td", {}, signed(review.won[seat]))),
  );
  const known = review.luck_free !== null && review.luck_free !== undefined;
  const luck = known ? el("p", { class: "quiet" }, `Luck-adjusted: ${signed(review.luck_free)} ${review.unit}.`) : "";
  const caption = el("caption", {}, `Winnings in ${review.unit}`);
  const table = el("table", { class: "loss-table" }, caption, el("tbody", {}, rows));
  node.replaceChildren(el("p", { class: "step-said" }, review.result), table, luck);
}
