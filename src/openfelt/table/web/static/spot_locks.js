// Locked decisions: the list of the form, and the editor at a decision of a solution.

import { byId, el, say } from "./dom.js";
import { actionText, isCard, steps, swatch } from "./spot_actions.js";
import { number } from "./text.js";

const WHOLE = "random"; // every hand, in the notation of ranges

/** A line without its cards, as locks have it: "x x / b60". */
export function lockLine(line) {
  const tokens = line.split(" ").filter(Boolean).map((token) => (isCard(token) ? "/" : token));
  return (tokens.at(-1) === "/" ? tokens.slice(0, -1) : tokens).join(" ");
}

function lineText(line) {
  if (!line) return "First decision";
  const streets = line.split("/").map((street) => steps(street).map((step) => step.text).join(", "));
  return `After ${streets.join("; ")}`;
}

function ruleText({ hands, shares }) {
  const total = Object.values(shares).reduce((sum, share) => sum + share, 0);
  const parts = Object.entries(shares).filter(([, share]) => share > 0).map(([code, share]) => `${steps(code)[0].text.slice("OOP ".length)} ${number((100 * share) / total, 1)}%`);
  return `${hands === WHOLE ? "whole range" : hands}: ${parts.join(", ")}`;
}

/** The locks of the form; `changed()` is called after every change. */
export class SpotLocks {
  constructor(changed) {
    this.changed = changed;
    this.names = new Map(); // of the sources that are bots
    this.write([]);
  }

  read() {
    return this.all;
  }

  write(locks) {
    this.all = locks;
    this.draw();
  }

  at(line) {
    return this.all.find((lock) => lock.line === line);
  }

  /** Locks a decision to what `source` plays there; a rule, if given, changes some hands. */
  set(line, source, rule) {
    const before = this.at(line);
    const lock = { line, source: before?.source ?? source, rules: [...(before?.rules ?? []), ...(rule ? [rule] : [])] };
    this.update([...this.all.filter((other) => other !== before), lock]);
  }

  setPlayer(player, source, name) {
    this.names.set(source, name);
    this.update([...this.all.filter((lock) => lock.player !== player), { player, source, rules: [] }]);
  }

  remove(lock) {
    this.update(this.all.filter((other) => other !== lock));
  }

  update(locks) {
    this.write(locks);
    this.changed();
  }

  text(lock) {
    if (lock.player) {
      const name = this.names.get(lock.source);
      return `${lock.player.toUpperCase()}, every decision${name ? ` as ${name} plays` : ""}`;
    }
    const rules = lock.rules.map(ruleText).join("; ");
    return `${lineText(lock.line)}: ${rules || "as solved"}`;
  }

  draw() {
    byId("locks").hidden = !this.all.length;
    byId("lock-list").replaceChildren(...this.all.map((lock) => {
      const label = this.text(lock);
      return el("li", {}, el("span", {}, label), " ",
        el("button", { type: "button", class: "button button-small", "aria-label": `Unlock: ${label}`, on: { click: () => this.remove(lock) } }, "Unlock"));
    }));
  }
}

/** The editor of a decision of the solution `key`. */
export function lockEditor({ position, key, locks, paints, chosen }) {
  const line = lockLine(position.line);
  const hands = el("input", { type: "text", id: "lock-hands", maxlength: 30000, autocomplete: "off", spellcheck: "false", placeholder: "whole range" });
  const fields = position.actions.map((action) => el("input", { type: "number", inputmode: "decimal", min: 0, step: "any", value: 0, "data-lock": action.code }));
  const note = el("p", { class: "field-error", role: "alert", hidden: true });
  const state = el("p", { class: "quiet", role: "status", id: "lock-state" });
  const done = () => { state.textContent = `${locks.text(locks.at(line))}. Solve again to apply it.`; };
  const set = () => {
    const shares = Object.fromEntries(fields.map((field) => [field.dataset.lock, field.valueAsNumber || 0]));
    const values = Object.values(shares);
    if (values.some((share) => share < 0) || !values.some((share) => share > 0)) {
      say(note, "Give at least one action a share above 0.");
      return;
    }
    say(note, "");
    locks.set(line, key, { hands: hands.value.trim() || WHOLE, shares });
    done();
  };
  const keep = () => {
    locks.set(line, key, null);
    done();
  };
  const button = (id, text, click) => el("button", { type: "button", class: "button button-small", id, on: { click } }, text);
  const everywhere = line.includes("/") || position.line.split(" ").some(isCard) ? " The lock counts on every turn and river." : "";
  return el("details", { class: "panel lock-editor", id: "lock-editor" },
    el("summary", {}, position.locked ? "Locked; change this decision" : "Lock this decision"),
    el("p", { class: "quiet" }, `Fix how often some hands take each action, then solve again: the rest adapts. Hands without a rule keep the strategy of this solution.${everywhere}`),
    el("div", { class: "lock-fields" },
      el("label", {}, el("span", {}, "Hands"), hands),
      position.actions.map((action, i) => el("label", {}, el("span", {}, swatch(paints[i]), `${actionText(action)}, %`), fields[i]))),
    note,
    el("div", { class: "lock-buttons" },
      button("lock-set", "Set", set),
      button("lock-class", "Use the chosen class", () => { hands.value = chosen(); }),
      button("lock-keep", "Lock as solved", keep)),
    state);
}
