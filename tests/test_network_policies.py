"""Network policies are measured exactly: against the enumerated game, against tables, on sampled flops."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest
from small_holdem import SmallHoldem, canonical_hands, random_player, slot_of
from small_networks import FewBets, network_player as one_layer, random_perceptron

import openfelt as felt
from openfelt.bots.policy_bot import policy_bot
from openfelt.cards.boards import PERMUTED_PAIR, find_board
from openfelt.cards.deck import PAIR, PAIR_CARDS, parse_cards
from openfelt.cards.public_cards import Deck
from openfelt.cards.runouts import Runouts
from openfelt.cli.app import main
from openfelt.games.compile.compiler import compile_game
from openfelt.games.features.holdem import HoldemFeatures
from openfelt.games.holdem import Holdem
from openfelt.measure.exploitability import exploitability, values_against
from openfelt.measure.holdem.exploitability import Measure, Sample
from openfelt.measure.holdem.flop_solver import Task, solve
from openfelt.measure.holdem.network import NetworkPlayer
from openfelt.measure.holdem.player import rule_player
from openfelt.policy.network import NetworkPolicy
from openfelt.policy.tabular import TabularPolicy, normalised

NINE = Deck(3, 3)
BOTH = (0, 1)


class RandomNetwork:
    """Two layers of random weights, in numpy."""

    def __init__(self, size: int, seed: int, hidden: int = 16, sharpness: float = 2.0) -> None:
        draw = np.random.default_rng(seed)
        self.first = draw.normal(size=(size, hidden)) * 0.7
        self.last = draw.normal(size=(hidden, 3)) * sharpness

    def __call__(self, features, masks):
        return np.exp(np.tanh(features @ self.first) @ self.last)


class SplitNetwork(RandomNetwork):
    """The same, with the first layer computed for betting lines and hands separately."""

    def on_board(self, betting, cards, masks):
        split = betting.shape[1]
        hidden = (betting @ self.first[:split])[:, None] + cards @ self.first[split:]
        return np.exp(np.tanh(hidden) @ self.last)


def network_player(bets: int, seed: int, kind=RandomNetwork, **how) -> NetworkPlayer:
    rules = FewBets(bets=bets)
    network = kind(HoldemFeatures(rules).size, seed, **how)
    return NetworkPlayer(NetworkPolicy(rules, network))


@cache
def nine_cards():
    """Infosets of the whole game with one bet a street: [rows, size] their vectors."""
    tree, layout = compile_game(SmallHoldem(3, 3, bets=1)), HoldemFeatures(FewBets(bets=1))
    vectors, cut = np.empty((tree.num_rows, layout.size), np.float32), layout.layout.cards
    of_line, of_cards = {}, {}
    for row in range(tree.num_rows):
        words, seat = tree.row_name(row).split(), tree.row_player(row)
        cards = tuple(word for word in words if word[0] in "QKA")
        line = tuple(word for word in words if word[0] not in "QKA")
        if cards not in of_cards or (seat, line) not in of_line:
            hole, *board = map(parse_cards, cards)
            vector = layout.encode(seat, hole, [card for group in board for card in group], line)
            of_line[seat, line], of_cards[cards] = vector[:cut], vector[cut:]
        vectors[row, :cut], vectors[row, cut:] = of_line[seat, line], of_cards[cards]
    return tree, vectors


def enumerated(player: NetworkPlayer) -> TabularPolicy:
    """The network's policy at every infoset of the enumerated game."""
    tree, vectors = nine_cards()
    number = np.array([{"fold": 0, "check": 1, "call": 1}.get(word, 2) for word in tree.labels])
    row = np.repeat(np.arange(tree.num_rows), np.diff(tree.rows.first_slot))
    weights = player.policy.network(vectors, None)[row, number[tree.rows.slot_label]]
    return TabularPolicy(tree, normalised(tree, weights))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [RandomNetwork, SplitNetwork])
def test_a_network_is_as_exploitable_as_in_the_enumerated_game(kind):
    for seed in (1, 2):
        player = network_player(1, seed, kind)
        best = exploitability(enumerated(player)).best_responses
        found = [solve(Task(player, seat), NINE) for seat in BOTH]
        assert found == pytest.approx(best, abs=1e-6)
        assert min(found) > 0.3  # a random network is bad


@pytest.mark.slow
def test_the_values_of_a_network_are_those_of_the_enumerated_game():
    one, two = network_player(1, 3), network_player(1, 4, sharpness=5.0)
    policies = enumerated(one), enumerated(two)
    found = [solve(Task(two, seat, one), NINE) for seat in BOTH]
    assert found == pytest.approx(values_against(*policies), abs=1e-6)
    assert max(map(abs, found)) > 0.01


@pytest.mark.slow
def test_a_network_against_a_table_wins_what_the_table_loses():
    network, table = network_player(1, 5), random_player(NINE, 1, seed=6, buckets=4)
    for seat in BOTH:
        won, lost = solve(Task(table, seat, network), NINE), solve(Task(network, 1 - seat, table), NINE)
        assert won == pytest.approx(-lost, abs=1e-9)
        assert abs(won) > 1e-3


