"""Game definitions of the ACPC server."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

from fuzz.files import FileTarget
from fuzz.target import Finding, Mutant
from openfelt.arena.acpc.competition_game import definition_of, game_of
from openfelt.arena.acpc.game_definition import read_definition
from openfelt.games.registry import load_game

GAMES = ("holdem", "holdem(players=3)", "kuhn", "kuhn(players=3)", "holdem(bets=3)")
FIELDS = {
    "numplayers": "players",
    "numrounds": "rounds",
    "stack": "stacks",
    "blind": "blinds",
    "raisesize": "raises",
    "firstplayer": "first",
    "maxraises": "most_raises",
    "numsuits": "suits",
    "numranks": "ranks",
    "numholecards": "hole_cards",
    "numboardcards": "board_cards",
}
WORDS = (*(key.encode() for key in FIELDS), b"limit", b"nolimit", b"END GAMEDEF", b"#", b"=", b"0", b"10")


class DefinitionTarget(FileTarget):
    """The definitions of our games."""

    name, suffix, words = "game-definition", ".game", WORDS

    def prepare(self) -> None:
        for game in GAMES:
            text = definition_of(load_game(game)).definition.text
            self.add_text(text)
            self.add_text(
                f"# A comment\n{text.replace(' = ', ' ').replace('END GAMEDEF', 'end gamedef # end')}"
            )

    def read_file(self, path: Path) -> Any:
        definition = read_definition(path)
        rules = game_of(definition)
        return definition, rules.game.name, rules.chip

    def rule(self, mutant: Mutant, content: Any) -> str:
        definition, stated = content[0], _stated(self.data(mutant).decode())
        for key, field in FIELDS.items():
            value = getattr(definition, field)
            values = value if isinstance(value, tuple) else (value,)
            if stated.get(key, ())[: len(values)] != values:
                raise Finding(f"{key} is not that of the file")
        if dataclasses.replace(definition, betting=stated["betting"][0]) != definition:
            raise Finding("the betting is not that of the file")
        return "another game that the file defines: each line once, with these values"


def _stated(text: str) -> dict[str, Any]:
    """The lines of a definition, read without the product; a key must not occur twice."""
    stated: dict[str, Any] = {}
    for line in re.split("\r\n|\n|\r|\x0b|\x0c|\x1c|\x1d|\x1e|\x85|\u2028|\u2029", text):
        words = re.sub("#.*", "", line, flags=re.DOTALL).lower().replace("=", " ").split()
        if words == ["end", "gamedef"]:
            break
        if words in (["limit"], ["nolimit"]):
            words = ["betting", *words]
        if words and words != ["gamedef"]:
            key, *values = words
            if key in stated:
                raise Finding(f"{key} occurs twice")
            stated[key] = tuple(values) if key == "betting" else tuple(map(int, values))
    return {"betting": ("limit",)} | stated
