"""The Bayes-relational model: queries by brute force, equation 7 by closed forms, planted rules, files."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product as all_choices
from pathlib import Path

import numpy as np
import pytest

from openfelt.core.errors import FeltError
from openfelt.games.compile.betting_tree import ACTIONS_MASK, CHILD, KIND, PLAYER, STREET_SHIFT
from openfelt.opponents.models.domain import (
    HAND_RANKS,
    HoldemDomain,
    ModelDomain,
    OneCardDomain,
    model_domain,
)
from openfelt.opponents.models.files import load_model, new_model, save_model
from openfelt.opponents.models.observed import Decisions, ObservedHand, all_decisions
from openfelt.opponents.models.public_queries import ANOTHER, IN_GAME, IN_PHASE, THE_PLAYER, holds_at
from openfelt.opponents.models.public_tree import CALL, CLASSES, RAISE, Places, facts_at, find_places
from openfelt.opponents.models.relational import compiled as compiled_trees
from openfelt.opponents.models.relational.compiled import TreeEvaluator, compile_trees, product
from openfelt.opponents.models.relational.examples import QueryCache, TreeExamples
from openfelt.opponents.models.relational.induction import Grower, Growth
from openfelt.opponents.models.relational.language import (
    CARDS,
    HAND_RANK,
    PUBLIC,
    CardFact,
    LanguageBias,
    PublicFact,
    Query,
    columns_by_fact,
    query_array,
)
from openfelt.opponents.models.relational.model import RelationalModel, RelationalSettings, load_relational
from openfelt.opponents.models.relational.public_bits import all_bits, bits_at, places_at
from openfelt.opponents.models.relational.tree import (
    Acts,
    Did,
    Exceeds,
    RelationalTree,
    TreeLeaf,
    TreeSplit,
    rules,
)
from openfelt.opponents.models.tree_arrays import TreeSearchModel, tree_probabilities

BIAS = LanguageBias()


def random_lines(domain: ModelDomain, count: int, seed: int) -> list[tuple[int, ...]]:
    """Lines that end at some decision."""
    generator, found = np.random.default_rng(seed), []
    node = domain.public.node
    for _ in range(count):
        line, here = [], 0
        while generator.random() < 0.9:
            way = int(generator.integers(int(node[here, KIND]) & ACTIONS_MASK))
            if node[int(node[here, CHILD]) + way, PLAYER] < 0:
                break
            line.append(way)
            here = int(node[here, CHILD]) + way
        found.append(tuple(line))
    return found


def random_query(generator: np.random.Generator, literals: int) -> Query:
    return tuple(
        (
            int(generator.integers(place + 1)),
            int(generator.integers(2)),
            int(generator.integers(3)),
            int(generator.integers(2)),
        )
        for place in range(literals)
    )


def holds_plainly(domain: ModelDomain, line: tuple[int, ...], query: Query) -> bool:
    """By trying every choice of actions for the variables."""
    node, done, here = domain.public.node, [], 0
    for way in line:
        player, kind = int(node[here, PLAYER]), int(node[here, KIND])
        word = domain.actions(here)[way]
        what = {"fold": 0, "check": 1, "call": 1, "bet": 2, "raise": 2}[word]
        done.append((player, what, kind >> STREET_SHIFT & 3))
        here = int(node[here, CHILD]) + way
    me, street = int(node[here, PLAYER]), int(node[here, KIND]) >> STREET_SHIFT & 3
    for chosen in all_choices(range(len(done)), repeat=len(query)):
        times = [(len(done), street), *((place, done[place][2]) for place in chosen)]
        if all(
            place < times[parent][0]
            and done[place][1] == what
            and (done[place][0] == me) == (who == THE_PLAYER)
            and (where == IN_GAME or done[place][2] == times[parent][1])
            for place, (parent, who, what, where) in zip(chosen, query, strict=True)
        ):
            return True
    return False


@pytest.mark.parametrize("game", ["holdem", "leduc"])
def test_a_query_holds_if_some_choice_of_actions_fits(game: str) -> None:
    domain, generator = model_domain(game), np.random.default_rng(1)
    lines = random_lines(domain, 60, 2)
    places = find_places(domain.public, lines)
    seen = set()
    for _ in range(60):
        query = random_query(generator, int(generator.integers(1, 4)))
        found = holds_at(domain.public, places, query_array(query)).tolist()
        assert found == [holds_plainly(domain, line, query) for line in lines]
        seen |= set(found)
    assert seen == {0, 1}


def test_lines_are_found_again_from_their_nodes() -> None:
    domain = model_domain("holdem")
    places = find_places(domain.public, random_lines(domain, 200, 3))
    again = places_at(domain, places.node)
    np.testing.assert_array_equal(again.length, places.length)
    np.testing.assert_array_equal(again.line, places.line)


@pytest.mark.slow
def test_bits_of_some_nodes_are_those_of_all() -> None:
    domain, generator = model_domain("holdem"), np.random.default_rng(4)
    asked = [random_query(generator, 1 + number % 3) for number in range(70)]
    asked[5:5] = [Exceeds("pot_odds", 0.2), Exceeds("game_number_bets", 3.0)]
    nodes = places_at(domain, np.flatnonzero(domain.public.node[:, PLAYER] >= 0)[::7]).node
    everywhere = all_bits(domain, BIAS, asked)
    np.testing.assert_array_equal(bits_at(domain, BIAS, asked, nodes), everywhere[nodes])
    facts = columns_by_fact(facts_at(domain.public, places_at(domain, nodes)))
    odds = BIAS.public_numbers("pot_odds", facts)
    np.testing.assert_array_equal(everywhere[nodes, 0] >> np.uint64(5) & np.uint64(1), odds > 0.2)
    query = holds_at(domain.public, places_at(domain, nodes), query_array(asked[68]))
    np.testing.assert_array_equal(everywhere[nodes, 1] >> np.uint64(4) & np.uint64(1), query)


# Equation 7


def decisions_of(
    domain: ModelDomain,
    lines: list[tuple[int, ...]],
    place: np.ndarray,
    action: np.ndarray,
    holding: np.ndarray,
) -> Decisions:
    return Decisions(
        hand=np.arange(len(place)),
        place=place,
        action=action.astype(np.uint8),
        holding=holding,
        rank=np.zeros(len(place), np.int64),
        weight=np.ones(len(place)),
        places=find_places(domain.public, lines),
    )


def test_a_known_policy_on_one_fact_is_recovered() -> None:
    """First to act in hold'em: with a pair it calls and raises 1:3, else it folds, calls and raises 4:5:1."""
    domain, m = model_domain("holdem"), 2.0
    pair = np.flatnonzero(domain.card_facts[2] == 1)
    other = np.flatnonzero(domain.card_facts[2] == 0)
    holding = np.concatenate([np.tile(pair[:20], 20), np.tile(other[::10], 10)[:1000]])
    action = np.concatenate([np.repeat([1, 2], [100, 300]), np.repeat([0, 1, 2], [400, 500, 100])])
    order = np.random.default_rng(0).permutation(1000)
    holding[400:] = holding[400:][order]
    model = RelationalModel("holdem")
    model.fit_to(decisions_of(domain, [()], np.zeros(1400, np.int64), action, holding))
    nodes = np.zeros(2, np.int64)
    shares = model.shares(nodes, nodes, np.array([pair[0], other[0]]))

    taken = np.array([400, 600, 400])
    above = (taken + m / 2) / (taken + 1400 / 3 + m)

    def closed(counts: list[float], total: float) -> np.ndarray:
        odds = (np.array(counts) + m * above) / (total / 3 + m * (1 - above))
        return odds / odds.sum()

    np.testing.assert_allclose(shares[0], closed([0, 100, 300], 400), atol=1e-12)
    np.testing.assert_allclose(shares[1], closed([400, 500, 100], 1000), atol=1e-12)


