"""Hand histories: PHH against PokerKit, the store against kills and damage, the check against wrong hands."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from random_hands import hidden, played, some_hands
from speed import slow

from openfelt.arena.hand_files import read_hands
from openfelt.bots.view import holdem_view
from openfelt.cards.deck import parse_cards
from openfelt.cli.app import main
from openfelt.core.errors import FeltError, FileError
from openfelt.games.registry import load_game
from openfelt.hands.check import check_record
from openfelt.hands.columns import ACTIONS
from openfelt.hands.phh import UNITS, phh_text, read_phh, write_phh
from openfelt.hands.record import HIDDEN, HandRecord
from openfelt.hands.store import BATCH, HandStore

pokerkit = pytest.importorskip("pokerkit")

GAMES = [
    *("holdem", "holdem(players=3)", "holdem(bets=3)", "kuhn", "kuhn(pot=0.3)", "kuhn(players=3)", "leduc"),
    *("leduc(players=3,ranks=4)", "goofspiel(4)", "bluff(1,1,6)", "one_card(500)"),
]


@pytest.fixture(scope="module")
def hands() -> dict[int, list[HandRecord]]:
    return {2: some_hands("holdem", 800), 3: some_hands("holdem(players=3)", 1_200)}


def until_fault(reading: Iterable[HandRecord]) -> tuple[list[HandRecord], str]:
    """The hands that come before a FileError, and what it says."""
    given = []
    try:
        for record in reading:
            given.append(record)
    except FileError as error:
        return given, str(error)
    return given, ""


def by_pokerkit(history) -> pokerkit.State:
    """The hand played through by PokerKit, which mends what it does not understand: nothing may be mended."""
    *_, (state, _) = history.state_actions
    deeds = (pokerkit.Folding, pokerkit.CheckingOrCalling, pokerkit.CompletionBettingOrRaisingTo)
    shown = (pokerkit.HoleCardsShowingOrMucking,)
    for kinds, letters in ((deeds, ("f", "cc", "cbr")), (shown, ("sm",))):
        written = [words for words in map(str.split, history.actions) if words[1] in letters]
        assert sum(isinstance(done, kinds) for done in state.operations) == len(written)
    assert not state.status
    return state


@pytest.mark.parametrize("players", [2, slow(3)])
def test_pokerkit_reads_what_we_write_and_finds_the_same_winnings(hands, players, tmp_path):
    path, unit, fractions, showdowns = tmp_path / "hands.phhs", UNITS[players], 0, 0
    assert write_phh(path, hands[players], event="a match") == len(hands[players])
    with path.open("rb") as file:
        histories = list(pokerkit.HandHistory.load_all(file))
    for record, history in zip(hands[players], histories, strict=True):
        state = by_pokerkit(history)
        assert [Decimal(str(chips)) for chips in record.won] == [Decimal(won) / unit for won in state.payoffs]
        assert history.finishing_stacks == list(state.stacks)
        assert (history.players, history.hand) == (list(record.names), record.number)
        assert (history.author, history.event) == ("OpenFelt", "a match")
        fractions += any(chips % 1 for chips in record.won)
        showdowns += any(" sm " in notation for notation in history.actions)
    assert showdowns > 100
    assert (fractions > 0) == (players == 3)  # the odd chip of a split pot is met


@pytest.mark.parametrize("players", [2, 3])
def test_the_seats_are_pokerkits_positions(hands, players, tmp_path):
    """Who posts what, who is dealt what and who acts first, by PokerKit's own state."""
    for record in hands[players][:50]:
        history = pokerkit.HandHistory.loads(phh_text(record))
        state = history.create_state()
        blinds = {2: [2, 1], 3: [1, 2, 0]}[players]
        assert [bet / UNITS[players] for bet in state.bets] == blinds
        for state, notation in history.state_actions:
            if notation and notation.startswith("d dh"):
                seat = int(notation[6]) - 1
                cards = tuple(map(repr, state.hole_cards[seat]))
                assert cards == record.dealt[2 * seat : 2 * seat + 2]
            if state.actor_index is not None:
                assert state.actor_index == {2: 1, 3: 2}[players]
                break


@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize("ending", [".phh", ".phhs"])
def test_reading_back_gives_the_same_hands(hands, players, ending, tmp_path):
    path = tmp_path / f"hands{ending}"
    for some in [hands[players][:100]] if ending == ".phhs" else [[hand] for hand in hands[players][:10]]:
        write_phh(path, some)
        assert list(read_phh(path)) == some


def test_a_game_with_more_to_its_name_keeps_it(tmp_path):
    path = tmp_path / "hands.phhs"
    some = some_hands("holdem(bets=3)", 50) + some_hands("holdem(players=3,buckets='ehs:10')", 20)
    write_phh(path, some)
    assert list(read_phh(path)) == some
    with path.open("rb") as file:
        histories = list(pokerkit.HandHistory.load_all(file))
    for record, history in zip(some, histories, strict=True):
        unit = UNITS[len(record.won)]
        assert [unit * chips for chips in record.won] == list(by_pokerkit(history).payoffs)


