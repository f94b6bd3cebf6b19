"""Values at the ends of betting lines, for all hands at once.

A showdown takes one pass over the hands in order of strength, with running sums of the opponent's reach and
of its part that holds each card. The ends of several lines are computed side by side, in *lanes*, so that the
processor can vectorize over them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from openfelt.cards.deck import CARDS
from openfelt.core.jit import vector_kernel
from openfelt.spots.betting import BettingArrays
from openfelt.spots.decisions import Reals
from openfelt.spots.runouts import Runouts

LANES = 48  # at most, side by side
STEP = 8  # their number is rounded up to a multiple of this


class LaneArrays(NamedTuple):
    """The arrays that `terminal_values` writes to."""

    reach: Reals  # [hands + 1, LANES]
    won: Reals  # [hands, LANES]
    folded: Reals  # [hands, LANES]
    total: Reals  # [LANES]
    of_card: Reals  # [52, LANES]
    payoff: Reals  # [4, LANES] win - tie, tie - lose, lose, fold


def new_lanes(hands: int, kind: type[np.floating[Any]]) -> LaneArrays:
    """Arrays for that many hands."""
    shapes = (hands + 1, LANES), (hands, LANES), (hands, LANES), (LANES,), (CARDS, LANES), (4, LANES)
    return LaneArrays(*(np.zeros(shape, kind) for shape in shapes))


@vector_kernel
def terminal_values(
    betting: BettingArrays,
    runouts: Runouts,
    player: int,
    board: int,
    batch: int,
    reach: Reals,
    value: Reals,
    lanes: LaneArrays,
) -> None:
    """Compute the values of all ends of lines of a batch of street roots on the river."""
    root = betting.batch[batch]
    slot_0, place_0 = betting.slot_root[player, root], betting.root[root]
    end = betting.lane[player, batch + 1]
    for first in range(betting.lane[player, batch], end, LANES):
        count = min(LANES, end - first)
        rounded = _load(betting, player, first, count, reach, slot_0, runouts.size[1 - player, board], lanes)
        _show_down(runouts, player, board, rounded, lanes)
        _store(betting, player, first, count, runouts.size[player, board], place_0, value, lanes)


@vector_kernel
def _load(
    betting: BettingArrays,
    player: int,
    first: int,
    count: int,
    reach: Reals,
    slot_0: int,
    size: int,
    lanes: LaneArrays,
) -> int:
    """Copy reach and payoffs of lanes; returns their number, rounded up with lanes without reach."""
    for lane in range(count):
        mine = reach[betting.lane_slot[player, first + lane] - slot_0]
        for hand in range(size):
            lanes.reach[hand, lane] = mine[hand]
        lanes.reach[size, lane] = 0  # of hands that the opponent cannot hold
        on, fold = betting.lane_on[player, first + lane], betting.lane_fold[player, first + lane]
        if on >= 0:
            win, tie, lose = betting.win[player, on], betting.tie[player, on], betting.lose[player, on]
            lanes.payoff[0, lane], lanes.payoff[1, lane], lanes.payoff[2, lane] = win - tie, tie - lose, lose
        if fold >= 0:
            lanes.payoff[3, lane] = betting.win[player, fold]
    rounded = (count + STEP - 1) // STEP * STEP
    for lane in range(count, rounded):
        for hand in range(size + 1):
            lanes.reach[hand, lane] = 0
    return rounded


@vector_kernel
def _store(
    betting: BettingArrays,
    player: int,
    first: int,
    count: int,
    size: int,
    place_0: int,
    value: Reals,
    lanes: LaneArrays,
) -> None:
    for lane in range(count):
        on, fold = betting.lane_on[player, first + lane], betting.lane_fold[player, first + lane]
        if on >= 0:
            into = value[on - place_0]
            for hand in range(size):
                into[hand] = lanes.won[hand, lane]
        if fold >= 0:
            into = value[fold - place_0]
            for hand in range(size):
                into[hand] = lanes.folded[hand, lane]


@vector_kernel
def _show_down(runouts: Runouts, player: int, board: int, count: int, lanes: LaneArrays) -> None:
    """Compute win * weaker + tie * equal + lose * stronger: sums of reach of hands without our cards.

    Written as (win - tie) * weaker + (tie - lose) * (weaker + equal) + lose * all.
    """
    reach, won, folded, of_card = lanes.reach, lanes.won, lanes.folded, lanes.of_card
    total = lanes.total[:count]
    weaker, not_stronger, everyone, fold = lanes.payoff[0], lanes.payoff[1], lanes.payoff[2], lanes.payoff[3]
    own, other = runouts.hands[player, board], runouts.hands[1 - player, board]
    own_size, other_size = runouts.size[player, board], runouts.size[1 - player, board]
    own_rank, other_rank = runouts.rank[own : own + own_size], runouts.rank[other : other + other_size]
    low, high = runouts.low[own : own + own_size], runouts.high[own : own + own_size]
    other_low, other_high = runouts.low[other : other + other_size], runouts.high[other : other + other_size]
    same = runouts.same[own : own + own_size]
    total[:] = 0
    of_card[:] = 0
    start, added = 0, 0
    while start < own_size:
        rank = own_rank[start]
        while added < other_size and other_rank[added] < rank:
            _add(reach[added], total, of_card[other_low[added]], of_card[other_high[added]])
            added += 1
        end = start
        while end < own_size and own_rank[end] == rank:
            first, second, into = of_card[low[end]], of_card[high[end]], won[end]
            for lane in range(len(total)):
                into[lane] = weaker[lane] * (total[lane] - first[lane] - second[lane])
            end += 1
        while added < other_size and other_rank[added] == rank:
            _add(reach[added], total, of_card[other_low[added]], of_card[other_high[added]])
            added += 1
        for hand in range(start, end):
            first, second, into, equal = of_card[low[hand]], of_card[high[hand]], won[hand], reach[same[hand]]
            for lane in range(len(total)):
                into[lane] += not_stronger[lane] * (total[lane] - first[lane] - second[lane] + equal[lane])
        start = end
    for hand in range(added, other_size):
        _add(reach[hand], total, of_card[other_low[hand]], of_card[other_high[hand]])
    for hand in range(own_size):
        first, second, equal = of_card[low[hand]], of_card[high[hand]], reach[same[hand]]
        into, into_fold = won[hand], folded[hand]
        for lane in range(len(total)):
            met = total[lane] - first[lane] - second[lane] + equal[lane]
            into[lane] += everyone[lane] * met
            into_fold[lane] = fold[lane] * met


@vector_kernel
def _add(reach: Reals, total: Reals, first: Reals, second: Reals) -> None:
    for lane in range(len(total)):
        here = reach[lane]
        total[lane] += here
        first[lane] += here
        second[lane] += here


@vector_kernel
def fold_values(
    runouts: Runouts, player: int, board: int, payoff: float, reach: Reals, of_card: Reals, into: Reals
) -> None:
    """Compute the values of one fold before the river."""
    own, other = runouts.hands[player, board], runouts.hands[1 - player, board]
    own_size, other_size = runouts.size[player, board], runouts.size[1 - player, board]
    of_card[:] = 0
    total = of_card[0] * 0
    for hand in range(other_size):
        here = reach[hand]
        total += here
        of_card[runouts.low[other + hand]] += here
        of_card[runouts.high[other + hand]] += here
    for hand in range(own_size):
        same = runouts.same[own + hand]
        equal = reach[same] if same < other_size else total * 0
        met = total - of_card[runouts.low[own + hand]] - of_card[runouts.high[own + hand]] + equal
        into[hand] = payoff * met