def test_a_prior_is_corrected_where_the_player_differs_from_it() -> None:
    """With one leaf for each action, shares are prior times observed over expected, normalised."""
    domain = model_domain("kuhn")
    prior = RelationalModel("kuhn")
    zeros = np.zeros(100, np.int64)
    prior.fit_to(decisions_of(domain, [()], zeros, np.repeat([1, 2], [80, 20]), zeros))
    before = prior.shares(zeros[:1], zeros[:1], zeros[:1])[0]
    model = RelationalModel("kuhn", prior=prior)
    model.fit_to(decisions_of(domain, [()], zeros, np.repeat([1, 2], [30, 70]), zeros))
    odds = (np.array([30.0, 70.0]) + 1) / (100 * before[1:] + 1)
    wanted = before[1:] * odds / (before[1:] * odds).sum()
    np.testing.assert_allclose(model.shares(zeros[:1], zeros[:1], zeros[:1])[0, 1:], wanted, atol=1e-12)


@pytest.mark.parametrize("game", ["holdem", "leduc", "kuhn"])
def test_without_data_it_is_the_prior(game: str) -> None:
    domain = model_domain(game)
    nodes = np.flatnonzero(domain.public.node[:, PLAYER] >= 0)
    ways = domain.public.node[nodes, KIND] & ACTIONS_MASK
    zeros = np.zeros(len(nodes), np.int64)
    shares = RelationalModel(game).shares(nodes, zeros, zeros)
    np.testing.assert_array_equal(
        np.where(shares > 0, shares, 1 / ways[:, None]), 1 / ways[:, None] + 0 * shares
    )
    np.testing.assert_array_equal((shares > 0).sum(axis=1), ways)


