"""Bots that raise exceptions: what is shown of them, what is counted, and when a match stops."""

from __future__ import annotations

import json
import re
from pathlib import Path

import arena_bots
import pytest

import openfelt as felt
from openfelt.arena.decision_stats import ERROR, ILLEGAL, LATE, MOST_TRACEBACKS, BotFaultError, DecisionStats
from openfelt.arena.freeze_out.freeze_out import freeze_out
from openfelt.arena.match import match
from openfelt.arena.tournament import tournament
from openfelt.bots.bot import Bot
from openfelt.cli.app import main

MINE = '''\
from openfelt.bots.bot import Bot


class Mine(Bot):
    """Fails at its second decision of a hand, with another message each time."""

    count = 0

    def act(self, view, dice, clock):
        return self.choose(view) if " " in view.infoset else view.actions[0]

    def choose(self, view):
        Mine.count += 1
        raise ValueError(f"failure number {Mine.count}\\nin two lines")

    def end_hand(self, view, won):
        if won > 0:
            {}["won"]


class Flying(Bot):
    def act(self, view, dice, clock):
        return "fly"
'''
LINE_OF_ERROR = 1 + next(at for at, line in enumerate(MINE.splitlines()) if "raise" in line)


@pytest.fixture
def mine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(MINE)
    return "mine.py:Mine"


@pytest.fixture
def run(capsys):
    """Exit code, output and errors of a command."""

    def felt_command(*words: str) -> tuple[int, str, str]:
        code = main(list(words))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return felt_command


def test_each_traceback_is_shown_once_and_counted(mine, run):
    words = ["match", mine, "random", "--game", "kuhn", "--hands", "200"]
    code, text, _ = run(*words)
    assert code == 0
    assert text.count("Traceback (most recent call last):") == 2
    assert text.count(f'mine.py", line {LINE_OF_ERROR}, in choose') == 1
    assert text.count("in end_hand") == 1
    assert "table.py" not in text
    sentence = next(line for line in text.splitlines() if "failed to act" in line)
    assert "in two lines" in sentence

    facts = json.loads(run(*words, "--json")[1])["participants"][0]
    assert sum(error["count"] for error in facts["errors"]) == facts["faults"]["error"] > 2
    assert f"{facts['faults']['error']:,} error (the first: " in sentence
    for error in facts["errors"]:
        assert f"\n  {error['count']:,} times:\n  Traceback" in text
    assert any(f"line {LINE_OF_ERROR}, in choose" in error["traceback"] for error in facts["errors"])


@pytest.mark.parametrize(
    "words",
    [
        ["match", "BOT", "random", "--game", "kuhn", "--hands", "200"],
        ["tournament", "BOT", "random", "--game", "kuhn", "--hands", "200"],
        ["freezeout", "always-raise", "BOT", "--games", "2", "--hands", "10"],
    ],
)
def test_strict_stops_at_the_first_exception(words, mine, run):
    words = [mine if word == "BOT" else word for word in words]
    assert run(*words)[0] == 0
    code, text, err = run(*words, "--strict")
    assert (code, text) == (2, "")
    assert "felt: Mine raised an exception; a strict match stops there.\nTraceback" in err
    assert re.search(r'mine\.py", line \d+, in (choose|end_hand)', err)
    code, text, err = run(*(word.replace("Mine", "Flying") for word in words), "--strict")
    assert (code, text) == (2, "")
    assert "felt: Flying chose 'fly', which is not legal; a strict match stops there.\n" in err


@pytest.mark.slow
def test_strict_in_several_processes(mine, run):
    code, _, err = run(
        "match", mine, "random", "--game", "kuhn", "--hands", "2000", "--processes", "2", "--strict"
    )
    assert code == 2
    assert "felt: Mine raised an exception; a strict match stops there.\nTraceback" in err


def test_a_strict_match_of_good_bots_is_the_same():
    game = felt.load_game("kuhn")
    bots = arena_bots.Even(game), arena_bots.Caller(game)
    assert match(*bots, hands=100, strict=True).scores[0].won == match(*bots, hands=100).scores[0].won


def test_a_late_bot_does_not_stop_a_strict_match():
    game = felt.load_game("kuhn")
    bots = arena_bots.Late(game), arena_bots.Caller(game)
    result = match(*bots, hands=4, limit=arena_bots.LIMIT, strict=True)
    assert result.scores[0].stats.faults[LATE] >= 4


def test_strict_stops_before_the_next_decision():
    class Counting(Bot):
        asked = 0

        def act(self, view, dice, clock):
            Counting.asked += 1
            raise RuntimeError

    game = felt.load_game("kuhn")
    with pytest.raises(BotFaultError, match="Counting raised"):
        match(Counting(game), arena_bots.Caller(game), hands=100, strict=True)
    assert Counting.asked == 1


@pytest.mark.parametrize("kind", ["match", "freezeout"])
def test_strict_is_no_part_of_a_folder(kind, mine, run):
    """Finished hands with faults stop a strict resumption, and a strict start can be resumed without."""
    words = {
        "match": ["match", mine, "random", "--game", "kuhn", "--hands", "200", "--out", "folder"],
        "freezeout": ["freezeout", mine, "always-raise", "--games", "1", "--hands", "9", "--out", "folder"],
    }[kind]
    assert run(*words, "--strict")[0] == 2
    assert run(*words, "--resume")[0] == 0
    code, _, err = run(*words, "--resume", "--strict")
    assert code == 2
    assert "mine.py:Mine raised an exception; a strict match stops there.\nTraceback" in err
    assert run(*words, "--resume")[1].count("Traceback") >= 1


