"""Online Monte-Carlo tree search in games of imperfect information (PGC10, Algorithm 1; TAU, section 2).

An iteration samples what is hidden, goes down by UCT at rows of the tree, adds a row for each player who
leaves it, plays on to the end by the rollout policy, and adds what was won to all rows on the way. A row is
what its player knows: in hold'em the betting and the bucket of his hand, so that later decisions depend on
cards that are still to come.

Without a model of the others each iteration plays twice (PGC10, step 3): once with the searcher's own cards,
to learn what he should do, and once with cards that the others think he may hold, to learn what they would
do, which must not depend on what they cannot know. With a model they follow it, and play once. Where we
depart from PGC10: its tree has one node for a betting sequence, whatever cards come or anybody holds; ours
has rows. In the second play the searcher learns too, for hands that he does not hold: or else the others
would learn to beat his rollouts.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.base.errors import FeltError
from openfelt.base.jit import Floats, Longs, episode_kernel, kernel, part
from openfelt.base.memory import scratch
from openfelt.base.random import ITERATION_DRAWS, Stream, go_to, starts, uniform
from openfelt.cards.deck import Bytes
from openfelt.policy.holdem_policy import choose
from openfelt.search.memory import Memory, find, forget, new_memory, take
from openfelt.search.position import OTHERS, OWN, begin_at
from openfelt.solvers.uct import ALWAYS_UCB, PAYOFFS, VISITS, Selection, select
from openfelt.traverse.betting import Deal, new_deal
from openfelt.traverse.episode import (
    PLAYER,
    first_slot,
    follow,
    implements,
    num_actions,
    passive,
    payoff,
    question,
)

CALL, UNIFORM, POLICY = "call", "uniform", "policy"
ROLLOUTS = (CALL, UNIFORM, POLICY)
BY_VALUE, BY_VISITS = "value", "visits"
ROWS = 1 << 18  # that the tree has room for
CHUNK = 1_000  # iterations between looks at the clock, at first
MARGIN = 2.0  # times what a chunk took, that must be left for the next
PLACE, WAY, MOVER = range(3)  # columns of the notes


@dataclass(frozen=True)
class MctsSettings:
    """How to search."""

    c: float = 5.0  # exploration, in the game's unit: TAU's 50 with blinds of 10 and 20 is 5 chips of ours
    rollout: str = CALL
    pick: str = BY_VALUE  # the action of the highest value (PGC10), or of most visits
    selection: Selection = ALWAYS_UCB  # or Smooth UCT's

    def __post_init__(self) -> None:
        if not 0 < self.c < math.inf:
            raise FeltError(f"The exploration constant must be above 0, not {self.c}.")
        if self.rollout not in ROLLOUTS:
            raise FeltError(f"There is no rollout '{self.rollout}' (known: {', '.join(ROLLOUTS)}).")
        if self.pick not in (BY_VALUE, BY_VISITS):
            raise FeltError(f"An action is picked by {BY_VALUE} or by {BY_VISITS}, not by '{self.pick}'.")


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found at the decision."""

    visits: Floats  # of each action
    values: Floats  # the mean payoff after each; nan where it was never taken
    iterations: int  # of this search
    seconds: float
    picked: int  # which action


class NoModel(NamedTuple):
    """The others are searched like the searcher himself."""

    none: int = 0


class TableModel(NamedTuple):
    """The others play a known policy of the tree."""

    weights: Bytes  # [slots], in 255ths


class ProbabilityModel(NamedTuple):
    """The same for an enumerated game."""

    probabilities: Floats  # [1, slots]


class How(NamedTuple):
    """What a simulation is told."""

    selection: Selection
    c: float
    rollout: int  # place in ROLLOUTS
    passive: NDArray[np.int8]  # as `passive_actions` of the tree
    policy: Bytes  # [slots] of rollouts by policy, in 255ths; else [0]


class Desk(NamedTuple):
    """What a simulation writes to."""

    deal: Deal
    notes: Longs  # [depth, 3]
    stream: Stream


