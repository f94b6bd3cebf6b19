// Kuhn and Leduc: for each player, tables with a row for every betting so far and a column for every card.

import { stackedBar } from "./bars.js";
import { cardName } from "./cards.js";
import { el } from "./dom.js";
import { capital } from "./text.js";

let player = 0; // stays when the bot changes

function cell(row, shares) {
  if (!shares) return el("td", { class: "no-cell" }, el("span", { "aria-label": "cannot happen" }, "–"));
  return el("td", {}, stackedBar(row.actions, row.labels, shares, { fits: 0.28 }));
}

function rowView(row, table) {
  const history = row.history || "at the start";
  const cells = table.cards.map((_, i) => cell(row, row.cells[i]));
  return el("tr", {}, el("th", { scope: "row" }, history), cells);
}

function tableView(table) {
  const cards = table.cards.map((card) => el("th", { scope: "col" }, el("abbr", { title: cardName(card) }, card)));
  const head = el("tr", {}, el("th", { scope: "col" }, "Betting so far"), cards);
  const body = table.rows.map((row) => rowView(row, table));
  const drawn = el("table", { class: "grid" }, el("caption", {}, capital(table.title)), el("thead", {}, head), el("tbody", {}, body));
  return el("div", { class: "panel grid-box" }, drawn);
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
