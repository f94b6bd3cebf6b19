"""Exact hand strength: how often a hand beats a uniformly random opponent hand, now and at the end.

Three numbers, for every hand on every street:

- HS, hand strength: the probability of being ahead now of an opponent with random cards (a tie is one half).
- E[HS^2], expected hand strength squared (HS14, after Zinkevich et al. 2007): the mean, over all possible
  boards, of the square of HS on the river.
- EHS, effective hand strength (PJL11 3.1, after Billings 2006): HS (1 - NPot) + (1 - HS) PPot. With
  Billings' counts of opponents ahead, tied and behind, now and at the end, where a tie is one half on both
  sides, everything but the final outcome cancels: EHS is the mean of HS on the river.

On the river HS is a number of 1,980ths (twice the 990 opponents). All tables hold sums of such whole numbers
and of their squares: nothing is sampled or rounded. Before the flop HS is defined as EHS.
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
OPPONENTS = tuple(math.comb(50 - cards, 2) for cards in BOARD_CARDS)  # possible hands of one opponent
RIVER_SCALE = 2 * OPPONENTS[RIVER]  # the denominator of HS on the river
# Number of ways to deal the rest of the board: the flop as a set, then card by card.
RUNOUTS = (math.comb(50, 3) * 47 * 46, 47 * 46, 46, 1)


@dataclass(frozen=True)
class Strength:
    """The strength of one hand on one board."""

    hole: str
    board: str
    hs: float  # probability of being ahead now
    ppot: float  # probability of ending ahead of hands that are ahead now
    npot: float  # probability of ending behind hands that are behind now
    ehs: float
    ehs2: float

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        street = STREETS[BOARD_CARDS.index(len(self.board) // 2)]
        return (
            f"{self.hole} on {self.board or 'no board'} ({street})\n"
            f"  HS      {self.hs:.6f}  probability of being ahead of a random hand now\n"
            f"  PPot    {self.ppot:.6f}  share of hands now ahead that it will beat\n"
            f"  NPot    {self.npot:.6f}  share of hands now behind that will beat it\n"
            f"  EHS     {self.ehs:.6f}  HS (1 - NPot) + (1 - HS) PPot: probability of winning at the end\n"
            f"  E[HS2]  {self.ehs2:.6f}  expected square of HS on the river"
        )


def hand_strength(hole: Cards, board: Cards = ()) -> Strength:
    """The exact strength of a hand against a uniformly random opponent hand, by enumeration.

    Parameters
    ----------
    hole : str or sequence
        Two cards: "AhKh", or card names or numbers.
    board : str or sequence
        0, 3, 4 or 5 cards.

    Returns
    -------
    Strength
        `hs`, `ppot`, `npot`, `ehs` and `ehs2`, each from 0 to 1.

    Examples
    --------
    >>> print(felt.hand_strength("AhKh", "Qh7h2s"))
    AhKh on Qh7h2s (flop)
      HS      ...
    """
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
    """HS on the river (in 1,980ths) for every possible board."""
    own, table = parse_hand(hole, board)
    if not table:
        raise FeltError("Before the flop there are too many boards to enumerate for one hand.")
    found = np.empty(math.comb(50 - len(table), 5 - len(table)), np.int64)
    _enumerate(np.array(own), np.array(table), np.zeros((3, 3), np.int64), found)
    return found


@cache
def preflop_sums() -> dict[str, tuple[int, int]]:
    """The sums of HS and of HS^2 on the river by class of hole cards, from the file next to this one."""
    text = resources.files(__package__).joinpath(PREFLOP_FILE).read_text(encoding="utf-8")
    return {row["hole"]: (int(row["hs"]), int(row["hs2"])) for row in csv.DictReader(text.splitlines())}


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else 0.0


@kernel
def _enumerate(own: Longs, board: Longs, counts: Longs, found: Longs) -> tuple[int, int]:
    """Sums of HS and HS^2 on the river over all possible boards.

    `counts` gets the numbers of opponents by comparison now (row) and at the end (column): 0 we are behind, 1
    tied, 2 ahead. `found` gets HS of each board.
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
    rest = np.zeros(2, np.int64)  # the cards to come, ascending; unused entries stay 0
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
