"""The participants of a match, and the seatings in which they play."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from openfelt.core.jit import Longs


@dataclass(frozen=True)
class Participants:
    """The bots of a match. A bot that takes several seats is one participant, counted once per seat."""

    names: tuple[str, ...]  # by participant
    places: tuple[int, ...]  # the participant of each bot that was named

    @staticmethod
    def of(bots: Sequence[str]) -> Participants:
        """From the names of the bots, one per seat. If all are the same, each copy is a participant."""
        if len(set(bots)) == 1:
            names = tuple(f"{name} ({number})" for number, name in enumerate(bots, 1))
            return Participants(names, tuple(range(len(bots))))
        names = tuple(dict.fromkeys(bots))
        return Participants(names, tuple(names.index(bot) for bot in bots))

    @property
    def seatings(self) -> Longs:
        """[seatings, seats] all distinct assignments of participants to seats, the given one first."""
        return np.array(list(dict.fromkeys(permutations(self.places))), np.int64)

    def places_in(self, seating: Sequence[int]) -> list[int]:
        """For each seat the place in `places` of its bot, so that copies of one bot are distinguished."""
        left = list(enumerate(self.places))
        found = []
        for participant in seating:
            entry = next(entry for entry in left if entry[1] == participant)
            left.remove(entry)
            found.append(entry[0])
        return found

    def masks(self, seated: Longs) -> list[Longs]:
        """For each participant which entries of `seated` are it, as zeros and ones."""
        return [(seated == participant).astype(np.int64) for participant in range(len(self.names))]
