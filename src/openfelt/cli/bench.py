"""`felt bench`."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import inspect
import json
import os
import platform
import sys
from pathlib import Path
from typing import Any

from openfelt.cli.options import print_json
from openfelt.core.errors import FeltError

HELP = (
    "Measure speed as ratios to other programs in the same run (`make bench` installs them), on one core\n"
    "unless stated otherwise. The benchmarks are the files of benchmarks/ in the repository. Run nothing\n"
    "else at the same time."
)
EXAMPLES = [
    "felt bench",
    "felt bench full_width --out benchmarks/results/full_width.json",
    "felt bench factored_games --games phantom_ttt",
]


def add_arguments(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    parser.add_argument(
        "name", nargs="?", default="full_width", help="name of the benchmark (default: full_width)"
    )
    parser.add_argument("--folder", type=Path, help="folder of the benchmarks (default: the checkout's)")
    parser.add_argument("--out", type=Path, help="write the results to this JSON file too")
    parser.add_argument(
        "--games",
        nargs="+",
        help="only these games, if the benchmark is one of games; the file of --out keeps its other results, "
        "which must be from the same machine and versions",
    )


def run(arguments: argparse.Namespace) -> None:
    folder = arguments.folder or Path(__file__).parents[3] / "benchmarks"
    known = sorted(
        path.stem for path in folder.glob("*.py") if "def run(" in path.read_text(encoding="utf-8")
    )
    if not known:
        raise FeltError(
            f"There are no benchmarks in {folder}; run felt bench in a checkout of the repository."
        )
    if arguments.name not in known:
        raise FeltError(f"There is no benchmark '{arguments.name}' (known: {', '.join(known)}).")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    sys.path.insert(0, str(folder))
    machine, measure = _machine(), importlib.import_module(arguments.name).run
    if arguments.games and "games" not in inspect.signature(measure).parameters:
        raise FeltError(f"The benchmark '{arguments.name}' has no games to choose from.")
    results = _kept(arguments.out, arguments.name, machine) if arguments.games else {}
    for result in measure(arguments.games) if arguments.games else measure():
        row = dataclasses.asdict(result)
        row["ratios"] = {name: row["ours"] / speed for name, speed in row["peers"].items()}
        results[row["what"]] = row
        if not arguments.json:
            _print(row)
        facts: dict[str, Any] = {
            "benchmark": arguments.name,
            "machine": machine,
            "results": list(results.values()),
        }
        if arguments.out:
            arguments.out.parent.mkdir(parents=True, exist_ok=True)
            arguments.out.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    if arguments.json:
        print_json(facts)


def _kept(out: Path | None, name: str, machine: dict[str, str]) -> dict[str, dict[str, Any]]:
    """The results of a file to which others are added."""
    if out is None or not out.exists():
        return {}
    try:
        facts = json.loads(out.read_text(encoding="utf-8"))
        if (facts["benchmark"], facts["machine"]) == (name, machine):
            return {row["what"]: row for row in facts["results"]}
    except (ValueError, KeyError, TypeError):
        raise FeltError(f"{out} is not a file of results.") from None
    raise FeltError(f"{out} is of another benchmark, machine or version; give another file, or omit --games.")


def _print(row: dict[str, Any]) -> None:
    ours = f"{row['ours']:,.0f}" if row["ours"] >= 100 else f"{row['ours']:.3g}"
    print(f"{row['what']}: {ours} {row['unit']}")
    if row["note"]:
        print(f"  {row['note']}")
    for name in sorted(row["peers"].keys() | row["goals"].keys()):
        if name not in row["peers"]:
            print(f"  {name}: not installed")
            continue
        ratio, goal, speed = row["ratios"][name], row["goals"].get(name), row["peers"][name]
        met = f" (goal: {goal:g}, {'met' if ratio >= goal else 'MISSED'})" if goal else ""
        times = f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2f}"
        print(f"  {times} times {name} ({speed:,.4g} {row['unit']}){met}")


def _machine() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    from openfelt.core.cuda import gpu_name, why_no_gpu
    from openfelt.core.version import VERSION

    facts = {"python": platform.python_version(), "processor": _processor(), "openfelt": VERSION}
    if not why_no_gpu():
        facts["gpu"] = gpu_name()
    for name in ("numpy", "numba", "numba-cuda", "scipy", "open_spiel", "LiteEFG"):
        try:
            facts[name] = version(name)
        except PackageNotFoundError:
            continue
    return facts


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
