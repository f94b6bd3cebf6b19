"""Leaks: where a best response gains, by street, betting line and starting hand.

A best response is compared with the policy itself in the same seat. A player that follows the policy up to a
street and best-responds from there on wins less the later it starts. The difference between starting on a
street and starting on the next one is the gain on that street. It is split by the betting line at the start
of the street and by starting hand. All gains add up to what a best response wins more than the policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from openfelt.cards.boards import hole_class
from openfelt.cards.deck import PAIR_CARDS, RANKS, STREETS, pair_class
from openfelt.cards.public_cards import Deck
from openfelt.core.jit import Floats, Longs
from openfelt.games.compile.betting_tree import PLAYER
from openfelt.games.game import TERMINAL
from openfelt.games.holdem import BIG_BLIND, MOST_BETS
from openfelt.solve.vector.betting_lines import CALL, BettingLines, children

CLASSES = 169
START = "the start"


class Answer(NamedTuple):
    """The values of a best response's preflop actions after a betting line."""

    line: str
    actions: tuple[str, ...]
    worth: Floats  # [169, actions] chips per hand, if it best-responds afterwards


@dataclass(frozen=True, eq=False)
class Leaks:
    """Where a best response gains in one seat, in mbb/h."""

    lines: tuple[tuple[str, ...], ...]  # by street: the betting lines with which it begins
    gains: tuple[Floats, ...]  # by street [lines, 169] in mbb/h
    answers: tuple[Answer, ...]

    @property
    def by_street(self) -> dict[str, float]:
        """The gain on each street."""
        return {street: float(gain.sum()) for street, gain in zip(STREETS, self.gains, strict=True)}

    def by_line(self) -> list[tuple[str, str, float]]:
        """Street, betting line and gain, largest first; only positive gains."""
        found = [
            (street, line, float(gain))
            for street, lines, gains in zip(STREETS, self.lines, self.gains, strict=True)
            for line, gain in zip(lines, gains.sum(axis=1), strict=True)
            if gain > 0
        ]
        return sorted(found, key=lambda each: -each[2])

    def by_hand(self) -> Floats:
        """[169] the gain by starting hand, over all streets."""
        return np.asarray(sum(gain.sum(axis=0) for gain in self.gains))

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "by_street": self.by_street,
            "by_line": [
                {"street": street, "line": line, "mbb_per_game": gain}
                for street, line, gain in self.by_line()
            ],
            "by_hand": dict(zip(class_names(), self.by_hand().tolist(), strict=True)),
            "before_the_flop": [
                {
                    "after": answer.line,
                    "does": {
                        name: answer.actions[best]
                        for name, best in zip(class_names(), answer.worth.argmax(axis=1), strict=True)
                    },
                }
                for answer in self.answers
            ],
        }


def put_together(
    betting: BettingLines, deck: Deck, first: Floats, later: Sequence[Floats], chosen: dict[int, Floats]
) -> Leaks:
    """Combine the gains of each pair before the flop [1326] and by street after it [lines, 169], in chips.

    `chosen` has the preflop action values, as in `Before`.
    """
    live = deck.pairs > 0
    kinds = hole_class()[live]
    size = np.bincount(kinds, minlength=CLASSES)
    gains = [np.bincount(kinds, first[live], minlength=CLASSES)[None] / len(kinds)]
    gains += [gain * size / len(kinds) for gain in later]
    answers = []
    for node, line in paths(betting).items():
        if node in chosen:
            worth = [np.bincount(kinds, each[live], minlength=CLASSES) for each in chosen[node].T]
            each_hand = np.array(worth).T * deck.chances[0] / np.maximum(size, 1)[:, None]
            answers.append(Answer(line, tuple(_names(betting, node)), each_hand))
    in_mbb = tuple(1000 / BIG_BLIND * gain for gain in gains)
    return Leaks(line_names(betting), in_mbb, tuple(answers))


def _names(betting: BettingLines, node: int) -> list[str]:
    """The names of preflop actions; the big blind can check after a call."""
    count = len(children(betting.node, node))
    if node == children(betting.node, 0)[CALL]:
        return ["check", "raise"][:count]
    return ["fold", "call", "raise"][:count]


def paths(betting: BettingLines) -> dict[int, str]:
    """The betting line to each preflop decision, and to each start of the flop."""
    found, open_nodes = {}, [(0, "")]
    while open_nodes:
        node, line = open_nodes.pop(0)
        if betting.node[node, PLAYER] == TERMINAL:
            continue
        found[node] = line or START
        if node in betting.flop_roots:
            continue
        for name, child in zip(_names(betting, node), children(betting.node, node), strict=True):
            open_nodes.append((child, f"{line}-{name}" if line else name))
    return found


def line_names(betting: BettingLines) -> tuple[tuple[str, ...], ...]:
    """By street, the names of the betting lines with which it begins."""
    endings = ["check-check"]
    for begun in ("check-bet", "bet"):
        endings += [begun + "-raise" * raises + "-call" for raises in range(MOST_BETS)]
    names = paths(betting)
    lines = [tuple(names[node] for node in betting.flop_roots.tolist())]
    for _ in range(2):
        lines.append(tuple(f"{line} / {ending}" for ending in endings for line in lines[-1]))
    return ((START,), *lines)


@cache
def class_names() -> tuple[str, ...]:
    """The names of the 169 starting hands: AKs."""
    found = [""] * CLASSES
    for pair, kind in zip(PAIR_CARDS.tolist(), hole_class().tolist(), strict=True):
        found[kind] = pair_class(pair)
    return tuple(found)


@cache
def square() -> Longs:
    """[13, 13] the starting hands, aces first: suited above the diagonal, offsuit below."""
    places = {name: kind for kind, name in enumerate(class_names())}
    ranks = RANKS[::-1]
    return np.array(
        [
            [
                places[high + low + ("" if row == column else "s" if row < column else "o")]
                for column in range(len(ranks))
                for high, low in [(ranks[min(row, column)], ranks[max(row, column)])]
            ]
            for row in range(len(ranks))
        ]
    )
