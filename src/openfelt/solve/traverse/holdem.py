"""Episodes of hold'em: cards are drawn street by street, and give each player's bucket on the street.

A thread has one `Deal`, which `begin` resets. Hole cards are drawn at the start; the board is drawn, and
hands are evaluated, only when an episode gets that far. Drawn cards stay for the whole episode, so a solver
may move back and forth in it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.boards import PERMUTED_CARD, Boards, boards, step
from openfelt.cards.deck import BOARD_CARDS, CARDS, PAIR, STREETS
from openfelt.cards.evaluator import CARD_BIT, evaluate
from openfelt.core.jit import Floats, Ints, Longs, part
from openfelt.core.memory import scratch
from openfelt.core.random import Stream, uniform
from openfelt.games.compile.betting_tree import (
    ACTIONS_MASK,
    CHILD,
    FACING_SHIFT,
    KIND,
    PLACE,
    PLAYER,
    STAKES_SHIFT,
    STREET_SHIFT,
    BettingTree,
    Layout,
    Leaves,
)
from openfelt.solve.traverse import episode
from openfelt.solve.traverse.episode import implements

# Places of Deal.at: the current street, its canonical board and permutation; the number of cards and of
# random numbers that were drawn, and which cards; whether the hands are evaluated; whether a player is bound
# to a fixed policy (`restricted.py`). A tree with further facts puts them after these, from PLACES on.
STREET, BOARD, PERMUTATION, DRAWN, DRAWS, OUT, SHOWN, BOUND = range(8)
PLACES = BOUND + 1


class HoldemTree(NamedTuple):
    """The betting tree, with the tables for dealing."""

    node: Ints  # [nodes, 4] as in BettingTree
    leaves: Leaves
    layout: Layout
    boards: Boards
    preflop: NDArray[Any]  # [1, 1326] the buckets of every hand, as in BucketTables
    flop: NDArray[Any]  # [boards, 1326]
    turn: NDArray[Any]
    river: NDArray[Any]


class Deal(NamedTuple):
    """The cards of one hand, as far as they are drawn."""

    cards: Ints  # [2 * players + 5] seat 0's two, seat 1's two, ..., then the board
    at: Longs  # [PLACES] see above
    shift: Longs  # [streets * players] slot of an edge less its number
    value: Ints  # [players] of the hands, once they are evaluated


def holdem_tree(tree: BettingTree) -> HoldemTree:
    """Load the tables of the abstraction."""
    return HoldemTree(tree.node, tree.leaves, tree.layout, boards(), *tree.abstraction.tables())


def new_deal(players: int) -> Deal:
    """For one thread to write to."""
    return Deal(
        scratch(2 * players + BOARD_CARDS[-1], np.int32),
        scratch(PLACES, np.int64),
        scratch(len(STREETS) * players, np.int64),
        scratch(players, np.int32),
    )


@implements(episode.begin, HoldemTree)
def _begin(tree: HoldemTree, deal: Deal, stream: Stream) -> int:
    clear(deal)
    draw_cards(deal, 2 * len(deal.value), stream)
    place_hands(tree, deal, 0, deal.shift)
    return 0


@implements(episode.follow, HoldemTree)
def _follow(tree: HoldemTree, deal: Deal, node: int, action: int, stream: Stream) -> int:
    node = tree.node[node, CHILD] + action
    street = tree.node[node, KIND] >> STREET_SHIFT & 3
    if street > deal.at[STREET]:
        turn_board(tree.boards, deal, stream)
        place_hands(tree, deal, street, deal.shift)
    return node


@implements(episode.num_actions, HoldemTree)
def _num_actions(tree: HoldemTree, node: int) -> int:
    return int(tree.node[node, KIND] & ACTIONS_MASK)


@implements(episode.first_slot, HoldemTree)
def _first_slot(tree: HoldemTree, deal: Deal, node: int) -> int:
    street = tree.node[node, KIND] >> STREET_SHIFT & 3
    return int(tree.node[node, PLACE] + deal.shift[street * len(deal.value) + tree.node[node, PLAYER]])


@implements(episode.payoff, HoldemTree)
def _payoff(tree: HoldemTree, deal: Deal, leaf: int, player: int) -> float:
    return pay(tree, deal, leaf, player)


@part
def pay(tree: Any, deal: Deal, leaf: int, player: int) -> float:
    """The payoff of a player at a leaf; hands are evaluated at a showdown."""
    ending = tree.node[leaf, PLACE]
    inside = int(tree.leaves.inside[ending])
    if inside & (inside - 1):  # more than one
        show_hands(deal)
    return share_pot(tree.leaves, ending, deal.value, player)


@implements(episode.save_past, HoldemTree)
@implements(episode.restore_past, HoldemTree)
def _nothing_to_save(tree: Any, deal: Any, whole: Longs, depth: int, column: int) -> None:
    """Cards that are drawn stay, and the node tells the rest."""


@implements(episode.num_players, HoldemTree)
def _num_players(tree: HoldemTree) -> int:
    return int(tree.leaves.paid.shape[1])


@implements(episode.exploration, HoldemTree)
def _exploration(tree: HoldemTree, node: int, c: Floats) -> float:
    return float(c[tree.node[node, KIND] >> STAKES_SHIFT if len(c) > 1 else 0])


@implements(episode.passive, HoldemTree)
def _passive(tree: HoldemTree, node: int, passive: NDArray[np.int8]) -> int:
    return int(tree.node[node, KIND] >> FACING_SHIFT & 1)


@part
def clear(deal: Deal) -> None:
    """Reset the deal: no card is drawn."""
    for place in range(len(deal.at)):
        deal.at[place] = 0


@part
def draw_cards(deal: Deal, count: int, stream: Stream) -> None:
    """Draw the next cards; a card that is already out is drawn again."""
    for _ in range(count):
        card = int(uniform(stream) * CARDS)
        draws = 1
        while deal.at[OUT] >> card & 1:
            card = int(uniform(stream) * CARDS)
            draws += 1
        deal.cards[deal.at[DRAWN]] = card
        deal.at[OUT] |= 1 << card
        deal.at[DRAWN] += 1
        deal.at[DRAWS] += draws


@part
def share_pot(leaves: Leaves, ending: int, value: Ints, player: int) -> float:
    """The payoff of a player, given the values of the hands."""
    inside, pot = int(leaves.inside[ending]), 0.0
    for seat in range(len(value)):
        pot += leaves.paid[ending, seat]
    lost = float(leaves.paid[ending, player])
    if not inside >> player & 1:
        return -lost
    if inside == 1 << player:
        return pot - lost
    own, winners = int(value[player]), 1
    for seat in range(len(value)):
        if seat != player and inside >> seat & 1:
            if value[seat] > own:
                return -lost
            winners += int(value[seat] == own)
    return pot / winners - lost


@part
def turn_board(canonical: Boards, deal: Deal, stream: Stream) -> None:
    """Draw the board cards of the next street."""
    street, first = deal.at[STREET] + 1, deal.at[DRAWN]
    draw_cards(deal, 3 if street == 1 else 1, stream)
    board, permutation = deal.at[BOARD], deal.at[PERMUTATION]
    if street == 1:
        board, permutation = step(canonical.to_1, board, permutation, deal.cards[first])
        board, permutation = step(canonical.to_2, board, permutation, deal.cards[first + 1])
        board, permutation = step(canonical.to_3, board, permutation, deal.cards[first + 2])
    elif street == 2:
        board, permutation = step(canonical.to_4, board, permutation, deal.cards[first])
    else:
        board, permutation = step(canonical.to_5, board, permutation, deal.cards[first])
    deal.at[STREET], deal.at[BOARD], deal.at[PERMUTATION] = street, board, permutation


@part
def place_hands(tree: HoldemTree, deal: Deal, street: int, shift: Longs) -> None:
    """Look up each player's bucket on a street that has just begun."""
    players = len(deal.value)
    for player in range(players):
        place = street * players + player
        shift[place] = hand_shift(tree, deal, street, player, deal.at[BOARD], deal.at[PERMUTATION])


