// What the person's decisions cost, from the answer to /losses.

import { counted, number, spread } from "./text.js";

const NOTHING = 0.005; // chips; less is shown as 0

/**
 * What the person did at a step: {cost, noise, text}; null if it is not known or the step is not his. `noise`: an
 * estimate within its own interval, which cannot be told from the best.
 */
export function costAt(losses, review, index) {
  const decision = losses?.decisions.find((each) => each.step === index);
  const action = decision?.actions[review.steps[index]?.chosen];
  if (!action) return null;
  const noise = !losses.exact && action.loss > 0 && action.loss <= action.interval;
  return { cost: action.loss, noise, text: number(action.loss) + spread(action.interval) };
}

/** One sentence on what was done at a step. */
export function costText({ cost, noise, text }, { exact }, unit) {
  if (noise) return `What you did cannot be told from the best (${text}).`;
  if (cost < NOTHING) return exact ? "What you did was best: it cost nothing." : "What you did was best, as far as can be told.";
  return `What you did cost ${counted(cost, unit)} in expectation.`;
}

/** The cost of a step for the list of steps; "" if there is none, or none that can be told. */
export function shortCost(found) {
  return found && !found.noise && found.cost > NOTHING ? `cost ${number(found.cost)}` : "";
}

/** A sentence or two on the whole hand, or "" if there is nothing to tell. */
export function lossSummary(losses, review) {
  const all = losses.decisions.map((decision) => costAt(losses, review, decision.step)).filter(Boolean);
  const told = all.filter((each) => !each.noise);
  const out = all.length - told.length;
  if (!all.length) return "";
  if (out === 1 && !told.length) return "Your decision cannot be told from the best.";
  if (!told.length) return `None of your ${out} decisions can be told from the best.`;
  const sum = told.reduce((before, each) => before + each.cost, 0);
  const cost = sum < NOTHING ? "nothing" : `${losses.exact ? "" : "about "}${counted(sum, review.unit)}`;
  const without = out ? ` This leaves out ${counted(out, "decisions")} that cannot be told from the best.` : "";
  return `Your decisions cost ${cost} in expectation.${without}`;
}
