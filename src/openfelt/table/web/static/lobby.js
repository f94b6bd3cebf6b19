// The lobby: choose a game and opponents, or resume an earlier session.

import { get, post } from "./api.js";
import { byId, el, say } from "./dom.js";
import { drawPlayer } from "./player.js";
import { drawRating } from "./rating.js";
import { rememberSession, sessions } from "./storage.js";
import { counted, list, sentence } from "./text.js";
import { BB, unitNote } from "./units.js";

const NO_POLICY = "After a hand you see what it considered; it has no fixed ranges, so EV losses are not available against it.";

const PLACES = ["Opponent on your left", "Opponent on your right"];
let games = [];

function policyAddress(game, bot) {
  return `/policy?${new URLSearchParams({ game, bot })}`;
}

function usual(game) {
  return (game.bots.find((bot) => bot.usual) ?? game.bots[0])?.name;
}

function chosenGame() {
  return games.find((game) => game.name === byId("sit").elements.game?.value);
}

function chosenBots(game) {
  const fields = byId("sit").elements;
  return Array.from({ length: game.players - 1 }, (_, place) => fields[`bot${place}`].value);
}

/** One radio button with its texts; the whole card is its label. */
function choice(group, place, { name, title, checked, about, link }) {
  const id = `${group}-${place}`;
  const described = el("div", { id: `${id}-about`, class: "about" }, about);
  const radio = el("input", { type: "radio", name: group, value: name, id, checked, "aria-describedby": described.id });
  return el("div", { class: "choice", [`data-${group === "game" ? "game" : "bot"}`]: name },
    radio, el("div", {}, el("label", { for: id }, title), described, link));
}

function drawGames(selected) {
  byId("games").replaceChildren(
    ...games.map((game, place) =>
      choice("game", place, { name: game.name, title: game.title, checked: game.name === selected, about: [el("p", {}, game.summary)] }),
    ),
  );
}

/** What a player should know of a bot: the figure first, then its style, then what cannot be had. */
function botTexts(bot) {
  const rank = el("p", { class: "strength" }, bot.level && el("strong", { class: "level" }, bot.level), " ", sentence(bot.strength));
  const notes = [bot.style, bot.has_policy ? "" : NO_POLICY, bot.delay].filter(Boolean);
  return [rank, ...notes.map((text) => el("p", {}, text))];
}

function botCards(game, wanted) {
  const cards = game.bots.map((bot, place) => {
    const link = bot.has_policy ? el("a", { href: policyAddress(game.name, bot.name) }, "Ranges") : null;
    const title = [bot.title, bot.title === bot.name ? "" : el("code", { class: "bot-id" }, bot.name)];
    return choice("bot0", place, { name: bot.name, title, checked: bot.name === wanted, about: botTexts(bot), link });
  });
  return el("fieldset", {}, el("legend", {}, "Opponent"), el("div", { class: "choices" }, cards));
}

function botSelect(game, place, wanted) {
  const about = el("div", { id: `bot${place}-about` });
  const options = game.bots.map((bot) => el("option", { value: bot.name, selected: bot.name === wanted }, bot.title));
  const select = el("select", { name: `bot${place}`, "aria-describedby": about.id }, options);
  const describe = () => about.replaceChildren(...botTexts(game.bots.find((each) => each.name === select.value)));
  select.addEventListener("change", describe);
  describe();
  return el("div", {}, el("label", {}, PLACES[place], select), about);
}

function drawOpponents(wanted = []) {
  const game = chosenGame();
  if (!game) return;
  const selected = (place) => (game.bots.some((bot) => bot.name === wanted[place]) ? wanted[place] : usual(game));
  const note = game.name.startsWith("holdem") ? [el("p", { class: "unit-note" }, unitNote(BB))] : [];
  if (game.players === 2) return byId("opponents").replaceChildren(botCards(game, selected(0)), ...note);
  const selects = Array.from({ length: game.players - 1 }, (_, place) => botSelect(game, place, selected(place)));
  const box = el("div", { class: "seats-choice" }, selects);
  byId("opponents").replaceChildren(el("fieldset", {}, el("legend", {}, "Opponents"), box), ...note);
}