def test_the_cards_of_a_hand_follow_equation_7() -> None:
    """Kuhn: the player bets only with the king, as the card tree finds; card removal excludes other cards."""
    settings = RelationalSettings(cards="tree", growth=Growth(smallest=2.0))
    model = RelationalModel("kuhn", settings)
    check, bet = (0,), (1,)
    hands = [ObservedHand(0, bet if card == 2 else check, (), card) for card in (0, 1, 2) * 200]
    model.fit(hands)
    after_bet = model.cards(ObservedHand(0, bet, ()))
    np.testing.assert_allclose(after_bet, [0, 0, 1], atol=0.02)
    np.testing.assert_allclose(model.cards(ObservedHand(0, check, (), -1, (0,))), [0, 1, 0], atol=0.02)
    np.testing.assert_allclose(model.cards(ObservedHand(1, check, ())), [1 / 3] * 3)


# The learner


OWN_CALL_AFTER_OWN_BET: Query = ((0, THE_PLAYER, CALL, IN_GAME), (1, THE_PLAYER, RAISE, IN_GAME))


def river_places(domain: ModelDomain, count: int) -> tuple[Places, list[tuple[int, ...]]]:
    lines = random_lines(domain, 40 * count, 5)
    places = find_places(domain.public, lines)
    river = np.flatnonzero(domain.public.node[places.node, KIND] >> STREET_SHIFT & 3 == 3)
    kept = [lines[place] for place in river[np.unique(places.node[river], return_index=True)[1]]][:count]
    return find_places(domain.public, kept), kept


def test_a_rule_that_no_single_fact_expresses_is_found() -> None:
    """The player bets on the river only if it once called, and had bet before that (PGC10, Figure 2)."""
    domain = model_domain("holdem")
    places, lines = river_places(domain, 300)
    rule = np.array(holds_all(domain, lines, OWN_CALL_AFTER_OWN_BET))
    assert 40 < rule.sum() < len(rule) - 40
    raises = domain.public.node[places.node, KIND] & 3 > 1
    place = np.repeat(np.flatnonzero(raises), 4)
    facing = np.array([domain.actions(int(node))[0] == "fold" for node in places.node])
    place = place[~facing[place]]
    action = np.where(rule[place], RAISE, CALL)
    holding = np.random.default_rng(0).integers(0, 1326, len(place))
    model = RelationalModel("holdem")
    model.fit_to(decisions_of(domain, lines, place, action, holding))
    tree = model.tree(3)
    assert isinstance(tree, TreeSplit)
    assert isinstance(tree.test, Acts)
    for branch in (tree.yes, tree.no):
        assert isinstance(branch, TreeSplit)
        assert branch.test == Did(OWN_CALL_AFTER_OWN_BET)
        assert isinstance(branch.yes, TreeLeaf)
        assert isinstance(branch.no, TreeLeaf)
    words = "ACTION_IN_GAME(E,P,F,CALL), ACTION_IN_GAME(F,P,G,BET), !. -> player"
    assert all(words in model.rules(3)[place] for place in (0, 2))
    nodes, zeros = places.node[place], np.zeros(len(place), np.int64)
    assert (model.shares(nodes, zeros, holding).argmax(axis=1) == action).all()

    blind = RelationalModel("holdem", RelationalSettings(LanguageBias(lookahead=0)))
    blind.fit_to(decisions_of(domain, lines, place, action, holding))
    assert (blind.shares(nodes, zeros, holding).argmax(axis=1) != action).mean() > 0.05


