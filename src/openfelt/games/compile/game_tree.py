"""The tree of histories as flat arrays: what kernels read of an enumerated game.

Nodes (histories) are numbered breadth first, so children are consecutive and come after their parent: a
forward loop visits parents first, a backward loop children first. A node takes 13 bytes. A *row* is the
number of an infoset.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.core.errors import GameError
from openfelt.core.jit import Floats, Ints, for_rounds, kernel, part
from openfelt.core.memory import machine_memory
from openfelt.games.compile.infoset_tree import InfosetTree
from openfelt.games.compile.state_graph import MOST_NODES, StateGraph
from openfelt.games.game import CHANCE, TERMINAL

NODE_BYTES = 13


class TreeArrays(NamedTuple):
    """The nodes. `row` has three meanings: see its comment."""

    player: NDArray[np.int8]  # [nodes] player to move, CHANCE or TERMINAL
    num_children: Ints  # [nodes]
    first_child: Ints  # [nodes] the children are first_child, first_child + 1, ...
    row: Ints  # [nodes] infoset of a decision; index into `chance` of a chance node, `payoffs` of a leaf
    chance: Floats  # probabilities; those of a chance node's children begin at row[node]
    payoffs: Floats  # [different payoffs, players]


class RowArrays(NamedTuple):
    """The infosets: those of player 0 first, then of player 1, ...; parents before their children."""

    first_row: NDArray[np.int64]  # [players + 1] the rows of player p are first_row[p] up to first_row[p + 1]
    first_slot: NDArray[np.int64]  # [rows + 1] the actions of a row have the slots first_slot[row], ...
    slot_label: Ints  # [slots] label of the action
    chance_label: Ints  # labels of the outcomes of chance, parallel to `chance`
    information: Ints  # [rows] the last observation, an index into the next two
    before: Ints  # [observations] the observation before it; -1 at the start
    label: Ints  # [observations] its label


class BettingArrays(NamedTuple):
    """In poker: stakes of each infoset, and which of its actions checks or calls."""

    pot: Floats  # [rows] chips in the pot at the start of the betting round; nan if the game is not poker
    potential: Floats  # [rows] the most chips that can be added from then on
    passive: NDArray[np.int8]  # [rows] position of the action that checks or calls, or -1


@dataclass(frozen=True, eq=False)
class GameTree(InfosetTree):
    """A compiled game: its histories, its infosets and their names."""

    game: str  # its name
    players: int
    unit: str
    nodes: TreeArrays
    rows: RowArrays
    betting: BettingArrays
    labels: tuple[str, ...]

    @property
    def num_nodes(self) -> int:
        return len(self.nodes.player)

    @property
    def first_row(self) -> NDArray[np.int64]:
        return self.rows.first_row

    @property
    def first_slot(self) -> NDArray[np.int64]:
        return self.rows.first_slot

    @property
    def slot_label(self) -> Ints:
        return self.rows.slot_label

    @property
    def payoff_range(self) -> tuple[float, float]:
        """The lowest and the highest payoff of any player."""
        return float(self.nodes.payoffs.min()), float(self.nodes.payoffs.max())

    def pots(self) -> tuple[Floats, Floats]:
        """In poker, [slots]: the pot at the start of the betting round, and what can be added after it."""
        counts = np.diff(self.rows.first_slot)
        return np.repeat(self.betting.pot, counts), np.repeat(self.betting.potential, counts)

    def passive_actions(self) -> NDArray[np.int8]:
        """[slots] position of the action of the infoset that checks or calls, or -1."""
        return np.repeat(self.betting.passive, np.diff(self.rows.first_slot))

    @property
    def two_player_zero_sum(self) -> bool:
        return self.players == 2 and bool((abs(self.nodes.payoffs.sum(axis=1)) < 1e-9).all())

    def row_name(self, row: int) -> str:
        """The name of an infoset: all observations of its player, in order, such as "K pass bet"."""
        return _words_seen(int(self.rows.information[row]), self.rows, self.labels)

    def find_row(self, player: int, name: str) -> int:
        """The infoset of that name, as `row_name` writes it."""
        try:
            return self._row_numbers[player, name]
        except KeyError:
            raise GameError(f"{self.game} has no infoset '{name}' for player {player}.") from None

    @cached_property
    def _row_numbers(self) -> dict[tuple[int, str], int]:
        return {(self.row_player(row), self.row_name(row)): row for row in range(self.num_rows)}

    @cached_property
    def fingerprint(self) -> str:
        """Equal for two trees if and only if histories, chance, payoffs, infosets and names are equal."""
        digest = hashlib.sha256("\0".join(self.labels).encode())
        for array in (*self.nodes, *self.rows):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()[:32]


def unfold(graph: StateGraph, game: str, unit: str) -> GameTree:
    """Unfold the graph of states into the tree of histories, and number the infosets."""
    size = graph.num_histories
    if size > MOST_NODES:
        raise GameError(f"{game} has {size:.3g} histories; at most {MOST_NODES:.3g} can be compiled.")
    players = graph.seen.shape[1]
    needed, there = size * (NODE_BYTES + 4 + 4 * players), machine_memory()
    if needed > there:
        raise GameError(
            f"{game} needs {needed / 1e9:.1f} GB to be compiled; this machine has {there / 1e9:.1f}."
        )
    chance_place, chance, chance_label = _distributions(graph)
    tree = TreeArrays(
        player=np.empty(size, np.int8),
        num_children=np.empty(size, np.int32),
        first_child=np.empty(size, np.int32),
        row=np.empty(size, np.int32),
        chance=chance,
        payoffs=graph.payoffs,
    )
    state, knows = np.zeros(size, np.int32), np.empty((size, players), np.int32)
    knows[0] = range(players)
    edges = (graph.turn, graph.first_edge, graph.target, graph.action, graph.seen, graph.payoff, chance_place)
    seen = _Seen(*(np.full(1024, -1, np.int32) for _ in _Seen._fields))
    seen.label[:players] = 0
    node, at, expand = 0, [1, players, 0], for_rounds(_unfold, size)
    while True:
        node, *at = expand(edges, tree, state, knows, seen, node, *at)
        if node == size:
            break
        if node < 0:
            known = _words_seen(int(seen.row_information[tree.row[~node]]), seen, graph.labels)
            raise GameError(f"{game}: histories of the infoset '{known}' differ in their actions.")
        seen = _Seen(*(np.concatenate([array, np.full_like(array, -1)]) for array in seen))
    _, num_informations, num_rows = at
    rows, betting = _sorted_rows(tree, graph, seen, num_informations, num_rows, chance_label)
    return GameTree(game, players, unit, tree, rows, betting, graph.labels)


class _Seen(NamedTuple):
    """Lists of observations, each stored as the list before it and the last observation."""

    before: Ints
    label: Ints
    longer: Ints  # the first continuation of a list
    sibling: Ints  # the next continuation of the list before it
    row: Ints  # the infoset of a list, or -1
    row_information: Ints  # the list of an infoset
    row_state: Ints  # the state at the first history of an infoset


def _words_seen(information: int, seen: _Seen | RowArrays, labels: tuple[str, ...]) -> str:
    words = []
    while information >= 0:
        words.append(labels[seen.label[information]])
        information = int(seen.before[information])
    return " ".join(word for word in reversed(words) if word) or "start"


def _distributions(graph: StateGraph) -> tuple[Ints, Floats, Ints]:
    """The index of each chance state's probabilities, and these; equal distributions are stored once."""
    place = np.full(len(graph.turn), -1, np.int32)
    known: dict[bytes, int] = {}
    chosen: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    length = 0
    for state in np.flatnonzero(graph.turn == CHANCE):
        edges = np.arange(graph.first_edge[state], graph.first_edge[state + 1])
        key = graph.chance[edges].tobytes() + graph.action[edges].tobytes()
        if key not in known:
            known[key] = length
            chosen.append(edges)
            length += len(edges)
        place[state] = known[key]
    stored = np.concatenate(chosen)
    return place, graph.chance[stored], graph.action[stored]


