"""The 169 classes of hole cards in the usual grid: aces first, suited hands above the diagonal.

Cell (row, column) of the 13 x 13 grid is 13 * row + column. Pairs are on the diagonal; AKs is cell (0, 1) and
AKo is cell (1, 0).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import PAIR_CARDS, RANKS, pair_class

SIZE = len(RANKS)
CELLS = SIZE * SIZE


def _pair_cells() -> NDArray[np.int16]:
    """[1326] the cell of each pair of hole cards."""
    low, high = SIZE - 1 - PAIR_CARDS.astype(np.int16).T // 4  # rows: 0 is an ace
    suited = PAIR_CARDS[:, 0] % 4 == PAIR_CARDS[:, 1] % 4
    cells: NDArray[np.int16] = np.where(suited, SIZE * high + low, SIZE * low + high)
    return cells


PAIR_CELL = _pair_cells()
CELL_PAIRS = np.bincount(PAIR_CELL, minlength=CELLS)  # [169] pairs of hole cards in a cell: 4, 6 or 12
_, _FIRST = np.unique(PAIR_CELL, return_index=True)
CELL_CLASS = tuple(pair_class(PAIR_CARDS[pair].tolist()) for pair in _FIRST)  # [169] "AA", "AKs", ...


def cell_means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means over the hole cards of each cell of the grid.

    Parameters
    ----------
    values : array [1326, ...]
        One row of numbers per pair of hole cards.

    Returns
    -------
    array [13, 13, ...]

    Examples
    --------
    >>> suited = np.array([low % 4 == high % 4 for low, high in PAIR_CARDS], float)
    >>> cell_means(suited)[:2, :2].tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    sums = np.zeros((CELLS, *values.shape[1:]))
    np.add.at(sums, PAIR_CELL, values)
    counts = CELL_PAIRS.reshape(CELLS, *(1,) * (values.ndim - 1))
    return (sums / counts).reshape(SIZE, SIZE, *values.shape[1:])
