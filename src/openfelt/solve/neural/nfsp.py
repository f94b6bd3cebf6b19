"""Neural fictitious self-play (Heinrich & Silver 2016).

Each player has an approximate best response, learned by Q-learning with a target network (Mnih et al. 2015)
from a window of its latest decisions, and an average policy, learned by classification from a reservoir of
all its decisions as a best responder. At the start of a game a player becomes a best responder with the
anticipatory probability `eta`, and follows its average policy otherwise.

Departures from the paper:

- One network for all players, whose input names the player, instead of one for each.
- The anticipatory parameter falls with the root of iterations: opponents that often play best responses bias
  the best responses to them. Later decisions have more weight in the average (`recent`), which forgets poor
  early play sooner; fictitious play converges with such weights, too (Leslie & Collins 2006).
- Adam instead of plain stochastic gradient descent.
- In small games a batch is summed by infoset and action (`inputs.py`), so batches are large.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from openfelt.core.jit import Floats, kernel
from openfelt.core.pytorch import torch
from openfelt.core.random import Stream, uniform
from openfelt.games.features.features import Masks, Vectors
from openfelt.solve.neural.episodes import Actions, Bytes, Decisions, next_own
from openfelt.solve.neural.memory import (
    HELD,
    Choices,
    Transitions,
    count_choices,
    draw_places,
    new_choices,
    new_transitions,
    sum_targets,
    weighted_place,
    window_place,
)
from openfelt.solve.neural.network import descend, log_policy
from openfelt.solve.neural.neural_solver import MOST_SAMPLES, PlayingSolver, PlaySettings
from openfelt.solve.solver import setting, within

BEST = 1  # mode of a best responder; 0: it follows its average policy


@dataclass(frozen=True)
class NFSPSettings(PlaySettings):
    """The parameters of NFSP."""

    rate: float = setting(1e-2, "step size of Adam for Q-learning")
    halving: float = setting(
        1_000.0, "iterations after which rates and eta are first divided by the root of 2"
    )
    eta: float = setting(0.3, "anticipatory parameter: share of best responders, annealed")
    epsilon: float = setting(1.0, "exploration of best responders, divided by the root of iterations")
    recent: float = setting(1.0, "a decision at iteration t has weight t^RECENT in the average", kind=float)
    batch: int = setting(16_384, "decisions of a batch", kind=int)
    updates: int = setting(1, "updates of each network in an iteration", kind=int)
    window: int = setting(3_000_000, "latest decisions held for Q-learning", kind=int)
    reservoir: int = setting(2_000_000, "decisions of best responders held for the average", kind=int)
    average_rate: float = setting(5e-3, "step size of Adam for the average policy")
    refresh: int = setting(5, "iterations between two copies of the Q network to its target", kind=int)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("eta", "epsilon", "average_rate"):
            within(name, getattr(self, name), 0, 1)
        within("recent", self.recent, 0, 10)
        for name in ("batch", "updates", "window", "reservoir", "refresh"):
            within(name, getattr(self, name), 1, MOST_SAMPLES)


class NFSP(PlayingSolver):
    """Neural fictitious self-play: deep Q-learning against a network of the average (Heinrich & Silver 2016).

    Parameters
    ----------
    game : Game, str or Path
        An enumerated game.
    hidden, layers, rate
        Units of each hidden layer, their number, and the step size of Adam.
    games, steps, halving
        Games at once, steps in each of them between two updates, and iterations until rates are first divided
        by the root of 2.
    eta, epsilon
        Anticipatory parameter; exploration of best responders, divided by the root of iterations.
    recent
        A decision of a best responder at iteration t has weight t^recent in the average.
    batch, updates
        Decisions of a batch, and updates of each network in an iteration.
    window, reservoir
        Decisions held for Q-learning and for the average policy.
    average_rate, refresh
        Step size for the average policy; iterations between two copies of the Q network to its target.
    **options
        `seed`, `threads` (of PyTorch) and `device`, as in `Solver`.

    Examples
    --------
    >>> felt.NFSP.settings_type().eta
    0.3
    """

    name: ClassVar[str] = "nfsp"
    summary: ClassVar[str] = "neural fictitious self-play (Heinrich & Silver 2016)"
    settings_type: ClassVar[type[NFSPSettings]] = NFSPSettings

    def _build(self) -> None:
        super()._build()
        settings, inputs = self.settings, self.inputs
        self.values, self.target = self.new_network("values"), self.new_network("target")
        self.target.copy(self.values)
        self.average = self.new_network("average")
        self.window = new_transitions(settings.window, inputs)
        self.reservoir = new_choices(settings.reservoir, inputs)
        self.modes = np.zeros((settings.games, self.rules.players), np.int8)
        _draw_modes(self.modes, np.ones(settings.games, np.bool_), settings.eta, self.stream)
        self.keep("modes", {"modes": self.modes})
        self.keep("window", self.window._asdict())
        self.keep("reservoir", self.reservoir._asdict())
        self._everybody = np.arange(settings.games)
        shape = (inputs.rows if inputs.small else 0, inputs.num_actions)
        self._count, self._target = np.zeros(shape, np.float32), np.zeros(shape, np.float32)

    def _iterate(self, number: int) -> None:
        factor = self.annealed(number)
        self._epsilon = self.settings.epsilon / np.sqrt(number + 1)
        self._eta = self.settings.eta * factor
        weight = (number + 1.0) ** self.settings.recent / factor
        if self.inputs.small:
            self._tables = np.stack(
                [self.inputs.everywhere(self._average), self.inputs.everywhere(self._best)]
            )
        _store(self._play(), self.window, self.reservoir, weight, self.stream)
        if number % self.settings.refresh == 0:
            self.target.copy(self.values)
        for _ in range(self.settings.updates):
            if self.window.counts[HELD]:
                descend(self._value_loss(), {self.values: factor * self.settings.rate})
            if self.reservoir.counts[HELD]:
                descend(self._average_loss(), {self.average: factor * self.settings.average_rate})

    def _act(self) -> tuple[Vectors, Bytes]:
        modes = self.modes[self._everybody, self.env.players]
        if self.inputs.small:
            return self._tables[modes, self.env.infosets], modes
        average = self.inputs.at(self.env, self._average)
        best = self.inputs.at(self.env, self._best)
        return np.where(modes[:, None] == BEST, best, average), modes

    def _stepped(self) -> None:
        _draw_modes(self.modes, self.env.dones, self._eta, self.stream)

    def _average(self, vectors: Any, masks: Any) -> Any:
        return log_policy(self.average(vectors), masks).exp() * masks

    def _best(self, vectors: Any, masks: Any) -> Any:
        """The greedy action with probability 1 - epsilon, any legal one otherwise."""
        values = torch.where(masks, self.values(vectors), -torch.inf)
        greedy = torch.nn.functional.one_hot(values.argmax(1), self.inputs.num_actions)
        return (1 - self._epsilon) * greedy + self._epsilon * masks / masks.sum(1, keepdim=True)

    def _value_loss(self) -> Any:
        """The squared error of Q(s, a) from the payoff or the target's best next value."""
        inputs, memory = self.inputs, self.window
        batch = self.settings.batch
        if inputs.small:
            best = inputs.everywhere(self._best_value)
            sum_targets(memory, self.stream, batch, best, self._count, self._target)
            (vectors, _), count, target = inputs.all, self._count, self._target
        else:
            places = self._drawn(memory.counts[HELD])
            with torch.no_grad():
                best = self._best_value(*inputs.tensors(memory.after[places])).cpu().numpy()
            reached = np.where(memory.last[places], memory.reward[places], best)
            count = self._one_hot(memory.action[places])
            (vectors, _), target = inputs.tensors(memory.keys[places]), count * reached[:, None]
        return squared_error(self.values(vectors), inputs.numbers(count), inputs.numbers(target), batch)

    def _average_loss(self) -> Any:
        """The cross entropy of the average policy from the decisions of best responders."""
        inputs, memory = self.inputs, self.reservoir
        if inputs.small:
            count_choices(memory, self.stream, self.settings.batch, self._count)
            (vectors, masks), count = inputs.all, self._count
        else:
            places = self._drawn(memory.counts[HELD])
            (vectors, masks), count = (
                inputs.tensors(memory.keys[places]),
                self._one_hot(memory.action[places]),
            )
        logits = log_policy(self.average(vectors), masks)
        return -(inputs.numbers(count) * logits).sum() / self.settings.batch

    def _best_value(self, vectors: Any, masks: Any) -> Any:
        return torch.where(masks, self.target(vectors), -torch.inf).max(1).values

    def _drawn(self, held: int) -> NDArray[np.int64]:
        places = np.empty(self.settings.batch, np.int64)
        draw_places(held, self.stream, places)
        return places

    def _one_hot(self, actions: Actions) -> Vectors:
        return np.eye(self.inputs.num_actions, dtype=np.float32)[actions]

    @property
    def weights(self) -> Floats:
        return self.slots(self.inputs.everywhere(self._average))


