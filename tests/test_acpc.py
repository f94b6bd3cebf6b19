"""The competition's formats as published, and our client: states, game definitions, logs."""

from __future__ import annotations

import random
import re
import socket
from itertools import pairwise

import numpy as np
import pyspiel
import pytest
from acpc_players import GAMES, RULES, at_work, random_hand, states_of
from acpc_published import THREE_PLAYER_LOG, THREE_PLAYERS, TWO_PLAYER_LOG, TWO_PLAYERS
from hypothesis import given, settings, strategies as st

from openfelt.arena.acpc.client import ProtocolPlayer
from openfelt.arena.acpc.competition_game import CUSTOM, definition_of, file_name, game_of
from openfelt.arena.acpc.connection_lines import MOST_BYTES, LineReader
from openfelt.arena.acpc.dealer import match_states
from openfelt.arena.acpc.game_definition import parse_definition, read_definition
from openfelt.arena.acpc.log import read_log, write_log
from openfelt.arena.acpc.match_state import MatchState, MessageError, parse_match_state, read_answer
from openfelt.arena.acpc.protocol_game import card_names, follow, protocol_game
from openfelt.bots.bot import Bot
from openfelt.bots.registry import load_bot
from openfelt.bots.view import HoldemView, view_of
from openfelt.cli.app import main
from openfelt.core.errors import FeltError, FileError
from openfelt.games.game import CHANCE, TERMINAL
from openfelt.games.hand import Hand
from openfelt.games.registry import load_game
from openfelt.hands.record import HIDDEN, HandRecord


@pytest.mark.parametrize(("text", "name"), [(TWO_PLAYERS, "holdem"), (THREE_PLAYERS, "holdem(players=3)")])
def test_examples_of_the_specification(text, name):
    """Every state is read and written back unchanged, and it is the player's turn exactly if it answers."""
    game, lines = load_game(name), text.split("\n")[1:-1]
    answers = 0
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        who, message = line[:3], line[4:]
        if who == "<-C":
            continue
        state = parse_match_state(message)
        assert state.text == message
        fields = message.split(":")
        assert (state.position, state.hand, state.betting) == (
            int(fields[1]),
            int(fields[2]),
            tuple(fields[3].split("/")),
        )
        betting = follow(game, state.betting)
        assert betting.letters == fields[3]
        assert (betting.turn == state.position) == after.startswith("<-C")
        assert {position for position, cards in enumerate(state.hole) if cards} == {
            state.position,
            *betting.shown,
        }
        assert "".join(map("".join, state.board)) == "".join(fields[4].split("/")[1:])
        if after.startswith("<-C"):
            assert read_answer(after[4:], state, state.text) == after[-1]
            assert after[-1] in betting.legal
            answers += 1
    assert answers == text.count("<-C") >= 8


def test_examples_without_a_limit_are_read():
    """Their numbers are kept as they stand; the rounds after all are all-in have no actions."""
    state = parse_match_state("MATCHSTATE:1:31:r300r900c/r1800r3600r9000c/r20000c/:KsJs|JdTc/6dJc9c/Kh/Qc")
    assert state.betting == ("r300r900c", "r1800r3600r9000c", "r20000c", "")
    assert state.actions == list("rrcrrrcrc")
    assert state.hole == (("Ks", "Js"), ("Jd", "Tc"))
    assert state.board == (("6d", "Jc", "9c"), ("Kh",), ("Qc",))
    sized = parse_match_state("MATCHSTATE:0:30:cr20c/r30:9s8h|/8c8d5c")
    with pytest.raises(MessageError, match="'r20' raises to an amount, as in a no-limit game, but holdem"):
        follow(load_game("holdem"), sized.betting)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("", "four fields"),
        ("MATCHSTATE:0:0:c", "four fields"),
        ("MATCHSTATE:0:0:c:TdAs|:c", "four fields"),
        ("STATE:0:0:c:TdAs|", "four fields"),
        ("MATCHSTATE:x:0:c:TdAs|", "position"),
        ("MATCHSTATE:-1:0:c:TdAs|", "position"),
        ("MATCHSTATE:2:0:c:TdAs|", "no position 2"),
        ("MATCHSTATE:0::c:TdAs|", "hand"),
        ("MATCHSTATE:0:1e3:c:TdAs|", "hand"),
        ("MATCHSTATE:0:\u0663:c:TdAs|", "hand"),
        ("MATCHSTATE:0:0:x:TdAs|", "betting"),
        ("MATCHSTATE:0:0:c5:TdAs|", "betting"),
        ("MATCHSTATE:0:0:c:TdAs|/2c3c4c", "rounds"),
        ("MATCHSTATE:0:0:cc/:TdAs|", "rounds"),
        ("MATCHSTATE:0:0:c:|TdAs", "own cards"),
        ("MATCHSTATE:0:0:c:TdA|", "cards"),
        ("MATCHSTATE:0:0:c:TdXs|", "cards"),
        ("MATCHSTATE:0:0:c:TdTd|", "twice"),
        ("MATCHSTATE:0:0:cc/:TdAs|/Td3c4c", "twice"),
        ("MATCHSTATE:0:0:c:TdAs|Kd", "different numbers"),
    ],
)
def test_what_is_no_state_says_why(line, why):
    with pytest.raises(MessageError, match=why):
        parse_match_state(line)


