"""Folders of matches: the setup and the finished blocks."""

from __future__ import annotations

import hashlib
import json
from abc import abstractmethod
from pathlib import Path
from random import Random
from typing import Any, ClassVar

from fuzz.folder_mutations import read_files
from fuzz.json_mutations import mutate_json, mutate_json_text
from fuzz.target import Mutant
from fuzz.targets.folders import FolderTarget, require_sealed
from openfelt.arena.match import match

PARTS = "parts.jsonl"
BOTS, SETUP = ("probe", "random"), {"game": "kuhn", "hands": 400, "seed": 3}


class JournalTarget(FolderTarget):
    """A folder with the setup and the finished parts of a long work, which is resumed."""

    kind: ClassVar[str]

    @abstractmethod
    def play(self, folder: Path) -> dict[str, Any]:
        """Do the work, or what is missing of it, and return the result."""

    def prepare(self) -> None:
        folder = self.folder / "sample"
        self.play(folder)
        files = dict(read_files(folder))
        parts = [json.loads(line) for line in files[PARTS].splitlines()]
        files[PARTS] = b"".join(map(_line, parts))
        self.add(files)

    def mutate(self, random: Random, number: int) -> Mutant:
        if random.random() < 0.5:
            return super().mutate(random, number)
        files = dict(self.samples[number])
        if random.random() < 0.3:
            setup = f"{self.kind}.json"
            files[setup], how = mutate_json_text(random, files[setup])
            return Mutant(files, f"setup: {how}", number)
        parts = [json.loads(line) for line in files[PARTS].splitlines()]
        place = random.randrange(len(parts))
        parts[place], how = mutate_json(random, parts[place])
        files[PARTS] = b"".join(_line(part, seconds=None) for part in parts)
        return Mutant(files, f"part: {how}", number, sealed=True)

    def read_folder(self, folder: Path, sample: int) -> Any:
        return _without_times(self.play(folder))

    def rule(self, mutant: Mutant, content: Any) -> str:
        require_sealed(mutant)
        return "another finished part with a valid checksum"


class MatchFolderTarget(JournalTarget):
    """A finished match."""

    name, kind = "match-folder", "match"

    def play(self, folder: Path) -> dict[str, Any]:
        return match(*BOTS, **SETUP, folder=folder).as_dict()


def _without_times(value: Any) -> Any:
    """A result without what depends on the speed of the machine."""
    if isinstance(value, dict):
        return {key: _without_times(each) for key, each in value.items() if "second" not in key}
    return [_without_times(each) for each in value] if isinstance(value, list | tuple) else value


def _line(part: Any, seconds: float | None = 0.5) -> bytes:
    """A part with a valid checksum; with the same `seconds`, samples are the same in every run."""
    if isinstance(part, dict):
        part.pop("seal", None)
        part |= {} if seconds is None else {"seconds": seconds}
        part["seal"] = hashlib.sha256(json.dumps(part, sort_keys=True).encode()).hexdigest()[:16]
    return (json.dumps(part) + "\n").encode()
