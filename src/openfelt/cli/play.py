"""`felt play`."""

from __future__ import annotations

import argparse
import importlib.util
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from openfelt.cli.options import busy, count, print_json, seed
from openfelt.core.errors import FeltError, FileError

if TYPE_CHECKING:
    from openfelt.bots.bot import Bot
    from openfelt.games.game import Game

HELP = (
    "Play against bots, at a table in the browser or in the terminal: against ours (`felt bots`), one that\n"
    "you trained, or one that is solved on the spot. After a hand you see what the bot thought, and what\n"
    "your decisions cost. The table is for this machine alone, unless --host says otherwise; then a token\n"
    "is asked for. Sessions are kept, and go on after a restart."
)
EXAMPLES = [
    "felt play",
    "felt play holdem --bot poki-like",
    'felt play "holdem(players=3)" --bot poki-like --bot chen',
    "felt play --bot runs/leduc-pcfr+",
    "felt play --port 9000 --no-browser",
    "felt play --host 0.0.0.0",
    "felt play kuhn --terminal --hands 20",
]
HOST, PORT = "127.0.0.1", 8137
DATABASE = "table.db"
TERMINAL_ONLY, BROWSER_ONLY = ("hands", "seed"), ("host", "port", "token", "no_browser", "database")
EVERYWHERE = ("0.0.0.0", "::")  # addresses that cannot be opened in a browser
WEB = ("starlette", "uvicorn", "websockets")  # what the table in the browser needs


def add_arguments(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    parser.add_argument("game", nargs="?", help="a game's name (default: chosen at the table, or leduc)")
    parser.add_argument(
        "--bot",
        action="append",
        default=[],
        help="a bot's name, the folder of a run or policy, or FILE.py:CLASS; twice for two of them",
    )
    parser.add_argument(
        "--greedy", action="store_true", help="the bot takes its likeliest action, or that of highest value"
    )
    parser.add_argument("--terminal", action="store_true", help="play in the terminal")
    web = parser.add_argument_group("in the browser")
    web.add_argument("--host", help=f"default: {HOST}, for this machine alone")
    web.add_argument("--port", type=_port, help=f"default: {PORT}; 0: any that is free")
    web.add_argument("--token", help="what others must know (default: drawn, where --host is another)")
    web.add_argument("--no-browser", action="store_true", default=None, help="only say where the table is")
    web.add_argument("--database", type=Path, help="where sessions are kept (default: in the user's folder)")
    terminal = parser.add_argument_group("in the terminal")
    terminal.add_argument("--hands", type=count, help="stop after so many hands")
    terminal.add_argument("--seed", type=seed, help="deal the same cards each time")


def run(arguments: argparse.Namespace) -> None:
    for name in BROWSER_ONLY if arguments.terminal else TERMINAL_ONLY:
        if getattr(arguments, name) is not None:
            where = "browser: leave out" if arguments.terminal else "terminal: add"
            raise FeltError(f"--{name.replace('_', '-')} is for the {where} --terminal.")
    if arguments.terminal:
        return _in_terminal(arguments)
    if not all(map(importlib.util.find_spec, WEB)):
        raise FeltError("The table in the browser needs: pip install 'openfelt[web]'. Or add --terminal.")
    _in_browser(arguments)


def _in_browser(arguments: argparse.Namespace) -> None:
    from openfelt.table.lobby.lobby import KINDS, table_game
    from openfelt.table.web.app import make_app
    from openfelt.table.web.guard import is_loopback
    from openfelt.table.web.server import bind, serve

    host, port = arguments.host or HOST, PORT if arguments.port is None else arguments.port
    if arguments.token is not None and not arguments.token.strip():
        raise FeltError("An empty token keeps nobody out.")
    game, names = None, list[str]()
    if arguments.game or arguments.bot:
        game = _game(arguments)
        if not isinstance(game, KINDS):
            raise FeltError(f"{game.name} is not played at the table in the browser; add --terminal.")
        game = table_game(game.name)
        names = _bot_names(arguments, game)
        _bots(names, game)
    elif arguments.greedy:
        raise FeltError("--greedy needs a game or a bot.")
    token = arguments.token or (None if is_loopback(host) else secrets.token_urlsafe(12))
    database = arguments.database or _default_database()
    listening = bind(host, port)
    with busy("setting the table"):
        app = make_app(database, extra=tuple(dict.fromkeys(names)), token=token)
    query = [("game", game.name), *(("bot", name) for name in names)] if game else []
    query += [("token", token)] if token else []
    shown = HOST if host in EVERYWHERE else f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listening.getsockname()[1]}/"
    url = address + (f"?{urlencode(query)}" if query else "")

    def ready() -> None:
        if arguments.json:
            print_json({"url": url, "database": str(database)})
        else:
            print(f"The table is at {url} (Ctrl+C closes it). Sessions are kept in {database}.")
            if token:
                print(f"From other machines, by this one's name or address; the token is {token}")
        sys.stdout.flush()

    serve(app, listening, url=None if arguments.no_browser else url, ready=ready)


def _default_database() -> Path:
    from openfelt.core.folders import data_folder

    folder = data_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder} could not be made ({error.strerror}); see --database.") from None
    return folder / DATABASE


def _in_terminal(arguments: argparse.Namespace) -> None:
    from openfelt.table.terminal import Terminal

    game = _game(arguments)
    _require_decisions(game)
    with busy(f"asking the {'bot' if game.players == 2 else 'bots'} to {game.name}"):
        bots = _bots(_bot_names(arguments, game), game)
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
    from openfelt.bots.learned import LEARNERS
    from openfelt.bots.registry import BOTS, GREEDY
    from openfelt.games.registry import load_game
    from openfelt.policy.files import game_of

    if arguments.game:
        return load_game(arguments.game)
    first = arguments.bot[0].removeprefix(f"{GREEDY}@") if arguments.bot else ""
    if first in BOTS and first not in LEARNERS:
        return load_game("holdem")
    if ".py:" in first:
        raise FeltError(f"Say which game {first} plays: felt play GAME --bot {first}")
    return (game_of(first) if first else None) or load_game("leduc")


def _bot_names(arguments: argparse.Namespace, game: Game) -> list[str]:
    """A bot for each other seat: those named, one for all, or the usual one."""
    from openfelt.bots.registry import GREEDY
    from openfelt.table.lobby.lobby import usual_bot

    others, names = game.players - 1, arguments.bot or [usual_bot(game)]
    if len(names) not in (1, others):
        seats = "one other seat" if others == 1 else f"{others} other seats"
        raise FeltError(f"{game.name} has {seats}, not {len(names)}.")
    if arguments.greedy:
        names = [f"{GREEDY}@{name}" for name in names]
    return names * others if len(names) == 1 else names


def _bots(names: list[str], game: Game) -> list[Bot]:
    from openfelt.bots.registry import load_bot

    return [load_bot(name, game) for name in names]


def _require_decisions(game: Game) -> None:
    """Without any there is nobody to ask, and no end."""
    from openfelt.games.compile.compiler import compile_game
    from openfelt.games.holdem import Holdem

    if isinstance(game, Holdem):
        return
    with busy(f"compiling {game.name}"):
        if not compile_game(game).num_rows:
            raise FeltError(f"There is nothing to decide in {game.name}.")


def _port(text: str) -> int:
    if text.isascii() and text.isdecimal() and int(text) < 1 << 16:
        return int(text)
    raise argparse.ArgumentTypeError(f"a port is a number from 0 to 65535, not '{text}'")


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
