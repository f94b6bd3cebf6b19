"""The stand-ins for Sparbot and FellOmen2, and what made them: three bets a street, fictitious play."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pyspiel
import pytest
import slow_learners
from slow_holdem import SlowHoldemExternal
from slow_learners import SlowLearner
from speed import slow

import openfelt as felt
from openfelt.arena.match import match
from openfelt.bots.bot import Clock
from openfelt.bots.policy_bot import HoldemBot
from openfelt.bots.registry import BOTS, load_bot
from openfelt.bots.sparbot_like import with_fourth_bets
from openfelt.bots.view import holdem_view
from openfelt.cards.deck import BOARD_CARDS, CARDS, parse_cards
from openfelt.core.files import read_manifest
from openfelt.core.random import Dice
from openfelt.games.compile.betting_tree import PLAYER
from openfelt.games.compile.compiler import compile_any
from openfelt.games.game import TERMINAL
from openfelt.games.holdem import (
    Holdem,
    HoldemState,
    bet,
    betting_actions,
    first_betting,
    is_over,
    players_in,
    stakes,
)
from openfelt.measure.exploitability import values_against
from openfelt.policy import pretrained as policies
from openfelt.policy.holdem import quantised
from openfelt.solve.sampling.sampled_fictitious_play import SampledFictitiousPlay

THREE_BETS = "holdem(buckets='ehs:10/3/2/2',bets=3)"
OPEN_SPIEL = (
    "universal_poker(betting=limit,numRounds=4,raiseSize=2 2 4 4,maxRaises=2 3 3 3,numSuits=4,numRanks=13,"
    "numHoleCards=2,numBoardCards=0 3 1 1,"
)
SEATS = {2: "numPlayers=2,blind=2 1,firstPlayer=2 1 1 1)", 3: "numPlayers=3,blind=1 2 0,firstPlayer=3 1 1 1)"}
NUMBER = {"fold": 0, "call": 1, "check": 1, "bet": 2, "raise": 2}  # open_spiel's numbers of actions


def some_action(words, generator):
    """Rarely a fold, so that hands go on."""
    return generator.choice([word for word in words if word != "fold"] * 4 + list(words))


@pytest.mark.parametrize("players", [2, slow(3)])
def test_three_bets_a_street_go_as_in_open_spiel(players):
    game, theirs = Holdem(players, bets=3), pyspiel.load_game(OPEN_SPIEL + SEATS[players])
    generator, capped, shown = random.Random(players), 0, 0
    for _ in range(3_000):
        deck = generator.sample(range(CARDS), 2 * players + 5)
        betting, other, dealt = game.start().betting, theirs.new_initial_state(), 0
        while not is_over(betting):
            for card in deck[dealt : 2 * players + BOARD_CARDS[betting.street]]:
                other.apply_action(card)
                dealt += 1
            words = betting_actions(betting)
            assert other.current_player() == betting.turn
            assert other.legal_actions() == [NUMBER[word] for word in words]
            word = some_action(words, generator)
            capped += betting.bets == 3
            betting = bet(betting, word)
            other.apply_action(NUMBER[word])
        assert other.is_terminal()
        assert game.payoffs(HoldemState(tuple(deck[:dealt]), betting)) == pytest.approx(other.returns())
        shown += betting.street > 3
    assert capped > 1_000
    assert shown > 1_000


def test_names_with_the_number_of_bets():
    assert felt.load_game("holdem(bets=4)").name == "holdem"
    assert felt.load_game("holdem(bets=4)") == felt.load_game("holdem")
    game = felt.load_game("holdem(bets=3,buckets='ehs:5')")
    assert game.name == "holdem(buckets='ehs:5',bets=3)"
    assert felt.load_game(game.name) == game
    for name in ("holdem(bets=5)", "holdem(bets=2)", "holdem(bets='three')", "holdem(bets=3.5)"):
        with pytest.raises(felt.GameError, match=r"holdem: bets must be (3 or 4|a whole number), not"):
            felt.load_game(name)


def test_every_node_of_three_bets_is_as_the_rules_say():
    tree, four = compile_any(THREE_BETS), compile_any("holdem(buckets='ehs:10/3/2/2')")
    assert tree.decisions() == [6, 40, 280, 1_960]
    assert four.decisions() == [8, 70, 630, 5_670]
    assert (tree.most_bets, four.most_bets) == (3, 4)
    assert (tree.payoff_range, four.payoff_range) == ((-36, 36), (-48, 48))
    assert tree.fingerprint != four.fingerprint
    met, open_nodes = set(), [(0, first_betting(2, 3))]
    while open_nodes:
        node, betting = open_nodes.pop()
        met.add(node)
        if is_over(betting):
            leaf = tree.node[node, 3]
            assert tree.node[node, PLAYER] == TERMINAL
            assert tuple(tree.leaves.paid[leaf]) == betting.paid
            assert [seat for seat in (0, 1) if tree.leaves.inside[leaf] >> seat & 1] == players_in(betting)
            continue
        words = betting_actions(betting)
        assert (tree.node[node, PLAYER], tree.street(node)) == (betting.turn, betting.street)
        assert list(tree.actions(node)) == words
        assert tuple(tree.stakes[tree.node[node, 1] >> 8]) == stakes(betting)
        open_nodes += [(tree.child(node, action), bet(betting, word)) for action, word in enumerate(words)]
    assert met == set(range(tree.num_nodes))


def test_stakes_know_how_many_bets_there_are():
    """Two players may each add three bets of 2, 2, 4 and 4 chips; the blinds are in already."""
    assert stakes(first_betting(2, 3)) == (3, 2 * 3 * (2 + 2 + 4 + 4) - 3)
    assert stakes(bet(bet(first_betting(2, 3), "call"), "check")) == (4, 2 * 3 * (2 + 4 + 4))
    assert Holdem(2, bets=3).stakes(Holdem(2, bets=3).start()) == (3, 69)


class SlowFictitiousPlay(SlowLearner):
    """By recursion over dictionaries: the sums are of counterfactual values, not of regrets."""

    def __init__(self, game, start):
        super().__init__(game, start)
        self.value, self.average = {}, {}

    def iterate(self):
        self.begin()
        for player in range(self.players):
            self.walk(self.settle(self.slow.root), player)

    def reply(self, values):
        best = [value > max(values) - 1e-9 for value in values]
        return [is_best / sum(best) for is_best in best]

    def walk(self, history, traverser):
        player = self.slow.mover(history)
        if player == TERMINAL:
            return self.slow.payoffs(history)[traverser]
        information, count = self.slow.information(history), len(self.slow.actions(history))
        values = self.value.setdefault(information, [0.0] * count)
        average = self.average.setdefault(information, [0.0] * count)
        reply = self.reply(values)
        if player == traverser:
            found = [self.walk(self.follow(history, action), traverser) for action in range(count)]
            for action in range(count):
                values[action] += found[action]
            return sum(p * value for p, value in zip(reply, found, strict=True))
        if player == (traverser + 1) % self.players:
            for action in range(count):
                average[action] += reply[action]
        return self.walk(self.follow(history, self.random.draw(reply)), traverser)


def assert_same_row(sums, values, average):
    """The kernel's regrets differ from summed values by the same number for all actions."""
    assert (sums[:, 0] - sums[0, 0]).tolist() == pytest.approx([v - values[0] for v in values], abs=1e-6)
    assert sums[:, 1].tolist() == pytest.approx(average, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "iterations"),
    [("kuhn", 200), ("kuhn(players=3)", 100), ("kuhn(pot=8)", 200), ("leduc", 60), ("one_card(5)", 100)],
)
def test_sampled_fictitious_play_is_the_recursion(name, iterations):
    solver = SampledFictitiousPlay(name, seed=6).run(iterations)
    twin = SlowFictitiousPlay(felt.load_game(name), int(solver._starts[0]))
    for _ in range(iterations):
        twin.iterate()
    tree, sums = solver.tree, solver.learned["sums"][0]
    known = {(player, " ".join(seen)): key for key in twin.value for player, seen in [key]}
    assert len(known) > tree.num_rows / 4
    for row in range(tree.num_rows):
        key = known.get((tree.row_player(row), tree.row_name(row)))
        if key is None:
            assert not sums[tree.slots(row)].any()
        else:
            assert_same_row(sums[tree.slots(row)], twin.value[key], twin.average[key])


