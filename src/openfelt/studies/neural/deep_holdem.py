"""Networks that learn limit hold'em by self-play, measured by best responses in the full game."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from openfelt.bots.measurable import load_measurable
from openfelt.core.pytorch import require_torch
from openfelt.core.workers import Workers
from openfelt.measure.exploitability import exploitability
from openfelt.plots.exploitability import ExploitabilityCurve, plot_exploitability_curves
from openfelt.plots.figure import COLOURS
from openfelt.plots.intervals import Interval
from openfelt.policy.files import DEFAULT
from openfelt.solve.registry import solver_type
from openfelt.solve.solver import Solver
from openfelt.studies.experiment import Experiment
from openfelt.studies.files import csv_text, slug
from openfelt.studies.findings import Finding, apart, is_below
from openfelt.studies.holdem.exploitability_study import ValueStore

if TYPE_CHECKING:
    from openfelt.measure.exploitability import Measurable

PPO, MMD = "PPO", "MMD"
UNTRAINED, CALL = "untrained network", "always-call"
CALL_EXACT = 1163.48  # mbb/h, Johanson et al. 2011
NETWORK: dict[str, Any] = {
    **{"hidden": 64, "layers": 1, "games": 128, "steps": 16, "epochs": 2, "anneal": 1_000},
    **{"rate": 1e-3, "critic_rate": 3e-3, "trace": 0.95, "recent": 4.0},
}
METHODS: dict[str, dict[str, Any]] = {PPO: {"entropy": 0.02, "clip": 0.2}, MMD: {"alpha": 0.02, "eta": 1.0}}
SHARES = (1 / 16, 1 / 4, 1)  # of the iterations, after which networks are measured


class Bounds(NamedTuple):
    """Estimates of an exploitability from sampled cards, in mbb/h, with halves of their 95% intervals."""

    held_out: float  # what a response wins that does not know the cards; on average too low
    held_out_half: float
    fitted: float  # what one wins that is fitted to them; on average too high
    fitted_half: float

    @property
    def low(self) -> float:
        return self.held_out - self.held_out_half

    @property
    def high(self) -> float:
        return self.fitted + self.fitted_half

    def is_below(self, other: Bounds) -> bool | None:
        """Whether the exploitability is below another."""
        return True if self.high < other.low else False if self.low > other.high else None

    def __str__(self) -> str:
        return f"{max(0.0, self.low):.0f} to {self.high:.0f}"


class Point(NamedTuple):
    """A player, and for how many iterations it has trained."""

    label: str
    iterations: int = 0


DeepResults = dict[Point, Bounds]


@dataclass(frozen=True, kw_only=True)
class DeepHoldemStudy(Experiment):
    """Players measured on the same cards; the budget is the iterations of each training run."""

    work_unit: ClassVar[str] = "measurements"

    cards: tuple[int, int, int] = (6, 3, 3)  # sampled flops, turns of each and rivers of each turn
    quick_cards: tuple[int, int, int] = (2, 2, 2)

    def check(self) -> None:
        require_torch()

    def points(self, budget: int) -> list[Point]:
        """What is measured; a quick run leaves out `default`, whose buckets take minutes to build."""
        shares = SHARES if budget >= self.budget else SHARES[-1:]
        trained = [Point(label, max(1, round(budget * share))) for label in METHODS for share in shares]
        others = [Point(DEFAULT)] if budget >= self.budget else []
        return [Point(UNTRAINED), *trained, Point(CALL), *others]

    def planned_work(self, budget: int) -> int:
        return len(self.points(budget))

    def run(
        self, *, budget: int, seed: int, processes: Workers, parts: Path, progress: Callable[[float], object]
    ) -> DeepResults:
        store, results = ValueStore(parts), DeepResults()
        flops, turns, rivers = self.cards if budget >= self.budget else self.quick_cards
        training: dict[str, Solver] = {}
        for point in self.points(budget):
            name = f"{point.label} {point.iterations} {seed}"
            if (stored := store.load(name)) is None:
                found = exploitability(
                    _player(point, seed, training),
                    flops=flops,
                    turns=turns,
                    rivers=rivers,
                    seed=seed,
                    threads=processes,
                    folder=parts / slug(name),
                    progress=progress,
                )
                assert found.origin.held_out is not None
                bounds = Bounds(*found.origin.held_out, found.exploitability, found.origin.half_width)
                store.save(name, bounds._asdict())
            else:
                progress(1.0)
                bounds = Bounds(**stored)
            results[point] = bounds
        return results

    def csv(self, results: DeepResults) -> str:
        """A line for each point."""
        rows = [[*point, *(f"{number:.6g}" for number in value)] for point, value in results.items()]
        return csv_text([*Point._fields, *Bounds._fields], rows=rows)

    def read_csv(self, text: str) -> DeepResults:
        return {
            Point(row["label"], int(row["iterations"])): Bounds(*(float(row[key]) for key in Bounds._fields))
            for row in csv.DictReader(text.splitlines())
        }

    def table(self, results: DeepResults) -> list[str]:
        lines = [
            "## All measurements",
            "",
            "In mbb/h, on the same cards. *Fitted*: a best response to the sampled cards; on average it "
            "overestimates the exploitability. *Held out*: a response fitted to one half of the cards and "
            "evaluated on the other; on average it underestimates. The last column runs from the lower end "
            "of the second to the upper end of the first (95%).",
            "",
            "| player | iterations | fitted | held out | exploitability |",
            "|---|---:|---:|---:|---:|",
        ]
        for (label, iterations), value in results.items():
            fitted, held_out = Interval(*value[2:]), Interval(*value[:2])
            lines.append(f"| {label} | {iterations or ''} | {fitted:.0f} | {held_out:.0f} | {value} |")
        return lines

    def plot(self, results: DeepResults, path: Path) -> None:
        curves, last = [], max(point.iterations for point in results)
        for colour, label in zip(COLOURS, METHODS, strict=False):
            own = [(point.iterations, value) for point, value in results.items() if point.label == label]
            iterations, values = zip(*own, strict=True)
            for name, style, place in (("fitted", "-o", 2), ("held out", "--s", 0)):
                means, halves = [value[place] for value in values], [value[place + 1] for value in values]
                curves.append(
                    ExploitabilityCurve(f"{label}, {name}", colour, style, iterations, means, halves)
                )
        ends = [min(point.iterations for point in results if point.iterations), last]
        fixed = [point for point in results if not point.iterations]
        for colour, point in zip((*COLOURS[len(METHODS) :], "black"), fixed, strict=False):
            for name, style, place in (("fitted", "-", 2), ("held out", "--", 0)):
                if (level := results[point][place]) > 0:
                    label = f"{point.label}, {name}"
                    curves.append(ExploitabilityCurve(label, colour, style, ends, [level] * 2, None))
        plot_exploitability_curves(f"{self.title}\none run; bars: 95% intervals", curves, path)


def _player(point: Point, seed: int, training: dict[str, Solver]) -> Measurable:
    """The player of a point; trains the networks that are measured at several points only once."""
    if point.label not in METHODS:
        return _start(PPO, seed).policy if point.label == UNTRAINED else load_measurable(point.label)
    if point.label not in training:
        training[point.label] = _start(point.label, seed)
    solver = training[point.label]
    if solver.iterations < point.iterations:
        solver.run(point.iterations - solver.iterations)
    return solver.policy


def _start(label: str, seed: int) -> Solver:
    return solver_type(label.lower())("holdem", seed=seed, **NETWORK, **METHODS[label])


def _judge(results: DeepResults) -> list[Finding]:
    found, ends = [], {}
    for label in METHODS:
        own = [(point.iterations, value) for point, value in results.items() if point.label == label]
        (_, end), untrained = own[-1], results[Point(UNTRAINED)]
        ends[label] = end
        found.append(
            Finding(
                f"{label} is less exploitable than before its training",
                f"{untrained} mbb/h before, {end} after",
                end.is_below(untrained),
            )
        )
        if len(own) > 1:
            change = apart(Interval(*end[:2]), Interval(*own[-2][1][:2]))
            found.append(
                Finding(
                    f"{label} improves in the last three quarters",
                    f"{change:+.0f} mbb/h by the held-out response",
                    is_below(change),
                )
            )
        exact = Bounds(CALL_EXACT, 0.0, CALL_EXACT, 0.0)
        found.append(
            Finding(
                f"{label} is less exploitable than {CALL}",
                f"{end} against {CALL_EXACT:.0f} mbb/h (exact)",
                end.is_below(exact),
            )
        )
    if Point(DEFAULT) in results:
        least = results[Point(DEFAULT)]
        for label, end in ends.items():
            claim = f"`{DEFAULT}`, a table, is less exploitable than {label}"
            found.append(Finding(claim, f"{least} against {end} mbb/h", least.is_below(end)))
    return found


def _options(settings: dict[str, Any]) -> str:
    """As on the command line."""
    words = (f"--{name.replace('_', '-')} {value:g}" for name, value in settings.items())
    return f"`{' '.join(words)}`"


DEEP_HOLDEM = DeepHoldemStudy(
    name="deep-holdem",
    title="Networks trained by self-play in limit hold'em",
    paper=(
        "A question of our own. Heinrich & Silver 2016 and Sokota et al. 2023 train networks by self-play in "
        "hold'em or in games of its size, and judge them by matches or by an approximate best response."
    ),
    question=(
        "How exploitable are networks that learn two-player limit hold'em by self-play, in minutes on one "
        "core, from the cards and the betting alone?"
    ),
    setup=(
        "PPO and MMD (`felt train holdem --solver ppo` and `mmd`), one run each, with "
        f"{_options(NETWORK)}; PPO with {_options(METHODS[PPO])}, MMD with {_options(METHODS[MMD])}. An "
        "iteration has games times steps decisions. Exploitability is that in the full game, with "
        "all hands of both players and four bets a street, on 6 sampled flops with 3 turns of each and 3 "
        "rivers of each turn, the same for all players; `default` is the included policy, a table. "
        f"The exact exploitability of {CALL} is {CALL_EXACT:.0f} mbb/h (Johanson et al. 2011)."
    ),
    remarks=(
        "Both methods learn about equally fast, and most of the gain comes within the first 640,000 "
        "decisions. After ten million, about four minutes of training on one ARM core, it is undecided "
        "whether the networks are harder to exploit than a player that never folds and never bets: on the "
        "same cards the estimates for them are about 1,500 (fitted) and 1,000 (held out), those for "
        "always-call 1,230 and 980. PPO improved between 1,250 and 5,000 iterations; for MMD this is "
        "undecided. The samples are small, so the "
        "intervals are wide; `default` has an exact exploitability of 83 mbb/h "
        "([here](holdem-exploitability.md))."
    ),
    budget=5_000,
    quick_budget=20,
    findings=_judge,
    own_claims=True,
    requires="PyTorch, 15 minutes",
)
