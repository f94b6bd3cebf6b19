"""`felt play`."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from openfelt.base.errors import FeltError
from openfelt.cli.options import busy, count, print_json, seed

if TYPE_CHECKING:
    from openfelt.policy.any_policy import AnyPolicy
    from openfelt.rules.game import Game

HELP = (
    "Play a game in the terminal against a bot: one of ours (`felt bots`), one that you trained, or one\n"
    "that is solved on the spot."
)
EXAMPLES = [
    "felt play",
    "felt play holdem",
    "felt play holdem --bot poki-like",
    'felt play "holdem(players=3)"',
    "felt play kuhn --hands 20",
    "felt play --bot runs/leduc-pcfr+",
]
SECONDS = 5.0  # for solving on the spot, in games too large to be solved sooner
TARGET = 1e-3
THREE_HANDED = "poki-like"  # who plays hold'em with three


def add_arguments(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    parser.add_argument("game", nargs="?", help="a game's name (default: leduc, or the bot's game)")
    parser.add_argument("--bot", help="a bot's name, or the folder of a run or policy")
    parser.add_argument(
        "--greedy", action="store_true", help="the bot takes its likeliest action, or that of highest value"
    )
    parser.add_argument("--hands", type=count, help="stop after so many hands")
    parser.add_argument("--seed", type=seed, help="deal the same cards each time")


def run(arguments: argparse.Namespace) -> None:
    from openfelt.bots.policy_bot import policy_bot
    from openfelt.bots.registry import GREEDY, load_bot
    from openfelt.play.terminal import Terminal

    game = _game(arguments)
    _require_decisions(game)
    name = arguments.bot or _usual_bot(game)
    if name:
        name = f"{GREEDY}@{name}" if arguments.greedy else name
        bots = [load_bot(name, game) for _ in range(game.players - 1)]
    else:
        policy = _solve(game, greedy=arguments.greedy)
        bots = [policy_bot(policy, game) for _ in range(game.players - 1)]
    # With --json the talk goes to stderr and the result, alone, to stdout.
    talk = _to_stderr if arguments.json else print
    ask = _ask_on_stderr if arguments.json else _ask
    terminal = Terminal(game, bots, seed=arguments.seed, ask=ask, tell=talk)
    terminal.play(arguments.hands)
    if arguments.json:
        print_json(
            {
                "game": game.name,
                "hands": len(terminal.winnings),
                "winnings": sum(terminal.winnings),
                "unit": game.unit,
            }
        )


def _game(arguments: argparse.Namespace) -> Game:
    """The game that is named, or that of the bot."""
    from openfelt.bots.registry import BOTS
    from openfelt.policy.any_policy import game_of
    from openfelt.rules.registry import load_game

    if arguments.game:
        return load_game(arguments.game)
    if arguments.bot in BOTS:
        return load_game("holdem")
    return (game_of(arguments.bot) if arguments.bot else None) or load_game("leduc")


def _require_decisions(game: Game) -> None:
    """Without any there is nobody to ask, and no end."""
    from openfelt.compile.compiler import compile_game
    from openfelt.rules.holdem import Holdem

    if isinstance(game, Holdem):
        return
    with busy(f"compiling {game.name}"):
        if not compile_game(game).num_rows:
            raise FeltError(f"There is nothing to decide in {game.name}.")


def _usual_bot(game: Game) -> str:
    """Who plays a game that cannot be solved on the spot."""
    from openfelt.policy.any_policy import SHIPPED
    from openfelt.rules.holdem import Holdem

    if not isinstance(game, Holdem):
        return ""
    return SHIPPED if game.players == 2 else THREE_HANDED


def _solve(game: Game, *, greedy: bool) -> AnyPolicy:
    from openfelt.solvers.cfr import PCFRPlus

    solver = PCFRPlus(game)
    with busy(f"solving {game.name}"):
        policy = solver.run(seconds=SECONDS, until=TARGET).policy
    return policy.greedy() if greedy else policy


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
