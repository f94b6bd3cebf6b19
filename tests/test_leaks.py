"""Leaks, compared with a slow twin that plays a best response after one line only, and in total."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest
from small_holdem import SlowFlop, live_pairs, random_player
from speed import slow

from openfelt.cards.deck import FLOP, RIVER, STREETS, TURN, pair_class, parse_cards
from openfelt.cards.public_cards import Deck, Flop
from openfelt.cli.app import main
from openfelt.measure.holdem import exploitability as measure
from openfelt.measure.holdem.exploitability import Measure
from openfelt.measure.holdem.flop_solver import FlopSolver, Task, reach_at_flop, solve
from openfelt.measure.holdem.leaks import START, class_names, line_names, paths, square
from openfelt.solve.vector.betting_lines import betting_lines, children, street_of

NINE, TEN = Deck(3, 3), Deck(5, 2)
BOTH = (0, 1)


@cache
def one_flop(deck, cards, bets, seat):
    """The engine's values by stage and its leaks, and a slow twin of the same."""
    flop = parse_cards(cards)
    other, ours = random_player(deck, bets, seed=7), random_player(deck, bets, seed=8, buckets=6, pure=0.4)
    values, leaks = FlopSolver(Task(other, seat, ours, True), deck).by_hand(Flop(flop, np.zeros(1, np.int64)))
    return values, leaks, SlowFlop(deck, flop, bets), other, ours


FLOPS = [slow(NINE, "AcKdQh", 3), slow(TEN, "AcKcTc", 2)]


@pytest.mark.parametrize("seat", [slow(0), 1])
@pytest.mark.parametrize(("deck", "cards", "bets"), FLOPS)
def test_stages_answer_best_from_a_later_street_on(deck, cards, bets, seat):
    values, _, slow, other, ours = one_flop(deck, cards, bets, seat)
    roots = other.betting.flop_roots.tolist()
    for stage in range(4):
        expected = slow.values(
            other, seat, ours, lambda node, first=FLOP + stage: street_of(slow.node, node) >= first
        )
        wanted = np.array([expected[node] for node in roots])
        found = values[stage, :, : len(roots)].T[:, live_pairs(deck)]
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9)


def below(node, root):
    """All nodes of a part of the betting tree."""
    found, open_nodes = set(), [root]
    while open_nodes:
        here = open_nodes.pop()
        found.add(here)
        if node[here, 0] >= 0:
            open_nodes += children(node, here)
    return found


@pytest.mark.parametrize("seat", [0, slow(1)])
@pytest.mark.parametrize("street", [FLOP, TURN, RIVER])
@pytest.mark.parametrize(("deck", "cards", "bets"), FLOPS)
def test_the_gain_on_a_line_is_that_of_a_best_response_there_alone(deck, cards, bets, street, seat):
    """The twin plays a best response on later streets, and on this one only after one line."""
    _, leaks, slow, other, ours = one_flop(deck, cards, bets, seat)
    betting = betting_lines(bets)
    own = reach_at_flop(ours, seat, deck)[0][live_pairs(deck)]
    roots = betting.decisions[street - FLOP][0]
    found = leaks[street - FLOP].sum(axis=0)

    def worth(best):
        values = slow.values(other, seat, ours, best)
        return sum(
            (own[:, place] * values[node]).sum() for place, node in enumerate(betting.flop_roots.tolist())
        )

    later = worth(lambda node: street_of(slow.node, node) > street)
    lines = [line for line in np.argsort(-found[: len(roots)]) if roots[line] >= 0]
    for line in [*lines[:3], lines[-1]]:
        part = below(slow.node, int(roots[line]))
        here = worth(
            lambda node, part=part: (
                street_of(slow.node, node) > street or (street_of(slow.node, node) == street and node in part)
            )
        )
        assert found[line] == pytest.approx(here - later, abs=1e-9)
    assert found[lines[0]] > 1e-3


