"""A run as a folder: `run.toml` (its settings), `metrics.csv`, `policy/`, `checkpoint/`."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import platform
import re
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from openfelt.core.devices import CPU
from openfelt.core.errors import FeltError, FileError
from openfelt.core.files import MALFORMED, MANIFEST, not_written, read_manifest, write_text
from openfelt.core.version import VERSION
from openfelt.core.workers import is_cluster
from openfelt.games.game import AnyGame
from openfelt.policy.files import POLICY, load_policy, save_policy
from openfelt.policy.holdem import require_holdem_policy
from openfelt.policy.policy import Policy
from openfelt.solve.registry import solver_type
from openfelt.solve.solver import Measurement, Solver, with_defaults

SETTINGS = "run.toml"
METRICS = "metrics.csv"
CHECKPOINT = "checkpoint"
GREEDY = "greedy"  # the policy of highest values, of solvers that estimate values


@dataclasses.dataclass(frozen=True)
class RunFolder:
    """The folder of a training run."""

    path: Path
    with_checkpoint: bool = True  # False: only the policy is saved, so the run cannot be resumed
    compact: bool = False  # whether the policy, of hold'em, is saved in 15ths

    @property
    def exists(self) -> bool:
        return (self.path / SETTINGS).exists()

    def require_new(self) -> None:
        """Raise FeltError if the folder holds a run or other files."""
        if self.exists:
            can_resume = (self.path / CHECKPOINT).exists()
            advice = "add --resume to continue it, or name" if can_resume else "name"
            raise FeltError(f"{self.path} already holds a run; {advice} another folder.")
        if self.path.exists() and not self._is_unfinished():
            raise FeltError(f"{self.path} holds other files; name an empty or new folder for the run.")

    def _is_unfinished(self) -> bool:
        """Whether it is empty, or holds the rest of a first save that failed for lack of space."""
        own = {CHECKPOINT, POLICY, GREEDY}
        if not self.path.is_dir() or not {path.name for path in self.path.iterdir()} <= own:
            return False
        return all(self._iterations(name) in (None, 0) for name in own)

    def _iterations(self, name: str) -> int | None:
        """The number of iterations in the manifest of a part of the run; None if there is no such part."""
        if not (self.path / name / MANIFEST).exists():
            return None
        facts = read_manifest(self.path / name, "checkpoint" if name == CHECKPOINT else "policy")
        try:
            return int(facts.get("iterations", facts.get("made_by", {}).get("iterations", -1)))
        except MALFORMED:
            raise FileError(f"{self.path / name} is damaged: its iterations cannot be read.") from None

    def save(self, solver: Solver, budget: dict[str, Any] | None = None) -> None:
        """Write everything; run.toml last, so that an incomplete folder does not count as a run.

        `budget` is the requested budget; it is passed at the start of each command.
        """
        policy = (
            require_holdem_policy(solver.policy).compact(solver.weights) if self.compact else solver.policy
        )
        if self.with_checkpoint:  # after the policy, which raises if training has diverged
            solver.save(self.path / CHECKPOINT)
        made_by = {"iterations": solver.iterations, "seconds": solver.seconds, **_describe(solver)}
        save_policy(policy, self.path / POLICY, made_by=made_by)
        if solver.knows_values:
            save_policy(solver.greedy, self.path / GREEDY, made_by=made_by)
        self._write(METRICS, _csv(solver.measurements))
        if budget is not None:
            requested = {key: value for key, value in budget.items() if value is not None}
            self._write(SETTINGS, _toml(_describe(solver) | {"budget": requested}))

    def _write(self, name: str, text: str) -> None:
        try:
            write_text(self.path / name, text)
        except OSError as error:
            raise not_written(self.path / name, error) from error

    def settings(self) -> dict[str, Any]:
        """The contents of run.toml."""
        try:
            found = tomllib.loads((self.path / SETTINGS).read_text(encoding="utf-8"))
        except OSError:
            raise FileError(f"There is no run in {self.path} (it has no {SETTINGS}).") from None
        except (ValueError, RecursionError) as error:
            raise FileError(f"{self.path / SETTINGS} is damaged: {error}.") from None
        kinds = {"game": str, "solver": str, "seed": int, "parameters": dict}
        if any(not isinstance(found.get(key), kind) for key, kind in kinds.items()):
            raise FileError(f"{self.path / SETTINGS} is damaged: it does not name game, solver and seed.")
        return found

    def require_checkpoint(self) -> dict[str, Any]:
        """The contents of run.toml, of a run that can be resumed."""
        found = self.settings()
        if not (self.path / CHECKPOINT).exists():
            raise FeltError(
                f"{self.path} has no checkpoint to resume from; it was trained with --policy-only."
            )
        return found

    def resume(self, game: str, solver: str, work: dict[str, Any], parameters: dict[str, Any]) -> Solver:
        """The solver of this run as it was last saved; raises for another game, solver or parameters.

        `work` has the options that may differ: threads and the device.
        """
        found = self.require_checkpoint()
        if is_cluster(work.get("threads", 1)) and solver_type(solver).has_learners:
            saved = read_manifest(self.path / CHECKPOINT, "checkpoint").get("learners")
            work = {**work, "learners": work.get("learners") or saved}
        fresh = solver_type(solver)(game, seed=found["seed"], **work, **parameters)
        if found["solver"] == solver:
            found["parameters"] = with_defaults(fresh.settings_type, found["parameters"])
        requested = {"game": fresh.tree.game, "solver": solver, "parameters": _parameters(fresh)}
        for key, was, wanted in _differences(found, requested):
            had = f"without {key}" if was is None else f"with {key} {was}"
            now = f"with {wanted}" if was is None else "without it" if wanted is None else wanted
            raise FeltError(f"{self.path} is a run {had}, not {now}; nothing was changed.")
        fresh.resume(self.path / CHECKPOINT)
        if fresh.seed != found["seed"]:
            raise FileError(
                f"{self.path} is damaged: its {SETTINGS} names the seed {found['seed']}, its checkpoint "
                f"{fresh.seed}."
            )
        if "measurements" in read_manifest(self.path / CHECKPOINT, "checkpoint"):
            self._verify_metrics(fresh.measurements)
        else:  # a checkpoint of an earlier version
            fresh.measurements = [
                each for each in self._read_metrics() if each.iterations <= fresh.iterations
            ]
        return fresh

    def learned(self) -> dict[str, Any]:
        """Iterations and seconds of the run when it was last saved."""
        made_by = read_manifest(self.path / POLICY, "policy").get("made_by", {})
        kinds = {"iterations": int, "seconds": float}
        try:
            return {key: kind(made_by[key]) if key in made_by else None for key, kind in kinds.items()}
        except MALFORMED:
            raise FileError(f"{self.path / POLICY} is damaged: its iterations cannot be read.") from None

    def _verify_metrics(self, measurements: list[Measurement]) -> None:
        """Raise unless metrics.csv holds these measurements, or the first of them, as a kill may leave it.

        It is written after the checkpoint, which has the same measurements. Without it nothing is lost.
        """
        path = self.path / METRICS
        try:
            written = path.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise FileError(f"{path} cannot be read ({error.strerror}).") from None
        if not _csv(measurements).encode().startswith(written):
            raise FileError(
                f"{path} was changed after it was saved; delete it to resume, and it is written again."
            )

    def _read_metrics(self) -> list[Measurement]:
        return read_metrics(self.path / METRICS) if (self.path / METRICS).exists() else []


def read_metrics(path: Path) -> list[Measurement]:
    """The measurements in a file such as metrics.csv."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return [
                Measurement(
                    int(row["iterations"]),
                    *(float(row[key]) for key in ("seconds", "nash_conv", "exploitability")),
                )
                for row in csv.DictReader(file)
            ]
    except FileNotFoundError:
        raise FileError(f"There is no file {path}.") from None
    except (OSError, KeyError, TypeError, ValueError, csv.Error):
        raise FileError(
            f"{path} is damaged: it needs columns iterations, seconds, nash_conv, exploitability."
        ) from None


