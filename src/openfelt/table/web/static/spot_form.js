// The form of a spot: two ranges, the board, chips and bet sizes.

import { CardPicker, cardSpans, splitCards } from "./board_picker.js";
import { byId, el } from "./dom.js";
import { RangeEditor } from "./range_editor.js";
import { SpotLocks } from "./spot_locks.js";

const STREETS = ["flop", "turn", "river"];
const PLAYERS = ["oop", "ip"];
const MOST_CARDS = 5;
const NUMBERS = ["pot", "stack", "big_blind", "until"];
const EXAMPLE = {
  oop: "JJ-22, AQs-A9s, A5s-A2s, K9s+, Q9s+, J9s+, T8s+, 97s+, 86s+, 75s+, 65s, 54s, AQo-ATo, KJo+, QJo",
  ip: "99+, AJs+, A5s, A4s, KTs+, QTs+, JTs, T9s, 98s, AQo+, KQo",
};

function sizeKey(player, street) {
  return `${player} ${street}`;
}

function sizeField(kind, player, street) {
  const label = `${kind} of ${player.toUpperCase()} on the ${street}`;
  return el("input", { type: "text", maxlength: 200, autocomplete: "off", spellcheck: "false", "aria-label": label, "data-sizes": kind, "data-key": sizeKey(player, street) });
}

function sizeTable() {
  const columns = PLAYERS.flatMap((player) => ["bets", "raises"].map((kind) => [kind, player]));
  const head = columns.map(([kind, player]) => el("th", { scope: "col" }, `${player.toUpperCase()} ${kind}`));
  const rows = STREETS.map((street) =>
    el("tr", {}, el("th", { scope: "row" }, street), columns.map(([kind, player]) => el("td", {}, sizeField(kind, player, street)))));
  return el("table", {}, el("thead", {}, el("tr", {}, el("td"), head)), el("tbody", {}, rows));
}

/** `changed()` is called after every change of a field. */
export class SpotForm {
  constructor(changed) {
    this.changed = changed;
    this.board = [];
    this.thresholds = null; // of a solution that was loaded
    this.locks = new SpotLocks(changed);
    this.editors = Object.fromEntries(PLAYERS.map((player) => [player, new RangeEditor(byId(`range-${player}`), player, changed)]));
    this.picker = new CardPicker(byId("board-picker"), "Cards of the board", (card) => this.pick(card));
    byId("street-sizes").replaceChildren(sizeTable());
    byId("spot-form").addEventListener("input", (event) => { if (!event.target.closest(".range-panel")) changed(); });
    this.drawBoard();
  }

  pick(card) {
    if (this.board.includes(card)) this.board = this.board.filter((other) => other !== card);
    else if (this.board.length < MOST_CARDS) this.board = [...this.board, card];
    else return;
    this.drawBoard();
    this.changed();
  }

  drawBoard() {
    const full = this.board.length >= MOST_CARDS;
    this.picker.show(this.board, (card) => full && !this.board.includes(card));
    const street = ["", "", "", "flop", "turn", "river"][this.board.length];
    const text = street ? el("span", { class: "quiet" }, street) : el("span", { class: "quiet" }, "Choose three to five cards.");
    byId("board-cards").replaceChildren(...cardSpans(this.board), text);
  }

  /** What is missing before the server can check the form, in a sentence; "" if nothing is. */
  missing() {
    if (this.board.length < 3) return "Choose three to five cards for the board.";
    for (const player of PLAYERS) if (this.editors[player].text === "none") return `Give ${player.toUpperCase()} a range.`;
    for (const name of NUMBERS) if (!Number.isFinite(byId(name).valueAsNumber)) return `Fill in the field "${byId(name).parentNode.firstChild.textContent.trim()}".`;
    return "";
  }

  sizes(kind) {
    const entries = [...byId("street-sizes").querySelectorAll(`[data-sizes=${kind}]`)]
      .filter((field) => field.value.trim())
      .map((field) => [field.dataset.key, field.value]);
    return entries.length ? Object.fromEntries([["", byId(kind).value], ...entries]) : byId(kind).value;
  }

  /** The fields as the server reads them. */
  read() {
    const cap = byId("rake_cap").valueAsNumber;
    return {
      oop: this.editors.oop.text,
      ip: this.editors.ip.text,
      board: this.board.join(""),
      ...Object.fromEntries(NUMBERS.map((name) => [name, byId(name).valueAsNumber])),
      bets: this.sizes("bets"),
      raises: this.sizes("raises"),
      rake: (byId("rake").valueAsNumber || 0) / 100,
      rake_cap: Number.isFinite(cap) ? cap : null,
      thresholds: this.thresholds,
      compress: byId("compress").checked,
      locks: this.locks.read(),
    };
  }

  /** Fills the fields in; those that are not given keep their values. */
  async write(form) {
    for (const name of NUMBERS) if (form[name] !== undefined) byId(name).value = form[name];
    if (form.rake !== undefined) byId("rake").value = Number((100 * form.rake).toFixed(6));
    if (form.rake_cap !== undefined) byId("rake_cap").value = form.rake_cap ?? "";
    if (form.compress !== undefined) byId("compress").checked = form.compress;
    this.thresholds = form.thresholds ?? null;
    this.locks.write(form.locks ?? []);
    for (const kind of ["bets", "raises"]) if (form[kind] !== undefined) this.writeSizes(kind, form[kind]);
    if (form.board !== undefined) this.board = splitCards(form.board);
    this.drawBoard();
    await Promise.all(PLAYERS.filter((player) => form[player] !== undefined).map((player) => this.editors[player].read(form[player])));
  }

  writeSizes(kind, sizes) {
    const entries = typeof sizes === "string" ? { "": sizes } : sizes;
    byId(kind).value = entries[""] ?? "none";
    for (const field of byId("street-sizes").querySelectorAll(`[data-sizes=${kind}]`)) {
      const [player, street] = field.dataset.key.split(" ");
      field.value = entries[field.dataset.key] ?? entries[street] ?? entries[player] ?? "";
    }
  }

  writeExample() {
    return this.write(EXAMPLE);
  }

  /** The spot in a few words. */
  summary() {
    return [...cardSpans(this.board), ` pot ${byId("pot").value}, stack ${byId("stack").value}`];
  }
}
