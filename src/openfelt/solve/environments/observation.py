"""What a player observes at a decision, written by kernels: one row of an array of vectors.

The functions are dispatched on the layout of the vectors: that of hold'em is `HoldemLayout`, that of
enumerated games `TreeLayout`. The layouts are those of `games/features/`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import CARDS
from openfelt.core.jit import Ints, Longs, part
from openfelt.games.compile.betting_tree import ACTIONS_MASK, FACING_SHIFT, KIND, STREET_SHIFT
from openfelt.games.features.enumerated import EnumeratedFeatures
from openfelt.games.features.features import Masks, Vectors
from openfelt.games.features.holdem import ACTIONS, HoldemLayout, rename_suits
from openfelt.solve.traverse.episode import PLAYER, dispatched, implements
from openfelt.solve.traverse.holdem import DRAWN, Deal

NUM_ACTIONS = len(ACTIONS)
RANK_BITS = 13


class TreeLayout(NamedTuple):
    """The vectors of an enumerated game: columns by observation, and the infosets of nodes."""

    players: int
    row: Ints  # [nodes]
    places: NDArray[np.int16]  # [infosets, actions]
    before: Ints  # [observations]
    column: Ints  # [observations]
    of_row: Ints  # [infosets]


def tree_layout(features: EnumeratedFeatures) -> TreeLayout:
    """The layout of an enumerated game."""
    tree, lists = features.tree, features.lists
    return TreeLayout(tree.players, tree.nodes.row, features.places, lists.before, lists.column, lists.of_row)


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
    for column in range(len(vector)):
        vector[column] = 0.0
    vector[node[here, PLAYER]] = 1.0
    at = layout.of_row[row]
    while at >= 0:
        if layout.column[at] >= 0:
            vector[layout.players + layout.column[at]] = 1.0
        at = layout.before[at]
    for action in range(len(mask)):
        mask[action] = layout.places[row, action] >= 0
    return int(row)
