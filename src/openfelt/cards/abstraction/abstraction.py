"""Card abstractions: the bucket of one hand by computation, the buckets of all hands by tables.

An abstraction is its name and a *recipe* (`recipes.py`), the few numbers that define the buckets. The recipe
is saved with every policy, so playing needs no tables. The tables [canonical board, hole pair] are for
training; they are computed on first use.

Recall is imperfect: a bucket says nothing of the buckets on earlier streets. Bucket 0 is the weakest, except
on a lossless flop, whose buckets are in no order of strength (`lossless.py`). 169 buckets before the flop are
the 169 classes of hole cards.
"""

from __future__ import annotations

import hashlib
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards import boards, deck, evaluator, strength, strength_tables as tables
from openfelt.cards.abstraction import centre_tree, clusters, kmeans, lossless, ochs, recipes, spec
from openfelt.cards.abstraction.centre_tree import CentreTree, build_tree, nearest
from openfelt.cards.abstraction.kmeans import (
    BINS,
    count_board,
    cumulated,
    nearest_centres,
    strength_counts,
)
from openfelt.cards.abstraction.lossless import flop_hands, flop_hands_on
from openfelt.cards.abstraction.ochs import cluster_of_pairs, kind_equities, river_buckets
from openfelt.cards.abstraction.recipes import OPPONENTS, Recipe, make_recipe, measure_of, needs_tables
from openfelt.cards.abstraction.spec import HOLE_KINDS, MOST_BUCKETS, OCHS, Spec, parse_spec
from openfelt.cards.boards import BoardSet, board_set, find_board, hole_class
from openfelt.cards.deck import (
    BOARD_CARDS,
    FLOP,
    PAIR,
    PAIR_CARDS,
    PAIRS,
    PREFLOP,
    RIVER,
    STREETS,
    Cards,
    parse_hand,
)
from openfelt.cards.strength import RUNOUTS, river_strengths
from openfelt.cards.strength_tables import NO_HAND, Progress, StrengthTables, strength_tables
from openfelt.core.disk_cache import FolderContents, cache_name, load_or_build
from openfelt.core.errors import FileError
from openfelt.core.jit import Floats, Ints, Longs, kernel
from openfelt.core.user_folders import cache_folder

CHUNK = 64  # boards at a time
SOURCES = (
    *(deck, evaluator, boards, strength, tables),
    *(spec, recipes, centre_tree, clusters, kmeans, lossless, ochs, sys.modules[__name__]),
)


