"""The review of many hands: losses against slow twins and rollouts, styles by hand, the sums of a report."""

from __future__ import annotations

import dataclasses
import json
import random

import numpy as np
import pytest
from random_hands import hidden, played, some_hands

import openfelt as felt
from openfelt.bots.policy_bot import policy_bot
from openfelt.bots.view import holdem_view
from openfelt.cards.deck import PAIR_CARDS
from openfelt.cli.app import main
from openfelt.core.errors import FeltError
from openfelt.games.compile.compiler import compile_any
from openfelt.games.hand import Hand
from openfelt.games.holdem import Holdem, HoldemState, bet, betting_actions, is_over
from openfelt.games.registry import load_game
from openfelt.hands.check import replay
from openfelt.hands.record import HandRecord
from openfelt.measure.action_values import action_values
from openfelt.policy.holdem import quantised
from openfelt.table.report import holdem_review
from openfelt.table.report.decisions import Decision, decision_table
from openfelt.table.report.hand_review import choose_hands, choose_player, review_hands
from openfelt.table.report.holdem_review import HoldemReview
from openfelt.table.report.report import Results, make_report
from openfelt.table.report.style import styles
from openfelt.table.review.estimates import fair_losses
from openfelt.table.review.ranges import decision_points
from openfelt.table.review.rollouts import kernel_rollouts

SMALL = "holdem(buckets='ehs2:169/5/5/5')"
NAMES = ("Ann", "Bo")


@pytest.fixture(scope="module")
def policy():
    """A random one."""
    tree = compile_any(load_game(SMALL))
    return quantised(tree, np.random.default_rng(1).random(tree.num_slots))


def long_hands(count: int, seed: int) -> list[HandRecord]:
    """Hands that reach the river."""
    game, dice, found = Holdem(), random.Random(seed), list[HandRecord]()
    while len(found) < count:
        record = played(game, dice, len(found), NAMES)
        if len(record.dealt) == 9:
            found.append(record)
    return found


def points_of(record, seat, bot):
    hand = Hand(load_game(record.game))
    for step in replay(record).steps:
        hand.act(list(hand.actions).index(step.word))
    return decision_points(Holdem(), hand, seat, {1 - seat: bot})


def river_value(at, bot, betting, line, reach):
    """By enumeration of the opponent's hands; the player answers best."""
    if is_over(betting):
        total = 0.0
        for pair, weight in reach.items():
            theirs = PAIR_CARDS[pair].tolist()
            held = (*at.hole, *theirs) if at.seat == 0 else (*theirs, *at.hole)
            total += weight * at.game.payoffs(HoldemState((*held, *at.board), betting))[at.seat]
        return total
    words = betting_actions(betting)
    if betting.turn == at.seat:
        return max(river_value(at, bot, bet(betting, word), (*line, word), reach) for word in words)
    total = 0.0
    views = {
        pair: holdem_view(at.game, 1 - at.seat, tuple(PAIR_CARDS[pair].tolist()), at.board, line)
        for pair in reach
    }
    shares = {pair: bot.think(view).probabilities for pair, view in views.items()}
    for number, word in enumerate(words):
        after = {pair: weight * shares[pair][number] for pair, weight in reach.items()}
        total += river_value(at, bot, bet(betting, word), (*line, word), after)
    return total


