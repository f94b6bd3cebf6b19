"""The network of TAU: features against the rules, the forward pass against scikit-learn, its use."""

from __future__ import annotations

import dataclasses
import math

import numba
import numpy as np
import pytest

from openfelt.bots.formula.chen import chen_score
from openfelt.bots.search.mcts import NETWORK, MctsSettings
from openfelt.bots.search.position import OWN, begin_at, holdem_position
from openfelt.bots.search.searcher import HoldemSearcher
from openfelt.bots.view import HoldemView, holdem_view
from openfelt.cards.boards import find_board
from openfelt.cards.deck import BOARD_CARDS, PAIR_CARDS, parse_cards
from openfelt.cards.strength import hand_strength
from openfelt.core.errors import FeltError
from openfelt.core.jit import episode_kernel, part
from openfelt.games.compile.betting_tree import compile_holdem
from openfelt.games.holdem import Holdem, bet, betting_actions, first_betting, is_over
from openfelt.opponents.models.network import new_network, score_actions, train, weights_of
from openfelt.opponents.models.network_features import (
    ACTIONS,
    CHEN,
    COLUMNS,
    MAX_NODE,
    OPPONENT,
    POT,
    POTENTIAL,
    PRIVATE,
    WIDTH,
    Examples,
    feature_columns,
    features_of,
    hand_examples,
)
from openfelt.opponents.models.public_tree import CALL, FOLD, RAISE
from openfelt.solve.traverse.holdem import holdem_tree, new_deal
from openfelt.solve.traverse.opponent_hooks import prefer
from openfelt.studies.match_table import Winnings
from openfelt.studies.registry import find_study
from openfelt.studies.tau.examples import ITSELF, OPPONENTS, collect, collect_all, public_accuracy, split
from openfelt.studies.tau.figures_5_7 import FEATURE_SETS, NetworkResults
from openfelt.studies.tau.network_search import (
    BUDGETS,
    ITERATIONS,
    TIME,
    ExpansionBot,
    NetworkMatchResult,
    equal_time_iterations,
    holdem_features,
)

SMALL = Holdem(buckets="ehs2:169/20/20/20")
CLASS = {"fold": FOLD, "check": CALL, "call": CALL, "bet": RAISE, "raise": RAISE}
EVERYTHING = tuple(WIDTH)


@pytest.fixture(scope="module")
def features(strengths):
    return holdem_features()


def slow_features(view: HoldemView, searcher: int) -> list[float]:
    """Of the one whose view it is, from the rules."""
    strength = hand_strength(view.hole, view.board).ehs
    row = [(min(math.floor(100 * strength), 99) + 0.5) / 100, chen_score(view.hole) / 20]
    row.append(1.0 if view.seat == searcher else 0.0)
    words = " ".join(view.actions)
    row += [float("fold" in words), float("call" in words or "check" in words)]
    row.append(float("raise" in words or "bet" in words))
    row += [float(view.street == street) for street in range(4)]
    row.append(view.pot / 96)  # 48 chips each: four bets of 2, 2, 4 and 4 chips
    for street in range(4):
        theirs = [move.action for move in view.moves if move.seat != view.seat and move.street == street]
        row.append(sum(word in ("check", "call") for word in theirs) / 4)
        row.append(sum(word in ("bet", "raise") for word in theirs) / 4)
    return row


def random_hand(game: Holdem, generator: np.random.Generator):
    """Cards, and for each decision of a hand the view and the word."""
    cards = generator.permutation(52)[:9].tolist()
    betting, line, decisions = first_betting(2), [], []
    while not is_over(betting):
        seat, board = betting.turn, cards[4 : 4 + BOARD_CARDS[betting.street]]
        view = holdem_view(game, seat, cards[2 * seat : 2 * seat + 2], board, tuple(line))
        words = betting_actions(betting)
        word = words[int(generator.choice(len(words), p=_seldom_fold(words)))]
        decisions.append((view, word))
        betting, line = bet(betting, word), [*line, word]
    return cards, line, decisions


def _seldom_fold(words):
    weights = np.array([0.1 if word == "fold" else 1.0 for word in words])
    return weights / weights.sum()


