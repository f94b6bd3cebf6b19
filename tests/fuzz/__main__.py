"""`python -m fuzz`: judges mutants of all formats; `make fuzz` calls it."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from fuzz.runner import LIMIT, Budget, Summary, run_all, run_target, scratch_folder, work
from fuzz.target import FINDING
from fuzz.targets.registry import TARGETS
from openfelt.core.version import VERSION

COLUMNS = ("mutants", "refused", "equal", "accepted", "findings")


def main(words: list[str]) -> int:
    """Run the command line; returns 1 if there are findings."""
    if words[:1] == ["--worker"]:
        name, seed, first, count, seconds, out = words[1:]
        work(name, Budget(int(seed), int(first), int(count), float(seconds)), Path(out))
        return 0
    arguments = _parser().parse_args(words)
    names = arguments.only or list(TARGETS)
    if arguments.mutant is not None:
        return _show(names[0], arguments.seed, arguments.mutant)
    arguments.out.mkdir(parents=True, exist_ok=True)
    summaries = run_all(
        names,
        seed=arguments.seed,
        mutants=arguments.mutants,
        seconds=arguments.seconds,
        out=arguments.out,
        processes=arguments.processes,
    )
    print(table(summaries))
    if arguments.json:
        arguments.json.write_text(json.dumps(result(summaries, arguments), indent=1) + "\n")
    return int(any(summary.findings for summary in summaries))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--mutants", type=int, default=100_000, help="of all formats together")
    parser.add_argument("--seconds", type=float, default=900.0, help="of CPU time, for all formats together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=list(TARGETS), help="formats; default: all")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("fuzz-findings"), help="folder for findings")
    parser.add_argument("--json", type=Path, help="file for the counts")
    parser.add_argument("--mutant", type=int, help="judge only this mutant, of the format of --only")
    return parser


def _show(name: str, seed: int, number: int) -> int:
    """Judge one mutant and show it."""
    with scratch_folder() as folder:
        target = TARGETS[name](Path(folder))
        target.prepare()
        mutant = target.mutant(seed, number)
        summary = run_target(target, Budget(seed, number, 1, float("inf")), limit=LIMIT)
        for file, data in mutant.files.items():
            print(f"{file}: {data[:2000]!r}")
        verdict = target.judge(mutant, LIMIT)
    print(f"{mutant.how} of sample {mutant.sample}: {verdict.kind}. {verdict.reason}")
    return int(summary.findings or verdict.kind == FINDING)


def table(summaries: list[Summary]) -> str:
    """A line for each format, then the rules and the findings."""
    lines = [f"{'format':<18}" + "".join(f"{name:>10}" for name in COLUMNS) + f"{'CPU s':>9}"]
    for each in [*summaries, _total(summaries)]:
        counts = "".join(f"{getattr(each, name):>10,}" for name in COLUMNS)
        lines.append(f"{each.target:<18}{counts}{each.cpu_seconds:>9.1f}")
    for each in summaries:
        lines += [f"{each.target}: {count:,} accepted: {rule}" for rule, count in each.rules.most_common()]
    for each in summaries:
        lines += [f"{each.target}: {count:,} FINDINGS: {kind}" for kind, count in each.kinds.most_common()]
        lines += [f"  mutant {one['number']} ({one['how']}): {one['reason']}" for one in each.examples[:10]]
    return "\n".join(lines)


def result(summaries: list[Summary], arguments: argparse.Namespace) -> dict[str, object]:
    """The counts for a file."""
    budget = f"MUTANTS={arguments.mutants} SECONDS={arguments.seconds:g} SEED={arguments.seed}"
    return {
        "command": f"make fuzz {budget}",
        "version": VERSION,
        "total": {name: getattr(_total(summaries), name) for name in (*COLUMNS, "cpu_seconds")},
        "formats": [vars(summary) for summary in summaries],
    }


def _total(summaries: list[Summary]) -> Summary:
    total = Summary("total")
    for summary in summaries:
        total.add(summary)
    return total


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
