"""Hand histories as text of poker sites: PokerStars and GGPoker are read, PokerStars is written.

A file has any number of hands; each begins with its header. `site_hand.py` reads one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

from openfelt.cards.deck import BOARD_CARDS
from openfelt.cards.evaluator import hand_category
from openfelt.core.errors import FeltError, FileError
from openfelt.core.files import write_text
from openfelt.games.cash_holdem import CashHoldem, CashState, amount_text
from openfelt.games.game import CHANCE
from openfelt.games.holdem import bet, first_betting, is_holdem_name
from openfelt.games.registry import load_recorded_game
from openfelt.hands.bad_hand import BadHandError, Skip, refuse
from openfelt.hands.check import check_record, replay
from openfelt.hands.phh import STACK
from openfelt.hands.record import HIDDEN, HandRecord
from openfelt.hands.site_hand import HEADER, as_limit_game, cash_game, hand_number, limit_game, site_hand

STREETS = ("HOLE CARDS", "FLOP", "TURN", "RIVER")
BEGAN = datetime(2000, 1, 1)  # of hand 0: a record has no time; the hand's number is added in seconds
MOST_SECONDS = 3_000_000_000
LONGEST = 1_000  # bytes of a first line
DEFAULT_TABLE = "OpenFelt"


def read_site_text(path: Path, *, skip: Skip | None = None) -> Iterator[HandRecord]:
    """The hands of a file, one by one.

    The first that cannot be read or violates the rules raises BadHandError, or is skipped and `skip` is
    called with the error.
    """
    for first, lines in _hands(path):
        try:
            record = site_hand(lines)
        except FeltError as error:
            number = hand_number(lines[0])
            place = f"line {first}" if number is None else f"line {first}, hand {number}"
            refuse(BadHandError(path, place, str(error), number), skip)
        else:
            yield record


def begins_with_hand(path: Path) -> bool:
    """Whether the first line of text is the header of a hand."""
    with path.open("rb") as file:
        lines = (_decoded(raw) for raw in iter(lambda: file.readline(LONGEST), b""))
        return bool(HEADER.match(next((line for line in lines if line), "")))


def _hands(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The lines of each hand, with the number of its first line."""
    lines: list[str] = []
    first = 0
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, 1):
                line = _decoded(raw)
                if HEADER.match(line):
                    if lines:
                        yield first, lines
                    first, lines = number, [line]
                elif lines:
                    lines.append(line)
                elif line.strip():
                    raise FileError(f"{path}, line {number}: this is not a hand of PokerStars or GGPoker.")
    except OSError as error:
        raise FileError(f"{path} could not be read ({error.strerror}).") from None
    if lines:
        yield first, lines


def _decoded(raw: bytes) -> str:
    """A line as UTF-8, or as older files of the sites are."""
    try:
        return raw.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        return raw.decode("latin-1").strip()


def write_site_text(path: Path, hands: Iterable[tuple[str, HandRecord]]) -> int:
    """Write hands, each with its match, as PokerStars text, and return their number."""
    texts = [_verified_text(record, match) for match, record in hands]
    write_text(path, "\n\n".join(texts))
    return len(texts)


def _verified_text(record: HandRecord, match: str) -> str:
    """The text of a hand; raises FeltError if reading it would give another hand."""
    if fault := check_record(record):
        raise FeltError(f"Hand {record.number} cannot be written: {fault}")
    text = stars_text(record, table=match)
    try:
        read = site_hand(text.splitlines())
    except FeltError as error:
        raise FeltError(f"Hand {record.number} cannot be written as text of PokerStars: {error}") from None
    if read != as_limit_game(replace(record, game=load_recorded_game(record.game).unabstracted.name)):
        raise FeltError(
            f"Text of PokerStars cannot express hand {record.number} exactly; keep it in a store (.db)."
        )
    return text


def stars_text(record: HandRecord, *, table: str = "") -> str:
    """A hand of hold'em as PokerStars would write it, with all cards that are known; a chip is a dollar."""
    record = _with_amounts(record)
    game = cash_game(record)
    lines = [*_header(game, record, table or DEFAULT_TABLE), *_posts(game, record)]
    begun = 0  # streets
    for step in replay(record).steps:
        if step.mover == CHANCE:
            continue
        now = step.state.betting.street + 1
        lines += _streets(record, range(begun, now))
        begun = max(begun, now)
        lines.append(f"{record.names[step.mover]}: {_action(game, step.state, step.word)}")
    lines += _streets(record, range(begun, len(STREETS)))
    return "\n".join([*lines, *_end(game, record), ""])


def _with_amounts(record: HandRecord) -> HandRecord:
    """The hand as one of `cash_holdem`."""
    if not is_holdem_name(record.game):
        return record
    players = len(record.names)
    betting, before, words = first_betting(players), 0, list[str]()
    for word in record.actions:
        street, betting = betting.street, bet(betting, word)
        words.append(f"{word} {max(betting.paid) - before}" if word in ("bet", "raise") else word)
        if betting.street > street:
            before = max(betting.paid)
    game = limit_game("/".join([str(STACK)] * players), Decimal(1))
    return replace(record, game=game.name, actions=tuple(words))