def test_examples_lie_on_the_leaves_that_the_definitions_say() -> None:
    """Variables are shared along a path where literals hold, and are not seen where they do not."""
    domain, generator = model_domain("holdem"), np.random.default_rng(6)
    places, lines = river_places(domain, 200)
    once, twice = OWN_CALL_AFTER_OWN_BET, (*OWN_CALL_AFTER_OWN_BET, (2, ANOTHER, RAISE, IN_PHASE))
    holds = sum(
        np.array([holds_plainly(domain, line, rule) for line in lines], int) for rule in (once, twice)
    )
    holding = generator.integers(0, 1326, len(lines))
    examples = TreeExamples(
        place=np.arange(len(lines)),
        action=np.full(len(lines), CALL),
        player=np.array([1.0, 6.0, 16.0])[holds],
        prior=generator.uniform(4, 6, len(lines)),
        facts={"sum_hole_cards": domain.card_facts[0][holding]},
    )
    tree = Grower(examples, QueryCache(domain.public, places, BIAS), Growth(smallest=1.0)).grow()
    sums: dict[TreeLeaf, list[float]] = {}
    for row, line in enumerate(lines):
        total = sums.setdefault(plain_leaf(tree, domain, line, CALL, 0, int(holding[row])), [0.0, 0.0])
        total[0] += examples.player[row]
        total[1] += examples.prior[row]
    assert len(sums) == len(leaves_of(tree)) > 2
    for leaf, total in sums.items():
        np.testing.assert_allclose([leaf.player, leaf.prior], total)
    assert deepest_variable(tree) >= 2


def holds_all(domain: ModelDomain, lines: list[tuple[int, ...]], query: Query) -> list[bool]:
    return [holds_plainly(domain, line, query) for line in lines]


def leaves_of(tree: RelationalTree) -> list[TreeLeaf]:
    return [tree] if isinstance(tree, TreeLeaf) else [*leaves_of(tree.yes), *leaves_of(tree.no)]


def deepest_variable(tree: RelationalTree) -> int:
    if isinstance(tree, TreeLeaf):
        return 0
    own = max((literal[0] for literal in tree.test.literals), default=0) if isinstance(tree.test, Did) else 0
    return max(own, deepest_variable(tree.yes), deepest_variable(tree.no))


def test_cards_and_history_that_tell_nothing_alone_are_found_together() -> None:
    """The player bets high cards after one history and low cards after the other, each half of the time."""
    domain, generator = model_domain("holdem"), np.random.default_rng(16)
    places, lines = river_places(domain, 300)
    rule = np.array(holds_all(domain, lines, OWN_CALL_AFTER_OWN_BET))
    free = np.array([domain.actions(int(node))[0] == "check" for node in places.node])
    place = np.concatenate([generator.choice(np.flatnonzero(free & here), 400) for here in (rule, ~rule)])
    holding = generator.integers(0, 1326, 800)
    high = domain.card_facts[0][holding] > 15
    action = np.where(high == rule[place], RAISE, CALL)
    model = RelationalModel("holdem")
    model.fit_to(decisions_of(domain, lines, place, action, holding))
    shares = model.shares(places.node[place], np.zeros(800, np.int64), holding)
    assert (shares.argmax(axis=1) == action).mean() > 0.98