def open_policy(folder: str | Path, game: AnyGame | None = None, *, greedy: bool = False) -> Policy:
    """The policy of a run or of a policy folder; `game` is for a Gambit file that has moved.

    `greedy`: the pure policy, of the highest values if the solver of the run estimates values.
    """
    if greedy and (Path(folder) / GREEDY).exists():
        return load_policy(Path(folder) / GREEDY, game)
    policy = load_policy(folder, game)
    return policy.greedy() if greedy else policy


def folder_name(game: str) -> str:
    """The name of a game as that of a folder: leduc-players-3."""
    return re.sub(r"[^0-9a-z]+", "-", game.lower()).strip("-")


def free_folder(parent: Path, game: str, solver: str) -> Path:
    """A new folder for a run: runs/leduc-cfr+, runs/leduc-cfr+-2, ..."""
    word = Path(game).stem if game.endswith(".efg") else game
    stem = f"{folder_name(word)}-{solver}"
    number, path = 1, parent / stem
    while path.exists():
        number += 1
        path = parent / f"{stem}-{number}"
    return path


def _describe(solver: Solver) -> dict[str, Any]:
    return {
        "game": solver.tree.game,
        "solver": solver.name,
        "seed": solver.seed,
        "threads": solver.threads,
        "device": solver.device if solver.device == CPU or is_cluster(solver.workers) else solver.gpu,
        **({"learners": solver.learners} if solver.learners > 1 else {}),
        **({"cluster": "ray"} if is_cluster(solver.workers) else {}),
        **({"in_flight": solver.in_flight} if solver.in_flight else {}),
        "parameters": _parameters(solver),
        "versions": {name: version(name) for name in ("numpy", "numba", "scipy")}
        | {"openfelt": VERSION, "python": platform.python_version(), "commit": commit()},
    }


