"""A player that learns in buckets, on a GPU: its tables, its reach of all roots and its values there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import FLOP, PREFLOP, RIVER, TURN
from openfelt.core.cuda import is_simulated, to_gpu, zeros_on_gpu
from openfelt.core.jit import Floats, Ints, Longs
from openfelt.games.compile.betting_tree import ACTIONS_MASK, KIND, PLACE, BettingTree
from openfelt.games.holdem import MOST_BETS
from openfelt.solve.vector.betting_lines import FIRST, LINES, BettingLines, betting_lines
from openfelt.solve.vector.gpu import rows, streets
from openfelt.solve.vector.gpu.deal import OUR_FLOP, OUR_TURN, GpuDeal
from openfelt.solve.vector.gpu.launch import THREADS, hand_table, river_kernel, street_kernel
from openfelt.solve.vector.gpu.river import learn_river
from openfelt.solve.vector.gpu.river_squares import ROOM
from openfelt.solve.vector.gpu.rows import ROW
from openfelt.solve.vector.gpu.terms import terms_of
from openfelt.solve.vector.streets import FOLD, street_tables

BLOCKS = 2_048  # that renew rows
COPIED = 64  # buckets at a time


class Rows(NamedTuple):
    """What a player has learned on a street, [roots, buckets, ...]."""

    regrets: Any
    average: Any
    policy: Any
    shares: Any  # of the lines
    came_by: Any  # [roots, buckets] the player's reach in this iteration


class OnRiver(NamedTuple):
    """What the opponent does on the river: choices, or shares of the lines; the other is empty."""

    choices: Any
    shares: Any
    came_by: Any


class Preflop:
    """A player before the flop: regrets, average and policy [rows, edges]."""

    def __init__(self, tree: BettingTree, player: int, row: Ints, rows: int, boards: int) -> None:
        street = street_tables(tree)[PREFLOP]
        self._street = to_gpu(street._replace(won=street.won.astype(np.float32)))
        self._row, size = to_gpu(row), (rows, int(tree.layout.edges[PREFLOP, player]))
        self.regrets, self.average, self.policy = (zeros_on_gpu(size, np.float32) for _ in range(3))
        self.fold_reach = hand_table(boards, int((street.player == FOLD).sum()))
        self.won = zeros_on_gpu((1,), np.float64)  # chips, summed over all pairs of hands and iterations
        self._renew, self._go_down, self._learn = (
            street_kernel(source, PLAYER=player)
            for source in (streets.renew_preflop, streets.go_down_preflop, streets.learn_preflop)
        )

    def renew(self, deal: GpuDeal, averaged: float) -> None:
        """Add the policy to the average, and match the regrets again."""
        arguments = self._street, self.regrets, self.average, np.float32(averaged), self.policy
        deal.run(self._renew, -(-self.regrets.shape[0] // THREADS), *arguments)

    def go_down(self, deal: GpuDeal, reach: Any) -> None:
        """The player's reach of the flop's roots."""
        arguments = self._street, self._row, deal.row[OUR_FLOP], self.policy, reach, self.fold_reach
        deal.run(self._go_down, deal.count, *arguments)

    def learn(self, deal: GpuDeal, against: Preflop, values: Any, weight: np.float32) -> None:
        """Add to the regrets, given the values of the flop's roots."""
        before = self._street, self._row, deal.row[OUR_FLOP], against.fold_reach
        deal.run(self._learn, deal.count, *before, values, self.policy, weight, self.regrets, self.won)


