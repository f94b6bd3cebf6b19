"""One street of betting on one board, for all hands at once: the opponent's reach down, values up.

For each line to the next street (`betting_lines.py`) there is a vector over hands: the opponent's reach at
its end. From it follow, for each hand of ours,

- its value at a showdown: the reach of the hands it beats minus that of the hands that beat it, among hands
  that share no card with it;
- if a player folds, the total reach of the hands that share no card with it: what it *meets*.

Both take time linear in the number of hands: one pass over the hands in order of value, with running sums of
all hands and of those that hold each card. LANES roots are computed side by side, with all their lines, so
that a hand's numbers are one long row and the processor can vectorize over it.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from openfelt.cards.deck import CARDS, PAIR_CARDS
from openfelt.core.jit import Floats, Ints, kernel, part
from openfelt.solve.vector.betting_lines import LANES, LINES

Three: TypeAlias = tuple[float, float, float]
Four: TypeAlias = tuple[float, float, float, float]


class Hands(NamedTuple):
    """The hands that are possible on a board; on the river in the order of their values."""

    size: Ints  # [1]
    pair: Ints  # [1326]
    end: Ints  # [1326] on the river: the place after the last hand of equal value
    theirs: Ints  # [parts, 1326] the hand's bucket for the opponent, by part of a mixture
    ours: Ints  # [1, 1326] its bucket for us


class StreetWorkspace(NamedTuple):
    """The arrays that one thread writes to on a street; rows of `lines * LANES`, line by line."""

    reach: Floats  # [1326, row] the opponent's
    call: Floats  # [1326, row] our value if the line ends in the next street or a showdown
    met: Floats  # [1326, row] the part of the opponent's reach that our hand meets
    pot: Floats  # [row] of `StreetLines`
    paid: Floats  # [1, row]
    total: Floats  # [row]
    of_card: Floats  # [52, row]


def new_hands(parts: int) -> Hands:
    """Empty arrays for the hands of any board, against an opponent with that many parts."""
    shapes = (1,), (len(PAIR_CARDS),), (len(PAIR_CARDS),), (parts, len(PAIR_CARDS)), (1, len(PAIR_CARDS))
    return Hands(*(np.zeros(shape, np.int32) for shape in shapes))


def new_street_workspace(kind: type[np.floating[Any]]) -> StreetWorkspace:
    """A workspace for numbers of that type."""
    row = LINES * LANES
    shapes = [(len(PAIR_CARDS), row)] * 3 + [(row,), (1, row), (row,), (CARDS, row)]
    return StreetWorkspace(*(np.zeros(shape, kind) for shape in shapes))


@kernel
def spread(hands: Hands, buckets: Ints, share: Floats, reach: Floats, first: int, into: Floats) -> None:
    """Compute a player's reach at the end of each line, for the roots from `first` on.

    `share` is [buckets, row] for these roots.
    """
    lanes = into.shape[1] // LINES
    for place in range(hands.size[0]):
        pair, bucket = hands.pair[place], buckets[place]
        for lane in range(lanes):
            came = reach[pair, first + lane]
            into[place, lane] = came * share[bucket, lane]
            into[place, lanes + lane] = came * share[bucket, lanes + lane]
            into[place, 2 * lanes + lane] = came * share[bucket, 2 * lanes + lane]
            into[place, 3 * lanes + lane] = came * share[bucket, 3 * lanes + lane]
            into[place, 4 * lanes + lane] = came * share[bucket, 4 * lanes + lane]
            into[place, 5 * lanes + lane] = came * share[bucket, 5 * lanes + lane]
            into[place, 6 * lanes + lane] = came * share[bucket, 6 * lanes + lane]
            into[place, 7 * lanes + lane] = came * share[bucket, 7 * lanes + lane]
            into[place, 8 * lanes + lane] = came * share[bucket, 8 * lanes + lane]


@kernel
def spread_parts(hands: Hands, share: Floats, reach: Floats, first: int, work: StreetWorkspace) -> None:
    """Compute the opponent's reach; for a mixture the sum over its parts."""
    total, more = work.reach, work.call
    spread(hands, hands.theirs[0], share, reach[0], first, total)
    for which in range(1, len(reach)):
        spread(hands, hands.theirs[which], share, reach[which], first, more)
        for place in range(hands.size[0]):
            for at in range(total.shape[1]):
                total[place, at] += more[place, at]


@kernel
def meet(hands: Hands, work: StreetWorkspace) -> None:
    """Compute the part of the opponent's reach that each hand meets."""
    reach, met, total, of_card = work.reach, work.met, work.total, work.of_card
    row = len(total)
    total[:] = 0.0
    of_card[:] = 0.0
    for place in range(hands.size[0]):
        low, high = PAIR_CARDS[hands.pair[place], 0], PAIR_CARDS[hands.pair[place], 1]
        for at in range(row):
            here = reach[place, at]
            total[at] += here
            of_card[low, at] += here
            of_card[high, at] += here
    for place in range(hands.size[0]):
        low, high = PAIR_CARDS[hands.pair[place], 0], PAIR_CARDS[hands.pair[place], 1]
        for at in range(row):
            # Rounding must not make it negative: then an illegal bet would win (`betting_lines.NEVER`).
            here = total[at] - of_card[low, at] - of_card[high, at] + reach[place, at]
            met[place, at] = here if here > 0.0 else here * 0


