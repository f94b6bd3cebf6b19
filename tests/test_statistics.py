"""What a match makes of its numbers: intervals that cover what they say, luck regressed out, when to stop."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import scipy.stats
from speed import slow

import openfelt as felt
from openfelt.arena.hand_kernels import deal_block, random_streams
from openfelt.arena.match import match
from openfelt.arena.match_blocks import DUPLICATE, FRESH, Contest, Setup
from openfelt.arena.statistics.card_luck import CONTROLS, card_luck
from openfelt.arena.statistics.estimates import Estimate, Moments, estimate, wilson
from openfelt.arena.statistics.sequential_test import BETTER, MIN_ROWS, UNDECIDED, WORSE, SequentialTest
from openfelt.bots.policy_bot import TreeBot
from openfelt.cards.deck import PAIR, parse_cards
from openfelt.measure.exploitability import values_against

TWO, THREE = "holdem(buckets='ehs:2')", "holdem(players=3,buckets='ehs:2')"
DOUBT = 1e-4  # how often a test of a sound program would fail if its seeds were drawn anew


def region(runs: int, share: float) -> tuple[float, float]:
    """How often something with that chance may happen."""
    low, high = scipy.stats.binom.interval(1 - DOUBT, runs, share)
    return float(low), float(high)


def covered(found: list[Estimate], truth: float, confidence: float) -> int:
    return sum(abs(one.mean - truth) <= one.interval(confidence) for one in found)


def assert_honest(found: list[Estimate], truth: float) -> None:
    """As many intervals hold the truth as they say."""
    for confidence in (0.95, 0.68):
        low, high = region(len(found), confidence)
        assert low <= covered(found, truth, confidence) <= high, confidence


# Moments and estimates.


def test_blocks_add_up():
    rows = np.random.default_rng(1).normal([0.0, 5.0, -2.0], size=(100, 3))
    total = Moments.total(Moments.of(part) for part in np.split(rows, [10, 55, 56]))
    assert total.count == 100
    assert total.means == pytest.approx(rows.mean(axis=0))
    assert total.covariance == pytest.approx(np.cov(rows, rowvar=False))
    again = Moments.from_dict(json.loads(json.dumps(total.as_dict())))
    assert again.sums.tobytes() == total.sums.tobytes()
    assert again.products.tobytes() == total.products.tobytes()


def test_a_plain_mean_is_scipys():
    rows = np.random.default_rng(2).exponential(size=(40, 2))
    found = estimate(Moments.of(rows), 1)
    interval = scipy.stats.ttest_1samp(rows[:, 1], 0.0).confidence_interval(0.95)
    assert found.mean - found.interval() == pytest.approx(interval.low)
    assert found.mean + found.interval() == pytest.approx(interval.high)
    assert found.error == pytest.approx(scipy.stats.sem(rows[:, 1]))
    assert found.scaled(-3.0).error == pytest.approx(3 * found.error)
    assert found.scaled(-3.0).mean == pytest.approx(-3 * found.mean)


def intercept(rows: np.ndarray, column: int, controls: list[int]) -> tuple[float, float, int]:
    """Least squares of a column on the controls: the value where all controls are 0, and its error."""
    design = np.column_stack([np.ones(len(rows)), rows[:, controls]])
    answer, _, rank, _ = np.linalg.lstsq(design, rows[:, column], rcond=None)
    rest = rows[:, column] - design @ answer
    spread = float(rest @ rest) / (len(rows) - rank)
    return float(answer[0]), math.sqrt(spread * np.linalg.pinv(design.T @ design)[0, 0]), len(rows) - rank


@pytest.mark.parametrize("count", [12, 40, 1000])
@pytest.mark.parametrize("controls", [[1], [1, 2], [3, 1, 2]])
def test_taking_luck_out_is_linear_regression(count, controls):
    generator = np.random.default_rng(count)
    rows = generator.normal(size=(count, 4)) @ generator.normal(size=(4, 4))
    found = estimate(Moments.of(rows), 0, controls)
    mean, error, freedom = intercept(rows, 0, controls)
    assert found.mean == pytest.approx(mean, rel=1e-6)
    assert found.error == pytest.approx(error, rel=1e-6)
    assert found.freedom == freedom


def test_controls_that_are_sums_of_each_other_do_no_harm():
    """As the shares of a pot, which sum to one: the answer is that without the one too many."""
    generator = np.random.default_rng(3)
    for count in (50, 600, 5000):
        shares = generator.dirichlet([1.0, 1.0, 1.0], size=count) - 1 / 3
        rows = np.column_stack([10 * shares[:, 0] + generator.normal(size=count), shares])
        found = estimate(Moments.of(rows), 0, [1, 2, 3])
        mean, error, _ = intercept(rows, 0, [1, 2])
        assert found.mean == pytest.approx(mean, rel=1e-7)
        assert found.error == pytest.approx(error, rel=0.02)


@pytest.mark.slow
def test_intervals_with_controls_are_honest_in_small_samples():
    """Lavenberg & Welch 1981 for normal rows: exact at any size, if the controls' own means are counted."""
    generator, found = np.random.default_rng(4), []
    for _ in range(4000):
        rows = generator.normal(size=(12, 5))
        rows[:, 0] += rows[:, 1:] @ [1.0, -2.0, 0.5, 0.0]
        found.append(estimate(Moments.of(rows), 0, [1, 2, 3, 4]))
    assert_honest(found, 0.0)


