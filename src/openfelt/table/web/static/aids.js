// Aids during a hand: the name of one's hand, and the pot odds of a call.

import { byId, say } from "./dom.js";
import { chips } from "./money.js";
import { settings } from "./settings.js";
import { number, percent } from "./text.js";

/** The price of a call: {price, pot, share}; null if there is nothing to call. */
function potOdds(hand) {
  const you = hand.seats.find((seat) => seat.you);
  const price = Math.max(...hand.seats.map((seat) => seat.paid)) - you.paid;
  if (!hand.actions.length || price <= 0) return null;
  return { price, pot: hand.pot, share: price / (hand.pot + price) };
}

function oddsText({ price, pot, share }) {
  return `Pot odds ${number(pot / price, 1)} to 1: call ${chips(price)} to win ${chips(pot)}, you need ${percent(share)} equity.`;
}

/** Shows the aids that are switched on; none when the hand is over. */
export function drawAids(hand) {
  const { made, odds } = settings();
  const parts = [];
  if (hand && !hand.over) {
    if (made && hand.made) parts.push(`You have ${hand.made}.`);
    const found = odds && potOdds(hand);
    if (found) parts.push(oddsText(found));
  }
  say(byId("aids"), parts.join(" "));
}