def test_noise_is_not_split() -> None:
    """Actions by the dice: trees find something in no more trials than the level of significance allows."""
    domain, generator, splits = model_domain("holdem"), np.random.default_rng(7), 0
    places, lines = river_places(domain, 100)
    free = np.flatnonzero([domain.actions(int(node))[0] == "check" for node in places.node])
    for _ in range(40):
        place = generator.choice(free, 400)
        action = generator.choice([CALL, RAISE], 400)
        model = RelationalModel("holdem", RelationalSettings(growth=Growth(significance=0.1)))
        model.fit_to(decisions_of(domain, lines, place, action, generator.integers(0, 1326, 400)))
        tree = model.tree(3)
        assert isinstance(tree, TreeSplit)
        splits += isinstance(tree.yes, TreeSplit)  # with two actions the other branch is its mirror image
    assert splits <= 9  # of 40; the chance of more is below 1% if each splits with a chance of 0.1


def test_a_tree_prints_as_in_the_paper() -> None:
    """PGC10's own rule, letter by letter."""
    low, leaf = TreeLeaf(1, 99), TreeLeaf(73, 27)
    tree: RelationalTree = TreeSplit(Exceeds("sum_hole_cards", 19.0), leaf, low)
    tree = TreeSplit(Exceeds("sum_hole_cards", 15.0), tree, low)
    tree = TreeSplit(Did(OWN_CALL_AFTER_OWN_BET), tree, low)
    tree = TreeSplit(Exceeds("sum_hole_cards", 11.0), tree, low)
    paper = (
        "SUM_HOLE_CARDS(E,F), F>11, ACTION_IN_GAME(E,P,G,CALL), ACTION_IN_GAME(G,P,H,BET), "
        "SUM_HOLE_CARDS(E,I), I>15, SUM_HOLE_CARDS(E,J), J>19, !."
    )
    assert rules(tree, BIAS, 1e-9)[0] == f"{paper} -> player 73%, prior 27% (100 examples)"
    assert rules(tree, BIAS, 1e-9)[-1] == "!. -> player 1%, prior 99% (100 examples)"


# Kernels


def random_tree(generator: np.random.Generator, depth: int, query: Query = ()) -> RelationalTree:
    if depth == 0 or generator.random() < 0.15:
        return TreeLeaf(float(generator.integers(50)), float(generator.integers(50)))
    kind, inner = int(generator.integers(6)), query
    test: Acts | Exceeds | Did
    if kind == 0:
        test = Acts(int(generator.integers(3)))
    elif kind == 1:
        test = Exceeds(HAND_RANK, float(generator.integers(HAND_RANKS)))
    elif kind == 2:
        test = Exceeds("sum_hole_cards", float(generator.integers(4, 28)))
    elif kind == 3:
        test = Exceeds("pot_odds", float(generator.choice([0.0, 0.15, 0.2, 0.3])))
    else:
        whole = random_query(generator, len(query) + int(generator.integers(1, 3)))
        test = Did(whole[len(query) :])
        inner = query + test.literals
    return TreeSplit(test, random_tree(generator, depth - 1, inner), random_tree(generator, depth - 1, query))


def plain_leaf(
    tree: RelationalTree,
    domain: ModelDomain,
    line: tuple[int, ...],
    action: int,
    rank: int,
    holding: int,
    query: Query = (),
) -> TreeLeaf:
    """Down one tree for one action, by the definitions."""
    if isinstance(tree, TreeLeaf):
        return tree
    test = tree.test
    if isinstance(test, Acts):
        yes = test.action == action
    elif isinstance(test, Did):
        yes = holds_plainly(domain, line, query + test.literals)
    elif test.fact == HAND_RANK:
        yes = rank > test.limit
    elif test.fact == "sum_hole_cards":
        yes = domain.card_facts[0, holding] > test.limit
    else:
        pot, paid = plain_money(domain, line)
        yes = (max(paid) - paid[mover(domain, line)]) / pot > test.limit
    below = query + test.literals if yes and isinstance(test, Did) else query
    return plain_leaf(tree.yes if yes else tree.no, domain, line, action, rank, holding, below)


def mover(domain: ModelDomain, line: tuple[int, ...]) -> int:
    return int(domain.public.node[find_places(domain.public, [line]).node[0], PLAYER])


def plain_money(domain: ModelDomain, line: tuple[int, ...]) -> tuple[int, list[int]]:
    """Of hold'em for two."""
    paid, here, node = domain.public.paid[0].tolist(), 0, domain.public.node
    for way in line:
        word, street = domain.actions(here)[way], int(node[here, KIND]) >> STREET_SHIFT & 3
        size = (2, 2, 4, 4)[street]
        if word in ("call", "bet", "raise"):
            paid[int(node[here, PLAYER])] = max(paid) + (size if word != "call" else 0)
        here = int(node[here, CHILD]) + way
    return sum(paid), paid


