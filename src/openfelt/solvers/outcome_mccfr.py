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

from openfelt.base.jit import Floats, Ints, Longs, episode_kernel, part
from openfelt.base.memory import scratch
from openfelt.base.random import Stream, uniform
from openfelt.solvers.learner import Learner, Shapes, Span, Tables, Thread
from openfelt.solvers.solver import Settings, setting, within
from openfelt.traverse.episode import PLAYER, begin, first_slot, follow, num_actions, payoff
from openfelt.traverse.exchange import Exchange, trade
from openfelt.traverse.regrets import AVERAGE, REGRET, match_regrets


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


class History(NamedTuple):
    """One sampled history, decision by decision."""

    first: Longs  # [depth] the first slot of the row
    actions: Ints  # [depth] how many there are
    player: Ints  # [depth]
    action: Ints  # [depth] the place of the action that was drawn
    sampled: Floats  # [depth] with which probability it was drawn
    own_reach: Floats  # [depth] the player's own reach of the node
    weight: Floats  # [depth] all others' reach of it, over the probability to sample it
    policy: Floats  # [depth * actions] the current policy, that of each decision at depth * actions
    reach: Floats  # [players] each player's own reach, on the way down
    value: Floats  # [players] what follows is worth to each, on the way back


class OutcomeMCCFR(Learner):
    """Outcome-sampling Monte-Carlo counterfactual regret minimisation."""

    name: ClassVar[str] = "outcome-mccfr"
    summary: ClassVar[str] = "CFR on one sampled history at a time (Ponsen, de Jong & Lanctot 2011)"
    settings_type: ClassVar[type[Settings]] = OutcomeSettings
    settings: OutcomeSettings
    exchanged: ClassVar[str | None] = "sums"

    def _table_shapes(self) -> Shapes:
        slots = self.tree.num_slots
        return {
            "sums": ((slots, 2), np.float64),
            "marker": ((slots,), np.int64),
            "baseline": ((slots if self.settings.baseline else 0, self.tree.players), np.float64),
        }

    def _new_scratch(self) -> History:
        depth, actions = self.depth, self.most_actions
        return History(
            first=scratch(depth, np.int64),
            actions=scratch(depth, np.int32),
            player=scratch(depth, np.int32),
            action=scratch(depth, np.int32),
            sampled=scratch(depth),
            own_reach=scratch(depth),
            weight=scratch(depth),
            policy=scratch(depth * actions),
            reach=scratch(self.tree.players),
            value=scratch(self.tree.players),
        )

    def _learn(self, tables: Tables, thread: Thread, span: Span, exchange: Exchange) -> None:
        own, settings = OutcomeTables(**tables), self.settings
        _iterate(self.episode_tree, own, *thread, settings.epsilon, settings.baseline, span, exchange)

    def _merge(self, common: Tables, copies: list[Tables]) -> None:
        # A row counts as met when any thread met it; of the baselines, which are estimates, the mean is kept.
        common["marker"][...] = np.max([copy["marker"] for copy in copies], axis=0)
        common["baseline"][...] = np.mean([copy["baseline"] for copy in copies], axis=0)

    @property
    def weights(self) -> Floats:
        return self.summed("sums", AVERAGE)


@episode_kernel
def _iterate(
    tree: Any,
    tables: OutcomeTables,
    deal: Any,
    history: History,
    stream: Stream,
    epsilon: float,
    step: float,
    span: Span,
    exchange: Exchange,
) -> None:
    until_trade = exchange.every
    for count in range(1, span.length + 1):
        length, leaf = sample_history(tree, tables.sums, deal, history, stream, epsilon)
        learn_history(tree, tables, deal, history, length, leaf, step, span.begun + count * span.stride)
        until_trade -= 1
        if until_trade == 0:
            trade(tables.sums, exchange)
            until_trade = exchange.every
    if exchange.every > 0:
        trade(tables.sums, exchange)


@part
def sample_history(
    tree: Any, sums: Floats, deal: Any, history: History, stream: Stream, epsilon: float
) -> tuple[int, int]:
    """SELECT of Algorithm 1; returns the number of decisions and the leaf."""
    players = len(history.reach)
    for player in range(players):
        history.reach[player] = 1.0
    width = len(history.policy) // len(history.first)
    length, sampled = 0, 1.0
    node = begin(tree, deal, stream)
    player = tree.node[node, PLAYER]
    while player >= 0:
        first, actions = first_slot(tree, deal, node), num_actions(tree, node)
        base = length * width
        match_regrets(sums, first, first + actions, history.policy, base)
        chosen, place = actions - 1, uniform(stream)
        even = epsilon / actions
        for action in range(actions - 1):
            place -= even + (1.0 - epsilon) * history.policy[base + action]
            if place < 0.0:
                chosen = action
                break
        others = 1.0
        for other in range(players):
            if other != player:
                others *= history.reach[other]
        history.first[length] = first
        history.actions[length] = actions
        history.player[length] = player
        history.action[length] = chosen
        history.sampled[length] = even + (1.0 - epsilon) * history.policy[base + chosen]
        history.own_reach[length] = history.reach[player]
        history.weight[length] = others / sampled
        history.reach[player] *= history.policy[base + chosen]
        sampled *= history.sampled[length]
        length += 1
        node = follow(tree, deal, node, chosen, stream)
        player = tree.node[node, PLAYER]
    return length, node


@part
def learn_history(
    tree: Any,
    tables: OutcomeTables,
    deal: Any,
    history: History,
    length: int,
    leaf: int,
    step: float,
    iteration: int,
) -> None:
    """UPDATE of Algorithm 1, from the last decision to the first."""
    width = len(history.policy) // len(history.first)
    for player in range(len(history.value)):
        history.value[player] = payoff(tree, deal, leaf, player)
    for depth in range(length - 1, -1, -1):
        first, actions = history.first[depth], history.actions[depth]
        player, chosen = history.player[depth], history.action[depth]
        base = depth * width
        drawn = history.value[player] / history.sampled[depth]  # v(h, a) of the action drawn
        if step > 0.0:
            drawn += tables.baseline[first + chosen, player] * (1.0 - 1.0 / history.sampled[depth])
            _pass_on(tables.baseline, history, depth, first, actions, step)
        else:
            factor = history.policy[base + chosen] / history.sampled[depth]
            for other in range(len(history.value)):
                history.value[other] *= factor
        value, weight = history.value[player], history.weight[depth]
        # Another thread may have been here at a later time by its clock.
        since = max(iteration - tables.marker[first], 0) * history.own_reach[depth]
        tables.marker[first] = max(iteration, tables.marker[first])
        for action in range(actions):
            slot = first + action
            of_action = drawn if action == chosen else 0.0
            if step > 0.0 and action != chosen:
                of_action = tables.baseline[slot, player]
            tables.sums[slot, REGRET] += weight * (of_action - value)
            tables.sums[slot, AVERAGE] += since * history.policy[base + action]


@part
def _pass_on(baseline: Floats, history: History, depth: int, first: int, actions: int, step: float) -> None:
    """Replace the value of each player after the drawn action by that before it, and learn the baseline."""
    base = depth * (len(history.policy) // len(history.first))
    chosen = history.action[depth]
    factor = history.policy[base + chosen] / history.sampled[depth]
    for player in range(len(history.value)):
        expected = 0.0
        for action in range(actions):
            expected += history.policy[base + action] * baseline[first + action, player]
        error = history.value[player] - baseline[first + chosen, player]
        history.value[player] = expected + factor * error
        baseline[first + chosen, player] += step * error
