"""Writes the column "claims" of docs/studies/README.md from the pages: `python docs/studies_index.py`."""

from __future__ import annotations

import re
from pathlib import Path

STUDIES = Path(__file__).parent / "studies"
INDEX = STUDIES / "README.md"
ROW = re.compile(r"^(\| \[[^]]*\]\(([\w-]+)\.md\) \|(?:[^|]*\|)+?)[^|]*(\|[^|]*\|)$", re.M)  # the last two
VERDICT = re.compile(r"^\*\*Of (?:the paper's|our|these) (\d+) claims?, (.*)\.\*\*$", re.M)


def claims(page: str) -> str:
    """For example "2 of 4, 1 undecided"; those of the paper, or ours if the page has no others."""
    found = VERDICT.search(page)
    if not found:
        return ""
    counts = {word: int(number) for number, word in re.findall(r"(\d+) (holds?|\w+ undecided)", found[2])}
    holding = sum(number for word, number in counts.items() if word.startswith("hold"))
    undecided = sum(number for word, number in counts.items() if word.endswith("undecided"))
    return f"{holding} of {found[1]}" + (f", {undecided} undecided" if undecided else "")


def updated(index: str) -> str:
    """The index with the claims of the pages as they are."""
    return ROW.sub(
        lambda row: f"{row[1]} {claims((STUDIES / f'{row[2]}.md').read_text(encoding='utf-8'))} {row[3]}",
        index,
    )


if __name__ == "__main__":
    INDEX.write_text(updated(INDEX.read_text(encoding="utf-8")), encoding="utf-8")
