"""What targets of folders share."""

from __future__ import annotations

import io
import itertools
import json
import shutil
from abc import abstractmethod
from pathlib import Path, PurePosixPath
from random import Random
from typing import Any

import numpy as np

from fuzz.folder_mutations import MANIFEST, mutate_folder, read_files, write_files
from fuzz.target import Finding, Mutant, Target


class FolderTarget(Target):
    """A format of one folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._names = itertools.count()

    def add_folder(self, folder: Path) -> None:
        """Add a sample."""
        self.add(read_files(folder))

    def mutate(self, random: Random, number: int) -> Mutant:
        return mutate_folder(random, self.samples[number], number)

    def read(self, mutant: Mutant) -> Any:
        folder = self.folder / f"mutant-{next(self._names)}"
        write_files(folder, mutant.files)
        try:
            return self.read_folder(folder, mutant.sample)
        finally:
            shutil.rmtree(folder)

    @abstractmethod
    def read_folder(self, folder: Path, sample: int) -> Any:
        """The content of a folder."""


def require_sealed(mutant: Mutant) -> None:
    """Changed content is right only if its checksums were computed again on purpose."""
    if not mutant.sealed:
        raise Finding("the content has changed, and no checksum shows it")


def array_in(mutant: Mutant, name: str, folder: str = "") -> Any:
    """An array of a mutant, read without the product."""
    manifest = json.loads(mutant.files[str(PurePosixPath(folder) / MANIFEST)])
    data = mutant.files[str(PurePosixPath(folder) / manifest["files"][name]["file"])]
    return np.load(io.BytesIO(data), allow_pickle=False)
