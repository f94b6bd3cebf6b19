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
    "Play against bots, at a table in the browser or in the terminal: an included bot (`felt bots`), one\n"
    "that you trained, or one that is solved on first use. After a hand you can review the bots' action\n"
    "probabilities and the EV loss of each of your decisions, drill your mistakes, or watch bots play\n"
    "each other. The table accepts connections from this machine only, unless you give --host; other\n"
    "machines then need a token, and people can choose names. Sessions are saved and continue after a\n"
    "restart. Programs can play too: connect them to /bot/v1 of the same address (docs/bot-api.md)."
)
EXAMPLES = [
    "felt play",
    "felt play holdem --bot poki-like",
    'felt play "holdem(players=3)" --bot poki-like --bot chen',
    "felt play --bot runs/leduc-pcfr+",
    "felt play --port 9000 --no-browser",
    "felt play --host 0.0.0.0",
    "felt play --host 0.0.0.0 --token 'a long token of your own'",
    "felt play kuhn --terminal --hands 20",
]
HOST, PORT = "127.0.0.1", 8137
DATABASE = "table.db"
TERMINAL_ONLY, BROWSER_ONLY = ("hands", "seed"), ("host", "port", "token", "no_browser", "database")
EVERYWHERE = ("0.0.0.0", "::")  # not addresses that a browser can open
WEB = ("starlette", "uvicorn", "websockets")  # packages that the table in the browser needs


def add_arguments(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    parser.add_argument(
        "game", nargs="?", help="name of a game (default: chosen in the lobby; in the terminal: leduc)"
    )
    parser.add_argument(
        "--bot",
        action="append",
        default=[],
        help="name of a bot, folder of a run or policy, or FILE.py:CLASS; give it twice for two opponents",
    )
    parser.add_argument(
        "--greedy",
        action="store_true",
        help="the bot always takes its most likely action, or the one of highest value",
    )
    parser.add_argument("--terminal", action="store_true", help="play in the terminal")
    web = parser.add_argument_group("in the browser")
    web.add_argument("--host", help=f"address to listen on (default: {HOST}, this machine only)")
    web.add_argument("--port", type=_port, help=f"default: {PORT}; 0: any free port")
    web.add_argument("--token", help="token that browsers must give (default: random if --host is given)")
    web.add_argument("--no-browser", action="store_true", default=None, help="only print the address")
    web.add_argument(
        "--database", type=Path, help="file of the sessions (default: table.db in the user's data folder)"
    )
    terminal = parser.add_argument_group("in the terminal")
    terminal.add_argument("--hands", type=count, help="number of hands to play (default: until you quit)")
    terminal.add_argument("--seed", type=seed, help="seed of the cards and the bots' random numbers")


def run(arguments: argparse.Namespace) -> None:
    for name in BROWSER_ONLY if arguments.terminal else TERMINAL_ONLY:
        if getattr(arguments, name) is not None:
            where = "browser; leave out" if arguments.terminal else "terminal; add"
            raise FeltError(f"--{name.replace('_', '-')} is for the {where} --terminal.")
    if arguments.terminal:
        return _in_terminal(arguments)
    if not all(map(importlib.util.find_spec, WEB)):
        raise FeltError("The table in the browser needs: pip install 'openfelt[web]'. Or add --terminal.")
    _in_browser(arguments)


def _in_browser(arguments: argparse.Namespace) -> None:
    from openfelt.table.lobby.lobby import first_choice
    from openfelt.table.web.access import is_loopback
    from openfelt.table.web.app import make_app
    from openfelt.table.web.guesses import require_long_token
    from openfelt.table.web.server import bind, network_address, serve

    host, port = arguments.host or HOST, PORT if arguments.port is None else arguments.port
    if arguments.token is not None:
        require_long_token(arguments.token)
    game, names = None, list[str]()
    if arguments.game or arguments.bot:
        game = _browser_game(arguments)
        names = _bot_names(arguments, game)
        _bots(names, game)
    elif arguments.greedy:
        raise FeltError("--greedy needs a game or a bot.")
    token = arguments.token or (None if is_loopback(host) else secrets.token_urlsafe(12))
    database = arguments.database or data_file(DATABASE)
    listening = bind(host, port)
    query = [("game", game.name), *(("bot", name) for name in names)] if game else []
    query += [("token", token)] if token else []
    port, is_open = listening.getsockname()[1], host in EVERYWHERE
    url = _url(HOST if is_open else host, port, query)
    others = None if is_loopback(host) else network_address(listening) if is_open else host
    network_url = _url(others, port, query) if others else None
    address = _url(others, port, []).removesuffix("/") if others else None
    with busy("starting the server"):
        extra = tuple(dict.fromkeys(names))
        first = (game.name, names) if game else first_choice()
        app = make_app(database, extra=extra, token=token, warm_up=True, first=first, address=address)

    def ready() -> None:
        if arguments.json:
            print_json({"url": url, "network_url": network_url, "database": str(database)})
        else:
            print(f"The table is at {url} (Ctrl+C to stop). Sessions are saved in {database}.")
            if network_url:
                print(f"On other machines open {network_url}")
        sys.stdout.flush()

    serve(app, listening, url=None if arguments.no_browser else url, ready=ready)


def _url(host: str, port: int, query: list[tuple[str, str]]) -> str:
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/" + (f"?{urlencode(query)}" if query else "")


def _browser_game(arguments: argparse.Namespace) -> Game:
    from openfelt.table.lobby.lobby import table_game
    from openfelt.table.presentation.registry import PRESENTATIONS

    game = _game(arguments)
    if game.key not in PRESENTATIONS:
        raise FeltError(f"{game.name} is not played at the table in the browser; add --terminal.")
    return table_game(game.name)


def data_file(name: str) -> Path:
    """A file of the user's data folder, which is created if it does not exist."""
    from openfelt.core.user_folders import data_folder

    folder = data_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"{folder} cannot be created ({error.strerror}); choose a file with --database."
        ) from None
    return folder / name


