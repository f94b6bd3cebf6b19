"""Opponent models, compared with players of known policies, enumeration of all deals, and replays."""

from __future__ import annotations

import itertools
import json
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from habits import ByPolicy, Habit, exact_cards, moments, play
from phevaluator import evaluate_cards
from speed import fast_only, slow

import openfelt as felt
from openfelt.cards.deck import PAIR, PAIR_CARDS, card_text, parse_cards
from openfelt.core.errors import FeltError, FileError, MissingError
from openfelt.core.jit import kernel
from openfelt.core.random import starts
from openfelt.games.compile.betting_tree import FACING_SHIFT, KIND
from openfelt.games.compile.compiler import compile_any
from openfelt.hands.record import HandRecord
from openfelt.opponents.models import decision_trees
from openfelt.opponents.models.decision_trees import TreesModel
from openfelt.opponents.models.domain import UNKNOWN, model_domain
from openfelt.opponents.models.files import KINDS, load_model, new_model, open_model, save_model
from openfelt.opponents.models.frequencies import FrequencyModel
from openfelt.opponents.models.model import OpponentModel, guess
from openfelt.opponents.models.observed import (
    KNOWN,
    SHOWN,
    ObservedHand,
    all_decisions,
    decisions_in,
    observed_hand,
    observed_hands,
)
from openfelt.opponents.models.public_queries import holds_at
from openfelt.opponents.models.public_tree import FACTS, FOLD, RAISE, facts_at, find_places
from openfelt.opponents.models.public_walk import all_facts, bits_everywhere
from openfelt.opponents.models.score import compare, marginal, split
from openfelt.opponents.models.tally import TallyModel, public_contexts
from openfelt.solve.traverse import episode
from openfelt.solve.traverse.holdem import holdem_tree, new_deal
from openfelt.solve.traverse.opponent_hooks import answer, is_known

OWN_KINDS = ("tally", "trees", "frequencies")
SIZES = (100, 800, 6_000)
HELD_OUT = 300


# Players that a kind of model can learn exactly


@cache
def leduc_levels():
    return public_contexts(model_domain("leduc")).levels


def tally_key(moment):
    facts = moment.facts
    level = sum(facts["pot"] >= least for least in leduc_levels())
    return facts["last_of_others"], level, moment.facing, moment.hand


def trees_key(moment):
    return tuple(moment.facts[name] for name in ("phase", *decision_trees.FACTS)), moment.hand


def everything(moment):
    return moment.words, moment.card, moment.board


FAMILIES = {
    "tally": Habit(tally_key, 3, bold=False),
    "trees": Habit(trees_key, 2),
    "frequencies": Habit(lambda moment: (moment.street, moment.facing), 5, bold=False),
}


@cache
def hands_of(habit, game, seed=1):
    return play(game, (habit, Habit(everything, 99)), SIZES[-1] + HELD_OUT, seed)


@cache
def truth(record, habit):
    """The player's action probabilities at each of its decisions, with place and street; and its range."""
    seat = record.names.index("ann")
    does = [
        (place, moment.street, habit.chances(moment))
        for place, (moment, _) in enumerate(moments(record))
        if moment.me == seat
    ]
    return does, list(exact_cards(record, seat, habit).values())


def distances(model, records, habit):
    """Mean total variation distance from the truth: of actions over decisions, of cards over hands."""
    domain = model.domain
    actions, cards = [], []
    for record in records:
        hand = observed_hand(domain, record, record.names.index("ann"))
        does, holds = truth(record, habit)
        for place, street, chances in does:
            board = hand.board[: domain.board_cards[street]]
            said = model.actions(board, hand.line[:place])[hand.holding]
            actions.append(abs(said - chances).sum() / 2)
        cards.append(abs(model.cards(hand) - holds).sum() / 2)
    return np.mean(actions), np.mean(cards)


def learned(kind, records, count, cards=KNOWN, **settings):
    game = records[0].game
    model = new_model(kind, game)
    model.fit(observed_hands(records[:count], "ann", game, cards), **settings)
    return model


