"""`felt acpc`."""

from __future__ import annotations

import argparse
import secrets
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from openfelt.cli.match import add_strict
from openfelt.cli.options import count, positive, print_json, progress_bar, seed
from openfelt.core.errors import FeltError

if TYPE_CHECKING:
    from openfelt.arena.acpc.client import ClientResult
    from openfelt.arena.acpc.competition_game import CompetitionGame
    from openfelt.arena.acpc.dealer import Dealer, DealerResult
    from openfelt.games.game import Game

HELP = (
    "Play over the protocol of the Annual Computer Poker Competition (version 2.0.0). `join` connects a\n"
    "bot to a dealer; `deal` is a dealer that programs join, each at its own port. It prints the ports\n"
    "first. Games are holdem, holdem(players=3), kuhn and kuhn(players=3)."
)
EXAMPLES = [
    "felt acpc join 127.0.0.1 16177 --bot default",
    "felt acpc join localhost 48777 --bot random --game 'kuhn(players=3)' --seed 7",
    "felt acpc deal --hands 3000 --seed 1 --names Alice,Bob --log match.log",
    "felt acpc deal --game 'holdem(players=3)' --hands 1000 --ports 20001,20002,20003",
    "felt acpc deal --definition holdem.limit.2p.reverse_blinds.game --hands 100 --action-timeout 10",
]
JOIN, DEAL = "join", "deal"


