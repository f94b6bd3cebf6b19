"""Who plays a match, and who sits where in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from openfelt.core.jit import Longs


@dataclass(frozen=True)
class Lineup:
    """The participants of a match; one that fills several seats is one participant, and counts by seat."""

    names: tuple[str, ...]  # of participants
    seats: tuple[int, ...]  # the participant of each place at the table

    @staticmethod
    def of(bots: Sequence[str]) -> Lineup:
        """Of the bots in a match, one for each seat. Copies of a single bot are told apart."""
        if len(set(bots)) == 1:
            names = tuple(f"{name} ({number})" for number, name in enumerate(bots, 1))
            return Lineup(names, tuple(range(len(bots))))
        names = tuple(dict.fromkeys(bots))
        return Lineup(names, tuple(names.index(bot) for bot in bots))

    def places(self, seating: Sequence[int]) -> list[int]:
        """For each seat of a seating which place of the lineup sits there: copies of one are told apart."""
        left = list(enumerate(self.seats))
        found = []
        for participant in seating:
            entry = next(entry for entry in left if entry[1] == participant)
            left.remove(entry)
            found.append(entry[0])
        return found

    @property
    def seatings(self) -> Longs:
        """[seatings, seats] every way to sit that makes a difference, the first as given."""
        return np.array(list(dict.fromkeys(permutations(self.seats))), np.int64)

    def shares(self, who: Longs) -> list[Longs]:
        """For each participant which places of `who` are his, as zeros and ones."""
        return [(who == participant).astype(np.int64) for participant in range(len(self.names))]