@pytest.mark.slow
@pytest.mark.parametrize("kind", fast_only(("frequencies",), OWN_KINDS))
def test_what_a_kind_can_say_it_learns(kind):
    habit = FAMILIES[kind]
    records = hands_of(habit, "leduc")
    found = [distances(learned(kind, records, size), records[-HELD_OUT:], habit) for size in SIZES]
    for of_actions, of_cards in itertools.pairwise(found):
        assert of_cards[0] < of_actions[0]
    assert found[-1][0] < 0.04
    if kind == "frequencies":  # the model ignores cards, and so does the player
        assert max(cards for _, cards in found) < 1e-9
    else:
        assert found[0][1] > found[1][1] > found[2][1]
        assert found[-1][1] < 0.04


@cache
def equilibrium(game):
    solver = felt.CFRPlus(game)
    solver.run(300)
    return ByPolicy(solver.policy)


@pytest.mark.slow
@pytest.mark.parametrize("game", ["kuhn", slow("leduc")])
@pytest.mark.parametrize("kind", [slow("tally"), "trees"])
def test_of_an_equilibrium_more_hands_tell_more(kind, game):
    """The policy depends on more than the model sees, so some distance remains."""
    habit = equilibrium(game)
    records = hands_of(habit, game)
    few, some, many = (
        distances(learned(kind, records, size), records[-HELD_OUT:], habit) for size in (20, 300, 6_000)
    )
    nothing = distances(new_model(kind, game), records[-HELD_OUT:], habit)
    assert nothing[0] > few[0] > some[0] > many[0]
    assert nothing[1] >= few[1] > some[1] > many[1]  # 20 hands may be too few for a tree to ask for cards
    assert many[0] < 0.2 * nothing[0] + 0.08


@pytest.mark.slow
def test_cards_that_are_never_shown_are_found_by_em():
    """EM closes most of the gap between TAU's guess and a fit with known cards."""
    habit = FAMILIES["trees"]
    records = hands_of(habit, "leduc")
    known, guessed, few, many = (
        distances(learned("trees", records, count, cards, rounds=rounds), records[-HELD_OUT:], habit)
        for count, cards, rounds in (
            (6_000, KNOWN, 1),
            (6_000, SHOWN, 1),
            (600, SHOWN, 12),
            (6_000, SHOWN, 12),
        )
    )
    for measure in (0, 1):
        assert known[measure] < many[measure] < few[measure]
        assert many[measure] < 0.5 * guessed[measure]


@pytest.mark.slow
def test_a_tally_of_shown_cards_keeps_the_bias_of_its_guess():
    habit = FAMILIES["tally"]
    records = hands_of(habit, "leduc")
    known, shown = (
        distances(learned("tally", records, 6_000, cards), records[-HELD_OUT:], habit)
        for cards in (KNOWN, SHOWN)
    )
    nothing = distances(new_model("tally", "leduc"), records[-HELD_OUT:], habit)
    assert 2 * known[0] < shown[0] < nothing[0]


# Posteriors


class FixedModel(OpponentModel):
    """A model with given action probabilities."""

    kind, summary = "fixed", "for tests"

    def __init__(self, game, chances):
        super().__init__(game)
        self.chances = chances  # of (node, rank, holding) -> weights of fold, call, bet

    def shares(self, nodes, ranks, holdings):
        rows = [self.chances(*map(int, at)) for at in zip(nodes, ranks, holdings, strict=True)]
        can = np.array(rows, float)
        for row, node in zip(can, nodes, strict=True):
            kind = int(self.domain.public.node[node, KIND])
            first = 1 - (kind >> FACING_SHIFT & 1)
            row[:first] = 0
            row[first + (kind & 3) :] = 0
        return can / can.sum(axis=1, keepdims=True)

    fit_to = for_search = to_save = restore = describe = None


