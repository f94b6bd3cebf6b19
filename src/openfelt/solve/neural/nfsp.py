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
- The average leaves out random actions, and what a player does after one. So best responders can explore
  much, which Q-learning needs at actions that the average policy rarely takes.
- The window holds a share of all decisions so far: a window of the whole early game would be answered long
  after the average has moved on.
- Adam instead of plain stochastic gradient descent.
- In small games an update uses the whole window and the whole reservoir, summed by infoset and action
  (`inputs.py`).
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
    MOST_SEEN,
    Choices,
    Transitions,
    add_choice,
    add_transition,
    draw_places,
    mean_targets,
    new_choices,
    new_transitions,
)
from openfelt.solve.neural.network import descend, log_policy
from openfelt.solve.neural.neural_solver import MOST_SAMPLES, PlayingSolver, PlaySettings
from openfelt.solve.solver import setting, within

BEST, EXPLORING = 1, 2  # marks of decisions by best responders; 0: by the average policy


@dataclass(frozen=True)
class NFSPSettings(PlaySettings):
    """The parameters of NFSP."""

    rate: float = setting(1e-2, "step size of Adam for Q-learning")
    anneal: float = setting(
        1_000.0, "iteration t divides rates, eta and epsilon by the square root of 1 + t / ANNEAL"
    )
    eta: float = setting(0.2, "anticipatory parameter: share of best responders, annealed")
    epsilon: float = setting(0.4, "share of random actions among those of best responders, annealed")
    recent: float = setting(1.0, "a decision at iteration t has weight t^RECENT in the average", kind=float)
    batch: int = setting(16_384, "decisions of a batch, in games with many infosets", kind=int)
    updates: int = setting(2, "updates of each network in an iteration", kind=int)
    window: int = setting(1_000_000, "latest decisions held for Q-learning", kind=int)
    share: float = setting(0.03, "the window holds at most this share of all decisions so far")
    reservoir: int = setting(2_000_000, "decisions of best responders held for the average", kind=int)
    average_rate: float = setting(5e-3, "step size of Adam for the average policy")
    refresh: int = setting(5, "iterations between two copies of the Q network to its target", kind=int)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("eta", "epsilon", "average_rate", "share"):
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
    games, steps, anneal
        Games at once, steps in each of them between two updates; iteration t divides rates and regularisation
        by the square root of 1 + t / anneal.
    eta, epsilon
        Anticipatory parameter, and share of random actions among those of best responders; both annealed.
    recent
        A decision of a best responder at iteration t has weight t^recent in the average.
    batch, updates
        Decisions of a batch in games with many infosets, and updates of each network in an iteration.
    window, share, reservoir
        Decisions held for Q-learning, at most this share of all so far, and for the average policy.
    average_rate, refresh
        Step size for the average policy; iterations between two copies of the Q network to its target.
    **options
        `seed`, `threads` (of PyTorch) and `device`, as in `Solver`.

    Examples
    --------
    >>> felt.NFSP.settings_type().eta
    0.2
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
        self.limit("modes.modes", self.modes, 0, BEST + 1)
        limit_memory(self, "window", self.window)
        limit_memory(self, "reservoir", self.reservoir)
        self.limit("window.after", self.window.after, -1, inputs.rows)
        self.limit("window.before", self.window.before[:, 0], -1, inputs.rows)
        self.limit("window.before", self.window.before[:, 1], -1, inputs.num_actions)
        self._everybody = np.arange(settings.games)
        self._target = np.zeros((inputs.rows if inputs.small else 0, inputs.num_actions))

    def _iterate(self, number: int) -> None:
        factor = self.annealed(number)
        self._epsilon, self._eta = self.settings.epsilon * factor, self.settings.eta * factor
        weight = (number + 1.0) ** self.settings.recent / factor
        if self.inputs.small:
            policies = self._average, self._greedy, uniform_policy
            self._tables = np.stack([self.inputs.everywhere(policy) for policy in policies])
        _store(self._play(), self.window, self.settings.share, self.reservoir, weight, self.stream)
        if number % self.settings.refresh == 0:
            self.target.copy(self.values)
        for _ in range(self.settings.updates):
            if self.window.counts[HELD]:
                descend(self._value_loss(), {self.values: factor * self.settings.rate})
            if self.reservoir.counts[HELD]:
                descend(self._average_loss(), {self.average: factor * self.settings.average_rate})

    def _act(self) -> tuple[Vectors, Bytes]:
        marks = self.modes[self._everybody, self.env.players]
        _explore(marks, self._epsilon, self.stream)
        if self.inputs.small:
            return self._tables[marks, self.env.infosets], marks
        policies = self._average, self._greedy, uniform_policy
        tables = np.stack([self.inputs.at(self.env, policy) for policy in policies])
        return tables[marks, self._everybody], marks

    def _stepped(self) -> None:
        _draw_modes(self.modes, self.env.dones, self._eta, self.stream)

    def _average(self, vectors: Any, masks: Any) -> Any:
        return log_policy(self.average(vectors), masks).exp() * masks

    def _greedy(self, vectors: Any, masks: Any) -> Any:
        values = torch.where(masks, self.values(vectors), -torch.inf)
        return torch.nn.functional.one_hot(values.argmax(1), self.inputs.num_actions).float()

    def _value_loss(self) -> Any:
        """The squared error of Q(s, a) from the payoff or the target's best next value."""
        inputs, memory = self.inputs, self.window
        if inputs.small:
            mean_targets(memory, inputs.everywhere(self._best_value), self._target)
            (vectors, _), count, target = inputs.all, memory.played, self._target
        else:
            places = self._drawn(memory)
            with torch.no_grad():
                best = self._best_value(*inputs.tensors(np.maximum(memory.after[places], 0))).cpu().numpy()
            reached = np.where(memory.after[places] < 0, memory.reward[places], best)
            count = self._one_hot(memory.action[places])
            (vectors, _), target = inputs.tensors(memory.infoset[places]), count * reached[:, None]
        weight = inputs.numbers((count / count.sum()).astype(np.float32))
        return (weight * (self.values(vectors) - inputs.numbers(target.astype(np.float32))) ** 2).sum()

    def _average_loss(self) -> Any:
        """The cross entropy of the average policy from the decisions of best responders."""
        inputs, memory = self.inputs, self.reservoir
        if inputs.small:
            (vectors, masks), count = inputs.all, memory.played
        else:
            places = self._drawn(memory)
            vectors, masks = inputs.tensors(memory.infoset[places])
            count = self._one_hot(memory.action[places])
        weight = inputs.numbers((count / count.sum()).astype(np.float32))
        return -(weight * log_policy(self.average(vectors), masks)).sum()

    def _best_value(self, vectors: Any, masks: Any) -> Any:
        return torch.where(masks, self.target(vectors), -torch.inf).max(1).values

    def _drawn(self, memory: Transitions | Choices) -> NDArray[np.int64]:
        places = np.empty(self.settings.batch, np.int64)
        draw_places(memory.counts, len(memory.action), self.stream, places)
        return places

    def _one_hot(self, actions: Actions) -> Floats:
        return np.eye(self.inputs.num_actions)[actions]

    @property
    def weights(self) -> Floats:
        return self.slots(self.inputs.everywhere(self._average))


