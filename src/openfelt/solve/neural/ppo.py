"""Proximal policy optimisation with an entropy bonus, in self-play (Schulman et al. 2017).

Rudolph et al. 2025 find that generic policy gradients, well regularised, are as good in games as methods
made for them.

Departures from PPO: the bonus is annealed, for with a constant one the policy converges to a smoothed
equilibrium; in small games a regression follows the natural gradient in logits, and the result is a mean of
networks (both in `policy_gradient.py`).

The gradient in logits is the natural one (Kakade 2002): the plain one of an action, divided by its
probability; advantages are divided by at least `LEAST`, but the entropy bonus is not limited. Softmax makes
the plain gradient vanish with the probability, so the policy at a rare infoset with a large pot, once nearly
pure, would stay wrong for thousands of iterations after the opponents have learned to reach it. As in
magnetic mirror descent, the bonus also acts at infosets without visits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from openfelt.core.pytorch import torch
from openfelt.solve.neural.network import log_policy
from openfelt.solve.neural.policy_gradient import Batch, GradientSettings, PolicyGradient, divergence
from openfelt.solve.solver import setting, within


@dataclass(frozen=True)
class PPOSettings(GradientSettings):
    """The parameters of PPO."""

    games: int = setting(4096, "games played at once", kind=int)
    clip: float = setting(0.2, "how far the ratio of new and old probabilities may be from 1")
    entropy: float = setting(0.05, "weight of the entropy bonus in the first iteration")
    step: float = setting(0.125, "step size of logits in the first iteration, in small games")

    def __post_init__(self) -> None:
        super().__post_init__()
        within("step", self.step, 0, 1e3)
        within("clip", self.clip, 0, 1)
        within("entropy", self.entropy, 0, 1e3)


class PPO(PolicyGradient):
    """Proximal policy optimisation with an annealed entropy bonus, in self-play (Schulman et al. 2017).

    Parameters
    ----------
    game : Game, str or Path
        An enumerated game, or limit hold'em for two players.
    hidden, layers, rate
        Units of each hidden layer, their number, and the step size of Adam.
    games, steps, anneal
        Games at once, steps in each of them between two updates; iteration t divides rates and regularisation
        by the square root of 1 + t / anneal.
    epochs, critic_rate, trace
        Training steps on each batch, step size for the critic, lambda of generalised advantage estimation.
    recent
        Iteration t has weight t^recent in the mean of networks, whose policy is the result.
    clip, entropy
        How far the ratio of probabilities may be from 1; weight of the entropy bonus at the start.
    step
        Step size of logits at the start, in small games.
    **options
        `seed`, `threads` (of PyTorch) and `device`, as in `Solver`.

    Examples
    --------
    >>> felt.PPO.settings_type().clip
    0.2
    """

    name: ClassVar[str] = "ppo"
    summary: ClassVar[str] = "proximal policy optimisation with entropy (Schulman et al. 2017)"
    settings_type: ClassVar[type[PPOSettings]] = PPOSettings

    def _change(self, logits: Any, batch: Batch, number: int) -> Any:
        factor, log = self.annealed(number), log_policy(logits, batch.masks)
        gain = self._unclipped((log - batch.old).exp(), batch).advantage
        return factor * self.settings.step * (gain - factor * self.settings.entropy * log)

    def _unclipped(self, ratio: Any, batch: Batch) -> Batch:
        """The advantages that the clip lets through."""
        clip = self.settings.clip
        up = torch.where(ratio < 1 + clip, batch.up, 0.0)
        return batch._replace(up=up, down=torch.where(ratio > 1 - clip, batch.down, 0.0))

    def _loss(self, logits: Any, batch: Batch, number: int) -> Any:
        log, clip = log_policy(logits, batch.masks), self.settings.clip
        ratio = (log - batch.old).exp()
        gain = batch.up * ratio.clamp_max(1 + clip) + batch.down * ratio.clamp_min(1 - clip)
        negative_entropy = (batch.visits * divergence(log, 0.0, batch.masks)).sum()
        return -gain.sum() + self.annealed(number) * self.settings.entropy * negative_entropy