def _header(game: CashHoldem, record: HandRecord, table: str) -> list[str]:
    small, big = game.bets.split("/") if game.bets else (_small_blind(game), str(game.blind))
    kind = "Limit" if game.bets else "No Limit"
    time = BEGAN + timedelta(seconds=record.number % MOST_SECONDS)
    seats = [
        f"Seat {seat}: {name} ({_dollars(stack)} in chips)"
        for seat, (name, stack) in enumerate(zip(record.names, game.stacks.split("/"), strict=True), 1)
    ]
    return [
        f"PokerStars Hand #{record.number}:  Hold'em {kind} ({_dollars(small)}/{_dollars(big)} USD) - "
        f"{time:%Y/%m/%d %H:%M:%S} ET",
        f"Table '{table}' {game.players}-max Seat #{game.players} is the button",
        *seats,
    ]


def _small_blind(game: CashHoldem) -> str:
    return min((post for post in game.posts.split("/") if Decimal(post)), key=Decimal, default="0")


def _posts(game: CashHoldem, record: HandRecord) -> list[str]:
    """Antes, then the blinds: the small one, the big one before the first to act, then other posts."""
    posts = game.posts.split("/")
    dead = game.dead.split("/") if game.dead else ["0"] * game.players
    last = (game.first_to_act - 1) % game.players
    order = [(last - 1) % game.players, last]
    order += [seat for seat in range(game.players) if seat not in order]
    lines = [
        f"{name}: posts the ante {_dollars(amount)}"
        for name, amount in zip(record.names, dead, strict=True)
        if Decimal(amount)
    ]
    for seat in order:
        if Decimal(posts[seat]):
            is_small = seat == order[0] and Decimal(posts[seat]) < Decimal(str(game.blind))
            what = "small blind" if is_small else "big blind"
            if Decimal(posts[seat]) > Decimal(str(game.blind)):
                what = "straddle"
            lines.append(f"{record.names[seat]}: posts {what} {_dollars(posts[seat])}")
    return lines


def _streets(record: HandRecord, streets: range) -> list[str]:
    """The headings of those streets that were dealt, with the hole cards after the first."""
    board, lines = record.dealt[2 * len(record.names) :], list[str]()
    for street in streets:
        before, cards = BOARD_CARDS[street - 1] if street else 0, BOARD_CARDS[street]
        if street == 0:
            lines += [f"*** {STREETS[0]} ***", *_dealt(record)]
        elif len(board) >= cards:
            groups = [board[:before], board[before:cards]][street == 1 :]
            lines.append(f"*** {STREETS[street]} *** " + " ".join(f"[{' '.join(group)}]" for group in groups))
    return lines


def _dealt(record: HandRecord) -> list[str]:
    return [
        f"Dealt to {name} [{' '.join(hole)}]"
        for seat, name in enumerate(record.names)
        if HIDDEN not in (hole := record.dealt[2 * seat : 2 * seat + 2])
    ]


def _action(game: CashHoldem, state: CashState, word: str) -> str:
    """What a player does, as PokerStars says it."""
    betting, me = state.betting, state.betting.turn
    verb, _, to = word.partition(" ")
    put_in = game.paid(game.play(state, word))[me] - game.paid(state)[me]
    all_in = " and is all-in" if put_in == game.left(state, me) else ""
    if verb == "raise":
        by = betting.paid[me] + put_in - betting.level
        return f"raises {_dollars(amount_text(by))} to {_dollars(to)}{all_in}"
    return f"{verb}s {_dollars(amount_text(put_in))}{all_in}" if put_in else f"{verb}s"


def _end(game: CashHoldem, record: HandRecord) -> list[str]:
    """Uncalled bet, showdown, pots and summary."""
    state = replay(record).state
    inside, back, paid = game.inside(state), game.uncalled(state), game.total_paid(state)
    takes = [round(100 * won) + own - rest for won, own, rest in zip(record.won, paid, back, strict=True)]
    lines = [
        f"Uncalled bet ({_dollars(amount_text(rest))}) returned to {name}"
        for name, rest in zip(record.names, back, strict=True)
        if rest
    ]
    board = record.dealt[2 * game.players :]
    if len(inside) > 1:
        lines.append("*** SHOW DOWN ***")
    for seat in inside if len(inside) > 1 else ():
        hole = record.dealt[2 * seat : 2 * seat + 2]
        shown = hand_category((*hole, *board)) if HIDDEN not in (*hole, *board) else ""
        shows = f"shows [{' '.join(hole)}] ({shown})" if shown else "mucks hand"
        lines.append(f"{record.names[seat]}: {shows}")
    return [
        *lines,
        *(
            f"{name} collected {_dollars(amount_text(take))} from pot"
            for name, take in zip(record.names, takes, strict=True)
            if take
        ),
        "*** SUMMARY ***",
        f"Total pot {_dollars(amount_text(sum(paid) - sum(back)))} | Rake $0",
        *([f"Board [{' '.join(board)}]"] if board else []),
        *(
            f"Seat {seat + 1}: {name}{_role(game, seat)} {_result(take, seat in inside)}"
            for seat, (name, take) in enumerate(zip(record.names, takes, strict=True))
        ),
    ]


def _result(take: int, is_inside: bool) -> str:
    if take:
        return f"collected ({_dollars(amount_text(take))})"
    return "lost" if is_inside else "folded"


def _role(game: CashHoldem, seat: int) -> str:
    last = (game.first_to_act - 1) % game.players
    if seat == game.players - 1:
        return " (button)"
    return {last: " (big blind)", last - 1: " (small blind)"}.get(seat, "")


def _dollars(amount: str) -> str:
    """As PokerStars writes it: $4, $4.50."""
    number = Decimal(amount)
    return f"${number:.0f}" if number == int(number) else f"${number:.2f}"