@pytest.mark.parametrize("game", ["kuhn", slow("leduc"), slow("leduc(ranks=5)")])
def test_posteriors_are_those_of_all_deals(game):
    domain = model_domain(game)
    drawn = {}
    habit = Habit(lambda moment: (moment.words, moment.hand), 7)

    def chances(node, rank, holding):
        return drawn[node, rank, holding]

    model = FixedModel(game, chances)
    for record in play(game, (habit, habit), 400, 3):
        for seat in (0, 1):
            hand = observed_hand(domain, record, seat)
            for card, holding in zip(domain.game.deck, range(domain.holdings), strict=True):
                for place, (moment, _) in enumerate(moments(record)):
                    mine = moment._replace(card=card)
                    node = int(find_places(domain.public, [hand.line[:place]]).node[0])
                    board = hand.board[: domain.board_cards[moment.street]]
                    weights = np.zeros(3)
                    first = 0 if moment.facing else 1
                    weights[first : first + moment.ways] = habit.chances(mine)
                    drawn[node, int(domain.ranks(board)[holding]), holding] = weights
            truth = exact_cards(record, seat, habit)
            assert model.cards(hand) == pytest.approx([truth[card] for card in domain.game.deck], abs=1e-12)


def holdem_hands(players, count, seed=0):
    habit = Habit(lambda moment: (moment.words, moment.card[0]), 11)
    return play("holdem" if players == 2 else f"holdem(players={players})", (habit,) * players, count, seed)


@pytest.mark.slow
def test_in_holdem_too(strengths):
    """Bayes' rule over all 1,326 pairs, one by one, each with its rank."""
    domain = model_domain("holdem")

    def chances(node, rank, holding):
        return 1.0 + 40 * (rank < 40), 1.0 + rank, 1.0 + (node % 7) * rank

    model = FixedModel("holdem", chances)
    for record in holdem_hands(2, 12):
        hand = observed_hand(domain, record, 0)
        gone = {*hand.board, *hand.dead}
        likely = np.zeros(1326)
        for pair, (low, high) in enumerate(PAIR_CARDS.tolist()):
            if {low, high} & gone:
                continue
            likely[pair] = 1.0
            for node, _, street, action in decisions_in(domain.public, hand):
                rank = domain.rank_of(pair, hand.board[: domain.board_cards[street]])
                likely[pair] *= model.shares([node], [rank], [pair])[0, action]
        assert model.cards(hand) == pytest.approx(likely / likely.sum(), abs=1e-12)
    assert len(gone) in (2, 5, 6, 7)


@pytest.mark.parametrize(
    "weights", [(0, 0, 1), (0, 1, 1), (1, 1, 1)], ids=["always-raise", "probe", "random"]
)
def test_of_players_who_do_not_look_only_card_removal_is_known(weights, strengths):
    model = FixedModel("holdem", lambda *_: np.array(weights) + 1e-12)
    for record in holdem_hands(2, 6, seed=4):
        hand = observed_hand(model.domain, record, 1)
        left = 52 - len(hand.board) - 2
        cards = model.cards(hand)
        dead = [pair for pair, two in enumerate(PAIR_CARDS.tolist()) if {*two} & {*hand.board, *hand.dead}]
        assert (cards[dead] == 0).all()
        assert cards[cards > 0] == pytest.approx(2 / (left * (left - 1)))
        assert len(dead) + (cards > 0).sum() == 1326


def test_ranks_are_chances_to_win(strengths):
    board = parse_cards("Ah7c7dTs2s")
    ranks = model_domain("holdem").ranks(board)
    for text in ("AcAd", "KsQs", "7h3c", "4d3d", "TcTd"):
        own = parse_cards(text)
        others = [card for card in range(52) if card not in (*board, *own)]
        mine = evaluate_cards(*map(card_text, (*board, *own)))
        wins = []
        for two in itertools.combinations(others, 2):
            theirs = evaluate_cards(*map(card_text, (*board, *two)))
            wins.append((mine < theirs) + (mine == theirs) / 2)
        assert abs(ranks[PAIR[own[0], own[1]]] - 100 * np.mean(wins)) <= 1.0