@pytest.mark.parametrize("name", ['"', "'''", "a\\b", "tab\there", "line\nbreak", "\x7f\x01", "Łódź 🂡", ""])
def test_names_of_all_kinds_come_back(name, tmp_path):
    record = played(load_game("holdem"), random.Random(1), names=(name, "b"))
    path = tmp_path / "hand.phh"
    write_phh(path, [record], event=name)
    assert list(read_phh(path)) == [record]
    with path.open("rb") as file:
        assert pokerkit.HandHistory.load(file).players == [name, "b"]


def test_a_name_that_is_no_text_is_refused(tmp_path):
    record = played(load_game("holdem"), random.Random(1), names=("\udc80", "b"))
    with pytest.raises(FileError, match="not valid Unicode"):
        write_phh(tmp_path / "hand.phh", [record])
    assert list(tmp_path.iterdir()) == []


def pokerkits_hand(dice: random.Random, players: int, unit) -> tuple[pokerkit.HandHistory, list, int]:
    """A hand that PokerKit dealt, plays and writes, its winnings, and the raises before the flop."""
    game = pokerkit.FixedLimitTexasHoldem(
        (
            *(pokerkit.Automation.ANTE_POSTING, pokerkit.Automation.BET_COLLECTION),
            *(pokerkit.Automation.BLIND_OR_STRADDLE_POSTING, pokerkit.Automation.CARD_BURNING),
            *(pokerkit.Automation.HOLE_DEALING, pokerkit.Automation.BOARD_DEALING),
            *(pokerkit.Automation.HOLE_CARDS_SHOWING_OR_MUCKING, pokerkit.Automation.HAND_KILLING),
            *(pokerkit.Automation.CHIPS_PUSHING, pokerkit.Automation.CHIPS_PULLING),
        ),
        False,
        0,
        (unit, 2 * unit),
        2 * unit,
        4 * unit,
        mode=pokerkit.Mode.CASH_GAME,
    )
    random.seed(dice.random())  # what PokerKit shuffles with
    state, raises = game([1000 * unit] * players, players), 0
    while state.status:
        before_flop = state.street_index == 0
        choice = dice.random()
        if choice < 0.1 and state.checking_or_calling_amount:
            state.fold()
        elif choice < 0.4 and state.can_complete_bet_or_raise_to():
            state.complete_bet_or_raise_to()
            raises += before_flop
        else:
            state.check_or_call()
    return pokerkit.HandHistory.from_game_state(game, state), list(state.payoffs), raises


@pytest.mark.parametrize("unit", [2, 50, Decimal("0.25")])
@pytest.mark.parametrize("players", [2, 3])
def test_we_read_what_pokerkit_writes(players, unit, tmp_path):
    dice, path, read = random.Random(players), tmp_path / "theirs.phh", 0
    for number in range(60):
        history, payoffs, raises = pokerkits_hand(dice, players, unit)
        if number % 2:
            history.finishing_stacks = [1000 * unit + won for won in payoffs]
        path.write_text(history.dumps())
        if raises > 3:  # the competition has a limit there, PokerKit has one more
            with pytest.raises(FileError, match="cannot raise on the preflop"):
                list(read_phh(path))
            continue
        (record,) = read_phh(path)
        read += 1
        assert record.won == tuple(float(won / unit) for won in payoffs)
        assert record.names == tuple(f"p{seat + 1}" for seat in range(players))
        assert check_record(record) is None
    assert read > 40


@pytest.mark.parametrize("players", [2, 3])
def test_cards_that_nobody_showed_stay_hidden(hands, players, tmp_path):
    path = tmp_path / "hand.phh"
    unsaid = 0
    for record in hands[players][:100]:
        for seat in range(players):
            partly = hidden(record, seat)
            assert check_record(partly) is None
            betting = holdem_view(load_game(record.game), 0, (), (), record.actions).betting
            if betting.folded.count(False) > 1 and record.won[seat] + betting.paid[seat] > 0:
                with pytest.raises(FeltError, match="wins the showdown with cards that are hidden"):
                    write_phh(path, [partly])
                unsaid += 1
                continue
            write_phh(path, [partly])
            assert list(read_phh(path)) == [partly]
            history = pokerkit.HandHistory.loads(path.read_text())
            assert f"p{seat + 1} sm {HIDDEN}{HIDDEN}" not in history.actions  # it mucks instead of showing
            state = by_pokerkit(history)
            assert [UNITS[players] * chips for chips in record.won] == list(state.payoffs)
    assert unsaid > 20


def fields(**changes: object) -> str:
    """A good hand of PHH with some fields changed; None leaves one out."""
    actions = ["d dh p1 AhAd", "d dh p2 ????", "p2 cbr 4", "p1 f"]
    good = {
        **{"variant": "FT", "antes": [0, 0], "blinds_or_straddles": [1, 2], "small_bet": 2, "big_bet": 4},
        **{"starting_stacks": [100, 100], "actions": actions, "players": ["a", "b"], "hand": 7},
    }
    chosen = {key: value for key, value in (good | changes).items() if value is not None}
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in chosen.items())


