"""Spots on a GPU, or under numba's simulator of one: cases of `gpu_cases.py`."""

from __future__ import annotations

import csv
import json
from types import SimpleNamespace

import numpy as np
import pytest

from openfelt.cards.deck import parse_cards
from openfelt.cards.ranges import parse_range
from openfelt.cli.app import main
from openfelt.core.cuda import is_simulated
from openfelt.core.errors import FeltError
from openfelt.spots.betting import Root, Rules, Street
from openfelt.spots.engine import Engine, new_gadget
from openfelt.spots.gpu import engine as gpu_module
from openfelt.spots.gpu.engine import GpuEngine
from openfelt.spots.locks import Lock
from openfelt.spots.runouts import build_runouts
from openfelt.spots.solver import Budget, SpotSolver, discounts
from openfelt.spots.spot import Spot
from openfelt.spots.traversal import BEST_RESPONSE, EXPECTED, UPDATE

WEIGHTS = (0.7, 0.5, 0.9)
RIVER, TURN, FLOP = "Td9d6h2c3c", "Td9d6h2c", "Td9d6h"
FEW = {"oop": "AhKh,AsAc,KsQd:0.3", "ip": "QdQs,JcJd:0.5,AdKc"}
MORE = {"oop": "TT+,AK,76s:0.5,KdQd", "ip": "QQ-99,AJs+,87s,AQo:0.3"}


def spot(board, hands=MORE, **how):
    return Spot(**{"board": board, "pot": 20, "stack": 35, "bets": "60%,a", "raises": "2.5x", **hands, **how})


def random_tables(solvers, gpu):
    """The same regrets and averages everywhere; so no strategy depends on how a tie is rounded."""
    draw = np.random.default_rng(3)
    for level, (there, _) in enumerate(gpu._tables):
        tables = [solver.engine.levels[level].tables for solver in solvers]
        for name, least in (("regret", -1.0), ("average", 0.0)):
            for table in tables:
                here = getattr(table, name)
                here[...] = draw.uniform(least, 3.0, here.shape)
            if len(here):
                getattr(there, name).copy_to_device(np.concatenate([getattr(each, name) for each in tables]))


def close(found, wanted, most=1e-5):
    assert abs(wanted).max() > 0
    np.testing.assert_allclose(found, wanted, rtol=0, atol=most * abs(wanted).max())


def compare(spots, modes=(UPDATE, BEST_RESPONSE, EXPECTED), locks=()):
    """Each pass has the CPU's values, and an update the CPU's tables."""
    here, there = ([SpotSolver(each, locks=locks) for each in spots] for _ in range(2))
    gpu = GpuEngine([solver.engine for solver in there])
    if not locks:
        random_tables(here, gpu)
    for mode in modes:
        for player in (0, 1):
            found = gpu.run(player, mode, WEIGHTS).values(player)
            for solver, values in zip(here, found, strict=True):
                close(values, solver.engine.passes().run(player, mode, WEIGHTS))
    gpu.fetch()
    for one, other in zip(here, there, strict=True):
        for level, fetched in zip(one.engine.levels, other.engine.levels, strict=True):
            for name in ("regret", "average"):
                if len(getattr(level.tables, name)):
                    close(getattr(fetched.tables, name), getattr(level.tables, name))


def river_passes_are_those_of_the_cpu(folder):
    compare([spot(RIVER, rake=0.05)])
    compare([spot(RIVER, FEW, stack=0)])  # no decision at all
    if not is_simulated():
        compare([spot("Td9d6hQc2s", {"oop": "random", "ip": "random"})])


def large_trees_have_their_reach_in_memory(folder):
    before = gpu_module.SHARED_BYTES, gpu_module.SUM_BYTES
    gpu_module.SHARED_BYTES, gpu_module.SUM_BYTES = 4096, 1
    try:
        compare([spot(RIVER)])
    finally:
        gpu_module.SHARED_BYTES, gpu_module.SUM_BYTES = before


def locked_decisions_stay_as_they_are(folder):
    compare([spot(RIVER, stack=20, bets="a")], locks=(Lock("a", {"c": 0.25, "f": 0.75}),))


def turn_passes_are_those_of_the_cpu(folder):
    if is_simulated():
        compare([spot(TURN, FEW, bets={"turn": "a"})], modes=(UPDATE,))
    else:
        compare([spot(TURN), spot("TdTh6h2c")])
        compare([spot("AsKd6h2c", rake=0.02)])


def flop_passes_are_those_of_the_cpu(folder):
    if not is_simulated():  # which would take an hour
        compare([spot(FLOP)])
        compare([spot("9c8c7c", FEW, bets="50%")])
        wide = {"oop": "22+,A2+,K5+,Q8+,J9+,T9", "ip": "22+,A2+,K2+,Q7+,J8+,T8+"}
        compare([spot("As7d2c", wide, bets="70%", stack=20)])


