"""Flop Hold'em: rules beside OpenSpiel's, values beside brute force and the enumerated game, the solver."""

from __future__ import annotations

import math
import random
from functools import cache
from itertools import combinations

import numpy as np
import pyspiel
import pytest
from phevaluator import evaluate_cards
from small_flop import SmallFlop, as_table
from test_holdem_rules import FOLDING, NUMBER

import openfelt as felt
from openfelt.cards.boards import count_hands, hole_class
from openfelt.cards.deck import FLOP, PAIR, PAIR_CARDS, card_text
from openfelt.cards.evaluator import hand_value
from openfelt.cards.public_cards import Deck
from openfelt.cli.app import main
from openfelt.core.errors import FeltError
from openfelt.games.compile.compiler import compile_game
from openfelt.games.compile.flop_tree import flop_decision, flop_tree
from openfelt.games.game import CHANCE, TERMINAL
from openfelt.games.holdem import bet, betting_actions, first_betting, is_over, players_in
from openfelt.measure.exploitability import values_against as enumerated_values
from openfelt.policy.flop import quantised
from openfelt.solve.vector.before_flop import BeforeFlop
from openfelt.solve.vector.betting_lines import LANES
from openfelt.solve.vector.flop_lines import new_flop_work
from openfelt.solve.vector.flop_values import value_flops, values_against

NINE = Deck(3, 3)
OPEN_SPIEL = (
    "universal_poker(betting=limit,numPlayers=2,numRounds=2,blind=2 1,firstPlayer=2 1,raiseSize=2 2,"
    "maxRaises=3 4,numSuits=4,numRanks=13,numHoleCards=2,numBoardCards=0 3)"
)


def random_policy(tree, seed):
    """Another random mixture at every infoset."""
    return quantised(tree, np.random.default_rng(seed).exponential(size=tree.num_slots) ** 2)


def test_hands_go_as_in_open_spiel():
    game, theirs, generator = felt.load_game("flop_holdem"), pyspiel.load_game(OPEN_SPIEL), random.Random(1)
    shown = 0
    for _ in range(400):
        state, other = game.start(), theirs.new_initial_state()
        while (mover := game.turn(state)) != TERMINAL:
            words = list(game.actions(state))
            if mover == CHANCE:
                card = generator.randrange(len(words))
                other.apply_action(other.legal_actions()[card])
                state = game.play(state, words[card])
                continue
            assert other.current_player() == mover
            assert other.legal_actions() == [NUMBER[word] for word in words]
            can_fold = words[0] == "fold"
            place = generator.randrange(len(words) - can_fold) + can_fold
            place = 0 if can_fold and generator.random() < FOLDING else place
            other.apply_action(NUMBER[words[place]])
            state = game.play(state, words[place])
        assert other.is_terminal()
        assert game.payoffs(state) == pytest.approx(other.returns())
        shown += len(game.shown(state)) == 2
    assert 100 < shown < 400


def test_the_tree_has_every_hand_and_line():
    tree = flop_tree()
    assert tree.num_hands == count_hands(3) == 1_286_792
    assert tree.hands.times.sum() == len(tree.deck.flops) * math.comb(49, 2)
    lines = infosets = histories = 0
    todo = [(first_betting(2), 169)]
    for betting, hands in todo:
        lines += 1
        if is_over(betting, FLOP):
            continue
        words = betting_actions(betting)
        infosets, histories = infosets + hands, histories + hands * len(words)
        after = [bet(betting, word) for word in words]
        todo += [(each, 1_286_792 if each.street == FLOP else 169) for each in after]
    assert (tree.num_nodes, tree.num_rows, tree.num_slots) == (lines, infosets, histories)


def test_a_policy_answers_by_infoset():
    tree = flop_tree(NINE)
    policy = random_policy(tree, 1)
    here = policy.at(0, "AcKd raise call QcKcAd bet raise")
    assert set(here) == {"fold", "call", "raise"}
    assert sum(here.values()) == pytest.approx(1)
    for same in ("KdAc raise call AdKcQc bet raise", "AhKc raise call QhKhAc bet raise"):
        assert policy.at(0, same) == here
    for player, infoset, fault in [
        (0, "AcKd", "not to act"),
        (1, "AcKd jump", "no betting line"),
        (0, "AcKd raise call QcKcAd check check", "not to act"),
        (0, "AcKd raise call QcKcAd check call", "no betting line"),
        (0, "AcKd raise call", "cards"),
        (0, "AcKd raise call QcKcTd", "not in the deck"),
    ]:
        with pytest.raises(FeltError, match=fault):
            policy.at(player, infoset)


