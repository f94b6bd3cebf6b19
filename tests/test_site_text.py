"""Text of PokerStars and GGPoker, and the rules of cash games, against PokerKit and worked examples."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path

import pokerkit
import pytest
from random_hands import hidden, played, some_hands

from openfelt.arena.hand_files import read_hands, write_hands
from openfelt.cli.app import main
from openfelt.core.errors import FeltError, GameError
from openfelt.games.cash_holdem import CashHoldem, amount_text
from openfelt.games.registry import load_game, load_recorded_game
from openfelt.hands.check import check_record, replay
from openfelt.hands.record import HandRecord
from openfelt.hands.site_hand import as_limit_game, site_hand
from openfelt.hands.site_text import stars_text

DATA = Path(__file__).parent / "data/site_text"
STARS, GG = DATA / "pokerstars.txt", DATA / "ggpoker.txt"


def random_game(dice: random.Random, *, dead: bool = True) -> CashHoldem:
    players = dice.randint(2, 10)
    stacks = "/".join(amount_text(dice.choice((dice.randint(110, 900), 20_000))) for _ in range(players))
    blinds = (100, 50) if players == 2 else (50, 100)
    posts = "/".join(map(amount_text, (*blinds, *[0] * (players - 2))))
    antes = "/".join(["0.1"] * players) if dead and dice.random() < 0.3 else ""
    if dice.random() < 0.3:
        return CashHoldem(stacks, posts, 1, dead=antes, bets="1/2")
    return CashHoldem(stacks, posts, 1, dead=antes)


def test_hands_of_pokerstars():
    all_in, side_pots, limit = read_hands(STARS)
    assert all_in.names == ("Eve", "Ann B", "bob: x", "Cy")
    assert all_in.game == "cash_holdem('99.5/100/57.35/210.1','0.5/1/0/0',1)"
    assert all_in.actions[-3:] == ("bet 12.5", "raise 47.35", "call")
    assert all_in.won == (-0.5, -1, -57.35, 58.85)  # before the rake of 3
    assert all_in.dealt[:4] == ("??",) * 4
    # Three players pay 19.50 into the main pot, with a big blind that was folded and a dead small blind.
    assert side_pots.names == ("Eve", "late", "Ann B", "Cy")
    assert "dead='0/0/0.5/0'" in side_pots.game
    assert side_pots.won == (-39.5, -1, 60 - 20, 40 - 39.5)
    assert limit == HandRecord(
        "holdem",
        202735342127,
        ("Ann B", "Cy"),
        ("7d", "7c", "??", "??", "Kd", "7h", "2s"),
        ("raise", "raise", "raise", "call", "check", "bet", "raise", "fold"),
        (10.0, -10.0),
    )


def test_a_hand_of_ggpoker():
    (hand,) = read_hands(GG)
    assert hand.names == ("Hero", "ff00aa", "1a2b3c")
    assert hand.won == (pytest.approx(0.05), -0.1, pytest.approx(0.05))
    assert hand.number == 1234567890


@pytest.mark.filterwarnings("ignore:A card being dealt")
def test_winnings_are_those_of_pokerkit():
    dice = random.Random(5)
    compared = showdowns = all_ins = 0
    for _ in range(150):
        game = random_game(dice, dead=False)
        hand = played(game, dice)
        try:
            state = pokerkit_state(game, hand)
        except ValueError as error:  # a raise after an incomplete one, which we allow
            assert "Short all-in" in str(error)  # noqa: PT017
            continue
        compared += 1
        assert [float(chips) / 100 for chips in state.payoffs] == pytest.approx(hand.won, abs=0.01)
        end = replay(hand).state
        showdowns += len(game.shown(end)) > 1
        all_ins += not all(game.left(end, seat) for seat in range(game.players))
    assert min(compared, 2 * showdowns, 2 * all_ins) > 80


def pokerkit_state(game: CashHoldem, hand: HandRecord) -> pokerkit.State:
    """The same hand in PokerKit, in hundredths."""
    automations = tuple(
        each for each in pokerkit.Automation if "DEALING" not in each.name and "SHOWING" not in each.name
    )
    stacks = [round(100 * float(stack)) for stack in game.stacks.split("/")]
    common = (automations, True, 0, (50, 100))
    if game.bets:
        rules = pokerkit.FixedLimitTexasHoldem
        state = rules.create_state(*common, 100, 200, stacks, game.players)
        state.streets = tuple(
            dataclasses.replace(street, max_completion_betting_or_raising_count=None)
            for street in state.streets
        )
    else:
        state = pokerkit.NoLimitTexasHoldem.create_state(*common, 100, stacks, game.players)
    for seat in range(game.players):
        state.deal_hole("".join(hand.dealt[2 * seat : 2 * seat + 2]))
    board, actions = list(hand.dealt[2 * game.players :]), iter(hand.actions)
    while state.status:
        if state.can_burn_card():
            state.burn_card("??")
        if state.can_deal_board():
            state.deal_board("".join(board[: state.board_dealing_count]))
            del board[: 1 if len(hand.dealt) - 2 * game.players - len(board) >= 3 else 3]
        elif state.can_show_or_muck_hole_cards():
            state.show_or_muck_hole_cards(True)
        else:
            act(state, next(actions))
    assert not list(actions)
    return state


def act(state: pokerkit.State, word: str) -> None:
    verb, _, amount = word.partition(" ")
    if verb == "fold":
        state.fold()
    elif amount:
        state.complete_bet_or_raise_to(round(100 * float(amount)))
    else:
        state.check_or_call()


def test_pokerkit_reads_what_is_written():
    dice = random.Random(3)
    for number in range(30):
        game = dataclasses.replace(random_game(dice, dead=False), bets="")  # it reads no-limit games only
        hand = played(game, dice, number)
        (read,) = pokerkit.PokerStarsParser()(stars_text(hand))
        assert read.players == list(hand.names)
        assert [float(stack) for stack in read.starting_stacks] == [
            float(each) for each in game.stacks.split("/")
        ]
        acts = [action for action in read.actions if action.startswith("p") and " sm" not in action]
        assert len(acts) == len(hand.actions)


def test_random_hands_come_back_from_text(tmp_path):
    dice = random.Random(1)
    hands = [played(random_game(dice), dice, number) for number in range(120)]
    hands += [*some_hands("holdem", 20, seed=2), *some_hands("holdem(players=3)", 20, seed=3)]
    hands = [hidden(hand, 0) if hand.won[0] < 0 and dice.random() < 0.5 else hand for hand in hands]
    written = [hand for hand in hands if check_record(hand) is None]
    assert len(written) == len(hands)
    path = tmp_path / "hands.txt"
    assert write_hands(path, hands, match="table") == len(hands)
    assert list(read_hands(path)) == [as_limit_game(hand) for hand in hands]


def test_changed_text_is_refused_or_follows_the_rules():
    """Whatever happens to the lines of a file, there is one sentence or a hand that obeys the rules."""
    dice = random.Random(9)
    hands = [text.strip().splitlines() for text in STARS.read_text().split("\n\n\n")]
    read = 0
    for _ in range(1_500):
        lines = list(dice.choice(hands))
        place = dice.randrange(len(lines))
        line = lines[place]
        cut = dice.randrange(len(line) + 1)
        lines[place : place + 1] = dice.choice(
            (
                [],
                [line, line],
                [line[:cut] + dice.choice("09$.[]: x") + line[cut:]],
                [line[:cut] + line[cut + 1 :]],
            )
        )
        try:
            record = site_hand(lines or [""])
        except FeltError:
            continue
        read += 1
        assert check_record(record) is None
    assert 100 < read < 1_400


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (
            "Cy: calls $34.85",
            "Cy: calls $34.85\nCy chooses to EV Cashout",
            "Cy chooses to EV Cashout' is not under",
        ),
        ("*** RIVER ***", "*** SECOND RIVER ***", "SECOND RIVER"),
        ("Cy collected $113.20", "bob: x collected $113.20", "does not follow from the hand"),
        ("Cy collected $113.20", "Cy collected $100", "does not follow from the hand"),
        ("Eve: folds", "Ann B: folds", "out of turn"),
        ("raises $7 to $10", "raises $1 to $4", "is not legal there"),
        ("[Kc Qc]", "[Ah Qc]", "twice"),
        ("Cy: shows [Ah Kh]", "Cy: shows [Ac Kh]", "shows other cards"),
        ("*** SUMMARY ***", "", "The hand has no summary|not understood"),
        ("Hold'em No Limit", "Omaha Pot Limit", "Only cash games"),
        (":  Hold'em No Limit", ": Tournament #77, $5+$0.5 USD Hold'em No Limit", "Only cash games"),
    ],
)
def test_what_is_not_understood_is_quoted(old, new, reason):
    text = STARS.read_text().split("\n\n\n")[0]
    assert old in text
    with pytest.raises(FeltError, match=reason):
        site_hand(text.replace(old, new).splitlines())


def test_a_player_that_cashed_out_lost_or_won_the_pot_as_told():
    """PokerStars pays a player that cashes out itself; the pot is won as without it."""
    text = STARS.read_text().split("\n\n\n")[0]
    told = "Cy cashed out the hand for $22.77 | Cash Out Fee $0.46\n*** SUMMARY ***"
    assert site_hand(text.replace("*** SUMMARY ***", told).splitlines()) == site_hand(text.splitlines())


def test_bad_hands_are_counted(tmp_path, capsys):
    path = tmp_path / "hands.txt"
    path.write_text(STARS.read_text().replace("late has timed out", "late runs it three times"), "utf-8-sig")
    assert main(["history", "check", str(path)]) == 1
    assert "late runs it three times' is not understood" in capsys.readouterr().out
    target = tmp_path / "hands.db"
    assert main(["history", "convert", str(path), str(target), "--skip-bad"]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("2 hands written")
    assert "1 bad hand was skipped" in told.err
    assert "hand 202735342126" in told.err
    assert [hand.number % 10 for hand in read_hands(target)] == [5, 7]


def test_other_text_is_refused(tmp_path, capsys):
    path = tmp_path / "notes.txt"
    path.write_text("Buy milk\n")
    assert main(["history", "show", str(path)]) == 2
    assert "line 1: this is not a hand of PokerStars or GGPoker." in capsys.readouterr().err


def test_a_hand_that_text_cannot_express_is_refused(tmp_path):
    hand = dataclasses.replace(some_hands("holdem", 1)[0], names=("one", "Seat 1: two ($5 in chips)"))
    with pytest.raises(FeltError, match="PokerStars"):
        write_hands(tmp_path / "hands.txt", [hand])
    with pytest.raises(FeltError, match="leduc"):
        write_hands(tmp_path / "hands.txt", some_hands("leduc", 1))
    assert not list(tmp_path.iterdir())


def test_cash_games_are_only_for_histories():
    name = "cash_holdem('100/100','2/1',2)"
    assert load_recorded_game(name).name == name
    with pytest.raises(GameError, match="hand histories only"):
        load_game(name)
    for wrong in (
        "'100','2',2",
        "'100/100','2/1/0',2",
        "'100/x','2/1',2",
        "'100/1','1/2',2",
        "'9/9','2/1',0",
    ):
        with pytest.raises(GameError):
            load_recorded_game(f"cash_holdem({wrong})")
