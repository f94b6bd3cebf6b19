// A solution: the line so far, the actions, the matrix of a player's hands, and the cards of the next street.

import { get } from "./api.js";
import { CardPicker, cardSpans, splitCards } from "./board_picker.js";
import { byId, el, say } from "./dom.js";
import { actionText, colours, gradient, isCard, steps, swatch } from "./spot_actions.js";
import { comparisonView } from "./spot_compare.js";
import { chips, handTable, share } from "./spot_hands.js";
import { lockEditor } from "./spot_locks.js";
import { byClass, markClass, matrixView } from "./spot_matrix.js";
import { RunoutTable } from "./spot_runouts.js";

const VIEWS = { strategy: "Strategy", ev: "EV", equity: "Equity", range: "Range" };
const PLAYERS = { oop: "OOP", ip: "IP" };

function radios(name, choices, chosen, isDisabled, change) {
  return el("div", { class: "segments", role: "radiogroup", "aria-label": name }, Object.entries(choices).map(([value, text]) => {
    const attributes = { type: "radio", name, value, checked: value === chosen, disabled: isDisabled(value), on: { change: () => change(value) } };
    return el("label", { class: "segment" }, el("input", attributes), text);
  }));
}

/** The solution of one solve in `node`; `visit(line)` changes the address and calls `show`. */
export class SpotResult {
  constructor(node, key, locks, visit, onError) {
    this.node = node;
    this.key = key;
    this.locks = locks;
    this.other = null; // a solution to compare with: {key, label}
    this.address = `/api/spot/solves/${encodeURIComponent(key)}`;
    this.visit = visit;
    this.onError = onError;
    this.view = "strategy";
    this.chosen = null; // the class whose hands are listed
    this.isPinned = false;
    this.latest = 0;
  }

  async ask(what, line) {
    return get(`${this.address}/${what}?${new URLSearchParams({ line })}`);
  }

  /** Shows the position after a line. */
  async show(line) {
    this.latest += 1;
    const mine = this.latest;
    this.node.setAttribute("aria-busy", "true");
    try {
      const position = await this.ask("position", line);
      if (mine !== this.latest) return;
      this.position = position;
      this.player = position.player ?? this.player ?? "oop";
      this.onError("");
      this.draw();
    } catch (error) {
      if (mine === this.latest) this.onError(error.message);
    }
    if (mine === this.latest) this.node.setAttribute("aria-busy", "false");
  }

  go(token) {
    this.visit([this.position.line, token].filter(Boolean).join(" "));
  }

  draw() {
    const hadFocus = this.node.contains(document.activeElement) && !document.activeElement.matches(".segment input");
    const { kind, street } = this.position;
    const hands = kind === "card" ? [] : [this.actionBar(), this.comparisonBox(), this.handArea(), this.lockArea()].filter(Boolean);
    const body = street ? [...hands, ...this.cardStep()] : hands; // a card is dealt: at the end of a street, or all-in
    this.node.replaceChildren(this.crumbs(), this.facts(), ...body);
    this.node.hidden = false;
    this.node.dataset.line = this.position.line;
    if (street) this.loadRunouts();
    if (kind === "decision") this.compare();
    if (kind !== "card") this.showHands(this.cells.has(this.chosen) ? this.chosen : this.firstClass(), null);
    if (hadFocus) byId("position").focus(); // the pressed button is gone; the keyboard continues from here
  }

  crumbs() {
    const tokens = steps(this.position.line);
    const items = [{ text: "Start" }, ...tokens].map((step, i) => {
      const line = tokens.slice(0, i).map((each) => each.token).join(" ");
      if (i === tokens.length) return el("li", {}, el("span", { "aria-current": "page" }, step.text));
      return el("li", {}, el("button", { type: "button", class: "crumb", "data-crumb": i, on: { click: () => this.visit(line) } }, step.text));
    });
    return el("nav", { "aria-label": "Line" }, el("ol", { class: "crumbs" }, items));
  }

  facts() {
    const { kind, board, pot, stacks, player, values, equities } = this.position;
    const title = { decision: `${PLAYERS[player]} to act`, card: `The ${this.position.street} is dealt`, end: this.endText() }[kind];
    const parts = [el("h2", { id: "position", tabindex: -1 }, title), el("span", { class: "board-cards" }, cardSpans(splitCards(board))), el("span", {}, `Pot ${pot}`)];
    if (this.position.locked) parts.push(el("span", { class: "locked" }, "Locked"));
    if (stacks) parts.push(el("span", {}, `Stacks ${stacks.join(" and ")}`));
    if (values) {
      ["OOP", "IP"].forEach((name, i) => parts.push(el("span", { "data-value": name.toLowerCase() }, `${name}: EV ${chips(values[i])}, equity ${share(equities[i])}`)));
    }
    return el("div", { class: "position-facts" }, parts);
  }

  endText() {
    const last = this.position.line.split(" ").at(-1);
    if (last === "f") return "The line ends with a fold";
    return isCard(last) ? "Both players are all-in: no more betting" : "Showdown";
  }

