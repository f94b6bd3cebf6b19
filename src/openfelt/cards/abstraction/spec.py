"""The names of abstractions: "ehs2:169/100/100/100" is a kind and the number of buckets on each street.

Instead of a number the flop may have the word "lossless": all hands up to suit isomorphism.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from openfelt.cards.deck import FLOP, STREETS
from openfelt.core.errors import GameError, unknown

EHS, EHS2, PERCENTILE, KMEANS, OCHS = "ehs", "ehs2", "percentile", "kmeans", "ochs"
KINDS = {
    EHS2: "an even grid over E[HS^2], expected hand strength squared (Heinrich & Silver 2014)",
    EHS: "an even grid over EHS, effective hand strength (Ponsen, de Jong & Lanctot 2011)",
    PERCENTILE: "by E[HS^2], equally many hands in each bucket",
    KMEANS: "hands with similar distributions of strength on the river (k-means)",
    OCHS: "as kmeans; on the river hands with similar equities against eight ranges (Johanson et al. 2013)",
}
HOLE_KINDS = 169  # classes of hole cards
MOST_BUCKETS = 60_000
LOSSLESS = "lossless"
# By street, the hands up to suit isomorphism, with the cards of earlier streets remembered (Johanson 2013).
# With so many buckets an abstraction loses nothing. Turn and river have too many for tables.
ALL_HANDS = (HOLE_KINDS, 1_286_792, 55_190_538, 2_428_287_420)


@dataclass(frozen=True)
class Spec:
    """The kind and size of an abstraction."""

    kind: str
    counts: tuple[int, ...]  # buckets by street

    @property
    def name(self) -> str:
        """Its name; with a single number if all streets have the same number of buckets."""
        words = [str(count) for count in self.counts]
        if self.has_lossless_flop:
            words[FLOP] = LOSSLESS
        return f"{self.kind}:{'/'.join(words if len(set(words)) > 1 else words[:1])}"

    @property
    def has_lossless_flop(self) -> bool:
        """Whether the flop has a bucket for each hand up to suit isomorphism."""
        return self.counts[FLOP] == ALL_HANDS[FLOP]

    def needs_numbers(self, street: int) -> bool:
        """Whether the buckets of a street after the first are defined by numbers: cuts or centres."""
        return self.counts[street] > 1 and not (street == FLOP and self.has_lossless_flop)


def parse_spec(name: str) -> Spec:
    """Parse a name; raises GameError if it is invalid."""
    count = rf"(?:-?\d+|{LOSSLESS})"
    match = re.fullmatch(rf"\s*([a-z0-9]+)\s*:\s*({count}(?:\s*/\s*{count})*)\s*", str(name), re.ASCII)
    if not match:
        raise GameError(
            f"'{name}' is not the name of an abstraction; write it like ehs2:169/100/100/100 or ehs:10 "
            f"(buckets {', '.join(STREETS)})."
        )
    if match[1] not in KINDS:
        raise GameError(unknown("kind of abstraction", match[1], KINDS))
    words = [word.strip() for word in match[2].split("/")]
    if len(words) == 1:
        words *= len(STREETS)
    if len(words) != len(STREETS):
        raise GameError(f"'{name}' has {len(words)} numbers of buckets; write one, or one for each street.")
    return Spec(match[1], tuple(_parse_count(name, street, word) for street, word in enumerate(words)))


def _parse_count(name: str, street: int, word: str) -> int:
    """The number of buckets on a street."""
    if word == LOSSLESS and street > FLOP:
        raise GameError(
            f"'{name}': a lossless {STREETS[street]} would have {ALL_HANDS[street]:,} buckets, which is too "
            f"many; write a number up to {MOST_BUCKETS}. Only the flop can be lossless."
        )
    count = ALL_HANDS[street] if word == LOSSLESS else int(word)
    if not 1 <= count <= MOST_BUCKETS and not (street == FLOP and count == ALL_HANDS[FLOP]):
        more = f", or be {LOSSLESS}" if street == FLOP else ""
        raise GameError(
            f"'{name}': the {STREETS[street]} must have from 1 to {MOST_BUCKETS} buckets{more}, not {count}."
        )
    return count
