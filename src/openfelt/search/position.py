"""Where a search starts: the decision at hand, and what may be hidden behind it.

Two views of it (PGC10, step 3). In the searcher's own, he holds what he holds and the others what he believes
them to. In that of the others, who do not know his cards, everybody may hold what all believe.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from openfelt.base.jit import Floats, Ints
from openfelt.base.random import Stream, uniform
from openfelt.cards.boards import find_board
from openfelt.cards.deck import BOARD_CARDS, PAIR, PAIRS
from openfelt.traverse.betting import BOARD, PERMUTATION, STREET, Deal, HoldemTree, place_hands
from openfelt.traverse.enumerated import EpisodeTree, settle
from openfelt.traverse.episode import implements, question
from openfelt.traverse.known_cards import draw_hands, pairs_without, pick

OWN, OTHERS = 0, 1  # the views


class HoldemPosition(NamedTuple):
    """Of hold'em."""

    tree: HoldemTree
    root: int  # the node
    seat: int  # of the searcher, whose turn it is
    summed: Floats  # [views, players, 1326] running sums of how likely each pair is
    board: Ints
    at: Ints  # [3] the street, the number of the board, its permutation of suits


class TreePosition(NamedTuple):
    """Of an enumerated game; the others' view is that of the whole game from its start."""

    tree: EpisodeTree
    seat: int
    nodes: Ints  # where the searcher may be
    summed: Floats  # [nodes] running sums of how likely


@question
def begin_at(position: Any, view: int, deal: Deal, stream: Stream) -> int:
    """Start an episode there: the node of the decision."""
    raise NotImplementedError


@implements(begin_at, HoldemPosition)
def _begin_holdem(position: HoldemPosition, view: int, deal: Deal, stream: Stream) -> int:
    draw_hands(position.summed[view], position.board, deal, stream)
    deal.at[STREET], deal.at[BOARD], deal.at[PERMUTATION] = position.at[0], position.at[1], position.at[2]
    place_hands(position.tree, deal, position.at[0], deal.shift)
    return position.root


@implements(begin_at, TreePosition)
def _begin_tree(position: TreePosition, view: int, deal: Deal, stream: Stream) -> int:
    if view == OTHERS:
        return settle(position.tree, 0, stream)
    return int(position.nodes[pick(position.summed, uniform(stream))])


def holdem_position(
    tree: HoldemTree,
    root: int,
    seat: int,
    hole: Sequence[int],
    board: Sequence[int],
    beliefs: Floats | None = None,
) -> HoldemPosition:
    """`beliefs` [players, 1326]: how likely each pair is, of the searcher as the others see it; or any."""
    players = int(tree.leaves.paid.shape[1])
    weights = np.ones((players, PAIRS)) if beliefs is None else beliefs
    own = weights * pairs_without((*hole, *board))
    own[seat] = 0.0
    own[seat, PAIR[hole[0], hole[1]]] = 1.0
    views = np.stack([own, weights * pairs_without(board)])
    summed = np.cumsum(views, axis=2)
    number, permutation = find_board(board)
    at = np.array([BOARD_CARDS.index(len(board)), number, permutation], np.int32)
    return HoldemPosition(tree, root, seat, summed / summed[:, :, -1:], np.array(board, np.int32), at)


def tree_position(tree: EpisodeTree, seat: int, nodes: Ints, likely: Floats) -> TreePosition:
    """`nodes` are those of the searcher's row, `likely` how likely each of them is."""
    summed = np.cumsum(likely)
    return TreePosition(tree, seat, np.ascontiguousarray(nodes, np.int32), summed / summed[-1])
