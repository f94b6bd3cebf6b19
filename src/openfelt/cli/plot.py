"""`felt plot`."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from openfelt.cli.options import print_json
from openfelt.core.errors import FeltError

if TYPE_CHECKING:
    from openfelt.plots.curves import ConvergencePanel
    from openfelt.solve.solver import Measurement

HELP = (
    "Draw the learning curves of runs on one figure, with a panel for each game: exploitability over\n"
    "seconds or iterations. A .csv file with the columns of a run's metrics.csv counts as a run, for curves\n"
    "of other programs. Needs pip install 'openfelt[plots]'."
)
EXAMPLES = [
    "felt plot runs/leduc-pcfr+ runs/leduc-cfr+",
    "felt plot runs/leduc-pcfr+ runs/leduc-uct --x iterations --out leduc.png",
    'felt plot runs/leduc-pcfr+ open_spiel.csv --level "paper, Figure 2=0.01"',
]
AXES = {"seconds": "training time (s)", "iterations": "iterations or episodes"}
COLUMNS = 3
OTHER = "other programs"  # the game of a .csv file, if the runs are of several


def add_arguments(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="run folders or .csv files")
    parser.add_argument("--x", choices=AXES, default="seconds", help="horizontal axis (default: seconds)")
    parser.add_argument(
        "--level",
        action="append",
        default=[],
        type=_level,
        metavar="NAME=VALUE",
        help="draw a horizontal line: the value of a paper or of another program; may be repeated",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("plot.png"), help="the .png file (default: plot.png)"
    )


def run(arguments: argparse.Namespace) -> None:
    from openfelt.plots.curves import plot_convergence
    from openfelt.plots.figure import prepare_figure

    prepare_figure(arguments.out)
    names = [path.name.removesuffix(".csv") for path in arguments.runs]
    labels = names if len(set(names)) == len(names) else list(map(str, arguments.runs))
    runs = {label: _read(path) for label, path in zip(labels, arguments.runs, strict=True)}
    games = list(dict.fromkeys(run.game for run in runs.values() if run.game)) or [OTHER]
    curves: dict[str, dict[str, list[Measurement]]] = {game: {} for game in games}
    for label, found in runs.items():
        game = found.game or (games[0] if len(games) == 1 else OTHER)
        curves.setdefault(game, {})[label] = found.measured
    panels = [_panel(game, those, arguments) for game, those in curves.items()]
    plot_convergence("Exploitability during training", panels, "", min(len(panels), COLUMNS), arguments.out)
    ends = {label: found.measured[-1] for label, found in runs.items()}
    if arguments.json:
        last = {label: end.exploitability for label, end in ends.items()}
        print_json({"figure": str(arguments.out), "exploitability": last})
        return
    for label, end in ends.items():
        work = f"{end.iterations:,} iterations, {end.seconds:.1f} seconds"
        print(f"{label}: exploitability {end.exploitability:.3g} after {work}")
    print(f"drawn in {arguments.out}")


class _Run(NamedTuple):
    game: str  # "" for a .csv file
    measured: list[Measurement]


def _read(path: Path) -> _Run:
    from openfelt.solve.run_folder import METRICS, RunFolder, read_metrics

    game = "" if path.suffix == ".csv" else str(RunFolder(path).settings()["game"])
    measured = read_metrics(path if path.suffix == ".csv" else path / METRICS)
    good = [each for each in measured if math.isfinite(each.exploitability) and each.seconds > 0]
    if not good:
        raise FeltError(
            f"{path} has no measurements to draw: in hold'em exploitability is not measured during training "
            "(felt exploit computes it)."
        )
    return _Run(game, good)


def _panel(game: str, runs: dict[str, list[Measurement]], arguments: argparse.Namespace) -> ConvergencePanel:
    from openfelt.plots.curves import ConvergencePanel

    unit = "" if game == OTHER or game.endswith(".efg") else f" ({_unit_of(game)})"
    return ConvergencePanel(
        title=game,
        y_label=f"exploitability{unit}",
        curves={
            label: [
                (
                    [getattr(each, arguments.x) for each in measured],
                    [each.exploitability for each in measured],
                )
            ]
            for label, measured in runs.items()
        },
        levels=dict(arguments.level),
        x_label=AXES[arguments.x],
    )


def _unit_of(game: str) -> str:
    from openfelt.games.registry import load_game

    rules = load_game(game)
    return f"{rules.unit} per game" if rules.is_enumerable else rules.winnings_unit.name


def _level(text: str) -> tuple[str, float]:
    name, _, value = text.rpartition("=")
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not name or not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is not a name and a positive value, as in paper=0.01")
    return name, number