def test_features_are_those_of_the_rules(features):
    generator, game = np.random.default_rng(1), Holdem()
    tree = compile_holdem(game)
    for number in range(30):
        cards, line, decisions = random_hand(game, generator)
        places = np.array([[find_board(cards[4 : 4 + size]) for size in BOARD_CARDS]], np.int32)
        searcher = number % 2
        found = hand_examples(
            features,
            np.array([cards], np.int32),
            np.ascontiguousarray(places[:, :, 0]),
            np.ascontiguousarray(places[:, :, 1]),
            np.array([tree.find_node(line)], np.int32),
            np.array([searcher]),
        )
        assert found.action[::-1].tolist() == [CLASS[word] for _, word in decisions]
        slow = [slow_features(view, searcher) for view, _ in decisions]
        np.testing.assert_allclose(found.features[::-1], slow, atol=1e-12)


def test_nobody_s_hands_give_nothing(features):
    leaf = np.array([compile_holdem(Holdem()).find_node(["fold"])], np.int32)
    nothing = np.zeros((1, 4), np.int32)
    found = hand_examples(
        features, np.arange(9, dtype=np.int32)[None], nothing, nothing, leaf, np.array([-1])
    )
    assert len(found.action) == 0


def trained(features, names, seed=0):
    """A network that has learned noise: its weights are any."""
    generator = np.random.default_rng(seed)
    examples = Examples(generator.random((2_000, COLUMNS)), generator.integers(0, 3, 2_000))
    (model,) = train(examples, names, epochs=1, seed=seed)
    for table in (*model.coefs_, *model.intercepts_):
        table += generator.normal(0, 0.5, table.shape)
    return model, new_network(features, weights_of(model, names))


@episode_kernel
def _score(network, node, potential, chen, is_max):
    score_actions(network, node, potential, chen, is_max)


@pytest.mark.parametrize("names", [*FEATURE_SETS.values(), (POTENTIAL,), (OPPONENT, CHEN)])
def test_forward_pass_is_scikit_learn_s(features, names):
    model, network = trained(features, names)
    generator = np.random.default_rng(2)
    decisions = np.flatnonzero(features.public.any(axis=1))
    for node in generator.choice(decisions, 50).tolist():
        potential, chen, is_max = (*generator.random(2).tolist(), float(generator.integers(2)))
        row = np.concatenate([[potential, chen, is_max], features.public[node]])
        _score(network, node, potential, chen, is_max)
        chances = np.exp(network.score) / np.exp(network.score).sum()
        (expected,) = model.predict_proba(row[None, feature_columns(names)])
        np.testing.assert_allclose(chances, expected, atol=1e-9)


@part
def _prefer(network, tree, deal, node, seat, untried, stream):
    return prefer(network, tree, deal, node, seat, untried, stream)


@numba.njit
def _preferred(network, position, deal, stream, seat, untried):
    node = begin_at(position, OWN, deal, stream)
    return _prefer(network, position.tree, deal, node, seat, untried, stream)


