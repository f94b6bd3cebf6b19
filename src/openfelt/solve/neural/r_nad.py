"""Regularised Nash dynamics (Perolat et al. 2022, DeepNash).

In a game whose rewards are transformed, a player pays eta log(pi / rho) for its action, and its opponent gets
it: self-play then converges to a fixed point that depends on the reference policy rho. Every `refresh`
iterations the reference becomes the current policy, and the fixed points converge to an equilibrium.

The update is that of NeuRD (Hennes et al. 2020): advantages, divided by the probability of the action, are
added to logits, which stop at `most` above or below their mean. Departures from DeepNash: returns are those
of `policy_gradient.py`; the reference changes at once, not by interpolation; the averaged network, which
becomes the reference, has no part in the returns; in small games a regression follows the update in logits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from openfelt.core.errors import FeltError
from openfelt.core.pytorch import torch
from openfelt.solve.neural.network import centred, log_policy
from openfelt.solve.neural.policy_gradient import Batch, GradientSettings, PolicyGradient
from openfelt.solve.solver import setting, within


@dataclass(frozen=True)
class RNaDSettings(GradientSettings):
    """The parameters of R-NaD."""

    eta: float = setting(0.2, "weight of the reference policy in rewards")
    refresh: int = setting(200, "iterations between two changes of the reference policy", kind=int)
    most: float = setting(8.0, "how far logits may be from their mean")
    step: float = setting(0.1, "step size of logits in the first iteration, in small games")

    def __post_init__(self) -> None:
        super().__post_init__()
        within("step", self.step, 0, 1e3)
        within("eta", self.eta, 0, 1e3)
        within("refresh", self.refresh, 1, 1e12)
        within("most", self.most, 0.1, 1e3)


class RNaD(PolicyGradient):
    """Regularised Nash dynamics in self-play (Perolat et al. 2022).

    Parameters
    ----------
    game : Game, str or Path
        An enumerated game or limit hold'em, for two players.
    hidden, layers, rate
        Units of each hidden layer, their number, and the step size of Adam.
    games, steps, anneal
        Games at once, steps in each of them between two updates; iteration t divides rates and regularisation
        by the square root of 1 + t / anneal.
    epochs, critic_rate, trace
        Training steps on each batch, step size for the critic, lambda of generalised advantage estimation.
    recent
        Iteration t has weight t^recent in the mean of networks, whose policy is the result.
    eta, refresh, most
        Weight of the reference policy in rewards, iterations between two changes of it, and how far logits
        may be from their mean.
    step
        Step size of logits at the start, in small games.
    **options
        `seed`, `threads` (of PyTorch) and `device`, as in `Solver`.

    Examples
    --------
    >>> felt.RNaD.settings_type().eta
    0.2
    """

    name: ClassVar[str] = "r-nad"
    summary: ClassVar[str] = "regularised Nash dynamics, as in DeepNash (Perolat et al. 2022)"
    settings_type: ClassVar[type[RNaDSettings]] = RNaDSettings

    def _build(self) -> None:
        if self.tree.players != 2:
            raise FeltError(f"{self.name} is for games of two players.")
        super()._build()
        self.reference = self.new_network("reference")
        self.reference.copy(self.mean)

    def _bonus(self, vectors: Any, masks: Any, log: Any) -> Any:
        rho = log_policy(self.reference(vectors), masks)
        return -self.settings.eta * torch.where(masks, log - rho, 0.0)

    def _change(self, logits: Any, batch: Batch, number: int) -> Any:
        return self.annealed(number) * self.settings.step * self._force(logits, batch)

    def _loss(self, logits: Any, batch: Batch, number: int) -> Any:
        return -(batch.visits * self._force(logits, batch) * centred(logits, batch.masks)).sum()

    def _force(self, logits: Any, batch: Batch) -> Any:
        """[n, actions] the advantages, but 0 where they would push a logit further beyond its bound."""
        most, logits, force = self.settings.most, centred(logits.detach(), batch.masks), batch.advantage
        inside = torch.where(force > 0, logits < most, logits > -most)
        return torch.where(batch.masks & inside, force, 0.0)

    def _updated(self, number: int) -> None:
        if (number + 1) % self.settings.refresh == 0:
            self.reference.copy(self.mean)
