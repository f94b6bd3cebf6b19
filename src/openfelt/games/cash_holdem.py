"""Texas hold'em in a cash game: limit or no-limit, two to ten players, with stacks, blinds and all-ins.

These are the rules of hands that were played elsewhere, so that their histories can be checked and replayed.
Each hand has a game of its own, with its stacks and what was posted. Nothing is trained on it.

Seats are in the order in which cards are dealt, the dealer last; heads-up, seat 0 is the big blind. Amounts
are in the currency of the hand, with at most two decimals; states hold whole numbers of hundredths.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

from openfelt.cards.deck import BOARD_CARDS, CARDS, RIVER, card_text, parse_cards
from openfelt.cards.evaluator import hand_value
from openfelt.core.errors import GameError
from openfelt.games.game import CHANCE, TERMINAL, Game, Unit, require
from openfelt.games.holdem import CARD_NUMBERS

MOST_PLAYERS = 10
AMOUNT = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,2})?")
RAISE = re.compile(rf"(bet|raise) ({AMOUNT.pattern})")  # to so much on this street


class CashBetting(NamedTuple):
    """The public betting state; amounts in hundredths, by seat."""

    street: int  # one above the river after the last betting round
    before: tuple[int, ...]  # paid on earlier streets
    paid: tuple[int, ...]  # paid on this street
    folded: tuple[bool, ...]
    to_act: tuple[bool, ...]  # whether a seat must still act if it can
    level: int  # to call on this street
    step: int  # by which a bet or raise must at least increase it
    turn: int


class CashState(NamedTuple):
    cards: tuple[int, ...]  # seat 0's two, seat 1's two, ..., then the board, as far as dealt
    betting: CashBetting


@dataclass(frozen=True)
class CashHoldem(Game):
    """A hand of limit or no-limit Texas hold'em in a cash game, with its stacks and blinds.

    `stacks`, `posts` (blinds and straddles, which count as bets) and `dead` (antes and dead blinds, which do
    not) are amounts by seat, as in '200/187.5/40'; `blind` is the big blind; `bets`, as in '2/4', makes it a
    limit game; `first` acts first, by default the seat after the big blind. Two rules are not enforced, since
    sites differ: the number of raises, and that a player may not raise after an incomplete raise.
    """

    key: ClassVar[str] = "cash_holdem"
    is_poker: ClassVar[bool] = True
    is_enumerable: ClassVar[bool] = False
    stacks: str
    posts: str
    blind: float
    dead: str = ""
    bets: str = ""
    first: int = -1

    def __post_init__(self) -> None:
        require(2 <= self.players <= MOST_PLAYERS, self.key, "players", "2 to 10", self.players)
        require(-1 <= self.first < self.players, self.key, "first", "a seat", self.first)
        live, dead = _amounts(self.posts), _amounts(self.dead) if self.dead else self._nothing
        rooms = zip(self._stacks, live, dead, strict=False)
        fits = len(live) == len(dead) == self.players and all(one + two <= all_ for all_, one, two in rooms)
        require(fits, self.key, "posts and dead", "at most the stack of each seat", f"{live} and {dead}")
        require(0 < _cents(self.blind) < 10**14, self.key, "blind", "an amount", self.blind)
        if self.blind == int(self.blind):
            object.__setattr__(self, "blind", int(self.blind))  # as names of games are read
        sizes = _amounts(self.bets) if self.bets else (1, 1)
        require(len(sizes) == 2 and min(sizes) > 0, self.key, "bets", "two amounts", self.bets)

    @cached_property
    def _stacks(self) -> tuple[int, ...]:
        return _amounts(self.stacks)

    @property
    def _nothing(self) -> tuple[int, ...]:
        return (0,) * self.players

    @cached_property
    def _dead(self) -> tuple[int, ...]:
        return _amounts(self.dead) if self.dead else self._nothing

    @cached_property
    def limit(self) -> tuple[int, ...]:
        """Size of the bets by street in hundredths; empty if there is no limit."""
        if not self.bets:
            return ()
        small, big = _amounts(self.bets)
        return small, small, big, big

    @property
    def players(self) -> int:
        """Number of players."""
        return len(self._stacks)

    @property
    def first_to_act(self) -> int:
        """The seat that acts first before the flop."""
        return self.first if self.first >= 0 else (1 if self.players == 2 else 2 % self.players)

    @property
    def winnings_unit(self) -> Unit:
        return Unit("mbb/h", 1000 / self.blind, digits=1)

    def start(self) -> CashState:
        blind, posts = _cents(self.blind), _amounts(self.posts)
        betting = CashBetting(
            street=0,
            before=self._nothing,
            paid=posts,
            folded=(False,) * self.players,
            to_act=(True,) * self.players,
            level=max(blind, *posts),
            step=self.limit[0] if self.limit else max(blind, *posts),
            turn=self.first_to_act,
        )
        return CashState((), self._next(betting, self.first_to_act))

    def turn(self, state: CashState) -> int:
        betting, dealt = state.betting, len(state.cards)
        if dealt < 2 * self.players:
            return CHANCE
        if betting.folded.count(False) == 1:
            return TERMINAL
        if dealt < 2 * self.players + BOARD_CARDS[min(betting.street, RIVER)]:
            return CHANCE
        return TERMINAL if betting.street > RIVER else betting.turn

    def actions(self, state: CashState) -> Sequence[str]:
        """The cards; or, of the legal actions, those that make sense, with the smallest and largest raise."""
        if self.turn(state) == CHANCE:
            return [card_text(card) for card in range(CARDS) if card not in state.cards]
        betting = state.betting
        facing = betting.paid[betting.turn] < betting.level
        words = ["fold", "call"] if facing else ["check"]
        most = self._room(betting, betting.turn)
        rooms = [self._room(betting, seat) for seat in self.inside(state) if seat != betting.turn]
        if most > betting.level and max(rooms) > betting.level:
            least = min(most, betting.level + betting.step)
            sizes = (least,) if self.limit else (least, most)
            words += dict.fromkeys(f"{_verb(betting)} {amount_text(to)}" for to in sizes)
        return words

    def is_legal(self, state: CashState, action: str) -> bool:
        if self.turn(state) == CHANCE:
            number = CARD_NUMBERS.get(action)
            return number is not None and number not in state.cards
        betting = state.betting
        found = RAISE.fullmatch(action)
        if found is None:
            return action in ("fold", "call" if betting.paid[betting.turn] < betting.level else "check")
        to, most = _cents(found[2]), self._room(betting, betting.turn)
        if found[1] != _verb(betting) or not betting.level < to <= most:
            return False
        if self._can_act(betting).count(True) == 1:  # all others have folded or are all in
            return False
        if self.limit:  # a raise after an incomplete one completes it, or adds a whole bet
            size = self.limit[betting.street]
            return to == betting.level + size or (
                to < betting.level + size and (to % size == 0 or to == most)
            )
        return to >= betting.level + betting.step or to == most

    def play(self, state: CashState, action: str) -> CashState:
        if self.turn(state) == CHANCE:
            return state._replace(cards=state.cards + parse_cards(action))
        betting, me = state.betting, state.betting.turn
        paid, folded, to_act = list(betting.paid), list(betting.folded), list(betting.to_act)
        level, step = betting.level, betting.step
        to_act[me] = False
        if action == "fold":
            folded[me] = True
        elif found := RAISE.fullmatch(action):
            paid[me] = _cents(found[2])
            step = step if self.limit else max(step, paid[me] - level)
            level, to_act = paid[me], [seat != me for seat in range(self.players)]
        elif action == "call":
            paid[me] = min(level, self._room(betting, me))
        betting = betting._replace(
            paid=tuple(paid), folded=tuple(folded), to_act=tuple(to_act), level=level, step=step
        )
        return state._replace(betting=self._next(betting, me + 1))

    def _room(self, betting: CashBetting, seat: int) -> int:
        """The most that a seat can have paid on this street."""
        return self._stacks[seat] - self._dead[seat] - betting.before[seat]

    def _can_act(self, betting: CashBetting) -> list[bool]:
        """By seat: whether it has not folded and is not all in."""
        return [
            not folded and paid < self._room(betting, seat)
            for seat, (folded, paid) in enumerate(zip(betting.folded, betting.paid, strict=True))
        ]

    def _next(self, betting: CashBetting, begin: int) -> CashBetting:
        """The betting state with the next seat to act from `begin` on, if need be on a later street."""
        while betting.street <= RIVER and betting.folded.count(False) > 1:
            can = self._can_act(betting)
            for place in range(begin, begin + self.players):
                seat = place % self.players
                if can[seat] and betting.to_act[seat]:
                    others = [
                        betting.paid[other]
                        for other in range(self.players)
                        if other != seat and not betting.folded[other]
                    ]
                    if can.count(True) > 1 or betting.paid[seat] < max(others):
                        return betting._replace(turn=seat)
            total = map(sum, zip(betting.before, betting.paid, strict=True))
            street = betting.street + 1
            size = self.limit[min(street, RIVER)] if self.limit else _cents(self.blind)
            betting = CashBetting(
                street, tuple(total), self._nothing, betting.folded, (True,) * self.players, 0, size, 0
            )
            begin = 0
        return betting

    def sees(self, state: CashState, action: str, player: int) -> str:
        is_hole = len(state.cards) < 2 * self.players
        return action if not is_hole or len(state.cards) // 2 == player else ""

    def stakes(self, state: CashState) -> tuple[float, float]:
        betting = state.betting
        paid = betting.before if betting.street else betting.paid
        pot = sum(paid) + sum(self._dead)
        return pot / 100, (sum(self._stacks) - pot) / 100

    def passive(self, state: CashState) -> str:
        return "call" if "call" in self.actions(state) else "check"

    def shown(self, state: CashState) -> Sequence[int]:
        inside = self.inside(state)
        return inside if len(inside) > 1 else ()

    def inside(self, state: CashState) -> list[int]:
        """The seats that have not folded."""
        return [seat for seat, folded in enumerate(state.betting.folded) if not folded]

    def paid(self, state: CashState) -> list[int]:
        """What each seat has put in, in hundredths, with an uncalled bet and without what is dead."""
        return [sum(each) for each in zip(state.betting.before, state.betting.paid, strict=True)]

    def uncalled(self, state: CashState) -> list[int]:
        """What each seat gets back since nobody called it, in hundredths."""
        paid = self.paid(state)
        second = sorted(paid)[-2]
        return [max(0, chips - second) for chips in paid]

    def total_paid(self, state: CashState) -> list[int]:
        """As `paid`, with what is dead."""
        return [own + dead for own, dead in zip(self.paid(state), self._dead, strict=True)]

    def left(self, state: CashState, seat: int) -> int:
        """What a seat still has, in hundredths."""
        return self._stacks[seat] - self.total_paid(state)[seat]

    def payoffs(self, state: CashState) -> Sequence[float]:
        inside, board = self.inside(state), self.board(state)
        value = dict.fromkeys(inside, 0)
        if len(inside) > 1:
            value = {seat: hand_value((*self.hole(state, seat), *board)) for seat in inside}
        return self.share_pots(state, value)

    def share_pots(self, state: CashState, value: Mapping[int, int]) -> list[float]:
        """What each seat wins if the hands of the seats inside have these values; the higher wins."""
        paid = self.paid(state)
        won = [-float(chips) for chips in self.total_paid(state)]
        rest, below = float(sum(self._dead)), 0
        for level in sorted({paid[seat] for seat in value}):
            rest += sum(min(chips, level) - min(chips, below) for chips in paid)
            best = max(value[seat] for seat in value if paid[seat] >= level)
            winners = [seat for seat in value if paid[seat] >= level and value[seat] == best]
            for seat in winners:
                won[seat] += rest / len(winners)
            rest, below = 0.0, level
        return [chips / 100 for chips in won]

    def hole(self, state: CashState, seat: int) -> tuple[int, ...]:
        """The hole cards of a seat."""
        return state.cards[2 * seat : 2 * seat + 2]

    def board(self, state: CashState) -> tuple[int, ...]:
        """The cards on the table."""
        return state.cards[2 * self.players :]


def amount_text(hundredths: int) -> str:
    """An amount as it is written: 250 is '2.5'."""
    whole, part = divmod(hundredths, 100)
    return f"{whole}.{part:02d}".rstrip("0") if part else str(whole)


def _verb(betting: CashBetting) -> str:
    return "raise" if betting.level else "bet"


def _cents(amount: float | str) -> int:
    return round(float(amount) * 100)


def _amounts(text: str) -> tuple[int, ...]:
    """Amounts by seat, in hundredths."""
    words = text.split("/")
    if not all(map(AMOUNT.fullmatch, words)):
        raise GameError(
            f"{CashHoldem.key}: '{text[:60]}' are not amounts with at most two decimals, as in '200/187.5'."
        )
    return tuple(map(_cents, words))
