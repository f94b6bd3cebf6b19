"""Outcome-sampling Monte Carlo CFR: Ponsen, de Jong & Lanctot 2011 (PJL11), Algorithm 1.

Each iteration samples one history, each player exploring with probability epsilon, and updates every infoset
on it, for all players, with the weights of equation 6. Averages are optimistic: an infoset's current policy
counts for all iterations since the infoset was last visited, which its marker c_I records.

With `baseline` above 0 this is the variance-reduced VR-MCCFR of Schmid et al. 2019: each action has a running
estimate of each player's value after it, and only the difference from that is sampled. The expected regrets
are the same. With baselines of zero the recursion is equation 6, so one code serves both:

    v(h, a) = b(a) + [a was drawn] (v(ha) - b(a)) / xi(a),   v(h) = sum of sigma(a) v(h, a),
    r(I, a) = w (v(h, a) - v(h))

with xi the sampling policy, and w the opponents' reach of h over the probability that h is sampled; chance
cancels out of it.

A constant that is added to all payoffs of a player changes no expected regret, but the variance: a sampled
payoff is divided by small probabilities. `offset` moves payoffs that are all far from zero closer to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.core.atomics import add, raise_to
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, part
from openfelt.core.random import uniform
from openfelt.solve.sampling.gpu import InFlightLimits, Shapes
from openfelt.solve.sampling.sampling_solver import SamplingSolver, Tables
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
from openfelt.solve.traverse.sampling_worker import Trace, Worker, WorkerSize, iterate


@dataclass(frozen=True)
class OutcomeSettings(Settings):
    """Parameters of outcome sampling."""

    epsilon: float = setting(0.6, "share of uniform exploration in the sampling policy")
    baseline: float = setting(
        0.0, "step size of the baselines that reduce variance (VR-MCCFR uses 0.5); 0: no baselines"
    )
    offset: float = setting(
        0.0, "subtracted from the first player's payoffs and added to the second's, to reduce variance"
    )

    def __post_init__(self) -> None:
        within("epsilon", self.epsilon, 1e-6, 1.0)
        within("baseline", self.baseline, 0.0, 1.0)
        within("offset", self.offset, -1e9, 1e9)


class OutcomeTables(NamedTuple):
    """The tables."""

    sums: Floats  # [slots, 2] regrets, and the average policy's weights
    marker: NDArray[np.int64]  # [slots] at an infoset's first slot, the iteration of its last visit
    baseline: Floats  # [slots, players], or [0, players] without baselines


class Sampling(NamedTuple):
    """How iterations are done."""

    epsilon: float
    step: float  # of the baselines
    offset: float


# Trace of a decision: the first slot of the infoset, the number of actions, the player, the action drawn; the
# probability of drawing it, the player's own reach of the node, the opponents' reach of it over the
# probability to sample it; and from POLICY on the current policy.
FIRST, ACTIONS, MOVER, ACTION = range(4)
SAMPLED, OWN_REACH, WEIGHT, POLICY = range(4)
# Trace of a player: its own reach, on the way down; its value of what follows, on the way up.
REACH, VALUE = 0, 1


class OutcomeMCCFR(SamplingSolver):
    """Outcome-sampling Monte Carlo CFR: one sampled history per iteration (Lanctot et al. 2009; PJL11).

    Parameters
    ----------
    game : Game, str or Path
        Any game, hold'em included.
    epsilon : float
        Share of uniform exploration in the sampling policy.
    baseline : float
        Step size of the baselines that reduce variance (VR-MCCFR uses 0.5); 0 for none.
    offset : float
        Subtracted from the first player's payoffs and added to the second's. It changes no expected regret,
        but reduces the variance where all payoffs of a player are far from zero. For two players.
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

    def _start(self) -> None:
        if self.settings.offset and self.tree.players != 2:
            raise FeltError(f"An offset is for two players; {self.tree.game} has {self.tree.players}.")
        super()._start()

    def _table_shapes(self) -> Shapes:
        slots = self.tree.num_slots
        return {
            "sums": ((slots, 2), np.float64),
            "marker": ((slots,), np.int64),
            "baseline": ((slots if self.settings.baseline else 0, self.tree.players), np.float64),
        }

    def _worker_size(self) -> WorkerSize:
        return WorkerSize(self.tree.players, self.depth, whole=4, real=POLICY + self.most_actions)

    def _in_flight_limits(self) -> InFlightLimits:
        return InFlightLimits(256, 16.0)

    def _how(self) -> Sampling:
        return Sampling(self.settings.epsilon, self.settings.baseline, float(self.settings.offset))

    def _merge(self, common: Tables, copies: list[Tables]) -> None:
        # An infoset counts as visited if any thread visited it; baselines are estimates, so they are
        # averaged.
        common["marker"][...] = np.max([copy["marker"] for copy in copies], axis=0)
        common["baseline"][...] = np.mean([copy["baseline"] for copy in copies], axis=0)

    @property
    def weights(self) -> Floats:
        return self.summed("sums", AVERAGE)


