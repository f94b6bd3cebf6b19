"""Learners on hold'em: against twins that walk the rules; saving, going on, and what is won."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from slow_holdem import SlowHoldemExternal, SlowHoldemOutcome, SlowHoldemUCT

import openfelt as felt
from openfelt.cli.app import main
from openfelt.compile.compiler import compile_any
from openfelt.evaluate.holdem_value import holdem_value
from openfelt.policy.holdem_policy import RULES, WHOLE, quantised, rule_policy
from openfelt.rules.holdem import stakes

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
    state = int(solver.streams[0, 0])
    game = felt.load_game(solver.tree.game)
    return kind(game, solver.tree.abstraction, state, *rest, **more)


@pytest.mark.parametrize(("name", "episodes"), [(SMALL, 400), (THREE, 150)])
@pytest.mark.parametrize("rollout", ["uniform", "call", "on-policy"])
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


@pytest.mark.parametrize("name", [SMALL, THREE])
def test_outcome_sampling_is_algorithm_1(name):
    solver = felt.OutcomeMCCFR(name, epsilon=0.5, seed=3)
    twin = twin_of(solver, SlowHoldemOutcome, 0.5)
    solver.run(150)
    for _ in range(150):
        twin.iterate()
    assert_same(solver, 0, twin.regret, rel=1e-6, abs=1e-6)
    assert_same(solver, 1, twin.average, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "kind", "iterations"),
    [(SMALL, felt.ExternalMCCFR, 20), (THREE, felt.ExternalMCCFR, 1), (SMALL, felt.ChanceCFR, 2)],
)
def test_external_and_chance_sampling_walk_as_the_recursion(name, kind, iterations):
    solver = kind(name, seed=4)
    twin = twin_of(solver, SlowHoldemExternal, kind is felt.ExternalMCCFR)
    solver.run(iterations)
    for _ in range(iterations):
        twin.iterate()
    assert_same(solver, 0, twin.regret, rel=1e-9, abs=1e-9)
    assert_same(solver, 1, twin.average, rel=1e-9, abs=1e-12)


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
