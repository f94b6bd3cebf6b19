"""Kernels: blocks of threads take a betting tree on a board, threads take hands.

Before the river a pass has three kernels for each street: `go_down` computes the reach of all hands and the
values of folds, `add_boards` the values of lines that go on, from those of the next street, and `come_up`
those of all decisions. On the river `solve_rivers` does all of it.

At a showdown the opponent's hands are in order of strength. Three lists follow each other: all hands, and the
hands with each card, card by card. Threads sum up pieces of them, for several ends of lines (*lanes*) at
once; then each hand finds the reach that it beats as differences of such running sums.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from openfelt.cards.deck import CARDS
from openfelt.core.cuda_build import cuda
from openfelt.spots.gpu.hands import (
    LANES_FROM,
    MODE,
    MOST,
    ONE,
    OWN_SLOTS,
    PLACES,
    SLOTS,
    ZERO,
    Tables,
    Tree,
    U,
    Where,
    collect,
    spread_other,
    spread_own,
)
from openfelt.spots.traversal import UPDATE

SINGLE = np.dtype(np.float32)  # in the form that the simulator accepts
FOLDS = 8  # folds before the river that are computed at once
FOLD_SUMS = FOLDS * CARDS
HALF = np.float32(0.5)
SIZE, OTHER_SIZE, HANDS, OTHER_HANDS, PARENT = range(5)  # columns of `Boards.board`
PAIR_OF, SAME, WEAKER, LOW_WEAKER, HIGH_WEAKER, NOT_STRONGER, LOW_NOT_STRONGER, HIGH_NOT_STRONGER = range(8)
LOOK_UPS = 8
SIX_BITS = 63

# These are set when a kernel is built.
LANES = 4  # lanes at once
ALIGNED: int | None = 16  # bytes, so that four lanes are read at once; None in the simulator
SHARES = True  # whether the reach of a tree fits into the shared memory of a block
PIECE = 3  # entries of the lists that a thread sums up; odd, against conflicts of memory banks
WARP, STEPS = 32, 5  # threads that run in step, and the logarithm of their number

MOST_THREADS = 384  # of a block
LANE_SUMS = 4 * MOST_THREADS // 32  # a number for each warp and lane


class Boards(NamedTuple):
    """The boards of a street, from the point of view of one player."""

    board: Any  # [boards, 5]
    parent: Any  # [hands] place of a hand in the list of the previous board
    look: Any  # [8, hands] its cards, its place in the opponent's list, and where its running sums are
    order: Any  # [2 * hands] the hands with each card, by list of hands
    card: Any  # [boards, 53] where the running sums of a card's hands begin, in the opponent's list
    image: Any  # [boards + 1] images of the next street's boards
    image_board: Any  # [images] of the next street
    back: Any  # for each image and hand: its place in the list of the image's board
    back_first: Any  # [boards]


class Reach(NamedTuple):
    """Reach of both players by board and slot, with the hands of the same street."""

    other: Any  # [boards, slots * width]
    own: Any
    width: Any


class Choice(NamedTuple):
    """The choice of a player before the roots (`spots.engine.Gadget`), by spot and root."""

    value: Any  # [spots, roots * width], hands in the order of the reach at the roots
    play: Any  # regrets
    leave: Any
    base: Any
    width: Any


def choose_to_play(choice: Choice, reach: Any) -> None:
    """Set the reach of the choice's player at the roots; a block for each spot and root."""
    count, thread, threads = len(reach), U(cuda.threadIdx.x), cuda.blockDim.x
    spot, first = cuda.blockIdx.x % count, cuda.blockIdx.x // count * choice.width
    for hand in range(first + thread, first + choice.width, threads):
        play, leave = choice.play[spot, hand], choice.leave[spot, hand]
        chance = play / (play + leave) if play + leave > ZERO else HALF
        reach[spot, hand] = choice.base[spot, hand] + chance


def update_choice(choice: Choice, boards: Boards, width: Any, value: Any) -> None:
    """Update the regrets of a choice by the values of playing on; a block for each spot and root."""
    count, thread, threads = len(choice.value), U(cuda.threadIdx.x), cuda.blockDim.x
    spot, root = cuda.blockIdx.x % count, cuda.blockIdx.x // count
    first = boards.board[spot, HANDS]
    for place in range(thread, boards.board[spot, SIZE], threads):
        hand = root * choice.width + boards.parent[U(first + place)]
        play, leave = choice.play[spot, hand], choice.leave[spot, hand]
        chance = play / (play + leave) if play + leave > ZERO else HALF
        gain = value[spot, root * width + place] - choice.value[spot, hand]
        choice.play[spot, hand] = max(play + (ONE - chance) * gain, ZERO)
        choice.leave[spot, hand] = max(leave - chance * gain, ZERO)


