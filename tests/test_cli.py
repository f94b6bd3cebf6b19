"""The command `felt`: what it prints, what it writes, and what it says when something is wrong."""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import math
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest
from speed import slow

import openfelt as felt
from openfelt.cli.app import COMMANDS, main
from openfelt.cli.options import count
from openfelt.core import files
from openfelt.solve.registry import SOLVERS


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "openfelt", *words]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_overview_names_every_command(capsys):
    assert main([]) == 0
    text = capsys.readouterr().out
    assert all(name in text for name in COMMANDS)
    assert main(["--version"]) == 0
    assert felt.__version__ in capsys.readouterr().out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name, capsys):
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert "examples:" in text
    assert f"felt {name}" in text
    assert "--json" in text


def test_help_of_train_lists_the_parameters_of_the_solver(capsys):
    for solver, there in (("dcfr", True), ("cfr+", False)):
        with pytest.raises(SystemExit):
            main(["train", "leduc", "--solver", solver, "--help"])
        assert ("--alpha" in capsys.readouterr().out.split("examples:")[0]) == there


def test_games(capsys):
    assert main(["games", "kuhn", "leduc", "--json"]) == 0
    games = json.loads(capsys.readouterr().out)["games"]
    sizes = {"players": 2, "infosets": 288, "histories": 1939}
    assert games[1] == {"game": "leduc", **sizes, "unit": "chips", "checked": False}
    assert main(["games", "kuhn", "--check", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["games"][0]["checked"]
    assert main(["games", "kuhn", "--check"]) == 0
    assert "recall is perfect" in " ".join(capsys.readouterr().out.split())
    assert main(["games"]) == 0
    assert "princess_monster(rows, columns, horizon)" in capsys.readouterr().out


def test_train_exploit_and_resume(capsys, tmp_path):
    assert main(["train", "leduc", "--solver", "pcfr+", "--until", "1e-4", "--out", "run", "--json"]) == 0
    learned = json.loads(capsys.readouterr().out)
    assert learned["exploitability"] <= 1e-4
    assert learned["nash_conv"] == pytest.approx(2 * learned["exploitability"])
    assert learned["values"][0] == pytest.approx(-0.0856064, abs=1e-4)
    assert {"seconds", "iterations", "unit", "game", "solver"} <= set(learned)

    assert main(["exploit", "run", "--json"]) == 0
    measured = json.loads(capsys.readouterr().out)
    assert measured["nash_conv"] == pytest.approx(learned["nash_conv"], abs=1e-12)
    assert measured["equilibrium_values"][0] == pytest.approx(-0.0856064240, abs=1e-8)
    assert (measured["iterations"], measured["seconds"]) == (learned["iterations"], learned["seconds"])

    settings = tomllib.loads((tmp_path / "run" / "run.toml").read_text())
    assert (settings["game"], settings["solver"]) == ("leduc", "pcfr+")
    assert {"openfelt", "numba", "commit"} <= set(settings["versions"])
    assert settings["budget"] == {"until": 1e-4}
    with (tmp_path / "run" / "metrics.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert float(rows[-1]["nash_conv"]) == pytest.approx(learned["nash_conv"])
    assert float(rows[0]["nash_conv"]) > 1

    assert (
        main(
            [
                "train",
                "leduc",
                "--solver",
                "pcfr+",
                "--iterations",
                "10",
                "--out",
                "run",
                "--resume",
                "--json",
            ]
        )
        == 0
    )
    assert json.loads(capsys.readouterr().out)["iterations"] == learned["iterations"] + 10
    whole = felt.PCFRPlus("leduc").run(learned["iterations"] + 10)
    np.testing.assert_array_equal(felt.load_policy("run/policy").probabilities, whole.probabilities)
    with (tmp_path / "run" / "metrics.csv").open() as file:
        assert len(list(csv.DictReader(file))) == len(rows) + 1


def test_text_carries_units_and_definitions(capsys):
    assert main(["train", "kuhn", "--solver", "lp"]) == 0
    text = capsys.readouterr().out
    assert "nash_conv / 2 players" in text
    assert "chips per game" in text
    assert "saved in runs/kuhn-lp" in text
    assert main(["exploit", "runs/kuhn-lp", "--greedy"]) == 0
    text = capsys.readouterr().out
    assert "-0.0555556 chips per game (exact, by linear program)" in text
    assert "dominated actions" in text
    assert main(["train", "kuhn", "--solver", "lp"]) == 0
    assert "saved in runs/kuhn-lp-2" in capsys.readouterr().out


@pytest.mark.slow
def test_three_players_and_other_units(capsys):
    assert main(["train", "kuhn(players=3)", "--iterations", "50", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["values"]) == 3
    assert main(["train", "princess_monster(2,2,3)", "--iterations", "50", "--out", "pm"]) == 0
    assert "steps per game" in capsys.readouterr().out
    assert main(["exploit", "pm"]) == 0


def test_export(capsys):
    assert main(["export", "kuhn", "kuhn.efg"]) == 0
    assert "58 nodes" in capsys.readouterr().out
    assert main(["train", "kuhn.efg", "--solver", "lp", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["values"][0] == pytest.approx(-1 / 18)


def test_demo(capsys, monkeypatch):
    from openfelt.cli import demo

    monkeypatch.setattr(demo, "SECONDS", 0.2)
    assert main(["demo"]) == 0
    text = capsys.readouterr().out
    for words in ("equilibrium value of player 0: -0.0856064", "hand 3", "play --bot runs/leduc-demo"):
        assert words in text


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["trane"], "did you mean 'train'"),
        (["train"], "required: game"),
        (["train", "ledoc", "--iterations", "5"], "did you mean 'leduc'"),
        (["train", "kuhn(pot=-1)", "--iterations", "5"], "pot must be more than 0"),
        (["train", "leduc", "--solver", "pcfr++", "--iterations", "5"], "did you mean 'pcfr+'"),
        (["train", "leduc", "--resume"], "--resume needs --out"),
        (["plot", "."], "no run in ."),
        (["plot", "runs", "--level", "x"], "not a name and a positive value"),
        (["train", "leduc", "--iterations", "5", "--solver"], "expected one argument"),
        (
            ["train", "leduc", "--iterations", "5", "--threads", "1e9"],
            "threads must be a whole number from 1 to 256",
        ),
        (["train", "leduc", "--iterations", "5", "--out", "."], "holds other files"),
        (["games", f"one_card({'9' * 400})"], "whole number"),
        (["games", "goofspiel(8)"], "histories; at most"),
        (["games", "bluff(2,2,6)"], "at most 20, not 24"),
        (["train", "leduc", "--iterations", "-5"], "whole number of 1 or more"),
        (["train", "leduc", "--iterations", "2.5"], "whole number of 1 or more"),
        (["train", "leduc", "--seconds", "-1"], "number above 0"),
        (["train", "leduc", "--until", "nan"], "number above 0"),
        (["train", "leduc", "--seed", "x", "--iterations", "5"], "whole number of 0 or more"),
        (["train", "leduc", "--iterations", "5", "--alpha", "2"], "nrecognized arguments: --alpha"),
        (["train", "leduc", "--solver", "dcfr", "--gamma", "-2", "--iterations", "5"], "gamma must be"),
        (["train", "leduc", "--iterations", "5", "--resume"], "--resume needs --out"),
        (["train", "leduc", "--iterations", "5", "--resume", "--out", "none"], "no run in none"),
        (["train", "kuhn(players=3)", "--solver", "lp"], "two-player zero-sum"),
        (["exploit", "nowhere"], "no run or policy at nowhere"),
        (["exploit", "."], "no policy in ."),
        (["demo", "--out", "."], "holds other files"),
        (["export", "kuhn", "kuhn.txt"], "must end in .efg"),
        (["export", "kuhn", "no/such/folder/kuhn.efg"], "could not be written"),
        (["play", "kuhn", "--bot", "nowhere"], "There is no bot 'nowhere'"),
        (["games", "princess_monster(4,4,20)"], "histories; at most"),
    ],
)
def test_bad_input_is_one_sentence_and_code_2(words, says, capsys, tmp_path):
    (tmp_path / "mine.txt").write_text("in the way")
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert says in captured.err
    assert captured.err.startswith("felt: ")
    assert captured.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_game_too_large_for_efg(capsys, monkeypatch):
    from openfelt.games.compile import export_efg

    monkeypatch.setattr(export_efg, "MOST_NODES", 50)
    assert main(["export", "kuhn", "kuhn.efg"]) == 2
    assert "at most 50 can be written" in capsys.readouterr().err


def test_a_run_is_never_overwritten(capsys):
    assert main(["train", "kuhn", "--solver", "dcfr", "--iterations", "20", "--out", "run"]) == 0
    before = {path: path.read_bytes() for path in sorted(os_walk("run"))}
    for words, says in (
        (["kuhn", "--solver", "dcfr"], "already holds a run"),
        (["leduc", "--solver", "dcfr", "--resume"], "game kuhn, not leduc"),
        (["kuhn", "--solver", "cfr+", "--resume"], "solver dcfr, not cfr+"),
        (["kuhn", "--solver", "dcfr", "--alpha", "2", "--resume"], "with alpha 1.5, not 2.0"),
    ):
        capsys.readouterr()
        assert main(["train", *words, "--iterations", "5", "--out", "run"]) == 2
        assert says in capsys.readouterr().err
    assert before == {path: path.read_bytes() for path in sorted(os_walk("run"))}


def os_walk(folder):
    return [path for path in Path(folder).rglob("*") if path.is_file()]


def test_files_of_others_are_never_touched(capsys, tmp_path):
    for name in ("proj/policy/weights.npy", "proj/metrics.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("mine")
    assert main(["train", "kuhn", "--iterations", "5", "--out", "proj"]) == 2
    assert "holds other files" in capsys.readouterr().err
    assert [path.read_text() for path in os_walk("proj")] == ["mine", "mine"]


def test_a_run_that_lost_its_settings_is_not_overwritten(capsys, tmp_path):
    assert main(["train", "leduc", "--iterations", "20", "--out", "run"]) == 0
    (tmp_path / "run" / "run.toml").unlink()
    before = {path: path.read_bytes() for path in sorted(os_walk("run"))}
    assert main(["train", "kuhn", "--iterations", "1", "--out", "run"]) == 2
    assert "holds other files" in capsys.readouterr().err
    assert before == {path: path.read_bytes() for path in sorted(os_walk("run"))}
    (tmp_path / "proj" / "checkpoint").mkdir(parents=True)
    (tmp_path / "proj" / "metrics.csv").write_text("mine")
    assert main(["train", "kuhn", "--iterations", "1", "--out", "proj"]) == 2
    assert (tmp_path / "proj" / "metrics.csv").read_text() == "mine"


def test_a_gambit_file_that_moved(capsys, tmp_path):
    assert main(["export", "kuhn", "old.efg"]) == 0
    assert main(["train", "old.efg", "--solver", "lp", "--out", "run"]) == 0
    (tmp_path / "old.efg").rename(tmp_path / "new.efg")
    assert main(["exploit", "run"]) == 2
    assert "cannot be read" in capsys.readouterr().err
    assert main(["exploit", "run", "--game", "new.efg"]) == 0
    assert "new.efg" in capsys.readouterr().out
    assert main(["exploit", "run", "--game", "leduc"]) == 2
    assert "does not match leduc" in capsys.readouterr().err


def test_nothing_to_decide(capsys, tmp_path):
    (tmp_path / "none.efg").write_text(
        'EFG 2 R "x" { "one" "two" }\nc "" 1 "" { "a" 1/2 "b" 1/2 } 0\nt "" 1 "" { 1, -1 }\nt "" 0\n'
    )
    assert main(["train", "none.efg", "--iterations", "1", "--out", "run"]) == 0
    assert main(["exploit", "run"]) == 0
    capsys.readouterr()
    for words in (
        ["play", "--terminal", "--bot", "run"],
        ["play", "--terminal", "none.efg"],
        ["train", "none.efg", "--solver", "lp"],
    ):
        assert main(words) == 2
        assert "has no decisions" in capsys.readouterr().err


def test_a_run_that_has_met_its_target_learns_no_more(capsys):
    words = ["train", "leduc", "--until", "1e-2", "--out", "run", "--json"]
    assert main(words) == 0
    learned = json.loads(capsys.readouterr().out)["iterations"]
    assert main([*words, "--resume"]) == 0
    assert json.loads(capsys.readouterr().out)["iterations"] == learned


def test_infinite_parameters_are_json(capsys):
    words = ["train", "kuhn", "--solver", "dcfr", "--alpha", "inf", "--iterations", "5", "--json"]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert json.loads(out, parse_constant=lambda word: pytest.fail(word))["parameters"]["alpha"] == "inf"


def test_names_with_brackets_and_other_letters(capsys):
    for stem in ("[bold]", "😀"):
        assert main(["export", "kuhn", f"{stem}.efg"]) == 0
        assert main(["games", f"{stem}.efg"]) == 0
        assert stem in capsys.readouterr().out
        assert main(["train", f"{stem}.efg", "--iterations", "5", "--out", stem]) == 0
        assert main(["exploit", stem]) == 0
        assert main(["train", f"{stem}.efg", "--iterations", "5", "--out", stem, "--resume"]) == 0


def test_a_fault_in_the_extras_does_not_take_the_result(capsys, monkeypatch):
    from openfelt.solve import sequence_lp

    assert main(["train", "kuhn", "--iterations", "5", "--out", "run"]) == 0
    monkeypatch.setattr(sequence_lp, "solve_program", lambda *_: raise_error(felt.FeltError("No solution.")))
    capsys.readouterr()
    assert main(["exploit", "run"]) == 0
    text = capsys.readouterr().out
    assert "nash_conv" in text
    assert "No solution." in text


def raise_error(error):
    raise error


@pytest.mark.slow
def test_a_checkpoint_that_fails_midway_is_a_warning(capsys, monkeypatch):
    """The disk is full for a while; learning goes on, and the end is saved."""
    from openfelt.cli import learning, train
    from openfelt.solve.run_folder import RunFolder

    save, times = RunFolder.save, []

    def sometimes(self, solver, budget=None):
        times.append(solver.iterations)
        if len(times) == 2:
            raise felt.FileError("No room.")
        save(self, solver, budget)

    monkeypatch.setattr(RunFolder, "save", sometimes)
    monkeypatch.setattr(train, "CHECKPOINT_EVERY", 0.0)
    monkeypatch.setattr(learning, "SAVING_SHARE", math.inf)
    assert main(["train", "kuhn", "--iterations", "3000", "--out", "run", "--json"]) == 0
    captured = capsys.readouterr()
    assert "No room." in captured.err
    assert len(times) > 2
    assert json.loads(captured.out)["iterations"] == 3000
    assert main(["exploit", "run"]) == 0


def test_exploit_tells_the_iterations_of_the_policy(capsys, tmp_path):
    """Also of a run that was killed between two measurements."""
    from openfelt.solve.run_folder import RunFolder

    solver = felt.CFR("kuhn").run(1000)
    RunFolder(tmp_path / "run").save(solver, {"iterations": 2000})
    solver._timed(40)
    RunFolder(tmp_path / "run").save(solver)
    assert main(["exploit", "run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["iterations"] == 1040


def test_no_memory(capsys, monkeypatch):
    from openfelt.games.compile import compiler

    monkeypatch.setattr(compiler, "explore", lambda _: raise_error(MemoryError()))
    assert main(["games", "kuhn(pot=77)"]) == 2
    assert "out of memory" in capsys.readouterr().err


def test_bench_reports_ratios(capsys, tmp_path):
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "fake_one.py").write_text(
        "from dataclasses import dataclass, field\n"
        "@dataclass\nclass Result:\n"
        "    what: str = 'walking'\n    unit: str = 'steps/s'\n    ours: float = 300.0\n"
        "    peers: dict = field(default_factory=lambda: {'snail': 3.0})\n"
        "    goals: dict = field(default_factory=lambda: {'snail': 50.0, 'hare': 2.0})\n    note: str = ''\n"
        "def run():\n    yield Result()\n"
    )
    words = ["bench", "fake_one", "--folder", str(tmp_path / "benchmarks")]
    assert main([*words, "--out", "out/r.json"]) == 0
    text = capsys.readouterr().out
    assert "100 times snail (3 steps/s) (goal: 50, met)" in text
    assert "hare: not installed" in text
    assert json.loads((tmp_path / "out" / "r.json").read_text())["results"][0]["ratios"] == {"snail": 100.0}
    assert main(["bench", "nothing", "--folder", str(tmp_path / "benchmarks")]) == 2
    assert "known: fake_one" in capsys.readouterr().err
    assert main(["bench", "--folder", str(tmp_path / "none")]) == 2
    assert "no benchmarks" in capsys.readouterr().err


def test_bench_adds_games_to_a_file(capsys, tmp_path):
    (tmp_path / "games.py").write_text(
        "from dataclasses import make_dataclass\n"
        "Result = make_dataclass('Result', ['what', 'unit', 'ours', 'peers', 'goals', 'note'])\n"
        "def run(games=('kuhn', 'leduc')):\n"
        "    yield from (Result(game, 'steps/s', float(len(games)), {}, {}, '') for game in games)\n"
    )
    (tmp_path / "other.py").write_text("def run(): pass\n")
    out = tmp_path / "results.json"
    words = ["bench", "games", "--folder", str(tmp_path), "--out", str(out)]

    def measured():
        return {row["what"]: row["ours"] for row in json.loads(out.read_text())["results"]}

    assert main(words) == 0
    assert measured() == {"kuhn": 2.0, "leduc": 2.0}
    assert main([*words, "--games", "leduc"]) == 0
    assert measured() == {"kuhn": 2.0, "leduc": 1.0}
    before = out.read_text().replace('"python": "', '"python": "0')
    out.write_text(before)
    assert main([*words, "--games", "leduc"]) == 2
    assert "another benchmark, machine or version" in capsys.readouterr().err
    assert out.read_text() == before
    out.write_text("[]")
    assert main([*words, "--games", "leduc"]) == 2
    assert "not a file of results" in capsys.readouterr().err
    assert main(["bench", "other", "--folder", str(tmp_path), "--games", "leduc"]) == 2
    assert "no games to choose from" in capsys.readouterr().err


def test_what_a_file_says_does_not_control_the_terminal(capsys, tmp_path):
    (tmp_path / "x.game").write_text("\x1b[2Jlimit\n")
    assert main(["acpc", "deal", "--definition", "x.game", "--hands", "1"]) == 2
    error = capsys.readouterr().err
    assert "\x1b" not in error
    assert r"'\x1b[2Jlimit' is not a line" in error
    assert main(["games", "kuhn" * 5000]) == 2
    assert len(capsys.readouterr().err) < 6000


def test_a_damaged_run_says_so(capsys, tmp_path):
    assert main(["train", "kuhn", "--iterations", "20", "--out", "run"]) == 0
    capsys.readouterr()
    (tmp_path / "run" / "run.toml").write_text("game = ")
    assert main(["exploit", "run"]) == 2
    assert "damaged" in capsys.readouterr().err
    (tmp_path / "run" / "run.toml").write_text('game = "kuhn"\nsolver = "pcfr+"\nseed = "x"\n[parameters]\n')
    assert main(["train", "kuhn", "--iterations", "20", "--out", "run", "--resume"]) == 2
    assert "damaged" in capsys.readouterr().err


def test_resume_verifies_the_metrics(capsys, tmp_path):
    words = ["train", "kuhn", "--solver", "cfr+", "--iterations", "20", "--out", "run"]
    assert main(words) == 0
    path = tmp_path / "run" / "metrics.csv"
    whole = path.read_text()
    assert len(whole.splitlines()) > 4
    path.write_text(whole.replace("0.", "1.", 1))
    assert main([*words, "--resume"]) == 2
    assert "metrics.csv was changed after it was saved; delete it" in capsys.readouterr().err
    path.write_text("".join(whole.splitlines(keepends=True)[:-2]))  # as a kill before its last save leaves it
    assert main([*words, "--resume"]) == 0
    assert path.read_text().startswith(whole)
    path.unlink()
    before = felt.CFRPlus("kuhn")
    before.resume(tmp_path / "run" / "checkpoint")
    assert main([*words, "--resume"]) == 0
    assert path.read_text().startswith(whole)
    assert len(path.read_text().splitlines()) > len(before.measurements) + 1


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"iterations": "many"}, "counts or measurements"),
        ({"seconds": -1.0}, "counts or measurements"),
        ({"measurements": [[1, 2]]}, "counts or measurements"),
        ({"measurements": [[1, 0.5, "x", 1.0]]}, "counts or measurements"),
        ({"seed": 5}, "names the seed 0, its checkpoint 5"),
    ],
)
def test_resume_refuses_a_hostile_checkpoint(change, says, capsys, tmp_path):
    words = ["train", "kuhn", "--solver", "cfr+", "--iterations", "2", "--out", "run"]
    assert main(words) == 0
    path = tmp_path / "run" / "checkpoint" / "manifest.json"
    manifest = json.loads(path.read_text()) | change
    path.write_text(json.dumps(manifest | {"seal": files._seal(manifest)}))
    capsys.readouterr()
    assert main([*words, "--resume"]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, slow(signal.SIGTERM)])
