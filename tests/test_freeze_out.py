"""Freeze-outs: stacks that run out as in PokerKit, known results, games that can be played again."""

from __future__ import annotations

import json
import warnings
from collections import Counter

import numpy as np
import pytest
import scipy.stats

from openfelt.arena.freeze_out.freeze_out import FreezeOut, FreezeOutSetup, freeze_out
from openfelt.arena.freeze_out.stack_table import (
    StackDeal,
    StackTable,
    can_raise,
    chips_left,
    chips_paid,
    is_open,
)
from openfelt.arena.hand_kernels import deal_block, random_streams
from openfelt.arena.statistics.estimates import wilson
from openfelt.bots.bot import Bot
from openfelt.bots.policy_bot import policy_bot
from openfelt.bots.rule_bot import RuleBot
from openfelt.cards.deck import cards_text
from openfelt.cli.app import main
from openfelt.core.errors import FeltError, FileError
from openfelt.core.journal import PARTS
from openfelt.games.compile.compiler import compile_any
from openfelt.games.holdem import Holdem, bet, betting_actions
from openfelt.games.kuhn import Kuhn
from openfelt.policy.files import load_policy

GAME = Holdem()
PATIENT = {"limit": 3600.0}  # a busy machine is not to change what is played
SHORT = (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 15, 18, 20, 25, 31, 47, 48, 100)  # chips; 48 never run out


class Wild(Bot):
    """Plays at random, raises more often than not, and remembers what it saw."""

    def __init__(self, game=GAME):
        super().__init__(game)
        self.views, self.ends = [], []

    def act(self, view, dice, clock):
        self.views.append(view)
        return view.actions[min(len(view.actions) - 1, int(1.3 * dice.uniform() * len(view.actions)))]

    def end_hand(self, view, won):
        self.ends.append((view, won))


def hands(count: int, *, seed: int = 3):
    """Cards of some hands, and short stacks for both seats."""
    deals, chance = deal_block(2, random_streams(seed), 0, count), np.random.default_rng(seed)
    for cards, values in zip(deals.cards.tolist(), deals.value.tolist(), strict=True):
        yield StackDeal.of(cards, values), chance.choice(SHORT, 2).tolist()


@pytest.fixture(scope="module")
def tree():
    return compile_any(GAME)


def oracle_hand(pokerkit, cards, stacks):
    """The same hand by PokerKit; we deal all cards."""
    steps = pokerkit.Automation
    done_by_itself = (
        steps.ANTE_POSTING,
        steps.BET_COLLECTION,
        steps.BLIND_OR_STRADDLE_POSTING,
        steps.CARD_BURNING,
        steps.HOLE_CARDS_SHOWING_OR_MUCKING,
        steps.HAND_KILLING,
        steps.CHIPS_PUSHING,
        steps.CHIPS_PULLING,
    )
    state = pokerkit.FixedLimitTexasHoldem.create_state(done_by_itself, True, 0, (1, 2), 2, 4, stacks, 2)
    for hole in cards.holes:
        state.deal_hole(cards_text(hole))
    return state


def deal_board(state, cards):
    dealt = sum(map(len, state.board_cards)) if state.board_cards else 0
    while state.can_deal_board():
        count = state.board_dealing_count
        state.deal_board(cards_text(cards.board[dealt : dealt + count]))
        dealt += count


@pytest.mark.slow
def test_short_stacks_as_in_pokerkit(tree):
    """Turn, legal actions, chips to call and final stacks, in 800 random hands."""
    pokerkit = pytest.importorskip("pokerkit")
    bots = Wild(), Wild()
    table, kinds = StackTable(GAME, bots, tree), Counter()
    for number, (cards, stacks) in enumerate(hands(800)):
        for bot in bots:
            bot.views.clear()
        hand = table.play_hand(cards, (0, 1), stacks, (7, 64 * number))
        with warnings.catch_warnings():  # it burns cards that we deal later
            warnings.simplefilter("ignore")
            betting = _follow(oracle_hand(pokerkit, cards, stacks), cards, stacks, hand, bots)
        kinds[is_all_in(betting, stacks), 0 in chips_left(betting, stacks)] += 1
    assert min(kinds[True, True], kinds[False, False], kinds[False, True]) > 20  # all that can happen did
    assert all(sum(stats.faults.values()) == 0 for stats in table.stats)


def is_all_in(betting, stacks):
    """Whether the hand went to a showdown before its betting was over."""
    return betting.street <= 3 and not any(betting.folded) and not is_open(betting, stacks)


