"""`felt study`."""

from __future__ import annotations

import argparse
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openfelt.cli.options import count, print_json, seed
from openfelt.core.devices import AUTO
from openfelt.core.errors import FeltError

if TYPE_CHECKING:
    from openfelt.studies.match_study import MatchStudy
    from openfelt.studies.study import Curves, Finding, Parts, Study

HELP = (
    "Reproduce a figure or experiment of a paper: run it, write its data (CSV), its plot (PNG) and a page\n"
    "(Markdown) that sets our figures beside the paper's. `felt study list` names them; `felt study run\n"
    "all` runs them one after the other, but for those that need an hour or a GPU."
)
EXAMPLES = [
    "felt study list",
    "felt study run hs14-figure-1",
    "felt study run mm19-heinrich --quick",
    "felt study run pjl11-figure-4-kuhn --runs 3 --out somewhere --threads 2",
    "felt study run gpu-equals-cpu --only GPU     (on one machine; the rest on another, with that --out)",
    "felt study report gpu-equals-cpu              (the page of what is finished)",
    "felt study run holdem-exploitability --only always --flops 20 --device cpu",
]
QUICK_RUNS, MOST_RUNS = 3, 1_000


def add_arguments(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    parser.add_argument(
        "what",
        choices=("list", "run", "report"),
        help="list the studies, run one, or write the page of those of its runs that are finished",
    )
    parser.add_argument("name", nargs="?", help="which study, or all")
    parser.add_argument("--quick", action="store_true", help="fewer episodes and runs: a look, in seconds")
    parser.add_argument("--runs", type=count, help="how often each learner learns (default: as the paper)")
    parser.add_argument("--out", type=Path, default=Path("studies"), help="a folder (default: studies)")
    parser.add_argument("--seed", type=seed, default=0, help="the seed of the first run; each has the next")
    parser.add_argument("--threads", type=count, default=1, help="how many runs at a time (default: 1)")
    parser.add_argument(
        "--only",
        default="",
        metavar="WORD",
        help="run only the learners or players with that in their names, and keep it for a later command",
    )
    parser.add_argument(
        "--keep",
        action="store_true",
        help="write no page, which needs matplotlib, and keep what was measured for a later command",
    )
    exact = parser.add_argument_group("of studies that measure exploitability in hold'em")
    exact.add_argument(
        "--flops",
        type=seed,
        metavar="N",
        help="estimate from N flops drawn at random; 0 for all (default: all on a GPU, 20 without)",
    )
    exact.add_argument("--device", help="cpu, cuda or auto (default: a GPU if there is one)")


def run(arguments: argparse.Namespace) -> None:
    from openfelt.core.files import prepare_folder
    from openfelt.plots.figure import require_matplotlib
    from openfelt.studies.registry import STUDIES, find_study
    from openfelt.studies.study import Study

    if arguments.what == "list":
        _list(arguments.json)
        return
    if not arguments.name:
        raise FeltError(f"Say which study to run: {', '.join(STUDIES)}, or all.")
    if arguments.runs and arguments.runs > MOST_RUNS:
        raise FeltError(f"--runs must be at most {MOST_RUNS}.")
    short = [name for name, study in STUDIES.items() if not study.needs]
    names = short if arguments.name == "all" else [arguments.name]
    studies = [_asked(find_study(name), arguments) for name in names]
    if not arguments.keep:
        require_matplotlib()
    prepare_folder(arguments.out)
    for study in studies:
        if isinstance(study, Study):
            _check(study, _parts(study, arguments), arguments)
        else:
            _check_played(study, arguments)
    results = [
        _run_one(study, arguments) if isinstance(study, Study) else _run_played(study, arguments)
        for study in studies
    ]
    if arguments.json:
        print_json(results[0] if arguments.name != "all" else {"studies": results})


def _asked(study: Study | MatchStudy, arguments: argparse.Namespace) -> Study | MatchStudy:
    """A study with what the command says of how to measure."""
    from openfelt.studies.holdem.exploit_study import ExploitStudy
    from openfelt.studies.study import NOBODY

    if not isinstance(study, ExploitStudy):
        if arguments.flops is not None or arguments.device:
            raise FeltError(f"--flops and --device are not for {study.name}.")
        return study
    if arguments.flops == 1:
        raise FeltError("An estimate needs two flops or more.")
    return replace(
        study,
        flops=arguments.flops,
        device=arguments.device or AUTO,
        only=NOBODY if arguments.what == "report" else arguments.only,
        say=lambda text: None if arguments.json else print(text, file=sys.stderr, flush=True),
    )


def _list(as_json: bool) -> None:
    from openfelt.studies.registry import STUDIES

    if as_json:
        print_json({name: study.title for name, study in STUDIES.items()})
        return
    width = max(map(len, STUDIES))
    for name, study in STUDIES.items():
        needs = f" (needs {study.needs})" if study.needs else ""
        print(f"{name:<{width}}  {study.title}{needs}")


def _parts(study: Study, arguments: argparse.Namespace) -> Parts:
    from openfelt.studies.report import report_name
    from openfelt.studies.study import Parts

    runs = arguments.runs or (min(QUICK_RUNS, study.runs) if arguments.quick else study.runs)
    episodes = study.quick_episodes if arguments.quick else study.episodes
    folder = arguments.out / f"{report_name(study, episodes)}.parts"
    return Parts(study, folder, runs, arguments.seed, episodes)


def _check(study: Study, parts: Parts, arguments: argparse.Namespace) -> None:
    """Find faults of the command before any work is done."""
    from openfelt.core.cuda import choose_device
    from openfelt.core.devices import CUDA

    if not any(arguments.only in contender.label for contender in study.contenders):
        raise FeltError(f"{study.name} has no learner with '{arguments.only}' in its name.")
    missing = parts.missing(arguments.only)
    if arguments.what == "report" and len(missing) == len(study.contenders):
        raise FeltError(f"There is no learner of {study.name} whose runs are all finished in {parts.folder}.")
    if arguments.what == "run" and any(contender.needs_gpu for contender in missing):
        choose_device(CUDA)


def _run_one(study: Study, arguments: argparse.Namespace) -> dict[str, Any]:
    from openfelt.studies.report import write_report

    parts = _parts(study, arguments)
    made_by = _made_by(study.name, parts.runs, arguments)  # now: the sources may change meanwhile
    curves = _follow(study, parts, arguments)
    if arguments.keep or (not curves.has(*study.contenders) and arguments.what == "run"):
        return _tell_kept(study, parts.folder, arguments)
    if parts.made_by_others():
        made_by += " Some of the runs were made by other versions of the sources."
    page = write_report(study, curves, arguments.out, made_by)
    if curves.has(*study.contenders):
        parts.remove()
    return _tell(study.name, study.title, page, study.found(curves), arguments)


def _check_played(study: MatchStudy, arguments: argparse.Namespace) -> None:
    from openfelt.studies.holdem.exploit_study import ExploitStudy

    in_part = isinstance(study, ExploitStudy)
    if arguments.runs or ((arguments.what == "report" or arguments.only) and not in_part):
        raise FeltError(f"{study.name} is played, not learned: there is only `felt study run {study.name}`.")
    if isinstance(study, ExploitStudy) and arguments.what == "run" and not study.chosen:
        raise FeltError(f"{study.name} has nobody with '{arguments.only}' in its name.")
    if arguments.what == "run":
        study.check()


def _run_played(study: MatchStudy, arguments: argparse.Namespace) -> dict[str, Any]:
    """Play the matches; those that are over are kept until all are."""
    import shutil

    from openfelt.cli.options import progress_bar
    from openfelt.studies.holdem.exploit_study import ExploitStudy

    hands = study.quick_hands if arguments.quick else study.hands
    parts = arguments.out / f"{study.name}{'-quick' if arguments.quick else ''}.parts"
    made_by = _made_by(study.name, None, arguments)  # now: the sources may change meanwhile
    planned = study.planned(hands)
    with progress_bar(not arguments.json) as bar:
        tell = bar(f"{study.name}: {planned:,} {study.work}")
        results = study.play(
            hands=hands,
            seed=arguments.seed,
            processes=arguments.threads,
            parts=parts,
            progress=lambda done: tell(done / max(1, planned)),
        )
    whole = study.is_whole(results)
    if arguments.keep or (not whole and arguments.what == "run"):
        return _tell_kept(study, parts, arguments)
    if isinstance(study, ExploitStudy):
        if not results:
            raise FeltError(f"Nothing of {study.name} is finished in {parts}.")
        made_by = _made_by(study.name, None, arguments, *study.words(results))
    page = study.write(results, arguments.out, full=not arguments.quick, made_by=made_by)
    if whole:
        shutil.rmtree(parts)
    return _tell(study.name, study.title, page, study.findings(results), arguments)


def _tell_kept(
    study: Study | MatchStudy, parts: Path | None, arguments: argparse.Namespace
) -> dict[str, Any]:
    """Where a later command will find it."""
    if not arguments.json:
        print(f"{study.title}\n  the runs so far are in {parts}")
    return {"study": study.name, "parts": str(parts)}


def _tell(
    name: str, title: str, page: Path, findings: list[Finding], arguments: argparse.Namespace
) -> dict[str, Any]:
    """What was found, on the screen and for JSON."""
    if not arguments.json:
        print(title)
        for found in findings:
            print(f"  {'holds' if found.holds else 'DOES NOT HOLD'}: {found.paper}\n      here: {found.ours}")
        print(f"  {page} (with .csv and .png)")
    facts = [{"paper": found.paper, "here": found.ours, "holds": found.holds} for found in findings]
    return {"study": name, "page": str(page), "findings": facts}


def _follow(study: Study, parts: Parts, arguments: argparse.Namespace) -> Curves:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from openfelt.studies.study import NOBODY, follow

    if arguments.what == "report":
        return follow(parts, only=NOBODY)
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} episodes"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=arguments.json,
    ) as bar:
        task = bar.add_task(study.name, total=parts.left(arguments.only) * parts.episodes[-1])
        return follow(
            parts,
            threads=arguments.threads,
            only=arguments.only,
            progress=lambda done: bar.advance(task, done),
        )


def _made_by(name: str, runs: int | None, arguments: argparse.Namespace, *more: str) -> str:
    """The command that makes the same figures again, and the version that made these."""
    from openfelt.core.version import VERSION
    from openfelt.solve.run_folder import commit

    words = ["felt", "study", "run", name, *(["--quick"] if arguments.quick else [])]
    words += [*(["--runs", str(runs)] if runs else []), "--seed", str(arguments.seed), *more]
    return f"Made by `{shlex.join(words)}` (OpenFelt {VERSION}, commit {commit()[:10]})."
