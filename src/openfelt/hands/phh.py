"""Hand histories in the PHH format: `.phh` files with one hand, `.phhs` files with many as numbered tables.

PHH (Kim, "Recording and Describing Poker Hands", 2024; https://phh.readthedocs.io) is TOML. It has eleven
variants; limit hold'em is FT. There is none for Kuhn poker, Leduc hold'em and other small games.

Seats are the same. PHH lists players in the order in which they are dealt to, the dealer last, as in
`games/holdem.py`: p1 is seat 0. That includes heads-up play, where PHH reverses the blinds:
`blinds_or_straddles = [1, 2]` means that p1, seat 0, posts 2.

Readers such as PokerKit give the odd chip of a split pot to one player; our rules split it. A pot can be odd
only with three players, after the small blind of 1 was folded, so such files count half chips: blinds 2 and
4.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path

from openfelt.cards.deck import BOARD_CARDS, RIVER
from openfelt.core.errors import FeltError, FileError
from openfelt.core.files import not_written
from openfelt.games.holdem import BET, Holdem, bet, first_betting, is_holdem_name, is_over, players_in
from openfelt.hands.bad_hand import BadHandError, Skip, refuse
from openfelt.hands.check import check_record, replay
from openfelt.hands.phh_hand import GAME, POSTED, VARIANT, hand_number, record_of
from openfelt.hands.record import HIDDEN, HandRecord

ONE, MANY = ".phh", ".phhs"
AUTHOR = "OpenFelt"
UNITS = {2: 1, 3: 2}  # by number of players: what we write for a chip
STACK = 100  # chips; a player can bet 48 at most
MOST_DIGITS = 10  # of the number of a table


def write_phh(path: Path, records: Iterable[HandRecord], *, event: str = "") -> int:
    """Write hands of hold'em and return their number; the file appears when all of them are written."""
    return write_texts(path, (phh_text(record, event=event) for record in records))


def write_texts(path: Path, texts: Iterable[str]) -> int:
    """As `write_phh`, for hands as `phh_text` gives them."""
    temporary, count = path.with_name(path.name + ".part"), 0
    try:
        with temporary.open("wb") as file:
            for text in texts:
                count += 1
                if path.suffix == ONE and count > 1:
                    raise FileError(f"A {ONE} file holds one hand; write several to a {MANY} file.")
                head = f"[{count}]\n" if path.suffix == MANY else ""
                file.write(f"{head}{text}\n".encode())
            if not count:
                raise FileError(f"There is no hand to write to {path}.")
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise not_written(path, error) from error
    except UnicodeEncodeError:
        raise FileError(f"{path} was not written: the name of a player is not valid Unicode.") from None
    finally:
        temporary.unlink(missing_ok=True)
    return count


def phh_text(record: HandRecord, *, event: str = "") -> str:
    """The fields of a hand, as TOML."""
    if not is_holdem_name(record.game):
        raise FeltError(f"PHH has no variant for {record.game}; keep its hands in a store (.db).")
    fault = check_record(record) or _inexpressible(record)
    if fault:
        raise FeltError(f"Hand {record.number} cannot be written as PHH: {fault}")
    players = len(record.names)
    unit = UNITS[players]
    fields = {
        "variant": VARIANT,
        "antes": [0] * players,
        "blinds_or_straddles": [unit * chips for chips in POSTED[players]],
        "small_bet": unit * BET[0],
        "big_bet": unit * BET[RIVER],
        "starting_stacks": [unit * STACK] * players,
        "actions": _notations(record, unit),
        "author": AUTHOR,
        **({"event": event} if event else {}),
        "hand": record.number,
        "players": list(record.names),
        "finishing_stacks": [round(unit * (STACK + chips)) for chips in record.won],
        **({GAME: record.game} if record.game != Holdem(players=players).name else {}),
    }
    return "".join(f"{name} = {_toml(value)}\n" for name, value in fields.items())


def _inexpressible(record: HandRecord) -> str | None:
    """What PHH cannot express: there a player that shows no cards at showdown gives up the pot."""
    if any((UNITS[len(record.won)] * chips) % 1 for chips in record.won):
        return "Its winnings are not a whole number of half chips."
    if HIDDEN not in record.dealt:
        return None
    players, betting = len(record.names), replay(record).state.betting
    if HIDDEN in record.dealt[2 * players :]:
        return "Its board is hidden."
    inside = players_in(betting)
    for seat in inside if len(inside) > 1 else ():
        if HIDDEN in record.dealt[2 * seat : 2 * seat + 2] and record.won[seat] + betting.paid[seat] > 0:
            return f"Seat {seat} wins the showdown with cards that are hidden."
    return None


