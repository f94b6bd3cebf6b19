"""What all solvers share: budgets, measuring on the way, going on where one stopped, saving."""

from __future__ import annotations

import dataclasses
import math
import numbers
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from openfelt.core.cuda import choose_device, why_no_gpu
from openfelt.core.devices import AUTO, CPU, CUDA, DEVICES
from openfelt.core.errors import FeltError, FileError
from openfelt.core.files import load_folder, save_folder
from openfelt.core.jit import Floats
from openfelt.games.compile.compiler import compile_game
from openfelt.games.compile.sequence_form import sequence_form
from openfelt.games.compile.tree import Tree
from openfelt.games.game import AnyGame
from openfelt.policy.files import policy_from_weights
from openfelt.policy.policy import Policy
from openfelt.solve.restriction import EACH, ONCE, Restriction, evaluate_bound, restricted_form
from openfelt.solve.traverse.sequence import evaluate_profile

BREATH = 0.1  # seconds between looks at the clock, at progress and at Ctrl-C
MOST_THREADS, MOST_IN_FLIGHT, MOST_SEED = 256, 2**22, 2**63 - 1
SPACING = 1.1  # each measurement comes after this many times the iterations of the one before


@dataclass(frozen=True)
class Settings:
    """A solver's parameters; each field's metadata["help"] says what it does. Subclasses add fields."""


def setting(
    default: float | str | None, help: str, *, choices: Sequence[str] = (), kind: type = float
) -> Any:
    """A field of Settings; `kind` turns a word of the command line into its value."""
    if isinstance(default, str):
        kind = str
    return field(default=default, metadata={"help": help, "choices": choices, "kind": kind})


def within(name: str, value: float, low: float, high: float) -> None:
    """Refuse a parameter that is no number from `low` to `high`."""
    if not _is_number(value) or not (low <= value <= high and math.isfinite(value)):
        allowed = f"from {low:g} to {high:g}" if math.isfinite(high) else f"of {low:g} or more"
        raise FeltError(f"{name} must be a number {allowed}, not {value}.")


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


@dataclass(frozen=True)
class Measurement:
    """How good the average policy was at a moment of the run."""

    iterations: int
    seconds: float  # spent learning, without the measuring
    nash_conv: float
    exploitability: float


Progress = Callable[["Solver", Measurement | None], bool | None]  # True asks to stop


