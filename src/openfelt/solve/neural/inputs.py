"""What networks see: the vectors of infosets, which memories hold as numbers.

If the game is small, a network is evaluated at all of its infosets at once, and batches are summed by infoset
and action: the gradient of a batch of any size then costs as much as one pass over all infosets, and is the
same up to rounding. In larger games batches consist of single decisions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from openfelt.core.jit import Ints
from openfelt.core.pytorch import torch
from openfelt.games.features.enumerated import EnumeratedFeatures
from openfelt.games.features.features import Vectors
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
