"""`felt spot`."""

from __future__ import annotations

import argparse
import csv
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openfelt.cli.options import add_on, busy, count, positive, print_json, progress_bar
from openfelt.core.devices import CPU, CUDA
from openfelt.core.errors import FeltError, FileError

if TYPE_CHECKING:
    from openfelt.spots.node import Node
    from openfelt.spots.solution import Solution
    from openfelt.spots.spot import Spot

HELP = (
    "Solve a postflop spot of two players: ranges, a board, a pot, stacks and bet sizes. Discounted CFR\n"
    "runs until a best response gains at most --until percent of the pot; the exploitability shown is that\n"
    "of an exact best response to the average strategies. Isomorphic turns and rivers are solved once.\n\n"
    'Ranges: "QQ+,AKs,A5s-A2s:0.5", single hands ("AhKd"), "random".\n'
    "Sizes: 60% of the pot, 2.5x the last bet (raises), 120c chips, e geometric, a all-in, none;\n"
    "--bets limit is limit betting.\n"
    "Lines: x check, f fold, c call, b120 bet, r300 raise to, a all-in, and the cards that are dealt:\n"
    '"x b120 c 2s x".'
)
EXAMPLES = [
    'felt spot --oop "66+,A8s+" --ip "QQ-22,ATo+" --board Td9d6hQc --pot 200 --stack 900 --bets "60%,a"',
    'felt spot --oop "AA,QQ" --ip KK --board 2c3d4h8s9s --pot 100 --stack 100 --bets 100% --line "a"',
    "felt spot --oop random --ip random --board Td9d6hQc --pot 6 --stack 90 --bets limit --save runs/spot",
    'felt spot --load runs/spot --line "x x 2s"',
    "felt spot --oop QQ+ --ip 22+ --pot 20 --stack 90 --boards all --csv flops.csv --until 1",
    "felt spot --oop QQ+ --ip 22+ --pot 20 --stack 90 --boards all --csv flops.csv --device cuda",
    "felt spot --oop QQ+ --ip 22+ --pot 20 --stack 90 --boards all --csv flops.csv --on ray://head:10001",
]
NEEDED = ("oop", "ip", "board", "pot", "stack")


