"""Runs mutants and counts verdicts. A format has a process of its own, so that a crash is a finding too."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.folder_mutations import write_files
from fuzz.target import ACCEPTED, EQUAL, FINDING, REFUSED, Mutant, Target
from fuzz.targets.registry import TARGETS

LIMIT = 20.0  # seconds for one mutant
MOST_SAVED = 20  # findings of a format whose files are saved
MOST_CRASHES = 20  # of a format, after which it is given up
MEMORY = 8 << 30  # bytes of a process, so that a file cannot fill the machine


@dataclass
class Summary:
    """The verdicts on the mutants of a format."""

    target: str
    mutants: int = 0
    refused: int = 0
    equal: int = 0
    accepted: int = 0
    findings: int = 0
    cpu_seconds: float = 0.0
    rules: Counter[str] = field(default_factory=Counter)  # why changed content was accepted
    kinds: Counter[str] = field(default_factory=Counter)  # of findings
    examples: list[dict[str, object]] = field(default_factory=list)  # of findings: number, how and reason

    def count(self, number: int, mutant: Mutant, kind: str, reason: str) -> None:
        """Count a verdict."""
        self.mutants += 1
        self.refused += kind == REFUSED
        self.equal += kind == EQUAL
        self.accepted += kind == ACCEPTED
        if kind == ACCEPTED:
            self.rules[reason] += 1
        if kind == FINDING:
            self.findings += 1
            self.kinds[re.sub(r"[0-9]+", "#", reason)[:100]] += 1
            self.examples.append({"number": number, "how": mutant.how, "reason": reason[:300]})

    def add(self, other: Summary) -> None:
        """Add the counts of other mutants of the same format."""
        for name in ("mutants", "refused", "equal", "accepted", "findings", "cpu_seconds"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.rules += other.rules
        self.kinds += other.kinds
        self.examples += other.examples


@dataclass(frozen=True)
class Budget:
    """The mutants of a format: numbers from `first` on, until one of the two is used up."""

    seed: int
    first: int
    count: int
    seconds: float  # of CPU time


def scratch_folder() -> tempfile.TemporaryDirectory[str]:
    """A folder in memory where there is one; mutants are written thousands of times."""
    memory = Path("/dev/shm")
    return tempfile.TemporaryDirectory(prefix="fuzz-", dir=memory if os.access(memory, os.W_OK) else None)


def run_target(target: Target, budget: Budget, out: Path | None = None, limit: float = LIMIT) -> Summary:
    """Judge mutants in this process; findings are saved in `out`."""
    summary = Summary(target.name)
    begun = time.process_time()
    for number in range(budget.first, budget.first + budget.count):
        if time.process_time() - begun > budget.seconds:
            break
        if out is not None:
            (out / f"{target.name}.current").write_text(str(number))
        mutant = target.mutant(budget.seed, number)
        verdict = target.judge(mutant, limit)
        summary.count(number, mutant, *verdict)
        if verdict.kind == FINDING and out is not None and summary.findings <= MOST_SAVED:
            save_finding(out, target.name, number, mutant, verdict.reason)
    summary.cpu_seconds = time.process_time() - begun
    return summary


def save_finding(out: Path, name: str, number: int, mutant: Mutant, reason: str) -> None:
    """Write the files of a mutant, and what is wrong with it."""
    folder = out / f"{name}-{number}"
    shutil.rmtree(folder, ignore_errors=True)
    write_files(folder / "files", mutant.files)
    (folder / "finding.txt").write_text(f"{mutant.how} of sample {mutant.sample}\n{reason}\n")


def work(name: str, budget: Budget, out: Path) -> None:
    """Judge the mutants of one format and write the summary: the whole work of a process."""
    _limit_memory()
    with scratch_folder() as folder:
        target = TARGETS[name](Path(folder))
        target.prepare()
        summary = run_target(target, budget, out)
    (out / f"{name}.json").write_text(json.dumps(vars(summary)))


def _limit_memory() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def shares(total: float, weights: dict[str, float]) -> dict[str, float]:
    """A total divided in proportion to weights."""
    whole = sum(weights.values())
    return {name: total * weight / whole for name, weight in weights.items()}


def run_all(
    names: list[str], *, seed: int, mutants: int, seconds: float, out: Path, processes: int
) -> list[Summary]:
    """Judge the mutants of all formats, each in processes of its own."""
    counts = shares(mutants, {name: TARGETS[name].share for name in names})
    times = shares(seconds, {name: TARGETS[name].share * TARGETS[name].cost for name in names})
    with ThreadPoolExecutor(processes) as pool:
        jobs = [
            pool.submit(_run_processes, name, Budget(seed, 0, round(counts[name]), times[name]), out)
            for name in names
        ]
        return [job.result() for job in jobs]


def _run_processes(name: str, budget: Budget, out: Path) -> Summary:
    """Start processes until all mutants are judged: one, and another one after each crash."""
    total, last = Summary(name), budget.first + budget.count
    while budget.first < last and total.findings < MOST_CRASHES:
        (out / f"{name}.json").unlink(missing_ok=True)
        words = [
            "--worker",
            name,
            *map(str, (budget.seed, budget.first, budget.count, budget.seconds)),
            str(out),
        ]
        done = subprocess.run([sys.executable, "-m", "fuzz", *words], check=False)
        if (out / f"{name}.json").exists():
            stored = json.loads((out / f"{name}.json").read_text())
            rules, kinds = Counter(stored.pop("rules")), Counter(stored.pop("kinds"))
            total.add(Summary(**stored, rules=rules, kinds=kinds))
            break
        if done.returncode >= 0:
            raise SystemExit(f"The fuzzer itself failed in {name}; see above.")
        number = int((out / f"{name}.current").read_text())
        with scratch_folder() as folder:
            target = TARGETS[name](Path(folder))
            target.prepare()
            mutant = target.mutant(budget.seed, number)
        reason = f"the process crashed with signal {-done.returncode}"
        total.count(number, mutant, FINDING, reason)
        save_finding(out, name, number, mutant, reason)
        budget = Budget(budget.seed, number + 1, last - number - 1, budget.seconds)
    return total
