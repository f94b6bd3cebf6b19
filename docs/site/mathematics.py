"""Formulas in TeX, as arithmatex marks them, to MathML."""

from __future__ import annotations

import html
import re

from latex2mathml.converter import convert

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)


def as_mathml(page: str) -> str:
    """The page with MathML instead of TeX."""
    return FORMULA.sub(_mathml, page)


def _mathml(found: re.Match[str]) -> str:
    display = "inline" if found[2] == "(" else "block"
    return str(convert(html.unescape(found[3]).strip(), display=display))
