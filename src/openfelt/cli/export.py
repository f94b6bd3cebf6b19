"""`felt export`."""

from __future__ import annotations

import argparse
from pathlib import Path

from openfelt.cli.options import print_json
from openfelt.core.errors import FeltError

HELP = "Write a game as a Gambit extensive-form file. Every command that takes a game also reads such files."
EXAMPLES = ["felt export kuhn kuhn.efg", "felt train kuhn.efg --solver lp"]


def add_arguments(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    parser.add_argument("game", help="a game's name (see felt games)")
    parser.add_argument("file", type=Path, help="the file to write, ending in .efg")


def run(arguments: argparse.Namespace) -> None:
    from openfelt.games.compile.compiler import compile_game
    from openfelt.games.compile.export_efg import write_efg

    if arguments.file.suffix != ".efg":
        raise FeltError(f"The file must end in .efg, and {arguments.file} does not.")
    write_efg(arguments.game, arguments.file)
    tree = compile_game(arguments.game)
    if arguments.json:
        print_json({"game": tree.game, "file": str(arguments.file), "nodes": tree.num_nodes})
    else:
        print(f"{tree.game}: {tree.num_nodes:,} nodes written to {arguments.file}")
