// Kuhn and Leduc: for each player, tables with a row for every betting line and a column for every card.

import { stackedBar } from "./bars.js";
import { cardName } from "./cards.js";
import { el } from "./dom.js";
import { capital, counted } from "./text.js";

const MOST_ROWS = 40; // of a table that is not folded
let player = 0; // stays when the bot changes

function cell(row, shares) {
  if (!shares) return el("td", { class: "no-cell" }, el("span", { "aria-label": "cannot happen" }, "–"));
  return el("td", {}, stackedBar(row.labels, shares, { fits: 0.28 }));
}

function rowView(row, table) {
  const history = row.history.replace(/\s*\/\s*$/, "") || "at the start"; // the board comes after the last slash
  const cells = table.cards.map((_, i) => cell(row, row.cells[i]));
  return el("tr", {}, el("th", { scope: "row" }, history), cells);
}

function rowsView(rows, table, caption) {
  const cards = table.cards.map((card) => el("th", { scope: "col" }, el("abbr", { title: cardName(card) }, card)));
  const head = el("tr", {}, el("th", { scope: "col" }, "Betting so far"), cards);
  const body = rows.map((row) => rowView(row, table));
  return el("table", { class: "grid" }, el("caption", {}, capital(caption)), el("thead", {}, head), el("tbody", {}, body));
}

/** A folded part. Its rows are drawn when it is opened, because there may be thousands. */
function folded(rows, table, title) {
  const name = el("summary", {}, `${title} `, el("span", { class: "quiet" }, counted(rows.length, "rows")));
  const part = el("details", { class: "rows" }, name);
  const draw = () => part.append(rowsView(rows, table, `${table.title}: ${title}`));
  part.addEventListener("toggle", draw, { once: true });
  return part;
}

function tableView(table) {
  if (table.rows.length <= MOST_ROWS) return el("div", { class: "panel grid-box" }, rowsView(table.rows, table, table.title));
  const groups = new Map();
  for (const row of table.rows) groups.set(firstRound(row), [...(groups.get(firstRound(row)) ?? []), row]);
  const parts = [...groups].map(([title, rows]) => folded(rows, table, title));
  return el("div", { class: "panel grid-box" }, el("h2", {}, capital(table.title)), parts);
}

/** The betting of the first round, by which rows are grouped. */
function firstRound(row) {
  return row.history.split(" / ")[0].replace(/\s*\/$/, "") || "at the start";
}

/** Draws a policy grid into `node`, with a switch between the players. */
export function drawGrid(node, policy) {
  const box = el("div", { class: "grids", id: "grids" });
  const show = (index) => {
    player = index;
    box.replaceChildren(...policy.players[index].tables.map(tableView));
  };
  const radios = policy.players.map((each, i) => {
    const radio = el("input", { type: "radio", name: "player", value: i, id: `player-${i}`, on: { change: () => show(i) } });
    radio.checked = i === Math.min(player, policy.players.length - 1);
    return el("label", { class: "segment", for: `player-${i}` }, radio, capital(each.name));
  });
  const choice = el("fieldset", { class: "segments" }, el("legend", { class: "visually-hidden" }, "Player"), radios);
  node.replaceChildren(choice, box);
  show(Math.min(player, policy.players.length - 1));
}