@pytest.mark.parametrize(
    "betting", ["f" * 3, "cf", "rrrrr", "cc", "c/c", "cc/cc/cc/cc/", "ff/", "cc/rrrrr", "cf/"]
)
def test_betting_that_is_against_the_rules(betting):
    with pytest.raises(MessageError):
        follow(load_game("holdem"), tuple(betting.split("/")))


@given(
    st.text(max_size=80)
    | st.from_regex(r"MATCHSTATE:[0-3]:[0-9]:[fcr/]{0,9}:[2-9a-zA-Z|/]{0,20}:?.?", fullmatch=True)
)
def test_any_text_is_a_state_or_a_message_error(text):
    state = parse_match_state("MATCHSTATE:0:0:r:TdAs|")
    assert read_answer(text, state, state.text) in (None, "", "f", "c", "r")
    try:
        parsed = parse_match_state(text)
    except MessageError:
        return
    assert parse_match_state(parsed.text) == parsed


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("MATCHSTATE:0:0:r:TdAs|:r", "r"),
        ("MATCHSTATE:0:0:r:TdAs|:R", "r"),
        ("MATCHSTATE:0:0:r:TdAs|:b", "r"),  # the server's table of letters has these as well
        ("MATCHSTATE:0:0:r:TdAs|:k", "c"),
        ("MATCHSTATE:0:0:r:TdAs|:r20", "r"),
        ("MATCHSTATE:0:00:r:TdAs|:f", "f"),  # the same state, written in another way
        ("MATCHSTATE:0:0:r:TdAs|:", ""),
        ("MATCHSTATE:0:0:r:TdAs|", ""),
        ("MATCHSTATE:0:0:r:TdAs|:x", ""),
        ("MATCHSTATE:0:0:r:TdAs|r", ""),
        ("MATCHSTATE:0:0::TdAs|:r", None),
        ("MATCHSTATE:0:1:r:TdAs|:r", None),
        ("MATCHSTATE:1:0:r:TdAs|:r", None),
        ("MATCHSTATE:0:0:r:TdAc|:r", None),
        ("MATCHSTATE:0:0:rr:TdAs|:r", None),
        ("matchstate:0:0:r:TdAs|:r", None),
        ("r", None),
        ("", None),
    ],
)
def test_answers(answer, letter):
    state = parse_match_state("MATCHSTATE:0:0:r:TdAs|")
    assert read_answer(answer, state, state.text) == letter


