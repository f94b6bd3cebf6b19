"""Counter-strategies: against explicit games of coins, open_spiel's best responses, and closed forms."""

from __future__ import annotations

import csv
import json
from functools import cache

import numpy as np
import pyspiel
import pytest
from bound_game import bound_game
from bridge import as_profile, open_spiel_twin
from habits import Habit, moments, play
from speed import slow

import openfelt as felt
from openfelt.cli.app import main
from openfelt.core.jit import kernel
from openfelt.core.random import starts
from openfelt.games.compile.compiler import compile_game
from openfelt.hands.store import HandStore
from openfelt.measure.exploitability import values_against
from openfelt.opponents.models.files import new_model, save_model
from openfelt.opponents.models.observed import observed_hands
from openfelt.opponents.responses.confidence import CONSTANT, LINEAR, S_CURVE, confidence, observations
from openfelt.opponents.responses.fixed_policy import fixed_policy
from openfelt.opponents.responses.response import METHODS, Responses, frontier, restricted_solver
from openfelt.policy.rules import rule_table
from openfelt.solve.registry import SOLVERS
from openfelt.solve.restriction import EACH, ONCE, Restriction
from openfelt.solve.traverse import episode
from openfelt.solve.traverse.holdem import new_deal
from openfelt.solve.traverse.open_tree import open_tree
from openfelt.studies.pjl11 import figure_6 as pjl11_responses, figure_7 as pjl11_convergence
from openfelt.studies.pjl11.nodes_touched import count_nodes, full_traversal
from openfelt.studies.registry import STUDIES

GAMES = ["kuhn", "leduc", "one_card(50)", "bluff(1,1,4)"]
PLAYER = Habit(lambda moment: (moment.words, moment.hand), 7)


@cache
def player(game):
    return felt.random_policy(game, seed=3)


@cache
def responses(game):
    return Responses(game, player(game))


def value(game, policy, fixed, free, p):
    """What a policy is sure of in the game with one toss, from its definition."""
    worst = -felt.best_response(policy, 1 - free).value
    return p * values_against(policy, fixed)[free] + (1 - p) * worst


@pytest.mark.parametrize("free", [0, 1])
@pytest.mark.parametrize("game", ["kuhn", "leduc", "goofspiel(4)", "bluff(1,1,3)"])
def test_one_toss_is_the_game_with_a_coin(game, free):
    fixed, p = player(game), 0.6
    explicit = felt.SequenceLP(bound_game(game, fixed, 1 - free, p)).run()
    want = felt.expected_values(explicit.policy)[free]
    exact = restricted_solver(game, fixed, p, free, ONCE, "lp").run()
    assert value(game, exact.policy, fixed, free, p) == pytest.approx(want, abs=1e-6)
    assert exact.measure().exploitability == pytest.approx(0, abs=1e-7)
    learned = restricted_solver(game, fixed, p, free, ONCE, "cfr+").run(1_000)
    assert value(game, learned.policy, fixed, free, p) == pytest.approx(want, abs=5e-3)


@pytest.mark.slow
@pytest.mark.parametrize("varied", [False, True])
@pytest.mark.parametrize("free", [0, slow(1)])
@pytest.mark.parametrize("game", ["kuhn", slow("leduc")])
def test_tosses_at_each_decision_are_a_game_of_coins(game, free, varied):
    fixed, p = player(game), 0.6
    tree = fixed.tree
    seen_p, bound = p, p
    if varied:
        rows = np.random.default_rng(1).uniform(0, 1, tree.num_rows)
        rows[::4] = 0.0
        bound = np.repeat(rows, np.diff(tree.rows.first_slot))
        as_policy = {key: i for i, key in enumerate(_rows_in_order(fixed))}
        seen_p = {seen: float(rows[row]) for (who, seen), row in as_policy.items() if who == 1 - free}
    explicit = bound_game(game, fixed, 1 - free, seen_p, each=True)
    want = felt.expected_values(felt.SequenceLP(explicit).run().policy)[free]
    exact = restricted_solver(game, fixed, bound, free, EACH, "lp").run()
    learned = restricted_solver(game, fixed, bound, free, EACH, "cfr+").run(1_000)
    for solver, close in ((exact, 1e-6), (learned, 5e-3)):
        assert felt.expected_values(solver.policy)[free] == pytest.approx(want, abs=close)
        assert solver.measure().exploitability < close


