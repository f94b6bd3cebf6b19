"""Counter-strategies in hold'em: bound play, models as policies of buckets, and the command."""

from __future__ import annotations

import json

import numpy as np
import pytest
from test_responses import error_of, sampled

import openfelt as felt
from openfelt.arena.holdem_value import holdem_value
from openfelt.cards.deck import PAIR, card_text
from openfelt.cli.app import main
from openfelt.games.compile.compiler import compile_any
from openfelt.opponents.models.files import new_model, save_model
from openfelt.opponents.models.observed import ObservedHand
from openfelt.opponents.responses.confidence import observations
from openfelt.opponents.responses.fixed_policy import fixed_policy
from openfelt.opponents.responses.model_policy import bucketed
from openfelt.policy.holdem import WHOLE, quantised
from openfelt.policy.policy import join_seats
from openfelt.policy.rules import rule_policy
from openfelt.solve.restriction import EACH, ONCE, Restriction

GAME = "holdem(buckets='ehs:10')"


@pytest.fixture(scope="module")
def tree(strengths):
    return compile_any(GAME)


def drawn(tree, seed):
    return quantised(tree, np.random.default_rng(seed).exponential(size=tree.num_slots))


@pytest.mark.parametrize("toss", [ONCE, EACH])
def test_who_is_always_bound_plays_the_fixed_policy(tree, toss):
    """The winnings are those of two bots with these policies in a match."""
    fixed, free = drawn(tree, 1), rule_policy(tree, "random")
    found, met = sampled(Restriction(1, fixed, 1.0, toss), free.weights / WHOLE, 400_000)
    layout = tree.layout
    for street in range(4):
        first = layout.slot_base[street, 1]
        assert not met[first : first + layout.edges[street, 1] * layout.buckets[street, 1]].any()
    table = holdem_value(free, fixed, deals=100_000)
    spread = np.hypot(error_of(found), table.won.interval(0.95) / 1.96 * np.sqrt(2))
    assert abs(found.mean() - table.seats[0]) < 4 * spread
    other, _ = sampled(Restriction(1, drawn(tree, 2), 1.0, toss), free.weights / WHOLE, 400_000)
    assert abs(other.mean() - found.mean()) > 4 * spread  # so that the test could tell


def test_seats_are_joined(tree):
    one, two = drawn(tree, 1), drawn(tree, 2)
    both = join_seats([one, two])
    for words in ([], ["raise"], ["call", "check"], ["call", "check", "check"]):
        node = tree.find_node(words)
        whose = one if tree.node[node, 0] == 0 else two
        for bucket in (0, 7):
            assert both.at_bucket(node, bucket) == whose.at_bucket(node, bucket)


class Parity:
    """A player that raises with even holdings and calls with odd ones before the flop; then by rank."""

    def __init__(self, domain):
        self.domain = domain

    def shares(self, nodes, ranks, holdings):
        kind = int(self.domain.public.node[nodes[0], 1])
        street, most = kind >> 3 & 3, (kind & 3) - (kind >> 2 & 1)
        bold = (holdings % 2 == 0) if street != 2 else ranks >= 50
        table = np.zeros((len(nodes), 3))
        table[:, 1] = 1.0
        if most > 1:
            table[bold] = [0.0, 0.0, 1.0]
        return table


def test_a_model_becomes_a_policy_of_buckets(tree):
    """Hands are weighted by the player's reach: after its raise it holds even pairs, and bets them."""
    model = Parity(new_model("frequencies", GAME).domain)
    policy = bucketed(model, tree, deals=1_500)
    mixed = [policy.at_bucket(0, bucket)["raise"] for bucket in range(3, 8)]
    assert np.mean(mixed) == pytest.approx(0.5, abs=0.1)
    for words, bold in ((["raise", "call"], 1.0), (["call", "check"], 0.0)):
        node = tree.find_node(words)
        if tree.node[node, 0] != tree.node[0, 0]:  # the one who spoke first before the flop
            node = tree.find_node([*words, "check"])
        for bucket in range(3, 8):
            assert policy.at_bucket(node, bucket)["bet"] == pytest.approx(bold, abs=0.01)
    turn = tree.find_node(["call", "check", "check", "check"])
    for bucket in (1, 3, 6, 8):  # the ranks of the model are percents, the buckets tens of them
        assert policy.at_bucket(turn, bucket)["bet"] == float(bucket >= 5)