def test_hands_by_hand(tmp_path):
    """What PHH allows beyond what we write: commentary, cards dealt one by one, winnings, no stacks."""
    path = tmp_path / "hand.phh"
    expected = HandRecord(
        "holdem", 7, ("a", "b"), ("Ah", "Ad", HIDDEN, HIDDEN), ("raise", "fold"), (-2.0, 2.0)
    )
    actions = ["d dh p1 Ah", "d dh p2 ??", "d dh p1 Ad", "p2 cbr 4 # a smile", "# a pause", "", "p1 f"]
    for text in (fields(), fields(actions=actions), fields(winnings=[0, 6]), fields(hand="7", players=None)):
        path.write_text(text)
        (record,) = read_phh(path)
        if "players" not in text:  # no names, and a hand that is no number
            expected = dataclasses.replace(expected, number=0, names=("p1", "p2"))
        assert record == expected


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"variant": "NT"}, "The variant is NT; only FT, limit Texas hold'em, can be read."),
        ({"variant": None}, "The variant is None; only FT"),
        ({"starting_stacks": [100] * 4}, "There are 4 players; only 2 or 3 can be read."),
        ({"starting_stacks": ["a", "b"]}, "The field starting_stacks is not a list of numbers."),
        ({"starting_stacks": [3, 3]}, "A player is all in"),
        ({"blinds_or_straddles": [2, 2]}, "The blinds are 2, 2; they must"),
        ({"blinds_or_straddles": [1, 2, 0]}, "The field blinds_or_straddles is not a list of 2 numbers."),
        ({"big_bet": 5}, "The bets are 2, 5; they must"),
        ({"small_bet": None}, "The field bets is not a list of numbers."),
        ({"antes": [1, 1]}, "There are antes"),
        ({"players": ["a"]}, "The players are not 2 names."),
        ({"actions": None}, "The actions are not a list of texts."),
        ({"actions": []}, "The actions end before the hand is over."),
        ({"actions": ["p2 cbr 5"]}, "p2 raises to 5 on the preflop; the limit is 4."),
        ({"actions": ["p1 cc"]}, "p1 acts, but it is p2's turn."),
        ({"actions": ["p3 cc"]}, "There is no player 'p3'."),
        ({"actions": ["p2 cc", "p1 f"]}, "p1 cannot fold on the preflop."),
        ({"actions": ["p2 cc", "p1 cc", "p1 cc"]}, "On the flop the board has 0 cards."),
        ({"actions": ["p2 f", "p1 cc"]}, "p1 acts after the end of the hand."),
        ({"actions": ["p2 f", "d db AhKhQh"]}, "Board cards are dealt after the end of the hand."),
        ({"actions": ["p2 jam"]}, "'p2 jam' is not an action of FT."),
        ({"actions": ["p2 sd"]}, "'p2 sd' is not an action of FT."),
        ({"actions": ["d dh p1 AhAx"]}, "'Ax' is not a card."),
        ({"actions": ["d dh p1 AhAdAs"]}, "p1 has more than two hole cards."),
        ({"actions": ["d dh p1 AhAd", "p2 f", "p1 sm KhKd"]}, "p1 shows other cards than it was dealt."),
        ({"finishing_stacks": [1, 2, 3]}, "The field finishing_stacks is not a list of 2 numbers."),
        ({"_game": "holdem(players=3)"}, "The game is 'holdem(players=3)', but there are 2 players."),
    ],
)
def test_what_cannot_be_read_is_named_and_the_hands_before_it_are_given(changes, sentence, tmp_path):
    path = tmp_path / "hands.phhs"
    path.write_text(f"# three hands\n[1]\n{fields()}\n[2]\n{fields(**changes)}\n[3]\n{fields()}")
    reading = read_phh(path)
    assert next(reading).actions == ("raise", "fold")
    with pytest.raises(FileError) as caught:
        next(reading)
    line = 2 + len(fields().splitlines()) + 2
    assert str(caught.value).startswith(f"{path}, line {line}, hand 2: {sentence}")