@pytest.mark.parametrize("name", GAMES)
def test_lines_go_as_in_the_servers_own_code(name):
    """open_spiel's universal_poker is built on the server's game.c: it prints and pays the same."""
    rules, generator = RULES[name], random.Random(3)
    theirs = pyspiel.universal_poker.load_universal_poker_from_acpc_gamedef(rules.definition.text)
    number = {card: place for place, card in enumerate(card_names(rules.game))}
    numbers = {"f": 0, "c": 1, "r": 2}
    for _ in range(300):
        lines, hole, board = random_hand(name, generator)
        other = theirs.new_initial_state()
        for card in (card for cards in hole for card in cards):
            other.apply_action(number[card])
        for line, after in pairwise(lines):
            assert other.current_player() == line.turn
            assert other.legal_actions() == sorted(numbers[letter] for letter in line.legal)
            assert f"STATE:0:{line.letters}:" in str(other)
            other.apply_action(numbers[after.letters.removesuffix("/")[-1]])
            if after.letters.endswith("/"):
                for card in board[after.letters.count("/") - 1]:
                    other.apply_action(number[card])
        last = lines[-1]
        assert last.over
        assert other.is_terminal()
        assert f"STATE:0:{last.letters}:" in str(other)
        words = card_names(rules.game)
        dealt = [words[card] for cards in (*hole, *board) for card in cards]
        np.testing.assert_allclose(
            np.multiply(last.payoffs(dealt), float(rules.chip)), other.returns(), atol=1e-9
        )


@pytest.mark.parametrize("name", GAMES)
def test_a_bot_sees_what_it_sees_at_any_other_table(name):
    """The view made of a message is that of the same hand, dealt step by step."""
    game, generator = load_game(name), random.Random(4)
    for number in range(100):
        lines, hole, board = random_hand(name, generator)
        words = card_names(game)
        cards, hand = iter([words[card] for group in (*hole, *board) for card in group]), Hand(game)
        for line, after in zip(lines, [*lines[1:], None], strict=True):
            while hand.mover == CHANCE:
                hand.act(hand.actions.index(next(cards)))
            for position, state in enumerate(match_states(number, line, hole, board)):
                ours = protocol_game(game).view(parse_match_state(state.text), line)
                theirs = view_of(hand, position)
                assert ours.seat == theirs.seat == position
                assert tuple(ours.actions) == tuple(theirs.actions)
                assert ours.infoset == theirs.infoset
                if isinstance(ours, HoldemView):
                    assert (ours.shown, ours.betting) == (theirs.shown, theirs.betting)
                if ours.actions:
                    assert ours.passive == theirs.passive
            if after:
                hand.act(hand.actions.index(after.actions[-1]))
        assert hand.mover == TERMINAL
        dealt = [words[card] for group in (*hole, *board) for card in group]
        assert tuple(lines[-1].payoffs(dealt)) == pytest.approx(hand.payoffs)


@given(st.binary(max_size=300), st.lists(st.integers(1, 50), max_size=20))
def test_lines_do_not_depend_on_how_the_bytes_come(data, sizes):
    whole = LineReader().feed(data)
    reader, lines, at = LineReader(), [], 0
    for size in [*sizes, len(data)]:
        lines += reader.feed(data[at : at + size])
        at += size
    assert lines == whole
    assert len(whole) == data.count(b"\n")


def test_an_endless_line_is_dropped_and_counted():
    reader = LineReader()
    for _ in range(1000):
        assert reader.feed(b"x" * 1000) == []
        assert len(reader._rest) <= MOST_BYTES
    assert reader.feed(b"x\r\nnext\r\n") == ["next"]
    assert reader.dropped == 1
    assert reader.feed(b"y" * (MOST_BYTES + 1) + b"\nlast\n") == ["last"]
    assert reader.dropped == 2


@pytest.mark.parametrize(
    "name", [*GAMES, "kuhn(pot=8)", "kuhn(pot=5)", "kuhn(pot=4.5,players=3)", "holdem(bets=3)"]
)
@pytest.mark.parametrize("chip", [None, 1, 7])
def test_definitions_go_round(name, chip, tmp_path):
    rules = definition_of(load_game(name), chip)
    path = tmp_path / "some.game"
    path.write_text(rules.definition.text)
    assert game_of(read_definition(path)) == rules
    upper = "# a comment\n\n" + rules.definition.text.upper().replace(" = ", "   ").replace("\n", " # more\n")
    assert parse_definition(upper) == rules.definition


