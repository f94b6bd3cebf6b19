"""Vectors of enumerated games: the player, then a one-hot code of each of its observations.

An infoset is the list of its player's observations, so its vector has a column for each observation that is
possible at each place of the list: "1: K" is a first observation K. A public state is encoded in the same way
by the list of what everybody has observed (`Game.public`).
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.core.jit import Ints, kernel
from openfelt.games.compile.compiler import compile_game, compile_infosets
from openfelt.games.compile.observation_lists import observation_lists
from openfelt.games.compile.state_graph import explore
from openfelt.games.features.features import Features, Masks, Vectors
from openfelt.games.game import Game
from openfelt.games.hand import Hand


class Lists(NamedTuple):
    """Lists of observations: each is the list before it and its last observation."""

    before: Ints  # [lists] -1 at the start
    label: Ints  # [lists]
    column: Ints  # [lists] of the last observation, counted from 0; -1 if there is none
    of_row: Ints  # [infosets] the list of each


class EnumeratedFeatures(Features):
    """The vectors of an enumerated game."""

    def __init__(self, game: Game) -> None:
        self.game, self.tree = game, compile_infosets(game)
        labels = np.unique(self.tree.slot_label)
        self.actions = tuple(self.tree.labels[label] for label in labels)
        self._number = np.full(len(self.tree.labels), -1, np.int32)
        self._number[labels] = np.arange(len(labels))
        self.lists, words = _with_columns(*observation_lists(self.tree))
        self.names = self._named(words)
        self._columns = {word: place for place, word in enumerate(self.names)}

    def _named(self, words: list[str]) -> tuple[str, ...]:
        return (*(f"player {player}" for player in range(self.tree.players)), *words)

    @cached_property
    def _public(self) -> tuple[Lists, tuple[str, ...]]:
        before, label, of_row, labels = _public_lists(self.game)
        lists, words = _with_columns(before, label, of_row, labels)
        return lists, self._named(words)

    @property
    def public_names(self) -> tuple[str, ...]:  # type: ignore[override]
        return self._public[1]

    def infoset(self, hand: Hand, player: int | None = None) -> Vectors:
        me = hand.mover if player is None else player
        return self._encode(self._columns, me, [step.seen[me] for step in hand.steps])

    def public_state(self, hand: Hand) -> Vectors:
        seen = [
            self.game.public(state, step.action, step.seen)
            for state, step in zip(hand.states, hand.steps, strict=True)
        ]
        columns = {word: place for place, word in enumerate(self.public_names)}
        return self._encode(columns, hand.mover, seen)

    def _encode(self, columns: dict[str, int], player: int, seen: list[str]) -> Vectors:
        """A vector from observations; those that no infoset contains have no column."""
        vector = np.zeros(len(columns), np.float32)
        if player >= 0:
            vector[player] = 1.0
        for place, word in enumerate(filter(None, seen), 1):
            if (column := columns.get(f"{place}: {word}")) is not None:
                vector[column] = 1.0
        return vector

    def table(self, rows: NDArray[np.integer] | None = None) -> Vectors:
        """[infosets, size] the vectors of infosets, by default of all."""
        return self._table(self.lists, self.size, rows)

    def public_table(self, rows: NDArray[np.integer] | None = None) -> Vectors:
        """[infosets, public_size] the public states of infosets, by default of all."""
        return self._table(self._public[0], self.public_size, rows)

    def _table(self, lists: Lists, size: int, rows: NDArray[np.integer] | None) -> Vectors:
        chosen = np.arange(self.tree.num_rows) if rows is None else np.asarray(rows)
        table = np.zeros((len(chosen), size), np.float32)
        players = self.tree.players
        table[np.arange(len(chosen)), np.searchsorted(self.tree.first_row, chosen, "right") - 1] = 1.0
        at, where = lists.of_row[chosen], np.arange(len(chosen))
        while len(where):
            coded = lists.column[at] >= 0
            table[where[coded], players + lists.column[at[coded]]] = 1.0
            at = lists.before[at]
            where, at = where[at >= 0], at[at >= 0]
        return table

    @cached_property
    def places(self) -> NDArray[np.int16]:
        """[infosets, actions] the place of each action among those of the infoset; -1: it is illegal."""
        first = self.tree.first_slot
        row = np.repeat(np.arange(self.tree.num_rows), np.diff(first))
        places = np.full((self.tree.num_rows, len(self.actions)), -1, np.int16)
        places[row, self._number[self.tree.slot_label]] = np.arange(self.tree.num_slots) - first[row]
        return places

    def masks(self) -> Masks:
        """[infosets, actions] the legal actions."""
        return self.places >= 0


def _with_columns(
    before: Ints, label: Ints, of_row: Ints, labels: tuple[str, ...]
) -> tuple[Lists, list[str]]:
    """Number the observations by place and label, as far as infosets contain them."""
    used = np.zeros(len(before), np.bool_)
    used[of_row] = True
    place = np.zeros(len(before), np.int64)
    _mark(before, label, used, place)
    coded = used & (label > 0)
    keys, column = np.unique(place[coded] * len(labels) + label[coded], return_inverse=True)
    columns = np.full(len(before), -1, np.int32)
    columns[coded] = column
    words = [f"{key // len(labels)}: {labels[key % len(labels)]}" for key in keys.tolist()]
    return Lists(before, label, columns, of_row), words


@kernel
def _mark(before: Ints, label: Ints, used: Masks, place: NDArray[np.int64]) -> None:
    """Mark the lists that begin a used one, and count their observations; a list comes after its start."""
    for here in range(len(before) - 1, -1, -1):
        if used[here] and before[here] >= 0:
            used[before[here]] = True
    for here in range(len(before)):
        place[here] = label[here] > 0
        if before[here] >= 0:
            place[here] += place[before[here]]


def _public_lists(game: Game) -> tuple[Ints, Ints, Ints, tuple[str, ...]]:
    """Lists of public observations: before, label, and that of each infoset; the texts of labels."""
    tree, graph = compile_game(game), explore(game)
    size = tree.num_nodes
    before, label, longer, sibling = (np.full(size, -1, np.int32) for _ in range(4))
    of_row, label[0] = np.full(tree.num_rows, -1, np.int32), 0
    state, knows = np.zeros((2, size), np.int32)
    edges = graph.first_edge, graph.target, graph.public
    nodes = tree.nodes.player, tree.nodes.num_children, tree.nodes.first_child, tree.nodes.row
    count = _follow(edges, nodes, (state, knows), (before, label, longer, sibling), of_row)
    return before[:count], label[:count], of_row, graph.labels


@kernel
def _follow(edges: Any, nodes: Any, at: Any, lists: Any, of_row: Ints) -> int:
    """Pass the public list of each node on to its children; returns the number of lists."""
    first_edge, target, public = edges
    player, num_children, first_child, row = nodes
    state, knows = at
    before, label, longer, sibling = lists
    count = 1
    for node in range(len(player)):
        if player[node] >= 0:
            of_row[row[node]] = knows[node]
        for place in range(num_children[node]):
            edge, child, found = first_edge[state[node]] + place, first_child[node] + place, knows[node]
            state[child] = target[edge]
            if public[edge]:
                found = longer[knows[node]]
                while found >= 0 and label[found] != public[edge]:
                    found = sibling[found]
                if found < 0:
                    found, count = count, count + 1
                    before[found], label[found] = knows[node], public[edge]
                    sibling[found], longer[knows[node]] = longer[knows[node]], found
            knows[child] = found
    return count
