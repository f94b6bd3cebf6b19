"""Rule players: their actions depend on the betting, never on their cards."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache, partial, singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import Bytes
from openfelt.core.errors import FeltError, unknown
from openfelt.core.jit import Floats
from openfelt.games.compile.betting_tree import (
    ACTIONS_MASK,
    FACING_SHIFT,
    KIND,
    PLACE,
    PLAYER,
    BettingTree,
)
from openfelt.games.compile.compiler import compile_any
from openfelt.games.compile.flop_tree import FlopTree
from openfelt.games.compile.infoset_tree import InfosetTree
from openfelt.games.compile.tree import Tree
from openfelt.games.game import AnyGame
from openfelt.policy.flop import rule_weights_of
from openfelt.policy.holdem import WHOLE, HoldemPolicy, in_every_bucket
from openfelt.policy.policy import Policy
from openfelt.policy.tabular import TabularPolicy, normalised, uniform_policy

RANDOM = "random"  # the only rule that applies to any game; the others need poker

# From the number of actions and the position of the one that checks or calls to weights of the actions.
RULES: dict[str, Callable[[int, int], list[float]]] = {
    "always-raise": lambda actions, passive: [float(place == actions - 1) for place in range(actions)],
    "always-call": lambda actions, passive: [float(place == passive) for place in range(actions)],
    "always-fold": lambda actions, passive: [float(place == 0) for place in range(actions)],
    RANDOM: lambda actions, passive: [1.0] * actions,
    "probe": lambda actions, passive: [float(place >= passive) for place in range(actions)],  # HS14
}


def rule_policy(game: AnyGame | Tree, rule: str) -> Policy:
    """The policy of a rule player.

    Parameters
    ----------
    game : Game, str, Path or Tree
        A poker game; for "random" any game.
    rule : {"always-raise", "always-call", "always-fold", "random", "probe"}
        "probe" raises or calls with equal probability (HS14).

    Returns
    -------
    Policy

    Examples
    --------
    >>> felt.rule_policy("leduc", "always-call").at(0, "K check bet")
    {'fold': 0.0, 'call': 1.0, 'raise': 0.0}
    """
    require_rule(rule)
    return _rule_policy(compile_any(game), rule)


@singledispatch
def _rule_policy(tree: Tree, rule: str) -> Policy:
    raise NotImplementedError(type(tree))


@_rule_policy.register
def _(tree: InfosetTree, rule: str) -> Policy:
    return TabularPolicy(tree, rule_table(tree, rule))


@_rule_policy.register
def _(tree: BettingTree, rule: str) -> Policy:
    return HoldemPolicy(tree, in_every_bucket(tree, rule_table(tree, rule)))


@_rule_policy.register
def _(tree: FlopTree, rule: str) -> Policy:
    return rule_weights_of(tree, partial(rule_weights, rule))


def require_rule(rule: str) -> None:
    """Raise if there is no such rule."""
    if rule not in RULES:
        raise FeltError(unknown("rule", rule, RULES))


@singledispatch
def rule_table(tree: Tree, rule: str) -> NDArray[Any]:
    """A rule's policy for kernels: [edges] in 255ths for hold'em, as if with one bucket; else [slots]."""
    raise NotImplementedError(type(tree))


def rule_probabilities(rule: str, actions: int, passive: int) -> list[float]:
    """Probabilities of the actions, given their number and the position of the one that checks or calls."""
    shares = RULES[rule](actions, passive)
    return [share / sum(shares) for share in shares]


@cache
def rule_weights(rule: str, actions: int, passive: int) -> tuple[int, ...]:
    """The same in 255ths, as policies of hold'em store them."""
    shares = RULES[rule](actions, passive)
    weights = [int(WHOLE * share / sum(shares)) for share in shares]
    weights[shares.index(max(shares))] += WHOLE - sum(weights)
    return tuple(weights)


@rule_table.register
def _probabilities_by_slot(tree: InfosetTree, rule: str) -> Floats:
    if rule == RANDOM:
        return uniform_policy(tree).probabilities
    passive = tree.passive_actions()[tree.first_slot[:-1]]
    if (passive < 0).any():
        raise FeltError(f"{rule} plays poker, not {tree.game}.")
    table = np.empty(tree.num_slots)
    for row in range(tree.num_rows):
        slots = tree.slots(row)
        table[slots] = RULES[rule](slots.stop - slots.start, int(passive[row]))
    return normalised(tree, table)


@rule_table.register
def _weights_by_edge(tree: BettingTree, rule: str) -> Bytes:
    return _cached_weights(tree, rule)


@lru_cache(maxsize=4)
def _cached_weights(tree: BettingTree, rule: str) -> Bytes:
    require_rule(rule)
    weights = np.zeros(tree.num_edges, np.uint8)
    decisions = tree.node[tree.node[:, PLAYER] >= 0]
    kinds = decisions[:, KIND] & (2 << FACING_SHIFT) - 1
    for kind in np.unique(kinds):
        actions, passive = int(kind) & ACTIONS_MASK, int(kind) >> FACING_SHIFT & 1
        first = decisions[kinds == kind, PLACE]
        for place, weight in enumerate(rule_weights(rule, actions, passive)):
            weights[first + place] = weight
    return weights
