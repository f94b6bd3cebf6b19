"""A second reader of Gambit's .efg files, strict and slow, written from the description of the format.

Information sets and outcomes must have the same definition wherever they are defined.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

LEXICON = re.compile(
    r'(?P<text>"(?:[^"\\]|\\.)*")|(?P<mark>[{}])|(?P<comma>,)|(?P<word>[^\s{}",]+)|(?P<space>\s+)', re.DOTALL
)
REAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|[+-]?\d+/\d+", re.ASCII | re.IGNORECASE)
WHOLE = re.compile(r"-?\d+", re.ASCII)


class Invalid(Exception):
    """The file violates the format."""


@dataclass
class StrictNode:
    """A node of the file."""

    player: int  # CHANCE is -1, a terminal node -2
    infoset: int = 0
    chance: list[float] = field(default_factory=list)
    outcome: list[float] = field(default_factory=list)
    parent: int = -1
    children: int = 0


class StrictReader:
    """Reads the words of a file one after another."""

    def __init__(self, text: str) -> None:
        self.words = list(_lexed(text))
        self.at = 0
        self.players = 0
        self.infosets: dict[tuple[int, int], tuple[str, list[tuple[str, float]]]] = {}
        self.outcomes: dict[int, list[float]] = {}

    def take(self, kind: str, pattern: re.Pattern[str] | str = "") -> str:
        """The next word, of this kind."""
        if self.at == len(self.words):
            raise Invalid("it ends too early")
        found, word = self.words[self.at]
        if found != kind or (isinstance(pattern, str) and pattern and word != pattern):
            raise Invalid(f"{word!r} where a {kind} {pattern} is expected")
        if isinstance(pattern, re.Pattern) and not pattern.fullmatch(word):
            raise Invalid(f"{word!r} is not a number")
        self.at += 1
        return word

    def sees(self, kind: str, word: str = "") -> bool:
        """Whether the next word is this one."""
        if self.at == len(self.words):
            return False
        found = self.words[self.at]
        return found[0] == kind and word in ("", found[1])

    def prologue(self) -> None:
        """EFG 2 R, the title, the players and a comment."""
        self.take("word", "EFG")
        self.take("word", "2")
        if self.take("word") not in ("R", "D"):
            raise Invalid("numbers are R or D")
        self.take("text")
        self.take("mark", "{")
        while self.sees("text"):
            self.take("text")
            self.players += 1
        self.take("mark", "}")
        if not self.players:
            raise Invalid("there are no players")
        if self.sees("text"):
            self.take("text")

    def node(self) -> tuple[StrictNode, int]:
        """A node, and the number of its children."""
        kind = self.take("word")
        self.take("text")
        if kind == "t":
            return StrictNode(-2, outcome=self.outcome()), 0
        if kind not in "cp":
            raise Invalid(f"{kind!r} is not a kind of node")
        player = int(self.take("word", WHOLE)) - 1 if kind == "p" else -1
        if kind == "p" and not 0 <= player < self.players:
            raise Invalid(f"there is no player {player + 1}")
        number = int(self.take("word", WHOLE))
        name = self.take("text") if self.sees("text") else None
        actions = self.actions(kind) if self.sees("mark", "{") else None
        known = self.infosets.get((player, number))
        if known is None:
            if actions is None:
                raise Invalid("an information set is used before it is defined")
            known = self.infosets.setdefault((player, number), (name or '""', actions))
        if name is not None and name != known[0]:
            raise Invalid(f"information set {number} has two labels")
        if actions is not None and actions != known[1]:
            raise Invalid(f"information set {number} has two lists of actions")
        return StrictNode(
            player, number, [p for _, p in known[1]] if kind == "c" else [], self.outcome()
        ), len(known[1])

    def actions(self, kind: str) -> list[tuple[str, float]]:
        """The actions of a node, with their probabilities."""
        found = []
        self.take("mark", "{")
        while not self.sees("mark", "}"):
            label = self.take("text")
            found.append((label, self.number() if kind == "c" else 0.0))
        self.take("mark", "}")
        if not found:
            raise Invalid("a node has no actions")
        return found

    def number(self) -> float:
        """A number: 1/3, 0.25 or 1e-3."""
        word = self.take("word", REAL)
        try:
            return float(Fraction(word))
        except (ArithmeticError, ValueError):
            raise Invalid(f"{word} is not a number") from None

    def outcome(self) -> list[float]:
        """The payoffs at a node; an outcome may be defined once and used again."""
        number = int(self.take("word", WHOLE))
        if self.sees("text"):
            self.take("text")
        if not self.sees("mark", "{"):
            if number and number not in self.outcomes:
                raise Invalid("an outcome is used before it is defined")
            return self.outcomes.get(number, [])
        self.take("mark", "{")
        values = []
        while not self.sees("mark", "}"):
            values.append(self.number())
            if self.sees("comma"):
                self.take("comma")
        self.take("mark", "}")
        if len(values) != self.players or not number or self.outcomes.setdefault(number, values) != values:
            raise Invalid(f"outcome {number} has other payoffs")
        return values


def _lexed(text: str) -> Iterator[tuple[str, str]]:
    place = 0
    while place < len(text):
        found = LEXICON.match(text, place)
        if not found:
            raise Invalid(f"{text[place]!r} belongs to no word")
        place = found.end()
        if found.lastgroup != "space":
            yield str(found.lastgroup), found[0]


def read_strictly(text: str) -> tuple[list[StrictNode], int, list[list[float]]]:
    """The nodes of a file, the number of players, and the payoffs summed along the path to each node."""
    reader = StrictReader(text)
    reader.prologue()
    nodes: list[StrictNode] = []
    totals: list[list[float]] = []
    open_nodes: list[tuple[int, int]] = []  # number, children that are missing
    while True:
        node, children = reader.node()
        parent, missing = open_nodes.pop() if open_nodes else (-1, 1)
        if missing > 1:
            open_nodes.append((parent, missing - 1))
        above = totals[parent] if parent >= 0 else [0.0] * reader.players
        totals.append([a + b for a, b in zip(above, node.outcome or [0.0] * reader.players, strict=True)])
        nodes.append(node)
        if children:
            open_nodes.append((len(nodes) - 1, children))
        if not open_nodes:
            break
    if reader.at < len(reader.words):
        raise Invalid("words follow the last node")
    return nodes, reader.players, totals
