"""The betting trees and boards of spots, laid out for the kernels.

Spots with the same betting trees are laid out together: the boards of a street are those of all spots.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import CARDS, RIVER
from openfelt.core.jit import Ints, Longs, vector_kernel
from openfelt.spots.betting import FOLD, ON, BettingArrays
from openfelt.spots.engine import Engine, table_rows
from openfelt.spots.gpu.hands import OTHER, OWN, Tree
from openfelt.spots.gpu.kernels import LOOK_UPS, Boards
from openfelt.spots.runouts import Runouts, Shorts

ROUND = 8  # rows of hands begin at multiples of this
CARD_STARTS = CARDS + 1


class StreetLayout(NamedTuple):
    """A street, for both players."""

    trees: list[Tree]
    boards: list[Boards]
    first: Longs  # [2, boards] where the tables of a player begin
    rows: int  # numbers in a table
    spot: Ints  # [boards] the spot that a board belongs to
    width: int  # of rows of hands
    chance: np.float32


def row_width(runouts: Sequence[Runouts]) -> int:
    """Numbers in a row of hands; the last is never a hand's."""
    most = max(int(each.size.max()) for each in runouts)
    return (most + ROUND) // ROUND * ROUND


def lay_out(engines: Sequence[Engine]) -> list[StreetLayout]:
    """All streets of spots."""
    layouts = []
    for level, street in enumerate(engines[0].streets):
        runouts = [engine.runouts[level] for engine in engines]
        after = [engine.runouts[level + 1] for engine in engines] if street.street < RIVER else []
        below = engines[0].streets[level + 1].arrays if after else None
        rows = np.concatenate([table_rows(street, each).T.ravel() for each in runouts])
        parents = _parents([engine.runouts[level - 1] for engine in engines], runouts) if level else None
        spot = np.repeat(np.arange(len(engines)), [len(each.card) for each in runouts]).astype(np.int32)
        is_last_next = street.street + 1 == RIVER
        layouts.append(
            StreetLayout(
                [_tree(street.arrays, player, below, is_last_next) for player in (0, 1)],
                _boards(runouts, spot if parents is None else parents, after),
                (np.cumsum(rows) - rows).reshape(-1, 2).T.copy(),
                int(rows.sum()),
                spot,
                row_width(runouts),
                np.float32(runouts[0].chance[0]),
            )
        )
    return layouts


def _tree(betting: BettingArrays, player: int, below: BettingArrays | None, is_last_next: bool) -> Tree:
    """The trees of a street from a player's point of view; `below` is the next street."""
    roots, owner = len(betting.root) - 1, betting.kind
    slot, own_slot = betting.slot[player], betting.slot[1 - player]
    kind = np.where(owner >= FOLD, owner, np.where(owner == player, OWN, OTHER))
    place = [kind, betting.actions, betting.first_child, betting.entry, betting.decision, slot, own_slot]
    lanes, starts = _lanes(betting, player)
    pay = np.zeros((len(lanes), 4), np.float32)
    win, tie, lose = betting.win[player], betting.tie[player], betting.lose[player]
    for number, (_, fold, on) in enumerate(lanes):
        if on >= 0:
            pay[number, :3] = win[on] - tie[on], tie[on] - lose[on], lose[on]
        if fold >= 0:
            pay[number, 3] = win[fold]
    after = np.zeros((0, 2), np.int32)
    if below is not None:
        rows = np.arange(len(below.root) - 1) if is_last_next else below.root[:-1]
        after = np.stack([below.from_place, rows], axis=1)
    return Tree(
        _ints(np.stack([betting.root, *betting.slot_root[[player, 1 - player]], starts], axis=1)),
        _ints(betting.from_slot[[player, 1 - player]].T),
        _ints(np.argsort(-np.diff(betting.root), kind="stable")[:roots]),
        _ints(np.stack(place, axis=1)),
        _ints(np.stack([betting.child, slot[betting.child], own_slot[betting.child]], axis=1)),
        _ints(np.array(lanes, np.int32).reshape(-1, 3)),
        pay,
        _ints(after),
    )


def _lanes(betting: BettingArrays, player: int) -> tuple[list[tuple[int, int, int]], Ints]:
    """Slot, fold and showdown of each lane, tree by tree, and where a tree's lanes begin.

    Before the river a lane has a fold only.
    """
    is_last = not (betting.next_root >= 0).any()
    lanes: list[tuple[int, int, int]] = []
    starts = [0]
    for first, last in zip(betting.root[:-1], betting.root[1:], strict=True):
        ends: dict[int, list[int]] = {}
        for place in range(first, last):
            kind = int(betting.kind[place])
            if kind == FOLD or (kind == ON and is_last):
                ends.setdefault(int(betting.slot[player, place]), [-1, -1])[kind - FOLD] = place
        lanes += [(slot, fold, on) for slot, (fold, on) in ends.items()]
        starts.append(len(lanes))
    return lanes, np.array(starts, np.int32)


def _parents(before: Sequence[Runouts], runouts: Sequence[Runouts]) -> Ints:
    """[boards] the board of the previous street, among those of all spots."""
    found, offset = [], 0
    for above, here in zip(before, runouts, strict=True):
        assert above.children[-1] == len(here.card)
        found.append(offset + np.repeat(np.arange(len(above.card)), np.diff(above.children)))
        offset += len(above.card)
    return _ints(np.concatenate(found))


