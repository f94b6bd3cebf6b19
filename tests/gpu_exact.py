"""Exact values on a GPU, or under numba's simulator of one: cases of `gpu_cases.py`."""

from __future__ import annotations

import numpy as np
from small_holdem import random_player

from openfelt.cards.boards import step
from openfelt.cards.deck import FLOP, PAIRS, parse_cards
from openfelt.cards.public_cards import Deck, Flop, find_orbits, plan_flop
from openfelt.core.cuda import is_simulated, to_gpu
from openfelt.measure.holdem import flop as cpu
from openfelt.measure.holdem.flop_solver import FlopSolver, Task
from openfelt.measure.holdem.gpu.engine import GpuSolver, _FlopWorkspace
from openfelt.measure.holdem.gpu.flop_and_turn import add_images, add_leaks, come_up, go_down, sum_parts
from openfelt.measure.holdem.gpu.river import solve_river
from openfelt.measure.holdem.player import mixed
from openfelt.solve.vector.gpu.plan import OF_TURN
from openfelt.solve.vector.gpu.river_squares import FOUR, PLAIN, THREE, order_river

TEN = Deck(5, 2)  # flushes and straights
BLOCKS = 1  # roots of the river that are solved
TOTALS = 3  # roots at which the parts of a mixture are summed
FLOP_ROOTS = 7


def players(deck, bets):
    return random_player(deck, bets, seed=7, pure=0.3), random_player(deck, bets, seed=8, buckets=6)


def one_flop(cards):
    return Flop(parse_cards(cards), np.zeros(1, np.int64))


def first_turn(solver, flop, rivers):
    """[stages, 1326, roots] the CPU's values of the first turn of a flop, over its first rivers."""
    task, work = solver._kernel_task, solver._new_workspace()
    plan, cards = plan_flop(solver._deck, flop), work.cards
    cards[:3], cards[3] = flop.cards, plan.turn[0]
    board = [step(task.boards.to_1, 0, 0, cards[0])]
    for to, card in zip(task.boards[1:4], cards[1:4], strict=True):
        board.append(step(to, *board[-1], card))
    deal(task, task.flop, cards[:3], board[2], work.flop)
    cpu.go_down(task.flop, work.flop, work.turn, work.street)
    deal(task, task.turn, cards[:4], board[3], work.turn)
    cpu.go_down(task.turn, work.turn, work.river, work.street)
    identity = np.zeros(1, np.int32)  # the permutation that changes nothing: rivers one by one
    find_orbits(task.live, cards, 4, identity, 1, work.rivers)
    for river in range(rivers):
        cards[4] = work.rivers.card[river]
        deal(task, task.river, cards, step(task.boards.to_5, *board[3], cards[4]), work.river)
        cpu.sort_hands(cards, work.river.hands, work.strength)
        cpu.solve_river(task, work)
        cpu.add_images(work.river.hands, work.values, identity, task.chances[3], work.turn.below)
    return work.turn.below


def deal(task, street, cards, board, state):
    cpu.deal_hands(task.live, cards, board, street.theirs.buckets, street.ours.buckets, state.hands)


def name_of(kernel):
    return getattr(kernel, "py_func", getattr(kernel, "fn", kernel)).__name__


def rivers_are_worth_what_the_cpu_finds(folder):
    # A flush is there already, and may have a fourth card; it comes, or a full house; there is none.
    four_suits = Deck(3, 4)
    both, (other, ours) = mixed(players(four_suits, 2), [1, 2]), players(TEN, 2)
    boards = set()
    for deck, cards, task, rivers in (
        (TEN, "AcKcTc", Task(other, 0), 2),
        (TEN, "AcAdKc", Task(other, 1, ours), 1),
        (four_suits, "AcKdQh", Task(both, 1), 1),
    ):
        flop = one_flop(cards)
        work, whole = GpuSolver(task, deck)._workspaces[0], _FlopWorkspace._run
        few = {
            solve_river: BLOCKS,
            order_river: rivers,
            go_down: FLOP_ROOTS,
            sum_parts: TOTALS,
            come_up: 0,
            add_leaks: 0,
            add_images: 0,
        }
        most = {kernel.__name__: blocks for kernel, blocks in few.items() if is_simulated()}

        def run(self, kernel, blocks, *arguments, most=most, whole=whole, rivers=rivers, **how):
            if name_of(kernel) == solve_river.__name__:
                plan = arguments[0].copy_to_host()
                plan[OF_TURN, 1] = rivers
                arguments[0].copy_to_device(plan)
            blocks = min(blocks, most.get(name_of(kernel), blocks))
            if blocks:
                whole(self, kernel, blocks, *arguments, **how)

        _FlopWorkspace._run = run
        try:
            work.begin(flop)
        finally:
            _FlopWorkspace._run = whole
        expected = first_turn(FlopSolver(task, deck), flop, rivers)
        boards |= {int(fact) >> 2 & 3 for fact in work._facts.copy_to_host()[:rivers]}
        for stage, values in enumerate(work._river_values):
            found = values.copy_to_host()[0, :BLOCKS]
            wanted = expected[stage, :, :BLOCKS].T
            assert abs(wanted).max() > 0.1
            np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-6 * abs(wanted).max())
        if len(task.other.parts) > 1:
            for reach, total in zip(work._reach, work._total, strict=True):
                by_part = reach.copy_to_host().reshape(len(task.other.parts), -1, *reach.shape[1:])
                found, wanted = (table[0, :TOTALS] for table in (total.copy_to_host(), by_part.sum(axis=0)))
                assert wanted.any()
                np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert boards == {PLAIN, THREE, FOUR}