def add_arguments(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    spot = parser.add_argument_group("the spot")
    spot.add_argument("--oop", metavar="RANGE", help="range of the player out of position, who acts first")
    spot.add_argument("--ip", metavar="RANGE", help="range of the player in position")
    spot.add_argument("--board", metavar="CARDS", help="three to five cards: Td9d6h")
    spot.add_argument("--pot", type=count, metavar="CHIPS", help="chips in the pot")
    spot.add_argument("--stack", type=count, metavar="CHIPS", help="chips behind, for each player")
    spot.add_argument("--bets", default="60%", metavar="SIZES", help="sizes of bets (default: 60%%)")
    spot.add_argument("--raises", default="2.5x", metavar="SIZES", help="sizes of raises (default: 2.5x)")
    for name in ("bets", "raises"):
        spot.add_argument(
            f"--{name}-for",
            nargs=2,
            action="append",
            default=[],
            metavar=("WHOM", "SIZES"),
            help=f'{name} on a street or of a player instead: river, oop, "ip flop"; may be repeated',
        )
    spot.add_argument(
        "--big-blind", type=count, default=2, metavar="CHIPS", help="for --bets limit (default: 2)"
    )
    spot.add_argument("--rake", type=_share, default=0.0, metavar="SHARE", help="share of each pot: 0.05")
    spot.add_argument(
        "--rake-cap", type=positive, default=float("inf"), metavar="CHIPS", help="most rake of a pot"
    )
    spot.add_argument(
        "--add-allin", type=_share, default=0.0, metavar="X", help="add the all-in if it is at most X pots"
    )
    spot.add_argument(
        "--force-allin",
        type=_share,
        default=0.0,
        metavar="X",
        help="bet all-in if X pots or less stay behind",
    )
    spot.add_argument(
        "--merge",
        type=_share,
        default=0.0,
        metavar="X",
        help="merge sizes that are close (PioSolver's threshold)",
    )
    spot.add_argument(
        "--lock",
        nargs=2,
        action="append",
        default=[],
        metavar=("LINE", "STRATEGY"),
        help='fix a decision for all hands: --lock "x" "x=0.7,b120=0.3"; may be repeated',
    )
    budget = parser.add_argument_group("how long")
    budget.add_argument(
        "--until",
        type=positive,
        default=0.5,
        metavar="PERCENT",
        help="exploitability to reach, in percent of the pot (default: 0.5)",
    )
    budget.add_argument("--iterations", type=count, default=10_000, help="at most so many (default: 10,000)")
    budget.add_argument("--seconds", type=positive, default=float("inf"), help="stop after this time")
    budget.add_argument(
        "--threads", type=count, default=1, help="CPU threads (default: 1); the result is the same"
    )
    budget.add_argument(
        "--device",
        default=CPU,
        help="cpu, cuda (an NVIDIA GPU) or auto: a GPU if there is one (default: cpu)",
    )
    budget.add_argument(
        "--compress", action="store_true", help="16-bit tables: half the memory, somewhat slower"
    )
    shown = parser.add_argument_group("the result")
    shown.add_argument("--line", default="", help="show the decision after this line (default: the first)")
    shown.add_argument(
        "--runouts", metavar="LINE", help="show the decision after each card that can follow a line"
    )
    shown.add_argument(
        "--csv", type=Path, metavar="FILE", help="write the hands of the decision, or the report of --boards"
    )
    shown.add_argument("--save", type=Path, metavar="FOLDER", help="save the solution")
    shown.add_argument("--load", type=Path, metavar="FOLDER", help="show a saved solution instead of solving")
    shown.add_argument(
        "--compare", type=Path, metavar="FOLDER", help="compare the decision with that of a saved solution"
    )
    shown.add_argument(
        "--boards", metavar="BOARDS", help='solve many boards: "all" flops, a list, or a file (needs --csv)'
    )

    add_on(shown)


def run(arguments: argparse.Namespace) -> None:
    from openfelt.spots.files import load_solution, save_solution
    from openfelt.spots.lines import find_place, parse_line

    if arguments.boards:
        _report(arguments)
        return
    if arguments.on:
        raise FeltError("--on distributes boards over a cluster: it goes with --boards.")
    if arguments.json and arguments.compare:
        raise FeltError("--compare prints text; leave out --json.")
    if arguments.load:
        solution = load_solution(arguments.load)
    else:
        spot = _spot(arguments)
        for line in (arguments.line, arguments.runouts or ""):  # before the work
            find_place(spot, parse_line(line))
        solution = _solve(arguments, spot)
    if arguments.save:
        save_solution(solution, arguments.save)
    _show(arguments, solution)


def _spot(arguments: argparse.Namespace, board: str | None = None) -> Spot:
    from openfelt.games.bet_sizes import Thresholds
    from openfelt.spots.spot import Spot

    if board:
        arguments.board = board
    missing = [f"--{name}" for name in NEEDED if getattr(arguments, name) is None]
    if missing:
        raise FeltError(f"A spot needs {', '.join(missing)} (see felt spot --help).")
    return Spot(
        oop=arguments.oop,
        ip=arguments.ip,
        board=arguments.board,
        pot=arguments.pot,
        stack=arguments.stack,
        bets=_sizes(arguments.bets, arguments.bets_for),
        raises=_sizes(arguments.raises, arguments.raises_for),
        big_blind=arguments.big_blind,
        rake=arguments.rake,
        rake_cap=arguments.rake_cap,
        thresholds=Thresholds(arguments.add_allin, arguments.force_allin, arguments.merge),
    )


def _sizes(everywhere: str, more: list[list[str]]) -> str | dict[str, str]:
    if not more:
        return everywhere
    return {"": everywhere} | {" ".join(whom.lower().split()): sizes for whom, sizes in more}


def _budget(arguments: argparse.Namespace) -> dict[str, Any]:
    from openfelt.spots.locks import Lock

    locks = [Lock(line, _probabilities(text)) for line, text in arguments.lock]
    names = ("until", "iterations", "seconds", "threads", "compress", "device")
    return {"locks": locks, **{name: getattr(arguments, name) for name in names}}


def _probabilities(text: str) -> dict[str, float]:
    try:
        return {
            code.strip(): float(chance)
            for code, _, chance in (each.partition("=") for each in text.split(","))
        }
    except ValueError:
        raise FeltError(f"A locked strategy is written 'x=0.7,b120=0.3', not '{text}'.") from None


def _solve(arguments: argparse.Namespace, spot: Spot) -> Solution:
    from openfelt.cli.spot_bar import SpotBar
    from openfelt.core.cuda import choose_device
    from openfelt.spots.solver import memory_needed

    budget = _budget(arguments)
    device = choose_device(arguments.device)
    with busy("Building the betting tree..."):
        needed = memory_needed(spot, compress=arguments.compress, device=device)
    if not arguments.json:
        where = " on the GPU" if device == CUDA else ""
        print(f"Memory: {needed / 1e6:,.0f} MB{where}", file=sys.stderr)
    with SpotBar(arguments.until, arguments.iterations, arguments.seconds, shown=not arguments.json) as bar:
        return spot.solve(progress=bar.update, **budget)


def _report(arguments: argparse.Namespace) -> None:
    from openfelt.spots.report import means, report_boards, write_report

    if arguments.csv is None:
        raise FeltError("--boards needs --csv FILE, to which the report is written.")
    ignored = [
        name for name in ("load", "save", "compare", "runouts") if getattr(arguments, name) is not None
    ]
    if ignored:
        raise FeltError(f"--{ignored[0]} does not go with --boards.")
    boards = report_boards(arguments.boards)
    with progress_bar(not arguments.json) as bar:
        advance = bar(f"{len(boards)} boards")
        report = write_report(
            partial(_spot, arguments),
            boards,
            arguments.csv,
            workers=arguments.on or 1,
            progress=lambda _: advance(1 / len(boards)),
            **_budget(arguments),
        )
        rows = list(report)
    oop, ip = means(rows)
    if arguments.json:
        print_json({"boards": len(rows), "values": [oop, ip], "csv": str(arguments.csv)})
    else:
        print(f"{len(rows)} boards: OOP gets {oop:.3f} and IP {ip:.3f} of the pot on average.")
        print(f"Written to {arguments.csv}.")


def _show(arguments: argparse.Namespace, solution: Solution) -> None:
    from openfelt.spots.compare import compare_solutions
    from openfelt.spots.files import load_solution
    from openfelt.spots.text import node_text, runout_text

    node = solution.node(arguments.line)
    if arguments.csv:
        _write_csv(arguments.csv, node)
    runouts = solution.runouts(arguments.runouts) if arguments.runouts is not None else []
    if arguments.json:
        facts = solution.as_dict() | {"node": node.as_dict()}
        if runouts:
            facts["runouts"] = [each.as_dict(hands=False) for each in runouts]
        print_json(facts)
        return
    print(solution)
    print()
    print(runout_text(runouts) if runouts else node_text(node))
    if arguments.compare:
        print()
        print(compare_solutions(solution, load_solution(arguments.compare), arguments.line))


def _write_csv(path: Path, node: Node) -> None:
    rows = list(node.hands())
    try:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]) if rows else ["hand"])
            writer.writeheader()
            writer.writerows(rows)
    except OSError as error:
        raise FileError(f"{path} could not be written ({error.strerror}).") from None


def _share(text: str) -> float:
    try:
        number = float(text)
        if 0 <= number < float("inf"):
            return number
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"a number of 0 or more is needed, not '{text}'")
