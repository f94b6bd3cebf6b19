"""The tutorials: notebooks without outputs in docs/tutorials, executed for the site and the tests.

    python docs/site/tutorials.py [NAME ...]

executes them into build/tutorials, where Jupyter opens them with their outputs. What neither the notebook
nor the sources have changed since is not executed again.
"""

from __future__ import annotations

import base64
import hashlib
import os
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).parent.parent.parent
TUTORIALS = ROOT / "docs/tutorials"
BUILD = ROOT / "build/tutorials"
SUMS = "sources"  # in a notebook's metadata: what it was executed with
LONGEST = 1800  # seconds for a cell, on a busy machine


def pages() -> dict[str, str | bytes]:
    """For each tutorial its page, its figures and the executed notebook."""
    written: dict[str, str | bytes] = {}
    for path in sorted(TUTORIALS.glob("*.ipynb")):
        notebook = executed(path)
        written[f"tutorials/{path.name}"] = nbformat.writes(notebook)
        written |= _page(path.stem, notebook)
    return written


def executed(path: Path) -> Any:
    """The notebook with its outputs, from build/tutorials if nothing has changed."""
    sums = hashlib.sha256(path.read_bytes() + _sources()).hexdigest()
    done = BUILD / path.name
    if done.exists():
        notebook = nbformat.read(done, as_version=4)
        if notebook.metadata.get(SUMS) == sums:
            return notebook
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory(prefix="openfelt-tutorial-") as folder:
        client = NotebookClient(
            notebook,
            timeout=LONGEST,
            extra_arguments=["--IPKernelApp.log_level=40"],
            resources={"metadata": {"path": folder}},
        )
        path_with_felt = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
        client.execute(env=os.environ | {"PATH": path_with_felt, "COLUMNS": "100"})
    notebook.metadata[SUMS] = sums
    BUILD.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, done)
    return notebook


@cache
def _sources() -> bytes:
    total = hashlib.sha256()
    for path in sorted((ROOT / "src").rglob("*.py")):
        total.update(path.read_bytes())
    return total.digest()


def _page(name: str, notebook: Any) -> dict[str, str | bytes]:
    """The page of a notebook, and its figures."""
    parts: list[str] = []
    written: dict[str, str | bytes] = {}
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        shown = ""
        for output in cell.outputs:
            data = output.get("data", {})
            if "image/png" in data:
                figure = f"{name}-{len(written) + 1}.png"
                written[f"tutorials/{figure}"] = base64.b64decode(data["image/png"])
                parts.append(f"![figure]({figure})")
            else:
                shown += output.get("text") or data.get("text/plain", "")
        if shown.strip():
            parts.append(f"```text\n{shown.rstrip()}\n```")
    parts.append(f"*This page is the notebook [{name}.ipynb]({name}.ipynb), executed.*")
    return {f"tutorials/{name}.md": "\n\n".join(parts) + "\n", **written}


if __name__ == "__main__":
    for wanted in sys.argv[1:] or sorted(path.stem for path in TUTORIALS.glob("*.ipynb")):
        executed(TUTORIALS / f"{wanted}.ipynb")
        print(BUILD / f"{wanted}.ipynb")
