"""Test cases for a GPU or numba's simulator of one; `test_gpu.py` runs them in a separate process.

Each case is a function that fails by an exception; it gets a folder to write to.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import sys
import tomllib
import traceback
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from gpu_cfr_br import CFR_BR
from gpu_exact import EXACT
from gpu_full_width import FULL_WIDTH
from gpu_network import NETWORKS
from gpu_neural import NEURAL
from gpu_spots import SPOTS

import openfelt as felt
from openfelt.cli.app import main
from openfelt.core import cuda as cuda_module, cuda_build
from openfelt.core.atomics import add, raise_to
from openfelt.core.cuda import choose_device, gpu_name, is_simulated, to_gpu, why_no_gpu
from openfelt.core.cuda_build import build_for_cuda, cuda
from openfelt.core.jit import episode_kernel, part
from openfelt.games.compile.compiler import compile_any
from openfelt.games.compile.phantom_tree import compile_phantom
from openfelt.policy.rules import rule_policy
from openfelt.solve.registry import solver_type
from openfelt.solve.restriction import EACH, ONCE, Restriction
from openfelt.solve.sampling import gpu as gpu_module
from openfelt.solve.sampling.gpu import Gpu, InFlightLimits
from openfelt.solve.sampling.outcome_mccfr import AVERAGE
from openfelt.solve.traverse.ucb import PAYOFFS

CASES: dict[str, Callable[[Path], None]] = {
    **EXACT,
    **NETWORKS,
    **NEURAL,
    **CFR_BR,
    **SPOTS,
    **FULL_WIDTH,
}
SMALL, THREE = "holdem(buckets='ehs:10')", "holdem(players=3,buckets='ehs:10/4/2/1')"
ROOTS = ["J", "Q", "K"]  # the first player's rows in Kuhn poker; every game begins in one of them


def case(function):
    CASES[function.__name__] = function
    return function


def assert_same(ours, theirs):
    """To the bit in the simulator, which computes as Python does; a GPU may round otherwise."""
    assert ours.keys() == theirs.keys()
    for name, table in theirs.items():
        if is_simulated():
            assert np.array_equal(ours[name].view(np.int64), table.view(np.int64)), name
        else:
            np.testing.assert_allclose(ours[name], table, rtol=1e-9, atol=1e-12, err_msg=name)


# Game, learner, iterations, settings.
RUNS = [
    ("kuhn", "uct", 300, {}),
    ("kuhn", "smooth-uct", 300, {}),
    ("kuhn", "smooth-uct", 300, {"schedule": "max-average", "threshold": 20}),
    ("kuhn", "smooth-uct", 300, {"schedule": "max-average", "threshold": 20, "below": "ucb"}),
    ("kuhn", "outcome-mccfr", 300, {}),
    ("kuhn", "outcome-mccfr", 300, {"baseline": 0.5, "offset": 0.25}),
    ("kuhn", "external-mccfr", 100, {}),
    ("kuhn", "uct", 300, {"opponent": "random", "rollout": "call"}),
    ("kuhn", "smooth-uct", 300, {"rollout": "on-policy"}),
    ("kuhn(players=3)", "uct", 300, {"opponent": "random"}),
    ("kuhn(players=3)", "outcome-mccfr", 200, {"baseline": 0.5}),
    ("kuhn(players=3)", "external-mccfr", 50, {}),
    ("leduc", "uct", 200, {"k": 0.5}),
    ("leduc", "smooth-uct", 200, {"schedule": "visits"}),
    ("leduc", "outcome-mccfr", 200, {"epsilon": 0.3}),
    ("leduc", "outcome-mccfr", 200, {"baseline": 0.5}),
    ("leduc", "external-mccfr", 40, {}),
    ("leduc", "smooth-uct", 200, {"opponent": "random"}),
    ("leduc", "uct", 200, {"rollout": "call"}),
    ("goofspiel(3)", "smooth-uct", 200, {}),
    ("bluff(1,1,2)", "external-mccfr", 40, {}),
    (SMALL, "uct", 60, {"rollout": "call", "opponent": "random"}),
    (SMALL, "smooth-uct", 100, {"k": 0.5}),
    (SMALL, "outcome-mccfr", 60, {}),
    (SMALL, "outcome-mccfr", 60, {"baseline": 0.5}),
    (SMALL, "external-mccfr", 3, {}),
    (THREE, "smooth-uct", 100, {"k": 0.5, "schedule": "max-average"}),
    (THREE, "outcome-mccfr", 40, {}),
    (THREE, "external-mccfr", 1, {}),
]


def same_tables(game, name, iterations, settings, folder):
    """One iteration at a time leaves the tables that the CPU leaves, however the run is cut into pieces."""
    kind = solver_type(name)
    there = kind(game, seed=3, device="cuda", in_flight=1, **settings)
    here = kind(game, seed=3, **settings).run(iterations)
    first = min(7, iterations)
    there.run(first)
    if iterations > first:
        there.run(iterations - first)
    assert (there.device, there.iterations) == ("cuda", iterations)
    assert any(table.any() for table in here.learned.values())
    assert_same(there.tables(), here.tables())
    if here.is_measured:
        assert abs(there.measurements[-1].nash_conv - here.measurements[-1].nash_conv) <= 1e-9


def title(game, name, iterations, settings):
    return ", ".join([f"same_tables: {game}", name, *(f"{key}={value}" for key, value in settings.items())])


def restricted(game, name, toss, folder):
    """A restricted game, in which one player is sometimes bound to a fixed policy, leaves the same tables."""
    fixed = felt.random_policy(game, 3) if game == "kuhn" else rule_policy(compile_any(game), "random")
    settings = {"restriction": Restriction(1, fixed, 0.5, toss)}
    same_tables(game, name, 60 if name == "outcome-mccfr" else 3, settings, folder)


CASES |= {
    f"restricted: {game}, {name}, {toss}": partial(restricted, game, name, toss)
    for game in ("kuhn", SMALL)
    for name in ("outcome-mccfr", "external-mccfr")
    for toss in (ONCE, EACH)
}
CASES |= {title(*run): partial(same_tables, *run) for run in RUNS}


def without_histories(name, iterations, folder):
    """A game compiled without its histories leaves the same tables."""
    same_tables(compile_phantom(felt.load_game("dark_hex(2)")), name, iterations, {}, folder)


CASES |= {
    f"without_histories: {name}": partial(without_histories, name, iterations)
    for name, iterations in (("uct", 100), ("outcome-mccfr", 100), ("external-mccfr", 10))
}


def in_flight(name, game="kuhn", patience=1, **settings):
    """A solver with as many iterations in flight as the GPU, or the simulator, can run."""
    solver = solver_type(name)(game, device="cuda", in_flight=4 if is_simulated() else None, **settings)
    solver.limits = InFlightLimits(patience, 16.0)
    return solver


@contextlib.contextmanager
def launches():
    """The launches of a while: iterations done before, how many, by how many threads."""
    found, launch = [], Gpu._launch

    def noted(self, begun, iterations, threads, start):
        if iterations:
            found.append((begun, iterations, threads))
        launch(self, begun, iterations, threads, start)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Gpu, "_launch", noted)
        yield found


def most_at_once(solver, iterations):
    """Train; returns the largest number of threads of a launch."""
    with launches() as found:
        solver._timed(iterations)
    return max(threads for _, _, threads in found)


def many():
    return 500 if is_simulated() else 100_000


def root_sums(solver, table, column):
    """The sum of a column over each of the first player's first rows."""
    tree = solver.tree
    slots = [tree.slots(tree.find_row(0, root)) for root in ROOTS]
    return [solver.learned[table][0, each, column].sum() for each in slots]


