"""Learners on hold'em: against twins that walk the rules; saving, going on, and what is won."""

from __future__ import annotations

import io
import json
import math
import tracemalloc
import zlib
from collections import Counter

import numpy as np
import pytest
from slow_holdem import SlowHoldemExternal, SlowHoldemOutcome, SlowHoldemUCT, draw_cards
from slow_learners import SplitMix64
from speed import slow

import openfelt as felt
from openfelt.arena.holdem_value import holdem_value
from openfelt.cards.deck import card_text, parse_cards
from openfelt.cli.app import main
from openfelt.core.random import starts
from openfelt.games.compile.compiler import compile_any
from openfelt.games.game import CHANCE, TERMINAL
from openfelt.games.holdem import stakes
from openfelt.measure.exploitability import values_against
from openfelt.policy.holdem import WHOLE, quantised, rows_of, unpacked
from openfelt.policy.packing import COARSE, PACKED
from openfelt.policy.rules import RULES, rule_policy
from openfelt.table.terminal import watch

SMALL, THREE = "holdem(buckets='ehs:10')", "holdem(players=3,buckets='ehs:2')"
LEARNERS = (felt.UCT, felt.SmoothUCT, felt.OutcomeMCCFR, felt.ExternalMCCFR, felt.ChanceCFR)


def assert_same(solver, column, twin_table, **close):
    table = next(iter(solver.learned.values()))[0, :, column]
    seen = np.zeros(len(table), bool)
    assert len(twin_table) > 50
    for (player, (words, bucket)), values in twin_table.items():
        node = solver.tree.find_node(words)
        slots = solver.tree.slots(node, bucket)
        assert solver.tree.node[node, 0] == player
        assert table[slots].tolist() == pytest.approx(values, **close), (words, bucket)
        seen[slots] = True
    assert not table[~seen].any()


def twin_of(solver, kind, *rest, **more):
    start = int(solver._starts[0])
    game = felt.load_game(solver.tree.game)
    return kind(game, solver.tree.abstraction, start, *rest, **more)


