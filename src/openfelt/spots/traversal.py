"""One traversal of a spot for one player, with all hands of a board at once.

On each street the opponent's reach goes down the betting trees, for all hands at once; values come back up.
`begin` and `end` are the two halves of a traversal of a flop or turn, around those of the boards that follow
it; `rivers` traverses boards of the river. What happens at the player's own
decisions depends on the pass:

- UPDATE: the values of the current strategies, and an update of the player's regrets and average strategy;
- BEST_RESPONSE: the value of a best response to the opponent's average strategy;
- EXPECTED: the value of the player's average strategy against the opponent's.

Regrets and averages are stored action by action: row `entry + action` of a board has a number for each hand.
In 16 bits they are scaled by the highest number of their decision on a board, and all strategies have the
same weight in the average, since those of hands that come rarely would be rounded to nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import CARDS
from openfelt.core.jit import Ints, Longs, vector_kernel
from openfelt.spots.betting import FOLD, ON, BettingArrays
from openfelt.spots.decisions import (
    Constants,
    Discounts,
    Learned,
    Reals,
    Values,
    add_up,
    constants,
    expect,
    pack,
    spread,
    take_best,
    unpack,
    update,
)
from openfelt.spots.runouts import Runouts
from openfelt.spots.terminals import LaneArrays, fold_values, new_lanes, terminal_values

UPDATE, BEST_RESPONSE, EXPECTED = range(3)


class Tables(NamedTuple):
    """What is learned on one street, for both players."""

    first: Longs  # [2, boards] where the rows of a board begin
    regret: Reals  # empty if they are stored in 16 bits
    average: Reals  # sums of weighted strategies; likewise
    regret_16: NDArray[np.int16]  # regrets divided by their decision's scale
    average_16: NDArray[np.uint16]
    scale: Reals  # [2, boards, decisions] of regrets and averages
    locked: NDArray[np.uint8]  # [boards, decisions] whether the strategy is given; it is then in both tables


class Level(NamedTuple):
    """A street: its betting trees, boards and tables."""

    betting: BettingArrays
    runouts: Runouts
    tables: Tables


class Pass(NamedTuple):
    """What a traversal does at the player's decisions."""

    mode: int
    discounts: Discounts


class Reach(NamedTuple):
    """Both players' reach on the previous street, by slot: what leads to the street roots."""

    opponent: Reals  # [slots, hands]
    own: Reals


class Which(NamedTuple):
    """Boards of the river, and batches of street roots there: each from the first to before the last."""

    first: int
    last: int
    first_batch: int
    last_batch: int


class Workspace(NamedTuple):
    """The arrays that a traversal writes to on one street."""

    reach: Reals  # [slots, hands] the opponent's
    own: Reals  # [own slots, hands] the player's own reach
    value: Reals  # [places, hands]
    after: Ints  # [actions] rows of the places or slots after a decision
    regret: Reals  # [actions * hands] a decision's regrets, if the tables have 16 bits
    average: Reals  # [actions * hands]
    ones: Reals  # [hands]
    of_card: Reals  # [52]
    fixed: Constants
    lanes: LaneArrays


def new_workspace(level: Level, kind: type[np.floating[Any]], *, last: bool) -> Workspace:
    """Arrays for one street; for the river (`last`) they hold one batch of street roots."""
    betting, hands = level.betting, int(level.runouts.size.max()) + 1
    roots = betting.batch if last else betting.batch[[0, -1]]
    places = int(np.diff(betting.root[roots]).max())
    slots = int(np.diff(betting.slot_root[:, roots], axis=1).max())
    most = int(betting.actions.max())
    return Workspace(
        np.zeros((slots, hands), kind),
        np.zeros((slots, hands), kind),
        np.zeros((places, hands), kind),
        np.zeros(most, np.int32),
        np.zeros(most * hands, np.float32),
        np.zeros(most * hands, np.float32),
        np.ones(hands, kind),
        np.zeros(CARDS, kind),
        constants(most, kind),
        new_lanes(hands if last else 1, kind),
    )


@vector_kernel
def _spread_all(
    level: Level,
    watcher: int,
    board: int,
    places: tuple[int, int],
    mode: int,
    reach: Reals,
    work: Workspace,
) -> None:
    """Compute the reach of the opponent of `watcher` at all its actions, from its table."""
    betting, player = level.betting, 1 - watcher
    size, first = level.runouts.size[player, board], level.tables.first[player, board]
    slot = betting.slot[watcher]
    for place in range(places[0], places[1]):
        if betting.kind[place] == player:
            after = work.after[: betting.actions[place]]
            for action in range(len(after)):
                after[action] = slot[betting.child[betting.first_child[place] + action]] - slot[places[0]]
            row = first + np.int64(betting.entry[place]) * size
            table, start = _rows(level, board, place, row, len(after) * size, mode != UPDATE, work)
            spread(table, start, size, reach[slot[place] - slot[places[0]]], reach, after, work.fixed)


@vector_kernel
def _rows(
    level: Level, board: int, place: int, first: int, count: int, averages: bool, work: Workspace
) -> tuple[Reals, int]:
    """A decision's regrets or averages, and where they begin; unpacked if the tables have 16 bits."""
    tables, decision = level.tables, level.betting.decision[place]
    if len(tables.regret_16) == 0:
        return tables.average if averages else tables.regret, first
    if averages:
        unpack(tables.average_16[first : first + count], tables.scale[1, board, decision], work.average)
        return work.average, 0
    unpack(tables.regret_16[first : first + count], tables.scale[0, board, decision], work.regret)
    return work.regret, 0


