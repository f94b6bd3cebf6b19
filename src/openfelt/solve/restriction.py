"""Restricted games: one player must follow a fixed policy with some probability (PJL11, section 4).

The draw is made *once*, before the game, hidden from the opponent: the restricted Nash response (RNR). Or it
is made at *each* decision, with a confidence per infoset: the data-biased response (DBR). In both, the
opponent's optimal strategy trades winnings from the fixed policy against possible losses to other policies.

RNR in sequence form: a leaf reached under the restriction has the fixed policy's weight and no sequence of
the restricted player. All such leaves after one sequence of the opponent are one leaf with the summed
weight, so the restricted game is hardly larger than the game.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, kernel
from openfelt.games.compile.sequence_form import SequenceForm, without_meetings
from openfelt.games.compile.tree import Tree
from openfelt.policy.policy import Policy, require_game
from openfelt.solve.traverse.restricted import RestrictedTree
from openfelt.solve.traverse.sequence import evaluate_profile, spread_reach, sum_leaves

ONCE, EACH = "once", "each"


@dataclass(frozen=True, eq=False)
class Restriction:
    """Which player must follow which policy, and with what probability."""

    seat: int
    fixed: Policy
    bound: float | Floats  # the probability p; with EACH also one per slot, equal within an infoset
    toss: str = ONCE

    def __post_init__(self) -> None:
        tree = self.fixed.tree
        if tree.players != 2:
            raise FeltError(f"Restricted responses are for two players; {tree.game} has {tree.players}.")
        if self.seat not in (0, 1):
            raise FeltError(f"{tree.game} has seats 0 and 1, not {self.seat}.")
        if self.toss not in (ONCE, EACH):
            raise FeltError(f"A restriction is drawn {ONCE} or at {EACH} decision, not '{self.toss}'.")
        bound = np.asarray(self.bound, float)
        if not ((bound >= 0) & (bound <= 1)).all():
            raise FeltError(f"The probability p must be from 0 to 1, not {self.bound}.")
        if bound.ndim and (self.toss == ONCE or bound.shape != (tree.num_slots,)):
            raise FeltError(f"A confidence per infoset needs a restriction that is drawn at {EACH} decision.")

    @cached_property
    def table(self) -> Floats:
        """[slots] the fixed policy."""
        return np.asarray(self.fixed.probabilities)

    @cached_property
    def bounds(self) -> Floats:
        """[1] or [slots]."""
        return np.ascontiguousarray(np.atleast_1d(np.asarray(self.bound, float)))

    @cached_property
    def fingerprint(self) -> str:
        """Equal for equal restrictions."""
        digest = hashlib.sha256(f"{self.seat} {self.toss} {self.fixed.tree.fingerprint}".encode())
        digest.update(self.table.tobytes())
        digest.update(self.bounds.tobytes())
        return digest.hexdigest()[:32]

    def require(self, tree: Tree) -> None:
        """Raise FeltError if the policy is for another game or abstraction."""
        require_game(self.fixed, tree)

    def wrap(self, tree: Any) -> RestrictedTree:
        """The tree for sampling solvers."""
        table = np.ascontiguousarray(self.table[None])
        return RestrictedTree(tree.node, tree, self.seat, table, self.bounds, self.toss == ONCE)


def restricted_form(form: SequenceForm, restriction: Restriction) -> SequenceForm:
    """The sequence form of the game with one draw before it."""
    form = without_meetings(form)
    p, seat = float(restriction.bounds[0]), restriction.seat
    size = form.num_slots + form.num_players
    fixed = np.zeros(form.num_reaches)
    spread_reach(form, seat, restriction.table, fixed)
    against = np.zeros(size)  # payoffs of the opponent's sequences against the fixed policy, reach left out
    other = 1 - seat
    _gather(form, other, fixed, against)
    own = np.flatnonzero(against)  # sequences of the opponent that have leaves
    count = np.diff(form.first_leaf)
    extra = np.zeros(size, np.int64)
    extra[own] = 1  # one more leaf each, and one each in the list of the restricted player's empty sequence
    extra[form.num_slots + seat] += len(own)
    first_leaf = np.concatenate([[0], np.cumsum(count + extra)])
    weight, others = np.empty(first_leaf[-1]), np.empty((first_leaf[-1], 1), np.int32)
    shift = np.repeat(first_leaf[:-1] - form.first_leaf[:-1], count)
    old = np.arange(len(form.leaf_weight)) + shift
    weight[old], others[old] = (1.0 - p) * form.leaf_weight, form.leaf_others
    last = first_leaf[own + 1] - 1
    weight[last], others[last, 0] = p * against[own], form.num_slots + seat
    at = first_leaf[form.num_slots + seat] + count[form.num_slots + seat] + np.arange(len(own))
    weight[at], others[at, 0] = -p * against[own], own
    return form._replace(first_leaf=first_leaf, leaf_weight=weight, leaf_others=others)


class Binding(NamedTuple):
    """A restriction drawn at each decision, for the player's slots from `first` up to `last`."""

    first: int
    last: int
    fixed: Floats  # [own slots] the fixed policy
    share: Floats  # [own slots] probability of the restriction


