"""Measuring a hold'em player: stopping and resuming, estimates from sampled flops, bad input."""

from __future__ import annotations

import json
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from small_holdem import random_player

from openfelt.cards.public_cards import Deck
from openfelt.cli.app import main
from openfelt.core import cuda
from openfelt.core.errors import FeltError
from openfelt.measure.holdem.exploitability import PRECISION, Measure, all_flops, measure_exploit, some_flops
from openfelt.measure.holdem.flop_solver import Task, solve
from openfelt.measure.holdem.player import mixed, policy_player, rule_player

NINE = Deck(3, 3)


class Stopped(Exception):
    pass


def stop_after(count):
    """A progress that stops the work, as a Ctrl-C does."""
    reported = []

    def progress(_):
        reported.append(1)
        if len(reported) > count:
            raise Stopped

    return progress


@pytest.mark.slow
def test_stopped_and_gone_on_is_the_same_to_the_last_bit(tmp_path):
    player = rule_player("probe", 2)
    whole = Measure(player, deck=NINE)
    result = whole.run()
    for count in (3, 25):  # in the first seat, and in the second
        with pytest.raises(Stopped):
            Measure(player, deck=NINE, folder=tmp_path).run(stop_after(count))
    again = Measure(player, deck=NINE, folder=tmp_path)
    assert 0 < again.done.sum() < again.done.size
    found = again.run()
    assert found.won == result.won
    assert again.values.tobytes() == whole.values.tobytes()
    assert found.won == tuple(solve(Task(player, seat), NINE, precision=PRECISION) for seat in range(2))


@pytest.mark.slow
def test_a_checkpoint_of_another_measurement_is_refused(tmp_path):
    Measure(rule_player("probe", 1), deck=NINE, folder=tmp_path).run()
    with pytest.raises(FeltError, match="holds another measurement, of probe"):
        Measure(rule_player("random", 1), deck=NINE, folder=tmp_path)
    with pytest.raises(FeltError, match="holds another measurement, of probe"):
        Measure(rule_player("probe", 1), deck=NINE, folder=tmp_path, sample=some_flops(NINE, 5, 0))


@pytest.mark.slow
def test_estimates_scatter_round_the_truth_as_their_intervals_say():
    player, ours = random_player(NINE, 1, seed=1), random_player(NINE, 1, seed=2)
    truth = Measure(player, ours, deck=NINE)
    exact = truth.run()
    found = []
    for seed in range(200):
        some = Measure(player, ours, deck=NINE, sample=some_flops(NINE, 100, seed))
        for seat in range(2):  # already solved
            places = np.searchsorted(truth._sample.kinds, some._sample.kinds)
            some.values[seat] = truth.values[seat, places]
            some.done[seat] = True
        found.append(some.run())
    values = np.array([each.mbb for each in found])
    assert abs(values.mean() - exact.mbb) < 4 * values.std() / np.sqrt(len(values))
    inside = np.mean([abs(each.mbb - exact.mbb) <= each.interval for each in found])
    assert 0.9 < inside < 0.99
    assert np.mean([each.interval for each in found]) == pytest.approx(1.96 * values.std(), rel=0.15)
    assert exact.interval == 0.0


