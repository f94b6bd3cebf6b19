"""What MkDocs calls while it builds the site: pages made from the code, links that leave docs/, formulas."""

from __future__ import annotations

from typing import Any

import gallery
import mathematics
import reference
import repository
import tutorials
from mkdocs.structure.files import File


def on_config(config: Any) -> Any:
    """Add the pages of the reference and of single studies to the navigation."""
    place = [next(iter(entry)) for entry in config.nav].index("Studies")
    config.nav[place]["Studies"] += gallery.nav()
    config.nav.insert(place, {"Reference": reference.nav()})
    return config


def on_files(files: Any, config: Any) -> Any:
    """Replace notebooks by executed ones with their pages, and add the other pages that are made here."""
    for file in [file for file in files if file.src_uri.endswith(".ipynb")]:
        files.remove(file)
    for pages in (reference.pages(), repository.pages(), tutorials.pages()):
        for uri, content in pages.items():
            files.append(File.generated(config, uri, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Point links to where their targets are in the site; show the figures of studies beside their names."""
    if page.file.src_uri == gallery.PAGE:
        markdown = gallery.with_figures(markdown)
    return repository.with_site_links(markdown, page.file.src_uri)


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Write formulas as MathML, which browsers show without a script."""
    return mathematics.as_mathml(html)
