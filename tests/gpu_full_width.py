"""The CFR family and exploitability of enumerated games on a GPU, or under numba's simulator of one.

Sums have the order of the CPU, and products are rounded as there: results are equal to the bit on both.
"""

from __future__ import annotations

import contextlib
import io
import json
from functools import partial

import numpy as np
import pytest
from test_sequence_groups import grouped

import openfelt as felt
from openfelt.cli.app import main
from openfelt.core import cuda
from openfelt.core.cuda import gpu_name, is_simulated, to_gpu
from openfelt.games.compile.compiler import compile_game
from openfelt.games.compile.phantom_tree import compile_phantom
from openfelt.games.compile.sequence_form import sequence_form
from openfelt.measure import enumerated
from openfelt.solve import cfr as cfr_module, cfr_gpu
from openfelt.solve.registry import solver_type
from openfelt.solve.restriction import EACH, ONCE, Restriction
from openfelt.solve.traverse import sequence_gpu
from openfelt.solve.traverse.sequence import evaluate_profile
from openfelt.solve.traverse.sequence_gpu import GpuForm

FAMILY = ("cfr", "cfr+", "dcfr", "pcfr+")
GAMES = [("kuhn", 12), ("kuhn(players=3)", 3), ("goofspiel(3)", 6), ("bluff(1,1,2)", 6)]
LARGER = [("leduc", 200), ("goofspiel(5)", 50), ("bluff(1,1,6)", 30)]  # on a GPU only


def same(ours, theirs):
    assert ours.keys() == theirs.keys()
    for name, table in theirs.items():
        assert np.array_equal(ours[name], table), name


