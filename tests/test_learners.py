"""Monte-Carlo learners: against twins, the papers' worked example, exact regrets, and known equilibria."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import chi2
from slow_learners import SlowExternal, SlowOutcome, SlowUCT, SplitMix64
from slow_twin import SlowCFR
from speed import fast_only, slow

import openfelt as felt
from openfelt.core.jit import episode_kernel
from openfelt.core.random import ITERATION_DRAWS, go_to, starts, uniform
from openfelt.core.sampling import alias_table
from openfelt.measure.exploitability import values_against
from openfelt.solve.registry import SOLVERS, solver_type
from openfelt.solve.sampling import sampling_solver as learner_module
from openfelt.solve.sampling.outcome_mccfr import (
    ACTION,
    FIRST,
    SAMPLED,
    WEIGHT,
    OutcomeTables,
    Sampling,
    learn_history,
    sample_history,
)
from openfelt.solve.sampling.sampling_solver import SamplingSolver
from openfelt.solve.traverse.regret_matching import match_regrets
from openfelt.solve.traverse.sampling_worker import Span, new_worker
from openfelt.solve.traverse.thread_exchange import exchanges, no_exchange, trade

LEARNERS = [name for name, solver in SOLVERS.items() if issubclass(solver, SamplingSolver)]
SMALL = [
    "kuhn",
    slow("kuhn(pot=8)"),
    "kuhn(players=3)",
    slow("one_card(5)"),
    "leduc",
    slow("leduc(players=3)"),
    "goofspiel(3)",
    slow("bluff(1,1,3)"),
    slow("princess_monster(2,2,4)"),
]


def table_of(solver, column):
    """What a column of the learner's table says, by information state."""
    tree, table = solver.tree, next(iter(solver.learned.values()))
    return {
        (tree.row_player(row), tree.row_name(row)): table[0, tree.slots(row), column].tolist()
        for row in range(tree.num_rows)
    }


def by_name(twin_table):
    return {(player, " ".join(seen) or "start"): values for (player, seen), values in twin_table.items()}


def assert_same(solver, column, twin_table, **close):
    ours, theirs = table_of(solver, column), by_name(twin_table)
    assert theirs
    for key, values in ours.items():
        assert values == pytest.approx(theirs.get(key, [0.0] * len(values)), **close), key


def start_of(solver):
    return int(solver._starts[0])


# Parts of kernels, as kernels of their own.


@episode_kernel
def go(stream, start, draws):
    go_to(stream, start, draws)


@episode_kernel
def draw_one(stream):
    return uniform(stream)


@episode_kernel
def sample(tree, sums, own, epsilon):
    return sample_history(tree, sums, own, epsilon)


@episode_kernel
def learn(tree, tables, own, length, leaf, how, iteration):
    learn_history(tree, tables, own, length, leaf, how, iteration)


@episode_kernel
def match(sums, first, last, policies, row, column):
    match_regrets(sums, first, last, policies, row, column)


def test_random_numbers_are_splitmix64():
    """The first words of the published test vector for the state 1234567."""
    twin = SplitMix64(1234567)
    assert [twin.next() for _ in range(3)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]
    stream, twin = starts(5, 1), SplitMix64(int(starts(5, 1)[0]))
    assert [draw_one(stream) for _ in range(1000)] == [twin.uniform() for _ in range(1000)]


def test_starts_do_not_depend_on_their_number():
    assert (starts(3, 4)[:2] == starts(3, 2)).all()
    assert len(np.unique(starts(3, 256))) == 256
    assert starts(3, 1) != starts(4, 1)


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**63 - 1))
def test_a_stream_goes_to_any_place(start, draws):
    stream, twin = np.zeros(1, np.uint64), SplitMix64(start)
    go(stream, np.uint64(start), draws)
    twin.skip(draws)
    assert [draw_one(stream) for _ in range(3)] == [twin.uniform() for _ in range(3)]


