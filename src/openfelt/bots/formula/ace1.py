"""`ace1`: the weak player of Ponsen, Gerritsen & Chaslot 2010 (PGC10, "Experiments and Results").

The paper played against ACE1, a bot of the program Poker Academy. From the paper:

- its actions depend on a ranking of the cards before the flop, and on the sum of the two private cards later;
- later streets need a higher sum to bet or raise: more than 15 on the flop, more than 21 on the river;
- it stays to the end only with a sum above 19, so with less it folds to a bet on the river.

Our choices, where the paper gives none:

- cards count as their number, J to A as 11 to 14 (the sum is 4 to 28; 26% of all hole cards exceed 19, which
  the paper calls rare);
- on the turn it bets or raises with more than 18;
- it calls on the flop with more than 11, on the turn with more than 15: Figure 2 of the paper, a tree learned
  from its play, tests whether the sum exceeds 11, 15 and 19;
- a bet and a raise need the same sum, however many bets there were;
- the ranking before the flop is by the probability of winning against a random hand; the top 30% raise, the
  top 70% call.
"""

from __future__ import annotations

from openfelt.bots.bot import Bot, Clock
from openfelt.bots.formula.weighted_hands import hole_ranks
from openfelt.bots.view import HoldemView
from openfelt.cards.deck import PAIR, PREFLOP, Cards, parse_hand
from openfelt.core.random import Dice
from openfelt.games.game import Game
from openfelt.games.hand import Thought
from openfelt.games.holdem import require_holdem

# Thresholds to exceed, by street: before the flop a quantile of all hole cards, then a sum of two cards.
TO_RAISE = (0.70, 15, 18, 21)
TO_STAY = (0.30, 11, 15, 19)


class Ace1(Bot[HoldemView]):
    """Plays hold'em by the sum of its hole cards, whatever is on the board."""

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        require_holdem(game, "ace1")

    def act(self, view: HoldemView, dice: Dice, clock: Clock) -> str:
        return self._choose(view)

    def think(self, view: HoldemView) -> Thought:
        chosen = self._choose(view)
        return Thought(view.infoset, tuple(float(word == chosen) for word in view.actions))

    def _choose(self, view: HoldemView) -> str:
        street = view.street
        if street == PREFLOP:
            value = float(hole_ranks()[PAIR[view.hole[0], view.hole[1]]])
        else:
            value = card_sum(view.hole)
        if value > TO_RAISE[street] and view.actions[-1] in ("bet", "raise"):
            return view.actions[-1]
        return view.passive if value > TO_STAY[street] or "fold" not in view.actions else "fold"


def card_sum(hole: Cards) -> int:
    """The sum of two cards: 2 to 10 count as their number, J to A as 11 to 14."""
    return sum(2 + card // 4 for card in parse_hand(hole)[0])
