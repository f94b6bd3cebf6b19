"""Policies of Flop Hold'em: one byte for each action of each infoset, as in hold'em.

Weights are whole numbers of 255ths that sum to 255 at every infoset, rounded by largest remainder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.boards import hole_class
from openfelt.cards.deck import PAIR, Bytes
from openfelt.core.errors import FeltError, GameError
from openfelt.core.jit import Floats, Longs, kernel
from openfelt.games.compile.flop_tree import ACTIONS, FIRST_ACTIONS, FlopTree, flop_decision
from openfelt.games.game import CHANCE
from openfelt.policy.holdem import WHOLE, parse_infoset
from openfelt.policy.policy import Policy

ON_FLOP = np.array([*FIRST_ACTIONS, ACTIONS])  # the first action of each decision, and the end


@dataclass(frozen=True, eq=False)
class FlopPolicy(Policy):
    """A policy of Flop Hold'em, without abstraction.

    Parameters
    ----------
    tree : FlopTree
        The compiled game.
    weights : array of uint8
        One for each slot of the tree, in 255ths; they sum to 255 at every infoset.

    Examples
    --------
    >>> felt.rule_policy("flop_holdem", "always-call").at(0, "AhKh raise call Qh7h2s check bet")
    {'fold': 0.0, 'call': 1.0, 'raise': 0.0}
    """

    tree: FlopTree
    weights: Bytes  # [slots], in 255ths

    def __post_init__(self) -> None:
        if self.weights.shape != (self.tree.num_slots,) or self.weights.dtype != np.uint8:
            raise FeltError(f"A policy of {self.game} has {self.tree.num_slots} bytes.")
        for first, table in blocks(self.tree, self.weights):
            if not _sums_are_whole(first, table):
                raise FeltError("The probabilities of a policy must sum to 1 at every infoset.")

    def __repr__(self) -> str:
        return f"FlopPolicy({self.game}, {self.tree.num_rows:,} infosets)"

    @property
    def table(self) -> NDArray[Any]:
        return self.weights

    def with_table(self, table: NDArray[Any]) -> FlopPolicy:
        return FlopPolicy(self.tree, table)

    @property
    def probabilities(self) -> Floats:
        """[slots] the weights as numbers from 0 to 1; 1.9 GB."""
        return self.weights / WHOLE

    def at(self, player: int, infoset: str) -> dict[str, float]:
        """The probability of each action, given hole cards, actions and the flop in the order observed.

        For example "AhKh raise call Qh7h2s check": hole cards, betting before the flop, the flop, betting.
        """
        hole, board, line = parse_infoset(infoset)
        node, rest = 0, list(line)
        while rest and self.tree.nodes[node].player >= 0:
            node = self._child(node, rest.pop(0), line)
        needed = 3 if self.tree.nodes[node].player == CHANCE else 0
        if len(board) != needed:
            betting = " ".join(line) or "the blinds"
            raise GameError(f"After '{betting}' {self.game} has a board of {needed} cards, not {len(board)}.")
        here = self.tree.nodes[node]
        who, first, words = here.player, here.place, here.words
        if board:
            try:
                who, first, words = flop_decision(here.betting, rest)
            except ValueError:
                raise self._no_line(line) from None
        if who != player or who < 0:
            raise GameError(f"Player {player} is not to act after '{' '.join(line) or 'the blinds'}'.")
        before, after = self.tree.parts(self.weights, player)
        if board:
            weights = after[self.tree.hand(hole, board), first:, here.place]
        else:
            weights = before[hole_class()[PAIR[hole]], first:]
        return dict(zip(words, (weights[: len(words)] / WHOLE).tolist(), strict=True))

    def _child(self, node: int, word: str, line: list[str]) -> int:
        here = self.tree.nodes[node]
        if word not in here.words:
            raise self._no_line(line)
        return here.children[here.words.index(word)]

    def _no_line(self, line: list[str]) -> GameError:
        return GameError(f"{self.game} has no betting line '{' '.join(line)}'.")

    def greedy(self) -> FlopPolicy:
        return _filled(self.tree, self.weights, _take_most)

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        return {"weights": self.weights}


def quantised(tree: FlopTree, weights: NDArray[Any]) -> FlopPolicy:
    """The policy in proportion to weights per slot; uniform at infosets without weight."""
    return _filled(tree, weights, _quantise)


def rule_weights_of(tree: FlopTree, rule: Callable[[int, int], tuple[int, ...]]) -> FlopPolicy:
    """The policy of a rule from the number of actions and the place of the one that checks or calls."""
    table = np.zeros(tree.num_slots, np.uint8)
    for seat in range(2):
        before, after = tree.parts(table, seat)
        for node in tree.nodes:
            if node.player == seat:
                passive = next(place for place, word in enumerate(node.words) if word in ("check", "call"))
                before[:, node.place : node.place + len(node.words)] = rule(len(node.words), passive)
        for first, end in pairwise(ON_FLOP):
            after[:, first:end] = np.array(rule(int(end - first), int(first > 0)))[:, None]
    return FlopPolicy(tree, table)


def blocks(tree: FlopTree, table: NDArray[Any]) -> list[tuple[Longs, NDArray[Any]]]:
    """Views of all of a table: where decisions begin among actions, and [rows, actions, columns]."""
    found = []
    for seat in range(2):
        before, after = tree.parts(table, seat)
        begins = [node.place for node in tree.nodes if node.player == seat]
        found.append((np.array([*begins, tree.edges[seat]]), before[:, :, None]))
        found.append((ON_FLOP, after))
    return found


def _filled(
    tree: FlopTree, weights: NDArray[Any], fill: Callable[[Longs, NDArray[Any], Bytes], bool]
) -> FlopPolicy:
    table = np.empty(tree.num_slots, np.uint8)
    both = zip(blocks(tree, weights), blocks(tree, table), strict=True)
    for (first, source), (_, target) in both:
        if not fill(first, source, target):
            raise FeltError(
                f"The weights of a policy of {tree.game} are negative or not finite: the checkpoint is "
                "damaged, or the run has overflowed."
            )
    return FlopPolicy(tree, table)


@kernel
def _sums_are_whole(first: Longs, table: Bytes) -> bool:
    for row in range(len(table)):
        for decision in range(len(first) - 1):
            for column in range(table.shape[2]):
                total = 0
                for action in range(first[decision], first[decision + 1]):
                    total += table[row, action, column]
                if total != WHOLE:
                    return False
    return True


@kernel
def _take_most(first: Longs, weights: NDArray[Any], table: Bytes) -> bool:
    for row in range(len(table)):
        for decision in range(len(first) - 1):
            for column in range(table.shape[2]):
                best = first[decision]
                for action in range(first[decision], first[decision + 1]):
                    table[row, action, column] = 0
                    if weights[row, action, column] > weights[row, best, column]:
                        best = action
                table[row, best, column] = WHOLE
    return True


@kernel
def _quantise(first: Longs, weights: NDArray[Any], table: Bytes) -> bool:
    """Round to 255ths; False if a weight is not finite."""
    rest = np.empty(3)
    for row in range(len(table)):
        for decision in range(len(first) - 1):
            begin, actions = first[decision], first[decision + 1] - first[decision]
            for column in range(table.shape[2]):
                total, left = 0.0, WHOLE
                for action in range(actions):
                    if not weights[row, begin + action, column] >= 0.0:
                        return False
                    total += weights[row, begin + action, column]
                if not np.isfinite(total):
                    return False
                for action in range(actions):
                    share = 1.0 / actions
                    if total > 0.0:
                        share = weights[row, begin + action, column] / total
                    table[row, begin + action, column] = int(WHOLE * share)
                    rest[action] = WHOLE * share - int(WHOLE * share)
                    left -= int(WHOLE * share)
                while left > 0:
                    most = 0
                    for action in range(1, actions):
                        if rest[action] > rest[most]:
                            most = action
                    table[row, begin + most, column] += 1
                    rest[most] = -1.0
                    left -= 1
    return True
