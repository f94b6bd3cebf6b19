"""The code blocks of the documentation, and shorter forms of its commands that a test can run."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
TUTORIALS = sorted(DOCS.glob("tutorials/*.ipynb"))
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted(DOCS.glob("**/*.md")),
    *sorted((ROOT / "src").glob("**/README.md")),
]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SYNOPSIS = re.compile(r"(?![AKQJT]{2}\b)[A-Z]{2,}\b(?!=)|\[|\.\.\.|\b[A-Z]\b|\|")  # placeholders
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
LIMITS = {  # what a test gives to options that say how much to do
    "--iterations": "100",
    "--episodes": "2000",
    "--seconds": "1",
    "--hands": "60",
    "--deals": "200",
    "--games": "2",
    "--flops": "2",
    "--until": "1",
    "--device": "cpu",
    "--port": "0",
    "--host": "127.0.0.1",
}
SEARCH = re.compile(r"(iterations|seconds)=\d+")
LONG_BUCKETS = re.compile(r"(ochs|kmeans|percentile|ehs2):[\d/]+")


def steps(text: str) -> Iterator[tuple[str, str]]:
    """The blocks of a page in order: ("python", a block) and ("sh", one complete command)."""
    for kind, body in BLOCK.findall(text):
        if kind == "python":
            yield kind, body
        elif kind in ("", "sh", "bash"):
            for command in _commands(body):
                yield "sh", command


def examples(text: str) -> Iterator[str]:
    """The commands of a page that are complete."""
    return (command for kind, command in steps(text) if kind == "sh")


def _commands(body: str) -> Iterator[str]:
    for line in body.replace("\\\n", " ").splitlines():
        command = re.sub(r"\s+#.*$", "", line.removeprefix("$ ")).strip()
        if command.startswith("felt ") and not SYNOPSIS.search(QUOTED.sub("", command)):
            yield command


def shortened(command: str) -> list[str]:
    """The words of a command with little to do, on a CPU."""
    command = SEARCH.sub(lambda found: f"{found[1]}={'20' if found[1] == 'iterations' else '0.1'}", command)
    words = shlex.split(LONG_BUCKETS.sub("ehs:10", command))
    if words[1:3] == ["train", "holdem(players=3)"]:  # whose tables take gigabytes
        words[2] = "holdem(players=3,buckets='ehs:2')"
    for place, word in enumerate(words[:-1]):
        if word == "--hands" and words[1] == "respond":
            continue  # a file
        if word in LIMITS:
            words[place + 1] = LIMITS[word]
    if words[1] in ("match", "tournament") and "--hands" not in words:
        words += ["--hands", LIMITS["--hands"]]
    if words[1] == "spot" and not {"--until", "--iterations"} & {*words}:
        words += ["--iterations", "10"]
    return words


def notebook_pages() -> dict[Path, str]:
    """The prose of the tutorials."""
    found = {}
    for path in TUTORIALS:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        found[path] = "\n\n".join(
            "".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"
        )
    return found
