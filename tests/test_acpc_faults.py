"""What must not pass in silence: another game, a lost dealer, a bot that fails, a log with gaps."""

from __future__ import annotations

import json
import socket
import struct

import pytest
from acpc_players import RULES, at_work, states_of
from acpc_published import TWO_PLAYER_LOG

from openfelt.arena.acpc.client import ProtocolPlayer, join
from openfelt.arena.acpc.dealer import Dealer, Limits
from openfelt.arena.acpc.log import read_log, write_log
from openfelt.arena.decision_stats import BotFaultError
from openfelt.bots.bot import Bot
from openfelt.bots.registry import load_bot
from openfelt.cli.app import main
from openfelt.core.errors import FeltError, FileError
from openfelt.games.registry import load_game
from openfelt.hands.record import HandRecord


class Connection:
    """The dealer's end of a connection to one client."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        connection.settimeout(20)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = connection.makefile("rb")
        assert self.file.readline() == b"VERSION:2.0.0\r\n"

    def tell(self, *states: str) -> None:
        self.connection.sendall("".join(f"MATCHSTATE:{state}\r\n" for state in states).encode())

    def ask(self, state: str) -> str:
        """The letter of the answer to a state; empty if the client has closed the connection."""
        self.tell(state)
        answer = self.file.readline().decode()
        assert not answer or answer.startswith(f"MATCHSTATE:{state}:")
        return answer.strip()[-1:]


def joined(capsys, dealer, *words: str) -> tuple[int, str, str]:
    """The exit code, output and errors of `felt acpc join` at a table that a function deals."""

    def deal() -> None:
        accepted, _ = listener.accept()
        table = Connection(accepted)
        with accepted, table.file:  # the client must not wait for a dealer that has failed
            dealer(table)

    with socket.create_server(("127.0.0.1", 0)) as listener, at_work(deal):
        port = str(listener.getsockname()[1])
        code = main(["acpc", "join", "127.0.0.1", port, *words])
    captured = capsys.readouterr()
    errors = [line for line in captured.err.splitlines(keepends=True) if "has joined" not in line]
    return code, captured.out, "".join(errors)


def no_limit(table: Connection) -> None:
    """Two hands of no-limit hold'em, blinds 50 and 100: the opponent raises to 300 if nobody has raised.

    As in the competition's server, a raise without an amount becomes the smallest one.
    """
    answer = table.ask("1:0::|Qd7c")
    if answer == "f":
        table.tell("1:0:f:|Qd7c", "0:1::TdAs|")
        betting = "0:1:r300:TdAs|"
    else:
        betting = "1:0:cr300:|Qd7c" if answer == "c" else "1:0:r200:|Qd7c"
    assert table.ask(betting) == ""  # nothing more is played


@pytest.mark.parametrize("bot", ["always-call", "always-raise", "always-fold"])
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_no_limit_dealer_is_left_at_the_first_amount(bot, form, capsys):
    code, out, err = joined(capsys, no_limit, "--bot", bot, *form)
    assert (code, out) == (2, "")
    assert "another game than holdem" in err
    assert "raises to an amount, as in a no-limit game, but holdem is a limit game" in err
    assert "The dealer's message was 'MATCHSTATE:" in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("state", "game", "why"),
    [
        ("0:0::TdAs||", "holdem", "The number of players is 3, but holdem has 2."),
        ("1:0::|QdJc", "holdem(players=3)", "The number of players is 2, but holdem(players=3) has 3."),
        ("0:0::Qs|", "holdem", "A player has 2 hole cards in holdem."),
        ("0:0::TdAs|", "kuhn", "not cards of kuhn"),
        ("0:0::Js|", "kuhn", "Js are not cards of kuhn."),  # two players have Q, K and A of spades
        ("0:0:rrrrr:TdAs|", "holdem", "Action 4 of 'rrrrr' is not possible there."),
        ("0:0:rrr:TdAs|", "holdem(bets=3)", "Action 3 of 'rrr' is not possible there."),
        ("0:0:cc/:TdAs|/2c3c", "holdem", "The number of board cards"),
        ("0:0:cc/cc/cc/cc:TdAs|/2c8c3h/9c/Kh", "holdem", "The cards of a showdown are missing."),
    ],
)
def test_another_game_is_left_at_once(state, game, why, capsys):
    def dealer(table: Connection) -> None:
        assert table.ask(state) == ""

    code, out, err = joined(capsys, dealer, "--bot", "always-call", "--game", game)
    assert (code, out) == (2, "")
    assert f"felt: The dealer deals another game than {game}, and the bot has left. " in err
    assert why in err
    assert len(err.splitlines()) == 1


def test_a_two_player_client_at_our_dealers_table_for_three():
    """The dealer goes on without the client, which leaves before it has answered anything."""
    with Dealer(RULES["holdem(players=3)"], hands=4, limits=Limits(start=20)) as dealer:
        two, three = load_game("holdem"), load_game("holdem(players=3)")

        def wrong():
            player = ProtocolPlayer(load_bot("always-call", two), two)
            with pytest.raises(FeltError, match="number of players is 3, but holdem has 2"):
                join("127.0.0.1", dealer.ports[0], player)

        def right(port):
            player = ProtocolPlayer(load_bot("always-call", three), three)
            assert join("127.0.0.1", port, player, hands=4).hands == 4

        others = [lambda port=port: right(port) for port in dealer.ports[1:]]
        with at_work(wrong, *others):
            result = dealer.play()
    assert result.left == (0, None, None)


@pytest.mark.parametrize(
    ("states", "why"),
    [
        (["0:4:c:TdAs|", "1:5::|Qd7c"], "The dealer began hand 5 before hand 4 was over."),
        (["1:4:f:|Qd7c", "0:3:c:TdAs|"], "The dealer went back from hand 4 to hand 3."),
    ],
)
def test_hands_out_of_order(states, why):
    player = ProtocolPlayer(load_bot("always-call", load_game("holdem")), load_game("holdem"))
    player.answer(f"MATCHSTATE:{states[0]}")
    with pytest.raises(FeltError, match=why):
        player.answer(f"MATCHSTATE:{states[1]}")


def one_hand(table: Connection, number: int) -> None:
    """A hand of Kuhn poker that the client, who calls, wins with the king (our name for As)."""
    assert table.ask(f"0:{number}::As|") == "c"
    assert table.ask(f"0:{number}:cr:As|") == "c"
    table.tell(f"0:{number}:crc:As|Qs")


@pytest.mark.parametrize("state", ["0:2::As|", "1:2::|As"])
@pytest.mark.parametrize("reset", [False, True])
def test_a_dealer_that_leaves_in_the_middle_of_a_hand(state, reset, capsys):
    def dealer(table: Connection) -> None:
        one_hand(table, 0)
        one_hand(table, 1)
        table.tell(state)
        if state == "0:2::As|":
            table.file.readline()
        if reset:
            table.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    code, out, err = joined(capsys, dealer, "--bot", "always-call", "--game", "kuhn")
    assert (code, out) == (2, "")
    assert "until then the bot had won +4 chips in 2 hands." in err
    if not reset:  # which may lose the last state
        assert "left in the middle of hand 2" in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(("expected", "code"), [([], 2), (["--hands", "1"], 0)])
def test_a_connection_that_breaks_off_between_hands(expected, code, capsys):
    """Hands may have been lost, unless their number is known."""

    def dealer(table: Connection) -> None:
        one_hand(table, 0)
        table.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    got, _, err = joined(capsys, dealer, "--bot", "always-call", "--game", "kuhn", *expected)
    assert got == code
    assert ("broke off; until then the bot had won +2 chips in 1 hand." in err) == bool(code)


@pytest.mark.parametrize(
    ("expected", "code", "why"),
    [
        ([], 0, ""),
        (["--hands", "2"], 0, ""),
        (["--hands", "3"], 2, "closed the connection after 2 hands, not 3; until then the bot had won +4"),
        (["--hands", "1"], 2, "closed the connection after 2 hands, not 1; until then the bot had won +4"),
    ],
)
def test_the_number_of_hands_is_compared_if_it_is_known(expected, code, why, capsys):
    def dealer(table: Connection) -> None:
        one_hand(table, 0)
        one_hand(table, 1)

    got, out, err = joined(capsys, dealer, "--bot", "always-call", "--game", "kuhn", *expected)
    assert got == code
    assert why in err
    assert ("played 2 hands of kuhn and won +4 chips" in out) == (code == 0)


def test_a_dealer_that_only_sends_comments(capsys):
    def dealer(table: Connection) -> None:
        table.connection.sendall(b"# hello\r\n")

    code, out, err = joined(capsys, dealer, "--bot", "always-call", "--game", "kuhn")
    assert (code, out) == (2, "")
    assert "closed the connection before the first hand" in err


FAILING_BOT = """\
from openfelt.bots.bot import Bot