def _follow(state, cards, stacks, hand, bots):
    do = {"fold": state.fold, "check": state.check_or_call, "call": state.check_or_call}
    do |= dict.fromkeys(("bet", "raise"), state.complete_bet_or_raise_to)
    betting, views = GAME.start().betting, [iter(bot.views) for bot in bots]
    deal_board(state, cards)
    for word in hand.line:
        seat = betting.turn
        assert state.actor_index == seat
        view = next(views[seat])
        assert view.to_call == state.checking_or_calling_amount
        assert view.pot == state.total_pot_amount
        assert list(view.left) == list(state.stacks)
        assert ("fold" in view.actions) == state.can_fold()
        # PokerKit does not count the big blind as a bet, the competition does.
        if betting.street > 0 or betting.bets < 4:
            possible = betting.bets < 4 and can_raise(betting, stacks)
            assert possible == state.can_complete_bet_or_raise_to()
        do[word]()
        betting = bet(betting, word)
        deal_board(state, cards)
    assert not state.status
    assert [after - before for after, before in zip(state.stacks, stacks, strict=True)] == list(hand.won)
    return betting


def test_chips_are_neither_made_nor_lost_in_any_hand(tree):
    table = StackTable(GAME, [Wild(), Wild()], tree)
    for number, (cards, stacks) in enumerate(hands(2000, seed=8)):
        hand = table.play_hand(cards, (0, 1), stacks, (1, 64 * number))
        assert sum(hand.won) == 0
        assert all(stack + won >= 0 for stack, won in zip(stacks, hand.won, strict=True))


def test_a_raise_without_room_is_a_call_and_no_fault(tree):
    """The big blind has two chips: the dealer's raise can only call, and the board is dealt to its end."""
    table = StackTable(GAME, [RuleBot("always-raise", GAME), Wild()], tree)
    cards = StackDeal.of(list(range(9)), (5, 4))
    hand = table.play_hand(cards, (1, 0), (2, 100), (0, 0))
    assert hand == (("call",), (2, -2))
    assert table.stats[0].faults == {"late": 0, "error": 0, "illegal": 0}
    assert table.stats[1].decisions == 0


@pytest.mark.parametrize(
    ("stacks", "line", "won"),
    [
        ((100, 1), (), 1),  # the small blind is all that the dealer has
        ((1, 100), (), 1),  # and the dealer has posted more than the big blind could
        ((2, 100), ("call",), 2),
        ((100, 2), ("call",), 2),  # it calls with its last chip
        ((100, 3), ("raise", "call"), 3),  # a raise by one chip, which the other calls
        ((3, 100), ("raise", "call"), 3),  # a call for less; the rest is given back
    ],
)
def test_all_in_before_the_flop(tree, stacks, line, won):
    """Seat 0 has the better hand."""

    class Scripted(Bot):
        def act(self, view, dice, clock):
            return line[len(view.line)]

    table = StackTable(GAME, [Scripted(GAME), Scripted(GAME)], tree)
    hand = table.play_hand(StackDeal.of(list(range(9)), (5, 4)), (0, 1), stacks, (0, 0))
    assert hand == (line, (won, -won))
    assert table.stats[0].faults["error"] == table.stats[1].faults["error"] == 0


def test_policies_play_short_stacks_without_faults(tree):
    policy = load_policy("default")
    bots = [policy_bot(policy, GAME), RuleBot("always-raise", GAME)]
    table = StackTable(GAME, bots, tree)
    for number, (cards, stacks) in enumerate(hands(60, seed=5)):
        table.play_hand(cards, (number % 2, 1 - number % 2), stacks, (3, 64 * number))
    assert table.stats[0].decisions > 60
    assert all(sum(stats.faults.values()) == 0 for stats in table.stats)


def test_what_is_seen_when_a_hand_ends(tree):
    bots = Wild(), Wild()
    table = StackTable(GAME, bots, tree)
    ends = Counter()
    for number, (cards, stacks) in enumerate(hands(200, seed=1)):
        for bot in bots:
            bot.views.clear()
        hand = table.play_hand(cards, (0, 1), stacks, (5, 64 * number))
        for seat, bot in enumerate(bots):
            view, won = bot.ends[-1]
            folded = "fold" in hand.line
            assert (won, view.seat, view.actions) == (hand.won[seat], seat, ())
            assert view.shown == ({} if folded else dict(enumerate(cards.holes)))
            assert view.board == (bot_board(bots) if folded else cards.board)
            assert sum(chips_paid(view.betting, stacks)) == view.pot
            ends[folded] += 1
    assert min(ends.values()) > 20


def bot_board(bots):
    """The cards on the table at the last decision."""
    return max((bot.views[-1].board for bot in bots if bot.views), key=len)