def test_definitions_of_the_servers_files():
    reverse_blinds = """
# two players
GAMEDEF
limit
numPlayers = 2
numRounds = 4
blind = 10 5
raiseSize = 10 10 20 20
firstPlayer = 2 1 1 1
maxRaises = 3 4 4 4
numSuits = 4
numRanks = 13
numHoleCards = 2
numBoardCards = 0 3 1 1
END GAMEDEF
"""
    rules = game_of(parse_definition(reverse_blinds))
    assert (rules.game.name, rules.chip, file_name(rules)) == (
        "holdem",
        5,
        "holdem.limit.2p.reverse_blinds.game",
    )
    three = (
        reverse_blinds.replace("= 2\n", "= 3\n", 1).replace("10 5", "5 10 0").replace("2 1 1 1", "3 1 1 1")
    )
    assert game_of(parse_definition(three)).game.name == "holdem(players=3)"
    small = reverse_blinds.replace("10 5", "2 1").replace("10 10 20 20", "2 2 4 4")
    assert game_of(parse_definition(small)).chip == 1
    assert file_name(game_of(parse_definition(small))) == CUSTOM
    kuhn = (
        "GAMEDEF\nlimit\nnumPlayers = 3\nnumRounds = 1\nblind = 1 1 1\nraiseSize = 1\nfirstPlayer = 1\n"
        "maxRaises = 1\nnumSuits = 1\nnumRanks = 4\nnumHoleCards = 1\nnumBoardCards = 0\nEND GAMEDEF\n"
    )
    assert game_of(parse_definition(kuhn)).game.name == "kuhn(players=3)"
    assert list(card_names(load_game("kuhn(players=3)"))) == ["Js", "Qs", "Ks", "As"]
    deep = reverse_blinds.replace("blind =", "stack = 240 240\nblind =")
    assert game_of(parse_definition(deep)).game.name == "holdem"


# The published lines are the first ten of 1,000 hands; here they are matches of ten.
TWO_PLAYER_MATCH, THREE_PLAYER_MATCH = (
    text.replace(" 1000 0\n", " 10 0\n") for text in (TWO_PLAYER_LOG, THREE_PLAYER_LOG)
)
HOLDEM_TEXT = RULES["holdem"].definition.text
KUHN_TEXT = RULES["kuhn"].definition.text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (HOLDEM_TEXT.replace("limit", "nolimit"), "'nolimit'"),
        (HOLDEM_TEXT.replace("10 5", "5 10"), "'blind = 5 10'"),
        (HOLDEM_TEXT.replace("10 10 20 20", "10 10 10 10"), "'raiseSize = 10 10 10 10'"),
        (HOLDEM_TEXT.replace("10 10 20 20", "5 10 20 20"), "'raiseSize = 5 10 20 20'"),
        (HOLDEM_TEXT.replace("10 10 20 20", "0 10 20 20"), "'raiseSize = 0 10 20 20'"),
        (HOLDEM_TEXT.replace("2 1 1 1", "1 1 1 1"), "'firstPlayer = 1 1 1 1'"),
        (HOLDEM_TEXT.replace("firstPlayer = 2 1 1 1\n", ""), "firstPlayer"),
        (HOLDEM_TEXT.replace("3 4 4 4", "4 4 4 4"), "'maxRaises = 4 4 4 4'"),
        (HOLDEM_TEXT.replace("maxRaises = 3 4 4 4\n", ""), "maxRaises (missing)"),
        (HOLDEM_TEXT.replace("numSuits = 4", "numSuits = 2"), "'numSuits = 2'"),
        (HOLDEM_TEXT.replace("numHoleCards = 2", "numHoleCards = 4"), "'numHoleCards = 4'"),
        (HOLDEM_TEXT.replace("0 3 1 1", "0 1 1 1"), "'numBoardCards = 0 1 1 1'"),
        (HOLDEM_TEXT.replace("yers = 2", "yers = 6").replace("10 5", "5 10 0 0 0 0"), "'numPlayers = 6'"),
        (HOLDEM_TEXT.replace("blind", "stack = 200 500\nblind"), "'stack = 200 500'"),
        (KUHN_TEXT.replace("numRanks = 3", "numRanks = 4"), "'numRanks = 4'"),
        (KUHN_TEXT.replace("blind = 1 1", "blind = 1 2"), "'blind = 1 2'"),
        (KUHN_TEXT.replace("blind = 1 1", "blind = 0 0"), "'blind = 0 0'"),
        (
            "GAMEDEF\nlimit\nnumPlayers = 2\nnumRounds = 2\nblind = 1 1\nraiseSize = 2 4\nmaxRaises = 2 2\n"
            "numSuits = 2\nnumRanks = 3\nnumHoleCards = 1\nnumBoardCards = 0 1\nEND GAMEDEF",  # Leduc
            "'numRounds = 2'",
        ),
        (HOLDEM_TEXT.replace("END GAMEDEF", ""), "no line 'END GAMEDEF'"),
        (HOLDEM_TEXT.replace("numRanks = 13\n", ""), "no line 'numRanks"),
        (HOLDEM_TEXT.replace("numRanks", "ranks"), "line 10: 'ranks = 13'"),
        (HOLDEM_TEXT.replace("10 5", "ten five"), "line 5: blind takes whole numbers"),
        (HOLDEM_TEXT.replace("10 5", "10"), "blind needs 2 numbers"),
        (HOLDEM_TEXT.replace("numRounds = 4", "numRounds = 0"), "numRounds must be at least 1"),
        (HOLDEM_TEXT.replace("numRanks", "numSuits = 4\nnumRanks"), "line 10: numSuits is given twice"),
        (HOLDEM_TEXT.replace("numRanks", "nolimit\nnumRanks"), "line 10: the game is limit and nolimit"),
        ("", "no line"),
    ],
)  # fmt: skip
def test_a_definition_that_is_not_ours_names_its_line(text, says):
    with pytest.raises(FeltError, match=re.escape(says)):
        game_of(parse_definition(text))