class TableNetwork:
    """A table player as a network: it finds its infosets from the vectors."""

    def __init__(self, player, layout: HoldemFeatures) -> None:
        self.player, self.layout = player, layout
        betting, _ = layout.betting_table()
        node = player.betting.node
        self.nodes = {betting[here].tobytes(): here for here in range(len(node)) if node[here, 0] >= 0}

    def on_board(self, betting, cards, masks):
        weights = np.zeros((len(betting), len(cards), 3))
        for hand, columns in enumerate(cards):
            groups = columns.reshape(4, 52)
            board = [int(card) for group in groups[:3] for card in np.flatnonzero(group)]
            number, through = find_board(board)
            hole = int(PAIR[tuple(np.flatnonzero(groups[3]))])
            street = {0: 0, 3: 1, 4: 2, 5: 3}[len(board)]
            bucket = self.player.buckets[street][number, PERMUTED_PAIR[through, hole]]
            for line, row in enumerate(betting):
                first = int(slot_of(self.player, self.nodes[row.tobytes()], np.asarray(bucket)))
                legal = np.flatnonzero(masks[line])
                weights[line, hand, legal] = self.player.probabilities[first : first + len(legal)]
        return weights


@pytest.mark.slow
@pytest.mark.parametrize("bets", [1, 2])
def test_a_table_written_as_a_network_is_worth_the_same(bets):
    """All boards of a small deck, with more bets than the enumerated game can have."""
    table, rules = random_player(NINE, bets, seed=7), FewBets(bets=bets)
    assert canonical_hands(NINE, 0)[1] > 1
    network = NetworkPlayer(NetworkPolicy(rules, TableNetwork(table, HoldemFeatures(rules))))
    for seat in BOTH:
        assert solve(Task(network, seat), NINE) == pytest.approx(solve(Task(table, seat), NINE), abs=1e-9)


class CallNetwork:
    """Raises with two cards of one rank in the hand, else calls; factored."""

    def on_board(self, betting, cards, masks):
        ranks = cards[:, -52:].reshape(len(cards), 13, 4).sum(axis=2)
        paired = (ranks == 2).any(axis=1)
        weights = np.zeros((len(betting), len(cards), 3), np.float32)
        weights[:, :, 1] = 1.0
        raises = masks[:, None, 2] & paired
        weights[raises] = 0, 0, 1
        return weights


@pytest.mark.slow
def test_sampled_flops_of_the_full_deck_give_what_the_table_gives():
    """One bet a street: the same player as a table with two buckets and as a network."""
    rules, deck = FewBets(bets=1), Deck()
    few = [place for place, flop in enumerate(deck.flops) if flop.multiplicity == 4]  # of much symmetry
    sample = Sample(np.array([few[0]]), np.array([2]), 2)  # drawn twice
    network = NetworkPlayer(NetworkPolicy(rules, CallNetwork()))
    table = pairs_raise()
    found = [Measure(player, sample=sample, deck=deck).run() for player in (network, table)]
    assert found[0].won == pytest.approx(found[1].won, abs=1e-4)  # single precision
    assert found[0].won[0] != 0


