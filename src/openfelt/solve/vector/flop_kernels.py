"""The kernels of CFR on flops of Flop Hold'em, for all hands of a flop and all roots at once."""

from __future__ import annotations

import numpy as np

from openfelt.cards.boards import hole_class
from openfelt.core.jit import Floats, Longs, kernel, part, vector_kernel
from openfelt.games.compile.flop_tree import FlopHands
from openfelt.solve.cfr_kernels import IterationWeights, UpdateRule, iteration_weights
from openfelt.solve.vector.betting_lines import FIRST, LANES
from openfelt.solve.vector.flop_lines import FlopWork, Reals, meet_strategy, value_actions, value_root

KIND = hole_class()  # [1326]


@kernel
def learn_flops(
    hands: FlopHands,
    dealt: tuple[Longs, Longs],
    seat: int,
    reach: tuple[Reals, Reals],
    tables: tuple[Reals, Reals, Reals],
    rule: UpdateRule,
    work: FlopWork,
    found: Floats,
) -> None:
    """Update a seat on some flops; `found` [flops, 169, LANES] gets the sums of its values by class.

    `dealt` are the flops, and by flop how often it was dealt. `reach` [169, LANES] of the roots and `tables`
    [hands, WIDTH] are ours and theirs; ours are regrets and average.
    """
    opens = seat == FIRST
    theirs = np.empty((1, len(KIND), LANES), np.float32)
    for pair in range(len(KIND)):
        theirs[0, pair] = reach[1][KIND[pair]]
    for place in range(len(dealt[0])):
        flop = dealt[0][place]
        first, last = hands.first_row[flop], hands.first_row[flop + 1]
        regrets, average = tables[0][first:last], tables[1][first:last]
        match_regrets(regrets, work.ours)
        match_regrets(tables[2][first:last], work.theirs)
        here = meet_strategy(hands, flop, seat, theirs, work)
        weights = iteration_weights(rule, dealt[1][flop])
        for row in range(last - first):
            hand = hands.example[first + row]
            which = KIND[here.pair[hand]]
            act = work.ours[row]
            value_actions(hand, opens, act, work.street, work.value)
            value_root(opens, act, work.value, work.whole)
            for lane in range(LANES):
                found[place, which, lane] += hands.times[first + row] * work.whole[lane]
            _add_regrets(weights, act, work.value, regrets[row])
            _add_to_average(weights, opens, reach[0][which], act, average[row])


@vector_kernel
def match_regrets(regrets: Reals, strategy: Reals) -> None:
    """Strategies [rows, WIDTH] in proportion to positive regrets."""
    for row in range(len(regrets)):
        _match(regrets[row], strategy[row], 0, 2)
        _match(regrets[row], strategy[row], 2, 3)
        _match(regrets[row], strategy[row], 5, 3)
        _match(regrets[row], strategy[row], 8, 3)
        _match(regrets[row], strategy[row], 11, 2)


@part
def _match(regrets: Reals, act: Reals, first: int, actions: int) -> None:
    lanes, none = LANES, np.float32(0)
    one, two, three = first * lanes, (first + 1) * lanes, (first + 2) * lanes
    equal = np.float32(1) / np.float32(actions)
    for at in range(lanes):
        a, b = max(regrets[one + at], none), max(regrets[two + at], none)
        c = max(regrets[three + at], none) if actions == 3 else none
        total = a + b + c
        act[one + at] = a / total if total > none else equal
        act[two + at] = b / total if total > none else equal
        if actions == 3:
            act[three + at] = c / total if total > none else equal


@vector_kernel
def _add_regrets(weights: IterationWeights, act: Reals, value: Reals, regrets: Reals) -> None:
    _regret(weights, act, value, regrets, 0, 2)
    _regret(weights, act, value, regrets, 2, 3)
    _regret(weights, act, value, regrets, 5, 3)
    _regret(weights, act, value, regrets, 8, 3)
    _regret(weights, act, value, regrets, 11, 2)


@part
def _regret(
    weights: IterationWeights, act: Reals, value: Reals, regrets: Reals, first: int, actions: int
) -> None:
    lanes, none = LANES, np.float32(0)
    positive, negative = np.float32(weights.positive), np.float32(weights.negative)
    one, two, three = first * lanes, (first + 1) * lanes, (first + 2) * lanes
    for at in range(lanes):
        total = act[one + at] * value[one + at] + act[two + at] * value[two + at]
        if actions == 3:
            total += act[three + at] * value[three + at]
        before = regrets[one + at]
        regrets[one + at] = before * (positive if before > none else negative) + value[one + at] - total
        before = regrets[two + at]
        regrets[two + at] = before * (positive if before > none else negative) + value[two + at] - total
        if actions == 3:
            before = regrets[three + at]
            regrets[three + at] = (
                before * (positive if before > none else negative) + value[three + at] - total
            )


@vector_kernel
def _add_to_average(weights: IterationWeights, opens: bool, reach: Reals, act: Reals, average: Reals) -> None:
    lanes = LANES
    for at in range(lanes):
        own = np.float32(weights.average) * reach[at]
        average[at] += own * act[at]
        average[lanes + at] += own * act[lanes + at]
        bet = own * act[lanes + at]
        again = bet * act[10 * lanes + at]
        for action in range(8, 11):
            average[action * lanes + at] += bet * act[action * lanes + at]
        for action in range(11, 13):
            average[action * lanes + at] += again * act[action * lanes + at]
        joined = own * act[at] if opens else own
        rise = joined * act[4 * lanes + at]
        for action in range(2, 5):
            average[action * lanes + at] += joined * act[action * lanes + at]
        for action in range(5, 8):
            average[action * lanes + at] += rise * act[action * lanes + at]