@part
def hand_shift(tree: Any, deal: Deal, street: int, player: int, board: int, permutation: int) -> int:
    """What is added to an edge of a player to get its slot, on a street with that board."""
    pair = pair_on(deal, player, permutation)
    if street == 0:
        bucket = np.int64(tree.preflop[0, pair])
    elif street == 1:
        bucket = np.int64(tree.flop[board, pair])
    elif street == 2:
        bucket = np.int64(tree.turn[board, pair])
    else:
        bucket = np.int64(tree.river[board, pair])
    base = tree.layout.slot_base[street, player] - tree.layout.first_edge[street, player]
    return int(base + bucket * tree.layout.edges[street, player])


@part
def pair_on(deal: Deal, player: int, permutation: int) -> int:
    """A player's pair with its suits permuted."""
    low = PERMUTED_CARD[permutation, deal.cards[2 * player]]
    return int(PAIR[low, PERMUTED_CARD[permutation, deal.cards[2 * player + 1]]])


@part
def show_hands(deal: Deal) -> None:
    """Evaluate all hands, if that has not been done yet."""
    if deal.at[SHOWN]:
        return
    deal.at[SHOWN] = 1
    players = len(deal.value)
    board = np.uint64(0)
    for place in range(2 * players, 2 * players + 5):
        board |= CARD_BIT[deal.cards[place]]
    for player in range(players):
        hole = CARD_BIT[deal.cards[2 * player]] | CARD_BIT[deal.cards[2 * player + 1]]
        deal.value[player] = evaluate(board | hole)
