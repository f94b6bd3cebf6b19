"""Two-player hold'em with finite stacks, on top of the rules of `games/holdem.py`, where stacks are infinite.

The betting follows those rules. A player has paid what it paid by the rules, up to its stack; chips of the
opponent beyond that are returned. With two players nothing else is needed for being all in: a player that
cannot cover a blind, a call or a raise pays what it has, and once one player has no chips left and the
opponent has matched it, the rest of the board is dealt. Every betting line is one of the rules without
stacks, so a policy finds it in its tree.

A raise becomes a call if the stacks do not allow it: if the call takes all of the player's chips, or if the
opponent has none left. That applies to every bot and is not a fault. (A policy has a probability for each
action of the rules. Distributing that of the raise among the other actions would turn a hand that raises or
folds into one that only folds.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from openfelt.arena.holdem_table import HoldemTable, Hole
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
    """The view of a seat with finite stacks."""

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
        self.stacks = stacks  # chips of each seat at the start of the hand

    @property
    def left(self) -> tuple[int, ...]:
        """Chips that each seat has left."""
        return chips_left(self.betting, self.stacks)

    @property
    def pot(self) -> int:
        return sum(chips_paid(self.betting, self.stacks))

    @property
    def to_call(self) -> int:
        paid, left = chips_paid(self.betting, self.stacks), self.left
        return min(max(paid) - paid[self.seat], left[self.seat])


def chips_paid(betting: Betting, stacks: Sequence[int]) -> tuple[int, ...]:
    """Chips that each seat has put in, up to its stack."""
    return tuple(min(paid, stack) for paid, stack in zip(betting.paid, stacks, strict=True))


def chips_left(betting: Betting, stacks: Sequence[int]) -> tuple[int, ...]:
    """Chips that each seat has left."""
    return tuple(max(0, stack - paid) for paid, stack in zip(betting.paid, stacks, strict=True))


def is_open(betting: Betting, stacks: Sequence[int]) -> bool:
    """Whether the seat to act has chips, and either faces a bet or has an opponent with chips."""
    if is_over(betting):
        return False
    me, other = betting.turn, 1 - betting.turn
    paid, left = chips_paid(betting, stacks), chips_left(betting, stacks)
    return left[me] > 0 and (paid[other] > paid[me] or left[other] > 0)


def can_raise(betting: Betting, stacks: Sequence[int]) -> bool:
    """Whether the stacks allow a raise, if the rules do."""
    me, other = betting.turn, 1 - betting.turn
    paid, left = chips_paid(betting, stacks), chips_left(betting, stacks)
    return left[other] > 0 and left[me] > paid[other] - paid[me]


def chips_won(betting: Betting, stacks: Sequence[int], values: Sequence[int]) -> tuple[int, int]:
    """Chips that each seat has won when the betting is over; `values` are the hands' showdown values."""
    at_stake, inside = min(chips_paid(betting, stacks)), players_in(betting)
    if len(inside) == 2 and values[0] == values[1]:
        return 0, 0
    winner = inside[0] if len(inside) == 1 else int(values[1] > values[0])
    return (at_stake, -at_stake) if winner == 0 else (-at_stake, at_stake)


class StackDeal(NamedTuple):
    """The cards of one hand, all the way to the river."""

    holes: tuple[tuple[int, ...], ...]  # by seat
    board: tuple[int, ...]
    values: tuple[int, ...]  # of the hands at showdown, by seat

    @staticmethod
    def of(cards: Sequence[int], values: Sequence[int]) -> StackDeal:
        """From a row of `hand_kernels.Deals`."""
        return StackDeal((tuple(cards[:2]), tuple(cards[2:4])), tuple(cards[4:]), tuple(values))


class StackHand(NamedTuple):
    """The outcome of one hand."""

    line: tuple[str, ...]  # all actions; a raise that became a call is a call here
    won: tuple[int, int]  # chips, by seat


class StackTable(HoldemTable):
    """A table of two bots with stacks."""

    def _view(
        self, seat: int, actions: Sequence[str], hole: Hole, board: Hole, line: tuple[str, ...]
    ) -> View:
        return StackView(self._holdem, seat, actions, hole, board, line, [MOST_BETS * sum(BET)] * 2)

    def play_hand(
        self, deal: StackDeal, seating: Sequence[int], stacks: Sequence[int], draws: tuple[int, int]
    ) -> StackHand:
        """Play one hand.

        `seating` and `stacks` (in chips) are by seat, `draws` is the place of its random numbers.
        """
        game, (start, decision) = self._holdem, draws
        betting, board = game.start().betting, deal.board[:0]
        line: tuple[str, ...] = ()
        while is_open(betting, stacks):
            seat, actions = betting.turn, betting_actions(betting)
            board = deal.board[: BOARD_CARDS[betting.street]]
            view = StackView(game, seat, actions, deal.holes[seat], board, line, stacks)
            action = actions[self.decide(seating[seat], view, Dice(start, decision))]
            if action in RAISES and not can_raise(betting, stacks):
                action = passive(betting)
            betting, line, decision = bet(betting, action), (*line, action), decision + 1
        hand = StackHand(line, chips_won(betting, stacks, deal.values))
        if any(self._observes_end):
            showdown = len(players_in(betting)) > 1
            public = deal if showdown else deal._replace(board=board)
            self._show(public, showdown, seating, stacks, hand)
        return hand

    def _show(
        self,
        deal: StackDeal,
        showdown: bool,
        seating: Sequence[int],
        stacks: Sequence[int],
        hand: StackHand,
    ) -> None:
        """Show the end to the bots that observe it. After an all-in the line ends before the river."""
        shown = dict(enumerate(deal.holes)) if showdown else {}
        for seat, place in enumerate(seating):
            if self._observes_end[place]:
                view = StackView(
                    self._holdem, seat, (), deal.holes[seat], deal.board, hand.line, stacks, shown
                )
                self.end_hand(place, view, float(hand.won[seat]))
