"""`felt play`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from openfelt.base.errors import FeltError
from openfelt.cli.options import busy, count, print_json, seed

if TYPE_CHECKING:
    from openfelt.policy.any_policy import AnyPolicy

HELP = "Play a game in the terminal against a bot: one that you trained, or one that is solved on the spot."
EXAMPLES = ["felt play", "felt play holdem", "felt play kuhn --hands 20", "felt play --bot runs/leduc-pcfr+"]
SECONDS = 5.0  # for solving on the spot, in games too large to be solved sooner
TARGET = 1e-3


def add_arguments(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    parser.add_argument("game", nargs="?", help="a game's name (default: leduc, or the bot's game)")
    parser.add_argument("--bot", type=Path, help="the folder of a run, or of a policy")
    parser.add_argument(
        "--greedy", action="store_true", help="the bot takes its likeliest action, or that of highest value"
    )
    parser.add_argument("--hands", type=count, help="stop after so many hands")
    parser.add_argument("--seed", type=seed, help="deal the same cards each time")


def run(arguments: argparse.Namespace) -> None:
    from openfelt.play.terminal import Terminal
    from openfelt.rules.registry import load_game

    policy = _bot(arguments)
    if not policy.tree.num_rows:
        raise FeltError(f"There is nothing to decide in {policy.tree.game}.")
    # With --json the talk goes to stderr and the result, alone, to stdout.
    talk = _to_stderr if arguments.json else print
    ask = _ask_on_stderr if arguments.json else _ask
    terminal = Terminal(load_game(policy.tree.game), policy, seed=arguments.seed, ask=ask, tell=talk)
    terminal.play(arguments.hands)
    if arguments.json:
        print_json(
            {
                "game": policy.tree.game,
                "hands": len(terminal.winnings),
                "winnings": sum(terminal.winnings),
                "unit": policy.tree.unit,
            }
        )


def _bot(arguments: argparse.Namespace) -> AnyPolicy:
    from openfelt.policy.any_policy import SHIPPED
    from openfelt.rules.holdem import Holdem
    from openfelt.rules.registry import load_game
    from openfelt.solvers.cfr import PCFRPlus
    from openfelt.solvers.run_folder import open_policy

    if arguments.bot:
        return open_policy(arguments.bot, arguments.game, greedy=arguments.greedy)
    rules = load_game(arguments.game or "leduc")
    if isinstance(rules, Holdem):
        if rules.players != 2:
            raise FeltError(f"There is no bot for {rules.name} yet; train one and name it with --bot.")
        return open_policy(SHIPPED, greedy=arguments.greedy)
    with busy(f"compiling {arguments.game or 'leduc'}"):
        solver = PCFRPlus(arguments.game or "leduc")
    with busy(f"solving {solver.tree.game}"):
        policy = solver.run(seconds=SECONDS, until=TARGET).policy
    return policy.greedy() if arguments.greedy else policy


def _ask(text: str) -> str:
    try:
        return input(text)
    except RuntimeError:  # there is no input at all
        raise EOFError from None


def _to_stderr(text: str) -> None:
    print(text, file=sys.stderr)


def _ask_on_stderr(text: str) -> str:
    print(text, end="", file=sys.stderr, flush=True)
    return _ask("")
