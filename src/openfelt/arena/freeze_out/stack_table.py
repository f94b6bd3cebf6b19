"""Two-player hold'em with stacks that can run out, on top of the rules of stacks that cannot.

The betting goes by `games/holdem.py`, as if chips had no end. What a player has really paid is what he paid
by those rules, as far as his stack goes; what the other has paid beyond that is given back. Between two
players that is all there is to being all in: who cannot cover a blind, a call or a raise pays what he has,
and once one of them has nothing left and the other has matched it, the board is dealt to its end. Every line
of actions is one of the rules without stacks, so a policy finds its place in the tree.

A raise is a call where the stacks leave no room for one: where it takes all that a player has to call, or
where the other has nothing left to answer with. That holds for every bot, and is no fault. (A policy gives a
probability to each action of the rules. To leave out the raise and share its probability among the others
would turn a hand that raises or folds into one that only folds.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from openfelt.arena.table import HoldemTable, Hole
from openfelt.bots.view import HoldemView, View
from openfelt.cards.deck import BOARD_CARDS
from openfelt.core.random import Dice
from openfelt.games.holdem import (
    BET,
    MOST_BETS,
    Betting,
    Holdem,
    bet,
    betting_actions,
    is_over,
    passive,
    players_in,
)

RAISES = ("bet", "raise")


class StackView(HoldemView):
    """What a seat sees where chips can run out: the stacks too."""

    __slots__ = ("stacks",)

    def __init__(
        self,
        game: Holdem,
        seat: int,
        actions: Sequence[str],
        hole: Sequence[int],
        board: Sequence[int],
        line: Sequence[str],
        stacks: Sequence[int],
        shown: Mapping[int, Sequence[int]] | None = None,
    ) -> None:
        super().__init__(game, seat, actions, hole, board, line, shown)
        self.stacks = stacks  # chips that each seat had when the hand began

    @property
    def left(self) -> tuple[int, ...]:
        """Chips that each seat has not paid yet."""
        return chips_left(self.betting, self.stacks)

    @property
    def pot(self) -> int:
        return sum(chips_paid(self.betting, self.stacks))

    @property
    def to_call(self) -> int:
        paid, left = chips_paid(self.betting, self.stacks), self.left
        return min(max(paid) - paid[self.seat], left[self.seat])


def chips_paid(betting: Betting, stacks: Sequence[int]) -> tuple[int, ...]:
    """What each seat has put in, as far as its stack goes."""
    return tuple(min(paid, stack) for paid, stack in zip(betting.paid, stacks, strict=True))


def chips_left(betting: Betting, stacks: Sequence[int]) -> tuple[int, ...]:
    """What each seat has left."""
    return tuple(max(0, stack - paid) for paid, stack in zip(betting.paid, stacks, strict=True))


def is_open(betting: Betting, stacks: Sequence[int]) -> bool:
    """Whether the seat to act has chips, and a bet to answer or someone to bet against."""
    if is_over(betting):
        return False
    me, other = betting.turn, 1 - betting.turn
    paid, left = chips_paid(betting, stacks), chips_left(betting, stacks)
    return left[me] > 0 and (paid[other] > paid[me] or left[other] > 0)


def can_raise(betting: Betting, stacks: Sequence[int]) -> bool:
    """Whether a raise, if the rules allow one, would be more than a call."""
    me, other = betting.turn, 1 - betting.turn
    paid, left = chips_paid(betting, stacks), chips_left(betting, stacks)
    return left[other] > 0 and left[me] > paid[other] - paid[me]


def chips_won(betting: Betting, stacks: Sequence[int], values: Sequence[int]) -> tuple[int, int]:
    """What each seat has won once nothing is to be decided; `values` are those of the hands at a showdown."""
    at_stake, inside = min(chips_paid(betting, stacks)), players_in(betting)
    if len(inside) == 2 and values[0] == values[1]:
        return 0, 0
    winner = inside[0] if len(inside) == 1 else int(values[1] > values[0])
    return (at_stake, -at_stake) if winner == 0 else (-at_stake, at_stake)


class Cards(NamedTuple):
    """Of one hand, to its end."""

    holes: tuple[tuple[int, ...], ...]  # by seat
    board: tuple[int, ...]
    values: tuple[int, ...]  # of the hands at a showdown, by seat

    @staticmethod
    def of(cards: Sequence[int], values: Sequence[int]) -> Cards:
        """From a row of `hands.Deals`."""
        return Cards((tuple(cards[:2]), tuple(cards[2:4])), tuple(cards[4:]), tuple(values))


class StackHand(NamedTuple):
    """How a hand went."""

    line: tuple[str, ...]  # what was done; a raise that was only a call is a call here
    won: tuple[int, int]  # chips, by seat


class StackTable(HoldemTable):
    """Of two bots with stacks."""

    def _view(self, seat: int, words: Sequence[str], hole: Hole, board: Hole, line: tuple[str, ...]) -> View:
        return StackView(self._holdem, seat, words, hole, board, line, [MOST_BETS * sum(BET)] * 2)

    def play_hand(
        self, cards: Cards, seating: Sequence[int], stacks: Sequence[int], draws: tuple[int, int]
    ) -> StackHand:
        """Play one hand; `seating` and `stacks` (in chips) are by seat, `draws` is the place of the dice."""
        game, (start, decision) = self._holdem, draws
        betting, board = game.start().betting, cards.board[:0]
        line: tuple[str, ...] = ()
        while is_open(betting, stacks):
            seat, words = betting.turn, betting_actions(betting)
            board = cards.board[: BOARD_CARDS[betting.street]]
            view = StackView(game, seat, words, cards.holes[seat], board, line, stacks)
            word = words[self.ask(seating[seat], view, Dice(start, decision))]
            if word in RAISES and not can_raise(betting, stacks):
                word = passive(betting)
            betting, line, decision = bet(betting, word), (*line, word), decision + 1
        hand = StackHand(line, chips_won(betting, stacks, cards.values))
        if any(self._watchers):
            showdown = len(players_in(betting)) > 1
            seen = cards if showdown else cards._replace(board=board)
            self._show(seen, showdown, seating, stacks, hand)
        return hand

    def _show(
        self,
        cards: Cards,
        showdown: bool,
        seating: Sequence[int],
        stacks: Sequence[int],
        hand: StackHand,
    ) -> None:
        """Tell those who watch how it ended. Where somebody was all in the line stops short of the river."""
        shown = dict(enumerate(cards.holes)) if showdown else {}
        for seat, participant in enumerate(seating):
            if self._watchers[participant]:
                hole = cards.holes[seat]
                view = StackView(self._holdem, seat, (), hole, cards.board, hand.line, stacks, shown)
                self.tell(participant, view, float(hand.won[seat]))