def limit_memory(solver: NFSP, name: str, memory: Transitions | Choices) -> None:
    """Limit the numbers of a memory's checkpoint."""
    solver.limit(f"{name}.infoset", memory.infoset, 0, solver.inputs.rows)
    solver.limit(f"{name}.action", memory.action, 0, solver.inputs.num_actions)
    solver.limit(f"{name}.counts", memory.counts, 0, MOST_SEEN)
    solver.limit(f"{name}.counts", memory.counts[HELD:], 0, len(memory.action) + 1)


def uniform_policy(vectors: Any, masks: Any) -> Any:
    """[batch, actions] equal probabilities of legal actions."""
    return masks / masks.sum(1, keepdim=True)


@kernel
def _draw_modes(modes: Bytes, dones: Masks, eta: float, stream: Stream) -> None:
    """Draw for each player of a new game whether it is a best responder."""
    for game in range(len(modes)):
        if dones[game]:
            for player in range(modes.shape[1]):
                modes[game, player] = uniform(stream) < eta


@kernel
def _explore(marks: Bytes, epsilon: float, stream: Stream) -> None:
    """Mark the decisions at which a best responder explores."""
    for game in range(len(marks)):
        if marks[game] == BEST and uniform(stream) < epsilon:
            marks[game] = EXPLORING


@kernel
def _store(
    games: Decisions, window: Transitions, share: float, reservoir: Choices, weight: float, stream: Stream
) -> None:
    """Add the decisions of finished games to the memories.

    The average leaves out exploration, and what a player did after it.
    """
    explored = np.zeros(games.payoffs.shape[1], np.bool_)
    for at in range(len(games.action)):
        if at == 0 or games.left[at - 1] == 0:
            explored[:] = False
        infoset, action, player = games.infoset[at], games.action[at], games.player[at]
        later = next_own(games, at)
        after = games.infoset[later] if later >= 0 else -1
        reward = games.payoffs[at, player] if later < 0 else 0.0
        add_transition(window, share, infoset, action, reward, after)
        explored[player] |= games.mark[at] == EXPLORING
        if games.mark[at] == BEST and not explored[player]:
            add_choice(reservoir, weight, infoset, action, stream)