@pytest.mark.slow
def test_the_marginal_is_the_sum_over_cards():
    habit = Habit(lambda moment: (moment.words, moment.hand), 7)
    records = play("leduc", (habit, habit), 2_000, 5)
    model = learned("trees", records, 2_000)
    for record in records[:50]:
        hand = observed_hand(model.domain, record, 1)._replace(holding=UNKNOWN)
        each = [
            np.prod([1.0, *np.exp(_decision_logs(model, hand._replace(holding=card)))]) for card in range(3)
        ]
        before = model.domain.possible((*hand.board, *hand.dead))
        assert np.exp(marginal(model, hand)) == pytest.approx(float(before @ each))


def _decision_logs(model, hand):
    found = all_decisions(model.domain, [hand])
    shares = model.shares(found.node, found.rank, found.holding)
    return np.log(shares[np.arange(len(shares)), found.action])


# What is public


@pytest.mark.parametrize(
    "game", ["holdem", slow("holdem(players=3)"), "leduc", slow("leduc(players=3,ranks=4)"), "kuhn"]
)
def test_facts_are_those_of_the_rules_replayed(game):
    domain = model_domain(game)
    players = domain.players
    habit = Habit(lambda moment: (moment.words, moment.card[0]), 11)
    everywhere = all_facts(domain.public)
    pots = all_facts(domain.public, ("pot", "seat"))
    for record in play(game, (habit,) * players, 60, 2):
        line = domain.line(record.actions)
        reported = moments(record)
        places = find_places(domain.public, [line[:place] for place in range(len(line))])
        wanted = np.array([[moment.facts[name] for name in FACTS] for moment, _ in reported])
        assert facts_at(domain.public, places).tolist() == wanted.tolist()
        assert everywhere[places.node].tolist() == wanted.tolist()
        assert pots[places.node].tolist() == wanted[:, [FACTS.index("pot"), 0]].tolist()


def _plainly(query, moment, places=()):
    """Whether actions can be found for all literals, by trying all."""
    if len(places) == len(query):
        return True
    parent, who, what, where = query[len(places)]
    before = len(moment.past) if parent == 0 else places[parent - 1]
    street = moment.street if parent == 0 else moment.past[before][2]
    for place in range(before):
        whose, klass, when = moment.past[place]
        fits = (whose == moment.me) == (who == 0) and klass == what and (where == 0 or when == street)
        if fits and _plainly(query, moment, (*places, place)):
            return True
    return False


@pytest.mark.parametrize("players", [2, slow(3)])
def test_queries_are_those_of_trying_all(players):
    records = holdem_hands(players, 30, seed=6)
    domain = model_domain(records[0].game)
    generator = np.random.default_rng(1)
    reported, lines = [], []
    for record in records:
        line = domain.line(record.actions)
        for place, (moment, _) in enumerate(moments(record)):
            reported.append(moment)
            lines.append(line[:place])
    places = find_places(domain.public, lines)
    truths = 0
    for trial in range(60):
        query = [
            [generator.integers(0, number + 1), *generator.integers(0, (2, 3, 2))]
            for number in range(1 + trial % 4)
        ]
        wanted = [_plainly(query, moment) for moment in reported]
        table = np.array(query, np.int32)
        assert holds_at(domain.public, places, table).astype(bool).tolist() == wanted
        if players == 2 and trial < 8:
            bits = np.zeros((len(domain.public.node), 1), np.uint64)
            bits_everywhere(domain.public, {5: table}, bits)
            assert (bits[places.node, 0] == 32).tolist() == wanted
        truths += sum(wanted)
    assert truths > 100


# Trees


