"""A small neural network that predicts actions (TAU, section 5.1), for hold'em of two players.

It is trained on the decisions of both seats in hands that a searcher won, and then orders the expansion of a
search: the action that it finds likeliest is tried first (`prefer` of solve/traverse/opponent_hooks.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from openfelt.cards.deck import PAIR
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, part
from openfelt.core.memory import scratch
from openfelt.core.random import Stream
from openfelt.games.compile.betting_tree import FACING_SHIFT, KIND, PLAYER, STREET_SHIFT
from openfelt.opponents.models.network_features import (
    ACTIONS,
    COLUMNS,
    PRIVATE,
    Examples,
    Features,
    HandTables,
    feature_columns,
    potential,
)
from openfelt.solve.traverse.episode import implements
from openfelt.solve.traverse.holdem import BOARD, PERMUTATION, Deal
from openfelt.solve.traverse.opponent_hooks import prefer

HIDDEN = (32, 16)  # units of the two layers
BATCH = 500


class Weights(NamedTuple):
    """A trained network; features that it was not given have weights of 0."""

    first: Floats  # [COLUMNS, units]
    first_bias: Floats
    second: Floats  # [units, units]
    second_bias: Floats
    last: Floats  # [units, 3]
    last_bias: Floats


class Network(NamedTuple):
    """A network for kernels, for one thread, which writes to the last three arrays."""

    hands: HandTables
    at_node: Floats  # [nodes, units] first layer: the part that follows from the node alone
    private: Floats  # [PRIVATE, units] first layer: weights of the other features
    second: Floats  # [units, units] by the unit of the second layer
    second_bias: Floats
    last: Floats  # [3, units] by action
    last_bias: Floats
    units_1: Floats
    units_2: Floats
    score: Floats  # [3] log-probability of each action, up to a constant


def classifier() -> Any:
    """Scikit-learn's class of networks."""
    try:
        from sklearn.neural_network import MLPClassifier
    except ImportError:
        raise FeltError("The network needs scikit-learn: pip install 'openfelt[models]'.") from None
    return MLPClassifier


def train(
    examples: Examples,
    names: Sequence[str],
    *,
    epochs: int,
    seed: int = 0,
    hidden: tuple[int, int] = HIDDEN,
) -> Iterator[Any]:
    """Train a network on the features of these names; yields scikit-learn's classifier after each epoch.

    Two layers of rectified units, Adam, batches of 500. (TAU does not describe its network.)
    """
    make = classifier()
    if len(examples.action) < BATCH:
        raise FeltError(f"A network needs at least {BATCH} examples, not {len(examples.action)}.")
    seen = examples.features[:, feature_columns(names)]
    model = make(hidden, batch_size=BATCH, random_state=seed)
    for _ in range(epochs):
        model.partial_fit(seen, examples.action, classes=np.arange(len(ACTIONS)))
        yield model


def weights_of(model: Any, names: Sequence[str]) -> Weights:
    """The weights of scikit-learn's classifier, trained on the features of these names."""
    columns, layers = feature_columns(names), len(model.coefs_)
    if layers != len(Weights._fields) // 2 or len(model.coefs_[0]) != len(columns):
        raise FeltError(
            f"The network must have two hidden layers and {len(columns)} inputs, not {layers - 1} and "
            f"{len(model.coefs_[0])}."
        )
    first = np.zeros((COLUMNS, model.coefs_[0].shape[1]))
    first[columns] = model.coefs_[0]
    bias = model.intercepts_
    return Weights(first, bias[0], model.coefs_[1], bias[1], model.coefs_[2], bias[2])


def new_network(features: Features, weights: Weights) -> Network:
    """A network for the kernels of one thread."""
    return Network(
        features.hands,
        features.public @ weights.first[PRIVATE:] + weights.first_bias,
        np.ascontiguousarray(weights.first[:PRIVATE]),
        np.ascontiguousarray(weights.second.T),
        np.ascontiguousarray(weights.second_bias),
        np.ascontiguousarray(weights.last.T),
        np.ascontiguousarray(weights.last_bias),
        scratch(len(weights.first_bias)),
        scratch(len(weights.second_bias)),
        scratch(len(ACTIONS)),
    )


@part
def score_actions(network: Network, node: int, potential: float, chen: float, is_max: float) -> None:
    """The forward pass, up to the last softmax, into `network.score`."""
    for unit in range(len(network.units_1)):
        total = network.at_node[node, unit] + potential * network.private[0, unit]
        total += chen * network.private[1, unit] + is_max * network.private[2, unit]
        network.units_1[unit] = max(total, 0.0)
    for unit in range(len(network.units_2)):
        total = network.second_bias[unit]
        for before in range(len(network.units_1)):
            total += network.second[unit, before] * network.units_1[before]
        network.units_2[unit] = max(total, 0.0)
    for action in range(len(network.score)):
        total = network.last_bias[action]
        for before in range(len(network.units_2)):
            total += network.last[action, before] * network.units_2[before]
        network.score[action] = total


@implements(prefer, Network)
def _network_prefers(
    network: Network, tree: Any, deal: Deal, node: int, seat: int, untried: int, stream: Stream
) -> int:
    """The likeliest action by the network among those never tried."""
    player, kind = tree.node[node, PLAYER], tree.node[node, KIND]
    street = kind >> STREET_SHIFT & 3
    free = 1 - (kind >> FACING_SHIFT & 1)  # there is no bet to fold to
    pair = PAIR[deal.cards[2 * player], deal.cards[2 * player + 1]]
    chance = potential(network.hands, street, deal.at[BOARD], deal.at[PERMUTATION], pair)
    score_actions(network, node, chance, network.hands.chen[pair], 1.0 if player == seat else 0.0)
    best, highest = -1, -np.inf
    for action in range(3 - free):
        if untried >> action & 1 and network.score[action + free] > highest:
            best, highest = action, network.score[action + free]
    return best
