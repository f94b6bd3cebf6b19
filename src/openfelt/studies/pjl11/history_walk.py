"""Restricted Nash responses by the textbook: CFR that walks every history of the game with the coin.

Its policies are those of `CFR(restriction=)`, which passes over the sequence form instead; what differs is
the time of an iteration. (Where actions tie exactly, rounding decides, and then they may differ.) It is here
to be timed, as that by which PJL11's Figure 7 judges sampling.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.core.jit import Floats, Longs, episode_kernel, part
from openfelt.games.compile.game_tree import GameTree, RowArrays, TreeArrays
from openfelt.solve.restriction import ONCE
from openfelt.solve.solver import Solver


class WalkTables(NamedTuple):
    """What is learned, and what is played, per slot."""

    regret: Floats
    average: Floats  # his own reach, summed over iterations and over the histories of the row
    free: Floats  # the policies of both where the coin left the bound player free
    bound: Floats  # the same where it did not: his rows have the fixed policy


class Notes(NamedTuple):
    """What a walk writes, per history."""

    own: Floats  # the reach of the player whose walk it is
    others: Floats  # that of the other, of chance and of the coin
    value: Floats  # what the history is worth to him


class HistoryCFR(Solver):
    """CFR on the game with one toss, history by history; the players are updated in turn."""

    name: ClassVar[str] = "history-cfr"
    summary: ClassVar[str] = "CFR that walks all histories of a game with a bound player"

    def _start(self) -> None:
        assert self.restriction is not None
        assert self.restriction.toss == ONCE
        self._p, self._seat = float(self.restriction.bounds[0]), self.restriction.seat
        assert isinstance(self.tree, GameTree)
        self._nodes, self._rows = self.tree.nodes, self.tree.rows
        self._tables = WalkTables(*(np.zeros(self.tree.num_slots) for _ in WalkTables._fields))
        self._notes = Notes(*(np.zeros(self.tree.num_nodes) for _ in Notes._fields))
        self._tables.bound[:] = self.restriction.table
        for player in range(self.tree.players):
            _play_regrets(self._rows, self._tables, player, player != self._seat)

    def _advance(self, iterations: int) -> None:
        _iterate(self._nodes, self._rows, self._tables, self._notes, self._seat, self._p, iterations)

    @property
    def weights(self) -> Floats:
        return self._tables.average

    def tables(self) -> dict[str, NDArray[Any]]:
        return {"regret": self._tables.regret, "average": self._tables.average}


@episode_kernel
def _iterate(
    nodes: TreeArrays, rows: RowArrays, tables: WalkTables, notes: Notes, seat: int, p: float, iterations: int
) -> None:
    """The player at `seat` is bound with probability p; where he is, there is nothing for him to learn."""
    for _ in range(iterations):
        for player in range(2):
            _walk(nodes, rows.first_slot, tables.free, tables, notes, player, 1.0 - p)
            if player != seat:
                _walk(nodes, rows.first_slot, tables.bound, tables, notes, player, p)
            _play_regrets(rows, tables, player, player != seat)


@part
def _walk(
    nodes: TreeArrays,
    first_slot: Longs,
    policy: Floats,
    tables: WalkTables,
    notes: Notes,
    player: int,
    coin: float,
) -> None:
    """Add to one player's regrets and average what he meets on one side of the coin.

    Histories stand parents first, so a loop forwards goes down the tree and a loop backwards up again. (A
    walk that goes down to each leaf in turn, with a stack, takes as long.)
    """
    notes.own[0], notes.others[0] = 1.0, coin
    for node in range(len(nodes.player)):
        if nodes.num_children[node] > 0:
            _go_down(nodes, first_slot, policy, notes, player, node)
    for node in range(len(nodes.player) - 1, -1, -1):
        if nodes.num_children[node] == 0:
            notes.value[node] = nodes.payoffs[nodes.row[node], player]
        else:
            _come_back(nodes, first_slot, policy, tables, notes, player, node)


@part
def _go_down(
    nodes: TreeArrays, first_slot: Longs, policy: Floats, notes: Notes, player: int, node: int
) -> None:
    """The reach of the histories that follow."""
    mover, row, child = nodes.player[node], nodes.row[node], nodes.first_child[node]
    own, others = notes.own[node], notes.others[node]
    first = first_slot[row] if mover >= 0 else row
    for way in range(nodes.num_children[node]):
        if mover == player:
            notes.own[child + way] = own * policy[first + way]
            notes.others[child + way] = others
        else:
            notes.own[child + way] = own
            notes.others[child + way] = others * (
                policy[first + way] if mover >= 0 else nodes.chance[first + way]
            )


@part
def _come_back(
    nodes: TreeArrays,
    first_slot: Longs,
    policy: Floats,
    tables: WalkTables,
    notes: Notes,
    player: int,
    node: int,
) -> None:
    """What the history is worth; where he moves, his regrets for each action, and his average."""
    mover, row, child = nodes.player[node], nodes.row[node], nodes.first_child[node]
    first = first_slot[row] if mover >= 0 else row
    value = 0.0
    for way in range(nodes.num_children[node]):
        chance = policy[first + way] if mover >= 0 else nodes.chance[first + way]
        value += chance * notes.value[child + way]
    notes.value[node] = value
    if mover == player:
        own, others = notes.own[node], notes.others[node]
        for way in range(nodes.num_children[node]):
            tables.regret[first + way] += others * (notes.value[child + way] - value)
            tables.average[first + way] += own * policy[first + way]


@episode_kernel
def _play_regrets(rows: RowArrays, tables: WalkTables, player: int, on_both_sides: bool) -> None:
    """Play in proportion to positive regret; evenly where there is none."""
    for row in range(rows.first_row[player], rows.first_row[player + 1]):
        first, last = rows.first_slot[row], rows.first_slot[row + 1]
        total = 0.0
        for slot in range(first, last):
            total += max(tables.regret[slot], 0.0)
        for slot in range(first, last):
            share = max(tables.regret[slot], 0.0) / total if total > 0.0 else 1.0 / (last - first)
            tables.free[slot] = share
            if on_both_sides:
                tables.bound[slot] = share
