"""Random networks of hold'em with any number of bets a street."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from openfelt.games.features.holdem import HoldemFeatures
from openfelt.games.holdem import Holdem
from openfelt.measure.holdem.network import NetworkPlayer
from openfelt.policy.network import NetworkPolicy
from openfelt.policy.perceptron import Perceptron


@dataclass(frozen=True)
class FewBets(Holdem):
    """Hold'em with any number of bets a street."""

    def __post_init__(self) -> None:
        pass


def random_perceptron(bets: int, seed: int, *hidden: int) -> NetworkPolicy:
    """A network with these hidden layers, random weights and random biases."""
    rules, draw = FewBets(bets=bets), np.random.default_rng(seed)
    sizes = [HoldemFeatures(rules).size, *hidden, 3]
    layers = list(zip(sizes, sizes[1:], [0.7] + [3.0 / np.sqrt(units) for units in hidden], strict=False))
    weights = [(scale * draw.normal(size=(one, two))).astype(np.float32) for one, two, scale in layers]
    biases = [draw.normal(size=two).astype(np.float32) for _, two, _ in layers]
    return NetworkPolicy(rules, Perceptron(tuple(weights), tuple(biases)))


def network_player(bets: int, seed: int, hidden: int = 4, *, greedy: bool = False) -> NetworkPlayer:
    """One as the exact engine reads it, with one hidden layer."""
    policy = random_perceptron(bets, seed, hidden)
    return NetworkPlayer(policy.greedy() if greedy else policy)
