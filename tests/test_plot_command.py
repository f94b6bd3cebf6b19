"""`felt plot`, defaults of `felt train`, its bar, announced times and shell completion."""

import argparse
import io
import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from rich.console import Console
from rich.text import Text

import openfelt as felt
from openfelt.cli import exploit, learning, options, study
from openfelt.cli.app import main
from openfelt.cli.spot_bar import SpotBar
from openfelt.solve.solver import Measurement

HEAD = "iterations,seconds,nash_conv,exploitability\n"


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_game_is_all_that_train_needs_and_runs_are_drawn(tmp_path, capsys):
    assert main(["train", "kuhn"]) == 0
    assert main(["train", "kuhn", "--solver", "cfr", "--iterations", "50"]) == 0
    (tmp_path / "peer.csv").write_text(HEAD + "1,0.5,0.4,0.2\n100,1.5,0.02,0.01\n")
    capsys.readouterr()
    words = ["runs/kuhn-pcfr", "runs/kuhn-cfr", "peer.csv", "--level", "paper=0.05", "--json"]
    assert main(["plot", *(word.replace("pcfr", "pcfr+") for word in words)]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["exploitability"]["kuhn-pcfr+"] <= 1e-4
    assert facts["exploitability"]["peer"] == 0.01
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("text", "says"),
    [(HEAD, "no measurements"), ("a,b\n1,2\n", "needs columns"), (HEAD + "1,x,1,1\n", "needs columns")],
)
def test_a_file_without_a_curve_is_refused(text, says, tmp_path, capsys):
    (tmp_path / "peer.csv").write_text(text)
    assert main(["plot", "peer.csv"]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("name", ["kuhn", "princess_monster(3,3,13)"])
@pytest.mark.parametrize("solver", ["pcfr+", "sampled-fictitious-play"])
def test_the_bar_fits_80_columns_and_gives_the_time_left(name, solver, monkeypatch):
    console = Console(file=io.StringIO(), width=80, force_terminal=True)
    monkeypatch.setattr("rich.console.Console", lambda **_: console)
    tree = SimpleNamespace(game=name, unit="chips")
    measured = [Measurement(1, 1.0, 2.0, 1.0), Measurement(999_999, 30.0, 0.002, 0.00123)]
    working = SimpleNamespace(
        tree=tree, name=solver, work="iterations", iterations=0, seconds=0.0, measurements=measured
    )
    working.measured_in = tree.unit
    with learning.LearningBar(working, None, 86_400, None, True) as bar:
        working.iterations, working.seconds = 123_456_789, 3_600.0
        bar.update(working, measured[-1])
        line = console.render_str(bar._bar.tasks[0].fields["text"]).plain
        shown = len(bar._bar.tasks[0].description) + 10 + 2 + len(line)
    assert line == "1.2e-03 chips, 123M iterations, 23:00:00 left"
    assert shown <= 80


def test_other_bars_fit_80_columns_too(monkeypatch):
    console = Console(file=io.StringIO(), width=80, force_terminal=True)
    monkeypatch.setattr("rich.console.Console", lambda **_: console)
    with options.progress_bar(True) as bar:
        bar("a best response to runs/with/a/very/long/name/indeed")(0.5)
    with SpotBar(0.1, 10_000, 1e9, shown=True) as spot_bar:
        spot_bar.update(SimpleNamespace(iterations=9_999, exploitability=123.456, seconds=1.0))
    shown = [Text.from_ansi(line).plain for line in console.file.getvalue().splitlines()]
    assert any("a best response to runs/with/…" in line and " left " in line for line in shown)
    assert any("9999 iterations, 123.456% of the pot left" in line for line in shown)
    assert max(map(len, shown)) <= 80


def test_bars_are_not_written_to_files(monkeypatch):
    console = Console(file=io.StringIO(), width=80)
    monkeypatch.setattr("rich.console.Console", lambda **_: console)
    with options.progress_bar(True) as bar:
        bar("a task")(0.5)
    assert not console.file.getvalue()


def test_long_studies_are_announced(capsys):
    studies = [SimpleNamespace(name="short", requires=""), SimpleNamespace(name="long", requires="an hour")]
    study.announce(studies, argparse.Namespace(quick=False))
    assert capsys.readouterr().err.startswith("long needs an hour;")
    study.announce(studies, argparse.Namespace(quick=True))
    assert not capsys.readouterr().err


def test_long_measurements_are_announced(capsys):
    def told(policy=None, **options):
        defaults = {"device": "cpu", "flops": None, "turns": None, "rivers": None, "threads": 1, "on": None}
        exploit.announce(argparse.Namespace(**defaults | options), policy)
        return capsys.readouterr().err

    assert "about 10 hours on 2 cores" in told(threads=2)
    assert "--flops 20" in told(threads=2)
    assert "about 4 minutes on one core" in told(flops=6)
    assert "--flops" not in told(flops=6)
    assert "about 3 minutes" in told(flops=600, turns=4, rivers=4)
    network = felt.network_policy("holdem", lambda features, masks: masks)
    assert "up to 3e+10 infosets. --flops 8" in told(network, flops=2)
    assert told(network, flops=8, turns=4, rivers=4).endswith("8e+08 infosets.\n")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("felt tr", {"train"}),
        ("felt train leduc --se", {"--seconds", "--seed"}),
        ("felt completion z", {"zsh"}),
    ],
)
def test_the_shell_completes(line, expected, tmp_path):
    answer = tmp_path / "answer"
    variables = {
        **os.environ,
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "IFS": "\n",
    }
    subprocess.run([sys.executable, "-m", "openfelt"], env=variables, timeout=120, check=True)
    assert {word.strip() for word in answer.read_text().splitlines()} == expected


def test_every_shell_has_a_script(capsys):
    for shell in ("bash", "zsh", "fish", "powershell"):
        assert main(["completion", shell]) == 0
        assert "felt" in capsys.readouterr().out
