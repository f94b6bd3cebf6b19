"""The documentation matches the sources."""

import importlib.util
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"


def test_the_diagram_of_the_architecture_is_the_import_graph():
    spec = importlib.util.spec_from_file_location("import_graph", DOCS / "import_graph.py")
    graph = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(graph)
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    assert f"{graph.BEGIN}\n{graph.markdown()}\n{graph.END}" in page, "run python docs/import_graph.py"
