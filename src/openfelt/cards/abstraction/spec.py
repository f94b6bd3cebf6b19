"""The names of abstractions: "ehs2:169/100/100/100" is a kind and the number of buckets on each street."""

from __future__ import annotations

import re
from dataclasses import dataclass

from openfelt.cards.deck import STREETS
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


@dataclass(frozen=True)
class Spec:
    """The kind and size of an abstraction."""

    kind: str
    counts: tuple[int, ...]  # buckets by street

    @property
    def name(self) -> str:
        """Its name; with a single number if all streets have the same number of buckets."""
        counts = self.counts if len(set(self.counts)) > 1 else self.counts[:1]
        return f"{self.kind}:{'/'.join(map(str, counts))}"


def parse_spec(name: str) -> Spec:
    """Parse a name; raises GameError if it is invalid."""
    match = re.fullmatch(r"\s*([a-z0-9]+)\s*:\s*(-?\d+(?:\s*/\s*-?\d+)*)\s*", str(name), re.ASCII)
    if not match:
        raise GameError(
            f"'{name}' is not the name of an abstraction; write it like ehs2:169/100/100/100 or ehs:10 "
            f"(buckets {', '.join(STREETS)})."
        )
    if match[1] not in KINDS:
        raise GameError(unknown("kind of abstraction", match[1], KINDS))
    counts = tuple(int(word) for word in match[2].split("/"))
    if len(counts) == 1:
        counts *= len(STREETS)
    if len(counts) != len(STREETS):
        raise GameError(f"'{name}' has {len(counts)} numbers of buckets; write one, or one for each street.")
    for street, count in zip(STREETS, counts, strict=True):
        if not 1 <= count <= MOST_BUCKETS:
            raise GameError(
                f"'{name}': the {street} must have from 1 to {MOST_BUCKETS} buckets, not {count}."
            )
    return Spec(match[1], counts)