@kernel
def show_down(hands: Hands, work: StreetWorkspace) -> None:
    """The pot times the difference between the reach of the hands that each hand beats and that beat it.

    The running sum before the hands of equal value are added is that of the lower hands. After they are
    added, it lacks only the higher ones, whose sum is the total that the hand meets minus the running sum.
    """
    reach, met, won, pot = work.reach, work.met, work.call, work.pot
    below, of_card = work.total, work.of_card
    row = len(below)
    below[:] = 0.0
    of_card[:] = 0.0
    start = 0
    while start < hands.size[0]:
        end = hands.end[start]
        for place in range(start, end):
            low, high = PAIR_CARDS[hands.pair[place], 0], PAIR_CARDS[hands.pair[place], 1]
            for at in range(row):
                won[place, at] = below[at] - of_card[low, at] - of_card[high, at]
        for place in range(start, end):
            low, high = PAIR_CARDS[hands.pair[place], 0], PAIR_CARDS[hands.pair[place], 1]
            for at in range(row):
                here = reach[place, at]
                below[at] += here
                of_card[low, at] += here
                of_card[high, at] += here
        for place in range(start, end):
            low, high = PAIR_CARDS[hands.pair[place], 0], PAIR_CARDS[hands.pair[place], 1]
            for at in range(row):
                # A hand's own reach is in all three sums, so it was taken off twice.
                not_above = below[at] - of_card[low, at] - of_card[high, at] + reach[place, at]
                won[place, at] = pot[at] * (won[place, at] + not_above - met[place, at])
        start = end


# The value of a street for a best response is computed from its nine lines, from the last bet of each raise
# sequence to the first. `call` is our value if a line ends in the next street, `met` the part of the
# opponent's reach that our hand meets there, `paid` what the player that answers the last bet of a line had
# paid before it. At our decisions the value is the maximum over actions. At the opponent's it is the sum over
# its actions, where the reach of a fold is the reach before the decision minus that of the call and of the
# raise. So `paid` is multiplied by the first of these and subtracted for the other two, each term on the line
# of its `met`.


@part
def back(ours: bool, later: float, call: float, met: float, paid: Three) -> float:
    """The value of a raise sequence from a bet on, given the value of its `later` bets.

    `ours`: whether we answer the bet. `paid` is that of the bet, of the next one and of the one before.
    """
    if ours:
        return max(max(call, -paid[0] * met), later + paid[1] * met) - paid[2] * met
    return later + call - paid[0] * met


@part
def raise_sequence(we_begin: bool, call: Four, met: Four, paid: Four) -> float:
    """The value of a raise sequence of four bets; if we begin it, without the folds to our first bet."""
    if we_begin:
        value = max(call[3], -paid[3] * met[3]) - paid[2] * met[3]
        value += call[2] - paid[2] * met[2]
        value = back(True, value, call[1], met[1], (paid[1], paid[2], paid[0]))
        return value + call[0] - paid[0] * met[0]
    value = call[3] - paid[3] * met[3]
    value = back(True, value, call[2], met[2], (paid[2], paid[3], paid[1]))
    value += call[1] - paid[1] * met[1]
    return max(max(call[0], -paid[0] * met[0]), value + paid[1] * met[0])


@part
def whole_street(opens: bool, begun: float, joined: float, call: float, met: float, paid: float) -> float:
    """The value of a street, given those of the raise sequences that we begin and that the opponent begins.

    `call` and `met` are those of the line in which both check, `paid` is that of our first bet.
    """
    if opens:
        return max(call + joined, begun + paid * met)
    return max(call, begun + paid * met) + joined


@part
def _four(row: Floats, at: int, apart: int) -> Four:
    return row[at], row[at + apart], row[at + 2 * apart], row[at + 3 * apart]


@part
def _best(opens: bool, call: Floats, met: Floats, paid: Floats, lane: int, lanes: int) -> float:
    """The value of a street for one hand at one root."""
    ours, theirs = (5 * lanes + lane, lanes + lane) if opens else (lanes + lane, 5 * lanes + lane)
    begun = raise_sequence(True, _four(call, ours, lanes), _four(met, ours, lanes), _four(paid, ours, lanes))
    joined = raise_sequence(
        False, _four(call, theirs, lanes), _four(met, theirs, lanes), _four(paid, theirs, lanes)
    )
    if opens:  # our first bet is also faced by hands that the opponent would have bet
        begun += paid[ours] * met[theirs]
    return whole_street(opens, begun, joined, call[lane], met[lane], paid[ours])


@kernel
def respond_best(hands: Hands, opens: bool, first: int, work: StreetWorkspace, values: Floats) -> None:
    """Fill `values` [1326, roots] with the value of each hand for a best response."""
    # A loop of unknown length is not unrolled, so it is vectorized over lanes. There is one loop for each
    # seat, so that none tests the seat.
    lanes, paid = len(work.total) // LINES, work.paid[0]
    for place in range(hands.size[0]):
        call, met, best = work.call[place], work.met[place], values[hands.pair[place], first : first + lanes]
        if opens:
            for lane in range(lanes):
                best[lane] = _best(True, call, met, paid, lane, lanes)
        else:
            for lane in range(lanes):
                best[lane] = _best(False, call, met, paid, lane, lanes)


@kernel
def respond_fixed(
    hands: Hands, share: Floats, folds: Floats, first: int, work: StreetWorkspace, values: Floats
) -> None:
    """The same for a fixed strategy; `share` and `folds` are [buckets, row] of its `LineShares`."""
    call, met, lanes = work.call, work.met, LANES
    for place in range(hands.size[0]):
        pair, bucket = hands.pair[place], hands.ours[0, place]
        for lane in range(lanes):
            values[pair, first + lane] = 0.0
        for line in range(LINES):
            for lane in range(lanes):
                at = line * lanes + lane
                won = share[bucket, at] * call[place, at] + folds[bucket, at] * met[place, at]
                values[pair, first + lane] += won