def best(regrets):
    """In place of regret matching."""
    return [(regret == max(regrets)) / regrets.count(max(regrets)) for regret in regrets]


@pytest.mark.usefixtures("strengths")
@pytest.mark.parametrize(
    ("kind", "rule"), [(felt.ExternalMCCFR, slow_learners.match), (SampledFictitiousPlay, best)]
)
@pytest.mark.slow
def test_learners_walk_the_game_of_three_bets(kind, rule, monkeypatch):
    """Fictitious play is external sampling with one rule exchanged."""
    monkeypatch.setattr(slow_learners, "match", rule)
    solver = kind(THREE_BETS, seed=4).run(15)
    twin = SlowHoldemExternal(
        felt.load_game(THREE_BETS), solver.tree.abstraction, int(solver._starts[0]), samples_others=True
    )
    for _ in range(15):
        twin.iterate()
    assert len(twin.regret) > 500
    for (_, (words, bucket)), regrets in twin.regret.items():
        slots = solver.tree.slots(solver.tree.find_node(words), bucket)
        assert solver.learned["sums"][0][slots, 0].tolist() == pytest.approx(regrets, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "iterations", "limit", "value"),
    [("kuhn", 100_000, 0.03, -1 / 18), slow("leduc", 400_000, 0.09, -0.0856)],
)
def test_sampled_fictitious_play_converges(name, iterations, limit, value):
    """To what the game is worth, as fictitious play of the whole game does."""
    full = felt.FictitiousPlay(name).run(1_000)
    for seed in range(1, 4):
        solver = SampledFictitiousPlay(name, seed=seed).run(iterations)
        curve = {measured.iterations: measured.nash_conv for measured in solver.measurements}
        tenfold = [min(curve, key=lambda done: abs(done - iterations / 10**k)) for k in (3, 2, 1, 0)]
        assert curve[tenfold[-1]] < limit
        assert curve[tenfold[-1]] < 0.3 * curve[tenfold[1]] < 0.3 * curve[tenfold[0]]
        assert curve[tenfold[-1]] < full.measurements[-1].nash_conv
        won = felt.expected_values(solver.policy)[0]
        assert won == pytest.approx(value, abs=limit)
        assert values_against(solver.policy, full.policy)[0] == pytest.approx(value, abs=2 * limit)


