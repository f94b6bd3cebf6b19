"""External-sampling and chance-sampling Monte-Carlo CFR: one traversal, two ways to treat the others.

Lanctot, Waugh, Zinkevich & Bowling 2009; chance sampling is that of Zinkevich et al. 2007. An iteration
walks the game once for each player in turn: all of his actions are tried, chance is drawn, and the others'
actions are drawn too (external sampling) or all walked with their probability (chance sampling).

A row's policy is fixed when a traversal first meets it, so that several histories of one row see the same;
actions of others are drawn anew at each history, as OpenSpiel does, and not once for each of their rows.
Averages: under external sampling those of the next player are updated in the traversal of the one before
him, as OpenSpiel does, for there the row is met as often as he plays to it. (With three players it also
depends on how often the third does.) Under chance sampling a player's own reach is known and counts once
a traversal.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.base.jit import Floats, Ints, episode_kernel, part
from openfelt.base.memory import scratch
from openfelt.base.random import Stream
from openfelt.solvers.learner import Learner, Shapes, Span, Tables, Thread
from openfelt.traverse.episode import (
    PLACE,
    PLAYER,
    begin,
    draw,
    first_slot,
    follow,
    num_actions,
    num_players,
    payoff,
)
from openfelt.traverse.exchange import Exchange
from openfelt.traverse.regrets import AVERAGE, REGRET, match_regrets


class Walk(NamedTuple):
    """Where a traversal is: the decisions whose actions are all tried, one above the other."""

    node: Ints  # [depth]
    action: Ints  # [depth] which action is being tried
    own_reach: Floats  # [depth] reach of the player whose traversal it is
    others_reach: Floats  # [depth] of all other players, chance apart
    value: Floats  # [depth, actions] to him, of each action tried so far
    policy: Floats  # [spots] each row's policy in this traversal
    met: NDArray[np.int64]  # [spots] at a row's first spot, the last traversal that met the row


class ExternalMCCFR(Learner):
    """External-sampling Monte-Carlo counterfactual regret minimisation."""

    name: ClassVar[str] = "external-mccfr"
    summary: ClassVar[str] = "CFR with chance and opponents sampled (Lanctot et al. 2009)"
    work: ClassVar[str] = "iterations"
    first_measurement: ClassVar[int] = 100
    samples_others: ClassVar[bool] = True
    exchanged: ClassVar[str | None] = None

    def _table_shapes(self) -> Shapes:
        return {"sums": ((self.tree.num_slots, 2), np.float64)}

    def _new_scratch(self) -> Walk:
        depth, actions = self.depth, self.most_actions
        walk = Walk(
            node=scratch(depth, np.int32),
            action=scratch(depth, np.int32),
            own_reach=scratch(depth),
            others_reach=scratch(depth),
            value=scratch(depth * actions).reshape(depth, actions),
            policy=scratch(self.tree.num_spots),
            met=scratch(self.tree.num_spots, np.int64),
        )
        walk.met[:] = -1
        return walk

    def _learn(self, tables: Tables, thread: Thread, span: Span, exchange: Exchange) -> None:
        _iterate(self.episode_tree, tables["sums"], *thread, self.samples_others, span)

    @property
    def weights(self) -> Floats:
        return self.summed("sums", AVERAGE)


class ChanceCFR(ExternalMCCFR):
    """Chance-sampled counterfactual regret minimisation."""

    name: ClassVar[str] = "chance-cfr"
    summary: ClassVar[str] = "CFR with chance sampled (Zinkevich et al. 2007)"
    samples_others: ClassVar[bool] = False


@episode_kernel
def _iterate(
    tree: Any,
    sums: Floats,  # [slots, 2] regrets, and the average policy's weights
    deal: Any,
    walk: Walk,
    stream: Stream,
    samples_others: bool,
    span: Span,
) -> None:
    players = num_players(tree)
    for count in range(1, span.length + 1):
        for player in range(players):
            traversal = (span.begun + count * span.stride) * players + player
            _traverse(tree, sums, deal, walk, stream, samples_others, player, traversal)


@part
def _traverse(
    tree: Any,
    sums: Floats,
    deal: Any,
    walk: Walk,
    stream: Stream,
    samples_others: bool,
    traverser: int,
    traversal: int,
) -> float:
    """Update the regrets of one player's rows; returns the sampled value of the game to him.

    The recursion is written out: `depth` decisions are open, and the loop goes down to a leaf and then up
    to the last decision that has an action left.
    """
    next_player = (traverser + 1) % num_players(tree)
    depth, own_reach, others_reach = 0, 1.0, 1.0
    node = begin(tree, deal, stream)
    while True:
        player = tree.node[node, PLAYER]
        while player >= 0:
            spot, actions = tree.node[node, PLACE], num_actions(tree, node)
            first = first_slot(tree, deal, node)
            is_new = _meet(sums, walk, first, spot, actions, traversal)
            if samples_others and player != traverser:
                if player == next_player:
                    _add_to_average(sums, walk, first, spot, actions, 1.0)
                drawn = draw(walk.policy, spot, spot + actions, stream) - spot
                node = follow(tree, deal, node, drawn, stream)
            else:
                if is_new and player == traverser and not samples_others:
                    _add_to_average(sums, walk, first, spot, actions, own_reach)
                walk.node[depth], walk.action[depth] = node, 0
                walk.own_reach[depth], walk.others_reach[depth] = own_reach, others_reach
                own_reach, others_reach = _try(tree, walk, depth, samples_others, traverser)
                node = follow(tree, deal, node, 0, stream)
                depth += 1
            player = tree.node[node, PLAYER]
        value = payoff(tree, deal, node, traverser)
        while depth > 0 and not _has_more(tree, walk, depth - 1, value):
            depth -= 1
            value = _close(tree, sums, deal, walk, depth, traverser)
        if depth == 0:
            return float(value)
        own_reach, others_reach = _try(tree, walk, depth - 1, samples_others, traverser)
        node = follow(tree, deal, walk.node[depth - 1], walk.action[depth - 1], stream)


@part
def _try(tree: Any, walk: Walk, depth: int, samples_others: bool, traverser: int) -> tuple[float, float]:
    """The reach after the action that is next at an open decision."""
    node, action = walk.node[depth], walk.action[depth]
    own_reach, others_reach = walk.own_reach[depth], walk.others_reach[depth]
    if not samples_others:
        probability = walk.policy[tree.node[node, PLACE] + action]
        if tree.node[node, PLAYER] == traverser:
            own_reach *= probability
        else:
            others_reach *= probability
    return own_reach, others_reach


@part
def _has_more(tree: Any, walk: Walk, depth: int, value: float) -> bool:
    """Note what the action was worth that was just tried, and go on to the next; False if there is none."""
    walk.value[depth, walk.action[depth]] = value
    walk.action[depth] += 1
    return bool(walk.action[depth] < num_actions(tree, walk.node[depth]))


@part
def _close(tree: Any, sums: Floats, deal: Any, walk: Walk, depth: int, traverser: int) -> float:
    """All actions of a decision are tried: learn from them, if it is the traverser's; returns its value."""
    node = walk.node[depth]
    spot, actions = tree.node[node, PLACE], num_actions(tree, node)
    value = 0.0
    for action in range(actions):
        value += walk.policy[spot + action] * walk.value[depth, action]
    if tree.node[node, PLAYER] == traverser:
        first = first_slot(tree, deal, node)
        for action in range(actions):
            regret = walk.others_reach[depth] * (walk.value[depth, action] - value)
            sums[first + action, REGRET] += regret
    return value


@part
def _add_to_average(sums: Floats, walk: Walk, first: int, spot: int, actions: int, weight: float) -> None:
    for action in range(actions):
        sums[first + action, AVERAGE] += weight * walk.policy[spot + action]


@part
def _meet(sums: Floats, walk: Walk, first: int, spot: int, actions: int, traversal: int) -> bool:
    """Match the row's regrets, if this traversal has not met it before; returns whether it had not."""
    if walk.met[spot] == traversal:
        return False
    walk.met[spot] = traversal
    match_regrets(sums, first, first + actions, walk.policy, spot)
    return True
