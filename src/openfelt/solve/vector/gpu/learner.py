"""CFR-BR in one seat on a GPU: its tables, and the launches of an iteration."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.boards import hole_class
from openfelt.cards.deck import FLOP, PAIRS, PREFLOP, RIVER, TURN
from openfelt.cards.public_cards import Deck, Plan, plan_flop
from openfelt.core.cuda import is_simulated, new_queue, to_gpu, zeros_on_gpu
from openfelt.core.cuda_build import build_for_cuda, cuda
from openfelt.core.jit import Floats, Ints, Longs
from openfelt.games.compile.betting_tree import ACTIONS_MASK, KIND, PLACE, BettingTree
from openfelt.measure.holdem.betting_lines import FIRST, LINES, BettingLines, betting_lines
from openfelt.measure.holdem.gpu import plan as rows_of_plan
from openfelt.measure.holdem.gpu.river import terms_of
from openfelt.measure.holdem.gpu.river_lists import sync_warp
from openfelt.measure.holdem.gpu.river_squares import ROOM, WORDS, order_river
from openfelt.solve.vector.gpu import river, rows, streets
from openfelt.solve.vector.gpu.rows import DECISIONS, ROW
from openfelt.solve.vector.streets import street_tables

REGISTERS = 128  # of a thread on the river
THREADS = 256  # of a block on the other streets
BLOCKS = 2_048  # that renew rows
CLASSES = 169


class Boards:
    """All flops and turns up to suits, with the rivers that can follow, to be drawn from."""

    def __init__(self, deck: Deck) -> None:
        self.deck = deck
        self.plans: list[Plan] = [plan_flop(deck, flop) for flop in deck.flops]
        weights, places = [], []
        for number, (flop, plan) in enumerate(zip(deck.flops, self.plans, strict=True)):
            weights.append(flop.multiplicity * np.diff(plan.turn_first))
            places.append(np.stack([np.full(plan.turns, number), np.arange(plan.turns)], axis=1))
        self.places = np.concatenate(places)  # [boards, 2] flop and turn
        total = np.cumsum(np.concatenate(weights))
        self.bounds = total / total[-1]
        self.most_rivers = deck.size - 4

    def draw(self, generator: np.random.Generator, count: int) -> Longs:
        """Numbers of random boards."""
        return np.searchsorted(self.bounds, generator.random(count), side="right")

    def pack(self, chosen: Longs) -> tuple[Ints, int]:
        """The plan of these boards for kernels, and how many rivers they have."""
        count, most = len(chosen), self.most_rivers
        table = np.zeros((rows_of_plan.RIVER_AS + 1, max(count * (most + 1), 3 * count) + 1), np.int32)
        total = images = 0
        for board, (number, turn) in enumerate(self.places[chosen]):
            flop, plan = self.deck.flops[number], self.plans[number]
            table[rows_of_plan.CARDS, 3 * board : 3 * board + 3] = flop.cards
            for row, values in ((rows_of_plan.NUMBER, plan.number), (rows_of_plan.THROUGH, plan.through)):
                table[row, board], table[row, count + board] = values[0], values[1 + turn]
            table[rows_of_plan.TURN, board] = plan.turn[turn]
            first, last = plan.of_turn[turn], plan.of_turn[turn + 1]
            into, after = (
                slice(total, total + last - first),
                slice(1 + plan.turns + first, 1 + plan.turns + last),
            )
            table[rows_of_plan.RIVER, into] = plan.river[first:last]
            table[rows_of_plan.RIVER_TURN, into] = board
            table[rows_of_plan.RIVER_NUMBER, into] = plan.number[after]
            table[rows_of_plan.RIVER_THROUGH, into] = plan.through[after]
            begin, end = plan.river_first[first], plan.river_first[last]
            table[rows_of_plan.RIVER_FIRST, into] = images + plan.river_first[first:last] - begin
            table[rows_of_plan.RIVER_AS, images : images + end - begin] = plan.river_as[begin:end]
            total, images = total + last - first, images + end - begin
            table[rows_of_plan.OF_TURN, board + 1] = total
        table[rows_of_plan.RIVER_FIRST, total] = images
        return table, int(total)


class _Tables(NamedTuple):
    """What a player has learned on a street, [roots, buckets, ...]."""

    regrets: Any
    average: Any
    policy: Any
    shares: Any
    came_by: Any  # [roots, buckets] our reach in this iteration


class Shared(NamedTuple):
    """What both seats read: the buckets of every hand, on the GPU."""

    boards: Boards
    live: Any
    buckets: tuple[Any, ...]  # flop, turn [boards, 1326], river [1, boards, 1326]
    trunk: Any  # [flops, 1326] the opponent's row of each hand
    trunk_rows: int
    preflop_rows: tuple[Any, Any]  # [1326] ours and the opponent's


def share(tree: BettingTree, trunk: NDArray[Any], trunk_rows: int, deck: Deck) -> Shared:
    """Copy the buckets of a tree to the GPU."""
    tables = tree.abstraction.tables()
    buckets = (to_gpu(np.asarray(tables.flop)), to_gpu(np.asarray(tables.turn)))
    last = to_gpu(np.asarray(tables.river)[None])
    return Shared(
        Boards(deck),
        to_gpu(deck.live),
        (*buckets, last),
        to_gpu(trunk),
        trunk_rows,
        (to_gpu(tables.preflop[0].astype(np.int32)), to_gpu(hole_class().astype(np.int32))),
    )


class GpuLearner:
    """Learns in one seat, some boards at a time."""

    def __init__(self, tree: BettingTree, seat: int, shared: Shared, boards: int) -> None:
        self.tree, self.seat, self.shared, self.boards = tree, seat, shared, boards
        self.betting = betting = betting_lines(tree.most_bets)
        self.roots = [lines.roots for lines in betting.streets]
        self.queue, deck = new_queue(), shared.boards.deck
        preflop, opens = street_tables(tree)[PREFLOP], seat == FIRST
        self.street = to_gpu(preflop._replace(won=preflop.won.astype(np.float32)))
        self.ends = int((preflop.player == -1).sum())
        layout, other = tree.layout, 1 - seat
        counts = [int(layout.buckets[street, seat]) for street in (FLOP, TURN, RIVER)]
        self.tables = [
            self._new_tables(roots, count) for roots, count in zip(self.roots, counts, strict=True)
        ]
        self.trunk = zeros_on_gpu((self.roots[0], shared.trunk_rows, ROW), np.float32)
        edges = [int(layout.edges[PREFLOP, player]) for player in (seat, other)]
        self.preflop = [[zeros_on_gpu((CLASSES, each), np.float32) for _ in range(3)] for each in edges]
        self.terms = [
            [_single(terms_of(lines, first == FIRST)) for first in (seat, other)] for lines in betting.streets
        ]
        self.chance = np.float32(1.0 / (deck.size - 8))
        self.won = zeros_on_gpu((2,), np.float64)
        self._new_work(boards, boards * shared.boards.most_rivers)
        ours, theirs = {"OPENS": opens, "BETS": tree.most_bets}, {"OPENS": not opens, "BETS": tree.most_bets}
        self.respond_river, self.learn_river = (
            _river_kernel(river.respond_river, **theirs, FEWER=tree.most_bets < 4),
            _river_kernel(river.learn_river, **ours, FEWER=tree.most_bets < 4),
        )
        self.renew = _kernel(rows.renew, **ours)
        self.deal, self.go_down = _kernel(streets.deal), _kernel(streets.go_down)
        self.go_down_trunk = _kernel(streets.go_down_trunk, **theirs)
        self.respond_turn = _kernel(streets.respond_turn, **theirs)
        self.learn = _kernel(streets.learn_street, **ours), _kernel(streets.learn_street, **theirs)
        both = (seat, other)
        self.renew_preflop = [_kernel(streets.renew_preflop, PLAYER=player) for player in both]
        self.down_preflop = [_kernel(streets.go_down_preflop, PLAYER=player) for player in both]
        self.learn_preflop = [_kernel(streets.learn_preflop, PLAYER=player) for player in both]
        self.order_river = _kernel(order_river, PARTS=1)
        self.empty = zeros_on_gpu((0, 0), np.float32)
        self._renew(np.float32(0.0))

    def _new_tables(self, roots: int, buckets: int) -> _Tables:
        shapes = (ROW,), (ROW,), (ROW,), (LINES,), ()
        return _Tables(*(zeros_on_gpu((roots, buckets, *rest), np.float32) for rest in shapes))

    def _new_work(self, boards: int, rivers: int) -> None:
        e1, e2, e3 = self.roots

        def new(*shape: int) -> Any:
            return zeros_on_gpu((boards, *shape, PAIRS), np.float32)

        self.bucket = zeros_on_gpu((3, boards, PAIRS), np.int32)
        self.words = zeros_on_gpu((rivers * WORDS * ROOM,), np.uint32)
        self.facts = zeros_on_gpu((rivers,), np.uint32)
        self.choices = zeros_on_gpu((rivers * e3 * DECISIONS * ROOM,), np.uint32)
        self.reach = [[new(e1), new(e2), new(e3)] for _ in range(2)]  # ours, the opponent's
        self.values = [[new(e1), new(e2), new(e3)] for _ in range(2)]
        self.fold_reach = [new(self.ends) for _ in range(2)]
        self.trunk_policy = zeros_on_gpu((boards * e1, PAIRS, ROW), np.float32)
        self.plan = zeros_on_gpu(self.shared.boards.pack(np.zeros(boards, np.int64))[0].shape, np.int32)

    def iterate(self, chosen: Longs, weight: float, averaged: float) -> None:
        """Queue one iteration on these boards."""
        shared, boards, (e1, e2, e3) = self.shared, self.boards, self.roots
        plan, rivers = shared.boards.pack(chosen)
        weights = np.float32(weight), np.float32(averaged)
        self.plan.copy_to_device(plan, stream=self.queue)
        run, bucket = self._run, [self.bucket[which] for which in range(3)]
        run(self.deal, boards, shared.live, self.plan, *shared.buckets[:2], shared.trunk, self.bucket)
        table = shared.buckets[2]
        run(
            self.order_river,
            rivers,
            shared.live,
            self.plan,
            table,
            table,
            self.words,
            self.facts,
            threads=ROOM,
        )
        ours, theirs = self.reach
        for side in range(2):
            policy = self.preflop[side][2]
            into = self.reach[side][0], self.fold_reach[side]
            run(
                self.down_preflop[side],
                boards,
                self.street,
                shared.preflop_rows[side],
                bucket[0],
                policy,
                *into,
            )
        flop, turn, last = self.tables
        run(self.go_down, boards * e1, bucket[0], flop.shares, ours[0], ours[1])
        run(self.go_down, boards * e2, bucket[1], turn.shares, ours[1], ours[2])
        run(self.go_down_trunk, boards * e1, bucket[2], self.trunk, theirs[0], self.trunk_policy, theirs[1])
        mine, best = self.values
        river_facts = self.plan, self.words, self.facts, e3, self.chance
        run(
            self.respond_river,
            boards * e3,
            *river_facts,
            ours[2],
            last.shares,
            self.terms[2][1],
            last.came_by,
            self.choices,
            best[2],
            threads=ROOM,
        )
        run(
            self.respond_turn,
            boards * e2,
            bucket[1],
            self.terms[1][1],
            ours[2],
            best[2],
            theirs[1],
            best[1],
            theirs[2],
        )
        run(
            self.learn_river,
            boards * e3,
            *river_facts,
            weights[0] * self.chance,
            theirs[2],
            last.policy,
            self.terms[2][0],
            self.choices,
            last.regrets,
            mine[2],
            threads=ROOM,
        )
        run(
            self.learn[0],
            boards * e2,
            bucket[1],
            bucket[1],
            0,
            self.terms[1][0],
            theirs[2],
            mine[2],
            turn.policy,
            weights[0],
            turn.regrets,
            ours[1],
            turn.came_by,
            mine[1],
        )
        run(
            self.learn[0],
            boards * e1,
            bucket[0],
            bucket[0],
            0,
            self.terms[0][0],
            theirs[1],
            mine[1],
            flop.policy,
            weights[0],
            flop.regrets,
            ours[0],
            flop.came_by,
            mine[0],
        )
        run(
            self.learn[1],
            boards * e1,
            bucket[0],
            bucket[2],
            boards,
            self.terms[0][1],
            ours[1],
            best[1],
            self.trunk_policy,
            weights[0],
            self.trunk,
            theirs[0],
            self.empty,
            best[0],
        )
        for side in range(2):
            regrets, _, policy = self.preflop[side]
            run(
                self.learn_preflop[side],
                boards,
                self.street,
                shared.preflop_rows[side],
                bucket[0],
                self.fold_reach[1 - side],
                self.values[side][0],
                policy,
                weights[0],
                regrets,
                self.won[side : side + 1],
            )
        self._renew(weights[1])

    def _renew(self, weight: Any) -> None:
        for table in self.tables:
            rows_of = table.regrets.shape[0] * table.regrets.shape[1]
            blocks = 1 if is_simulated() else min(BLOCKS, -(-rows_of // THREADS))
            self._run(
                self.renew,
                blocks,
                table.regrets,
                table.average,
                table.came_by,
                weight,
                table.policy,
                table.shares,
            )
        for side in range(2):
            regrets, average, policy = self.preflop[side]
            self._run(
                self.renew_preflop[side],
                -(-CLASSES // THREADS),
                self.street,
                regrets,
                average,
                weight,
                policy,
            )

    def slots(self, which: str) -> list[tuple[int, Floats]]:
        """By street, the first slot of our seat and its numbers, in the layout of the tree."""
        layout, found = self.tree.layout, []
        place = {"regrets": 0, "average": 1, "policy": 2}[which]
        found.append(
            (
                int(layout.slot_base[PREFLOP, self.seat]),
                self.preflop[0][place].copy_to_host(stream=self.queue).astype(np.float64).ravel(),
            )
        )
        for street, table in zip((FLOP, TURN, RIVER), self.tables, strict=True):
            rows_found = getattr(table, which).copy_to_host(stream=self.queue)
            numbers = to_layout(self.tree, self.betting, street, self.seat, rows_found)
            found.append((int(layout.slot_base[street, self.seat]), numbers))
        return found

    def _run(self, kernel: Any, blocks: int, *arguments: Any, threads: int = THREADS) -> None:
        few = threads == THREADS and is_simulated()
        kernel[blocks, 32 if few else threads, self.queue](*arguments)


def own_decisions(betting: BettingLines, street: int, seat: int) -> Longs:
    """[DECISIONS, roots] the nodes of a player's decisions, -1 where there is none."""
    nodes = betting.decisions[street - FLOP]
    first = 0 if seat == FIRST else 1
    lines = (1, 3, 6, 8) if seat == FIRST else (2, 4, 5, 7)
    return nodes[[first, *(1 + line for line in lines)]]


