"""All subgames of a river board at once: re-solved as `subgame.resolve` does one, on the CPU or on a GPU.

The betting trees of the river after all lines of limit hold'em (567) are the street roots of one street. So
one pass computes all of them, and a GPU also all boards of a flop together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from openfelt.bots.resolve.blueprint import Blueprint
from openfelt.bots.resolve.subgame import BASE, STACK
from openfelt.cards.deck import CARDS, PAIR_CARDS, RIVER
from openfelt.core.devices import CPU
from openfelt.core.jit import Floats
from openfelt.games.compile.betting_tree import BettingTree
from openfelt.games.holdem import BET, MOST_BETS, Betting, bet, first_betting, is_over
from openfelt.spots.betting import FOLD, Root, Rules, Situation, Street
from openfelt.spots.engine import Engine, new_gadget
from openfelt.spots.runouts import Runouts, build_runouts, pairs_of
from openfelt.spots.solver import discounts
from openfelt.spots.traversal import BEST_RESPONSE


class RiverLines:
    """The betting trees of the river after all lines of a betting tree, or those that lead to some nodes."""

    def __init__(self, tree: BettingTree, nodes: Collection[int] | None = None) -> None:
        self.tree = tree
        found = [
            root for root in _river_roots(tree, 0, first_betting(2)) if nodes is None or root[0] in nodes
        ]
        self.nodes = [node for node, _ in found]  # of the betting tree, by root
        # The starting pot is empty, so that winnings are those of the hand.
        roots = [Root(paid, number, (), (number, number)) for number, (_, paid) in enumerate(found)]
        self.street = Street(RIVER, roots, _limit_bets, Rules(0, STACK))
        # By player and row of its tables: slot of the betting tree, in the first bucket.
        self.slots = [np.zeros(rows, np.int64) for rows in self.street.entries]
        for node, place in zip(self.nodes, self.street.arrays.root[:-1].tolist(), strict=True):
            self._find_slots(place, node)

    def _find_slots(self, place: int, node: int) -> None:
        here = self.street.places[place]
        if here.kind < FOLD:
            slots, first = self.tree.slots(node, 0), int(self.street.arrays.entry[place])
            self.slots[here.kind][first : first + len(here.children)] = range(slots.start, slots.stop)
            for action, child in enumerate(here.children):
                self._find_slots(child, self.tree.child(node, action))


class RiverRanges(NamedTuple):
    """A river board with both players' ranges after every line."""

    board: tuple[int, ...]
    ranges: Floats  # [2, roots, 1326], above 0 for the hands that both players can hold


class RiverValues(NamedTuple):
    """What each hand of the opponent gets at most on a river: [roots, 1326], counterfactual, in chips.

    They count the player's range as it was given; `resolved` are the reference's values where the solution
    was not better (`subgame.resolve`).
    """

    reference: Floats
    resolved: Floats


def resolve_all(
    lines: RiverLines, rivers: Sequence[RiverRanges], seat: int, blueprint: Blueprint, iterations: int, *,
    device: str = CPU, threads: int = 1,
) -> list[RiverValues]:  # fmt: skip
    """Re-solve all subgames of some river boards for a seat."""
    with ThreadPoolExecutor(threads) as pool:
        prepared = list(pool.map(lambda river: _Prepared(lines, river, seat), rivers))
        for each in prepared:  # the blueprint is asked from this thread only
            each.write(blueprint)
        limits = list(pool.map(_Prepared.best_response, prepared))
        for each in prepared:
            each.forget()
        if device == CPU:
            values = list(pool.map(lambda each, limit: each.solve(limit, iterations), prepared, limits))
        else:
            values = _solve_on_gpu(prepared, limits, iterations)
    return [each.result(limit, value) for each, limit, value in zip(prepared, limits, values, strict=True)]