@pytest.mark.parametrize(("name", "episodes"), [(SMALL, 100), slow(SMALL, 400), slow(THREE, 150)])
@pytest.mark.parametrize("rollout", ["uniform", slow("call"), slow("on-policy")])
def test_uct_is_the_papers_algorithm(name, episodes, rollout):
    solver = felt.SmoothUCT(name, k=0.5, schedule="max-average", rollout=rollout, seed=2)

    def exploration(history):
        pot, potential = stakes(history[0].betting)
        return pot + 0.5 * potential

    twin = twin_of(
        solver,
        SlowHoldemUCT,
        eta=lambda n: max(n) / sum(n),
        exploration=exploration,
        rollout=rollout,
    )
    solver.run(episodes)
    twin.search(episodes)
    assert_same(solver, 0, twin.n)
    assert_same(solver, 1, twin.payoffs, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", [SMALL, slow(THREE)])
def test_outcome_sampling_is_algorithm_1(name):
    solver = felt.OutcomeMCCFR(name, epsilon=0.5, seed=3)
    twin = twin_of(solver, SlowHoldemOutcome, 0.5)
    solver.run(150)
    for _ in range(150):
        twin.iterate()
    assert_same(solver, 0, twin.regret, rel=1e-6, abs=1e-6)
    assert_same(solver, 1, twin.average, rel=1e-6, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kind", "iterations"),
    [(SMALL, felt.ExternalMCCFR, 5), slow(THREE, felt.ExternalMCCFR, 1), slow(SMALL, felt.ChanceCFR, 2)],
)
def test_external_and_chance_sampling_walk_as_the_recursion(name, kind, iterations):
    solver = kind(name, seed=4)
    twin = twin_of(solver, SlowHoldemExternal, kind is felt.ExternalMCCFR)
    solver.run(iterations)
    for _ in range(iterations):
        twin.iterate()
    assert_same(solver, 0, twin.regret, rel=1e-9, abs=1e-9)
    assert_same(solver, 1, twin.average, rel=1e-9, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("kind", LEARNERS)
def test_stopping_and_going_on_changes_nothing(kind, tmp_path):
    count = 3 if kind is felt.ChanceCFR else 300
    whole, begun = kind(SMALL, seed=5).run(2 * count), kind(SMALL, seed=5).run(count)
    begun.save(tmp_path)
    again = kind(SMALL, seed=5)
    again.resume(tmp_path)
    again.run(count)
    for name, table in whole.tables().items():
        assert table.tobytes() == again.tables()[name].tobytes(), name


def test_a_checkpoint_needs_no_second_table_in_memory(tmp_path):
    solver = felt.SmoothUCT(SMALL, k=0.5).run(10)
    solver.save(tmp_path)
    tracemalloc.start()
    solver.save(tmp_path)
    again = felt.SmoothUCT(SMALL, k=0.5)
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    solver.save(tmp_path)
    again.resume(tmp_path)
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    assert peak < solver.learned["counts"].nbytes / 4


@pytest.mark.slow
def test_threads_share_large_tables_and_learn_as_much():
    solver = felt.SmoothUCT("holdem", k=0.5, threads=2).run(20_000)
    first = sum(float(solver.visits[solver.tree.slots(0, bucket)].sum()) for bucket in range(169))
    assert 0.99 * 20_000 < first <= 20_000  # a visit may be lost where two threads meet


FILES = (("whole", "weights"), ("compact", "packed"))


def random_weights(tree, seed):
    return np.random.default_rng(seed).exponential(size=tree.num_slots)


def test_a_policy_is_rounded_to_255ths():
    tree = compile_any(SMALL)
    weights = random_weights(tree, 1)
    policy = quantised(tree, weights)
    node = tree.find_node(["call", "raise"])
    for bucket in range(10):
        slots = tree.slots(node, bucket)
        assert int(policy.weights[slots].sum()) == WHOLE
        exact = weights[slots] / weights[slots].sum()
        assert policy.weights[slots] / WHOLE == pytest.approx(exact, abs=1 / WHOLE)
    assert policy.at_bucket(node, 3).keys() == {"fold", "call", "raise"}
    assert sum(policy.greedy().weights == WHOLE) == tree.num_rows
    even = quantised(tree, np.zeros(tree.num_slots))
    assert abs(even.weights[tree.slots(node, 0)].astype(int) - 85).max() == 0
    with pytest.raises(felt.FeltError, match="overflowed"):
        quantised(tree, np.full(tree.num_slots, np.nan))
    with pytest.raises(felt.FeltError, match="sum to 1"):
        felt.HoldemPolicy(tree, np.ones(tree.num_slots, np.uint8))
    with pytest.raises(felt.FeltError, match="bytes"):
        felt.HoldemPolicy(tree, np.ones(5, np.uint8))


def test_a_compact_policy_is_in_15ths_and_its_file_is_small(tmp_path):
    tree = compile_any(SMALL)
    policy = quantised(tree, random_weights(tree, 1))
    compact = policy.compact()
    assert not policy.is_compact
    assert compact.is_compact
    assert compact.probabilities == pytest.approx(policy.probabilities, abs=1 / COARSE)
    assert np.array_equal(compact.compact().weights, compact.weights)
    for name, each in (("whole", policy), ("compact", compact)):
        felt.save_policy(each, tmp_path / name)
        assert np.array_equal(felt.load_policy(tmp_path / name).weights, each.weights)
    sizes = [next((tmp_path / name).glob(f"{array}-*.npy")).stat().st_size for name, array in FILES]
    assert sizes[1] < 0.35 * sizes[0]


def test_a_damaged_compact_policy_is_refused():
    tree = compile_any(SMALL)
    compact = quantised(tree, random_weights(tree, 1)).compact()
    packed = compact.arrays()[PACKED]
    assert np.array_equal(unpacked(tree, packed).weights, compact.weights)
    numbers = np.frombuffer(zlib.decompress(packed.tobytes()), np.uint8)
    for damaged, says in (
        (_deflated(np.full_like(numbers, 255)), "sum to 1"),
        (_deflated(numbers[:-1]), f"has {len(numbers):,} bytes"),
        (_deflated(np.zeros(10**8, np.uint8)), f"has {len(numbers):,} bytes"),  # expands to far too much
        (packed[:-1], f"has {len(numbers):,} bytes"),
        (np.append(packed, packed[:1]), f"has {len(numbers):,} bytes"),
        (packed[1:], "cannot be decompressed"),
        (packed[None], "list of bytes"),
    ):
        with pytest.raises(felt.FeltError, match=says):
            unpacked(tree, damaged)


def _deflated(numbers):
    return np.frombuffer(zlib.compress(numbers.tobytes()), np.uint8)


def test_infosets_that_are_rarely_reached_become_pure():
    tree = compile_any(SMALL)
    weights = random_weights(tree, 1)
    nodes, buckets, actions = rows_of(tree)
    first = slice(0, int(actions[0]))  # the first infoset of the first block
    block = slice(0, int(buckets[0] * actions[: nodes[0]].sum()))
    mean = weights[block].sum() / (nodes[0] * buckets[0])
    for share, is_pure in ((0.09, True), (0.2, False)):
        scaled = weights.copy()
        scaled[first] *= share * mean / scaled[first].sum()
        compact = quantised(tree, scaled).compact(scaled)
        assert compact.is_compact
        assert (compact.weights[first].max() == WHOLE) == is_pure
        assert compact.weights[first].argmax() == weights[first].argmax()


@pytest.mark.slow
def test_sampling_follows_the_probabilities():
    tree = compile_any(SMALL)
    policy, generator = quantised(tree, random_weights(tree, 2)), np.random.default_rng(3)
    drawn = Counter(policy.sample(1, "AhKd", generator) for _ in range(20_000))
    wanted = policy.at_bucket(0, tree.abstraction.bucket(parse_cards("AhKd")))
    assert policy.at(1, "AhKd") == wanted
    for action, probability in wanted.items():
        assert drawn[action] / 20_000 == pytest.approx(probability, abs=0.02)


@pytest.mark.parametrize(
    ("player", "infoset", "message"),
    [
        (0, "AhKd", "Player 0 is not to act after 'the blinds'"),
        (1, "AhKd limp", "no betting line 'limp'"),
        (1, "raise", "starts with two different hole cards"),
        (1, "AhAh", "appears twice"),
        (0, "AhKd call check 2c3c", "On the flop the board has 3 cards, not 2"),
    ],
)
def test_infosets_that_do_not_exist_are_refused(player, infoset, message):
    tree = compile_any(SMALL)
    with pytest.raises(felt.FeltError, match=message):
        rule_policy(tree, "probe").at(player, infoset)


def test_an_infoset_is_hole_cards_actions_and_board_in_the_order_observed():
    tree = compile_any(SMALL)
    policy = quantised(tree, random_weights(tree, 2))
    node, board = tree.find_node(["call", "check", "check"]), parse_cards("2c3cQh")
    bucket = tree.abstraction.bucket(parse_cards("AhKd"), board)
    assert policy.at(1, "AhKd call check 2c3cQh check") == policy.at_bucket(node, bucket)


def test_the_rules_do_what_they_are_called():
    tree = compile_any(SMALL)
    start, option, capped = (tree.find_node(words) for words in ([], ["call"], ["raise", "raise", "raise"]))
    assert tree.actions(start) == ("fold", "call", "raise")
    assert tree.actions(option) == ("check", "raise")
    assert tree.actions(capped) == ("fold", "call")
    chosen = {
        rule: [
            [word for word, share in rule_policy(tree, rule).at_bucket(node, 7).items() if share > 0]
            for node in (start, option, capped)
        ]
        for rule in RULES
    }
    assert chosen == {
        "always-raise": [["raise"], ["raise"], ["call"]],
        "always-call": [["call"], ["check"], ["call"]],
        "always-fold": [["fold"], ["check"], ["fold"]],
        "random": [["fold", "call", "raise"], ["check", "raise"], ["fold", "call"]],
        "probe": [["call", "raise"], ["check", "raise"], ["call"]],
    }
    with pytest.raises(felt.FeltError, match="no rule"):
        rule_policy(tree, "always-win")


def test_a_saved_policy_plays_without_tables(tmp_path, monkeypatch):
    tree = compile_any("holdem")
    policy = quantised(tree, random_weights(tree, 4))
    felt.save_policy(policy, tmp_path / "policy")
    assert sum(path.stat().st_size for path in (tmp_path / "policy").iterdir()) < 2_000_000
    monkeypatch.setenv("OPENFELT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("openfelt.cards.abstraction.abstraction.strength_tables", None)
    loaded = felt.load_policy(tmp_path / "policy")
    assert loaded.weights.tobytes() == policy.weights.tobytes()
    assert isinstance(loaded.weights, np.memmap)
    for line in watch(felt.load_game("holdem"), loaded, np.random.default_rng(5)):
        assert line.startswith(("dealt:", "player", "result:"))
    assert not (tmp_path / "cache" / "abstractions").exists()


def test_a_damaged_policy_is_refused(tmp_path):
    tree = compile_any(SMALL)
    felt.save_policy(quantised(tree, random_weights(tree, 4)), tmp_path)
    path = next(tmp_path.glob("weights-*.npy"))
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(felt.FileError, match="damaged"):
        felt.load_policy(tmp_path)


class SlowTable:
    """`holdem_value` in plain Python: the rules, single-hand buckets, and the same random numbers."""

    def __init__(self, policies, seed):
        self.policies, self.game = policies, felt.load_game(policies[0].tree.game)
        self.starts = starts(seed, 2).tolist()

    def random(self, start, place):
        found = SplitMix64(self.starts[start])
        found.skip(place)
        return found

    def deal(self, number):
        cards = []
        draw_cards(cards, 2 * self.game.players + 5, self.random(0, number * 64))
        return cards

    def won(self, number, seat):
        game, cards, node = self.game, self.deal(number), 0
        state, decisions = game.start(), 0
        while (mover := game.turn(state)) != TERMINAL:
            if mover == CHANCE:
                state = game.play(state, card_text(cards[len(state.cards)]))
                continue
            policy = self.policies[mover != seat]
            bucket = policy.tree.abstraction.bucket(game.hole(state, mover), game.board(state))
            weights = policy.weights[policy.tree.slots(node, bucket)].tolist()
            chance = int(self.random(1, number * 64 + decisions).uniform() * 255)
            action = next(place for place in range(len(weights)) if chance < sum(weights[: place + 1]))
            state = game.play(state, game.actions(state)[action])
            node, decisions = policy.tree.child(node, action), decisions + 1
        return game.payoffs(state)[seat]


@pytest.mark.slow
@pytest.mark.parametrize("names", [slow((SMALL, "holdem")), slow((THREE, THREE)), (SMALL, SMALL)])
def test_the_value_is_that_of_playing_the_rules(names):
    policies = [quantised(tree, random_weights(tree, 6)) for tree in map(compile_any, names)]
    deals = 60
    value = holdem_value(*policies, deals=deals, seed=7)
    slow = SlowTable(policies, 7)
    won = np.array([[slow.won(number, seat) for seat in range(slow.game.players)] for number in range(deals)])
    assert value.seats == pytest.approx(won.mean(axis=0))
    assert value.chips == pytest.approx(won.mean())
    assert value.won.error == pytest.approx(won.mean(axis=1).std(ddof=1) / math.sqrt(deals))
    assert value.hands == deals * slow.game.players


@pytest.mark.slow
def test_values_in_closed_form():
    tree = compile_any(SMALL)
    rule = {name: rule_policy(tree, name) for name in RULES}
    fold = holdem_value(rule["always-fold"], rule["always-raise"], deals=100)
    assert fold.seats == (-2.0, -1.0)  # the blinds, in chips
    assert (fold.mbb, fold.interval()) == (-750.0, 0.0)
    same_cards = holdem_value(rule["always-raise"], rule["always-call"], deals=1000)
    assert same_cards.chips == 0.0  # both go to the showdown, once in each seat


@pytest.mark.slow
def test_values_of_three_players_in_closed_form():
    three = compile_any(THREE)
    fold = holdem_value(rule_policy(three, "always-fold"), rule_policy(three, "always-raise"), deals=100)
    assert fold.seats == (-1.0, -2.0, 0.0)


@pytest.mark.slow
def test_values_do_not_depend_on_threads_and_change_sign_with_the_sides():
    tree = compile_any(SMALL)
    first, second = (quantised(tree, random_weights(tree, seed)) for seed in (8, 9))
    one = holdem_value(first, second, deals=50_000, threads=1)
    two = holdem_value(first, second, deals=50_000, threads=2)
    assert one == two
    assert holdem_value(second, first, deals=50_000).chips == -one.chips
    with pytest.raises(felt.FeltError, match="2 or more"):
        holdem_value(first, second, deals=1)
    with pytest.raises(felt.FeltError, match="not for 2 and 3"):
        holdem_value(first, rule_policy(compile_any(THREE), "random"), deals=10)


@pytest.mark.slow
def test_the_interval_covers_as_often_as_it_says():
    tree = compile_any(SMALL)
    first, second = rule_policy(tree, "random"), rule_policy(tree, "always-call")
    exact = holdem_value(first, second, deals=2_000_000, seed=99).mbb
    found = [holdem_value(first, second, deals=1_000, seed=seed) for seed in range(200)]
    inside = sum(abs(value.mbb - exact) < value.interval() for value in found)
    assert 178 <= inside <= 200  # 190 expected


@pytest.mark.slow
def test_learning_beats_simple_players():
    policy = felt.ExternalMCCFR(SMALL, seed=1).run(30_000).policy
    for rule in ("always-call", "always-raise", "random", "always-fold"):
        value = holdem_value(policy, rule_policy(policy.tree, rule), deals=100_000)
        assert value.mbb > 2 * value.interval(), rule


@pytest.mark.slow
def test_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    train = ["train", SMALL, "--solver", "smooth-uct", "--k", "0.5", "--out", "run", "--json"]
    assert main([*train, "--episodes", "2000"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["iterations"] == 2000
    assert set(found["against"]) == {"always-call", "always-raise", "random"}
    assert main([*train, "--episodes", "500", "--resume"]) == 0
    assert json.loads(capsys.readouterr().out)["iterations"] == 2500
    assert main(["value", "run", "always-fold", "--deals", "1000", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["mbb_per_hand"] > 0
    assert main(["value", "run", "run", "--greedy", "--deals", "1000"]) == 0
    assert "+0.00 mbb/h" in capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", io.StringIO("call\ncheck\n" * 20))
    assert main(["play", "--terminal", "--bot", "run", "--hands", "2", "--seed", "1"]) == 0
    assert "bucket" in capsys.readouterr().out
    opponent = ["train", SMALL, "--solver", "uct", "--opponent", "run", "--episodes", "500"]
    assert main([*opponent, "--out", "answer"]) == 0
    assert "against the opponent" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["train", SMALL, "--solver", "uct", "--until", "0.1"], "not computed during training"),
        (["train", SMALL, "--solver", "cfr+", "--iterations", "5"], "a solver that samples"),
        (["train", "holdem(buckets='ehs2:0')", "--solver", "uct", "--episodes", "5"], "buckets, not 0"),
        (["train", "holdem(buckets='foo')", "--solver", "uct", "--episodes", "5"], "not the name of an"),
        (["train", "holdem(players=4)", "--solver", "uct", "--episodes", "5"], "players must be 2 or 3"),
        (["train", "holdem(buckets=5)", "--solver", "uct", "--episodes", "5"], "must be a text in quotes"),
        (["games", SMALL, "--check"], "too many to enumerate"),
        (
            ["play", "holdem(players=3)", "--terminal", "--bot", "default"],
            "plays holdem, not holdem(players=3)",
        ),
        (["value", "always-call", "nobody"], "no run or policy at nobody"),
        (["abstraction", "show", "ehs:10", "--hand", "1xAh"], "'1x' is not a card"),
        (["abstraction", "show", "ehs:10", "--hand", "AhAh"], "Ah appears twice"),
        (["abstraction", "show", "ehs:10", "--hand", "AhKh", "--board", "KhQh2c"], "Kh appears twice"),
        (["abstraction", "show", "ehs:10", "--board", "KhQh2c"], "--board needs --hand"),
        (["abstraction", "build", "ehs:10", "--hand", "AhKh"], "belong to"),
        (["abstraction", "build", "ehs:10/20"], "2 numbers of buckets"),
        (["abstraction", "build", "foo:10"], "no kind of abstraction 'foo'"),
    ],
)
def test_bad_input_gets_one_sentence(words, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    captured = capsys.readouterr()
    assert sentence in captured.err
    assert captured.err.count("\n") == 1
    assert not (tmp_path / "runs").exists()


@pytest.mark.slow
def test_exact_values_of_three_players_are_refused_in_a_sentence():
    policy = rule_policy(compile_any(THREE), "random")
    with pytest.raises(felt.FeltError, match="Exact values are for two players"):
        felt.exploitability(policy)
    with pytest.raises(felt.FeltError, match="Exact values are for two players"):
        values_against(policy, policy)


@pytest.mark.slow
def test_abstractions_at_the_command_line(tmp_path, capsys):
    assert main(["abstraction", "show", "ehs:10", "--plot", str(tmp_path / "plot.png"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [street["buckets"] for street in found["streets"].values()] == [10, 10, 10, 10]
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
    assert main(["abstraction", "show", "ehs:10", "--hand", "AhKh", "--board", "Qh7h2s", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["bucket"], found["street"]) == (7, "flop")
    assert found["ehs"] == pytest.approx(
        found["hs"] * (1 - found["npot"]) + (1 - found["hs"]) * found["ppot"]
    )
    assert main(["abstraction", "build", "ehs:10"]) == 0
    assert "134,459" in capsys.readouterr().out


def test_three_players_have_the_papers_buckets_by_default():
    assert felt.load_game("holdem(players=3, buckets='ehs2:169/1000/100/10')").name == "holdem(players=3)"
    assert felt.load_game("holdem(buckets='ehs2: 169/100/100/100')").name == "holdem"
    assert felt.load_game("holdem(players=3)").abstraction == "ehs2:169/1000/100/10"


def test_tables_that_cannot_fit_are_refused_in_a_sentence(monkeypatch):
    monkeypatch.setattr("openfelt.solve.sampling.sampling_solver.machine_memory", lambda: 1e6)
    with pytest.raises(felt.FeltError, match=r"uct needs 0\.0 GB for holdem.* this machine has"):
        felt.UCT(SMALL)


def test_opponents_by_name():
    answer = felt.UCT(SMALL, k=0.5, opponent="always-call", seed=1)
    assert answer.settings.opponent == "always-call"
    assert answer.opponent.weights.tobytes() == rule_policy(answer.tree, "always-call").weights.tobytes()


@pytest.mark.slow
def test_learning_against_an_opponent():
    answer = felt.UCT(SMALL, k=0.5, opponent="always-call", seed=1).run(200_000)
    value = holdem_value(answer.greedy, answer.opponent, deals=50_000)
    assert value.mbb > 300


def test_a_bot_of_other_buckets_sits_at_the_same_table(tmp_path):
    felt.save_policy(rule_policy(compile_any(SMALL), "random"), tmp_path)
    assert felt.load_policy(tmp_path, "holdem").tree.game == SMALL
    with pytest.raises(felt.FileError, match="does not match"):
        felt.load_policy(tmp_path, "holdem(players=3)")
    with pytest.raises(felt.FileError, match="does not match"):
        felt.load_policy(tmp_path, "leduc")


def test_what_cannot_be_said_of_holdem_is_refused():
    solver = felt.UCT(SMALL, k=0.5).run(10)
    for refused in (
        solver.measure,
        lambda: solver.run(until=0.1),
    ):
        with pytest.raises(felt.FeltError, match="not computed during training"):
            refused()


@pytest.mark.slow
def test_the_bot_that_comes_along():
    bot = felt.load_policy("default")
    for rule in ("always-call", "always-raise", "random"):
        value = holdem_value(bot, rule_policy(bot.tree, rule), deals=50_000)
        assert value.mbb > 2 * value.interval(), rule