def test_a_showdown_without_cards_or_winnings_does_not_say_who_won(tmp_path):
    path = tmp_path / "hand.phh"
    checked = ["p1 cc", "p2 cc"]
    streets = ["p2 cc", "p1 cc", "d db 2c3d4h", *checked, "d db 8s", *checked, "d db 9s", *checked]
    path.write_text(fields(actions=streets))
    with pytest.raises(FileError, match="The winner is not recorded"):
        list(read_phh(path))
    path.write_text(fields(actions=[*streets, "p1 sm AhKh", "p2 sm"]))
    (record,) = read_phh(path)
    assert (record.won, record.dealt[:4]) == ((2.0, -2.0), ("Ah", "Kh", HIDDEN, HIDDEN))


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (b"[2]\nvariant = FT\n", "line {}, column 11: Invalid value"),
        (b"[2]\nvariant = 'FT", "the table that starts in line {}: "),
        (b"[2\n", "line {}, column 3: "),
        (b"[2]\nvariant = '\xff'\n", "line {}: it is not UTF-8 text"),
        (b"[2]\nantes = " + b"[" * 10_000, "the table that starts in line {}: "),
        (b"[2]\nhand = " + b"9" * 10_000, "the table that starts in line {}: "),
    ],
)
def test_damage_is_found_with_its_line(damage, sentence, tmp_path):
    path = tmp_path / "hands.phhs"
    first = f"[1]\n{fields()}".encode()
    path.write_bytes(first + damage)
    line = len(first.splitlines()) + (1 if sentence.startswith("the table") or "column 3" in sentence else 2)
    reading = read_phh(path)
    assert next(reading).number == 7
    with pytest.raises(FileError) as caught:
        next(reading)
    assert sentence.format(line) in str(caught.value)


def test_a_file_that_was_cut_or_changed_gives_the_hands_before_and_a_sentence(hands, tmp_path):
    path, some, dice, faults = tmp_path / "hands.phhs", hands[3][:12], random.Random(0), 0
    write_phh(path, some)
    whole = path.read_bytes()
    starts = [
        place
        for place in range(len(whole))
        if whole.startswith(b"[", place) and whole[place - 1 : place] in (b"", b"\n")
    ]
    assert len(starts) == len(some)
    for number in range(300):
        place = dice.randrange(len(whole))
        changed = whole[:place] + bytes([dice.randrange(256)]) + whole[place + 1 :]
        path.write_bytes(whole[:place] if number % 2 else changed)
        before = max(0, sum(start < place for start in starts) - 1)  # hands that end before the damage
        given, fault = until_fault(read_phh(path))
        assert given[:before] == some[:before]
        assert not fault or (str(path) in fault and "line" in fault)
        faults += bool(fault)
    assert faults > 200


def test_no_numbers_are_too_large_to_be_refused(tmp_path):
    path = tmp_path / "hand.phh"
    for number in ("1e999999999", "nan", "inf", "9" * 400):
        path.write_text(
            fields().replace("blinds_or_straddles = [1, 2]", f"blinds_or_straddles = [{number}, 2]")
        )
        with pytest.raises(FileError, match=r"hand\.phh"):
            list(read_phh(path))


def test_other_games_have_no_variant(tmp_path):
    for name in ("kuhn", "leduc"):
        with pytest.raises(FeltError, match=f"PHH has no variant for {name}; keep its hands in a store"):
            write_phh(tmp_path / "hands.phhs", some_hands(name, 1))
    assert list(tmp_path.iterdir()) == []


def test_a_phh_file_has_one_hand(hands, tmp_path):
    with pytest.raises(FileError, match="holds one hand"):
        write_phh(tmp_path / "hand.phh", hands[2][:2])
    with pytest.raises(FileError, match="no hand to write"):
        write_phh(tmp_path / "hand.phh", [])
    with pytest.raises(FileError, match="could not be written"):
        write_phh(tmp_path / "nowhere" / "hand.phh", hands[2][:1])
    with pytest.raises(FileError, match="could not be read"):
        list(read_phh(tmp_path / "hand.phh"))
    assert list(tmp_path.iterdir()) == []


def test_a_hand_against_the_rules_is_not_written(hands, tmp_path):
    wrong = dataclasses.replace(hands[2][0], won=(1.0, -1.0))
    with pytest.raises(FeltError, match="Hand 0 cannot be written as PHH: The recorded winnings are"):
        phh_text(wrong)


@pytest.mark.parametrize("name", GAMES)
def test_every_hand_by_the_rules_fits_them_also_with_hidden_cards(name):
    dice = random.Random(1)
    for record in some_hands(name, 60):
        assert check_record(record) is None
        dealt = tuple(HIDDEN if dice.random() < 0.4 else word for word in record.dealt)
        assert check_record(dataclasses.replace(record, dealt=dealt)) is None


