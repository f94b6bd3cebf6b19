"""CFR-BR in one seat on a GPU: its tables, and the launches of an iteration."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.boards import board_set
from openfelt.cards.deck import (
    BOARD_CARDS,
    CARDS,
    FLOP,
    PAIR_CARDS,
    PAIRS,
    PREFLOP,
    RANKS,
    RIVER,
    TURN,
    Bytes,
)
from openfelt.core.cuda import (
    free_memory,
    gpu_faults,
    gpu_name,
    is_simulated,
    new_queue,
    to_gpu,
    zeros_on_gpu,
)
from openfelt.core.cuda_build import build_for_cuda, cuda
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, Ints, Longs, kernel
from openfelt.games.compile.betting_tree import ACTIONS_MASK, KIND, PLACE, BettingTree
from openfelt.games.holdem import MOST_BETS
from openfelt.solve.vector.betting_lines import FIRST, LINES, BettingLines, betting_lines
from openfelt.solve.vector.gpu import river, rows, streets
from openfelt.solve.vector.gpu.packed_boards import pack_boards, table_shape
from openfelt.solve.vector.gpu.river_lists import sync_warp
from openfelt.solve.vector.gpu.river_squares import ROOM, WORDS, order_river
from openfelt.solve.vector.gpu.rows import DECISIONS, ROW
from openfelt.solve.vector.gpu.terms import terms_of
from openfelt.solve.vector.public_boards import PublicBoards
from openfelt.solve.vector.streets import FOLD, street_tables

REGISTERS = 128  # of a thread on the river
THREADS = 256  # of a block on the other streets
BLOCKS = 2_048  # that renew rows
MARGIN = 1.05  # memory to require on the GPU, as a multiple of what the tables take


class _Shared(NamedTuple):
    """What both seats read, on the GPU."""

    live: Any
    flop: Any  # [boards, 1326] buckets
    turn: Any
    river: Any  # [1, boards, 1326]
    flop_rows: Any  # [flops, 1326] the opponent's
    preflop_rows: tuple[Any, Any]  # [1326] ours, the opponent's


class _Rows(NamedTuple):
    """What we have learned on a street, [roots, buckets, ...]."""

    regrets: Any
    average: Any
    policy: Any
    shares: Any  # of the lines
    came_by: Any  # [roots, buckets] our reach in this iteration


def gpu_learners(
    tree: BettingTree,
    boards: PublicBoards,
    trunk_rows: tuple[Ints, Ints],
    trunk_counts: tuple[int, int],
    in_flight: int,
) -> list[GpuLearner]:
    """A learner for each seat; `in_flight` boards at a time."""
    tables = tree.abstraction.tables()
    _require_kinds(boards.deck.live, np.asarray(tables.river))
    with gpu_faults():
        shared = _Shared(
            to_gpu(boards.deck.live),
            to_gpu(np.asarray(tables.flop)),
            to_gpu(np.asarray(tables.turn)),
            to_gpu(np.asarray(tables.river)[None]),
            to_gpu(trunk_rows[1]),
            (to_gpu(tables.preflop[0].astype(np.int32)), to_gpu(trunk_rows[0])),
        )
        return [GpuLearner(tree, seat, boards, shared, trunk_counts, in_flight) for seat in range(2)]


class GpuLearner:
    """Learns in one seat."""

    def __init__(
        self,
        tree: BettingTree,
        seat: int,
        boards: PublicBoards,
        shared: _Shared,
        trunk_counts: tuple[int, int],
        in_flight: int,
    ) -> None:
        self._tree, self._seat, self._boards, self._shared = tree, seat, boards, shared
        self._in_flight, self._queue = in_flight, new_queue()
        self._betting = betting_lines(tree.most_bets)
        self._roots = [lines.roots for lines in self._betting.streets]
        layout, other, preflop = tree.layout, 1 - seat, street_tables(tree)[PREFLOP]
        self._preflop = to_gpu(preflop._replace(won=preflop.won.astype(np.float32)))
        self._folds = int((preflop.player == FOLD).sum())
        counts = [int(layout.buckets[street, seat]) for street in (FLOP, TURN, RIVER)]
        self._require_memory(counts, trunk_counts[1])
        self._rows = [_new_rows(*size) for size in zip(self._roots, counts, strict=True)]
        self._trunk = zeros_on_gpu((self._roots[0], trunk_counts[1], ROW), np.float32)
        sizes = [
            (int(layout.buckets[PREFLOP, seat]), int(layout.edges[PREFLOP, seat])),
            (trunk_counts[0], int(layout.edges[PREFLOP, other])),
        ]
        # Before the flop, ours and the opponent's: regrets, average and policy [rows, edges].
        self._before = [[zeros_on_gpu(size, np.float32) for _ in range(3)] for size in sizes]
        self._terms = [
            [to_gpu(terms_of(lines, player == FIRST).astype(np.float32)) for player in (seat, other)]
            for lines in self._betting.streets
        ]
        self._chance = np.float32(1.0 / (boards.deck.size - 8))  # of a river, given both hands
        self.won = zeros_on_gpu((2,), np.float64)  # chips by player, summed over all pairs of hands
        self._new_work(in_flight)
        self._build(seat == FIRST)
        self._renew(0.0)

    def _require_memory(self, counts: list[int], trunk: int) -> None:
        places = sum(roots * count for roots, count in zip(self._roots, counts, strict=True))
        rivers = self._in_flight * self._boards.rivers
        needed = 4 * (places * (3 * ROW + LINES + 1) + self._roots[0] * trunk * ROW)
        needed += 4 * rivers * (WORDS * ROOM + self._roots[2] * DECISIONS * ROOM)
        needed += 4 * self._in_flight * PAIRS * (4 * sum(self._roots) + ROW * self._roots[0])
        if MARGIN * needed > free_memory():
            raise FeltError(
                f"cfr-br needs {MARGIN * needed / 1e9:.1f} GB on the GPU for each seat; of {gpu_name()}'s "
                f"memory {free_memory() / 1e9:.1f} GB are free. Use fewer buckets, or fewer in flight."
            )

    def _new_work(self, boards: int) -> None:
        e1, e2, e3 = self._roots
        rivers = boards * self._boards.rivers

        def new(*shape: int) -> Any:
            return zeros_on_gpu((boards, *shape, PAIRS), np.float32)

        self._plan = zeros_on_gpu(table_shape(self._boards, boards), np.int32)
        self._bucket = zeros_on_gpu((3, boards, PAIRS), np.int32)
        self._words = zeros_on_gpu((rivers * WORDS * ROOM,), np.uint32)
        self._facts = zeros_on_gpu((rivers,), np.uint32)
        self._choices = zeros_on_gpu((rivers * e3 * DECISIONS * ROOM,), np.uint32)
        # By player, ours and the opponent's, and street.
        self._reach = [[new(e1), new(e2), new(e3)] for _ in range(2)]
        self._values = [[new(e1), new(e2), new(e3)] for _ in range(2)]
        self._fold_reach = [new(self._folds) for _ in range(2)]
        self._trunk_policy = zeros_on_gpu((boards * e1, PAIRS, ROW), np.float32)
        self._no_average = zeros_on_gpu((0, 0), np.float32)

    def _build(self, opens: bool) -> None:
        bets, fewer = self._tree.most_bets, self._tree.most_bets < MOST_BETS
        ours, theirs = {"OPENS": opens, "BETS": bets}, {"OPENS": not opens, "BETS": bets}
        self._respond_river = _river_kernel(river.respond_river, **theirs, FEWER=fewer)
        self._learn_river = _river_kernel(river.learn_river, **ours, FEWER=fewer)
        self._renew_rows = _kernel(rows.renew, **ours)
        self._deal, self._go_down = _kernel(streets.deal), _kernel(streets.go_down)
        self._go_down_trunk = _kernel(streets.go_down_trunk, **theirs)
        self._respond_turn = _kernel(streets.respond_turn, **theirs)
        self._learn_street = [_kernel(streets.learn_street, **how) for how in (ours, theirs)]
        both = (self._seat, 1 - self._seat)
        self._renew_preflop = [_kernel(streets.renew_preflop, PLAYER=player) for player in both]
        self._go_down_preflop = [_kernel(streets.go_down_preflop, PLAYER=player) for player in both]
        self._learn_preflop = [_kernel(streets.learn_preflop, PLAYER=player) for player in both]
        self._order_river = _kernel(order_river, PARTS=1)

    def iterate(self, chosen: Longs, weight: float, averaged: float) -> None:
        """Queue an iteration on these boards, at most `in_flight`, with its weights."""
        with gpu_faults():
            self._begin(chosen)
            self._reach_rivers(len(chosen))
            self._respond(len(chosen))
            self._learn(len(chosen), np.float32(weight))
            self._renew(averaged)

    def _begin(self, chosen: Longs) -> None:
        """Deal the boards."""
        shared, (plan, rivers) = self._shared, pack_boards(self._boards, chosen, self._in_flight)
        self._plan.copy_to_device(plan, stream=self._queue)
        tables = shared.flop, shared.turn, shared.flop_rows
        self._run(self._deal, len(chosen), shared.live, self._plan, *tables, self._bucket)
        arguments = shared.live, self._plan, shared.river, shared.river, self._words, self._facts
        self._run(self._order_river, rivers, *arguments, threads=ROOM)

    def _reach_rivers(self, boards: int) -> None:
        """Our reach of the river, and the opponent's of the turn."""
        (e1, e2, _), (ours, theirs), shared = self._roots, self._reach, self._shared
        for side in range(2):
            policy, into = self._before[side][2], (self._reach[side][0], self._fold_reach[side])
            row = shared.preflop_rows[side]
            self._run(self._go_down_preflop[side], boards, self._preflop, row, self._bucket[0], policy, *into)
        flop, turn, _ = self._rows
        self._run(self._go_down, boards * e1, self._bucket[0], flop.shares, ours[0], ours[1])
        self._run(self._go_down, boards * e2, self._bucket[1], turn.shares, ours[1], ours[2])
        arguments = self._bucket[2], self._trunk, theirs[0], self._trunk_policy, theirs[1]
        self._run(self._go_down_trunk, boards * e1, *arguments)

    def _respond(self, boards: int) -> None:
        """The opponent's best response from the turn on."""
        (_, e2, e3), (ours, theirs), (_, best), last = self._roots, self._reach, self._values, self._rows[2]
        self._run(
            self._respond_river,
            boards * e3,
            *(self._plan, self._words, self._facts, e3, self._chance, ours[2], last.shares),
            *(self._terms[2][1], last.came_by, self._choices, best[2]),
            threads=ROOM,
        )
        arguments = self._terms[1][1], ours[2], best[2], theirs[1], best[1], theirs[2]
        self._run(self._respond_turn, boards * e2, self._bucket[1], *arguments)

    def _learn(self, boards: int, weight: np.float32) -> None:
        """Our values against it; both players' regrets."""
        (e1, e2, e3), (ours, theirs), (own, best) = self._roots, self._reach, self._values
        flop, turn, last = self._rows
        self._run(
            self._learn_river,
            boards * e3,
            *(self._plan, self._words, self._facts, e3, self._chance, weight * self._chance, theirs[2]),
            *(last.policy, self._terms[2][0], self._choices, last.regrets, own[2]),
            threads=ROOM,
        )
        bucket = self._bucket
        self._run(
            self._learn_street[0],
            boards * e2,
            *(bucket[1], bucket[1], 0, self._terms[1][0], theirs[2], own[2], turn.policy, weight),
            *(turn.regrets, ours[1], turn.came_by, own[1]),
        )
        self._run(
            self._learn_street[0],
            boards * e1,
            *(bucket[0], bucket[0], 0, self._terms[0][0], theirs[1], own[1], flop.policy, weight),
            *(flop.regrets, ours[0], flop.came_by, own[0]),
        )
        self._run(
            self._learn_street[1],
            boards * e1,
            *(bucket[0], bucket[2], boards, self._terms[0][1], ours[1], best[1], self._trunk_policy, weight),
            *(self._trunk, theirs[0], self._no_average, best[0]),
        )
        for side in range(2):
            regrets, _, policy = self._before[side]
            self._run(
                self._learn_preflop[side],
                boards,
                *(self._preflop, self._shared.preflop_rows[side], bucket[0], self._fold_reach[1 - side]),
                *(self._values[side][0], policy, weight, regrets, self.won[side : side + 1]),
            )

    def _renew(self, averaged: float) -> None:
        """Add the policies to the averages, and match the regrets again."""
        for table, street in zip(self._rows, (FLOP, TURN, RIVER), strict=True):
            blocks = -(-table.regrets.shape[0] * table.regrets.shape[1] // THREADS)
            weight = np.float32(averaged) * (self._chance if street == RIVER else np.float32(1.0))
            arguments = table.regrets, table.average, table.came_by, weight, table.policy, table.shares
            self._run(self._renew_rows, 1 if is_simulated() else min(BLOCKS, blocks), *arguments)
        for side in range(2):
            regrets, average, policy = self._before[side]
            blocks, weight = -(-regrets.shape[0] // THREADS), np.float32(averaged)
            self._run(self._renew_preflop[side], blocks, self._preflop, regrets, average, weight, policy)

    def wait(self) -> None:
        """Wait for the GPU."""
        with gpu_faults():
            self._queue.synchronize()

    def fetch(self, regrets: Floats, average: Floats, trunk: list[Floats]) -> None:
        """Copy what was learned into our seat's slots of two tables, and the opponent's regrets."""
        with gpu_faults():
            for place, table in enumerate((regrets, average)):
                self._slots(table, PREFLOP)[...] = self._before[0][place].copy_to_host(stream=self._queue)
                for street, here in zip((FLOP, TURN, RIVER), self._rows, strict=True):
                    there = here[place].copy_to_host(stream=self._queue)
                    from_rows(self._edges(street, self._seat), there, self._slots(table, street))
            trunk[0][...] = self._before[1][0].copy_to_host(stream=self._queue)
            there = self._trunk.copy_to_host(stream=self._queue)
            from_rows(self._edges(FLOP, 1 - self._seat), there, trunk[1])

    def load(self, regrets: Floats, average: Floats, trunk: list[Floats]) -> None:
        """Continue with other tables."""
        with gpu_faults():
            for place, table in enumerate((regrets, average)):
                self._before[0][place].copy_to_device(_single(self._slots(table, PREFLOP)))
                for street, here in zip((FLOP, TURN, RIVER), self._rows, strict=True):
                    edges = self._edges(street, self._seat)
                    here[place].copy_to_device(to_rows(edges, self._slots(table, street)))
            self._before[1][0].copy_to_device(_single(trunk[0]))
            self._trunk.copy_to_device(to_rows(self._edges(FLOP, 1 - self._seat), trunk[1]))
            self._renew(0.0)

    def _slots(self, table: Floats, street: int) -> Floats:
        """[buckets, edges] our slots of a street."""
        layout, place = self._tree.layout, (street, self._seat)
        base, count, edges = (int(each[place]) for each in (layout.slot_base, layout.buckets, layout.edges))
        return table[base : base + count * edges].reshape(count, edges)

    def _edges(self, street: int, player: int) -> Longs:
        return edges_of_rows(self._tree, self._betting, street, player)

    def _run(self, kernel: Any, blocks: int, *arguments: Any, threads: int = THREADS) -> None:
        few = threads == THREADS and is_simulated()
        kernel[blocks, 32 if few else threads, self._queue](*arguments)


def edges_of_rows(tree: BettingTree, betting: BettingLines, street: int, player: int) -> Longs:
    """[roots, ROW] the edge at each place of a row, counted from the player's first of the street, or -1."""
    nodes = betting.decisions[street - FLOP]
    lines = (1, 3, 6, 8) if player == FIRST else (2, 4, 5, 7)  # whose bets the player answers
    found = np.full((nodes.shape[1], ROW), -1)
    for decision, which in enumerate((0 if player == FIRST else 1, *(1 + line for line in lines))):
        for root, node in enumerate(nodes[which]):
            if node >= 0:
                edge = int(betting.node[node, PLACE] - tree.layout.first_edge[street, player])
                actions = int(betting.node[node, KIND]) & ACTIONS_MASK
                found[root, 3 * decision : 3 * decision + actions] = range(edge, edge + actions)
    return found


def from_rows(edges: Longs, table: NDArray[np.float32], into: Floats) -> None:
    """Write rows [roots, buckets, ROW] to slots [buckets, edges]."""
    root, place = np.nonzero(edges >= 0)
    into[:, edges[root, place]] = table[root, :, place].T


def to_rows(edges: Longs, slots: Floats) -> NDArray[np.float32]:
    """Rows [roots, buckets, ROW] from slots [buckets, edges]."""
    table = np.zeros((len(edges), len(slots), ROW), np.float32)
    root, place = np.nonzero(edges >= 0)
    table[root, :, place] = slots[:, edges[root, place]].T
    return table


def _require_kinds(live: Bytes, table: NDArray[Any]) -> None:
    """Raise unless hands of the same ranks and flush suit are in the same bucket on each river."""
    if not _kinds_agree(live, board_set(BOARD_CARDS[RIVER]).cards(), table):
        raise FeltError(
            "On a GPU cfr-br needs buckets in which hands of the same ranks, alike in which of their cards "
            "have the flush suit, are together on every river."
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


def _new_rows(roots: int, buckets: int) -> _Rows:
    shapes = (ROW,), (ROW,), (ROW,), (LINES,), ()
    return _Rows(*(zeros_on_gpu((roots, buckets, *rest), np.float32) for rest in shapes))


@cache
def _river_kernel(source: Any, **constants: Any) -> Any:
    if is_simulated():
        return build_for_cuda(source, {sync_warp: _sync_block}, 0, constants | {"ALIGNED": None})
    return build_for_cuda(source, {}, REGISTERS, constants)


def _sync_block() -> None:
    cuda.syncthreads()


@cache
def _kernel(source: Any, **constants: Any) -> Any:
    return build_for_cuda(source, {}, constants=constants)


def _single(table: Floats) -> NDArray[np.float32]:
    return np.ascontiguousarray(table, np.float32)
