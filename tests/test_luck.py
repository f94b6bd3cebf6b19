"""Luck taken out: exact equities, AIVAT without variance and without bias, and matches as hand histories."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from phevaluator import evaluate_cards
from speed import slow

import openfelt as felt
from openfelt.arena.hand_kernels import deal_block, random_streams
from openfelt.arena.match import match
from openfelt.arena.match_blocks import FRESH, Contest, Setup
from openfelt.arena.statistics.aivat import tree_aivat
from openfelt.bots.policy_bot import TreeBot
from openfelt.cards.deck import PAIR_CARDS, card_text
from openfelt.cards.equity import RUNOUTS, deal_equities, equity, matchups
from openfelt.cards.evaluator import hand_values
from openfelt.cards.strength import hand_strength
from openfelt.hands.check import check_record
from openfelt.hands.phh import read_phh
from openfelt.hands.store import HandStore
from openfelt.measure.exploitability import values_against


def by_enumeration(own: tuple[int, ...], theirs: tuple[int, ...], board: tuple[int, ...]) -> float:
    """Over all boards, with phevaluator's ranks (lower is better)."""
    rest = [card for card in range(52) if card not in own + theirs + board]
    won = count = 0
    for more in itertools.combinations(rest, 5 - len(board)):
        table = [card_text(card) for card in board + more]
        mine, other = (evaluate_cards(*table, *map(card_text, hand)) for hand in (own, theirs))
        won += 2 * (mine < other) + (mine == other)
        count += 2
    return won / count


@pytest.mark.parametrize("size", [3, 4, 5])
def test_equities_after_the_flop_are_those_of_phevaluator(size):
    generator = np.random.default_rng(size)
    for _ in range(3):
        cards = tuple(int(card) for card in generator.permutation(52)[: 4 + size])
        own, theirs, board = cards[:2], cards[2:4], cards[4:]
        assert equity(own, theirs, board) == pytest.approx(by_enumeration(own, theirs, board), abs=1e-12)


@pytest.mark.parametrize(
    ("own", "theirs", "published"),
    [("AsAh", "KsKh", 0.8263661), ("AsAh", "KcKd", 0.8125549), ("AhKh", "QsQd", 0.4621446)],
)
def test_published_equities_before_the_flop(own, theirs, published):
    assert equity(own, theirs) == pytest.approx(published, abs=5e-8)
    assert equity(own, theirs) + equity(theirs, own) == 1.0


@pytest.mark.slow
def test_equities_before_the_flop_by_enumeration():
    """Over all 1,712,304 boards, with our evaluator, which other tests hold against phevaluator's."""
    for own, theirs in (((0, 5), (17, 34)), ((51, 50), (3, 7))):
        rest = [card for card in range(52) if card not in own + theirs]
        boards = np.array(list(itertools.combinations(rest, 5)), np.uint8)
        hands = [np.hstack([boards, np.full((len(boards), 2), hand, np.uint8)]) for hand in (own, theirs)]
        mine, other = map(hand_values, hands)
        assert len(boards) == RUNOUTS
        assert equity(own, theirs) == (2 * (mine > other).sum() + (mine == other).sum()) / (2 * RUNOUTS)


def test_the_mean_equity_of_a_hand_is_its_strength():
    """The 1,225 opponents of a hand average to its EHS, which was counted in quite another way."""
    for pair in (0, 77, 500, 1325):
        own = PAIR_CARDS[pair].tolist()
        others = [other.tolist() for other in PAIR_CARDS if not set(other.tolist()) & set(own)]
        mean = np.mean([equity(own, other) for other in others])
        assert mean == pytest.approx(hand_strength(own).ehs, abs=1e-12)
    assert matchups().score.shape == (169, 1326)


def test_equities_of_deals():
    deals = deal_block(2, random_streams(3), 0, 4)
    found = deal_equities(deals.cards)
    for cards, row in zip(deals.cards.tolist(), found, strict=True):
        for street, size in enumerate((0, 3, 4, 5)):
            assert row[street] == equity(cards[:2], cards[2:4], cards[4 : 4 + size])


