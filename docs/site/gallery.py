"""The studies as a gallery: each section of their index begins with its figures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

STUDIES = Path(__file__).parent.parent / "studies"
PAGE = "studies/README.md"
ROW = re.compile(r"^\| \[([^]]*)\]\(([\w-]+)\.md\) \|", re.MULTILINE)


def with_figures(index: str) -> str:
    """The index with the figures of a section's studies before its table."""
    return re.sub(
        r"^## .*?(?=^## |\Z)", lambda section: _section(section[0]), index, flags=re.DOTALL | re.MULTILINE
    )


def _section(section: str) -> str:
    cards = [
        f"-   [![{title}]({name}.png)]({name}.md)\n\n    [{title}]({name}.md)"
        for title, name in ROW.findall(section)
        if (STUDIES / f"{name}.png").exists()
    ]
    if not cards:
        return section
    heading, _, rest = section.partition("\n")
    grid = "\n\n".join(cards)
    return f'{heading}\n\n<div class="grid cards gallery" markdown>\n\n{grid}\n\n</div>\n{rest}'


def nav() -> list[Any]:
    """The pages of the studies."""
    return [f"studies/{path.name}" for path in sorted(STUDIES.glob("*.md")) if path.name != "README.md"]
