"""`felt bots`."""

from __future__ import annotations

import argparse

from openfelt.cli.options import busy, print_json

HELP = (
    "List the named bots. Every command that takes a bot also accepts the folder of a run or policy\n"
    "(`greedy@FOLDER` for its greedy policy), or FILE.py:CLASS for a bot of your own."
)
EXAMPLES = ["felt bots", "felt bots --game leduc", "felt bots --game 'holdem(players=3)' --json"]


def add_arguments(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    parser.add_argument("--game", help="only bots that play it (default: all)")


def run(arguments: argparse.Namespace) -> None:
    from openfelt.bots.registry import BOTS

    names = _that_play(arguments.game) if arguments.game else list(BOTS)
    if arguments.json:
        found = [{"name": name, "summary": BOTS[name].summary} for name in names]
        print_json({**({"game": arguments.game} if arguments.game else {}), "bots": found})
        return
    width = max(map(len, names))
    for name in names:
        print(f"{name:<{width}}  {BOTS[name].summary}")


def _that_play(game: str) -> list[str]:
    """The bots that play a game."""
    from openfelt.bots.registry import BOTS, require_playable
    from openfelt.games.registry import load_game

    rules, names = load_game(game), []
    require_playable(rules)
    for name, kind in BOTS.items():
        with busy(f"checking {name}"):
            if kind.plays(rules):
                names.append(name)
    return names
