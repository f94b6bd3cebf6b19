"""One iteration of a search (`mcts.py`): two simulations from the position, or one with an opponent model."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.bots.search.position import OTHERS, OWN, begin_at
from openfelt.bots.search.search_tree import Memory, find, take
from openfelt.core.jit import Floats, Longs, episode_kernel, kernel, part
from openfelt.core.random import ITERATION_DRAWS, Stream, go_to, uniform
from openfelt.solve.traverse.episode import PLAYER, first_slot, follow, num_actions, passive, payoff
from openfelt.solve.traverse.holdem import Deal
from openfelt.solve.traverse.opponent_hooks import answer, is_known, prefer
from openfelt.solve.traverse.ucb import PAYOFFS, VISITS, Selection, select

BY_CALLS, EVENLY, BY_POLICY = range(3)  # rollouts
ENTRY, MOVER = range(2)  # columns of the trace


class SimulationSettings(NamedTuple):
    """Settings of a simulation."""

    selection: Selection
    c: float
    rollout: int
    warmth: float  # visits at which policy and search are equally likely to act
    by_line: bool  # a node of the tree is a betting line, not an infoset
    passive: NDArray[np.int8]  # as `passive_actions` of the tree


class SimulationHooks(NamedTuple):
    """Implementations of the hooks in `solve/traverse/opponent_hooks.py`."""

    model: Any  # of the opponents
    policy: Any  # of rollouts and warm starts
    expander: Any  # order of untried actions


class SimulationWorkspace(NamedTuple):
    """Arrays that a simulation writes to."""

    deal: Deal
    trace: Longs  # [depth, 2] entries and players of the decisions to update
    won: Floats  # [players]
    stream: Stream


@episode_kernel
def search_on(
    how: SimulationSettings,
    guides: SimulationHooks,
    position: Any,
    memory: Memory,
    workspace: SimulationWorkspace,
    start: np.uint64,
    begun: int,
    count: int,
) -> None:
    """Run `count` iterations, from number `begun` on."""
    views = 1 if is_known(guides.model) else 2
    for number in range(begun, begun + count):
        go_to(workspace.stream, start, number * ITERATION_DRAWS)
        for view in range(views):
            _simulate(how, guides, position, memory, workspace, view)


@part
def _simulate(
    how: SimulationSettings,
    guides: SimulationHooks,
    position: Any,
    memory: Memory,
    workspace: SimulationWorkspace,
    view: int,
) -> None:
    tree, seat, deal, stream = position.tree, position.seat, workspace.deal, workspace.stream
    outside, length = 0, 0  # outside: a bit for each player that has left the tree
    node = begin_at(position, view, deal, stream)
    player = tree.node[node, PLAYER]
    while player >= 0:
        actions = num_actions(tree, node)
        if player != seat and is_known(guides.model):
            action = answer(guides.model, tree, deal, node, uniform(stream))
        elif outside >> player & 1:
            action = _roll_out(how, guides.policy, tree, deal, node, actions, stream)
        else:
            learns = view == OTHERS or player == seat
            if (
                how.by_line
            ):  # a line knows no cards, so the searcher must not learn from hands it does not hold
                learns = (view == OWN) == (player == seat)
            slot = _key(how, tree, deal, node)
            at = find(memory, slot)
            if at >= 0:
                action = _descend(how, guides, position, memory, workspace, node, at + 1, actions)
            else:
                outside |= -1 if how.by_line else 1 << player
                at = -1 - at
                action = _roll_out(how, guides.policy, tree, deal, node, actions, stream)
                learns = learns and take(memory, slot, at)
                if learns:
                    action = _expand(guides, position, memory, workspace, node, at + 1, actions, action)
            if learns:
                workspace.trace[length, ENTRY] = at + 1 + action
                workspace.trace[length, MOVER] = player
                length += 1
        node = follow(tree, deal, node, action, stream)
        player = tree.node[node, PLAYER]
    for player in range(len(workspace.won)):
        workspace.won[player] = payoff(tree, deal, node, player)
    for step in range(length):
        entry = workspace.trace[step, ENTRY]
        memory.counts[entry, VISITS] += 1.0
        memory.counts[entry, PAYOFFS] += workspace.won[workspace.trace[step, MOVER]]


@part
def _key(how: SimulationSettings, tree: Any, deal: Deal, node: int) -> int:
    """What identifies a decision in the search tree."""
    return node if how.by_line else first_slot(tree, deal, node)


@part
def _descend(
    how: SimulationSettings,
    guides: SimulationHooks,
    position: Any,
    memory: Memory,
    workspace: SimulationWorkspace,
    node: int,
    first: int,
    actions: int,
) -> int:
    """The action at a node of the search tree."""
    counts, stream, visits = memory.counts, workspace.stream, 0.0
    for entry in range(first, first + actions):
        visits += counts[entry, VISITS]
    if how.warmth > 0.0 and uniform(stream) * (visits + how.warmth) < how.warmth:
        action = answer(guides.policy, position.tree, workspace.deal, node, uniform(stream))
    else:
        action = select(how.selection, counts, first, first + actions, visits, how.c, stream) - first
        if counts[first + action, VISITS] == 0.0:  # selected because it was never tried
            action = _expand(guides, position, memory, workspace, node, first, actions, action)
    return action


@part
def _expand(
    guides: SimulationHooks,
    position: Any,
    memory: Memory,
    workspace: SimulationWorkspace,
    node: int,
    first: int,
    actions: int,
    action: int,
) -> int:
    """The preferred action of those never tried, else `action`."""
    untried = 0
    for other in range(actions):
        untried |= int(memory.counts[first + other, VISITS] == 0.0) << other
    if untried & (untried - 1):  # more than one
        tree, deal, seat = position.tree, workspace.deal, position.seat
        preferred = prefer(guides.expander, tree, deal, node, seat, untried, workspace.stream)
        if preferred >= 0:
            action = preferred
    return action


@part
def _roll_out(
    how: SimulationSettings, policy: Any, tree: Any, deal: Deal, node: int, actions: int, stream: Stream
) -> int:
    if how.rollout == BY_CALLS:
        return passive(tree, node, how.passive)
    if how.rollout == EVENLY:
        return int(uniform(stream) * actions)
    return answer(policy, tree, deal, node, uniform(stream))


@episode_kernel
def look_up(
    how: SimulationSettings, position: Any, memory: Memory, workspace: SimulationWorkspace, start: np.uint64
) -> tuple[int, int]:
    """First entry of the decision's node (below 0: not in the tree), and its number of actions."""
    go_to(workspace.stream, start, 0)
    node = begin_at(position, OWN, workspace.deal, workspace.stream)
    actions, at = (
        num_actions(position.tree, node),
        find(memory, _key(how, position.tree, workspace.deal, node)),
    )
    return at + 1 if at >= 0 else -1, actions


@kernel
def find_all(memory: Memory, first_slots: Longs, entries: Longs) -> None:
    """First entries of infosets, by their first slots; below 0 if not in the tree."""
    for row in range(len(first_slots)):
        at = find(memory, first_slots[row])
        entries[row] = at + 1 if at >= 0 else -1
