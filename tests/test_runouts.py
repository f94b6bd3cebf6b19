"""Sampled turns and rivers: weights, unbiased values, and bounds of a best response on both sides."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from small_holdem import random_player
from test_network_policies import network_player

import openfelt as felt
from openfelt.cards.public_cards import Deck
from openfelt.cards.runouts import Runouts
from openfelt.cli.app import main
from openfelt.measure.holdem.exploitability import Measure, Sample, some_flops
from openfelt.measure.holdem.flop_solver import FlopSolver, Task
from openfelt.measure.holdem.player import mixed, rule_player

NINE = Deck(3, 3)
FLOP = NINE.flops[5]
EVERYTHING = 99  # more cards than there are
SIZES = [(2, 2), (3, 5), (0, 2), (2, 0)]


def test_all_turns_and_rivers_have_weight_one():
    for runouts in (Runouts(), Runouts(EVERYTHING, EVERYTHING).within(NINE)):
        (turns,) = runouts.after(NINE, FLOP)
        assert sum(len(turn.seen_as) for turn in turns) == 6
        for turn in turns:
            assert (turn.weight, {river.weights for river in turn.rivers}) == (1.0, {(1.0,)})
            assert sum(len(river.seen_as) for river in turn.rivers) == 5


@pytest.mark.parametrize("deck", [NINE, Deck()], ids=["nine cards", "full deck"])
@pytest.mark.parametrize("sizes", SIZES)
def test_a_sample_stands_for_all_cards(deck, sizes):
    runouts, flop = Runouts(*sizes, seed=7), deck.flops[3]
    halves = runouts.after(deck, flop)
    assert len(halves) == 2
    for turns in halves:
        assert sum(turn.weight * len(turn.seen_as) for turn in turns) == pytest.approx(deck.size - 3)
        for turn in turns:
            weights = np.array([river.weights for river in turn.rivers])
            sizes = [len(river.seen_as) for river in turn.rivers]
            assert sizes @ weights == pytest.approx(deck.size - 4)
    assert [[turn.card for turn in turns] for turns in halves] == [
        [turn.card for turn in turns] for turns in runouts.after(deck, flop)
    ]


def test_every_turn_has_weight_one_on_average():
    found = np.zeros((400, 2, 52))
    for seed in range(400):
        for half, turns in enumerate(Runouts(3, 2, seed).after(NINE, FLOP)):
            for turn in turns:
                found[seed, half, turn.card] = turn.weight
    found = found[:, :, [turn.card for turn in Runouts().after(NINE, FLOP)[0]]]
    assert (abs(found.mean(axis=0) - 1) < 4 * found.std(axis=0) / 20).all()
    assert (found.std(axis=0) > 0.3).all()


@cache
def players():
    return random_player(NINE, 1, seed=7), random_player(NINE, 1, seed=8)


def flop_values(task: Task, runouts: Runouts | None = None):
    """By stage: the sum of the values of all hands at all roots of a flop."""
    return FlopSolver(task, NINE, "double", runouts or Runouts()).solve(FLOP).values.sum(axis=(1, 2))


@pytest.mark.parametrize("sizes", [(-3, 0, 0), (4, -1, 4), (4, 4, -1)])
def test_numbers_below_two_are_refused(sizes):
    flops, turns, rivers = sizes
    with pytest.raises(felt.FeltError, match="or more"):
        felt.exploitability(rule_player("always-call", 4), flops=flops, turns=turns, rivers=rivers)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", SIZES)
def test_sampled_values_are_unbiased_or_on_the_side_that_is_documented(sizes):
    other, ours = players()
    fixed, best = flop_values(Task(other, 0, ours))[0], flop_values(Task(other, 0))[0]
    samples = [Runouts(*sizes, seed) for seed in range(100)]
    found = np.array([flop_values(Task(other, 0, ours), sample)[0] for sample in samples])
    assert abs(found.mean() - fixed) < 4 * found.std() / 10
    assert found.std() > 0.05 * abs(fixed)
    above, below = np.array([flop_values(Task(other, 0), sample) for sample in samples]).T
    assert above.mean() > best + 2 * above.std() / 10
    assert below.mean() < best - 2 * below.std() / 10
    assert below.mean() > fixed + 4 * below.std() / 10  # a better response than a random player


@pytest.mark.slow
def test_both_sides_meet_as_the_sample_grows():
    other, _ = players()
    width = []
    for count in (2, 4):
        samples = [flop_values(Task(other, 0), Runouts(count, count, seed)) for seed in range(40)]
        width.append(np.array(samples).mean(axis=0) @ [1, -1])
    assert 0 < width[1] < 0.7 * width[0]


@pytest.mark.slow
@pytest.mark.parametrize("bets", [1, 2])
def test_a_sample_of_everything_gives_the_enumerated_value(bets):
    network = network_player(bets, seed=3)
    mixture = mixed([random_player(NINE, bets, seed=2), random_player(NINE, bets, seed=4)], [1, 2])
    for other in (network, mixture):
        task = Task(other, 1)
        wanted = flop_values(task)
        assert len(wanted) == 1
        assert flop_values(task, Runouts(EVERYTHING, EVERYTHING)) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("seat", [0, 1])
def test_a_response_that_is_fitted_to_all_cards_is_a_best_response(seat, monkeypatch):
    """Two halves that are both everything: the walk along the betting equals the kernels."""
    after = Runouts.after
    mixture = mixed(players(), [1, 2])
    for other in (network_player(2, seed=5), mixture):
        wanted = flop_values(Task(other, seat))[0]
        with monkeypatch.context() as patch:
            patch.setattr(Runouts, "after", lambda _, deck, flop: after(Runouts(), deck, flop) * 2)
            found = flop_values(Task(other, seat), Runouts(2, 2))
        assert found == pytest.approx([wanted, wanted], rel=1e-9)


@pytest.mark.slow
def test_the_interval_holds_the_exploitability_of_a_network(tmp_path):
    network = network_player(1, seed=2)
    truth = Measure(network, deck=NINE).run().mbb
    for seed in range(4):
        sample = {"sample": some_flops(NINE, 12, seed), "runouts": Runouts(4, 4, seed), "deck": NINE}
        found = Measure(network, **sample, folder=tmp_path / str(seed)).run()
        low, error = found.held_out_mbb
        assert low - error < truth < found.mbb + found.interval
        assert low < found.mbb
        assert found.mbb - low < 3000  # it says something
    again = Measure(network, **sample, folder=tmp_path / "3")
    assert again.done.all()
    assert again.run().held_out_mbb == (low, error)
    with pytest.raises(felt.FeltError, match="another measurement"):
        Measure(network, **sample | {"runouts": Runouts(4, 2, 3)}, folder=tmp_path / "3")


@pytest.mark.slow
def test_before_the_flop_a_flop_is_judged_by_the_others():
    """With the same flop in every draw, or values without noise, nothing is known that is not held out."""
    other, _ = players()
    sample = Sample(np.array([3, 5]), np.array([1, 2]), 3)
    measure = Measure(other, sample=sample, runouts=Runouts(2, 2), deck=NINE)
    draw = np.random.default_rng(1)
    measure.values[:] = draw.normal(size=measure.values.shape)
    measure.held_out[:] = measure.values
    mean = (measure.held_out_worth() * sample.times).sum() / sample.draws
    assert mean < np.mean(measure.won())


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--turns", "4"], "need --flops"),
        (["--flops", "4", "--turns", "1"], "two turns of each flop and two rivers"),
        (["--flops", "4", "--rivers", "4", "--device", "cuda"], "sampled on the CPU"),
        (["--flops", "4", "--rivers", "4", "--leaks"], "Leaks need all turns and rivers"),
    ],
    ids=str,
)
def test_what_cannot_be_sampled_is_refused_in_a_sentence(options, reason, capsys):
    assert main(["exploit", "always-call", *options]) == 2
    assert reason in capsys.readouterr().err


@pytest.mark.slow
def test_the_command_tells_both_sides(capsys):
    command = ["exploit", "always-call", "--flops", "3", "--turns", "2", "--rivers", "2"]
    assert main(command) == 0
    text = capsys.readouterr().out
    assert "estimated from 3 flops, 2 turns of each and 2 rivers of each turn; the best response is" in text
    assert "so the exploitability is between" in text