@settings(max_examples=200)
@given(
    st.text(max_size=200) | st.lists(st.sampled_from(HOLDEM_TEXT.splitlines()), max_size=20).map("\n".join)
)
def test_any_definition_is_ours_or_one_sentence(text):
    try:
        game_of(parse_definition(text))
    except FeltError as error:
        said = str(error)
    else:
        said = "It is ours."
    assert said.endswith(".")


@pytest.mark.parametrize(("text", "players"), [(TWO_PLAYER_MATCH, 2), (THREE_PLAYER_MATCH, 3)])
def test_logs_of_the_server_are_read(text, players, tmp_path):
    path = tmp_path / "match.log"
    path.write_text(text)
    records = list(read_log(path))
    lines = [line.split(":") for line in text.splitlines() if line.startswith("STATE")]
    assert len(records) == len(lines) == 10
    for number, (record, fields) in enumerate(zip(records, lines, strict=True)):
        assert record.number == number
        assert record.names == tuple(fields[5].split("|"))
        assert [5 * chips for chips in record.won] == [float(chips) for chips in fields[4].split("|")]
        assert len(record.actions) == len(fields[2].replace("/", ""))
        assert "".join(record.dealt) == re.sub(r"[|/]", "", fields[3])
    assert records[0].game == ("holdem" if players == 2 else "holdem(players=3)")
    if players == 2:
        assert records[4].actions == ("raise", "fold")
        assert records[0].actions[:6] == ("call", "raise", "raise", "raise", "call", "bet")
    # Written again, it has the same lines.
    again = tmp_path / "again.log"
    assert write_log(again, records) == 10
    assert states_of(again) == states_of(path)
    assert list(read_log(again)) == records


DAMAGED = [
    (":60|-60:", ":60|-61:", "by the rules the winnings are 60|-60"),
    (":60|-60:", ":60:", "winnings of 2 players"),
    (":60|-60:", ":nan|nan:", "winnings of 2 players"),
    (":60|-60:", ":1e9|inf:", "winnings of 2 players"),
    ("rrc/rf:", "rrc/rff:", "not possible"),
    ("rrc/rf:", "rrc/r:", "not over"),
    ("rrc/rf:", "rrc/cf:", "not possible"),
    ("crrrc/rrc", "crrr/crrc", "not separated"),
    ("crrrc/rrc", "cr20rrc/rrc", "'r20' raises to an amount, as in a no-limit game"),
    ("3s5d|", "3s3s|", "twice"),
    ("3s5d|", "3s|", "different numbers"),
    ("3s5d|Td2s/", "3s5d/", "number of players is 1, but holdem has 2"),
    ("/4d5c4s/Kd", "/4d5c/Kd", "number of board cards"),
    ("/4d5c4s/Kd", "/4d5c4s", "rounds"),
    ("/4d5c4s/Kd", "/4d5c4s/K?", "not a list of cards"),
    ("STATE:0", "STATE:x", "whole number"),
    ("STATE:0", "STAT:0", "neither"),
    (":p1|p2\n", ":p1\n", "1 names for 2"),
    (":p1|p2\n", "\n", "neither"),
]


