"""One street of betting on one board, for all hands at once: the other's reach down, values up.

For each way to the next street (`lines.py`) there is a vector over hands: the other's reach there. From it
follow, for each hand of ours,

- what it gets where the hands are shown: what it beats less what beats it, of those that share no card;
- what it meets in all, if somebody folds: the same sum without regard to who is better.

Both take time linear in the number of hands: those sorted by value are gone through once, with running sums
of all hands and of those that hold each card. LANES entries go side by side, with all their ways, so that a
hand's numbers are one long row and the processor takes several at a time.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from openfelt.cards.deck import CARDS, PAIR_CARDS
from openfelt.core.jit import Floats, Ints, kernel, part
from openfelt.measure.holdem.betting_lines import LANES, WAYS

Four: TypeAlias = tuple[float, float, float, float]


class Hands(NamedTuple):
    """The hands that a board leaves; on the river in the order of their values."""

    size: Ints  # [1]
    pair: Ints  # [1326]
    end: Ints  # [1326] on the river: the place after the last hand of equal value
    theirs: Ints  # [parts, 1326] the other's bucket with that hand
    ours: Ints  # [1, 1326]


class Room(NamedTuple):
    """Working space of one thread; rows of `ways * LANES`, way by way."""

    reach: Floats  # [1326, row] the other's
    call: Floats  # [1326, row] what we get if the next street comes
    met: Floats  # [1326, row] how much of his reach our hand meets
    pot: Floats  # [row] of `Lines`
    paid: Floats  # [1, row]
    total: Floats  # [row]
    of_card: Floats  # [52, row]


def new_hands(parts: int) -> Hands:
    """Room for any, of one who plays so many parts."""
    shapes = (1,), (len(PAIR_CARDS),), (len(PAIR_CARDS),), (parts, len(PAIR_CARDS)), (1, len(PAIR_CARDS))
    return Hands(*(np.zeros(shape, np.int32) for shape in shapes))


def new_room(kind: type[np.floating[Any]]) -> Room:
    """For numbers of that kind."""
    row = WAYS * LANES
    shapes = [(len(PAIR_CARDS), row)] * 3 + [(row,), (1, row), (row,), (CARDS, row)]
    return Room(*(np.zeros(shape, kind) for shape in shapes))


@kernel
def spread(hands: Hands, buckets: Ints, share: Floats, reach: Floats, first: int, into: Floats) -> None:
    """A player's reach at each way, for the entries from `first` on; `share` is [buckets, row] of these."""
    lanes = into.shape[1] // WAYS
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
def spread_parts(hands: Hands, share: Floats, reach: Floats, first: int, room: Room) -> None:
    """The reach of the other, who plays a mixture: that of all his parts."""
    total, more = room.reach, room.call
    spread(hands, hands.theirs[0], share, reach[0], first, total)
    for which in range(1, len(reach)):
        spread(hands, hands.theirs[which], share, reach[which], first, more)
        for place in range(hands.size[0]):
            for at in range(total.shape[1]):
                total[place, at] += more[place, at]


@kernel
def meet(hands: Hands, room: Room) -> None:
    """How much of the other's reach each hand meets."""
    reach, met, total, of_card = room.reach, room.met, room.total, room.of_card
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
            # Rounding must not make it negative: a bet that is not allowed would win (`lines.NEVER`).
            here = total[at] - of_card[low, at] - of_card[high, at] + reach[place, at]
            met[place, at] = here if here > 0.0 else here * 0


@kernel
def show_down(hands: Hands, room: Room) -> None:
    """What each hand beats less what beats it, of those that share no card with it, times the pot.

    Of lower hands the sum is known before those of its value are added. With these the sum lacks only the
    higher ones; what is met in all is known, so what is higher is the rest.
    """
    reach, met, won, pot = room.reach, room.met, room.call, room.pot
    below, of_card = room.total, room.of_card
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


