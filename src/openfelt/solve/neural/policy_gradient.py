"""What the policy-gradient solvers share: a policy and a critic, trained on the games just played.

An iteration plays, estimates the advantage of each decision by the difference of its return from the
critic's value (generalised advantage estimation, Schulman et al. 2016, along a player's own decisions), and
takes a few steps on the loss that each solver defines:

- In games of many infosets, steps of Adam on all weights.
- In small games, steps in the logits themselves: each solver says how far the logits of an infoset should
  move, and a regression moves the last layer of the network to do so. The hidden layers of the policy keep
  their random weights. Adam on all layers separates infosets with similar vectors too slowly: the policy then
  lags behind and circles around the equilibrium. The mean advantage of an infoset's decisions is subtracted
  from each: where visits are few the critic is inaccurate, and an error that all actions share would, with
  clipping, favour those that are played most.

The policy that counts is not that of the last network but of a mean of all networks so far, weight by
weight, in which iteration t has the weight t^recent (Polyak & Juditsky 1992): the last one follows the noise
of the last games. Play goes by the last one.

Payoffs are divided by the largest one of the game, so that settings mean the same in every game. Games that
were begun under an earlier policy are used too; a decision then has the weight min(1, pi / mu) of V-trace
(Espeholt et al. 2018), where mu is the probability with which its action was taken.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, kernel
from openfelt.core.pytorch import torch
from openfelt.games.compile.betting_tree import betting_only
from openfelt.games.compile.tree import Tree
from openfelt.games.features.features import Vectors
from openfelt.games.features.holdem import HoldemFeatures
from openfelt.games.game import AnyGame
from openfelt.games.holdem import Holdem
from openfelt.games.registry import load_game
from openfelt.policy.network import NetworkPolicy
from openfelt.policy.policy import Policy
from openfelt.solve.neural.episodes import Actions, Bytes, Decisions
from openfelt.solve.neural.inputs import Inputs, LatestInputs
from openfelt.solve.neural.network import LastLayer, centred, descend, log_policy
from openfelt.solve.neural.neural_solver import PlayingSolver, PlaySettings
from openfelt.solve.solver import setting, within

PLAYED, UP, DOWN = 0, 1, 2  # in the sums of `_sum_by_row`
MOST_REGRESSED = 4_096  # hidden units in small games: a regression inverts a matrix of that size
LEAST = 0.03  # the least probability by which an advantage is divided
UNVISITED = 0.1  # weight of an infoset without visits in the regression, as a share of the mean weight


@dataclass(frozen=True)
class GradientSettings(PlaySettings):
    """The parameters of policy-gradient solvers."""

    rate: float = setting(3e-3, "step size of Adam for the policy, in games with many infosets")
    epochs: int = setting(4, "training steps on each batch", kind=int)
    critic_rate: float = setting(3e-3, "step size of Adam for the critic")
    trace: float = setting(0.95, "lambda of generalised advantage estimation; 1: whole returns")
    recent: float = setting(4.0, "iteration t has weight t^RECENT in the mean of networks", kind=float)

    def __post_init__(self) -> None:
        super().__post_init__()
        within("epochs", self.epochs, 1, 10_000)
        within("critic_rate", self.critic_rate, 0, 1)
        within("trace", self.trace, 0, 1)
        within("recent", self.recent, 0, 1e12)


class Batch(NamedTuple):
    """Decisions, summed by infoset in small games; sums are divided by the number of decisions."""

    vectors: Any  # [n, size]
    masks: Any  # [n, actions]
    old: Any  # [n, actions] logarithms of the policy that played
    visits: Any  # [n, 1]
    up: Any  # [n, actions] advantages above 0
    down: Any  # [n, actions] advantages below 0
    target: Any  # [n, 1] means of returns

    @property
    def advantage(self) -> Any:
        """[n, actions] estimated advantages of actions, lower for rare ones."""
        total = (self.up + self.down) / self.visits.clamp_min(1e-9)
        return total / self.old.exp().clamp_min(LEAST)


class PolicyGradient(PlayingSolver):
    """Base of the policy-gradient solvers.

    In hold'em there is no table: the policy is the network, and batches consist of single decisions.
    """

    full_width: ClassVar[bool] = False

    def _compile(self, game: AnyGame) -> Tree:
        rules = load_game(game)
        if not isinstance(rules, Holdem):
            return super()._compile(game)
        if rules.players != 2 or rules.buckets:
            raise FeltError(f"{self.name} trains hold'em for two players, without buckets: 'holdem'.")
        self.rules = rules
        return betting_only(rules)

    def _inputs(self) -> Inputs:
        if not isinstance(self.rules, Holdem):
            return super()._inputs()
        rounds = self._depth + self.settings.steps
        return LatestInputs(HoldemFeatures(self.rules), self.device, self.settings.games, rounds)

    def _build(self) -> None:
        super()._build()
        if self.inputs.small:
            within("hidden", self.settings.hidden, 1, MOST_REGRESSED)
        self.actor, self.mean = self.new_network("policy"), self.new_network("mean")
        self.mean.copy(self.actor)
        self.critic = self.new_network("critic", 1)
        self.scale = max(map(abs, self.tree.payoff_range)) or 1.0

    def _iterate(self, number: int) -> None:
        if self.inputs.small:
            self._table = self.inputs.everywhere(self._acting_policy)
        played = self._play()
        if len(played.action):
            batch, factor = self._batch(played), self.annealed(number)
            rates = {self.actor: factor * self.settings.rate, self.critic: factor * self.settings.critic_rate}
            for _ in range(self.settings.epochs):
                error = (batch.visits * (self.critic(batch.vectors) - batch.target) ** 2).sum()
                if self.inputs.small:
                    descend(error, {self.critic: rates[self.critic]})
                else:
                    descend(error + self._loss(self.actor(batch.vectors), batch, number), rates)
            if self.inputs.small:
                self._regress(batch, number)
        later = self.settings.recent + 1
        self.mean.copy(self.actor, later / (number + later))
        self._updated(number)

    def _regress(self, batch: Batch, number: int) -> None:
        """Let the last layer follow the changes of logits; infosets without visits have little weight."""
        weights = batch.visits + UNVISITED * batch.visits.mean()
        last = LastLayer(self.actor, batch.vectors, weights)
        for _ in range(self.settings.epochs):
            with torch.no_grad():
                logits = self.actor(batch.vectors)
            last.move(centred(self._change(logits, batch, number), batch.masks))

    @abstractmethod
    def _change(self, logits: Any, batch: Batch, number: int) -> Any:
        """[n, actions] how far a step moves logits in small games."""

    @abstractmethod
    def _loss(self, logits: Any, batch: Batch, number: int) -> Any:
        """The loss of the policy."""

    def _bonus(self, vectors: Any, masks: Any, log: Any) -> Any:
        """[n, actions] what the player gets for an action, and its opponents lose, besides payoffs."""
        return torch.zeros_like(log)

    def _updated(self, number: int) -> None:
        """Called at the end of an iteration."""

    def _acting_policy(self, vectors: Any, masks: Any) -> Any:
        return log_policy(self.actor(vectors), masks).exp() * masks

    def _mean_policy(self, vectors: Any, masks: Any) -> Any:
        return log_policy(self.mean(vectors), masks).exp() * masks

    def _act(self) -> tuple[Vectors, Bytes]:
        if self.inputs.small:
            return self._table[self.env.infosets], self._unmarked
        return self.inputs.at(self.env, self._acting_policy), self._unmarked

    def _batch(self, played: Decisions) -> Batch:
        inputs, count = self.inputs, len(played.action)
        vectors, masks = inputs.all if inputs.small else inputs.tensors(played.infoset)
        with torch.no_grad():
            old = log_policy(self.actor(vectors), masks)
            values = self.critic(vectors)[:, 0].cpu().numpy()
            bonus = self._bonus(vectors, masks, old).cpu().numpy()
        rows = played.infoset if inputs.small else np.arange(count)
        advantage, target = (np.empty(count, np.float32) for _ in range(2))
        own = bonus[rows, played.action]
        future = np.zeros((3, self.rules.players))
        _estimate(played, values[rows], own, self.scale, self.settings.trace, future, advantage, target)
        new = old.exp().cpu().numpy()[rows, played.action]
        weight = np.minimum(1.0, new / np.maximum(played.chance, 1e-6)).astype(np.float32)
        if inputs.small:
            advantage -= _means_by_row(rows, advantage, weight)[rows]
        sums = np.zeros((3, len(vectors), inputs.num_actions), np.float32)
        returns = np.zeros((len(vectors), 1), np.float32)
        _sum_by_row(rows, played.action, weight * advantage, target, sums, returns)
        visits = sums[PLAYED].sum(1, keepdims=True)
        returns /= np.maximum(visits, 1)
        found = visits / count, sums[UP] / count, sums[DOWN] / count, returns
        return Batch._make((vectors, masks, old, *map(inputs.numbers, found)))

    @property
    def policy(self) -> Policy:
        if not isinstance(self.rules, Holdem):
            return super().policy
        if not torch.isfinite(self.mean.vector).all():
            raise FeltError("Training has diverged: the network is not finite. Use a smaller rate.")
        return NetworkPolicy(self.rules, self.mean.perceptron(), self.name)

    @property
    def weights(self) -> Floats:
        if isinstance(self.rules, Holdem):
            raise FeltError("A network of hold'em has no weights of infosets.")
        return self.slots(self.inputs.everywhere(self._mean_policy))


def _means_by_row(rows: Any, numbers: Vectors, weights: Vectors) -> Vectors:
    """[rows] weighted means of what is listed for each row; 0 where nothing is."""
    total, weight = np.bincount(rows, weights * numbers), np.bincount(rows, weights)
    return (total / np.maximum(weight, 1e-9)).astype(np.float32)


def divergence(log: Any, other: Any, masks: Any) -> Any:
    """[n, 1] Kullback-Leibler divergence of a policy from another, by logarithms."""
    return torch.where(masks, log.exp() * (log - other), 0.0).sum(1, keepdim=True)


@kernel
def _estimate(
    games: Decisions,
    values: Vectors,
    bonus: Vectors,
    scale: float,
    trace: float,
    future: Floats,
    advantage: Vectors,
    target: Vectors,
) -> None:
    """Advantages and returns, backwards through the games.

    `future` is scratch, [3, players]: what a player gets until its next decision, the value of that decision,
    and its advantage.
    """
    players = future.shape[1]
    for at in range(len(values) - 1, -1, -1):
        if games.left[at] == 0:
            for player in range(players):
                future[0, player] = games.payoffs[at, player] / scale
                future[1, player] = future[2, player] = 0.0
        me = games.player[at]
        for player in range(players):
            future[0, player] += bonus[at] if player == me else -bonus[at]
        surprise = future[0, me] + future[1, me] - values[at]
        future[0, me], future[1, me] = 0.0, values[at]
        future[2, me] = surprise + trace * future[2, me]
        advantage[at] = future[2, me]
        target[at] = values[at] + future[2, me]


@kernel
def _sum_by_row(
    rows: Any, actions: Actions, advantage: Vectors, target: Vectors, sums: Any, returns: Vectors
) -> None:
    """Add up decisions by row and action: numbers, advantages above and below 0, and returns by row."""
    for at in range(len(rows)):
        row, action = rows[at], actions[at]
        sums[PLAYED, row, action] += 1.0
        sums[UP if advantage[at] > 0 else DOWN, row, action] += advantage[at]
        returns[row, 0] += target[at]