def test_compiled_trees_are_the_trees() -> None:
    """Random trees on every street: one walk gives what three walks by the definitions give."""
    domain, generator = model_domain("holdem"), np.random.default_rng(8)
    lines = random_lines(domain, 150, 9)
    nodes = find_places(domain.public, lines).node
    for _ in range(8):
        trees = [random_tree(generator, 6) for _ in range(4)]
        answers = TreeEvaluator(domain, BIAS, compile_trees(trees, BIAS, BIAS.card_numbers(domain), 2.0))
        rank, holding = generator.integers(0, 100, len(lines)), generator.integers(0, 1326, len(lines))
        weights = answers.weights(nodes, rank, holding)
        for row, line in enumerate(lines):
            street = int(domain.public.node[nodes[row], KIND]) >> STREET_SHIFT & 3
            cards = int(rank[row]), int(holding[row])
            leaves = [plain_leaf(trees[street], domain, line, action, *cards) for action in range(3)]
            wanted = [(leaf.player + 1) / (leaf.prior + 1) for leaf in leaves]
            np.testing.assert_allclose(weights[row], wanted, rtol=1e-12)


def test_a_product_multiplies_the_weights_of_two_models() -> None:
    domain, generator = model_domain("holdem"), np.random.default_rng(10)
    nodes = find_places(domain.public, random_lines(domain, 300, 11)).node
    rank, holding = generator.integers(0, 100, 300), generator.integers(0, 1326, 300)
    found = []
    for bias in (BIAS, LanguageBias(cards=CARDS[::-1])):
        trees = [random_tree(generator, 5) for _ in range(4)]
        compiled = compile_trees(trees, bias, bias.card_numbers(domain), 2.0)
        found.append(TreeEvaluator(domain, bias, compiled))
    both = product(found[0].everywhere(), found[1].everywhere())
    shares, wanted = np.zeros((300, 3)), [each.shares(nodes, rank, holding) for each in found]
    tree_probabilities(domain.public, both, nodes, rank, holding, shares)
    multiplied = wanted[0] * wanted[1]
    np.testing.assert_allclose(shares, multiplied / multiplied.sum(axis=1, keepdims=True), atol=1e-12)


# Whole models


def dealt_hands(domain: OneCardDomain, table: np.ndarray, count: int, seed: int) -> list[ObservedHand]:
    """Hands of Leduc, both seats by a table [public nodes, holdings, boards, CLASSES]."""
    generator, node, found = np.random.default_rng(seed), domain.public.node, []
    for _ in range(count):
        cards = generator.permutation(np.repeat(np.arange(3), 2))[:3].tolist()
        line, here, board = [], 0, 3
        while node[here, PLAYER] >= 0:
            kind = int(node[here, KIND])
            board = cards[2] if kind >> STREET_SHIFT & 3 else 3
            first, ways = 1 - (kind >> 2 & 1), kind & ACTIONS_MASK
            chances = table[here, cards[node[here, PLAYER]], board, first : first + ways]
            way = int(generator.choice(ways, p=chances / chances.sum()))
            line.append(way)
            here = int(node[here, CHILD]) + way
        shown = () if board == 3 else (board,)
        found += [
            ObservedHand(seat, tuple(line), shown, cards[seat], (cards[1 - seat],)) for seat in range(2)
        ]
    return found


def distance(model: RelationalModel, table: np.ndarray, hands: list[ObservedHand]) -> float:
    """Total variation to the truth, in the mean over decisions that come up."""
    decisions = all_decisions(model.domain, hands)
    board = np.array([hand.board[0] if hand.board else 3 for hand in hands])[decisions.hand]
    street = model.domain.public.node[decisions.node, KIND] >> STREET_SHIFT & 3
    kind = model.domain.public.node[decisions.node, KIND]
    first, klass = 1 - (kind >> 2 & 1), np.arange(3)
    can = (klass >= first[:, None]) & (klass < (first + (kind & ACTIONS_MASK))[:, None])
    truth = table[decisions.node, decisions.holding, np.where(street > 0, board, 3)] * can
    truth /= truth.sum(axis=1, keepdims=True)
    shares = model.shares(decisions.node, decisions.rank, decisions.holding)
    return float(np.abs(shares - truth).sum(axis=1).mean() / 2)


