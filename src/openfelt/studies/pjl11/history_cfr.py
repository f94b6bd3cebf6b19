"""Textbook CFR for restricted Nash responses: every iteration traverses all histories of the game.

Its policies equal those of `CFR(restriction=)`, which traverses the sequence form instead; only the time of
an iteration differs. (Where actions tie exactly, rounding decides and policies may differ.) PJL11's Figure 7
compares sampling with it.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.core.jit import Floats, Longs, episode_kernel, part
from openfelt.games.compile.compiler import compile_game
from openfelt.games.compile.game_tree import RowArrays, TreeArrays
from openfelt.solve.restriction import ONCE
from openfelt.solve.solver import Solver

TRAVERSALS = 3  # of an iteration: one a player, and one more for the one that meets a bound opponent


class HistoryTables(NamedTuple):
    """Regrets and policies, per slot (an action of an infoset)."""

    regret: Floats
    average: Floats  # the player's own reach, summed over iterations and the histories of the infoset
    free: Floats  # policies of both players when the restricted player is free
    bound: Floats  # the same when it is bound to the fixed policy


class HistoryValues(NamedTuple):
    """Reach and values of a traversal, per history."""

    own: Floats  # reach of the traversing player
    others: Floats  # reach of the opponent, of chance and of the coin
    value: Floats  # expected value for the traversing player


class HistoryCFR(Solver):
    """CFR over all histories of the game with one coin toss; the players are updated in turn."""

    name: ClassVar[str] = "history-cfr"
    summary: ClassVar[str] = "CFR over all histories of a game with a restricted player"

    def _start(self) -> None:
        assert self.restriction is not None
        assert self.restriction.toss == ONCE
        self._p, self._seat = float(self.restriction.bounds[0]), self.restriction.seat
        tree = compile_game(self.tree)
        self._nodes, self._rows = tree.nodes, tree.rows
        self._tables = HistoryTables(*(np.zeros(self.tree.num_slots) for _ in HistoryTables._fields))
        self._history_values = HistoryValues(*(np.zeros(tree.num_nodes) for _ in HistoryValues._fields))
        self._tables.bound[:] = self.restriction.table
        for player in range(self.tree.players):
            _match_regrets(self._rows, self._tables, player, player != self._seat)

    def _advance(self, iterations: int) -> None:
        _iterate(self._nodes, self._rows, self._tables, self._history_values, self._seat, self._p, iterations)

    @property
    def weights(self) -> Floats:
        return self._tables.average

    def tables(self) -> dict[str, NDArray[Any]]:
        return {"regret": self._tables.regret, "average": self._tables.average}


@episode_kernel
def _iterate(
    nodes: TreeArrays,
    rows: RowArrays,
    tables: HistoryTables,
    values: HistoryValues,
    seat: int,
    p: float,
    iterations: int,
) -> None:
    """The player at `seat` is bound with probability p, and learns only when it is free."""
    for _ in range(iterations):
        for player in range(2):
            _traverse(nodes, rows.first_slot, tables.free, tables, values, player, 1.0 - p)
            if player != seat:
                _traverse(nodes, rows.first_slot, tables.bound, tables, values, player, p)
            _match_regrets(rows, tables, player, player != seat)


@part
def _traverse(
    nodes: TreeArrays,
    first_slot: Longs,
    policy: Floats,
    tables: HistoryTables,
    values: HistoryValues,
    player: int,
    coin: float,
) -> None:
    """Update one player's regrets and average strategy for one outcome of the coin.

    Histories are stored parents first, so a forward loop goes down the tree and a backward loop up. (A
    depth-first traversal with a stack takes as long.)
    """
    values.own[0], values.others[0] = 1.0, coin
    for node in range(len(nodes.player)):
        if nodes.num_children[node] > 0:
            _extend_reach(nodes, first_slot, policy, values, player, node)
    for node in range(len(nodes.player) - 1, -1, -1):
        if nodes.num_children[node] == 0:
            values.value[node] = nodes.payoffs[nodes.row[node], player]
        else:
            _back_up(nodes, first_slot, policy, tables, values, player, node)


@part
def _extend_reach(
    nodes: TreeArrays, first_slot: Longs, policy: Floats, values: HistoryValues, player: int, node: int
) -> None:
    """Compute the reach of the children of a history."""
    mover, row, child = nodes.player[node], nodes.row[node], nodes.first_child[node]
    own, others = values.own[node], values.others[node]
    first = first_slot[row] if mover >= 0 else row
    for action in range(nodes.num_children[node]):
        if mover == player:
            values.own[child + action] = own * policy[first + action]
            values.others[child + action] = others
        else:
            values.own[child + action] = own
            values.others[child + action] = others * (
                policy[first + action] if mover >= 0 else nodes.chance[first + action]
            )


@part
def _back_up(
    nodes: TreeArrays,
    first_slot: Longs,
    policy: Floats,
    tables: HistoryTables,
    values: HistoryValues,
    player: int,
    node: int,
) -> None:
    """Compute the value of a history; at the player's own, update regrets and average strategy."""
    mover, row, child = nodes.player[node], nodes.row[node], nodes.first_child[node]
    first = first_slot[row] if mover >= 0 else row
    value = 0.0
    for action in range(nodes.num_children[node]):
        chance = policy[first + action] if mover >= 0 else nodes.chance[first + action]
        value += chance * values.value[child + action]
    values.value[node] = value
    if mover == player:
        own, others = values.own[node], values.others[node]
        for action in range(nodes.num_children[node]):
            tables.regret[first + action] += others * (values.value[child + action] - value)
            tables.average[first + action] += own * policy[first + action]


@episode_kernel
def _match_regrets(rows: RowArrays, tables: HistoryTables, player: int, in_both_games: bool) -> None:
    """Regret matching: proportional to positive regret, uniform where there is none."""
    for row in range(rows.first_row[player], rows.first_row[player + 1]):
        first, last = rows.first_slot[row], rows.first_slot[row + 1]
        total = 0.0
        for slot in range(first, last):
            total += max(tables.regret[slot], 0.0)
        for slot in range(first, last):
            share = max(tables.regret[slot], 0.0) / total if total > 0.0 else 1.0 / (last - first)
            tables.free[slot] = share
            if in_both_games:
                tables.bound[slot] = share