class PlainFlop:
    """One flop, by recursion over the rules: values of all hands at a root."""

    def __init__(self, tree, flop):
        self.tree, self.board = tree, tree.deck.flops[flop].cards
        live = [card for card in np.flatnonzero(tree.deck.live).tolist() if card not in self.board]
        self.hands = list(combinations(live, 2))
        value = [hand_value((*hand, *self.board)) for hand in self.hands]
        apart = np.array([[not {*one} & {*two} for two in self.hands] for one in self.hands], float)
        self.apart, self.wins = apart, apart * np.sign(np.subtract.outer(value, value))
        self.rows = [tree.hand(hand, self.board) for hand in self.hands]

    def shares(self, policy, root, line):
        decision = flop_decision(self.tree.nodes[self.tree.roots[root]].betting, line)
        table = self.tree.parts(policy.probabilities, decision.player)[1][self.rows]
        return table[:, decision.first : decision.first + len(decision.words), root].T

    def value(self, root, seat, other, ours, reach, betting=None, line=()):
        betting = betting or self.tree.nodes[self.tree.roots[root]].betting
        if len(players_in(betting)) == 1:
            won = -betting.paid[seat] if betting.folded[seat] else betting.paid[1 - seat]
            return won * (self.apart @ reach)
        if is_over(betting, FLOP):
            return betting.paid[0] * (self.wins @ reach)
        words = betting_actions(betting)
        policy = ours if betting.turn == seat else other
        shares = None if policy is None else self.shares(policy, root, line)
        values = []
        for place, word in enumerate(words):
            after = reach if betting.turn == seat else reach * shares[place]
            values.append(self.value(root, seat, other, ours, after, bet(betting, word), (*line, word)))
        if betting.turn != seat:
            return np.sum(values, axis=0)
        return np.max(values, axis=0) if ours is None else (shares * values).sum(axis=0)


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("best", [True, False])
def test_a_flop_equals_plain_recursion(seat, best):
    tree = flop_tree(NINE)
    other, ours = random_policy(tree, 1), random_policy(tree, 2)
    for flop in (0, 3):
        plain = PlainFlop(tree, flop)
        reach = np.zeros((1, 1326, LANES))
        reach[0, :, :7] = np.random.default_rng(3).random((169, 7))[hole_class()]
        found, tables = (
            np.zeros((1, 169, LANES)),
            [tree.parts(policy.weights, which)[1] for policy, which in ((ours, seat), (other, 1 - seat))],
        )
        work = new_flop_work(tree, np.float64)
        value_flops(tree.hands, np.array([flop]), (seat, best), reach, tuple(tables), work, found)
        pairs = [PAIR[hand] for hand in plain.hands]
        for root in range(7):
            each = plain.value(root, seat, other, None if best else ours, reach[0, pairs, root])
            by_class = np.bincount(hole_class()[pairs], each, minlength=169)
            assert found[0, :, root] == pytest.approx(by_class, rel=1e-9, abs=1e-9)


def response_to_a_caller(tree, flops):
    """[169, roots] by class: what a best response wins from always-call, by phevaluator."""
    total = np.zeros((169, 7))
    for flop in flops:
        board = [card_text(card) for card in tree.deck.flops[flop].cards]
        dealt = set(tree.deck.flops[flop].cards)
        live = [pair for pair, cards in enumerate(PAIR_CARDS.tolist()) if not dealt & {*cards}]
        rank = np.array([evaluate_cards(*board, *map(card_text, PAIR_CARDS[pair])) for pair in live])
        holds = np.zeros((len(live), 52), np.float32)
        np.put_along_axis(holds, PAIR_CARDS[live].astype(int), 1, axis=1)
        apart = holds @ holds.T == 0
        apart &= rank[None, :] != rank[:, None]
        beats = rank[None, :] > rank[:, None]  # a lower rank is better
        equity = 2.0 * (beats & apart).sum(axis=1) - apart.sum(axis=1)
        for root, stake in enumerate(tree.stakes):
            worth = np.maximum(equity * stake, equity * (stake + 2))  # check or bet once: it never raises
            total[:, root] += tree.deck.flops[flop].multiplicity * np.bincount(
                hole_class()[live], worth, minlength=169
            )
    return total


def by_kernels(tree, policy, flops):
    reach = np.zeros((1, 1326, LANES))
    reach[0, :, :7] = 1.0
    found = np.zeros((len(flops), 169, LANES))
    tables = [tree.parts(policy.weights, seat)[1] for seat in (0, 1)]
    work = new_flop_work(tree, np.float64)
    value_flops(tree.hands, np.array(flops), (0, True), reach, tuple(tables), work, found)
    weights = [tree.deck.flops[flop].multiplicity for flop in flops]
    return np.einsum("f,fcl->cl", weights, found)[:, :7]


def test_a_best_response_to_a_caller_equals_brute_force():
    tree = flop_tree()
    caller, flops = felt.rule_policy(tree, "always-call"), [0, 700, 1500]
    expected = response_to_a_caller(tree, flops)
    assert by_kernels(tree, caller, flops) == pytest.approx(expected, rel=1e-9, abs=1e-6)


@pytest.mark.slow
def test_what_a_best_response_wins_from_a_caller():
    """Over all flops. Before the flop it may raise once too, and the caller never bets."""
    tree = flop_tree()
    at_flop = BeforeFlop(tree).by_class(response_to_a_caller(tree, range(len(tree.deck.flops))))
    size = np.bincount(hole_class(), minlength=169)
    in_seat = [
        (np.maximum(at_flop[:, raised], at_flop[:, 0]) * size).sum() / size.sum() / math.comb(50, 2)
        for raised in (1, 4)
    ]
    found = felt.exploitability(felt.rule_policy(tree, "always-call"), threads=2)
    assert found.best_responses == pytest.approx([500 * won for won in in_seat], rel=1e-9)


