"""Single Deep CFR (Brown, Lerer, Gross & Sandholm 2019; Steinberger 2019).

An iteration traverses the game by external sampling (`sampling/external_mccfr.py`) with the current policy,
adds the sampled regrets to a reservoir, and trains a network to predict their mean at every infoset. Regret
matching on the predictions is the next policy. Sample and policy of iteration t have weight t (linear CFR).

Single Deep CFR averages the policies of all iterations, without a second network that would imitate the
average. Steinberger stores the networks; in an enumerated game the sum of their realisation plans is the
same average, exactly.

Departures: one network and one reservoir for all players, which are updated simultaneously. In small games a
training step uses the whole reservoir, summed by infoset (`inputs.py`). By default training continues from
the network of the last iteration; the papers begin anew (`--restart yes`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from openfelt.core.jit import Floats, Ints, Longs, episode_kernel, part
from openfelt.core.pytorch import torch
from openfelt.core.random import ITERATION_DRAWS, Stream, go_to, starts
from openfelt.games.features.features import Vectors
from openfelt.solve.neural.memory import HELD, MOST_SEEN, draw_places, reservoir_place
from openfelt.solve.neural.network import descend
from openfelt.solve.neural.neural_solver import MOST_SAMPLES, NetworkSettings, NeuralSolver
from openfelt.solve.realisation_plans import realisation_plan
from openfelt.solve.sampling.external_mccfr import (
    OTHERS_REACH,
    PAST,
    POLICY,
    keep_regrets,
    play_row,
    traverse,
)
from openfelt.solve.solver import setting, within
from openfelt.solve.traverse.episode import implements
from openfelt.solve.traverse.open_tree import open_tree
from openfelt.solve.traverse.sampling_worker import Trace, Worker, WorkerSize, new_worker

NO, YES = "no", "yes"


@dataclass(frozen=True)
class DeepCFRSettings(NetworkSettings):
    """The parameters of Deep CFR."""

    traversals: int = setting(1_000, "traversals for each player in an iteration", kind=int)
    reservoir: int = setting(1_000_000, "decisions whose regrets are held", kind=int)
    updates: int = setting(20, "training steps in an iteration", kind=int)
    batch: int = setting(8_192, "decisions of a batch, in games with many infosets", kind=int)
    restart: str = setting(NO, "whether the network starts anew in each iteration", choices=(NO, YES))

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("traversals", "reservoir", "updates", "batch"):
            within(name, getattr(self, name), 1, MOST_SAMPLES)


class Regrets(NamedTuple):
    """A reservoir of sampled regrets."""

    slot: Ints  # [capacity] the first slot of the infoset
    regret: Vectors  # [capacity, actions] by place among the infoset's actions
    weight: Vectors  # [capacity] the iteration
    counts: Longs  # [2] decisions seen, and held
    sums: Floats  # [slots, and as many more as an infoset may have] weighted sums of the regrets held
    weights: Floats  # [the same] of the decisions held, at the first slot of their infosets


class MemoryWalk(NamedTuple):
    """How the game is traversed: by a policy, adding regrets to a reservoir."""

    samples_others: bool
    most_actions: int
    policy: Floats  # [slots]
    weight: float
    memory: Regrets
    stream: Stream


class DeepCFR(NeuralSolver):
    """Single Deep CFR: a network predicts regrets (Brown et al. 2019; Steinberger 2019).

    Parameters
    ----------
    game : Game, str or Path
        An enumerated game.
    hidden, layers, rate
        Units of each hidden layer, their number, and the step size of Adam.
    traversals, reservoir
        Traversals for each player in an iteration, and decisions whose regrets are held.
    updates, batch, restart
        Training steps in an iteration, decisions of a batch in games with many infosets, and whether the
        network starts anew in each iteration ("yes" or "no").
    **options
        `seed`, `threads` (of PyTorch) and `device`, as in `Solver`.

    Examples
    --------
    >>> felt.DeepCFR.settings_type().restart
    'no'
    """

    name: ClassVar[str] = "deep-cfr"
    summary: ClassVar[str] = "CFR with a network of regrets (Brown et al. 2019; Steinberger 2019)"
    settings_type: ClassVar[type[DeepCFRSettings]] = DeepCFRSettings
    first_measurement: ClassVar[int] = 1

    def _build(self) -> None:
        settings, opened = self.settings, open_tree(self.tree)
        self.episode_tree, self.most_actions = opened.tree, opened.most_actions
        real = POLICY + 2 * opened.most_actions
        whole = PAST + self.tree.players
        self._worker = new_worker(WorkerSize(self.tree.players, opened.depth + 1, whole=whole, real=real))
        capacity = settings.reservoir
        self.memory = Regrets(
            np.zeros(capacity, np.int32),
            np.zeros((capacity, opened.most_actions), np.float32),
            np.zeros(capacity, np.float32),
            np.zeros(2, np.int64),
            *np.zeros((2, self.tree.num_slots + opened.most_actions)),
        )
        self.network = self.new_network("regrets")
        self.sums = np.zeros(self.tree.num_slots)
        self.keep("memory", self.memory._asdict())
        self.keep("average", {"sums": self.sums})
        self.limit("memory.slot", self.memory.slot, 0, self.tree.num_slots)
        self.limit("memory.counts", self.memory.counts, 0, MOST_SEEN)
        self.limit("memory.counts", self.memory.counts[HELD:], 0, capacity + 1)
        self._unused = np.zeros((self.tree.num_slots, 2))
        self._places, first = self.inputs.layout.places, self.inputs.layout.tree.first_slot
        self._first_slot = first[:-1, None]
        self._row_of_slot = np.repeat(np.arange(self.tree.num_rows, dtype=np.int32), np.diff(first))

    def _iterate(self, number: int) -> None:
        policy, weight = self.current, float(number + 1)
        self.sums += weight * realisation_plan(self.form, policy)
        how = MemoryWalk(True, self.most_actions, policy, weight, self.memory, self.stream)
        begun = number * self.tree.players * self.settings.traversals
        start = starts(self.seed, 1)[0]
        _traverse_all(
            how, self.episode_tree, self._unused, self._worker, start, begun, self.settings.traversals
        )
        if self.settings.restart == YES:
            self.network.restart([self.seed, number])
        self._train()

    @property
    def current(self) -> Floats:
        """[slots] regret matching on the predictions; the highest action if no regret is positive."""
        return self.slots(self.inputs.everywhere(self._matched))

    def _matched(self, vectors: Any, masks: Any) -> Any:
        if self.iterations == 0 and not self.memory.counts[HELD]:
            return masks / masks.sum(1, keepdim=True)
        return match_regrets(self.network(vectors), masks)

    def _train(self) -> None:
        inputs, memory, settings = self.inputs, self.memory, self.settings
        if inputs.small:
            weight = memory.weights[self._first_slot].astype(np.float32)
            totals = memory.sums[self._first_slot + np.maximum(self._places, 0)]
            batch = inputs.all, weight, (totals / np.maximum(weight, 1e-9)).astype(np.float32)
        for _ in range(settings.updates):
            if not inputs.small:
                places = np.empty(settings.batch, np.int64)
                draw_places(memory.counts, len(memory.slot), self.stream, places)
                rows = self._row_of_slot[memory.slot[places]]
                order = np.maximum(self._places[rows], 0)
                regrets = np.take_along_axis(memory.regret[places], order, axis=1)
                batch = inputs.tensors(rows), memory.weight[places, None], regrets
            (vectors, masks), weight, target = batch
            loss = regret_error(self.network(vectors), masks, inputs.numbers(weight), inputs.numbers(target))
            descend(loss, {self.network: settings.rate})

    @property
    def weights(self) -> Floats:
        return self.sums


def match_regrets(regrets: Any, masks: Any) -> Any:
    """[batch, actions] in proportion to positive regrets, or the action with the highest."""
    positive = torch.relu(regrets) * masks
    total = positive.sum(1, keepdim=True)
    highest = torch.where(masks, regrets, -torch.inf).argmax(1)
    best = torch.nn.functional.one_hot(highest, masks.shape[1])
    return torch.where(total > 0, positive / total.clamp_min(1e-30), best)


def regret_error(predicted: Any, masks: Any, weight: Any, target: Any) -> Any:
    """The weighted mean of squared errors over legal actions, relative to that of the targets.

    Regrets fall with the root of iterations, and only their ratios count: so the network predicts them in
    units of their root mean square.
    """
    scale = (weight * torch.where(masks, target, 0.0) ** 2).sum() / weight.sum()
    error = torch.where(masks, predicted - target / scale.sqrt().clamp_min(1e-12), 0.0) ** 2
    return (weight * error).sum() / weight.sum()


@episode_kernel
def _traverse_all(
    how: MemoryWalk, tree: Any, unused: Floats, own: Worker, start: np.uint64, begun: int, count: int
) -> None:
    """Traverse the game `count` times for each player."""
    players = tree.payoffs.shape[1]
    for number in range(count * players):
        go_to(own.stream, start, (begun + number) * ITERATION_DRAWS)
        traverse(how, tree, unused, own, number % players, number)


@implements(play_row, MemoryWalk)
def _play_row(
    how: MemoryWalk, sums: Floats, first: int, last: int, policies: Floats, row: int, column: int
) -> None:
    for slot in range(first, last):
        policies[row, column + slot - first] = how.policy[slot]


@part
def _add_to_sums(memory: Regrets, place: int, sign: float) -> None:
    first, weight = memory.slot[place], sign * memory.weight[place]
    memory.weights[first] += weight
    for action in range(memory.regret.shape[1]):
        memory.sums[first + action] += weight * memory.regret[place, action]


@implements(keep_regrets, MemoryWalk)
def _remember(
    how: MemoryWalk, sums: Floats, trace: Trace, depth: int, first: int, actions: int, value: float
) -> None:
    memory, values = how.memory, POLICY + how.most_actions
    full = memory.counts[HELD] == len(memory.slot)
    place = reservoir_place(memory.counts, len(memory.slot), how.stream)
    if place >= 0:
        if full:
            _add_to_sums(memory, place, -1.0)
        memory.slot[place], memory.weight[place] = first, how.weight
        memory.regret[place] = 0.0
        for action in range(actions):
            regret = trace.real[depth, OTHERS_REACH] * (trace.real[depth, values + action] - value)
            memory.regret[place, action] = regret
        _add_to_sums(memory, place, 1.0)