def test_a_stop_in_the_middle_saves_what_was_learned(number, tmp_path):
    process = subprocess.Popen(
        command("train", "leduc", "--solver", "cfr+", "--iterations", "1e9", "--out", "run"),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_for(tmp_path / "run" / "metrics.csv")
    time.sleep(1.0)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "stopped after" in out
    assert "saved in run" in out
    assert "Traceback" not in err
    again = felt.CFRPlus("leduc")
    again.resume(tmp_path / "run" / "checkpoint")
    assert again.iterations > 0
    assert (
        again.probabilities.tobytes() == felt.CFRPlus("leduc").run(again.iterations).probabilities.tobytes()
    )


def test_sigkill_leaves_the_last_checkpoint(tmp_path):
    """Checkpoints are written all the time here, and the process is killed somewhere in between."""
    script = (
        "import openfelt as felt\n"
        "solver = felt.CFRPlus('leduc')\n"
        "while True:\n    solver.run(10)\n    solver.save('checkpoint')\n"
    )
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", script])
        wait_for(tmp_path / "checkpoint" / "manifest.json")
        time.sleep(0.5)
        process.kill()
        process.wait()
        solver = felt.CFRPlus("leduc")
        solver.resume(tmp_path / "checkpoint")
        assert (
            solver.probabilities.tobytes()
            == felt.CFRPlus("leduc").run(solver.iterations).probabilities.tobytes()
        )


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["smooth-uct", slow("outcome-mccfr"), slow("external-mccfr")])
def test_killed_and_resumed_is_the_same_to_the_bit(solver, tmp_path):
    """A training is killed in the midst of it; resumed, it ends with the tables of one that was not."""
    command = [sys.executable, "-m", "openfelt", "train", "leduc", "--solver", solver, "--seed", "5"]
    begin = [*command, "--out", "killed", "--seconds", "60", "--checkpoint", "0.2", "--json"]
    process = subprocess.Popen(begin, stdout=subprocess.DEVNULL, cwd=tmp_path)
    manifest = tmp_path / "killed" / "checkpoint" / "manifest.json"
    begun = time.monotonic()
    while not (manifest.exists() and json.loads(manifest.read_text())["iterations"]):
        assert time.monotonic() - begun < 60
        time.sleep(0.02)
    process.kill()
    process.wait()
    saved = json.loads(manifest.read_text())["iterations"]
    resume = [*command, "--out", "killed", "--resume", "--iterations", "5000", "--json"]
    subprocess.run(resume, stdout=subprocess.DEVNULL, check=True, cwd=tmp_path)
    killed, whole = (SOLVERS[solver]("leduc", seed=5) for _ in range(2))
    killed.resume(tmp_path / "killed" / "checkpoint")
    whole.run(saved + 5000)
    assert killed.iterations == saved + 5000
    for name, table in whole.tables().items():
        assert table.tobytes() == killed.tables()[name].tobytes(), name


