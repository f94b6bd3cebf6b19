"""`felt study`."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openfelt.cli.options import add_on, count, print_json, progress_bar, seed
from openfelt.core.devices import AUTO
from openfelt.core.errors import FeltError

if TYPE_CHECKING:
    from openfelt.studies.experiment import Experiment
    from openfelt.studies.learning_study import LearningCurves, LearningStudy
    from openfelt.studies.registry import AnyStudy
    from openfelt.studies.training_runs import TrainingRuns

HELP = (
    "Reproduce a figure or table of a paper: run the experiment and write its data (CSV), its figure (PNG)\n"
    "and a page (Markdown) that compares the results with the paper. `felt study list` lists the studies;\n"
    "`felt study run all` runs those that need neither much time nor a GPU nor trained policies."
)
EXAMPLES = [
    "felt study list",
    "felt study run hs14-figure-1",
    "felt study run mm19-heinrich --quick",
    "felt study run pjl11-figure-4-kuhn --runs 3 --out somewhere --threads 2",
    "felt study run gpu-equals-cpu --only GPU     (on one machine; the rest on another, with that --out)",
    "felt study run hs14-figure-1 --on ray://head:10001",
    "felt study report gpu-equals-cpu              (the page of the runs finished so far)",
    "felt study run holdem-exploitability --only always --flops 20 --device cpu",
]
QUICK_RUNS, MAX_RUNS = 3, 1_000


def add_arguments(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    parser.add_argument(
        "what",
        choices=("list", "run", "report"),
        help="list the studies, run one, or write its page again: from the runs finished so far, or its CSV",
    )
    parser.add_argument("name", nargs="?", help="name of the study, or all")
    parser.add_argument("--quick", action="store_true", help="small budgets: a first look within seconds")
    parser.add_argument("--runs", type=count, help="training runs of each solver (default: as in the paper)")
    parser.add_argument("--out", type=Path, default=Path("studies"), help="output folder (default: studies)")
    parser.add_argument("--seed", type=seed, default=0, help="seed of the first run; run n has seed + n")
    parser.add_argument("--threads", type=count, default=1, help="runs at a time (default: 1)")
    add_on(parser)
    parser.add_argument(
        "--only",
        default="",
        metavar="WORD",
        help="run only solvers or players whose names contain WORD; store the results for a later command",
    )
    parser.add_argument(
        "--keep",
        action="store_true",
        help="write no page (which needs matplotlib); store the results for a later command",
    )
    exact = parser.add_argument_group("studies of exploitability in hold'em")
    exact.add_argument(
        "--flops",
        type=seed,
        metavar="N",
        help="estimate from N random flops; 0: exact, from all (default: all on a GPU, 20 without)",
    )
    exact.add_argument(
        "--time-limit",
        type=count,
        metavar="SECONDS",
        help="begin no measurement (with its training) that would end later; the next command continues",
    )
    exact.add_argument("--device", help="cpu, cuda or auto (default: auto, a GPU if there is one)")


def run(arguments: argparse.Namespace) -> None:
    from openfelt.core.files import prepare_folder
    from openfelt.plots.figure import require_matplotlib
    from openfelt.studies.learning_study import LearningStudy
    from openfelt.studies.registry import STUDIES, find_study

    if arguments.what == "list":
        _list(arguments.json)
        return
    if not arguments.name:
        raise FeltError(f"Name a study: {', '.join(STUDIES)}, or all.")
    if arguments.runs and arguments.runs > MAX_RUNS:
        raise FeltError(f"--runs must be at most {MAX_RUNS}.")
    short = [name for name, study in STUDIES.items() if not study.requires]
    names = short if arguments.name == "all" else [arguments.name]
    studies = [_with_options(find_study(name), arguments) for name in names]
    if not arguments.keep:
        require_matplotlib()
    prepare_folder(arguments.out)
    if arguments.what == "report" and len(studies) == 1 and _is_only_csv(studies[0], arguments):
        facts = _report_csv(studies[0], arguments)
        if arguments.json:
            print_json(facts)
        return
    for study in studies:
        if isinstance(study, LearningStudy):
            _check_learning(study, arguments)
        else:
            _check_experiment(study, arguments)
    if arguments.what == "run" and not arguments.json and sys.stderr.isatty():
        announce(studies, arguments)
    results = [
        _run_learning(study, arguments)
        if isinstance(study, LearningStudy)
        else _run_experiment(study, arguments)
        for study in studies
    ]
    if arguments.json:
        print_json(results[0] if arguments.name != "all" else {"studies": results})


def announce(studies: Sequence[AnyStudy], arguments: argparse.Namespace) -> None:
    """Tell which of the studies take long, and what is shorter."""
    for study in studies:
        if study.requires and not arguments.quick:
            print(
                f"{study.name} needs {study.requires}; --quick is a first look. A stopped study resumes.",
                file=sys.stderr,
            )


def _with_options(study: AnyStudy, arguments: argparse.Namespace) -> AnyStudy:
    """The study as the options of the command line want it."""
    from openfelt.studies.holdem.exploitability_study import ExploitabilityStudy
    from openfelt.studies.learning_study import LearningStudy
    from openfelt.studies.study import NO_MATCH

    if not isinstance(study, ExploitabilityStudy):
        if arguments.flops is not None or arguments.device or arguments.time_limit:
            raise FeltError(f"--flops, --device and --time-limit are not options of {study.name}.")
        return study.quick() if arguments.quick and isinstance(study, LearningStudy) else study
    if arguments.flops == 1:
        raise FeltError("--flops must be 0 or at least 2.")
    return replace(
        study,
        flops=arguments.flops,
        time_limit=arguments.time_limit,
        device=arguments.device or AUTO,
        on_cluster=bool(arguments.on),
        only=NO_MATCH if arguments.what == "report" else arguments.only,
        say=lambda text: None if arguments.json else print(text, file=sys.stderr, flush=True),
    )


def _list(as_json: bool) -> None:
    from openfelt.studies.registry import STUDIES

    if as_json:
        print_json({name: study.title for name, study in STUDIES.items()})
        return
    width = max(map(len, STUDIES))
    for name, study in STUDIES.items():
        requires = f" (needs {study.requires})" if study.requires else ""
        print(f"{name:<{width}}  {study.title}{requires}")


def _training_runs(study: LearningStudy, arguments: argparse.Namespace) -> TrainingRuns:
    from openfelt.studies.training_runs import TrainingRuns

    runs = arguments.runs or (min(QUICK_RUNS, study.runs) if arguments.quick else study.runs)
    episodes = study.quick_episodes if arguments.quick else study.episodes
    return TrainingRuns(study, _parts(study, arguments), runs, arguments.seed, episodes)


def _parts(study: AnyStudy, arguments: argparse.Namespace) -> Path:
    """The folder of what is finished."""
    folder: Path = arguments.out / f"{study.stem(full=not arguments.quick)}.parts"
    return folder


def _check_learning(study: LearningStudy, arguments: argparse.Namespace) -> None:
    """Raise if the command cannot work, before the training starts."""
    from openfelt.core.cuda import choose_device
    from openfelt.core.devices import CUDA

    if not any(arguments.only in solver.label for solver in study.solvers):
        raise FeltError(f"{study.name} has no solver with '{arguments.only}' in its name.")
    runs = _training_runs(study, arguments)
    unfinished = runs.unfinished(arguments.only)
    if arguments.what == "report" and len(unfinished) == len(study.solvers):
        raise FeltError(f"No solver of {study.name} has finished all its runs in {runs.folder}.")
    if arguments.what == "run" and any(solver.needs_gpu for solver in unfinished):
        choose_device(CUDA, elsewhere=bool(arguments.on))


def _run_learning(study: LearningStudy, arguments: argparse.Namespace) -> dict[str, Any]:
    runs = _training_runs(study, arguments)
    # Before the training, during which the sources may change.
    provenance = _provenance(study.name, runs.runs, arguments)
    curves = _train(runs, arguments)
    complete = study.is_complete(curves)
    if arguments.keep or (not complete and arguments.what == "run"):
        return _report_stored(study, runs.folder, arguments)
    if runs.has_other_sources():
        provenance += " Some runs were made with other versions of the sources."
    page = study.write(curves, arguments.out, full=not arguments.quick, provenance=provenance)
    if complete:
        runs.remove()
    return _report_findings(study, curves, page, arguments)


def _train(runs: TrainingRuns, arguments: argparse.Namespace) -> LearningCurves:
    if arguments.what == "report":
        return runs.finished_curves()
    episodes = runs.count_left(arguments.only) * runs.episodes[-1]
    with progress_bar(not arguments.json) as bar:
        advance = bar(runs.study.name)
        return runs.train(
            threads=arguments.on or arguments.threads,
            only=arguments.only,
            progress=lambda done: advance(done / max(1, episodes)),
        )


def _check_experiment(study: Experiment, arguments: argparse.Namespace) -> None:
    """Raise if the command cannot work, before the experiment starts."""
    from openfelt.studies.holdem.exploitability_study import ExploitabilityStudy

    is_partial = isinstance(study, ExploitabilityStudy)
    if arguments.runs or ((arguments.what == "report" or arguments.only) and not is_partial):
        raise FeltError(
            f"{study.name} has no training runs, so `felt study run {study.name}` is its only command, "
            "without --runs and --only."
        )
    if isinstance(study, ExploitabilityStudy) and arguments.what == "run" and not study.selected:
        raise FeltError(f"{study.name} has no player or solver with '{arguments.only}' in its name.")
    if arguments.what == "run":
        study.check()


def _run_experiment(study: Experiment, arguments: argparse.Namespace) -> dict[str, Any]:
    """Run the experiment; its finished parts are stored until all are finished."""
    import shutil

    from openfelt.studies.holdem.exploitability_study import ExploitabilityStudy

    budget = study.quick_budget if arguments.quick else study.budget
    parts = _parts(study, arguments)
    # Before the experiment, during which the sources may change.
    provenance = _provenance(study.name, None, arguments)
    planned = study.planned_work(budget)
    with progress_bar(not arguments.json) as bar:
        show = bar(study.name)
        results = study.run(
            budget=budget,
            seed=arguments.seed,
            processes=arguments.on or arguments.threads,
            parts=parts,
            progress=lambda done: show(done / max(1, planned)),
        )
    complete = study.is_complete(results)
    if arguments.keep or (not complete and arguments.what == "run"):
        return _report_stored(study, parts, arguments)
    if isinstance(study, ExploitabilityStudy):
        if not results:
            raise FeltError(f"Nothing of {study.name} is finished in {parts}.")
        provenance = _provenance(study.name, None, arguments, *study.command_options(results))
    page = study.write(results, arguments.out, full=not arguments.quick, provenance=provenance)
    if complete:
        shutil.rmtree(parts)
    return _report_findings(study, results, page, arguments)


def _csv_and_page(study: AnyStudy, arguments: argparse.Namespace) -> tuple[Path, Path]:
    stem = arguments.out / study.stem(full=not arguments.quick)
    return stem.with_suffix(".csv"), stem.with_suffix(".md")


def _is_only_csv(study: AnyStudy, arguments: argparse.Namespace) -> bool:
    """Whether the results are there as a CSV, and not as stored runs."""
    return _csv_and_page(study, arguments)[0].exists() and not _parts(study, arguments).exists()


def _report_csv(study: AnyStudy, arguments: argparse.Namespace) -> dict[str, Any]:
    """Write the page again from its CSV: claims may be judged differently since."""
    from openfelt.core.errors import FileError
    from openfelt.core.files import MALFORMED

    table, page = _csv_and_page(study, arguments)
    try:
        results = study.read_csv(table.read_text(encoding="utf-8"))
        study.judge(results)
    except (OSError, *MALFORMED):
        raise FileError(f"{table} is not a CSV that {study.name} has written.") from None
    before = page.read_text(encoding="utf-8") if page.exists() else ""
    made = re.search("^Made by .*(?= All numbers:)", before, re.M)
    provenance = made[0] if made else "Written from the CSV."
    page = study.write(results, arguments.out, full=not arguments.quick, provenance=provenance)
    return _report_findings(study, results, page, arguments)


def _report_stored(study: AnyStudy, parts: Path | None, arguments: argparse.Namespace) -> dict[str, Any]:
    """Where the results are stored for a later command."""
    if not arguments.json:
        print(f"{study.title}\n  results so far: {parts}")
    return {"study": study.name, "parts": str(parts)}


def _report_findings(
    study: AnyStudy, results: Any, page: Path, arguments: argparse.Namespace
) -> dict[str, Any]:
    """Print the findings, or return them for JSON."""
    findings = study.judge(results)
    verdicts = {True: "holds", False: "DOES NOT HOLD", None: "undecided"}
    if not arguments.json:
        print(study.title)
        for each in findings:
            print(f"  {verdicts[each.holds]}: {each.claim}\n      measured: {each.measured}")
        print(f"  {page} (with .csv and .png)")
    facts = [
        {"claim": each.claim, "ours": each.ours, "here": each.measured, "holds": each.holds}
        for each in findings
    ]
    return {"study": study.name, "page": str(page), "findings": facts}


def _provenance(name: str, runs: int | None, arguments: argparse.Namespace, *more: str) -> str:
    """The command that reproduces the page, and the version that made it."""
    from openfelt.core.version import VERSION
    from openfelt.solve.run_folder import commit

    words = ["felt", "study", "run", name, *(["--quick"] if arguments.quick else [])]
    words += [*(["--runs", str(runs)] if runs else []), "--seed", str(arguments.seed), *more]
    return f"Made by `{shlex.join(words)}` (OpenFelt {VERSION}, commit {commit()[:10]})."