@vector_kernel
def _collect_values(
    level: Level, player: int, board: int, places: tuple[int, int], call: Pass, work: Workspace
) -> None:
    """Compute the values of all decisions from those of the ends of lines, last decision first."""
    betting, tables, value = level.betting, level.tables, work.value
    size, first = level.runouts.size[player, board], tables.first[player, board]
    own_slot = betting.slot[1 - player]
    for place in range(places[1] - 1, places[0] - 1, -1):
        if betting.kind[place] >= FOLD:
            continue
        after, here = work.after[: betting.actions[place]], value[place - places[0]]
        for action in range(len(after)):
            after[action] = betting.child[betting.first_child[place] + action] - places[0]
        if betting.kind[place] != player:
            add_up(size, value, after, here)
            continue
        row = first + np.int64(betting.entry[place]) * size
        locked = tables.locked[board, betting.decision[place]]
        count = len(after) * size
        if call.mode == UPDATE and not locked:
            own = work.own[own_slot[place] - own_slot[places[0]]]
            regret, start = _rows(level, board, place, row, count, False, work)
            average, start = _rows(level, board, place, row, count, True, work)
            packed = len(tables.regret_16) > 0
            learned = Learned(regret, average, start, size, work.ones if packed else own)
            update(learned, Values(value, after, here), call.discounts, work.fixed)
            if packed:
                scale, decision = tables.scale, betting.decision[place]
                scale[0, board, decision] = pack(regret[:count], tables.regret_16[row : row + count], 32767)
                scale[1, board, decision] = pack(average[:count], tables.average_16[row : row + count], 65535)
        elif call.mode == BEST_RESPONSE and not locked:
            take_best(size, value, after, here)
        else:
            average, start = _rows(level, board, place, row, count, True, work)
            expect(average, start, size, value, after, here, work.fixed)


@vector_kernel
def _enter(
    runouts: Runouts,
    betting: BettingArrays,
    roots: tuple[int, int],
    watcher: int,
    board: int,
    chance: float,
    before: Reals,
    into: Reals,
) -> None:
    """Take the reach of a player at street roots over from the previous street, times `chance`."""
    player = 1 - watcher
    size, first = runouts.size[player, board], runouts.hands[player, board]
    parent = runouts.parent[first : first + size]
    slot = betting.slot_root[watcher]
    for root in range(roots[0], roots[1]):
        came = before[betting.from_slot[watcher, root]]
        reach = into[slot[root] - slot[roots[0]]]
        for hand in range(size):
            reach[hand] = came[parent[hand]] * chance


@vector_kernel
def _leave(
    runouts: Runouts,
    betting: BettingArrays,
    roots: tuple[int, int],
    player: int,
    board: int,
    value: Reals,
    into: Reals,
) -> None:
    """Add the values of street roots to those of the previous street, for each card of the orbit."""
    size = runouts.size[player, board]
    for image in range(runouts.image[board], runouts.image[board + 1]):
        first = runouts.image_hands[player, image]
        seen_as = runouts.seen_as[first : first + size]
        for root in range(roots[0], roots[1]):
            mine = value[betting.root[root] - betting.root[roots[0]]]
            sums = into[betting.from_place[root]]
            for hand in range(size):
                sums[seen_as[hand]] += mine[hand]


@vector_kernel
def _begin(
    level: Level, player: int, board: int, roots: tuple[int, int], mode: int, before: Reach, work: Workspace
) -> None:
    """Compute the reach of the opponent, and for an update the player's own, everywhere below roots."""
    betting = level.betting
    places = betting.root[roots[0]], betting.root[roots[1]]
    opponent = 1 - player
    chance = level.runouts.chance[0]
    _enter(level.runouts, betting, roots, player, board, chance, before.opponent, work.reach)
    _spread_all(level, player, board, places, mode, work.reach, work)
    if mode == UPDATE:
        _enter(level.runouts, betting, roots, opponent, board, 1.0, before.own, work.own)
        _spread_all(level, opponent, board, places, mode, work.own, work)


@vector_kernel
def begin(level: Level, player: int, board: int, call: Pass, before: Reach, work: Workspace) -> None:
    """The first half of a traversal of a flop or turn: reach everywhere, and the values of folds."""
    _begin(level, player, board, (0, len(level.betting.root) - 1), call.mode, before, work)
    betting = level.betting
    for place in range(len(betting.kind)):
        if betting.kind[place] == FOLD:
            reach = work.reach[betting.slot[player, place]]
            payoff = betting.win[player, place]
            fold_values(level.runouts, player, board, payoff, reach, work.of_card, work.value[place])
        elif betting.kind[place] == ON:
            work.value[place, :] = 0


@vector_kernel
def end(level: Level, player: int, board: int, call: Pass, work: Workspace, sums: Reals) -> None:
    """The second half: the values of all decisions, added to `sums` of the previous street."""
    betting = level.betting
    _collect_values(level, player, board, (0, len(betting.kind)), call, work)
    _leave(level.runouts, betting, (0, len(betting.root) - 1), player, board, work.value, sums)


@vector_kernel
def rivers(
    level: Level, player: int, which: Which, call: Pass, before: Reach, sums: Reals, work: Workspace
) -> None:
    """Traverse boards of the river; add their values to `sums` of the previous street."""
    betting = level.betting
    for board in range(which.first, which.last):
        for batch in range(which.first_batch, which.last_batch):
            roots = betting.batch[batch], betting.batch[batch + 1]
            places = betting.root[roots[0]], betting.root[roots[1]]
            _begin(level, player, board, roots, call.mode, before, work)
            terminal_values(betting, level.runouts, player, board, batch, work.reach, work.value, work.lanes)
            _collect_values(level, player, board, places, call, work)
            _leave(level.runouts, betting, roots, player, board, work.value, sums)
