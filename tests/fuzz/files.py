"""What targets of one file share: write the mutant, read it, remove it."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, ClassVar

from fuzz.mutations import mutate_any
from fuzz.target import Mutant, Target


class FileTarget(Target):
    """A format of one text file."""

    suffix: ClassVar[str]
    words: ClassVar[Sequence[bytes]] = ()  # of the format, for mutations

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._names = itertools.count()

    def add_text(self, text: str | bytes) -> None:
        """Add a sample."""
        self.add({f"sample{self.suffix}": text.encode() if isinstance(text, str) else text})

    def mutate(self, random: Random, number: int) -> Mutant:
        data, how = mutate_any(random, self.data(Mutant(self.samples[number], "", number)), self.words)
        return Mutant({f"mutant{self.suffix}": data}, how, number)

    def data(self, mutant: Mutant) -> bytes:
        """The bytes of the one file."""
        return next(iter(mutant.files.values()))

    def read(self, mutant: Mutant) -> Any:
        path = self.folder / f"{next(self._names)}{self.suffix}"  # a new name: readers may cache
        path.write_bytes(self.data(mutant))
        try:
            return self.read_file(path)
        finally:
            path.unlink(missing_ok=True)

    @abstractmethod
    def read_file(self, path: Path) -> Any:
        """The content of a file."""
