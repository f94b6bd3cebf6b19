"""CFR-BR on small decks: as its plain twin, and towards the least exploitable policy of an abstraction."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from slow_cfr_br import SlowCFRBR
from small_holdem import ALIKE, SmallHoldem, SmallState, live_cards, live_pairs
from speed import slow
from test_exact import solve

import openfelt as felt
from openfelt.cards.abstraction.abstraction import BucketTables
from openfelt.cards.abstraction.lossless import flop_hands
from openfelt.cards.abstraction.spec import ALL_HANDS, parse_spec
from openfelt.cards.boards import PERMUTED_PAIR, board_set, find_board
from openfelt.cards.deck import BOARD_CARDS, FLOP, PAIR_CARDS, PAIRS, PREFLOP, STREETS, parse_cards
from openfelt.cards.evaluator import hand_value
from openfelt.cards.public_cards import Deck
from openfelt.games.compile.betting_tree import PLACE, betting_tree
from openfelt.games.compile.compiler import compile_game
from openfelt.games.game import CHANCE
from openfelt.games.holdem import Holdem
from openfelt.measure.holdem.flop_solver import Task
from openfelt.measure.holdem.player import Player
from openfelt.policy.files import policy_from_weights
from openfelt.solve.vector.betting_lines import betting_lines
from openfelt.solve.vector.cfr_br import CFRBR
from openfelt.solve.vector.public_boards import PublicBoards
from openfelt.solve.vector.vector_solver import BoardUnit

NINE = Deck(3, 3)
ACE = 12


def hole_bucket(hole) -> int:
    """A pair, an ace, or neither."""
    ranks = {card // 4 for card in hole}
    return 0 if len(ranks) == 1 else 1 if ACE in ranks else 2


def river_bucket(deck, hole, board) -> int:
    """Above the median hand of the board or not; the hole bucket is remembered."""
    return 2 * hole_bucket(hole) + (hand_value((*hole, *board)) > median(deck, tuple(sorted(board))))


@cache
def median(deck, board) -> int:
    left = [card for card in live_cards(deck) if card not in board]
    values = sorted(hand_value((*hole, *board)) for hole in combinations(left, 2))
    return values[len(values) // 2]


@dataclass(frozen=True)
class Bucketed(SmallHoldem):
    """One seat sees the buckets of its hole cards and of the river only."""

    seat: int = 0

    def sees(self, state: SmallState, action: str, player: int) -> str:
        if player != self.seat or self.turn(state) != CHANCE:
            return super().sees(state, action, player)
        cards = parse_cards(action)
        if len(state.hands) < 2:
            return f"hole {hole_bucket(cards)}" if len(state.hands) == player else ""
        board = (*state.board, *cards)
        if len(board) < 5:
            return ""
        return f"river {river_bucket(Deck(self.ranks, self.suits), state.hands[player], board)}"


@cache
def bucket_tables(deck):
    """By street [canonical boards, 1326]; filled where the deck has the cards."""
    tables = []
    for size in BOARD_CARDS:
        table = np.zeros((len(board_set(size).key), PAIRS), ALIKE)
        for board in combinations(live_cards(deck), size):
            number, seen_as = find_board(board)
            for pair in live_pairs(deck):
                hole = PAIR_CARDS[pair].tolist()
                if not {*hole} & {*board}:
                    bucket = river_bucket(deck, hole, board) if size == 5 else hole_bucket(hole)
                    table[number, PERMUTED_PAIR[seen_as, pair]] = bucket
        tables.append(table)
    return BucketTables(*tables)


def learner(deck=NINE, bets=1, kind=CFRBR, *, lossless=False, **options):
    """A solver with few buckets, or with all hands on the flop."""
    tables, counts = bucket_tables(deck), (3, 3, 3, 6)
    if lossless:
        tables, counts = tables._replace(flop=flop_hands()), (3, ALL_HANDS[FLOP], 3, 6)
    rules = SimpleNamespace(name="small", players=2, bets=bets)
    abstraction = SimpleNamespace(counts=counts, tables=lambda: tables, fingerprint="small")
    return kind(betting_tree(rules, abstraction), deck=deck, **options)


def player_of(solver):
    tree, tables = solver.tree, solver.tree.abstraction.tables()
    weights, probabilities = solver.weights, np.empty(tree.num_slots)
    node = tree.node
    for here in np.flatnonzero(node[:, 0] >= 0):
        for bucket in range(int(tree.layout.buckets[tree.street(here), node[here, 0]])):
            slots = tree.slots(int(here), bucket)
            total = weights[slots].sum()
            probabilities[slots] = weights[slots] / total if total > 0 else 1.0 / (slots.stop - slots.start)
    return Player("learned", betting_lines(tree.most_bets), tree.layout, probabilities, tuple(tables))


def regrets_of(solver, seat, tables, player, node, row):
    """Those of one seat's learner, or of the opponent against it."""
    tree, street = solver.tree, solver.tree.street(node)
    if player == seat or isinstance(solver, felt.PublicChanceCFR):
        return tables["regrets"][tree.slots(node, row)]
    first = int(tree.node[node, PLACE] - tree.layout.first_edge[street, player])
    return tables[f"opponent.{seat}.{STREETS[street]}"][row, first : first + len(tree.actions(node))]


