// The units of rates, with explanations.

import { el } from "./dom.js";

export const MBB = "mbb/h";

const NOTES = { [MBB]: "thousandths of a big blind (2 chips) a hand" };

/** A unit, with its meaning as a tooltip. */
export function unitName(unit) {
  return NOTES[unit] ? el("abbr", { title: NOTES[unit] }, unit) : unit;
}

/** "mbb/h: thousandths of ..."; nothing for a unit that explains itself. */
export function unitNote(unit) {
  return NOTES[unit] ? [unitName(unit), `: ${NOTES[unit]}`] : [];
}