class Mine(Bot):
    def act(self, view, dice, clock):
        return self.look_up(len(view.line))

    def look_up(self, key):
        if key:
            raise KeyError(f"no entry {key}")
        return "jump"

    def end_hand(self, view, won):
        raise SystemExit(3)
"""


@pytest.fixture
def failing_bot(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(FAILING_BOT)
    return f"{path}:Mine"


def two_hands(table: Connection) -> None:
    for number in range(2):
        assert table.ask(f"0:{number}::As|") == "c"
        assert table.ask(f"0:{number}:cr:As|") == "f"
        table.tell(f"0:{number}:crf:As|")


def test_the_client_shows_each_traceback_once(failing_bot, capsys):
    code, out, err = joined(capsys, two_hands, "--bot", failing_bot, "--game", "kuhn")
    assert (code, err) == (0, "")
    assert "4 error (the first: KeyError: 'no entry 2'), 2 illegal (the first: 'jump')" in out
    assert out.count('mine.py", line 6, in act') == 1
    assert out.count('mine.py", line 10, in look_up') == 1
    assert out.count('mine.py", line 14, in end_hand') == 1
    assert "client.py" not in out


def test_the_clients_faults_as_json(failing_bot, capsys):
    _, out, _ = joined(capsys, two_hands, "--bot", failing_bot, "--game", "kuhn", "--json")
    told = json.loads(out)
    assert (told["hands"], told["faults"], told["first_illegal"]) == (2, 6, "'jump'")
    assert [error["count"] for error in told["errors"]] == [2, 2]
    assert "line 10, in look_up" in told["errors"][0]["traceback"]


def test_a_strict_client_leaves_at_the_first_fault(failing_bot, capsys):
    def dealer(table: Connection) -> None:
        assert table.ask("0:0:cr:As|") == ""

    code, out, err = joined(capsys, dealer, "--bot", failing_bot, "--game", "kuhn", "--strict")
    assert (code, out) == (2, "")
    assert "felt: Mine raised an exception; a strict match stops there." in err
    assert 'mine.py", line 10, in look_up' in err


def test_a_strict_client_and_an_illegal_action():
    class Flying(Bot):
        def act(self, view, dice, clock):
            return "fly"

    game = load_game("kuhn")
    with pytest.raises(BotFaultError, match=r"^Flying chose 'fly', which is not legal; a strict match"):
        ProtocolPlayer(Flying(game), game, strict=True).answer("MATCHSTATE:0:0::As|")


# Logs.

LINES = TWO_PLAYER_LOG.replace(" 1000 0\n", " 10 0\n").splitlines(keepends=True)
HEADER, HANDS, SCORE = LINES[0], LINES[2:12], LINES[12]


def read(path, *lines: str, partial: bool = False) -> list[HandRecord]:
    path.write_text("".join(lines))
    return list(read_log(path, partial=partial))


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([HEADER, *HANDS[:4], *HANDS[5:]], "line 6: hand 5 follows hand 3: the numbers must be consecutive"),
        ([HEADER, *HANDS[:4], *HANDS[3:]], "line 6: hand 3 follows hand 3: the numbers must be consecutive"),
        ([HEADER, HANDS[1], HANDS[0]], "line 3: hand 0 follows hand 1"),
        ([HEADER, *HANDS[:9]], "match.log: the header announces 10 hands, but the match has 9."),
        ([HEADER, *HANDS[1:]], "match.log: the header announces 10 hands, but the match has 9."),
        ([HEADER, *HANDS[:9], SCORE], "line 11: the header announces 10 hands, but the match has 9."),
        ([HEADER, *HANDS[:9], HEADER, *HANDS], "line 11: the header announces 10 hands, but the match has 9"),
        (
            [HEADER.replace(" 10 0", " 9 0"), *HANDS],
            "line 11: the header announces 9 hands, and this is one more.",
        ),
        ([HEADER.replace(" 10 0", " x 0"), *HANDS], "line 1: The number of hands must be a whole number"),
        ([HEADER], "match.log: the header announces 10 hands, but the match has 0."),
        ([], "match.log: the log has no hand."),
        (["# a comment\n"], "match.log: the log has no hand."),
    ],
)
def test_missing_and_repeated_hands_of_a_log(lines, why, tmp_path):
    with pytest.raises(FileError, match=why):
        read(tmp_path / "match.log", *lines)


def test_a_log_that_was_stopped_is_read_on_request(tmp_path):
    path = tmp_path / "match.log"
    assert len(read(path, HEADER, *HANDS[:6], partial=True)) == 6
    assert len(read(path, HEADER, *HANDS, SCORE, HEADER, *HANDS, SCORE)) == 20
    with pytest.raises(FileError, match="hand 3 follows hand 1"):
        read(path, HEADER, *HANDS[:2], *HANDS[3:], partial=True)


def test_hands_with_gaps_are_written_as_several_matches(tmp_path):
    """What is written is read again, whatever the numbers."""
    records = read(tmp_path / "match.log", HEADER, *HANDS, SCORE)
    for places in ([7], [0, 1, 4, 5, 9], [3, 3, 2, 4], [*range(10), *range(10)]):
        path, some = tmp_path / f"{places}.log", [records[place] for place in places]
        assert write_log(path, some) == len(some)
        assert list(read_log(path)) == some
    assert (tmp_path / "[7].log").read_text().splitlines()[0].endswith("reverse_blinds.game 1 0")
    assert len(states_of(path)) == 20
    assert path.read_text().count(SCORE) == 2