def test_where_nothing_varies_there_is_no_error():
    assert estimate(Moments.of(np.full((500, 1), 1 / 3)), 0).error == 0.0
    assert estimate(Moments.of(np.full((500, 1), 0.1)), 0).mean == pytest.approx(0.1)
    one = estimate(Moments.of(np.array([[2.0]])), 0)
    assert (one.mean, one.interval()) == (2.0, math.inf)
    few = np.random.default_rng(1).normal(size=(4, 6))
    assert estimate(Moments.of(few), 0, [1, 2, 3, 4, 5]).error == pytest.approx(scipy.stats.sem(few[:, 0]))


@pytest.mark.parametrize(("wins", "games"), [(0, 10), (3, 10), (10, 10), (217, 1000), (0, 1)])
def test_the_interval_of_a_share_is_wilsons(wins, games):
    wanted = scipy.stats.binomtest(wins, games).proportion_ci(0.95, method="wilson")
    assert wilson(wins, games) == pytest.approx((wanted.low, wanted.high), abs=1e-12)


# The luck of the cards.


@pytest.mark.parametrize("players", [2, 3])
def test_the_luck_of_the_cards_has_mean_zero(players):
    lucky = card_luck(deal_block(players, random_streams(5), 0, 100_000))
    assert lucky.shape == (100_000, players, CONTROLS)
    error = lucky.std(axis=0) / math.sqrt(len(lucky))
    assert (np.abs(lucky.mean(axis=0)) < 4.5 * error).all()
    assert np.abs(lucky[:, :, 1].sum(axis=1)).max() < 1e-12  # the shares of a pot


def test_the_luck_of_hole_cards_is_their_chance_to_win():
    """Published chances against a random hand (a tie as a half); the mean over all 1,326 pairs is 1/2."""
    deals = deal_block(2, random_streams(1), 0, 60_000)
    by_pair = np.full(1326, np.nan)
    pairs = PAIR[deals.cards[:, 0], deals.cards[:, 1]]
    by_pair[pairs] = card_luck(deals)[:, 0, 0]
    assert not np.isnan(by_pair).any()
    assert by_pair.mean() == pytest.approx(0.0, abs=1e-12)
    published = {"AsAd": 0.8520, "KhKd": 0.8240, "7s2d": 0.3458, "AsKs": 0.6704, "2c2d": 0.5033}
    for hole, chance in published.items():
        first, second = parse_cards(hole)
        assert by_pair[PAIR[first, second]] + 0.5 == pytest.approx(chance, abs=1e-4)


