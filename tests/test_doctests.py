"""The public names: each is documented, its parameters are those of its signature, its examples run."""

from __future__ import annotations

import dataclasses
import doctest
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import openfelt as felt
from openfelt.solve.solver import Solver

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
CONSTANTS = {"CHANCE", "TERMINAL", "__version__"}
SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)
NAMES = sorted(set(felt.__all__) - CONSTANTS)


def sections(documented: Any) -> dict[str, str]:
    """The sections of a numpydoc docstring by title; the text before them under ""."""
    parts = SECTION.split(inspect.cleandoc(documented.__doc__ or ""))
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def documented_parameters(documented: Any) -> list[str]:
    """The names in a Parameters section: `name : type`, or several that share a description."""
    lines = sections(documented).get("Parameters", "").splitlines()
    heads = [line.partition(" :")[0] for line in lines if line and not line[0].isspace()]
    return [name.strip().lstrip("*") for head in heads for name in head.split(",")]


def actual_parameters(documented: Any) -> list[str]:
    """The parameters of a signature; a solver's settings are among its own."""
    try:
        signature = inspect.signature(documented)
    except ValueError:  # exceptions have none
        return []
    names = [name for name in signature.parameters if name != "self"]
    if isinstance(documented, type) and issubclass(documented, Solver) and documented is not Solver:
        settings = [field.name for field in dataclasses.fields(documented.settings_type)]
        return ["game", *settings, "options"]
    if isinstance(documented, type) and issubclass(documented, Exception):
        return []
    return names


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_is_documented(name):
    documented = getattr(felt, name)
    found = sections(documented)
    assert found[""].strip(), f"felt.{name} has no summary."
    assert found[""].strip().splitlines()[0].endswith((".", "?")), (
        f"felt.{name}: the summary is not one line."
    )
    assert ">>> " in found.get("Examples", ""), f"felt.{name} has no example."
    assert sorted(documented_parameters(documented)) == sorted(actual_parameters(documented))
    returns = inspect.isroutine(documented) and inspect.signature(documented).return_annotation
    assert ("Returns" in found) == (returns not in (False, None, "None")), f"felt.{name}: Returns"


@pytest.mark.true_buckets
@pytest.mark.parametrize("name", NAMES)
def test_the_examples_of_a_public_name_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    documented = getattr(felt, name)
    scope = {"felt": felt, "folder": tmp_path}
    example = doctest.DocTestParser().get_doctest(
        inspect.cleandoc(documented.__doc__ or ""), scope, f"felt.{name}", None, 0
    )
    report: list[str] = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(example, out=report.append)
    assert not report, "".join(report)


def test_the_check_of_parameters_finds_a_missing_one():
    def undocumented(game, *, seed):  # noqa: D417
        """Do something.

        Parameters
        ----------
        game : str
            The game.
        """

    assert documented_parameters(undocumented) == ["game"]
    assert actual_parameters(undocumented) == ["game", "seed"]


PROGRAM = """
import openfelt as felt

policy: felt.TabularPolicy = felt.uniform_policy("kuhn")
both: felt.Policy = felt.join_seats([policy, policy])
measured: float = felt.exploitability(both).nash_conv
solver: felt.CFRPlus = felt.CFRPlus("leduc", seed=1).run(10)
reveal_type(solver.policy)
reveal_type(felt.load_policy)
"""


@pytest.mark.slow
def test_a_type_checker_knows_the_public_names(tmp_path):
    """From outside of the package: `py.typed` and the stub are found, and a wrong use is one error."""
    (tmp_path / "program.py").write_text(PROGRAM + "felt.exploitability(both, devices='cpu')\n")
    command = [sys.executable, "-m", "mypy", "--no-incremental", "--follow-imports=silent", "program.py"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    lines = found.stdout.splitlines()
    errors = [line for line in lines if ": error:" in line]
    assert len(errors) == 1, found.stdout + found.stderr
    assert 'Unexpected keyword argument "devices" for "exploitability"' in errors[0]
    assert any("Policy" in line and "note: Revealed type" in line for line in lines)
    assert not any('"Any"' in line for line in lines)
    assert (Path(felt.__file__).parent / "py.typed").exists()