@dataclass(frozen=True)
class BothBucketed(Bucketed):
    """Both seats see buckets only."""

    def sees(self, state: SmallState, action: str, player: int) -> str:
        return Bucketed(self.ranks, self.suits, self.bets, player).sees(state, action, player)


def in_buckets(solver):
    """The policy of a solver in the enumerated abstract game."""
    tree, weights = compile_game(BothBucketed()), solver.weights
    found = np.zeros(tree.num_slots)
    for row in range(tree.num_rows):  # named as "hole 1 call check river 3 bet"
        before, _, after = tree.row_name(row).partition(" river ")
        _, hole, *line = before.split()
        bucket, *rest = after.split() or [hole]
        found[tree.slots(row)] = weights[
            solver.tree.slots(solver.tree.find_node([*line, *rest]), int(bucket))
        ]
    return policy_from_weights(tree, found)


def assert_same(solver, seat, twin):
    """The tables of one seat, and the opponent's regrets, as the twin has them."""
    tables = solver.tables()
    for (player, node, row), regrets in twin.regrets.items():
        own = regrets_of(solver, seat, tables, player, node, row)
        assert own == pytest.approx(regrets, rel=1e-9), (player, node, row)
        if player == seat:
            average = tables["average"][solver.tree.slots(node, row)]
            wanted = twin.average[node, row] + np.zeros(len(average))
            assert average == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    assert len(twin.regrets) > 100


def twin_of(solver, seat):
    """It begins with the same large regrets: as no action has probability 0, no two are equally good."""
    tables, draw = solver.tables(), np.random.default_rng(5)
    for name, table in tables.items():
        if name != "average":
            table[...] = draw.uniform(1e4, 3e4, table.shape)
    solver._resumed()
    begun = {name: table.copy() for name, table in tables.items()}
    beginning = partial(regrets_of, solver, seat, begun)
    trunk_rows = getattr(solver, "_trunk_rows", None)
    return SlowCFRBR(solver.tree, live_cards(solver.deck), seat, trunk_rows, beginning)


@pytest.mark.parametrize("seat", range(2))
@pytest.mark.parametrize(("deck", "bets", "trunk"), [(NINE, 1, "hands"), slow(Deck(5, 2), 2, "buckets")])
def test_iterations_are_those_of_the_plain_twin(deck, bets, trunk, seat):
    solver = learner(deck, bets, trunk=trunk, delay=1, seed=3)
    twin = twin_of(solver, seat)
    for number in range(1, 4):
        twin.iterate(solver._boards.cards(solver.board(number)).tolist(), 1.0, max(0, number - 1))
    solver.run(3)
    assert_same(solver, seat, twin)


@pytest.mark.slow
@pytest.mark.made_up_buckets
@pytest.mark.parametrize("kind", [CFRBR, felt.PublicChanceCFR])
@pytest.mark.parametrize("seat", range(2))
def test_a_lossless_flop_is_learned_as_by_the_plain_twin(kind, seat):
    solver = learner(NINE, 1, kind, lossless=True, delay=1, seed=3)
    twin = twin_of(solver, seat)
    for number in range(1, 4):
        twin.iterate(solver._boards.cards(solver.board(number)).tolist(), 1.0, max(0, number - 1))
    solver.run(3)
    assert_same(solver, seat, twin)


@pytest.mark.parametrize("seat", range(2))
@pytest.mark.parametrize(("deck", "bets", "step"), [(NINE, 1, 2), slow(Deck(4, 3), 1, 3)])
def test_with_sampled_rivers_the_average_iteration_is_the_whole_one(deck, bets, step, seat):
    """Over all offsets, with the same policies; the opponent, our average and its winnings are the same."""
    sampled, whole = learner(deck, bets, river_step=step, seed=3), learner(deck, bets, seed=3)
    draw = np.random.default_rng(5)
    begun = {name: draw.uniform(1e4, 3e4, table.shape) for name, table in whole.tables().items()}

    def found(solver, offset):
        for name, table in solver.tables().items():
            table[...] = begun[name]
        solver._resumed()
        won = solver._deal(BoardUnit(solver.board(1), seat, offset, (1.0, 1.0)))
        return {name: table - begun[name] for name, table in solver.tables().items()} | {"won": won}

    wanted, parts = found(whole, 0), [found(sampled, offset) for offset in range(step)]
    for name, added in wanted.items():
        if name == "regrets":
            assert np.ptp([part[name] for part in parts], axis=0).max() > 1  # a part differs from the whole
            np.testing.assert_allclose(sum(part[name] for part in parts) / step, added, rtol=1e-6, atol=1e-6)
        else:
            for part in parts:
                np.testing.assert_allclose(part[name], added, rtol=1e-9, atol=1e-9)


