"""Bots that search with a model: what they learn, keep and believe at a table, and what they are shown."""

from __future__ import annotations

import numpy as np
import pytest
from speed import slow

import openfelt as felt
from openfelt.arena.match import match
from openfelt.bots.bot import Bot, Clock
from openfelt.bots.registry import load_bot
from openfelt.bots.rule_bot import RuleBot
from openfelt.bots.search.mcts import MctsSettings
from openfelt.bots.search_bot import MctsBot, RelationalBot, TallyBot
from openfelt.bots.view import TreeView, holdem_view, view_of
from openfelt.cards.deck import PAIR_CARDS, parse_cards
from openfelt.core.errors import FeltError
from openfelt.core.random import Dice
from openfelt.games.game import CHANCE, TERMINAL
from openfelt.games.hand import Hand
from openfelt.hands.record import HIDDEN
from openfelt.opponents.models.files import load_model, new_model, save_model
from openfelt.opponents.models.observed import ObservedHand, decisions_in

LEDUC = felt.load_game("leduc")
FEW = {"iterations": 20}


def played(game, generator, actors):
    """A hand in which each seat does what its function says."""
    hand = Hand(game)
    while hand.mover != TERMINAL:
        if hand.mover == CHANCE:
            hand.act_for_chance(generator)
        else:
            hand.act(actors[hand.mover](hand.actions, generator))
    return hand


def passive(actions, generator):
    return next(place for place, word in enumerate(actions) if word in ("check", "call"))


def anything(actions, generator):
    return int(generator.integers(len(actions)))


def leduc_hands(count, seed, domain, *, shown=True):
    """Hands of a player in seat 0 who calls, seen from seat 1, who does anything."""
    generator = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        hand = played(LEDUC, generator, (passive, anything))
        dealt = [step.action for step in hand.steps if step.mover == CHANCE]
        holdings, cards, board = domain.read(dealt)
        line = domain.line([step.action for step in hand.steps if step.mover != CHANCE])
        holding = holdings[0] if shown or LEDUC.shown(hand.state) else -1
        found.append(ObservedHand(0, line, board, holding, cards[1]))
    return found


# Learning


@pytest.mark.parametrize("kind", [TallyBot, RelationalBot])
@pytest.mark.parametrize("learn", [True, False])
def test_a_bot_learns_from_hands_unless_switched_off(kind, learn):
    bot = kind(LEDUC, learn=learn, **FEW)
    assert bot.learns is learn
    before, generator = bot.model.fingerprint, np.random.default_rng(1)
    for _ in range(40):
        hand = played(LEDUC, generator, (passive, anything))
        bot.end_hand(view_of(hand, 1), hand.payoffs[1])
    assert len(bot.model.hands) == 40 * learn
    assert (bot.model.fingerprint != before) is learn


@pytest.mark.parametrize("kind", ["tally", "trees", "relational"])
def test_a_saved_model_continues_to_learn_and_forgets_nothing(kind, tmp_path):
    """One who always calls: after a few hands of another who folds at times, it still calls mostly."""
    model = new_model(kind, LEDUC)
    domain = model.domain
    model.fit(leduc_hands(600, 1, domain))
    save_model(model, tmp_path / "model")
    loaded, fresh = load_model(tmp_path / "model", LEDUC), new_model(kind, LEDUC)
    before = loaded.policy().probabilities
    for hand in leduc_hands(40, 2, domain):
        loaded.learn(hand)
        fresh.learn(hand)
    after = np.abs(loaded.policy().probabilities - before).max()
    assert after < 0.05
    assert np.abs(fresh.policy().probabilities - before).max() > after
    save_model(loaded, tmp_path / "again")
    again = load_model(tmp_path / "again", LEDUC)
    assert again.earlier.hands == 640
    assert again.earlier.habits.sum() == sum(len(list(_his(hand, domain))) for hand in _all(domain))
    for hand in leduc_hands(200, 3, domain):  # far enough to be fitted anew
        again.learn(hand)
    assert np.abs(again.policy().probabilities - before).max() < 0.05


def _all(domain):
    return [*leduc_hands(600, 1, domain), *leduc_hands(40, 2, domain)]


def _his(hand, domain):
    return decisions_in(domain.public, hand)


@pytest.mark.parametrize("kind", ["trees", "relational"])
def test_one_more_hand_does_not_undo_the_rounds_of_em(kind):
    model = new_model(kind, LEDUC)
    hands = leduc_hands(400, 4, model.domain, shown=False)
    model.fit(hands)
    before = model.policy().probabilities
    for hand in leduc_hands(110, 5, model.domain, shown=False):
        model.learn(hand)
    assert np.abs(model.policy().probabilities - before).mean() < 0.02


# What it believes


