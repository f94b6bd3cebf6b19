"""Exploitability of limit hold'em policies by kind and number of buckets, after equal times of CFR-BR."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from openfelt.cards.abstraction.abstraction import load_abstraction
from openfelt.cards.abstraction.spec import ALL_HANDS, EHS2, KMEANS, OCHS, PERCENTILE, parse_spec
from openfelt.cards.deck import PREFLOP, STREETS
from openfelt.core.devices import CPU
from openfelt.core.workers import Workers, own_threads
from openfelt.measure.holdem.player import Player, policy_player
from openfelt.plots.buckets import BucketLine, plot_exploitability_by_buckets
from openfelt.plots.intervals import Interval
from openfelt.policy.files import load_policy, save_policy
from openfelt.policy.holdem import require_holdem_policy
from openfelt.solve.vector.cfr_br import CFRBR
from openfelt.studies.files import csv_text, slug
from openfelt.studies.findings import Finding, is_below
from openfelt.studies.holdem.exploitability_study import (
    SEAT_COLUMNS,
    ExploitabilityStudy,
    ExploitValue,
    Measuring,
    describe_flops,
)
from openfelt.studies.study import GPU

SECONDS, QUICK_SECONDS = 40, 2  # of training in each abstraction
GAMMA, RIVER_STEP = 2.0, 3  # weights of the average; one river in this many is learned from
KINDS = (EHS2, PERCENTILE, KMEANS, OCHS)  # each is claimed to be better than the one before it
SIZES = (1_000, 5_000)  # on flop, turn and river
ABSTRACTIONS = tuple(f"{kind}:169/{size}/{size}/{size}" for size in SIZES for kind in KINDS)


class Trained(NamedTuple):
    """A policy after training."""

    iterations: int
    seconds: float  # of training
    value: ExploitValue


Results = dict[str, Trained]  # by abstraction


@dataclass(frozen=True, kw_only=True)
class BucketsStudy(ExploitabilityStudy):
    """Trains a policy in each abstraction and measures it; the budget is the seconds of each training."""

    abstractions: tuple[str, ...] = ABSTRACTIONS

    @property
    def names(self) -> list[str]:
        return list(self.abstractions)

    def values(self, results: Results) -> list[ExploitValue]:
        return [each.value for each in results.values()]

    def missing(self, results: Results) -> list[str]:
        return [name for name in self.names if name not in results]

    def planned_work(self, budget: int) -> int:
        return len(self.selected)

    def run(
        self, *, budget: int, seed: int, processes: Workers, parts: Path, progress: Callable[[float], object]
    ) -> Results:
        measuring, results = self.begin(budget, seed, processes, parts, progress), {}
        for name in self.abstractions:
            if found := Run(name, budget, measuring).measure(name in self.selected):
                results[name] = found
        return results

    def csv(self, results: Results) -> str:
        head = ["abstraction", "kind", *STREETS, "iterations", "seconds"]
        rows = []
        for name, (iterations, seconds, value) in results.items():
            spec = parse_spec(name)
            facts = [name, spec.kind, *spec.counts, iterations, f"{seconds:.1f}"]
            rows.append([*facts, *value.csv_numbers, value.flops or "all"])
        return csv_text([*head, "exploitability", "half_95", *SEAT_COLUMNS, "flops"], rows=rows)

    def table(self, results: Results) -> list[str]:
        lines = ["| abstraction | boards | exploitability (mbb/h) | method |", "|---|---:|---:|---|"]
        for name, (iterations, _, value) in results.items():
            lines.append(f"| `{name}` | {iterations:,} | {value} | {value.method} |")
        return [*lines, "", describe_flops(self.values(results))]

    def plot(self, results: Results, path: Path) -> None:
        lines: dict[str, list[tuple[int, Interval]]] = {}
        for name, trained in results.items():
            spec = parse_spec(name)
            lines.setdefault(spec.kind, []).append((sum(spec.counts), trained.value.as_interval))
        drawn = [BucketLine(kind, *zip(*sorted(points), strict=True)) for kind, points in lines.items()]
        plot_exploitability_by_buckets(self.title, drawn, path)


class Run:
    """The training in one abstraction; the policy is kept until it is measured."""

    def __init__(self, abstraction: str, seconds: int, measuring: Measuring) -> None:
        self._abstraction, self._seconds, self._measuring = abstraction, seconds, measuring
        self._name = f"{abstraction}, seed {measuring.seed}"
        self._trained = f"{self._name}, training"
        self._folder = measuring.folder / "policies" / slug(self._name)

    def measure(self, selected: bool) -> Trained | None:
        """Train and measure, unless that is stored; None if it is neither stored nor selected."""
        value = self._measuring.value(self._name, selected, self._player)
        if value is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        training = self._measuring.store.load(self._trained)
        if value is None or training is None:
            return None
        return Trained(int(training["iterations"]), float(training["seconds"]), value)

    def _player(self) -> Player:
        if not self._folder.exists() or self._measuring.store.load(self._trained) is None:
            self._train()
        return policy_player(require_holdem_policy(load_policy(self._folder)), self._name)

    def _train(self) -> None:
        measuring = self._measuring
        threads = own_threads(measuring.threads)
        options: dict[str, Any] = {"seed": measuring.seed, "gamma": GAMMA, "river_step": RIVER_STEP}
        options |= {"threads": threads} if measuring.device == CPU else {"device": measuring.device}
        load_abstraction(self._abstraction).tables(threads=max(2, threads))
        solver = CFRBR(f"holdem(buckets='{self._abstraction}')", **options)
        solver.run(1)  # compiles the kernels
        compiled = solver.seconds
        solver.run(seconds=self._seconds)
        seconds = solver.seconds - compiled
        save_policy(solver.policy, self._folder)
        training = {"iterations": solver.iterations, "seconds": seconds}
        measuring.store.save(self._trained, training)
        measuring.say(f"{self._name}: {solver.iterations:,} boards in {seconds:.1f} s of training")


def _findings(results: Results) -> list[Finding]:
    """The claims about abstractions that were measured."""
    kinds = [
        (f"{worse}:169/{size}/{size}/{size}", f"{better}:169/{size}/{size}/{size}")
        for size in SIZES
        for worse, better in pairwise(KINDS)
    ]
    few, many = SIZES
    larger = [(f"{kind}:169/{few}/{few}/{few}", f"{kind}:169/{many}/{many}/{many}") for kind in KINDS]
    return [
        _less_exploitable(better, worse, results)
        for worse, better in (*kinds, *larger)
        if worse in results and better in results
    ]


def _less_exploitable(better: str, worse: str, results: Results) -> Finding:
    """By the 95% interval of the difference."""
    values = results[better].value, results[worse].value
    claim, difference = f"`{better}` is less exploitable than `{worse}`", values[0].above(values[1])
    measured = f"{values[0].mbb:.2f} against {values[1].mbb:.2f} mbb/h"
    if difference.half:
        measured += f": {difference.mean:+.2f} ± {difference.half:.2f}"
    return Finding(claim, measured, is_below(difference))


BUCKETS_STUDY = BucketsStudy(
    name="buckets",
    title="Exploitability of limit hold'em policies by kind and number of buckets",
    paper=(
        'Johanson, Burch, Valenzano & Bowling 2013, "Evaluating state-space abstractions in extensive-form '
        'games", compare abstractions by the exploitability of policies of CFR-BR. The claims are ours. See '
        "[CFR-BR](../cfr-br.md)."
    ),
    question=(
        "Which buckets should a policy be trained in: of which kind, and how many? More buckets can be less "
        "exploitable in the end, but need more training. Here all are trained for the same time."
    ),
    setup=(
        f"One run of CFR-BR in each abstraction, {SECONDS} seconds on a GPU, with `--trunk buckets --gamma "
        f"{GAMMA:g} --river-step {RIVER_STEP}`; tables of buckets and compilation are not counted. The "
        "average policy is measured in 255ths, not in compact form. Kinds are compared at equal numbers of "
        f"buckets. All abstractions have the {ALL_HANDS[PREFLOP]} kinds of hole cards before the flop. "
        "Estimates from the same flops are compared flop by flop. Intervals cover the sampling of flops "
        "only; the differences between runs with other seeds are not measured."
    ),
    budget=SECONDS,
    quick_budget=QUICK_SECONDS,
    findings=_findings,
    requires=f"{GPU}, half an hour",
    own_claims=True,
)
