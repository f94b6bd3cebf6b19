"""Studies: metrics, training runs, independence of threads, and the files of a study."""

from __future__ import annotations

import csv
import dataclasses
import importlib.util
import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from slow_twin import SlowGame
from speed import slow

import openfelt as felt
from openfelt.cli.app import main
from openfelt.core.cuda import why_no_gpu
from openfelt.core.files import read_sealed, write_sealed
from openfelt.games.game import CHANCE, TERMINAL
from openfelt.measure.exploitability import values_against
from openfelt.studies.holdem import gpu_equals_cpu, learning_curve as holdem_curve
from openfelt.studies.learning_study import LearningCurves, LearningStudy
from openfelt.studies.match_table import MatchTable
from openfelt.studies.metrics import cumulative_reward, first_seat_reward, mean_reward
from openfelt.studies.mm19.thesis_measure import thesis_exploitability
from openfelt.studies.pjl11 import table_1 as pjl11_holdem
from openfelt.studies.registry import STUDIES
from openfelt.studies.study import GPU, Study, every, spaced
from openfelt.studies.training_runs import TrainingRuns

CURVES = [name for name, study in STUDIES.items() if isinstance(study, LearningStudy)]
DOCS = Path(__file__).parent.parent / "docs" / "studies"
TABLES = [name for name, study in STUDIES.items() if isinstance(study, MatchTable)]


FAST = ("hs14-figure-2", "mm19-heinrich")


