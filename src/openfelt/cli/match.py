"""`felt match`, and what it shares with tournaments and freeze-outs."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from openfelt.cli.options import count, positive, print_json, progress_bar, seed
from openfelt.core.errors import FeltError

HELP = (
    "Let bots play many hands, and print what each won with its intervals. Bots are those of `felt bots`,\n"
    "folders of runs or policies (`greedy@FOLDER` for single actions), or FILE.py:CLASS; one for each seat,\n"
    "and the seats change. Policies play in compiled kernels, other bots one decision at a time."
)
EXAMPLES = [
    "felt match default always-raise",
    "felt match runs/holdem default --hands 1e6 --processes 2",
    "felt match runs/leduc-pcfr+ random --game leduc",
    "felt match chen poki-like always-call --hands 2e4           (three players)",
    "felt match default sparbot-like --hands 1e6 --until-better 10 --error-rate 0.05",
    "felt match default my_bot.py:MyBot --hands 2e4 --limit 200 --out matches/mine",
    "felt match default my_bot.py:MyBot --hands 4e4 --limit 200 --out matches/mine --resume",
    "felt match default always-raise --aivat --history hands.phhs",
]
ERROR_RATE = 0.05


def add_arguments(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    parser.add_argument("bots", nargs="+", metavar="BOT", help="one for each seat")
    add_match_arguments(parser, "of the match")
    parser.add_argument(
        "--until-better",
        type=positive,
        metavar="MARGIN",
        help="stop once a sequential test says whether the first bot is better or worse: it wins or loses "
        "this much (mbb/h in hold'em, else the game's unit a hand); --hands are the most then",
    )
    parser.add_argument(
        "--error-rate",
        type=positive,
        metavar="R",
        help=f"how often that test may be wrong (default: {ERROR_RATE})",
    )
    parser.add_argument("--history", type=Path, metavar="FILE", help="write all hands there (.phhs or .db)")
    add_folder_arguments(parser, "match")


def add_match_arguments(parser: argparse.ArgumentParser, of_what: str) -> None:
    """How matches are played, whether there is one or many."""
    from openfelt.arena.contest import DEALINGS
    from openfelt.arena.match import HANDS

    parser.add_argument("--game", help="its name (default: that of the policies, or hold'em)")
    parser.add_argument("--hands", type=count, default=HANDS, help=f"{of_what} (default: {HANDS:,})")
    parser.add_argument("--seed", type=seed, default=0, help="deal other cards (default: 0)")
    parser.add_argument(
        "--dealing",
        choices=DEALINGS,
        default="",
        help="each deal in every seating, or a new deal for each hand with the luck of the cards regressed "
        "out (default: duplicate for two players, fresh for three)",
    )
    add_limit(parser, None)
    parser.add_argument(
        "--aivat", action="store_true", help="take luck out by AIVAT where the policies are known"
    )
    parser.add_argument("--python", action="store_true", help="let policies too play outside of kernels")
    add_processes(parser)


def add_limit(parser: argparse.ArgumentParser, default: float | None) -> None:
    """The clock."""
    told = "none" if default is None else f"{default:g}"
    parser.add_argument(
        "--limit",
        type=positive,
        metavar="MILLISECONDS",
        default=default,
        help=f"for an action; who is later checks or folds (default: {told})",
    )


def add_processes(parser: argparse.ArgumentParser) -> None:
    """How many."""
    parser.add_argument("--processes", type=count, default=1, help="how many (default: 1); change no result")


def add_folder_arguments(parser: argparse.ArgumentParser, kind: str) -> None:
    """Where it is kept."""
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="keep what is played there, so that it can be resumed"
    )
    parser.add_argument("--resume", action="store_true", help=f"go on with the {kind} in --out")


def check_folder(arguments: argparse.Namespace, kind: str) -> None:
    """A folder that is in use is gone on with only where that is asked for."""
    if arguments.resume and arguments.out is None:
        raise FeltError(f"--resume needs --out, the folder of the {kind} to go on with.")
    if arguments.out is None:
        return
    held = (arguments.out / f"{kind}.json").exists()
    if arguments.resume and not held:
        raise FeltError(f"There is no {kind} in {arguments.out} to go on with.")
    if held and not arguments.resume:
        raise FeltError(
            f"{arguments.out} holds a {kind} already; add --resume to go on with it, or name another folder."
        )


def seconds(arguments: argparse.Namespace) -> float:
    """The limit for an action."""
    return math.inf if arguments.limit is None else arguments.limit / 1000


def run(arguments: argparse.Namespace) -> None:
    from openfelt.arena.match import match
    from openfelt.arena.statistics.intervals import SequentialTest

    check_folder(arguments, "match")
    if arguments.error_rate and not arguments.until_better:
        raise FeltError("--error-rate is that of the test of --until-better, which is missing.")
    test = None
    if arguments.until_better:
        rate = arguments.error_rate or ERROR_RATE
        test = SequentialTest(arguments.until_better, false_better=rate, false_worse=rate)
    with progress_bar(not arguments.json) as bar:
        tell = bar(f"{arguments.hands:,} hands")
        result = match(
            *arguments.bots,
            game=arguments.game,
            hands=arguments.hands,
            seed=arguments.seed,
            dealing=arguments.dealing,
            limit=seconds(arguments),
            aivat=arguments.aivat,
            compiled=not arguments.python,
            processes=arguments.processes,
            until=test,
            history=arguments.history,
            folder=arguments.out,
            progress=lambda done: tell(done / arguments.hands),
        )
    if arguments.json:
        print_json(result.as_dict())
    else:
        print(result)
