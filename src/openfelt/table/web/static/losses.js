// EV losses of the person's decisions, from the response to /losses.

import { counted, number, spread } from "./text.js";

const NOTHING = 0.005; // chips; less is shown as 0

/**
 * The EV loss at a step: {cost, isClose, isExact, text}; null if it is not known or not the person's decision. A
 * decision is close if its estimated loss is within its interval.
 */
export function costAt(losses, review, index) {
  const decision = losses?.decisions.find((each) => each.step === index);
  const action = decision?.actions[review.steps[index]?.chosen];
  if (!action) return null;
  const isExact = losses.exact || decision.actions.every(({ interval }) => interval === 0);
  const isClose = !isExact && action.loss > 0 && action.loss <= action.interval;
  return { cost: action.loss, isClose, isExact, text: number(action.loss) + spread(action.interval) };
}

/** One sentence on a decision. */
export function costText({ cost, isClose, isExact, text }, unit) {
  if (isClose) return `Close decision (EV loss ${text}).`;
  if (cost < NOTHING) return isExact ? "Best action: no EV loss." : "Best action according to the estimate.";
  return `EV loss: ${counted(cost, unit)}.`;
}

/** The EV loss for the list of steps; "" if there is none, or the decision was close. */
export function shortCost(found) {
  return found && !found.isClose && found.cost > NOTHING ? `EV loss ${number(found.cost)}` : "";
}

/** A sentence or two on the whole hand, or "" if there was no decision. */
export function lossSummary(losses, review) {
  const all = losses.decisions.map((decision) => costAt(losses, review, decision.step)).filter(Boolean);
  const clear = all.filter((each) => !each.isClose);
  const close = all.length - clear.length;
  if (!all.length) return "";
  const also = close ? `${counted(close, "close decisions")}` : "";
  const sum = clear.reduce((before, each) => before + each.cost, 0);
  if (sum < NOTHING) return also ? `No clear mistakes; ${also}.` : "No clear mistakes.";
  const cost = `${losses.exact ? "" : "about "}${counted(sum, review.unit)}`;
  return `Total EV loss of ${review.player ? `${review.player}'s` : "your"} decisions: ${cost}.${also ? ` This does not include ${also}.` : ""}`;
}