def streets_are_worth_what_the_cpu_finds(folder):
    """The flop, from any worth of turns."""
    draw = np.random.default_rng(1)
    other, ours = players(TEN, 4)
    for seat in range(2):
        task, flop = Task(other, seat, ours, True), one_flop("AcAdKc")
        gpu, solver = GpuSolver(task, TEN), FlopSolver(task, TEN)
        work, kernel_task = gpu._workspaces[0], solver._kernel_task
        plan = plan_flop(TEN, flop)
        here = solver._new_workspace()
        here.cards[:3] = flop.cards
        board = plan.number[0], plan.through[0]
        deal(kernel_task, kernel_task.flop, here.cards[:3], board, here.flop)
        hands = here.flop.hands
        count = hands.size[0]
        for bucket, known in zip((work._theirs[0], work._ours), (hands.theirs, hands.ours), strict=True):
            host = np.full(bucket.shape, -1, np.int32)
            host[0, hands.pair[:count]] = known[0, :count]
            bucket.copy_to_device(host)
        roots = kernel_task.turn.lines.roots
        here.flop.below[:, :, :roots] = draw.normal(size=(3, PAIRS, roots))
        below = [to_gpu(stage[:, :roots].T[None].astype(np.float32)) for stage in here.flop.below]
        game, bucket, into = gpu._game, work._theirs[0], work._by_part[0][0]
        share, reach = game.streets[0].share, game.reach[0]
        work._run(game.go_down[0], FLOP_ROOTS, bucket, 0, share, FLOP_ROOTS, reach, into)
        work._up(FLOP, 1, below, work._flop_values)
        wanted = np.zeros((4, *solver._reach.shape[1:]))
        cpu.come_up(kernel_task, kernel_task.flop, here.flop, here.street, wanted)
        for found, expected in zip(work.values(), wanted, strict=True):
            np.testing.assert_allclose(found[0], expected[:, :7].T, rtol=0, atol=1e-5 * abs(expected).max())


def whole_flops_are_worth_what_the_cpu_finds(folder):
    """Of small decks, with all stages and leaks; too much for the simulator."""
    if is_simulated():
        return
    for deck, bets in ((Deck(3, 3), 4), (TEN, 3), (Deck(3, 4), 2), (Deck(9, 1), 2)):
        other, ours = players(deck, bets)
        for seat in range(2):
            both = mixed([other, ours], [1, 2])
            for task in (
                Task(other, seat),
                Task(other, seat, ours),
                Task(other, seat, ours, True),
                Task(both, seat),
                Task(both, seat, ours),
            ):
                flops, solver = deck.flops[:4], FlopSolver(task, deck)
                one, two = (list(GpuSolver(task, deck).solve_all(flops[::way])) for way in (1, -1))
                for first, again in zip(one, two[::-1], strict=True):  # as after a stop: the same to the bit
                    assert first.values.tobytes() == again.values.tobytes()
                for flop, found in zip(flops, GpuSolver(task, deck).solve_all(flops), strict=True):
                    wanted = solver.solve(flop)
                    assert_close(found.values, wanted.values)
                    for leak, expected in zip(found.leaks, wanted.leaks, strict=True):
                        assert_close(leak, expected)


def assert_close(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-6 * abs(wanted).max())


EXACT = {
    case.__name__: case
    for case in (
        rivers_are_worth_what_the_cpu_finds,
        streets_are_worth_what_the_cpu_finds,
        whole_flops_are_worth_what_the_cpu_finds,
    )
}
