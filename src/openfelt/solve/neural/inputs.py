"""What networks see: the vectors of infosets, which memories hold as numbers.

If the game is small, a network is evaluated at all of its infosets at once, and batches are summed by infoset
and action: the gradient of a batch of any size then costs as much as one pass over all infosets, and is the
same up to rounding. In larger games batches consist of single decisions.

In hold'em infosets cannot be numbered. There the number of a decision is its place among the latest ones,
whose vectors are kept, a bit for each column.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from openfelt.core.jit import Ints
from openfelt.core.pytorch import torch
from openfelt.games.features.enumerated import EnumeratedFeatures
from openfelt.games.features.features import Vectors
from openfelt.games.features.holdem import HoldemFeatures
from openfelt.solve.environments.vector_env import VectorEnv

SMALL = 4_096  # infosets that are evaluated at once
CHUNK = 1 << 16  # infosets of one evaluation in larger games


class Inputs:
    """The inputs of a game's networks.

    Parameters
    ----------
    layout : EnumeratedFeatures
        Of the game.
    device : str
        Where the networks are.
    """

    def __init__(self, layout: EnumeratedFeatures, device: str) -> None:
        self.layout, self.device = layout, device
        self.size, self.num_actions = layout.size, len(layout.actions)
        self.rows = layout.tree.num_rows
        self.small = self.rows <= SMALL
        self._masks = layout.masks()
        if self.small:
            self.all = self.tensors(np.arange(self.rows, dtype=np.int32))

    def note(self, env: VectorEnv) -> Ints:
        """[count] the numbers of the current infosets."""
        return env.infosets

    def state(self) -> dict[str, NDArray[Any]]:
        """The arrays of a checkpoint."""
        return {}

    def tensors(self, infosets: Ints) -> tuple[Any, Any]:
        """[batch, size] vectors and [batch, actions] masks of infosets, on the device."""
        return self.numbers(self.layout.table(infosets)), self.numbers(self._masks[infosets])

    def numbers(self, values: NDArray[Any]) -> Any:
        """An array as a tensor on the device."""
        return torch.from_numpy(values).to(self.device)

    def everywhere(self, function: Any) -> Vectors:
        """[infosets, ...] a function of vectors and masks at all infosets."""
        with torch.no_grad():
            if self.small:
                return np.asarray(function(*self.all).cpu().numpy())
            every = np.arange(self.rows, dtype=np.int32)
            found = [
                function(*self.tensors(some)).cpu().numpy()
                for some in np.array_split(every, -(-self.rows // CHUNK))
            ]
        return np.concatenate(found)

    def at(self, env: VectorEnv, function: Any) -> Vectors:
        """[count, ...] a function of vectors and masks at the current decisions."""
        with torch.no_grad():
            vectors, masks = self.numbers(env.features), self.numbers(env.masks)
            return np.asarray(function(vectors, masks).cpu().numpy())


class LatestInputs(Inputs):
    """The inputs of hold'em: the vectors of the latest decisions.

    Parameters
    ----------
    layout : HoldemFeatures
        Of the game.
    device : str
        Where the networks are.
    games : int
        Decisions that are noted at once.
    rounds : int
        The number of calls of `note` after which a decision is forgotten.
    """

    small = False

    def __init__(self, layout: HoldemFeatures, device: str, games: int, rounds: int) -> None:
        self.size, self.num_actions, self.device = layout.size, len(layout.actions), device
        self._columns = self.size + self.num_actions
        self._bits = np.zeros((rounds, games, -(-self._columns // 8)), np.uint8)
        self._next = np.zeros(1, np.int32)
        self._numbers = np.arange(games, dtype=np.int32)
        self.rows = rounds * games  # numbers

    def note(self, env: VectorEnv) -> Ints:
        rounds, games, _ = self._bits.shape
        here = int(self._next[0]) % rounds
        self._bits[here] = np.packbits(np.concatenate([env.features > 0, env.masks], axis=1), axis=1)
        self._next[0] = (here + 1) % rounds
        return self._numbers + np.int32(here * games)

    def state(self) -> dict[str, NDArray[Any]]:
        return {"bits": self._bits, "next": self._next}

    def tensors(self, infosets: Ints) -> tuple[Any, Any]:
        bits = self._bits.reshape(-1, self._bits.shape[2])[infosets]
        columns = self.numbers(np.unpackbits(bits, axis=1, count=self._columns))
        return columns[:, : self.size].float(), columns[:, self.size :].bool()