class GpuPlayer:
    """One seat."""

    def __init__(self, tree: BettingTree, seat: int, deal: GpuDeal, responds: bool, river_step: int) -> None:
        """`responds`: whether the opponent makes choices on the river, or has shares of the lines too.

        One river in `river_step` is sampled to learn from.
        """
        self.tree, self.seat, self._deal = tree, seat, deal
        self.betting, layout, boards = betting_lines(tree.most_bets), tree.layout, deal.most
        self.roots = [lines.roots for lines in self.betting.streets]
        counts = [int(layout.buckets[street, seat]) for street in (FLOP, TURN, RIVER)]
        self.rows = [_new_rows(*size) for size in zip(self.roots, counts, strict=True)]
        row = np.asarray(tree.abstraction.tables()[PREFLOP][0], np.int32)
        self.preflop = Preflop(tree, seat, row, int(layout.buckets[PREFLOP, seat]), boards)
        self.reach, self.values = ([hand_table(boards, roots) for roots in self.roots] for _ in range(2))
        opens = seat == FIRST
        self._terms = [_single(terms_of(lines, opens)) for lines in self.betting.streets]
        how = {"OPENS": opens, "BETS": tree.most_bets}
        fewer = tree.most_bets < MOST_BETS
        learning = {"FEWER": fewer, "RESPONDS": responds, "STEP": river_step}
        self._learn_river = river_kernel(learn_river, **how, **learning)
        self._river_chance = deal.chance * np.float32(river_step)  # the chance of a river that is sampled
        self._learn_street, self._renew = (
            street_kernel(source, **how) for source in (streets.learn_street, rows.renew)
        )
        self._go_down = street_kernel(streets.go_down)
        self.renew(0.0)

    def go_down(self) -> None:
        """Our reach of all roots."""
        deal, (e1, e2, _), (flop, turn, _) = self._deal, self.roots, self.rows
        self.preflop.go_down(deal, self.reach[0])
        arguments = deal.row[OUR_FLOP], flop.shares, self.reach[0], self.reach[1]
        deal.run(self._go_down, deal.count * e1, *arguments)
        arguments = deal.row[OUR_TURN], turn.shares, self.reach[1], self.reach[2]
        deal.run(self._go_down, deal.count * e2, *arguments)

    def learn(self, reach: list[Any], on_river: OnRiver, preflop: Preflop, weight: float) -> None:
        """Our values against an opponent with that reach; adds to our regrets, and to what came by."""
        deal, single, (e1, e2, e3), (flop, turn, river) = (
            self._deal,
            np.float32(weight),
            self.roots,
            self.rows,
        )
        chances = self._river_chance, single * self._river_chance
        deal.run(
            self._learn_river,
            deal.count * e3,
            *(deal.plan, deal.words, deal.facts, e3, *chances, reach[2]),
            *(river.policy, self._terms[2], *on_river, river.regrets, self.values[2]),
            threads=ROOM,
        )
        for row, roots, street, place in ((OUR_TURN, e2, turn, 1), (OUR_FLOP, e1, flop, 0)):
            deal.run(
                self._learn_street,
                deal.count * roots,
                *(deal.row[OUR_FLOP], deal.row[row], 0, self._terms[place], reach[place + 1]),
                *(self.values[place + 1], street.policy, single, street.regrets),
                *(self.reach[place], street.came_by, self.values[place]),
            )
        self.preflop.learn(deal, preflop, self.values[0], single)

    def renew(self, averaged: float) -> None:
        """Add the policies to the averages, and match the regrets again."""
        deal = self._deal
        for street, table in zip((FLOP, TURN, RIVER), self.rows, strict=True):
            blocks = -(-table.regrets.shape[0] * table.regrets.shape[1] // THREADS)
            weight = np.float32(averaged) * (deal.chance if street == RIVER else np.float32(1.0))
            arguments = table.regrets, table.average, table.came_by, weight, table.policy, table.shares
            deal.run(self._renew, 1 if is_simulated() else min(BLOCKS, blocks), *arguments)
        self.preflop.renew(deal, averaged)

    def fetch(self, regrets: Floats, average: Floats) -> None:
        """Copy what was learned into this seat's slots of two tables."""
        for place, table in enumerate((regrets, average)):
            there = (self.preflop.regrets, self.preflop.average)[place]
            self.slots(table, PREFLOP)[...] = there.copy_to_host(stream=self._deal.queue)
            for street, here in zip((FLOP, TURN, RIVER), self.rows, strict=True):
                from_rows(
                    self.edges(street),
                    here[place].copy_to_host(stream=self._deal.queue),
                    self.slots(table, street),
                )

    def load(self, regrets: Floats, average: Floats) -> None:
        """Continue with other tables."""
        for place, table in enumerate((regrets, average)):
            there = (self.preflop.regrets, self.preflop.average)[place]
            there.copy_to_device(np.ascontiguousarray(self.slots(table, PREFLOP), np.float32))
            for street, here in zip((FLOP, TURN, RIVER), self.rows, strict=True):
                here[place].copy_to_device(to_rows(self.edges(street), self.slots(table, street)))
        self.renew(0.0)

    def slots(self, table: Floats, street: int) -> Floats:
        """[buckets, edges] this seat's slots of a street."""
        layout, place = self.tree.layout, (street, self.seat)
        base, count, edges = (int(each[place]) for each in (layout.slot_base, layout.buckets, layout.edges))
        return table[base : base + count * edges].reshape(count, edges)

    def edges(self, street: int) -> Longs:
        """[roots, ROW] of `edges_of_rows`."""
        return edges_of_rows(self.tree, self.betting, street, self.seat)


def edges_of_rows(tree: BettingTree, betting: BettingLines, street: int, player: int) -> Longs:
    """[roots, ROW] the edge at each place of a row, counted from the player's first of the street, or -1."""
    nodes = betting.decisions[street - FLOP]
    lines = (1, 3, 6, 8) if player == FIRST else (2, 4, 5, 7)  # whose bets the player answers
    found = np.full((nodes.shape[1], ROW), -1)
    for decision, which in enumerate((0 if player == FIRST else 1, *(1 + line for line in lines))):
        for root, node in enumerate(nodes[which]):
            if node >= 0:
                edge = int(betting.node[node, PLACE] - tree.layout.first_edge[street, player])
                actions = int(betting.node[node, KIND]) & ACTIONS_MASK
                found[root, 3 * decision : 3 * decision + actions] = range(edge, edge + actions)
    return found


def from_rows(edges: Longs, table: NDArray[np.float32], into: Floats) -> None:
    """Write rows [roots, buckets, ROW] to slots [buckets, edges]."""
    root, place = np.nonzero(edges >= 0)
    for some in _parts(len(into)):
        into[some, edges[root, place]] = table[root, some, place].T


def to_rows(edges: Longs, slots: Floats) -> NDArray[np.float32]:
    """Rows [roots, buckets, ROW] from slots [buckets, edges]."""
    table = np.zeros((len(edges), len(slots), ROW), np.float32)
    root, place = np.nonzero(edges >= 0)
    for some in _parts(len(slots)):
        table[root, some, place] = slots[some, edges[root, place]].T
    return table


def _parts(buckets: int) -> list[slice]:
    """So few buckets at a time that they stay in the processor's cache."""
    return [slice(first, first + COPIED) for first in range(0, buckets, COPIED)]


def _new_rows(roots: int, buckets: int) -> Rows:
    shapes = (ROW,), (ROW,), (ROW,), (LINES,), ()
    return Rows(*(zeros_on_gpu((roots, buckets, *rest), np.float32) for rest in shapes))


def _single(table: Floats) -> Any:
    return to_gpu(table.astype(np.float32))