def _sorted_rows(
    tree: TreeArrays,
    graph: StateGraph,
    seen: _Seen,
    num_informations: int,
    num_rows: int,
    chance_label: Ints,
) -> tuple[RowArrays, BettingArrays]:
    """Renumber the infosets by player (they were breadth first), and list their actions and stakes."""
    mover = graph.turn[seen.row_state[:num_rows]]
    order = np.argsort(mover, kind="stable")
    rank = np.empty(num_rows, np.int32)
    rank[order] = np.arange(num_rows, dtype=np.int32)
    decision = tree.player >= 0
    tree.row[decision] = rank[tree.row[decision]]
    state = seen.row_state[order]
    counts = graph.first_edge[state + 1] - graph.first_edge[state]
    first_slot = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    edges = np.repeat(graph.first_edge[state] - first_slot[:-1], counts) + np.arange(first_slot[-1])
    rows = RowArrays(
        first_row=np.searchsorted(mover[order], np.arange(graph.seen.shape[1] + 1)).astype(np.int64),
        first_slot=first_slot,
        slot_label=graph.action[edges],
        chance_label=chance_label,
        information=seen.row_information[order],
        before=seen.before[:num_informations].copy(),
        label=seen.label[:num_informations].copy(),
    )
    pot, potential = graph.stakes[state].T.copy()
    return rows, BettingArrays(pot, potential, graph.passive[state])


