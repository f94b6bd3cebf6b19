"""A game read from a Gambit extensive-form file (.efg); every command accepts one.

The format is described in Gambit's documentation ("The extensive game (.efg) file format"): a prologue
with the players, then the nodes in prefix order. Any node may have payoffs; they add up along a path.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from openfelt.core.errors import FileError, GameError
from openfelt.games.game import CHANCE, TERMINAL, Game

TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|([{}])|([^\s{}",]+)|,|\s+', re.DOTALL)
WHOLE = re.compile(r"-?[0-9]{1,9}")
REAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?|[+-]?[0-9]+/[0-9]+")


@dataclass
class EfgNode:
    """One node of the file."""

    player: int  # CHANCE, TERMINAL or a player counted from 0
    infoset: int = 0
    label: str = ""
    actions: list[str] = field(default_factory=list)
    chance: list[float] = field(default_factory=list)
    payoffs: list[float] = field(default_factory=list)  # of this node alone
    children: list[int] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class EfgGame(Game):
    """A game read from a Gambit .efg file."""

    key: ClassVar[str] = "efg"
    unit: ClassVar[str] = "units"
    is_zero_sum: ClassVar[bool] = False  # unless its payoffs happen to be
    path: str
    title: str = field(repr=False)
    players: int = field(repr=False)
    nodes: tuple[EfgNode, ...] = field(repr=False)
    totals: tuple[tuple[float, ...], ...] = field(repr=False)  # payoffs summed along the path to each node

    @property
    def name(self) -> str:
        return self.path

    def start(self) -> int:
        return 0

    def turn(self, state: int) -> int:
        return self.nodes[state].player

    def actions(self, state: int) -> Sequence[str]:
        return self.nodes[state].actions

    def chance(self, state: int) -> Sequence[float]:
        return self.nodes[state].chance

    def play(self, state: int, action: str) -> int:
        node = self.nodes[state]
        return node.children[node.actions.index(action)]

    def sees(self, state: int, action: str, player: int) -> str:
        """The information set at which the player moves next; it implies the player's own earlier actions."""
        after = self.nodes[self.play(state, action)]
        return f"[{after.label}]" if after.player == player else ""

    def payoffs(self, state: int) -> Sequence[float]:
        return self.totals[state]


def read_efg(path: Path) -> EfgGame:
    """Read a .efg file; raises if it is damaged or recall is imperfect."""
    try:
        facts = path.stat()
    except OSError as error:
        raise FileError(f"{path} cannot be read as a Gambit file: {error.strerror}.") from None
    return _read(path.resolve(), facts.st_mtime_ns, facts.st_size)