@case
def every_episode_in_flight_is_counted(folder):
    for name in ("uct", "smooth-uct"):
        solver = in_flight(name)
        assert most_at_once(solver, many()) > 1
        tree, counts = solver.tree, solver.learned["counts"][0]
        assert sum(root_sums(solver, "counts", 0)) == many()
        answers = [
            tree.slots(tree.find_row(1, f"{card} {word}")) for card in "JQK" for word in ("pass", "bet")
        ]
        assert sum(counts[each, 0].sum() for each in answers) == many()
        won = sum(root_sums(solver, "counts", PAYOFFS)), sum(counts[each, PAYOFFS].sum() for each in answers)
        assert won[0] == -won[1]
        assert won[0] == int(won[0])


@case
def no_mark_of_outcome_sampling_is_lost(folder):
    """A row's weights of the average are the times between its marks; they add up to the last mark."""
    solver = in_flight("outcome-mccfr")
    assert most_at_once(solver, many()) > 1
    marker, tree = solver.learned["marker"][0], solver.tree
    assert marker.max() == many()
    marks = [marker[tree.slots(tree.find_row(0, root)).start] for root in ROOTS]
    assert max(marks) == many()
    np.testing.assert_allclose(root_sums(solver, "sums", AVERAGE), marks, rtol=1e-9)


