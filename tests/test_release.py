"""A release: one version everywhere, a changelog in its form, and a wheel that the README's commands try."""

import re
import shlex
import tomllib
import zipfile
from pathlib import Path

import pytest
import try_wheel

from openfelt.cli.app import parse
from openfelt.core.version import VERSION

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_there_is_one_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    released = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$", CHANGELOG, re.MULTILINE)
    assert PROJECT["version"] == VERSION == released[0][0]
    assert f"version: {VERSION}\n" in citation
    assert f"date-released: {released[0][1]}\n" in citation


def test_the_changelog_has_the_form_of_keep_a_changelog():
    headings = re.findall(r"^## (.*)$", CHANGELOG, re.MULTILINE)
    versions = [tuple(map(int, found.split("."))) for found in re.findall(r"\[([\d.]+)\] - ", CHANGELOG)]
    assert len(headings) - len(versions) == headings.count("[Unreleased]") <= 1
    assert versions == sorted(versions, reverse=True)
    assert set(re.findall(r"^### (.*)$", CHANGELOG, re.MULTILINE)) <= KINDS


def test_the_workflow_runs_every_python_that_the_package_names():
    workflow = (ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8")
    named = re.findall(r":: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    tried = re.search(r"python: \[(.*)\]", workflow)[1]
    assert re.findall(r'"(.*?)"', tried) == named
    assert PROJECT["requires-python"] == f">={named[0]}"


def test_the_readme_has_commands_to_try():
    commands = try_wheel.readme_commands(try_wheel.README.read_text(encoding="utf-8"))
    for command in commands:
        parse(shlex.split(command)[1:])
    for tried in ("felt train", "felt exploit", "felt match", "felt play", "felt study run"):
        assert any(command.startswith(tried) for command in commands)
    extras = set(try_wheel.EXTRAS.values())
    assert {try_wheel.needed_extra(command) for command in commands} == {"", *extras}
    assert try_wheel.LARGE < extras <= PROJECT["optional-dependencies"].keys()


def test_the_lowest_versions_are_those_of_the_metadata(tmp_path):
    wheel = tmp_path / "a.whl"
    metadata = "\n".join(
        [
            "Metadata-Version: 2.4",
            "Name: a",
            "Requires-Dist: numpy>=1.26",
            "Requires-Dist: numba-cuda[cu13]>=0.30; extra == 'cuda'",
            "Requires-Dist: click",
            "",
            "Requires-Dist: text>=1",
        ]
    )
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("a-1.dist-info/METADATA", metadata)
    assert try_wheel.lowest_versions(wheel) == "numpy==1.26\nnumba-cuda==0.30\n"


@pytest.mark.parametrize("text", ["two\nlines with a checkout", "something else"])
def test_an_error_of_another_form_is_noticed(text):
    with pytest.raises(SystemExit, match="Expected one sentence"):
        try_wheel.require_sentence(text, "checkout")


def test_an_extra_without_wheels_is_named_and_left_out(capsys):
    class Empty:
        """Says what is missing, and has no wheels of OpenSpiel."""

        def install(self, what, constraints):
            return "open-spiel" not in what

        def run(self, program, *words, expected=0):
            extra = try_wheel.needed_extra(shlex.join(["felt", *words]))
            assert expected or extra != "open-spiel"
            return f"Install openfelt[{extra}] or a checkout."

        def fetch_table(self, *words):
            print("page loaded")

    try_wheel.try_wheel(Empty(), "a.whl", None)
    said = capsys.readouterr().out
    assert "openfelt[open-spiel] has no wheels for this Python; not tried: felt train openspiel:" in said
    assert "page loaded" in said