  actionBar() {
    const { actions, reached } = this.position;
    if (!actions?.length) return el("p", { class: "quiet" }, "The betting is over; go back in the line above.");
    const paints = colours(actions);
    const buttons = actions.map((action, i) =>
      el("button", { type: "button", class: "action-button", "data-action": action.code, "data-frequency": action.frequency, on: { click: () => this.go(action.code) } },
        swatch(paints[i]), el("strong", {}, actionText(action)), " ", el("span", { class: "often" }, share(action.frequency)), " ", el("small", {}, `EV ${chips(action.ev)}`)));
    const bar = el("div", { class: "action-strip", "aria-hidden": "true" });
    if (reached) bar.style.backgroundImage = gradient(paints, actions.map((action) => action.frequency ?? 0));
    const never = reached ? null : el("p", { class: "quiet" }, "The players never come here in this solution; the strategy shown is untrained.");
    return el("div", { class: "action-area" }, bar, el("div", { class: "action-buttons", role: "group", "aria-label": "Actions" }, buttons), never);
  }

  currentView() {
    return this.view === "strategy" && this.player !== this.position.player ? "range" : this.view;
  }

  firstClass() {
    return this.cells.keys().next().value ?? "AA";
  }

  handArea() {
    const { position, player } = this;
    const columns = position.hands[player];
    this.cells = byClass(columns, splitCards(position.board));
    const redraw = (name) => (value) => {
      this[name] = value;
      this.draw();
      this.node.querySelector(`.segment input[value="${value}"]`)?.focus();
    };
    const isOff = (view) => view === "strategy" && player !== position.player;
    const controls = el("div", { class: "view-controls" },
      radios("Show", VIEWS, this.currentView(), isOff, redraw("view")),
      radios("Player", PLAYERS, player, () => false, redraw("player")));
    const label = `${VIEWS[this.currentView()]} of ${PLAYERS[player]}`;
    const choose = (name, how) => this.showHands(name, how);
    const actions = position.actions ?? [];
    this.grid = matrixView({ cells: this.cells, view: this.currentView(), actions, label, choose });
    this.hands = el("section", { class: "panel hand-panel", id: "hands", "aria-label": "Hands of the chosen class" });
    return el("div", { class: "hand-area" }, el("div", { class: "matrix-side" }, controls, this.grid), this.hands);
  }

  /** Lists the hands of a class; the pointer changes it unless a click has pinned one. */
  showHands(name, how) {
    if (how === "hover" && this.isPinned) return;
    if (how === "click") this.isPinned = !(this.isPinned && name === this.chosen);
    this.chosen = name;
    markClass(this.grid, name, this.isPinned);
    const { position, player } = this;
    const actions = player === position.player ? position.actions : [];
    this.hands.replaceChildren(...handTable(name, this.cells.get(name) ?? null, position.hands[player], actions, player));
  }

  lockArea() {
    const { position, key, locks } = this;
    if (position.kind !== "decision") return null;
    return lockEditor({ position, key, locks, paints: colours(position.actions), chosen: () => this.chosen });
  }

  compareWith(other) {
    this.other = other;
    if (this.position?.kind === "decision") this.compare();
  }

  comparisonBox() {
    if (this.position.kind !== "decision") return null;
    this.comparison = el("section", { class: "panel comparison", id: "comparison", "aria-label": "Comparison", hidden: true });
    return this.comparison;
  }

  async compare() {
    const [box, mine, other] = [this.comparison, this.latest, this.other];
    box.hidden = !other;
    if (!other) return;
    try {
      const found = await get(`${this.address}/compare?${new URLSearchParams({ other: other.key, line: this.position.line })}`);
      if (mine === this.latest && other === this.other) box.replaceChildren(...comparisonView(found, other.label));
    } catch (error) {
      if (mine === this.latest) box.replaceChildren(el("p", { class: "quiet" }, error.message));
    }
  }

  cardStep() {
    const dead = splitCards(this.position.board);
    const box = el("div", {});
    const picker = new CardPicker(box, `Card of the ${this.position.street}`, (card) => { if (!dead.includes(card)) this.go(card); });
    picker.show([], (card) => dead.includes(card));
    this.runoutBox = el("div", { class: "runouts" }, el("p", { class: "quiet", role: "status" }, "Computing all cards …"));
    return [el("div", { class: "panel deck-panel" }, el("h3", {}, `Choose the ${this.position.street}`), box), this.runoutBox];
  }

  async loadRunouts() {
    const [box, mine] = [this.runoutBox, this.latest];
    try {
      const runouts = await this.ask("runouts", this.position.line);
      if (mine !== this.latest) return;
      const table = new RunoutTable(runouts, (card) => this.go(card));
      const note = runouts.player ? `how often ${PLAYERS[runouts.player]}, the next to act, takes each action` : "both players are all-in";
      box.replaceChildren(el("h3", {}, `All cards of the ${this.position.street}`), el("p", { class: "quiet" }, `For each card: ${note}, expected values in chips, and equities.`),
        el("div", { class: "table-scroll", tabindex: 0, role: "region", "aria-label": "All cards" }, table.node));
    } catch (error) {
      if (mine === this.latest) say(box.firstChild, error.message);
    }
  }
}