@pytest.mark.slow
def test_all_leaks_are_what_a_best_response_wins_more(tmp_path):
    player = random_player(NINE, 2, seed=3, pure=0.2)
    found = Measure(player, leaks=True, deck=NINE).run()
    for seat, leaks in enumerate(found.leaks):
        best, played = solve(Task(player, seat), NINE), solve(Task(player, seat, player), NINE)
        assert found.won[seat] == pytest.approx(best, rel=1e-6)
        more = pytest.approx(500 * (best - played), rel=1e-5)
        assert sum(leaks.by_street.values()) == more
        assert leaks.by_hand().sum() == more
        assert sum(gain for *_, gain in leaks.by_line()) == more
        assert min(leaks.by_street.values()) > 0
        assert min(gain.min() for gain in leaks.gains) > -1e-4
    json.dumps(found.as_dict())

    class Stopped(Exception):
        pass

    def stop(_, reported=[]):  # noqa: B006 - it counts how often it was called
        reported.append(1)
        if len(reported) > 5:
            raise Stopped

    with pytest.raises(Stopped):
        Measure(player, leaks=True, deck=NINE, folder=tmp_path).run(stop)
    again = Measure(player, leaks=True, deck=NINE, folder=tmp_path).run()
    for one, two in zip(again.leaks, found.leaks, strict=True):
        assert all(a.tobytes() == b.tobytes() for a, b in zip(one.gains, two.gains, strict=True))


@pytest.mark.slow
def test_before_the_flop_it_does_what_is_worth_most():
    player = random_player(NINE, 2, seed=3)
    found = Measure(player, leaks=True, deck=NINE).run()
    dealer = found.leaks[1]
    first = dealer.answers[0]
    assert (first.line, first.actions) == (START, ("fold", "call", "raise"))
    assert found.leaks[0].answers[0].actions == ("check", "raise")
    size = np.bincount([class_names().index(name) for name in hands_of(NINE)], minlength=169)
    won = (first.worth.max(axis=1) * size).sum() / size.sum()
    assert won == pytest.approx(found.won[1], rel=1e-6)


def hands_of(deck):
    from openfelt.cards.deck import PAIR_CARDS

    return [pair_class(PAIR_CARDS[pair].tolist()) for pair in live_pairs(deck)]


def test_lines_are_called_by_what_was_done():
    betting = betting_lines()
    names = line_names(betting)
    assert [len(lines) for lines in names] == [1, 7, 63, 567]
    assert len({line for lines in names for line in lines}) == 1 + 7 + 63 + 567
    assert names[1][0] == "call-check"
    assert "raise-raise-call" in names[1]
    # A line's name says what leads to it in the betting tree.
    words = {0: ["fold", "call", "raise"], 1: ["check", "raise"]}
    for node, line in paths(betting).items():
        here = 0
        for word in [] if line == START else line.split("-"):
            choices = words[int(here == children(betting.node, 0)[1])]
            here = children(betting.node, here)[choices.index(word)]
        assert here == node
    assert names[3][-1] == f"{names[1][-1]} / bet-raise-raise-raise-call / bet-raise-raise-raise-call"


def test_the_square_of_starting_hands():
    names = np.array(class_names())[square()]
    assert names[0, 0] == "AA"
    assert names[0, 1] == "AKs"
    assert names[1, 0] == "AKo"
    assert names[12, 12] == "22"
    assert sorted(names.ravel()) == sorted(set(class_names()))
    assert STREETS[0] == "preflop"


@pytest.mark.slow
def test_exact_values_on_the_command_line(capsys, monkeypatch):
    """Two players that ignore their cards break even; one that always folds loses its blinds."""
    monkeypatch.setattr(measure, "Deck", lambda: NINE)
    common = ["--exact", "--device", "cpu"]
    assert main(["value", "always-call", "always-raise", *common, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["by_seat"] == pytest.approx([0, 0], abs=1e-3)
    assert (found["policy"], found["opponent"], found["flops"]) == ("always-call", "always-raise", "all")
    assert main(["value", "always-raise", "always-fold", *common]) == 0
    text = capsys.readouterr().out
    assert "always-raise against always-fold" in text
    assert "+750.00 mbb/h, exact" in text
    assert main(["exploit", "probe", "--leaks", "--device", "cpu"]) == 0
    text = capsys.readouterr().out
    assert "Gains of a best response as dealer over probe" in text
    assert "its actions before the flop, after the start: F fold, C call, R raise" in text


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (["exploit", "always-call", "--leaks", "--plot", "leaks.pdf"], "a .png file"),
        (["value", "always-call", "always-raise", "--flops", "3"], "go with --exact"),
        (["value", "always-call", "chen-like", "--exact"], "There is no run or policy"),
    ],
)
def test_bad_input_gets_one_sentence(words, reported, capsys):
    assert main(words) != 0
    text = capsys.readouterr().err
    assert reported in text
    assert len(text.strip().splitlines()) == 1