@pytest.mark.parametrize(("good", "bad", "why"), DAMAGED)
@pytest.mark.parametrize("before", [0, 3])
def test_a_damaged_line_is_named_and_the_hands_before_it_are_kept(good, bad, why, before, tmp_path):
    lines = TWO_PLAYER_LOG.splitlines(keepends=True)
    damaged = lines[2].replace(good, bad, 1)
    assert damaged != lines[2]
    path = tmp_path / "match.log"
    path.write_text("".join([*lines[:2], *lines[3 : 3 + before], damaged, *lines[8:]]))
    kept, hands = [], read_log(path)
    with pytest.raises(FileError, match=rf"match\.log, line {3 + before}: .*{re.escape(why)}"):
        kept.extend(hands)  # takes what comes before the fault
    assert [record.number for record in kept] == list(range(1, 1 + before))


def test_other_faults_of_logs(tmp_path):
    path = tmp_path / "match.log"

    def fault(data: bytes | str) -> str:
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        with pytest.raises(FileError) as caught:
            list(read_log(path))
        return str(caught.value)

    # The score of the three-player match in that library's tests counts p1's last hand twice.
    assert "line 12: p1's hands sum to 175, not 105" in fault(
        THREE_PLAYER_MATCH + "SCORE:105|375|-550:p1|p2|p3\n"
    )
    assert "line 6: it was cut off" in fault(TWO_PLAYER_LOG[: TWO_PLAYER_LOG.index("|p1\nSTATE:4") - 0])
    assert "line 3: it is not UTF-8 text" in fault(
        TWO_PLAYER_LOG.replace("STATE:0", "STATE:é").encode("latin-1")
    )
    assert "line 3: it has over" in fault(TWO_PLAYER_LOG.replace("STATE:0", "STATE:" + "9" * 99_999))
    assert "line 1: the log has no header" in fault(TWO_PLAYER_LOG.split("\n", 2)[2])
    assert "line 1: the game 'poker.game'" in fault(
        TWO_PLAYER_LOG.replace("holdem.limit.2p.reverse_blinds", "poker")
    )
    assert "line 1: the header" in fault("# name/game/hands/seed x\n")
    with pytest.raises(FileError, match="cannot be read"):
        list(read_log(tmp_path / "none.log"))
    # Without a header the definition says what is played.
    path.write_text(TWO_PLAYER_LOG.split("\n", 2)[2])
    assert len(list(read_log(path, RULES["holdem"].definition))) == 10


def test_hidden_cards_in_logs(tmp_path):
    """A history of one seat has not all cards; winnings of a showdown are then taken as they stand."""
    path = tmp_path / "match.log"
    path.write_text(TWO_PLAYER_MATCH.replace("Kh6h|As2h", "Kh6h|").replace("6s9d|4dQd", "|4dQd"))
    records = list(read_log(path))
    assert records[2].dealt[:4] == ("Kh", "6h", HIDDEN, HIDDEN)
    assert records[2].won == (-10.0, 10.0)
    assert records[4].dealt == (HIDDEN, HIDDEN, "4d", "Qd")
    again = tmp_path / "again.log"
    write_log(again, records)
    assert list(read_log(again)) == records


