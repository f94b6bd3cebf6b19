"""Neural players against plain twins on small games, runs that resume to the bit, and convergence."""

from __future__ import annotations

import numpy as np
import pytest

import openfelt as felt
from openfelt.core.pytorch import torch
from openfelt.solve.neural.deep_cfr import _traverse_all, match_regrets
from openfelt.solve.neural.memory import HELD, SEEN
from openfelt.solve.neural.network import RIDGE, LastLayer, Network, centred, log_policy
from openfelt.solve.neural.nfsp import BEST, EXPLORING, _store
from openfelt.solve.neural.policy_gradient import LEAST
from openfelt.solve.registry import SOLVERS

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("pytorch")]

SMALL = {"hidden": 16, "games": 32, "steps": 4}
SETTINGS = {
    "nfsp": {**SMALL, "batch": 256, "window": 2_000, "reservoir": 300},
    "deep-cfr": {"hidden": 16, "traversals": 20, "reservoir": 500, "updates": 5},
    "ppo": SMALL,
    "mmd": SMALL,
    "r-nad": {**SMALL, "refresh": 10},
}


@pytest.fixture(scope="module")
def pytorch():
    pytest.importorskip("torch")


def numeric_gradient(network, loss, places):
    """Central differences of a loss in some of a network's parameters."""
    found = []
    with torch.no_grad():
        for place in places:
            ends = []
            for step in (2e-3, -2e-3):
                network.vector[place] += step
                ends.append(float(loss()))
                network.vector[place] -= step
            found.append((ends[0] - ends[1]) / 4e-3)
    return np.array(found)


def gradient(network, loss):
    network.vector.grad.zero_()
    loss.backward()
    return network.vector.grad.numpy().copy()


def large_ones(gradient):
    return np.argsort(-abs(gradient))[:12]


@pytest.fixture
def single_decisions(monkeypatch):
    """Let small games train as large ones do: by single decisions, not by sums over infosets."""

    def make(name, **settings):
        with monkeypatch.context() as context:
            context.setattr("openfelt.solve.neural.inputs.SMALL", 0)
            return SOLVERS[name]("leduc", seed=3, **settings)

    return make


@pytest.mark.parametrize("name", SETTINGS)
def test_a_resumed_run_is_the_same_to_the_bit(name, tmp_path):
    whole = SOLVERS[name]("leduc", seed=5, **SETTINGS[name]).run(30)
    SOLVERS[name]("leduc", seed=5, **SETTINGS[name]).run(13).save(tmp_path / "checkpoint")
    resumed = SOLVERS[name]("leduc", seed=4, **SETTINGS[name])
    resumed.resume(tmp_path / "checkpoint")
    resumed.run(17)
    assert resumed.weights.tobytes() == whole.weights.tobytes()
    for key, table in whole.tables().items():
        np.testing.assert_array_equal(table, resumed.tables()[key], key)
    other = SOLVERS[name]("leduc", seed=6, **SETTINGS[name]).run(30)
    assert other.weights.tobytes() != whole.weights.tobytes()
    for path in (tmp_path / "checkpoint").rglob("*.npy"):
        np.load(path, allow_pickle=False)


@pytest.mark.parametrize(
    ("name", "table", "number", "message"),
    [
        *[("mmd", "games.length", 10**7, "out of range"), ("mmd", "games.infoset", 10**6, "out of range")],
        *[("mmd", "games.action", 99, "out of range"), ("ppo", "games.player", -1, "out of range")],
        *[("mmd", "env.node", 10**6, "impossible"), ("mmd", "env.players", 2, "impossible")],
        *[("nfsp", "window.infoset", -1, "out of range"), ("nfsp", "window.after", 288, "out of range")],
        *[("nfsp", "modes.modes", 2, "out of range"), ("nfsp", "reservoir.counts", -1, "out of range")],
        *[("deep-cfr", "memory.slot", 10**6, "out of range"), ("r-nad", "critic.weights", np.nan, "finite")],
    ],
)
def test_a_hostile_checkpoint_gets_a_sentence(name, table, number, message, tmp_path):
    solver = SOLVERS[name]("leduc", seed=5, **SETTINGS[name]).run(2)
    damaged = solver._tensors.get(table)
    (solver.tables()[table] if damaged is None else damaged).reshape(-1)[0] = number
    solver.save(tmp_path / "checkpoint")
    with pytest.raises(felt.FileError, match=message):
        SOLVERS[name]("leduc", **SETTINGS[name]).resume(tmp_path / "checkpoint")


