"""Solvers agree on the values of games, respect their budgets, and resume to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from speed import slow

import openfelt as felt
from openfelt.policy.tabular import normalised
from openfelt.solve.neural.neural_solver import NeuralSolver
from openfelt.solve.registry import SOLVERS, solver_type
from openfelt.solve.sampling.sampling_solver import SamplingSolver
from openfelt.solve.traverse import threaded_leaf_sums
from openfelt.solve.vector.flop_cfr import FlopCFR
from openfelt.solve.vector.vector_solver import VectorSolver

OTHERS = VectorSolver | NeuralSolver | FlopCFR  # they do not learn every game, or need PyTorch
OF_LEDUC = [name for name, solver in SOLVERS.items() if not issubclass(solver, OTHERS)]
ITERATIVE = [name for name in OF_LEDUC if SOLVERS[name].iterative]
FULL_WIDTH = [name for name in ITERATIVE if not issubclass(SOLVERS[name], SamplingSolver)]


@pytest.mark.parametrize(
    ("game", "value"), [("kuhn", -1 / 18), ("leduc", -0.0856064240), ("one_card(3)", -1 / 18)]
)
def test_published_values(game, value):
    solution = felt.SequenceLP(game).run()
    assert felt.expected_values(solution.policy)[0] == pytest.approx(value, abs=1e-8)
    assert solution.measurements[-1].nash_conv == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    "game",
    [
        "kuhn",
        "kuhn(pot=8)",
        "one_card(10)",
        "leduc",
        "goofspiel(3)",
        "goofspiel(4)",
        slow("goofspiel(5)"),
        "bluff(1,1,2)",
        "bluff(1,1,3)",
        slow("bluff(1,1,4)"),
        slow("bluff(1,1,5)"),
        slow("bluff(1,1,6)"),
        slow("princess_monster(3,3,5)"),
    ],
)
def test_lp_cfr_and_fictitious_play_agree_on_the_value(game):
    solution = felt.SequenceLP(game).run()
    assert solution.measurements[-1].nash_conv < 1e-9
    value = felt.expected_values(solution.policy)[0]
    close = {"bluff(1,1,6)": 0.03, "bluff(1,1,5)": 0.01, "goofspiel(5)": 0.02}.get(game, 0.005)
    for solver, target, digits in (
        (felt.CFRPlus(game), 1e-4, 2e-4),
        (felt.FictitiousPlay(game), close, 0.01),
    ):
        learned = solver.run(iterations=200_000, until=target)
        assert learned.measurements[-1].exploitability <= target
        assert felt.expected_values(learned.policy)[0] == pytest.approx(value, abs=digits)


@pytest.mark.parametrize("name", ["cfr+", "pcfr+"])
def test_leduc_below_one_in_ten_thousand(name):
    solver = solver_type(name)("leduc").run(until=1e-4)
    assert solver.measurements[-1].exploitability <= 1e-4
    assert felt.expected_values(solver.policy)[0] == pytest.approx(-0.0856064, abs=1e-4)


@pytest.mark.parametrize("name", FULL_WIDTH)
@pytest.mark.parametrize("game", ["kuhn(players=3)", "leduc(players=3)", "princess_monster(2,3,5)"])
def test_every_solver_learns_every_kind_of_game(name, game):
    solver = solver_type(name)(game).run(60)
    assert solver.measurements[-1].nash_conv < 0.5 * solver.measurements[0].nash_conv


@pytest.mark.parametrize("name", OF_LEDUC)
def test_stop_save_resume_is_the_same_to_the_bit(name, tmp_path):
    whole = solver_type(name)("leduc").run(50)
    part = solver_type(name)("leduc").run(20)
    part.save(tmp_path)
    again = solver_type(name)("leduc")
    again.resume(tmp_path)
    assert again.iterations == part.iterations
    again.run(30)
    for key, table in whole.tables().items():
        if whole.iterative:
            assert table.tobytes() == again.tables()[key].tobytes()
        else:
            np.testing.assert_allclose(table, again.tables()[key])
    assert whole.probabilities.tobytes() == again.probabilities.tobytes()


@pytest.mark.parametrize("name", ["cfr", "cfr+", "dcfr", "pcfr+"])
def test_threads_give_the_same_tables(name, monkeypatch):
    monkeypatch.setattr(threaded_leaf_sums, "FEWEST_ENTRIES", 1_000)
    alone = solver_type(name)("goofspiel(5)").run(2)
    shared = solver_type(name)("goofspiel(5)", threads=2).run(2)
    assert shared._summer is not None
    assert alone.probabilities.tobytes() == shared.probabilities.tobytes()


def test_until_stops_at_the_same_iteration_each_time():
    first = felt.PCFRPlus("leduc").run(until=1e-3)
    second = felt.PCFRPlus("leduc").run(until=1e-3)
    assert first.iterations == second.iterations
    assert first.probabilities.tobytes() == second.probabilities.tobytes()


def test_budgets():
    assert felt.CFR("kuhn").run(7).iterations == 7
    assert felt.CFR("kuhn").run(np.int64(7)).iterations == 7
    assert felt.CFR("kuhn").run(7).run(5).iterations == 12
    seen = []
    stopped = felt.CFR("kuhn").run(
        10**9, progress=lambda solver, _: seen.append(solver.iterations) or len(seen) > 3
    )
    assert stopped.iterations == seen[-1] < 10**9
    assert stopped.measurements[-1].iterations == stopped.iterations
    assert felt.CFR("kuhn").run(seconds=0.05).seconds >= 0.05


@pytest.mark.parametrize(
    "budget",
    [
        {},
        {"iterations": 0},
        {"iterations": -5},
        {"seconds": -1.0},
        {"until": 0.0},
        {"iterations": True},
        {"seconds": float("nan")},
    ],
)
def test_bad_budgets_are_refused(budget):
    with pytest.raises(felt.FeltError):
        felt.CFR("kuhn").run(**budget)


def test_bad_settings_are_refused():
    with pytest.raises(felt.FeltError, match="no parameter 'alpha'"):
        felt.CFR("kuhn", alpha=1.0)
    with pytest.raises(felt.FeltError, match="gamma must be from 0 to 10"):
        felt.DCFR("kuhn", gamma=-1)
    with pytest.raises(felt.FeltError, match="threads"):
        felt.CFR("kuhn", threads=0)
    with pytest.raises(felt.FeltError, match="whole number"):
        felt.CFR("kuhn").run(2.5)
    with pytest.raises(felt.FeltError, match="a number above 0"):
        felt.CFR("kuhn").run("5")
    with pytest.raises(felt.FeltError, match="did you mean 'cfr\\+'"):
        solver_type("cfr++")
    with pytest.raises(felt.FeltError, match="two-player zero-sum"):
        felt.SequenceLP("kuhn(players=3)")


def test_a_checkpoint_of_something_else_is_refused(tmp_path):
    felt.DCFR("kuhn").run(3).save(tmp_path)
    for other, says in (
        (felt.DCFR("leduc"), "is a checkpoint of kuhn"),
        (felt.DCFR("kuhn(pot=8)"), "is a checkpoint of kuhn"),
        (felt.CFR("kuhn"), "is a checkpoint of dcfr"),
        (felt.DCFR("kuhn", alpha=2.0), "other parameters"),
    ):
        with pytest.raises(felt.FeltError, match=says):
            other.resume(tmp_path)


def test_numbers_that_overflow_are_never_a_policy():
    tree = felt.compile_game("kuhn")
    with pytest.raises(felt.FeltError, match="overflowed"):
        normalised(tree, np.full(tree.num_slots, np.nan))


def test_a_resumed_checkpoint_believes_no_edit(tmp_path):
    felt.CFR("kuhn").run(3).save(tmp_path)
    text = (tmp_path / "manifest.json").read_text()
    (tmp_path / "manifest.json").write_text(text.replace('"iterations": 3', '"iterations": 4'))
    with pytest.raises(felt.FileError, match="changed after it was saved"):
        felt.CFR("kuhn").resume(tmp_path)


def test_the_program_answers_best_where_it_never_goes():
    """In kuhn(pot=8) the first player always bets a king; off the plan, after a pass, it still calls."""
    policy = felt.SequenceLP("kuhn(pot=8)").run().policy
    assert policy.at(0, "K")["bet"] == pytest.approx(1)
    assert policy.at(0, "K pass bet")["bet"] == pytest.approx(1)


def test_dcfr_with_the_extreme_exponents_is_cfr_plus():
    """Keeping positive regrets, forgetting negative ones and linear averaging is CFR+."""
    ours = felt.DCFR("leduc", alpha=float("inf"), beta=float("-inf"), gamma=1.0).run(40)
    np.testing.assert_allclose(ours.probabilities, felt.CFRPlus("leduc").run(40).probabilities, atol=1e-12)
