"""Memories of decisions: a window of the latest ones, and a uniform sample of all (a reservoir)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.core.jit import Floats, Longs, kernel, part
from openfelt.core.random import Stream, uniform
from openfelt.games.features.features import Masks, Vectors
from openfelt.solve.neural.episodes import Actions
from openfelt.solve.neural.inputs import Inputs, Keys

SEEN, HELD = 0, 1  # places in `counts`


class Transitions(NamedTuple):
    """A window of the latest decisions, with what followed them, for Q-learning."""

    keys: Keys  # [capacity, width]
    action: Actions  # [capacity]
    reward: Vectors  # [capacity] the payoff, if this was the player's last decision of the game
    after: Keys  # [capacity, width] the player's next decision
    last: Masks  # [capacity]
    counts: Longs  # [2] decisions seen, and held


class Choices(NamedTuple):
    """A reservoir of decisions: each one seen is in it with a probability in proportion to its weight."""

    keys: Keys  # [capacity, width]
    action: Actions  # [capacity]
    counts: Longs  # [2] decisions seen, and held
    weight: Floats  # [1] of all decisions seen


def new_transitions(capacity: int, inputs: Inputs) -> Transitions:
    """An empty window."""
    keys, after = (np.zeros((capacity, inputs.width), inputs.kind) for _ in range(2))
    action, reward = np.zeros(capacity, np.int16), np.zeros(capacity, np.float32)
    return Transitions(keys, action, reward, after, np.zeros(capacity, np.bool_), np.zeros(2, np.int64))


def new_choices(capacity: int, inputs: Inputs) -> Choices:
    """An empty reservoir."""
    keys = np.zeros((capacity, inputs.width), inputs.kind)
    return Choices(keys, np.zeros(capacity, np.int16), np.zeros(2, np.int64), np.zeros(1))


@part
def window_place(counts: Longs, capacity: int) -> int:
    """Where to write the next decision: over the oldest."""
    place = counts[SEEN] % capacity
    counts[SEEN] += 1
    counts[HELD] = min(counts[SEEN], capacity)
    return int(place)


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
def draw_places(held: int, stream: Stream, places: NDArray[Any]) -> None:
    """Fill `places` with uniform draws from what a memory holds."""
    for number in range(len(places)):
        places[number] = int(uniform(stream) * held)


@kernel
def count_choices(memory: Choices, stream: Stream, batch: int, count: Vectors) -> None:
    """Draw a batch, and count its decisions by infoset and action, [infosets, actions]."""
    count[:] = 0.0
    for _ in range(batch):
        at = int(uniform(stream) * memory.counts[HELD])
        count[memory.keys[at, 0], memory.action[at]] += 1.0


@kernel
def sum_targets(
    memory: Transitions, stream: Stream, batch: int, best: Vectors, count: Vectors, target: Vectors
) -> None:
    """Draw a batch: counts, and means of payoff or best value that followed, [infosets, actions]."""
    count[:] = 0.0
    target[:] = 0.0
    for _ in range(batch):
        at = int(uniform(stream) * memory.counts[HELD])
        row, action = memory.keys[at, 0], memory.action[at]
        count[row, action] += 1.0
        target[row, action] += memory.reward[at] if memory.last[at] else best[memory.after[at, 0]]
    for row in range(len(count)):
        for action in range(count.shape[1]):
            if count[row, action] > 0.0:
                target[row, action] /= count[row, action]