@question
def is_known(model: Any) -> bool:
    """Whether the model says what the others do."""
    raise NotImplementedError


@question
def answer(model: Any, tree: Any, deal: Deal, node: int, place: float) -> int:
    """What the one to move does, by a number from 0 to 1."""
    raise NotImplementedError


@implements(is_known, NoModel)
def _none(model: NoModel) -> bool:
    return False


@implements(answer, NoModel)
def _no_answer(model: NoModel, tree: Any, deal: Deal, node: int, place: float) -> int:
    return 0


@implements(is_known, TableModel)
def _table(model: TableModel) -> bool:
    return True


@implements(answer, TableModel)
def _table_answer(model: TableModel, tree: Any, deal: Deal, node: int, place: float) -> int:
    return choose(model.weights, first_slot(tree, deal, node), num_actions(tree, node), place)


@implements(is_known, ProbabilityModel)
def _probabilities(model: ProbabilityModel) -> bool:
    return True


@implements(answer, ProbabilityModel)
def _probable_answer(model: ProbabilityModel, tree: Any, deal: Deal, node: int, place: float) -> int:
    first, chosen = first_slot(tree, deal, node), 0
    for way in range(num_actions(tree, node) - 1):
        place -= model.probabilities[0, first + way]
        chosen += place >= 0.0
    return chosen


class Mcts:
    """A searcher for one tree; what it knows lasts until `forget`."""

    def __init__(
        self,
        depth: int,
        players: int,
        most_actions: int,
        *,
        settings: MctsSettings | None = None,
        passive: NDArray[np.int8] | None = None,
        policy: Bytes | None = None,
        rows: int = ROWS,
    ) -> None:
        self.settings = settings or MctsSettings()
        if self.settings.rollout == POLICY and policy is None:
            raise FeltError("Rollouts by policy need a policy.")
        self._memory = new_memory(rows, most_actions)
        self._ways = most_actions
        self._how = How(
            self.settings.selection,
            self.settings.c,
            ROLLOUTS.index(self.settings.rollout),
            np.zeros(1, np.int8) if passive is None else passive,
            np.empty(0, np.uint8) if policy is None else policy,
        )
        notes = scratch(3 * depth, np.int64).reshape(depth, 3)
        self._desk = Desk(new_deal(players), notes, scratch(1, np.uint64))
        self.seed(0)

    def seed(self, seed: int) -> None:
        """Let the next random numbers depend on this alone."""
        self._start = starts(seed, 1)[0]
        self._done = 0  # iterations since then: no number is drawn twice

    @property
    def rows(self) -> int:
        """How many rows the tree has."""
        return int(self._memory.used[0])

    def forget(self) -> None:
        """Start anew, as for another hand."""
        forget(self._memory)

    def search(
        self, position: Any, model: Any = None, *, iterations: int | None = None, seconds: float = math.inf
    ) -> Found:
        """Search from a position until either is used up; it is never late by more than a chunk."""
        if iterations is None and seconds == math.inf:
            raise FeltError("A search needs a number of iterations, or seconds.")
        begun, model = time.perf_counter(), NoModel() if model is None else model
        done, chunk, took = 0, CHUNK, 0.0
        while iterations is None or done < iterations:
            left = seconds - (time.perf_counter() - begun)
            if done and left < MARGIN * took:
                break
            count = chunk if iterations is None else min(chunk, iterations - done)
            if seconds < math.inf and took > 0:
                count = max(1, min(count, int(count * left / (MARGIN * took))))
            before = time.perf_counter()
            _search(self._how, model, position, self._memory, self._desk, self._start, self._done, count)
            took = time.perf_counter() - before
            done, self._done = done + count, self._done + count
        return self._found(position, done, time.perf_counter() - begun)

    def picks(self, first_slots: Longs) -> Longs:
        """What it would do now in rows, by their first slots; -1 where it has never been."""
        picked = np.full(len(first_slots), -1, np.int64)
        _find_all(self._memory, first_slots, picked)
        for row in np.flatnonzero(picked >= 0).tolist():
            first = picked[row] * self._ways
            picked[row] = self._pick(self._memory.counts[first : first + self._ways])
        return picked

    def _pick(self, counts: Floats) -> int:
        """Actions that were never taken count for nothing, and so does room for more of them."""
        visits = counts[:, VISITS]
        if self.settings.pick == BY_VISITS:
            return int(np.argmax(visits))
        with np.errstate(invalid="ignore"):
            return int(np.nanargmax(counts[:, PAYOFFS] / visits))

    def _found(self, position: Any, iterations: int, seconds: float) -> Found:
        place, ways = _look_up(position, self._memory, self._desk, self._start)
        counts = self._memory.counts[place * self._ways : place * self._ways + ways]
        visits = counts[:, VISITS].copy()
        with np.errstate(invalid="ignore"):
            values = counts[:, PAYOFFS] / visits
        return Found(visits, values, iterations, seconds, self._pick(counts))


