"""The site builds without warnings, has every name and command, and loads nothing from other hosts."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest
from doc_blocks import DOCS, ROOT, TUTORIALS

import openfelt as felt
from openfelt.cli.app import COMMANDS

LOADING = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
NOT_LOADED = {"canonical", "next", "prev"}  # links of these kinds name other pages
IN_STYLES = re.compile(r"(?:url\(|@import\s*)['\"]?([^'\")\s]+)")
MOST_BYTES = 60_000  # of a notebook or picture


class Assets(HTMLParser):
    """What a page loads, the ids that it defines, and the classes that it uses."""

    def __init__(self):
        super().__init__()
        self.loaded, self.ids, self.classes = [], set(), set()

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids.add(values.get("id"))
        self.classes |= set((values.get("class") or "").split())
        if tag in LOADING and LOADING[tag] in values and values.get("rel") not in NOT_LOADED:
            self.loaded.append(values[LOADING[tag]])


@pytest.fixture
def site_module(monkeypatch):
    """Imports a module that the site is built with."""
    monkeypatch.syspath_prepend(str(DOCS / "site"))
    return importlib.import_module


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_notebooks_are_kept_without_outputs(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in cells if "outputs" in cell)
    assert path.stat().st_size < MOST_BYTES


def test_the_reference_has_every_public_name_and_command(site_module):
    pages = site_module("reference").pages()
    text = "\n".join(pages.values())
    names = set(felt.__all__) - {"__version__"}
    assert not [name for name in names if f"heading: felt.{name}\n" not in text]
    assert all(f"reference/commands/{command}.md" in pages for command in COMMANDS)
    assert "| `--epsilon` |" in pages["reference/commands/train.md"]
    assert "| `--hands` | HANDS |" in pages["reference/commands/match.md"]


def test_links_lead_to_pages_of_the_site(site_module):
    with_site_links = site_module("repository").with_site_links
    assert with_site_links("[a](../CHANGELOG.md#b)", "index.md") == "[a](changelog.md#b)"
    assert with_site_links("[a](docs/exact.md)", "contributing.md") == "[a](exact.md)"
    assert with_site_links("[a](../tutorials/x.ipynb)", "explanation/cfr.md") == "[a](../tutorials/x.md)"
    unchanged = "[a](https://b.example/c.md) `x`\n```\n[a](docs/exact.md)\n```\n"
    assert with_site_links(unchanged, "contributing.md") == unchanged


@pytest.mark.slow
def test_pictures_are_made_by_code(tmp_path, site_module):
    pictures = site_module("pictures")
    quick = ["best-responses", "regret-matching", "frontier"]
    pictures.draw(quick, tmp_path)
    assert all((tmp_path / f"{name}.svg").read_text(encoding="utf-8").count("<path") > 5 for name in quick)
    kept = {path.stem: path.stat().st_size for path in pictures.FOLDER.glob("*.svg")}
    assert kept.keys() == pictures.PICTURES.keys()
    assert max(kept.values()) < MOST_BYTES


@pytest.mark.slow
@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_runs(path, site_module):
    notebook = site_module("tutorials").executed(path)  # an exception in a cell is raised
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in outputs)


@pytest.mark.slow
def test_the_site_builds_and_loads_nothing_from_other_hosts(tmp_path):
    built = tmp_path / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(built)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    ids = set()
    for path in built.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        page = Assets()
        page.feed(text)
        assert not [each for each in page.loaded if "//" in each and not each.startswith("data:")], path
        assert "mermaid" not in page.classes, "its script would come from another host"
        assert 'class="arithmatex"' not in text, f"{path} has a formula that is not MathML"
        ids |= page.ids
    for path in built.rglob("*.css"):
        loaded = IN_STYLES.findall(path.read_text(encoding="utf-8"))
        assert not [each for each in loaded if each.startswith(("http", "//"))], path
    names = {
        f"{value.__module__}.{name}"
        for name in felt.__all__
        if isinstance(value := getattr(felt, name), type)
    }
    assert not names - ids
    assert "<math" in (built / "explanation/cfr/index.html").read_text(encoding="utf-8")
    assert (built / "tutorials/first-policy.ipynb").exists()