@pytest.mark.parametrize("buckets", [slow(10), slow(7)])
def test_trees_are_those_of_scikit_learn(buckets):
    """Also for ranks that no hand of Leduc has."""
    generator = np.random.default_rng(1)
    habit = Habit(lambda moment: (moment.words, moment.hand), 7)
    records = play("leduc", (habit, habit), 3_000, 5)
    domain = model_domain("leduc")
    hands = observed_hands(records, "ann", "leduc")
    model = TreesModel("leduc", buckets=buckets)
    found = all_decisions(domain, hands)
    count = len(found.hand)
    found = found._replace(
        weight=generator.choice([0.25, 1.0], count), rank=generator.integers(0, 100, count)
    )
    bold = (found.rank // 10 % 3 == 1) & (found.action > 0)
    found = found._replace(action=np.where(bold, RAISE, found.action).astype(np.uint8))
    model.fit_to(found)
    table = decision_trees.features(domain.public, found, model.buckets)
    shares = model.shares(found.node, found.rank, found.holding)
    streets = domain.public.node[found.node, KIND] >> 3 & 3
    for street in (0, 1):
        here = streets == street
        tree = decision_trees.grow(table[here], found.action[here], found.weight[here])
        assert tree.get_n_leaves() > 8
        seen = tree.tree_.weighted_n_node_samples[tree.apply(table[here])]
        counts = np.zeros((here.sum(), 3))
        counts[:, tree.classes_] = tree.predict_proba(table[here]) * seen[:, None]
        counts += 1.0
        kinds = domain.public.node[found.node[here], KIND]
        for row, kind in enumerate(kinds):
            counts[row, : 1 - (kind >> FACING_SHIFT & 1)] = 0
            counts[row, 1 - (kind >> FACING_SHIFT & 1) + (kind & 3) :] = 0
        assert shares[here] == pytest.approx(counts / counts.sum(axis=1, keepdims=True), abs=1e-12)


@pytest.mark.slow
def test_without_scikit_learn_there_is_a_sentence(monkeypatch):
    records = hands_of(FAMILIES["trees"], "leduc")[:50]
    model = learned("trees", records, 50)
    monkeypatch.setitem(sys.modules, "sklearn.tree", None)
    assert model.policy().probabilities.min() > 0  # what is grown needs it no more
    with pytest.raises(MissingError, match=r"openfelt\[models\]"):
        learned("trees", records, 50)


@pytest.mark.slow
def test_trees_in_words():
    text = learned("trees", hands_of(FAMILIES["trees"], "leduc"), 2_000).describe()
    assert text.startswith("preflop\n  if ")
    assert "hand rank > " in text
    assert "bets_in_game > " in text or "seat > " in text


# Tallies


@pytest.mark.parametrize("game", ["holdem", slow("holdem(players=3)"), "leduc", "kuhn"])
def test_contexts_are_those_of_the_rules_replayed(game):
    domain = model_domain(game)
    levels, context = public_contexts(domain)
    habit = Habit(lambda moment: (moment.words, moment.card[0]), 12)
    met = set()
    for record in play(game, (habit,) * domain.players, 60, 2):
        line = domain.line(record.actions)
        places = find_places(domain.public, [line[:place] for place in range(len(line))])
        for node, (moment, _) in zip(places.node.tolist(), moments(record), strict=True):
            level = sum(moment.facts["pot"] >= least for least in levels) - 1
            met.add(level)
            assert context[node] == 8 * moment.facts["last_of_others"] + 2 * level + moment.facing
    assert len(met) >= (2 if game == "kuhn" else 3)
    if game == "holdem":  # in equal ratios from 3 chips, the blinds, to four bets a street and a bet to call
        assert levels[0] == 3
        assert [later / earlier for earlier, later in itertools.pairwise(levels)] == pytest.approx(
            [2.36] * 3, abs=0.35
        )


def test_a_tally_counts():
    records = [
        felt_record("leduc", 0, "K J Q", "bet call check bet call"),
        felt_record("leduc", 1, "J K Q", "bet call check bet call"),
    ]
    model = learned("tally", records, 2)
    assert model.counts.sum() == 5  # decisions: bet, check, call in one hand; call and bet in the other
    assert model.counts[:, :, FOLD].sum() == 0
    assert model.counts[:, :, RAISE].sum() == 2
    assert "bet or raise" in model.describe()


def felt_record(game, number, dealt, actions, names=("ann", "bob")):
    names = names if number % 2 == 0 else names[::-1]
    return HandRecord(game, number, names, tuple(dealt.split()), tuple(actions.split()), (0.0, 0.0))


def test_hidden_cards_count_by_the_guess():
    domain = model_domain("leduc")
    hand = ObservedHand(0, domain.line(["check", "bet", "fold"]), (), UNKNOWN, (2,))
    likely = guess(domain, hand)
    assert likely[0] > likely[1] > likely[2] == 0
    model = TallyModel("leduc")
    model.learn(hand)
    assert model.counts.sum() == pytest.approx(2.0)
    folded = model.counts[:, :, FOLD].sum(axis=0)
    assert folded[domain.ranks(()) * model.buckets // 100] == pytest.approx(likely)


@pytest.mark.parametrize("kind", ["tally", "frequencies"])
def test_learning_hand_by_hand_is_learning_at_once(kind):
    records = hands_of(FAMILIES["tally"], "leduc")[:300]
    hands = observed_hands(records, "ann", "leduc", SHOWN)
    one, all_at_once = new_model(kind, "leduc"), new_model(kind, "leduc")
    for hand in hands:
        one.learn(hand)
    all_at_once.fit(hands)
    assert one.counts == pytest.approx(all_at_once.counts)
    known = observed_hands(records, "ann", "leduc")
    one.fit(known)
    all_at_once.fit_to(all_decisions(one.domain, known))
    assert one.counts == pytest.approx(all_at_once.counts)


def test_both_ways_of_reading_remove_cards():
    records = hands_of(FAMILIES["tally"], "leduc")
    hands = observed_hands(records, "ann", "leduc")
    for reading in ("tally", "bayes"):
        model = TallyModel("leduc", reading=reading)
        model.fit(hands[:1_000])
        for hand in hands[-50:]:
            cards = model.cards(hand)
            assert cards.sum() == pytest.approx(1.0)
            gone = [*hand.board, *hand.dead]
            assert all(cards[card] == 0 for card in gone if gone.count(card) == 2)
    with pytest.raises(FeltError, match="reading of cards"):
        TallyModel("leduc", reading="palms")
    with pytest.raises(FeltError, match="1 to 100 buckets"):
        TallyModel("holdem", buckets=0)


# Searches


@kernel
def ask(model, tree, deal, lines, stream, places, nodes, chosen):
    """Go along random lines, and ask at each decision for each of the places."""
    asked = 0
    node = episode.begin(tree, deal, stream)
    for way in lines:
        if tree.node[node, 0] < 0:
            break
        nodes[asked] = node
        for number in range(len(places)):
            chosen[asked, answer(model, tree, deal, node, places[number])] += 1
        asked += 1
        node = episode.follow(tree, deal, node, way % (tree.node[node, KIND] & 3), stream)
    return asked if is_known(model) else 0


@pytest.mark.parametrize("kind", OWN_KINDS)
def test_a_search_is_answered_with_the_shares(kind, strengths):
    """Asked with all numbers from 0 to 1 alike, each action comes as often as its share."""
    records = holdem_hands(2, 250, seed=8)
    model = learned(kind, records, 250)
    rules = compile_any("holdem(buckets='ehs:100')")
    tree, deal = holdem_tree(rules), new_deal(2)
    stream = starts(5, 1)
    generator = np.random.default_rng(2)
    places = (np.arange(2_000) + 0.5) / 2_000
    reported = 0
    for _ in range(40):
        nodes, chosen = np.zeros(24, np.int64), np.zeros((24, 3), np.int64)
        lines = generator.integers(0, 6, 24)
        asked = ask(model.for_search(), tree, deal, lines, stream, places, nodes, chosen)
        cards = deal.cards.tolist()
        for node, counts in zip(nodes[:asked].tolist(), chosen.tolist(), strict=False):
            player, kind_of = (int(number) for number in rules.node[node, :2])
            street = kind_of >> 3 & 3
            board = cards[4 : 4 + (0, 3, 4, 5)[street]]
            holding = int(PAIR[cards[2 * player], cards[2 * player + 1]])
            rank = model.domain.rank_of(holding, board)
            shares = model.shares(np.array([node]), np.array([rank]), np.array([holding]))[0]
            first = 0 if kind_of >> FACING_SHIFT & 1 else 1
            wanted = shares[first : first + (kind_of & 3)]
            assert np.array(counts[: len(wanted)]) / 2_000 == pytest.approx(wanted, abs=1.1e-3)
            reported += 1
    assert reported > 100


def test_searches_are_for_holdem():
    for kind in ("tally", "trees"):
        with pytest.raises(FeltError, match="hold'em"):
            new_model(kind, "leduc").for_search()


# Scores


def test_scores_of_a_known_player():
    """If a model can express the truth, its loss approaches the player's entropy."""
    habit = FAMILIES["trees"]
    records = hands_of(habit, "leduc")
    first, last = split(observed_hands(records, "ann", "leduc"), 0.3)
    model, habits = new_model("trees", "leduc"), FrequencyModel("leduc")
    model.fit(first)
    habits.fit(first)
    own, frequent, uniform = compare("trees", model, habits, last)
    entropy = []
    for record in records[len(first) :]:
        for moment, _ in moments(record):
            if record.names[moment.me] == "ann":
                chances = habit.chances(moment)
                entropy.append(-(chances * np.log(chances)).sum())
    assert own.decisions == len(entropy)
    assert abs(own.action_loss.mean - np.mean(entropy)) < 4 * own.action_loss.error + 0.01
    assert own.action_loss.mean < frequent.action_loss.mean < uniform.action_loss.mean
    assert own.gain.mean == pytest.approx(frequent.action_loss.mean - own.action_loss.mean)
    assert own.gain.mean > 10 * own.gain.error
    assert own.card_gain.mean > 0.05
    assert frequent.card_gain.mean == pytest.approx(0.0)
    assert own.calibration.error < 0.03
    ways = [moment.ways for record in records[len(first) :] for moment, _ in moments(record)
            if record.names[moment.me] == "ann"]  # fmt: skip
    assert uniform.action_loss.mean == pytest.approx(np.mean(np.log(ways)))
    assert own.calibration.chances.sum() == sum(ways)
    assert json.loads(json.dumps(own.to_json()))["decisions"] == own.decisions


def test_hands_without_cards_are_scored_as_a_whole():
    records = hands_of(FAMILIES["trees"], "leduc")
    hands = observed_hands(records, "ann", "leduc")
    model, habits = new_model("trees", "leduc"), FrequencyModel("leduc")
    model.fit(hands[:2_000])
    habits.fit(hands[:2_000])
    hidden = [hand._replace(holding=UNKNOWN) for hand in hands[-200:]]
    own, frequent, _ = compare("trees", model, habits, hidden)
    assert own.action_loss is own.card_gain is own.calibration is None
    assert own.hand_loss.mean == pytest.approx(-np.mean([marginal(model, hand) for hand in hidden]))
    # Frequencies do not look at cards, so whether they are known makes no difference.
    assert frequent.hand_loss.mean == pytest.approx(
        compare("", model, habits, hands[-200:])[1].hand_loss.mean
    )


@pytest.mark.slow
def test_errors_are_by_hand():
    """The standard error is the spread of the means of many samples of hands."""
    records = hands_of(FAMILIES["trees"], "leduc")
    hands = observed_hands(records, "ann", "leduc")
    model = learned("trees", records, 2_000)
    parts = [
        compare("", model, FrequencyModel("leduc"), hands[at : at + 100])[0] for at in range(0, 6_000, 100)
    ]
    for name in ("action_loss", "hand_loss", "card_gain"):
        found = [getattr(part, name) for part in parts]
        spread = np.std([each.mean for each in found], ddof=1)
        assert np.mean([each.error for each in found]) == pytest.approx(spread, rel=0.3)


# Files


@pytest.mark.parametrize("kind", OWN_KINDS)
@pytest.mark.parametrize("game", ["leduc", "holdem"])
def test_models_come_back_as_they_were(kind, game, tmp_path, strengths):
    records = hands_of(FAMILIES["trees"], "leduc") if game == "leduc" else holdem_hands(2, 100)
    model = learned(kind, records, 100)
    save_model(model, tmp_path / "model", player="ann")
    back = load_model(tmp_path / "model", game)
    found = all_decisions(model.domain, observed_hands(records[-50:], "ann", game))
    assert back.kind == kind
    assert (
        back.shares(found.node, found.rank, found.holding).tolist()
        == model.shares(found.node, found.rank, found.holding).tolist()
    )
    assert back.describe() == model.describe()
    saved = open_model(tmp_path / "model")
    assert saved.about == {"kind": kind, "game": game, "player": "ann", "learned": 100}
    habits = FrequencyModel(game)
    habits.fit(model.hands)
    assert saved.habits.counts.tolist() == habits.counts.tolist()
    with pytest.raises(FeltError, match="not of kuhn"):
        load_model(tmp_path / "model", "kuhn")
    save_model(back, tmp_path / "model")  # over the first


@pytest.mark.parametrize("kind", OWN_KINDS)
def test_models_that_cannot_be_are_refused(kind):
    """Arrays with sound checksums may still be wrong: a search must never follow them out of bounds."""
    model = learned(kind, hands_of(FAMILIES["trees"], "leduc"), 300)
    arrays, facts = model.to_save()
    for name, array in arrays.items():
        for broken in (array[:-1], array - 5, np.zeros((0, 3))):
            with pytest.raises((ValueError, IndexError, KeyError)):
                new_model(kind, "leduc").restore({**arrays, name: broken}, facts)
    if kind == "trees":
        loop = arrays["step"].copy()
        loop[loop[:, 0] >= 0, 1] = 0  # back to the first
        with pytest.raises(ValueError, match="trees"):
            new_model(kind, "leduc").restore({**arrays, "step": loop}, facts)


def test_kinds_are_known():
    assert set(OWN_KINDS) < set(KINDS)
    with pytest.raises(FeltError, match="did you mean 'tally'"):
        new_model("talley", "leduc")
    with pytest.raises(FeltError, match="no hands to learn"):
        new_model("tally", "leduc").fit([])
    with pytest.raises(FileError):
        load_model(Path("nowhere"))


def test_hands_that_tell_nothing():
    records = hands_of(FAMILIES["trees"], "leduc")[:5]
    with pytest.raises(FeltError, match="one player"):
        observed_hands([replace(records[0], names=("ann",))], "ann", "leduc")
    with pytest.raises(FeltError, match="no hands of zoe in leduc"):
        observed_hands(records, "zoe", "leduc")
    with pytest.raises(FeltError, match="only of leduc"):
        observed_hands(records, "ann", "kuhn")
    with pytest.raises(FeltError, match="known or shown"):
        observed_hands(records, "ann", "leduc", "marked")


@pytest.mark.slow
def test_three_players_too():
    habit = Habit(lambda moment: (moment.words, moment.hand), 7)
    game = "leduc(players=3,ranks=4)"
    records = play(game, (habit, habit, habit), 400, 5)
    for kind in OWN_KINDS:
        model = learned(kind, records, 400, SHOWN)
        assert model.policy().probabilities.min() > 0
        hand = observed_hands(records, "ann", game, SHOWN)[-1]
        assert model.cards(hand).sum() == pytest.approx(1.0)