class BucketTables(NamedTuple):
    """The bucket of every hand [boards, 1326]; 0 where a hole card is on the board.

    All tables are uint8 or all are uint16, but a lossless flop is int32.
    """

    preflop: NDArray[Any]  # one board, the empty one
    flop: NDArray[Any]
    turn: NDArray[Any]
    river: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Abstraction:
    """A card abstraction: its name and its recipe."""

    spec: Spec
    recipe: Recipe = field(repr=False)
    _loaded: list[BucketTables] = field(default_factory=list, init=False, repr=False)
    _trees: dict[int, CentreTree] = field(default_factory=dict, init=False, repr=False)  # by street

    def __post_init__(self) -> None:
        preflop = self.recipe["preflop"]
        fits = preflop.shape == (HOLE_KINDS,) and 0 <= preflop.min() <= preflop.max() < self.counts[PREFLOP]
        for street in range(FLOP, len(STREETS)):
            numbers, count = self.recipe[STREETS[street]], self.counts[street]
            if not self.spec.needs_numbers(street):
                fits = fits and numbers.shape == (0,)
            elif numbers.ndim == 1:
                fits = fits and len(numbers) < count and bool((np.diff(numbers) >= 0).all())
            else:
                size = ochs.OPPONENTS if self._by_range(street) else BINS
                fits = fits and len(numbers) <= count and numbers.shape[1:] == (size,)
        if self.spec.kind == OCHS:
            clusters = self.recipe[OPPONENTS]
            fits = fits and clusters.shape == (HOLE_KINDS,) and clusters.min() >= 0
            fits = fits and clusters.max() < ochs.OPPONENTS
        if not fits:
            raise FileError(f"The recipe of {self.name} does not match its numbers of buckets.")

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def counts(self) -> tuple[int, ...]:
        """Buckets by street."""
        return self.spec.counts

    def _by_range(self, street: int) -> bool:
        """Whether buckets are of similar equities against the clusters of the opponent's hands."""
        return self.spec.kind == OCHS and street == RIVER and self.recipe["river"].ndim == 2

    @cached_property
    def fingerprint(self) -> str:
        """Equal for two abstractions if and only if name and recipe are equal, and so all buckets."""
        digest = hashlib.sha256(self.name.encode())
        for key in sorted(self.recipe):
            digest.update(key.encode() + np.ascontiguousarray(self.recipe[key]).tobytes())
        return digest.hexdigest()[:16]

    def bucket(self, hole: Cards, board: Cards = ()) -> int:
        """The bucket of one hand, computed without tables (about 20 milliseconds on the flop)."""
        own, table = parse_hand(hole, board)
        street = BOARD_CARDS.index(len(table))
        if street == PREFLOP:
            return int(self.recipe["preflop"][find_board(own)[0]])
        if street == FLOP and self.spec.has_lossless_flop:
            return int(flop_hands_on(table)[PAIR[own]])
        numbers = self.recipe[STREETS[street]]
        if self._by_range(street):
            kinds, equities = kind_equities(np.array(table), cluster_of_pairs(self.recipe[OPPONENTS]))
            return self._nearest(street, equities[kinds[PAIR[own]]])
        strengths = river_strengths(own, table)
        if numbers.ndim == 2:
            return self._nearest(street, cumulated(strength_counts(strengths)))
        power = 1 if measure_of(self.spec) == "ehs" else 2
        value = int((strengths**power).sum()) * (RUNOUTS[street] // len(strengths))
        return int(np.searchsorted(numbers, value, side="right"))

    def _nearest(self, street: int, point: Floats) -> int:
        return int(nearest(point[None], self._tree(street))[0])

    def _tree(self, street: int) -> CentreTree:
        if street not in self._trees:
            self._trees[street] = build_tree(self.recipe[STREETS[street]])
        return self._trees[street]

    @property
    def folder(self) -> Path:
        """The folder in which the tables are cached."""
        return cache_folder() / "abstractions" / cache_name(f"{self.name} {self.fingerprint}", SOURCES)

    def tables(self, *, threads: int = 2, progress: Progress | None = None) -> BucketTables:
        """The tables, from the cache folder; computed on first use."""

        def make() -> FolderContents:
            made = self._make_tables(strength_tables(threads=threads), threads, progress)
            return made._asdict(), {"abstraction": self.name, "fingerprint": self.fingerprint}

        def restore(arrays: Recipe, facts: dict[str, Any]) -> BucketTables:
            if facts.get("fingerprint") != self.fingerprint:
                raise FileError(
                    f"This folder holds the bucket table of {facts.get('abstraction')}; {self.name} was "
                    "requested."
                )
            return BucketTables(*(arrays[street] for street in BucketTables._fields))

        if not self._loaded:
            self._loaded.append(
                load_or_build(self.folder, "buckets", f"The table of {self.name}", make, restore)
            )
        return self._loaded[0]

    def occupancy(self, tables: BucketTables) -> list[Floats]:
        """The share of all hands in each bucket, by street."""
        return [self._street_occupancy(table, street) for street, table in enumerate(tables)]

    def _street_occupancy(self, table: NDArray[Any], street: int) -> Floats:
        found = board_set(BOARD_CARDS[street])
        total = np.zeros(self.counts[street])
        _count_hands(table, found.cards(), found.multiplicity, total)
        return np.asarray(total / total.sum())

    def _make_tables(
        self, strengths: StrengthTables, threads: int, progress: Progress | None
    ) -> BucketTables:
        kind = bucket_type(self.spec)
        made = [self.recipe["preflop"][hole_class()].astype(kind)[None, :]]
        sizes = [len(part.hs) for part in strengths]
        for street in range(FLOP, len(STREETS)):
            is_lossless = street == FLOP and self.spec.has_lossless_flop
            table = np.zeros((sizes[street], PAIRS), np.int32 if is_lossless else kind)
            fill = self._by_cuts
            if is_lossless:
                fill = self._by_isomorphism
            elif self._by_range(street):
                fill = self._by_opponents
            elif self.recipe[STREETS[street]].ndim == 2:
                fill = self._by_centres

            def some(
                chunk: slice, fill: Any = fill, street: int = street, table: NDArray[Any] = table
            ) -> None:
                fill(strengths, street, chunk, table)
                if progress:
                    progress((min(chunk.stop, len(table)) - chunk.start) / sum(sizes))

            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(some, _chunks(len(table), CHUNK)))
            made.append(table)
        return BucketTables(*made)

    def _by_isomorphism(
        self, strengths: StrengthTables, street: int, some: slice, table: NDArray[Any]
    ) -> None:
        table[some] = flop_hands()[some]

    def _by_opponents(self, strengths: StrengthTables, street: int, some: slice, table: NDArray[Any]) -> None:
        found = board_set(BOARD_CARDS[street])
        cards = BoardSet(found.key[some], found.multiplicity[some]).cards()
        river_buckets(cards, cluster_of_pairs(self.recipe[OPPONENTS]), self._tree(street), table[some])

    def _by_cuts(self, strengths: StrengthTables, street: int, some: slice, table: NDArray[Any]) -> None:
        cuts = self.recipe[STREETS[street]]
        if street == RIVER:  # HS has few values: a lookup table suffices
            power = 1 if measure_of(self.spec) == "ehs" else 2
            lookup = np.searchsorted(cuts, np.arange(NO_HAND + 1) ** power, side="right")
            lookup[NO_HAND] = 0
            table[some] = lookup[strengths.river.hs[some]]
        else:
            values = getattr(strengths[street], measure_of(self.spec))[some].astype(np.int64)
            table[some] = np.searchsorted(cuts, values, side="right")
            table[some][strengths[street].hs[some] == NO_HAND] = 0

    def _by_centres(self, strengths: StrengthTables, street: int, some: slice, table: NDArray[Any]) -> None:
        counts = np.empty((PAIRS, BINS), np.int64)
        for board in range(len(table))[some]:
            count_board(street, strengths.river.hs, board, counts)
            possible = strengths[street].hs[board] != NO_HAND
            table[board] = nearest_centres(counts, possible, self._tree(street))