def _rows_in_order(policy):
    """The keys of `as_profile` in the order of rows."""
    tree = policy.tree
    named = {(who, " ".join(seen)): (who, seen) for who, seen in as_profile(policy)}
    return [named[tree.row_player(row), tree.row_name(row)] for row in range(tree.num_rows)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "solver", ["outcome-mccfr", slow("external-mccfr"), slow("chance-cfr"), slow("smooth-uct")]
)
@pytest.mark.parametrize("toss", [ONCE, EACH])
def test_learners_find_the_equilibrium_of_the_bound_game(solver, toss):
    for free in (0, 1):
        learner = restricted_solver("kuhn", player("kuhn"), 0.5, free, toss, solver, seed=1).run(200_000)
        assert learner.measure().exploitability < 0.01
        if toss == ONCE:
            want = value("kuhn", _exact("kuhn", 0.5, free), player("kuhn"), free, 0.5)
            assert value("kuhn", learner.policy, player("kuhn"), free, 0.5) == pytest.approx(want, abs=0.02)


def _exact(game, p, free):
    return restricted_solver(game, player(game), p, free, ONCE, "lp").run().policy


@pytest.mark.parametrize("game", GAMES)
def test_no_trust_is_the_equilibrium_and_full_trust_the_best_response(game):
    found = responses(game)
    none, full = found.restricted(0.0), found.restricted(1.0)
    assert none.exploitability == pytest.approx(0, abs=1e-6)
    values = felt.expected_values(felt.SequenceLP(game).run().policy)
    guaranteed = [-felt.best_response(none.policy, 1 - seat).value for seat in (0, 1)]
    assert guaranteed == pytest.approx(values, abs=1e-6)
    best = [felt.best_response(player(game), seat).value for seat in (0, 1)]
    assert full.won == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("game", ["kuhn", "leduc", "bluff(1,1,4)"])
def test_full_trust_wins_what_open_spiels_best_response_does(game):
    twin = open_spiel_twin(game).walk()
    table, root = twin.policy(player(game)), twin.theirs.new_initial_state()
    theirs = [pyspiel.TabularBestResponse(twin.theirs, s, table).value_from_state(root) for s in (0, 1)]
    assert responses(game).restricted(1.0).won == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize("game", GAMES)
def test_the_frontier_rises_and_is_concave(game):
    points = [responses(game).restricted(p) for p in (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.97, 1.0)]
    risk = np.array([each.exploitability for each in points])
    won = np.array([each.exploitation for each in points])
    assert (np.diff(risk) > -1e-6).all()
    assert (np.diff(won) > -1e-6).all()
    assert won[-1] > won[0] + 0.01
    for left, middle, right in zip(points, points[1:], points[2:], strict=False):
        wide = right.exploitability - left.exploitability
        if wide > 1e-9:
            part = (middle.exploitability - left.exploitability) / wide
            chord = left.exploitation + part * (right.exploitation - left.exploitation)
            assert middle.exploitation > chord - 1e-6


@pytest.mark.parametrize("game", ["one_card(50)", "bluff(1,1,4)"])
def test_cfr_and_linear_program_have_the_same_value(game):
    for free in (0, 1):
        learned = restricted_solver(game, player(game), 0.7, free, ONCE, "cfr+").run(1_500)
        want = value(game, _exact(game, 0.7, free), player(game), free, 0.7)
        assert value(game, learned.policy, player(game), free, 0.7) == pytest.approx(want, abs=2e-3)


