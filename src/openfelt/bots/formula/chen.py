"""`chen`: Bill Chen's formula before the flop, hand strength against thresholds after it.

The formula (in Krieger, "Hold'em Excellence", 1995) scores two hole cards from -1 to 20. Chen used it to
choose starting hands; the points for a call or a raise with two or three players, and everything after the
flop, are ours: a simple player that considers its cards and the number of bets, but not its opponents.
"""

from __future__ import annotations

import math

from openfelt.bots.bot import Bot, Clock
from openfelt.bots.formula.weighted_hands import strength_now
from openfelt.bots.view import HoldemView
from openfelt.cards.deck import PREFLOP, RANKS, Cards, parse_hand
from openfelt.core.random import Dice
from openfelt.games.game import Game
from openfelt.games.hand import Thought
from openfelt.games.holdem import players_in, require_holdem

HIGH_CARD = {"A": 10.0, "K": 8.0, "Q": 7.0, "J": 6.0}  # others: half their number
GAP_COST = (0, 1, 2, 4, 5)  # by number of ranks between the two cards; more than four cost the same
LEAST_PAIR = 5
SUITED, STRAIGHT = 2, 1

# By raises on the street (more count as the last): points to raise and to stay against one opponent ...
POINTS_TO_RAISE, POINTS_TO_STAY = (5, 8, 11, 14), (1, 3, 4, 5)
POINTS_FOR_THREE = 2  # ... and this many more against two
# By bets on the street: the probability of being ahead of all opponents that is needed.
STRENGTH_TO_RAISE, STRENGTH_TO_STAY = (0.60, 0.80, 0.90, 0.97), (0.0, 0.42, 0.55, 0.65)


class Chen(Bot[HoldemView]):
    """Plays hold'em by simple thresholds."""

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        require_holdem(game, "chen")

    def act(self, view: HoldemView, dice: Dice, clock: Clock) -> str:
        return self._choose(view)

    def think(self, view: HoldemView) -> Thought:
        chosen = self._choose(view)
        return Thought(view.infoset, tuple(float(word == chosen) for word in view.actions))

    def _choose(self, view: HoldemView) -> str:
        opponents, bets = len(players_in(view.betting)) - 1, view.betting.bets
        if view.street == PREFLOP:
            value = float(chen_score(view.hole) - POINTS_FOR_THREE * (opponents - 1))
            to_raise, to_stay = _at(POINTS_TO_RAISE, bets - 1), _at(POINTS_TO_STAY, bets - 1)
        else:
            value = strength_now(tuple(view.hole), tuple(view.board)) ** opponents
            to_raise, to_stay = _at(STRENGTH_TO_RAISE, bets), _at(STRENGTH_TO_STAY, bets)
        if value >= to_raise and view.actions[-1] in ("bet", "raise"):
            return view.actions[-1]
        return view.passive if value >= to_stay or "fold" not in view.actions else "fold"


def chen_score(hole: Cards) -> int:
    """The score of two hole cards by Chen's formula: AA has 20 points, AKs 12, TT 10, 75s 6, 72o -1.

    Points for the higher card; a pair has twice as many, at least five. Other hands gain two points if
    suited, lose points for the gap between the cards (the ace is high), and gain one if straights are likely:
    at most one rank between the cards and both below a queen. Half points are rounded up.
    """
    low, high = sorted(parse_hand(hole)[0])
    low_rank, high_rank = low // 4, high // 4
    points = HIGH_CARD.get(RANKS[high_rank], (2 + high_rank) / 2)
    if low_rank == high_rank:
        return math.ceil(max(LEAST_PAIR, 2 * points))
    gap = high_rank - low_rank - 1
    points -= GAP_COST[min(gap, len(GAP_COST) - 1)]
    points += SUITED * (low % 4 == high % 4)
    points += STRAIGHT * (gap <= 1 and high_rank < RANKS.index("Q"))
    return math.ceil(points)


def _at(thresholds: tuple[float, ...], bets: int) -> float:
    return thresholds[min(bets, len(thresholds) - 1)]
