// Fields in which a game and its bots are chosen, from what the lobby offers.

import { el } from "./dom.js";

/** Fills a select with [value, text] pairs; keeps what was selected, or selects `wanted`. */
export function fillSelect(select, pairs, wanted = select.value) {
  select.replaceChildren(...pairs.map(([value, text]) => el("option", { value, selected: value === wanted }, text)));
}

/** The names and titles of games. */
export function gameChoices(games) {
  return games.map((game) => [game.name, game.title]);
}

/** The names and titles of bots; `suits` selects among them. */
export function botChoices(game, suits = () => true) {
  return game.bots.filter(suits).map((bot) => [bot.name, bot.title]);
}

/** The bot that is chosen by default. */
export function usualBot(game) {
  return game.bots.find((bot) => bot.usual)?.name;
}
