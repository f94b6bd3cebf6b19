// The units of rates, with explanations.

import { el } from "./dom.js";

export const MBB = "mbb/h"; // the unit of the server
export const BB = "bb/100"; // the unit of the pages: ten times as large

const NOTES = { [BB]: "big blinds (2 chips) won per 100 hands; 1 bb/100 is 10 mbb/h" };

/** A unit, with its meaning as a tooltip. */
export function unitName(unit) {
  return NOTES[unit] ? el("abbr", { title: NOTES[unit] }, unit) : unit;
}

/** "mbb/h: thousandths of ..."; nothing for a unit that explains itself. */
export function unitNote(unit) {
  return NOTES[unit] ? [unitName(unit), `: ${NOTES[unit]}`] : [];
}
