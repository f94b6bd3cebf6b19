// The person's rating at heads-up hold'em: points with their interval, the ladder of bots, streaks.

import { post } from "./api.js";
import { byId, el } from "./dom.js";
import { sessions } from "./storage.js";
import { counted, number } from "./text.js";

function rungView(rung) {
  const facts = [rung.level, rung.hands ? counted(rung.hands, "hands") : "not played yet", rung.beaten ? "beaten" : ""];
  const name = el("span", { class: "rung-name" }, rung.title, el("small", { class: "quiet" }, ` ${facts.filter(Boolean).join(", ")}`));
  return el("li", { "data-rung": rung.bot, class: rung.beaten ? "rung-beaten" : null }, name, el("span", {}, number(rung.points, 0)));
}

/** The rungs from the top, with the person in between. */
function ladderView(rating) {
  const own = el("li", { class: "rung-own", "data-rung": "you" }, el("strong", {}, "You"), el("strong", {}, `${number(rating.points, 0)} ± ${number(rating.interval, 0)}`));
  const above = rating.ladder.filter((rung) => rung.points > rating.points).map(rungView);
  const below = rating.ladder.filter((rung) => rung.points <= rating.points).map(rungView);
  return el("ol", { class: "ladder" }, ...above, own, ...below);
}

function texts({ hands, next, streaks }) {
  const goal = next ? `Next on the ladder: ${next}.` : "You are above all bots.";
  const won = streaks.hands ? `${counted(streaks.hands, "hands")} won in a row (longest: ${streaks.longest}).` : `Longest run of hands won: ${streaks.longest}.`;
  const days = streaks.days > 1 ? `${streaks.days} days in a row.` : "";
  return [`After ${counted(hands, "hands")} of heads-up hold'em.`, goal, won, days].filter(Boolean).join(" ");
}

/** Shows the rating by this browser's sessions; nothing before the first rated hand. */
export async function drawRating() {
  if (!sessions().length) return;
  try {
    const rating = await post("/api/rating", { sessions: sessions() });
    byId("rating").hidden = rating.hands === 0;
    if (!rating.hands) return;
    const note = "A point is 1 mbb/h, luck-adjusted: The Professor has 2,000, and you are as many points above a bot as you win from it, counted up to 400. ± is half of the 95% interval.";
    const about = el("details", { class: "explain" }, el("summary", {}, "How is it computed?"), el("p", {}, note));
    byId("rating-body").replaceChildren(el("p", { class: "rating-text" }, texts(rating)), ladderView(rating), about);
  } catch {
    byId("rating").hidden = true; // the lobby works without it
  }
}
