// What the person's decisions cost, from the answer to /losses.

import { counted } from "./text.js";

/** The loss of what the person did at a step; null if it is not known or the step is not his. */
export function lossAt(losses, review, index) {
  const decision = losses?.decisions.find((each) => each.step === index);
  const chosen = review.steps[index]?.chosen;
  return decision?.actions[chosen]?.loss ?? null;
}

/** One sentence on the whole hand, or "" if there is nothing to tell. */
export function lossSummary(losses, review) {
  const costs = losses.decisions.map((decision) => lossAt(losses, review, decision.step)).filter((cost) => cost !== null);
  if (!costs.length) return "";
  const sum = costs.reduce((a, b) => a + b, 0);
  if (sum < 0.005) return "Your decisions cost nothing in expectation.";
  return `Your decisions cost ${losses.exact ? "" : "about "}${counted(sum, review.unit)} in expectation.`;
}
