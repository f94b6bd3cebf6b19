"""A model of a hold'em player as a policy of buckets: what he does in the mean of the hands of a bucket.

Over a sample of deals the whole betting tree is walked. At each decision a hand counts with the probability
that he is there with it, by his own actions before: of hands that he would have folded nothing is to be
learned. What the other may hold is left out of account.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from openfelt.cards.boards import PAIR_AS, find_board
from openfelt.cards.deck import BOARD_CARDS, PAIR, STREETS
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, Longs
from openfelt.games.compile.betting_tree import FACING_SHIFT, KIND, PLAYER, WAYS_BITS, BettingTree
from openfelt.opponents.models.domain import HoldemDomain
from openfelt.opponents.models.model import OpponentModel
from openfelt.policy.holdem import HoldemPolicy, quantised

DEALS = 15_000
NEVER = 1e-6  # what a hand counts where he never comes with it, so that the others' mean is not empty
CARDS = 52


class _Deals(NamedTuple):
    """A sample of hands on boards."""

    holding: Longs  # [deals]
    rank: Longs  # [streets, deals] for the model
    bucket: Longs  # [streets, deals]


def bucketed(
    model: OpponentModel,
    tree: BettingTree,
    *,
    deals: int = DEALS,
    seed: int = 0,
    progress: Callable[[float], object] = lambda _: None,
) -> HoldemPolicy:
    """The policy; `progress` is told what share of the work was done since it was last told."""
    domain = model.domain
    if not isinstance(domain, HoldemDomain) or domain.players != tree.players:
        raise FeltError(f"The model is of a player of {domain.game.name}, not of {tree.game}.")
    sample = _sample(domain, tree, deals, np.random.default_rng(seed))
    weights = np.zeros(tree.num_slots)
    decisions = sum(tree.decisions())
    open_nodes: list[tuple[int, tuple[Floats, ...]]] = [(0, (np.ones(deals),) * tree.players)]
    while open_nodes:
        node, reach = open_nodes.pop()
        player = int(tree.node[node, PLAYER])
        if player < 0:
            continue
        kind, street = int(tree.node[node, KIND]), tree.street(node)
        shares = model.shares(np.full(deals, node), sample.rank[street], sample.holding)
        first = 1 - (kind >> FACING_SHIFT & 1)
        shares = shares[:, first : first + (kind & WAYS_BITS)]
        _note(tree, node, sample.bucket[street], shares * (reach[player] + NEVER)[:, None], weights)
        for action, share in enumerate(shares.T):
            after = [reach[who] * share if who == player else reach[who] for who in range(tree.players)]
            open_nodes.append((tree.child(node, action), tuple(after)))
        progress(1 / decisions)
    return quantised(tree, weights)


def _note(tree: BettingTree, node: int, bucket: Longs, shares: Floats, weights: Floats) -> None:
    """Add up what is done in each bucket; one that was not drawn does as all others together."""
    street, player = tree.street(node), int(tree.node[node, PLAYER])
    count, stride = int(tree.layout.buckets[street, player]), int(tree.layout.spots[street, player])
    first = tree.slots(node, 0).start + stride * np.arange(count)
    met = np.bincount(bucket, minlength=count) > 0
    for action, share in enumerate(shares.T):
        summed = np.bincount(bucket, share, minlength=count)
        weights[first + action] = np.where(met, summed, share.sum())


def _sample(domain: HoldemDomain, tree: BettingTree, deals: int, generator: np.random.Generator) -> _Deals:
    cards = np.argsort(generator.random((deals, CARDS)), axis=1)[:, : 2 + BOARD_CARDS[-1]]
    holding = PAIR[cards[:, 0], cards[:, 1]].astype(np.int64)
    rank, bucket = np.empty((2, len(STREETS), deals), np.int64)
    for street, (ranks, buckets) in enumerate(zip(domain.tables, tree.abstraction.tables(), strict=True)):
        number, seen_as = _found(cards[:, 2 : 2 + BOARD_CARDS[street]].tolist(), holding)
        rank[street], bucket[street] = ranks[number, seen_as], buckets[number, seen_as]
    return _Deals(holding, rank, bucket)


def _found(boards: Sequence[Sequence[int]], holding: Longs) -> tuple[Longs, Longs]:
    """Each board's place in the tables, and the pair as it is seen there."""
    number, permutation = np.array([find_board(board) for board in boards], np.int64).T
    return number, np.asarray(PAIR_AS[permutation, holding], np.int64)
