"""Training runs: run.toml, metrics.csv, the policies and the checkpoint, as `--resume` reads them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from fuzz.target import Finding, Mutant
from fuzz.targets.folders import FolderTarget, require_sealed
from openfelt.solve.registry import solver_type
from openfelt.solve.run_folder import RunFolder, open_policy

RUNS = (("kuhn", "cfr+", 20, {}), ("leduc", "uct", 50, {}), ("kuhn", "pcfr+", 30, {}))


class RunTarget(FolderTarget):
    """Runs of full-width and sampling solvers."""

    name = "run"
    share = 1.5
    cost = 2.0

    def prepare(self) -> None:
        for number, (game, name, iterations, parameters) in enumerate(RUNS):
            folder = RunFolder(self.folder / f"sample-{number}")
            solver = solver_type(name)(game, seed=7, **parameters)
            solver.run(iterations // 2)
            solver.measure()
            solver.run(iterations)
            solver.measure()
            solver.seconds = 0.5  # so that samples are the same in every run
            solver.measurements = [replace(each, seconds=0.25) for each in solver.measurements]
            folder.save(solver, {"iterations": iterations})
            self.add_folder(folder.path)

    def read_folder(self, folder: Path, sample: int) -> Any:
        game, name, _, parameters = RUNS[sample]
        run = RunFolder(folder)
        run.settings()
        solver = run.resume(game, name, {}, parameters)
        policies = [open_policy(folder, greedy=greedy).table.tobytes() for greedy in (False, True)]
        tables = {key: table.tobytes() for key, table in solver.tables().items()}
        facts = (solver.seed, solver.iterations, solver.seconds, tuple(map(str, solver.measurements)))
        return *facts, tables, policies, tuple(run.learned().items())

    def rule(self, mutant: Mutant, content: Any) -> str:
        require_sealed(mutant)
        before = self.contents[mutant.sample]
        if any(len(content[4][key]) != len(before[4][key]) for key in before[4]):
            raise Finding("the tables have another size")
        return "another state of the same run, with valid checksums"
