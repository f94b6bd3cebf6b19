"""Magnetic mirror descent (Sokota, D'Orazio, Kolter, Loizou, Lanctot, Mitliagkas, Brown & Kroer 2023).

A step maximises advantages, less the divergence from a magnet, here the uniform policy, with temperature
alpha, and less that from the policy before, with the inverse of the step size eta. In behaviour form and with
networks, as in section 5 of the paper: a few steps of Adam on this objective at the decisions played.

Departures from the paper: in small games the logits of the maximum, which the paper gives in closed form, are
the target of a regression, and the result is a mean of networks (both in `policy_gradient.py`); alpha and eta
are annealed, so that the policy approaches an equilibrium and not only a smoothed one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from openfelt.solve.neural.network import log_policy
from openfelt.solve.neural.policy_gradient import Batch, GradientSettings, PolicyGradient, divergence
from openfelt.solve.solver import setting, within


@dataclass(frozen=True)
class MMDSettings(GradientSettings):
    """The parameters of magnetic mirror descent."""

    alpha: float = setting(0.05, "temperature: weight of the magnet in the first iteration")
    eta: float = setting(0.5, "step size of mirror descent in the first iteration")

    def __post_init__(self) -> None:
        super().__post_init__()
        within("alpha", self.alpha, 0, 1e3)
        within("eta", self.eta, 1e-9, 1e9)


class MMD(PolicyGradient):
    """Magnetic mirror descent in self-play (Sokota et al. 2023).

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
    alpha, eta
        Temperature and step size of mirror descent at the start.
    **options
        `seed`, `threads` (of PyTorch) and `device`, as in `Solver`.

    Examples
    --------
    >>> felt.MMD.settings_type().alpha
    0.05
    """

    name: ClassVar[str] = "mmd"
    summary: ClassVar[str] = "magnetic mirror descent (Sokota et al. 2023)"
    settings_type: ClassVar[type[MMDSettings]] = MMDSettings

    def _change(self, logits: Any, batch: Batch, number: int) -> Any:
        factor = self.annealed(number)
        eta, alpha = factor * self.settings.eta, factor * self.settings.alpha
        target = (batch.old + eta * batch.advantage) / (1 + eta * alpha)
        return target - log_policy(logits, batch.masks)

    def _loss(self, logits: Any, batch: Batch, number: int) -> Any:
        log, factor = log_policy(logits, batch.masks), self.annealed(number)
        gain = ((batch.up + batch.down) * (log - batch.old).exp()).sum()
        magnet = divergence(log, 0.0, batch.masks)  # up to a constant: the magnet is uniform
        before = divergence(log, batch.old, batch.masks)
        settings = self.settings
        pull = factor * settings.alpha * magnet + before / (factor * settings.eta)
        return -gain + (batch.visits * pull).sum()