@pytest.mark.parametrize("name", [name if name in FAST else slow(name) for name in CURVES])
def test_every_study_runs_and_writes_its_page(name, tmp_path, monkeypatch):
    study = STUDIES[name].quick()
    for module in (gpu_equals_cpu, holdem_curve, pjl11_holdem):
        monkeypatch.setattr(module, "DEALS", 5_000)
    if study.requires == GPU and why_no_gpu():  # then the CPU stands in, for the sake of the page
        monkeypatch.setattr("openfelt.solve.solver.choose_device", lambda *_, **__: "cpu")
    episodes = study.quick_episodes[: 1 if study.by_clock else 2 if study.requires == GPU else 3]
    curves = TrainingRuns(study, None, runs=2, seed=0, episodes=episodes).train()
    page = study.write(curves, tmp_path, full=False, provenance="Made by a test.")
    assert page.name == f"{name}-quick.md"  # never in place of the full run
    text = page.read_text(encoding="utf-8")
    assert study.title in text
    assert "Made by a test." in text
    for found in study.findings(curves):
        assert f"| {found.claim} | {found.measured} |" in text
    assert (tmp_path / f"{name}-quick.png").read_bytes().startswith(b"\x89PNG")
    with (tmp_path / f"{name}-quick.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(len(each.lines) for each in study.solvers) * 2 * len(episodes)
    labels, measured = [label for each in study.solvers for label in each.labels], set()
    for panel in study.panels:
        tables = {label: curves.values[label, panel.metric] for label in labels}
        for label, table in tables.items():
            cells = [float(row[panel.metric]) for row in rows if row["learner"] == label]
            assert cells == pytest.approx(table.ravel().tolist(), rel=1e-4, nan_ok=True)
        own = {label for label, table in tables.items() if not np.isnan(table).all()}
        assert own == set(labels) or name == "gpu-equals-cpu"  # whose panels are of one game
        assert all(np.isfinite(tables[label]).all() for label in own)
        measured |= own
    assert measured == set(labels)


def test_threads_and_seeds():
    study = STUDIES["mm19-experiment-2"]
    one, two, other = (
        TrainingRuns(study, None, runs=3, seed=seed, episodes=(100, 1_000)).train(threads=threads)
        for threads, seed in ((1, 0), (2, 0), (1, 7))
    )
    for key, table in one.values.items():
        assert table.tobytes() == two.values[key].tobytes()
        assert table.tobytes() != other.values[key].tobytes()
        assert len(np.unique(table[:, -1])) == 3


def test_a_run_that_fails_ends_the_study():
    study = STUDIES["mm19-experiment-2"]
    broken = dataclasses.replace(
        study,
        solvers=(dataclasses.replace(study.solvers[0], make=lambda seed: felt.UCT("leduc", c=-1)),),
    )
    with pytest.raises(felt.FeltError, match="c must be"):
        TrainingRuns(broken, None, runs=2, seed=0, episodes=(10,)).train()


def test_finished_runs_are_stored_and_not_trained_again(tmp_path):
    study = STUDIES["pjl11-figure-4-kuhn"]
    runs = TrainingRuns(study, tmp_path / "parts", runs=2, seed=0, episodes=(100, 1_000))
    *rest, last = study.solvers
    assert not any(last.label in other.label for other in rest)
    assert (runs.unfinished(""), runs.count_left("")) == ([*rest, last], 2 * len(study.solvers))
    whole = dataclasses.replace(runs, folder=None).train()
    some = runs.train(only=last.label)
    assert {label for label, _ in some.values} == set(last.labels)
    assert some.has(last)
    assert not some.has(*study.solvers)
    assert (runs.unfinished(""), runs.count_left("")) == (rest, 2 * len(rest))
    assert runs.unfinished(last.label) == []
    broken = dataclasses.replace(last, make=lambda seed: felt.UCT("leduc", c=-1))
    runs = dataclasses.replace(runs, study=dataclasses.replace(study, solvers=(*rest, broken)))
    reported = []
    again = runs.train(threads=2, progress=reported.append)
    assert again.values.keys() == whole.values.keys()
    for key, table in whole.values.items():
        assert table.tobytes() == again.values[key].tobytes()
    assert sum(reported) == len(rest) * 2 * 1_000
    assert not runs.has_other_sources()
    for other in ({"seed": 1}, {"episodes": (100, 500)}, {"runs": 3}):  # of which some are missing
        with pytest.raises(felt.FeltError, match="c must be"):
            dataclasses.replace(runs, **other).train()
    (runs.folder / "mine.txt").write_text("mine")
    runs.remove()
    assert not any(runs.load(solver, run) for solver in study.solvers for run in range(2))
    assert (runs.folder / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[:50],
        lambda text: "",
        lambda text: "[]",
        lambda text: text.replace('"seed": ', '"seed": 1'),
        lambda text: text.replace('"episodes": [100, ', '"episodes": [101, '),
        lambda text: json.dumps(json.loads(text) | {"values": []}),
        lambda text: json.dumps(json.loads(text) | {"values": json.loads(text)["values"][:1]}),
    ],
)
def test_a_damaged_or_different_run_is_trained_again(change, tmp_path):
    runs = TrainingRuns(STUDIES["pjl11-figure-4-kuhn"], tmp_path, runs=1, seed=0, episodes=(100, 200))
    whole = runs.train()
    assert runs.count_left("") == 0
    for path in tmp_path.iterdir():
        path.write_text(change(path.read_text()))
    assert runs.count_left("") == 2
    again = runs.train()
    assert runs.count_left("") == 0
    assert all(table.tobytes() == again.values[key].tobytes() for key, table in whole.values.items())


def test_points():
    assert every(10, 40) == (10, 20, 30, 40)
    assert spaced(10, 1000, per_decade=2) == (10, 32, 100, 316, 1000)


def test_rewards_are_those_of_the_episodes():
    """Against a fixed opponent the reward tends to the value of the policy that is played."""
    solver = felt.UCT("leduc", c=18, opponent="random", seed=1).run(200_000)
    assert mean_reward(solver) == pytest.approx(cumulative_reward(solver) / 200_000)
    value = sum(values_against(solver.policy, felt.uniform_policy("leduc"))) / 2
    assert mean_reward(solver) == pytest.approx(value, abs=0.1)
    mirror = felt.UCT("leduc", c=18, seed=1).run(10_000)
    assert cumulative_reward(mirror) == pytest.approx(0, abs=1e-9)
    assert abs(first_seat_reward(mirror)) < 1


def test_curves():
    curves = LearningCurves((10, 20, 30), {("a", "m"): np.array([[3.0, 1.0, 2.0], [5.0, 3.0, 4.0]])})
    assert curves.end("a", "m") == 3.0
    assert curves.minimum("a", "m") == (2.0, 20)
    assert curves.summary("a", "m") == "3, 3 (2 to 4)"


