"""Memories of decisions: a window of the latest ones, and a sample of all (a reservoir).

In small games a memory also has the sums of what it holds by infoset and action, which each new decision
changes: so a training step uses the whole memory.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.core.jit import Floats, Ints, Longs, kernel, part
from openfelt.core.random import Stream, uniform
from openfelt.games.features.features import Vectors
from openfelt.solve.neural.episodes import Actions
from openfelt.solve.neural.inputs import Inputs

SEEN, HELD = 0, 1  # places in `counts`
MOST_SEEN = 1 << 62  # decisions
LEAST = 10_000  # decisions that a window holds before it forgets the oldest


class Transitions(NamedTuple):
    """A window of the latest decisions, with what followed them, for Q-learning."""

    infoset: Ints  # [capacity]
    action: Actions  # [capacity]
    reward: Vectors  # [capacity] the payoff, if this was the player's last decision of the game
    after: Ints  # [capacity] the infoset of the player's next decision; -1 if this was the last
    counts: Longs  # [2] decisions seen, and held
    played: Floats  # [infosets, actions] how often an action is held; empty in large games, as the next three
    paid: Floats  # [infosets, actions] sums of `reward`
    reached: Floats  # [infosets] how often it is the next decision
    before: Ints  # [infosets, 2] infoset and action of the player's decision before, which recall determines


class Choices(NamedTuple):
    """A reservoir of decisions: each one seen is in it with a probability in proportion to its weight."""

    infoset: Ints  # [capacity]
    action: Actions  # [capacity]
    counts: Longs  # [2] decisions seen, and held
    weight: Floats  # [1] of all decisions seen
    played: Floats  # [infosets, actions] how often an action is held; empty in large games


def new_transitions(capacity: int, inputs: Inputs) -> Transitions:
    """An empty window."""
    infoset, after = np.zeros((2, capacity), np.int32)
    rows = inputs.rows if inputs.small else 0
    played, paid = np.zeros((2, rows, inputs.num_actions))
    return Transitions(
        infoset,
        np.zeros(capacity, np.int16),
        np.zeros(capacity, np.float32),
        after,
        np.zeros(2, np.int64),
        played,
        paid,
        np.zeros(rows),
        np.full((rows, 2), -1, np.int32),
    )


def new_choices(capacity: int, inputs: Inputs) -> Choices:
    """An empty reservoir."""
    infoset = np.zeros(capacity, np.int32)
    played = np.zeros((inputs.rows if inputs.small else 0, inputs.num_actions))
    return Choices(infoset, np.zeros(capacity, np.int16), np.zeros(2, np.int64), np.zeros(1), played)


@part
def add_transition(
    memory: Transitions, share: float, infoset: int, action: int, reward: float, after: int
) -> None:
    """Write a decision to a window; `after` is -1 if it was the player's last of the game.

    Forgets the oldest ones beyond a share of all decisions seen.
    """
    counts, capacity = memory.counts, len(memory.action)
    most = min(capacity, max(LEAST, int(share * counts[SEEN])))
    while counts[HELD] >= most:
        _add_to_sums(memory, (counts[SEEN] - counts[HELD]) % capacity, -1.0)
        counts[HELD] -= 1
    place = counts[SEEN] % capacity
    memory.infoset[place], memory.action[place] = infoset, action
    memory.reward[place], memory.after[place] = reward, after
    counts[SEEN] += 1
    counts[HELD] += 1
    _add_to_sums(memory, place, 1.0)


@part
def _add_to_sums(memory: Transitions, place: int, sign: float) -> None:
    """Add the decision at a place to the sums of a window, or subtract it."""
    if len(memory.played) == 0:
        return
    infoset, action, after = memory.infoset[place], memory.action[place], memory.after[place]
    memory.played[infoset, action] += sign
    memory.paid[infoset, action] += sign * memory.reward[place]
    if after >= 0:
        memory.reached[after] += sign
        memory.before[after, 0], memory.before[after, 1] = infoset, action


@part
def add_choice(memory: Choices, weight: float, infoset: int, action: int, stream: Stream) -> None:
    """Write a decision to a reservoir, if it is drawn."""
    full, summed = memory.counts[HELD] == len(memory.action), len(memory.played) > 0
    place = weighted_place(memory.counts, memory.weight, weight, len(memory.action), stream)
    if place < 0:
        return
    if full and summed:
        memory.played[memory.infoset[place], memory.action[place]] -= 1.0
    memory.infoset[place], memory.action[place] = infoset, action
    if summed:
        memory.played[infoset, action] += 1.0


@part
def reservoir_place(counts: Longs, capacity: int, stream: Stream) -> int:
    """Where to write the next decision in a reservoir (Vitter 1985, algorithm R); -1: nowhere."""
    seen = counts[SEEN]
    counts[SEEN] += 1
    if seen < capacity:
        counts[HELD] = seen + 1
        return int(seen)
    place = int(uniform(stream) * (seen + 1))
    return place if place < capacity else -1


@part
def weighted_place(counts: Longs, total: Floats, weight: float, capacity: int, stream: Stream) -> int:
    """The same for decisions with weights (Chao 1982)."""
    seen = counts[SEEN]
    counts[SEEN] += 1
    total[0] += weight
    if seen < capacity:
        counts[HELD] = seen + 1
        return int(seen)
    if uniform(stream) * total[0] >= weight * capacity:
        return -1
    return int(uniform(stream) * capacity)


@kernel
def draw_places(counts: Longs, capacity: int, stream: Stream, places: NDArray[Any]) -> None:
    """Fill `places` with uniform draws from what a memory holds."""
    for number in range(len(places)):
        places[number] = (counts[SEEN] - counts[HELD] + int(uniform(stream) * counts[HELD])) % capacity


@kernel
def mean_targets(memory: Transitions, best: Vectors, target: Floats) -> None:
    """[infosets, actions] means of the payoff that followed, or of the best value of the next infoset."""
    target[:] = memory.paid
    for row in range(len(best)):
        if memory.reached[row] > 0.0:
            target[memory.before[row, 0], memory.before[row, 1]] += memory.reached[row] * best[row]
    for row in range(len(best)):
        for action in range(target.shape[1]):
            if memory.played[row, action] > 0.0:
                target[row, action] /= memory.played[row, action]
