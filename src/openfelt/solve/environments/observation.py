"""What a player observes at a decision, written by kernels: one row of an array of vectors.

The functions are dispatched on the layout of the vectors: that of hold'em is `HoldemLayout`, that of
enumerated games `TreeLayout` or, if their histories are not listed, `StateLayout`. The layouts are those of
`games/features/`.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import CARDS
from openfelt.core.jit import Ints, Longs, part
from openfelt.games.compile.betting_tree import ACTIONS_MASK, FACING_SHIFT, KIND, STREET_SHIFT
from openfelt.games.compile.compiler import state_graph
from openfelt.games.compile.factored_tree import FactoredTree
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.compile.infoset_tree import InfosetTree
from openfelt.games.features.enumerated import EnumeratedFeatures
from openfelt.games.features.features import Masks, Vectors
from openfelt.games.features.holdem import ACTIONS, HoldemLayout, rename_suits
from openfelt.solve.traverse.episode import IMPLEMENTATIONS, PLAYER, dispatched, implements
from openfelt.solve.traverse.holdem import DRAWN, Deal

NUM_ACTIONS = len(ACTIONS)
RANK_BITS = 13


class TreeLayout(NamedTuple):
    """The vectors of an enumerated game: columns by observation, and the infosets of nodes."""

    players: int
    row: Ints  # [nodes]
    places: NDArray[np.int16]  # [infosets, actions]
    before: Ints  # [lists of observations]
    column: Ints  # [lists]
    of_row: Ints  # [infosets]


class StateLayout(NamedTuple):
    """The vectors of a game compiled without its histories: columns by observation, actions of states."""

    players: int
    places: NDArray[np.int16]  # [states, actions]
    row: Ints  # [lists of observations] the infoset to which a list leads, or -1
    before: Ints  # [lists]
    column: Ints  # [lists]


@singledispatch
def tree_layout(tree: InfosetTree, features: EnumeratedFeatures) -> Any:
    """The layout of a compiled game's vectors."""
    raise NotImplementedError(type(tree).__name__)


@tree_layout.register
def _(tree: GameTree, features: EnumeratedFeatures) -> TreeLayout:
    lists = features.lists
    return TreeLayout(tree.players, tree.nodes.row, features.places, lists.before, lists.column, lists.of_row)


@tree_layout.register
def _(tree: FactoredTree, features: EnumeratedFeatures) -> StateLayout:
    graph, lists = state_graph(tree.game), features.lists
    number = np.array([[*features.actions, word].index(word) for word in graph.labels])
    state = np.repeat(np.arange(len(graph.turn)), np.diff(graph.first_edge))
    own = np.flatnonzero(graph.turn[state] >= 0)
    places = np.full((len(graph.turn), len(features.actions)), -1, np.int16)
    places[state[own], number[graph.action[own]]] = own - graph.first_edge[state[own]]
    row = np.full(len(lists.before), -1, np.int32)
    row[lists.of_row] = np.arange(tree.num_rows)
    return StateLayout(tree.players, places, row, lists.before, lists.column)


@dispatched
def action_place(layout: Any, node: Any, here: int, action: int) -> int:
    """The place of an action among those of a node, by its number; -1 if it is illegal."""
    raise NotImplementedError


@dispatched
def start_vector(layout: Any, vector: Vectors) -> None:
    """Prepare the vector for the first decision of a game."""
    raise NotImplementedError


@dispatched
def note_action(
    layout: Any, vector: Vectors, node: Any, here: int, after: int, place: int, at: Longs
) -> None:
    """Note an action in the vector; `at` [1] is the place of the action in its betting line."""
    raise NotImplementedError


@dispatched
def observe(layout: Any, vector: Vectors, mask: Masks, node: Any, here: int, deal: Deal, suits: Longs) -> int:
    """Fill in vector and mask for the player to move; returns the infoset, or -1. `suits` is scratch, [8]."""
    raise NotImplementedError


@implements(action_place, HoldemLayout)
def _holdem_place(layout: HoldemLayout, node: Ints, here: int, action: int) -> int:
    kind = node[here, KIND]
    place = action - (1 - (kind >> FACING_SHIFT & 1))  # nobody folds if there is nothing to call
    return int(place) if 0 <= action < NUM_ACTIONS and 0 <= place < kind & ACTIONS_MASK else -1


@implements(start_vector, HoldemLayout)
def _holdem_start(layout: HoldemLayout, vector: Vectors) -> None:
    for column in range(layout.cards):
        vector[column] = 0.0