@contextlib.contextmanager
def as_in_large_games(long):
    """Every level is a launch of its own; lists and weights come in pieces; lists are `long` or short."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sequence_gpu, "LONG", 0 if long else np.inf)
        patch.setattr(sequence_gpu, "PIECE", 3)
        patch.setattr(sequence_gpu, "FEW_ROWS", 1)
        patch.setattr(cfr_gpu, "SCHEDULE", 2)
        sequence_gpu._kernel.cache_clear()
        try:
            yield
        finally:
            sequence_gpu._kernel.cache_clear()


def tables_are_those_of_the_cpu(game, iterations, folder=None, **options):
    for name in FAMILY:
        here, there = solver_type(name)(game, **options), solver_type(name)(game, device="cuda", **options)
        assert there.device == "cuda"
        here.run(iterations)
        there._timed(iterations // 2)  # without measurements in between
        there.run(iterations - iterations // 2)
        same(there.tables(), here.tables())
        assert np.array_equal(there.current, here.current)
        assert there.iterations == iterations
        assert there.measurements[-1].nash_conv == pytest.approx(here.measurements[-1].nash_conv, abs=1e-13)


def restrictions_too(folder):
    fixed = felt.random_policy("kuhn", 3)
    for toss in (ONCE, EACH):
        tables_are_those_of_the_cpu("kuhn", 6, restriction=Restriction(1, fixed, 0.4, toss))
    confidence = np.where(
        np.arange(fixed.tree.num_slots) < 18, 1.0, 0.3
    )  # bound for certain at some infosets
    tables_are_those_of_the_cpu("kuhn", 6, restriction=Restriction(1, fixed, confidence, EACH))


def long_lists_and_large_levels(folder):
    for long in (False, True):
        with as_in_large_games(long):
            tables_are_those_of_the_cpu("kuhn", 6 if is_simulated() else 30)
            if not is_simulated():
                tables_are_those_of_the_cpu("leduc", 30)
            groups_of_sequences(folder)


def values_and_responses_are_those_of_the_cpu(folder):
    for game in (
        ("kuhn", "kuhn(players=3)") if is_simulated() else ("kuhn(players=3)", "leduc", "goofspiel(5)")
    ):
        policy = felt.random_policy(game, 2)
        here, there = (felt.exploitability(policy, device=device) for device in ("cpu", "cuda"))
        assert (here.values, here.best_responses) == (there.values, there.best_responses)
        for player in range(len(here.values)):
            here, there = (felt.best_response(policy, player, device=device) for device in ("cpu", "cuda"))
            assert here.value == there.value
            assert np.array_equal(here.policy.probabilities, there.policy.probabilities)
    one, two = felt.random_policy("kuhn", 1), felt.random_policy("kuhn", 2)
    here, there = (felt.value(one, two, exact=True, device=device) for device in ("cpu", "cuda"))
    assert here.by_seat == there.by_seat


def groups_of_sequences(folder):
    for game in ("kuhn",) if is_simulated() else ("kuhn", "leduc", "bluff(2,1,2)"):
        tree, policy = compile_game(game), felt.random_policy(game, 3).probabilities
        for weighted in (True, False):
            same_values(game, grouped(sequence_form(tree), weighted), policy)
    game = "dark_hex(2,abrupt=True)" if is_simulated() else "dark_hex(2,3,abrupt=True)"
    form = compile_phantom(felt.load_game(game)).form
    assert len(form.meeting_slot) > 0
    same_values(game, form, np.random.default_rng(3).random(form.num_slots))


def same_values(game, form, policy):
    response, best, expected = np.empty(form.num_slots), np.empty(2), np.empty(2)
    evaluate_profile(form, policy, response, best, expected)
    found = GpuForm(form, game, 0).evaluate(to_gpu(policy))
    assert (found[0].tolist(), found[1].tolist()) == (best.tolist(), expected.tolist())
    assert np.array_equal(found[2].copy_to_host(), response)


def runs_move_between_the_devices(folder):
    for name in ("dcfr", "pcfr+"):
        whole = solver_type(name)("kuhn").run(10)
        for number, (first, second) in enumerate((("cuda", "cpu"), ("cpu", "cuda"))):
            begun = solver_type(name)("kuhn", device=first).run(6)
            begun.save(folder / name / str(number))
            again = solver_type(name)("kuhn", device=second).run(2)  # which the checkpoint replaces
            again.resume(folder / name / str(number))
            same(again.tables(), begun.tables())
            assert np.array_equal(again.current, begun.current)
            same(again.run(4).tables(), whole.tables())
            assert np.array_equal(again.policy.probabilities, whole.policy.probabilities)


def auto_takes_the_gpu_for_large_games(folder):
    small = felt.CFRPlus("kuhn", device="auto")
    assert (small.device, small.why_cpu) == ("cpu", "kuhn is too small for a GPU to be faster.")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cfr_module, "GPU_TRAINS_FROM", 50)
        assert felt.CFRPlus("kuhn", device="auto").device == "cuda"
        assert felt.CFRPlus("kuhn").device == "cpu"
        patch.setattr(enumerated, "GPU_MEASURES_FROM", 50)
        asked = []
        patch.setattr(enumerated, "_form_on_gpu", asked.append)
        policy = felt.uniform_policy("kuhn")
        felt.exploitability(policy)
        felt.exploitability(policy, device="cpu")
        assert asked == [policy.tree]
        patch.setattr(cuda, "free_memory", lambda: 1000.0)
        with pytest.raises(felt.FeltError, match=r"cfr\+ of kuhn needs .* GB on the GPU"):
            felt.CFRPlus("kuhn", device="cuda")
        assert felt.CFRPlus("kuhn", device="auto").device == "cpu"
    with pytest.raises(felt.FeltError, match="it has no in_flight"):
        felt.CFRPlus("kuhn", device="cuda", in_flight=2)


def tables_that_overflow_are_reported(folder):
    solver = felt.DCFR("kuhn", device="cuda")
    solver.tables()["average"][:] = np.inf
    solver._resumed()
    with pytest.raises(felt.FeltError, match="the run has overflowed"):
        solver.measure()


def the_command_line_solves_and_measures_there(folder):
    def reported(*words):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            assert main([*words, "--json"]) == 0, err.getvalue()
        return json.loads(out.getvalue())

    run = str(folder / "run")
    facts = reported(
        "train", "kuhn", "--solver", "cfr+", "--iterations", "5", "--device", "cuda", "--out", run
    )
    assert (facts["device"], facts["iterations"]) == ("cuda", 5)
    assert gpu_name() in (folder / "run" / "run.toml").read_text()
    assert reported("exploit", run, "--device", "cuda") == reported("exploit", run, "--device", "cpu")


def larger_games(folder):
    """The simulator would take hours."""
    for game, iterations in [] if is_simulated() else LARGER:
        tables_are_those_of_the_cpu(game, iterations)


FULL_WIDTH = {
    f"full width: {game}": partial(tables_are_those_of_the_cpu, game, iterations)
    for game, iterations in GAMES
} | {
    case.__name__: case
    for case in (
        restrictions_too,
        long_lists_and_large_levels,
        values_and_responses_are_those_of_the_cpu,
        groups_of_sequences,
        runs_move_between_the_devices,
        auto_takes_the_gpu_for_large_games,
        tables_that_overflow_are_reported,
        the_command_line_solves_and_measures_there,
        larger_games,
    )
}  # fmt: skip