def go_down(
    active: Any, tree: Tree, boards: Boards, tables: Tables, before: Reach, chance: Any, schedule: Any,
    row: int, reach: Reach, value: Any,
) -> None:  # fmt: skip
    """Compute reach and the values of folds; a block for each board and tree."""
    count, thread, threads = len(active), U(cuda.threadIdx.x), cuda.blockDim.x
    root, board = cuda.blockIdx.x // count, active[cuda.blockIdx.x % count]
    at, width = _where(tree, boards, root, board), U(reach.width)
    rows = reach.other[board, at.slot * reach.width :]
    own = reach.own[board, at.own_slot * reach.width :]
    numbers, keep = _numbers(), schedule[row, 2]
    _enter(tree, tables, boards, at, root, before, chance, keep, rows, own, width, numbers)
    of_card = cuda.shared.array(FOLD_SUMS, np.float32)
    total = cuda.shared.array(FOLDS, np.float32)
    first_other = boards.board[board, OTHER_HANDS]
    for lane in range(tree.root[root, LANES_FROM], tree.root[root + 1, LANES_FROM], FOLDS):
        some = min(FOLDS, tree.root[root + 1, LANES_FROM] - lane)
        cuda.syncthreads()
        for cell in range(thread, some * CARDS, threads):
            mine, card = rows[(tree.lane[lane + cell // CARDS, 0] - at.slot) * width :], cell % CARDS
            here = ZERO
            for place in range(boards.card[board, card], boards.card[board, card + 1]):
                here += mine[U(boards.order[2 * first_other + place - at.other_size])]
            of_card[U(cell)] = here
        cuda.syncthreads()
        if thread < some:
            here = ZERO
            for card in range(CARDS):
                here += of_card[thread * U(CARDS) + U(card)]
            total[thread] = HALF * here
        cuda.syncthreads()
        for hand in range(thread, at.size, threads):
            place = U(boards.board[board, HANDS] + hand)
            pair, same = U(boards.look[PAIR_OF, place]), U(boards.look[SAME, place])
            low, high = pair & U(SIX_BITS), pair >> U(6)
            for one in range(some):
                met = total[U(one)] - of_card[U(one * CARDS) + low] - of_card[U(one * CARDS) + high]
                if same < U(at.other_size):
                    met += rows[U(tree.lane[lane + one, 0] - at.slot) * width + same]
                value[board, U(tree.lane[lane + one, 1]) * width + U(hand)] = tree.pay[lane + one, 3] * met


def add_boards(
    active: Any, tree: Tree, boards: Boards, below_width: Any, below: Any, width: Any, value: Any
) -> None:
    """Add up the values of the boards that follow; a block for each board and root of the next street."""
    count, thread, threads = len(active), U(cuda.threadIdx.x), cuda.blockDim.x
    root, board = cuda.blockIdx.x // count, active[cuda.blockIdx.x % count]
    place, row = U(tree.next[root, 0]) * U(width), U(tree.next[root, 1]) * U(below_width)
    size = boards.board[board, SIZE]
    first, last = boards.image[board], boards.image[board + 1]
    back = boards.back[boards.back_first[board] :]
    for hand in range(thread, size, threads):
        even, odd, at = ZERO, ZERO, U(hand)
        for image in range(first, last - 1, 2):
            one, two = U(back[at]), U(back[at + U(size)])
            even += below[boards.image_board[image], row + one]
            odd += below[boards.image_board[image + 1], row + two]
            at += U(2 * size)
        if (last - first) % 2:
            even += below[boards.image_board[last - 1], row + U(back[at])]
        value[board, place + U(hand)] = even + odd


def come_up(
    active: Any, tree: Tree, boards: Boards, tables: Tables, schedule: Any, row: int, width: Any, value: Any
) -> None:
    """Compute the values of all decisions; a block for each board and tree."""
    count, thread, threads = len(active), U(cuda.threadIdx.x), cuda.blockDim.x
    root, board = cuda.blockIdx.x // count, active[cuda.blockIdx.x % count]
    at = _where(tree, boards, root, board)
    rows, numbers = value[board, at.first * width :], _numbers()
    discounts = schedule[row, 0], schedule[row, 1]
    for hand in range(thread, at.size, threads):
        collect(tree, tables, at, U(hand), rows, U(width), discounts, numbers)


def solve_rivers(
    active: Any, tree: Tree, boards: Boards, tables: Tables, before: Reach, chance: Any, schedule: Any,
    row: int, room: Any, scratch: Any, width: Any, value: Any,
) -> None:  # fmt: skip
    """All of a pass on the river; `scratch` has the values of a tree for each block, `room` the reach."""
    count, thread, threads = len(active), U(cuda.threadIdx.x), cuda.blockDim.x
    shared = cuda.shared.array(0, SINGLE, alignment=ALIGNED)  # its length is an argument of the launch
    totals = cuda.shared.array(LANE_SUMS, np.float32, alignment=ALIGNED)
    numbers, keep = _numbers(), schedule[row, 2]
    discounts = schedule[row, 0], schedule[row, 1]
    rows = shared[(3 * width + 1) * LANES :] if SHARES else room[cuda.blockIdx.x]
    values, width = scratch[cuda.blockIdx.x], U(width)
    for item in range(cuda.blockIdx.x, count * len(tree.order), cuda.gridDim.x):
        root, board = tree.order[item // count], active[item % count]
        at = _where(tree, boards, root, board)
        _enter(tree, tables, boards, at, root, before, chance, keep, rows, rows, width, numbers)
        for slot in range(thread, tree.root[root + 1, SLOTS] - at.slot, threads):
            rows[U(slot) * width + width - U(1)] = ZERO  # of hands that the opponent cannot hold
        end = tree.root[root + 1, LANES_FROM]
        for lane in range(tree.root[root, LANES_FROM], end, LANES):
            cuda.syncthreads()
            _add_up(tree, boards, at, lane, end, rows, width, shared, totals)
            cuda.syncthreads()
            for hand in range(thread, at.size, threads):
                _show_down(tree, boards, at, lane, end, U(hand), rows, width, shared, values)
        for hand in range(thread, at.size, threads):
            collect(tree, tables, at, U(hand), values, width, discounts, numbers)
            value[board, U(root) * width + U(hand)] = values[U(hand)]
        cuda.syncthreads()


def _numbers() -> Any:
    """Room of a thread for the actions of a decision, three numbers each."""
    one, two = cuda.local.array(MOST, np.float32), cuda.local.array(MOST, np.float32)
    return one, two, cuda.local.array(MOST, np.float32)


def _where(tree: Tree, boards: Boards, root: Any, board: Any) -> Where:
    return Where(
        tree.root[root, PLACES],
        tree.root[root + 1, PLACES],
        tree.root[root, SLOTS],
        tree.root[root, OWN_SLOTS],
        board,
        boards.board[board, SIZE],
        boards.board[board, OTHER_SIZE],
    )


def _enter(
    tree: Tree, tables: Tables, boards: Boards, at: Where, root: Any, before: Reach, chance: Any,
    keep: Any, rows: Any, own: Any, width: Any, numbers: Any,
) -> None:  # fmt: skip
    """Take the reach at a root over from the previous street, and compute it everywhere below."""
    thread, threads = U(cuda.threadIdx.x), cuda.blockDim.x
    parent = boards.board[at.board, PARENT]
    if MODE == UPDATE:
        came = before.own[parent, tree.came[root, 1] * before.width :]
        for hand in range(thread, at.size, threads):
            own[U(hand)] = came[U(boards.parent[U(boards.board[at.board, HANDS] + hand)])]
            spread_own(tree, tables, at, U(hand), own, width, keep, numbers)
    came = before.other[parent, tree.came[root, 0] * before.width :]
    for hand in range(thread, at.other_size, threads):
        rows[U(hand)] = chance * came[U(boards.parent[U(boards.board[at.board, OTHER_HANDS] + hand)])]
        spread_other(tree, tables, at, U(hand), rows, width, numbers)


def _add_up(
    tree: Tree, boards: Boards, at: Where, lane: Any, end: Any, rows: Any, width: Any, sums: Any, totals: Any
) -> None:
    """Write the running sums of some lanes over the opponent's lists: at `i`, of the first i entries."""
    thread, size = U(cuda.threadIdx.x), U(at.other_size)
    first_other = U(2 * boards.board[at.board, OTHER_HANDS])
    row, running = cuda.local.array(LANES, np.uint32), cuda.local.array(LANES, np.float32)
    inside = cuda.local.array(LANES, np.float32)
    for one in range(LANES):
        row[one] = U(tree.lane[min(lane + one, end - 1), 0] - at.slot) * width
        running[one] = ZERO
    begin, hands = thread * U(PIECE), cuda.local.array(PIECE, np.uint32)
    some = min(max(U(3) * size, begin) - begin, U(PIECE))
    for step in range(PIECE):  # independent loads, so that none waits for another
        if U(step) < some:
            hands[step] = begin + U(step)
            if hands[step] >= size:
                hands[step] = U(boards.order[first_other + hands[step] - size])
    if thread == U(0):
        for one in range(LANES):
            sums[U(one)] = ZERO
    for step in range(PIECE):
        if U(step) < some:
            for one in range(LANES):
                running[one] += rows[row[one] + hands[step]]
            for one in range(LANES):
                sums[(begin + U(step + 1)) * U(LANES) + U(one)] = running[one]
    for one in range(LANES):
        inside[one] = running[one]
    within = thread % U(WARP)
    for step in range(STEPS):
        for one in range(LANES):
            other = shift_up(inside[one], 1 << step)
            if within >= U(1 << step):
                inside[one] += other
    if within == U(WARP - 1):
        for one in range(LANES):
            totals[thread // U(WARP) * U(LANES) + U(one)] = inside[one]
    cuda.syncthreads()
    for one in range(LANES):
        running[one] = inside[one] - running[one]
    for warp in range(thread // U(WARP)):
        for one in range(LANES):
            running[one] += totals[U(warp) * U(LANES) + U(one)]
    for step in range(PIECE):
        if U(step) < some:
            for one in range(LANES):
                sums[(begin + U(step + 1)) * U(LANES) + U(one)] += running[one]


def shift_up(value: Any, by: int) -> Any:
    """The value of the thread that is `by` before in the warp; the simulator has a function of its own."""
    return cuda.shfl_up_sync(0xFFFFFFFF, value, by)


def shift_up_simulated(value: Any, by: int) -> Any:
    """The same through shared memory."""
    thread, cells = cuda.threadIdx.x, cuda.shared.array(64, np.float32)
    cells[thread] = value
    cuda.syncthreads()
    found = cells[max(thread - by, 0)]
    cuda.syncthreads()
    return found


def _show_down(
    tree: Tree, boards: Boards, at: Where, lane: Any, end: Any, hand: Any, rows: Any, width: Any, sums: Any,
    values: Any,
) -> None:  # fmt: skip
    """Write the values of a hand at the ends of some lanes."""
    look, place, board = boards.look, U(boards.board[at.board, HANDS]) + hand, at.board
    pair, same, many = U(look[PAIR_OF, place]), U(look[SAME, place]), U(LANES)
    low, high = pair & U(SIX_BITS), pair >> U(6)
    low_0, low_1 = U(boards.card[board, low]) * many, U(boards.card[board, low + U(1)]) * many
    high_0, high_1 = U(boards.card[board, high]) * many, U(boards.card[board, high + U(1)]) * many
    weaker, equal = U(look[WEAKER, place]) * many, U(look[NOT_STRONGER, place]) * many
    low_weaker, high_weaker = U(look[LOW_WEAKER, place]) * many, U(look[HIGH_WEAKER, place]) * many
    low_equal, high_equal = U(look[LOW_NOT_STRONGER, place]) * many, U(look[HIGH_NOT_STRONGER, place]) * many
    for one in range(LANES):
        add = U(one)
        before = sums[low_0 + add] + sums[high_0 + add]
        beaten = sums[weaker + add] - (sums[low_weaker + add] + sums[high_weaker + add] - before)
        not_lost = sums[equal + add] - (sums[low_equal + add] + sums[high_equal + add] - before)
        met = sums[U(at.other_size) * many + add] - (sums[low_1 + add] + sums[high_1 + add] - before)
        if lane + one < end:
            itself = rows[U(tree.lane[U(lane + one), 0] - at.slot) * width + same]
            fold, on = tree.lane[U(lane + one), 1], tree.lane[U(lane + one), 2]
            if on >= 0:
                won = tree.pay[U(lane + one), 0] * beaten + tree.pay[U(lane + one), 1] * (not_lost + itself)
                won += tree.pay[U(lane + one), 2] * (met + itself)
                values[U(on - at.first) * width + hand] = won
            if fold >= 0:
                values[U(fold - at.first) * width + hand] = tree.pay[U(lane + one), 3] * (met + itself)
