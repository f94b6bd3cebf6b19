"""`felt`: runs a command; every expected error becomes one sentence and exit code 2."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

from openfelt.core.compiling import when_compiling
from openfelt.core.errors import FeltError, unknown
from openfelt.core.version import VERSION

# Each command is a file of this package with HELP, EXAMPLES, add_arguments(parser, argv) and run(arguments).
COMMANDS = {
    "games": "list the games with their sizes",
    "train": "train a policy for a game",
    "plot": "draw the learning curves of runs on one figure",
    "exploit": "compute the exact exploitability of a policy",
    "value": "compute what one policy wins from another",
    "spot": "solve a postflop spot: ranges, a board, bet sizes",
    "bots": "list the bots",
    "match": "play many hands between bots",
    "tournament": "play a round robin between bots",
    "freezeout": "play heads-up with stacks until one bot is broke",
    "abstraction": "build or inspect a card abstraction of hold'em",
    "play": "play against a bot, in the browser or the terminal",
    "drill": "practise single decisions in the terminal",
    "acpc": "play over the ACPC protocol, as client or dealer",
    "review": "review hands: where does a player lose money?",
    "history": "convert, check and show hand histories",
    "model": "fit, show and score opponent models",
    "respond": "compute a counter-strategy, its gain and its risk",
    "export": "write a game as a Gambit .efg file",
    "study": "reproduce a figure or table of a paper",
    "bench": "measure speed relative to other programs",
    "completion": "print the script that lets your shell complete felt's words",
    "demo": "train, measure and watch a Leduc bot in a minute",
}

MOST_LETTERS = 5_000  # of an error, which may repeat what a file says


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise FeltError(f"{message[0].upper()}{message[1:]} (see {self.prog} --help).")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    warnings.showwarning = _show_warning
    if sys.stderr.isatty():
        when_compiling[:] = [_tell_compiling]
    try:
        return _dispatch(words)
    except FeltError as error:
        print(f"felt: {_printable(str(error))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("felt: stopped.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 141
    except OSError as error:  # for example a disk that fills up while machine code is cached
        where = error.filename or "A file"
        print(f"felt: {where} could not be read or written ({error.strerror}).", file=sys.stderr)
        return 2
    except MemoryError:
        print("felt: out of memory.", file=sys.stderr)
        return 2


def _dispatch(words: list[str]) -> int:
    if "_ARGCOMPLETE" in os.environ:
        complete()
    if words[:1] == ["--version"]:
        print(f"felt {VERSION}")
        return 0
    if not words or words[0] in ("-h", "--help", "help"):
        print(_overview())
        return 0
    module, arguments = parse(words)
    return int(module.run(arguments) or 0)


def _tell_compiling() -> None:
    print("Compiling kernels; later runs load them from the cache.", file=sys.stderr)


def complete() -> NoReturn:
    """Answer the shell, which asks for the words that may follow (argcomplete's protocol)."""
    import argcomplete

    words = os.environ.get("COMP_LINE", "").split()[1:]
    overview = argparse.ArgumentParser()
    commands = overview.add_subparsers()
    for name, text in COMMANDS.items():
        parser = commands.add_parser(name, help=text)
        if words[:1] == [name]:  # only one command is imported
            _add_arguments(parser, words)
    argcomplete.autocomplete(overview)
    raise SystemExit(1)  # the shell called without its part of the protocol


def parse(words: Sequence[str]) -> tuple[Any, argparse.Namespace]:
    """The module of a command, and its arguments."""
    module, parser = command_parser(words)
    return module, parser.parse_args(list(words[1:]))


def command_parser(words: Sequence[str]) -> tuple[Any, argparse.ArgumentParser]:
    """The module of a command, and its parser, whose options may depend on the further words."""
    if words[0] not in COMMANDS:
        raise FeltError(unknown("command", words[0], COMMANDS))
    parser = _Parser(
        prog=f"felt {words[0]}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    module = _add_arguments(parser, words)
    parser.description = module.HELP
    parser.epilog = "examples:\n" + "\n".join(f"  {example}" for example in module.EXAMPLES)
    return module, parser


def _add_arguments(parser: argparse.ArgumentParser, words: Sequence[str]) -> Any:
    """Add the arguments of a command and return its module."""
    module = importlib.import_module(f"openfelt.cli.{words[0]}")
    module.add_arguments(parser, list(words[1:]))
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    return module


def _overview() -> str:
    width = max(map(len, COMMANDS))
    commands = "\n".join(f"  {name:<{width}}  {text}" for name, text in COMMANDS.items())
    return (
        "felt: train, measure and play agents for games of imperfect information\n\n"
        f"commands:\n{commands}\n\n"
        "`felt COMMAND --help` shows options and examples; `felt --version` prints the version.\n\n"
        "example:\n  felt train leduc"
    )


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    print(f"felt: {_printable(str(message))}", file=sys.stderr)


def _printable(text: str) -> str:
    """The text, shortened and with control characters escaped: a file must not control the terminal."""
    shown = text if len(text) <= MOST_LETTERS else text[:MOST_LETTERS] + "..."
    return "".join(
        letter if letter.isprintable() or letter == "\n" else repr(letter)[1:-1] for letter in shown
    )