@kernel
def _unfold(
    edges: Any,  # turn, first_edge, target, action, seen, payoff of the graph, and indices of its chances
    tree: TreeArrays,
    state: Ints,  # [nodes] the state at each node
    knows: Ints,  # [nodes, players] each player's list of observations at each node
    seen: _Seen,
    node: int,
    free: int,
    num_informations: int,
    num_rows: int,
) -> tuple[int, int, int, int]:
    """Breadth-first expansion from `node` on; the arrays of nodes are their own queue.

    Returns the node at which it stopped (the last, or one for which `seen` has no room) and the counters to
    resume with. (Growing the arrays here would make numba count references in the loop.) Returns ~node if the
    actions at a node differ from those of its infoset.
    """
    turn, first_edge, target, action, sees, payoff, chance_place = edges
    num_nodes, players = knows.shape
    while node < num_nodes:
        here = state[node]
        mover = turn[here]
        degree = first_edge[here + 1] - first_edge[here]
        if num_informations + degree * players > len(seen.before):
            break
        tree.player[node] = mover
        tree.num_children[node] = degree
        tree.first_child[node] = free if degree else 0
        if mover == TERMINAL:
            tree.row[node] = payoff[here]
        elif mover == CHANCE:
            tree.row[node] = chance_place[here]
        else:
            mine = knows[node, mover]
            if seen.row[mine] < 0:
                seen.row_information[num_rows] = mine
                seen.row_state[num_rows] = here
                seen.row[mine] = num_rows
                num_rows += 1
            tree.row[node] = seen.row[mine]
            if not _same_actions(first_edge, action, here, seen.row_state[seen.row[mine]]):
                return ~node, free, num_informations, num_rows
        for edge in range(first_edge[here], first_edge[here + 1]):
            state[free] = target[edge]
            for player in range(players):
                word = sees[edge, player]
                at = knows[node, player]
                if word:
                    found = seen.longer[at]
                    while found >= 0 and seen.label[found] != word:
                        found = seen.sibling[found]
                    if found < 0:
                        found = num_informations
                        num_informations += 1
                        seen.before[found] = at
                        seen.label[found] = word
                        seen.sibling[found] = seen.longer[at]
                        seen.longer[at] = found
                    at = found
                knows[free, player] = at
            free += 1
        node += 1
    return node, free, num_informations, num_rows


@part
def _same_actions(first_edge: NDArray[np.int64], action: Ints, state: int, other: int) -> bool:
    if state == other:
        return True
    start, degree = first_edge[state], first_edge[state + 1] - first_edge[state]
    if degree != first_edge[other + 1] - first_edge[other]:
        return False
    for place in range(degree):  # noqa: SIM110
        if action[start + place] != action[first_edge[other] + place]:
            return False
    return True
