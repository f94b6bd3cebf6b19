"""Decision trees as arrays: from a decision and a hand to probabilities of actions.

Tests of public states are evaluated in advance, one bit for each test and node, so that a search only reads
bits and compares numbers of the hand with thresholds on its way to a leaf.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import PAIR
from openfelt.core.jit import Floats, Ints, Longs, kernel, part
from openfelt.core.sampling import categorical
from openfelt.games.compile.betting_tree import KIND, PLAYER, STREET_SHIFT
from openfelt.opponents.models.domain import HoldemRanks
from openfelt.opponents.models.public_tree import PublicTree, classes
from openfelt.solve.traverse.episode import implements
from openfelt.solve.traverse.holdem import BOARD, PERMUTATION, Deal, HoldemTree, pair_on
from openfelt.solve.traverse.opponent_hooks import answer, is_known

LEAF, BIT, RANK, CARD = -1, 0, 1, 2  # kinds of steps; CARD + k tests the card fact k
KIND_OF, YES, NO = range(3)  # columns of DecisionTreeArrays.step


class DecisionTreeArrays(NamedTuple):
    """A tree for each street."""

    bits: NDArray[np.uint64]  # [public nodes, words] results of the public tests
    root: Ints  # [streets] first step
    step: Ints  # [steps, 3] kind, next step if the test holds, and if not; of a leaf its row in `leaves`
    limit: Floats  # [steps] threshold to exceed; of a BIT its number
    leaves: Floats  # [leaves, CLASSES]
    card_facts: Floats  # [facts, holdings]


class TreeSearchModel(NamedTuple):
    """The model for search in hold'em."""

    grown: DecisionTreeArrays
    ranks: HoldemRanks


@part
def leaf_of(grown: DecisionTreeArrays, node: int, street: int, rank: int, holding: int) -> int:
    """The leaf of a decision with a hand."""
    here = grown.root[street]
    while grown.step[here, KIND_OF] != LEAF:
        kind = grown.step[here, KIND_OF]
        if kind == BIT:
            number = int(grown.limit[here])
            yes = (grown.bits[node, number >> 6] >> np.uint64(number & 63)) & np.uint64(1) != np.uint64(0)
        elif kind == RANK:
            yes = rank > grown.limit[here]
        else:
            yes = grown.card_facts[kind - CARD, holding] > grown.limit[here]
        here = grown.step[here, YES] if yes else grown.step[here, NO]
    return int(grown.step[here, YES])


@kernel
def tree_probabilities(
    tree: PublicTree, grown: DecisionTreeArrays, nodes: Longs, ranks: Longs, holdings: Longs, shares: Floats
) -> None:
    """Fill [n, CLASSES] with the probabilities of the legal actions."""
    for row in range(len(nodes)):
        kind = tree.node[nodes[row], KIND]
        leaf = leaf_of(grown, nodes[row], kind >> STREET_SHIFT & 3, ranks[row], holdings[row])
        first, num_actions = classes(kind)
        total = 0.0
        for klass in range(first, first + num_actions):
            total += grown.leaves[leaf, klass]
        for klass in range(shares.shape[1]):
            can = first <= klass < first + num_actions
            shares[row, klass] = (grown.leaves[leaf, klass] / total if total > 0 else 1.0 / num_actions) * can


@part
def hand_rank(ranks: HoldemRanks, deal: Deal, player: int, street: int) -> int:
    """The hand rank of a player in a deal."""
    permutation, board = deal.at[PERMUTATION], deal.at[BOARD]
    pair = pair_on(deal, player, permutation)
    if street == 0:
        return int(ranks.preflop[0, pair])
    if street == 1:
        return int(ranks.flop[board, pair])
    if street == 2:
        return int(ranks.turn[board, pair])
    return int(ranks.river[board, pair])


@part
def draw_class(shares: Floats, row: int, kind: int, place: float) -> int:
    """Draw an action by the weights of its class in a row, with a number from 0 to 1."""
    first, num_actions = classes(kind)
    total = 0.0
    for klass in range(first, first + num_actions):
        total += shares[row, klass]
    if not total > 0.0:
        return int(place * num_actions)
    return categorical(shares[row], first, num_actions, place * total)


@implements(is_known, TreeSearchModel)
def _known(model: TreeSearchModel) -> bool:
    return True


@implements(answer, TreeSearchModel)
def _answer(model: TreeSearchModel, tree: HoldemTree, deal: Deal, node: int, place: float) -> int:
    player, kind = tree.node[node, PLAYER], tree.node[node, KIND]
    street = kind >> STREET_SHIFT & 3
    holding = PAIR[deal.cards[2 * player], deal.cards[2 * player + 1]]
    leaf = leaf_of(model.grown, node, street, hand_rank(model.ranks, deal, player, street), holding)
    return draw_class(model.grown.leaves, leaf, kind, place)
