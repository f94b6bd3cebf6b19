"""Files that are made again if they are damaged: cached arrays and results of studies.

A cache may never refuse; the content must always be that of the sample, or be made again.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from fuzz.folder_mutations import mutate_folder, read_files
from fuzz.json_mutations import mutate_json_text
from fuzz.mutations import mutate_any
from fuzz.target import Finding, Mutant
from fuzz.targets.folders import FolderTarget
from openfelt.cards.abstraction.abstraction import Abstraction
from openfelt.cards.abstraction.recipes import make_recipe
from openfelt.cards.abstraction.spec import parse_spec
from openfelt.core.disk_cache import load_or_build
from openfelt.studies.files import cached_json

SPEC, REQUEST, ANSWER = parse_spec("ehs:3"), {"seed": 1, "game": "kuhn"}, [[0.25, 1.5], [3.0, 4.0]]
CACHE, STUDY = "cache", "study.json"


class CacheTarget(FolderTarget):
    """The recipe of an abstraction in the cache, and a stored answer of a study."""

    name = "caches"
    share = 0.7

    def prepare(self) -> None:
        self.read_folder(self.folder / "sample", 0)
        self.add(read_files(self.folder / "sample"))

    def mutate(self, random: Random, number: int) -> Mutant:
        files = dict(self.samples[number])
        if random.random() < 0.4:
            change = mutate_json_text if random.random() < 0.5 else mutate_any
            files[STUDY], how = change(random, files[STUDY])
            return Mutant(files, f"study: {how}", number)
        return mutate_folder(random, files, number)

    def read_folder(self, folder: Path, sample: int) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a table is built again
            found = load_or_build(
                folder / CACHE,
                "recipe",
                "The recipe",
                lambda: (make_recipe(SPEC, None), {"abstraction": SPEC.name}),
                lambda arrays, _: Abstraction(SPEC, {key: np.array(each) for key, each in arrays.items()}),
            )
        folder.mkdir(parents=True, exist_ok=True)
        return found.fingerprint, json.dumps(cached_json(folder / STUDY, REQUEST, lambda: ANSWER))

    def rule(self, mutant: Mutant, content: Any) -> str:
        if content[1] != self.contents[0][1]:
            raise Finding("the answer of a study has changed, and no checksum shows it")
        if not mutant.sealed:
            raise Finding("a cached array has changed, and no checksum shows it")
        return "another recipe with valid checksums and sizes"