def test_the_frontier_of_mcrnr_comes_near():
    exact = frontier("kuhn", player("kuhn"), [0.5, 0.9])
    learned = frontier("kuhn", player("kuhn"), [0.5, 0.9], solver="outcome-mccfr", iterations=400_000)
    for p, ours, want in zip([0.5, 0.9], learned, exact, strict=True):
        near = p * ours.exploitation - (1 - p) * ours.exploitability
        assert near == pytest.approx(p * want.exploitation - (1 - p) * want.exploitability, abs=0.01)


@pytest.mark.parametrize("game", ["kuhn", "leduc", "bluff(1,1,4)"])
def test_a_safe_response_gives_up_what_it_may_and_no_more(game):
    found = responses(game)
    for epsilon in (0.0, 0.02, 0.1):
        safe = found.safe(epsilon)
        for free in (0, 1):
            worst = -felt.best_response(safe.policy, 1 - free).value
            assert worst > found.values[free] - epsilon - 1e-6
            saturated = safe.won[free] > found.most[free] - 1e-6
            assert saturated or worst < found.values[free] - epsilon + 1e-6
    for p in (0.5, 0.8):  # at the risk that a restricted response takes in each seat, it wins no less
        bound = found.restricted(p)
        for free in (0, 1):
            risk = found.values[free] + felt.best_response(bound.policy, 1 - free).value
            assert found.safe(max(0.0, risk)).won[free] > bound.won[free] - 1e-6
    rich = found.safe(1e6)
    assert rich.won == pytest.approx(found.most, abs=1e-6)


@kernel
def _payoffs(tree, free, deal, stream, episodes, found, met):
    """[episodes] of seat 0, where free decisions are drawn from a table."""
    for number in range(episodes):
        node = episode.begin(tree, deal, stream)
        while tree.node[node, 0] >= 0:
            first = episode.first_slot(tree, deal, node)
            slot = episode.draw(free, 0, first, first + episode.num_actions(tree, node), stream)
            met[slot] += 1
            node = episode.follow(tree, deal, node, slot - first, stream)
        found[number] = episode.payoff(tree, deal, node, 0)


def sampled(restriction, free, episodes, seed=1):
    """Payoffs of episodes, and how often each slot was chosen freely."""
    tree = restriction.fixed.tree
    found, met = np.empty(episodes), np.zeros(tree.num_slots, np.int64)
    stream = starts(seed, 1).copy()
    wrapped = restriction.wrap(open_tree(tree).tree)
    _payoffs(wrapped, np.ascontiguousarray(free[None]), new_deal(2), stream, episodes, found, met)
    return found, met


def error_of(found):
    return found.std() / np.sqrt(len(found))


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("toss", [ONCE, EACH])
def test_episodes_are_bound_as_often_as_they_should(toss, seat):
    """Payoffs and free decisions, by what they must be in the mean."""
    game, p, episodes = "leduc", 0.7, 300_000
    fixed, free = player(game), felt.uniform_policy(game)
    share = p
    if toss == EACH:  # another chance at each row
        rows = np.random.default_rng(2).uniform(0, 1, fixed.tree.num_rows)
        rows[int(fixed.tree.rows.first_row[seat])] = p
        share = np.repeat(rows, np.diff(fixed.tree.rows.first_slot))
    found, met = sampled(Restriction(seat, fixed, share, toss), free.probabilities, episodes)
    bound = felt.join_seats([fixed if who == seat else free for who in (0, 1)])
    if toss == ONCE:
        profile = felt.mixture([bound, free], [p, 1 - p])
        profile = felt.join_seats([profile if who == seat else free for who in (0, 1)])
    else:
        table = share * bound.probabilities + (1 - share) * free.probabilities
        profile = felt.TabularPolicy(fixed.tree, table)
    want = felt.expected_values(profile)[0]
    assert abs(found.mean() - want) < 4 * error_of(found)
    tree, left = fixed.tree, 1 - share if toss == EACH else 1 - p
    often = episodes * reached(tree, profile.probabilities)
    own = slice(int(tree.rows.first_row[seat]), int(tree.rows.first_row[seat + 1]))
    if toss == ONCE:
        often[own] = episodes * left * reached(tree, free.probabilities)[own]
    else:
        often[own] *= left[tree.rows.first_slot[:-1]][own]
    decided = np.add.reduceat(met, tree.rows.first_slot[:-1])
    assert (abs(decided - often) < 5 * np.sqrt(often) + 3).all()


