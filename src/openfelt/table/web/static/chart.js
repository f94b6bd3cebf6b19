// A line chart of cumulative winnings, of luck-adjusted winnings, and of EV lost.

import { svg } from "./dom.js";
import { number } from "./text.js";

const WIDTH = 360;
const HEIGHT = 200;
const EDGE = { left: 44, right: 12, top: 20, bottom: 34 };

/** Round numbers that span from low to high, about `count` of them. */
function ticks(low, high, count) {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999);
  const out = [];
  for (let k = Math.floor(low / step); k <= Math.ceil(high / step); k += 1) out.push(k * step);
  return out;
}

/** Whole numbers only: hands are counted. */
function handTicks(last) {
  return ticks(0, last, 5).filter((tick) => tick >= 0 && tick <= last && Number.isInteger(tick));
}

function line(points, x, y, kind) {
  if (!points.length) return null;
  const path = points.map(([hand, value], i) => `${i ? "L" : "M"}${x(hand).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  return svg("path", { d: path, class: `chart-line chart-${kind}` });
}

function axes(xs, ys, x, y, unit) {
  const right = WIDTH - EDGE.right;
  const rows = ys.map((value) => [
    svg("line", { x1: EDGE.left, x2: right, y1: y(value), y2: y(value), class: value ? "chart-grid" : "chart-zero" }),
    svg("text", { x: EDGE.left - 6, y: y(value) + 4, "text-anchor": "end", class: "chart-text" }, number(value)),
  ]);
  const columns = xs.map((hand) =>
    svg("text", { x: x(hand), y: HEIGHT - EDGE.bottom + 15, "text-anchor": "middle", class: "chart-text" }, number(hand)),
  );
  const names = [
    svg("text", { x: 4, y: 11, class: "chart-text chart-name" }, `total winnings (${unit})`),
    svg("text", { x: right, y: HEIGHT - 4, "text-anchor": "end", class: "chart-text chart-name" }, "hands played"),
  ];
  return [...rows.flat(), ...columns, ...names];
}

/** The line of one column of the points, from zero on; empty if it is not known. */
function column(points, place) {
  const known = points.filter((point) => point[place] !== null && point[place] !== undefined);
  return known.length ? [[0, 0], ...known.map((point) => [point[0], point[place]])] : [];
}

/** Draws points [hand, won, luck_free or null, lost or null] into `node`, an svg element. */
export function drawChart(node, all, unit) {
  const points = all.filter(([hand]) => hand > 0); // every line starts at zero
  const won = [[0, 0], ...points.map(([hand, value]) => [hand, value])];
  const luckFree = column(points, 2);
  const lost = column(points, 3);
  const values = [...won, ...luckFree, ...lost].map(([, value]) => value);
  const ys = ticks(Math.min(-1, ...values), Math.max(1, ...values), 4);
  const last = Math.max(5, won.at(-1)[0]);
  const x = (hand) => EDGE.left + ((WIDTH - EDGE.left - EDGE.right) * hand) / last;
  const span = ys.at(-1) - ys[0];
  const y = (value) => HEIGHT - EDGE.bottom - ((HEIGHT - EDGE.top - EDGE.bottom) * (value - ys[0])) / span;
  node.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  node.setAttribute("role", "img");
  node.setAttribute("aria-label", summary(points, unit));
  const lines = [line(lost, x, y, "lost"), line(luckFree, x, y, "luck-free"), line(won, x, y, "won")].filter(Boolean);
  node.replaceChildren(...axes(handTicks(last), ys, x, y, unit), ...lines);
  if (points.length) node.append(svg("circle", { cx: x(won.at(-1)[0]), cy: y(won.at(-1)[1]), r: 3, class: "chart-end" }));
}

function summary(points, unit) {
  if (!points.length) return "Chart of winnings; no finished hands yet.";
  const [hand, won, luckFree] = points.at(-1);
  const second = luckFree === null || luckFree === undefined ? "" : `, luck-adjusted ${number(luckFree)}`;
  return `Chart of cumulative winnings: after ${hand} hands ${number(won)} ${unit}${second}.`;
}
