"""One decision for all hands at once: the strategy of a row of tables, reach below it, values and updates.

A decision's rows in a table follow each other: row `action` begins at `first + action * size` and has a
number for each hand. A strategy is in proportion to the positive entries of its rows, and uniform if there
are none: regret matching for regrets, the average strategy for sums of strategies. Decisions with two and
three actions, which most are, take a single pass over the hands.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from openfelt.core.jit import Ints, part, vector_kernel

Reals: TypeAlias = NDArray[np.floating[Any]]


class Constants(NamedTuple):
    """Numbers of the type of the tables, so that arithmetic stays in it."""

    zero: Any
    one: Any
    tiny: Any  # totals up to this count as none: their inverse might be infinite
    floor: Any  # least weight of a strategy in the average
    share: Reals  # [actions + 1] 1 / actions


class Discounts(NamedTuple):
    """The weights of one iteration of discounted CFR."""

    positive: Any  # factor of positive regrets
    negative: Any  # of negative ones
    average: Any  # of the sum of strategies


class Learned(NamedTuple):
    """The tables of a player, and where a decision's rows are."""

    regret: Reals
    average: Reals
    first: int
    size: int  # hands
    own: Reals  # [hands] the player's own reach


class Values(NamedTuple):
    """The values of all places, and those that belong to a decision."""

    value: Reals  # [places, hands]
    after: Ints  # [actions] places after each action
    here: Reals  # [hands] the row of the decision, which is computed


def constants(actions: int, kind: type[np.floating[Any]]) -> Constants:
    """Constants for decisions with at most that many actions."""
    share = np.concatenate([[0.0], 1.0 / np.arange(1, max(actions, 3) + 1)]).astype(kind)
    return Constants(kind(0), kind(1), kind(1e-30), kind(1e-6), share)


@part
def _factor(total: Any, of: Any, tiny: Any, zero: Any) -> Any:
    """What positive entries with that total are multiplied by; zero if there are none."""
    return of / total if total > tiny else zero


@part
def _discount(old: Any, positive: Any, negative: Any, zero: Any) -> Any:
    return old * (positive if old > zero else negative)


@vector_kernel
def spread(
    table: Reals, first: int, size: int, before: Reals, reach: Reals, after: Ints, fixed: Constants
) -> None:
    """Compute the reach after each action, in the rows `after` of `reach`."""
    zero, tiny, share = fixed.zero, fixed.tiny, fixed.share[len(after)]
    if len(after) == 2:
        a, b = table[first : first + size], table[first + size : first + 2 * size]
        into_a, into_b = reach[after[0]], reach[after[1]]
        for hand in range(size):
            of = before[hand]
            above_a, above_b = max(a[hand], zero), max(b[hand], zero)
            total = above_a + above_b
            factor = _factor(total, of, tiny, zero)
            even = zero if total > tiny else of * share
            into_a[hand] = above_a * factor + even
            into_b[hand] = above_b * factor + even
    elif len(after) == 3:
        a, b = table[first : first + size], table[first + size : first + 2 * size]
        c = table[first + 2 * size : first + 3 * size]
        into_a, into_b, into_c = reach[after[0]], reach[after[1]], reach[after[2]]
        for hand in range(size):
            of = before[hand]
            above_a, above_b, above_c = max(a[hand], zero), max(b[hand], zero), max(c[hand], zero)
            total = above_a + above_b + above_c
            factor = _factor(total, of, tiny, zero)
            even = zero if total > tiny else of * share
            into_a[hand] = above_a * factor + even
            into_b[hand] = above_b * factor + even
            into_c[hand] = above_c * factor + even
    else:
        _spread_any(table, first, size, before, reach, after, fixed)


@vector_kernel
def _spread_any(
    table: Reals, first: int, size: int, before: Reals, reach: Reals, after: Ints, fixed: Constants
) -> None:
    share = fixed.share[len(after)]
    for hand in range(size):
        total = fixed.zero
        for action in range(len(after)):
            total += max(table[first + action * size + hand], fixed.zero)
        for action in range(len(after)):
            chance = (
                max(table[first + action * size + hand], fixed.zero) / total if total > fixed.tiny else share
            )
            reach[after[action], hand] = before[hand] * chance


@vector_kernel
def expect(
    table: Reals, first: int, size: int, value: Reals, after: Ints, here: Reals, fixed: Constants
) -> None:
    """Compute the value of a decision under the strategy of a table."""
    share = fixed.share[len(after)]
    for hand in range(size):
        total = fixed.zero
        for action in range(len(after)):
            total += max(table[first + action * size + hand], fixed.zero)
        here[hand] = fixed.zero
        for action in range(len(after)):
            chance = (
                max(table[first + action * size + hand], fixed.zero) / total if total > fixed.tiny else share
            )
            here[hand] += chance * value[after[action], hand]


@vector_kernel
def add_up(size: int, value: Reals, after: Ints, here: Reals) -> None:
    """Add up the values after each action."""
    a = value[after[0]]
    if len(after) == 1:  # a check where the sizes allow no bet
        for hand in range(size):
            here[hand] = a[hand]
        return
    b = value[after[1]]
    for hand in range(size):
        here[hand] = a[hand] + b[hand]
    for action in range(2, len(after)):
        a = value[after[action]]
        for hand in range(size):
            here[hand] += a[hand]


