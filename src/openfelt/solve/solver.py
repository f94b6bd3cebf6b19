"""The base of all solvers: budgets, measurements during a run, checkpoints and resumption."""

from __future__ import annotations

import dataclasses
import math
import numbers
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from openfelt.core.cuda import TooLittleMemory, choose_device, gpu_name, why_no_gpu
from openfelt.core.devices import AUTO, CPU, CUDA, DEVICES
from openfelt.core.errors import FeltError, FileError
from openfelt.core.files import MALFORMED, load_folder, save_folder
from openfelt.core.jit import Floats
from openfelt.core.workers import Workers, is_cluster, own_threads
from openfelt.games.compile.compiler import compile_infosets
from openfelt.games.compile.sequence_form import sequence_form
from openfelt.games.compile.tree import Tree
from openfelt.games.game import AnyGame
from openfelt.policy.files import policy_from_weights
from openfelt.policy.policy import Policy
from openfelt.solve.restriction import EACH, ONCE, Restriction, evaluate_bound, restricted_form
from openfelt.solve.traverse.threaded_leaf_sums import evaluate

INTERVAL = 0.1  # seconds between checks of the clock, calls of `progress` and chances for Ctrl-C
CLUSTER_INTERVAL = 20.0  # the same on a cluster, where tables travel in between
MOST_THREADS, MOST_LEARNERS, MOST_IN_FLIGHT, MOST_SEED = 256, 4_096, 2**22, 2**63 - 1
Gpu = TypeVar("Gpu")
MANY = 1_000_000  # infosets from which a measurement takes seconds


@dataclass(frozen=True)
class Settings:
    """A solver's parameters, one field each; metadata["help"] describes it. Subclasses add fields."""


def setting(
    default: float | str | None, help: str, *, choices: Sequence[str] = (), kind: type = float
) -> Any:
    """A field of Settings; `kind` converts an argument of the command line to its value."""
    if isinstance(default, str):
        kind = str
    return field(default=default, metadata={"help": help, "choices": choices, "kind": kind})


def with_defaults(kind: type[Settings], saved: Mapping[str, Any]) -> dict[str, Any]:
    """Saved settings; those that an earlier version did not have yet are the defaults, as it behaved."""
    return {each.name: each.default for each in fields(kind) if each.default is not None} | dict(saved)


def within(name: str, value: float, low: float, high: float) -> None:
    """Raise FeltError if a parameter is not a number from `low` to `high`."""
    if not _is_number(value) or not (low <= value <= high and math.isfinite(value)):
        allowed = f"from {low:g} to {high:g}" if math.isfinite(high) else f"of {low:g} or more"
        raise FeltError(f"{name} must be a number {allowed}, not {value}.")


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


@dataclass(frozen=True)
class Measurement:
    """Exploitability of the average policy at some point of the run."""

    iterations: int
    seconds: float  # spent learning, without measurements
    nash_conv: float
    exploitability: float


Progress = Callable[["Solver", Measurement | None], bool | None]  # returns True to stop the run