def wait_for(path, seconds=60.0):
    begun = time.monotonic()
    while not path.exists():
        assert time.monotonic() - begun < seconds
        time.sleep(0.05)


@pytest.mark.slow
def test_a_disk_without_room(tmp_path):
    """The system refuses files of over 2 kB: one sentence, and nothing half-written."""

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))

    def train(preexec_fn=None, **environment):
        return subprocess.run(
            command("train", "leduc", "--iterations", "10", "--out", "run"),
            capture_output=True, text=True, preexec_fn=preexec_fn, timeout=120,
            env={**os.environ, **environment},
        )  # fmt: skip

    assert train().returncode == 0
    shutil.rmtree(tmp_path / "run")
    for environment, says in (  # the policy has no room; not even the compiled kernels have
        ({}, "run/checkpoint could not be written (is the disk full?"),
        ({"NUMBA_CACHE_DIR": str(tmp_path / "none-yet")}, "could not be read or written (File too large)"),
    ):
        done = train(limit, **environment)
        assert done.returncode == 2, done.stderr
        assert says in done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert not list(tmp_path.rglob("*.part"))


def test_import_brings_nothing_heavy():
    """`import openfelt` and `felt --help` load neither numba nor scipy."""
    script = (
        "import sys, openfelt; from openfelt.cli.app import main; main(['--help'])\n"
        "assert not {'numba', 'scipy', 'numpy', 'rich'} & set(sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True).returncode == 0


@pytest.mark.slow
def test_the_second_command_does_not_compile_again(tmp_path):
    """The compiled kernels are kept: a second process finds all; the first tells a terminal."""
    words = ["train", "kuhn", "--solver", "pcfr+", "--iterations", "50", "--json"]
    folder = tmp_path / "cache"
    environment = {**os.environ, "OPENFELT_CACHE": str(folder), "NUMBA_DEBUG_CACHE": "1"}
    del environment["NUMBA_CACHE_DIR"]  # which conftest.py sets, and few users do

    def run():
        ours, terminal = os.openpty()
        done = subprocess.run(
            command(*words), env=environment, stdout=subprocess.PIPE, stderr=terminal, text=True, check=True
        )
        os.close(terminal)
        lines: list[str] = []
        with open(ours, errors="replace") as shown, contextlib.suppress(OSError):  # raised at the end
            lines.extend(shown)
        return done.stdout, "".join(lines)

    first, told = run()
    assert told.count("Compiling kernels; later runs load them from the cache.\n") == 1
    assert "data saved" in first
    assert list((folder / "openfelt-kernels").rglob("*.nbc"))
    second, told = run()
    assert "Compiling kernels" not in told
    assert "data loaded" in second
    assert "data saved" not in second


def test_help_lists_the_parameters_of_the_solver_alone(capsys):
    def flags(solver):
        with pytest.raises(SystemExit):
            main(["train", "leduc", "--solver", solver, "--help"])
        text = capsys.readouterr().out
        after = text.partition(f"parameters of {solver}:")[2].partition("examples:")[0]
        return {word for word in after.split() if word.startswith("--")}

    assert flags("smooth-uct") == {
        *("--c", "--k", "--rollout", "--opponent"),
        *("--schedule", "--gamma", "--eta0", "--d", "--threshold", "--below"),
    }
    assert flags("uct") == {"--c", "--k", "--rollout", "--opponent"}
    assert flags("outcome-mccfr") == {"--epsilon", "--baseline", "--offset"}
    assert flags("external-mccfr") == set()


def test_training_by_episodes_and_going_on(capsys, tmp_path):
    train = ["train", "leduc", "--solver", "smooth-uct", "--c", "18", "--out", "run", "--json"]
    assert main([*train, "--episodes", "2e3", "--schedule", "visits"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["iterations"] == 2000
    assert facts["parameters"]["schedule"] == "visits"
    before = {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()}
    for change, words in (
        (["--schedule", "decay"], "schedule visits, not decay"),
        (["--schedule", "visits", "--threshold", "3"], "threshold 0.0, not 3.0"),
        (["--schedule", "visits", "--opponent", "random"], "opponent self, not random"),
    ):
        assert main([*train, "--episodes", "1e3", "--resume", *change]) == 2
        assert words in capsys.readouterr().err
    assert main(["train", "kuhn", *train[2:], "--episodes", "5", "--resume", "--schedule", "visits"]) == 2
    assert "game leduc, not kuhn" in capsys.readouterr().err
    assert before == {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()}
    assert main([*train, "--episodes", "1e3", "--resume", "--schedule", "visits", "--threads", "2"]) == 0
    assert json.loads(capsys.readouterr().out)["iterations"] == 3000


def test_regret_solvers_resume_with_the_same_number_of_threads(capsys, tmp_path):
    train = ["train", "leduc", "--solver", "external-mccfr", "--out", "run", "--iterations", "200"]
    assert main([*train, "--threads", "2"]) == 0
    assert main([*train, "--threads", "2", "--resume"]) == 0
    capsys.readouterr()
    assert main([*train, "--resume"]) == 2
    assert "holds 2 learners, one per thread" in capsys.readouterr().err


def test_greedy_and_average_policies_of_a_run(capsys, tmp_path):
    opponent = ["--opponent", "random"]
    assert main(["train", "leduc", "--solver", "uct", "--episodes", "3e4", "--out", "run", *opponent]) == 0
    assert "against the opponent, by seat: greedy policy" in capsys.readouterr().out
    found = {}
    for flags in ([], ["--greedy"]):
        assert main(["exploit", "run", "--json", *flags]) == 0
        found[tuple(flags)] = json.loads(capsys.readouterr().out)["nash_conv"]
    solver = felt.UCT("leduc", opponent="random").run(30_000)
    assert found[()] == felt.exploitability(solver.policy).nash_conv
    assert found[("--greedy",)] == felt.exploitability(solver.greedy).nash_conv
    again = ["train", "leduc", "--solver", "uct", "--episodes", "1e3", "--out", "next", "--opponent", "run"]
    assert main(again) == 0


def test_a_run_of_which_only_the_policy_is_saved(capsys, tmp_path):
    train = ["train", "kuhn", "--solver", "smooth-uct", "--episodes", "500", "--out", "run", "--json"]
    assert main([*train, "--policy-only"]) == 0
    assert json.loads(capsys.readouterr().out)["iterations"] == 500
    assert {path.name for path in (tmp_path / "run").iterdir()} == {
        *("run.toml", "metrics.csv", "policy", "greedy"),
    }
    whole = felt.SmoothUCT("kuhn").run(500)
    assert felt.load_policy("run").probabilities.tobytes() == whole.probabilities.tobytes()
    assert main(["exploit", "run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["iterations"] == 500
    before = {path: path.read_bytes() for path in os_walk("run")}
    for more, says in (
        ([], "run already holds a run; name another folder"),
        (["--resume"], "no checkpoint to resume from"),
        (["--resume", "--policy-only"], "--resume needs a checkpoint"),
    ):
        assert main([*train, *more]) == 2
        assert says in capsys.readouterr().err
    assert before == {path: path.read_bytes() for path in os_walk("run")}


@pytest.mark.parametrize(
    ("text", "number"), [("7", 7), ("1e6", 10**6), ("1.5e3", 1500), (str(2**63 - 1), 2**63 - 1)]
)
def test_counts_are_read_exactly(text, number):
    assert count(text) == number


@pytest.mark.parametrize("text", ["0", "-3", "1.5", "nan", "inf", "x", "", "1e66", "1e999999999", str(2**63)])
def test_what_is_no_count_is_refused(text):
    with pytest.raises(argparse.ArgumentTypeError):
        count(text)
