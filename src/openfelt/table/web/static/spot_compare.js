// The same decision in two solutions, side by side; and the solutions that this window has opened.

import { el } from "./dom.js";
import { actionText, colours, swatch } from "./spot_actions.js";
import { chips, share } from "./spot_hands.js";
import { read, write } from "./storage.js";

const OPENED = "felt.spots";
const MOST = 20;
const LEAST = 0.0005; // changes below this would be shown as 0.0%

/** Solutions of this window, the latest first: [{key, label}]. */
export function opened() {
  return read(OPENED, [], "sessionStorage");
}

export function addOpened(key, label) {
  write(OPENED, [{ key, label }, ...opened().filter((other) => other.key !== key)].slice(0, MOST), "sessionStorage");
}

/** The table of a comparison with the solution `label`. */
export function comparisonView(found, label) {
  const paints = colours(found.actions);
  const head = ["Action", "This", "Other", "EV, this", "EV, other"];
  const rows = found.actions.map((action, i) => el("tr", {},
    el("th", { scope: "row" }, swatch(paints[i]), actionText(action)),
    action.frequencies.map((often) => el("td", {}, share(often))),
    action.evs.map((value) => el("td", {}, chips(value)))));
  const values = ["OOP", "IP"].map((name, player) => `${name} ${found.values.map((each) => chips(each[player])).join(" and ")}`);
  const hands = found.hands.filter(({ changed }) => changed >= LEAST).map(({ hand, changed }) => `${hand} ${share(changed)}`).join(", ");
  return [
    el("h3", {}, "This solution and the other: ", el("span", { class: "quiet" }, label)),
    el("div", { class: "table-scroll", tabindex: 0, role: "region", "aria-label": "Comparison of two solutions" },
      el("table", { class: "hand-table" }, el("thead", {}, el("tr", {}, head.map((text) => el("th", { scope: "col" }, text)))), el("tbody", {}, rows))),
    el("p", { id: "changed" }, `${share(found.changed)} of the range plays differently. EV in chips: ${values.join("; ")}.`),
    hands ? el("p", { class: "quiet" }, `Largest changes: ${hands}.`) : null,
  ].filter(Boolean);
}
