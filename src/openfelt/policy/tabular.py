"""A policy: for every row (information state) of every player, a probability for each action."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.games.compile.compiler import compile_game
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.game import AnyGame


@dataclass(frozen=True, eq=False)
class Policy:
    """Probabilities per row, for all players of a game (a profile)."""

    tree: GameTree
    probabilities: Floats  # [slots]

    def __post_init__(self) -> None:
        table = np.asarray(self.probabilities, np.float64)
        object.__setattr__(self, "probabilities", table)
        if table.shape != (self.tree.num_slots,):
            raise FeltError(
                f"A policy of {self.tree.game} has {self.tree.num_slots} numbers, not {table.size}."
            )
        if not (np.isfinite(table).all() and (table >= 0).all()):
            raise FeltError("A policy's probabilities must be numbers from 0 to 1.")
        if len(table) and (abs(_row_sums(self.tree, table) - 1.0) > 1e-6).any():
            raise FeltError("A policy's probabilities must sum to 1 in every row.")

    def __repr__(self) -> str:
        return f"Policy({self.tree.game}, {self.tree.num_rows:,} rows)"

    def row(self, row: int) -> Floats:
        """The probabilities of one row's actions."""
        return self.probabilities[self.tree.slots(row)]

    def at(self, player: int, name: str) -> dict[str, float]:
        """By words: policy.at(0, "K pass bet") gives {"pass": 0.0, "bet": 1.0}."""
        row = self.tree.find_row(player, name)
        return dict(zip(self.tree.actions(row), map(float, self.row(row)), strict=True))

    def sample(self, row: int, generator: np.random.Generator) -> int:
        """The number of an action drawn with its probability."""
        return int(generator.choice(len(self.row(row)), p=self.row(row) / self.row(row).sum()))

    def greedy(self) -> Policy:
        """The policy that always takes the likeliest action (the first of equal ones)."""
        table = np.zeros_like(self.probabilities)
        for row in range(self.tree.num_rows):
            table[self.tree.slots(row).start + int(np.argmax(self.row(row)))] = 1.0
        return Policy(self.tree, table)


def uniform_policy(game: AnyGame | GameTree) -> Policy:
    """All actions alike."""
    tree = _tree(game)
    counts = np.diff(tree.rows.first_slot)
    return Policy(tree, np.repeat(1.0 / counts, counts))


def random_policy(game: AnyGame | GameTree, seed: int = 0) -> Policy:
    """Each row drawn evenly from all distributions over its actions."""
    tree = _tree(game)
    return Policy(tree, normalised(tree, np.random.default_rng(seed).exponential(size=tree.num_slots)))


def normalised(tree: GameTree, weights: Floats) -> Floats:
    """Weights per slot to probabilities; a row without weight becomes uniform."""
    if not len(weights):
        return weights
    if not np.isfinite(weights).all():
        raise FeltError(f"The numbers of {tree.game} have overflowed; nothing sound was learned.")
    counts = np.diff(tree.rows.first_slot)
    sums = np.repeat(_row_sums(tree, weights), counts)
    even = np.repeat(1.0 / counts, counts)
    return np.divide(weights, sums, out=even, where=sums > 0)


def _tree(game: AnyGame | GameTree) -> GameTree:
    return game if isinstance(game, GameTree) else compile_game(game)


def _row_sums(tree: GameTree, table: Floats) -> Floats:
    return np.add.reduceat(table, tree.rows.first_slot[:-1])