def test_always_fold_loses_exactly_its_blinds():
    """10 with the button and 20 without, 7,500 in 500 hands: whoever starts, with any cards."""
    result = freeze_out("always-fold", "always-raise", games=3, **PATIENT)
    assert [game.stacks for game in result.games] == [(2_500, 17_500)] * 3
    first, second = result.scores
    assert (first.wins, second.wins, result.draws, result.hands) == (0, 3, 0, 1500)
    assert (first.won.mean, first.won.error) == (-7_500, 0)
    odd = freeze_out("always-fold", "always-raise", games=2, hands=7, **PATIENT)
    assert [game.stacks[0] for game in odd.games] == [10_000 - 4 * 10 - 3 * 20, 10_000 - 3 * 10 - 4 * 20]


def test_a_game_ends_when_one_is_broke():
    """Who only folds is all in by a blind in the end, and has to show."""
    result = freeze_out("always-fold", "always-raise", games=6, stack=300, **PATIENT)
    for game in result.games:
        assert sorted(game.stacks) == [0, 600]
        assert game.hands < 500
    assert sum(score.broke for score in result.scores) == 6


def test_draws_are_half_a_win():
    result = freeze_out("always-fold", "always-fold", games=5, hands=4, **PATIENT)
    assert result.names == ("always-fold (1)", "always-fold (2)")
    assert result.draws == 5
    for score in result.scores:
        assert (score.wins, score.rate, score.interval) == (0, 0.5, wilson(2.5, 5))
    assert "5 draws" in str(result)


@pytest.mark.parametrize(("wins", "games"), [(0, 10), (3, 10), (10, 10), (84, 100), (1, 1)])
@pytest.mark.parametrize("confidence", [0.68, 0.95])
def test_wilson_as_in_scipy(wins, games, confidence):
    theirs = scipy.stats.binomtest(wins, games).proportion_ci(confidence, method="wilson")
    assert wilson(wins, games, confidence) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def outcome(result):
    """All but the clock."""
    return [(game.number, game.hands, game.stacks) for game in result.games]


BOTS, SMALL = ("random", "always-call"), {"stack": 400, "hands": 40, "seed": 4, **PATIENT}


@pytest.fixture(scope="module")
def straight():
    return outcome(freeze_out(*BOTS, games=8, **SMALL))


def test_a_game_depends_on_the_seed_and_its_number_alone(straight):
    assert outcome(freeze_out(*BOTS, games=3, **SMALL)) == straight[:3]
    player = FreezeOut(FreezeOutSetup(BOTS, **SMALL))
    games = [player.play(number) for number in (5, 2)]
    assert [(game.number, game.hands, game.stacks) for game in games] == [straight[5], straight[2]]
    assert outcome(freeze_out(*BOTS, games=8, **{**SMALL, "seed": 5})) != straight
    assert len({stacks for _, _, stacks in straight}) > 2


@pytest.mark.slow
def test_processes_change_nothing(straight):
    assert outcome(freeze_out(*BOTS, games=8, processes=2, **SMALL)) == straight


def test_resumed_is_as_if_never_stopped(straight, tmp_path):
    folder = tmp_path / "kept"
    freeze_out(*BOTS, games=3, folder=folder, **SMALL)
    parts = folder / PARTS
    parts.write_text(parts.read_text()[:-30])  # killed while it wrote
    reported = []
    resumed = freeze_out(*BOTS, games=8, folder=folder, progress=reported.append, **SMALL)
    assert outcome(resumed) == straight
    assert reported == [hands for _, hands, _ in straight]
    assert len(parts.read_text().splitlines()) == 8
    before = parts.read_text()
    assert outcome(freeze_out(*BOTS, games=8, folder=folder, **SMALL)) == straight
    assert parts.read_text() == before
    with pytest.raises(FeltError, match="stack 400, not 500; nothing was written"):
        freeze_out(*BOTS, games=8, folder=folder, **{**SMALL, "stack": 500})
    parts.write_text("{}\n" + before)
    with pytest.raises(FileError, match="damaged"):
        freeze_out(*BOTS, games=8, folder=folder, **SMALL)


LEARNER = """
from openfelt.bots.bot import Bot

class Learner(Bot):
    learns = True

    def __init__(self, game):
        super().__init__(game)
        self.seen = 0

    def act(self, view, dice, clock):
        return view.actions[-1] if self.seen > 2 else view.passive

    def end_hand(self, view, won):
        self.seen += 1
"""


def test_bots_that_learn_begin_every_game_anew(tmp_path):
    (tmp_path / "learner.py").write_text(LEARNER)
    names = f"{tmp_path / 'learner.py'}:Learner", "always-call"
    setup = FreezeOutSetup(names, hands=5, **PATIENT)
    player = FreezeOut(setup)
    after_others = [player.play(number).stacks for number in range(3)][2]
    assert FreezeOut(setup).play(2).stacks == after_others