@vector_kernel
def take_best(size: int, value: Reals, after: Ints, here: Reals) -> None:
    """Take the highest value after any action."""
    a = value[after[0]]
    if len(after) == 1:
        for hand in range(size):
            here[hand] = a[hand]
        return
    b = value[after[1]]
    for hand in range(size):
        here[hand] = max(a[hand], b[hand])
    for action in range(2, len(after)):
        a = value[after[action]]
        for hand in range(size):
            here[hand] = max(here[hand], a[hand])


@vector_kernel
def update(learned: Learned, values: Values, discounts: Discounts, fixed: Constants) -> None:
    """Compute the value of a decision under regret matching, and update its regrets and average strategy.

    The strategy's weight in the average is the player's own reach; the floor gives hands that never come here
    an average, too.
    """
    if len(values.after) == 2:
        _update_2(learned, values, discounts, fixed)
    elif len(values.after) == 3:
        _update_3(learned, values, discounts, fixed)
    else:
        _update_any(learned, values, discounts, fixed)


@vector_kernel
def _update_2(learned: Learned, values: Values, discounts: Discounts, fixed: Constants) -> None:
    regret, average, first, size, own = learned
    value, after, here = values
    a, b = regret[first : first + size], regret[first + size : first + 2 * size]
    sum_a, sum_b = average[first : first + size], average[first + size : first + 2 * size]
    value_a, value_b = value[after[0]], value[after[1]]
    zero, one, tiny, floor = fixed.zero, fixed.one, fixed.tiny, fixed.floor
    share = fixed.share[len(after)]
    positive, negative, keep = discounts.positive, discounts.negative, discounts.average
    for hand in range(size):
        above_a, above_b = max(a[hand], zero), max(b[hand], zero)
        total = above_a + above_b
        factor = _factor(total, one, tiny, zero)
        even = zero if total > tiny else share
        chance_a, chance_b = above_a * factor + even, above_b * factor + even
        mean = chance_a * value_a[hand] + chance_b * value_b[hand]
        weight = own[hand] + floor
        sum_a[hand] = sum_a[hand] * keep + chance_a * weight
        sum_b[hand] = sum_b[hand] * keep + chance_b * weight
        a[hand] = _discount(a[hand], positive, negative, zero) + (value_a[hand] - mean)
        b[hand] = _discount(b[hand], positive, negative, zero) + (value_b[hand] - mean)
        here[hand] = mean


@vector_kernel
def _update_3(learned: Learned, values: Values, discounts: Discounts, fixed: Constants) -> None:
    regret, average, first, size, own = learned
    value, after, here = values
    a, b = regret[first : first + size], regret[first + size : first + 2 * size]
    c = regret[first + 2 * size : first + 3 * size]
    sum_a, sum_b = average[first : first + size], average[first + size : first + 2 * size]
    sum_c = average[first + 2 * size : first + 3 * size]
    value_a, value_b, value_c = value[after[0]], value[after[1]], value[after[2]]
    zero, one, tiny, floor = fixed.zero, fixed.one, fixed.tiny, fixed.floor
    share = fixed.share[len(after)]
    positive, negative, keep = discounts.positive, discounts.negative, discounts.average
    for hand in range(size):
        above_a, above_b, above_c = max(a[hand], zero), max(b[hand], zero), max(c[hand], zero)
        total = above_a + above_b + above_c
        factor = _factor(total, one, tiny, zero)
        even = zero if total > tiny else share
        chance_a, chance_b = above_a * factor + even, above_b * factor + even
        chance_c = above_c * factor + even
        mean = chance_a * value_a[hand] + chance_b * value_b[hand] + chance_c * value_c[hand]
        weight = own[hand] + floor
        sum_a[hand] = sum_a[hand] * keep + chance_a * weight
        sum_b[hand] = sum_b[hand] * keep + chance_b * weight
        sum_c[hand] = sum_c[hand] * keep + chance_c * weight
        a[hand] = _discount(a[hand], positive, negative, zero) + (value_a[hand] - mean)
        b[hand] = _discount(b[hand], positive, negative, zero) + (value_b[hand] - mean)
        c[hand] = _discount(c[hand], positive, negative, zero) + (value_c[hand] - mean)
        here[hand] = mean


@vector_kernel
def _update_any(learned: Learned, values: Values, discounts: Discounts, fixed: Constants) -> None:
    regret, average, first, size, own = learned
    value, after, here = values
    expect(regret, first, size, value, after, here, fixed)
    share = fixed.share[len(after)]
    for hand in range(size):
        total = fixed.zero
        for action in range(len(after)):
            total += max(regret[first + action * size + hand], fixed.zero)
        weight = own[hand] + fixed.floor
        for action in range(len(after)):
            at = first + action * size + hand
            old = regret[at]
            chance = max(old, fixed.zero) / total if total > fixed.tiny else share
            average[at] = average[at] * discounts.average + chance * weight
            regret[at] = _discount(old, discounts.positive, discounts.negative, fixed.zero) + (
                value[after[action], hand] - here[hand]
            )


@vector_kernel
def unpack(packed: NDArray[Any], scale: Any, into: Reals) -> None:
    """Numbers from their 16-bit form."""
    for at in range(len(packed)):
        into[at] = np.float32(packed[at]) * scale


@vector_kernel
def pack(numbers: Reals, into: NDArray[Any], most: int) -> Any:
    """Write numbers in 16 bits; returns their scale."""
    top = np.float32(0)
    for at in range(len(numbers)):
        top = max(top, abs(numbers[at]))
    scale = top / np.float32(most)
    inverse = np.float32(1) / scale if scale > np.float32(0) else np.float32(0)
    for at in range(len(numbers)):
        into[at] = np.int32(np.floor(numbers[at] * inverse + np.float32(0.5)))
    return scale
