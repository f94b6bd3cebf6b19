"""The boards that are dealt at a time, on a GPU: what kernels read of their cards, for both players."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.abstraction.abstraction import BucketTables
from openfelt.cards.boards import board_set
from openfelt.cards.deck import BOARD_CARDS, CARDS, PAIR_CARDS, PAIRS, RANKS, RIVER, Bytes
from openfelt.core.cuda import new_queue, to_gpu, zeros_on_gpu
from openfelt.core.errors import FeltError
from openfelt.core.jit import Ints, Longs, kernel
from openfelt.solve.vector.gpu.launch import run, street_kernel
from openfelt.solve.vector.gpu.packed_boards import pack_boards, table_shape
from openfelt.solve.vector.gpu.river_squares import ROOM, WORDS, order_river
from openfelt.solve.vector.gpu.streets import deal
from openfelt.solve.vector.public_boards import PublicBoards

OUR_FLOP, OUR_TURN, THEIR_FLOP = range(3)  # tables of `GpuDeal.row`


class _Tables(NamedTuple):
    """The rows of every hand, on the GPU."""

    live: Any
    flop: Any  # [boards, 1326]
    turn: Any
    river: Any  # [1, boards, 1326]
    their_flop: Any  # [flops, 1326]


class GpuDeal:
    """Some boards at a time."""

    def __init__(self, boards: PublicBoards, buckets: BucketTables, their_flop_rows: Ints, most: int) -> None:
        _require_kinds(boards.deck.live, np.asarray(buckets.river))
        self.boards, self.most, self.count, self.queue = boards, most, 0, new_queue()
        self.chance = np.float32(1.0 / (boards.deck.size - 8))  # of a river, given both hands
        self._tables = _Tables(
            to_gpu(boards.deck.live),
            to_gpu(np.asarray(buckets.flop, np.int32)),
            to_gpu(np.asarray(buckets.turn)),
            to_gpu(np.asarray(buckets.river)[None]),
            to_gpu(their_flop_rows),
        )
        rivers = most * boards.rivers
        self.plan = zeros_on_gpu(table_shape(boards, most), np.int32)
        self.row = [zeros_on_gpu((most, PAIRS), np.int32) for _ in range(3)]  # -1 where a hand is impossible
        self.words = zeros_on_gpu((rivers * WORDS * ROOM,), np.uint32)
        self.facts = zeros_on_gpu((rivers,), np.uint32)
        self._deal, self._order = street_kernel(deal), street_kernel(order_river, PARTS=1)

    def begin(self, chosen: Longs, offsets: Longs) -> None:
        """Deal these boards, at most `most`; `offsets` are those of the rivers that are sampled."""
        plan, rivers = pack_boards(self.boards, chosen, offsets, self.most)
        self.count, tables = len(chosen), self._tables
        self.plan.copy_to_device(plan, stream=self.queue)
        self.run(
            self._deal,
            self.count,
            tables.live,
            self.plan,
            tables.flop,
            tables.turn,
            tables.their_flop,
            *self.row,
        )
        arguments = tables.live, self.plan, tables.river, tables.river, self.words, self.facts
        self.run(self._order, rivers, *arguments, threads=ROOM)

    def run(self, kernel: Any, blocks: int, *arguments: Any, **how: Any) -> None:
        """Queue a kernel."""
        run(self.queue, kernel, blocks, *arguments, **how)


def _require_kinds(live: Bytes, table: NDArray[Any]) -> None:
    """Raise unless hands of the same ranks and flush suit are in the same bucket on each river."""
    if not _kinds_agree(live, board_set(BOARD_CARDS[RIVER]).cards(), table):
        raise FeltError(
            "On a GPU this solver needs buckets in which hands of the same ranks, alike in which of their "
            "cards have the flush suit, are together on every river."
        )


@kernel
def _kinds_agree(live: Bytes, cards: Longs, table: NDArray[Any]) -> bool:
    seen = np.empty((len(RANKS), len(RANKS), 4), np.int64)
    suits, free = np.empty(4, np.int64), np.empty(CARDS, np.bool_)
    for board in range(len(cards)):
        seen[:], suits[:], free[:] = -1, 0, live != 0
        dealt = True
        for card in cards[board]:
            dealt &= live[card] != 0
            suits[card % 4] += 1
            free[card] = False
        for pair in range(PAIRS):
            low, high = PAIR_CARDS[pair, 0], PAIR_CARDS[pair, 1]
            if not (dealt and free[low] and free[high]):
                continue
            kind = 2 * (suits[low % 4] >= 3) + (suits[high % 4] >= 3)
            if low // 4 == high // 4 and kind == 2:
                kind = 1
            before = seen[low // 4, high // 4, kind]
            if before >= 0 and before != table[board, pair]:
                return False
            seen[low // 4, high // 4, kind] = table[board, pair]
    return True