class _Prepared:
    """One board: its hands, and tables for all lines."""

    def __init__(self, lines: RiverLines, river: RiverRanges, seat: int) -> None:
        self.lines, self.river, self.seat, self.opponent = lines, river, seat, 1 - seat
        hands = (river.ranges[:, 0] > 0).astype(np.float64)
        self.runouts: Runouts = build_runouts(river.board, hands)[0]
        self.pairs = [np.flatnonzero(each) for each in hands]
        self.weights = [river.ranges[player][:, self.pairs[player]] for player in (0, 1)]
        self.engine = self._new_engine()

    def _new_engine(self) -> Engine:
        return Engine([self.lines.street], [self.runouts], self.weights)

    def forget(self) -> None:
        """Empty tables again."""
        self.engine = self._new_engine()

    def write(self, blueprint: Blueprint) -> None:
        """Write what the seat plays by a blueprint into the tables: the average strategies."""
        level, seat = self.engine.levels[0], self.seat
        buckets = blueprint.buckets(self.river.board)[pairs_of(level.runouts, seat, 0)]
        rows = blueprint.of_slots(self.lines.slots[seat], (RIVER, seat), buckets)
        first = level.tables.first[seat, 0]
        level.tables.average[first : first + rows.size] = rows.ravel()

    def best_response(self) -> Floats:
        """[roots, hands] what each hand of the opponent gets at most."""
        values = self.engine.passes().run_roots(self.opponent, BEST_RESPONSE)
        return np.array(values, np.float64)

    def base(self) -> Floats:
        """[roots, hands] the range with which the opponent must play on."""
        return np.asarray(BASE * self.weights[self.opponent])

    def solve(self, limits: Floats, iterations: int) -> Floats:
        """Re-solve on the CPU; the values of a best response to the solution."""
        schedule = np.array([discounts(each) for each in range(iterations)], np.float32).reshape(-1, 3)
        self.engine.passes().update_river(schedule, new_gadget(self.opponent, limits, self.base()))
        values = self.best_response()
        self.forget()
        return values

    def result(self, limits: Floats, values: Floats) -> RiverValues:
        """The solution where its gain is larger than its mean excess, as `resolve` decides."""
        theirs = self.weights[self.opponent]
        met = _met(self.river.ranges[self.seat])[:, self.pairs[self.opponent]]
        excess = np.maximum(values - limits, 0.0).sum(axis=1) / met.sum(axis=1)
        gain = (theirs * (limits - values)).sum(axis=1) / (theirs * met).sum(axis=1)
        chosen = np.where((excess < gain)[:, None], values, limits)
        return RiverValues(self._all_hands(limits), self._all_hands(chosen))

    def _all_hands(self, values: Floats) -> Floats:
        found = np.zeros((len(values), self.river.ranges.shape[2]))
        found[:, self.pairs[self.opponent]] = values
        return found


def _met(ranges: Floats) -> Floats:
    """[rows, 1326] for each hand the total weight of the hands of a range that share no card with it."""
    of_card = ranges @ (PAIR_CARDS[:, :, None] == np.arange(CARDS)).any(axis=1)
    low, high = PAIR_CARDS.T
    return np.asarray(ranges.sum(axis=1)[:, None] - of_card[:, low] - of_card[:, high] + ranges)


def _solve_on_gpu(prepared: Sequence[_Prepared], limits: Sequence[Floats], iterations: int) -> list[Floats]:
    from openfelt.spots.gpu.engine import GpuEngine

    opponent = prepared[0].opponent
    gadgets = [new_gadget(opponent, limit, each.base()) for each, limit in zip(prepared, limits, strict=True)]
    gpu = GpuEngine([each.engine for each in prepared], gadgets)
    gpu.iterate(0, iterations)
    return gpu.run(opponent, BEST_RESPONSE).root_values(opponent)


def _limit_bets(now: Situation) -> list[int]:
    return [max(now.bets) + BET[now.street]] if now.raises < MOST_BETS else []


def _river_roots(tree: BettingTree, node: int, betting: Betting) -> Iterator[tuple[int, int]]:
    """Nodes at which the river begins, and what each player has paid before."""
    if is_over(betting):
        return
    if betting.street == RIVER:
        yield node, betting.paid[0]
    else:
        for action, word in enumerate(tree.actions(node)):
            yield from _river_roots(tree, tree.child(node, action), bet(betting, word))
