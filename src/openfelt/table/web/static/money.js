// Amounts of chips, in chips or in big blinds, as the settings say.

import { settings } from "./settings.js";
import { counted, number } from "./text.js";

const BIG_BLIND = 2; // chips, in hold'em
let inBlinds = false;

/** Reads the settings for a game; only hold'em has blinds. */
export function useUnits(game) {
  inBlinds = game.startsWith("holdem") && settings().units === "big blinds";
}

/** An amount without its unit. */
export function chips(value) {
  return inBlinds ? `${number(value / BIG_BLIND)} bb` : number(value);
}

/** An amount with its unit: "6 chips", "3 bb". */
export function money(value, unit) {
  return inBlinds ? chips(value) : counted(value, unit);
}

const AMOUNT = /(\bto |\bcalls? |\bbets? |\bof |pot \(|\bwins? |\bloses? )(\d+(?:\.\d+)?)( chips?)?/gi;

/** A line of the log, or a label, with its amounts in the chosen unit. */
export function withUnits(text) {
  if (!inBlinds) return text;
  return text.replace(AMOUNT, (_, before, value) => before + chips(Number(value)));
}