def test_the_command(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["study", "list"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in STUDIES)
    assert main(["study", "run", "mm19-experiment-2", "--quick", "--runs", "1", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["page"] == "studies/mm19-experiment-2-quick.md"
    assert len(facts["findings"]) == 5
    page = (tmp_path / "studies" / "mm19-experiment-2-quick.md").read_text(encoding="utf-8")
    assert "`felt study run mm19-experiment-2 --quick --runs 1 --seed 0`" in page
    shared = ["study", "run", "pjl11-figure-4-kuhn", "--quick", "--runs", "1", "--out", "shared"]
    page = tmp_path / "shared" / "pjl11-figure-4-kuhn-quick.md"
    report = ["study", "report", *shared[2:]]
    assert main(report) == 2
    assert "No solver of pjl11-figure-4-kuhn has finished all its runs" in capsys.readouterr().err
    assert main([*shared, "--only", "MCCFR"]) == 0
    assert f"results so far: {Path('shared') / page.stem}.parts" in capsys.readouterr().out
    assert [path.suffix for path in (tmp_path / "shared").iterdir()] == [".parts"]
    assert main(report) == 0
    assert "Not measured yet: MCTS (C=2)." in page.read_text(encoding="utf-8")
    assert "holds" not in page.read_text(encoding="utf-8")
    for path in page.with_suffix(".parts").iterdir():
        facts = read_sealed(path)
        write_sealed(path, {**facts, "sources": "0" + facts["sources"]})
    assert main(shared) == 0
    assert "Not measured yet" not in page.read_text(encoding="utf-8")
    assert "made with other versions of the sources" in page.read_text(encoding="utf-8")
    assert {path.suffix for path in (tmp_path / "shared").iterdir()} == {".md", ".csv", ".png"}
    capsys.readouterr()
    assert main([*shared, "--only", "nobody"]) == 2
    assert "no solver with 'nobody' in its name" in capsys.readouterr().err
    assert main(["study", "run"]) == 2
    assert "Name a study" in capsys.readouterr().err
    assert main(["study", "run", "hs14-figure-3"]) == 2
    assert "hs14-figure-1" in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    assert main(["study", "run", "mm19-heinrich", "--out", "file"]) == 2  # at once, not after the learning
    assert "file" in capsys.readouterr().err
    assert main(["study", "run", "mm19-heinrich", "--runs", "1e18"]) == 2
    assert "at most 1000" in capsys.readouterr().err
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert main(["study", "run", "hs14-figure-1"]) == 2
    assert "pip install 'openfelt[plots]'" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_played_and_writes_its_page(name, tmp_path):
    """With simple players in place of the policies, which take a GPU to train."""
    study = STUDIES[name]
    cells = [
        dataclasses.replace(cell, bots=("always-raise", *["random"] * (len(cell.bots) - 1)))
        for cell in study.cells
    ]
    study = dataclasses.replace(study, cells=tuple(cells))
    reported: list[int] = []
    options = {"budget": 600, "seed": 0, "processes": 1, "parts": tmp_path / "parts"}
    results = study.run(**options, progress=reported.append)
    assert study.run(**options, progress=print) == results  # stored, and not played again
    assert sum(reported) == study.planned_work(600) == 600 * len(cells)
    page = study.write(results, tmp_path, full=False, provenance="Made by a test.").read_text()
    assert "Made by a test." in page
    for found in study.findings(results):
        assert f"| {found.claim} | {found.measured} |" in page
    assert (tmp_path / f"{name}-quick.png").read_bytes().startswith(b"\x89PNG")
    with (tmp_path / f"{name}-quick.csv").open(newline="") as file:
        rows = {(row["row"], row["column"]): row for row in csv.DictReader(file)}
    scale = {"mbb/h": 500.0, "sb/h": 0.5}[study.unit]
    for cell in cells:
        direct = felt.match(*cell.bots, hands=600).scores[0].won
        row = rows[cell.row, cell.column]
        assert float(row["won"]) == pytest.approx(direct.mean * scale, rel=1e-5)
        assert float(row["half_95"]) == pytest.approx(direct.interval() * scale, rel=1e-5)
        if cell.published:
            assert (float(row["paper"]), float(row["paper_half_68"])) == cell.published


def test_a_table_says_which_policy_is_missing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["study", "run", "hs14-table-2", "--quick"]) == 2
    error = capsys.readouterr().err
    assert "needs the policy runs/hs14/uct-s-k1" in error
    assert "make hs14-policies" in error
    assert main(["study", "report", "hs14-table-2"]) == 2
    assert "has no training runs" in capsys.readouterr().err


def can_be_read_back(study) -> bool:
    return type(study).read_csv is not Study.read_csv and getattr(study, "runs", 2) > 1


PAGES = sorted(name for name, study in STUDIES.items() if can_be_read_back(study))


@pytest.mark.parametrize("name", [PAGES[0], *(slow(name) for name in PAGES[1:])])
def test_committed_pages_are_those_of_their_csv_files(name, tmp_path):
    """So that a claim is never judged by other rules than those of the sources."""
    for suffix in (".csv", ".md"):
        shutil.copy(DOCS / f"{name}{suffix}", tmp_path)
    assert main(["study", "report", name, "--out", str(tmp_path)]) == 0
    for suffix in (".csv", ".md"):
        assert (tmp_path / f"{name}{suffix}").read_text() == (DOCS / f"{name}{suffix}").read_text()


def test_a_csv_of_another_study_gets_a_sentence(tmp_path, capsys):
    shutil.copy(DOCS / "hs14-figure-1.csv", tmp_path / "hs14-table-2.csv")
    assert main(["study", "report", "hs14-table-2", "--out", str(tmp_path)]) == 2
    assert "hs14-table-2.csv is not a CSV that hs14-table-2 has written" in capsys.readouterr().err
    shutil.copy(DOCS / "bots-cross-table.csv", tmp_path)
    assert main(["study", "report", "bots-cross-table", "--out", str(tmp_path)]) == 2
    assert "does not contain all that its page needs" in capsys.readouterr().err


def test_claims_of_the_cross_table_have_their_unit():
    cup = SimpleNamespace(
        unit=felt.load_game("holdem").winnings_unit, won=lambda *_: SimpleNamespace(mean=12.0, interval=5.0)
    )
    assert {finding.measured for finding in STUDIES["bots-cross-table"].judge(cup)} == {"+12.0 ± 5.0 mbb/h"}


def thesis_value(slow, policy, alike, history):
    """MM19 3.2.3: what is propagated to a history."""
    mover = slow.mover(history)
    if mover == TERMINAL:
        weights, payoffs = zip(*alike[history[1][1]], strict=True)
        return np.average(payoffs, weights=weights)
    children = [thesis_value(slow, policy, alike, child) for child in slow.children(history)]
    if mover == 0:
        shares = policy.at(0, " ".join(slow.information(history)[1]))
        return children[slow.actions(history).index(max(shares, key=shares.get))]
    return np.average(children, weights=slow.chance(history)) if mover == CHANCE else max(children)


def deals(slow, history, weight=1.0):
    """All terminal histories, with the probability of what chance dealt."""
    if slow.mover(history) == TERMINAL:
        yield history, weight
        return
    children = list(slow.children(history))
    shares = slow.chance(history) if slow.mover(history) == CHANCE else [1.0] * len(children)
    for child, share in zip(children, shares, strict=True):
        yield from deals(slow, child, weight * share)


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_the_measure_of_mm19_over_plain_histories(name):
    slow, alike = SlowGame(felt.load_game(name)), {}
    for history, weight in deals(slow, slow.root):  # by all that the second player has seen
        alike.setdefault(history[1][1], []).append((weight, slow.payoffs(history)[1]))
    for seed in range(3):
        policy = felt.random_policy(name, seed)
        found = thesis_exploitability(policy)
        assert found == pytest.approx(thesis_value(slow, policy, alike, slow.root))
        greedy = felt.UCT(name, seed=seed).run(200).greedy
        assert thesis_exploitability(greedy) == pytest.approx(thesis_value(slow, greedy, alike, slow.root))
