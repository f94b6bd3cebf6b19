"""Hold'em's tree for a search: it hides the latency of memory.

The boards and buckets of later streets are in tables of many megabytes; a simulation would spend most of its
time waiting for them. So the whole board is drawn at the start, and the buckets on it are prefetched. They
are looked up lazily, when an infoset is needed; a player that has left the tree needs none. Infosets are
those of `solve/traverse/holdem.py`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.boards import Boards, step
from openfelt.cards.deck import STREETS
from openfelt.core.jit import Ints, part
from openfelt.core.memory import scratch
from openfelt.core.prefetch import fetch
from openfelt.core.random import Stream
from openfelt.games.compile.betting_tree import CHILD, KIND, PLACE, PLAYER, STREET_SHIFT, Layout, Leaves
from openfelt.solve.traverse import episode
from openfelt.solve.traverse.episode import IMPLEMENTATIONS, implements
from openfelt.solve.traverse.holdem import (
    BOARD,
    PERMUTATION,
    PLACES,
    STREET,
    Deal,
    HoldemTree,
    hand_shift,
    new_deal,
    pair_on,
)

# Further places of Deal.at, after those of every deal: by street the numbers of the boards and their
# permutations; a bit for each shift that is already looked up.
BOARDS = PLACES
PERMUTATIONS = BOARDS + len(STREETS)
PLACED = PERMUTATIONS + len(STREETS)
LAZY_PLACES = PLACED + 1


class LazyTree(NamedTuple):
    """The fields of HoldemTree, traversed lazily."""

    node: Ints
    leaves: Leaves
    layout: Layout
    boards: Boards
    preflop: NDArray[Any]
    flop: NDArray[Any]
    turn: NDArray[Any]
    river: NDArray[Any]


def lazy_holdem_tree(tree: HoldemTree) -> LazyTree:
    """The same tree, traversed lazily."""
    return LazyTree(*tree)


def lazy_deal(players: int) -> Deal:
    """For one thread to write to."""
    return new_deal(players)._replace(at=scratch(LAZY_PLACES, np.int64))


for _same in (episode.num_actions, episode.payoff, episode.num_players, episode.passive):
    implements(_same, LazyTree)(IMPLEMENTATIONS[_same, HoldemTree])


@part
def place_boards(tree: LazyTree, deal: Deal, board: int, permutation: int) -> None:
    """Once all cards are drawn: find the boards of the later streets, and prefetch their buckets."""
    first, street = 2 * len(deal.value), deal.at[STREET]
    _place_board(tree.preflop, deal, street, board, permutation)
    if street < 1:
        board, permutation = step(tree.boards.to_1, board, permutation, deal.cards[first])
        board, permutation = step(tree.boards.to_2, board, permutation, deal.cards[first + 1])
        board, permutation = step(tree.boards.to_3, board, permutation, deal.cards[first + 2])
        _place_board(tree.flop, deal, 1, board, permutation)
    if street < 2:
        board, permutation = step(tree.boards.to_4, board, permutation, deal.cards[first + 3])
        _place_board(tree.turn, deal, 2, board, permutation)
    if street < 3:
        board, permutation = step(tree.boards.to_5, board, permutation, deal.cards[first + 4])
        _place_board(tree.river, deal, 3, board, permutation)
    deal.at[BOARD], deal.at[PERMUTATION] = deal.at[BOARDS + street], deal.at[PERMUTATIONS + street]


@part
def _place_board(table: NDArray[Any], deal: Deal, street: int, board: int, permutation: int) -> None:
    deal.at[BOARDS + street], deal.at[PERMUTATIONS + street] = board, permutation
    if street > deal.at[STREET]:
        for player in range(len(deal.value)):
            fetch(table, (board, pair_on(deal, player, permutation)))


@implements(episode.follow, LazyTree)
def _follow(tree: LazyTree, deal: Deal, node: int, action: int, stream: Stream) -> int:
    node = tree.node[node, CHILD] + action
    street = tree.node[node, KIND] >> STREET_SHIFT & 3
    if street > deal.at[STREET]:
        deal.at[STREET] = street
        deal.at[BOARD], deal.at[PERMUTATION] = deal.at[BOARDS + street], deal.at[PERMUTATIONS + street]
    return node


@implements(episode.first_slot, LazyTree)
def _first_slot(tree: LazyTree, deal: Deal, node: int) -> int:
    street, player = tree.node[node, KIND] >> STREET_SHIFT & 3, tree.node[node, PLAYER]
    place = street * len(deal.value) + player
    if not deal.at[PLACED] >> place & 1:
        board, permutation = deal.at[BOARDS + street], deal.at[PERMUTATIONS + street]
        deal.shift[place] = hand_shift(tree, deal, street, player, board, permutation)
        deal.at[PLACED] |= 1 << place
    return int(tree.node[node, PLACE] + deal.shift[place])
