"""Networks measured on a GPU, or under numba's simulator of one: cases of `gpu_cases.py`."""

from __future__ import annotations

import numpy as np
from small_holdem import random_player
from small_networks import network_player

from openfelt.cards.deck import FLOP, PAIR_CARDS, PAIRS, RIVER, TURN, parse_cards
from openfelt.cards.public_cards import Deck, Flop, plan_flop
from openfelt.cards.runouts import Runouts
from openfelt.core.cuda import is_simulated, to_gpu
from openfelt.measure.holdem import flop as cpu
from openfelt.measure.holdem.exploitability import Measure, Sample
from openfelt.measure.holdem.flop_solver import FlopSolver, Task
from openfelt.measure.holdem.gpu import network as gpu_network
from openfelt.measure.holdem.gpu.engine import GpuSolver, _FlopWorkspace
from openfelt.measure.holdem.gpu.network import GpuNetwork, NetworkTables
from openfelt.measure.holdem.gpu.network_shares import PAIR_AT, POSITION
from openfelt.measure.holdem.gpu.rivers import RiverWorkspace
from openfelt.measure.holdem.gpu.sampled import SampledRivers
from openfelt.measure.holdem.player import mixed
from openfelt.solve.vector.betting_lines import LANES, LINES, street_shares
from openfelt.solve.vector.gpu.plan import CARDS, RIVER as THE_RIVER, RIVER_AS, RIVER_TURN, TURN as THE_TURN

NINE = Deck(3, 3)
TEN = Deck(5, 2)
FEW_ROOTS = 65  # of a street: the first block for the roots of a board, and the beginning of the second
BOARDS = {
    (FLOP, TEN): [parse_cards("AcKdTc")],
    (TURN, NINE): [parse_cards(cards) for cards in ("AcAdKcAh", "AcKcQcKd")],
    (RIVER, NINE): [parse_cards(cards) for cards in ("AcAdKcAhKd", "AcAdKcAhQh", "AcAdKcKhQh")],
}


def a_hand_is_at_the_positions_of_its_square(folder):
    positions = [np.flatnonzero(pair == PAIR_AT) for pair in range(PAIRS)]
    ranks = PAIR_CARDS // 4
    assert [len(found) for found in positions] == (1 + (ranks[:, 0] == ranks[:, 1])).tolist()
    assert all(own in found for own, found in zip(POSITION.tolist(), positions, strict=True))


def plan_of(boards):
    """A plan of boards of one street, as far as their cards go."""
    plan = np.zeros((RIVER_AS + 1, 3 * len(boards)), np.int32)
    plan[CARDS] = np.array([board[:3] for board in boards]).ravel()
    for row, place in ((THE_TURN, 3), (THE_RIVER, 4)):
        if len(boards[0]) > place:
            plan[row, : len(boards)] = [board[place] for board in boards]
    plan[RIVER_TURN, : len(boards)] = np.arange(len(boards))
    return plan


def shares_are_those_of_the_cpu(folder):
    """Of all hands on some boards; in the simulator at the first roots."""
    for bets, seat, greedy in ((1, 0, False), (2, 1, False), (4, 0, False), (3, 1, True), (4, 1, False)):
        player = network_player(bets, seed=3 + bets, hidden=70 if seat else 5, greedy=greedy)
        network = GpuNetwork(player, seat, folds=True)
        for (street, deck), boards in BOARDS.items():
            if is_simulated() and bets > 1 and street != (FLOP if seat else RIVER):
                continue
            weights = np.linspace(1, 2, len(boards), dtype=np.float32)
            tables = NetworkTables(network, deck, street, len(boards))
            live, plan = to_gpu(deck.live), to_gpu(plan_of(boards))
            tables.fill(launch_few_roots, live, plan, 0, len(boards), to_gpu(weights))
            share, folds = (table.copy_to_host() for table in tables.tables)
            for number, board in enumerate(boards):
                table, buckets = player.on_board(seat, board, deck)
                shares = street_shares(table.betting, street, table.probabilities, table.layout, seat)
                off = (deck.pairs > 0) & ~np.isin(PAIR_CARDS, board).any(axis=1)
                nodes = player.betting.decisions[street - FLOP][0]
                roots = np.flatnonzero(nodes >= 0)
                roots = roots[:FEW_ROOTS] if is_simulated() else roots
                for found, wanted in ((share, shares.share), (folds, shares.folds)):
                    wanted = by_root(wanted)[roots][:, buckets[off]].transpose(0, 2, 1)
                    for place in (POSITION[off], other_position(off)):
                        one = found[number][roots][:, :, place]
                        close(one, weights[number] * wanted)