@episode_kernel
def draw_of_iterations(stream, start, draw, drawn):
    """That draw of each iteration from the first on."""
    for place in range(len(drawn)):
        go_to(stream, start, (place + 1) * ITERATION_DRAWS + draw)
        drawn[place] = uniform(stream)


@episode_kernel
def draw_many(stream, count):
    for _ in range(count):
        uniform(stream)


def is_even(cell, cells):
    """Chi squared: neither more uneven than chance makes it once in 10,000 times, nor more even."""
    counts, expected = np.bincount(cell, minlength=cells), len(cell) / cells
    return 1e-4 < chi2.sf(((counts - expected) ** 2).sum() / expected, cells - 1) < 1 - 1e-4


@pytest.mark.parametrize("seed", [0, 1, 2**63 - 1])
@pytest.mark.parametrize("draw", [0, 1, 7])
def test_draws_are_even_where_only_the_iteration_varies(seed, draw):
    drawn = np.empty(100_000)
    draw_of_iterations(np.zeros(1, np.uint64), starts(seed, 1)[0], draw, drawn)
    for cells in (2, 6, 52, 1000):
        assert is_even((drawn * cells).astype(int), cells)
    cell = (drawn * 20).astype(int)
    assert is_even(cell[:-1] * 20 + cell[1:], 400)  # also beside that of the next iteration


def test_draws_of_different_iterations_do_not_overlap():
    """They are pieces of one stream: where those that are set apart for one end, those of the next begin."""
    start, stream, following = starts(9, 1)[0], np.zeros(1, np.uint64), np.zeros(1, np.uint64)
    for iteration in (1, 2, 1000):
        go(stream, start, iteration * ITERATION_DRAWS)
        draw_many(stream, ITERATION_DRAWS)
        go(following, start, (iteration + 1) * ITERATION_DRAWS)
        assert stream == following
    drawn = np.empty((4, 100_000))
    for draw in range(4):
        draw_of_iterations(stream, start, draw, drawn[draw])
    assert len(np.unique(drawn)) == drawn.size


@pytest.mark.slow
def test_an_iteration_draws_by_its_number_alone():
    """Also those that come after many; a learner need not have done the ones before."""
    solver = felt.OutcomeMCCFR("leduc", seed=3)
    twin = SlowOutcome(felt.load_game("leduc"), start_of(solver), 0.6)
    solver.iterations = twin.iterations = 999_999_999_999
    solver._advance(1)
    twin.iterate()
    assert_same(solver, 0, twin.regret, rel=1e-6, abs=1e-6)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12).filter(lambda weights: sum(weights) > 0.01))
def test_alias_tables_give_the_distribution(weights):
    chance = np.array(weights) / sum(weights)
    share, other = alias_table(chance)
    found = np.zeros(len(chance))
    for place in range(len(chance)):
        found[place] += share[place] / len(chance)
        found[other[place]] += (1 - share[place]) / len(chance)
    assert found == pytest.approx(chance, abs=1e-12)


MAX_AVERAGE = ({"schedule": "max-average"}, lambda n: max(n) / sum(n))
BY_VISITS = ({"schedule": "visits"}, lambda n: 0.9 * 10000 / (10000 + math.sqrt(sum(n))))
DECAY = (
    {"schedule": "decay", "gamma": 0.2, "eta0": 0.8, "d": 0.1},
    lambda n: max(0.2, 0.8 / (1 + 0.1 * math.sqrt(sum(n)))),
)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize(("schedule", "eta"), [(None, None), MAX_AVERAGE, BY_VISITS, DECAY])
def test_uct_is_algorithms_1_and_2_of_the_paper(name, schedule, eta):
    c, episodes = 3.7, 700
    solver = (
        felt.UCT(name, c=c, seed=4) if schedule is None else felt.SmoothUCT(name, c=c, seed=4, **schedule)
    )
    twin = SlowUCT(felt.load_game(name), start_of(solver), eta=eta, exploration=lambda _: c)
    solver.run(episodes)
    twin.search(episodes)
    assert_same(solver, 0, twin.n)
    assert_same(solver, 1, twin.payoffs)


