"""`felt tournament`."""

from __future__ import annotations

import argparse

from openfelt.cli.match import add_folder_arguments, add_match_arguments, check_folder, seconds
from openfelt.cli.options import print_json, progress_bar

HELP = (
    "Play a round-robin tournament: all pairs of bots, or in a three-player game all triples, each a\n"
    "match on the same deals. Prints a cross table; --out also writes it as cross-table.csv, .md and\n"
    ".png."
)
EXAMPLES = [
    "felt tournament default sparbot-like always-raise random --hands 1e5",
    "felt tournament runs/a runs/b greedy@runs/b default --hands 1e6 --processes 2 --out cups/first",
    "felt tournament runs/a runs/b greedy@runs/b default runs/c --hands 1e6 --out cups/first --resume",
    "felt tournament default mcts mcts-tally poki-like --on ray://head:10001 --out cups/long",
    "felt tournament always-call always-raise probe random --game 'holdem(players=3)'",
]


def add_arguments(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    parser.add_argument("bots", nargs="+", metavar="BOT", help="all bots of the tournament (see felt bots)")
    add_match_arguments(parser, "number of hands of each match")
    add_folder_arguments(parser, "tournament")


def run(arguments: argparse.Namespace) -> None:
    from openfelt.arena.tournament import KIND, STEM, game_of_bots, pairings, tournament
    from openfelt.games.registry import load_game

    check_folder(arguments, KIND)
    game = load_game(arguments.game) if arguments.game else game_of_bots(arguments.bots)
    matches = len(pairings(arguments.bots, game))
    with progress_bar(not arguments.json) as bar:
        advance = bar(f"{matches} matches of {arguments.hands:,} hands")
        result = tournament(
            *arguments.bots,
            game=game,
            hands=arguments.hands,
            seed=arguments.seed,
            dealing=arguments.dealing,
            limit=seconds(arguments),
            aivat=arguments.aivat,
            compiled=not arguments.python,
            processes=arguments.on or arguments.processes,
            strict=arguments.strict,
            folder=arguments.out,
            progress=lambda done: advance(done / (matches * arguments.hands)),
        )
    from openfelt.plots.cross_table import write_report

    drawn = write_report(result, arguments.out) if arguments.out else False
    if arguments.json:
        print_json(result.as_dict())
        return
    print(result)
    if arguments.out:
        endings = ".csv, .md and .png" if drawn else ".csv and .md"
        print(f"  written to {arguments.out / STEM}{endings}")
        if not drawn:
            print("  (the figure needs matplotlib: pip install 'openfelt[plots]')")
