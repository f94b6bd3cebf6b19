"""What networks see: infosets as the keys that memories hold, and the vectors that belong to them.

In an enumerated game a key is the number of the infoset. If the game is small, a network is evaluated at all
of its infosets at once, and batches are summed by infoset and action: the gradient of a batch of any size
then costs as much as one pass over all infosets, and is the same up to rounding. In larger games batches
consist of single decisions. In hold'em a key is the vector itself, and the mask, one bit a column.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from openfelt.core.pytorch import torch
from openfelt.games.features.enumerated import EnumeratedFeatures
from openfelt.games.features.features import Features, Masks, Vectors
from openfelt.solve.environments.vector_env import VectorEnv

Keys = NDArray[Any]
SMALL = 4_096  # infosets that are evaluated at once
CHUNK = 1 << 16  # infosets of one evaluation in larger games


class Inputs:
    """The inputs of a game's networks.

    Parameters
    ----------
    layout : Features
        Of the game.
    device : str
        Where the networks are.
    """

    def __init__(self, layout: Features, device: str) -> None:
        self.layout, self.device = layout, device
        self.size, self.num_actions = layout.size, len(layout.actions)
        self.enumerated = isinstance(layout, EnumeratedFeatures)
        self.rows = layout.tree.num_rows if isinstance(layout, EnumeratedFeatures) else 0
        self.small = 0 < self.rows <= SMALL
        self._masks = layout.masks() if isinstance(layout, EnumeratedFeatures) else None
        self.width = 1 if self.enumerated else -(-(self.size + self.num_actions) // 8)
        self.kind = np.dtype(np.int32 if self.enumerated else np.uint8)
        if self.small:
            self.all = self.tensors(np.arange(self.rows, dtype=np.int32)[:, None])

    def keys(self, env: VectorEnv) -> Keys:
        """[count, width] the keys of the current decisions."""
        if self.enumerated:
            return env.infosets[:, None]
        return np.packbits(np.concatenate([env.features > 0, env.masks], axis=1), axis=1)

    def arrays(self, keys: Keys) -> tuple[Vectors, Masks]:
        """[batch, size] vectors and [batch, actions] masks of keys."""
        if isinstance(self.layout, EnumeratedFeatures):
            assert self._masks is not None
            return self.layout.table(keys[:, 0]), self._masks[keys[:, 0]]
        bits = np.unpackbits(keys, axis=1)
        cut = self.size + self.num_actions
        return bits[:, : self.size].astype(np.float32), bits[:, self.size : cut].astype(np.bool_)

    def tensors(self, keys: Keys) -> tuple[Any, Any]:
        """The same as tensors on the device."""
        vectors, masks = self.arrays(keys)
        return torch.from_numpy(vectors).to(self.device), torch.from_numpy(masks).to(self.device)

    def numbers(self, values: NDArray[Any]) -> Any:
        """An array as a tensor on the device."""
        return torch.from_numpy(values).to(self.device)

    def everywhere(self, function: Any) -> Vectors:
        """[infosets, ...] a function of vectors and masks at all infosets of an enumerated game."""
        with torch.no_grad():
            if self.small:
                return np.asarray(function(*self.all).cpu().numpy())
            every = np.arange(self.rows, dtype=np.int32)[:, None]
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