@pytest.mark.parametrize(
    "name", ["kuhn", "kuhn(players=3)", "leduc", slow("leduc(players=3)"), slow("one_card(5)")]
)
@pytest.mark.parametrize("rollout", ["call", "on-policy"])
def test_rollouts_and_the_exploration_of_poker(name, rollout):
    game, k = felt.load_game(name), 0.4
    solver = felt.UCT(name, k=k, rollout=rollout, seed=2)
    twin = SlowUCT(
        game,
        start_of(solver),
        eta=None,
        exploration=lambda history: game.stakes(history[0])[0] + k * game.stakes(history[0])[1],
        rollout=rollout,
    )
    solver.run(600)
    twin.search(600)
    assert_same(solver, 0, twin.n)


@pytest.mark.parametrize("below", ["average", "ucb"])
def test_the_threshold(below):
    solver = felt.SmoothUCT("leduc", c=2, threshold=40, below=below, schedule="max-average", seed=2)
    twin = SlowUCT(
        felt.load_game("leduc"),
        start_of(solver),
        eta=lambda n: max(n) / sum(n),
        exploration=lambda _: 2,
        threshold=40,
        below=below,
    )
    solver.run(2000)
    twin.search(2000)
    assert_same(solver, 0, twin.n)


@pytest.mark.parametrize("name", ["kuhn", slow("leduc(players=3)"), "goofspiel(3)"])
@pytest.mark.parametrize("opponent", ["random", "policy", "folder"])
def test_learning_against_a_fixed_opponent(name, opponent, tmp_path):
    policy = felt.uniform_policy(name) if opponent == "random" else felt.random_policy(name, 3)
    felt.save_policy(policy, tmp_path / "bot")
    given = {"random": "random", "policy": policy, "folder": tmp_path / "bot"}[opponent]
    solver = felt.UCT(name, c=2, opponent=given, seed=2)
    tree = solver.tree
    profile = {(tree.row_player(row), tree.row_name(row)): policy.row(row) for row in range(tree.num_rows)}

    class ByName(dict):
        def __missing__(self, information):
            return profile[information[0], " ".join(information[1]) or "start"]

    twin = SlowUCT(
        felt.load_game(name), start_of(solver), eta=None, exploration=lambda _: 2, opponent=ByName()
    )
    solver.run(600)
    twin.search(600)
    assert_same(solver, 0, twin.n)


def test_it_learns_the_best_response_to_a_fixed_opponent():
    opponent = felt.random_policy("leduc", 1)
    solver = felt.UCT("leduc", c=18, opponent=opponent, seed=1).run(1_000_000)
    best = [felt.best_response(opponent, seat).value for seat in (0, 1)]
    assert values_against(solver.greedy, opponent) == pytest.approx(best, abs=0.02)
    profile = felt.join_seats([solver.greedy, opponent])
    assert values_against(solver.greedy, opponent)[0] == felt.expected_values(profile)[0]


