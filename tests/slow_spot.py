"""A plain twin of the passes over a spot: recursion over betting lines and cards, one hand at a time.

It follows the readable betting trees of a spot, and computes payoffs, showdowns and strategies on its own.
"""

from __future__ import annotations

from spot_game import DECK, strength
from spot_tables import TableReader, root_pairs

from openfelt.cards.deck import PAIR_CARDS, cards_text

FLOOR = 1e-6  # least weight of a strategy in the average
BEST, AVERAGE, CURRENT = "best response", "average", "current"


class SlowSpot:
    """Values of one player's hands, each against all hands of the opponent."""

    def __init__(self, spot, engine, locked=()):
        self.spot, self.locked = spot, set(locked)  # (street, place)
        self.readers = {AVERAGE: TableReader(engine, "average"), CURRENT: TableReader(engine, "regret")}
        self.decisions = {}  # of the last `values`: where -> values of actions, strategy, own reach

    def values(self, player, how):
        """The counterfactual value of each of the player's hands, by its number."""
        self.player, self.how, self.decisions = player, how, {}
        opponents = {
            int(pair): self.spot.ranges[1 - player][pair] for pair in root_pairs(self.spot, 1 - player)
        }
        return {
            int(pair): self._walk(
                (0, 0, ()), int(pair), _without(opponents, PAIR_CARDS[pair]), self.spot.ranges[player][pair]
            )
            for pair in root_pairs(self.spot, player)
        }

    def _walk(self, at, hand, opponents, own):
        street, place, cards = at
        here = self.spot.streets[street].places[place]
        if not here.actions:
            return self._deal(at, hand, opponents, own)
        after = [(street, child, cards) for child in here.children]
        if here.kind != self.player:
            strategies = {other: self._strategy(at, other) for other in opponents}
            return sum(
                self._end_or_walk(
                    *(here, number, child, hand, own),
                    {other: reach * strategies[other][number] for other, reach in opponents.items()},
                )
                for number, child in enumerate(after)
            )
        strategy = self._strategy(at, hand)
        values = [
            self._end_or_walk(here, number, child, hand, own * strategy[number], opponents)
            for number, child in enumerate(after)
        ]
        self.decisions[(*at, hand)] = values, strategy, own
        if self.how == BEST and at[:2] not in self.locked:
            return max(values)
        return float(strategy @ values)

    def _strategy(self, at, hand):
        reader = self.readers[CURRENT if self.how == CURRENT else AVERAGE]
        return reader.strategy(*at, hand)

    def _end_or_walk(self, decision, number, at, hand, own, opponents):
        if decision.actions[number].name != "fold":
            return self._walk(at, hand, opponents, own)
        lost = self.spot.pot / 2 + decision.paid[decision.kind]
        payoff = -lost if decision.kind == self.player else lost - self._rake(2 * lost)
        return payoff * sum(opponents.values())

    def _deal(self, at, hand, opponents, own):
        """The end of a street's betting: a showdown or the next card."""
        street, place, cards = at
        here = self.spot.streets[street].places[place]
        board = self.spot.board + cards_text(cards)
        if len(board) == 10:
            return self._show_down(self.spot.pot / 2 + here.paid[0], hand, opponents, board)
        root = int(self.spot.streets[street].arrays.next_root[place])
        first = int(self.spot.streets[street + 1].arrays.root[root])
        unseen = 52 - len(board) // 2 - 4
        total = 0.0
        for card, name in enumerate(DECK):
            if name in (board[0:2], board[2:4], board[4:6], board[6:8]) or card in PAIR_CARDS[hand]:
                continue
            others = {other: reach / unseen for other, reach in _without(opponents, [card]).items()}
            total += self._walk((street + 1, first, (*cards, card)), hand, others, own)
        return total

    def _show_down(self, at_stake, hand, opponents, board):
        mine, rake = strength(cards_text(PAIR_CARDS[hand]), board), self._rake(2 * at_stake)
        total = 0.0
        for other, reach in opponents.items():
            theirs = strength(cards_text(PAIR_CARDS[other]), board)
            if mine > theirs:
                total += reach * (at_stake - rake)
            elif mine == theirs:
                total -= reach * rake / 2
            else:
                total -= reach * at_stake
        return total

    def _rake(self, pot):
        return min(self.spot.rake * pot, self.spot.rake_cap)


def _without(hands, cards):
    """Those hands that share no card with the given ones."""
    gone = {int(card) for card in cards}
    return {hand: reach for hand, reach in hands.items() if not gone & set(PAIR_CARDS[hand].tolist())}