def test_equity_refuses_what_is_no_hand():
    with pytest.raises(felt.FeltError, match="twice"):
        equity("AhKh", "AhQd")
    with pytest.raises(felt.FeltError, match="two hole cards"):
        equity("Ah", "KdQd")


@pytest.mark.parametrize("name", ["kuhn", "leduc", "kuhn(players=3)", "goofspiel(3)", "bluff(1,1,3)"])
def test_with_exact_values_no_luck_is_left(name):
    """Both policies known: every hand is worth the same, and that is the exact value."""
    policies = [felt.random_policy(name, seed) for seed in range(felt.load_game(name).players)]
    tree = policies[0].tree
    adjusted = tree_aivat(tree, [policy.probabilities for policy in policies])
    leaves = tree.nodes.num_children == 0
    assert np.ptp(adjusted[leaves], axis=0) == pytest.approx(np.zeros(tree.players), abs=1e-9)
    profile = felt.join_seats(policies)
    assert adjusted[leaves][0] == pytest.approx(felt.expected_values(profile), abs=1e-9)


def test_a_match_of_known_policies_has_no_variance():
    game = felt.load_game("leduc")
    first, second = (felt.random_policy("leduc", seed) for seed in (1, 2))
    result = match(TreeBot(first, game), TreeBot(second, game), hands=2_000, aivat=True)
    exact = np.mean(values_against(first, second))
    assert result.scores[0].won.mean == pytest.approx(exact, abs=1e-9)
    assert result.scores[0].won.interval() == pytest.approx(0.0, abs=1e-6)
    assert result.scores[0].plain.interval() > 0.1


def test_with_one_policy_known_there_is_no_bias():
    """The mean over all ends of the game, each with its probability, is that without the correction."""
    first, second = (felt.random_policy("leduc", seed) for seed in (3, 4))
    tree, nodes = first.tree, first.tree.nodes
    adjusted = tree_aivat(tree, [first.probabilities, None])
    reach = np.zeros(tree.num_nodes)
    reach[0] = 1.0
    for node in range(tree.num_nodes):
        for way in range(nodes.num_children[node]):
            if nodes.player[node] < 0:
                share = nodes.chance[nodes.row[node] + way]
            else:
                table = (first, second)[nodes.player[node]].probabilities
                share = table[tree.rows.first_slot[nodes.row[node]] + way]
            reach[nodes.first_child[node] + way] = reach[node] * share
    leaves = nodes.num_children == 0
    plain = nodes.payoffs[nodes.row[leaves]]
    assert reach[leaves] @ adjusted[leaves] == pytest.approx(reach[leaves] @ plain, abs=1e-12)
    variance = reach[leaves] @ (adjusted[leaves, 0] ** 2) - (reach[leaves] @ adjusted[leaves, 0]) ** 2
    assert variance < reach[leaves] @ (plain[:, 0] ** 2)


@pytest.mark.slow
@pytest.mark.parametrize("dealing", ["duplicate", "fresh"])
def test_in_holdem_luck_is_taken_out_without_bias(dealing):
    """Two rules that ignore their cards: by symmetry of the cards the truth is known to be 0 on average."""
    plain = match("always-call", "always-raise", hands=40_000, dealing=dealing)
    adjusted = match("always-call", "always-raise", hands=40_000, dealing=dealing, aivat=True)
    if dealing == "duplicate":  # all luck is in the cards, which were the same
        assert plain.scores[0].won.mean == pytest.approx(0.0, abs=1e-12)
    won = adjusted.scores[0].won
    assert abs(won.mean) <= 4 * won.error + 1e-9
    assert won.error <= plain.scores[0].plain.error + 1e-9