def test_greedy_takes_the_highest_value():
    solver = felt.UCT("leduc", c=5, seed=1).run(3_000)
    greedy, tree = solver.greedy, solver.tree
    for row in range(tree.num_rows):
        visits, values = solver.visits[tree.slots(row)], solver.values[tree.slots(row)]
        if visits.sum() == 0:
            assert (greedy.row(row) == 1 / len(visits)).all()
        else:
            assert greedy.row(row)[np.nanargmax(values)] == 1.0


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("epsilon", [0.6, 1.0, 0.1])
def test_outcome_sampling_is_algorithm_1_of_the_paper(name, epsilon):
    solver = felt.OutcomeMCCFR(name, epsilon=epsilon, seed=6)
    twin = SlowOutcome(felt.load_game(name), start_of(solver), epsilon)
    for _ in range(150):
        twin.iterate()
    solver.run(150)
    assert_same(solver, 0, twin.regret, rel=1e-6, abs=1e-6)
    assert_same(solver, 1, twin.average, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("samples_others", [True, False])
def test_external_and_chance_sampling_are_the_recursion(name, samples_others):
    kind = felt.ExternalMCCFR if samples_others else felt.ChanceCFR
    solver = kind(name, seed=6)
    twin = SlowExternal(felt.load_game(name), start_of(solver), samples_others)
    iterations = 3 if name == "leduc(players=3)" else 20
    for _ in range(iterations):
        twin.iterate()
    solver.run(iterations)
    assert_same(solver, 0, twin.regret, rel=1e-6, abs=1e-6)
    assert_same(solver, 1, twin.average, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("epsilon", [0.6, 0.1])
def test_the_worked_example_of_outcome_sampling(epsilon):
    """PJL11 3.2.3: the history K|Q, bet, pass is sampled first; all numbers are the paper's."""
    solver = felt.OutcomeMCCFR("kuhn")
    tree, own = solver.tree, new_worker(solver._worker_size())
    whole, real = own.trace.whole[:2], own.trace.real[:2]
    rows = [tree.find_row(0, "K"), tree.find_row(1, "Q bet")]
    tables = OutcomeTables(**{name: table[0] for name, table in solver.learned.items()})
    for start in starts(1, 1000):  # until the dice fall as in the example
        own.stream[0] = start
        length, leaf = sample(solver.episode_tree, tables.sums, own, epsilon)
        met, drawn = whole[:, FIRST].tolist(), whole[:, ACTION].tolist()
        if length == 2 and met == [tree.slots(row).start for row in rows] and drawn == [1, 0]:
            break
    assert tree.nodes.payoffs[tree.nodes.row[leaf]].tolist() == [1.0, -1.0]
    chance = 1 / 6
    assert chance * real[:, SAMPLED].prod() == pytest.approx(1 / 24)  # of sampling z
    tail = real[1, SAMPLED], 1.0  # of sampling the rest of z after the action at I_1 and at I_2
    w = [
        payoff * weight / (sampled * rest)
        for payoff, weight, sampled, rest in zip(
            (1, -1), real[:, WEIGHT], real[:, SAMPLED], tail, strict=True
        )
    ]
    assert w == [4.0, -2.0]
    learn(solver.episode_tree, tables, own, 2, leaf, Sampling(0.6, 0.0, 0.0), 1)
    for row in rows:
        assert tables.sums[tree.slots(row), 0].tolist() == [-1.0, 1.0]
        assert tables.sums[tree.slots(row), 1].tolist() == [0.5, 0.5]
        assert tables.marker[tree.slots(row).start] == 1
    assert np.count_nonzero(tables.marker) == 2
    policies = np.full((2, 4), -1.0)
    match(tables.sums, tree.slots(rows[1]).start, tree.slots(rows[1]).stop, policies, 1, 2)
    assert policies.tolist() == [[-1.0] * 4, [-1.0, -1.0, 0.0, 1.0]]


def sampled_regrets(solver, episodes):
    """Each episode's regrets from the same policy, the uniform one: their mean and variance."""
    tables = solver._tables_of(0)
    sums = tables["sums"]
    total, squares = np.zeros(len(sums)), np.zeros(len(sums))
    for episode in range(episodes):
        sums[:] = 0.0
        solver._learn_part(0, tables, Span(episode, 1, 1, solver._starts[0]), no_exchange())
        total += sums[:, 0]
        squares += sums[:, 0] ** 2
    mean = total / episodes
    return mean, squares / episodes - mean**2


VARIANTS = [
    ("outcome-mccfr", {}),
    ("outcome-mccfr", {"epsilon": 0.2, "baseline": 0.5}),
    ("outcome-mccfr", {"baseline": 0.05}),
    ("external-mccfr", {}),
    ("chance-cfr", {}),
]
GAMES = ["kuhn", "kuhn(players=3)", "bluff(1,1,2)"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "settings", "game"),
    [
        *((*each, game) for each in VARIANTS for game in GAMES),
        *(("outcome-mccfr", {"offset": -3.0}, game) for game in (GAMES[0], GAMES[2])),
        ("outcome-mccfr", {"offset": 2.0, "baseline": 0.5}, GAMES[0]),
    ],
)
def test_sampled_regrets_are_the_exact_ones_in_the_mean(name, settings, game):
    """CFR's own regrets come from the twin, whose tables are tested against OpenSpiel's."""
    exact = SlowCFR(felt.load_game(game), "cfr")
    profile = {information: exact.play(information) for information in exact.regret}
    found = {information: [0.0] * len(play) for information, play in profile.items()}
    for player in range(exact.slow.game.players):
        exact._walk(exact.slow.root, player, profile, [1.0] * 3, 1.0, found, {})
    solver = solver_type(name)(game, seed=8, **settings)
    tree, episodes = solver.tree, 20_000
    mean, variance = sampled_regrets(solver, episodes)
    exactly = np.concatenate(
        [by_name(found)[tree.row_player(row), tree.row_name(row)] for row in range(tree.num_rows)]
    )
    if name != "outcome-mccfr":  # the second player's traversal meets a first who has learned already
        last = tree.rows.first_slot[tree.rows.first_row[1]]
        mean, variance, exactly = mean[:last], variance[:last], exactly[:last]
    error = np.sqrt(variance / episodes)
    assert (abs(mean - exactly) <= 5 * error + 1e-9).all()
    assert (abs(mean) > 5 * error).any()


@pytest.mark.slow
def test_baselines_lessen_the_variance():
    _, plain = sampled_regrets(felt.OutcomeMCCFR("leduc", seed=1), 30_000)
    _, reduced = sampled_regrets(felt.OutcomeMCCFR("leduc", seed=1, baseline=0.1), 30_000)
    assert reduced.sum() < 0.8 * plain.sum()


@pytest.mark.slow
def test_an_offset_lessens_the_variance_where_payoffs_are_far_from_zero():
    game = "princess_monster(3,3,5)"
    even = felt.expected_values(felt.uniform_policy(game))[0]
    assert abs(even) > 2
    _, plain = sampled_regrets(felt.OutcomeMCCFR(game, seed=1), 30_000)
    _, reduced = sampled_regrets(felt.OutcomeMCCFR(game, seed=1, offset=even), 30_000)
    assert reduced.sum() < 0.5 * plain.sum()


@pytest.mark.slow
def test_smooth_uct_approaches_equilibrium_in_leduc_and_uct_does_not():
    smooth = felt.SmoothUCT("leduc", c=18, gamma=0.1, eta0=0.9, d=0.002, seed=1).run(6_000_000)
    plain = felt.UCT("leduc", c=18, seed=1).run(6_000_000)
    assert smooth.measurements[-1].nash_conv < 0.2 < 0.5 < plain.measurements[-1].nash_conv


# The constants of the paper for the standard pot, and for a pot of 8 as much larger as its payoffs are.
@pytest.mark.parametrize(("game", "c", "smooth_c"), [("kuhn", 2, 1.75), slow("kuhn(pot=8)", 5, 4.375)])
@pytest.mark.slow
def test_smooth_uct_ends_closer_to_equilibrium_in_kuhn(game, c, smooth_c):
    equilibria = felt.EquilibriumSet(game)

    def error(solver):
        return equilibria.distance(solver.run(1_000_000).policy).sum

    for seed in range(3):
        smooth = error(felt.SmoothUCT(game, c=smooth_c, schedule="max-average", seed=seed))
        assert smooth < error(felt.UCT(game, c=c, seed=seed))


@pytest.mark.slow
def test_mccfr_converges_in_leduc():
    external = felt.ExternalMCCFR("leduc", seed=1).run(700_000)
    outcome = felt.OutcomeMCCFR("leduc", seed=1).run(4_000_000)
    reduced = felt.OutcomeMCCFR("leduc", seed=1, baseline=0.1).run(3_000_000)
    chance = felt.ChanceCFR("leduc", seed=1).run(200_000)
    assert external.measurements[-1].nash_conv < 0.05
    value = felt.expected_values(felt.CFRPlus("leduc").run(until=1e-4).policy)[0]
    for solver in (external, outcome, reduced, chance):
        assert felt.expected_values(solver.policy)[0] == pytest.approx(value, abs=0.02)
        curve = [measured.nash_conv for measured in solver.measurements]
        assert curve[-1] < 0.6 * curve[-25] < 0.2 * curve[0]


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize(
    "game",
    [
        "kuhn",
        slow("kuhn(players=3)"),
        slow("one_card(12)"),
        slow("leduc"),
        slow("leduc(players=3)"),
        slow("goofspiel(4)"),
        slow("bluff(1,1,3)"),
        slow("princess_monster(2,3,5)"),
    ],
)
def test_all_learners_learn_all_games(name, game):
    iterations = {"chance-cfr": 300, "external-mccfr": 3_000}.get(name, 60_000)
    if (name, game) == ("outcome-mccfr", "princess_monster(2,3,5)"):
        iterations = 150_000  # after 60,000 one run in five is above the limit still, after these none of 120
    solvers = [solver_type(name)(game, seed=seed).run(iterations) for seed in range(1, 6)]
    uniform_conv = felt.exploitability(felt.uniform_policy(game)).nash_conv
    found = [solver.measurements[-1].nash_conv for solver in solvers]
    # The median, since single runs go astray: of plain UCT in goofspiel one in seven.
    assert np.median(found) < 0.75 * uniform_conv


def test_the_same_to_the_bit_however_a_run_is_cut(tmp_path):
    for name in LEARNERS:
        settings = {"baseline": 0.3} if name == "outcome-mccfr" else {}
        whole = solver_type(name)("leduc", seed=9, **settings).run(5_000)
        parts = solver_type(name)("leduc", seed=9, **settings)
        for count in (1, 17, 1_900):
            parts.run(count)
        parts.save(tmp_path / name)
        again = solver_type(name)("leduc", seed=9, **settings)
        again.resume(tmp_path / name)
        again.run(5_000 - again.iterations)
        for key, table in whole.tables().items():
            assert table.tobytes() == again.tables()[key].tobytes(), (name, key)
        other = solver_type(name)("leduc", seed=10, **settings).run(5_000)
        assert whole.probabilities.tobytes() != other.probabilities.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("name", fast_only(("smooth-uct",), LEARNERS))
@pytest.mark.parametrize("shared", [True, slow(False)])
def test_two_threads_learn_the_same(name, shared, monkeypatch):
    monkeypatch.setattr(learner_module, "SHARED_FROM", 0 if shared else 10**9)
    monkeypatch.setattr(learner_module, "MOST_ALONE", 0)
    few = {"chance-cfr": 20_000, "external-mccfr": 60_000, "sampled-fictitious-play": 100_000}
    iterations = few.get(name, 400_000)
    conv = np.zeros(3)
    for seed in range(1, 6):  # the mean over some, as threads meet each other by chance
        one = solver_type(name)("leduc", seed=seed).run(iterations)
        two = solver_type(name)("leduc", seed=seed, threads=2).run(iterations)
        assert two.iterations == iterations
        half = solver_type(name)("leduc", seed=seed).run(iterations // 2)
        conv += [solver.measurements[-1].nash_conv for solver in (half, two, one)]
    # Plain UCT goes round in circles, wider ones when two threads make the same turn.
    assert conv[1] < (2.0 if name == "uct" else 1.0) * max(conv[0], 1.3 * conv[2])
    if name in ("uct", "smooth-uct") and not shared:  # nothing was lost: every game begins in one of these
        roots = [two.tree.slots(two.tree.find_row(0, card)) for card in "JQK"]
        assert sum(two.visits[root].sum() for root in roots) == iterations


def test_threads_join_when_exchanges_may_be_far_apart():
    """Early updates that come too late stay in infosets that are hardly visited later."""
    one, two = (felt.SmoothUCT("kuhn", seed=1, threads=threads) for threads in (1, 2))
    begin = two.limits.patience * 2 * two.tree.num_slots // learner_module.OFTEN
    one.run(begin), two.run(begin)
    assert one.tables()["counts"].tobytes() == two.tables()["counts"].tobytes()
    one.run(100_000), two.run(100_000)
    assert one.tables()["counts"].tobytes() != two.tables()["counts"].tobytes()


@pytest.mark.parametrize("name", fast_only(("smooth-uct", "external-mccfr"), LEARNERS))
def test_a_run_on_shared_tables_may_resume_with_more_threads(name, tmp_path, monkeypatch):
    monkeypatch.setattr(learner_module, "SHARED_FROM", 0)
    first, more = {"chance-cfr": (500, 5_000)}.get(name, (20_000, 200_000))
    one = solver_type(name)("leduc", seed=1).run(first)
    one.save(tmp_path)
    for threads in (2, 3, 1):
        two = solver_type(name)("leduc", seed=1, threads=threads)
        two.resume(tmp_path)
        two.run(more)
        assert two.measurements[-1].nash_conv < 0.8 * one.measurements[-1].nash_conv


@pytest.mark.parametrize("game", ["kuhn(players=3)", "leduc(players=3)"])
def test_threads_with_three_players_share_their_tables(game):
    uniform_conv = felt.exploitability(felt.uniform_policy(game)).nash_conv
    for kind, iterations in ((felt.ExternalMCCFR, 2_000), (felt.OutcomeMCCFR, 60_000)):
        solver = kind(game, threads=2).run(iterations)
        assert solver.learners == 1
        assert solver.measurements[-1].nash_conv < 0.7 * uniform_conv


def test_learners_side_by_side_are_the_same_to_the_bit():
    for name in ("external-mccfr", "chance-cfr"):
        whole = solver_type(name)("leduc", seed=2, threads=2).run(3_001)
        parts = solver_type(name)("leduc", seed=2, threads=2).run(1_000).run(2_001)
        for key, table in whole.tables().items():
            assert table.tobytes() == parts.tables()[key].tobytes(), (name, key)


def test_a_resumed_run_meets_the_same_opponent(tmp_path):
    felt.save_policy(felt.random_policy("leduc", 1), tmp_path / "bot")
    whole = felt.UCT("leduc", opponent=tmp_path / "bot").run(2_000)
    part = felt.UCT("leduc", opponent=tmp_path / "bot").run(1_000)
    part.save(tmp_path / "run")
    felt.save_policy(felt.random_policy("leduc", 2), tmp_path / "bot")
    again = felt.UCT("leduc", opponent=tmp_path / "bot")
    again.resume(tmp_path / "run")
    assert again.run(1_000).visits.tobytes() == whole.visits.tobytes()


@pytest.mark.parametrize(
    ("kind", "game", "settings", "words"),
    [
        (felt.UCT, "leduc", {"c": -1}, "c must be a number of 0 or more, not -1"),
        (felt.UCT, "leduc", {"c": math.nan}, "c must be"),
        (felt.UCT, "leduc", {"c": math.inf}, "c must be"),
        (felt.UCT, "leduc", {"c": "much"}, "c must be"),
        (felt.UCT, "leduc", {"c": 2, "k": 0.5}, "c or k, not both"),
        (felt.UCT, "leduc", {"k": 1.5}, "k must be a number from 0 to 1"),
        (felt.UCT, "goofspiel(3)", {"k": 0.5}, "k needs a pot, and goofspiel(3) has none"),
        (felt.UCT, "bluff(1,1,2)", {"rollout": "call"}, "checks or calls, and bluff(1,1,2) has none"),
        (felt.UCT, "leduc", {"rollout": "deep"}, "rollout must be uniform or call or on-policy, not deep"),
        (felt.UCT, "leduc", {"opponent": "nowhere"}, "nowhere."),
        (felt.UCT, "leduc", {"opponent": felt.uniform_policy("kuhn")}, "is for kuhn, not for leduc"),
        (felt.UCT, "leduc", {"gamma": 0.5}, "uct has no parameter 'gamma'"),
        (felt.SmoothUCT, "leduc", {"gamma": 1.5}, "gamma must be a number from 0 to 1"),
        (felt.SmoothUCT, "leduc", {"eta0": -0.5}, "eta0 must be a number from 0 to 1"),
        (felt.SmoothUCT, "leduc", {"d": -1}, "d must be a number of 0 or more"),
        (felt.SmoothUCT, "leduc", {"threshold": -1}, "threshold must be"),
        (felt.SmoothUCT, "leduc", {"below": "ucb"}, "give threshold= too"),
        (felt.SmoothUCT, "leduc", {"below": "ucb2", "threshold": 1}, "below must be"),
        (felt.SmoothUCT, "leduc", {"schedule": "visits", "gamma": 0.3}, "belong to the schedule decay"),
        (felt.UCT, "leduc", {"seed": -1}, "seed must be a whole number from 0"),
        (felt.UCT, "leduc", {"seed": 1.5}, "seed must be a whole number"),
        (felt.UCT, "leduc", {"threads": "2"}, "threads must be a whole number from 1 to 256, not 2"),
        (felt.SmoothUCT, "leduc", {"schedule": "none"}, "schedule must be max-average or visits or decay"),
        (felt.OutcomeMCCFR, "leduc", {"epsilon": 0}, "epsilon must be"),
        (felt.OutcomeMCCFR, "leduc", {"epsilon": 1.1}, "epsilon must be"),
        (felt.OutcomeMCCFR, "leduc", {"baseline": -0.1}, "baseline must be"),
        (felt.OutcomeMCCFR, "leduc", {"offset": np.nan}, "offset must be"),
        (felt.OutcomeMCCFR, "kuhn(players=3)", {"offset": 1.0}, "An offset is for two players"),
    ],
)
def test_bad_settings_get_a_sentence(kind, game, settings, words):
    with pytest.raises(felt.FeltError) as caught:
        kind(game, **settings)
    assert words in str(caught.value)


def test_settings_are_resolved():
    assert felt.UCT("leduc").settings.c == 13.0
    assert dataclasses.asdict(felt.UCT("kuhn", c=3).settings)["c"] == 3


NOTHING = 'EFG 2 R "nothing to decide" { "a" "b" }\n\nc "" 1 "" { "x" 1/2 "y" 1/2 } 0\n'
NOTHING += 't "" 1 "" { 1 -1 }\nt "" 2 "" { -1 1 }\n'
ONE_ROW = (
    'EFG 2 R "one row" { "a" "b" }\n\np "" 1 1 "" { "l" "r" } 0\nt "" 1 "" { 1 -1 }\nt "" 2 "" { 3 -3 }\n'
)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("text", [NOTHING, ONE_ROW])
@pytest.mark.parametrize("threads", [1, 2])
def test_games_with_nothing_or_one_thing_to_decide(name, text, threads, tmp_path):
    path = tmp_path / "game.efg"
    path.write_text(text)
    solver = solver_type(name)(path, threads=threads).run(3_000)
    assert solver.measurements[-1].nash_conv < 0.05
    assert solver.greedy.probabilities.tolist() == ([0.0, 1.0] if text == ONE_ROW else [])


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5), st.integers(-9, 9)), max_size=40))
def test_exchanges_lose_nothing(steps):
    """Three threads add numbers to their copies and trade in any order; each sees all that was given."""
    first = np.arange(6.0).reshape(3, 2)
    sides = exchanges(first, 3, 1)
    copies, added, given = [first.copy() for _ in range(3)], np.zeros((3, 6)), np.zeros((3, 6))
    for thread, place, number in steps:
        copies[thread].flat[place] += number
        added[thread, place] += number
        if number % 2:
            trade(copies[thread], sides[thread])
            given[thread] = added[thread]
            others = given.sum(axis=0) - given[thread]
            assert (copies[thread].ravel() == first.ravel() + added[thread] + others).all()
    for thread in range(3):
        trade(copies[thread], sides[thread])
    assert (first.ravel() + sides[0].given.sum(axis=0) == first.ravel() + added.sum(axis=0)).all()