def test_the_weights_of_sampled_rivers_cover_each_river_once():
    boards = PublicBoards(Deck(5, 3))
    for board in range(0, len(boards.places), 7):
        parts = [boards.sampled_rivers(board, 3, offset) for offset in range(3)]
        free = boards.deck.live.astype(bool)
        free[boards.cards(board)] = False
        assert np.array_equal(sum(part > 0 for part in parts), free)
        assert {weight for part in parts for weight in part.tolist()} == {0.0, 3.0}
        assert np.array_equal(boards.sampled_rivers(board, 1, 0), free)


def test_a_lossless_flop_leaves_the_opponent_with_all_hands():
    """On the flop its rows are then the same with either trunk; before it they are three buckets or 169."""
    buckets, hands = (learner(lossless=True, trunk=trunk, seed=1).run(4) for trunk in ("buckets", "hands"))
    assert buckets._trunk_counts == (3, ALL_HANDS[FLOP])
    assert hands._trunk_counts == (169, ALL_HANDS[FLOP])
    assert np.array_equal(buckets._trunk_rows[1], hands._trunk_rows[1])
    flop = buckets.tables()["regrets"][next(buckets.tree.player_slots(0)).stop :]
    assert (flop != 0).any()


@pytest.mark.parametrize("seat", range(2))
@pytest.mark.parametrize(("deck", "bets"), [(NINE, 1), slow(Deck(5, 2), 2)])
def test_public_chance_sampling_is_that_of_the_plain_twin(deck, bets, seat):
    solver = learner(deck, bets, felt.PublicChanceCFR, delay=1, seed=3)
    twin = twin_of(solver, seat)
    for number in range(1, 4):
        twin.iterate(solver._boards.cards(solver.board(number)).tolist(), 1.0, max(0, number - 1))
    solver.run(3)
    assert_same(solver, seat, twin)


@pytest.mark.slow
def test_public_chance_sampling_approaches_an_equilibrium_of_the_abstract_game():
    """In which both seats see buckets: what each could gain there falls with the iterations."""
    solver, found = learner(kind=felt.PublicChanceCFR, seed=1), []
    for iterations in (1_000, 15_000):
        solver.run(iterations)
        found.append(felt.exploitability(in_buckets(solver)).nash_conv)
    assert found[1] < found[0] / 2
    assert found[1] < 0.05


@pytest.mark.parametrize("step", [1, 3])
def test_a_run_is_resumed_to_the_bit_with_any_number_of_threads(step, tmp_path):
    whole = learner(seed=1, river_step=step).run(40)
    part = learner(seed=1, river_step=step, threads=2).run(15)
    part.save(tmp_path / "checkpoint")
    resumed = learner(seed=1, river_step=step)
    resumed.resume(tmp_path / "checkpoint")
    resumed.run(25)
    for name, table in whole.tables().items():
        assert np.array_equal(table, resumed.tables()[name]), name


def test_the_average_begins_after_the_delay():
    early, late = learner(seed=1).run(10), learner(seed=1, delay=10).run(10)
    assert np.array_equal(early.tables()["regrets"], late.tables()["regrets"])
    assert early.weights.any()
    assert not late.weights.any()


def test_the_average_is_weighted_with_a_power_of_the_iterations_after_the_delay():
    """Three runs of the same boards: after the first one that counts, and after two with either power."""
    first, linear = learner(seed=1, delay=3).run(4), learner(seed=1, delay=3).run(5)
    cubic = learner(seed=1, delay=3, gamma=3).run(5)
    last = (linear.weights - first.weights) / 2
    assert last.any()
    np.testing.assert_allclose(cubic.weights, first.weights + 8 * last, rtol=1e-12, atol=1e-12)


def test_boards_come_as_often_as_is_likely():
    solver, draws = learner(seed=2), 20_000
    counts = np.bincount(
        [solver.board(number) for number in range(draws)], minlength=len(solver._boards.places)
    )
    chances = np.diff(solver._boards._bounds, prepend=0.0)
    assert counts == pytest.approx(draws * chances, abs=4)  # independent draws would differ by dozens
    cards = solver._boards.cards(int(counts.argmax()))
    assert len({*cards.tolist()}) == 4
    assert solver.deck.live[cards].all()


