"""The runs of the CFR-BR study: train, measure after given numbers of iterations, measure the result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from openfelt.cards.abstraction.abstraction import load_abstraction
from openfelt.core.devices import CPU
from openfelt.core.workers import own_threads
from openfelt.measure.holdem.player import Player, policy_player
from openfelt.policy.files import load_policy
from openfelt.policy.holdem import require_holdem_policy
from openfelt.solve.registry import solver_type
from openfelt.solve.run_folder import RunFolder
from openfelt.solve.solver import Solver
from openfelt.solve.vector.vector_solver import LINEAR, UNIFORM
from openfelt.studies.files import slug
from openfelt.studies.holdem.exploitability_study import QUICK_FLOPS, ExploitValue, Measuring

RUNS = Path("runs/cfr-br")  # where the trained policies are kept
SMALL, MEDIUM, LARGE = "kmeans:169/1000/500/219", "ochs:169/5000/5000/5000", "ochs:169/9000/9000/9000"
SIZES = {SMALL: "small", MEDIUM: "medium", LARGE: "large"}
EXTERNAL, PUBLIC_CHANCE, CFR_BR = "external sampling", "public chance sampling", "CFR-BR"
SOLVERS = {EXTERNAL: "external-mccfr", PUBLIC_CHANCE: "public-chance-cfr", CFR_BR: "cfr-br"}
DELAY = 2_000  # boards before the average of the solvers that deal boards begins


class Training(NamedTuple):
    """A run: a solver in some buckets, and the iterations after which it is measured."""

    method: str
    buckets: str
    points: tuple[int, ...]
    exact: bool = False  # measure the result on all flops, even with --flops N, if there is a GPU
    weighting: str = UNIFORM  # of a solver that deals boards

    @property
    def label(self) -> str:
        return f"{self.method}, {SIZES[self.buckets]}"

    @property
    def folder(self) -> Path:
        return RUNS / slug(self.label)

    def make(self, seed: int, measuring: Measuring) -> Solver:
        options: dict[str, Any] = {"seed": seed}
        if measuring.device == CPU:
            options["threads"] = own_threads(measuring.threads)
        else:
            options["device"] = measuring.device
        if self.method != EXTERNAL:
            options |= {"delay": min(DELAY, self.points[0] // 2), "weighting": self.weighting}
        load_abstraction(self.buckets).tables(threads=max(2, own_threads(measuring.threads)))
        solver = solver_type(SOLVERS[self.method])
        return solver(f"holdem(buckets='{self.buckets}')", **options)


TRAININGS = (
    Training(EXTERNAL, SMALL, (3_000_000, 10_000_000, 30_000_000, 100_000_000)),
    Training(EXTERNAL, MEDIUM, (10_000_000, 30_000_000, 100_000_000)),
    Training(PUBLIC_CHANCE, MEDIUM, (4_000, 16_000)),
    Training(CFR_BR, SMALL, (4_000, 16_000)),
    Training(CFR_BR, MEDIUM, (4_000, 8_000, 16_000, 32_000, 64_000, 96_000), exact=True, weighting=LINEAR),
    Training(CFR_BR, LARGE, (16_000, 64_000, 154_000), exact=True),
)


class Point(NamedTuple):
    """A policy while it trains."""

    iterations: int
    seconds: float  # of training
    value: ExploitValue


@dataclass(frozen=True)
class Trained:
    """A run and its result."""

    training: Training
    points: list[Point]
    rounded: ExploitValue  # the last policy in 15ths, from the same flops
    result: ExploitValue  # the same policy, on all flops if it was measured there
    self_play: ExploitValue | None  # what the policy wins from itself, by seat

    @property
    def values(self) -> list[ExploitValue]:
        """All values that were measured."""
        others = self.rounded, self.result, self.self_play
        return [*(point.value for point in self.points), *(value for value in others if value)]


class Run:
    """Trains a policy from point to point, unless all its values are stored."""

    def __init__(self, training: Training, measuring: Measuring, selected: bool) -> None:
        self._training, self._measuring, self._selected = training, measuring, selected
        self._solver: Solver | None = None
        self._compiled = 0.0  # seconds

    def measure(self) -> Trained | None:
        """All values of the run; None if they are neither stored nor selected."""
        points = [self._point(iterations) for iterations in self._training.points]
        self._solver = None
        rounded = self._measuring.value(self._name("rounded"), self._selected, self._rounded)
        result, self_play = rounded, None
        if self._training.exact:
            exact = self._exactly.value(self._name("rounded, exact"), self._selected, self._rounded)
            result = exact or rounded
            self_play = self._exactly.value(self._name("self-play"), self._selected, *[self._rounded] * 2)
        if not rounded or not result or not all(points):
            return None
        return Trained(self._training, [point for point in points if point], rounded, result, self_play)

    def _name(self, what: object) -> str:
        return f"{self._training.label}, seed {self._measuring.seed}, {what}"

    def _point(self, iterations: int) -> Point | None:
        name, measuring = self._name(f"after {iterations:,}"), self._measuring
        value = measuring.value(name, self._selected, partial(self._player, iterations, name))
        stored = measuring.store.load(f"{name}, seconds")
        return Point(iterations, float(stored["seconds"]), value) if value and stored else None

    def _player(self, iterations: int, name: str) -> Player:
        """The average policy after some iterations; the last one is saved, rounded to 15ths."""
        solver = self._solver or self._start()
        solver.run(iterations - solver.iterations)
        seconds = solver.seconds - self._compiled
        self._measuring.store.save(f"{name}, seconds", {"seconds": seconds})
        self._measuring.say(f"{name}: {seconds:.1f} s of training")
        if iterations == self._training.points[-1]:
            RunFolder(self._training.folder, with_checkpoint=False, compact=True).save(solver, {})
        return policy_player(require_holdem_policy(solver.policy), name)

    def _start(self) -> Solver:
        """A new solver whose kernels are compiled."""
        self._solver = self._training.make(self._measuring.seed, self._measuring)
        self._solver.run(1)
        self._compiled = self._solver.seconds
        return self._solver

    @property
    def _exactly(self) -> Measuring:
        """From all flops; a quick run or a CPU takes the same sample as before."""
        is_sampled = self._measuring.flops == QUICK_FLOPS or self._measuring.device == CPU
        return self._measuring if is_sampled else replace(self._measuring, flops=0)

    def _rounded(self) -> Player:
        return policy_player(require_holdem_policy(load_policy(self._training.folder)), self._training.label)