def pairs_raise():
    """The player of CallNetwork by table."""
    from openfelt.games.compile.betting_tree import FACING_SHIFT, KIND, PLACE, PLAYER

    one = rule_player("always-call", 1)
    layout, node = one.layout, one.betting.node
    slots = layout.edges * 2
    base = (np.cumsum(slots) - slots.ravel()).reshape(slots.shape)
    layout = layout._replace(slot_base=base, buckets=np.full_like(layout.buckets, 2))
    probabilities = np.zeros(int(slots.sum()))
    for here in np.flatnonzero(node[:, PLAYER] >= 0):
        kind, place = int(node[here, KIND]), (int(node[here, KIND]) >> 3 & 3, int(node[here, PLAYER]))
        facing, actions = kind >> FACING_SHIFT & 1, kind & 3
        for bucket in range(2):
            first = base[place] + bucket * layout.edges[place] + node[here, PLACE] - layout.first_edge[place]
            chosen = actions - 1 if bucket and actions - 1 > facing else facing
            probabilities[first + chosen] = 1.0
    paired = (PAIR_CARDS[:, 0] // 4 == PAIR_CARDS[:, 1] // 4).astype(np.uint16)
    buckets = tuple(np.broadcast_to(paired, table.shape).copy() for table in one.buckets)
    return type(one)("pairs raise", one.betting, layout, probabilities, buckets)


def test_networks_of_enumerated_games_become_tables():
    layout = felt.features("leduc")
    weights = np.random.default_rng(1).normal(size=(layout.size, 5))
    policy = felt.network_policy("leduc", lambda features, masks: np.exp(features @ weights))
    row = policy.tree.find_row(1, "Q bet")
    own = np.exp(layout.table()[row] @ weights)
    legal = [layout.number(word) for word in policy.tree.actions(row)]
    np.testing.assert_allclose(policy.row(row), own[legal] / own[legal].sum(), rtol=1e-6)
    uniform = felt.network_policy("leduc", lambda features, masks: masks)
    np.testing.assert_allclose(uniform.probabilities, felt.uniform_policy("leduc").probabilities)


@pytest.mark.parametrize(
    ("network", "reason"),
    [
        (lambda features, masks: masks * np.nan, "must be finite"),
        (lambda features, masks: -1.0 * masks, "not negative"),
        (lambda features, masks: ~masks, "not all zero"),
        (lambda features, masks: masks[:, :2], "returned an array of shape"),
        (lambda features, masks: masks[0], "returned an array of shape"),
    ],
)
def test_bad_weights_are_refused(network, reason):
    with pytest.raises(felt.FeltError, match=reason):
        felt.network_policy("leduc", network)


@pytest.mark.slow
def test_a_network_of_holdem_at_one_decision():
    layout = felt.features("holdem")
    for kind in (RandomNetwork, SplitNetwork):
        policy = felt.network_policy("holdem", kind(layout.size, 1))
        at = policy.at_decision(0, parse_cards("AhKh"), parse_cards("Qh7h2s"), ["raise", "call"])
        assert (at[0], at.sum()) == (0.0, pytest.approx(1.0))
        again = policy.at_decision(0, parse_cards("AcKc"), parse_cards("Qc7c2d"), ["raise", "call"])
        np.testing.assert_array_equal(at, again)
        pairs = np.array([PAIR[tuple(parse_cards("AhKh"))], 0])
        node = felt.load_policy("default").tree.find_node(["raise", "call"])
        board = policy.on_board(parse_cards("Qh7h2s"), pairs, np.array([node]))
        np.testing.assert_allclose(board[0, 0], at, rtol=1e-6)


def test_networks_are_for_two_players():
    three = felt.network_policy("holdem(players=3)", CallNetwork())
    with pytest.raises(felt.FeltError, match="Exact values are for two players"):
        felt.exploitability(three)


def test_a_gpu_measures_networks_with_one_hidden_layer(monkeypatch):
    monkeypatch.setattr("openfelt.measure.holdem.exploitability.choose_device", lambda wanted, **_: wanted)
    other, deep = CallNetwork(), random_perceptron(4, 1, 3, 3)
    for policy in (felt.network_policy("holdem", other), deep, deep.greedy()):
        with pytest.raises(felt.FeltError, match=r"--device cpu: .* networks with one hidden layer"):
            felt.exploitability(policy, device="cuda")
        assert Measure(NetworkPlayer(policy), deck=NINE, device="auto").device == "cpu"
    one, table = one_layer(1, 1), rule_player("always-call", 1)
    for player, ours in ((one, None), (one_layer(1, 1, greedy=True), None), (table, one), (one, table)):
        for runouts in (Runouts(), Runouts(2, 2)):
            assert Measure(player, ours, deck=NINE, runouts=runouts, device="cuda").device == "cuda"
    with pytest.raises(felt.FeltError, match="without a network are sampled on the CPU"):
        Measure(table, deck=NINE, runouts=Runouts(2, 2), device="cuda")


PROGRAM = """
import numpy as np
import openfelt as felt

def policy(game):
    draw = np.random.default_rng(1).normal(size=(felt.features(game).size, len(felt.features(game).actions)))
    return felt.network_policy(game, lambda features, masks: np.exp(features @ draw))

def nothing(game):
    return 7
"""


@pytest.mark.slow
def test_a_network_in_a_file_is_measured_and_plays(tmp_path, capsys):
    path = tmp_path / "network.py"
    path.write_text(PROGRAM)
    policy = felt.load_measurable(f"{path}:policy", "leduc")
    assert main(["exploit", f"{path}:policy", "--game", "leduc", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["nash_conv"] == felt.exploitability(policy).nash_conv
    result = felt.match(f"{path}:policy", "always-call", game="leduc", hands=200)
    assert result.scores[0].hands == 200
    assert felt.load_bot(f"{path}:policy", "kuhn").fixed_policy.game == "kuhn"
    with pytest.raises(felt.FeltError, match="must make a bot or a policy, not int"):
        felt.load_bot(f"{path}:nothing", "leduc")
    with pytest.raises(felt.FeltError, match="no function missing"):
        felt.load_measurable(f"{path}:missing", "leduc")
    assert isinstance(felt.load_measurable(f"{path}:policy"), NetworkPolicy)


@pytest.mark.slow
def test_a_network_plays_holdem():
    policy = felt.network_policy("holdem", CallNetwork())
    bots = policy_bot(policy, Holdem()), felt.load_bot("always-call", "holdem")
    result = felt.match(*bots, game="holdem", hands=40, strict=True)
    assert result.scores[0].style.seen_flops == 1.0  # it never folds
    assert policy.at_decision(1, parse_cards("2c2d"), (), []).tolist() == [0, 0, 1]
    assert policy.at_decision(1, parse_cards("AcKc"), (), []).tolist() == [0, 1, 0]
