"""`felt review`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from openfelt.cli.hand_options import add_hand_options, read_histories
from openfelt.cli.options import Bars, count, print_json, progress_bar, seed
from openfelt.core.errors import FeltError

if TYPE_CHECKING:
    from openfelt.table.report.holdem_review import HoldemReview
    from openfelt.table.report.report import Rate, Report
    from openfelt.table.report.style import Style

HELP = (
    "Where do I lose money? Reviews hands that were played elsewhere: .phh, .phhs, .log, .txt of PokerStars\n"
    "and GGPoker, or .db. In two-player limit hold'em it estimates the EV loss of every decision, if the\n"
    "opponent plays as the included policy `default`; in Kuhn and Leduc losses are exact, against an\n"
    "equilibrium. It reports EV lost per 100 hands, by street and kind of decision, the worst decisions,\n"
    "results over time, and the styles of the players. Of other games (no-limit, three players) it reports\n"
    "results and styles. The first review of hold'em makes bucket tables: minutes, and 1 GB in the cache."
)
EXAMPLES = [
    "felt review hands.txt",
    "felt review match.log --player alice",
    "felt review table.db --player You",
    "felt review hands.phhs --player alice --against runs/my-policy --json",
]
MOST_LEAKS = 10


def add_arguments(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    parser.add_argument("file", type=Path, help="the file with the hands, or a folder of such files")
    parser.add_argument("--player", help="whose hands to review (default: the one whose cards are known)")
    parser.add_argument("--game", help="review the hands of this game (default: the most frequent one)")
    parser.add_argument(
        "--against",
        default="default",
        metavar="POLICY",
        help="policy of two-player limit hold'em that the opponent is assumed to play (default: default)",
    )
    parser.add_argument("--threads", type=count, default=2, help="default: 2")
    parser.add_argument("--seed", type=seed, default=0, help="of the rollouts (default: 0)")
    add_hand_options(parser)


def run(arguments: argparse.Namespace) -> None:
    from openfelt.games.holdem import Holdem
    from openfelt.table.report.hand_review import choose_hands, choose_player, group_of, review_hands

    with progress_bar(not arguments.json) as bar:
        hands = list(read_histories(arguments.file, arguments))
        records, others = choose_hands(hands, arguments.game)
        player = choose_player(records, arguments.player)
        game = group_of(records[0])

        review = _holdem_review(arguments, bar) if game == Holdem().name else None
        progress = bar(f"reviewing {len(records):,} hands")
        report = review_hands(records, player, review, arguments.against, progress)
    if arguments.json:
        return print_json({"player": player, "game": game, "other_hands": others, **report.as_dict()})
    print("\n".join(report_lines(report, player, game, others, [f"hand {hand.number}" for hand in records])))


def _holdem_review(arguments: argparse.Namespace, bar: Bars) -> HoldemReview:
    from openfelt.cli.abstraction import make_tables
    from openfelt.games.holdem import Holdem
    from openfelt.policy.files import load_policy
    from openfelt.policy.holdem import require_holdem_policy
    from openfelt.table.report.holdem_review import HoldemReview

    policy = require_holdem_policy(load_policy(arguments.against))
    if policy.rules != Holdem():
        raise FeltError(
            f"--against needs a policy of two-player limit hold'em; this one plays {policy.game}."
        )
    make_tables(policy.tree.abstraction, arguments.threads, bar)
    return HoldemReview(policy, threads=arguments.threads, seed=arguments.seed)


def report_lines(report: Report, player: str, game: str, others: int, names: list[str]) -> Iterator[str]:
    """The report as text; `names` are those of the hands."""
    yield f"{player}: {report.hands:,} hands of {game}"
    if others:
        yield f"({others:,} hands of other games were left out; choose with --game.)"
    yield f"  won      {_rate(report.won)} {report.unit}"
    if report.lost is not None:
        yield f"  EV lost  {_rate(report.lost, sign='')} {report.unit}, in {report.decisions:,} decisions"
    yield f"  {report.explain}"
    if report.lost is not None:
        yield from _losses(report, names)
    yield from ["", f"Over time, in {report.unit}:", "      hands        won    EV lost"]
    for period in report.periods:
        lost = "" if period.lost is None else f"{period.lost.mean:10.1f}"
        yield f"  {period.hands:9,} {period.won.mean:+10.1f} {lost}".rstrip()
    if report.styles:
        yield from _styles(report.styles, player)


def _losses(report: Report, names: list[str]) -> Iterator[str]:
    yield from ["", f"EV lost by street, in {report.unit}:"]
    for street, rate in report.streets.items():
        yield f"  {street:<8} {_rate(rate, sign='')}"
    yield from ["", f"Leaks by kind of decision, in {report.unit}:"]
    for leak in report.leaks[:MOST_LEAKS]:
        main = f"; mostly {leak.chosen} instead of {leak.best} ({leak.share:.0%})" if leak.chosen else ""
        where = f"{leak.street}, {leak.situation}"
        yield f"  {_rate(leak.lost, sign=''):>16}  {where} ({leak.decisions:,} decisions){main}"
    unit = "bb" if report.unit.startswith("bb") else "chips"
    yield from ["", "Worst decisions:"]
    for each in report.worst:
        at, spread = each.decision, f" ± {each.interval:.2f}" if each.interval else ""
        what = f"{at.chosen} instead of {at.best}"
        yield f"  {at.loss:.2f}{spread} {unit}  {names[at.hand]}, {at.street}, {at.situation}: {what}"


def _styles(styles: Mapping[str, Style], player: str) -> Iterator[str]:
    yield from ["", "Style            hands   VPIP    PFR     AF   WTSD"]
    for name in sorted(styles, key=lambda each: (each != player, -styles[each].hands))[:MOST_LEAKS]:
        style = styles[name]
        factor = "-" if style.af is None else f"{style.af:.2f}"
        shares = [_percent(style.vpip), _percent(style.pfr), f"{factor:>6}", _percent(style.wtsd)]
        yield f"{name[:14]:<14} {style.hands:7,} {' '.join(shares)}"


def _percent(share: float | None) -> str:
    return f"{'-' if share is None else f'{share:.0%}':>6}"


def _rate(rate: Rate, sign: str = "+") -> str:
    interval = "" if rate.interval is None else f" ± {rate.interval:,.1f}"
    return f"{rate.mean:{sign}z,.1f}{interval}"
