"""Where a search starts: the current decision, and a distribution of what is hidden.

There are two views of it (PGC10, step 3). In the searcher's own view it holds its cards, and opponents hold
what it believes. In the opponents' view, where its cards are hidden, every player holds what is publicly
believed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from openfelt.bots.search.lazy_tree import LazyTree, place_boards
from openfelt.cards.boards import find_board
from openfelt.cards.deck import BOARD_CARDS, PAIR, PAIR_CARDS, PAIRS
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, Ints, Longs, kernel, part
from openfelt.core.random import Stream, uniform
from openfelt.core.sampling import draw_alias, fill_alias_table, search_sums
from openfelt.solve.traverse.conditional_deals import pairs_without
from openfelt.solve.traverse.enumerated import EpisodeTree, settle
from openfelt.solve.traverse.episode import dispatched, implements
from openfelt.solve.traverse.holdem import DRAWN, OUT, STREET, Deal, clear, draw_cards

OWN, OTHERS = 0, 1  # the views
TRIES = 100  # to draw hands without a common card; then uniform draws replace contradicting beliefs


class HoldemPosition(NamedTuple):
    """A decision of hold'em."""

    tree: LazyTree
    root: int  # the node
    seat: int  # of the searcher, which is to act
    share: Floats  # [views, players, 1326] alias tables of the pairs: the share of a
    other: Ints  # column that is its own, and the pair that has the rest
    hole: Ints  # the searcher's cards
    board: Ints
    taken: Longs  # [views] a bit for each card that cannot be dealt
    at: Ints  # [3] the street, the number of the board, its permutation of suits


class TreePosition(NamedTuple):
    """A decision of an enumerated game; the opponents' view is the whole game from its start."""

    tree: EpisodeTree
    seat: int
    nodes: Ints  # histories of the searcher's infoset
    summed: Floats  # [nodes] cumulative probabilities


@dispatched
def begin_at(position: Any, view: int, deal: Deal, stream: Stream) -> int:
    """Start an episode; returns the node of the decision."""
    raise NotImplementedError


@implements(begin_at, HoldemPosition)
def _begin_holdem(position: HoldemPosition, view: int, deal: Deal, stream: Stream) -> int:
    tries = 1
    while not _draw_hands(position, view, deal, stream, tries == TRIES):
        tries += 1
    first = 2 * len(deal.value)
    for place in range(len(position.board)):
        deal.cards[first + place] = position.board[place]
    deal.at[DRAWN] = first + len(position.board)
    draw_cards(deal, BOARD_CARDS[-1] - len(position.board), stream)
    deal.at[STREET] = position.at[0]
    place_boards(position.tree, deal, position.at[1], position.at[2])
    return position.root


@part
def _draw_hands(position: HoldemPosition, view: int, deal: Deal, stream: Stream, last: bool) -> bool:
    """Draw a pair for each player; False if two share a card, unless it is the last try."""
    clear(deal)
    out = position.taken[view]
    for player in range(len(deal.value)):
        if view == OWN and player == position.seat:
            low, high = position.hole[0], position.hole[1]
        else:
            low, high = _draw_pair(position.share[view, player], position.other[view, player], stream)
            while out >> low & 1 or out >> high & 1:
                if not last:
                    return False
                pair = int(uniform(stream) * PAIRS)
                low, high = np.int32(PAIR_CARDS[pair, 0]), np.int32(PAIR_CARDS[pair, 1])
            out |= 1 << low | 1 << high
        deal.cards[2 * player], deal.cards[2 * player + 1] = low, high
    deal.at[OUT] = out
    return True


@part
def _draw_pair(share: Floats, other: Ints, stream: Stream) -> tuple[np.int32, np.int32]:
    pair = draw_alias(share, other, 0, PAIRS, uniform(stream))
    return np.int32(PAIR_CARDS[pair, 0]), np.int32(PAIR_CARDS[pair, 1])


@implements(begin_at, TreePosition)
def _begin_tree(position: TreePosition, view: int, deal: Deal, stream: Stream) -> int:
    if view == OTHERS:
        return settle(position.tree, 0, stream)
    return int(position.nodes[search_sums(position.summed, uniform(stream))])


def holdem_position(
    tree: LazyTree,
    root: int,
    seat: int,
    hole: Sequence[int],
    board: Sequence[int],
    beliefs: Floats | None = None,
) -> HoldemPosition:
    """`beliefs` [players, 1326]: likelihood of pairs, the searcher's as opponents see it; or uniform."""
    players = int(tree.leaves.paid.shape[1])
    share, other = _uniform(players) if beliefs is None else _believed(beliefs, seat, hole, board)
    number, permutation = find_board(board)
    at = np.array([BOARD_CARDS.index(len(board)), number, permutation], np.int32)
    on_table, held = (sum(1 << card for card in cards) for cards in (board, hole))
    taken = np.array([on_table | held, on_table])
    own, table = np.array(sorted(hole), np.int32), np.array(board, np.int32)
    return HoldemPosition(tree, root, seat, share, other, own, table, taken, at)


@cache
def _uniform(players: int) -> tuple[Floats, Ints]:
    """All pairs equally likely; pairs with a card that is out are drawn again."""
    shape = 2, players, PAIRS
    return np.ones(shape), np.zeros(shape, np.int32)


def _believed(beliefs: Floats, seat: int, hole: Sequence[int], board: Sequence[int]) -> tuple[Floats, Ints]:
    """The alias tables of both views."""
    views = np.empty((2, *beliefs.shape))
    np.multiply(beliefs, pairs_without((*hole, *board)), out=views[OWN])
    views[OWN, seat] = 0.0
    views[OWN, seat, PAIR[hole[0], hole[1]]] = 1.0
    np.multiply(beliefs, pairs_without(board), out=views[OTHERS])
    share, other = np.empty(views.shape), np.empty(views.shape, np.int32)
    if not _fill_alias_tables(views, share, other):
        raise FeltError(
            "Beliefs must be finite, 0 or above, and above 0 for at least one pair that can be held."
        )
    return share, other


@kernel
def _fill_alias_tables(views: Floats, share: Floats, other: Ints) -> bool:
    """False if the weights of a view cannot be drawn from."""
    waiting = np.empty(views.shape[2], np.int32)
    for view in range(views.shape[0]):
        for player in range(views.shape[1]):
            weights, total = views[view, player], 0.0
            for pair in range(len(weights)):
                if not 0.0 <= weights[pair] < np.inf:
                    return False
                total += weights[pair]
            if not 0.0 < total < np.inf:
                return False
            fill_alias_table(weights, total, share[view, player], other[view, player], waiting)
    return True


def tree_position(tree: EpisodeTree, seat: int, nodes: Ints, likely: Floats) -> TreePosition:
    """`nodes` are the histories of the searcher's infoset, `likely` their likelihoods."""
    summed = np.cumsum(likely)
    return TreePosition(tree, seat, np.ascontiguousarray(nodes, np.int32), summed / summed[-1])
