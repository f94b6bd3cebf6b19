"""Multilayer perceptrons in plain numpy: the networks of saved hold'em policies, which need no other library.

A file has the arrays `network.0.weights`, `network.0.biases`, `network.1.weights` and so on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openfelt.core.errors import FeltError
from openfelt.core.jit import vector_kernel
from openfelt.games.features.features import Masks, Vectors

MANY = 1_000  # infosets from which on a kernel is worth compiling
FIRST = "network.0.weights"  # the array by which the file of a network is recognised


@dataclass(frozen=True, eq=False)
class Perceptron:
    """A network with rectified linear units, whose outputs are logarithms of action weights.

    Parameters
    ----------
    weights : tuple of array
        [inputs, units] float32 of each layer, the output last.
    biases : tuple of array
        [units] float32 of each layer.
    """

    weights: tuple[Vectors, ...]
    biases: tuple[Vectors, ...]

    def __post_init__(self) -> None:
        arrays = (*self.weights, *self.biases)
        fits = len(self.weights) == len(self.biases) > 0 and all(each.dtype == np.float32 for each in arrays)
        fits = fits and all(each.ndim == 2 and each.size for each in self.weights)
        fits = fits and all(
            bias.shape == weight.shape[1:] for weight, bias in zip(self.weights, self.biases, strict=True)
        )
        if not fits or any(one.shape[1] != two.shape[0] for one, two in pairwise(self.weights)):
            raise FeltError("The layers of a network must fit together.")
        if not all(np.isfinite(each).all() for each in arrays):
            raise FeltError("The weights of a network must be finite.")

    @property
    def batch(self) -> int:
        """Infosets of one call of `on_board`: with one hidden layer its units need no memory."""
        return 1 << 18 if len(self.weights) == 2 else 1 << 14

    def __call__(self, features: Vectors, masks: Masks) -> Vectors:
        """[batch, actions] weights of actions."""
        return _exponential(self._rest(features @ self.weights[0] + self.biases[0]), masks)

    def on_board(self, betting: Vectors, cards: Vectors, masks: Masks) -> Vectors:
        """[lines, hands, actions] the same, for betting lines and hands: the first layer is a sum."""
        split = betting.shape[1]
        of_lines = betting @ self.weights[0][:split]
        of_hands = cards @ self.weights[0][split:] + self.biases[0]
        if len(self.weights) == 2 and len(betting) * len(cards) >= MANY:
            found = np.empty((len(betting), len(self.biases[1]), len(cards)), np.float32)
            active = np.empty(len(cards), np.float32)
            last = self.weights[1], self.biases[1]
            _one_hidden_layer(of_lines, np.ascontiguousarray(of_hands.T), *last, active, found)
            found = found.transpose(0, 2, 1)
        else:
            found = self._rest(of_lines[:, None] + of_hands)
        return _exponential(found, masks[:, None])

    def _rest(self, layer: Vectors) -> Vectors:
        """[..., actions] the output, from the sums of the first layer, which are overwritten."""
        for weight, bias in zip(self.weights[1:], self.biases[1:], strict=True):
            np.maximum(layer, 0, out=layer)
            layer = layer @ weight + bias
        return layer

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all weights, in hexadecimal."""
        digest = hashlib.sha256()
        for array in self.arrays().values():
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays of a file."""
        layers = enumerate(zip(self.weights, self.biases, strict=True))
        return {
            f"network.{number}.{kind}": array
            for number, layer in layers
            for kind, array in zip(("weights", "biases"), layer, strict=True)
        }


def saved_perceptron(arrays: Mapping[str, NDArray[Any]], inputs: int, outputs: int) -> Perceptron:
    """The network of a file; raises if it does not have these inputs and outputs."""
    count = sum(name.startswith("network.") for name in arrays) // 2
    try:
        weights, biases = (
            tuple(np.asarray(arrays[f"network.{number}.{kind}"]) for number in range(count))
            for kind in ("weights", "biases")
        )
    except KeyError as error:
        raise FeltError(f"The network's array {error} is missing.") from None
    network = Perceptron(weights, biases)
    sizes = weights[0].shape[0], weights[-1].shape[1]
    if sizes != (inputs, outputs):
        raise FeltError(
            f"The network has {sizes[0]} inputs and {sizes[1]} outputs, not {inputs} and {outputs}."
        )
    return network


def _exponential(logits: Vectors, masks: Masks) -> Vectors:
    """Weights from logarithms; 0 where an action is illegal."""
    legal = np.where(masks, logits, -np.inf)
    legal -= legal.max(axis=-1, keepdims=True)
    return np.asarray(np.exp(legal, out=legal))


@vector_kernel
def _one_hidden_layer(
    of_lines: Vectors, of_hands: Vectors, weights: Vectors, biases: Vectors, active: Vectors, found: Vectors
) -> None:
    """[lines, actions, hands] the output, from [lines, units] and [units, hands], whose sums are the units.

    `active` is scratch, [hands].
    """
    zero = np.float32(0)
    for line in range(len(of_lines)):
        for action in range(len(biases)):
            found[line, action, :] = biases[action]
        for unit in range(len(weights)):
            own = of_lines[line, unit]
            for hand in range(len(active)):
                active[hand] = max(own + of_hands[unit, hand], zero)
            for action in range(len(biases)):
                weight = weights[unit, action]
                for hand in range(len(active)):
                    found[line, action, hand] += weight * active[hand]
