"""Published values, closed forms, and the distance to equilibrium."""

from __future__ import annotations

import numpy as np
import pytest
from speed import slow

import openfelt as felt
from openfelt.games.compile.sequence_form import sequence_form
from openfelt.policy.policy import join_seats
from openfelt.solve.sequence_lp import plan_program, sequences, solve_program


@pytest.mark.parametrize(
    ("game", "nash_conv"), [("kuhn", 11 / 12), ("leduc", 4.747222222222222), ("kuhn(players=3)", 2.0625)]
)
def test_uniform_play(game, nash_conv):
    measured = felt.exploitability(felt.uniform_policy(game))
    assert measured.nash_conv == pytest.approx(nash_conv, abs=1e-9)
    players = felt.load_game(game).players
    assert measured.exploitability == pytest.approx(nash_conv / players, abs=1e-9)
    assert "chips per game" in str(measured)
    assert f"nash_conv / {players} players" in str(measured)


def kuhn_policy(gamma: float) -> felt.TabularPolicy:
    """The equilibria of Kuhn poker as PJL11 2.2 gives them, with (alpha, beta, gamma) of its Figure 1."""
    bet = {
        (0, "J"): gamma / 3, (0, "Q"): 0.0, (0, "K"): gamma,
        (0, "J pass bet"): 0.0, (0, "Q pass bet"): (1 + gamma) / 3, (0, "K pass bet"): 1.0,
        (1, "J pass"): 1 / 3, (1, "Q pass"): 0.0, (1, "K pass"): 1.0,
        (1, "J bet"): 0.0, (1, "Q bet"): 1 / 3, (1, "K bet"): 1.0,
    }  # fmt: skip
    tree = felt.compile_game("kuhn")
    table = np.empty(tree.num_slots)
    for (player, name), share in bet.items():
        table[tree.slots(tree.find_row(player, name))] = [1 - share, share]
    return felt.TabularPolicy(tree, table)


@pytest.mark.slow
@pytest.mark.parametrize("gamma", [0.0, 0.25, 0.9, 1.0])
def test_kuhns_equilibria(gamma):
    policy = kuhn_policy(gamma)
    measured = felt.exploitability(policy)
    assert measured.nash_conv == pytest.approx(0, abs=1e-12)
    assert measured.values == pytest.approx((-1 / 18, 1 / 18))
    distance = felt.closest_equilibrium(policy)
    assert distance.sum == pytest.approx(0, abs=1e-9)
    assert distance.exact


def kuhn_error(gamma: float, policy: felt.TabularPolicy) -> float:
    """Squared error to one equilibrium; infosets that the plan itself never reaches do not count."""
    errors = (kuhn_policy(gamma).probabilities - policy.probabilities) ** 2
    if gamma == 1:
        errors[policy.tree.slots(policy.tree.find_row(0, "K pass bet"))] = 0
    return float(errors.sum())


@pytest.mark.slow
def test_closest_equilibrium_is_the_closest():
    """Against a search over the closed form of all equilibria of Kuhn poker."""
    equilibria = felt.EquilibriumSet("kuhn")
    for seed in range(5):
        policy = felt.random_policy("kuhn", seed)
        closed_form = min(kuhn_error(gamma, policy) for gamma in np.linspace(0, 1, 2001))
        distance = equilibria.distance(policy)
        assert distance.sum == pytest.approx(closed_form, abs=1e-6)
        assert distance.mean == pytest.approx(distance.sum / 24)
        assert felt.exploitability(distance.closest).nash_conv < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize(
    "game",
    [
        "kuhn(pot=8)",
        "kuhn(pot=3)",
        "kuhn(pot=1)",
        "one_card(4)",
        slow("goofspiel(3)"),
        slow("princess_monster(2,2,3)"),
    ],
)
def test_closest_equilibrium_in_other_games(game):
    """It is an equilibrium; an equilibrium is its own closest one; and no sampled equilibrium is closer."""
    equilibria = felt.EquilibriumSet(game)
    solution = felt.SequenceLP(game).run().policy
    assert equilibria.distance(solution).sum == pytest.approx(0, abs=1e-6)
    policy = felt.random_policy(game, 8)
    distance = equilibria.distance(policy)
    assert felt.exploitability(distance.closest).nash_conv < 1e-7
    if distance.exact:
        assert distance.sum <= sampled_error(game, policy) + 1e-6