def reached(tree, table):
    """[rows] how likely each is met."""
    nodes, likely, rows = tree.nodes, np.zeros(tree.num_nodes), np.zeros(tree.num_rows)
    likely[0] = 1.0
    for node in range(tree.num_nodes):  # parents come first
        row, ways = int(nodes.row[node]), int(nodes.num_children[node])
        if nodes.player[node] >= 0:
            rows[row] += likely[node]
        if ways:
            share = nodes.chance[row : row + ways] if nodes.player[node] < 0 else table[tree.slots(row)]
            first = int(nodes.first_child[node])
            likely[first : first + ways] = likely[node] * share
    return rows


def test_who_is_always_bound_never_decides():
    for toss in (ONCE, EACH):
        fixed = player("leduc")
        _, met = sampled(Restriction(1, fixed, 1.0, toss), felt.uniform_policy("leduc").probabilities, 20_000)
        own = slice(int(fixed.tree.rows.first_slot[fixed.tree.rows.first_row[1]]), None)
        assert not met[own].any()
        assert met.sum() > 20_000
    _, met = sampled(Restriction(1, fixed, 0.0, ONCE), felt.uniform_policy("leduc").probabilities, 20_000)
    assert (met[own] > 0).mean() > 0.9


def test_seeds_and_going_on(tmp_path):
    def learner(seed=1, p=0.5, seat=1, toss=ONCE, fixed=None):
        restriction = Restriction(seat, fixed or player("leduc"), p, toss)
        return felt.OutcomeMCCFR("leduc", seed=seed, restriction=restriction)

    one, same, other = learner().run(3_000), learner().run(3_000), learner(seed=2).run(3_000)
    assert one.probabilities.tobytes() == same.probabilities.tobytes() != other.probabilities.tobytes()
    one.save(tmp_path / "kept")
    again = learner()
    again.resume(tmp_path / "kept")
    assert again.run(3_000).probabilities.tobytes() == same.run(3_000).probabilities.tobytes()
    changed = [
        learner(p=0.6),
        learner(seat=0),
        learner(toss=EACH),
        learner(fixed=felt.random_policy("leduc", seed=4)),
        felt.OutcomeMCCFR("leduc", seed=1),
    ]
    for solver in changed:
        with pytest.raises(felt.FeltError, match="another restriction"):
            solver.resume(tmp_path / "kept")


def test_confidences():
    seen = np.array([0.0, 1.0, 5.0, 10.0, 1000.0])
    assert confidence(CONSTANT, seen, 0.8).tolist() == [0.8] * 5
    assert confidence(LINEAR, seen, 0.8) == pytest.approx([0, 0.08, 0.4, 0.8, 0.8])
    assert confidence(S_CURVE, seen, 0.8, half=5) == pytest.approx([0, 0.8 / 6, 0.4, 0.8 / 1.5, 800 / 1005])


def test_observations_are_counted_by_row():
    records = play("leduc", (PLAYER, PLAYER), 100, 1)
    tree = compile_game("leduc")
    want = np.zeros(tree.num_slots)
    for record in records:
        for moment, _ in moments(record):
            if record.names[moment.me] == "ann":
                want[tree.slots(tree.find_row(moment.me, " ".join(moment.seen)))] += 1
    assert want.sum() > 300
    assert observations(tree, observed_hands(records, "ann", "leduc")).tolist() == want.tolist()


