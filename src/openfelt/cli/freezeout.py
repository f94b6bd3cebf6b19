"""`felt freezeout`."""

from __future__ import annotations

import argparse

from openfelt.cli.match import (
    add_folder_arguments,
    add_limit,
    add_processes,
    add_strict,
    check_folder,
    seconds,
)
from openfelt.cli.options import count, print_json, progress_bar, seed

HELP = (
    "Play freeze-outs: games of heads-up limit hold'em with stacks (10,000 each, blinds 10 and 20) that\n"
    "last until one bot is broke, or 500 hands; then the larger stack wins. Prints how many games each\n"
    "bot wins."
)
EXAMPLES = [
    "felt freezeout default always-raise",
    "felt freezeout default random --games 1000 --processes 2 --seed 1",
    "felt freezeout default my_bot.py:MyBot --limit 1000 --out cups/mine",
    "felt freezeout default my_bot.py:MyBot --limit 1000 --games 200 --out cups/mine --resume",
]


def add_arguments(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    from openfelt.arena.freeze_out.freeze_out import GAMES, HANDS, LIMIT, STACK

    parser.add_argument("bots", nargs="+", metavar="BOT", help="two bots (see felt bots)")
    parser.add_argument("--games", type=count, default=GAMES, help=f"number of games (default: {GAMES})")
    parser.add_argument("--stack", type=count, default=STACK, help=f"stack of each bot (default: {STACK:,})")
    parser.add_argument("--hands", type=count, default=HANDS, help=f"most hands in a game (default: {HANDS})")
    parser.add_argument("--seed", type=seed, default=0, help="deal other cards (default: 0)")
    add_limit(parser, 1000 * LIMIT)
    add_strict(parser)
    add_processes(parser)
    add_folder_arguments(parser, "freeze-out")


def run(arguments: argparse.Namespace) -> None:
    from openfelt.arena.freeze_out.freeze_out import KIND, freeze_out

    check_folder(arguments, KIND)
    with progress_bar(not arguments.json) as bar:
        advance = bar(f"{arguments.games:,} games")
        result = freeze_out(
            *arguments.bots,
            games=arguments.games,
            seed=arguments.seed,
            stack=arguments.stack,
            hands=arguments.hands,
            limit=seconds(arguments),
            processes=arguments.on or arguments.processes,
            strict=arguments.strict,
            folder=arguments.out,
            progress=lambda _: advance(1 / arguments.games),
        )
    if arguments.json:
        print_json(result.as_dict())
    else:
        print(result)
