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

from openfelt.base.jit import Floats, Ints, kernel, part
from openfelt.cards.deck import CARDS, PAIR_CARDS
from openfelt.exact.lines import LANES, WAYS

Three: TypeAlias = tuple[float, float, float]
Four: TypeAlias = tuple[float, float, float, float]
Five: TypeAlias = tuple[float, float, float, float, float]


class Hands(NamedTuple):
    """The hands that a board leaves; on the river in the order of their values."""

    size: Ints  # [1]
    pair: Ints  # [1326]
    end: Ints  # [1326] on the river: the place after the last hand of equal value
    theirs: Ints  # [1326] the other's bucket with that hand
    ours: Ints  # [1326]


class Room(NamedTuple):
    """Working space of one thread; rows of `ways * LANES`, way by way."""

    reach: Floats  # [1326, row] the other's
    call: Floats  # [1326, row] what we get if the next street comes
    met: Floats  # [1326, row] how much of his reach our hand meets
    pot: Floats  # [row] of `Lines`
    paid: Floats  # [1, row]
    total: Floats  # [row]
    of_card: Floats  # [52, row]


def new_hands() -> Hands:
    """Room for any."""
    return Hands(np.zeros(1, np.int32), *(np.zeros(len(PAIR_CARDS), np.int32) for _ in range(4)))


def new_room(kind: type[np.floating[Any]]) -> Room:
    """For numbers of that kind."""
    row = WAYS * LANES
    shapes = [(len(PAIR_CARDS), row)] * 3 + [(row,), (1, row), (row,), (CARDS, row)]
    return Room(*(np.zeros(shape, kind) for shape in shapes))


@kernel
def spread(hands: Hands, share: Floats, reach: Floats, first: int, room: Room) -> None:
    """The other's reach at each way, for the entries from `first` on; `share` is [buckets, row] of these."""
    lanes, into = LANES, room.reach
    for place in range(hands.size[0]):
        pair, bucket = hands.pair[place], hands.theirs[place]
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


# What a street is worth to a hand, from its nine ways, three after three. `call` is what we get if a way
# ends in the next street, `met` how much of his reach our hand meets there, `paid` what he who answers the
# last bet had paid before, `own` how much of a way is ours if we play a policy. At a decision of ours it is
# the most that an action gets; at one of his all that he does adds up, and what he folds is what he came
# with less what he calls and raises with.


@part
def begin(opens: bool, best: bool, call: Three, met: Three, paid: Three, own: Four) -> Four:
    """Both check; the first two bets of chain A. Returns what is needed on the way."""
    if opens:  # we answer the first bet, after our check
        if best:
            first = max(call[1], -paid[1] * met[1])
            return call[0], met[0] + met[1], first, call[2] + paid[2] * (met[1] - met[2])
        value = own[0] * call[0] + own[1] * call[1] - (own[0] - own[1] - own[2]) * paid[1] * met[1]
        return value + own[2] * (call[2] + paid[2] * (met[1] - met[2])), met[0] + met[1], met[1], met[1]
    answered = call[1] + paid[1] * (met[0] - met[1] - met[2])
    if best:
        return call[0], answered, max(call[2], -paid[2] * met[2]), met[2]
    value = own[0] * call[0] + own[1] * answered + own[2] * call[2]
    return value - (own[1] - own[2] - own[3]) * paid[2] * met[2], met[2], met[2], met[2]


@part
def go_on(opens: bool, best: bool, so_far: Four, call: Three, met: Three, paid: Four, own: Five) -> Three:
    """The last two bets of chain A, the first of B; `paid` is from way 2 on, `own` too."""
    if opens:
        if best:
            raised = so_far[3] - paid[0] * met[0]
            third = max(call[0], -paid[1] * met[0], call[1] + paid[2] * (met[0] - met[1]))
            checked = so_far[0] + max(so_far[2], raised + third)
            return checked, call[2] + paid[3] * (so_far[1] - met[2]), met[2]
        value = so_far[0] + own[1] * call[0] - (own[0] - own[1] - own[2]) * paid[1] * met[0]
        value += own[2] * (call[1] + paid[2] * (met[0] - met[1])) - own[0] * paid[0] * met[0]
        return value + own[3] * (call[2] + paid[3] * (so_far[1] - met[2])), met[2], met[2]
    answered = call[0] + paid[1] * (so_far[3] - met[0] - met[1])
    if best:
        last = max(call[1], -paid[2] * met[1])
        checked = max(so_far[0], so_far[1] + max(so_far[2], answered + last))
        return checked, max(call[2], -paid[3] * met[2]), met[2]
    value = so_far[0] + own[1] * answered + own[2] * call[1] - (own[1] - own[2]) * paid[2] * met[1]
    return value + own[3] * call[2] - (1.0 - own[3] - own[4]) * paid[3] * met[2], met[2], met[2]


@part
def finish(opens: bool, best: bool, so_far: Three, call: Three, met: Three, paid: Four, own: Four) -> float:
    """The last three bets of chain B; `paid` and `own` are from way 5 on."""
    if opens:
        answered = call[1] + paid[2] * (met[0] - met[1] - met[2])
        if best:
            last = answered + max(call[2], -paid[3] * met[2])
            bet = so_far[1] - paid[0] * met[0] + max(call[0], -paid[1] * met[0], last)
            return max(so_far[0], bet)
        value = so_far[0] - own[0] * paid[0] * met[0] + own[1] * call[0]
        value += own[2] * answered - (own[0] - own[1] - own[2]) * paid[1] * met[0]
        return value + own[3] * call[2] - (own[2] - own[3]) * paid[3] * met[2]
    answered = call[0] + paid[1] * (so_far[2] - met[0] - met[1])
    last = call[2] + paid[3] * (met[1] - met[2])
    if best:
        return so_far[0] + max(so_far[1], answered + max(call[1], -paid[2] * met[1], last))
    value = so_far[0] + own[1] * answered + own[2] * call[1]
    return value - (own[1] - own[2] - own[3]) * paid[2] * met[1] + own[3] * last


@part
def _three(table: Floats, place: int, at: int) -> Three:
    return table[place, at], table[place, at + LANES], table[place, at + 2 * LANES]


@part
def _four(table: Floats, place: int, at: int) -> Four:
    return (*_three(table, place, at), table[place, at + 3 * LANES])


@kernel
def answer(
    hands: Hands, opens: bool, best: bool, share: Floats, first: int, room: Room, values: Floats
) -> None:
    """What the street is worth to each hand: at `values`, [1326, entries].

    If `best`, the most that it can get; else what our policy gets, whose `share` is [buckets, row].
    """
    call, met, paid = room.call, room.met, room.paid
    for place in range(hands.size[0]):
        pair, bucket = hands.pair[place], hands.ours[place] if not best else 0
        for lane in range(LANES):
            a, b, c = lane, 3 * LANES + lane, 6 * LANES + lane
            own = _four(share, bucket, a)
            state = begin(opens, best, _three(call, place, a), _three(met, place, a), _three(paid, 0, a), own)
            rest = (*_four(share, bucket, b - LANES), share[bucket, b + 3 * LANES])
            later = go_on(
                opens,
                best,
                state,
                _three(call, place, b),
                _three(met, place, b),
                _four(paid, 0, b - LANES),
                rest,
            )
            own = _four(share, bucket, c - LANES)
            values[pair, first + lane] = finish(
                opens,
                best,
                later,
                _three(call, place, c),
                _three(met, place, c),
                _four(paid, 0, c - LANES),
                own,
            )