def test_records_that_are_no_log(tmp_path):
    good = HandRecord("kuhn", 0, ("a", "b"), ("K", "J"), ("bet", "pass"), (1.0, -1.0))
    path = tmp_path / "x.log"
    for records, says in [
        ([], "no hand"),
        (
            [good, HandRecord("kuhn(pot=8)", 1, ("a", "b"), ("K", "J"), ("bet", "pass"), (4.0, -4.0))],
            "one game",
        ),
        ([HandRecord("leduc", 0, ("a", "b"), (), (), (0.0, 0.0))], "holdem and kuhn"),
        (
            [HandRecord("kuhn", 0, ("a", "b"), ("K", "J"), ("bet", "raise"), (1.0, -1.0))],
            "the action raise is not legal",
        ),
        ([HandRecord("kuhn", 0, ("a", "b"), ("K", "J"), ("bet",), (1.0, -1.0))], "not a complete hand"),
        ([HandRecord("kuhn", 0, ("a", "b"), ("K",), ("bet", "pass"), (1.0, -1.0))], "not a complete hand"),
        ([HandRecord("kuhn", 0, ("a:b", "b"), ("K", "J"), ("bet", "pass"), (1.0, -1.0))], "no colon"),
    ]:
        with pytest.raises(FeltError, match=says):
            write_log(path, records)
        assert not path.exists()
    assert write_log(path, [good]) == 1
    assert states_of(path) == ["STATE:0:rf:As|Qs:1|-1:a|b"]
    with pytest.raises(FileError, match="exists already"):
        write_log(path, [good])


def test_pokerkit_reads_our_logs(tmp_path):
    """A library with a parser of its own for these logs pays the same."""
    pokerkit = pytest.importorskip("pokerkit")
    for name, text in (("holdem", TWO_PLAYER_MATCH), ("holdem(players=3)", THREE_PLAYER_MATCH)):
        source, log = tmp_path / "source.log", tmp_path / f"{name}.log"
        source.write_text(text)
        write_log(log, read_log(source))
        game = pokerkit.FixedLimitTexasHoldem((), True, 0, (5, 10), 10, 20)
        histories = list(
            pokerkit.HandHistory.from_acpc_protocol(game, 100_000, log.read_text(), error_status=True)
        )
        records = list(read_log(log))
        assert len(histories) == len(records) == 10
        for history, record in zip(histories, records, strict=True):
            *_, last = history
            assert [payoff / 5 for payoff in last.payoffs] == list(record.won)


class Strange(Bot):
    """Fails in a given manner."""

    def __init__(self, game, fault):
        super().__init__(game)
        self.fault, self.ended, self.dice = fault, [], []

    def act(self, view, dice, clock):
        self.dice.append(dice.uniform())
        if self.fault == "raise":
            raise RuntimeError("no idea")
        return {"illegal": "jump", "none": None, "number": 1}.get(self.fault, view.passive)

    def end_hand(self, view, won):
        self.ended.append((view, won))
        if self.fault == "end":
            raise RuntimeError("no idea")


@pytest.mark.parametrize("fault", ["raise", "illegal", "none", "number"])
def test_a_bot_that_fails_checks_or_folds(fault):
    player = ProtocolPlayer(Strange(load_game("holdem"), fault), load_game("holdem"))
    assert player.answer("MATCHSTATE:1:1::|Qd7c") == "MATCHSTATE:1:1::|Qd7c:f"
    assert player.answer("MATCHSTATE:1:1:f:|Qd7c") is None
    assert player.answer("MATCHSTATE:0:2:c:TdAs|") == "MATCHSTATE:0:2:c:TdAs|:c"
    assert player.result.faults == 2
    kuhn = ProtocolPlayer(Strange(load_game("kuhn"), fault), load_game("kuhn"))
    assert kuhn.answer("MATCHSTATE:0:0::Qs|") == "MATCHSTATE:0:0::Qs|:c"
    assert kuhn.answer("MATCHSTATE:0:0:cr:Qs|") == "MATCHSTATE:0:0:cr:Qs|:f"
    assert kuhn.result.faults == 2


