"""The dealer of the ACPC protocol: matches over sockets, with well-behaved and hostile players."""

from __future__ import annotations

import json
import socket
import struct
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import minimal_client
import numpy as np
import pyspiel
import pytest
from acpc_players import RULES, RawPlayer, against, at_work, polite, states_of
from hypothesis import given, settings, strategies as st
from speed import fast_only, slow

from openfelt.arena.acpc.client import ProtocolPlayer, join
from openfelt.arena.acpc.competition_game import definition_of
from openfelt.arena.acpc.connection_lines import LineReader
from openfelt.arena.acpc.dealer import Dealer, Limits
from openfelt.arena.acpc.game_definition import read_definition
from openfelt.arena.acpc.listener import MOST_PENDING, Listener
from openfelt.arena.acpc.log import LogWriter, read_log
from openfelt.arena.acpc.player_connection import MOST_UNSENT, PlayerConnection
from openfelt.arena.acpc.protocol_game import card_names
from openfelt.bots.registry import load_bot
from openfelt.cli.app import main
from openfelt.core.errors import FeltError, FileError
from openfelt.games.registry import load_game
from openfelt.hands.record import HandRecord


@pytest.fixture
def sent(monkeypatch):
    """All lines that a dealer sends, with the name of the player."""
    lines: list[tuple[str, str]] = []
    send = PlayerConnection.send

    def note(seat, message, *, more=False):
        assert message.endswith(b"\r\n")
        lines.append((seat.name, message.decode().removesuffix("\r\n")))
        send(seat, message, more=more)

    monkeypatch.setattr(PlayerConnection, "send", note)
    return lines