@case
def every_iteration_in_flight_is_done_once_with_its_own_numbers(folder):
    """When sampling is even, the history of an iteration depends on its number alone, and so do all marks."""
    there = in_flight("outcome-mccfr", "leduc", epsilon=1.0, seed=4).run(many())
    here = felt.OutcomeMCCFR("leduc", epsilon=1.0, seed=4).run(many())
    assert there.learned["marker"].tobytes() == here.learned["marker"].tobytes()


@case
def every_traversal_in_flight_is_counted(folder):
    """The second player's traversal meets one of the first player's first rows, with a weight of 1 in all."""
    count = many() // 5
    solver = in_flight("external-mccfr")
    assert most_at_once(solver, count) > 1
    np.testing.assert_allclose(sum(root_sums(solver, "sums", AVERAGE)), count, rtol=1e-9)


@case
def in_flight_iterations_grow_with_what_was_learned(folder):
    solver = in_flight("uct", patience=20)
    with launches() as found:
        solver._timed(150)
        solver._timed(153)
    after = [begun + count for begun, count, _ in found]
    assert [begun for begun, _, _ in found] == [0, *after[:-1]]
    assert after[-1] == 303
    limit = 4 if is_simulated() else 303
    for begun, count, threads in found:
        assert threads == min(max(1, min(begun // 20, limit)), count)
        assert count <= threads * gpu_module.LONGEST
    assert found[-1][2] >= 4
    assert sum(root_sums(solver, "counts", 0)) == 303


@case
def in_flight_iterations_stay_within_their_limits(folder):
    for limit in (1, 3):
        solver = felt.UCT("kuhn", device="cuda", in_flight=limit)
        solver.limits = InFlightLimits(1, 16.0)
        assert most_at_once(solver, 100) == limit
    solver = felt.UCT("kuhn", device="cuda")
    assert most_at_once(solver, 100) == 1  # too early for more
    for per_row, most in ((0.0, 1), (0.25, 3), (math.inf, 4)):  # kuhn has 12 rows
        solver.limits = InFlightLimits(1, per_row)
        assert min(most_at_once(solver, 100), 4) == most


@case
def iterations_in_flight_still_learn(folder):
    uniform_conv = felt.exploitability(felt.uniform_policy("kuhn")).nash_conv
    for name, count in (("smooth-uct", 4_000), ("outcome-mccfr", 4_000), ("external-mccfr", 400)):
        solver = in_flight(name, seed=1).run(count if is_simulated() else 50 * count)
        curve = [measured.nash_conv for measured in solver.measurements]
        assert curve[-1] < 0.5 * uniform_conv, (name, curve)


@case
def checkpoints_go_from_one_device_to_the_other(folder):
    cuda_then_cpu = ({"device": "cuda", "in_flight": 1}, {})
    for name in ("smooth-uct", "outcome-mccfr", "external-mccfr"):
        kind = solver_type(name)
        whole = kind("kuhn", seed=5).run(100)
        for number, (first, second) in enumerate((cuda_then_cpu, cuda_then_cpu[::-1])):
            begun = kind("kuhn", seed=5, **first).run(50)
            begun.save(folder / name / str(number))
            again = kind("kuhn", seed=6, **second)  # the checkpoint's seed counts
            again.run(3)  # and nothing that was learned before it
            again.resume(folder / name / str(number))
            assert_same(again.tables(), begun.tables())
            again.run(50)
            assert again.iterations == 100
            assert_same(again.tables(), whole.tables())


@case
def a_resumed_run_meets_the_opponent_of_the_checkpoint(folder):
    own, other = felt.random_policy("kuhn", 1), felt.random_policy("kuhn", 2)
    bot = folder / "bot"
    felt.save_policy(own, bot)
    whole = felt.UCT("kuhn", opponent=bot).run(100)
    begun = felt.UCT("kuhn", opponent=bot).run(50)
    begun.save(folder / "run")
    felt.save_policy(other, bot)
    again = felt.UCT("kuhn", opponent=bot, device="cuda", in_flight=1)
    again.resume(folder / "run")
    assert_same(again.run(50).tables(), whole.tables())


@case
def independent_learners_do_not_resume_as_one(folder):
    felt.ExternalMCCFR("kuhn", threads=2).run(100).save(folder)
    alone = felt.ExternalMCCFR("kuhn", device="cuda")
    with pytest.raises(felt.FeltError, match="holds 2 learners, one per thread"):
        alone.resume(folder)
    assert not alone.learned["sums"].any()


@case
def a_policy_is_saved_for_everybody(folder):
    """`test_gpu.py` measures it in a process that knows no GPU."""
    solver = felt.SmoothUCT("leduc", device="cuda", in_flight=1).run(150)
    felt.save_policy(solver.policy, folder / "policy")
    measured = felt.exploitability(felt.load_policy(folder / "policy"))
    assert measured.nash_conv == pytest.approx(solver.measure().nash_conv, abs=1e-12)
    (folder / "nash_conv").write_text(repr(measured.nash_conv))
    (folder / "visits").write_text(json.dumps(solver.visits.tolist()))


@case
def some_solvers_do_not_run_there(folder):
    for name in ("chance-cfr", "fictitious-play", "lp"):
        with pytest.raises(felt.FeltError) as caught:
            solver_type(name)("kuhn", device="cuda")
        assert f"{name} does not run on a GPU" in str(caught.value)
        assert "\n" not in str(caught.value)
        solver = solver_type(name)("kuhn", device="auto")
        assert solver.device == "cpu"
        solver.run(5)
    solver = felt.UCT("kuhn", device="auto")
    assert solver.device == "cuda" == choose_device("auto")
    assert felt.UCT("kuhn").device == "cpu"
    assert solver.run(5).visits.sum() > 0


@case
def what_does_not_fit_is_refused(folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuda_module, "free_memory", lambda: 1000.0)
        with pytest.raises(felt.FeltError) as caught:
            felt.UCT("leduc", device="cuda")
        assert "uct of leduc needs " in str(caught.value)
        assert " GB on the GPU" in str(caught.value)
        assert gpu_name() in str(caught.value)
        solver = felt.UCT("leduc", device="auto")  # then there is room on the CPU
        assert (solver.device, solver.why_cpu) == ("cpu", str(caught.value))
        assert solver.run(100).visits.tolist() == felt.UCT("leduc").run(100).visits.tolist()
        patch.setattr(cuda_module, "free_memory", lambda: 1e12)
        assert felt.UCT("leduc", device="auto").device == "cuda"


SQUARES, OFFSET, DOUBLED = np.arange(5) ** 2, 100, False


@part
def look_up(place):
    """Reads a table and constants among the globals."""
    return SQUARES[place] + OFFSET if DOUBLED else SQUARES[place]


def chosen(place):
    raise NotImplementedError


def next_place(place):
    return look_up(place + 1)


def look_up_all(found):
    thread = cuda.grid(1)
    found[thread, 0], found[thread, 1] = look_up(thread), chosen(thread)


@case
def a_kernel_is_built_from_functions_of_the_cpu(folder):
    """With tables in the memory of the GPU, functions replaced and constants set: in this kernel alone."""
    for constants, added in (({}, 0), ({"DOUBLED": True}, 100), ({"DOUBLED": True, "OFFSET": 7}, 7)):
        found = to_gpu(np.zeros((4, 2), int))
        build_for_cuda(look_up_all, {chosen: next_place}, constants=constants)[1, 4](found)
        expected = [[place**2 + added, (place + 1) ** 2 + added] for place in range(4)]
        assert found.copy_to_host().tolist() == expected
    assert (look_up(3), OFFSET, cuda) == (9, 100, None)
    with pytest.raises(NotImplementedError):
        chosen(0)


@part
def deeper(table, amount):
    add(table, 1, 0, amount)


def write_shared(table, marks, before):
    """Threads that all write to the same places."""
    thread = cuda.grid(1)
    add(table, 0, 1, thread + 0.5)
    deeper(table, 2.0)
    before[thread] = raise_to(marks, 1, thread * 7 % 64 + 1)


@case
def changes_to_shared_tables_are_atomic(folder):
    blocks, block = (2, 32) if is_simulated() else (512, 128)
    threads = blocks * block
    table, marks, before = (
        to_gpu(np.zeros(s, kind)) for s, kind in (((2, 2), float), (3, int), (threads, int))
    )
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # the simulator's threads are Python's
    try:
        build_for_cuda(write_shared, {})[blocks, block](table, marks, before)
    finally:
        sys.setswitchinterval(interval)
    assert table.copy_to_host().tolist() == [[0.0, threads**2 / 2], [2.0 * threads, 0.0]]
    assert marks.copy_to_host().tolist() == [0, 64, 0]
    # Each got the value before its own change, so the increments add up.
    raised_to, before = np.arange(threads) * 7 % 64 + 1, before.copy_to_host()
    assert np.maximum(raised_to - before, 0).sum() == 64
    assert set(before) <= {0, *raised_to.tolist()}


@episode_kernel
def alone(table, marks, before):
    """The same changes on the CPU."""
    add(table, 0, 1, 0.5)
    deeper(table, 2.0)
    for place, value in enumerate((5, 3, 8)):
        before[place] = raise_to(marks, 1, value)


@case
def shared_changes_are_exchanged_wherever_they_are_called(folder):
    """Also in what a kernel calls; the CPU's own are left alone."""
    table, marks = np.zeros((2, 2)), np.zeros(3, int)
    there, before = to_gpu(table), to_gpu(np.zeros(1, int))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(cuda_build.UPDATES, add, add_twice)
        patch.setitem(cuda_build.UPDATES, raise_to, tell_row)
        build_for_cuda(write_shared, {})[1, 1](there, to_gpu(marks), before)
    assert there.copy_to_host().tolist() == [[0.0, 1.0], [4.0, 0.0]]
    assert before.copy_to_host().tolist() == [1]
    before = np.zeros(3, int)
    alone(table, marks, before)
    assert table.tolist() == [[0.0, 0.5], [2.0, 0.0]]
    assert before.tolist() == [0, 5, 5]
    assert marks.tolist() == [0, 8, 0]


def add_twice(table, row, column, amount):
    table[row, column] += 2 * amount


def tell_row(table, row, value):
    return row


@case
def the_command_line_trains_there(folder):
    train = ["train", "kuhn", "--solver", "smooth-uct", "--out", str(folder / "run"), "--json"]

    def reported(*more):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            assert main([*train, *more]) == 0, err.getvalue()
        return json.loads(out.getvalue()), err.getvalue()

    facts, _ = reported("--episodes", "60", "--device", "cuda", "--in-flight", "1")
    assert (facts["device"], facts["iterations"]) == ("cuda", 60)
    settings = tomllib.loads((folder / "run" / "run.toml").read_text())
    assert settings["device"] == gpu_name()
    facts, said = reported("--episodes", "40", "--device", "auto", "--in-flight", "1", "--resume")
    assert (facts["device"], facts["iterations"]) == ("cuda", 100)
    assert f"training on the GPU ({gpu_name()})" in said
    facts, said = reported("--episodes", "20", "--resume")
    assert (facts["device"], facts["iterations"], said) == ("cpu", 120, "")
    settings = tomllib.loads((folder / "run" / "run.toml").read_text())
    assert settings["device"] == "cpu"
    again = felt.SmoothUCT("kuhn")
    again.resume(folder / "run" / "checkpoint")
    assert_same(again.tables(), felt.SmoothUCT("kuhn").run(120).tables())


def folder_of(parent: Path, name: str) -> Path:
    return parent / str(list(CASES).index(name))


def run_cases(parent: Path, names: Iterable[str]) -> None:
    """Write down what went wrong in each; nothing if all is well."""
    found = {}
    for name in dict.fromkeys(names):
        folder_of(parent, name).mkdir()
        try:
            CASES[name](folder_of(parent, name))
            found[name] = ""
        except (Exception, pytest.fail.Exception):
            found[name] = traceback.format_exc()
        (parent / "found.json").write_text(json.dumps(found))


if __name__ == "__main__":
    assert not why_no_gpu(), why_no_gpu()
    run_cases(Path(sys.argv[1]), sys.argv[2:] or CASES)