def add_arguments(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    parser.add_argument("what", choices=(JOIN, DEAL), help="connect to a dealer, or be the dealer")
    parser.add_argument("--game", default=None, help="name of the game (default: holdem)")
    parser.add_argument(
        "--seed",
        type=seed,
        help="seed of the bot's random numbers, or of the dealer's cards (default: a random seed)",
    )
    what = next((word for word in argv if word in (JOIN, DEAL)), None)
    parser.add_argument(
        "--hands",
        type=count,
        required=what == DEAL,
        metavar="N",
        help="of the match: how many to deal, or, to join, how many to expect (default: any number)",
    )
    if what != DEAL:
        _add_join(parser.add_argument_group("join"), optional=what is None)
    if what != JOIN:
        _add_deal(parser.add_argument_group("deal"))


def _add_join(group: argparse._ArgumentGroup, *, optional: bool) -> None:
    many = "?" if optional else None
    group.add_argument("host", nargs=many, help="the machine on which the dealer runs")
    group.add_argument("port", nargs=many, type=_port, help="the dealer's port for this player")
    group.add_argument(
        "--bot", default="default", help="a bot's name, or the folder of a run (default: default)"
    )
    add_strict(group)
    group.add_argument("--timeout", type=positive, help="time limit of the bot per decision, in seconds")


def _add_deal(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--definition", type=Path, help="a game definition, instead of --game")
    group.add_argument(
        "--names", type=_words, default=[], help="names of the players (default: player1,player2)"
    )
    group.add_argument("--ports", type=_ports, default=[], help="one per player (default: free ones)")
    group.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (default: this machine only)"
    )
    group.add_argument("--log", type=Path, help="write an ACPC match log to this file")
    for name, default, text in (
        ("--action-timeout", 600.0, "time for one action (default: 600)"),
        ("--hand-timeout", 600.0, "time for all actions of a player in a hand (default: 600)"),
        ("--match-timeout", None, "time for all actions of a player in the match (default: 7 per hand)"),
        ("--start-timeout", None, "time for all players to join (default: no limit)"),
    ):
        group.add_argument(name, type=positive, default=default, metavar="SECONDS", help=text)
    group.add_argument(
        "--invalid-limit",
        type=seed,
        metavar="N",
        help="illegal actions tolerated per player (default: any number)",
    )


def run(arguments: argparse.Namespace) -> None:
    if arguments.seed is None:
        arguments.seed = secrets.randbits(48)
    if arguments.what == JOIN:
        _join(arguments)
    else:
        _deal(arguments)


def _join(arguments: argparse.Namespace) -> None:
    from openfelt.arena.acpc.client import ProtocolPlayer, join
    from openfelt.bots.registry import load_bot
    from openfelt.games.registry import load_game

    game = load_game(arguments.game or "holdem")
    bot = load_bot(arguments.bot, game)
    seconds = arguments.timeout or float("inf")
    player = ProtocolPlayer(bot, game, seed=arguments.seed, seconds=seconds, strict=arguments.strict)
    address = f"{arguments.host}:{arguments.port}"
    result = join(
        arguments.host,
        arguments.port,
        player,
        hands=arguments.hands,
        joined=lambda: _report(f"{arguments.bot} has joined {address}"),
    )
    if arguments.json:
        facts = {"bot": arguments.bot, "game": game.name, "hands": result.hands, "winnings": result.won}
        counts = {"faults": result.faults, "malformed": result.malformed}
        print_json({**facts, "unit": game.unit, **counts, **result.stats.causes()})
        return
    print(f"{arguments.bot} played {_summary(result, game)}")
    for line in result.stats.fault_lines(arguments.bot):
        print(line)
    if result.malformed:
        print(f"  {result.malformed} lines of the dealer were ignored")


def _summary(result: ClientResult, game: Game) -> str:
    unit, rate = game.winnings_unit, result.won / max(result.hands, 1)
    each = f"{rate * unit.scale:+.{unit.digits}f} {unit.name}"
    return f"{result.hands:,} hands of {game.name} and won {result.won:+g} {game.unit} ({each})"


def _deal(arguments: argparse.Namespace) -> None:
    from openfelt.arena.acpc.dealer import Dealer, Limits
    from openfelt.arena.acpc.log import LogWriter

    limits = Limits(
        action=arguments.action_timeout,
        hand=arguments.hand_timeout,
        match=arguments.match_timeout,
        start=arguments.start_timeout,
        invalid=arguments.invalid_limit,
    )
    rules = _rules(arguments)
    dealer = Dealer(
        rules,
        hands=arguments.hands,
        seed=arguments.seed,
        names=arguments.names,
        ports=arguments.ports,
        host=arguments.host,
        limits=limits,
    )
    with dealer, ExitStack() as stack:
        log = None
        if arguments.log:
            comments = _comments(dealer)
            writer = LogWriter(
                arguments.log,
                rules,
                hands=arguments.hands,
                seed=arguments.seed,
                game_name=arguments.definition.name if arguments.definition else "",
                comments=comments,
            )
            log = stack.enter_context(writer)
        # The first line has the ports, as with the ACPC server: programs read it.
        print(*dealer.ports, file=sys.stderr if arguments.json else sys.stdout, flush=True)
        dealer.wait()
        _report(f"all players have joined: {', '.join(dealer.names)}")
        bar = stack.enter_context(progress_bar(not arguments.json))
        advance = bar(f"{arguments.hands:,} hands")
        step = -(-arguments.hands // 100)
        result = dealer.play(log, lambda done: None if done % step else advance(step / arguments.hands))
    _print(result, rules, arguments)


def _rules(arguments: argparse.Namespace) -> CompetitionGame:
    from openfelt.arena.acpc.competition_game import definition_of, game_of
    from openfelt.arena.acpc.game_definition import read_definition
    from openfelt.games.registry import load_game

    if arguments.definition is None:
        return definition_of(load_game(arguments.game or "holdem"))
    if arguments.game is not None:
        raise FeltError("--definition already names the game; leave out --game.")
    return game_of(read_definition(arguments.definition))


def _comments(dealer: Dealer) -> list[str]:
    """The time limits in milliseconds, as in logs of the ACPC."""
    each = dealer.match_limit / dealer.hands
    limits = {"t_response": dealer.limits.action, "t_hand": dealer.limits.hand, "t_per_hand": each}
    return [f"--{name} {round(1000 * seconds)}" for name, seconds in limits.items()]


def _print(result: DealerResult, rules: CompetitionGame, arguments: argparse.Namespace) -> None:
    from openfelt.arena.acpc.log_reader import chips_text

    if arguments.json:
        players = zip(
            *(
                result.names,
                result.won,
                result.score,
                result.invalid,
                result.late,
                result.ignored,
                result.left,
            ),
            strict=True,
        )
        keys = ("name", "winnings", "score", "invalid", "late", "ignored", "left")
        facts = {"game": rules.game.name, "hands": result.hands, "unit": rules.game.unit}
        print_json({**facts, "players": [dict(zip(keys, player, strict=True)) for player in players]})
        return
    print(f"SCORE:{chips_text(result.score)}:{'|'.join(result.names)}")
    for name, invalid, late, ignored, left in zip(
        result.names, result.invalid, result.late, result.ignored, result.left, strict=True
    ):
        counts = [(invalid, "illegal actions"), (late, "late actions"), (ignored, "ignored messages")]
        faults = [f"{number} {what}" for number, what in counts if number]
        faults += [] if left is None else [f"disconnected since hand {left}"]
        if faults:
            _report(f"{name}: {', '.join(faults)}")


def _report(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _words(text: str) -> list[str]:
    return text.split(",")


def _ports(text: str) -> list[int]:
    return [_port(word) for word in text.split(",")]


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 6 and int(text) < 1 << 16):
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to 65535, not '{text}'")
    return int(text)