def test_confidence_that_is_nowhere_is_the_equilibrium():
    found = responses("leduc")
    nothing = found.restricted(np.zeros(found.tree.num_slots), toss=EACH)
    assert nothing.exploitability == pytest.approx(0, abs=1e-6)
    everywhere = found.restricted(np.ones(found.tree.num_slots), toss=EACH)
    assert everywhere.won == pytest.approx(found.most, abs=1e-6)


def test_where_fixed_policies_come_from(tmp_path):
    tree = compile_game("leduc")
    assert fixed_policy(player("leduc"), "leduc") is player("leduc")
    raising = fixed_policy("always-raise", "leduc").probabilities
    assert raising.tolist() == rule_table(tree, "always-raise").tolist()
    felt.save_policy(player("leduc"), tmp_path / "policy")
    again = fixed_policy(tmp_path / "policy", "leduc")
    assert again.probabilities.tolist() == player("leduc").probabilities.tolist()
    model = new_model("trees", "leduc")
    model.fit(observed_hands(play("leduc", (PLAYER, PLAYER), 200, 1), "ann", "leduc"))
    save_model(model, tmp_path / "model", player="ann")
    read = fixed_policy(str(tmp_path / "model"), "leduc")
    assert read.probabilities.tolist() == model.policy().probabilities.tolist()
    assert fixed_policy("random", "bluff(1,1,3)").probabilities.min() > 0
    for source, game, sentence in [
        (tmp_path / "model", "kuhn", "is a model of a player of leduc, not of kuhn"),
        (tmp_path / "policy", "kuhn", "is for leduc, not for kuhn"),
        (player("leduc"), "kuhn", "is for leduc, not for kuhn"),
        ("always-raise", "bluff(1,1,3)", "plays poker"),
        ("random", "kuhn(players=3)", "are for two players; kuhn.players=3. has 3"),
        (tmp_path / "nothing", "kuhn", "There is no model, run or policy"),
    ]:
        with pytest.raises(felt.FeltError, match=sentence):
            fixed_policy(source, game)


def test_bad_restrictions():
    for p in (-0.1, 1.1, float("nan")):
        with pytest.raises(felt.FeltError, match="from 0 to 1"):
            Restriction(0, player("kuhn"), p)
    with pytest.raises(felt.FeltError, match="are for two players"):
        Responses("kuhn(players=3)", felt.uniform_policy("kuhn(players=3)"))
    with pytest.raises(felt.FeltError, match="is for kuhn, not for leduc"):
        Responses("leduc", player("kuhn"))
    with pytest.raises(felt.FeltError, match="0 or more"):
        responses("kuhn").safe(-0.1)
    with pytest.raises(felt.FeltError, match="cannot draw a restriction at each decision"):
        restricted_solver("kuhn", player("kuhn"), 0.5, 0, EACH, "fictitious-play")
    with pytest.raises(felt.FeltError, match="There is no confidence"):
        confidence("often", np.ones(2))
    with pytest.raises(felt.FeltError, match="observations must be 0 or more"):
        confidence(LINEAR, np.array([-1.0]))


def test_every_method_names_a_solver():
    assert {solver for solver, _ in METHODS.values()} <= set(SOLVERS)


# The command


def command(capsys, *words):
    code = main(["respond", *map(str, words)])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture
