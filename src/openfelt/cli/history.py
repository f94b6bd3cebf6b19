"""`felt history`."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from openfelt.arena.hand_files import LOG, STORE, read_matches, require_ending, write_matches
from openfelt.cli.hand_options import SkippedHands, add_hand_options
from openfelt.cli.options import busy, print_json, seed
from openfelt.core.errors import FeltError, FileError

if TYPE_CHECKING:
    from openfelt.arena.hand_files import MatchedHand
    from openfelt.games.game import Game
    from openfelt.hands.bad_hand import BadHandError, Skip
    from openfelt.hands.check import Step
    from openfelt.hands.record import HandRecord

HELP = (
    "Convert, check and show files of hands: .phh (one hand) and .phhs (many), the PHH format of other\n"
    "programs; .log, ACPC match logs; .txt, hands of PokerStars and GGPoker; .db, a store for millions of\n"
    "hands of any game. `convert` writes another file, or adds to a .db: all hands, or none if one cannot\n"
    "be read or violates the rules (--skip-bad skips such hands). `check` lists them and exits with 1 if\n"
    "there are some; `show` describes one hand, the first or that of --hand."
)
EXAMPLES = [
    "felt history convert match.log hands.db",
    "felt history convert hands.db match.phhs --match match",
    "felt history convert table.db hands.phhs --game holdem",
    "felt history convert match.log hands.db --definition my.game",
    "felt history convert damaged.phhs hands.db --skip-bad",
    "felt history convert pokerstars.txt hands.db --skip-bad",
    "felt history convert match.phhs match.txt",
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
    parser.add_argument("--game", help="only the hands of this game; PHH has hold'em only")
    add_hand_options(parser)


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
    if (arguments.definition is not None or arguments.partial) and arguments.file.suffix != LOG:
        raise FeltError(f"--definition and --partial are for files that end in {LOG}.")
    command = {CONVERT: _convert, CHECK: _check, SHOW: _show}[arguments.what]
    return command(arguments)


def _hands(arguments: argparse.Namespace, skip: Skip | None) -> Iterator[MatchedHand]:
    """The hands of the file that were asked for, each with its match."""
    from openfelt.games.registry import load_recorded_game

    chosen = arguments.match if arguments.file.suffix == STORE else None
    name = None if arguments.file.suffix == STORE else arguments.match
    hands = read_matches(
        arguments.file, match=chosen, definition=arguments.definition, partial=arguments.partial, skip=skip
    )
    game = None if arguments.game is None else load_recorded_game(arguments.game).name
    for match, record in hands:
        if arguments.hand in (None, record.number) and game in (None, record.game):
            yield match if name is None else name, record


def _convert(arguments: argparse.Namespace) -> int:
    source, target = arguments.file, arguments.out
    if target.exists() and (target.suffix != STORE or target.samefile(source)):
        raise FileError(f"{target} exists already; choose another file.")
    skipped = SkippedHands(arguments)
    with busy(f"converting {source}"):
        count = write_matches(target, _of_new_matches(_hands(arguments, skipped.skip), target))
    skipped.report()
    if arguments.json:
        print_json({"file": str(target), "hands": count, "skipped": len(skipped.faults)})
    else:
        print(f"{_number(count)} written to {target}")
    return 0


def _of_new_matches(hands: Iterable[MatchedHand], target: Path) -> Iterator[MatchedHand]:
    """The hands; raises FeltError if the target is a store that has their match already."""
    known = _matches(target)
    for match, record in hands:
        if match in known:
            raise FeltError(f"{target} has a match '{match}' already; choose another name with --match.")
        yield match, record


def _matches(target: Path) -> set[str]:
    if target.suffix != STORE or not target.exists() or not target.stat().st_size:
        return set()
    from openfelt.hands.store import HandStore

    with HandStore(target, create=False) as store:
        return set(store.matches())


def _check(arguments: argparse.Namespace) -> int:
    if arguments.skip_bad:
        raise FeltError("`felt history check` lists all bad hands; leave out --skip-bad.")
    faults: list[BadHandError] = []
    good, damage = 0, None
    with busy(f"checking {arguments.file}"):
        try:
            for _ in _hands(arguments, faults.append):
                good += 1
        except FileError as error:
            damage = error
    if arguments.hand is not None:
        faults = [fault for fault in faults if fault.hand in (None, arguments.hand)]
    if not arguments.json:
        for fault in faults[:MOST_FAULTS]:
            print(f"{fault.place}: {fault.reason}")
    if damage:
        raise damage
    count = good + len(faults)
    if not count:
        raise FeltError(f"There is no such hand in {arguments.file}.")
    if arguments.json:
        listed = [{"hand": fault.hand, "place": fault.place, "fault": fault.reason} for fault in faults]
        print_json({"file": str(arguments.file), "hands": count, "faults": listed})
    else:
        print(f"{_number(count)}, {f'{len(faults):,} of them bad' if faults else 'all by the rules'}")
    return 1 if faults else 0


def _show(arguments: argparse.Namespace) -> int:
    skipped = SkippedHands(arguments)
    found = next(_hands(arguments, skipped.skip), None)
    skipped.report()
    if found is None:
        which = "hand" if arguments.hand is None else f"hand {arguments.hand}"
        raise FeltError(f"There is no {which} in {arguments.file}.")
    record = found[1]
    if arguments.json:
        print_json(dataclasses.asdict(record))
    else:
        print("\n".join(description(record)))
    return 0


def description(record: HandRecord) -> list[str]:
    """The lines that describe a hand: private cards, then by round the public cards and the actions."""
    from openfelt.games.game import CHANCE
    from openfelt.games.registry import load_recorded_game
    from openfelt.hands.check import replay

    game = load_recorded_game(record.game)
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
        verb, _, amount = step.word.partition(" ")
        said = f"{VERBS[verb]} {'to ' * (verb == 'raise')}{amount}" if amount and verb in VERBS else step.word
        self.actions.append(f"{record.names[step.mover]} {VERBS.get(step.word, said)}")

    def __str__(self) -> str:
        return f"  {' '.join(self.cards) or 'start'}{self._pot}: {', '.join(self.actions)}"


def _number(count: int) -> str:
    return "1 hand" if count == 1 else f"{count:,} hands"