class Solver(ABC):
    """Base class of all solvers: learns a policy of a game. A further `run` continues from the last one.

    Parameters
    ----------
    game : Game, str or Path
        The game to solve. Full-width solvers need an enumerated game; sampling solvers also train hold'em.
    seed : int
        Of sampling solvers. One thread and one seed give the same policy to the bit, however a run is
        divided.
    threads : int or str
        CPU threads; in sampling solvers they change the result. Or "ray" or the address of a Ray cluster, for
        sampling solvers, CFR-BR and public chance sampling.
    device : {"cpu", "cuda", "auto"}
        Where to run; the CFR family, sampling solvers, CFR-BR and public chance sampling. "auto" is the one
        that is expected to be faster.
    in_flight : int, optional
        On a GPU: the most iterations that run at once. CFR-BR and public chance sampling: the boards that are
        dealt at a time, also on the CPU (1) and on a cluster (16).
    learners : int, optional
        Of sampling solvers in two-player zero-sum games: learners that are independent of each other and
        whose average policies are mixed; on a cluster as many as it has CPUs.
    restriction : Restriction, optional
        Force one player to follow a fixed policy with some probability, for robust counter-strategies.
    **settings
        Parameters of the algorithm; each solver documents its own.

    Examples
    --------
    >>> solver = felt.CFRPlus("kuhn").run(100)
    >>> isinstance(solver, felt.Solver), solver.iterations
    (True, 100)
    >>> solver.save(folder / "checkpoint")
    >>> resumed = felt.CFRPlus("kuhn")
    >>> resumed.resume(folder / "checkpoint")
    >>> resumed.run(100).iterations
    200
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    settings_type: ClassVar[type[Settings]] = Settings
    full_width: ClassVar[bool] = True  # needs an enumerated game; False: also trains hold'em
    uses_buckets: ClassVar[bool] = True  # in hold'em; False: trains on the cards themselves
    iterative: ClassVar[bool] = True  # False: one run solves the game, and budgets do not apply
    knows_values: ClassVar[bool] = False  # estimates action values, from which its greedy policy is taken
    work: ClassVar[str] = "iterations"  # the unit of work
    first_measurement: ClassVar[int] = 1  # after this many of them
    spacing: ClassVar[float] = 1.1  # ratio of the iterations of two successive measurements
    runs_on_gpu: ClassVar[bool] = False
    distributes: ClassVar[bool] = False  # trains on a cluster
    has_learners: ClassVar[bool] = False  # may consist of independent learners
    batches: ClassVar[bool] = False  # may deal several boards at a time on the CPU too
    binds_each: ClassVar[bool] = False  # supports restrictions that are drawn at each decision

    def __init__(
        self,
        game: AnyGame,
        *,
        seed: int = 0,
        threads: Workers = 1,
        device: str = CPU,
        in_flight: int | None = None,
        learners: int | None = None,
        restriction: Restriction | None = None,
        **settings: Any,
    ) -> None:
        ranges = [("threads", own_threads(threads), 1, MOST_THREADS), ("seed", seed, 0, MOST_SEED)]
        if in_flight is not None:
            ranges.append(("in_flight", in_flight, 1, MOST_IN_FLIGHT))
        if learners is not None:
            if not self.has_learners:
                raise FeltError(f"{self.name} has no independent learners: only sampling solvers do.")
            ranges.append(("learners", learners, 1, MOST_LEARNERS))
        for what, value, low, high in ranges:
            if not isinstance(value, int | np.integer) or not low <= value <= high:
                raise FeltError(f"{what} must be a whole number from {low} to {high}, not {value}.")
        fields = dataclasses.fields(self.settings_type)
        names = [each.name for each in fields]
        for key in settings:
            if key not in names:
                allowed = f"it has {', '.join(names)}" if names else "it has none"
                raise FeltError(f"{self.name} has no parameter '{key}' ({allowed}).")
        self.settings = self.settings_type(**settings)
        for each in fields:
            value, choices = getattr(self.settings, each.name), each.metadata.get("choices")
            if choices and value not in choices:
                raise FeltError(f"{each.name} must be {' or '.join(choices)}, not {value}.")
            is_whole = value is None or (_is_number(value) and value == value // 1)
            if each.metadata.get("kind") is int and not is_whole:
                raise FeltError(f"{each.name} must be a whole number, not {value}.")
        self.seed, self.threads, self.in_flight = seed, own_threads(threads), in_flight
        self.workers, self.learners_asked = threads, learners
        self.device_asked, self.device = device, self.check_device(device, in_flight, threads)
        self.interval = CLUSTER_INTERVAL if is_cluster(threads) else INTERVAL
        self.batch = 1  # iterations that are made together
        self.why_cpu = self._why_cpu() if device == AUTO and self.device == CPU else ""
        self.learners = 1  # independent learners, each with its own tables
        self.tree = self._compile(game)
        if self.tree.is_enumerated:
            self.form = sequence_form(self.tree)
        self.restriction = restriction
        if restriction is not None:
            self._restrict(restriction)
        self.iterations = 0
        self.seconds = 0.0
        self.measurements: list[Measurement] = []
        self._measuring = 0.0  # seconds of the last measurement
        self._start()

    @classmethod
    def check_device(cls, device: str, in_flight: int | None, workers: Workers = 1) -> str:
        """The device to run on; raises FeltError if it is not available."""
        if is_cluster(workers) and not cls.distributes:
            raise FeltError(f"{cls.name} does not train on a cluster: its iterations are not independent.")
        if device == CUDA and not cls.runs_on_gpu:
            raise FeltError(f"{cls.name} does not run on a GPU; use device '{CPU}'.")
        if device == CPU and in_flight is not None and not cls.batches:
            raise FeltError("in_flight is for a GPU; on the CPU, set threads instead.")
        if in_flight is not None and cls.full_width and not cls.batches:
            raise FeltError(f"{cls.name} makes one iteration after the other: it has no in_flight.")
        wanted = device if cls.runs_on_gpu or device not in DEVICES else CPU
        return choose_device(wanted, elsewhere=is_cluster(workers))

    @classmethod
    def _why_cpu(cls) -> str:
        return why_no_gpu() if cls.runs_on_gpu else f"{cls.name} does not run on a GPU."

    def _if_it_fits(self, open_gpu: Callable[[], Gpu]) -> Gpu | None:
        """What the solver has on the GPU; None on the CPU, also if `auto` was given and it does not fit."""
        try:
            return open_gpu() if self.device == CUDA else None
        except TooLittleMemory as error:
            if self.device_asked != AUTO:
                raise
            self.device, self.why_cpu = CPU, str(error)
            return None

    @property
    def gpu(self) -> str:
        """The name of the GPU that it runs on."""
        return gpu_name()

    def _compile(self, game: AnyGame) -> Tree:
        return compile_infosets(game)

    def _restrict(self, restriction: Restriction) -> None:
        restriction.require(self.tree)
        if restriction.toss == EACH and not self.binds_each:
            raise FeltError(f"{self.name} cannot draw a restriction at {EACH} decision; use '{ONCE}'.")
        if restriction.toss == ONCE and self.tree.is_enumerated:
            self.form = restricted_form(self.form, restriction)

    @property
    def is_measured(self) -> bool:
        """Whether exploitability is measured during a run: in enumerated games and Flop Hold'em."""
        return self.tree.is_enumerated

    @property
    def measured_in(self) -> str:
        """The unit of measurements."""
        return self.tree.unit

    @abstractmethod
    def _start(self) -> None:
        """Create the tables."""

    @abstractmethod
    def _advance(self, iterations: int) -> None:
        """Run that many iterations, starting at number `self.iterations` (which `run` counts)."""

    @property
    @abstractmethod
    def weights(self) -> Floats:
        """[slots] weights of the average policy."""

    @abstractmethod
    def tables(self) -> dict[str, NDArray[Any]]:
        """All arrays of a checkpoint."""

    def _resumed(self) -> None:  # noqa: B027 - most solvers have nothing to do here
        """Called after the tables are restored from a checkpoint."""

    @property
    def probabilities(self) -> Floats:
        """[slots] action probabilities of the policy."""
        return self.policy.probabilities

    @property
    def policy(self) -> Policy:
        """The policy learned so far."""
        return policy_from_weights(self.tree, self.weights)

    @property
    def greedy(self) -> Policy:
        """The pure policy of the likeliest actions, or of those with the highest estimated values."""
        return self.policy.greedy()

    def run(
        self,
        iterations: int | None = None,
        *,
        seconds: float | None = None,
        until: float | None = None,
        measure: bool = True,
        progress: Progress | None = None,
    ) -> Self:
        """Learn until the first of the budgets is used up; a later call continues.

        Parameters
        ----------
        iterations : int, optional
            This many more iterations.
        seconds : float, optional
            This many more seconds of learning.
        until : float, optional
            Stop at this exploitability, in the unit `measured_in`. It is measured at iteration numbers in
            geometric progression, so the result does not depend on the clock.
        measure : bool
            Whether exploitability is measured from time to time and at the end, if `is_measured`. In games
            of over a million infosets measuring takes at most about as long as learning, unless `until` is
            given.
        progress : callable, optional
            Called as `progress(solver, measurement or None)` about ten times a second; the run stops if it
            returns True.

        Returns
        -------
        Solver
            The solver itself.

        Examples
        --------
        >>> felt.PCFRPlus("kuhn").run(until=1e-3).measure().exploitability < 1e-3
        True
        """
        self.check_budget(iterations, seconds, until)
        measures = self.is_measured and (measure or until is not None)
        last = math.inf if iterations is None else self.iterations + int(iterations)
        if self.iterative:
            self._advance(0)  # compiles the kernels, so that compilation does not count as learning
        else:
            last = 1
        deadline = math.inf if seconds is None or not self.iterative else self.seconds + seconds
        if until is not None and self.iterations and self.measure().exploitability <= until:
            return self
        chunk = self.batch
        while self.iterations < last and self.seconds < deadline:
            target = self._next_measurement() if measures else math.inf
            step = int(min(chunk, target - self.iterations, last - self.iterations))
            took = self._timed(step)
            interval = min(self.interval, deadline - self.seconds + 1e-3)
            chunk = max(1, int(step * min(10.0, interval / max(took, 1e-9))))
            chunk = max(chunk // self.batch, 1) * self.batch
            due = measures and self.iterations in (target, last)
            measured = self.measure() if due and (until is not None or self._may_measure) else None
            stop = progress(self, measured) if progress else False
            if stop or (until is not None and measured is not None and measured.exploitability <= until):
                break
        late = not self.measurements or self.measurements[-1].iterations < self.iterations
        if measures and late:
            measured = self.measure()
            if progress:
                progress(self, measured)
        return self

    def check_budget(self, iterations: int | None, seconds: float | None, until: float | None) -> None:
        """Raise FeltError for an invalid budget of `run`."""
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

    @property
    def _may_measure(self) -> bool:
        """Whether learning since the last measurement has taken at least as long as that measurement.

        Always true in games of fewer than `MANY` infosets, where measuring is fast.
        """
        if not self.measurements or self.tree.num_rows < MANY:
            return True
        return self.seconds - self.measurements[-1].seconds >= self._measuring

    def _next_measurement(self) -> int:
        point = self.first_measurement
        while point <= self.iterations:
            point = max(point + 1, math.ceil(point * self.spacing))
        return point

    def measure(self) -> Measurement:
        """Measure the exact exploitability of the policy learned so far; recorded in `measurements`."""
        if not self.is_measured:
            raise FeltError(f"The exploitability of {self.tree.game} is not computed during training.")
        begun = time.perf_counter()
        best, expected = self._evaluate()
        self._measuring = time.perf_counter() - begun
        nash_conv = float((best - expected).sum())
        measured = Measurement(self.iterations, self.seconds, nash_conv, nash_conv / self.tree.players)
        if not self.measurements or self.measurements[-1].iterations < self.iterations:
            self.measurements.append(measured)
        return measured

    def _evaluate(self) -> tuple[Floats, Floats]:
        """By player, the values of best responses to the policy learned so far, and of the policy."""
        best, expected = np.empty(self.tree.players), np.empty(self.tree.players)
        if self.restriction is not None and self.restriction.toss == EACH:
            evaluate_bound(self.form, self.restriction, self._played(self.restriction), best, expected)
        else:
            response = np.empty(self.tree.num_slots)
            evaluate(self.form, self.probabilities, response, best, expected, self.threads)
        return best, expected

    def _played(self, restriction: Restriction) -> Floats:
        """[slots] the policy as played, including the restriction at each decision."""
        return self.probabilities

    def save(self, folder: str | Path) -> None:
        """Write a checkpoint. A run resumed from it gives the same result to the bit."""
        facts = {
            "solver": self.name,
            "settings": dataclasses.asdict(self.settings),
            "seed": self.seed,
            "learners": self.learners,
            "game": self.tree.game,
            "fingerprint": self.tree.fingerprint,
            "iterations": self.iterations,
            "seconds": self.seconds,
            "measurements": [dataclasses.astuple(each) for each in self.measurements],
            **({"restriction": self.restriction.fingerprint} if self.restriction else {}),
        }
        save_folder(Path(folder), "checkpoint", self.tables(), facts)

    def resume(self, folder: str | Path) -> None:
        """Restore a checkpoint of the same solver, game and settings."""
        arrays, facts = load_folder(Path(folder), "checkpoint")
        if facts.get("fingerprint") != self.tree.fingerprint:
            if facts.get("game") == self.tree.game:
                raise FeltError(
                    f"{folder} is a checkpoint of another {self.tree.game}: its rules or buckets differ."
                )
            raise FeltError(f"{folder} is a checkpoint of {facts.get('game')}, not of {self.tree.game}.")
        if facts.get("solver") != self.name:
            raise FeltError(f"{folder} is a checkpoint of {facts.get('solver')}, not of {self.name}.")
        saved = facts.get("settings")
        own = dataclasses.asdict(self.settings)
        if not isinstance(saved, dict) or with_defaults(self.settings_type, saved) != own:
            raise FeltError(f"{folder} is a checkpoint with other parameters: {saved}.")
        if facts.get("restriction") != (self.restriction.fingerprint if self.restriction else None):
            raise FeltError(
                f"{folder} is a checkpoint with another restriction: another policy, seat or probability."
            )
        if facts.get("learners", 1) != self.learners:
            raise FeltError(
                f"{folder} holds {facts.get('learners', 1)} learners, one per thread of its run; resume it "
                f"with that many threads or learners, not {self.learners}."
            )
        for name, table in self.tables().items():
            if name not in arrays or arrays[name].shape != table.shape or arrays[name].dtype != table.dtype:
                raise FileError(f"{folder} is damaged: its table '{name}' is missing or of another size.")
            table[...] = arrays[name]
        try:
            self.iterations, self.seconds = _count(facts["iterations"]), _seconds(facts["seconds"])
            self.seed = _count(facts["seed"])
            self.measurements = [_measurement(*row) for row in facts.get("measurements", ())]
        except MALFORMED:
            raise FileError(f"{folder} is damaged: its counts or measurements cannot be read.") from None
        self._resumed()


def _count(value: object) -> int:
    if type(value) is not int or not 0 <= value <= MOST_SEED:
        raise ValueError(value)
    return value


def _seconds(value: object) -> float:
    if type(value) not in (int, float) or not 0 <= value < math.inf:  # type: ignore[operator]
        raise ValueError(value)
    return float(value)  # type: ignore[arg-type]


def _measurement(iterations: object, seconds: object, *values: object) -> Measurement:
    if any(type(value) is not float for value in values):
        raise TypeError(values)
    return Measurement(_count(iterations), _seconds(seconds), *values)  # type: ignore[arg-type]
