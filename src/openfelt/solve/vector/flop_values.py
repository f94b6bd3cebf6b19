"""Exact values in Flop Hold'em: what a best response, or another policy, wins from a policy."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.boards import hole_class
from openfelt.cards.deck import PAIRS
from openfelt.core.jit import Floats, Longs, kernel
from openfelt.games.compile.flop_tree import ACTIONS, CLASSES, FlopHands
from openfelt.policy.flop import FlopPolicy
from openfelt.policy.holdem import WHOLE
from openfelt.solve.vector.before_flop import BeforeFlop
from openfelt.solve.vector.betting_lines import FIRST, LANES
from openfelt.solve.vector.flop_lines import (
    FlopWork,
    meet_strategy,
    new_flop_work,
    value_actions,
    value_root,
)
from openfelt.solve.vector.street_kernels import respond_best

BLOCK = 45  # flops of a unit of work
KIND = hole_class()  # [1326]


def values_against(
    other: FlopPolicy,
    ours: FlopPolicy | None,
    threads: int = 1,
    progress: Callable[[float], object] = lambda _: None,
) -> list[float]:
    """What each seat wins from a policy, by a best response or playing as `ours`, in chips a hand."""
    tree, before = other.tree, BeforeFlop(other.tree)
    flops = np.arange(len(tree.deck.flops))
    blocks = [flops[first : first + BLOCK] for first in range(0, len(flops), BLOCK)]
    multiplicity = np.array([flop.multiplicity for flop in tree.deck.flops], float)
    won = []
    with ThreadPoolExecutor(threads) as pool:
        for seat in range(2):
            response = _Response(before, other, ours, seat)
            total = np.zeros((CLASSES, LANES))
            for block, found in zip(blocks, pool.map(response.on_flops, blocks), strict=True):
                total += np.einsum("f,fcl->cl", multiplicity[block], found)
                progress(0.5 / len(blocks))
            won.append(response.value(total[:, : len(tree.roots)]))
    return won


class _Response:
    """The values of a seat against a policy."""

    def __init__(self, before: BeforeFlop, other: FlopPolicy, ours: FlopPolicy | None, seat: int) -> None:
        self.before, self.seat, self.best, self.tree = before, seat, ours is None, other.tree
        their_policy, self._theirs = self.tree.parts(other.weights, 1 - seat)
        our_policy, self._ours = self.tree.parts((ours or other).weights, seat)
        self._policy = our_policy / WHOLE
        self._reach = before.reach(1 - seat, their_policy / WHOLE)

    def on_flops(self, flops: Longs) -> Floats:
        """[flops, 169, LANES] the sums of values by class."""
        work, found = new_flop_work(self.tree, np.float64), np.zeros((len(flops), CLASSES, LANES))
        reach = np.zeros((1, PAIRS, LANES))
        reach[0, :, : len(self.tree.roots)] = self.before.at_roots(self._reach)[KIND]
        tables, how = (self._ours, self._theirs), (self.seat, self.best)
        value_flops(self.tree.hands, flops, how, reach, tables, work, found)
        return found

    def value(self, total: Floats) -> float:
        """The mean over all hands, in chips."""
        values = self.before.values(self.seat, self._reach, self.before.by_class(total), self._decide)
        return self.before.mean(values)

    def _decide(self, number: int, values: Floats) -> Floats:
        if self.best:
            return np.asarray(values.max(axis=1))
        node = self.tree.nodes[number]
        act = self._policy[:, node.place : node.place + len(node.words)]
        return np.asarray((act * values).sum(axis=1))


@kernel
def value_flops(
    hands: FlopHands,
    flops: Longs,
    how: tuple[int, bool],
    reach: Floats,
    tables: tuple[NDArray[Any], NDArray[Any]],
    work: FlopWork,
    found: Floats,
) -> None:
    """Values on some flops; `found` [flops, 169, LANES] gets their sums by class.

    `how` is the seat, and whether it plays a best response; `reach` [1, 1326, LANES] is the opponent's at the
    roots, `tables` [hands, ACTIONS, roots] are our and its weights.
    """
    seat, best = how
    opens, values = seat == FIRST, np.zeros((PAIRS, LANES))
    for place in range(len(flops)):
        flop = flops[place]
        first, last = hands.first_row[flop], hands.first_row[flop + 1]
        read_weights(tables[1][first:last], work.theirs)
        here = meet_strategy(hands, flop, seat, reach, work)
        if best:
            respond_best(here, opens, 0, work.street, values)
            for pair in here.pair:
                found[place, KIND[pair]] += values[pair]
            continue
        read_weights(tables[0][first:last], work.ours)
        for row in range(last - first):
            hand, act = hands.example[first + row], work.ours[row]
            value_actions(hand, opens, act, work.street, work.value)
            value_root(opens, act, work.value, work.whole)
            for lane in range(LANES):
                found[place, KIND[here.pair[hand]], lane] += hands.times[first + row] * work.whole[lane]


@kernel
def read_weights(weights: NDArray[Any], strategy: Floats) -> None:
    """Strategies [rows, ACTIONS * LANES] from weights [rows, ACTIONS, roots]."""
    for row in range(len(weights)):
        for action in range(ACTIONS):
            for root in range(weights.shape[2]):
                strategy[row, action * LANES + root] = weights[row, action, root] / WHOLE