SHOWDOWN = HandRecord(
    "holdem(players=3)",
    0,
    ("a", "b", "c"),
    (*("Ah", "Ad"), *("Kh", "Kd"), *("Qh", "Qd"), *("2c", "3d", "5h"), "7s", "9c"),
    ("call", "call", "check", *("check",) * 9),
    (4.0, -2.0, -2.0),
)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"dealt": ("Ah", "Ah", *SHOWDOWN.dealt[2:])}, "The card Ah is dealt twice."),
        (
            {"dealt": ("Ah", "1d", *SHOWDOWN.dealt[2:])},
            "'1d' is not a card that can be dealt in holdem(players=3).",
        ),
        ({"dealt": SHOWDOWN.dealt[:-1]}, "The record ends before the hand is over."),
        ({"dealt": (*SHOWDOWN.dealt, "2h")}, "The record continues after the hand is over."),
        ({"actions": SHOWDOWN.actions[:-1]}, "The record ends before the hand is over."),
        ({"actions": (*SHOWDOWN.actions, "check")}, "The record continues after the hand is over."),
        (
            {"actions": ("call", "call", "fold", *SHOWDOWN.actions[3:])},
            "Action 3, 'fold' by seat 1, is not legal there (allowed: check, raise).",
        ),
        (
            {"won": (-2.0, 4.0, -2.0)},
            "The recorded winnings are -2, +4, -2, but the rules give +4, -2, -2.",
        ),
        ({"won": (4.0, -2.0)}, "holdem(players=3) has 3 players, but there are 2 winnings."),
        ({"names": ("a", "b")}, "holdem(players=3) has 3 players, but there are 2 names."),
        ({"won": (float("nan"),) * 3}, "The recorded winnings are +nan, +nan, +nan, but the rules give"),
        ({"game": "poker"}, "There is no game 'poker'"),
    ],
)
def test_what_does_not_fit_is_said_in_one_sentence(changes, sentence):
    assert check_record(SHOWDOWN) is None
    found = check_record(dataclasses.replace(SHOWDOWN, **changes))
    assert found is not None
    assert found.startswith(sentence)


@pytest.mark.parametrize(
    ("seats", "won", "fits"),
    [
        ((1,), (-2, 4, -2), True),  # kings may have been aces up
        ((1,), (-2, -2, 4), False),  # queens are seen to lose to aces
        ((1,), (1, 1, -2), True),
        ((1,), (-2, 1, 1), False),
        ((0, 1), (-2, -2, 4), True),
        ((0, 1, 2), (0, 0, 0), True),
        ((0, 1, 2), (2, -2, 0), False),
        ((1,), (6, -2, -2), False),
    ],
)
def test_hidden_cards_leave_some_winnings_possible_and_others_not(seats, won, fits):
    record = dataclasses.replace(hidden(SHOWDOWN, *seats), won=tuple(map(float, won)))
    assert (check_record(record) is None) == fits
    if not fits:
        assert "cannot give that, whatever the hidden cards are" in check_record(record)


def test_hidden_cards_of_small_games():
    bet_and_called = HandRecord("kuhn", 0, ("a", "b"), (HIDDEN, "Q"), ("bet", "bet"), (2.0, -2.0))
    assert check_record(bet_and_called) is None
    assert check_record(dataclasses.replace(bet_and_called, dealt=(HIDDEN, "K"))) is not None
    twice = HandRecord("leduc", 0, ("a", "b"), ("K", "K", "K"), ("check",) * 4, (0.0, 0.0))
    assert check_record(twice) == "The card K is dealt 3 times."


@pytest.fixture
def store(tmp_path):
    with HandStore(tmp_path / "hands.db") as opened:
        yield opened


def test_the_store_gives_back_all_games_in_order(store):
    everything = [record for name in GAMES for record in some_hands(name, 30)]
    everything += [hidden(record, 0) for record in some_hands("holdem", 10)]
    random.Random(0).shuffle(everything)
    assert store.append(everything[:100], match="first") == 100
    assert store.append(iter(everything[100:]), match="second") == len(everything) - 100
    assert list(store.hands()) == everything
    assert store.count() == len(everything)
    with HandStore(store.path) as again:
        assert list(again.hands(match="second")) == everything[100:]
        assert again.matches() == ["first", "second"]
    with pytest.raises(FeltError, match="There is no match 'third'"):
        list(store.hands(match="third"))


@pytest.mark.slow
def test_more_than_a_batch(store, hands):
    many = [dataclasses.replace(hands[2][0], number=number) for number in range(2 * BATCH + 1)]
    store.append(many)
    assert list(store.hands()) == many
    assert [len(block.number) for block in store.columns("player0", block=BATCH)] == [BATCH, BATCH, 1]


def test_hands_of_one_player(store):
    game, dice = load_game("holdem"), random.Random(0)
    pairs = [("a", "b"), ("b", "c"), ("c", "a")]
    some = [played(game, dice, number, pairs[number % 3]) for number in range(60)]
    store.append(some)
    assert list(store.hands(player="a")) == [record for record in some if "a" in record.names]
    assert store.players() == ["a", "b", "c"]
    with pytest.raises(FeltError, match="There is no player 'd'"):
        list(store.hands(player="d"))


def slow_decisions(record: HandRecord, seat: int) -> list[tuple]:
    """What a seat saw and did, by the view that bots are given."""
    game = load_game(record.game)
    cards = parse_cards([card for card in record.dealt if card != HIDDEN])
    board = cards[2 * game.players :]
    moves = holdem_view(game, seat, (), (), record.actions).moves
    shown = (0, 3, 4, 5)
    return [
        (
            list(cards[2 * seat : 2 * seat + 2]),
            list(board[: shown[move.street]]) + [255] * (5 - shown[move.street]),
            [ACTIONS.index(word) for word in record.actions[:place]],
            move.street,
            ACTIONS.index(move.action),
        )
        for place, move in enumerate(moves)
        if move.seat == seat
    ]


