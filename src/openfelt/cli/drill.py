"""`felt drill`."""

from __future__ import annotations

import argparse
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from openfelt.cli.options import busy, count, print_json
from openfelt.cli.play import ask, ask_on_stderr, data_file, to_stderr
from openfelt.core.errors import FeltError

if TYPE_CHECKING:
    from openfelt.table.drills.drill import Drill

HELP = (
    "Drills in the terminal: single decisions of poker hands against a bot, each judged at once by the EV\n"
    "loss of your answer. Decisions are random, from a spot that you choose, or, with --repeat, those that\n"
    "you missed; these come back after 10 minutes and after 1, 3, 7 and 21 days. EV losses are exact in\n"
    "Kuhn and Leduc, and in hold'em from the flop on. The page Drills of `felt play` offers the same, and\n"
    "also drills your own mistakes."
)
EXAMPLES = [
    "felt drill",
    "felt drill holdem --bot sparbot-like --street turn",
    'felt drill holdem --street flop --situation "facing a bet" --initiative you',
    "felt drill leduc --count 20 --json",
    "felt drill --repeat",
]
DATABASE = "drills.db"
SPOT = ("street", "position", "situation", "initiative")


def add_arguments(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    parser.add_argument("game", nargs="?", help="holdem, leduc or kuhn (default: holdem)")
    parser.add_argument(
        "--bot",
        help="the opponent: one that plays by a policy or a rule; with --repeat, a bot of your own against "
        "which you missed decisions",
    )
    parser.add_argument("--repeat", action="store_true", help="repeat what you missed")
    parser.add_argument("--count", type=count, help="number of drills (default: until you quit)")
    parser.add_argument(
        "--database", type=Path, help="file of the answers (default: drills.db in the user's data folder)"
    )
    spot = parser.add_argument_group("a chosen spot")
    spot.add_argument("--street", help="preflop, flop, turn or river; in leduc: first round or second round")
    spot.add_argument("--position", help="'the button' or 'the big blind'; in other games 'first to act' ...")
    spot.add_argument("--situation", help="'no bet', 'facing a bet' or 'facing a raise'")
    spot.add_argument("--initiative", help="who bet last on an earlier street: 'you', 'the bot' or 'nobody'")


def run(arguments: argparse.Namespace) -> None:
    from openfelt.games.registry import load_game
    from openfelt.table.drills.coach import DrillCoach
    from openfelt.table.drills.drill_store import DrillStore
    from openfelt.table.drills.terminal_drills import TerminalDrills
    from openfelt.table.lobby.bot_pool import BotPool
    from openfelt.table.lobby.lobby import table_game, usual_bot
    from openfelt.table.session.session_store import SessionStore

    spot = {name: value for name in SPOT if (value := getattr(arguments, name)) is not None}
    if arguments.repeat and (arguments.game or spot):
        raise FeltError("--repeat takes what you missed; leave out the game and the spot.")
    game = table_game(load_game(arguments.game or "holdem").name)
    name = arguments.bot or usual_bot(game)
    coach = DrillCoach(BotPool((name,)))

    def sample() -> Drill:
        with busy("looking for a decision"):
            return coach.sample({"game": game.name, "bot": name, **spot})

    # With --json only the score goes to stdout.
    asking, writing = (ask_on_stderr, to_stderr) if arguments.json else (ask, print)
    with closing(SessionStore(arguments.database or data_file(DATABASE))) as file:
        drills = TerminalDrills(coach, DrillStore(file), ask=asking, write=writing)
        drills.run(drills.due if arguments.repeat else sample, arguments.count)
        if arguments.json:
            print_json(drills.summary())