@pytest.mark.slow
def test_in_leduc_it_comes_closer_with_every_hand() -> None:
    """A player by a random table, in which nothing can be learned from one row for another."""
    domain = model_domain("leduc")
    assert isinstance(domain, OneCardDomain)
    generator = np.random.default_rng(12)
    table = generator.dirichlet([0.7] * 3, (len(domain.public.node), 3, 4))
    hands, fresh = dealt_hands(domain, table, 3000, 1), dealt_hands(domain, table, 300, 2)
    far = [distance(RelationalModel("leduc"), table, fresh)]
    for count in (300, 1500, 6000):
        model = RelationalModel("leduc")
        model.fit(hands[:count])
        far.append(distance(model, table, fresh))
    assert all(later < 0.85 * sooner for sooner, later in pairwise(far))
    policy = model.policy()
    for place in domain.infosets()[::9]:
        rank = int(domain.ranks(place.board)[place.holding])
        share = model.shares(np.array([place.node]), np.array([rank]), np.array([place.holding]))[0]
        np.testing.assert_allclose(policy.probabilities[domain.tree.slots(place.row)], share[share > 0])


def fitted(**settings: object) -> RelationalModel:
    """On 400 decisions of hold'em, by the sum of the cards and by history."""
    domain, generator = model_domain("holdem"), np.random.default_rng(13)
    places, lines = river_places(domain, 100)
    place, holding = generator.integers(0, len(lines), 400), generator.integers(0, 1326, 400)
    more = np.array([holds_plainly(domain, line, OWN_CALL_AFTER_OWN_BET) for line in lines])[place]
    can = np.array([domain.actions(int(node))[-1] in ("bet", "raise") for node in places.node])[place]
    high = domain.card_facts[0][holding] > 14
    model = RelationalModel("holdem", RelationalSettings(**settings))  # type: ignore[arg-type]
    decisions = decisions_of(domain, lines, place, np.where((high | more) & can, RAISE, CALL), holding)
    model.fit_to(decisions)
    return model


def answers(model: RelationalModel) -> np.ndarray:
    """At many decisions, with many cards."""
    generator = np.random.default_rng(14)
    nodes = np.flatnonzero(model.domain.public.node[:, PLAYER] >= 0)[::3]
    ranks = generator.integers(0, 100, len(nodes))
    return model.shares(nodes, ranks, generator.integers(0, model.domain.holdings, len(nodes)))


OWN_BIAS = LanguageBias(
    public=(*PUBLIC, PublicFact("first_to_act", lambda columns: columns["seat"])),
    cards=(*CARDS[1:], CardFact("high", lambda domain: (domain.card_facts[0] > 14).astype(float), flag=True)),
)


@pytest.mark.parametrize("per_phase", [True, False])
def test_a_saved_model_answers_as_before(tmp_path: Path, per_phase: bool) -> None:
    model = fitted(per_phase=per_phase)
    save_model(model, tmp_path / "one", player="somebody")
    again = load_model(tmp_path / "one", "holdem")
    assert isinstance(again, RelationalModel)
    np.testing.assert_array_equal(answers(again), answers(model))
    assert again.describe() == model.describe()
    assert "ACTION_IN_GAME" in model.describe()

    corrected = RelationalModel("holdem", prior=model)
    zeros = np.zeros(50, np.int64)
    corrected.fit_to(decisions_of(model.domain, [()], zeros, np.repeat([0, 2], 25), zeros))
    save_model(corrected, tmp_path / "two")
    both = load_model(tmp_path / "two")
    np.testing.assert_array_equal(answers(both), answers(corrected))  # type: ignore[arg-type]
    assert (answers(corrected) != answers(model)).any()