def test_observations_are_counted_by_bucket(tree):
    domain, held = new_model("frequencies", GAME).domain, int(PAIR[50, 37])
    board = (0, 5, 10, 15, 20)
    hands = [ObservedHand(seat, (1, 0, 0, 0), board, held) for seat in (0, 1)] * 3
    hands.append(ObservedHand(0, (1, 0), board))  # whose cards are not known
    counts = observations(tree, hands)
    assert counts.sum() > 0
    want = np.zeros(tree.num_slots)
    hole = domain.holding_text(held)
    for words in ([], ["call"], ["call", "check"], ["call", "check", "check"]):
        node = tree.find_node(words)
        shown = [card_text(card) for card in board[: 0 if len(words) < 2 else 3]]
        bucket = tree.abstraction.bucket(hole, "".join(shown))
        want[tree.slots(node, bucket)] += 3
    assert counts.tolist() == want.tolist()


def test_other_buckets_and_games_are_refused(tree, tmp_path):
    felt.save_policy(drawn(tree, 1), tmp_path / "policy")
    model = new_model("frequencies", "leduc")
    save_model(model, tmp_path / "model")
    for source, sentence in [
        ("policy", "not of holdem.buckets='ehs:2'"),
        ("model", "of leduc, not of holdem"),
    ]:
        with pytest.raises(felt.FeltError, match=sentence):
            fixed_policy(tmp_path / source, "holdem(buckets='ehs:2')")


@pytest.mark.slow
def test_the_command_trains_both_seats_and_resumes(tree, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("openfelt.cli.respond_report.MEASURED_DEALS", 20_000)
    out = str(tmp_path / "counter")
    words = ["respond", GAME, "--model", "always-raise", "--iterations", "200000", "--json", "--out", out]
    assert main([*words, "--p", "0.9"]) == 0
    reported = json.loads(capsys.readouterr().out)
    assert reported["interval_95"][0] > 500  # who always raises loses by folding nothing
    saved = felt.load_policy(out)
    again = holdem_value(saved, rule_policy(tree, "always-raise"), deals=20_000)
    assert reported["mbb_per_hand"] == pytest.approx(again.mbb)
    assert main([*words, "--p", "0.5", "--resume"]) == 2
    assert "another restriction" in capsys.readouterr().err
    assert main([*words, "--p", "0.9", "--resume"]) == 0
    assert felt.load_policy(out).weights.tobytes() != saved.weights.tobytes()
    assert main([*words, "--p", "0.9"]) == 2
    assert "holds other files" in capsys.readouterr().err


@pytest.mark.slow
def test_a_sweep_tells_what_each_wins(tree, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("openfelt.cli.respond_report.MEASURED_DEALS", 20_000)
    out = tmp_path / "counters"
    words = ["respond", GAME, "--model", "always-raise", "--solver", "external-mccfr"]
    words += ["--sweep", "1,0", "--iterations", "10000"]
    assert main([*words, "--json", "--out", str(out)]) == 0
    points = json.loads(capsys.readouterr().out)["points"]
    assert [point["p"] for point in points] == [0, 1]
    careful, greedy = (felt.load_policy(out / f"p-{p}") for p in (0, 1))
    raiser = rule_policy(tree, "always-raise")
    for point, policy in zip(points, (careful, greedy), strict=True):
        value = holdem_value(policy, raiser, deals=20_000)
        assert point["won"]["mbb_per_hand"] == pytest.approx(value.mbb)
    assert points[1]["won"]["interval_95"][0] > points[0]["won"]["interval_95"][1]
    assert "won_from_p_0" not in points[0]
    risk = holdem_value(greedy, careful, deals=20_000)
    assert points[1]["won_from_p_0"]["mbb_per_hand"] == pytest.approx(risk.mbb)
    assert main([*words, "--out", str(out), "--resume"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[2:4]] == ["0", "1"]
    for further, sentence in (
        (["--plot", "x.png"], "--plot needs the equilibrium"),
        (["--p", "1"], "--sweep for several"),
    ):
        assert main([*words, *further]) == 2
        assert sentence in capsys.readouterr().err
