"""A sequence form whose leaves name groups of sequences is the same game."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from factored_games import slots_in

import openfelt as felt
from openfelt.games.compile.compiler import compile_game
from openfelt.games.compile.phantom_tree import compile_phantom
from openfelt.games.compile.sequence_form import SequenceForm, sequence_form, without_meetings
from openfelt.policy.tabular import TabularPolicy
from openfelt.solve.realisation_plans import full_reach
from openfelt.solve.restriction import Restriction, restricted_form
from openfelt.solve.traverse.sequence import evaluate_profile, sum_leaves
from openfelt.solve.traverse.threaded_leaf_sums import LeafSummer

GAMES = ["kuhn", "bluff(2,1,2)", "princess_monster(2,2,4)", "leduc"]
SOLVERS = [felt.CFR, felt.CFRPlus, felt.DCFR, felt.PCFRPlus, felt.FictitiousPlay]


def grouped(form: SequenceForm, weighted: bool = True) -> SequenceForm:
    """The same game with two stages of groups.

    A group of the first stage has the opponent's sequences of all leaves of a sequence that share a weight,
    or the sign of it if members are `weighted`; a group of the second stage has the groups that share a leaf.
    """
    base = form.num_slots + form.num_players
    first_group: list[list[int]] = []
    members: list[list[tuple[int, float]]] = []
    leaves: list[list[tuple[int, float]]] = [[] for _ in range(base)]
    for player in range(2):
        own = form.first_row[[1 - player, 2 - player]]
        answered: list[tuple[int, float, int]] = []  # a sequence, weight of its leaf, a group
        start = len(members)
        for slot in (*range(*form.first_slot[own]), form.num_slots + 1 - player):
            of_slot = slice(form.first_leaf[slot], form.first_leaf[slot + 1])
            weights, others = form.leaf_weight[of_slot], form.leaf_others[of_slot, 0]
            kinds = np.sign(weights) if weighted else weights
            for kind in np.unique(kinds):
                shared = zip(others[kinds == kind], weights[kinds == kind], strict=True)
                members.append([(other, weight if weighted else 1.0) for other, weight in shared])
                answered.append((slot, 1.0 if weighted else kind, len(members) - 1))
        stages = [start, len(members)]
        for slot, weight in dict.fromkeys((slot, weight) for slot, weight, _ in answered):
            leaves[slot].append((base + len(members), weight))
            members.append([(base + group, 1.0) for *of, group in answered if of == [slot, weight]])
        first_group.append([*stages, len(members)])
    flat = [leaf for entries in leaves for leaf in entries]
    return form._replace(
        first_leaf=np.cumsum([0] + [len(entries) for entries in leaves]),
        leaf_weight=np.array([weight for _, weight in flat]),
        leaf_others=np.array([[group] for group, _ in flat], np.int32),
        first_group=np.array(first_group),
        first_member=np.cumsum([0] + [len(entries) for entries in members]),
        member_slot=np.array([slot for entries in members for slot, _ in entries], np.int32),
        member_weight=np.array([weight for entries in members for _, weight in entries] if weighted else []),
    )


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("weighted", [True, False])
def test_values_and_best_responses_are_those_of_the_leaves(name, weighted):
    policy = felt.random_policy(name, seed=3)
    results = []
    for form in (sequence_form(policy.tree), grouped(sequence_form(policy.tree), weighted)):
        best, expected, response = np.empty(2), np.empty(2), np.empty(policy.tree.num_slots)
        evaluate_profile(form, policy.probabilities, response, best, expected)
        results.append((best, expected, response))
    for plain, factored in zip(*results, strict=True):
        np.testing.assert_allclose(factored, plain, atol=1e-12)


@pytest.mark.parametrize("kind", SOLVERS)
@pytest.mark.parametrize("name", GAMES[:3])
def test_solvers_reach_the_same_policy(name, kind):
    plain, factored = kind(name), kind(name)
    factored.form = grouped(factored.form)
    factored._start()
    plain.run(20)
    factored.run(20)
    np.testing.assert_allclose(factored.probabilities, plain.probabilities, atol=1e-9)
    assert factored.measure().nash_conv == pytest.approx(plain.measure().nash_conv, abs=1e-9)


def test_a_restriction_weighs_groups_like_leaves():
    restriction = Restriction(1, felt.random_policy("kuhn"), 0.4)
    plain = felt.CFRPlus("kuhn", restriction=restriction)
    factored = felt.CFRPlus("kuhn")
    factored.form = grouped(factored.form)
    factored.restriction = restriction
    factored._restrict(restriction)
    factored._start()
    np.testing.assert_allclose(factored.run(50).probabilities, plain.run(50).probabilities, atol=1e-9)


MEETINGS = ["dark_hex(2,3,abrupt=True)", "phantom_ttt(2,3,2)"]


def form_of(name):
    """A form with groups, whose groups meet in the games of MEETINGS."""
    rules = felt.load_game(name)
    return compile_phantom(rules).form if name in MEETINGS else grouped(sequence_form(compile_game(rules)))


@pytest.mark.parametrize("name", MEETINGS)
def test_meetings_are_leaves_of_the_members(name):
    form = form_of(name)
    plain, table = without_meetings(form), np.random.default_rng(4).random(form.num_slots)
    assert len(form.meeting_slot) > 0
    assert len(plain.meeting_slot) == 0
    found = [(np.empty(form.num_slots), np.empty(2), np.empty(2)) for _ in range(2)]
    for each, results in zip((form, plain), found, strict=True):
        evaluate_profile(each, table, *results)
    for with_meetings, with_leaves in zip(*found, strict=True):
        assert (with_meetings == with_leaves).all()


@pytest.mark.parametrize("name", MEETINGS)
def test_groups_of_different_stages_share_no_member(name):
    form = form_of(name)
    for player in range(2):
        cuts = form.first_member[form.first_group[player]]
        stages = [form.member_slot[first:last] for first, last in pairwise(cuts)]
        distinct = [np.unique(members) for members in stages]
        assert sum(map(bool, map(len, distinct))) > 1
        assert len(np.unique(np.concatenate(distinct))) == sum(map(len, distinct))


def test_a_restriction_weighs_meetings_like_leaves():
    name = "dark_hex(2,abrupt=True)"
    tree, factored = compile_game(name), compile_phantom(felt.load_game(name))
    same = slots_in(tree, factored)
    fixed, policy = (felt.random_policy(tree, seed).probabilities for seed in (1, 2))
    best, expected = np.empty((2, 2)), np.empty((2, 2))
    for number, (each, order) in enumerate(((tree, slice(None)), (factored, same))):
        restriction = Restriction(1, TabularPolicy(each, fixed[order]), 0.4)
        form = restricted_form(sequence_form(each), restriction)
        evaluate_profile(form, policy[order], np.empty(len(policy)), best[number], expected[number])
    np.testing.assert_allclose(best[1], best[0], atol=1e-12)
    np.testing.assert_allclose(expected[1], expected[0], atol=1e-12)


@pytest.mark.parametrize("name", ["leduc", MEETINGS[0]])
def test_threads_give_the_same_sums(name):
    form = form_of(name)
    table = np.random.default_rng(5).random(form.num_slots)
    alone = full_reach(form, table)
    shared, summer = np.empty_like(alone), LeafSummer(form, 3)
    for player in range(2):
        summer.spread_reach(player, table, shared)
    assert (shared == alone).all()
    values = np.zeros((2, form.num_slots + 2))
    for player in range(2):
        sum_leaves(form, player, alone, values[0])
        summer.sum_leaves(player, alone, values[1])
    assert (values[0] == values[1]).all()
    found = [(np.empty(form.num_slots), np.empty(2), np.empty(2)) for _ in range(2)]
    evaluate_profile(form, table, *found[0])
    summer.evaluate_profile(table, *found[1])
    for alone, shared in zip(*found, strict=True):
        assert (alone == shared).all()