def test_sums_of_the_memories_have_the_gradient_of_all_their_decisions(single_decisions, monkeypatch):
    """Both ways with equal memories, in which old decisions have been overwritten."""
    summed = felt.NFSP("leduc", seed=3, **SETTINGS["nfsp"]).run(60)
    single = single_decisions("nfsp", **SETTINGS["nfsp"])
    assert summed.inputs.small
    assert not single.inputs.small
    for memory in (summed.window, summed.reservoir):
        assert memory.counts[SEEN] > memory.counts[HELD] == memory.played.sum()
    for key, table in single.tables().items():
        if table.size:  # the sums are empty in large games
            table[...] = summed.tables()[key]
    single._resumed()
    monkeypatch.setattr(single, "_drawn", all_places)
    for loss, network in (("_value_loss", "values"), ("_average_loss", "average")):
        both = [gradient(getattr(solver, network), getattr(solver, loss)()) for solver in (summed, single)]
        assert abs(both[0]).max() > 1e-3
        np.testing.assert_allclose(both[0], both[1], atol=2e-5)


def all_places(memory):
    """The places of all decisions that a memory holds: the latest ones in a window."""
    seen, held = memory.counts
    return np.arange(seen - held, seen) % len(memory.action)


def test_targets_of_q_learning_are_payoffs_or_the_best_next_value():
    solver = felt.NFSP("kuhn", seed=1, **SETTINGS["nfsp"]).run(10)
    window, rows = solver.window, solver.inputs.rows
    with torch.no_grad():
        table = solver.target(solver.inputs.all[0]).numpy()
        values = solver.values(solver.inputs.all[0]).numpy()
    masks = felt.features("kuhn").masks()
    best = np.where(masks, table, -np.inf).max(1)
    count, total = np.zeros((2, rows, masks.shape[1]))
    for place in all_places(window):
        at, after = (window.infoset[place], window.action[place]), window.after[place]
        assert masks[at]
        count[at] += 1
        total[at] += window.reward[place] if after < 0 else best[after]
    # The loss leaves out the variance of targets at an infoset and action, which no value changes.
    means = total / np.maximum(count, 1)
    expected = (count * (values - means) ** 2).sum() / window.counts[HELD]
    assert solver._value_loss().item() == pytest.approx(expected, rel=1e-4)
    assert set(window.reward[: window.counts[HELD]].tolist()) <= {-2.0, -1.0, 0.0, 1.0, 2.0}


def test_a_window_grows_with_the_decisions_seen():
    solver = felt.NFSP("kuhn", seed=1, hidden=16, games=512, steps=8, share=0.1, window=40_000).run(60)
    seen, held = solver.window.counts
    assert held == max(10_000, int(0.1 * (seen - 1)))
    assert solver.window.played.sum() == held


def test_the_average_leaves_out_exploration_and_what_follows_it():
    solver = felt.NFSP("leduc", seed=1, eta=0.5, epsilon=0.3, **SETTINGS["nfsp"]).run(5)
    games, before = solver._play(), int(solver.reservoir.counts[SEEN])
    _store(games, solver.window, 1.0, solver.reservoir, 1.0, solver.stream)
    expected, explored = 0, set()
    for mark, player, left in zip(games.mark, games.player, games.left, strict=True):
        if mark == EXPLORING:
            explored.add(player)
        elif mark == BEST and player not in explored:
            expected += 1
        if left == 0:
            explored = set()
    assert 0 < expected < (games.mark == BEST).sum()
    assert solver.reservoir.counts[SEEN] - before == expected