def spots_are_solved_together(folder):
    """Three boards at once, each as alone; a spot that has reached the target stops."""
    from openfelt.spots.gpu.batch import solve_set

    boards = [spot(board, FEW, stack=20, bets="a") for board in (RIVER, "AcKd5h5s2d", "JsTh9s4d4c")]
    found = solve_set([SpotSolver(each) for each in boards], 2.0, Budget(30, 1e9))
    assert len({each.iterations for each in found}) > 1
    for one, each in zip(boards, found, strict=True):
        alone = one.solve(until=2.0, iterations=30)
        assert each.iterations == alone.iterations
        assert each.values == pytest.approx(alone.values, abs=0.02)
        assert each.exploitability == pytest.approx(alone.exploitability, abs=0.05)


def subgames_are_re_solved_together(folder):
    """Two boards with two lines each and a gadget: the values of the CPU, by line."""
    streets = [Street(3, [Root(10, 0, (), (0, 0)), Root(20, 1, (), (1, 1))], _one_bet, Rules(0, 60))]
    draw, engines, gadgets = np.random.default_rng(5), [], []
    for board in ("Td9d6h2c3c", "AcKd5h5s2d"):
        runouts = build_runouts(
            parse_cards(board), np.array([parse_range(FEW[who]) for who in ("oop", "ip")])
        )
        sizes = [int(runouts[0].size[player, 0]) for player in (0, 1)]
        weights = [draw.uniform(0.1, 1.0, (2, size)) for size in sizes]
        engines.append([Engine(streets, runouts, weights) for _ in range(2)])
        limits, base = draw.uniform(-30, 30, (2, sizes[1])), draw.uniform(0, 0.1, (2, sizes[1]))
        gadgets.append([new_gadget(1, limits, base) for _ in range(2)])
    gpu = GpuEngine([there for _, there in engines], [there for _, there in gadgets])
    random_tables([SimpleNamespace(engine=here) for here, _ in engines], gpu)
    gpu.iterate(20, 3)
    schedule = np.array([discounts(20 + each) for each in range(3)], np.float32)
    for (here, _), (gadget, _) in zip(engines, gadgets, strict=True):
        here.passes().update_river(schedule, gadget)
    for player in (1, 0):
        found = gpu.run(player, BEST_RESPONSE).root_values(player)
        for (here, _), values in zip(engines, found, strict=True):
            passes = here.passes()
            for each, weights in enumerate(here.weights):
                passes.root[each, :, : weights.shape[1]] = weights
            close(values, passes.run_roots(player, BEST_RESPONSE))


def _one_bet(now):
    return [] if max(now.bets) else [now.stack]


def a_gadget_is_that_of_the_cpu(folder):
    one = spot(RIVER, FEW, stack=20, bets="a")
    limits = np.linspace(-10, 10, len(np.flatnonzero(one.ranges[1])))
    here, there = (SpotSolver(one, gadget=(1, limits), device=device) for device in ("cpu", "cuda"))
    for solver in (here, there):
        solver.iterate(20)
    assert there.best_responses() == pytest.approx(here.best_responses(), abs=0.02)
    assert there.values() == pytest.approx(here.values(), abs=0.02)


def the_command_solves_spots(folder, capsys=None):
    import contextlib
    import io

    common = ["spot", "--oop", "AA,QQ", "--ip", "KK", "--pot", "100", "--stack", "100", "--bets", "100%"]
    out, text = io.StringIO(), folder / "boards.csv"
    more = ["--until", "1", "--iterations", "50", "--device", "cuda", "--json"]
    with contextlib.redirect_stdout(out):
        assert main([*common, "--board", "2c3d4h8s9s", *more]) == 0
    facts = json.loads(out.getvalue())
    assert facts["values"][0] == pytest.approx(75, abs=1.5)
    boards = ["--boards", "2c3d4h8s9s 2d3d4h8s9s KcKdKhKs2s", "--csv", str(text)]
    with contextlib.redirect_stdout(io.StringIO()):
        assert main([*common, *boards, *more]) == 0
    rows = list(csv.DictReader(text.open()))
    assert [bool(row["oop"]) for row in rows] == [True, True, False]  # kings are blocked
    assert float(rows[0]["oop"]) == pytest.approx(facts["values"][0], abs=0.01)
    with pytest.raises(FeltError, match="32 bits"):
        SpotSolver(spot(RIVER), device="cuda", compress=True)


SPOTS = {
    case.__name__: case
    for case in (
        river_passes_are_those_of_the_cpu,
        large_trees_have_their_reach_in_memory,
        locked_decisions_stay_as_they_are,
        turn_passes_are_those_of_the_cpu,
        flop_passes_are_those_of_the_cpu,
        spots_are_solved_together,
        subgames_are_re_solved_together,
        a_gadget_is_that_of_the_cpu,
        the_command_solves_spots,
    )
}
