// The policy page: choose a game and a bot, view its policy.

import { get } from "./api.js";
import { letter } from "./bars.js";
import { byId, el, say } from "./dom.js";
import { drawGrid } from "./policy_grid.js";
import { drawMatrix } from "./policy_matrix.js";
import { sentence } from "./text.js";
import { BB, unitNote } from "./units.js";

let games = [];
let latest = 0; // number of the latest request; responses to earlier ones are ignored

function query() {
  return new URLSearchParams(location.search);
}

function addressOf(game, bot, line = []) {
  const wanted = new URLSearchParams({ game, bot });
  if (line.length) wanted.set("line", line.join(","));
  return `/policy?${wanted}`;
}

function drawChoice(gameName, botName) {
  const game = games.find((each) => each.name === gameName);
  const option = (value, text, selected) => el("option", { value, selected }, text);
  byId("game").replaceChildren(...games.map((each) => option(each.name, each.title, each.name === gameName)));
  byId("bot").replaceChildren(...(game?.bots ?? []).filter((bot) => bot.has_policy).map((bot) => option(bot.name, bot.title, bot.name === botName)));
  const others = Array.from({ length: (game?.players ?? 2) - 1 }, () => ["bot", botName]);
  byId("play-link").href = `/?${new URLSearchParams([["game", gameName], ...others])}`;
  byId("play-link").hidden = !game?.bots.some((bot) => bot.name === botName);
}

function usual(game) {
  return (game.bots.find((bot) => bot.usual) ?? game.bots[0])?.name;
}

function drawLegend() {
  const kinds = { fold: "fold", call: "check or call", raise: "bet or raise" };
  const items = Object.entries(kinds).map(([kind, text]) =>
    el("li", {}, el("span", { class: `swatch share-${kind}`, "aria-hidden": "true" }, letter(kind)), text),
  );
  byId("legend").replaceChildren(...items);
  byId("legend").hidden = false;
}

function isHoldem(game) {
  return game.startsWith("holdem");
}

async function show() {
  const [game, bot] = [query().get("game"), query().get("bot")];
  const line = (query().get("line") ?? "").split(",").filter(Boolean);
  drawChoice(game, bot);
  latest += 1;
  const mine = latest;
  say(byId("error"), "");
  say(byId("busy"), "Loading the policy …");
  const wanted = new URLSearchParams(isHoldem(game) ? { game, bot, line: line.join(",") } : { game, bot });
  try {
    const policy = await get(`/api/policy${isHoldem(game) ? "/preflop" : ""}?${wanted}`);
    if (mine === latest) drawPolicy(policy, (next) => visit(addressOf(game, bot, next)));
  } catch (error) {
    if (mine === latest) drawNothing(error.message);
  }
  if (mine === latest) say(byId("busy"), "");
}

function drawPolicy(policy, go) {
  const name = query().get("bot");
  const bot = games.find((game) => game.name === query().get("game"))?.bots.find((each) => each.name === name);
  document.title = `${bot?.title ?? name} - ${policy.title} - OpenFelt`;
  byId("title").textContent = `Ranges of ${bot?.title ?? name} in ${policy.title}`;
  const strength = sentence(policy.strength ?? bot?.strength);
  say(byId("strength"), strength);
  byId("strength-note").replaceChildren(...(strength.includes(BB) ? unitNote(BB) : []));
  drawLegend();
  if (isHoldem(policy.game)) drawMatrix(byId("policy"), policy, go);
  else drawGrid(byId("policy"), policy);
  byId("policy").dataset.ready = "";
}

function drawNothing(text) {
  byId("policy").replaceChildren();
  byId("legend").hidden = true;
  say(byId("strength"), "");
  byId("strength-note").replaceChildren();
  byId("title").textContent = "Ranges";
  say(byId("error"), text);
}

function visit(address) {
  history.pushState(null, "", address);
  show();
}

async function start() {
  try {
    games = (await get("/api/lobby")).games;
  } catch (error) {
    say(byId("error"), error.message);
    return;
  }
  const first = games.find((game) => game.name === query().get("game")) ?? games[0];
  if (!query().get("bot") && first) history.replaceState(null, "", addressOf(first.name, usual(first)));
  byId("game").addEventListener("change", (event) => {
    const game = games.find((each) => each.name === event.target.value);
    visit(addressOf(game.name, usual(game)));
  });
  byId("bot").addEventListener("change", (event) => visit(addressOf(byId("game").value, event.target.value)));
  byId("choose").addEventListener("submit", (event) => event.preventDefault());
  addEventListener("popstate", show);
  await show();
}

start();