def _in_terminal(arguments: argparse.Namespace) -> None:
    from openfelt.table.terminal import Terminal

    game = _game(arguments)
    _require_decisions(game)
    with busy(f"loading the {'bot' if game.players == 2 else 'bots'} for {game.name}"):
        names = _bot_names(arguments, game)
        bots = _bots(names, game)
    # With --json only the result goes to stdout.
    write = to_stderr if arguments.json else print
    asking = ask_on_stderr if arguments.json else ask
    terminal = Terminal(game, bots, names=names, seed=arguments.seed, ask=asking, write=write)
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
    """The game of the command line, or that of the bot."""
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
        raise FeltError(f"Name the game that {first} plays: felt play GAME --bot {first}")
    return (game_of(first) if first else None) or load_game("leduc")


def _bot_names(arguments: argparse.Namespace, game: Game) -> list[str]:
    """A bot for each opponent's seat: those of the command line, one for all seats, or the default."""
    from openfelt.bots.registry import GREEDY
    from openfelt.table.lobby.lobby import usual_bot

    opponents, names = game.players - 1, arguments.bot or [usual_bot(game)]
    if len(names) not in (1, opponents):
        seats = "one opponent" if opponents == 1 else f"{opponents} opponents"
        raise FeltError(f"{game.name} has {seats}; {len(names)} bots were given.")
    if arguments.greedy:
        names = [f"{GREEDY}@{name}" for name in names]
    return names * opponents if len(names) == 1 else names


def _bots(names: list[str], game: Game) -> list[Bot]:
    from openfelt.bots.registry import load_bot

    return [load_bot(name, game) for name in names]


def _require_decisions(game: Game) -> None:
    """Raise if the game has no decisions: the person could never quit."""
    from openfelt.games.compile.compiler import compile_game

    if not game.is_enumerable:
        return
    with busy(f"compiling {game.name}"):
        if not compile_game(game).num_rows:
            raise FeltError(f"{game.name} has no decisions.")


def _port(text: str) -> int:
    if text.isascii() and text.isdecimal() and int(text) < 1 << 16:
        return int(text)
    raise argparse.ArgumentTypeError(f"a port must be a number from 0 to 65535, not '{text}'")


def ask(text: str) -> str:
    """The person's answer; raises EOFError if there is none."""
    try:
        return input(text)
    except RuntimeError:  # stdin is closed
        raise EOFError from None


def to_stderr(text: str) -> None:
    """For commands that print only their result."""
    print(text, file=sys.stderr)


def ask_on_stderr(text: str) -> str:
    """The same, with the question on stderr."""
    print(text, end="", file=sys.stderr, flush=True)
    return ask("")