@pytest.mark.slow
def test_it_approaches_the_least_exploitable_policy_of_an_abstraction_with_perfect_recall():
    """The bounds are those of CFR+ in the enumerated game in which one seat sees buckets only."""
    solver, gaps = learner(trunk="hands", seed=1, threads=2), []
    bounds = []
    for seat in range(2):
        found = felt.exploitability(felt.CFRPlus(Bucketed(seat=seat)).run(300).policy)
        bounds.append((-found.best_responses[seat], found.best_responses[1 - seat]))
        assert bounds[seat][1] - bounds[seat][0] < 0.01
    for iterations in (2_000, 30_000):
        solver.run(iterations)
        player = player_of(solver)
        best = [solve(Task(player, 1 - seat), NINE) for seat in range(2)]
        assert all(best[seat] > bounds[seat][0] for seat in range(2))
        gaps.append([best[seat] - bounds[seat][0] for seat in range(2)])
    assert max(gaps[1]) < 0.05
    assert all(late < early / 2 for early, late in zip(*gaps, strict=True))  # 16 times the iterations


@pytest.mark.slow
def test_the_opponent_of_a_fixed_policy_wins_what_a_best_response_wins():
    """Our regrets are so large that they do not change; before the turn the opponent learns to respond."""
    solver = learner(trunk="hands", seed=1, threads=2)
    regrets = solver.tables()["regrets"]
    regrets[...] = np.random.default_rng(4).uniform(1e12, 3e12, len(regrets))
    solver._resumed()
    solver.run(20_000)
    player = player_of(solver)
    best = [solve(Task(player, 1 - seat), NINE) for seat in range(2)]
    assert solver.opponent_value == pytest.approx(best, rel=0.02)


def test_the_opponents_winnings_are_of_the_last_iterations_and_need_some():
    with pytest.raises(felt.FeltError, match="cfr-br has run no iterations yet"):
        _ = learner().opponent_value
    solver = learner(seed=1).run(36)
    before = solver._opponent_chips()
    solver.run(4)
    won = solver._opponent_chips() - before
    assert solver.opponent_value == pytest.approx(won / 4 / (10 * 3))  # hands on a board, and against each


@pytest.mark.parametrize(
    ("buckets", "on_gpu", "beside_it", "on_cpu"),
    [
        ("ochs:169/5000/5000/5000", "3.8", 1.3, 2.0),
        ("ochs:169/9000/20000/30000", "11.2", 7.6, 11.5),
        ("ochs:169/lossless/5000/5000", "9.4", 6.9, 9.5),
        ("ochs:169/lossless/20000/30000", "16.7", 13.2, 18.9),
    ],
)
def test_the_memory_of_the_tables_is_that_of_the_page(buckets, on_gpu, beside_it, on_cpu, monkeypatch):
    """In GB, as docs/cfr-br.md says: 16 boards in flight and the opponent's regrets in our buckets."""
    iterations = pytest.importorskip("openfelt.solve.vector.gpu.iterations")
    counts = parse_spec(buckets).counts
    tree = betting_tree(Holdem(buckets=buckets), SimpleNamespace(counts=counts))
    monkeypatch.setattr(iterations, "free_memory", lambda: 0)
    monkeypatch.setattr(iterations, "gpu_name", lambda: "none")
    with pytest.raises(felt.FeltError, match=rf"needs {on_gpu} GB on the GPU"):
        iterations._require_memory(tree, SimpleNamespace(rivers=48), 16, counts[FLOP])
    trunk = sum(counts[street] * int(tree.layout.edges[street].sum()) for street in (PREFLOP, FLOP))
    for tables, wanted in ((2, beside_it), (3, on_cpu)):  # regrets, average, and on the CPU the policy
        assert 8 * (tables * tree.num_slots + trunk) / 1e9 == pytest.approx(wanted, abs=0.06)


@pytest.mark.parametrize(
    ("game", "options", "says"),
    [
        ("leduc", {}, "learns two-player hold'em, not leduc"),
        ("holdem(players=3,buckets='ehs:2')", {}, "learns two-player hold'em"),
        (None, {"trunk": "flops"}, "trunk must be buckets or hands, not flops"),
        (None, {"delay": -1}, "delay must be a number of 0 or more, not -1"),
        (None, {"river_step": 2.5}, "river_step must be a whole number, not 2.5"),
        (None, {"river_step": 0}, "river_step must be a number from 1 to 8, not 0"),
        (None, {"gamma": 5}, "gamma must be a number from 0 to 4, not 5"),
        (None, {"gamma": float("nan")}, "gamma must be a number from 0 to 4, not nan"),
    ],
)
def test_bad_settings_get_a_sentence(game, options, says):
    with pytest.raises(felt.FeltError, match=says):
        CFRBR(game, **options) if game else learner(**options)
