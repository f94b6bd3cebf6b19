// A range editor: a grid to paint with the mouse or the keyboard, and the notation as text, kept in step.

import { post } from "./api.js";
import { el, say } from "./dom.js";
import { allClasses, arrowKeys, className, RANKS } from "./hand_grid.js";
import { number, percent } from "./text.js";

const EMPTY = "none";
const PAUSE = 350; // milliseconds without typing, after which the text is read

/** One editor in `node`; `changed()` is called whenever the range has changed. */
export class RangeEditor {
  constructor(node, player, changed) {
    this.changed = changed;
    this.text = EMPTY; // the last valid notation
    this.weights = new Map(allClasses().map(({ name }) => [name, 0]));
    this.stroke = null; // while painting: {weight, cells}
    this.reported = null; // the notation that `changed` was last called for
    this.typed = null; // the text that was last read
    this.asked = 0; // number of the latest request
    this.pending = Promise.resolve(); // requests are sent one after the other
    this.build(node, player);
  }

  build(node, player) {
    const id = `range-${player}`;
    this.cells = new Map(allClasses().map((place) => [place.name, this.cell(place)]));
    this.cells.get("AA").tabIndex = 0;
    const rows = RANKS.map((_, row) =>
      el("div", { role: "row", class: "range-row" }, [...this.cells.values()].filter((cell) => cell.dataset.row === String(row))
        .map((cell) => el("div", { role: "gridcell" }, cell))));
    const label = `Range of ${player.toUpperCase()}: pairs on the diagonal, suited above it, offsuit below it`;
    this.grid = el("div", { role: "grid", "aria-label": label, class: "range-grid", id: `${id}-grid` }, rows);
    this.field = el("textarea", { id: `${id}-text`, rows: 2, maxlength: 30000, spellcheck: "false", autocomplete: "off", "aria-describedby": `${id}-error` });
    this.error = el("p", { id: `${id}-error`, class: "field-error", role: "alert", hidden: true });
    this.count = el("span", { class: "quiet" });
    this.weight = el("input", { id: `${id}-weight`, type: "range", min: 5, max: 100, step: 5, value: 100 });
    this.weightText = el("output", { for: `${id}-weight` }, "100%");
    const button = (text, range) => el("button", { type: "button", class: "button button-small", on: { click: () => this.read(range) } }, text);
    node.replaceChildren(
      el("div", { class: "range-head" }, el("h2", {}, player === "oop" ? "OOP" : "IP", el("span", { class: "visually-hidden" }, player === "oop" ? ", out of position" : ", in position")), this.count),
      this.grid,
      el("div", { class: "range-tools" },
        el("label", { class: "weight" }, el("span", {}, "Weight"), this.weight, this.weightText),
        button("All", "random"), button("Clear", EMPTY)),
      el("label", { class: "range-text" }, el("span", { class: "quiet" }, "Notation"), this.field),
      this.error,
    );
    this.listen();
  }

  cell({ name, row, column }) {
    const attributes = { type: "button", class: "range-cell", tabindex: -1, "data-hand": name, "data-row": row, "data-column": column };
    return el("button", attributes, el("span", { class: "range-fill", "aria-hidden": "true" }), el("span", { "aria-hidden": "true" }, name));
  }

  listen() {
    arrowKeys(this.grid);
    this.grid.addEventListener("pointerdown", (event) => this.begin(event));
    this.grid.addEventListener("pointermove", (event) => this.move(event));
    for (const type of ["pointerup", "pointercancel"]) addEventListener(type, () => this.finish());
    this.grid.addEventListener("click", (event) => {
      const cell = event.target.closest("[data-hand]");
      if (!cell || event.detail !== 0) return; // the pointer has painted it already; detail 0 is the keyboard
      this.paint(cell.dataset.hand, this.toggled(cell.dataset.hand));
      this.finish();
    });
    this.weight.addEventListener("input", () => { this.weightText.textContent = `${this.weight.value}%`; });
    this.field.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.read(this.field.value), PAUSE);
    });
    this.field.addEventListener("blur", () => {
      if (this.field.value !== this.typed && this.field.value !== this.shown()) this.read(this.field.value);
      else if (this.error.hidden) this.field.value = this.shown();
    });
  }

  /** The weight that a click gives a cell: the chosen one, or 0 if it has that already. */
  toggled(name) {
    const chosen = Number(this.weight.value) / 100;
    return Math.abs(this.weights.get(name) - chosen) < 1e-6 ? 0 : chosen;
  }

  begin(event) {
    const cell = event.target.closest("[data-hand]");
    if (!cell || event.button !== 0) return;
    cell.releasePointerCapture?.(event.pointerId);
    this.paint(cell.dataset.hand, this.toggled(cell.dataset.hand));
  }

  move(event) {
    if (!this.stroke) return;
    if (event.buttons === 0) { this.finish(); return; }
    const cell = document.elementFromPoint(event.clientX, event.clientY)?.closest?.("[data-hand]");
    if (cell && this.grid.contains(cell)) this.paint(cell.dataset.hand, this.stroke.weight);
  }

  paint(name, weight) {
    this.stroke ??= { weight, cells: new Set() };
    if (this.stroke.cells.has(name)) return;
    this.stroke.cells.add(name);
    this.weights.set(name, weight);
    this.drawCell(name);
  }

  /** The stroke as further terms of the notation: the last term that names a hand sets its weight. */
  finish() {
    if (!this.stroke) return;
    const { weight, cells } = this.stroke;
    this.stroke = null;
    const terms = [...cells].map((name) => `${name}:${weight}`).join(", ");
    this.pending = this.pending.then(() => this.ask(`${this.text}, ${terms}`));
  }

  /** Reads a range in the notation. */
  read(text) {
    clearTimeout(this.timer);
    this.typed = text;
    this.pending = this.pending.then(() => this.ask(text.trim() || EMPTY));
    return this.pending;
  }

  async ask(text) {
    this.asked += 1;
    const mine = this.asked;
    try {
      const answer = await post("/api/spot/range", { text });
      this.text = answer.text;
      this.combinations = answer.combinations;
      if (this.stroke || mine !== this.asked) return;
      allClasses().forEach(({ name }, place) => this.weights.set(name, answer.cells[place]));
      this.draw();
      if (this.text === this.reported) return;
      this.reported = this.text;
      this.changed();
    } catch (error) {
      say(this.error, error.message);
      this.field.setAttribute("aria-invalid", "true");
    }
  }

  shown() {
    return this.text === EMPTY ? "" : this.text;
  }

  draw() {
    for (const name of this.cells.keys()) this.drawCell(name);
    if (document.activeElement !== this.field) this.field.value = this.shown();
    this.count.textContent = `${number(this.combinations, 1)} combinations, ${percent(this.combinations / 1326)}`;
    say(this.error, "");
    this.field.removeAttribute("aria-invalid");
  }

  drawCell(name) {
    const [cell, weight] = [this.cells.get(name), this.weights.get(name)];
    cell.firstChild.style.height = `${100 * weight}%`;
    cell.classList.toggle("range-in", weight > 0);
    const text = weight > 0 ? percent(weight) : "not in the range";
    cell.setAttribute("aria-label", `${className(name)}: ${text}`);
    cell.setAttribute("aria-pressed", String(weight > 0));
    cell.title = `${name}: ${text}`;
  }
}