@pytest.mark.slow
def test_a_best_response_to_some_flops_wins_more_than_one_to_all():
    """On average, since its preflop strategy is fitted to the sample."""
    player = rule_player("always-raise", 2)
    truth = Measure(player, deck=NINE)
    exact = truth.run()
    found = []
    for seed in range(40):
        some = Measure(player, deck=NINE, sample=some_flops(NINE, 3, seed))
        places = np.searchsorted(all_flops(NINE).kinds, some._sample.kinds)
        some.values, some.done = truth.values[:, places], np.ones_like(some.done)
        found.append(some.run().mbb)
    assert np.mean(found) > exact.mbb


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (["exploit", "poki-like"], "has no tabular policy"),
        (["exploit", "always-call", "--flops", "1"], "two flops or more"),
        (["exploit", "always-call", "--device", "tpu"], "device must be"),
        (["exploit", "nowhere"], "There is no run or policy"),
        (["exploit", "nowhere + always-call"], "There is no run or policy"),
        (["exploit", "much * always-call + probe"], "'much * always-call' is not a part of a mixture"),
        (["exploit", "always-call + "], "'' is not a part of a mixture"),
        (["exploit", "2 * + always-call"], "'2 *' is not a part of a mixture"),
        (["exploit", "-1 * always-call + probe"], "one non-negative weight per policy"),
        (["exploit", "always-call + probe", "--leaks"], "not for a mixture"),
        (
            ["value", "always-call + probe", "always-fold + probe", "--exact"],
            "At most one of the two can be a mixture",
        ),
    ],
)
def test_bad_input_gets_one_sentence(words, reported, capsys):
    assert main(words) != 0
    text = capsys.readouterr().err
    assert reported in text
    assert len(text.strip().splitlines()) == 1


@pytest.mark.slow
def test_mixtures_go_by_their_names(capsys, monkeypatch):
    monkeypatch.setattr("openfelt.measure.holdem.exploitability.Deck", partial(Deck, 3, 3))
    parts = [rule_player(name) for name in ("always-call", "always-raise")]

    def reported(*words):
        assert main([*words, "--device", "cpu", "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    facts = reported("exploit", "3 * always-call + always-raise")
    wanted = measure_exploit(mixed(parts, [3, 1]))
    assert facts["exploitability"] == pytest.approx(wanted.mbb, rel=1e-14)
    assert facts["unit"] == "mbb/h"
    assert facts["policy"] == wanted.name == "0.75 always-call + 0.25 always-raise"
    against = reported("value", "probe", "always-call + always-raise", "--exact")
    turned = reported("value", "always-call + always-raise", "probe", "--exact")
    assert turned["by_seat"] == [-each for each in reversed(against["by_seat"])]
    assert (turned["policy"], turned["opponent"]) == (against["opponent"], against["policy"])
    alone = [reported("value", "probe", part.name, "--exact")["mean"] for part in parts]
    assert against["mean"] == pytest.approx(np.mean(alone), rel=1e-5)  # the value is linear in the mixture


@pytest.mark.slow
def test_checkpoints_of_mixtures_depend_on_the_weights(tmp_path):
    parts = [rule_player(name, 1) for name in ("probe", "random")]
    Measure(mixed(parts, [1, 2]), deck=NINE, folder=tmp_path).run()
    assert Measure(mixed(parts, [2, 4]), deck=NINE, folder=tmp_path).done.all()
    with pytest.raises(FeltError, match="holds another measurement, of"):
        Measure(mixed(parts, [2, 1]), deck=NINE, folder=tmp_path)


def test_other_games_and_three_players_are_refused(capsys, tmp_path):
    folder = str(tmp_path / "run")
    assert main(["train", "kuhn", "--solver", "cfr", "--iterations", "2", "--out", folder, "--json"]) == 0
    capsys.readouterr()
    assert main(["value", folder, "always-call", "--exact"]) != 0
    assert capsys.readouterr().err.strip().endswith("does not play kuhn.")
    three = SimpleNamespace(tree=SimpleNamespace(players=3, game="holdem(players=3)"))
    with pytest.raises(FeltError, match=r"for two players; holdem\(players=3\) has 3"):
        policy_player(three)


def test_where_there_is_no_gpu_one_sentence_says_so(capsys, monkeypatch):
    monkeypatch.setattr(cuda, "why_no_gpu", lambda: "no NVIDIA GPU, or no driver for it, was found.")
    assert main(["exploit", "always-call", "--device", "cuda"]) != 0
    assert capsys.readouterr().err.strip() == "felt: No NVIDIA GPU, or no driver for it, was found."