class Solver(ABC):
    """Learns a policy of a game. `run` goes on from where it stopped."""

    name: ClassVar[str]
    summary: ClassVar[str]
    settings_type: ClassVar[type[Settings]] = Settings
    full_width: ClassVar[bool] = True  # visits every history; False: samples them
    iterative: ClassVar[bool] = True  # False: one run solves the game, and budgets do not apply
    knows_values: ClassVar[bool] = False  # of actions, so that its greedy policy goes by them
    work: ClassVar[str] = "iterations"  # what is counted
    first_measurement: ClassVar[int] = 1  # after how many of them
    runs_on_gpu: ClassVar[bool] = False
    binds_each: ClassVar[bool] = False  # whether a player can be bound anew at each of his decisions

    def __init__(
        self,
        game: AnyGame,
        *,
        seed: int = 0,
        threads: int = 1,
        device: str = CPU,
        in_flight: int | None = None,
        restriction: Restriction | None = None,
        **settings: Any,
    ) -> None:
        """With a `restriction`, one player is bound to a fixed policy now and then (`restriction.py`)."""
        ranges = [("threads", threads, 1, MOST_THREADS), ("seed", seed, 0, MOST_SEED)]
        if in_flight is not None:
            ranges.append(("in_flight", in_flight, 1, MOST_IN_FLIGHT))
        for what, value, low, high in ranges:
            if not isinstance(value, int | np.integer) or not low <= value <= high:
                raise FeltError(f"{what} must be a whole number from {low} to {high}, not {value}.")
        fields = dataclasses.fields(self.settings_type)
        known = [each.name for each in fields]
        for key in settings:
            if key not in known:
                allowed = f"it has {', '.join(known)}" if known else "it has none"
                raise FeltError(f"{self.name} has no parameter '{key}' ({allowed}).")
        self.settings = self.settings_type(**settings)
        for each in fields:
            value, choices = getattr(self.settings, each.name), each.metadata.get("choices")
            if choices and value not in choices:
                raise FeltError(f"{each.name} must be {' or '.join(choices)}, not {value}.")
        self.seed, self.threads, self.in_flight = seed, threads, in_flight
        self.device_asked, self.device = device, self.check_device(device, in_flight)
        self.why_cpu = self._why_cpu() if device == AUTO and self.device == CPU else ""
        self.learners = 1  # that learn side by side, each its own tables
        self.tree = self._compile(game)
        if self.tree.is_enumerated:
            self.form = sequence_form(compile_game(self.tree))
        self.restriction = restriction
        if restriction is not None:
            self._restrict(restriction)
        self.iterations = 0
        self.seconds = 0.0
        self.measurements: list[Measurement] = []
        self._start()

    @classmethod
    def check_device(cls, device: str, in_flight: int | None) -> str:
        """The device to run on; refuses what cannot be had."""
        if device == CUDA and not cls.runs_on_gpu:
            raise FeltError(f"{cls.name} does not run on a GPU; leave out the device, or give {CPU}.")
        if device == CPU and in_flight is not None:
            raise FeltError(f"in_flight is for a GPU; on the {CPU} there are threads.")
        return choose_device(device if cls.runs_on_gpu or device not in DEVICES else CPU)

    @classmethod
    def _why_cpu(cls) -> str:
        return why_no_gpu() if cls.runs_on_gpu else f"{cls.name} does not run on a GPU."

    def _compile(self, game: AnyGame) -> Tree:
        return compile_game(game)

    def _restrict(self, restriction: Restriction) -> None:
        restriction.require(self.tree)
        if restriction.toss == EACH and not self.binds_each:
            raise FeltError(f"{self.name} cannot bind a player at each decision; it can {ONCE}.")
        if restriction.toss == ONCE and self.tree.is_enumerated:
            self.form = restricted_form(self.form, restriction)

    @property
    def is_measured(self) -> bool:
        """Whether the game is small enough for exact exploitability."""
        return self.tree.is_enumerated

    @abstractmethod
    def _start(self) -> None:
        """Make the tables."""

    @abstractmethod
    def _advance(self, iterations: int) -> None:
        """Learn for that many iterations from `self.iterations` on (which `run` counts)."""

    @property
    @abstractmethod
    def weights(self) -> Floats:
        """What the policy learned so far (the average one) is in proportion to, per slot."""

    @abstractmethod
    def tables(self) -> dict[str, NDArray[Any]]:
        """All arrays that must be kept to go on."""

    def _resumed(self) -> None:  # noqa: B027 - most solvers have nothing to do here
        """Called after the tables were filled from a checkpoint."""

    @property
    def probabilities(self) -> Floats:
        """The policy's table, per slot."""
        return self.policy.probabilities

    @property
    def policy(self) -> Policy:
        """The policy learned so far."""
        return policy_from_weights(self.tree, self.weights)

    @property
    def greedy(self) -> Policy:
        """A policy of single actions: the likeliest ones, or those of highest value where that is known."""
        return self.policy.greedy()

    def run(
        self,
        iterations: int | None = None,
        *,
        seconds: float | None = None,
        until: float | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Learn for `iterations` more, `seconds` more, or until an exploitability; the first that is met.

        Measurements come at iterations spaced by a tenth, so where `until` stops does not depend on the
        clock. `progress(solver, measurement or None)` is called about ten times a second, and stops the run
        by returning True.
        """
        self.check_budget(iterations, seconds, until)
        last = math.inf if iterations is None else self.iterations + int(iterations)
        if self.iterative:
            self._advance(0)  # compiles the kernels, so that the first second is a second of learning
        else:
            last = 1
        deadline = math.inf if seconds is None or not self.iterative else self.seconds + seconds
        if until is not None and self.iterations and self.measure().exploitability <= until:
            return self
        chunk = 1
        while self.iterations < last and self.seconds < deadline:
            target = self._next_measurement() if self.is_measured else math.inf
            step = int(min(chunk, target - self.iterations, last - self.iterations))
            took = self._timed(step)
            breath = min(BREATH, deadline - self.seconds + 1e-3)
            chunk = max(1, int(step * min(10.0, breath / max(took, 1e-9))))
            measured = self.measure() if self.is_measured and self.iterations in (target, last) else None
            stop = progress(self, measured) if progress else False
            if stop or (until is not None and measured is not None and measured.exploitability <= until):
                break
        late = not self.measurements or self.measurements[-1].iterations < self.iterations
        if self.is_measured and late:
            measured = self.measure()
            if progress:
                progress(self, measured)
        return self

    def check_budget(self, iterations: int | None, seconds: float | None, until: float | None) -> None:
        """Refuse a budget for `run` that makes no sense."""
        if until is not None and not self.is_measured:
            raise FeltError(
                f"The exploitability of {self.tree.game} is not computed during training: give iterations or "
                "seconds."
            )
        if self.iterative and iterations is None and seconds is None and until is None:
            raise FeltError("Give a budget: iterations, seconds or a target exploitability (until).")
        for what, value in (("iterations", iterations), ("seconds", seconds), ("until", until)):
            if value is None:
                continue
            if not _is_number(value) or not (value > 0 and math.isfinite(value)):
                raise FeltError(f"{what} must be a number above 0, not {value}.")
            if what == "iterations" and value != int(value):
                raise FeltError(f"iterations must be a whole number, not {value}.")

    def _timed(self, iterations: int) -> float:
        begun = time.perf_counter()
        self._advance(iterations)
        took = time.perf_counter() - begun
        self.iterations += iterations
        self.seconds += took
        return took

    def _next_measurement(self) -> int:
        point = self.first_measurement
        while point <= self.iterations:
            point = max(point + 1, math.ceil(point * SPACING))
        return point

    def measure(self) -> Measurement:
        """Exact nash_conv of the policy learned so far; kept in `measurements`."""
        if not self.is_measured:
            raise FeltError(f"The exploitability of {self.tree.game} is not computed during training.")
        best, expected = np.empty(self.tree.players), np.empty(self.tree.players)
        if self.restriction is not None and self.restriction.toss == EACH:
            evaluate_bound(self.form, self.restriction, self._played(self.restriction), best, expected)
        else:
            evaluate_profile(self.form, self.probabilities, np.empty(self.tree.num_slots), best, expected)
        nash_conv = float((best - expected).sum())
        measured = Measurement(self.iterations, self.seconds, nash_conv, nash_conv / self.tree.players)
        if not self.measurements or self.measurements[-1].iterations < self.iterations:
            self.measurements.append(measured)
        return measured

    def _played(self, restriction: Restriction) -> Floats:
        """The policy with what a player does who is bound at each decision."""
        return self.probabilities

    def save(self, folder: str | Path) -> None:
        """Write a checkpoint from which `resume` goes on, to the bit."""
        facts = {
            "solver": self.name,
            "settings": dataclasses.asdict(self.settings),
            "seed": self.seed,
            "learners": self.learners,
            "game": self.tree.game,
            "fingerprint": self.tree.fingerprint,
            "iterations": self.iterations,
            "seconds": self.seconds,
            **({"restriction": self.restriction.fingerprint} if self.restriction else {}),
        }
        save_folder(Path(folder), "checkpoint", self.tables(), facts)

    def resume(self, folder: str | Path) -> None:
        """Take over a checkpoint of the same solver, game and settings."""
        arrays, facts = load_folder(Path(folder), "checkpoint")
        if facts.get("fingerprint") != self.tree.fingerprint:
            if facts.get("game") == self.tree.game:
                raise FeltError(
                    f"{folder} was made for another {self.tree.game}: its rules or buckets differ."
                )
            raise FeltError(f"{folder} was made for {facts.get('game')}, not for {self.tree.game}.")
        if facts.get("solver") != self.name:
            raise FeltError(f"{folder} was made by {facts.get('solver')}, not by {self.name}.")
        if facts.get("settings") != dataclasses.asdict(self.settings):
            raise FeltError(f"{folder} was made with other parameters: {facts.get('settings')}.")
        if facts.get("restriction") != (self.restriction.fingerprint if self.restriction else None):
            raise FeltError(
                f"{folder} was made with another restriction: another policy, seat or probability."
            )
        if facts.get("learners", 1) != self.learners:
            raise FeltError(
                f"{folder} holds {facts.get('learners', 1)} learners, one for each thread that it was made "
                f"with; here there would be {self.learners}."
            )
        own = self.tables()
        for name, table in own.items():
            if name not in arrays or arrays[name].shape != table.shape:
                raise FileError(f"{folder} is damaged: its table '{name}' is missing or of another size.")
            table[...] = arrays[name]
        self.iterations, self.seconds = int(facts["iterations"]), float(facts["seconds"])
        self.seed = int(facts["seed"])
        self._resumed()