def load_abstraction(name: str | Spec) -> Abstraction:
    """Load a card abstraction by its name.

    Parameters
    ----------
    name : str
        A kind and the number of buckets per street, or one number for all streets: "ehs2:169/100/100/100",
        "ehs:10". `felt abstraction` lists the kinds. Percentile and k-means abstractions are computed from
        all hands on first use and cached.

    Returns
    -------
    Abstraction
        `bucket(hole, board)` is the bucket of one hand; `tables()` has those of all hands.

    Examples
    --------
    >>> abstraction = felt.load_abstraction("ehs2:169/100/100/100")
    >>> abstraction.bucket("AhAd"), abstraction.bucket("AhKh", "Qh7h2s")
    (168, ...)
    """
    which = name if isinstance(name, Spec) else parse_spec(name)
    return _load(which, cache_folder())


@lru_cache(maxsize=8)
def _load(which: Spec, cache: Path) -> Abstraction:
    if not needs_tables(which):
        return Abstraction(which, make_recipe(which, None))

    def make() -> FolderContents:
        return make_recipe(which, strength_tables()), {"abstraction": which.name}

    def restore(arrays: Recipe, _: dict[str, Any]) -> Abstraction:
        return Abstraction(which, {key: np.array(table) for key, table in arrays.items()})

    folder = cache / "abstractions" / cache_name(f"recipe {which.name}", SOURCES)
    return load_or_build(folder, "recipe", f"The recipe of {which.name}", make, restore)


def bucket_type(spec: Spec) -> type[np.unsignedinteger[Any]]:
    """The type of an abstraction's tables, but for that of a lossless flop."""
    most = max(count for count in spec.counts if count <= MOST_BUCKETS)
    return np.uint8 if most <= 256 else np.uint16


@kernel
def _count_hands(table: NDArray[Any], cards: Longs, multiplicity: Ints, total: Floats) -> None:
    """Count the hands in each bucket."""
    for board in range(len(table)):
        for pair in range(PAIRS):
            apart = True
            for card in cards[board]:
                apart &= card not in (PAIR_CARDS[pair, 0], PAIR_CARDS[pair, 1])
            if apart:
                total[table[board, pair]] += multiplicity[board]


def _chunks(size: int, length: int) -> list[slice]:
    return [slice(first, min(first + length, size)) for first in range(0, size, length)]
