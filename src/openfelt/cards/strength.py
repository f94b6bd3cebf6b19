"""Exact hand strength: how often a hand beats a uniform opponent hand, now and at the end.

Three numbers, for every hand on every street:

- HS, hand strength: the chance to be ahead now of an opponent whose two cards may be any (a tie is a half).
- E[HS^2], expected hand strength squared (HS14, after Zinkevich et al. 2007): the mean, over all boards that
  can still come, of the square of HS on the river.
- EHS, effective hand strength (PJL11 3.1, after Billings 2006): HS (1 - NPot) + (1 - HS) PPot. With
  Billings' counts of those ahead, tied and behind, now and at the end, in which a tie is a half on both
  sides, all but who wins in the end cancels out: EHS is the mean of HS on the river.

On the river HS is a number of 1,980ths (twice the 990 opponents). All tables hold sums of such whole numbers
and of their squares: nothing is sampled or rounded. Before the flop nobody is ahead yet: HS is EHS there.
"""

from __future__ import annotations

import csv
import dataclasses
import math
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from openfelt.cards.deck import (
    BOARD_CARDS,
    CARDS,
    PAIR_CARDS,
    PREFLOP,
    RIVER,
    STREETS,
    Cards,
    cards_text,
    pair_class,
    parse_hand,
)
from openfelt.cards.evaluator import CARD_BIT, evaluate
from openfelt.core.errors import FeltError
from openfelt.core.jit import Longs, kernel

PREFLOP_FILE = "preflop.csv"
OPPONENTS = tuple(math.comb(50 - cards, 2) for cards in BOARD_CARDS)  # hands that one opponent may have
RIVER_SCALE = 2 * OPPONENTS[RIVER]  # what HS on the river is a whole number of parts of
# Ways in which the rest of the board can come, card after card but for the flop.
RUNOUTS = (math.comb(50, 3) * 47 * 46, 47 * 46, 46, 1)


@dataclass(frozen=True)
class Strength:
    """The strength of one hand on one board."""

    hole: str
    board: str
    hs: float  # chance to be ahead now
    ppot: float  # chance to end ahead of those who are ahead now
    npot: float  # chance to end behind those who are behind now
    ehs: float
    ehs2: float

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        street = STREETS[BOARD_CARDS.index(len(self.board) // 2)]
        return (
            f"{self.hole} on {self.board or 'no board'} ({street})\n"
            f"  HS      {self.hs:.6f}  chance to be ahead of a random hand now\n"
            f"  PPot    {self.ppot:.6f}  of those ahead, how many will be passed\n"
            f"  NPot    {self.npot:.6f}  of those behind, how many will pass\n"
            f"  EHS     {self.ehs:.6f}  HS (1 - NPot) + (1 - HS) PPot: chance to win in the end\n"
            f"  E[HS2]  {self.ehs2:.6f}  expected square of HS on the river"
        )


def hand_strength(hole: Cards, board: Cards = ()) -> Strength:
    """Everything about one hand, enumerated without tables (a flop takes some 20 milliseconds)."""
    own, table = parse_hand(hole, board)
    street = BOARD_CARDS.index(len(table))
    names = cards_text(own), cards_text(table)
    if street == PREFLOP:
        ehs, ehs2 = (int(total) for total in preflop_sums()[pair_class(own)])
        chance = ehs / (RUNOUTS[PREFLOP] * RIVER_SCALE)
        return Strength(*names, chance, 0.0, 0.0, chance, ehs2 / (RUNOUTS[PREFLOP] * RIVER_SCALE**2))
    counts = np.zeros((3, 3), np.int64)
    ehs, ehs2 = _enumerate(np.array(own), np.array(table), counts, np.empty(CARDS * CARDS, np.int64))
    behind, tied, ahead = counts  # each: how many end behind, tied, ahead
    hs = (ahead.sum() + tied.sum() / 2) / counts.sum()
    passed = ahead_of = 0.0
    if street != RIVER:
        passed = _ratio(behind[2] + behind[1] / 2 + tied[2] / 2, behind.sum() + tied.sum() / 2)
        ahead_of = _ratio(ahead[0] + ahead[1] / 2 + tied[0] / 2, ahead.sum() + tied.sum() / 2)
    runouts = math.comb(50 - len(table), 5 - len(table))
    return Strength(
        *names, hs, passed, ahead_of, ehs / (runouts * RIVER_SCALE), ehs2 / (runouts * RIVER_SCALE**2)
    )


def river_strengths(hole: Cards, board: Cards) -> Longs:
    """HS on the river (in 1,980ths) for every board that can still come."""
    own, table = parse_hand(hole, board)
    if not table:
        raise FeltError("Before the flop there are too many boards to enumerate for one hand.")
    found = np.empty(math.comb(50 - len(table), 5 - len(table)), np.int64)
    _enumerate(np.array(own), np.array(table), np.zeros((3, 3), np.int64), found)
    return found


@cache
def preflop_sums() -> dict[str, tuple[int, int]]:
    """For each kind of hole cards the sums of HS and of HS^2 on the river, from the file beside this one."""
    text = resources.files(__package__).joinpath(PREFLOP_FILE).read_text(encoding="utf-8")
    return {row["hole"]: (int(row["hs"]), int(row["hs2"])) for row in csv.DictReader(text.splitlines())}


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else 0.0


@kernel
def _enumerate(own: Longs, board: Longs, counts: Longs, found: Longs) -> tuple[int, int]:
    """Sums of HS and HS^2 on the river over all boards to come.

    `counts` gets how many opponents are behind, tied or ahead of us now (row) and in the end (column), seen
    from our side: 0 we are behind, 1 tied, 2 ahead. `found` gets HS of each board.
    """
    base = np.uint64(0)
    for card in board:
        base |= CARD_BIT[card]
    mine = CARD_BIT[own[0]] | CARD_BIT[own[1]]
    now = evaluate(base | mine)
    pairs, words, is_now = 0, np.empty(len(PAIR_CARDS), np.uint64), np.empty(len(PAIR_CARDS), np.int64)
    for pair in range(len(PAIR_CARDS)):
        word = CARD_BIT[PAIR_CARDS[pair, 0]] | CARD_BIT[PAIR_CARDS[pair, 1]]
        if not word & (base | mine):
            value = evaluate(base | word)
            words[pairs], is_now[pairs] = word, 1 + (now > value) - (now < value)
            pairs += 1
    total, squares, boards = 0, 0, 0
    rest = np.zeros(2, np.int64)  # the cards to come, ascending; a place that is not needed stays at 0
    missing = 5 - len(board)
    for first in range(CARDS if missing > 0 else 1):
        rest[0] = first
        for second in range(first + 1 if missing > 1 else 0, CARDS if missing > 1 else 1):
            rest[1] = second
            more = np.uint64(0)
            for place in range(missing):
                more |= CARD_BIT[rest[place]]
            if more & (base | mine):
                continue
            final, score = evaluate(base | mine | more), 0
            for pair in range(pairs):
                if words[pair] & more:
                    continue
                value = evaluate(base | words[pair] | more)
                is_final = 1 + (final > value) - (final < value)
                counts[is_now[pair], is_final] += 1
                score += is_final
            found[boards] = score
            boards += 1
            total += score
            squares += score * score
    return total, squares