@pytest.mark.parametrize("players", [2, 3])
def test_columns_are_what_the_player_saw_and_did(store, players):
    game = load_game(f"holdem(players={players})")
    dice, everybody = random.Random(3), ("me", "you", "her")[:players]
    orders = list(itertools.permutations(everybody))
    some = [played(game, dice, number, orders[number % len(orders)]) for number in range(300)]
    some += [played(load_game("kuhn"), dice, 0, ("me", "you"))]
    self_play = ("me",) * players
    some += [played(game, dice, number, self_play) for number in range(300, 310)]
    store.append(some)
    expected = [
        (record, seat)
        for record in some[:300] + some[301:]
        for seat, name in enumerate(record.names)
        if name == "me"
    ]
    (columns,) = store.columns("me", game.name)
    assert columns.number.tolist() == [record.number for record, _ in expected]
    assert columns.seat.tolist() == [seat for _, seat in expected]
    assert columns.won.tolist() == [record.won[seat] for record, seat in expected]
    slow = [decision for record, seat in expected for decision in slow_decisions(record, seat)]
    fast = zip(columns.hand, columns.place, columns.seen_board, columns.street, columns.action, strict=True)
    for (hole, board, line, street, action), (hand, place, seen, when, did) in zip(slow, fast, strict=True):
        assert columns.hole[hand].tolist() == hole
        assert seen.tolist() == board
        assert columns.line[hand, :place].tolist() == line
        assert (when, did) == (street, action)


def test_columns_know_hidden_cards_and_abstractions(store):
    record = played(load_game("holdem(buckets='ehs:10')"), random.Random(0))
    store.append([hidden(record, 1)])
    (columns,) = store.columns("player1")
    assert columns.hole.tolist() == [[255, 255]]
    assert list(store.columns("player1", "holdem(bets=3)")) == []
    with pytest.raises(FeltError, match="must be hold'em, not leduc"):
        list(store.columns("player1", "leduc"))


def test_what_cannot_be_stored_leaves_what_came_before(store, hands):
    good = hands[2][:5]
    jam = dataclasses.replace(good[0], number=9, actions=("jam",))
    for wrong, sentence in (
        (jam, "Hand 9: 'jam' is not a card or action of hold'em"),
        (dataclasses.replace(good[0], won=(0.0,)), "Hand 0 has 1 winnings for 2 players"),
        (dataclasses.replace(good[0], names=("a", "b", "c")), "holdem has 2 players, but 3 names were given"),
    ):
        with pytest.raises(FeltError, match=sentence):
            store.append([*good, wrong, *good])
    assert list(store.hands()) == good * 3
    against_the_rules = dataclasses.replace(good[0], names=("x", "y"), actions=("fold", "fold"))
    store.append([against_the_rules])
    for reading in (store.columns("x"), store.hands()):
        with pytest.raises(
            FileError, match=r"hands\.db, hand 0: The record continues after the hand is over"
        ):
            list(reading)


def test_readers_and_writers_do_not_wait_for_each_other(store, hands):
    store.append(hands[2])
    reading = store.hands()
    next(reading)
    with HandStore(store.path) as other:
        other.append(hands[2], match="later")
    assert len(list(reading)) == len(hands[2]) - 1  # those that were there
    assert store.count() == 2 * len(hands[2])


WRITER = """
import dataclasses, itertools, resource, signal, sys
from openfelt.hands.record import HandRecord
from openfelt.hands.store import HandStore
record = HandRecord("holdem", 0, ("a", "b"), ("Ah", "Kh", "2c", "2d"), ("fold",), (1.0, -1.0))
store = HandStore(sys.argv[1])
"""
COMMITS = """
size = int(sys.argv[2])
for first in itertools.count(0, size):
    store.append(dataclasses.replace(record, number=first + more) for more in range(size))
    print(first + size, flush=True)
"""
FILLS = """
store.append([record] * 5_000)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
try:
    store.append([record] * 100_000)
except Exception as error:
    print(type(error).__name__, error)
"""


@pytest.mark.slow
def test_a_writer_that_is_killed_leaves_all_that_was_committed(tmp_path, hands):
    path = tmp_path / "hands.db"
    for size in (1, 500, 12_000):
        script = [sys.executable, "-c", WRITER + COMMITS, str(path), str(size)]
        writer = subprocess.Popen(script, stdout=subprocess.PIPE, text=True)
        committed = [int(writer.stdout.readline()) for _ in range(3)][-1]
        os.kill(writer.pid, signal.SIGKILL)
        committed = max([committed, *map(int, writer.stdout.read().split())])
        writer.wait()
        with HandStore(path) as store:
            kept = [record.number for record in store.hands()]
            assert len(kept) >= committed
            assert kept == list(range(len(kept)))
            assert store.append(hands[2][:3]) == 3
            assert store.count() == len(kept) + 3
        path.unlink()


