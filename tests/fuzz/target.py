"""What every format has: samples, mutants of them, and a verdict on each mutant.

A verdict is REFUSED (one sentence, a FeltError), EQUAL (the content is that of the sample) or ACCEPTED, with
the rule by which it is right to accept the changed content. Everything else is a finding: another exception,
a hang, a crash, or content that no rule explains.
"""

from __future__ import annotations

import signal
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, ClassVar, NamedTuple

from openfelt.core.errors import FeltError

REFUSED, EQUAL, ACCEPTED, FINDING = "refused", "equal", "accepted", "finding"
Files = Mapping[str, bytes]  # by name; a format of one file has one entry


class Finding(Exception):
    """A mutant that no rule explains."""


class Hang(BaseException):
    """Raised in the code that takes too long; no handler of ordinary exceptions catches it."""


@dataclass(frozen=True)
class Mutant:
    """Changed files, and what they were made from."""

    files: Files
    how: str  # name of the mutation
    sample: int  # number of the sample
    sealed: bool = False  # checksums were computed again, so they do not reveal the change


class Verdict(NamedTuple):
    """What happened to a mutant."""

    kind: str
    reason: str  # the sentence, the rule, or the finding


class Target(ABC):
    """One format."""

    name: ClassVar[str]
    share: ClassVar[float] = 1.0  # of all mutants, relative to other formats
    cost: ClassVar[float] = 1.0  # CPU time of a mutant, relative to other formats

    def __init__(self, folder: Path) -> None:
        self.folder = folder  # an empty one
        self.samples: list[Files] = []
        self.contents: list[Any] = []  # of the samples, as `read` returns them

    @abstractmethod
    def prepare(self) -> None:
        """Make the samples."""

    @abstractmethod
    def mutate(self, random: Random, number: int) -> Mutant:
        """A mutant of a sample."""

    @abstractmethod
    def read(self, mutant: Mutant) -> Any:
        """The content, as the product reads it; raises FeltError if it refuses."""

    @abstractmethod
    def rule(self, mutant: Mutant, content: Any) -> str:
        """The rule by which changed content is right; raises Finding if there is none."""

    def add(self, files: Files) -> None:
        """Add a sample, which must be read without an error."""
        self.samples.append(files)
        self.contents.append(self.read(Mutant(files, "none", len(self.samples) - 1)))

    def mutant(self, seed: int, number: int) -> Mutant:
        """The mutant of a number; it depends on nothing else."""
        random = Random(f"{seed} {self.name} {number}")
        return self.mutate(random, random.randrange(len(self.samples)))

    def judge(self, mutant: Mutant, limit: float) -> Verdict:
        """The verdict on a mutant, which may take `limit` seconds."""
        try:
            with time_limit(limit):
                content = self.read(mutant)
                if content == self.contents[mutant.sample]:
                    return Verdict(EQUAL, "")
                return Verdict(ACCEPTED, self.rule(mutant, content))
        except FeltError as error:
            return (
                Verdict(REFUSED, str(error))
                if str(error)
                else Verdict(FINDING, "an error without a sentence")
            )
        except Finding as error:
            return Verdict(FINDING, str(error))
        except Hang:
            return Verdict(FINDING, f"it took more than {limit:g} seconds")
        except Exception as error:
            return Verdict(FINDING, f"{type(error).__name__}: {error}{_place(error)}")


def _place(error: BaseException) -> str:
    """The innermost line of the product in a traceback."""
    place, trace = "", error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if "openfelt" in file:
            place = f" ({Path(file).name}, line {trace.tb_lineno})"
        trace = trace.tb_next
    return place


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise Hang in the code that runs longer."""

    def stop(*_: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
