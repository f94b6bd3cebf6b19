"""A game compiled with and without its histories: the map between the two."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from openfelt.games.compile.factored_tree import FactoredTree
from openfelt.games.compile.game_tree import GameTree


def slots_in(tree: GameTree, factored: FactoredTree) -> NDArray[np.int64]:
    """[slots of the factored tree] the slots of the same actions in the tree of histories, by name."""
    found = np.empty(factored.num_slots, np.int64)
    for row in range(factored.num_rows):
        same = tree.find_row(factored.row_player(row), factored.row_name(row))
        assert factored.actions(row) == tree.actions(same)
        found[factored.slots(row)] = np.arange(*tree.slots(same).indices(tree.num_slots)[:2])
    return found
