// The score panel: winnings, luck-adjusted winnings, their rates with intervals, the chart.

import { drawChart } from "./chart.js";
import { byId } from "./dom.js";
import { number, rate, signed } from "./text.js";
import { BB, MBB, unitName, unitNote } from "./units.js";

let points = [];

/** Shows the score of a state. The server sends the whole chart now and then; in between it grows by one point per hand. */
export function drawScore(score, unit) {
  follow(score);
  const { hands, luck_free: luckFree } = score;
  const rateUnit = score.rate_unit === MBB ? BB : score.rate_unit;
  byId("score-hands").textContent = number(hands);
  byId("score-word").textContent = hands === 1 ? "hand" : "hands";
  byId("won-name").textContent = `Total ${unit}`;
  byId("rate-name").replaceChildren(unitName(rateUnit), ", ± 95%");
  byId("rate-note").replaceChildren(...unitNote(rateUnit));
  drawFigures("score-won", "score-rate", hands ? score : null, rateUnit);
  drawFigures("score-luck-free", "score-luck-free-rate", hands ? luckFree : null, rateUnit);
  byId("luck-free-why").textContent = score.luck_free_why;
  byId("luck-free-key").hidden = !points.some((point) => point[2] !== null);
  drawChart(byId("chart"), points, unit);
}

function drawFigures(wonId, rateId, figures, rateUnit) {
  const won = byId(wonId);
  won.textContent = figures ? signed(figures.won) : "–";
  won.className = figures?.won > 0 ? "won" : figures?.won < 0 ? "lost" : "";
  byId(rateId).textContent = figures ? rateText(figures, rateUnit) : "–";
}

function rateText({ rate: mean, interval }, rateUnit) {
  if (rateUnit !== BB) return rate(mean, interval, 3);
  return rate(mean / 10, interval === null ? null : interval / 10, 1);
}

function follow(score) {
  if (score.chart) points = [...score.chart];
  else if (score.hands > (points.at(-1)?.[0] ?? 0)) points.push([score.hands, score.won, score.luck_free?.won ?? null]);
}