def _boards(runouts: Sequence[Runouts], parents: Ints, after: Sequence[Runouts]) -> list[Boards]:
    width = row_width(runouts)
    lists = [_list_hands(each, width) for each in runouts]
    look, order = (
        np.concatenate([each[0] for each in lists], axis=1),
        np.concatenate([each[1] for each in lists]),
    )
    card = np.concatenate([each[2] for each in lists], axis=1)
    hands = np.cumsum([0, *(len(each.pair) for each in runouts)])
    size = np.concatenate([each.size for each in runouts], axis=1)
    first = np.concatenate([each.hands + at for each, at in zip(runouts, hands, strict=False)], axis=1)
    parent = np.concatenate([each.parent for each in runouts])
    image, image_board, back, back_first = _images(runouts, after)
    found = []
    for player in (0, 1):
        other = 1 - player
        columns = [size[player], size[other], first[player], first[other], parents]
        board = _ints(np.stack(columns, axis=1))
        found.append(
            Boards(board, parent, look, order, card[other], image, image_board, back, back_first[player])
        )
    return found


def _list_hands(runouts: Runouts, width: int) -> tuple[Shorts, Shorts, Shorts]:
    """The arrays `look`, `order` and `card` (by owner of the list) of `Boards`."""
    hands, boards = len(runouts.pair), len(runouts.card)
    look, order = np.zeros((LOOK_UPS, hands), np.int16), np.zeros(2 * hands, np.int16)
    card = np.zeros((2, boards, CARD_STARTS), np.int16)
    _fill_lists(runouts, width, np.zeros((3, CARDS), np.int64), look, order, card)
    return look, order, card


@vector_kernel
def _fill_lists(
    runouts: Runouts, width: int, at_card: Longs, look: Shorts, order: Shorts, card: Shorts
) -> None:
    place, weaker, equal = at_card[0], at_card[1], at_card[2]
    for board in range(len(runouts.card)):
        for player in range(2):
            other = 1 - player
            own, own_size = runouts.hands[player, board], runouts.size[player, board]
            theirs, size = runouts.hands[other, board], runouts.size[other, board]
            starts = card[other, board]
            place[:] = 0
            for hand in range(theirs, theirs + size):
                place[runouts.low[hand]] += 1
                place[runouts.high[hand]] += 1
            starts[0] = size
            for each in range(CARDS):
                starts[each + 1] = starts[each] + place[each]
                place[each] = starts[each]
                weaker[each] = equal[each] = starts[each]
            for hand in range(theirs, theirs + size):
                for each in (runouts.low[hand], runouts.high[hand]):
                    order[2 * theirs + place[each] - size] = hand - theirs
                    place[each] += 1
            below, not_above = 0, 0  # the opponent's hands that are weaker, and those that are not stronger
            for hand in range(own, own + own_size):
                low, high = runouts.low[hand], runouts.high[hand]
                while below < size and runouts.rank[theirs + below] < runouts.rank[hand]:
                    weaker[runouts.low[theirs + below]] += 1
                    weaker[runouts.high[theirs + below]] += 1
                    below += 1
                while not_above < size and runouts.rank[theirs + not_above] <= runouts.rank[hand]:
                    equal[runouts.low[theirs + not_above]] += 1
                    equal[runouts.high[theirs + not_above]] += 1
                    not_above += 1
                look[0, hand] = low + 64 * np.int64(high)
                look[1, hand] = runouts.same[hand] if runouts.same[hand] < size else width - 1
                look[2, hand], look[3, hand], look[4, hand] = below, weaker[low], weaker[high]
                look[5, hand], look[6, hand], look[7, hand] = not_above, equal[low], equal[high]


def _images(runouts: Sequence[Runouts], after: Sequence[Runouts]) -> tuple[Ints, Ints, Shorts, Longs]:
    """For each board the images of the boards that follow, and where each of its hands is on them."""
    boards = sum(len(each.card) for each in runouts)
    if not after:
        nothing = np.zeros(0, np.int32)
        return np.zeros(boards + 1, np.int32), nothing, np.zeros(0, np.int16), np.zeros((2, boards), np.int64)
    width = row_width(after)
    image, image_board, back, first = [np.zeros(1, np.int64)], [], [], []
    used = offset = images = 0
    for here, below in zip(runouts, after, strict=True):
        counts = np.diff(below.image[here.children])  # [boards]
        rows = (counts * here.size).T.ravel()
        first.append((used + np.cumsum(rows) - rows).reshape(-1, 2).T)
        image.append(images + np.cumsum(counts))
        image_board.append(offset + np.repeat(np.arange(len(below.card)), np.diff(below.image)))
        table = np.full(int(rows.sum()), width - 1, np.int16)
        _fill_back(here, below, first[-1] - used, table)
        back.append(table)
        used, offset, images = (
            used + int(rows.sum()),
            offset + len(below.card),
            images + len(below.image_card),
        )
    return (
        _ints(np.concatenate(image)),
        _ints(np.concatenate(image_board)),
        np.concatenate(back),
        np.ascontiguousarray(np.concatenate(first, axis=1)),
    )


@vector_kernel
def _fill_back(here: Runouts, below: Runouts, first: Longs, back: Shorts) -> None:
    for board in range(len(here.card)):
        for player in range(2):
            row = first[player, board]
            for child in range(here.children[board], here.children[board + 1]):
                for image in range(below.image[child], below.image[child + 1]):
                    begin = below.image_hands[player, image]
                    for hand in range(below.size[player, child]):
                        back[row + below.seen_as[begin + hand]] = hand
                    row += here.size[player, board]


def _ints(values: NDArray[Any]) -> Ints:
    return np.ascontiguousarray(values, np.int32)