def test_a_full_disk_leaves_what_was_committed(tmp_path):
    """A limit on the size of files stands for the disk."""
    path = tmp_path / "hands.db"
    script = [sys.executable, "-c", WRITER + FILLS, str(path)]
    said = subprocess.run(script, capture_output=True, text=True, check=True).stdout
    assert said.startswith(f"FileError {path} could not be used (")
    assert said.strip().endswith("; the stored hands are unchanged.")
    with HandStore(path) as store:
        assert store.count() == len(list(store.hands())) == 5_000


def test_files_that_are_no_store_are_refused_and_left_alone(tmp_path):
    text = tmp_path / "text.db"
    text.write_text("this is no database, but it is long enough to be taken for one\n" * 100)
    foreign = tmp_path / "foreign.db"
    with sqlite3.connect(foreign) as base:
        base.execute("CREATE TABLE things (name TEXT)")
    newer = tmp_path / "newer.db"
    HandStore(newer).close()
    with sqlite3.connect(newer) as base:
        base.execute("PRAGMA user_version = 2")
    before = {path: path.read_bytes() for path in (text, foreign, newer)}
    for path, sentence in (
        (text, "is not a store of hands"),
        (foreign, "is a database of another program"),
        (newer, r"was written by a newer OpenFelt \(format 2, this one reads 1\)"),
        (tmp_path / "nowhere" / "hands.db", "could not be used"),
        (tmp_path, "could not be used"),
    ):
        with pytest.raises(FileError, match=sentence):
            HandStore(path)
    assert {path: path.read_bytes() for path in before} == before


def stored(path: Path) -> Iterator[HandRecord]:
    with HandStore(path) as store:
        yield from store.hands()


@pytest.mark.slow
def test_no_damage_gives_a_wrong_hand(tmp_path, hands):
    """One byte changed anywhere, or the end cut off: the hands as they were, or one sentence."""
    path, dice = tmp_path / "hands.db", random.Random(5)
    some = hands[2][:150] + hands[3][:100] + some_hands("leduc", 50)
    with HandStore(path) as store:
        store.append(some, match="a match")
    whole = path.read_bytes()
    refused = 0
    for number in range(400):
        place = dice.randrange(len(whole))
        changed = whole[:place] + bytes([whole[place] ^ 1 << dice.randrange(8)]) + whole[place + 1 :]
        path.write_bytes(whole[:place] if number % 8 == 0 else changed)
        given, fault = until_fault(stored(path))
        refused += bool(fault)
        assert given == some[: len(given)]
        assert str(path) in fault or given == some
        path.with_name(path.name + "-journal").unlink(missing_ok=True)
    assert refused > 100


@pytest.mark.parametrize(
    "damage", [*(f"DELETE FROM hands WHERE id = {key}" for key in (1, 20, 40)), "UPDATE total SET hands = 20"]
)
def test_hands_that_are_missing_are_missed(store, hands, damage):
    store.append(hands[2][:40])
    with sqlite3.connect(store.path) as base:
        base.execute(damage)
    given, fault = until_fault(store.hands())
    assert "is damaged" in fault
    assert given == hands[2][: len(given)]


def felt(capsys, *words: str) -> tuple[int, str, str]:
    code = main(["history", *words])
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.fixture
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("_own_folder")
def test_the_command_converts_from_each_kind_to_each(capsys, hands):
    some = hands[2][:40]
    write_phh(Path("a.phhs"), some)
    assert felt(capsys, "convert", "a.phhs", "hands.db") == (0, "40 hands written to hands.db\n", "")
    assert felt(capsys, "convert", "hands.db", "b.phhs")[0] == 0
    assert list(read_phh(Path("b.phhs"))) == some
    assert 'event = "a"' in Path("b.phhs").read_text()
    assert felt(capsys, "convert", "hands.db", "c.log", "--match", "a")[0] == 0
    assert felt(capsys, "convert", "c.log", "d.phhs")[0] == 0
    assert list(read_phh(Path("d.phhs"))) == some
    assert felt(capsys, "convert", "hands.db", "one.phh", "--hand", "7")[0] == 0
    assert list(read_phh(Path("one.phh"))) == [some[7]]
    assert felt(capsys, "convert", "b.phhs", "hands.db", "--match", "again")[0] == 0
    told = json.loads(felt(capsys, "convert", "hands.db", "copy.db", "--json")[1])
    assert told == {"file": "copy.db", "hands": 80, "skipped": 0}
    with HandStore("copy.db") as store:
        assert store.matches() == ["a", "again"]
        assert list(store.hands()) == some + some