def test_in_holdem_the_correction_is_that_of_a_slow_twin():
    """Hand by hand, from the definition: moves of chance and of who is known, by the value of the pot."""
    contest = Contest(Setup("holdem", ("probe", "random"), seed=4, dealing=FRESH, aivat=True, history=True))
    block = contest.play(0, 30)
    deals = deal_block(2, contest.streams, 0, 30)
    equities = deal_equities(deals.cards)
    won = np.array([hand.won[0] for hand in contest.engine.hands(0, block.leaf)])
    leaves = block.leaf[:, 0].tolist()
    slow = [slow_adjusted(contest, number, leaf, equities[number]) for number, leaf in enumerate(leaves)]
    seat = np.array([0 if number % 2 == 0 else 1 for number in range(30)])  # where the first participant sat
    rows = np.where(seat == 0, won + slow, -(won + slow))
    assert block.moments.means[contest.columns["adjusted"][0]] == pytest.approx(rows.mean(), abs=1e-9)


def slow_adjusted(contest: Contest, number: int, leaf: int, equities: np.ndarray) -> float:
    """What luck brought seat 0, with the sign turned."""
    tree, names = contest.tree, contest.setup.bots
    line: list[tuple[int, int]] = []
    while leaf:
        parent = next(
            node
            for node in range(tree.num_nodes)
            if tree.node[node, 0] >= 0 and 0 <= leaf - tree.child(node, 0) < len(tree.actions(node))
        )
        line.insert(0, (parent, leaf - tree.child(parent, 0)))
        leaf = parent
    paid, street = [2.0, 1.0], 0
    change = 3.0 * (0.5 - equities[0])
    for node, chosen in line:
        while street < tree.street(node):
            change += sum(paid) * (equities[street] - equities[street + 1])
            street += 1
        player, values = int(tree.node[node, 0]), []
        for word in tree.actions(node):
            after = list(paid)
            if word == "fold":
                values.append((-paid[0] if player == 0 else paid[1], after))
                continue
            after[player] = max(paid) + ((2, 2, 4, 4)[street] if word in ("bet", "raise") else 0)
            values.append((sum(after) * equities[street] - after[0], after))
        possible = [word != "fold" or names[(player + number) % 2] == "random" for word in tree.actions(node)]
        # Even chances, in 255ths: an odd one goes to the first.
        odd = 255 % sum(possible)
        for place, (value, _) in enumerate(values):
            if possible[place]:
                share = 255 // sum(possible) + (odd if place == possible.index(True) else 0)
                change += share / 255 * value
        change -= values[chosen][0]
        paid = values[chosen][1]
    return change


def test_three_players_have_no_aivat_in_holdem():
    with pytest.raises(felt.FeltError, match="needs two players, not three"):
        match("random", "random", "probe", aivat=True)


@pytest.mark.parametrize(
    ("bots", "game", "ending"),
    [
        (("random", "probe"), "holdem", ".phhs"),
        slow(("random", "always-raise", "probe"), "holdem(players=3)", ".db"),
        (("random", "always-raise"), "leduc", ".db"),
        (("random", "always-call"), "kuhn", ".db"),
    ],
)
def test_the_hands_of_a_match_as_a_history(bots, game, ending, tmp_path):
    path = tmp_path / f"hands{ending}"
    result = match(*bots, game=game, hands=600, history=path)
    if ending == ".db":
        with HandStore(path) as store:
            records = list(store.hands())
    else:
        records = list(read_phh(path))
    assert len(records) == result.hands
    assert [check_record(record) for record in records] == [None] * len(records)
    for score in result.scores:
        pairs = [pair for record in records for pair in zip(record.names, record.won, strict=True)]
        won = [chips for name, chips in pairs if name == score.name]
        assert np.mean(won) == pytest.approx(score.plain.mean, abs=1e-9)
    again = match(*bots, game=game, hands=600, history=tmp_path / f"again{ending}", compiled=False)
    assert again.scores[0].plain == result.scores[0].plain


def test_a_history_is_refused_before_the_match(tmp_path):
    (tmp_path / "old.db").write_text("mine")
    for name in ("old.db", "hands.txt"):
        with pytest.raises(felt.FeltError, match=name.replace(".", r"\.")):
            match("random", "random", hands=100, history=tmp_path / name)
    assert (tmp_path / "old.db").read_text() == "mine"
