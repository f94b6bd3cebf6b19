"""The hands of a match as records: the actions follow from the leaf of each hand, the cards from the seed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from openfelt.arena.hand_kernels import Deals, HandOutcomes
from openfelt.arena.statistics.aivat import parents
from openfelt.cards.deck import BOARD_CARDS, card_text
from openfelt.core.errors import FeltError
from openfelt.core.jit import Ints
from openfelt.games.compile.betting_tree import PLACE, BettingTree
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.game import CHANCE, TERMINAL

ENDINGS = (".phh", ".phhs", ".db")


class PlayedHand(NamedTuple):
    """One hand, without the names of its players."""

    dealt: tuple[str, ...]
    actions: tuple[str, ...]
    won: tuple[float, ...]  # by seat


def require_history(path: Path) -> None:
    """Raise if the hands could not be written to that file, before the match is played."""
    if path.suffix not in ENDINGS:
        raise FeltError(f"The file of a history must end in .phhs, .phh or .db, unlike {path.name}.")
    if not path.parent.is_dir():
        raise FeltError(f"There is no folder {path.parent} for the history; create it first.")
    if path.exists():
        raise FeltError(f"{path} exists already; choose another file for the history.")


def holdem_hands(tree: BettingTree, deals: Deals, outcomes: HandOutcomes) -> Iterator[PlayedHand]:
    """Hands of hold'em: deal by deal, one seating after the other."""
    players, parent = tree.players, parents(tree)
    for deal, cards in enumerate(deals.cards.tolist()):
        words = tuple(map(card_text, cards))
        for time, leaf in enumerate(outcomes.leaf[deal].tolist()):
            path = _path(parent, leaf)
            actions = tuple(tree.actions(here)[after - tree.child(here, 0)] for here, after in pairwise(path))
            inside = int(tree.leaves.inside[tree.node[leaf, PLACE]])
            street = 3 if inside & (inside - 1) else tree.street(path[-2])
            dealt = words[: 2 * players + BOARD_CARDS[street]]
            yield PlayedHand(dealt, actions, tuple(outcomes.won[deal, time].tolist()))


def tree_hands(tree: GameTree, leaves: Ints) -> Iterator[PlayedHand]:
    """Hands of an enumerated game that ended at these leaves."""
    nodes = tree.nodes
    parent = np.full(tree.num_nodes, -1, np.int32)
    inner = np.flatnonzero(nodes.num_children)
    parent[1:] = np.repeat(inner, nodes.num_children[inner])
    for leaf in leaves.ravel().tolist():
        dealt, actions = [], []
        for here, after in pairwise(_path(parent, leaf)):
            place, row = after - int(nodes.first_child[here]), int(nodes.row[here])
            if nodes.player[here] == CHANCE:
                dealt.append(tree.labels[tree.rows.chance_label[row + place]])
            else:
                actions.append(tree.actions(row)[place])
        assert nodes.player[leaf] == TERMINAL
        yield PlayedHand(tuple(dealt), tuple(actions), tuple(nodes.payoffs[nodes.row[leaf]].tolist()))


def _path(parent: Ints, leaf: int) -> list[int]:
    """The nodes from the root to a leaf."""
    path = [leaf]
    while parent[path[-1]] >= 0:
        path.append(int(parent[path[-1]]))
    return path[::-1]
