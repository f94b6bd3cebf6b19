"""The documentation matches the sources: commands parse, Python names, links and paths exist."""

import ast
import contextlib
import importlib
import importlib.util
import io
import re
import shlex

import pytest
from doc_blocks import BLOCK, DOCS, PAGES, ROOT, examples

import openfelt as felt
from openfelt.cli.app import COMMANDS, parse

PATH = re.compile(r"`((?:[a-z_]+/)+[\w.-]+\.(?:py|md|json|csv))`")


def pages():
    return pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


@pages()
def test_commands_of_the_docs_parse(page):
    for command in examples(page.read_text(encoding="utf-8")):
        parse(shlex.split(command)[1:])


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_of_the_help_parse(command):
    for example in importlib.import_module(f"openfelt.cli.{command}").EXAMPLES:
        words = shlex.split(re.sub(r"\s{2,}\(.*\)$", "", example))
        if words[-1] == "--help":
            with contextlib.redirect_stdout(io.StringIO()), pytest.raises(SystemExit):
                parse(words[1:])
        else:
            assert parse(words[1:])[1] is not None


def has(module, name):
    """Whether a module has a name, perhaps a module in it that nobody has imported yet."""
    is_package = hasattr(module, "__path__")
    return hasattr(module, name) or (is_package and importlib.util.find_spec(f"{module.__name__}.{name}"))


@pages()
def test_python_names_of_the_docs_exist(page):
    for kind, body in BLOCK.findall(page.read_text(encoding="utf-8")):
        if kind != "python":
            continue
        for node in ast.walk(ast.parse(body)):
            if isinstance(node, ast.ImportFrom):
                module = importlib.import_module(node.module)
                assert [each.name for each in node.names if not has(module, each.name)] == []
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id == "felt"
            ):
                assert hasattr(felt, node.attr), f"felt.{node.attr}"


@pytest.mark.slow
def test_the_python_example_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = [body for kind, body in BLOCK.findall(PAGES[0].read_text(encoding="utf-8")) if kind == "python"]
    names = {}
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        for block in blocks:
            exec(block, names)
    assert "exploitability" in shown.getvalue()
    assert "mbb/h" in shown.getvalue()
    assert names["solver"].policy.at(1, "K bet")["raise"] == pytest.approx(0.58, abs=0.02)


@pages()
def test_links_and_paths_of_the_docs_exist(page):
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", text):
        if target.startswith("http"):
            continue
        file = page.parent / target if target else page
        assert file.exists(), target
        if anchor:
            assert anchor in anchors(file), f"{target}#{anchor}"
    for path in PATH.findall(text):
        assert any((ROOT / base / path).exists() for base in ("", "src/openfelt", "docs", "src")), path


def anchors(page):
    """As GitHub makes them from headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def test_the_index_of_studies_counts_the_claims_of_the_pages():
    spec = importlib.util.spec_from_file_location("studies_index", DOCS / "studies_index.py")
    index = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(index)
    written = index.INDEX.read_text(encoding="utf-8")
    assert len(index.ROW.findall(written)) > 20
    assert index.updated(written) == written, "run python docs/studies_index.py"


def test_the_diagram_of_the_architecture_is_the_import_graph():
    spec = importlib.util.spec_from_file_location("import_graph", DOCS / "import_graph.py")
    graph = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(graph)
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    assert f"{graph.BEGIN}\n{graph.markdown()}\n{graph.END}" in page, "run python docs/import_graph.py"
    assert graph.PICTURE.read_text(encoding="utf-8") == graph.picture(), "run python docs/import_graph.py"