def at(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_response_is_printed_and_saved(at, capsys):
    code, out, _ = command(capsys, "leduc", "--model", "random", "--p", "0.8", "--out", "counter", "--json")
    assert code == 0
    reported = json.loads(out)
    saved = felt.load_policy(at / "counter")
    assert reported["won"] == pytest.approx(values_against(saved, felt.uniform_policy("leduc")), abs=1e-9)
    assert reported["exploitability"] == pytest.approx(felt.exploitability(saved).exploitability)
    want = Responses("leduc", felt.uniform_policy("leduc")).restricted(0.8)
    assert reported["exploitation"] == pytest.approx(want.exploitation, abs=1e-6)
    assert main(["exploit", "counter"]) == 0
    assert main(["match", "counter", "random", "--game", "leduc", "--hands", "100"]) == 0
    capsys.readouterr()
    code, out, _ = command(capsys, "leduc", "--model", "counter", "--p", "1")
    assert code == 0
    assert "exploitation" in out
    assert "chips per game" in out


@pytest.mark.parametrize("solver", ["rnr", "mcrnr", "dbr", "mcdbr", slow("external-mccfr")])
def test_solvers_by_name(solver, at, capsys):
    words = ["kuhn", "--model", "always-call", "--solver", solver, "--iterations", "3000", "--json"]
    code, out, _ = command(capsys, *words)
    assert code == 0
    reported = json.loads(out)
    assert felt.load_policy(reported["saved"]).tree.game == "kuhn"
    assert reported["exploitation"] > 0.1


def test_the_sweep_and_its_plot(at, capsys):
    words = ["kuhn", "--model", "always-call", "--sweep", "0,0.5,1", "--solver", "mcrnr"]
    words += ["--iterations", "2e4", "--plot", "frontier.png", "--out", "all"]
    code, out, _ = command(capsys, *words, "--json")
    assert code == 0
    reported = json.loads(out)["frontiers"]
    assert [point["p"] for point in reported["mcrnr"]] == [0, 0.5, 1]
    exact = frontier("kuhn", fixed_policy("always-call", "kuhn"), [0.0, 0.5, 1.0])
    assert [point["exploitation"] for point in reported["exact (lp)"]] == pytest.approx(
        [each.exploitation for each in exact], abs=1e-6
    )
    assert (at / "frontier.png").read_bytes().startswith(b"\x89PNG")
    assert felt.load_policy(at / "all" / "p-0.5").tree.game == "kuhn"
    code, out, _ = command(capsys, "kuhn", "--model", "always-call", "--sweep")
    assert code == 0
    assert len(out.splitlines()) == 10


def test_confidence_by_hands(at, capsys):
    records = play("leduc", (PLAYER, PLAYER), 300, 1)
    with HandStore(at / "hands.db") as store:
        store.append(records, match="m")
    hands = observed_hands(records, "ann", "leduc")
    model = new_model("trees", "leduc")
    model.fit(hands)
    save_model(model, at / "ann", player="ann")
    words = ["leduc", "--model", "ann", "--p", "0.9", "--confidence", S_CURVE, "--s", "4", "--json"]
    code, out, _ = command(capsys, *words, "--hands", "hands.db", "--player", "ann")
    assert code == 0
    tree = compile_game("leduc")
    bound = 0.9 * (seen := observations(tree, hands)) / (4 + seen)
    want = Responses("leduc", model.policy()).restricted(bound, toss=EACH)
    assert json.loads(out)["exploitation"] == pytest.approx(want.exploitation, abs=1e-6)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("kuhn --model random --p 1.5", "The probability p must be from 0 to 1, not 1.5."),
        ("kuhn --model random --sweep 0,2", "The probability p must be from 0 to 1, not 2."),
        ("kuhn --model random --sweep a", "--sweep takes numbers"),
        ("kuhn(players=3) --model random", "Counter-strategies are for two players"),
        ("kuhn --model missing", "There is no model, run or policy at missing."),
        ("kuhn --model random --solver mcrnr", "Give a budget"),
        ("kuhn --model random --solver lp --device cuda", "does not run on a GPU"),
        ("kuhn --model random --solver nothing", "There is no solver"),
        ("kuhn --model random --solver rnr --each --iterations 9", "dbr draws at each decision"),
        ("kuhn --model random --safe -1", "may give up 0 or more"),
        ("kuhn --model random --safe 0.1 --p 0.5", "--safe excludes --p"),
        ("kuhn --model random --plot a.png", "goes with --sweep"),
        ("kuhn --model random --confidence s-curve", "--hands and --player"),
        ("kuhn --model random --confidence much", "There is no confidence"),
        ("kuhn --model mcts", "mcts has no tabular policy"),
        ("kuhn", "--model"),
        ("holdem --model random --safe 0.1", "too large for the linear programs of --safe"),
        ("holdem --model random --solver rnr --iterations 9", "too large for rnr"),
        ("holdem(buckets='ehs:10') --model default --iterations 9", "not of holdem(buckets='ehs:10')"),
    ],
)
def test_bad_commands_get_one_sentence(words, sentence, at, capsys):
    code, out, err = command(capsys, *words.split())
    assert code == 2
    assert not out
    assert err.startswith("felt: ")
    assert err.count("\n") == 1
    assert sentence in err
    assert "Traceback" not in err