def test_the_reply_is_the_best_one_to_what_the_others_have_played():
    """The second player of Kuhn poker only ever bets to call with the king, by sums that are set by hand.

    Against that a jack bets (half of the time it is believed, otherwise it loses 2 instead of 1), and a queen
    passes: to bet would lose 2 to the king to win from the jack what it wins anyway.
    """
    solver = SampledFictitiousPlay("kuhn", seed=1)
    tree, sums = solver.tree, solver.learned["sums"][0]
    for card in "JQK":
        for word in ("pass", "bet"):
            slots = tree.slots(tree.find_row(1, f"{card} {word}"))
            sums[slots, 0] = [-1e9, 1e9] if (card, word) == ("K", "bet") else [1e9, -1e9]
    solver.run(20_000)
    assert solver.policy.at(0, "J")["bet"] > 0.99
    assert solver.policy.at(0, "Q")["pass"] > 0.99
    assert solver.policy.at(1, "Q bet") == {"pass": 1.0, "bet": 0.0}


def translated(line):
    """A line of the real game in words of the game of three bets, and whether a fourth bet is open."""
    betting, words, is_open = first_betting(2), [], False
    for word in line:
        if betting.bets == 3 and word == "raise":
            words.append("call")
            is_open = True
        elif not is_open:
            words.append(word)
        else:
            is_open = False
        betting = bet(betting, word)
    return words, is_open


def test_fourth_bets_are_called_and_then_forgotten():
    model = compile_any(THREE_BETS)
    narrow = quantised(model, np.random.default_rng(1).exponential(size=model.num_slots))
    wide = with_fourth_bets(narrow)
    assert wide.tree.game == "holdem(buckets='ehs:10/3/2/2')"
    assert wide.tree.fingerprint == compile_any(wide.tree.game).fingerprint
    open_lines, answered, looked_up = [((), first_betting(2))], 0, 0
    while open_lines:
        line, betting = open_lines.pop()
        if is_over(betting):
            continue
        open_lines += [((*line, word), bet(betting, word)) for word in betting_actions(betting)]
        bucket = len(line) % model.abstraction.counts[betting.street]
        found = wide.at_bucket(wide.tree.find_node(line), bucket)
        words, is_open = translated(line)
        if is_open:
            assert found == {"fold": 0.0, "call": 1.0}
            answered += 1
        else:
            expected = narrow.at_bucket(model.find_node(words), bucket)
            if betting.bets == 3:
                expected["raise"] = 0.0
            assert found == expected
            looked_up += 1
    assert answered + looked_up == sum(wide.tree.decisions())
    assert answered > 500