def to_layout(tree: BettingTree, betting: BettingLines, street: int, seat: int, table: Any) -> Floats:
    """Numbers [roots, buckets, ROW] in the order of the tree's slots."""
    layout = tree.layout
    edges, buckets = int(layout.edges[street, seat]), int(layout.buckets[street, seat])
    found = np.zeros((buckets, edges))
    for decision, nodes in enumerate(own_decisions(betting, street, seat)):
        for root, node in enumerate(nodes):
            if node >= 0:
                edge = int(betting.node[node, PLACE] - layout.first_edge[street, seat])
                for action in range(int(betting.node[node, KIND]) & ACTIONS_MASK):
                    found[:, edge + action] = table[root, :, 3 * decision + action]
    return found.ravel()


@cache
def _river_kernel(kernel: Any, **constants: Any) -> Any:
    if is_simulated():
        return build_for_cuda(kernel, {sync_warp: _sync_block}, 0, constants | {"ALIGNED": None})
    return build_for_cuda(kernel, {}, REGISTERS, constants)


def _sync_block() -> None:
    cuda.syncthreads()


@cache
def _kernel(kernel: Any, **constants: Any) -> Any:
    return build_for_cuda(kernel, {}, constants=constants)


def _single(table: Floats) -> Any:
    return to_gpu(table.astype(np.float32))
