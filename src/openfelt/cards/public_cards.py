"""The public cards of hold'em up to suits, in the order in which they are dealt: flop, turn, river.

Flops that differ by a permutation of suits are isomorphic, so one of them is solved and counts for all. The
permutations that map the flop to itself make turns isomorphic, and those that also map the turn to itself
make rivers isomorphic. The values of one card give those of every isomorphic card through a permutation.

A deck may be smaller than 52 cards: any set of whole ranks and suits. Cards keep their numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from openfelt.cards.boards import PERMUTATIONS, PERMUTED_CARD, Boards, boards, step
from openfelt.cards.deck import CARDS, PAIR_CARDS, RANKS, SUITS, Bytes
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, Ints, Longs, kernel, part

LEAST_CARDS = 9  # two hands and a board


@dataclass(frozen=True)
class Deck:
    """A deck of the highest ranks and the first suits."""

    ranks: int = len(RANKS)
    suits: int = len(SUITS)

    def __post_init__(self) -> None:
        whole = 1 <= self.ranks <= len(RANKS) and 1 <= self.suits <= len(SUITS)
        if not whole or self.size < LEAST_CARDS:
            raise FeltError(f"Two hands and a board need a deck of {LEAST_CARDS} cards, not {self.size}.")

    @property
    def size(self) -> int:
        return self.ranks * self.suits

    @cached_property
    def live(self) -> Bytes:
        """[52] whether a card is in the deck."""
        number = np.arange(CARDS)
        return ((number // 4 >= len(RANKS) - self.ranks) & (number % 4 < self.suits)).astype(np.uint8)

    @cached_property
    def pairs(self) -> Bytes:
        """[1326] whether both cards are in the deck."""
        return np.asarray(self.live[PAIR_CARDS[:, 0]] & self.live[PAIR_CARDS[:, 1]])

    @cached_property
    def symmetry(self) -> Longs:
        """The permutations of its suits."""
        kept = (PERMUTATIONS[:, self.suits :] == np.arange(self.suits, len(SUITS))).all(axis=1)
        return np.flatnonzero(kept)

    @property
    def chances(self) -> Floats:
        """[streets] probability of each hand of the opponent, each flop, each turn and each river."""
        left = self.size - 2  # cards that a player does not see
        return 1.0 / np.array([comb(left, 2), comb(left - 2, 3), left - 5, left - 6])

    @cached_property
    def flops(self) -> list[Flop]:
        """One flop for each class of isomorphic flops."""
        return list(_flops(self))


class Flop(NamedTuple):
    """A flop that stands for all isomorphic flops."""

    cards: tuple[int, int, int]
    seen_as: Longs  # for each isomorphic flop, a permutation of suits that leads to it

    @property
    def multiplicity(self) -> int:
        return len(self.seen_as)


def _flops(deck: Deck) -> Iterator[Flop]:
    met: set[tuple[int, ...]] = set()
    for cards in combinations(np.flatnonzero(deck.live).tolist(), 3):
        if cards in met:
            continue
        images = {
            tuple(sorted(PERMUTED_CARD[order, list(cards)].tolist())): order
            for order in reversed(deck.symmetry)
        }
        met.update(images)
        yield Flop(cards, np.array(sorted(images.values())))


class Orbits(NamedTuple):
    """The cards that can be dealt next, one for each orbit of the remaining suit symmetry."""

    card: Ints  # [52] one card per orbit; the rest is unused
    first: Ints  # [53] where its permutations begin in `seen_as`
    seen_as: Ints  # [52] for each card of an orbit, a permutation that leads to it


def no_orbits() -> Orbits:
    """Empty arrays for any orbits."""
    return Orbits(np.empty(CARDS, np.int32), np.zeros(CARDS + 1, np.int32), np.empty(CARDS, np.int32))


@part
def keepers(group: Ints, size: int, cards: Ints, count: int, kept: Ints) -> int:
    """Write the permutations of a group that map a set of cards to itself; returns their number."""
    found = 0
    for place in range(size):
        keeps = True
        for which in range(count):
            inside = False
            for other in range(count):
                inside |= PERMUTED_CARD[group[place], cards[which]] == cards[other]
            keeps &= inside
        if keeps:
            kept[found] = group[place]
            found += 1
    return found


@part
def find_orbits(live: Bytes, cards: Ints, count: int, group: Ints, size: int, orbits: Orbits) -> int:
    """Find the orbits of the cards that can follow `cards`, under a group that fixes these; how many."""
    met = np.int64(0)
    for which in range(count):
        met |= np.int64(1) << np.int64(cards[which])
    found, total = 0, 0
    for card in range(CARDS):
        if live[card] and not met >> np.int64(card) & 1:
            orbits.card[found] = card
            for place in range(size):
                image = np.int64(PERMUTED_CARD[group[place], card])
                if not met >> image & 1:
                    met |= np.int64(1) << image
                    orbits.seen_as[total] = group[place]
                    total += 1
            found += 1
            orbits.first[found] = total
    return found


class Plan(NamedTuple):
    """All boards that can follow a flop, up to suits; rivers are in the order of their turns."""

    turns: int
    rivers: int
    number: Ints  # [1 + turns + rivers] number of the canonical board: of the flop, of turns, of rivers
    through: Ints  # [1 + turns + rivers] the permutation that makes the board canonical
    turn: Ints  # [turns] cards
    turn_first: Ints  # [turns + 1] into `turn_as`
    turn_as: Ints  # permutations, one for each isomorphic card
    river: Ints  # [rivers] cards
    of_turn: Ints  # [turns + 1] the first river of each turn
    river_first: Ints  # [rivers + 1] into `river_as`
    river_as: Ints


def plan_flop(deck: Deck, flop: Flop) -> Plan:
    """Enumerate the boards that can follow a flop."""
    turns, most = deck.size - 3, (deck.size - 3) * (deck.size - 4)
    sizes = (1 + turns + most, 1 + turns + most, turns, turns + 1, turns, most, turns + 1, most + 1, most)
    arrays = [np.zeros(size, np.int32) for size in sizes]
    room = Plan(0, 0, *arrays)
    counts = _plan(deck.live, boards(), np.array(flop.cards, np.int32), deck.symmetry.astype(np.int32), room)
    turns, rivers = int(counts[0]), int(counts[1])
    ends = (
        *(1 + turns + rivers, 1 + turns + rivers, turns, turns + 1, room.turn_first[turns]),
        *(rivers, turns + 1, rivers + 1, room.river_first[rivers]),
    )
    cut = [array[:end] for array, end in zip(arrays, ends, strict=True)]
    # The kernel did not know the number of turns yet, so it left room for all of them before the rivers.
    number, through = (
        np.concatenate([each[: 1 + turns], each[deck.size - 2 :][:rivers]]) for each in arrays[:2]
    )
    return Plan(turns, rivers, number, through, *cut[2:])


@kernel
def _plan(live: Bytes, known: Boards, flop: Ints, symmetry: Ints, plan: Plan) -> tuple[int, int]:
    cards, group, rest = np.empty(5, np.int32), np.empty(24, np.int32), np.empty(24, np.int32)
    turns = Orbits(np.empty(CARDS, np.int32), np.zeros(CARDS + 1, np.int32), np.empty(CARDS, np.int32))
    rivers = Orbits(np.empty(CARDS, np.int32), np.zeros(CARDS + 1, np.int32), np.empty(CARDS, np.int32))
    cards[:3] = flop
    board, seen_as = step(known.to_1, 0, 0, cards[0])
    board, seen_as = step(known.to_2, board, seen_as, cards[1])
    board, seen_as = step(known.to_3, board, seen_as, cards[2])
    plan.number[0], plan.through[0] = board, seen_as
    first_river = 1 + len(plan.turn)
    size = keepers(symmetry, len(symmetry), cards, 3, group)
    count, total, listed = find_orbits(live, cards, 3, group, size, turns), 0, 0
    for turn in range(count):
        cards[3] = plan.turn[turn] = turns.card[turn]
        plan.turn_first[turn + 1] = turns.first[turn + 1]
        after, seen = step(known.to_4, board, seen_as, cards[3])
        plan.number[1 + turn], plan.through[1 + turn] = after, seen
        left = keepers(group, size, cards[3:], 1, rest)
        for river in range(find_orbits(live, cards, 4, rest, left, rivers)):
            cards[4] = plan.river[total] = rivers.card[river]
            last, through = step(known.to_5, after, seen, cards[4])
            plan.number[first_river + total], plan.through[first_river + total] = last, through
            for place in range(rivers.first[river], rivers.first[river + 1]):
                plan.river_as[listed] = rivers.seen_as[place]
                listed += 1
            total += 1
            plan.river_first[total] = listed
        plan.of_turn[turn + 1] = total
    plan.turn_as[: turns.first[count]] = turns.seen_as[: turns.first[count]]
    return count, total
