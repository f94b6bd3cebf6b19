// The report on a session: EV lost, worst decisions, leaks, luck against skill, style.

import { get, lastOfPath } from "./api.js";
import { drawChart } from "./chart.js";
import { byId, el, say, svg } from "./dom.js";
import { capital, counted, number, percent, rate, spread } from "./text.js";
import { BB, unitNote } from "./units.js";

const session = decodeURIComponent(lastOfPath());
const address = `/api/sessions/${encodeURIComponent(session)}/report`;

/** A table with a heading for each column; the first cell of a row is its heading. */
function table(heads, rows, caption) {
  const head = el("tr", {}, heads.map((text) => el("th", { scope: "col" }, text)));
  const body = rows.map(([first, ...cells]) => el("tr", {}, el("th", { scope: "row" }, first), cells.map((cell) => el("td", {}, cell))));
  return el("div", { class: "scroll-x", role: "group", "aria-label": caption, tabindex: 0 }, el("table", { class: "report-table" }, el("thead", {}, head), el("tbody", {}, body)));
}

function panel(id, title, ...content) {
  return el("section", { id, class: "panel", "aria-labelledby": `${id}-title` }, el("h2", { id: `${id}-title` }, title), content);
}

/** Rates are per 100 hands. */
function amount(found, digits = 1) {
  return found ? number(found.mean, digits) + spread(found.interval, digits) : "–";
}

function resultsPanel(report) {
  const figures = [
    ["EV lost", amount(report.lost)],
    ["Winnings", rate(report.won.mean, report.won.interval, 1)],
    ["Luck-adjusted winnings", report.adjusted ? rate(report.adjusted.mean, report.adjusted.interval, 1) : "–"],
  ];
  const rows = table(["", `${report.unit}, ± 95%`], figures, "Results of the session");
  const note = report.unit === BB ? el("p", { class: "unit-note" }, unitNote(BB)) : "";
  return panel("results", "Results", rows, note, el("p", { class: "quiet" }, report.explain));
}

function worstPanel(report) {
  const items = report.worst.map((each) => {
    const text = `${capital(each.street)}, ${each.situation}: you chose to ${each.chosen}; best was to ${each.best}.`;
    const cost = `EV loss ${number(each.loss)}${spread(each.interval)} ${report.chips}`;
    const link = el("a", { href: `/hand/${encodeURIComponent(each.link)}` }, `Hand ${each.number}`);
    return el("li", { "data-worst": each.number }, link, " ", el("span", {}, text), " ", el("strong", { class: "lost" }, cost));
  });
  const none = el("p", { class: "quiet" }, report.lost ? "No clear mistakes." : "Not available.");
  const drills = items.length ? el("p", { class: "unit-note" }, el("a", { href: "/drill?kind=mistakes" }, "Drill my mistakes")) : "";
  return panel("worst", "Worst decisions", items.length ? el("ol", { class: "worst-list" }, items) : none, drills);
}

/** The kind of a leak, with a link to drills of it; drills are for two players. */
function drillLink(report, { street, situation }) {
  const text = `${capital(street)}, ${situation}`;
  if (report.game.includes("players=3")) return text;
  return el("a", { href: `/drill?${new URLSearchParams({ kind: "spot", game: report.game, street, situation })}` }, text);
}

function leaksPanel(report) {
  const streets = Object.entries(report.streets).map(([street, lost]) => [capital(street), amount(lost)]);
  const leaks = report.leaks.map((leak) => [
    drillLink(report, leak),
    number(leak.decisions),
    amount(leak.lost),
    leak.chosen ? `${leak.chosen} instead of ${leak.best} (${percent(leak.share)})` : "–",
  ]);
  if (!leaks.length) return panel("leaks", "Leaks", el("p", { class: "quiet" }, "Not available."));
  const byStreet = table(["Street", `EV lost, ${report.unit}`], streets, "EV lost by street");
  const byKind = table(["Decision", "Count", `EV lost, ${report.unit}`, "Most costly mistake"], leaks, "EV lost by kind of decision");
  return panel("leaks", "Leaks", byStreet, byKind);
}

function timePanel(report) {
  const chart = svg("svg", { id: "chart", class: "chart" });
  drawChart(chart, report.chart, report.chips);
  const keys = [el("span", { class: "key key-won" }, "winnings")];
  if (report.adjusted) keys.push(el("span", { class: "key key-luck-free" }, "luck-adjusted (dashed)"));
  if (report.lost) keys.push(el("span", { class: "key key-lost" }, "EV lost (dotted)"));
  const text = "The gap between winnings and luck-adjusted winnings is luck. The line of EV lost shows what your decisions cost.";
  return panel("time", "Luck and skill over time", el("figure", { class: "chart-box" }, chart, el("figcaption", { class: "legend" }, keys)), el("p", { class: "quiet" }, text));
}

function stylePanel(report) {
  const rows = Object.entries(report.styles)
    .sort(([first], [second]) => (second === "you") - (first === "you"))
    .map(([name, style]) => [capital(name), ...[style.vpip, style.pfr].map(share), style.af === null ? "–" : number(style.af), share(style.wtsd)]);
  if (!rows.length) return "";
  const terms = "VPIP: hands with a voluntary bet before the flop. PFR: hands with a raise before the flop. AF: bets and raises per call from the flop on. WTSD: flops seen that went to the showdown.";
  return panel("style", "Style", table(["Player", "VPIP", "PFR", "AF", "WTSD"], rows, "Styles of the players"), el("p", { class: "quiet" }, terms));
}

function share(value) {
  return value === null ? "–" : percent(value);
}

function draw(report) {
  const isDone = report.reviewed === report.all_hands;
  byId("busy").hidden = isDone;
  byId("busy-text").textContent = isDone ? "" : "Computing your EV losses …";
  Object.assign(byId("busy-bar"), { max: report.all_hands, value: report.reviewed });
  if (!report.all_hands) {
    byId("report").replaceChildren(el("p", { class: "quiet" }, "No finished hands yet."));
    return;
  }
  if (!report.reviewed) return;
  byId("about").textContent = `${report.title}, ${counted(report.reviewed, "hands")}`;
  const panels = [resultsPanel, worstPanel, leaksPanel, timePanel, stylePanel];
  byId("report").replaceChildren(...panels.map((each) => each(report)));
}

async function start() {
  byId("back").href = `/play/${encodeURIComponent(session)}`;
  byId("busy").hidden = false;
  byId("busy-text").textContent = "Computing your EV losses …";
  let report = null;
  try {
    do {
      report = await get(address);
      draw(report);
    } while (report.reviewed < report.all_hands);
    byId("main").dataset.ready = "";
  } catch (error) {
    byId("busy").hidden = true;
    say(byId("error"), error.message);
  }
}

start();