@lru_cache(maxsize=8)
def _read(path: Path, changed: int, size: int) -> EfgGame:
    """The game of a file; the same object as long as the file does not change."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path} cannot be read as a Gambit file: {error}.") from None
    try:
        reader = _Reader(text)
        title, players, nodes = reader.read()
        totals = _sum_payoffs(nodes, players)
    except GameError as error:
        raise FileError(f"{path}: {error}") from None
    except (IndexError, ValueError, KeyError, ArithmeticError):
        raise FileError(f"{path} is not a complete Gambit .efg file.") from None
    _make_labels_distinct(nodes)
    _require_perfect_recall(path, nodes)
    return EfgGame(str(path), title, players, tuple(nodes), totals)


class _Reader:
    """Parses the tokens of one file: ("text", word) if quoted, else ("word", word)."""

    def __init__(self, text: str) -> None:
        self.tokens = list(_tokens(text))
        self.at = 0
        self.outcomes: dict[int, list[float]] = {0: []}
        self.infosets: dict[tuple[int, int], EfgNode] = {}

    def next(self, kind: str = "word") -> str:
        found, word = self.tokens[self.at]
        if found != kind:
            raise ValueError(word)
        self.at += 1
        return word

    def peek(self, kind: str, word: str | None = None) -> bool:
        if self.at >= len(self.tokens):
            return False
        found = self.tokens[self.at]
        return found[0] == kind and word in (None, found[1])

    def read(self) -> tuple[str, int, list[EfgNode]]:
        if (self.next(), self.next()) != ("EFG", "2") or self.next() not in ("R", "D"):
            raise ValueError("prologue")
        title = self.next("text")
        players = len(self.texts())
        if self.peek("text"):
            self.next("text")  # the comment
        nodes: list[EfgNode] = []
        open_nodes: list[int] = []
        while self.at < len(self.tokens):
            nodes.append(self.node(players))
            if open_nodes:
                parent = nodes[open_nodes[-1]]
                parent.children.append(len(nodes) - 1)
                if len(parent.children) == len(parent.actions):
                    open_nodes.pop()
            elif len(nodes) > 1:
                raise ValueError("nodes after the end")
            if nodes[-1].player != TERMINAL:
                open_nodes.append(len(nodes) - 1)
        if open_nodes or not nodes:
            raise ValueError("nodes missing")
        return title, players, nodes

    def texts(self) -> list[str]:
        """The quoted words between braces, at least one."""
        self.open_block()
        found = [self.next("text")]
        while not self.closes_block():
            found.append(self.next("text"))
        return found

    def open_block(self) -> None:
        if self.next() != "{":
            raise ValueError("{")

    def closes_block(self) -> bool:
        closes = self.peek("word", "}")
        self.at += closes
        return closes

    def node(self, players: int) -> EfgNode:
        kind = self.next()
        self.next("text")  # the node's name
        if kind == "t":
            return EfgNode(TERMINAL, payoffs=self.outcome(players))
        if kind not in ("c", "p"):
            raise ValueError(kind)
        player = CHANCE if kind == "c" else self.whole() - 1
        if player >= players or (kind == "p" and player < 0):
            raise ValueError("player")
        node = self.information_set(player, self.whole())
        node.payoffs = self.outcome(players)
        return node

    def information_set(self, player: int, number: int) -> EfgNode:
        """A node of an information set, which is defined where it first occurs, and may be repeated."""
        label = self.next("text") if self.peek("text") else None
        actions, chance = list[str](), list[float]()
        if self.peek("word", "{"):
            actions, chance = self.actions() if player == CHANCE else (self.texts(), [])
        known = self.infosets.get((player, number))
        if known is None:
            if not actions:
                raise ValueError("actions")
            known = EfgNode(player, number, label or "", _distinct(actions), chance)
            self.infosets[player, number] = known
        elif label is not None and label != known.label:
            raise GameError(
                f"{_set_name(player, number)} is called '{known.label}' and also '{label}'; one number must "
                "mean one information set."
            )
        elif actions and (_distinct(actions), chance) != (known.actions, known.chance):
            raise GameError(f"{_set_name(player, number)} is defined twice, with different actions.")
        return EfgNode(player, number, known.label, known.actions, known.chance)

    def actions(self) -> tuple[list[str], list[float]]:
        """The actions of chance, each with its probability."""
        self.open_block()
        found, chance = [self.next("text")], [self.real()]
        while not self.closes_block():
            found.append(self.next("text"))
            chance.append(self.real())
        return found, chance

    def outcome(self, players: int) -> list[float]:
        """The payoffs of an outcome, which is defined where it first occurs; outcome 0 has none."""
        number = self.whole()
        if self.peek("text"):
            self.next("text")
        if self.peek("word", "{"):
            self.open_block()
            payoffs = [self.real() for _ in range(players)]
            if not self.closes_block():
                raise ValueError("payoffs")
            if self.outcomes.setdefault(number, payoffs) != payoffs:
                raise GameError(f"Outcome {number} is defined twice, with different payoffs.")
        return self.outcomes[number]

    def whole(self) -> int:
        word = self.next()
        if not WHOLE.fullmatch(word):
            raise ValueError(word)
        return int(word)

    def real(self) -> float:
        """A number as Gambit writes it: 1/3, 0.25 or 1e-3."""
        word = self.next()
        if not REAL.fullmatch(word):
            raise ValueError(word)
        number = float(Fraction(word)) if "/" in word else float(word)
        if not math.isfinite(number):
            raise ValueError(word)
        return number


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    place = 0
    while place < len(text):
        match = TOKEN.match(text, place)
        if match is None:  # a quote that is not closed
            raise ValueError(text[place])
        place = match.end()
        if match[1] is not None:
            yield "text", re.sub(r"\\(.)", r"\1", match[1], flags=re.DOTALL)
        elif match[2] or match[3]:
            yield "word", match[2] or match[3]


def _set_name(player: int, number: int) -> str:
    owner = "chance" if player == CHANCE else f"player {player + 1}"
    return f"Information set {number} of {owner}"


def _make_labels_distinct(nodes: list[EfgNode]) -> None:
    """Gambit lets information sets share a label or have none; our observations must distinguish them."""
    labels: dict[int, dict[int, str]] = {}
    for node in nodes:
        if node.player >= 0:
            labels.setdefault(node.player, {})[node.infoset] = node.label
    for mine in labels.values():
        count = Counter(mine.values())
        distinct = {
            number: word if word and count[word] == 1 else f"{word}#{number}" for number, word in mine.items()
        }
        if len(set(distinct.values())) < len(distinct):
            distinct = {number: f"#{number}" for number in mine}
        mine.update(distinct)
    for node in nodes:
        if node.player >= 0:
            node.label = labels[node.player][node.infoset]


def _distinct(words: list[str]) -> list[str]:
    """Gambit allows empty and equal action labels; ours must be distinct."""
    if len(set(words)) == len(words) and "" not in words:
        return words
    return [f"{number}:{word}" for number, word in enumerate(words, start=1)]


def _sum_payoffs(nodes: list[EfgNode], players: int) -> tuple[tuple[float, ...], ...]:
    totals = [(0.0,) * players for _ in nodes]
    for number, node in enumerate(nodes):  # parents come before their children
        own = node.payoffs or [0.0] * players
        totals[number] = tuple(total + value for total, value in zip(totals[number], own, strict=True))
        for child in node.children:
            totals[child] = totals[number]
    return tuple(totals)


def _require_perfect_recall(path: Path, nodes: list[EfgNode]) -> None:
    """All nodes of an information set must have the same earlier actions of their player."""
    remembered: dict[tuple[int, int], object] = {}
    past: list[dict[int, tuple[object, ...]]] = [{} for _ in nodes]
    for number, node in enumerate(nodes):
        if node.player >= 0:
            mine = past[number].get(node.player, ())
            if remembered.setdefault((node.player, node.infoset), mine) != mine:
                raise GameError(
                    f"{path}: player {node.player + 1} forgets its own actions at information set "
                    f"'{node.label}'; only games of perfect recall can be used."
                )
        for action, child in zip(node.actions, node.children, strict=True):
            past[child] = past[number]
            if node.player >= 0:
                step = (*past[number].get(node.player, ()), (node.infoset, action))
                past[child] = {**past[number], node.player: step}
