"""A model of a player as a policy of the game; in hold'em, its average over the hands of each bucket.

The whole betting tree is traversed with a sample of deals. At each decision a hand counts with the player's
own reach: hands that it would have folded before count nothing. What the opponent may hold is ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from openfelt.cards.boards import PERMUTED_PAIR, find_board
from openfelt.cards.deck import BOARD_CARDS, PAIR, STREETS
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, Longs
from openfelt.games.compile.betting_tree import ACTIONS_MASK, FACING_SHIFT, KIND, PLAYER, BettingTree
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.compile.tree import Tree, too_many_histories
from openfelt.opponents.models.domain import ModelDomain
from openfelt.opponents.models.model import OpponentModel
from openfelt.policy.holdem import HoldemPolicy, quantised
from openfelt.policy.policy import Policy

DEALS = 15_000
NEVER = 1e-6  # weight of a hand with reach 0, so that every average has some weight
CARDS = 52


class _Deals(NamedTuple):
    """A sample of hands on boards."""

    holding: Longs  # [deals]
    rank: Longs  # [streets, deals] for the model
    bucket: Longs  # [streets, deals]


@singledispatch
def model_policy(
    tree: Tree,
    model: OpponentModel,
    *,
    deals: int = DEALS,
    seed: int = 0,
    progress: Callable[[float], object] = lambda _: None,
) -> Policy:
    """What a model predicts, as a policy of the tree; `deals`, `seed` and `progress` are for hold'em."""
    raise too_many_histories(tree.game)


@model_policy.register
def _(tree: GameTree, model: OpponentModel, **_: object) -> Policy:
    return model.policy()


def bucketed(
    model: OpponentModel,
    tree: BettingTree,
    *,
    deals: int = DEALS,
    seed: int = 0,
    progress: Callable[[float], object] = lambda _: None,
) -> HoldemPolicy:
    """A model's policy of hold'em; `progress` gets the share of the work done since its last call."""
    domain = model.domain
    if domain.game.is_enumerable or domain.players != tree.players:
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
        shares = shares[:, first : first + (kind & ACTIONS_MASK)]
        _add_shares(tree, node, sample.bucket[street], shares * (reach[player] + NEVER)[:, None], weights)
        for action, share in enumerate(shares.T):
            after = [reach[who] * share if who == player else reach[who] for who in range(tree.players)]
            open_nodes.append((tree.child(node, action), tuple(after)))
        progress(1 / decisions)
    return quantised(tree, weights)


@model_policy.register
def _(tree: BettingTree, model: OpponentModel, **sampling: Any) -> Policy:
    return bucketed(model, tree, **sampling)


def _add_shares(tree: BettingTree, node: int, bucket: Longs, shares: Floats, weights: Floats) -> None:
    """Sum the shares of each bucket; a bucket that was not drawn gets the sum of all."""
    street, player = tree.street(node), int(tree.node[node, PLAYER])
    count, stride = int(tree.layout.buckets[street, player]), int(tree.layout.edges[street, player])
    first = tree.slots(node, 0).start + stride * np.arange(count)
    met = np.bincount(bucket, minlength=count) > 0
    for action, share in enumerate(shares.T):
        summed = np.bincount(bucket, share, minlength=count)
        weights[first + action] = np.where(met, summed, share.sum())


def _sample(domain: ModelDomain, tree: BettingTree, deals: int, generator: np.random.Generator) -> _Deals:
    cards = np.argsort(generator.random((deals, CARDS)), axis=1)[:, : 2 + BOARD_CARDS[-1]]
    holding = PAIR[cards[:, 0], cards[:, 1]].astype(np.int64)
    rank, bucket = np.empty((2, len(STREETS), deals), np.int64)
    for street, (ranks, buckets) in enumerate(
        zip(domain.rank_tables, tree.abstraction.tables(), strict=True)
    ):
        number, pair = _canonical(cards[:, 2 : 2 + BOARD_CARDS[street]].tolist(), holding)
        rank[street], bucket[street] = ranks[number, pair], buckets[number, pair]
    return _Deals(holding, rank, bucket)


def _canonical(boards: Sequence[Sequence[int]], holding: Longs) -> tuple[Longs, Longs]:
    """The number of each canonical board, and the pair under its permutation of suits."""
    number, permutation = np.array([find_board(board) for board in boards], np.int64).T
    return number, np.asarray(PERMUTED_PAIR[permutation, holding], np.int64)
