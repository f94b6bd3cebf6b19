"""CFR+ and exploitability of enumerated games on a GPU, compared with one CPU thread in the same run.

The abrupt games take minutes to compile, so they are measured only on request:
`felt bench full_width_gpu --games "phantom_ttt(abrupt=True)"`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from timing import Result, on_all_cores, on_one_core

import openfelt as felt
from openfelt.core.cuda import choose_device
from openfelt.core.devices import CPU, CUDA
from openfelt.core.errors import FeltError
from openfelt.games.compile.compiler import compile_infosets
from openfelt.games.compile.sequence_form import sequence_form

GAMES = (
    "leduc",
    "goofspiel(5)",
    "bluff(1,1,6)",
    "goofspiel(6)",
    "princess_monster(3,3,9)",
    "princess_monster(3,3,13)",
    "phantom_ttt",
    "dark_hex(3)",
    "bluff(2,2,5)",
    "goofspiel(7)",
)
SECONDS = 1.0  # of a measurement, at least


def run(games: Sequence[str] = GAMES) -> Iterator[Result]:
    """All results; of the default games, those that this version does not have are left out."""
    choose_device(CUDA)  # raises without a GPU
    for game in games:
        on_all_cores()
        try:
            tree = compile_infosets(game)
        except FeltError:
            if games is not GAMES:
                raise
            continue
        form = sequence_form(tree)
        on_one_core()
        size = f"{tree.num_rows:,} infosets, {len(form.leaf_weight):,} leaves"
        size += f", {len(form.member_slot):,} members of groups"
        if meetings := len(form.meeting_slot):
            size += f", {meetings:,} meetings"
        yield iterations(game, size)
        yield exploitability(game)


def iterations(game: str, size: str) -> Result:
    """Iterations of CFR+; and of all measurements, those of the average policy on the GPU."""
    there, here = felt.CFRPlus(game, device=CUDA), felt.CFRPlus(game)
    speeds = [_iterations_a_second(solver) for solver in (there, here)]
    there.measure()
    measured = _seconds(there.measure)
    note = f"{size}. {measured * 1e3:.3g} ms for the exploitability of the average policy during a run."
    return Result(f"CFR+ on {game}", "iterations/s", speeds[0], {"one CPU thread": speeds[1]}, note=note)


def exploitability(game: str) -> Result:
    """From a policy in the memory of the CPU."""
    policy = felt.uniform_policy(game)
    begun = time.perf_counter()
    first = felt.exploitability(policy, device=CUDA)
    note = f"{time.perf_counter() - begun:.3g} s the first time, with the game's way to the GPU."
    assert first == felt.exploitability(policy, device=CPU), "the devices differ"
    there = 1 / _seconds(lambda: felt.exploitability(policy, device=CUDA))
    here = 1 / _seconds(lambda: felt.exploitability(policy, device=CPU))
    return Result(f"exploitability of {game}", "per second", there, {"one CPU thread": here}, note=note)


def _iterations_a_second(solver: felt.Solver) -> float:
    solver._timed(3)  # compiles, and records the launches
    count = 1
    while (took := solver._timed(count)) < SECONDS:
        count = int(count * max(2.0, min(10.0, SECONDS / took)))
    return count / took


def _seconds(function: Callable[[], object]) -> float:
    """Of a call; the mean over a second."""
    begun, calls = time.perf_counter(), 0
    while (took := time.perf_counter() - begun) < SECONDS:
        function()
        calls += 1
    return took / calls