def test_stats_of_the_previous_format_are_read():
    """Folders of matches that were begun before tracebacks were kept."""
    old = {
        "decisions": 1,
        "seconds": 1.0,
        "longest": 1.0,
        "faults": {LATE: 0, ERROR: 1, ILLEGAL: 0},
        "first_error": "KeyError: 1",
    }
    stats = DecisionStats(**old)
    assert "1 error (the first: KeyError: 1)" in stats.fault_report("it")
    with pytest.raises(BotFaultError, match="raised an exception"):
        stats.require_faultless("it")


def test_the_tracebacks_of_a_tournament_are_added_up(mine):
    result = tournament(mine, "random", "always-call", game="kuhn", hands=100)
    text, page = str(result), result.markdown(figure=False)
    assert text.count(f'mine.py", line {LINE_OF_ERROR}, in choose') == 1
    assert "failed to act" in page
    assert "Traceback" not in page


def error_of(call) -> BaseException:
    try:
        call()
    except Exception as error:
        return error
    raise AssertionError


def test_what_counts_as_the_same_error():
    """The exception and its place, not the message; different errors are bounded."""
    stats, more = DecisionStats(), DecisionStats()

    def fail(key):
        {}[key]

    for key in range(5):
        stats.note_fault(ERROR, error_of(lambda key=key: fail(key)), "")
    assert list(stats.errors.values()) == [5]
    assert stats.first_error == "KeyError: 0"
    stats.note_fault(ERROR, error_of(lambda: fail([])), "")  # another exception at the same place
    assert list(stats.errors.values()) == [5, 1]
    for number in range(3 * MOST_TRACEBACKS):
        exec(compile("\n" * number + "def fail(): 1 / 0", "many.py", "exec"), namespace := {})
        more.note_fault(ERROR, error_of(namespace["fail"]), "")
    assert len(more.errors) == len(more.tracebacks) == MOST_TRACEBACKS
    assert more.faults[ERROR] == 3 * MOST_TRACEBACKS
    stats.add(more)
    assert len(stats.errors) == len(stats.tracebacks) == MOST_TRACEBACKS
    assert stats.faults[ERROR] == 6 + 3 * MOST_TRACEBACKS


def test_errors_that_cannot_be_shown():
    """Deep recursion has a bounded traceback, and an exception without a readable message is one too."""

    class MuteError(Exception):
        def __str__(self):
            raise RuntimeError

    def deep(number):
        return even(number) if number % 2 else odd(number)

    def even(number):
        return deep(number + 1)

    def odd(number):
        return deep(number + 1)

    def mute():
        raise MuteError

    stats = DecisionStats()
    stats.note_fault(ERROR, error_of(lambda: deep(0)), "")
    stats.note_fault(ERROR, error_of(mute), "")
    assert stats.first_error.startswith("RecursionError: ")
    first, second = stats.tracebacks.values()
    assert len(first.splitlines()) < 120
    assert "MuteError" in second


@pytest.mark.parametrize(
    "bots",
    [
        pytest.param(["always-call", "always-raise", "probe"], marks=pytest.mark.slow),
        ["always-call", "always-raise", "--dealing", "fresh"],
    ],
)
def test_winnings_that_are_adjusted_for_luck_say_so(bots, run):
    """With three players that is the default."""
    words = ["match", *bots, "--hands", "120", "--seed", "3"]
    _, text, _ = run(*words)
    facts = json.loads(run(*words, "--json")[1])
    assert facts["adjustment"] == "control variates"
    said = next(line for line in text.splitlines() if "adjusted for luck" in line)
    played = [f"{each['name']} {each['plain_won']:+,.1f}" for each in facts["participants"]]
    how = "adjusted for luck by control variates; as played"
    assert said == f"Winnings in mbb/h are {how}: {', '.join(played)}."
    assert all(each["won"] != each["plain_won"] for each in facts["participants"])


def test_winnings_as_played_and_by_aivat(run):
    words = ["match", "random", "always-call", "--game", "kuhn", "--hands", "100"]
    assert "adjusted" not in run(*words)[1]
    assert json.loads(run(*words, "--json")[1])["adjustment"] is None
    adjusted = run(*words, "--aivat")[1]
    assert "Winnings in chips a hand are adjusted for luck by AIVAT; as played: random" in adjusted


def test_tournaments_say_it_too():
    cup = tournament("random", "always-call", game="kuhn", hands=100, aivat=True)
    assert "± 95%; adjusted for luck by AIVAT\n" in str(cup)
    assert "Winnings are adjusted for luck by AIVAT." in cup.markdown(figure=False)
    plain = tournament("random", "always-call", game="kuhn", hands=100)
    assert "adjusted" not in str(plain) + plain.markdown(figure=False)


def test_a_strict_freeze_out_in_python():
    game = felt.load_game("holdem")
    with pytest.raises(BotFaultError, match="Failing raised"):
        freeze_out(arena_bots.Failing(game), arena_bots.Caller(game), games=1, hands=5, strict=True)