@pytest.mark.slow  # compiles for half a minute
def test_losses_are_those_of_an_enumeration_and_of_rollouts(policy, monkeypatch):
    """On the river exactly; before it, those of the kernels of a hand's review, up to their errors."""
    monkeypatch.setattr(holdem_review, "MOST", 40_000)
    monkeypatch.setattr(holdem_review, "PREFLOP_ROLLOUTS", 40_000)
    bot, records, seats = policy_bot(policy, Holdem()), long_hands(4, 5), [0, 1, 0, 1]
    policy.tree.abstraction.tables()
    table = HoldemReview(policy, threads=2)(records, seats)
    again = HoldemReview(policy, threads=1)(records, seats)
    assert (table.loss == again.loss).all()
    rows = iter(range(len(table)))
    rivers, far = 0, 0
    for hand, (record, seat) in enumerate(zip(records, seats, strict=True)):
        for at in points_of(record, seat, bot):
            found = table.at(next(rows))
            chosen = at.actions.index(record.actions[len(at.line)])
            assert (found.hand, found.chosen) == (hand, at.actions[chosen])
            if len(at.board) == 5:
                betting = holdem_view(at.game, seat, (), at.board, at.line).betting
                pairs = np.flatnonzero(at.ranges[1 - seat]).tolist()
                reach = {pair: at.ranges[1 - seat][pair] for pair in pairs}
                values = [
                    river_value(at, bot, bet(betting, word), (*at.line, word), reach) for word in at.actions
                ]
                assert found.loss == pytest.approx(max(values) - values[chosen], abs=1e-9)
                assert found.best == at.actions[int(np.argmax(values))]
                assert found.error == 0
                rivers += 1
                continue
            won = kernel_rollouts(at, [bot, bot], 40_000)
            means, errors = won.mean(axis=0), (won - won[:, [chosen]]).std(axis=0) / len(won) ** 0.5
            best = int(means.argmax())
            off = abs(found.loss - (means[best] - means[chosen]))
            far += off > 3 * (found.error + errors[best]) + 1e-9
    assert rivers >= 4
    assert far == 0


def test_the_fair_loss_is_not_the_luck_of_the_best():
    """Of two equal actions one looks better; the loss of the other is 0 on average."""
    dice, found = np.random.default_rng(3), []
    for _ in range(400):
        won = dice.normal(size=(50, 3))
        losses, _ = fair_losses(won, np.arange(50, dtype=np.int32))
        found.append(losses)
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / 20
    assert (np.abs(mean) < 4 * error).all()
    biased = [won.mean(axis=0).max() for won in (dice.normal(size=(50, 3)) for _ in range(400))]
    assert np.mean(biased) > 0.08
    clear = np.zeros((50, 2))
    clear[:, 1] = 1.0
    assert fair_losses(clear, np.arange(50, dtype=np.int32))[0].tolist() == [1.0, 0.0]


def test_losses_in_leduc_are_those_of_a_best_response():
    records = [dataclasses.replace(record, names=NAMES) for record in some_hands("leduc", 30)]
    report = review_hands(records, "Ann", None, "", lambda _: None)
    game = load_game("leduc")
    tree = compile_any(game)
    table = felt.load_bot("equilibrium", "leduc").kernel_table(tree)
    values = action_values(tree, 0.999999 * table + 1e-6 / 3, 0)
    total = 0.0
    for record in records:
        node = 0
        for step in replay(record).steps:
            number = list(game.actions(step.state)).index(step.word)
            if step.mover == 0:
                worth = values[tree.slots(int(tree.nodes.row[node]))]
                total += worth.max() - worth[number]
            node = int(tree.nodes.first_child[node]) + number
    assert report.lost.mean == pytest.approx(100 * total / 30, rel=1e-3)
    assert report.lost.mean > 10
    assert report.unit == "chips per 100 hands"
    assert report.styles == {}


LINES = {  # VPIP, PFR, bets, calls, flop, showdown of Ann (big blind) and Bo (dealer)
    "fold": ((0, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0)),
    "raise fold": ((0, 0, 0, 0, 0, 0), (1, 1, 0, 0, 0, 0)),
    "call check bet call check bet fold": ((0, 0, 1, 0, 1, 0), (1, 0, 1, 1, 1, 0)),
    "raise call check bet raise call check check check check": ((1, 0, 1, 0, 1, 1), (1, 1, 1, 1, 1, 1)),
}


