"""Neural players: without PyTorch a sentence says what to install; their page lists every parameter."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

import openfelt as felt
from openfelt.cli.app import main
from openfelt.solve.neural.neural_solver import NeuralSolver
from openfelt.solve.registry import SOLVERS

NEURAL = [name for name, solver in SOLVERS.items() if issubclass(solver, NeuralSolver)]
PAGE = Path(__file__).parent.parent / "docs/neural.md"


@pytest.mark.parametrize("name", NEURAL)
def test_without_torch_a_sentence_says_what_to_install(name, monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.chdir(tmp_path)
    assert main(["train", "kuhn", "--solver", name, "--iterations", "5"]) == 2
    assert "pip install 'openfelt[torch]'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", NEURAL)
def test_the_page_lists_every_parameter(name):
    listed: set[str] = set()
    for options, solvers in re.findall(
        r"^\| (`--.*?) \| (.*?) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    ):
        own = solvers == "all" or (name not in solvers if "but" in solvers else name in solvers)
        listed |= set(re.findall(r"`--([\w-]+)`", options)) if own else set()
    assert listed == {field.name.replace("_", "-") for field in fields(SOLVERS[name].settings_type)}


def test_only_training_imports_torch():
    program = (
        "import sys, openfelt as felt; from openfelt.cli.app import main\n"
        "assert felt.NFSP.name == 'nfsp'\n"
        "try:\n    main(['train', 'kuhn', '--solver', 'nfsp', '--help'])\nexcept SystemExit:\n    pass\n"
        "assert not any(name == 'torch' or name.startswith('torch.') for name in sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120, capture_output=True)


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("nfsp", {"eta": 2}, "eta must be a number from 0 to 1"),
        ("deep-cfr", {"traversals": 0}, "traversals must be a number"),
        ("mmd", {"eta": 0}, "eta must be a number from"),
        ("ppo", {"hidden": 0}, "hidden must be a number from 1"),
        ("r-nad", {"refresh": 0}, "refresh must be a number"),
    ],
)
def test_settings_out_of_range_get_a_sentence(name, settings, message):
    with pytest.raises(felt.FeltError, match=message):
        SOLVERS[name].settings_type(**settings)
