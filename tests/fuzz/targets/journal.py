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

BOTS, SETUP = ("probe", "random"), {"game": "kuhn", "hands": 400, "seed": 3}


class MatchFolderTarget(FolderTarget):
    """A finished match, resumed from its folder: what was changed must not change the result."""

    name = "match-folder"

    def prepare(self) -> None:
        folder = self.folder / "sample"
        match(*BOTS, **SETUP, folder=folder)
        self.add(read_files(folder))

    def mutate(self, random: Random, number: int) -> Mutant:
        if random.random() < 0.5:
            return super().mutate(random, number)
        files = dict(self.samples[number])
        if random.random() < 0.3:
            document, how = mutate_json(random, json.loads(files["match.json"]))
            files["match.json"] = dump(document)
            return Mutant(files, f"setup: {how}", number)
        lines = files["parts.jsonl"].decode().splitlines()
        place = random.randrange(len(lines))
        part, how = mutate_json(random, json.loads(lines[place]))
        if isinstance(part, dict):
            part.pop("seal", None)
            part["seal"] = hashlib.sha256(json.dumps(part, sort_keys=True).encode()).hexdigest()[:16]
        lines[place] = json.dumps(part)
        files["parts.jsonl"] = ("\n".join(lines) + "\n").encode()
        return Mutant(files, f"part: {how}", number, sealed=True)

    def read_folder(self, folder: Path, sample: int) -> Any:
        result = match(*BOTS, **SETUP, folder=folder).as_dict()
        return {key: value for key, value in result.items() if "second" not in key}

    def rule(self, mutant: Mutant, content: Any) -> str:
        require_sealed(mutant)
        return "another block with a valid checksum"