def test_deep_cfr_samples_the_counterfactual_regrets_of_the_policy():
    """The mean of many samples, by infoset, against regrets computed from the whole tree."""
    solver = felt.DeepCFR("kuhn", seed=2, traversals=150_000, reservoir=300_000, updates=1)
    policy = felt.random_policy("kuhn", seed=7)
    from openfelt.core.random import starts
    from openfelt.solve.neural.deep_cfr import MemoryWalk

    how = MemoryWalk(True, solver.most_actions, policy.probabilities, 1.0, solver.memory, solver.stream)
    _traverse_all(
        how,
        solver.episode_tree,
        solver._unused,
        solver._worker,
        starts(2, 1)[0],
        0,
        solver.settings.traversals,
    )
    memory = solver.memory
    assert memory.counts[HELD] < memory.counts[SEEN]
    held, seen = np.zeros_like(memory.sums), np.zeros_like(memory.weights)
    np.add.at(held, memory.slot[:, None] + np.arange(solver.most_actions), memory.regret)
    np.add.at(seen, memory.slot, memory.weight)
    np.testing.assert_allclose(memory.sums, held, atol=1e-4)
    np.testing.assert_allclose(memory.weights, seen)
    tree = solver.tree
    exact = counterfactual_regrets(tree, policy)
    for row in range(tree.num_rows):
        first = tree.rows.first_slot[row]
        for slot in range(first, tree.rows.first_slot[row + 1]):
            assert memory.sums[slot] / memory.weights[first] == pytest.approx(exact[slot], abs=0.03)


def counterfactual_regrets(tree, policy):
    """[slots] regret of an action given that its infoset is reached, by enumeration of histories."""
    nodes, first, probabilities = tree.nodes, tree.rows.first_slot, policy.probabilities
    weight, total = np.zeros(tree.num_rows), np.zeros(tree.num_slots)

    def value(node, reach):  # reach by player, chance last; returns expected payoffs
        player, children = nodes.player[node], nodes.num_children[node]
        if children == 0:
            return nodes.payoffs[nodes.row[node]]
        below = []
        for place in range(children):
            chance = (
                nodes.chance[nodes.row[node] + place]
                if player < 0
                else probabilities[first[nodes.row[node]] + place]
            )
            after = reach.copy()
            after[player] *= chance
            below.append((chance, value(nodes.first_child[node] + place, after)))
        mean = sum(chance * payoff for chance, payoff in below)
        if player >= 0:
            row, others = nodes.row[node], np.prod(np.delete(reach, player))
            weight[row] += others
            for place in range(children):
                total[first[row] + place] += others * (below[place][1][player] - mean[player])
        return mean

    value(0, np.ones(tree.players + 1))
    return total / np.repeat(weight, np.diff(first))