@pytest.mark.parametrize("players", [2, slow(3)])
def test_nobody_is_believed_to_hold_a_card_that_is_seen(players):
    game = felt.load_game("holdem" if players == 2 else "holdem(players=3)")
    bot = TallyBot(game, **FEW)
    hole, board = parse_cards("AhKd"), parse_cards("2c7s9h")
    line = ["call", "check"] if players == 2 else ["call", "call", "check"]
    view = holdem_view(game, 0, hole, board, line)
    found = bot.view_search.beliefs(view)
    seen = np.isin(PAIR_CARDS, (*hole, *board)).any(axis=1)
    for seat in range(1, players):
        assert (found[seat][seen] == 0).all()
        assert found[seat].sum() == pytest.approx(1)
        assert (found[seat][~seen] > 0).all()


def test_a_policy_tells_what_others_may_hold_in_small_games():
    """A player that raises always with a king and never otherwise holds a king after a raise."""
    tree = felt.compile_game(LEDUC)
    table = felt.uniform_policy(LEDUC).probabilities.copy()
    for row in range(tree.num_rows):
        words, slots = tree.actions(row), tree.slots(row)
        if any(word in ("bet", "raise") for word in words):
            king = tree.row_name(row).startswith("K")
            table[slots] = [float((word in ("bet", "raise")) == king) for word in words]
            table[slots] /= table[slots].sum()
    policy = felt.TabularPolicy(tree, table)
    bot = MctsBot(LEDUC, MctsSettings(warmth=10.0), policy=policy, **FEW)
    row = tree.find_row(1, "Q bet")
    nodes, likely = bot.view_search.searcher._nodes(row), bot.view_search.searcher.likely(row)
    assert len(nodes) == len(likely)
    assert likely.max() / likely.sum() > 0.95


# At the table


class Recorder(Bot):
    """Keeps all that it is shown."""

    seen: list[TreeView]

    def __init__(self, game):
        super().__init__(game)
        self.seen = []

    def act(self, view, dice, clock):
        return view.actions[-1]

    def end_hand(self, view, won):
        self.seen.append(view)


def test_cards_of_others_are_shown_at_a_showdown_only():
    recorder = Recorder(LEDUC)
    match(recorder, RuleBot("random", LEDUC), game=LEDUC, hands=200)
    assert len(recorder.seen) == 200
    folded = shown = 0
    for view in recorder.seen:
        hidden = view.dealt[1 - view.seat] == HIDDEN
        assert view.dealt[view.seat] != HIDDEN
        assert hidden == ("fold" in view.line)
        folded, shown = folded + hidden, shown + (not hidden)
    assert folded > 10 < shown


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mcts-tally", "mcts-relational"])
@pytest.mark.parametrize("game", ["leduc", "kuhn", "leduc(players=3)"])
def test_they_play_small_games(name, game):
    players = felt.load_game(game).players
    others = ["always-call", "random"][: players - 1]
    result = match(f"{name}(iterations=30)", *others, game=game, hands=60)
    assert not any(sum(score.stats.faults.values()) for score in result.scores)


@pytest.mark.slow
def test_a_search_with_hardly_any_room_names_an_action():
    bot = load_bot("mcts(iterations=50)", felt.load_game("holdem(buckets='ehs2:169/20/20/20')"))
    bot.view_search.searcher._mcts._room = 20
    view = holdem_view(bot.game, 1, parse_cards("JsTs"), (), [])
    for seed in range(5):
        assert bot.act(view, Dice(seed), Clock()) in view.actions


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("mcts(rollout='policy')", "need a policy"),
        ("mcts(warmth=5.0)", "give policy="),
        ("mcts(model='somewhere')", "mcts has no model"),
        ("mcts-tally(policy='default')", "does not start from a policy"),
        ("mcts(c=0)", "above 0"),
        ("mcts(iterations=0)", "at least one iteration"),
        ("mcts(iterations='many')", "a whole number"),
        ("mcts(patience=3)", "no parameter 'patience'"),
        ("mcts(7)", "have names"),
        ("mcts(c=)", "cannot be read"),
        ("always-call(c=2)", "no parameters"),
    ],
)
def test_bad_parameters_are_reported_in_a_sentence(name, sentence):
    with pytest.raises(FeltError, match=sentence):
        load_bot(name, felt.load_game("holdem"))


def test_a_model_must_be_of_the_bots_kind_and_game(tmp_path):
    model = new_model("tally", LEDUC)
    model.fit(leduc_hands(30, 1, model.domain))
    save_model(model, tmp_path / "model")
    with pytest.raises(FeltError, match="a model of a player of leduc"):
        load_bot(f"mcts-tally(model='{tmp_path / 'model'}')", felt.load_game("kuhn"))
    with pytest.raises(FeltError, match="of kind relational, not tally"):
        load_bot(f"mcts-relational(model='{tmp_path / 'model'}')", LEDUC)