def check_secrets(sent, log: Path) -> int:
    """No line has a card of another player before the showdown, nor of one who folded; how many showdowns."""
    hands, shown = {}, 0
    for line in states_of(log):
        _, number, betting, cards, _, names = line.split(":")
        hands[int(number)] = betting, cards.split("/")[0].split("|"), names.split("|")
    for name, line in sent:
        position, number, betting, hole, board = minimal_client.parse(line)
        final, cards, names = hands[number]
        assert names[position] == name
        assert hole[position] == cards[position]
        turn, _, _, folded = minimal_client.who_acts(betting, len(cards), len(cards[0]) // 2)
        assert (turn is None) == (betting == final)
        assert len(board) == betting.count("/")
        showdown = turn is None and len(folded) < len(cards) - 1
        for other, secret in enumerate(cards):
            if other != position:
                assert hole[other] == (secret if showdown and other not in folded else "")
                if not hole[other]:
                    assert not any(secret[at : at + 2] in line for at in range(0, len(secret), 2))
        shown += showdown
    return shown


def check_log(log: Path, name: str, hands: int, score) -> list[HandRecord]:
    """Chips are conserved, seats rotate, and the winnings are those of the server's own code."""
    rules = RULES[name]
    theirs = pyspiel.universal_poker.load_universal_poker_from_acpc_gamedef(rules.definition.text)
    number = {card: place for place, card in enumerate(card_names(rules.game))}
    states, records = states_of(log), list(read_log(log))
    assert len(states) == len(records) == hands
    totals: dict[str, float] = {}
    for hand, (line, record) in enumerate(zip(states, records, strict=True)):
        _, shown_number, betting, cards, won, names = line.split(":")
        values, sat = [float(value) for value in won.split("|")], names.split("|")
        assert int(shown_number) == record.number == hand
        assert abs(sum(values)) < 1e-5
        players = [f"player{place + 1}" for place in range(len(sat))]
        assert sat == players[hand % len(sat) :] + players[: hand % len(sat)]
        other = theirs.new_initial_state()
        hole, *board = cards.split("/")
        dealt = [hole.replace("|", ""), *board]
        for actions, new in zip(betting.split("/"), dealt, strict=True):
            for at in range(0, len(new), 2):
                other.apply_action(number[new[at : at + 2]])
            for letter in actions:
                other.apply_action("fcr".index(letter))
        assert other.is_terminal()
        ours = [chips * float(rules.chip) for chips in record.won]
        for value, own, paid in zip(values, ours, other.returns(), strict=True):
            assert abs(value - own) < 1e-5
            assert abs(value - paid) < 1e-5
        for player, value in zip(sat, values, strict=True):
            totals[player] = totals.get(player, 0.0) + value
    assert [totals[f"player{place + 1}"] for place in range(len(score))] == pytest.approx(
        list(score), abs=0.01
    )
    last = log.read_text().splitlines()[-1]
    assert last.startswith("SCORE:")
    return records


@pytest.mark.slow
@pytest.mark.parametrize("hands", [200, slow(10_000)])
def test_many_hands_with_a_client_of_its_own(hands, tmp_path, sent):
    """Our command against a client that was written from the protocol's text alone."""
    log = tmp_path / "match.log"
    rules = RULES["holdem"]
    here = Path(__file__).parent
    with (
        Dealer(rules, hands=hands, seed=11, limits=Limits(start=60)) as dealer,
        LogWriter(log, rules, hands=hands, seed=11) as writer,
    ):
        ours, other = map(str, dealer.ports)
        words = [
            sys.executable,
            "-m",
            "openfelt",
            "acpc",
            "join",
            "127.0.0.1",
            ours,
            "--bot",
            "random",
            "--seed",
            "7",
            "--json",
        ]
        own = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        minimal = [sys.executable, str(here / "minimal_client.py"), "127.0.0.1", other, "random", "5"]
        second = subprocess.Popen(minimal, stdout=subprocess.PIPE, text=True)
        result = dealer.play(writer)
        reported, _ = own.communicate(timeout=30)
        assert second.communicate(timeout=30)[0].strip() == str(hands)
    session = json.loads(reported)
    assert (session["hands"], session["faults"], session["malformed"]) == (hands, 0, 0)
    assert session["winnings"] == pytest.approx(result.won[0])
    assert result.invalid == result.late == result.ignored == (0, 0)
    assert result.left == (None, None)
    assert sum(result.won) == pytest.approx(0)
    records = check_log(log, "holdem", hands, result.score)
    assert sum(record.won[record.names.index("player1")] for record in records) == pytest.approx(
        result.won[0]
    )
    assert check_secrets(sent, log) > hands / 10
    assert {len(record.actions) for record in records} >= set(range(1, 8 if hands < 1000 else 12))


@pytest.mark.parametrize(
    ("name", "hands"), [("holdem", 60), ("holdem(players=3)", 60), ("kuhn", 300), ("kuhn(players=3)", 300)]
)
def test_matches_of_all_games(name, hands, tmp_path, sent):
    rules, log = RULES[name], tmp_path / "match.log"
    sessions, seen = {}, {}
    with (
        Dealer(rules, hands=hands, seed=2, limits=Limits(start=30)) as dealer,
        LogWriter(log, rules, hands=hands, seed=2) as writer,
    ):

        def ours(place, port):
            bot = load_bot("random" if place else "always-call", rules.game)
            sessions[place] = join("127.0.0.1", port, ProtocolPlayer(bot, rules.game, seed=place))

        def minimal(port):
            seen["hands"], seen["lines"] = minimal_client.play("127.0.0.1", port, "random", 3)

        *first, last = dealer.ports
        players = [lambda place=place, port=port: ours(place, port) for place, port in enumerate(first)]
        with at_work(*players, lambda: minimal(last)):
            result = dealer.play(writer)
    check_log(log, name, hands, result.score)
    assert check_secrets(sent, log) > 10
    assert seen["hands"] == hands
    assert seen["lines"] == [line for player, line in sent if player == result.names[-1]]
    for place, session in sessions.items():
        assert (session.hands, session.faults, session.malformed) == (hands, 0, 0)
        assert session.won == pytest.approx(result.won[place])


def test_the_same_seed_deals_the_same_cards():
    with Dealer(RULES["holdem"], hands=1, seed=1) as one, Dealer(RULES["holdem"], hands=9, seed=1) as two:
        deals = [one._deal(number) for number in range(2000)]
        assert deals == [two._deal(number) for number in range(2000)]
    assert len(set(deals)) == 2000
    flat = [card for hole, board in deals for group in (*hole, *board) for card in group]
    counts = np.array([flat.count(card) for card in card_names(RULES["holdem"].game)])
    expected = len(flat) / 52
    assert ((counts - expected) ** 2 / expected).sum() < 100  # chi-square, 51 degrees of freedom: p = 5e-5
    with Dealer(RULES["holdem"], hands=1, seed=2) as three:
        assert three._deal(0) != deals[0]


def clean_match(tmp_path) -> list[str]:
    """The hands when the rude player only ever calls."""
    log = tmp_path / "clean.log"

    def rude(player):
        for line in player.turns():
            player.send(f"{line}:c\r\n")

    result = against(rude, log=log)
    assert result.ignored == result.invalid == result.late == (0, 0)
    return states_of(log)


NASTY = {
    "empty lines": (b"\r\n\r\n\n", 3),
    "words": (b"hello\r\n", 1),
    "binary": (bytes(range(256)) * 4 + b"\r\n", 5),
    "zeros": (b"\0" * 1000 + b"\n", 1),
    "not utf-8": (b"\xff\xfe\xc3\x28\r\n", 1),
    "a huge number": (b"MATCHSTATE:0:" + b"9" * 3000 + b":c:AsKs|:c\r\n", 1),
    "a state of nobody": (b"MATCHSTATE:7:0::TdAs|:r\r\n", 1),
    "another hand": (b"MATCHSTATE:0:77::TdAs|:r\r\n", 1),
    "version again": (b"VERSION:2.0.0\r\n", 1),
    "an endless line": (b"x" * 300_000 + b"\r\n", 1),
    "many lines": (b"f\r\n" * 20_000, 20_000),
    "colons": (b":" * 4000 + b"\r\n", 1),
    "slashes": (b"MATCHSTATE:0:0:" + b"/" * 2000 + b":" + b"|" * 1900 + b":r\r\n", 1),
    "format strings": (b"%s%n%d MATCHSTATE:%d\r\n", 1),
}


@pytest.mark.parametrize("name", fast_only(("binary", "another hand", "many lines"), NASTY))
def test_nonsense_is_passed_over(name, tmp_path):
    """Whatever comes before an answer, the match is the one without it."""
    data, count = NASTY[name]
    log, turns = tmp_path / "rude.log", []

    def rude(player):
        for line in player.turns():
            player.send(data)
            player.send(f"# a comment\r\n; another\r\n{line}:c\r\n")
            turns.append(line)

    result = against(rude, log=log)
    assert states_of(log) == clean_match(tmp_path)
    assert result.ignored == (count * len(turns), 0)
    assert result.invalid == result.late == (0, 0)


@settings(max_examples=15)
@given(st.lists(st.binary(max_size=200), max_size=5))
def test_no_bytes_end_the_dealer(chunks):
    def rude(player):
        for line in player.turns():
            for chunk in chunks:
                player.send(chunk)
            player.send(f"\r\n{line}:c\r\n")

    result = against(rude, name="kuhn", hands=2)
    assert result.late == result.invalid == (0, 0)


def test_answers_to_other_states_are_passed_over(tmp_path):
    """Duplicates, answers that come a state too late, and such as come out of turn."""
    log, ignored = tmp_path / "rude.log", []

    def rude(player):
        before = None
        while line := player.line():
            position, _, betting, hole, _ = minimal_client.parse(line)
            if minimal_client.who_acts(betting, len(hole), 2)[0] != position:
                player.send(f"{line}:r\r\n")  # out of turn
                ignored.append(line)
                continue
            if before:
                player.send(f"{before}:r\r\n")  # too late
                ignored.append(before)
            player.send(f"{line}:c\r\n{line}:r\r\n{line}:f\r\n")  # twice more
            ignored.extend([line] * 2)
            before = line

    result = against(rude, log=log)
    assert states_of(log) == clean_match(tmp_path)
    assert result.invalid == result.late == (0, 0)
    assert 0 < result.ignored[0] <= len(ignored)  # those of the last hand are not read any more


@pytest.mark.parametrize("action", ["", ":", ":x", ":-", ":\0", ":é", "x", ":5", ":fold"[:1] + "q"])
def test_an_action_that_is_none_becomes_a_call(action, tmp_path):
    log, turns = tmp_path / "rude.log", []

    def rude(player):
        for line in player.turns():
            player.send(f"{line}{action}\r\n")
            turns.append(line)

    result = against(rude, log=log)
    assert states_of(log) == clean_match(tmp_path)
    assert result.invalid == (len(turns), 0)
    assert result.ignored == result.late == (0, 0)


def test_an_action_that_is_not_possible_becomes_a_call(tmp_path):
    """Folding without a bet, and a fifth bet."""
    log = tmp_path / "rude.log"

    def rude(player):
        for line in player.turns():
            player.send(
                f"{line}:f\r\n"
                if line.split(":")[3] in ("c", "cc/", "cc/cc/", "cc/cc/cc/")
                else f"{line}:c\r\n"
            )

    result = against(rude, log=log, hands=1)
    assert result.invalid == (4, 0)
    assert states_of(log)[0].startswith("STATE:0:cc/cc/cc/cc:")

    def raiser(player):
        for line in player.turns():
            player.send(f"{line}:r\r\n")

    log = tmp_path / "raise.log"
    with Dealer(RULES["holdem"], hands=1, seed=5, limits=Limits(start=20)) as dealer:
        both = [lambda port=port: polite(port, "r") for port in dealer.ports]
        with at_work(*both), LogWriter(log, RULES["holdem"], hands=1, seed=5) as writer:
            result = dealer.play(writer)
    assert states_of(log)[0].startswith("STATE:0:rrrc/rrrrc/rrrrc/rrrrc:")
    assert sum(result.invalid) == 4
    assert abs(result.won[0]) == 48


def test_too_many_impossible_actions(tmp_path):
    """Then the dealer no longer waits for the player: it checks or folds."""
    log = tmp_path / "rude.log"

    def rude(player):
        for line in player.turns():
            player.send(f"{line}:x\r\n")

    result = against(rude, log=log, hands=6, invalid=1)
    assert result.invalid == (2, 0)
    assert [line.split(":")[2] for line in states_of(log)][1::2] == ["f", "f", "f"]


@pytest.mark.parametrize(("limit", "seconds"), [("action", 0.15), ("hand", 0.5), ("match", 1.0)])
def test_what_does_not_come_in_time_is_a_check_or_fold(limit, seconds, tmp_path):
    """The limits are wide enough for the other player on a busy machine."""
    log = tmp_path / "silent.log"

    def silent(player):
        while player.line():
            pass

    result = against(silent, log=log, hands=4, **{limit: seconds})
    bettings = [line.split(":")[2] for line in states_of(log)]
    assert bettings == ["cc/cc/cc/cc", "f"] * 2
    assert result.late == (10, 0)
    assert result.won == (result.won[0], -result.won[0])
    assert result.left == (None, None)


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "late"), [("action", 1), ("hand", 4), ("match", 5)])
def test_time_that_was_used_up_is_missing_later(limit, late, tmp_path):
    """Silent once, then prompt: for the hand's limit that hand is lost, for the match's all that follow."""
    log, turns = tmp_path / "slow.log", []

    def once(player):
        for line in player.turns():
            if turns:
                player.send(f"{line}:c\r\n")
            turns.append(line)

    result = against(once, log=log, **{limit: 1.0})
    assert result.late == (late, 0)
    assert [line.split(":")[2] for line in states_of(log)] == [
        "cc/cc/cc/cc",
        "f" if limit == "match" else "cc/cc/cc/cc",
    ]