@implements(iterate, Sampling)
def _iterate(how: Sampling, tree: Any, tables: OutcomeTables, own: Worker, number: int) -> None:
    length, leaf = sample_history(tree, tables.sums, own, how.epsilon)
    learn_history(tree, tables, own, length, leaf, how, number)


@part
def sample_history(tree: Any, sums: Floats, own: Worker, epsilon: float) -> tuple[int, int]:
    """SELECT of Algorithm 1; returns the number of decisions and the leaf."""
    deal, trace, stream = own.deal, own.trace, own.stream
    players = num_players(tree)
    for player in range(players):
        trace.of_player[player, REACH] = 1.0
    length, sampled = 0, 1.0
    node = begin(tree, deal, stream)
    player = tree.node[node, PLAYER]
    while player >= 0:
        first, actions = first_slot(tree, deal, node), num_actions(tree, node)
        match_regrets(sums, first, first + actions, trace.real, length, POLICY)
        chosen, place = actions - 1, uniform(stream)
        even = epsilon / actions
        for action in range(actions - 1):
            place -= even + (1.0 - epsilon) * trace.real[length, POLICY + action]
            if place < 0.0:
                chosen = action
                break
        others = 1.0
        for other in range(players):
            if other != player:
                others *= trace.of_player[other, REACH]
        policy = trace.real[length, POLICY + chosen]
        here = even + (1.0 - epsilon) * policy
        trace.whole[length, FIRST] = first
        trace.whole[length, ACTIONS] = actions
        trace.whole[length, MOVER] = player
        trace.whole[length, ACTION] = chosen
        trace.real[length, SAMPLED] = here
        trace.real[length, OWN_REACH] = trace.of_player[player, REACH]
        trace.real[length, WEIGHT] = others / sampled
        trace.of_player[player, REACH] *= policy
        sampled *= here
        length += 1
        node = follow(tree, deal, node, chosen, stream)
        player = tree.node[node, PLAYER]
    return length, node


@part
def learn_history(
    tree: Any, tables: OutcomeTables, own: Worker, length: int, leaf: int, how: Sampling, iteration: int
) -> None:
    """UPDATE of Algorithm 1, from the last decision to the first."""
    trace, players, step = own.trace, num_players(tree), how.step
    for player in range(players):
        shift = how.offset if player else -how.offset
        trace.of_player[player, VALUE] = payoff(tree, own.deal, leaf, player) + shift
    for depth in range(length - 1, -1, -1):
        first, actions = trace.whole[depth, FIRST], trace.whole[depth, ACTIONS]
        player, chosen = trace.whole[depth, MOVER], trace.whole[depth, ACTION]
        sampled = trace.real[depth, SAMPLED]
        drawn = trace.of_player[player, VALUE] / sampled  # v(h, a) of the action drawn
        if step > 0.0:
            drawn += tables.baseline[first + chosen, player] * (1.0 - 1.0 / sampled)
            _pass_on(tables.baseline, trace, depth, players, step)
        else:
            factor = trace.real[depth, POLICY + chosen] / sampled
            for other in range(players):
                trace.of_player[other, VALUE] *= factor
        value, weight = trace.of_player[player, VALUE], trace.real[depth, WEIGHT]
        # Another thread may have visited this infoset in a later iteration.
        since = max(iteration - raise_to(tables.marker, first, iteration), 0) * trace.real[depth, OWN_REACH]
        for action in range(actions):
            slot = first + action
            of_action = drawn if action == chosen else 0.0
            if step > 0.0 and action != chosen:
                of_action = tables.baseline[slot, player]
            add(tables.sums, slot, REGRET, weight * (of_action - value))
            add(tables.sums, slot, AVERAGE, since * trace.real[depth, POLICY + action])


@part
def _pass_on(baseline: Floats, trace: Trace, depth: int, players: int, step: float) -> None:
    """Replace the value of each player after the drawn action by that before it, and learn the baseline."""
    first, chosen = trace.whole[depth, FIRST], trace.whole[depth, ACTION]
    factor = trace.real[depth, POLICY + chosen] / trace.real[depth, SAMPLED]
    for player in range(players):
        expected = 0.0
        for action in range(trace.whole[depth, ACTIONS]):
            expected += trace.real[depth, POLICY + action] * baseline[first + action, player]
        error = trace.of_player[player, VALUE] - baseline[first + chosen, player]
        trace.of_player[player, VALUE] = expected + factor * error
        add(baseline, first + chosen, player, step * error)
