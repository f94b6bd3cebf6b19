"""CFR over all histories of the restricted game: against CFR on the sequence form and explicit rules."""

from __future__ import annotations

import numpy as np
import pytest
from bound_game import bound_game

import openfelt as felt
from openfelt.measure.exploitability import values_against
from openfelt.solve.restriction import Restriction
from openfelt.studies.pjl11.history_cfr import HistoryCFR


def both(game, seat, p):
    how = Restriction(seat, felt.random_policy(game, seed=3), p)
    return HistoryCFR(game, restriction=how), felt.CFR(game, restriction=how)


@pytest.mark.parametrize("p", [0.0, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("game", ["kuhn", "leduc", "one_card(10)"])
def test_it_is_the_cfr_of_the_sequence_form(game, seat, p):
    by_history, by_sequence = both(game, seat, p)
    for iterations in (1, 2, 17):
        by_history.run(iterations)
        by_sequence.run(iterations)
        assert by_history.probabilities == pytest.approx(by_sequence.probabilities, abs=1e-9)
    assert by_history.measure().nash_conv == pytest.approx(by_sequence.measure().nash_conv, abs=1e-9)


@pytest.mark.parametrize("seat", [0, 1])
def test_it_solves_the_game_with_a_coin(seat):
    by_history = both("kuhn", seat, 0.6)[0].run(20_000)
    coin = bound_game("kuhn", felt.random_policy("kuhn", seed=3), seat, 0.6)
    value = felt.expected_values(felt.SequenceLP(coin).run().policy)[1 - seat]
    fixed = felt.random_policy("kuhn", seed=3)
    worst = -felt.best_response(by_history.policy, seat).value
    sure = 0.6 * values_against(by_history.policy, fixed)[1 - seat] + 0.4 * worst
    assert sure == pytest.approx(value, abs=2e-3)


def test_runs_resume_where_they_stopped():
    at_once, in_parts = both("leduc", 0, 0.5)[0].run(20), both("leduc", 0, 0.5)[0].run(7).run(13)
    assert np.array_equal(at_once.probabilities, in_parts.probabilities)
