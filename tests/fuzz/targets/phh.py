"""Hand histories in the PHH format."""

from __future__ import annotations

import re
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

from fuzz.files import FileTarget
from fuzz.hands import some_hands
from fuzz.target import Finding, Mutant
from openfelt.hands.check import check_record
from openfelt.hands.phh import read_phh, write_phh

WORDS = (
    *(
        b"p1",
        b"p2",
        b"p3",
        b"cc",
        b"cbr",
        b"f",
        b"sm",
        b"d",
        b"dh",
        b"db",
        b"AhKd",
        b"????",
        b"2c",
        b"-",
        b"#",
    ),
    *(
        b"variant",
        b"FT",
        b"NT",
        b"antes",
        b"hand",
        b"players",
        b"winnings",
        b"finishing_stacks",
        b"_game",
        b"inf",
    ),
    *(b"[", b"]", b"=", b'"', b"'''", b"holdem", b"1.5", b"true", b"1979-05-27"),
)


class PhhTarget(FileTarget):
    """Files of many hands, for two and three players; with and without winnings."""

    name, suffix, words = "phh", ".phhs", WORDS
    share = 1.5

    def prepare(self) -> None:
        for game in ("holdem", "holdem(players=3)"):
            path = self.folder / "made.phhs"
            write_phh(path, some_hands(game, 5))
            text = path.read_text()
            self.add_text(text)
            self.add_text(re.sub("finishing_stacks.*\n", "", text))
            path.unlink()

    def read_file(self, path: Path) -> Any:
        return list(read_phh(path))

    def rule(self, mutant: Mutant, content: Any) -> str:
        tables = tomllib.loads(self.data(mutant).decode(), parse_float=Decimal)
        if len(tables) != len(content):
            raise Finding(f"{len(tables)} hands are in the file, {len(content)} were read")
        for fields, record in zip(tables.values(), content, strict=True):
            if (fault := check_record(record)) is not None:
                raise Finding(f"a hand violates the rules: {fault}")
            _require_said(fields, record)
        return "other hands that the file records, by the rules"


def _require_said(fields: dict[str, Any], record: Any) -> None:
    """Raise unless a table records this hand: names, cards, actions and winnings."""
    players = len(record.names)
    if list(record.names) != fields.get("players", [f"p{seat + 1}" for seat in range(players)]):
        raise Finding("the names are not those of the file")
    words = [notation.partition("#")[0].split() for notation in fields["actions"]]
    acted = [word[1] for word in words if len(word) > 1 and word[1] in ("f", "cc", "cbr")]
    short = {"fold": "f", "check": "cc", "call": "cc", "bet": "cbr", "raise": "cbr"}
    if acted != [short[action] for action in record.actions]:
        raise Finding("the actions are not those of the file")
    board = "".join(word[2] for word in words if word[:2] == ["d", "db"])
    if board != "".join(record.dealt[2 * players :]):
        raise Finding("the board is not that of the file")
    number = fields.get("hand")
    if type(number) is int and 0 <= number < 1 << 63 and number != record.number:
        raise Finding("the number is not that of the file")
    if "finishing_stacks" in fields:
        unit = fields["blinds_or_straddles"][0]
        for end, start, won in zip(
            fields["finishing_stacks"], fields["starting_stacks"], record.won, strict=True
        ):
            if abs(float(Decimal(end) - Decimal(start)) / float(unit) - won) > 1e-6:
                raise Finding("the winnings are not those of the file")