def _differences(found: dict[str, Any], requested: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Names of the entries that differ, with both values."""
    for key, wanted in requested.items():
        if isinstance(wanted, dict):
            names = sorted(wanted.keys() | found[key].keys())
            yield from _differences(
                {name: found[key].get(name) for name in names}, {name: wanted.get(name) for name in names}
            )
        elif found[key] != wanted:
            yield key, found[key], wanted


def _parameters(solver: Solver) -> dict[str, Any]:
    """The settings that have a value; TOML has no null."""
    return {key: value for key, value in dataclasses.asdict(solver.settings).items() if value is not None}


@cache
def commit() -> str:
    """The commit of the sources, if they are a checkout (and not installed inside another one).

    It is read once, when a run begins: the checkout may change while the run has its sources in memory.
    """
    here = Path(__file__)

    def git(*words: str) -> str:
        command = ["git", "-C", str(here.parent), *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=5, check=True).stdout.strip()

    try:
        git("ls-files", "--error-unmatch", here.name)
        return git("rev-parse", "HEAD")
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def _csv(measurements: list[Measurement]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(field.name for field in dataclasses.fields(Measurement))
    writer.writerows(dataclasses.astuple(measured) for measured in measurements)
    return text.getvalue()


def _toml(values: dict[str, Any]) -> str:
    """Strings, numbers and tables of them as TOML."""
    plain = {key: value for key, value in values.items() if not isinstance(value, dict)}
    lines = [f"{key} = {_toml_value(value)}" for key, value in plain.items()]
    for key, table in values.items():
        if isinstance(table, dict):
            lines += ["", f"[{key}]", *(f"{name} = {_toml_value(value)}" for name, value in table.items())]
    return "\n".join(lines) + "\n"


def _toml_value(value: object) -> str:
    return repr(value) if isinstance(value, int | float) else json.dumps(value, ensure_ascii=False)