def test_the_client_hears_the_examples_of_the_specification():
    game = load_game("holdem")
    bot = Strange(game, "end")
    player = ProtocolPlayer(bot, game)
    for line in TWO_PLAYERS.split("\n")[1:-1]:
        if line.startswith("S->"):
            answer = player.answer(line[4:])
            assert answer is None or answer == line[4:] + ":c"
            assert (answer is not None) == (f"<-C {line[4:]}:" in TWO_PLAYERS)
    assert player.result.hands == 3
    # The first hand is lost to a pair of eights with 6 + 2 + 4 + 4 chips in; the others are folded.
    (first, won), (second, lost), (_, third) = bot.ended
    assert (won, lost, third) == (-16.0, -8.0, -4.0)
    assert (set(first.shown), set(second.shown)) == ({0, 1}, set())
    assert player.result.won == -28.0
    assert player.result.faults == 3  # its end_hand fails
    assert player.answer("MATCHSTATE:0:2:rc/cc/crf:9d7s|/5d2cJc/3d") is None
    assert player.result.hands == 3  # reported twice, counted once


def test_lines_of_the_dealer_that_are_none():
    player = ProtocolPlayer(load_bot("always-call", load_game("holdem")), load_game("holdem"))
    assert [player.answer(line) for line in ("# comment", "; GUI", "#")] == [None] * 3
    assert player.result.malformed == 0
    wrong = [
        "",
        "hello",
        "MATCHSTATE:0:0:c",
        "MATCHSTATE:0:0:x:TdAs|",
        "MATCHSTATE:0:0:c:TdA|",
        "VERSION:2.0.0",
    ]
    assert [player.answer(line) for line in wrong] == [None] * len(wrong)
    assert player.result.malformed == len(wrong)


def test_the_dice_come_from_the_seed_and_the_hand():
    game = load_game("holdem")

    def drawn(seed):
        bot = Strange(game, "")
        player = ProtocolPlayer(bot, game, seed=seed)
        for line in ("1:1::|Qd7c", "1:1:rr:|Qd7c", "1:1:rrf:|Qd7c", "1:3::|Qd7c"):
            player.answer(f"MATCHSTATE:{line}")
        return bot.dice

    assert drawn(1) == drawn(1)
    assert len({*drawn(1), *drawn(2)}) == 6


def test_a_dealer_that_talks_nonsense(capsys):
    """The client plays on, and counts."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        answers = []

        def dealer():
            connection, _ = listener.accept()
            file = connection.makefile("rb")
            answers.append(file.readline())
            connection.sendall(b"\xff\x00\r\n" + b"y" * 50_000 + b"\r\n# hello\r\nMATCHSTATE:0:0::Qs|\n")
            answers.append(file.readline())
            connection.sendall(b"MATCHSTATE:0:0:cr:Qs|\r\nMATCHSTATE:0:0:crc:Qs|Ks")
            answers.append(file.readline())
            connection.sendall(b"\r\n")
            file.close()
            connection.close()

        with at_work(dealer):
            port = str(listener.getsockname()[1])
            assert main(["acpc", "join", "127.0.0.1", port, "--bot", "always-call", "--game", "kuhn"]) == 0
    assert answers == [b"VERSION:2.0.0\r\n", b"MATCHSTATE:0:0::Qs|:c\r\n", b"MATCHSTATE:0:0:cr:Qs|:c\r\n"]
    reported = capsys.readouterr().out
    assert "always-call played 1 hands of kuhn and won -2 chips (-2.0000 chips a hand)" in reported
    assert "2 lines of the dealer were ignored" in reported


def test_there_is_no_dealer(capsys):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
    assert main(["acpc", "join", "127.0.0.1", port, "--bot", "random"]) == 2
    assert capsys.readouterr().err == f"felt: There is no dealer at 127.0.0.1:{port} (Connection refused).\n"
    with socket.create_server(("127.0.0.1", 0)) as listener, at_work(lambda: listener.accept()[0].close()):
        assert main(["acpc", "join", "127.0.0.1", str(listener.getsockname()[1]), "--bot", "random"]) == 2
    assert "closed the connection before the first hand" in capsys.readouterr().err


def test_a_state_is_a_value():
    one = MatchState(0, 0, ("c",), (("Td", "As"), ()))
    assert one == parse_match_state(one.text)
    assert len({one, parse_match_state(one.text)}) == 1
    with pytest.raises(AttributeError):
        one.hand = 3  # type: ignore[misc]
