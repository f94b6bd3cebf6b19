"""Pages of the repository that are not in docs/, and links from and to them."""

from __future__ import annotations

import os.path
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"
PRETRAINED = ROOT / "src/openfelt/policy/pretrained"
LINK = re.compile(r"(\]\()(?!\w+:)([^)#\s]+)((?:#[^)\s]*)?\))")
FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
HOME = {  # where files of the repository are in the site
    ROOT / "README.md": "index.md",
    ROOT / "CHANGELOG.md": "changelog.md",
    ROOT / "CONTRIBUTING.md": "contributing.md",
    ROOT / "CITATION.cff": "CITATION.cff",
    **{page: f"pretrained/{page.parent.name}.md" for page in sorted(PRETRAINED.glob("*/README.md"))},
}
SOURCE = {uri: path for path, uri in HOME.items() if uri != "index.md"}


def pages() -> dict[str, str]:
    """Their contents by place in the site; the start page of the site is docs/index.md."""
    return {uri: path.read_text(encoding="utf-8") for uri, path in SOURCE.items()}


def with_site_links(markdown: str, uri: str) -> str:
    """The page at `uri` with its links to files of the repository leading to pages of the site."""
    folder = SOURCE.get(uri, DOCS / uri).parent

    def in_site(found: re.Match[str]) -> str:
        target = Path(os.path.normpath(folder / found[2]))
        if target in HOME:
            place = HOME[target]
        elif target.is_relative_to(DOCS):
            place = target.relative_to(DOCS).as_posix()
        else:
            return found[0]
        if place.startswith("tutorials/"):
            place = place.replace(".ipynb", ".md")
        return found[1] + os.path.relpath(place, Path(uri).parent).replace(os.sep, "/") + found[3]

    parts = FENCED.split(markdown)
    return "".join(part if part.startswith("```") else LINK.sub(in_site, part) for part in parts)