@pytest.mark.slow
def test_the_likeliest_action_is_preferred(features):
    """Of those never tried, by scikit-learn's chances for what the rules say of the decision."""
    generator, deal, stream = np.random.default_rng(3), new_deal(2), np.zeros(1, np.uint64)
    tree = compile_holdem(SMALL)
    opened, answers = holdem_tree(tree), set()
    for number in range(24):
        model, network = trained(features, EVERYTHING, seed=number // 6)
        searcher = number % 2
        for view, _ in random_hand(SMALL, generator)[2]:
            ways = len(view.actions)
            position = holdem_position(opened, tree.find_node(view.line), view.seat, view.hole, view.board)
            (chances,) = model.predict_proba([slow_features(view, searcher)])
            for untried in (0b11, 0b101, 0b110, 0b111)[: 4 if ways == 3 else 1]:
                open_ways = [way for way in range(ways) if untried >> way & 1]
                best = max(open_ways, key=lambda way: chances[CLASS[view.actions[way]]])
                assert _preferred(network, position, deal, stream, searcher, untried) == best
                answers.add((ways, best))
    assert len(answers) == 5  # each of two and of three actions was the best somewhere


@pytest.mark.slow
def test_a_search_tries_first_what_the_network_prefers(features):
    generator, seen = np.random.default_rng(4), set()
    for seed in range(40):
        if seed % 10 == 0:
            model, network = trained(features, EVERYTHING, seed=seed // 10)
            searcher = HoldemSearcher(SMALL, MctsSettings(expand=NETWORK), expander=network)
        hole = generator.permutation(52)[:2].tolist()
        view = holdem_view(SMALL, 1, hole, (), ())
        (chances,) = model.predict_proba([slow_features(view, 1)])
        searcher.forget()
        found = searcher.search(1, hole, (), (), iterations=1, seed=seed)
        assert found.visits[chances.argmax()] >= 1
        seen.add(int(chances.argmax()))
    assert len(seen) > 1


# The examples


@pytest.fixture(scope="module")
def collected(features):
    return {opponent: collect(opponent, features, 1_500, seed=5) for opponent in OPPONENTS}


def test_only_hands_that_the_searcher_won_count(collected):
    """A winner has not folded. Its opponents do what their rules say, and both seats' decisions are there."""
    for opponent, examples in collected.items():
        assert len(examples.action) == 1_500
        own = examples.features[:, feature_columns([MAX_NODE])[0]] == 1.0
        assert 300 < own.sum() < 1_200
        assert FOLD not in examples.action[own]
        theirs, action = examples.features[~own], examples.action[~own]
        can_fold, can_raise = theirs[:, PRIVATE] == 1.0, theirs[:, PRIVATE + RAISE] == 1.0
        if opponent == "always-raise":
            assert (action == np.where(can_raise, RAISE, CALL)).all()
        elif opponent == "random":
            shares = np.bincount(action[~can_fold], minlength=3) / (~can_fold).sum()
            assert abs(shares[CALL] - 0.5) < 0.15  # it checks as often as it bets
        else:
            assert {FOLD, CALL, RAISE} <= set(action.tolist())


def test_examples_are_the_same_again(features, collected):
    again = collect("random", features, 400, seed=5)
    np.testing.assert_array_equal(again.features, collected["random"].features[:400])
    other = collect("random", features, 400, seed=6)
    assert not np.array_equal(other.action, again.action)


def test_the_set_is_a_third_from_each_opponent(features, collected, tmp_path, monkeypatch):
    wanted = []

    def remembered(opponent, _, count, *, seed, progress):
        wanted.append((opponent, count))
        progress(count)
        return Examples(*(table[:count] for table in collected[opponent]))

    monkeypatch.setattr("openfelt.studies.tau.examples.collect", remembered)
    reported = []
    sets = collect_all(features, 3_200, seed=0, folder=tmp_path, progress=reported.append)
    assert wanted == [(ITSELF, 1_067), ("random", 1_067), ("always-raise", 1_066)]
    assert sum(reported) == 3_200
    training, testing = split(sets)
    assert len(training.action) == 3_000  # TAU's 300,000 ...
    for each, piece, count in zip(sets, testing, (66, 67, 67), strict=True):  # ... and 20,000
        np.testing.assert_array_equal(piece.features, each.features[-count:])
    again = collect_all(features, 3_200, seed=0, folder=tmp_path)
    assert len(wanted) == 3  # they were kept
    np.testing.assert_array_equal(again[2].features, sets[2].features)


def test_accuracy_without_cards():
    """Two kinds of decisions, in which two of three and three of four do the same; a third is new."""
    features, action = np.zeros((7, COLUMNS)), np.array([CALL, CALL, RAISE, RAISE, RAISE, RAISE, FOLD])
    features[3:, feature_columns([MAX_NODE])] = 1.0
    features[:, feature_columns([POTENTIAL])[0]] = np.arange(
        7
    )  # a card tells each apart, and is not looked at
    training, new = Examples(features, action), np.full((1, COLUMNS), 0.5)
    testing = Examples(np.concatenate([features, new]), np.append(action, CALL))
    assert public_accuracy(training, testing) == pytest.approx(5 / 8)


def test_training_finds_what_is_there(features):
    """An action that follows from one feature is learned from it, and not from another."""
    generator = np.random.default_rng(6)
    table = generator.random((4_000, COLUMNS))
    action = (table[:, feature_columns([POT])[0]] * 3).astype(np.int64)
    examples = Examples(table, action)
    for names, least, most in (((POT,), 0.9, 1.0), ((CHEN,), 0.0, 0.45)):
        *_, model = train(examples, names, epochs=20)
        assert least <= model.score(table[:, feature_columns(names)], action) <= most


# The study


def outcome(mean, iterations, milliseconds, random_time):
    return NetworkMatchResult(Winnings(mean, 5.0, 10.0, 1_000), iterations, milliseconds, random_time)


def test_equal_time_is_on_the_line_that_was_measured():
    few, many = BUDGETS
    outcomes = {(few, ITERATIONS): outcome(0, few, 1.0, 0.8), (many, ITERATIONS): outcome(0, many, 3.0, 2.0)}
    per_iteration = 2.0 / (many - few)
    assert equal_time_iterations(outcomes, few) == few - round(0.2 / per_iteration)
    assert equal_time_iterations(outcomes, many) == many - round(1.0 / per_iteration)
    outcomes[many, ITERATIONS] = outcome(0, many, 0.5, 2.0)
    assert equal_time_iterations(outcomes, many) == many


def test_the_page_says_what_holds(tmp_path):
    study = find_study("tau-figures-5-7")
    flat, rising = np.full(20, 0.6), np.linspace(0.5, 0.7, 20)
    won = {(200, ITERATIONS): -3.0, (1_000, ITERATIONS): 90.0, (200, TIME): 9.0, (1_000, TIME): -50.0}
    outcomes = {key: outcome(mean, key[0], 2.0, 1.0) for key, mean in won.items()}
    shares, where = np.array([0.2, 0.3, 0.5]), np.full((3, 2), 0.5)
    accuracy = dict.fromkeys(FEATURE_SETS, flat)
    results = NetworkResults(300_000, 20_000, shares, 0.5, 0.55, accuracy, where, outcomes)
    assert [finding.holds for finding in study.findings(results)] == [True] * 6 + [False, True, None]
    few = dataclasses.replace(results, test_examples=18_000)  # then the intervals reach a visible improvement
    assert [finding.holds for finding in study.findings(few)][:5] == [None] * 5
    sets = dict.fromkeys(FEATURE_SETS, flat) | {list(FEATURE_SETS)[1]: rising, list(FEATURE_SETS)[-1]: rising}
    moved = dataclasses.replace(results, accuracy=sets)
    assert [finding.holds for finding in study.findings(moved)][:5] == [True, False, True, True, False]
    page = study.write(results, tmp_path, full=False, provenance="").read_text()
    assert "| time | 1,000 | 1,000 | -50.0 ± 10.0 | 1,000 | 1.00 | 2.00 |" in page
    assert (tmp_path / "tau-figures-5-7-quick.png").stat().st_size > 10_000
    assert study.planned_work(400) == 2 * 400 + 2 * 160 + study.quick_examples // 3


# Bad input


def test_bad_input_gets_a_sentence(features):
    with pytest.raises(FeltError, match=r"There is no feature 'hand potental'.*hand potential"):
        feature_columns(["hand potental"])
    with pytest.raises(FeltError, match="at least one"):
        feature_columns(())
    with pytest.raises(FeltError, match="for two players"):
        features_of(compile_holdem(Holdem(players=3)), np.zeros(1_326))
    with pytest.raises(FeltError, match="for 1326 pairs of hole cards, not 169"):
        features_of(compile_holdem(Holdem()), np.zeros(169))
    few = Examples(np.zeros((3, COLUMNS)), np.zeros(3, np.int64))
    with pytest.raises(FeltError, match="at least 500 examples, not 3"):
        next(train(few, (POT,), epochs=1))
    model, network = trained(features, (POT, CHEN))
    shorter = Holdem(bets=3)
    with pytest.raises(FeltError, match=r"made for another game than holdem\(bets=3\)"):
        ExpansionBot(shorter, network, 10).search(holdem_view(shorter, 1, (0, 1), (), ()))
    with pytest.raises(FeltError, match="two hidden layers and 1 inputs, not 2 and 2"):
        weights_of(model, (POT,))


def test_without_scikit_learn_there_is_a_sentence(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sklearn.neural_network", None)
    with pytest.raises(FeltError, match=r"pip install 'openfelt\[models\]'"):
        find_study("tau-figures-5-7").check()


def test_chen_points_go_with_their_pairs(features):
    assert features.hands.chen[[_pair("AhAd"), _pair("AsKs"), _pair("7c2d")]].tolist() == [1.0, 0.6, -0.05]
    assert len(features.hands.chen) == len(PAIR_CARDS)
    assert len(ACTIONS) == 3


def _pair(text):
    low, high = sorted(parse_cards(text))
    return int(np.flatnonzero(((low, high) == PAIR_CARDS).all(axis=1))[0])