def test_regret_matching_follows_positive_regrets_or_the_highest():
    regrets = torch.tensor([[1.0, 3.0, 5.0], [-1.0, -2.0, 9.0], [0.0, 0.0, -1.0]])
    masks = torch.tensor([[True, True, False], [True, True, False], [True, True, True]])
    expected = [[0.25, 0.75, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    np.testing.assert_allclose(match_regrets(regrets, masks).numpy(), expected)


def test_deep_cfr_averages_policies_by_realisation_and_iteration():
    solver = felt.DeepCFR("kuhn", seed=1, **SETTINGS["deep-cfr"])
    policies = []
    for _ in range(4):
        policies.append(felt.TabularPolicy(solver.tree, solver.current))
        solver.run(1)
    from openfelt.solve.realisation_plans import tabular_mixture

    np.testing.assert_allclose(solver.probabilities, tabular_mixture(policies, [1, 2, 3, 4]).probabilities)


@pytest.mark.parametrize("name", ["ppo", "mmd", "r-nad"])
def test_the_gradient_of_a_policy_is_that_of_finite_differences(name):
    solver = SOLVERS[name]("kuhn", seed=1, hidden=16, games=64, steps=6).run(5)
    solver._table = solver.inputs.everywhere(solver._acting_policy)
    batch = solver._batch(solver._play())

    def loss():
        return solver._loss(solver.actor(batch.vectors), batch, 5)

    exact = gradient(solver.actor, loss())
    places = large_ones(exact)
    np.testing.assert_allclose(
        numeric_gradient(solver.actor, loss, places), exact[places], rtol=0.1, atol=2e-4
    )


@pytest.mark.parametrize("name", ["ppo", "mmd"])
def test_the_first_step_follows_the_policy_gradient_of_the_game(name):
    """With whole returns, no critic and no regularisation, the mean gradient is that of the expected payoff.

    In tabular softmax form that is reach x probability x (value of the action - value of the infoset).
    """
    none = {"entropy": 0.0} if name == "ppo" else {"alpha": 0.0, "eta": 1e9}
    solver = SOLVERS[name]("kuhn", seed=1, hidden=16, games=20_000, steps=12, trace=1.0, **none)
    with torch.no_grad():
        solver.critic.vector.zero_()
    solver._table = solver.inputs.everywhere(solver._acting_policy)
    batch = solver._batch(solver._play())
    logits = solver.actor(batch.vectors).detach().requires_grad_()
    solver._loss(logits, batch, 0).backward()
    found = -logits.grad.numpy()
    policy = felt.TabularPolicy(solver.tree, solver.weights)
    exact = softmax_gradient(solver, policy)
    scale = (found * exact).sum() / (exact * exact).sum()
    assert scale > 0
    np.testing.assert_allclose(found, scale * exact, atol=0.12 * scale * abs(exact).max())


def softmax_gradient(solver, policy):
    """[infosets, actions] of each player's payoff in its own logits."""
    tree, layout = solver.tree, felt.features(solver.tree.game)
    regrets, weight = counterfactual_regrets(tree, policy), reach_of_rows(tree, policy)
    table = np.zeros((tree.num_rows, len(layout.actions)))
    for row in range(tree.num_rows):
        for action in range(len(layout.actions)):
            slot = tree.rows.first_slot[row] + layout.places[row, action]
            table[row, action] = weight[row] * policy.probabilities[slot] * regrets[slot]
    return table


def reach_of_rows(tree, policy):
    """[infosets] the probability that play reaches an infoset."""
    nodes, first, found = tree.nodes, tree.rows.first_slot, np.zeros(tree.num_rows)

    def visit(node, reach):
        if nodes.player[node] >= 0:
            found[nodes.row[node]] += reach
        for place in range(nodes.num_children[node]):
            row = nodes.row[node]
            chance = (
                nodes.chance[row + place]
                if nodes.player[node] < 0
                else policy.probabilities[first[row] + place]
            )
            visit(nodes.first_child[node] + place, reach * chance)

    visit(0, 1.0)
    return found


@pytest.mark.parametrize("name", ["ppo", "mmd", "r-nad"])
def test_sums_by_infoset_have_the_gradient_of_single_decisions_in_policy_gradients(name, single_decisions):
    settings = {**SETTINGS[name], "steps": 12}
    summed, single = SOLVERS[name]("leduc", seed=3, **settings), single_decisions(name, **settings)
    summed._table = summed.inputs.everywhere(summed._acting_policy)
    played = [solver._play() for solver in (summed, single)]
    for one, other in zip(*played, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)
    found = []
    for solver, games in zip((summed, single), played, strict=True):
        batch = solver._batch(games)
        if solver is single:
            batch = less_the_mean_of_each_infoset(batch, games.infoset)
        found.append(gradient(solver.actor, solver._loss(solver.actor(batch.vectors), batch, 0)))
    assert abs(found[0]).max() > 1e-4
    np.testing.assert_allclose(found[0], found[1], atol=1e-5)


def test_in_small_games_an_error_of_the_critic_at_an_infoset_does_not_matter():
    solver = felt.PPO("leduc", seed=1, trace=1.0, **SMALL)
    solver._table = solver.inputs.everywhere(solver._acting_policy)
    played, batches = solver._play(), []
    for error in (0.0, 1.0):
        with torch.no_grad():
            solver.critic.vector += error
        batches.append(solver._batch(played))
    torch.testing.assert_close(batches[0].up, batches[1].up, atol=1e-6, rtol=0)
    torch.testing.assert_close(batches[0].down, batches[1].down, atol=1e-6, rtol=0)


def less_the_mean_of_each_infoset(batch, infosets):
    """A batch of single decisions, of the policy that is trained, with the baseline of small games."""
    advantage = (batch.up + batch.down).numpy().copy()
    for infoset in set(infosets):
        here = infosets == infoset
        advantage[here] -= (advantage[here].sum() / here.sum()) * (advantage[here] != 0)
    advantage = torch.from_numpy(advantage)
    return batch._replace(up=advantage.clamp_min(0), down=advantage.clamp_max(0))


def test_the_target_of_mirror_descent_maximises_its_objective():
    """The closed form against the loss: no gradient at the target, and a lower loss than anywhere near it."""
    solver = felt.MMD("leduc", seed=1, hidden=16, games=256, alpha=0.3, eta=2.0)
    solver._table = solver.inputs.everywhere(solver._acting_policy)
    batch = solver._batch(solver._play())
    assert float(batch.old[batch.masks].exp().min()) > LEAST
    logits = (batch.old + solver._change(batch.old, batch, 7)).detach()
    target = logits.clone().requires_grad_()
    best = solver._loss(target, batch, 7)
    best.backward()
    before = batch.old.clone().requires_grad_()
    solver._loss(before, batch, 7).backward()
    assert float(abs(target.grad).max()) < 1e-3 * float(abs(before.grad).max())
    noise = torch.from_numpy(np.random.default_rng(1).normal(size=logits.shape).astype(np.float32))
    for size in (0.1, -0.1, 1.0):
        assert solver._loss(logits + size * noise, batch, 7).item() > best.item()


def test_the_step_of_ppo_is_the_natural_gradient_of_its_loss():
    """By automatic differentiation: the gradient in logits, divided by the probability of the action."""
    solver = felt.PPO("leduc", seed=1, hidden=16, games=256, step=0.5, entropy=0.3)
    solver._table = solver.inputs.everywhere(solver._acting_policy)
    batch = solver._batch(solver._play())
    noise = torch.from_numpy(np.random.default_rng(1).normal(size=batch.old.shape).astype(np.float32))
    logits = (batch.old + 0.3 * noise).requires_grad_()
    policy = log_policy(logits, batch.masks).exp().detach()
    ratio = policy / batch.old.exp()
    assert float(batch.old[batch.masks].exp().min()) > LEAST
    assert 0.2 < float(((ratio > 1.2) | (ratio < 0.8))[batch.masks].float().mean()) < 0.8  # clipped
    solver._loss(logits, batch, 7).backward()
    expected = -0.5 * solver.annealed(7) * logits.grad / (batch.visits * policy).clamp_min(1e-12)
    found = solver._change(logits, batch, 7)
    seen = batch.visits[:, 0] > 0
    torch.testing.assert_close(
        centred(found, batch.masks)[seen].detach(), centred(expected, batch.masks)[seen], atol=1e-4, rtol=1e-3
    )


def test_a_small_step_of_ppo_and_r_nad_lowers_their_loss():
    for name in ("ppo", "r-nad"):
        solver = SOLVERS[name]("leduc", seed=1, epochs=1, **{**SMALL, "hidden": 512, "step": 0.01})
        solver._table = solver.inputs.everywhere(solver._acting_policy)
        batch = solver._batch(solver._play())
        losses = []
        for _ in range(2):
            losses.append(solver._loss(solver.actor(batch.vectors), batch, 0).item())
            solver._regress(batch, 0)
        assert losses[1] < losses[0]


def test_the_last_layer_is_moved_by_weighted_ridge_regression():
    """Against the normal equations in numpy; with more units than rows, outputs move as asked."""
    random = np.random.default_rng(2)
    network = Network([5, 64, 3], [1], "cpu")
    inputs = random.normal(size=(20, 5)).astype(np.float32)
    weights = random.uniform(size=(20, 1)).astype(np.float32)
    change = random.normal(size=(20, 3)).astype(np.float32)
    hidden = network.hidden(torch.from_numpy(inputs)).detach().numpy()
    before = network(torch.from_numpy(inputs)).detach().numpy()
    LastLayer(network, torch.from_numpy(inputs), torch.from_numpy(weights)).move(torch.from_numpy(change))
    moved = network(torch.from_numpy(inputs)).detach().numpy() - before
    units = np.hstack([hidden, np.ones((20, 1))])
    gram = units.T @ (weights * units)
    gram += RIDGE * np.diag(gram).mean() * np.eye(65)
    np.testing.assert_allclose(moved, units @ np.linalg.solve(gram, units.T @ (weights * change)), atol=1e-3)
    assert abs(moved - change).mean() < 0.3 * abs(change).mean()


def test_infosets_without_visits_hardly_change():
    """After a few games the regression moves the infosets visited, and others little."""
    solver = felt.PPO("leduc", seed=1, hidden=256, games=4, steps=8)
    solver._table = before = solver.inputs.everywhere(solver._acting_policy)
    batch = solver._batch(solver._play())
    solver._regress(batch, 0)
    moved = abs(solver.inputs.everywhere(solver._acting_policy) - before).max(1)
    visited = (batch.visits > 0)[:, 0].numpy()
    assert 0 < visited.sum() < 40
    assert moved[visited].mean() > 3 * moved[~visited].mean()


@pytest.mark.parametrize("name", ["ppo", "mmd", "r-nad"])
def test_the_result_is_the_mean_of_all_networks_with_more_weight_on_later_ones(name):
    """With recent = 1 the weights are 1, 2, ..., n; the result of a large one is the last network."""
    solver = SOLVERS[name]("kuhn", seed=1, recent=1.0, **SMALL)
    last = SOLVERS[name]("kuhn", seed=1, recent=1e12, **SMALL)
    total = torch.zeros_like(solver.actor.vector)
    for weight in range(1, 8):
        solver.run(1)
        total += weight / 28 * solver.actor.vector
    mean = solver.mean.vector.detach().numpy()
    np.testing.assert_allclose(mean, total.detach().numpy(), atol=1e-6)
    assert abs(mean - solver.actor.vector.detach().numpy()).max() > 1e-3
    last.run(7)
    np.testing.assert_array_equal(
        last.inputs.everywhere(last._acting_policy), last.inputs.everywhere(last._mean_policy)
    )


def test_r_nad_rewards_sum_to_zero_and_vanish_at_the_reference():
    solver = felt.RNaD("kuhn", seed=1, **SETTINGS["r-nad"])
    vectors, masks = solver.inputs.all
    with torch.no_grad():
        log = torch.log_softmax(solver.actor(vectors), 1)
        assert float(abs(solver._bonus(vectors, masks, log)).max()) == 0
        solver.reference.vector += 0.1
        assert float(abs(solver._bonus(vectors, masks, log)).max()) > 0


@pytest.mark.parametrize(
    ("name", "iterations", "settings", "bound"),
    [
        ("nfsp", 200, {"steps": 4}, 0.2),
        ("deep-cfr", 60, {}, 0.12),
        ("ppo", 300, {"steps": 4}, 0.1),
        ("mmd", 300, {"steps": 4}, 0.1),
        ("r-nad", 300, {"steps": 4}, 0.2),
    ],
)
def test_training_approaches_an_equilibrium_of_kuhn(name, iterations, settings, bound):
    """The uniform policy has a nash_conv of 0.92."""
    solver = SOLVERS[name]("kuhn", seed=1, hidden=64, **settings).run(iterations)
    assert solver.measurements[-1].nash_conv < bound


def test_a_trained_policy_is_like_any_other(tmp_path, monkeypatch, capsys):
    from openfelt.cli.app import main

    monkeypatch.chdir(tmp_path)
    train = ["train", "kuhn", "--solver", "mmd", "--iterations", "20", "--games", "64", "--out", "run"]
    assert main(train) == 0
    assert main([*train, "--resume"]) == 0
    for words in (
        ["exploit", "run"],
        ["match", "run", "random", "--game", "kuhn", "--hands", "50"],
    ):
        assert main(words) == 0, words
    assert felt.best_response(felt.load_policy("run"), 0).value > -1 / 18
    assert "mmd" in (tmp_path / "run" / "run.toml").read_text()
    assert "nash_conv" in capsys.readouterr().out


def test_r_nad_is_for_two_players():
    with pytest.raises(felt.FeltError, match="two players"):
        felt.RNaD("kuhn(players=3)")
