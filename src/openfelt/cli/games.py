"""`felt games`."""

from __future__ import annotations

import argparse
from typing import Any

from openfelt.cli.options import busy, print_json

HELP = (
    "List games with their numbers of players, infosets and histories; by default a selection of each kind.\n"
    "For hold'em these are the infosets of its abstraction, and its betting lines."
)
EXAMPLES = [
    "felt games",
    'felt games leduc "goofspiel(5)" "bluff(1,1,6)"',
    'felt games "leduc(players=3)" --check',
]
SHOWN = [
    "kuhn",
    "kuhn(pot=8)",
    "kuhn(players=3)",
    "one_card(13)",
    "leduc",
    "leduc(players=3)",
    "holdem",
    "flop_holdem",
    "goofspiel(4)",
    "bluff(1,1,4)",
    "princess_monster(3,3,5)",
    "phantom_ttt(2,2,2)",
    "dark_hex(2)",
    "oshi_zumo(4,1)",
    "battleship(2,2,2)",
    "sheriff",
]
TOO_LARGE_TO_CHECK = ("holdem", "flop_holdem")


def add_arguments(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    parser.add_argument("game", nargs="*", help="a game's name, or the path of a Gambit .efg file")
    parser.add_argument(
        "--check", action="store_true", help="check that each is a valid game with perfect recall"
    )


def run(arguments: argparse.Namespace) -> None:
    from openfelt.games.compile.check_game import check_game
    from openfelt.games.compile.compiler import compile_any
    from openfelt.games.registry import load_game

    rows: list[dict[str, Any]] = []
    checks: list[str] = []
    shown = [name for name in SHOWN if not (arguments.check and name in TOO_LARGE_TO_CHECK)]
    for name in arguments.game or shown:
        game = load_game(name)
        with busy(f"compiling {game.name}"):
            if arguments.check:
                checks.append(str(check_game(game)))
            tree = compile_any(game)
        sizes = {"players": tree.players, "infosets": tree.num_rows, "histories": tree.num_nodes}
        rows.append({"game": tree.game, **sizes, "unit": tree.unit, "checked": arguments.check})
    if arguments.json:
        print_json({"games": rows})
        return
    _print_table(rows)
    if arguments.check:
        print("\n".join(checks))
    elif not arguments.game:
        _print_names()


def _print_table(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table("game", "players", "infosets", "histories", "payoffs in")
    for row in rows:
        sizes = [f"{row[key]:,}" for key in ("players", "infosets", "histories")]
        table.add_row(escape(row["game"]), *sizes, row["unit"])
    Console().print(table)


def _print_names() -> None:
    from openfelt.games.registry import GAMES, usage

    print("Names and parameters:")
    for rules in GAMES.values():
        print(f"  {usage(rules)}\n    {rules.summary()}")