def squared_error(values: Any, count: Any, target: Any, batch: int) -> Any:
    """The mean over a batch of (value - target)^2, summed by infoset and action up to a constant."""
    return (count * (values - target) ** 2).sum() / batch


@kernel
def _draw_modes(modes: Bytes, dones: Masks, eta: float, stream: Stream) -> None:
    """Draw for each player of a new game whether it is a best responder."""
    for game in range(len(modes)):
        if dones[game]:
            for player in range(modes.shape[1]):
                modes[game, player] = uniform(stream) < eta


@kernel
def _store(games: Decisions, window: Transitions, reservoir: Choices, weight: float, stream: Stream) -> None:
    """Add the decisions of finished games to the memories."""
    for at in range(len(games.action)):
        after = next_own(games, at)
        place = window_place(window.counts, len(window.action))
        window.keys[place] = games.keys[at]
        window.action[place] = games.action[at]
        window.last[place] = after < 0
        window.reward[place] = games.payoffs[at, games.player[at]] if after < 0 else 0.0
        window.after[place] = games.keys[max(after, at)]
        if games.mark[at] == BEST:
            place = weighted_place(reservoir.counts, reservoir.weight, weight, len(reservoir.action), stream)
            if place >= 0:
                reservoir.keys[place] = games.keys[at]
                reservoir.action[place] = games.action[at]