def binding(form: SequenceForm, restriction: Restriction | None) -> Binding:
    """The binding of a restriction; empty unless it is drawn at each decision."""
    if restriction is None or restriction.toss == ONCE:
        return Binding(0, 0, np.zeros(0), np.zeros(0))
    first, last = form.first_slot[form.first_row[restriction.seat : restriction.seat + 2]].tolist()
    share = np.broadcast_to(restriction.bounds, form.num_slots)
    fixed = np.ascontiguousarray(restriction.table[first:last])
    return Binding(first, last, fixed, np.ascontiguousarray(share[first:last]))


def mixed(form: SequenceForm, restriction: Restriction, policy: Floats) -> Floats:
    """[slots] the policy as played, if `policy` has the free part of the restricted player's strategy."""
    bound, table = binding(form, restriction), policy.copy()
    own = slice(bound.first, bound.last)
    table[own] = bound.share * bound.fixed + (1.0 - bound.share) * policy[own]
    return table


def evaluate_bound(
    form: SequenceForm, restriction: Restriction, policy: Floats, best: Floats, expected: Floats
) -> None:
    """`evaluate_profile` where the restricted player's best response has its free part only."""
    response = np.empty(form.num_slots)
    evaluate_profile(form, policy, response, best, expected)
    size, seat = form.num_slots + form.num_players, restriction.seat
    reach, values = np.empty(form.num_reaches), np.empty(size)
    spread_reach(form, 1 - seat, policy, reach)
    sum_leaves(form, seat, reach, values)
    best[seat] = _bound_best(form, binding(form, restriction), seat, values)


@kernel
def _bound_best(form: SequenceForm, bound: Binding, player: int, values: Floats) -> float:
    for row in range(form.first_row[player + 1] - 1, form.first_row[player] - 1, -1):
        first, last = form.first_slot[row], form.first_slot[row + 1]
        best, fixed = -np.inf, 0.0
        for slot in range(first, last):
            best = max(best, values[slot])
            fixed += bound.fixed[slot - bound.first] * values[slot]
        share = bound.share[first - bound.first]
        values[form.parent_slot[row]] += share * fixed + (1.0 - share) * best
    return float(values[form.first_slot[-1] + player])


@kernel
def _gather(form: SequenceForm, player: int, reach: Floats, values: Floats) -> None:
    empty = form.first_slot[-1] + player
    for slot in range(len(values)):
        mine = form.first_slot[form.first_row[player]] <= slot < form.first_slot[form.first_row[player + 1]]
        if mine or slot == empty:
            for leaf in range(form.first_leaf[slot], form.first_leaf[slot + 1]):
                values[slot] += form.leaf_weight[leaf] * reach[form.leaf_others[leaf, 0]]
