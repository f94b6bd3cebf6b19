"""`felt games`."""

from __future__ import annotations

import argparse
from typing import Any

from openfelt.cli.options import print_json

HELP = "List the games with players, rows (information states) and nodes (histories), or those that you name."
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
    "goofspiel(4)",
    "bluff(1,1,4)",
    "princess_monster(3,3,5)",
]


def add_arguments(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    parser.add_argument("game", nargs="*", help="a game's name, or the path of a Gambit .efg file")
    parser.add_argument("--check", action="store_true", help="verify that each keeps the promises of a game")


def run(arguments: argparse.Namespace) -> None:
    from openfelt.compile.check_game import check_game
    from openfelt.compile.compiler import compile_game
    from openfelt.rules.registry import GAMES, load_game, usage

    games = [load_game(name) for name in arguments.game or SHOWN]
    if arguments.check:
        checks = [str(check_game(game)) for game in games]
    trees = [compile_game(game) for game in games]
    rows: list[dict[str, Any]] = [
        {
            "game": tree.game,
            "players": tree.players,
            "rows": tree.num_rows,
            "nodes": tree.num_nodes,
            "unit": tree.unit,
        }
        for tree in trees
    ]
    if arguments.json:
        print_json({"games": rows})
        return
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table("game", "players", "rows", "nodes", "payoffs in")
    for row in rows:
        table.add_row(
            row["game"], str(row["players"]), f"{row['rows']:,}", f"{row['nodes']:,}", str(row["unit"])
        )
    console.print(table)
    if arguments.check:
        for line in checks:
            console.print(line, highlight=False)
    elif not arguments.game:
        console.print("How names are written, with numbers in place of the words:", highlight=False)
        for rules in GAMES.values():
            summary = (rules.__doc__ or "").strip().splitlines()[0]
            console.print(f"  {usage(rules)}\n    {summary}", highlight=False, markup=False, soft_wrap=True)
