"""The pages of the table: each is the content of a file in `pages/`, in the frame that all of them share.

`pages/parts/` has what several pages contain: `$ranges` in a page stands for `parts/ranges.html`.
"""

from __future__ import annotations

from pathlib import Path
from string import Template
from typing import NamedTuple

FOLDER = Path(__file__).parent / "pages"
MENU = {"/": "Lobby", "/drill": "Drills", "/spectate": "Spectate", "/policy": "Ranges", "/spot": "Spots"}
STYLES = ("base", "controls")  # of every page
PARTS = ("moves", "ranges", "steps")


class Page(NamedTuple):
    """A page; its script has the name of its file."""

    path: str
    name: str
    title: str
    description: str
    styles: tuple[str, ...]

    def html(self) -> str:
        """The whole page."""
        styles = (f'<link rel="stylesheet" href="/static/{name}.css">' for name in STYLES + self.styles)
        return Template(_read("frame")).substitute(
            title=self.title,
            description=self.description,
            styles="\n  ".join(styles),
            script=self.name,
            links="\n    ".join(self._link(path) for path in MENU),
            content=Template(_read(self.name)).substitute({part: _read(f"parts/{part}") for part in PARTS}),
        )

    def _link(self, path: str) -> str:
        current = ' aria-current="page"' if path == self.path else ""
        return f'<a href="{path}"{current}>{MENU[path]}</a>'


PAGES = (
    Page(
        "/",
        "lobby",
        "OpenFelt: play poker against bots",
        "Play Kuhn poker, Leduc hold'em and limit hold'em against trained bots.",
        ("lobby",),
    ),
    Page(
        "/play/{key}",
        "play",
        "Table - OpenFelt",
        "A poker table: you against bots.",
        ("table", "play", "chart"),
    ),
    Page(
        "/hand/{link}",
        "replay",
        "Hand review - OpenFelt",
        "Review of a poker hand: each step, the action probabilities of the bots, and the EV loss of your "
        "decisions.",
        ("table", "replay", "matrix"),
    ),
    Page(
        "/report/{key}",
        "report",
        "Report - OpenFelt",
        "The report on a session: EV lost, worst decisions, leaks, luck and style.",
        ("report", "chart"),
    ),
    Page(
        "/policy",
        "policy",
        "Ranges - OpenFelt",
        "The policy of a bot as coloured tables.",
        ("policy", "matrix"),
    ),
    Page(
        "/spot",
        "spot",
        "Spots - OpenFelt",
        "Solve a postflop spot: ranges, board and bet sizes in; equilibrium strategies, values and equities "
        "out.",
        ("spot", "spot_result"),
    ),
    Page(
        "/drill",
        "drill",
        "Drills - OpenFelt",
        "Drills: single poker decisions with instant feedback and spaced repetition.",
        ("table", "replay", "play", "chart", "drill"),
    ),
    Page(
        "/spectate",
        "spectate",
        "Spectate - OpenFelt",
        "Bots play poker against each other: all cards are open, with their strategies at every decision.",
        ("table", "replay", "matrix", "spectate"),
    ),
)


def _read(name: str) -> str:
    return (FOLDER / f"{name}.html").read_text(encoding="utf-8").rstrip()
