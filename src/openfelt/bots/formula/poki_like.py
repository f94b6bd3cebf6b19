"""`poki-like`: a stand-in for Poki, the formula-based player of the University of Alberta. It is not Poki.

Poki is closed. Its predecessors and ideas are published: Billings, Papp, Schaeffer & Szafron 1998 ("Opponent
modeling in poker"), the theses of Papp 1998 (Loki), Pena 1999 (Loki-2), Davidson 2002 and Billings 2006, and
Billings, Davidson, Schaeffer & Szafron 2002 ("The challenge of poker"). Taken from there:

- a weight for each of the 1,326 hole pairs of each opponent, updated after each of its actions by the
  distance of the pair's value from the threshold mu of that action; mu follows from how often a generic
  player takes the action, with a spread sigma (Papp 7.2); values are income rates before the flop,
  HS + (1 - HS) PPot after it;
- hand strength HS against these weights, multiplied over opponents; potentials PPot and NPot with one card to
  come, against the mean of the tables (Papp 5.2, 5.3); EHS = HS + (1 - HS) PPot (Papp 6.3);
- before the flop, income rates against thresholds for the strategies Call1, Call2, Make2, Make4 (Papp 6.1);
- after it, bets with an EHS of 0.5 and raises of a bet with 0.85, no call of two bets at once for less (6.3);
  semi-bluffs if PPot justifies a bet and a raise, and further bets after them (6.4); calls if PPot, on the
  river HS, exceeds the pot odds (6.5), or the probability of winning exceeds the showdown odds (6.6);
- probability triples instead of single actions, by interpolation around thresholds; checks and calls take
  weight from hands that would have raised (Pena, chapter 4).

All other numbers are ours, and these choices:

- the frequencies of the generic opponent are modelled on `default` against itself, with fewer raises before
  the flop: a reasonable heads-up player that bets more after it raised last, not the internet players of
  1998;
- no weight falls below a tenth (Papp: a hundredth); with a hundredth it trusts bets too much, and wins little
  from always-raise;
- income rates are exact: 2 P(win) - 1 against one random hand, also with three players;
- opponents' hands are valued by their promise, and ranked (`weighted_hands.py`), not by an estimate of PPot;
- showdown odds count half of the bets that may follow;
- further bets follow any bet or raise that was called, not only semi-bluffs.

Unlike Poki, it does not learn from hand to hand (Poki used statistics and neural networks), and does not
simulate. So its probabilities depend on the current hand only, and hands may be dealt in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from openfelt.bots.formula.weighted_hands import (
    HandPotential,
    board_hands,
    hand_potential,
    hole_ranks,
    reweight,
)
from openfelt.bots.policy_bot import PolicyBot
from openfelt.bots.view import HoldemView, Move
from openfelt.cards.deck import BOARD_CARDS, PAIRS, PREFLOP, RIVER, Cards, pair_class
from openfelt.cards.strength import RIVER_SCALE, RUNOUTS, preflop_sums
from openfelt.core.jit import Floats
from openfelt.games.game import Game
from openfelt.games.holdem import BET, BIG_BLIND, players_in, require_holdem

RAISES = ("bet", "raise")
TABLES_KEPT = 64  # weight tables in a bot's cache, enough for a few hands
NEVER, ALWAYS = 2.0, -1.0  # thresholds that no rank exceeds, and that every rank exceeds


@dataclass(frozen=True)
class GenericOpponent:
    """The generic opponent: frequencies of actions, by street and earlier raises (0, 1, 2 or more)."""

    folds: tuple[tuple[float, ...], ...] = (
        *((0.15, 0.15, 0.05), (0.0, 0.25, 0.15)),  # before the flop, on the flop
        *((0.0, 0.25, 0.15), (0.0, 0.25, 0.20)),  # on turn and river
    )
    raises: tuple[tuple[float, ...], ...] = (
        *((0.60, 0.25, 0.10), (0.0, 0.25, 0.15)),
        *((0.0, 0.15, 0.15), (0.0, 0.15, 0.15)),
    )
    # After the flop, before any bet: if it, no player or another raised last on the street before.
    bets: tuple[float, ...] = (0.75, 0.5, 0.15)
    spread: tuple[float, ...] = (0.3, 0.2, 0.2, 0.2)  # of thresholds, by street
    least: float = 0.1  # lowest weight of a hand
    credit: float = 0.6  # share of weight that a check or call takes from hands worth a raise


@dataclass(frozen=True)
class BettingStrategy:
    """Thresholds of the betting; an action is certain from `smooth` above its threshold."""

    make1: float = 0.5  # EHS to bet, or to call
    make2: float = 0.85  # EHS to raise a bet
    make4: float = 0.95  # EHS to re-raise
    smooth: float = 0.08
    check_raise: float = 0.2  # probability of checking a hand worth a raise, or a semi-bluff
    follow_up: float = 0.3  # probability of betting any hand after raising last on the street before
    bets_to_come: float = 0.5  # share of later bets in showdown odds
    # By number of opponents: income rates to call one bet, to call more, to raise first, to re-raise.
    income: tuple[tuple[float, ...], ...] = ((-220, -100, -50, 200), (-120, 20, 60, 260))
    income_smooth: float = 40
    habits: GenericOpponent = field(default_factory=GenericOpponent)


class PokiLike(PolicyBot[HoldemView]):
    """Plays hold'em by formulas of hand strength, potential and pot odds."""

    def __init__(self, game: Game, strategy: BettingStrategy | None = None) -> None:
        super().__init__(game)
        require_holdem(game, "poki-like")
        self.strategy = strategy or BettingStrategy()
        self._tables: dict[tuple[tuple[int, ...], tuple[str, ...]], Floats] = {}

    def weights(self, view: HoldemView) -> Sequence[float]:
        if view.street == PREFLOP:
            stay, push = self._before_flop(view)
        else:
            stay, push = self._after_flop(view, self.potential(view))
        push = push if view.actions[-1] in RAISES else 0.0
        stay = max(stay, push) if "fold" in view.actions else 1.0
        shares = {"fold": 1 - stay, view.passive: stay - push}
        return [shares.get(word, push) for word in view.actions]

    def infoset(self, view: HoldemView) -> str:
        if view.street == PREFLOP:
            return f"{view.infoset} (income rate {income_rate(view.hole):+.0f})"
        found = self.potential(view)
        return f"{view.infoset} (HS {found.hs:.2f}, PPot {found.ppot:.2f}, EHS {found.optimistic:.2f})"

    def potential(self, view: HoldemView) -> HandPotential:
        """The strength and potential of its hand against the weighted hands of the opponents still in."""
        others = [seat for seat in players_in(view.betting) if seat != view.seat]
        hands = board_hands(tuple(sorted(view.board)))
        return hand_potential(tuple(view.hole), hands, self.weight_tables(view)[others])

    def weight_tables(self, view: HoldemView) -> Floats:
        """[players, 1326] likelihood of each seat's actions with each pair.

        It follows from the board and the betting line; tables of earlier decisions are cached.
        """
        board, line, moves = tuple(view.board), tuple(view.line), view.moves
        keys = [(board[: BOARD_CARDS[move.street]], line[: place + 1]) for place, move in enumerate(moves)]
        cached = len(keys)
        while cached and keys[cached - 1] not in self._tables:
            cached -= 1
        tables = self._tables[keys[cached - 1]] if cached else np.ones((view.game.players, PAIRS))
        for place in range(cached, len(keys)):
            tables = tables.copy()
            self._learn(tables[moves[place].seat], moves[: place + 1], keys[place][0])
            if len(self._tables) >= TABLES_KEPT:
                del self._tables[next(iter(self._tables))]
            self._tables[keys[place]] = tables
        return tables

    def _learn(self, weights: Floats, moves: Sequence[Move], board: tuple[int, ...]) -> None:
        """Update the weights of the player of the last move."""
        move, habits = moves[-1], self.strategy.habits
        street, action, bets = move.street, move.action, move.before.bets
        if action == "fold":
            return
        level = min(2, bets - (street == PREFLOP))
        folds, raises = habits.folds[street][level], habits.raises[street][level]
        if street > PREFLOP and bets == 0:
            raiser = last_raiser(moves, street - 1)
            raises = habits.bets[1 if raiser is None else 0 if raiser == move.seat else 2]
        low = 1 - raises if action in RAISES else folds if action == "call" else ALWAYS
        high = NEVER if action in RAISES or bets == move.before.most_bets else 1 - raises
        rank = board_hands(tuple(sorted(board))).rank if board else hole_ranks()
        reweight(weights, rank, low, high, habits.spread[street], habits.credit, habits.least)

    def _before_flop(self, view: HoldemView) -> tuple[float, float]:
        """The probabilities of not folding and, as part of it, of raising."""
        call1, call2, make2, make4 = self.strategy.income[len(players_in(view.betting)) - 2]
        income, smooth = income_rate(view.hole), self.strategy.income_smooth
        stay = call2 if view.to_call > BIG_BLIND and not _is_in(view) else call1
        push = make2 if view.betting.bets == 1 else make4
        return rise(income, stay, smooth), rise(income, push, smooth)

    def _after_flop(self, view: HoldemView, found: HandPotential) -> tuple[float, float]:
        """The same after the flop."""
        if view.betting.bets == 0:
            return 1.0, self._bet(view, found)
        strategy, street = self.strategy, view.street
        ehs, pot, to_call = found.optimistic, view.pot, view.to_call
        push = rise(ehs, strategy.make2 if view.betting.bets == 1 else strategy.make4, strategy.smooth)
        cold = to_call > BET[street] and not _is_in(view)
        by_strength = 0.0 if cold else rise(ehs, strategy.make1, strategy.smooth)
        odds = to_call / (pot + to_call)
        by_pot_odds = rise(found.hs if street == RIVER else found.ppot, odds, strategy.smooth / 2)
        later = strategy.bets_to_come * sum(BET[street + 1 :])
        odds = (to_call + later) / (pot + to_call + 2 * later)
        by_showdown_odds = rise(found.expected, odds, strategy.smooth / 2)
        return max(by_strength, by_pot_odds, by_showdown_odds), push

    def _bet(self, view: HoldemView, found: HandPotential) -> float:
        """The probability of betting where there is no bet."""
        strategy, bet = self.strategy, BET[view.street]
        push = rise(found.optimistic, strategy.make1, strategy.smooth)
        if view.betting.waiting > 1:  # an opponent may bet after a check
            push *= 1 - strategy.check_raise * rise(found.optimistic, strategy.make2, strategy.smooth)
        if view.street < RIVER and found.ppot >= 2 * bet / (view.pot + 6 * bet):
            push = max(push, 1 - strategy.check_raise)
        if last_raiser(view.moves, view.street - 1) == view.seat:
            push = max(push, strategy.follow_up)
        return push


def rise(value: float, middle: float, spread: float) -> float:
    """0 up to `spread` below the middle, 1 from `spread` above it, and a straight line between."""
    return min(1.0, max(0.0, (value - middle + spread) / (2 * spread)))


def last_raiser(moves: Sequence[Move], street: int) -> int | None:
    """The seat that bet or raised last on a street."""
    raisers = [move.seat for move in moves if move.street == street and move.action in RAISES]
    return raisers[-1] if raisers else None


def income_rate(hole: Cards) -> float:
    """Thousandths of a bet won per bet against one random hand, if both call to the end."""
    return _income_rates()[pair_class(hole)]


@cache
def _income_rates() -> dict[str, float]:
    scale = RUNOUTS[PREFLOP] * RIVER_SCALE
    return {kind: 1000 * (2 * wins / scale - 1) for kind, (wins, _) in preflop_sums().items()}


def _is_in(view: HoldemView) -> bool:
    """Whether the seat has already called, bet or raised on this street."""
    return any(
        move.seat == view.seat and move.action != "check" for move in view.moves if move.street == view.street
    )