def launch_few_roots(kernel, blocks, *arguments, threads):
    """In the simulator two of all blocks for the roots of the boards' hands."""
    if is_simulated() and isinstance(arguments[1], tuple) and arguments[1][1] > 2:
        hands, boards = arguments[1][0], blocks // arguments[1][0] // arguments[1][1]
        blocks, arguments = boards * hands * 2, (arguments[0], (hands, 2), *arguments[2:])
    kernel[blocks, threads](*arguments)


def by_root(shares):
    """[roots, hands, lines] from the order of `LineShares`."""
    blocks, hands, _ = shares.shape
    table = shares.reshape(blocks, hands, LINES, LANES).transpose(0, 3, 1, 2)
    return table.reshape(blocks * LANES, hands, LINES)


def other_position(off):
    """The first of a hand's positions, where `POSITION` has the last."""
    return np.array([np.flatnonzero(pair == PAIR_AT)[0] for pair in np.flatnonzero(off)])


def close(found, wanted, share=5e-6):
    assert abs(wanted).max() > 0
    np.testing.assert_allclose(found, wanted, rtol=0, atol=share * abs(wanted).max())


def sampled_rivers_of_networks_are_worth_what_the_cpu_finds(folder):
    """Of one turn, for both halves of a sample; in the simulator only the first root is reached."""
    one, two, table = network_player(1, 1), network_player(1, 2), random_player(NINE, 1, seed=7, pure=0.3)
    tasks = [Task(one, 0), Task(two, 1, one)]
    if not is_simulated():
        tasks += [Task(table, 1, one), Task(mixed([table, random_player(NINE, 1, seed=8)], [1, 2]), 0, two)]
    for task in tasks:
        runouts = Runouts(2, 4 if task.ours is None else 2, seed=1)
        flop = NINE.flops[3]
        solver = FlopSolver(task, NINE, "single", runouts)
        turn = next(turns[0] for turns in runouts.after(NINE, flop) if len(turns[0].rivers) > 1)
        engine, work = solver._by_board, solver._new_workspace()
        board = [*flop.cards, turn.card]
        for street, cards, here, after in (
            (FLOP, board[:3], work.flop, work.turn),
            (TURN, board, work.turn, work.river),
        ):
            cpu.go_down(engine._deal(street, cards, here).street, here, after, work.street)
        if is_simulated():
            work.river.reach[:, :, 1:] = 0
        wanted = engine._rivers(board, turn, work, cpu.new_leak_sums(solver._kernel_task, np.float32, False))
        gpu, whole = SampledRivers(task, NINE), RiverWorkspace._run

        def run(self, kernel, blocks, *arguments, whole=whole, **how):
            if is_simulated() and kernel in self._game.solve_river:
                blocks = 1 + self._game.roots[-1]
            whole(self, kernel, blocks, *arguments, **how)

        RiverWorkspace._run = run
        try:
            found = gpu(board, turn, work)
        finally:
            RiverWorkspace._run = whole
        live = work.turn.hands.pair[: work.turn.hands.size[0]]
        roots = slice(1) if is_simulated() else slice(None)
        assert len(found) == len(wanted) == 2
        for one_half, expected in zip(found, wanted, strict=True):
            close(one_half[0, live, roots], expected[0, live, roots])


FILL = NetworkTables.fill


def fill_but_rivers(self, *given):
    if self._street < RIVER:
        FILL(self, *given)


