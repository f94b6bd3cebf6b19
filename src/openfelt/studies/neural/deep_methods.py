"""Deep and tabular methods in several games, for the same CPU time, measured exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from openfelt.core.jit import Floats
from openfelt.games.compile.compiler import compile_infosets
from openfelt.measure.exploitability import exploitability
from openfelt.policy.tabular import uniform_policy
from openfelt.solve.registry import solver_type
from openfelt.solve.solver import Solver
from openfelt.studies.findings import Finding, both, is_above, is_below
from openfelt.studies.learning_study import LearningCurves, LearningStudy, Panel, SolverConfig

DEEP = {"NFSP": "nfsp", "Deep CFR": "deep-cfr", "PPO": "ppo", "MMD": "mmd", "R-NaD": "r-nad"}
TABULAR = {"CFR+": "cfr+", "external sampling": "external-mccfr"}
METHODS = DEEP | TABULAR
NOT_DRAWN = "CFR+"  # so far below all others that these could not be told apart
METRIC = "nash_conv"


@dataclass(frozen=True)
class Contest:
    """A game, and the settings of the methods in it."""

    game: str
    title: str
    unit: str
    settings: Mapping[str, Mapping[str, Any]]  # by method, where they are not the defaults
    methods: Mapping[str, str] = field(default_factory=lambda: METHODS)  # names of solvers

    def label(self, method: str) -> str:
        """Of a line."""
        return f"{self.title}: {method}"

    def configs(self) -> list[SolverConfig]:
        """Its solvers."""
        return [self._config(method, name) for method, name in self.methods.items()]

    def _config(self, method: str, name: str) -> SolverConfig:
        settings = self.settings.get(method, {})
        make = solver_type(name)
        return SolverConfig(self.label(method), lambda seed: make(self.game, seed=seed, **settings))

    def panel(self) -> Panel:
        """Its plot."""
        return Panel(
            METRIC,
            _nash_conv,
            f"nash_conv ({self.unit})",
            logarithmic=True,
            title=self.title,
            labels=tuple(self.label(method) for method in self.methods if method != NOT_DRAWN),
        )

    def judge(self, curves: LearningCurves) -> list[Finding]:
        """Whether the methods still improve, and whether one of the deep ones reaches the tabular ones."""
        changes = {each: curves.change(self.label(each), METRIC, 1 / 3) for each in DEEP}
        ends = {each: curves.end(self.label(each), METRIC) for each in METHODS}
        best, table = (min(methods, key=ends.__getitem__) for methods in (DEEP, TABULAR))
        ahead = curves.apart(METRIC, self.label(best), self.label(table))
        return [
            Finding(
                f"{self.title}: every deep method still improves in the last two thirds of the time",
                ", ".join(f"{method} {change:+.3g}" for method, change in changes.items()),
                both(*map(is_below, changes.values())),
            ),
            Finding(
                f"{self.title}: the best tabular method ends below every deep method",
                f"{best} {ends[best]:.3g}, {table} {ends[table]:.3g}: {ahead:+.3g} {self.unit}",
                is_above(ahead),
            ),
        ]


# Chosen in Liar's dice with one seed: in games of more than 4,096 infosets all layers are trained by single
# decisions, and there many small batches learn more than a few large ones.
GRADIENT = {"hidden": 64, "games": 128, "epochs": 2, "rate": 0.001, "anneal": 1000}
LARGE: dict[str, Mapping[str, Any]] = {
    "NFSP": {"hidden": 64, "games": 128, "batch": 256, "updates": 4},
    "Deep CFR": {"hidden": 64, "batch": 1024},
    "PPO": GRADIENT,
    "MMD": GRADIENT,
    "R-NaD": GRADIENT | {"refresh": 1000},
}

# Chosen in dark_hex(3,2): with the regularisation of Leduc some runs learn nothing there.
BOARD_GRADIENT = {"hidden": 128, "games": 128, "epochs": 4, "rate": 0.003, "anneal": 300}
BOARD: dict[str, Mapping[str, Any]] = {
    "PPO": BOARD_GRADIENT | {"entropy": 0.2},
    "MMD": BOARD_GRADIENT | {"alpha": 0.2, "eta": 0.1},
    "R-NaD": BOARD_GRADIENT | {"refresh": 300},
}

CONTESTS = (
    Contest("kuhn", "Kuhn poker", "chips", {}),
    Contest("leduc", "Leduc hold'em", "chips", {}),
    Contest("bluff(1,1,6)", "Liar's dice", "points", LARGE),
    Contest("phantom_ttt(2,3)", "phantom tic-tac-toe 2x3", "points", LARGE | BOARD),
    Contest("dark_hex(3,2)", "Dark Hex 3x2", "points", LARGE | BOARD),
)


def _nash_conv(solver: Solver) -> float:
    return solver.measure().nash_conv


@dataclass(frozen=True, kw_only=True)
class DeepMethods(LearningStudy):
    """A study of this kind; its table has a row for each method, and a column for each game."""

    contests: tuple[Contest, ...]
    quick_contests: tuple[Contest, ...]
    runs: int = 3
    work: str = "seconds of CPU time"
    by_clock: bool = True
    own_claims: bool = True
    partial_findings: bool = True

    def quick(self) -> Self:
        return replace(self, **contest_parts(self.quick_contests))

    def _tables(self, results: LearningCurves, panel: Panel) -> dict[str, Floats]:
        return {
            label.removeprefix(f"{panel.title}: "): table
            for label, table in super()._tables(results, panel).items()
        }

    def table(self, results: LearningCurves) -> list[str]:
        measured = [each for each in self.contests if results.has(*each.configs())]
        lines = [
            "## Final values",
            "",
            f"nash_conv after {results.episodes[-1]:,} {self.work}: mean ± its 95% interval over "
            f"{results.runs} runs. The policy that plays uniformly is beside them.",
            "",
            "| solver | " + " | ".join(f"{each.title} ({each.unit})" for each in measured) + " |",
            "|---|" + "---|" * len(measured),
        ]
        for method in self.contests[0].methods:
            cells = [f"{results.ends(each.label(method), METRIC):.3g}" for each in measured]
            lines.append(f"| {method} | " + " | ".join(cells) + " |")
        trees = [compile_infosets(each.game) for each in measured]
        uniform = [f"{exploitability(uniform_policy(tree)).nash_conv:.3g}" for tree in trees]
        return [*lines, "| uniform policy | " + " | ".join(uniform) + " |"]


def contest_parts(contests: tuple[Contest, ...]) -> dict[str, Any]:
    """What follows from the games of a study of this kind."""

    def judge(curves: LearningCurves) -> list[Finding]:
        found = [each.judge(curves) for each in contests if curves.has(*each.configs())]
        return [finding for findings in found for finding in findings]

    return {
        "contests": contests,
        "solvers": tuple(config for each in contests for config in each.configs()),
        "panels": tuple(each.panel() for each in contests),
        "findings": judge,
    }


DEEP_METHODS = DeepMethods(
    quick_contests=CONTESTS[:3],
    **contest_parts(CONTESTS),
    name="deep-methods",
    title="Deep and tabular methods for the same CPU time",
    paper="A question of our own; Rudolph et al. 2025 compare such methods in larger games.",
    question="Which deep methods approach an equilibrium, and how do they compare with tables?",
    setup=(
        "nash_conv is exact. Every run has one core, and its time is CPU time without measurements. In "
        "Deep CFR and NFSP the average policy counts, in PPO, MMD and R-NaD the mean network, of CFR+ and "
        "external sampling the average policy.\n\n"
        "In Kuhn poker and Leduc hold'em the settings are the defaults, which were chosen in Leduc. The "
        "other three games have more than 4,096 infosets, and there networks learn from small batches. In "
        "Liar's dice PPO, MMD and R-NaD have `--hidden 64 --games 128 --epochs 2 --rate 0.001 --anneal "
        "1000`, R-NaD also `--refresh 1000`, NFSP `--hidden 64 --games 128 --batch 256 --updates 4`, Deep "
        "CFR `--hidden 64 --batch 1024`; these did best of three settings of each method (eight of MMD), the "
        "defaults among them, in one run of 20 seconds each. In the other two games NFSP and Deep CFR have "
        "the same settings, PPO, MMD and R-NaD those of [deep-large](deep-large.md): `--hidden 128 --games "
        "128 --epochs 4 --rate 0.003 --anneal 300`, PPO `--entropy 0.2`, MMD `--alpha 0.2 --eta 0.1`, R-NaD "
        "`--refresh 300`. Those of PPO and MMD were chosen in Dark Hex 3x2, in a few runs.\n\n"
        "Phantom tic-tac-toe and Dark Hex are on boards of six cells; those of nine are in "
        "[deep-large](deep-large.md). CFR+ is not drawn."
    ),
    episodes=(1, 2, 5, 15),
    quick_episodes=(1, 2),
    requires="PyTorch, half an hour",
)
