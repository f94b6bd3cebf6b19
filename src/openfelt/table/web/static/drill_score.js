// The score of the drills: right answers, EV lost, the share of right answers over time, and the boxes.

import { el, svg } from "./dom.js";
import { counted, number, percent } from "./text.js";

const WIDTH = 360;
const HEIGHT = 130;
const EDGE = { left: 40, right: 12, top: 8, bottom: 32 };
const BOXES = ["10 min", "1 d", "3 d", "7 d", "21 d"];

/** The share of right answers, over the number of answers. */
function chart(points) {
  const last = Math.max(5, points.at(-1)[0]);
  const x = (count) => EDGE.left + ((WIDTH - EDGE.left - EDGE.right) * count) / last;
  const y = (share) => EDGE.top + (HEIGHT - EDGE.top - EDGE.bottom) * (1 - share);
  const rows = [0, 0.5, 1].flatMap((share) => [
    svg("line", { x1: EDGE.left, x2: WIDTH - EDGE.right, y1: y(share), y2: y(share), class: "chart-grid" }),
    svg("text", { x: EDGE.left - 6, y: y(share) + 4, "text-anchor": "end", class: "chart-text" }, percent(share)),
  ]);
  const names = [
    svg("text", { x: EDGE.left, y: HEIGHT - 4, class: "chart-text chart-name" }, "share right, last 20"),
    svg("text", { x: WIDTH - EDGE.right, y: HEIGHT - 4, "text-anchor": "end", class: "chart-text chart-name" }, `${number(last)} answers`),
  ];
  const path = points.map(([count, share], i) => `${i ? "L" : "M"}${x(count).toFixed(1)} ${y(share).toFixed(1)}`).join("");
  const end = svg("circle", { cx: x(points.at(-1)[0]), cy: y(points.at(-1)[1]), r: 3, class: "chart-end" });
  const label = `Chart of the share of right answers among the last 20: now ${percent(points.at(-1)[1])}.`;
  return svg("svg", { id: "chart", class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label }, rows, names, svg("path", { d: path, class: "chart-line chart-won" }), end);
}

function boxes(summary) {
  const row = (name, count, word) => el("li", { "data-box": word }, el("strong", {}, number(count)), el("span", {}, name));
  const rows = summary.boxes.map((count, i) => row(BOXES[i], count, i + 1));
  return el("ol", { class: "boxes", "aria-label": "Missed decisions by the time until they come back" }, rows, row("learned", summary.learned, "learned"));
}

/** "10 minutes", "3 days" */
export function duration(seconds) {
  const units = [[86400, "days"], [3600, "hours"], [60, "minutes"]];
  const [size, unit] = units.find(([each]) => seconds >= each) ?? [60, "minutes"];
  return counted(Math.max(1, Math.round(seconds / size)), unit);
}

export function dueText({ due, next_due: next }) {
  if (due) return `${counted(due, "decisions")} due for repetition.`;
  return next === null ? "Nothing is due for repetition." : `Nothing is due now; the next repetition is in ${duration(next)}.`;
}

/** Draws the score of a deck into `node`; `titles` are those of the games, by name. */
export function drawScore(node, summary, titles) {
  if (!summary?.answers) {
    node.replaceChildren(el("p", { class: "quiet" }, "No answers yet."));
    return;
  }
  const streak = summary.streak > 1 ? `, ${summary.streak} in a row` : "";
  const line = `${number(summary.right)} of ${counted(summary.answers, "answers")} right (${percent(summary.right / summary.answers)})${streak}`;
  const rows = summary.games.map((game) =>
    el("tr", {}, el("th", { scope: "row" }, titles.get(game.game) ?? game.game), el("td", {}, percent(game.right / game.answers)), el("td", {}, number(game.lost, 3))),
  );
  const head = el("tr", {}, ["Game", "Right", "Mean EV loss, chips"].map((name) => el("th", { scope: "col" }, name)));
  const table = el("table", { class: "loss-table" }, el("thead", {}, head), el("tbody", {}, rows));
  node.replaceChildren(el("p", { class: "score-line" }, line), el("figure", { class: "chart-box" }, chart(summary.chart)), table, boxes(summary), el("p", { class: "unit-note" }, dueText(summary)));
}