def networks_pass_reach_down_and_values_up(folder):
    """On the flop and its turns, with leaks: our own strategy too."""
    player, flop = network_player(1, 5), Flop(parse_cards("AcAdKh"), np.zeros(1, np.int64))
    for seat in range(2):
        task = Task(player, seat, player, True)
        gpu, solver = GpuSolver(task, NINE), FlopSolver(task, NINE, "single")
        work, game, host = gpu._workspaces[0], gpu._game, solver._new_workspace()
        plan, by_board = plan_flop(NINE, flop), solver._by_board
        whole, rivers = RiverWorkspace._run, set(map(id, game.solve_river))

        def run(self, kernel, blocks, *arguments, whole=whole, rivers=rivers, game=game, **how):
            if not is_simulated() or id(kernel) not in {*rivers, id(game.order_river), id(game.come_up)}:
                whole(self, kernel, blocks, *arguments, **how)

        _FlopWorkspace._run = run
        if is_simulated():
            NetworkTables.fill = fill_but_rivers
        try:
            work.begin(flop)
        finally:
            _FlopWorkspace._run, NetworkTables.fill = whole, FILL
        dealt = by_board._deal(FLOP, list(flop.cards), host.flop)
        cpu.go_down(dealt.street, host.flop, host.turn, host.street)
        (_, _, e3), place = game.roots, 1
        second = game.roots[1]
        close(work._reach[0].copy_to_host()[0], host.turn.reach[0, :, :second].T)
        close(work._own_reach[0].copy_to_host()[0], host.turn.own_reach[0, :, :second].T)
        turn = by_board._deal(TURN, [*flop.cards, int(plan.turn[place])], host.turn)
        cpu.go_down(turn.street, host.turn, host.river, host.street)
        close(work._reach[1].copy_to_host()[place], host.river.reach[0, :, :e3].T)
        close(work._own_reach[1].copy_to_host()[place], host.river.own_reach[0, :, :e3].T)
        below = host.turn.below
        below[:, :, :e3] = np.random.default_rng(1).normal(size=(len(below), PAIRS, e3))
        given = np.zeros((len(below), game.deck.size - 3, e3, PAIRS), np.float32)
        given[:, place] = below[:, :, :e3].transpose(0, 2, 1)
        work._up(TURN, place + 1, [to_gpu(stage) for stage in given], work._turn_values)
        wanted = np.zeros((len(below) + 1, *host.turn.reach.shape[1:]), np.float32)
        cpu.come_up(solver._kernel_task, turn.street, host.turn, host.street, wanted)
        real = np.flatnonzero(player.betting.decisions[1][0] >= 0)  # elsewhere what follows is worth nothing
        for found, expected in zip(work._turn_values, wanted, strict=True):
            close(found.copy_to_host()[place, real], expected[:, real].T, 1e-5)


def whole_flops_of_networks_are_worth_what_the_cpu_finds(folder):
    """Of small decks, in batches of rivers, with all stages and leaks; too much for the simulator."""
    if is_simulated():
        return
    for deck, bets, hidden, greedy in ((NINE, 4, 64, False), (TEN, 3, 130, False), (Deck(3, 4), 2, 7, True)):
        one, two = network_player(bets, 1, hidden, greedy=greedy), network_player(bets, 2, 33)
        table, both = random_player(deck, bets, 7, pure=0.3), random_player(deck, bets, 9)
        for seat in range(2):
            tasks = [(gpu_network.MOST_BYTES, Task(one, seat)), (0, Task(one, seat, two))]
            if deck == NINE:  # every task has kernels of its own, which take long to compile
                tasks += [(0, Task(one, seat, two, True)), (0, Task(two, seat, two, True))]
            if deck == NINE and seat == 0:
                tasks += [(0, Task(table, seat, one)), (gpu_network.MOST_BYTES, Task(two, seat, table))]
                tasks.append((0, Task(mixed([table, both], [1, 2]), seat, two)))
            for most, task in tasks:
                before, gpu_network.MOST_BYTES = gpu_network.MOST_BYTES, most
                try:
                    gpu = GpuSolver(task, deck)
                finally:
                    gpu_network.MOST_BYTES = before
                flops, solver = deck.flops[:3], FlopSolver(task, deck)
                for flop, found in zip(flops, gpu.solve_all(flops), strict=True):
                    wanted = solver.solve(flop)
                    close(found.values, wanted.values, 5e-6)
                    for leak, expected in zip(found.leaks, wanted.leaks, strict=True):
                        close(leak, expected, 5e-6)


def a_measurement_of_a_network_is_that_of_the_cpu(folder):
    """With all turns and rivers, and with a sample of them; too much for the simulator."""
    if is_simulated():
        return
    player, sample = network_player(2, 4), Sample(np.array([0, 2, 5]), np.array([1, 2, 1]), 4)
    for deck in (NINE, TEN):
        for runouts in (Runouts(), Runouts(2, 2, 1), Runouts(0, 3), Runouts(4, 0)):
            how = {"sample": sample, "runouts": runouts, "deck": deck}
            here, there = (Measure(player, device=device, **how).run() for device in ("cpu", "cuda"))
            assert (here.device, there.device) == ("cpu", "cuda")
            np.testing.assert_allclose(there.won, here.won, rtol=0, atol=1e-5)
            assert (here.held_out is None) == (there.held_out is None)
            if here.held_out is not None:
                np.testing.assert_allclose(there.held_out, here.held_out, rtol=0, atol=1e-5)


NETWORKS = {
    case.__name__: case
    for case in (
        a_hand_is_at_the_positions_of_its_square,
        shares_are_those_of_the_cpu,
        sampled_rivers_of_networks_are_worth_what_the_cpu_finds,
        networks_pass_reach_down_and_values_up,
        whole_flops_of_networks_are_worth_what_the_cpu_finds,
        a_measurement_of_a_network_is_that_of_the_cpu,
    )
}
