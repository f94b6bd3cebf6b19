"""The search over dictionaries (PGC10, Algorithm 1; HS14, Algorithm 2), with the kernels' random numbers."""

from __future__ import annotations

import math

import numpy as np

from openfelt.bots.search.lazy_tree import lazy_deal
from openfelt.bots.search.position import OTHERS, OWN
from openfelt.cards.deck import BOARD_CARDS
from openfelt.cards.evaluator import hand_value
from openfelt.core.random import ITERATION_DRAWS, Numbers, starts
from openfelt.games.game import CHANCE
from openfelt.solve.traverse.enumerated import episode_tree


def drawn(shares, place):
    """The action that a number from 0 to 1 draws."""
    action = 0
    for share in shares[:-1]:
        place -= share
        action += place >= 0
    return action


class SlowTree:
    """An enumerated game. A play is a node; a row is its number."""

    def __init__(self, tree, row, likely):
        self.tree, self.alias = tree, episode_tree(tree)
        self.first = [n for n in range(tree.num_nodes) if self.mover(n) >= 0 and self.row(n) == row]
        self.summed = np.cumsum(likely) / np.sum(likely)

    def begin(self, view, luck):
        if view == OTHERS:
            return self.settle(0, luck)
        place = luck.uniform()
        return self.first[next(k for k, total in enumerate(self.summed) if total > place)]

    def settle(self, node, luck):
        nodes = self.tree.nodes
        while nodes.player[node] == CHANCE:
            column = luck.uniform() * nodes.num_children[node]
            way = int(column)
            entry = nodes.row[node] + way
            if column - way >= self.alias.share[entry]:
                way = int(self.alias.other[entry])
            node = int(nodes.first_child[node]) + way
        return node

    def mover(self, node):
        return int(self.tree.nodes.player[node])

    def row(self, node):
        return int(self.tree.nodes.row[node])

    def ways(self, node):
        return int(self.tree.nodes.num_children[node])

    def shares(self, policy, node):
        return policy.row(self.row(node))

    def follow(self, node, action, luck):
        return self.settle(int(self.tree.nodes.first_child[node]) + action, luck)

    def payoff(self, node, player):
        return float(self.tree.nodes.payoffs[self.row(node), player])


_buckets: dict[tuple[str, tuple[int, ...], tuple[int, ...]], int] = {}  # of single hands, by abstraction


class SlowHoldem:
    """Hold'em. Cards are dealt by `begin_at`; buckets are those of single hands; pots shared in Python."""

    def __init__(self, tree, position, begin_at):
        self.tree, self.position, self.begin_at = tree, position, begin_at
        self.deal, self.stream = lazy_deal(tree.players), np.zeros(1, np.uint64)

    def begin(self, view, luck):
        self.stream[0] = luck._state
        node = self.begin_at(self.position, view, self.deal, self.stream)
        luck._state = int(self.stream[0])
        cards, players = self.deal.cards.tolist(), self.tree.players
        self.holes = [tuple(cards[2 * seat : 2 * seat + 2]) for seat in range(players)]
        self.board = tuple(cards[2 * players :])
        assert len(set(cards)) == 2 * players + 5
        return node

    def mover(self, node):
        return int(self.tree.node[node, 0])

    def row(self, node):
        hole, board = self.holes[self.mover(node)], self.board[: BOARD_CARDS[self.tree.street(node)]]
        hand = self.tree.abstraction.name, hole, board
        if hand not in _buckets:  # enumerated anew, a flop takes some 10 milliseconds
            _buckets[hand] = self.tree.abstraction.bucket(hole, board)
        return node, _buckets[hand]

    def ways(self, node):
        return len(self.tree.actions(node))

    def shares(self, policy, node):
        return list(policy.at_bucket(*self.row(node)).values())

    def follow(self, node, action, luck):
        return self.tree.child(node, action)

    def payoff(self, node, player):
        ending = self.tree.node[node, 3]
        paid, inside = self.tree.leaves.paid[ending], int(self.tree.leaves.inside[ending])
        values = [
            hand_value((*hole, *self.board)) if inside >> seat & 1 else -1
            for seat, hole in enumerate(self.holes)
        ]
        if inside & (inside - 1) == 0:
            values = [float(inside >> seat & 1) for seat in range(len(values))]
        winners = values.count(max(values))
        won = paid.sum() / winners if values[player] == max(values) else 0.0
        return float(won - paid[player])


class SlowSearch:
    """`expand`: "order" or "random"; `rollout`: "uniform" or "call", where 1 means facing a bet."""

    def __init__(self, game, seat, settings, *, model=None, policy=None, seed=0, calls=None):
        self.game, self.seat, self.settings = game, seat, settings
        self.model, self.policy, self.calls = model, policy, calls
        self.counts: dict[object, list[list[float]]] = {}
        self.start = int(starts(seed, 1)[0])

    def run(self, iterations):
        for number in range(iterations):
            luck = Numbers(self.start, number * ITERATION_DRAWS)
            self.play(luck, OWN)
            if self.model is None:
                self.play(luck, OTHERS)
        return self

    def play(self, luck, view):
        game, outside, path = self.game, set(), []
        node = game.begin(view, luck)
        while (player := game.mover(node)) >= 0:
            ways = game.ways(node)
            if player != self.seat and self.model is not None:
                action = drawn(game.shares(self.model, node), luck.uniform())
            elif player in outside:
                action = self.roll_out(node, ways, luck)
            else:
                learns, row = view == OTHERS or player == self.seat, game.row(node)
                if self.settings.nodes == "lines":
                    learns, row = (view == OWN) == (player == self.seat), node
                if row in self.counts:
                    action = self.go_down(node, self.counts[row], luck)
                else:
                    outside |= set(range(3)) if self.settings.nodes == "lines" else {player}
                    action = self.roll_out(node, ways, luck)
                    if learns:
                        self.counts[row] = [[0, 0.0] for _ in range(ways)]
                        action = self.expand(self.counts[row], action, luck)
                if learns:
                    path.append((row, action, player))
            node = game.follow(node, action, luck)
        for row, action, player in path:
            self.counts[row][action][0] += 1
            self.counts[row][action][1] += game.payoff(node, player)

    def roll_out(self, node, ways, luck):
        if self.settings.rollout == "call":
            return self.calls(node)
        if self.settings.rollout == "policy":
            return drawn(self.game.shares(self.policy, node), luck.uniform())
        return int(luck.uniform() * ways)

    def go_down(self, node, arms, luck):
        warmth, (_, gamma, eta0, d, *_) = self.settings.warmth, self.settings.selection
        total = sum(visits for visits, _ in arms)
        if warmth and luck.uniform() < warmth / (total + warmth):
            return drawn(self.game.shares(self.policy, node), luck.uniform())
        if gamma < 1 and luck.uniform() >= max(gamma, eta0 / (1 + d * math.sqrt(total))):
            return drawn([visits / total for visits, _ in arms], luck.uniform())
        bounds = [
            math.inf if not visits else (won + self.settings.c * math.sqrt(math.log(total) * visits)) / visits
            for visits, won in arms
        ]
        action = bounds.index(max(bounds))
        return action if arms[action][0] else self.expand(arms, action, luck)

    def expand(self, arms, action, luck):
        untried = [way for way, (visits, _) in enumerate(arms) if not visits]
        if self.settings.expand == "random" and len(untried) > 1:
            return untried[int(luck.uniform() * len(untried))]
        return action
