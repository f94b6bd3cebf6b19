"""Bet sizes as text and as chips: "33%, 75%, a" for bets, "2.5x, a" for raises.

Notation and rules are those of postflop-solver (b-inary, `BetSizeOptions` and `TreeConfig`), whose thresholds
are those of PioSolver. Departures: a number without a sign is a percentage; "120c" is the total of a bet or
raise (postflop-solver adds it to the last bet); percentages are rounded from the number as written, so 29% of
50 chips are 14.5, rounded to 15.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import NamedTuple

from openfelt.core.errors import FeltError
from openfelt.games.bet_size_kinds import (
    AllIn,
    BetSize,
    BetSpot,
    Chips,
    Geometric,
    LastBetMultiple,
    PotShare,
    round_chips,
)

MAX_LENGTH = 1_000
ALLOWED = (
    "write 60% (of the pot), 2.5x (the last bet; raises only), 120c (chips), e, 2e or 3e200% (geometric) or a"
)
NUMBER = r"(?:[0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9})"
PERCENT = re.compile(rf"({NUMBER})%?")
MULTIPLE = re.compile(rf"({NUMBER})x")
CHIPS = re.compile(r"([0-9]{1,9})c")
GEOMETRIC = re.compile(rf"([0-9]{{0,9}})e(?:({NUMBER})%)?")
MAX_STREETS = 100  # of a geometric size
MERGING_TOLERANCE = 1e-12


class Thresholds(NamedTuple):
    """Changes to a list of sizes; 0 switches one off."""

    add_allin: float = 0.0
    force_allin: float = 0.0
    merging: float = 0.0


NO_THRESHOLDS = Thresholds()


@dataclass(frozen=True)
class BetSizes:
    """The sizes that a player may bet or raise to; `parse_sizes` reads them from text.

    Examples
    --------
    >>> sizes = parse_sizes("33%, 75%, allin")
    >>> sizes.amounts(BetSpot(pot=200, stack=900))
    [66, 150, 900]
    >>> print(sizes)
    33%, 75%, a
    """

    sizes: tuple[BetSize, ...] = ()

    def __str__(self) -> str:
        return ", ".join(map(str, self.sizes)) or "none"

    def amounts(self, spot: BetSpot, thresholds: Thresholds = NO_THRESHOLDS) -> list[int]:
        """The totals that the player to act may bet or raise to.

        With the last bet B (0 if nobody has bet), the pot P after a call and the stack S at the beginning of
        the street:

        1. "60%" is B + round(0.6 P), "2.5x" is round(2.5 B), "120c" is 120 and "a" is S. "e" is
           B + round(r P) with r = ((1 + 2 (S - B) / P)^(1/n) - 1) / 2: n equal shares of the growing pot put
           the stack in. n is the number before the "e", or the number of streets left, less the raises on
           this street, and at least 1. "3e200%" limits r to 2. Halves are rounded up.
        2. ``add_allin`` adds the all-in if S <= B + round(add_allin P), even to an empty list.
        3. A total below the least one becomes the least one; a total above S becomes S. The least raise is by
           as much as the last bet or raise.
        4. ``force_allin`` replaces a total T by S if the stack left after a call, S - T, is at most
           round(force_allin P'), where P' = P + 2 (T - B) is the pot then.
        5. ``merging`` takes the totals from the largest down, and drops a total of y pots over B if
           (1 + x) / (1 + y) <= 1 + merging, where x belongs to the last total kept.

        Parameters
        ----------
        spot : BetSpot
            The betting so far.
        thresholds : Thresholds, optional
            All off by default.

        Returns
        -------
        list of int
            In increasing order, without duplicates; empty if the opponent is all-in.

        Examples
        --------
        >>> raises = parse_sizes("2.5x")
        >>> raises.amounts(BetSpot(pot=200, stack=900, last_bet=120))
        [300]
        >>> raises.amounts(BetSpot(pot=200, stack=900, last_bet=750, committed=300, raises=2))
        [900]
        """
        _check_spot(spot)
        _check_thresholds(thresholds)
        stack, last_bet, pot = spot.stack, spot.last_bet, spot.pot_after_call
        if last_bet == stack:
            return []
        totals = [size.total(spot) for size in self.sizes]
        if stack <= last_bet + round_chips(thresholds.add_allin * pot):
            totals.append(stack)
        least = min(stack, _least_total(spot))
        found = set[int]()
        for total in totals:
            total = min(max(total, least), stack)
            left = round_chips(thresholds.force_allin * (pot + 2 * (total - last_bet)))
            found.add(stack if stack <= total + left else total)
        return _merge(sorted(found), spot, thresholds.merging)


def parse_sizes(text: str, *, first_bet: bool = False) -> BetSizes:
    """Bet sizes from text.

    ===========  =================================================================================
    size         meaning
    ===========  =================================================================================
    60%, 60      percentage of the pot; for a raise, of the pot after a call
    2.5x         multiple of the last bet; raises only
    120c         total in chips
    e, 2e        geometric size over the streets left, or over two
    e150%, 3e200%  geometric size, at most this percentage of the pot
    a, allin     all-in
    ===========  =================================================================================

    `BetSizes.amounts` states the rules.

    Parameters
    ----------
    text : str
        Sizes separated by commas; an empty string or "none" for no bets.
    first_bet : bool, optional
        Whether the sizes are those of a first bet, for which "2.5x" is refused.

    Returns
    -------
    BetSizes

    Examples
    --------
    >>> parse_sizes("60%, 2.5x, 3e200%, a").sizes[:2]
    (PotShare(percent=60.0), LastBetMultiple(factor=2.5))
    """
    if len(text) > MAX_LENGTH:
        raise FeltError(f"The bet sizes have {len(text):,} characters; at most {MAX_LENGTH:,} are allowed.")
    if text.strip().lower() in ("", "none"):
        return BetSizes()
    sizes = tuple(_parse_size(part.strip()) for part in text.split(","))
    for size in sizes:
        if first_bet and isinstance(size, LastBetMultiple):
            raise FeltError(
                f"'{size}' is a multiple of the last bet and only a raise has one; write 60% or 120c."
            )
    return BetSizes(sizes)


def _parse_size(text: str) -> BetSize:
    """One size."""
    word = text.lower()
    if word in ("a", "allin", "all-in"):
        return AllIn()
    if found := PERCENT.fullmatch(word):
        return PotShare(_positive(float(found[1]), text))
    if found := MULTIPLE.fullmatch(word):
        if float(found[1]) <= 1:
            raise FeltError(
                f"The raise '{text}' is not more than the last bet; write a factor above 1, as in 2.5x."
            )
        return LastBetMultiple(float(found[1]))
    if found := CHIPS.fullmatch(word):
        return Chips(int(_positive(int(found[1]), text)))
    if found := GEOMETRIC.fullmatch(word):
        limit = math.inf if found[2] is None else _positive(float(found[2]), text)
        streets = int(_positive(int(found[1]), text)) if found[1] else None
        if streets is not None and streets > MAX_STREETS:
            raise FeltError(f"The bet size '{text}' is over more than {MAX_STREETS} streets; write 2e or 3e.")
        return Geometric(streets, limit)
    shown = ascii(text if len(text) <= 40 else text[:40] + "...")
    raise FeltError(f"{shown} is not a bet size; {ALLOWED}.")


def _positive(number: float, text: str) -> float:
    if not number > 0:
        raise FeltError(f"The numbers of the bet size '{text}' must be more than 0.")
    return number


def _check_spot(spot: BetSpot) -> None:
    """Raise FeltError unless the betting is possible."""
    if spot.pot < 1 or spot.stack < 1 or spot.streets < 1:
        raise FeltError(
            f"Pot, stack and streets must be at least 1, not {spot.pot}, {spot.stack} and {spot.streets}."
        )
    if not 0 <= spot.committed <= spot.last_bet <= spot.stack or spot.raises < 0:
        raise FeltError(
            f"The last bet must be from the player's own chips ({spot.committed}) to the stack "
            f"({spot.stack}), not {spot.last_bet}, after a non-negative number of raises, not {spot.raises}."
        )


def _check_thresholds(thresholds: Thresholds) -> None:
    for name, value in thresholds._asdict().items():
        if not 0 <= value < math.inf:
            raise FeltError(f"The threshold {name} must be a non-negative number, not {value}.")


def _least_total(spot: BetSpot) -> int:
    """The least legal bet or raise, if the stack allows it."""
    if spot.min_bet is not None:
        return max(spot.min_bet, spot.last_bet + 1)
    return max(2 * spot.last_bet - spot.committed, spot.last_bet + 1)


def _merge(totals: list[int], spot: BetSpot, merging: float) -> list[int]:
    """Totals of which no two are close."""
    kept: list[int] = []
    for total in reversed(totals):
        share = (total - spot.last_bet) / spot.pot_after_call
        above = (kept[-1] - spot.last_bet) / spot.pot_after_call if kept else math.inf
        if not merging or share < (above - merging) / (1 + merging) * (1 - MERGING_TOLERANCE):
            kept.append(total)
    return kept[::-1]
