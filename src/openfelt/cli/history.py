"""`felt history`."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from openfelt.arena.hand_files import LOG, STORE, read_hands, require_ending
from openfelt.cli.options import busy, print_json, seed
from openfelt.core.errors import FeltError, FileError

if TYPE_CHECKING:
    from openfelt.games.game import Game
    from openfelt.hands.check import Step
    from openfelt.hands.record import HandRecord

HELP = (
    "Convert, check and show files of hands: .phh (one hand) and .phhs (many), the PHH format of other\n"
    "programs; .log, ACPC match logs; .db, a store for millions of hands of any game. `convert` writes\n"
    "another file, or adds to a .db; `check` replays all hands by the rules and exits with 1 if some\n"
    "violate them; `show` describes one hand, the first or that of --hand."
)
EXAMPLES = [
    "felt history convert match.log hands.db",
    "felt history convert hands.db match.phhs --match match",
    "felt history check match.phhs",
    "felt history show hands.db --hand 12",
]
CONVERT, CHECK, SHOW = "convert", "check", "show"
MOST_FAULTS = 20  # that are printed
VERBS = {
    **{"fold": "folds", "check": "checks", "call": "calls"},
    **{"bet": "bets", "raise": "raises", "pass": "passes"},
}


def add_arguments(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    parser.add_argument("what", choices=(CONVERT, CHECK, SHOW))
    parser.add_argument("file", type=Path, help="the file with the hands")
    parser.add_argument("out", type=Path, nargs="?", help="convert: the file to write")
    parser.add_argument("--hand", type=seed, help="only the hand with this number")
    parser.add_argument(
        "--match", help="from a .db: only the hands of this match; to a .db: the name of the match"
    )


def run(arguments: argparse.Namespace) -> int:
    files = [arguments.file, *([arguments.out] if arguments.out else [])]
    if len(files) != (2 if arguments.what == CONVERT else 1):
        raise FeltError("`felt history convert` needs two files, `check` and `show` need one.")
    for path in files:
        require_ending(path)
    if not arguments.file.is_file():
        raise FileError(f"There is no file {arguments.file}.")
    if arguments.match is not None and STORE not in [path.suffix for path in files]:
        raise FeltError(f"--match is for files that end in {STORE}.")
    command = {CONVERT: _convert, CHECK: _check, SHOW: _show}[arguments.what]
    return command(arguments)


class _HandReader:
    """The hands of a file up to the first fault, which is stored."""

    def __init__(self, path: Path, match: str | None, number: int | None) -> None:
        self.match = match or ""
        self.fault: FileError | None = None
        self._hands, self._number = read_hands(path, match=match), number

    def __iter__(self) -> Iterator[HandRecord]:
        try:
            for record in self._hands:
                if self._number in (None, record.number):
                    yield record
        except FileError as error:
            self.fault = error


def _convert(arguments: argparse.Namespace) -> int:
    source, target = arguments.file, arguments.out
    if target.exists() and (target.suffix != STORE or target.samefile(source)):
        raise FileError(f"{target} exists already; choose another file.")
    matches = [_HandReader(source, name, arguments.hand) for name in _matches(source, arguments.match)]
    try:
        with busy(f"converting {source}"):
            count = _write(target, matches)
    except FeltError:
        for hands in matches:
            if hands.fault:  # the reason why there is nothing to write
                raise hands.fault from None
        raise
    for hands in matches:
        if hands.fault:
            raise FileError(f"{hands.fault} The {_number(count)} before it are in {target}.")
    if arguments.json:
        print_json({"file": str(target), "hands": count})
    else:
        print(f"{_number(count)} written to {target}")
    return 0


def _matches(source: Path, match: str | None) -> list[str]:
    """The matches of a store; any other file is one match, named by --match or the file."""
    if source.suffix != STORE:
        return [source.stem if match is None else match]
    from openfelt.hands.store import HandStore

    with HandStore(source) as store:
        return store.matches() if match is None else [match]


def _write(target: Path, matches: Sequence[_HandReader]) -> int:
    if target.suffix == STORE:
        from openfelt.hands.store import HandStore

        with HandStore(target) as store:
            known = store.matches()
            for hands in matches:
                if hands.match in known:
                    raise FeltError(
                        f"{target} has a match '{hands.match}' already; choose another name with --match."
                    )
            return sum(store.append(hands, match=hands.match) for hands in matches)
    records = (record for hands in matches for record in hands)
    if target.suffix == LOG:
        from openfelt.arena.acpc.log import write_log

        return write_log(target, records)
    from openfelt.games.holdem import is_holdem_name
    from openfelt.hands.phh import write_phh

    # PHH has only hold'em; hands of other games in a store with many matches are left out.
    holdem = (record for record in records if len(matches) == 1 or is_holdem_name(record.game))
    return write_phh(target, holdem, event=matches[0].match if len(matches) == 1 else "")


def _check(arguments: argparse.Namespace) -> int:
    from openfelt.hands.check import check_record

    hands = _HandReader(arguments.file, arguments.match, arguments.hand)
    count, faults = 0, list[tuple[int, str]]()
    with busy(f"checking {arguments.file}"):
        for record in hands:
            count += 1
            fault = check_record(record)
            if fault:
                faults.append((record.number, fault))
    if arguments.json:
        listed = [{"hand": number, "fault": fault} for number, fault in faults]
        print_json({"file": str(arguments.file), "hands": count, "faults": listed})
    else:
        for number, fault in faults[:MOST_FAULTS]:
            print(f"hand {number}: {fault}")
        if count or not hands.fault:
            found = f"{len(faults):,} of them against the rules" if faults else "all by the rules"
            print(f"{_number(count)}, {found}")
    if hands.fault:
        raise hands.fault
    return 1 if faults else 0


def _show(arguments: argparse.Namespace) -> int:
    hands = _HandReader(arguments.file, arguments.match, arguments.hand)
    record = next(iter(hands), None)
    if record is None:
        which = "hand" if arguments.hand is None else f"hand {arguments.hand}"
        raise hands.fault or FeltError(f"There is no {which} in {arguments.file}.")
    if arguments.json:
        print_json(dataclasses.asdict(record))
    else:
        print("\n".join(description(record)))
    return 0


def description(record: HandRecord) -> list[str]:
    """The lines that describe a hand: private cards, then by round the public cards and the actions."""
    from openfelt.games.game import CHANCE
    from openfelt.games.registry import load_game
    from openfelt.hands.check import replay

    game = load_game(record.game)
    own: list[list[str]] = [[] for _ in record.names]
    rounds: list[_Round] = []
    for step in replay(record).steps:
        if step.mover != CHANCE:
            if not rounds:
                rounds.append(_Round([]))
            rounds[-1].add(step, record, game)
            continue
        seers = [seat for seat in range(game.players) if game.sees(step.state, step.word, seat)]
        if len(seers) == 1:
            own[seers[0]].append(step.word)
        elif rounds and not rounds[-1].actions:
            rounds[-1].cards.append(step.word)
        else:
            rounds.append(_Round([step.word]))
    holdings = [
        f"  {name}: {' '.join(cards)}" for name, cards in zip(record.names, own, strict=True) if cards
    ]
    won = ", ".join(f"{name} {chips:+g}" for name, chips in zip(record.names, record.won, strict=True))
    return [
        f"{record.game}, hand {record.number}",
        *holdings,
        *map(str, rounds),
        f"  won: {won} {game.unit}",
    ]


class _Round:
    """Public cards, and the actions after them."""

    def __init__(self, cards: list[str]) -> None:
        self.cards = cards
        self.actions: list[str] = []
        self._pot = ""

    def add(self, step: Step, record: HandRecord, game: Game) -> None:
        stakes = game.stakes(step.state)
        if stakes and not self.actions:
            self._pot = f" (pot {stakes[0]:g})"
        self.actions.append(f"{record.names[step.mover]} {VERBS.get(step.word, step.word)}")

    def __str__(self) -> str:
        return f"  {' '.join(self.cards) or 'start'}{self._pot}: {', '.join(self.actions)}"


def _number(count: int) -> str:
    return "1 hand" if count == 1 else f"{count:,} hands"
