"""One hand of a cash game of hold'em in the text of PokerStars or GGPoker, as a record.

Each line is an event of the hand, or is known to be none (chat, connections), or raises FeltError with the
line: nothing is passed over that might have changed the hand. Winnings in the record are those before the
rake, as the rules give them; what the players collect according to the text must agree with them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from openfelt.cards.deck import RIVER
from openfelt.core.errors import FeltError
from openfelt.games.cash_holdem import CashHoldem, amount_text
from openfelt.games.holdem import BET, BIG_BLIND, BLINDS, CARD_NUMBERS, Holdem, is_holdem_name
from openfelt.games.registry import load_recorded_game
from openfelt.hands.check import check_record, possible_winnings, replay
from openfelt.hands.record import HIDDEN, HandRecord

HEADER = re.compile(
    r"(?:PokerStars (?:Zoom |Home Game )?(?:Hand|Game)|Poker Hand) #([A-Z]*)([0-9]{1,18}): *(.*)"
)
AMOUNT = r"[^\w\s.,()]{0,2}([0-9][0-9,]*(?:\.[0-9]{1,2})?|\.[0-9]{1,2})"
GAME = re.compile(rf"(?:\{{[^}}]*\}} *)?Hold'em (No Limit|Limit) *\({AMOUNT}/{AMOUNT}(?: [A-Z]+)?\) *-.*")
TABLE = re.compile(r"Table '(.*)' .*Seat #([0-9]+) is the button")
SEAT = re.compile(rf"Seat ([0-9]+): (.+) \({AMOUNT} in chips\)(.*)")
STREET = re.compile(r"\*\*\* (HOLE CARDS|FLOP|TURN|RIVER|SHOW ?DOWN|SUMMARY) \*\*\*(?: (\[.*\]))?")
BOARDS = {"FLOP": 3, "TURN": 4, "RIVER": 5}
ALL_IN = r"(?: and is all-in)?"
POST = re.compile(
    rf"(.+): (?:posts )?(small blind|big blind|small & big blinds|the ante|straddle) {AMOUNT}{ALL_IN}"
)
ACTION = re.compile(
    rf"(.+): (folds|checks|calls|bets|raises)(?: {AMOUNT})?(?: to {AMOUNT})?{ALL_IN}(?: \[(.*)\])?"
)
DEALT = re.compile(r"Dealt to (.+?)(?: \[(.*)\])?")
SHOWS = re.compile(r"(.+): shows \[(.*?)\](?: \(.*\))?")
UNCALLED = re.compile(rf"Uncalled bet \({AMOUNT}\) returned to (.+)")
COLLECTED = re.compile(rf"(.+) collected {AMOUNT} from (?:main |side )?pot(?:-[0-9]+)?")
TOTAL = re.compile(rf"Total pot {AMOUNT}(.*)")
FEE = re.compile(rf"\| *(?:Rake|Jackpot|Bingo|Fortune|Tax) {AMOUNT}")
SUMMED_UP = re.compile(r"Seat ([0-9]+): .* (?:mucked|showed) \[(.. ..)\].*")
NO_EVENT = re.compile(
    r".+ said, \".*|.+(?:: mucks hand|: doesn't show hand|: sits out ?)|Betting is capped"
    r"|.+ (?:has timed out|is disconnected|is connected|has returned|is sitting out|leaves the table)(?: .*)?"
    r"|.+ cashed out the hand for .*"
    r"|.+ (?:joins the table at seat #|was removed from the table|will be allowed to play|re-buys ).*"
    r"|.+ has timed out while (?:being )?disconnected.*|(?:Board|Seat [0-9]+:) .*"
)
VERBS = {"folds": "fold", "checks": "check", "calls": "call", "bets": "bet", "raises": "raise"}
CENT = Decimal("0.01")


def site_hand(lines: Sequence[str]) -> HandRecord:
    """The record of a hand; raises FeltError for what is not understood or does not agree."""
    hand = _Hand(lines[0])
    for line in lines[1:]:
        if text := line.strip():
            hand.read(text)
    return hand.record()


def hand_number(header: str) -> int | None:
    """The number in the first line of a hand."""
    found = HEADER.fullmatch(header.strip())
    return int(found[2]) if found else None


class _Hand:
    """What the lines have told so far."""

    def __init__(self, header: str) -> None:
        found = HEADER.fullmatch(header.strip())
        game = found and GAME.fullmatch(found[3])
        if not found or not game:
            raise FeltError(
                f"Only cash games of limit and no-limit hold'em can be read, not '{header[:100]}'."
            )
        self._number = int(found[2])
        self._limit = game[1] == "Limit"
        self._sizes = _amount(game[2]), _amount(game[3])
        self._button = 0
        self._stacks: dict[int, tuple[str, Decimal]] = {}  # by number of the seat
        self._live: dict[str, Decimal] = defaultdict(Decimal)  # what is posted, by name
        self._dead: dict[str, Decimal] = defaultdict(Decimal)
        self._last_blind = ""  # the name before the first to act
        self._hole: dict[str, tuple[str, ...]] = {}
        self._board: tuple[str, ...] = ()
        self._acts: list[tuple[str, str]] = []  # names and words
        self._net: dict[str, Decimal] = defaultdict(Decimal)  # collected and returned
        self._fees: Decimal | None = None
        self._in_summary = False

    def read(self, line: str) -> None:
        if found := STREET.fullmatch(line):
            self._begin_street(found[1], found[2] or "")
        elif self._in_summary:
            self._sum_up(line)
        elif found := TABLE.fullmatch(line):
            self._button = int(found[2])
        elif found := SEAT.fullmatch(line):
            self._stacks[int(found[1])] = found[2], _amount(found[3])
        elif found := POST.fullmatch(line):
            self._post(found[1], found[2], _amount(found[3]))
        elif found := ACTION.fullmatch(line):
            self._act(found, line)
        elif found := UNCALLED.fullmatch(line):
            self._net[found[2]] += _amount(found[1])
        elif found := COLLECTED.fullmatch(line):
            self._net[found[1]] += _amount(found[2])
        elif found := SHOWS.fullmatch(line):
            self._show(found[1], found[2])
        elif found := DEALT.fullmatch(line):
            if found[2]:
                self._show(found[1], found[2])
        elif not NO_EVENT.fullmatch(line):
            raise FeltError(f"The line '{line[:100]}' is not understood.")

    def _begin_street(self, name: str, cards: str) -> None:
        self._in_summary = name == "SUMMARY"
        if name in BOARDS:
            self._board = tuple(_cards(cards.replace("[", " ").replace("]", " ")))
            if len(self._board) != BOARDS[name]:
                raise FeltError(f"The board of the {name.lower()} has {len(self._board)} cards.")

    def _sum_up(self, line: str) -> None:
        if found := TOTAL.fullmatch(line):
            self._fees = sum((_amount(fee) for fee in FEE.findall(found[2])), Decimal())
        elif (found := SUMMED_UP.fullmatch(line)) and int(found[1]) in self._stacks:
            self._show(self._stacks[int(found[1])][0], found[2])
        elif not NO_EVENT.fullmatch(line):
            raise FeltError(f"The line '{line[:100]}' is not understood.")

    def _post(self, name: str, what: str, amount: Decimal) -> None:
        big_blind, is_second = self._big_blind, any(self._live.values())
        if what == "the ante":
            self._dead[name] += amount
        elif what == "small & big blinds":
            self._live[name] += min(amount, big_blind)
            self._dead[name] += max(amount - big_blind, Decimal())
        elif what == "small blind" and is_second:  # of a player that missed it
            self._dead[name] += amount
        else:
            self._live[name] += amount
        if what == "straddle" or (what == "big blind" and not self._last_blind):
            self._last_blind = name

    def _act(self, found: re.Match[str], line: str) -> None:
        name, verb, first, second, shown = found.groups()
        amount = {"bets": first, "raises": second}.get(verb)
        if (amount is None) != (verb not in ("bets", "raises")):
            raise FeltError(f"The line '{line[:100]}' is not understood.")
        self._acts.append(
            (name, VERBS[verb] if amount is None else f"{VERBS[verb]} {_text(_amount(amount))}")
        )
        if shown:
            self._show(name, shown)

    def _show(self, name: str, text: str) -> None:
        cards = tuple(_cards(text))
        if len(cards) > 2:
            raise FeltError(f"{name} has {len(cards)} cards.")
        known = self._hole.get(name, ())
        if len(known) == 2 and not set(cards) <= set(known):
            raise FeltError(f"{name} shows other cards than it was dealt.")
        self._hole[name] = max(known, cards, key=len)

    @property
    def _big_blind(self) -> Decimal:
        """In limit games the header gives the bets; the big blind is the small bet."""
        return self._sizes[0] if self._limit else self._sizes[1]

    def record(self) -> HandRecord:
        """The record, after a check by the rules."""
        if self._fees is None:
            raise FeltError("The hand has no summary: its text ends too early.")
        took_part = {*self._live, *self._dead, *(name for name, _ in self._acts)}
        seats = sorted(self._stacks, key=lambda seat: (seat <= self._button, seat))
        order = [self._stacks[seat] for seat in seats if self._stacks[seat][0] in took_part]
        names = tuple(name for name, _ in order)
        if len(names) < 2 or set(names) != took_part or self._last_blind not in names:
            raise FeltError("The players that act are not those in the seats, or nobody posts a big blind.")
        game = self._game(names, [stack for _, stack in order])
        dealt = [card for name in names for card in (*self._hole.get(name, ()), HIDDEN, HIDDEN)[:2]]
        record = HandRecord(
            game=game.name,
            number=self._number,
            names=names,
            dealt=(*dealt, *self._board),
            actions=tuple(word for _, word in self._acts),
            won=(0.0,) * len(names),
        )
        self._check_movers(record)
        return as_limit_game(replace(record, won=self._winnings(game, record)))

    def _game(self, names: tuple[str, ...], stacks: list[Decimal]) -> CashHoldem:
        dead = [self._dead[name] for name in names]
        first = (names.index(self._last_blind) + 1) % len(names)
        game = CashHoldem(
            stacks="/".join(map(_text, stacks)),
            posts="/".join(_text(self._live[name]) for name in names),
            blind=float(self._big_blind),
            dead="/".join(map(_text, dead)) if any(dead) else "",
            bets="/".join(map(_text, self._sizes)) if self._limit else "",
        )
        return game if game.first_to_act == first else replace(game, first=first)

    def _check_movers(self, record: HandRecord) -> None:
        movers = [step.mover for step in replay(record).steps if step.mover >= 0]
        for place, (mover, (name, word)) in enumerate(zip(movers, self._acts, strict=True), 1):
            if record.names[mover] != name:
                turn = record.names[mover]
                raise FeltError(f"Action {place}, '{word}' by {name}, is out of turn: it is {turn}'s.")

    def _winnings(self, game: CashHoldem, record: HandRecord) -> tuple[float, ...]:
        """The winnings by the rules that agree with what was collected, up to the rake and odd cents."""
        assert self._fees is not None
        state = replay(record).state
        paid = [Decimal(chips) / 100 for chips in game.total_paid(state)]
        net = [self._net[name] - chips for name, chips in zip(record.names, paid, strict=True)]
        slack = CENT * len(net)
        best: tuple[Decimal, tuple[float, ...]] | None = None
        for won in possible_winnings(record):
            taken = [Decimal(repr(chips)) - own for chips, own in zip(won, net, strict=True)]
            off = abs(sum(taken, Decimal()) - self._fees)
            if off <= slack and min(taken) >= -slack and max(taken) <= self._fees + slack:
                distance = sum((abs(each) for each in taken), Decimal())
                best = min(best, (distance, won)) if best else (distance, won)
        if best is None:
            collected = ", ".join(f"{name} {self._net[name]}" for name in record.names if self._net[name])
            raise FeltError(
                f"What the players collect ({collected or 'nothing'}) does not follow from the hand."
            )
        return best[1]


def as_limit_game(record: HandRecord) -> HandRecord:
    """The hand as one of `holdem` if these rules explain it: limit, two or three players, nobody all in.

    Stacks are then left out, and a chip is half a big blind.
    """
    if is_holdem_name(record.game):
        return record
    game = cash_game(record)
    unit = Decimal(str(game.blind)) / BIG_BLIND
    if game.players not in BLINDS or game != limit_game(game.stacks, unit):
        return record
    state = replay(record).state
    if not all(game.left(state, seat) for seat in range(game.players)):
        return record
    words = tuple(word.partition(" ")[0] for word in record.actions)
    won = tuple(chips / float(unit) for chips in record.won)
    found = replace(record, game=Holdem(game.players).name, actions=words, won=won)
    return found if check_record(found) is None else record


def limit_game(stacks: str, unit: Decimal) -> CashHoldem:
    """The cash game with the blinds and bets of `holdem`, where a chip is worth `unit`."""
    posts = "/".join(_text(unit * chips) for chips in BLINDS[stacks.count("/") + 1])
    bets = f"{_text(unit * BET[0])}/{_text(unit * BET[RIVER])}"
    return CashHoldem(stacks, posts, float(unit * BIG_BLIND), bets=bets)


def cash_game(record: HandRecord) -> CashHoldem:
    """The game of a hand of `cash_holdem`."""
    game = load_recorded_game(record.game)
    if not isinstance(game, CashHoldem):
        raise FeltError(f"{record.game} is not hold'em.")
    return game


def _amount(text: str) -> Decimal:
    number = Decimal(text.replace(",", ""))
    if number >= 10**12:
        raise FeltError(f"The amount {text[:40]} is too large.")
    return number


def _text(amount: Decimal) -> str:
    return amount_text(int(amount * 100))


def _cards(text: str) -> list[str]:
    cards = text.split()
    for card in cards:
        if card not in CARD_NUMBERS:
            raise FeltError(f"'{card[:20]}' is not a card.")
    return cards