@pytest.mark.parametrize("line", LINES)
def test_the_figures_of_a_style(line):
    words = tuple(line.split())
    shown = 9 if len(words) > 7 else 7 if len(words) > 2 else 4
    dealt = ("Ah", "Kd", "7c", "7d", "Ts", "Th", "2s", "9c", "3d")[:shown]
    found = styles([HandRecord("holdem", 0, NAMES, dealt, words, (0.0, 0.0))])
    for name, wanted in zip(NAMES, LINES[line], strict=True):
        style = found[name]
        counts = style.entered, style.raised, style.bets, style.calls, style.flops, style.showdowns
        assert counts == wanted
        assert style.vpip == wanted[0]


def test_a_report_adds_up():
    rows = [
        Decision(0, "flop", "no bet", "check", "bet", 1.0, 0.0),
        Decision(0, "river", "facing a bet", "fold", "call", 3.0, 0.1),
        Decision(2, "flop", "no bet", "bet", "bet", 0.0, 0.0),
        Decision(3, "flop", "no bet", "check", "bet", 2.0, 0.0),
    ]
    won = np.array([4.0, -2.0, 0.0, 6.0])
    report = make_report(Results(won, None, 2.0), decision_table(rows), "", {})
    assert report.lost.mean == pytest.approx(6.0 / 4 * 50)
    sample = np.array([4.0, 0.0, 0.0, 2.0]) * 50
    assert report.lost.interval == pytest.approx(3.182446 * sample.std(ddof=1) / 2, rel=1e-5)
    assert {street: rate.mean for street, rate in report.streets.items()} == {"flop": 37.5, "river": 37.5}
    first, second = report.leaks
    assert (first.street, first.chosen, first.best, first.share) in [
        ("river", "fold", "call", 1.0),
        ("flop", "check", "bet", 1.0),
    ]
    assert first.decisions + second.decisions == 4
    assert [each.decision.loss for each in report.worst] == [3.0, 2.0, 1.0]
    assert sum(period.hands for period in report.periods) == 4
    json.dumps(report.as_dict())


def test_estimates_below_zero_are_no_mistakes():
    rows = [
        Decision(0, "flop", "no bet", "check", "bet", -1.0, 1.0),
        Decision(1, "flop", "no bet", "bet", "check", -0.5, 1.0),
    ]
    report = make_report(Results(np.zeros(2), None, 2.0), decision_table(rows), "", {})
    (leak,) = report.leaks
    assert (leak.chosen, leak.best, leak.share) == ("", "", 0.0)
    assert report.worst == ()


def test_the_player_is_the_one_whose_cards_are_known():
    records = [dataclasses.replace(record, names=NAMES) for record in some_hands("holdem", 3)]
    with pytest.raises(FeltError, match="Give --player"):
        choose_player(records)
    assert choose_player([hidden(record, 0) for record in records]) == "Bo"
    with pytest.raises(FeltError, match="no player 'Cy'"):
        choose_player(records, "Cy")
    chosen, others = choose_hands([*records, *some_hands("kuhn", 2)])
    assert (len(chosen), others) == (3, 2)
    assert len(choose_hands([*records, *some_hands("kuhn", 2)], "kuhn")[0]) == 2


@pytest.mark.parametrize("ending", ["db", "log"])
def test_the_command_reviews_files(tmp_path, capsys, ending):
    records = [dataclasses.replace(record, names=NAMES) for record in some_hands("kuhn", 20)]
    felt.write_hands(tmp_path / f"hands.{ending}", records)
    assert main(["review", str(tmp_path / f"hands.{ending}"), "--player", "Bo"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("Bo: 20 hands of kuhn")
    assert "EV lost" in text
    assert "Worst decisions" in text
    assert main(["review", str(tmp_path / f"hands.{ending}"), "--player", "Bo", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["lost"]["mean"] >= 0
    assert main(["review", str(tmp_path / "nothing.db")]) == 2


def test_no_limit_hands_have_results_and_styles(capsys):
    assert main(["review", "tests/data/site_text/pokerstars.txt", "--skip-bad", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["lost"] is None
    assert facts["styles"][facts["player"]]["hands"] == facts["hands"]