/** Bots that take a while are prepared as soon as they are chosen. */
function prepare() {
  const game = chosenGame();
  if (game) post("/api/prepare", { game: game.name, bots: chosenBots(game) }).catch(() => null); // sitting down tells why
}

/** Starts a session and opens its table; an error is shown on this page. */
async function sitDown(game, bots) {
  byId("sit-down").disabled = true;
  say(byId("error"), "");
  const waits = games.find((each) => each.name === game)?.bots.find((bot) => bots.includes(bot.name) && bot.delay);
  say(byId("busy"), `Preparing the table … ${waits?.delay ?? ""}`.trim());
  try {
    const { session } = await post("/api/sessions", { game, bots });
    rememberSession(session);
    location.assign(`/play/${encodeURIComponent(session)}`);
  } catch (error) {
    say(byId("error"), error.message);
    say(byId("busy"), "");
    byId("sit-down").disabled = games.length === 0;
  }
}

function sessionRow(id, session) {
  const begun = new Date(session.begun);
  const style = { dateStyle: "medium", timeStyle: "short" };
  const when = Number.isNaN(begun.getTime()) ? "" : `, started ${begun.toLocaleString([], style)}`;
  const title = `${session.title} against ${list(session.titles)}`;
  const facts = el("div", {}, el("strong", {}, title), el("span", { class: "quiet" }, counted(session.hands, "hands") + when));
  const link = { class: "button button-small", href: `/play/${encodeURIComponent(id)}`, "aria-label": `Resume: ${title}` };
  return el("li", { "data-session": id }, facts, el("a", link, "Resume"));
}

/** A session that exists but cannot be opened now, with the reason. */
function closedRow(id, text) {
  const facts = el("div", {}, el("strong", {}, "A session that cannot be opened now"), el("span", { class: "quiet" }, text));
  return el("li", { "data-session": id }, facts);
}

/** Lists this browser's sessions. Sessions that are not in this server's file stay in the list: they may be in another file. */
async function drawSessions() {
  const rows = await Promise.all(
    sessions().map(async (id) => {
      try {
        return sessionRow(id, await get(`/api/sessions/${encodeURIComponent(id)}`));
      } catch (error) {
        return error.status && error.status !== 404 ? closedRow(id, error.message) : null;
      }
    }),
  );
  const known = rows.filter(Boolean);
  byId("sessions").replaceChildren(...known);
  byId("earlier").hidden = known.length === 0;
}

async function start() {
  const query = new URLSearchParams(location.search);
  const bots = query.getAll("bot");
  byId("sit").addEventListener("submit", (event) => {
    event.preventDefault();
    const game = chosenGame();
    if (game) sitDown(game.name, chosenBots(game));
  });
  byId("games").addEventListener("change", () => drawOpponents());
  byId("sit").addEventListener("change", prepare);
  drawPlayer().then(() => {
    drawSessions();
    drawRating();
  });
  try {
    const lobby = await get("/api/lobby");
    games = lobby.games;
    byId("version").textContent = lobby.version;
    const wanted = games.some((game) => game.name === query.get("game")) ? query.get("game") : games[0]?.name;
    drawGames(wanted);
    drawOpponents(bots);
    byId("sit-down").disabled = games.length === 0;
    if (!bots.length) prepare();
  } catch (error) {
    say(byId("error"), error.message);
  }
  if (query.get("game") && bots.length) {
    history.replaceState(null, "", "/"); // Going back to the lobby must not start another session.
    await sitDown(query.get("game"), bots);
  }
}

// A page that the browser kept for "back" may hold a button that is still disabled.
addEventListener("pageshow", (event) => event.persisted && location.reload());
start();
