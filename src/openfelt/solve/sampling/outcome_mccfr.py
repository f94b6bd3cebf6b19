"""Outcome-sampling Monte-Carlo CFR: Ponsen, de Jong & Lanctot 2011 (PJL11), Algorithm 1.

One history is drawn an iteration, each player exploring with probability epsilon; every row on it is
updated, for all players, with the weights of equation 6. The average is kept by optimistic averaging: a
row's current policy counts for all iterations since the row was last met, which its marker c_I tells.

With `baseline` above 0 the learner is the variance-reduced VR-MCCFR of Schmid et al. 2019: each action
keeps a running estimate of what follows it for each player, and only the difference from it is sampled. The
expected regrets are the same. With baselines of zero its recursion is equation 6, so there is one code:

    v(h, a) = b(a) + [a was drawn] (v(ha) - b(a)) / xi(a),   v(h) = sum of sigma(a) v(h, a),
    r(I, a) = w (v(h, a) - v(h))

with xi the sampling policy, and w the others' reach of h over the probability that h is sampled, from
which chance cancels out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.core.atomics import add, raise_to
from openfelt.core.jit import Floats, part
from openfelt.core.random import uniform
from openfelt.solve.sampling.gpu import Crowd, Shapes
from openfelt.solve.sampling.sampling_solver import Learner, Tables
from openfelt.solve.solver import Settings, setting, within
from openfelt.solve.traverse.episode import (
    PLAYER,
    begin,
    first_slot,
    follow,
    implements,
    num_actions,
    num_players,
    payoff,
)
from openfelt.solve.traverse.regret_matching import AVERAGE, REGRET, match_regrets
from openfelt.solve.traverse.worker import Notes, Worker, WorkerSize, iterate


@dataclass(frozen=True)
class OutcomeSettings(Settings):
    """Parameters of outcome sampling."""

    epsilon: float = setting(0.6, "how much of the sampling is even over the actions")
    baseline: float = setting(
        0.0, "step of the running values that lessen the variance (VR-MCCFR has 0.5); 0: without them"
    )

    def __post_init__(self) -> None:
        within("epsilon", self.epsilon, 1e-6, 1.0)
        within("baseline", self.baseline, 0.0, 1.0)


class OutcomeTables(NamedTuple):
    """What is learned."""

    sums: Floats  # [slots, 2] regrets, and the average policy's weights
    marker: NDArray[np.int64]  # [slots] at a row's first slot, the iteration in which the row was last met
    baseline: Floats  # [slots, players], or [0, players] without baselines


class Sampling(NamedTuple):
    """How iterations are done."""

    epsilon: float
    step: float  # of the baselines


# Notes of a decision: the first slot of the row, how many actions there are, who moves, the place of the
# action that was drawn; with which probability it was drawn, the player's own reach of the node, all others'
# reach of it over the probability to sample it; and from POLICY on the current policy.
FIRST, ACTIONS, MOVER, ACTION = range(4)
SAMPLED, OWN_REACH, WEIGHT, POLICY = range(4)
# Notes of a player: his own reach, on the way down; what follows is worth to him, on the way back.
REACH, VALUE = 0, 1


class OutcomeMCCFR(Learner):
    """Outcome-sampling Monte Carlo CFR: one sampled history per iteration (Lanctot et al. 2009; PJL11).

    Parameters
    ----------
    game : Game, str or Path
        Any game, hold'em included.
    epsilon : float
        Share of uniform exploration in the sampling policy.
    baseline : float
        Step size of the baselines that reduce variance (VR-MCCFR uses 0.5); 0 for none.
    **options
        `seed`, `threads`, `device`, `in_flight` and `restriction`, as in `Solver`.

    Examples
    --------
    >>> solver = felt.OutcomeMCCFR("kuhn", seed=1).run(100_000)
    >>> solver.measure().exploitability < 0.1
    True
    """

    name: ClassVar[str] = "outcome-mccfr"
    summary: ClassVar[str] = "CFR on one sampled history at a time (Ponsen, de Jong & Lanctot 2011)"
    settings_type: ClassVar[type[Settings]] = OutcomeSettings
    settings: OutcomeSettings
    tables_type: ClassVar[Any] = OutcomeTables
    exchanges: ClassVar[bool] = True

    def _table_shapes(self) -> Shapes:
        slots = self.tree.num_slots
        return {
            "sums": ((slots, 2), np.float64),
            "marker": ((slots,), np.int64),
            "baseline": ((slots if self.settings.baseline else 0, self.tree.players), np.float64),
        }

    def _worker_size(self) -> WorkerSize:
        return WorkerSize(self.tree.players, self.depth, whole=4, real=POLICY + self.most_actions)

    def _crowd(self) -> Crowd:
        return Crowd(256, 16.0)

    def _how(self) -> Sampling:
        return Sampling(self.settings.epsilon, self.settings.baseline)

    def _merge(self, common: Tables, copies: list[Tables]) -> None:
        # A row counts as met when any thread met it; of the baselines, which are estimates, the mean is kept.
        common["marker"][...] = np.max([copy["marker"] for copy in copies], axis=0)
        common["baseline"][...] = np.mean([copy["baseline"] for copy in copies], axis=0)

    @property
    def weights(self) -> Floats:
        return self.summed("sums", AVERAGE)


@implements(iterate, Sampling)
def _iterate(how: Sampling, tree: Any, tables: OutcomeTables, own: Worker, number: int) -> None:
    length, leaf = sample_history(tree, tables.sums, own, how.epsilon)
    learn_history(tree, tables, own, length, leaf, how.step, number)


@part
def sample_history(tree: Any, sums: Floats, own: Worker, epsilon: float) -> tuple[int, int]:
    """SELECT of Algorithm 1; returns the number of decisions and the leaf."""
    deal, notes, stream = own.deal, own.notes, own.stream
    players = num_players(tree)
    for player in range(players):
        notes.of_player[player, REACH] = 1.0
    length, sampled = 0, 1.0
    node = begin(tree, deal, stream)
    player = tree.node[node, PLAYER]
    while player >= 0:
        first, actions = first_slot(tree, deal, node), num_actions(tree, node)
        match_regrets(sums, first, first + actions, notes.real, length, POLICY)
        chosen, place = actions - 1, uniform(stream)
        even = epsilon / actions
        for action in range(actions - 1):
            place -= even + (1.0 - epsilon) * notes.real[length, POLICY + action]
            if place < 0.0:
                chosen = action
                break
        others = 1.0
        for other in range(players):
            if other != player:
                others *= notes.of_player[other, REACH]
        policy = notes.real[length, POLICY + chosen]
        here = even + (1.0 - epsilon) * policy
        notes.whole[length, FIRST] = first
        notes.whole[length, ACTIONS] = actions
        notes.whole[length, MOVER] = player
        notes.whole[length, ACTION] = chosen
        notes.real[length, SAMPLED] = here
        notes.real[length, OWN_REACH] = notes.of_player[player, REACH]
        notes.real[length, WEIGHT] = others / sampled
        notes.of_player[player, REACH] *= policy
        sampled *= here
        length += 1
        node = follow(tree, deal, node, chosen, stream)
        player = tree.node[node, PLAYER]
    return length, node


@part
def learn_history(
    tree: Any, tables: OutcomeTables, own: Worker, length: int, leaf: int, step: float, iteration: int
) -> None:
    """UPDATE of Algorithm 1, from the last decision to the first."""
    notes, players = own.notes, num_players(tree)
    for player in range(players):
        notes.of_player[player, VALUE] = payoff(tree, own.deal, leaf, player)
    for depth in range(length - 1, -1, -1):
        first, actions = notes.whole[depth, FIRST], notes.whole[depth, ACTIONS]
        player, chosen = notes.whole[depth, MOVER], notes.whole[depth, ACTION]
        sampled = notes.real[depth, SAMPLED]
        drawn = notes.of_player[player, VALUE] / sampled  # v(h, a) of the action drawn
        if step > 0.0:
            drawn += tables.baseline[first + chosen, player] * (1.0 - 1.0 / sampled)
            _pass_on(tables.baseline, notes, depth, players, step)
        else:
            factor = notes.real[depth, POLICY + chosen] / sampled
            for other in range(players):
                notes.of_player[other, VALUE] *= factor
        value, weight = notes.of_player[player, VALUE], notes.real[depth, WEIGHT]
        # Another thread may have been here at a later time by its clock.
        since = max(iteration - raise_to(tables.marker, first, iteration), 0) * notes.real[depth, OWN_REACH]
        for action in range(actions):
            slot = first + action
            of_action = drawn if action == chosen else 0.0
            if step > 0.0 and action != chosen:
                of_action = tables.baseline[slot, player]
            add(tables.sums, slot, REGRET, weight * (of_action - value))
            add(tables.sums, slot, AVERAGE, since * notes.real[depth, POLICY + action])


@part
def _pass_on(baseline: Floats, notes: Notes, depth: int, players: int, step: float) -> None:
    """Replace the value of each player after the drawn action by that before it, and learn the baseline."""
    first, chosen = notes.whole[depth, FIRST], notes.whole[depth, ACTION]
    factor = notes.real[depth, POLICY + chosen] / notes.real[depth, SAMPLED]
    for player in range(players):
        expected = 0.0
        for action in range(notes.whole[depth, ACTIONS]):
            expected += notes.real[depth, POLICY + action] * baseline[first + action, player]
        error = notes.of_player[player, VALUE] - baseline[first + chosen, player]
        notes.of_player[player, VALUE] = expected + factor * error
        add(baseline, first + chosen, player, step * error)