def test_a_late_answer_is_not_taken_for_another(tmp_path):
    """The answer to a state that has passed comes with the next one."""
    log, late = tmp_path / "late.log", []

    def slow(player):
        for line in player.turns():
            if not late:
                late.append(line)
                continue
            player.send(f"{late[0]}:r\r\n{line}:c\r\n")

    result = against(slow, log=log, hands=1, action=0.3)
    assert states_of(log)[0].startswith("STATE:0:cc/cc/cc/cc:")
    assert (result.late, result.ignored) == ((1, 0), (3, 0))


@pytest.mark.parametrize("reset", [False, True])
def test_a_player_who_leaves_checks_or_folds_and_the_match_goes_on(reset, tmp_path):
    log = tmp_path / "gone.log"

    def leaving(player):
        turns = player.turns()
        for _ in range(5):
            player.send(f"{next(turns)}:c\r\n")
        next(turns)
        if reset:
            player.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    result = against(leaving, log=log, hands=20)
    assert result.left == (1, None)
    assert result.late == (0, 0)
    bettings = [line.split(":")[2] for line in states_of(log)]
    assert len(bettings) == 20
    assert bettings[3::2] == ["f"] * 9
    assert bettings[2::2] == ["cc/cc/cc/cc"] * 9
    assert sum(result.won) == 0


