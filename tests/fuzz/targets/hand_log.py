"""Match logs of the ACPC."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from fuzz.files import FileTarget
from fuzz.hands import some_hands
from fuzz.protocol_states import KUHN_CARDS
from fuzz.target import Finding, Mutant
from openfelt.arena.acpc.competition_game import definition_of
from openfelt.arena.acpc.log import read_log, write_log
from openfelt.games.registry import load_game
from openfelt.hands.check import check_record

GAMES = ("holdem", "holdem(players=3)", "kuhn")
WORDS = (
    b"STATE",
    b"SCORE",
    b":",
    b"|",
    b"/",
    b"r",
    b"c",
    b"f",
    b"As",
    b"Kd",
    b"2c",
    b"rc",
    b"cc",
    b"0",
    b"-1",
)


class LogTarget(FileTarget):
    """Logs of hold'em for two and three players and of Kuhn poker."""

    name, suffix, words = "acpc-log", ".log", WORDS
    share = 1.5

    def prepare(self) -> None:
        for game in GAMES:
            path = self.folder / "made.log"
            write_log(path, some_hands(game, 12))
            self.add_text(path.read_bytes())
            path.unlink()

    def read_file(self, path: Path) -> Any:
        return list(read_log(path))

    def rule(self, mutant: Mutant, content: Any) -> str:
        lines = [line.strip() for line in self.data(mutant).decode().split("\n")]
        stated = [line for line in lines if line.startswith("STATE")]
        if len(stated) != len(content):
            raise Finding(f"{len(stated)} hands are in the file, {len(content)} were read")
        for line, record in zip(stated, content, strict=True):
            if (fault := check_record(record)) is not None:
                raise Finding(f"a hand violates the rules: {fault}")
            if not _says(line, record):
                raise Finding("a hand is not that of the file")
        numbers = [record.number for record in content]
        if numbers != list(range(numbers[0], numbers[0] + len(numbers)) if numbers else ()):
            raise Finding("hand numbers have gaps or repeats")
        counts = [line.split()[-2] for line in lines if line.startswith("# name/game/hands/seed")]
        if counts and sum(map(int, counts)) != len(content):
            raise Finding("the header names another number of hands")
        return "another match that the file records: every line is a hand by the rules, and none is missing"


def _says(line: str, record: Any) -> bool:
    """Whether a STATE line records this hand: number, actions, cards, names and winnings."""
    _, number, betting, cards, won, names = line.split(":")
    rules = definition_of(load_game(record.game))
    shown = re.findall("..", cards.replace("|", "").replace("/", ""))
    if rules.game.key == "kuhn":
        shown = [KUHN_CARDS[rules.game.players][card] for card in shown]
    chips = [float(chips) / float(rules.chip) for chips in won.split("|")]
    return (
        int(number) == record.number
        and tuple(names.split("|")) == record.names
        and len(re.findall("[fcr]", betting)) == len(record.actions)
        and shown == [word for word in record.dealt if word != "??"]
        and all(abs(ours - theirs) < 1e-4 for ours, theirs in zip(record.won, chips, strict=True))
    )
