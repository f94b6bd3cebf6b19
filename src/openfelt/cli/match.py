"""`felt match`, and the options that it shares with tournaments and freeze-outs."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from openfelt.cli.options import add_on, count, positive, print_json, progress_bar, seed
from openfelt.core.errors import FeltError

HELP = (
    "Play a match between bots and print their winnings with intervals. A bot is a name from `felt bots`,\n"
    "the folder of a run or policy (`greedy@FOLDER` for its greedy policy), or FILE.py:CLASS. Give one bot\n"
    "per seat; they rotate. Policies play in compiled kernels, other bots one decision at a time."
)
EXAMPLES = [
    "felt match default always-raise",
    "felt match runs/holdem default --hands 1e6 --processes 2",
    "felt match runs/leduc-pcfr+ random --game leduc",
    "felt match chen poki-like always-call --hands 2e4           (three players)",
    "felt match default sparbot-like --hands 1e6 --until-better 10 --error-rate 0.05",
    "felt match default my_bot.py:MyBot --hands 2e4 --limit 200 --out matches/mine",
    "felt match default my_bot.py:MyBot --hands 4e4 --limit 200 --out matches/mine --resume",
    "felt match default mcts --hands 1e6 --on ray://head:10001 --out matches/long",
    "felt match default always-raise --aivat --history hands.phhs",
]
ERROR_RATE = 0.05


def add_arguments(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    parser.add_argument("bots", nargs="+", metavar="BOT", help="one per seat")
    add_match_arguments(parser, "number of hands")
    parser.add_argument(
        "--until-better",
        type=positive,
        metavar="MARGIN",
        help="stop as soon as a sequential test decides whether the first bot wins or loses this much "
        "(mbb/h in hold'em, else the unit of the game per hand), after --hands at the latest",
    )
    parser.add_argument(
        "--error-rate",
        type=positive,
        metavar="R",
        help=f"error rate of that test (default: {ERROR_RATE})",
    )
    parser.add_argument("--history", type=Path, metavar="FILE", help="write all hands to a .phhs or .db file")
    add_folder_arguments(parser, "match")


def add_match_arguments(parser: argparse.ArgumentParser, hands: str) -> None:
    """Options of one or many matches."""
    from openfelt.arena.match import HANDS
    from openfelt.arena.match_blocks import DEALINGS

    parser.add_argument("--game", help="name of the game (default: that of the policies, else hold'em)")
    parser.add_argument("--hands", type=count, default=HANDS, help=f"{hands} (default: {HANDS:,})")
    parser.add_argument("--seed", type=seed, default=0, help="deal other cards (default: 0)")
    parser.add_argument(
        "--dealing",
        choices=DEALINGS,
        default="",
        help="play each deal in every seating, or a new deal for each hand with the luck of the cards "
        "regressed out (default: duplicate for two players, fresh for three)",
    )
    add_limit(parser, None)
    parser.add_argument(
        "--aivat", action="store_true", help="adjust winnings for luck by AIVAT where policies are known"
    )
    parser.add_argument(
        "--python", action="store_true", help="play policies one decision at a time too, without kernels"
    )
    add_strict(parser)
    add_processes(parser)


def add_limit(parser: argparse.ArgumentParser, default: float | None) -> None:
    """The time limit."""
    shown = "none" if default is None else f"{default:g}"
    parser.add_argument(
        "--limit",
        type=positive,
        metavar="MILLISECONDS",
        default=default,
        help=f"time limit per action; a bot that exceeds it checks or folds (default: {shown})",
    )


def add_strict(parser: argparse._ActionsContainer) -> None:
    """Whether faults of bots are tolerated."""
    parser.add_argument(
        "--strict",
        action="store_true",
        help="stop with the traceback at the first exception or illegal action of a bot "
        "(default: it checks or folds, and the fault is counted)",
    )


def add_processes(parser: argparse.ArgumentParser) -> None:
    """The number of processes."""
    parser.add_argument(
        "--processes",
        type=count,
        default=1,
        help="number of processes (default: 1); does not change the result",
    )
    add_on(parser)


def add_folder_arguments(parser: argparse.ArgumentParser, kind: str) -> None:
    """The folder of a journal."""
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help=f"save the {kind} there, so that it can be resumed"
    )
    parser.add_argument("--resume", action="store_true", help=f"resume the {kind} in --out")


def check_folder(arguments: argparse.Namespace, kind: str) -> None:
    """Raise if a folder is in use and --resume is missing, or the other way round."""
    if arguments.resume and arguments.out is None:
        raise FeltError(f"--resume needs --out, the folder of the {kind} to resume.")
    if arguments.out is None:
        return
    exists = (arguments.out / f"{kind}.json").exists()
    if arguments.resume and not exists:
        raise FeltError(f"There is no {kind} in {arguments.out} to resume.")
    if exists and not arguments.resume:
        raise FeltError(
            f"{arguments.out} holds a {kind} already; add --resume to resume it, or choose another folder."
        )


def seconds(arguments: argparse.Namespace) -> float:
    """The time limit per action, in seconds."""
    return math.inf if arguments.limit is None else arguments.limit / 1000


def run(arguments: argparse.Namespace) -> None:
    from openfelt.arena.match import match
    from openfelt.arena.statistics.sequential_test import SequentialTest

    check_folder(arguments, "match")
    if arguments.error_rate and not arguments.until_better:
        raise FeltError("--error-rate needs --until-better.")
    test = None
    if arguments.until_better:
        rate = arguments.error_rate or ERROR_RATE
        test = SequentialTest(arguments.until_better, false_better=rate, false_worse=rate)
    with progress_bar(not arguments.json) as bar:
        advance = bar(f"{arguments.hands:,} hands")
        result = match(
            *arguments.bots,
            game=arguments.game,
            hands=arguments.hands,
            seed=arguments.seed,
            dealing=arguments.dealing,
            limit=seconds(arguments),
            aivat=arguments.aivat,
            compiled=not arguments.python,
            processes=arguments.on or arguments.processes,
            until=test,
            strict=arguments.strict,
            history=arguments.history,
            folder=arguments.out,
            progress=lambda done: advance(done / arguments.hands),
        )
    if arguments.json:
        print_json(result.as_dict())
    else:
        print(result)