# The studies


@pytest.mark.parametrize(("name", "amount"), [("pjl11-figure-6", 3_000), slow("pjl11-figure-7", 1)])
def test_studies_are_stored_and_written(name, amount, tmp_path, monkeypatch):
    for module in (pjl11_responses, pjl11_convergence):
        monkeypatch.setattr(module, "QUICK_GAMES", ("kuhn", "bluff(1,1,2)"))
    monkeypatch.setattr(pjl11_convergence, "RUNS", 2)
    study, reported = STUDIES[name], []
    how = {"budget": amount, "seed": 1, "processes": 2, "parts": tmp_path / "parts"}
    results = study.run(**how, progress=reported.append)
    assert repr(study.run(**how, progress=reported.append)) == repr(results)  # stored, and not computed again
    page = study.write(results, tmp_path, full=False, provenance="Made by a test.").read_text()
    for found in study.findings(results):
        assert f"| {found.claim} | {found.measured} |" in page
    assert (tmp_path / f"{name}-quick.png").read_bytes().startswith(b"\x89PNG")
    text = (tmp_path / f"{name}-quick.csv").read_text()
    rows = list(csv.DictReader(text.splitlines()))
    if name == "pjl11-figure-6":
        fixed = pjl11_responses.fixed_profile("kuhn", 1)
        assert felt.exploitability(fixed).nash_conv <= 0.1
        exact = frontier("kuhn", fixed, pjl11_responses.PS)
        own = [row for row in rows if row["game"] == "kuhn" and "exact" in row["solver"]]
        wins = [float(row["exploitation"]) for row in own]
        assert wins == pytest.approx([2 * each.exploitation for each in exact], abs=1e-5)
    else:
        assert sum(reported) == 2 * study.planned_work(amount)
        of_cfr = [row for row in rows if (row["game"], row["method"]) == ("kuhn", "RNR (CFR)")]
        assert {row["run"] for row in of_cfr} == {"0", "1"}
        assert float(of_cfr[-1]["distance"]) < 0.01
        assert float(of_cfr[-1]["epsilon"]) == pytest.approx(results["kuhn"].limit, abs=0.02)
    assert study.csv(study.read_csv(text)) == text


def test_nodes_are_counted_without_changing_what_is_learned():
    """An episode of outcome sampling has two decisions or more, and an end."""
    game, fixed = "one_card(5)", felt.uniform_policy("one_card(5)")
    for kind in (felt.OutcomeMCCFR, felt.ExternalMCCFR):
        plain, counted = (kind(game, restriction=Restriction(1, fixed, 0.5), seed=2) for _ in range(2))
        touched = count_nodes(counted)
        for solver in (plain, counted):
            solver.run(500)
        np.testing.assert_array_equal(plain.policy.probabilities, counted.policy.probabilities)
        # Two or three decisions and an end; external sampling visits all actions of one player, for each.
        low, high = (3, 4) if kind is felt.OutcomeMCCFR else (2 * 4, 2 * 8)
        assert 500 * low <= touched[0] <= 500 * high
    # Four decisions and five ends of each deal; the root is chance.
    assert full_traversal(counted.tree) == 5 * 4 * (4 + 5)