@implements(note_action, HoldemLayout)
def _holdem_note(
    layout: HoldemLayout, vector: Vectors, node: Ints, here: int, after: int, place: int, at: Longs
) -> None:
    kind = node[here, KIND]
    street = kind >> STREET_SHIFT & 3
    code = place + 1 - (kind >> FACING_SHIFT & 1) - (NUM_ACTIONS - layout.codes)
    if code >= 0:
        vector[layout.betting + (street * layout.places + at[0]) * layout.codes + code] = 1.0
    at[0] = at[0] + 1 if node[after, KIND] >> STREET_SHIFT & 3 == street else 0


@implements(observe, HoldemLayout)
def _holdem_observe(
    layout: HoldemLayout, vector: Vectors, mask: Masks, node: Ints, here: int, deal: Deal, suits: Longs
) -> int:
    player, kind = node[here, PLAYER], node[here, KIND]
    for column in range(layout.betting):
        vector[column] = 0.0
    vector[player] = 1.0
    vector[layout.streets + (kind >> STREET_SHIFT & 3)] = 1.0
    first = 1 - (kind >> FACING_SHIFT & 1)
    for action in range(NUM_ACTIONS):
        mask[action] = first <= action < first + (kind & ACTIONS_MASK)
    for column in range(layout.cards, layout.size):
        vector[column] = 0.0
    keys, renamed, board = suits[:4], suits[4:], 2 * layout.players
    for suit in range(4):
        keys[suit] = 0
    for place in range(board, deal.at[DRAWN]):
        card = deal.cards[place]
        keys[card % 4] |= 1 << RANK_BITS * (3 - group_of(place - board)) + card // 4
    for place in range(2 * player, 2 * player + 2):
        card = deal.cards[place]
        keys[card % 4] |= 1 << card // 4
    rename_suits(keys, renamed)
    for place in range(board, deal.at[DRAWN]):
        card = deal.cards[place]
        vector[layout.cards + CARDS * group_of(place - board) + card // 4 * 4 + renamed[card % 4]] = 1.0
    for place in range(2 * player, 2 * player + 2):
        card = deal.cards[place]
        vector[layout.cards + CARDS * 3 + card // 4 * 4 + renamed[card % 4]] = 1.0
    return -1


@part
def group_of(place: int) -> int:
    """Flop (0), turn (1) or river (2): the group of a card of the board."""
    return max(place - 2, 0)


@implements(action_place, TreeLayout)
def _tree_place(layout: TreeLayout, node: Ints, here: int, action: int) -> int:
    places = layout.places[layout.row[here]]
    return int(places[action]) if 0 <= action < len(places) else -1


@implements(start_vector, TreeLayout)
def _tree_start(layout: TreeLayout, vector: Vectors) -> None:
    pass


@implements(note_action, TreeLayout)
def _tree_note(
    layout: TreeLayout, vector: Vectors, node: Ints, here: int, after: int, place: int, at: Longs
) -> None:
    pass


@implements(observe, TreeLayout)
def _tree_observe(
    layout: TreeLayout, vector: Vectors, mask: Masks, node: Ints, here: int, deal: Deal, suits: Longs
) -> int:
    row = layout.row[here]
    _write_list(layout, vector, node[here, PLAYER], layout.of_row[row])
    for action in range(len(mask)):
        mask[action] = layout.places[row, action] >= 0
    return int(row)


@part
def _write_list(layout: Any, vector: Vectors, player: int, at: int) -> None:
    """The vector of a player and its list of observations."""
    for column in range(len(vector)):
        vector[column] = 0.0
    vector[player] = 1.0
    while at >= 0:
        if layout.column[at] >= 0:
            vector[layout.players + layout.column[at]] = 1.0
        at = layout.before[at]


@implements(action_place, StateLayout)
def _state_place(layout: StateLayout, node: Ints, here: int, action: int) -> int:
    return int(layout.places[here, action]) if 0 <= action < layout.places.shape[1] else -1


for _same in (start_vector, note_action):
    implements(_same, StateLayout)(IMPLEMENTATIONS[_same, TreeLayout])


@implements(observe, StateLayout)
def _state_observe(
    layout: StateLayout, vector: Vectors, mask: Masks, node: Ints, here: int, deal: Deal, suits: Longs
) -> int:
    player = node[here, PLAYER]
    at = deal.cards[player]
    _write_list(layout, vector, player, at)
    for action in range(len(mask)):
        mask[action] = layout.places[here, action] >= 0
    return int(layout.row[at]) if at >= 0 else -1