def _notations(record: HandRecord, unit: int) -> list[str]:
    """The actions of players and dealer, in the notation of PHH."""
    players = len(record.names)
    hole = ["".join(record.dealt[2 * seat : 2 * seat + 2]) for seat in range(players)]
    board = record.dealt[2 * players :]
    lines = [f"d dh p{seat + 1} {cards}" for seat, cards in enumerate(hole)]
    betting, before = first_betting(players), 0
    for word in record.actions:
        actor, street = f"p{betting.turn + 1}", betting.street
        betting = bet(betting, word)
        if word == "fold":
            lines.append(f"{actor} f")
        elif word in ("bet", "raise"):
            lines.append(f"{actor} cbr {unit * (max(betting.paid) - before)}")
        else:
            lines.append(f"{actor} cc")
        if betting.street > street and not is_over(betting):
            before = max(betting.paid)
            cards = board[BOARD_CARDS[street] : BOARD_CARDS[street + 1]]
            lines.append(f"d db {''.join(cards)}")
    inside = players_in(betting)
    if len(inside) > 1:
        shown = [seat for seat in inside if HIDDEN not in hole[seat]]
        lines += [f"p{seat + 1} sm {hole[seat]}" for seat in shown]
        lines += [f"p{seat + 1} sm" for seat in inside if seat not in shown]
    return lines


def _toml(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    # TOML has the escapes of JSON, but requires one for a character that JSON does not escape.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def read_phh(path: Path, *, skip: Skip | None = None) -> Iterator[HandRecord]:
    """The hands of a file, one by one.

    The first that cannot be read or violates the rules raises BadHandError, or is skipped and `skip` is
    called with the error.
    """
    place, last = 0, 0
    for line, raw in _tables(path):
        try:
            fields = tomllib.loads(raw.decode(), parse_float=Decimal)
        except (ValueError, ArithmeticError, RecursionError) as error:
            refuse(BadHandError(path, *_damage(error, line, raw)), skip)
            place, last = place + 1, last + 1 if last else 0
            continue
        for label, table in fields.items() if path.suffix == MANY else [(str(place + 1), fields)]:
            last = _next_label(path, line, label, last)
            hand = table if isinstance(table, dict) else {}
            try:
                record = record_of(hand, place)
                if fault := check_record(record):
                    raise FeltError(fault)
            except (FeltError, ArithmeticError) as error:
                reason = str(error) if isinstance(error, FeltError) else "The numbers are too large."
                refuse(
                    BadHandError(path, f"line {line}, hand {label}", reason, hand_number(hand, place)), skip
                )
            else:
                yield record
            place += 1


def _next_label(path: Path, line: int, label: str, last: int) -> int:
    """The number of a table, one more than that of the table before it (0: there is none)."""
    if not (label.isdecimal() and label.isascii() and len(label) < MOST_DIGITS):
        reason = f"A {MANY} file has its hands in numbered tables: [1], [2], ..."
    elif last and int(label) != last + 1:
        reason = f"Table [{label}] follows [{last}]; the tables must be numbered without gaps."
    else:
        return int(label)
    raise FileError(f"{path}, line {line}: {reason}")


def _tables(path: Path) -> Iterator[tuple[int, bytes]]:
    """The tables of a file, each with its first line, so that those before a damaged one can be read."""
    try:
        with path.open("rb") as file:
            first, lines = 1, list[bytes]()
            for number, line in enumerate(file, 1):
                # In PHH no line inside a table starts with a bracket.
                if path.suffix == MANY and line.startswith(b"["):
                    yield first, b"".join(lines)
                    first, lines = number, []
                lines.append(line)
            yield first, b"".join(lines)
    except OSError as error:
        raise FileError(f"{path} could not be read ({error.strerror}).") from None


def _damage(error: Exception, first: int, raw: bytes) -> tuple[str, str]:
    """Where a table that starts in line `first` is damaged, and how."""
    if isinstance(error, UnicodeDecodeError):
        line = first + raw.count(b"\n", 0, error.start)
        return f"line {line}", "it is not UTF-8 text."
    found = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", str(error), re.DOTALL)
    if not found:
        return f"the table that starts in line {first}", f"{error}."
    return f"line {first + int(found[2]) - 1}, column {found[3]}", f"{found[1]}."
