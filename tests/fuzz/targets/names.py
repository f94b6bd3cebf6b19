"""Strings of the command line: games, abstractions, cards, ranges, bet sizes, infosets, numbers."""

from __future__ import annotations

import argparse
import re
from decimal import Decimal
from random import Random
from typing import Any

import numpy as np

from fuzz.mutations import mutate_any
from fuzz.target import Finding, Mutant, Target
from openfelt.cards.abstraction.spec import parse_spec
from openfelt.cards.deck import cards_text, parse_cards, parse_hand
from openfelt.cards.ranges import format_range, parse_range
from openfelt.cli.options import count, positive, seed
from openfelt.core.errors import FeltError
from openfelt.games.bet_sizes import BetSizes, parse_sizes
from openfelt.games.registry import load_game
from openfelt.policy.holdem import parse_infoset
from openfelt.policy.tabular import uniform_policy

SAMPLES = (
    *(("game", name) for name in ("kuhn(pot=8)", "leduc(players=3)", "goofspiel(4)", "bluff(1,1,6)", "kuhn")),
    *(("game", name) for name in ("holdem(players=3,bets=3)", "holdem(buckets='ehs2:169/100/100/100')")),
    ("abstraction", "ehs2:169/100/100/100"),
    ("abstraction", "kmeans:10"),
    ("cards", "AhKd"),
    ("cards", "Qh 7h, 2s"),
    ("hand", "AhKd Qh7h2s"),
    ("range", "QQ+, AKs, A5s-A2s:0.5, 98s-54s; AhKd [25]KQo,JTo[/25]"),
    ("range", "66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,JTs,96s+,54s"),
    ("bet sizes", "33%, 75, 2.5x, 120c, 3e200%, e, a"),
    ("infoset", "AhKh raise call Qh7h2s check"),
    ("kuhn infoset", "K pass bet"),
    ("count", "1e6"),
    ("seed", "12"),
    ("positive", "0.25"),
)
WORDS = (
    b"kuhn",
    b"leduc",
    b"holdem",
    b"players",
    b"pot",
    b"=",
    b"(",
    b")",
    b"ehs",
    b"/",
    b"Ah",
    b"2c",
    b"None",
    b"77-99",
    b":0.5",
    b"[50]",
    b"random",
    b"2e",
)


class NamesTarget(Target):
    """All short strings."""

    name = "command-line"

    def prepare(self) -> None:
        self.policy = uniform_policy("kuhn")
        for kind, text in SAMPLES:
            self.add({"kind": kind.encode(), "text": text.encode()})

    def mutate(self, random: Random, number: int) -> Mutant:
        files = self.samples[number]
        data, how = mutate_any(random, files["text"], WORDS)
        return Mutant({"kind": files["kind"], "text": data}, how, number)

    def read(self, mutant: Mutant) -> Any:
        text = mutant.files["text"].decode("utf-8", "surrogateescape")  # as the command line decodes it
        try:
            return self._parse(mutant.files["kind"].decode(), text)
        except argparse.ArgumentTypeError as error:  # becomes a FeltError in the command line
            raise FeltError(str(error)) from None

    def _parse(self, kind: str, text: str) -> Any:
        if kind == "game":
            return load_game(text).name
        if kind == "abstraction":
            return parse_spec(text).name
        if kind == "cards":
            return cards_text(parse_cards(text))
        if kind == "hand":
            return tuple(map(cards_text, parse_hand(*text.partition(" ")[::2])))
        if kind == "range":
            return tuple(parse_range(text).tolist())
        if kind == "bet sizes":
            return parse_sizes(text)
        if kind == "infoset":
            return parse_infoset(text)
        if kind == "kuhn infoset":
            return self.policy.at(0, text), text.split()
        return {"count": count, "seed": seed, "positive": positive}[kind](text)

    def rule(self, mutant: Mutant, content: Any) -> str:
        kind, text = mutant.files["kind"].decode(), mutant.files["text"].decode("utf-8", "surrogateescape")
        if kind in ("cards", "hand"):
            said = re.sub("[ ,]", "", text)
            if "".join(content).lower() != said.lower():
                raise Finding(f"other cards were read: {content}")
        elif kind in ("count", "seed", "positive"):
            if (float if kind == "positive" else Decimal)(text) != content:
                raise Finding(f"another number was read: {content}")
        elif kind == "range":
            _require_hands(text, content)
        elif kind == "bet sizes":
            _require_sizes(text, content)
        elif kind in ("game", "abstraction"):
            _require_round_trip(kind, text, content)
        elif kind == "infoset":
            hole, board, line = content
            if sorted(cards_text((*hole, *board)) + "".join(line)) != sorted("".join(text.split())):
                raise Finding(f"another infoset was read: {content}")
        elif content[1] != text.split():
            raise Finding("another infoset was read")
        return "another valid name"


def _require_round_trip(kind: str, text: str, name: str) -> None:
    """The name of what was read must mean the same, and have the numbers of the text."""
    again = load_game(name).name if kind == "game" else parse_spec(name).name
    if again != name:
        raise Finding(f"{name} is read as {again}")
    numbers = [float(word) for word in re.findall(r"[0-9]+(?:\.[0-9]+)?", text.replace("_", ""))]
    if kind == "abstraction" and not set(re.findall("[0-9]+", name)) <= set(re.findall("[0-9]+", text)):
        raise Finding(f"{name} has other numbers than the text")
    if kind == "game" and not {float(word) for word in re.findall(r"=(-?[0-9.]+)", name)} <= {
        *numbers,
        *(-n for n in numbers),
    }:
        raise Finding(f"{name} has other numbers than the text")


def _require_hands(text: str, weights: tuple[float, ...]) -> None:
    """What is written must mean the same, and every weight must be 0, 1 or a number of the text."""
    again = parse_range(format_range(np.array(weights)))
    if np.abs(again - weights).max() > 1e-4:
        raise Finding("the written range is read as another one")
    numbers = [float(word) for word in re.findall(r"[0-9]*\.?[0-9]+", text)]
    if not set(weights) <= {0.0, 1.0, *numbers, *(number / 100 for number in numbers)}:
        raise Finding("the range has other weights than the text")


def _require_sizes(text: str, sizes: BetSizes) -> None:
    """There must be one size per part of the text, and what is written must mean the same."""
    if parse_sizes(str(sizes)) != sizes:
        raise Finding(f"{sizes} is read as other sizes")
    if sizes.sizes and len(sizes.sizes) != text.count(",") + 1:
        raise Finding(f"other sizes were read: {sizes}")
