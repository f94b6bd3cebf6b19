"""Policies of enumerated games: one number for each action of each infoset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.games.compile.compiler import compile_infosets
from openfelt.games.compile.infoset_tree import InfosetTree
from openfelt.games.game import AnyGame
from openfelt.policy.policy import Policy


@dataclass(frozen=True, eq=False)
class TabularPolicy(Policy):
    """A policy of an enumerated game.

    Parameters
    ----------
    tree : InfosetTree
        The compiled game: `felt.compile_game("leduc")`.
    probabilities : array of float
        One for each slot of the tree; they sum to 1 at every infoset.

    Examples
    --------
    >>> felt.uniform_policy("kuhn").at(0, "K pass bet")
    {'pass': 0.5, 'bet': 0.5}
    """

    tree: InfosetTree
    probabilities: Floats  # [slots]

    def __post_init__(self) -> None:
        table = np.asarray(self.probabilities, np.float64)
        object.__setattr__(self, "probabilities", table)
        if table.shape != (self.tree.num_slots,):
            raise FeltError(
                f"A policy of {self.game} has {self.tree.num_slots} probabilities, not {table.size}."
            )
        if not (np.isfinite(table).all() and (table >= 0).all()):
            raise FeltError("The probabilities of a policy must be numbers from 0 to 1.")
        if len(table) and (abs(_row_sums(self.tree, table) - 1.0) > 1e-6).any():
            raise FeltError("The probabilities of a policy must sum to 1 at every infoset.")

    def __repr__(self) -> str:
        return f"TabularPolicy({self.game}, {self.tree.num_rows:,} infosets)"

    @property
    def table(self) -> NDArray[Any]:
        return self.probabilities

    def with_table(self, table: NDArray[Any]) -> TabularPolicy:
        return TabularPolicy(self.tree, table)

    def row(self, row: int) -> Floats:
        """The probabilities at an infoset, by its number."""
        return self.probabilities[self.tree.slots(row)]

    def at(self, player: int, infoset: str) -> dict[str, float]:
        row = self.tree.find_row(player, infoset)
        return dict(zip(self.tree.actions(row), map(float, self.row(row)), strict=True))

    def greedy(self) -> TabularPolicy:
        table = np.zeros_like(self.probabilities)
        for row in range(self.tree.num_rows):
            table[self.tree.slots(row).start + int(np.argmax(self.row(row)))] = 1.0
        return TabularPolicy(self.tree, table)

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        return {"probabilities": self.probabilities}


def require_tabular(policy: Policy) -> TabularPolicy:
    """Raise if a policy's game is not enumerated, for computations that visit every history."""
    if not isinstance(policy, TabularPolicy):
        raise FeltError(f"{policy.game} is not enumerated, as this computation requires.")
    return policy


def uniform_policy(game: AnyGame | InfosetTree) -> TabularPolicy:
    """The policy that takes all actions with equal probability.

    Parameters
    ----------
    game : Game, str, Path or InfosetTree
        An enumerated game.

    Returns
    -------
    TabularPolicy

    Examples
    --------
    >>> felt.exploitability(felt.uniform_policy("kuhn")).nash_conv
    0.9166...
    """
    tree = compile_infosets(game)
    counts = np.diff(tree.first_slot)
    return TabularPolicy(tree, np.repeat(1.0 / counts, counts))


def random_policy(game: AnyGame | InfosetTree, seed: int = 0) -> TabularPolicy:
    """A random policy: at each infoset uniformly distributed over all distributions of its actions.

    Parameters
    ----------
    game : Game, str, Path or InfosetTree
        An enumerated game.
    seed : int
        Of the random numbers.

    Returns
    -------
    TabularPolicy

    Examples
    --------
    >>> felt.random_policy("kuhn", seed=1)
    TabularPolicy(kuhn, 12 infosets)
    """
    tree = compile_infosets(game)
    return TabularPolicy(tree, normalised(tree, np.random.default_rng(seed).exponential(size=tree.num_slots)))


def highest_values(tree: InfosetTree, sums: Floats, visits: Floats) -> TabularPolicy:
    """The policy of the highest mean value among visited actions; uniform at infosets without visits."""
    first_slot = tree.first_slot
    value = np.divide(sums, visits, out=np.full(tree.num_slots, -np.inf), where=visits > 0)
    row = np.repeat(np.arange(tree.num_rows), np.diff(first_slot))
    by_value = np.lexsort((np.arange(len(value)), -value, row))  # of equal ones the first is first
    best = by_value[first_slot[:-1]]
    table = np.zeros(tree.num_slots)
    table[best] = visits[best] > 0
    return TabularPolicy(tree, normalised(tree, table))


def normalised(tree: InfosetTree, weights: Floats) -> Floats:
    """Weights per slot to probabilities; uniform at infosets without weight."""
    if not len(weights):
        return weights
    if not np.isfinite(weights).all():
        raise FeltError(f"The weights of a policy of {tree.game} are not finite: the run has overflowed.")
    counts = np.diff(tree.first_slot)
    sums = np.repeat(_row_sums(tree, weights), counts)
    even = np.repeat(1.0 / counts, counts)
    return np.divide(weights, sums, out=even, where=sums > 0)


def _row_sums(tree: InfosetTree, table: Floats) -> Floats:
    return np.add.reduceat(table, tree.first_slot[:-1])