class Asked(Bot):
    """Remembers what it was asked, and by which clock."""

    def __init__(self):
        super().__init__(GAME)
        self.asked = []

    def act(self, view, dice, clock):
        self.asked.append((view.street, clock.limit))
        return view.passive


def test_every_street_is_tried_before_the_clock_counts():
    """What a bot compiles when it first acts there is then done; no hand is played or counted."""
    bots = Asked(), Asked()
    game = FreezeOut(FreezeOutSetup(("a", "b"), hands=1, limit=7.0), bots).play(0)
    for bot, stats in zip(bots, game.stats, strict=True):
        assert set(bot.asked[: -stats.decisions]) == {(street, 7.0) for street in range(4)}
        assert stats.decisions == 4
    assert FreezeOut(FreezeOutSetup(("a", "b"), hands=1, limit=np.inf), bots).play(0).stats[0].decisions == 4
    assert len(bots[0].asked) == 8 + 4 + 4


def test_faults_are_counted_and_reported():
    class Faulty(Bot):
        def act(self, view, dice, clock):
            return "jump" if len(view.line) % 2 else str(1 // 0)

    result = freeze_out(Faulty(GAME), Faulty(GAME), games=1, hands=10, **PATIENT)
    assert sum(score.stats.faults["error"] for score in result.scores) == 10  # the dealer folds
    assert "failed to act: 5 error (the first: ZeroDivisionError" in str(result)


def test_rules_words_stay_those_of_a_tree(tree):
    """Every line of a freeze-out is a way down the tree, so that a policy finds its place."""
    table = StackTable(GAME, [Wild(), Wild()], tree)
    for number, (cards, stacks) in enumerate(hands(200, seed=2)):
        node, betting = 0, GAME.start().betting
        hand = table.play_hand(cards, (0, 1), stacks, (2, 64 * number))
        for word in hand.line:
            assert list(tree.actions(node)) == list(betting_actions(betting))
            node, betting = tree.child(node, tree.actions(node).index(word)), bet(betting, word)


def test_command(capsys, tmp_path):
    words = ["freezeout", "always-fold", "always-raise", "--games", "2", "--hands", "20", "--json"]
    assert main([*words, "--limit", "3e6", "--out", str(tmp_path / "kept")]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["games"], found["hands"], found["draws"]) == (2, 40, 0)
    fold, other = found["participants"]
    assert (fold["won_per_game"], fold["wins"], other["win_rate"]) == (-300, 0, 1)
    assert main([*words, "--limit", "3e6", "--out", str(tmp_path / "kept")]) == 2
    assert "--resume" in capsys.readouterr().err
    assert main([*words[:-1], "--limit", "3e6", "--out", str(tmp_path / "kept"), "--resume"]) == 0
    assert "2 games of at most 20 hands" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["always-fold"], "for 2 bots, not for 1"),
        (["random"] * 3, "for 2 bots, not for 3"),
        (["random", "alway-fold"], "did you mean 'always-fold'"),
        (["random", "random", "--stack", "15"], "multiple of the small blind"),
        (["random", "random", "--games", "0"], "1 or more"),
        (["random", "random", "--hands", "1e9"], "1 to 1,048,576 hands"),
        (["random", "random", "--limit", "0"], "above 0"),
        (["random", "random", "--resume"], "--resume needs --out"),
        (["random", "random", "--resume", "--out", "nowhere"], "no freeze-out in nowhere"),
    ],
)
def test_bad_input_is_one_sentence(words, says, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["freezeout", *words]) == 2
    reported = capsys.readouterr().err
    assert says in reported
    assert reported.count("\n") == 1


def test_objects_and_processes():
    with pytest.raises(FeltError, match="one process"):
        freeze_out(Wild(), Wild(), processes=2)
    with pytest.raises(FeltError, match="all as objects"):
        freeze_out(Wild(), "random")
    with pytest.raises(FeltError, match="plays kuhn"):
        freeze_out(Wild(), Wild(Kuhn()))


def test_a_bot_that_was_changed_makes_another_freeze_out(tmp_path):
    """Otherwise two bots would be mixed under one name."""
    file = tmp_path / "own.py"
    text = (
        "from openfelt.bots.bot import Bot\nclass Own(Bot):\n"
        "    def act(self, view, dice, clock):\n        return view.actions[0]\n"
    )
    file.write_text(text)
    settings = {"limit": 3600.0, "hands": 3, "folder": tmp_path / "kept"}
    freeze_out(f"{file}:Own", "always-raise", games=1, **settings)
    file.write_text(text.replace("actions[0]", "actions[-1]"))
    with pytest.raises(FeltError, match="A bot has changed"):
        freeze_out(f"{file}:Own", "always-raise", games=2, **settings)
