"""Ranges at the steps of a review, compared with the bots' probabilities hand by hand."""

from __future__ import annotations

import numpy as np
import pytest
from speed import slow

from openfelt.bots.policy_bot import policy_bot
from openfelt.bots.registry import load_bot
from openfelt.bots.view import holdem_view
from openfelt.cards.deck import PAIR_CARDS, card_text, pair_class, parse_cards
from openfelt.core.errors import FeltError
from openfelt.games.compile.compiler import compile_any
from openfelt.games.game import CHANCE, TERMINAL
from openfelt.games.hand import Hand
from openfelt.games.holdem import Holdem
from openfelt.games.registry import load_game
from openfelt.policy.holdem import quantised
from openfelt.table.review.step_ranges import UNKNOWN, step_ranges

LINE = "raise call check bet raise call check check bet call"
CARDS = "AhKd7c7dTsTh2s9c3d"
NAMES = ("you", "The Bot")
CLASSES = ("KQs", "JJ", "A5o")


@pytest.fixture(scope="module")
def policy():
    tree = compile_any(load_game("holdem(buckets='ehs2:169/5/5/5')"))
    return quantised(tree, np.random.default_rng(1).random(tree.num_slots))


@pytest.fixture
def bot(policy):
    return policy_bot(policy, Holdem())


def played(game=None, line=LINE, cards=CARDS):
    hand, words, dealt = Hand(game or Holdem()), iter(line.split()), map(card_text, parse_cards(cards))
    while hand.mover != TERMINAL:
        hand.act(list(hand.actions).index(next(dealt) if hand.mover == CHANCE else next(words)))
    return hand


def decisions(hand):
    return [place for place, step in enumerate(hand.steps) if step.mover != CHANCE]


@pytest.mark.parametrize(("seat", "last"), [(0, 4), slow(1, 9)])
def test_ranges_and_strategies_are_those_of_the_bot_hand_by_hand(bot, seat, last, monkeypatch):
    """The weights of some classes relative to each other, and what the player to act does with them."""
    monkeypatch.setattr("openfelt.table.review.step_ranges.stand_in", lambda *_: (bot, "itself"))
    hand = played()
    game, place = hand.game, decisions(hand)[last]
    board = game.board(hand.states[place])
    line = [step.action for step in hand.steps[:place] if step.mover != CHANCE]
    found = step_ranges(hand, seat, {1 - seat: bot}, place, NAMES)
    pairs = [
        pair for pair in PAIR_CARDS.tolist() if pair_class(pair) in CLASSES and not set(pair) & set(board)
    ]
    for player, shown in enumerate(found["players"]):
        weight = {name: [] for name in CLASSES}
        done = {name: [] for name in CLASSES}
        for pair in pairs:
            likely, before = 1.0, []
            for step, state in zip(hand.steps[:place], hand.states, strict=False):
                if step.mover == player:
                    now = holdem_view(game, player, tuple(pair), game.board(state), tuple(before))
                    likely *= bot.think(now).probabilities[step.number]
                before += [step.action] if step.mover != CHANCE else []
            weight[pair_class(pair)].append(likely)
            if hand.steps[place].mover == player:
                view = holdem_view(game, player, tuple(pair), board, tuple(line))
                done[pair_class(pair)].append(likely * np.array(bot.think(view).probabilities))
        scale = shown["weights"][CLASSES[0]] / np.mean(weight[CLASSES[0]])
        for name in CLASSES:
            assert shown["weights"][name] == pytest.approx(scale * np.mean(weight[name]), abs=1e-9)
            if done[name]:
                wanted = np.sum(done[name], axis=0) / np.sum(weight[name])
                assert shown["cells"][name] == pytest.approx(wanted, abs=1e-9)
        assert max(shown["weights"].values()) <= 1
        assert ("cells" in shown) == (hand.steps[place].mover == player)


@pytest.mark.slow
def test_ranges_do_not_depend_on_the_cards_that_were_held(bot):
    one = step_ranges(played(), 0, {1: bot}, decisions(played())[-1], NAMES)
    other = played(cards="2c2d3c3h" + CARDS[8:])
    assert step_ranges(other, 0, {1: bot}, decisions(other)[-1], NAMES) == one


def test_folded_players_have_no_range_and_unknown_bots_every_hand():
    game = Holdem(3)
    bots = {1: load_bot("chen", game), 2: load_bot("mcts", game)}
    line = "raise fold call check check check check check check"
    hand = played(game, line, "AhKd7c7dTsTh2s9c3d4c5h")
    found = step_ranges(hand, 2, {0: bots[1], 1: bots[2]}, decisions(hand)[-1], ("a", "b", "you"))
    assert [player["name"] for player in found["players"]] == ["b", "you"]
    first = found["players"][0]
    assert (first["note"], first["share"]) == (UNKNOWN, 1.0)
    kuhn = Hand(load_game("kuhn"))
    with pytest.raises(FeltError, match="hold'em only"):
        step_ranges(kuhn, 0, {}, 0, NAMES)