def test_all_players_leave(tmp_path):
    with Dealer(RULES["kuhn(players=3)"], hands=50, limits=Limits(start=20)) as dealer:
        players = [RawPlayer(port) for port in dealer.ports]
        for player in players:
            player.send("VERSION:2.0.0\r\n")
        dealer.wait()
        for player in players:
            player.close()
        result = dealer.play()
    assert sum(result.won) == pytest.approx(0)
    assert all(left is not None for left in result.left)


def test_a_player_who_does_not_read_is_given_up(monkeypatch):
    """The buffer for a player that does not read is bounded."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        far = socket.create_connection(listener.getsockname())
        near, _ = listener.accept()
    near.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    seat, count = PlayerConnection("deaf", near, LineReader(), []), 0
    message = b"x" * 1000 + b"\r\n"
    while not seat.gone and count < 200_000:
        seat.send(message)
        count += 1
    assert seat.gone
    assert len(seat._unsent) <= MOST_UNSENT + len(message)
    assert count * len(message) >= MOST_UNSENT
    assert seat.receive(time.monotonic() + 5) is None
    seat.close()
    far.close()


def test_a_slow_reader_gets_every_line(sent):
    """Lines that cannot be sent at once are sent while the dealer waits for the player."""
    heard = []

    def slow(player):
        player.connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        for line in player.turns():
            player.send(f"{line}:c\r\n")
        heard.append(True)

    result = against(slow, hands=30)
    assert heard
    assert result.left == (None, None)


@pytest.mark.parametrize(
    "first",
    [
        b"hello\r\n",
        b"VERSION:1.0.0\r\n",
        b"VERSION:2.1.0\r\n",
        b"VERSION:2.0\r\n",
        b"\r\n",
        b"\0" * 9000,
        b"",
    ],
)
def test_a_client_that_does_not_send_the_version_is_rejected(first):
    """The port stays open for a client that sends it."""
    with Dealer(RULES["kuhn"], hands=3, limits=Limits(start=20)) as dealer:

        def stranger():
            player = RawPlayer(dealer.ports[0])
            if first:
                player.send(first)
                with suppress(ConnectionResetError):
                    assert player.line() == ""
            player.close()
            polite(dealer.ports[0])

        with at_work(stranger, lambda: polite(dealer.ports[1])):
            result = dealer.play()
    assert result.left == (None, None)


def test_silent_connections_do_not_keep_others_out():
    with Dealer(RULES["kuhn"], hands=3, limits=Limits(start=20)) as dealer:
        silent = [RawPlayer(dealer.ports[0]) for _ in range(12)]
        with at_work(*(lambda port=port: polite(port) for port in dealer.ports)):
            assert dealer.play().left == (None, None)
        for player in silent:
            player.close()


def test_a_client_that_is_rejected_while_it_sends():
    """Its message, and a connection beyond the limit, arrive at the same moment."""
    with Dealer(RULES["kuhn"], hands=3, limits=Limits(start=0.2)) as dealer:
        silent = [RawPlayer(dealer.ports[0]) for _ in range(MOST_PENDING)]
        with pytest.raises(FeltError, match="had not joined"):
            dealer.wait()  # lets them in
        silent.append(RawPlayer(dealer.ports[0]))
        silent[0].send("hello\r\n")
        with pytest.raises(FeltError, match="had not joined"):
            dealer.wait()
        with suppress(ConnectionResetError):
            assert silent[0].line() == ""
        for player in silent:
            player.close()


def test_other_revisions_and_line_ends_are_welcome():
    with Dealer(RULES["kuhn"], hands=3, limits=Limits(start=20)) as dealer:

        def unix():
            player = RawPlayer(dealer.ports[0])
            for letter in "VERSION:2.0.4\n":
                player.send(letter)
            for line in player.turns():
                player.send(f"{line}:c\n")
            player.close()

        with at_work(unix, lambda: polite(dealer.ports[1])):
            result = dealer.play()
    assert result.ignored == result.late == (0, 0)


def test_words_after_the_version_are_not_lost():
    with Dealer(RULES["kuhn"], hands=1, limits=Limits(start=20)) as dealer:

        def hasty():
            player = RawPlayer(dealer.ports[0])
            player.send("VERSION:2.0.0\r\nfirst\r\nsec")
            for line in player.turns():
                player.send(f"ond\r\n{line}:c\r\n")
            player.close()

        with at_work(hasty, lambda: polite(dealer.ports[1])):
            assert dealer.play().ignored[0] >= 2


def test_players_who_do_not_come():
    with Dealer(RULES["kuhn"], hands=1, names=["Ann", "Bob"], limits=Limits(start=0.1)) as dealer:
        player = RawPlayer(dealer.ports[0])
        player.send("VERSION:2.0.0\r\n")
        with pytest.raises(
            FeltError, match=rf"^Bob \(port {dealer.ports[1]}\) had not joined after 0\.1 seconds\.$"
        ):
            dealer.play()
        player.close()


def test_ports(tmp_path):
    with closing(Listener("127.0.0.1", [0, 0], ["a", "b"])) as listener:
        port = listener.ports[0]
        with pytest.raises(FeltError, match=f"Port {port} of 127.0.0.1 is in use"):
            Dealer(RULES["kuhn"], hands=1, ports=[0, port])
    with pytest.raises(FeltError, match="not an address of this machine"):
        Dealer(RULES["kuhn"], hands=1, host="no such host")
    with pytest.raises(FeltError, match="not an address of this machine"):
        Dealer(RULES["kuhn"], hands=1, host="192.0.2.1")
    with pytest.raises(FeltError, match="3 were given"):
        Dealer(RULES["kuhn"], hands=1, ports=[0, 0, 0])
    with Dealer(RULES["kuhn"], hands=1, ports=[port, 0]) as dealer:
        assert dealer.ports[0] == port


@pytest.mark.parametrize(
    "names", [["a"], ["a", "b", "c"], ["a", ""], ["a", "b|c"], ["a", "b:c"], ["a b", "c"], ["a", "b\n"]]
)
def test_names_that_a_log_could_not_have(names):
    with pytest.raises(FeltError, match="name"):
        Dealer(RULES["kuhn"], hands=1, names=names)


def test_the_commands_play_a_match(tmp_path, capsys):
    log = tmp_path / "match.log"
    definition = tmp_path / "mine.game"
    definition.write_text(definition_of(load_game("kuhn(players=3)"), 10).definition.text)
    words = [
        "acpc",
        "deal",
        "--definition",
        str(definition),
        "--hands",
        "40",
        "--seed",
        "3",
        "--log",
        str(log),
    ]
    limits = ["--names", "Ann,Bob,Cid", "--start-timeout", "60", "--action-timeout", "30"]
    command = [sys.executable, "-m", "openfelt", *words, *limits]
    dealer = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    ports = dealer.stdout.readline().split()
    assert len(ports) == 3
    third = load_game("kuhn(players=3)")
    join_words = ["acpc", "join", "localhost", ports[0], "--game", "kuhn(players=3)", "--bot", "random"]
    with at_work(
        lambda: main([*join_words, "--json"]),
        lambda: polite(int(ports[1])),
        lambda: join("127.0.0.1", int(ports[2]), ProtocolPlayer(load_bot("random", third), third, seed=3)),
    ):
        out, err = dealer.communicate(timeout=60)
    assert dealer.returncode == 0, err
    assert out.splitlines()[-1] == log.read_text().splitlines()[-1]
    assert "all players have joined: Ann, Bob, Cid" in err
    assert log.read_text().splitlines()[:4] == [
        "# name/game/hands/seed match mine.game 40 3",
        "#--t_response 30000",
        "#--t_hand 600000",
        "#--t_per_hand 7000",
    ]
    reported = json.loads(capsys.readouterr().out)
    assert (reported["hands"], reported["game"], reported["unit"]) == (40, "kuhn(players=3)", "chips")
    scores = dict(
        zip(("Ann", "Bob", "Cid"), map(float, out.splitlines()[-1].split(":")[1].split("|")), strict=True)
    )
    assert scores["Ann"] == pytest.approx(10 * reported["winnings"])
    with pytest.raises(FileError, match=r"mine\.game"):
        list(read_log(log))
    assert len(list(read_log(log, read_definition(definition)))) == 40


def test_deal_as_json(capsys):
    ports = []
    for _ in range(2):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            ports.append(listener.getsockname()[1])

    def patient(port):
        for _ in range(200):
            try:
                return polite(port)
            except ConnectionRefusedError:
                time.sleep(0.02)
        raise AssertionError

    words = ["acpc", "deal", "--game", "kuhn", "--hands", "5", "--ports", ",".join(map(str, ports)), "--json"]
    with at_work(*(lambda port=port: patient(port) for port in ports)):
        assert main([*words, "--start-timeout", "20"]) == 0
    captured = capsys.readouterr()
    reported = json.loads(captured.out)
    assert captured.err.splitlines()[0] == " ".join(map(str, ports))
    assert [player["name"] for player in reported["players"]] == ["player1", "player2"]
    assert sum(player["score"] for player in reported["players"]) == 0
    assert (reported["hands"], reported["players"][0]["late"], reported["players"][0]["left"]) == (5, 0, None)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("deal", "--hands"),
        ("deal --hands 0", "1 or more"),
        ("deal --hands 5 --game leduc", "holdem and kuhn"),
        ("deal --hands 5 --game goofspiel(4)", "holdem and kuhn"),
        ("deal --hands 5 --ports 1,x", "a port is a number"),
        ("deal --hands 5 --ports 70000,1", "a port is a number"),
        ("deal --hands 5 --ports 1", "needs 2 ports, one per player; 1 were given"),
        ("deal --hands 5 --names a,b,c", "2 names are needed, one per player; 3 were given"),
        ("deal --hands 5 --definition none.game", "cannot be read"),
        ("deal --hands 5 --definition none.game --game kuhn", "leave out --game"),
        ("deal --hands 5 --game kuhn --start-timeout 0.05", "had not joined after 0.05 seconds"),
        ("deal --hands 5 --game kuhn --log none/match.log", "could not be written"),
        ("deal --hands 5 --action-timeout -1", "above 0"),
        ("deal --hands 5 --bot random", "Unrecognized arguments"),
        ("join", "required"),
        ("join localhost", "required"),
        ("join localhost x", "a port is a number"),
        ("join localhost 1 --bot nobody", "no bot 'nobody'"),
        ("join localhost 1 --bot random --game leduc", "holdem and kuhn"),
        ("join localhost 1 --hands 0", "1 or more"),
        ("join no-such-host.invalid 1 --bot random", "no dealer at"),
        ("watch", "invalid choice"),
        ("", "required"),
    ],
)
def test_bad_input_is_one_sentence(words, says, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["acpc", *words.split()]) == 2
    err = capsys.readouterr().err
    assert says in err
    assert len(err.splitlines()) == 1
