"""A plain twin of CFR-BR in one seat, and of public chance sampling.

It recurs over the betting tree, with matrices over all pairs of hands.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from openfelt.cards.boards import PERMUTED_PAIR, find_board
from openfelt.cards.deck import BOARD_CARDS, FLOP, PAIR_CARDS, PREFLOP, RIVER, TURN
from openfelt.cards.evaluator import hand_value
from openfelt.games.compile.betting_tree import ACTIONS_MASK, CHILD, KIND, PLACE, PLAYER
from openfelt.games.game import TERMINAL


class Regrets(dict):
    """By player, node and row; from those at the beginning."""

    def __init__(self, beginning):
        super().__init__()
        self._beginning = beginning

    def __missing__(self, key):
        self[key] = self._beginning(*key)
        return self[key]


class SlowCFRBR:
    def __init__(self, tree, live_cards, seat, trunk_rows, beginning):
        """Without rows for its trunk, the opponent learns in buckets on all streets."""
        self.tree, self.live, self.seat, self.trunk_rows = tree, live_cards, seat, trunk_rows
        self.responds = trunk_rows is not None
        self.regrets = Regrets(beginning)
        self.average = defaultdict(lambda: 0.0)  # by node and row

    def iterate(self, cards, weight, averaged):
        self.cards, self.weight, self.averaged = list(cards), weight, averaged
        self.pairs = [p for p, two in enumerate(PAIR_CARDS.tolist()) if self._is_free(two, self.cards)]
        apart = np.array([[not {*self._two(a)} & {*self._two(b)} for b in self.pairs] for a in self.pairs])
        self.met, self.wins, self.on = {None: apart.astype(float)}, {}, {None: np.ones(len(self.pairs))}
        for river in sorted(set(self.live) - set(self.cards)):
            self.on[river] = np.array([river not in self._two(pair) for pair in self.pairs], float)
            both = np.outer(self.on[river], self.on[river])
            hands = [(*self._two(pair), *self.cards, river) for pair in self.pairs]
            value = np.array([hand_value(cards) if len({*cards}) == 7 else 0 for cards in hands])
            self.met[river] = apart * both
            self.wins[river] = np.sign(value[:, None] - value) * apart * both
        self.rivers = [river for river in self.on if river is not None]
        self.rows = {}
        self.gains, self.choices = defaultdict(lambda: 0.0), {}
        self._average_preflop(0, np.ones(len(self.tree.abstraction.tables().preflop[0])))
        one = np.ones(len(self.pairs))
        values = self._values(0, None, one, one)
        for key, gain in self.gains.items():
            self.regrets[key] = self.regrets[key] + self.weight * gain
        return values[1 - self.seat].sum()

    def _two(self, pair):
        return PAIR_CARDS[pair].tolist()

    def _is_free(self, two, cards):
        return set(two) <= set(self.live) and not set(two) & set(cards)

    def _row(self, player, street, river):
        """The row of each pair for a player; -1 where the river is among its cards."""
        key = player, street, river
        if key not in self.rows:
            board = (*self.cards, river)[: BOARD_CARDS[street]]
            number, seen_as = find_board(board)
            if player == self.seat or not self.responds:
                table = self.tree.abstraction.tables()[street][number]
            else:
                table = self.trunk_rows[0] if street == PREFLOP else self.trunk_rows[1][number]
            seen = PERMUTED_PAIR[seen_as] if street != PREFLOP else np.arange(len(PAIR_CARDS))
            self.rows[key] = np.where(self.on[river] > 0, table[seen[self.pairs]].astype(int), -1)
        return self.rows[key]

    def _policy(self, player, node, row):
        regrets = np.maximum(self.regrets[player, node, row], 0.0) + np.zeros(self._actions(node))
        return regrets / regrets.sum() if regrets.sum() > 0 else np.full(len(regrets), 1 / len(regrets))

    def _actions(self, node):
        return int(self.tree.node[node, KIND]) & ACTIONS_MASK

    def _shares(self, player, node, river):
        """[actions, pairs]"""
        rows = self._row(player, self.tree.street(node), river)
        shares = np.zeros((self._actions(node), len(self.pairs)))
        for row in set(rows.tolist()) - {-1}:
            shares[:, rows == row] = self._policy(player, node, row)[:, None]
        return shares

    def _children(self, node):
        first = int(self.tree.node[node, CHILD])
        return range(first, first + self._actions(node))

    def _is_new_street(self, node, child):
        return self.tree.node[child, PLAYER] != TERMINAL and self.tree.street(child) != self.tree.street(node)

    def _leaf(self, node, river, player, reach):
        leaves, leaf = self.tree.leaves, int(self.tree.node[node, PLACE])
        inside, paid = int(leaves.inside[leaf]), leaves.paid[leaf]
        if inside == 3:
            return paid[player] * (self.wins[river] @ reach)
        won = paid[1 - player] if inside >> player & 1 else -paid[player]
        return won * (self.met[river] @ (reach * self.on[river]))

    def _best(self, node, river, reach):
        """The opponent's values for a best response to our reach; notes its choices."""
        other = 1 - self.seat
        if self.tree.node[node, PLAYER] == TERMINAL:
            return self._leaf(node, river, other, reach)
        if self.tree.street(node) == RIVER and river is None:
            return sum(self._best(node, each, reach * self.on[each]) for each in self.rivers) / self._left()
        children = self._children(node)
        if self.tree.node[node, PLAYER] == self.seat:
            shares = self._shares(self.seat, node, river)
            return sum(self._best(c, river, reach * s) for c, s in zip(children, shares, strict=True))
        values = np.array([self._best(child, river, reach) for child in children])
        passive = 1 if self._folds(node) else 0
        choice = np.full(len(self.pairs), passive)
        for action in range(len(values)):
            best = values[choice, np.arange(len(choice))]
            choice = np.where(values[action] > best, action, choice)
        self.choices[node, river] = choice
        return values[choice, np.arange(len(choice))]

    def _folds(self, node):
        """Whether the first action is to fold."""
        child = self._children(node)[0]
        is_leaf = self.tree.node[child, PLAYER] == TERMINAL
        return is_leaf and int(self.tree.leaves.inside[self.tree.node[child, PLACE]]) != 3

    def _left(self):
        return len(self.live) - 8

    def _values(self, node, river, ours, theirs):
        """The values of both players by seat; notes the gains of actions, and adds to our average."""
        seat, other = self.seat, 1 - self.seat
        if self.tree.node[node, PLAYER] == TERMINAL:
            values = {
                seat: self._leaf(node, river, seat, theirs),
                other: self._leaf(node, river, other, ours),
            }
            return [values[0], values[1]]
        street = self.tree.street(node)
        if street == RIVER and river is None:
            parts = [self._values(node, r, ours * self.on[r], theirs * self.on[r]) for r in self.rivers]
            return [sum(part[player] for part in parts) / self._left() for player in range(2)]
        player, children = int(self.tree.node[node, PLAYER]), self._children(node)
        if self.responds and street >= TURN and player == other:
            if (node, river) not in self.choices:
                self._best(node, river, ours)
            shares = np.array([self.choices[node, river] == action for action in range(len(children))], float)
        else:
            shares = self._shares(player, node, river)
        if self.responds and street == TURN and (node, None) not in self.choices:
            self._best(node, None, ours)
        below = [
            self._values(child, river, *((ours * s, theirs) if player == seat else (ours, theirs * s)))
            for child, s in zip(children, shares, strict=True)
        ]
        values = [sum(part[each] for part in below) for each in range(2)]
        values[player] = sum(part[player] * s for part, s in zip(below, shares, strict=True))
        chance = 1 / self._left() if street == RIVER else 1.0
        if player == seat or street <= FLOP or not self.responds:
            rows = self._row(player, street, river)
            gain = np.array([part[player] - values[player] for part in below]) * chance
            for row in set(rows.tolist()) - {-1}:
                self.gains[player, node, row] = self.gains[player, node, row] + gain[:, rows == row].sum(
                    axis=1
                )
                if player == seat and street > PREFLOP:
                    came = self.averaged * chance * ours[rows == row].sum()
                    self.average[node, row] = self.average[node, row] + came * self._policy(seat, node, row)
        return values

    def _average_preflop(self, node, reach):
        """Of all rows, whatever cards are dealt."""
        if self.tree.node[node, PLAYER] == TERMINAL or self.tree.street(node) != PREFLOP:
            return
        counts = int(self.tree.layout.buckets[PREFLOP, self.seat])
        reach = reach[:counts]
        own = self.tree.node[node, PLAYER] == self.seat
        policies = np.array([self._policy(self.seat, node, row) for row in range(counts)]).T if own else None
        for row in range(counts if own else 0):
            self.average[node, row] = self.average[node, row] + self.averaged * reach[row] * policies[:, row]
        for action, child in enumerate(self._children(node)):
            self._average_preflop(child, reach * policies[action] if own else reach)