def test_facts_of_ones_own_are_given_again_on_loading(tmp_path: Path) -> None:
    model = fitted(bias=OWN_BIAS)
    assert "HIGH(E)" in model.describe()
    save_model(model, tmp_path / "own")
    with pytest.raises(FeltError, match=r"facts of your own \(first_to_act, high\)"):
        load_model(tmp_path / "own")
    again = load_relational(tmp_path / "own", OWN_BIAS)
    np.testing.assert_array_equal(answers(again), answers(model))


def test_large_trees_are_asked_node_by_node(monkeypatch: pytest.MonkeyPatch) -> None:
    model = fitted()
    wanted = answers(model)
    monkeypatch.setattr(compiled_trees, "FEW_NODES", 10)
    again = fitted()
    np.testing.assert_array_equal(answers(again), wanted)
    assert again._actions._grown is None


def test_a_search_gets_the_product_with_the_prior(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HoldemDomain, "rank_tables", None)
    prior = fitted()
    zeros = np.zeros(50, np.int64)
    model = RelationalModel("holdem", prior=prior)
    model.fit_to(decisions_of(model.domain, [()], zeros, np.repeat([0, 2], 25), zeros))
    made = model.for_search()
    assert isinstance(made, TreeSearchModel)
    nodes = np.flatnonzero(model.domain.public.node[:, PLAYER] >= 0)[::3]
    generator, shares = np.random.default_rng(14), np.zeros((len(nodes), 3))
    ranks = generator.integers(0, 100, len(nodes))
    tree_probabilities(
        model.domain.public, made.grown, nodes, ranks, generator.integers(0, 1326, len(nodes)), shares
    )
    np.testing.assert_allclose(shares, answers(model), atol=1e-12)


def test_bad_input_gets_a_sentence() -> None:
    twice = (*PUBLIC, PUBLIC[0])
    for wrong, said in (
        (lambda: RelationalSettings(cards="guess"), "'bayes' or 'tree', not 'guess'"),
        (lambda: LanguageBias(public=twice), "must be distinct"),
        (lambda: LanguageBias(cards=(CardFact("two words", lambda _: np.zeros(1)),)), "'two words'"),
        (lambda: LanguageBias(lookahead=3), "0 to 2 literals"),
        (lambda: LanguageBias(most_literals=-1), "0 to 8 literals"),
        (lambda: Growth(leaves=0), "leaves of a tree cannot be 0"),
        (lambda: Growth(significance=0.0), "significance of a tree cannot be 0"),
        (lambda: Growth(m=float("nan")), "m of a tree cannot be nan"),
        (lambda: RelationalModel("holdem", prior=RelationalModel("kuhn")), "a model of kuhn, not of holdem"),
        (lambda: RelationalModel("kuhn").for_search(), "policy"),
        (lambda: RelationalModel("kuhn").text(1), "phases 0 to 0, not 1"),
        (lambda: RelationalModel("kuhn").rules(0, "hands"), "not of 'hands'"),
        (lambda: RelationalModel("kuhn").fit([]), "no hands"),
        (lambda: fitted(bias=replace_fact(np.zeros(3))), "must give 1326 finite numbers"),
        (lambda: fitted(bias=replace_fact(np.full(1326, np.nan))), "must give 1326 finite numbers"),
    ):
        with pytest.raises(FeltError, match=said):
            wrong()


def replace_fact(numbers: np.ndarray) -> LanguageBias:
    return replace(BIAS, cards=(CardFact("mine", lambda _: numbers),))


def test_it_is_one_of_the_kinds() -> None:
    assert isinstance(new_model("relational", "leduc"), RelationalModel)
    assert len(CLASSES) == 3


@pytest.mark.parametrize(
    "test",
    [
        ["exceeds", "unknown_fact", 1.0],
        ["acts", 9],
        ["did", [[5, 0, 0, 0]]],  # follows a literal that the path does not have
        ["did", [[-1, 0, 0, 0]]],
    ],
)
def test_a_tree_with_a_malformed_test_is_not_restored(test: list[object]) -> None:
    model = RelationalModel("kuhn")
    arrays, facts = model.to_save()
    leaf = [1.0, 1.0, 0.5]
    trees = [[test, leaf, leaf] for _ in facts["action_trees"]]
    with pytest.raises((LookupError, ValueError)):
        model.restore(arrays, {**facts, "action_trees": trees})
