// The person's name on a server that several people share.

import { get, post } from "./api.js";
import { byId, el, say } from "./dom.js";
import { rememberSession, sessions } from "./storage.js";

const LONGEST_NAME = 24;
const LOOPBACK = /^(localhost|127\.[\d.]+|\[::1\])$/;

/** Where others open links to this server: not at the name by which this machine knows itself. */
export async function shareOrigin() {
  if (!LOOPBACK.test(location.hostname)) return location.origin;
  const { address } = await get("/api/player").catch(() => ({}));
  return address ?? location.origin;
}

async function takeName(event) {
  event.preventDefault();
  say(byId("error"), "");
  try {
    draw(await post("/api/player", { name: byId("player-name").value }));
    byId("player").querySelector("button").focus();
  } catch (error) {
    say(byId("error"), error.message);
  }
}

function nameForm(name) {
  const field = { id: "player-name", maxlength: LONGEST_NAME, autocomplete: "nickname", required: true, value: name ?? "" };
  return el("form", { class: "player-form", on: { submit: takeName } },
    el("label", { for: "player-name" }, "Your name"), el("input", field), el("button", { class: "button button-small" }, "Use this name"));
}

function draw({ name }) {
  const change = () => {
    byId("player").replaceChildren(nameForm(name));
    byId("player-name").focus();
  };
  const known = [el("p", {}, "You play as ", el("strong", { id: "player-known" }, name), "."), el("button", { type: "button", class: "button button-small", on: { click: change } }, "Change")];
  byId("player").replaceChildren(...(name ? known : [nameForm(name)]));
}

/** Shows the name on a shared server; its sessions join those of this browser. */
export async function drawPlayer() {
  try {
    const player = await get("/api/player");
    const known = new Set(sessions());
    for (const id of player.sessions.toReversed()) if (!known.has(id)) rememberSession(id);
    byId("player").hidden = !player.shared;
    if (player.shared) draw(player);
  } catch {
    byId("player").hidden = true; // the lobby works without it
  }
}