HOLDEM = felt.load_game("holdem")
STAND_INS = ("sparbot-like", "fellomen-like")


def stand_in(name):
    return load_bot(name, HOLDEM)


@pytest.mark.parametrize("name", STAND_INS)
def test_the_stand_ins_are_bots_by_policy_of_the_real_game(name):
    bot = stand_in(name)
    assert isinstance(bot, HoldemBot)
    assert name in BOTS
    assert (bot.policy.tree.players, bot.policy.tree.most_bets) == (2, 4)
    assert bot.policy.tree.game == f"holdem(buckets='{bot.policy.tree.abstraction.name}')"
    assert load_bot(name, felt.load_game("holdem(buckets='ehs:10')")).policy is bot.policy
    for game in ("holdem(players=3)", "kuhn"):
        with pytest.raises(felt.FeltError, match="The policy plays holdem") as caught:
            load_bot(name, felt.load_game(game))
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "solver", "bets", "buckets"),
    [
        ("sparbot-like", "external-mccfr", 3, (169, 7, 7, 7)),
        ("fellomen-like", "sampled-fictitious-play", 4, (169, 50, 50, 50)),
    ],
)
def test_shipped_policies_say_how_they_were_made(name, solver, bets, buckets):
    folder = Path(policies.__file__).parent / name
    made_by = read_manifest(folder, "policy")["made_by"]
    assert made_by["solver"] == solver
    assert made_by["iterations"] >= 10_000_000
    tree = policies.shipped_policy(name).tree
    assert (tree.most_bets, tree.abstraction.counts) == (bets, buckets)
    reported = (folder / "README.md").read_text()
    for fact in (f"--solver {solver}", f"--seed {made_by['seed']}", made_by["game"], "It is not "):
        assert fact in reported
    assert sum(path.stat().st_size for path in folder.rglob("*.npy")) < 1_000_000


def seen(hole, board, line):
    betting = first_betting(2)
    for word in line:
        betting = bet(betting, word)
    return holdem_view(HOLDEM, betting.turn, parse_cards(hole), parse_cards(board), line)


@pytest.mark.true_buckets
@pytest.mark.parametrize("name", STAND_INS)
def test_the_stand_ins_know_good_hands_from_bad_ones(name):
    bot = stand_in(name)

    def shares(hole, board, line):
        view = seen(hole, board, line)
        return dict(zip(view.actions, bot.think(view).probabilities, strict=True))

    assert shares("AsAh", "", [])["raise"] > 0.8
    assert shares("7h2c", "", [])["fold"] > 0.8
    assert shares("AsAh", "", ["raise"])["fold"] == 0.0
    river = ["call", "check", "check", "check", "check", "check", "bet"]
    assert shares("AsKs", "QsJsTs2h3d", river)["fold"] < 0.01
    assert shares("AsKs", "QsJsTs2h3d", river)["raise"] > 0.8
    assert shares("2c3h", "KsQsJs7d9d", river)["fold"] > 0.5


@pytest.mark.slow
def test_sparbot_like_at_the_table_after_a_fourth_bet():
    """Whatever it holds, it calls, and plays the flop as after three bets."""
    bot = stand_in("sparbot-like")
    for hole in ("AsAh", "7h2c"):
        view = seen(hole, "", ["call", "raise", "raise", "raise"])
        assert view.actions == ["fold", "call"]
        assert {bot.act(view, Dice(start), Clock()) for start in range(50)} == {"call"}
        capped = bot.think(seen(hole, "KdQd2s", ["call", "raise", "raise", "raise", "call"]))
        called = bot.think(seen(hole, "KdQd2s", ["call", "raise", "raise", "call"]))
        assert capped.probabilities == called.probabilities
        assert bot.think(seen(hole, "", ["call", "raise", "raise"])).probabilities[2] == 0.0


@pytest.mark.usefixtures("strengths")
@pytest.mark.slow
def test_fellomen_like_beats_players_that_do_not_look_at_their_cards():
    for rule in ("always-call", "always-raise", "random"):
        won = match("fellomen-like", rule, hands=60_000).scores[0].won
        assert won.mean > 4 * won.error, rule