def test_the_second_is_the_share_of_the_pot_if_nobody_folds():
    """What players win who never fold is that share of what all have paid."""
    contest = Contest(Setup(TWO, ("always-call", "always-raise"), 2, FRESH))
    won = contest.play_hands(0, 500)[0].won[:, 0]
    share = card_luck(deal_block(2, contest.streams, 0, 500))[:, :, 1]
    paid = np.abs(won).max()
    assert (share == 0).any()
    assert won == pytest.approx(2 * paid * share)


@pytest.mark.parametrize("bots", [("random", "probe"), slow(("random", "probe", "always-call"))])
def test_controls_make_the_error_smaller(bots):
    game = TWO if len(bots) == 2 else THREE
    result = match(*bots, game=game, hands=20_000, dealing=FRESH, seed=7)
    for score in result.scores:
        factor = score.plain.error / score.won.error
        print(f"{result.game}, {score.name}: controls divide the error by {factor:.2f}")
        assert factor > 1.1
        assert abs(score.won.mean - score.plain.mean) < 4 * score.plain.error


# Honest intervals of whole matches.

MATCHES = 400


@pytest.mark.slow
@pytest.mark.parametrize(("game", "hands"), [("leduc", 200), ("kuhn", 200), ("kuhn(players=3)", 300)])
def test_intervals_cover_the_exact_value(game, hands):
    policy, opponent = felt.random_policy(game, 21), felt.random_policy(game, 22)
    rules, truth = felt.load_game(game), float(np.mean(values_against(policy, opponent)))
    bots = TreeBot(policy, rules), *[TreeBot(opponent, rules)] * (rules.players - 1)
    results = [match(*bots, hands=hands, seed=seed, dealing=DUPLICATE) for seed in range(MATCHES)]
    assert_honest([result.scores[0].won for result in results], truth)


@pytest.mark.slow
@pytest.mark.parametrize("bots", [("always-call", "probe"), ("random", "random")])
def test_intervals_of_holdem_with_luck_taken_out_cover_the_truth(bots):
    """A bot that never folds and ignores its cards breaks even, and so do two copies of one bot."""
    contest = Contest(Setup(TWO, bots, 1, FRESH))
    controls = contest.columns["controls"]
    blocks = [contest.play(200 * number, 200).moments for number in range(MATCHES)]
    found = [estimate(block, 0, controls) for block in blocks]
    plain = [estimate(block, 0) for block in blocks]
    assert np.mean([one.error for one in found]) < np.mean([one.error for one in plain])
    assert_honest(found, 0.0)
    assert_honest(plain, 0.0)


@pytest.mark.slow
def test_intervals_of_three_players_cover_the_truth():
    contest = Contest(Setup(THREE, ("always-call", "probe", "always-raise"), 1, FRESH))
    controls = contest.columns["controls"]
    blocks = [contest.play(120 * number, 120).moments for number in range(MATCHES)]
    for participant in range(3):
        assert_honest([estimate(block, participant, controls) for block in blocks], 0.0)


@pytest.mark.slow
def test_intervals_cover_the_truth_of_a_very_long_match():
    """`random` folds, so nothing is known beforehand; a match of a million hands says what is true."""
    contest = Contest(Setup(TWO, ("random", "always-raise"), 2, FRESH))
    controls = contest.columns["controls"]
    truth = estimate(contest.play(200 * MATCHES, 1_000_000).moments, 0, controls)
    found = [estimate(contest.play(200 * number, 200).moments, 0, controls) for number in range(MATCHES)]
    assert truth.error < 0.05 * np.mean([one.error for one in found])
    assert_honest(found, truth.mean)


# When to stop.


def test_the_bounds_are_walds():
    """Odds of 90 to 1 for better and 10 to 99 for worse; with equal errors of 5%, 19 to 1."""
    test = SequentialTest(margin=1.0, false_better=0.01, false_worse=0.1)
    assert test.bounds == pytest.approx((-2.292535, 4.499810), abs=1e-6)
    equal = SequentialTest(margin=1.0, false_better=0.05, false_worse=0.05)
    assert equal.bounds == pytest.approx((-2.944439, 2.944439), abs=1e-6)