def sampled_error(game: str, policy: felt.TabularPolicy) -> float:
    """The least squared error among equilibria that linear programs with random objectives give."""
    form, generator = sequence_form(policy.tree), np.random.default_rng(5)
    total = 0.0
    for player in range(2):
        program, slots = plan_program(form, player), sequences(form, player)
        value = solve_program(program, game).x[-1]
        plans = []
        for _ in range(30):
            objective = np.zeros(program.a_ub.shape[1])
            objective[: len(slots)] = generator.normal(size=len(slots))
            plans.append(solve_program(program, game, objective, at_least=value - 1e-10).x[: len(slots)])
        mixed = [
            share * a + (1 - share) * b for a in plans[:6] for b in plans[6:] for share in (0.2, 0.5, 1.0)
        ]
        total += min(plan_error(form, player, plan, policy.probabilities) for plan in mixed)
    return total


def plan_error(form, player, plan, wanted) -> float:
    weight = np.zeros(form.num_slots + 2)
    weight[sequences(form, player)] = plan
    total = 0.0
    for row in range(form.first_row[player], form.first_row[player + 1]):
        here = slice(form.first_slot[row], form.first_slot[row + 1])
        if weight[form.parent_slot[row]] > 1e-7:
            total += float(((weight[here] / weight[here].sum() - wanted[here]) ** 2).sum())
    return total


def test_an_upper_bound_says_so():
    assert not felt.EquilibriumSet("one_card(5)").distance(felt.uniform_policy("one_card(5)")).exact


def test_dominated_actions_of_kuhn():
    """PJL11 2.2: 'There are in total seven possible dominated actions to be made.'"""
    dominated = felt.dominated_actions("kuhn")
    assert set(dominated.names()) == {
        (0, "Q", "bet"), (0, "J pass bet", "bet"), (0, "K pass bet", "pass"),
        (1, "K pass", "pass"), (1, "Q pass", "bet"), (1, "J bet", "bet"), (1, "K bet", "pass"),
    }  # fmt: skip
    assert dominated.error(felt.uniform_policy("kuhn")) == pytest.approx(3.5)
    assert dominated.error(kuhn_policy(0.5)) == 0


def test_equal_actions_are_not_dominated(tmp_path):
    (tmp_path / "equal.efg").write_text(
        'EFG 2 R "equal" { "one" "two" }\np "" 1 1 "" { "a" "b" "c" } 0\n'
        't "" 1 "" { 1, -1 }\nt "" 1\nt "" 2 "" { 0, 0 }\n'
    )
    assert felt.dominated_actions(tmp_path / "equal.efg").names() == [(0, "start", "c")]


@pytest.mark.slow
@pytest.mark.parametrize("game", ["one_card(4)", "one_card(6)", "kuhn(pot=8)", "kuhn(pot=1)"])
@pytest.mark.parametrize("player", [0, 1])
def test_some_equilibrium_plays_no_dominated_action(game, player):
    """Eliminating weakly dominated actions keeps the value (though it may lose some equilibria)."""
    tree = felt.compile_game(game)
    dominated = np.append(felt.dominated_actions(game).slots, [False, False])
    program = plan_program(sequence_form(tree), player)
    value = solve_program(program, game).x[-1]
    objective = np.zeros(program.a_ub.shape[1])
    objective[: program.num_plan] = dominated[sequences(sequence_form(tree), player)]
    assert objective.sum() > 0
    assert solve_program(program, game, objective, at_least=value - 1e-10).fun == pytest.approx(0, abs=1e-8)


def test_distance_refuses_what_it_cannot_do():
    with pytest.raises(felt.FeltError, match="two-player"):
        felt.EquilibriumSet("kuhn(players=3)")
    with pytest.raises(felt.FeltError, match="is computed for at most 2,000"):
        felt.EquilibriumSet("bluff(1,1,5)")


def test_seats_of_different_policies():
    """Player 0 of one policy against player 1 of another: the value lies between their best responses."""
    good, bad = kuhn_policy(0.5), felt.uniform_policy("kuhn")
    assert felt.expected_values(join_seats([good, bad]))[0] >= -1 / 18
    assert felt.expected_values(join_seats([bad, good]))[0] <= -1 / 18
    with pytest.raises(felt.FeltError, match="2 players"):
        join_seats([good])
    with pytest.raises(felt.FeltError, match="one policy per player"):
        join_seats([])
    with pytest.raises(felt.FeltError, match="players 0 to 1"):
        felt.best_response(good, 2)


def test_a_policy_of_another_game_is_refused():
    for other in ("leduc", "kuhn(pot=8)"):  # the second has the same infosets, and other payoffs
        with pytest.raises(felt.FeltError, match="is for kuhn, not for"):
            felt.value(felt.uniform_policy(other), felt.uniform_policy("kuhn"))
    assert felt.value(felt.uniform_policy("one_card(3)"), felt.uniform_policy("kuhn")).game == "one_card(3)"
