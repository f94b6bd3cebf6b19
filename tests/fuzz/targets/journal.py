"""Folders of matches: the setup and the finished blocks."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from random import Random
from typing import Any

from fuzz.folder_mutations import read_files
from fuzz.json_mutations import dump, mutate_json
from fuzz.target import Mutant
from fuzz.targets.folders import FolderTarget, require_sealed
from openfelt.arena.match import match

PARTS = "parts.jsonl"
BOTS, SETUP = ("probe", "random"), {"game": "kuhn", "hands": 400, "seed": 3}


class MatchFolderTarget(FolderTarget):
    """A finished match, resumed from its folder: what was changed must not change the result."""

    name = "match-folder"

    def prepare(self) -> None:
        folder = self.folder / "sample"
        match(*BOTS, **SETUP, folder=folder)
        files = dict(read_files(folder))
        parts = [json.loads(line) for line in files[PARTS].splitlines()]
        files[PARTS] = b"".join(map(_line, parts))
        self.add(files)

    def mutate(self, random: Random, number: int) -> Mutant:
        if random.random() < 0.5:
            return super().mutate(random, number)
        files = dict(self.samples[number])
        if random.random() < 0.3:
            document, how = mutate_json(random, json.loads(files["match.json"]))
            files["match.json"] = dump(document)
            return Mutant(files, f"setup: {how}", number)
        parts = [json.loads(line) for line in files[PARTS].splitlines()]
        place = random.randrange(len(parts))
        parts[place], how = mutate_json(random, parts[place])
        files[PARTS] = b"".join(_line(part, seconds=None) for part in parts)
        return Mutant(files, f"part: {how}", number, sealed=True)

    def read_folder(self, folder: Path, sample: int) -> Any:
        result = match(*BOTS, **SETUP, folder=folder).as_dict()
        return {key: value for key, value in result.items() if "second" not in key}

    def rule(self, mutant: Mutant, content: Any) -> str:
        require_sealed(mutant)
        return "another block with a valid checksum"


def _line(part: Any, seconds: float | None = 0.5) -> bytes:
    """A part with a valid checksum; with the same `seconds`, samples are the same in every run."""
    if isinstance(part, dict):
        part.pop("seal", None)
        part |= {} if seconds is None else {"seconds": seconds}
        part["seal"] = hashlib.sha256(json.dumps(part, sort_keys=True).encode()).hexdigest()[:16]
    return (json.dumps(part) + "\n").encode()