def test_the_ratio_is_that_of_two_normal_distributions():
    rows = np.random.default_rng(6).normal(0.3, 2.0, size=(2 * MIN_ROWS, 1))
    test, spread = SequentialTest(margin=0.5), rows.std(ddof=1)
    above = scipy.stats.norm(0.5, spread).logpdf(rows).sum()
    below = scipy.stats.norm(-0.5, spread).logpdf(rows).sum()
    assert test.ratio(Moments.of(rows), 0) == pytest.approx(above - below)
    assert test.ratio(Moments.of(rows[: MIN_ROWS - 1]), 0) == 0.0
    assert test.verdict(Moments.of(rows[: MIN_ROWS - 1] + 1e6), 0) == UNDECIDED
    assert test.verdict(Moments.of(rows + 10), 0) == BETTER
    assert test.verdict(Moments.of(rows - 10), 0) == WORSE
    assert test.verdict(Moments.of(np.ones((MIN_ROWS, 1))), 0) == BETTER
    assert test.verdict(Moments.of(np.zeros((MIN_ROWS, 1))), 0) == UNDECIDED


@pytest.mark.parametrize("wrong", [{"margin": 0.0}, {"margin": math.inf}, {"margin": 1, "false_better": 0.5}])
def test_a_test_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(felt.FeltError):
        SequentialTest(**wrong)


def normal(generator, shape):
    return generator.normal(size=shape)


def like_poker(generator, shape):
    """Many small losses, some wins, a few huge pots, scaled to mean 0 and variance 1; the skewness is 4.5."""
    outcome = np.array([-1.0, 0.0, 2.0, 6.0, 20.0, -5.0])
    chance = np.array([0.60, 0.20, 0.12, 0.03, 0.01, 0.04])
    mean = float(outcome @ chance)
    spread = math.sqrt(float((outcome - mean) ** 2 @ chance))
    return (generator.choice(outcome, size=shape, p=chance) - mean) / spread


@pytest.mark.slow
@pytest.mark.parametrize("draw", [normal, like_poker])
@pytest.mark.parametrize("side", [1, -1])
def test_the_wrong_verdict_is_as_rare_as_it_says(draw, side):
    """With the truth at a margin, where it is hardest, and though few rows may lack the huge pots."""
    runs, step, looks = 600, 100, 60
    test = SequentialTest(margin=0.05, false_better=0.05, false_worse=0.05)
    generator, verdicts = np.random.default_rng(8), []
    for _ in range(runs):
        rows = draw(generator, (step * looks, 1)) + side * test.margin
        moments, verdict = Moments.of(rows[:0]), UNDECIDED
        for part in np.split(rows, looks):
            moments = Moments.total([moments, Moments.of(part)])
            verdict = test.verdict(moments, 0)
            if verdict != UNDECIDED:
                break
        verdicts.append(verdict)
    wrong = verdicts.count(WORSE if side > 0 else BETTER)
    assert verdicts.count(UNDECIDED) == 0
    assert wrong <= region(runs, 0.05)[1]
    assert wrong > 0


def test_a_match_stops_when_it_is_decided():
    test = SequentialTest(margin=100.0)
    result = match("always-fold", "always-raise", game=TWO, hands=10_000, session=50, until=test)
    assert (result.verdict, result.deals) == (WORSE, -(-MIN_ROWS // 50) * 50)
    test = SequentialTest(margin=0.05)
    weak, strong = felt.uniform_policy("leduc"), felt.CFRPlus("leduc").run(200).policy
    rules = felt.load_game("leduc")
    result = match(TreeBot(strong, rules), TreeBot(weak, rules), hands=100_000, session=100, until=test)
    assert result.verdict == BETTER
    assert result.hands < 100_000
    undecided = match("random", "random", game="kuhn", hands=600, session=100, until=test, dealing=FRESH)
    assert undecided.hands == 600
    assert undecided.verdict == UNDECIDED