@pytest.mark.usefixtures("_own_folder")
def test_a_convert_that_fails_leaves_no_file(capsys, hands):
    write_phh(Path("a.phhs"), hands[2][:40])
    text = Path("a.phhs").read_text()
    Path("a.phhs").write_text(text.replace("[31]\nvariant = ", "[31]\nvariant == "))
    for target in ("b.phhs", "b.db", "b.log"):
        code, out, err = felt(capsys, "convert", "a.phhs", target)
        assert (code, out) == (2, "")
        assert "a.phhs, line 392, column 10: Invalid value." in err
        assert [path.name for path in Path().iterdir()] == ["a.phhs"]
    with HandStore("old.db") as store:
        store.append(hands[2][:3], match="old")
    assert felt(capsys, "convert", "a.phhs", "old.db")[0] == 2
    with HandStore("old.db") as store:
        assert list(store.hands()) == hands[2][:3]
        assert store.matches() == ["old"]
    for target in ("b.phhs", "b.db", "b.log", "old.db"):
        code, out, err = felt(capsys, "convert", "a.phhs", target, "--skip-bad")
        assert (code, out) == (0, f"39 hands written to {target}\n")
        assert err == "felt: 1 bad hand was skipped; the first: a.phhs, line 392, column 10: Invalid value.\n"
        found = list(read_hands(target, match="a" if target == "old.db" else None))
        assert found == hands[2][:30] + hands[2][31:40]


@pytest.mark.usefixtures("_own_folder")
def test_the_command_checks(capsys, hands):
    with HandStore("hands.db") as store:
        store.append([SHOWDOWN, dataclasses.replace(SHOWDOWN, number=1, won=(0.0, 0.0, 0.0))])
    code, out, _ = felt(capsys, "check", "hands.db")
    assert code == 1
    assert out == (
        "hand 1: The recorded winnings are +0, +0, +0, but the rules give +4, -2, -2.\n"
        "2 hands, 1 of them bad\n"
    )
    assert json.loads(felt(capsys, "check", "hands.db", "--json")[1])["faults"][0]["hand"] == 1
    assert felt(capsys, "check", "hands.db", "--hand", "0") == (0, "1 hand, all by the rules\n", "")
    write_phh(Path("a.phhs"), hands[2][:40])
    Path("a.phhs").write_text(Path("a.phhs").read_text().replace("[31]\nvariant = ", "[31]\nvariant == "))
    code, out, err = felt(capsys, "check", "a.phhs")
    assert (code, err) == (1, "")
    assert out == "line 392, column 10: Invalid value.\n40 hands, 1 of them bad\n"


@pytest.mark.usefixtures("_own_folder")
def test_the_command_tells_a_hand(capsys):
    with HandStore("hands.db") as store:
        store.append([hidden(SHOWDOWN, 2)])
        store.append([HandRecord("kuhn", 5, ("ann", "bob"), ("K", "Q"), ("bet", "pass"), (1.0, -1.0))])
    assert felt(capsys, "show", "hands.db")[1] == (
        "holdem(players=3), hand 0\n"
        "  a: Ah Ad\n"
        "  b: Kh Kd\n"
        "  c: ?? ??\n"
        "  start (pot 3): c calls, a calls, b checks\n"
        "  2c 3d 5h (pot 6): a checks, b checks, c checks\n"
        "  7s (pot 6): a checks, b checks, c checks\n"
        "  9c (pot 6): a checks, b checks, c checks\n"
        "  won: a +4, b -2, c -2 chips\n"
    )
    assert felt(capsys, "show", "hands.db", "--hand", "5")[1] == (
        "kuhn, hand 5\n"
        "  ann: K\n"
        "  bob: Q\n"
        "  start (pot 2): ann bets, bob passes\n"
        "  won: ann +1, bob -1 chips\n"
    )
    assert json.loads(felt(capsys, "show", "hands.db", "--json")[1])["names"] == ["a", "b", "c"]


@pytest.mark.usefixtures("_own_folder")
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("check nowhere.db", "There is no file nowhere.db."),
        (
            "check hands.csv",
            "Hand histories are in files that end in .phh, .phhs, .log, .db, .txt; hands.csv does not.",
        ),
        ("convert a.phhs", "`felt history convert` needs two files, `check` and `show` need one."),
        ("show a.phhs b.phhs", "`felt history convert` needs two files, `check` and `show` need one."),
        ("convert a.phhs a.phhs", "a.phhs exists already; choose another file."),
        ("convert hands.db hands.db", "hands.db exists already; choose another file."),
        ("convert a.phhs hands.db", "hands.db has a match 'a' already; choose another name with --match."),
        ("check a.phhs --match a", "--match is for files that end in .db."),
        ("check hands.db --match b", "There is no match 'b' (known: a)."),
        ("show hands.db --hand 99", "There is no hand 99 in hands.db."),
        ("convert hands.db one.phh", "A .phh file holds one hand; write several to a .phhs file."),
    ],
)
def test_the_command_says_what_is_wrong(words, sentence, capsys, hands):
    write_phh(Path("a.phhs"), hands[2][:3])
    felt(capsys, "convert", "a.phhs", "hands.db")
    code, out, err = felt(capsys, *words.split())
    assert (code, out) == (2, "")
    assert err == f"felt: {sentence}\n"


def test_arrays_are_small(store, hands):
    """A hand takes less than 50 bytes, and its columns are bytes."""
    store.append(hands[2] * 10)
    assert store.path.stat().st_size < 50 * store.count()
    (columns,) = store.columns("player0")
    assert {columns.hole.dtype, columns.board.dtype, columns.line.dtype} == {np.dtype(np.uint8)}