def test_closed_forms():
    """Who always folds loses its blind, as the big blind after a raise; callers and raisers break even."""
    tree, rules = flop_tree(NINE), ("always-call", "always-fold", "random")
    policies = {name: felt.rule_policy(tree, name) for name in rules}
    assert felt.exploitability(policies["always-fold"]).best_responses == pytest.approx((500, 1000))
    won = felt.value(policies["always-call"], policies["random"])
    assert won.by_seat == pytest.approx((500 / 3, 0), abs=1e-9)  # the dealer folds a third of its hands
    back = felt.value(policies["random"], policies["always-call"])
    assert back.by_seat == pytest.approx((0, -500 / 3), abs=1e-9)


@cache
def enumerated():
    return compile_game(SmallFlop(), cache=None)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_values_equal_the_enumerated_game(seed):
    small, tree = enumerated(), flop_tree(NINE)
    one, two = (random_policy(tree, each) for each in (seed, seed + 10))
    tables = [as_table(small, tree, policy.weights) for policy in (one, two)]
    measured = felt.exploitability(tables[0])
    assert values_against(one, None) == pytest.approx(measured.best_responses, rel=1e-9)
    assert values_against(one, one) == pytest.approx(measured.values, rel=1e-9)
    assert values_against(two, one) == pytest.approx(enumerated_values(*tables), rel=1e-9)


RULES = {
    "cfr+": (felt.CFRPlus, {"alpha": math.inf, "beta": -math.inf, "gamma": 1.0}),
    "dcfr": (felt.DCFR, {}),
}


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_iterations_equal_those_of_the_enumerated_game(rule):
    """While single precision does not decide between equal actions; then both still converge alike."""
    kind, options = RULES[rule]
    ours, theirs = felt.FlopCFR("flop_holdem", deck=NINE, **options), kind(SmallFlop())
    for iterations, tolerance in ((1, 1e-6), (4, 0.01), (95, 0.1)):
        for solver in (ours, theirs):
            solver.run(iterations, measure=False)
        expected = felt.exploitability(theirs.policy).exploitability
        learned = as_table(enumerated(), ours.tree, ours.weights)
        assert felt.exploitability(learned).exploitability == pytest.approx(expected, rel=tolerance)
    assert expected < 0.02  # chips


def test_it_learns_on_sampled_flops_and_resumes(tmp_path):
    def fresh(seed=1, **options):
        return felt.FlopCFR("flop_holdem", deck=NINE, flops=3, seed=seed, **options)

    whole, part, again = fresh(), fresh(threads=2), fresh(seed=2)
    whole.run(60, measure=False)
    part.run(25, measure=False)
    part.save(tmp_path / "checkpoint")
    again.resume(tmp_path / "checkpoint")
    again.run(35, measure=False)
    for name, table in whole.tables().items():
        assert np.array_equal(table, again.tables()[name]), name
    assert whole.measure().exploitability < 250 < fresh().run(2).measurements[-1].exploitability
    assert whole.run(400, until=120).measurements[-1].exploitability < 120


def test_every_flop_is_dealt_as_often_as_its_probability_says():
    solver = felt.FlopCFR("flop_holdem", deck=NINE, flops=2)
    total = sum(np.bincount(*solver._dealt(number), minlength=len(NINE.flops)) for number in range(1, 2_001))
    multiplicity = [flop.multiplicity for flop in NINE.flops]
    assert total / 2_000 == pytest.approx(multiplicity, rel=0.02)


@pytest.mark.parametrize(
    "command",
    [
        "train flop_holdem --solver pcfr+ --seconds 1",
        "train flop_holdem --solver external-mccfr --seconds 1",
        "train flop_holdem --solver cfr-br --seconds 1",
        "train leduc --solver flop-cfr --seconds 1",
        "match always-call always-raise --game flop_holdem",
        "bots --game flop_holdem",
        "respond flop_holdem --model always-call --p 0.5 --seconds 1",
        "export flop_holdem game.efg",
        "games flop_holdem --check",
        "exploit always-call --game flop_holdem --flops 5",
    ],
)
def test_what_does_not_take_the_game_says_so(command, capsys, tmp_path, monkeypatch):
    import shlex

    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(command)) == 2
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert "flop" in said.lower()


@pytest.mark.slow
def test_the_commands(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    train = ["train", "flop_holdem", "--iterations", "2", "--flops", "20", "--out", "run"]
    assert main(train) == 0
    assert main([*train, "--resume"]) == 0
    assert main(["exploit", "run"]) == 0
    assert main(["value", "run", "always-call"]) == 0
    said = capsys.readouterr().out
    assert said.count("mbb/h") >= 6
    policy = felt.load_policy("run")
    assert repr(policy) == "FlopPolicy(flop_holdem, 90,076,792 infosets)"
    assert set(policy.greedy().at(1, "AcKd").values()) == {0.0, 1.0}