# What a street is worth to a best response, from its nine ways, back from the last bet of each chain to its
# first. `call` is what we get if a way ends in the next street, `met` how much of his reach our hand meets
# there, `paid` what he who answers the last bet of a way had paid before it. At a decision of ours it is the
# most that an action gets; at one of his all that he does adds up, and what he folds is what he came with
# less what he calls and raises with. So `paid` counts for what he came with, against both of these; each of
# the three is added where it is met.

LEAST: Any = np.float32(-1e30)  # less than anything is worth


@part
def back(
    ours: bool, later: float, call: float, met: float, paid: float, paid_next: float, paid_last: float
) -> float:
    """What a chain is worth from a bet on, with what is `later`; `ours` if we are to answer the bet."""
    if ours:
        return max(max(call, -paid * met), later + paid_next * met) - paid_last * met
    return later + call - paid * met


@part
def chain(we_begin: bool, call: Four, met: Four, paid: Four) -> float:
    """What the four bets of a chain are worth; if we begin it, without what he folds to the first."""
    if we_begin:
        value = max(call[3], -paid[3] * met[3]) - paid[2] * met[3]
        value += call[2] - paid[2] * met[2]
        value = back(True, value, call[1], met[1], paid[1], paid[2], paid[0])
        return value + call[0] - paid[0] * met[0]
    value = call[3] - paid[3] * met[3]
    value = back(True, value, call[2], met[2], paid[2], paid[3], paid[1])
    value += call[1] - paid[1] * met[1]
    return max(max(call[0], -paid[0] * met[0]), value + paid[1] * met[0])


@part
def whole(opens: bool, begun: float, joined: float, call: float, met: float, paid: float) -> float:
    """The whole street, of the chain that we begin, the one that he does, and both checking.

    `call` and `met` are those of both checking, `paid` of the first bet of our chain.
    """
    if opens:
        return max(call + joined, begun + paid * met)
    return max(call, begun + paid * met) + joined


@part
def _four(row: Floats, at: int, apart: int) -> Four:
    return row[at], row[at + apart], row[at + 2 * apart], row[at + 3 * apart]


@part
def _best(opens: bool, call: Floats, met: Floats, paid: Floats, lane: int, lanes: int) -> float:
    """What a street is worth to one hand at one entry."""
    ours, his = (5 * lanes + lane, lanes + lane) if opens else (lanes + lane, 5 * lanes + lane)
    begun = chain(True, _four(call, ours, lanes), _four(met, ours, lanes), _four(paid, ours, lanes))
    joined = chain(False, _four(call, his, lanes), _four(met, his, lanes), _four(paid, his, lanes))
    if opens:  # he comes to our first bet with what he would bet too
        begun += paid[ours] * met[his]
    return whole(opens, begun, joined, call[lane], met[lane], paid[ours])


@kernel
def answer_best(hands: Hands, opens: bool, first: int, room: Room, values: Floats) -> None:
    """The most that each hand can get from the street: at `values`, [1326, entries]."""
    # A loop whose length is not known beforehand is not unrolled, and so can take several lanes at once; and
    # there is one for each seat, so that none asks which it is.
    lanes, paid = len(room.total) // WAYS, room.paid[0]
    for place in range(hands.size[0]):
        call, met, best = room.call[place], room.met[place], values[hands.pair[place], first : first + lanes]
        if opens:
            for lane in range(lanes):
                best[lane] = _best(True, call, met, paid, lane, lanes)
        else:
            for lane in range(lanes):
                best[lane] = _best(False, call, met, paid, lane, lanes)


@kernel
def answer_as(hands: Hands, share: Floats, folds: Floats, first: int, room: Room, values: Floats) -> None:
    """What each hand gets if we play a policy; `share` and `folds` are [buckets, row] of `Ways`."""
    call, met, lanes = room.call, room.met, LANES
    for place in range(hands.size[0]):
        pair, bucket = hands.pair[place], hands.ours[0, place]
        for lane in range(lanes):
            values[pair, first + lane] = 0.0
        for way in range(WAYS):
            for lane in range(lanes):
                at = way * lanes + lane
                won = share[bucket, at] * call[place, at] + folds[bucket, at] * met[place, at]
                values[pair, first + lane] += won