@kernel
def _find_all(memory: Memory, first_slots: Longs, places: Longs) -> None:
    for row in range(len(first_slots)):
        places[row] = max(-1, find(memory, first_slots[row]))


@episode_kernel
def _search(
    how: How,
    model: Any,
    position: Any,
    memory: Memory,
    desk: Desk,
    start: np.uint64,
    begun: int,
    count: int,
) -> None:
    views = 1 if is_known(model) else 2
    for number in range(begun, begun + count):
        go_to(desk.stream, start, number * ITERATION_DRAWS)
        for view in range(views):
            _simulate(how, model, position, memory, desk, view)


@part
def _simulate(how: How, model: Any, position: Any, memory: Memory, desk: Desk, view: int) -> None:
    tree, seat, deal, stream = position.tree, position.seat, desk.deal, desk.stream
    ways = len(memory.counts) // len(memory.key)
    outside, length = 0, 0  # outside: a bit for each player who has left the tree
    node = begin_at(position, view, deal, stream)
    player = tree.node[node, PLAYER]
    while player >= 0:
        actions = num_actions(tree, node)
        if player != seat and is_known(model):
            action = answer(model, tree, deal, node, uniform(stream))
        elif outside >> player & 1:
            action = _roll_out(how, tree, deal, node, actions, stream)
        else:
            learns = view == OTHERS or player == seat
            slot = first_slot(tree, deal, node)
            place = find(memory, slot)
            if place >= 0:
                first, visits = place * ways, 0.0
                for entry in range(first, first + actions):
                    visits += memory.counts[entry, VISITS]
                action = select(how.selection, memory.counts, first, first + actions, visits, how.c, stream)
                action -= first
            else:
                action = _roll_out(how, tree, deal, node, actions, stream)
                outside |= 1 << player
                place = -1 - place
                learns = learns and take(memory, slot, place)
            if learns:
                desk.notes[length, PLACE] = place
                desk.notes[length, WAY] = action
                desk.notes[length, MOVER] = player
                length += 1
        node = follow(tree, deal, node, action, stream)
        player = tree.node[node, PLAYER]
    for step in range(length):
        entry = desk.notes[step, PLACE] * ways + desk.notes[step, WAY]
        memory.counts[entry, VISITS] += 1.0
        memory.counts[entry, PAYOFFS] += payoff(tree, deal, node, desk.notes[step, MOVER])


@part
def _roll_out(how: How, tree: Any, deal: Deal, node: int, actions: int, stream: Stream) -> int:
    if how.rollout == 0:
        return passive(tree, node, how.passive)
    if how.rollout == 1:
        return int(uniform(stream) * actions)
    return choose(how.policy, first_slot(tree, deal, node), actions, uniform(stream))


@episode_kernel
def _look_up(position: Any, memory: Memory, desk: Desk, start: np.uint64) -> tuple[int, int]:
    """The place of the decision's own row, and how many actions it has."""
    go_to(desk.stream, start, 0)
    node = begin_at(position, OWN, desk.deal, desk.stream)
    return find(memory, first_slot(position.tree, desk.deal, node)), num_actions(position.tree, node)
