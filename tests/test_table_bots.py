"""Bots of others at the table, which may fail, learn, or be slow to say; and the order of ours."""

from __future__ import annotations

import io
import json

import pytest
from speed import slow

from openfelt.cli.app import main
from openfelt.core.errors import MissingError
from openfelt.table.lobby.bot_pool import BotPool
from openfelt.table.lobby.lobby import TABLE_GAMES, bots_for, table_game
from openfelt.table.lobby.strength import weakness
from openfelt.table.review.analyser import HandAnalyser
from openfelt.table.session.manager import SessionManager
from openfelt.table.session.score import Score
from openfelt.table.session.session_store import SessionStore

NONCE = "00" * 16
BOTS = """
from dataclasses import dataclass
from openfelt import Bot
from openfelt.games.hand import Thought

class Raises(Bot):
    def act(self, view, dice, clock):
        raise ValueError("lost my glasses")

class Rubbish(Bot):
    def think(self, view):
        return Thought("all", tuple(1 / len(view.actions) for _ in view.actions))
    def act(self, view, dice, clock):
        return "42"

class Exits(Bot):
    def act(self, view, dice, clock):
        raise SystemExit(3)

@dataclass
class Plain(Bot):
    game: object
    def think(self, view):
        return Thought("all", tuple(float(word == view.passive) for word in view.actions))
    def act(self, view, dice, clock):
        return view.passive

class Learner(Bot):
    learns = True
    hands = 0
    def think(self, view):
        share = 1.0 if self.hands % 2 else 0.0
        return Thought("mood", (share, *[(1 - share) / (len(view.actions) - 1)] * (len(view.actions) - 1)))
    def act(self, view, dice, clock):
        return view.passive
    def end_hand(self, view, won):
        self.hands += 1
"""


@pytest.fixture
def own(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(BOTS)
    return lambda name: f"{file}:{name}"


def play(tmp_path, game, bot, hands=2):
    """A session of a person who checks and calls; the tables, the session, the last state."""
    tables = SessionManager(SessionStore(tmp_path / f"{abs(hash((game, bot)))}.db"), BotPool([bot]))
    key = tables.begin(game, [bot])
    state = tables.state(key)
    for number in range(1, hands + 1):
        state = tables.deal(key, number, NONCE)
        while not state["hand"]["over"]:
            hand = state["hand"]
            word = next(each["word"] for each in hand["actions"] if each["key"] == "c")
            state = tables.act(key, number, hand["step"], word)
    return tables, key, state


@pytest.mark.parametrize("game", ["kuhn", slow("leduc"), slow("holdem")])
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Raises", "failed to act (ValueError: lost my glasses); it checked or folded."),
        ("Rubbish", "chose '42', which is not legal; it checked or folded."),
        ("Exits", "failed to act (SystemExit: 3); it checked or folded."),
    ],
)
def test_a_bot_that_fails_checks_or_folds_and_is_named(tmp_path, own, game, name, says):
    tables, _, state = play(tmp_path, game, own(name))
    assert f"{own(name)} {says}" in state["hand"]["account"]
    assert state["score"]["luck_free"] is not None  # only the luck of the cards is taken out
    link = state["hand"]["link"]
    assert tables.review(link)["result"]
    shown = HandAnalyser(BotPool([own(name)])).losses(*tables.linked(link))
    assert shown["decisions"] == [] or name == "Rubbish"


def test_a_bot_that_cannot_be_hashed_is_reviewed(tmp_path, own):
    tables, _, state = play(tmp_path, "leduc", own("Plain"))
    thoughts = [step["thoughts"] for step in tables.review(state["hand"]["link"])["steps"]]
    assert any(thoughts)


def test_a_bot_that_learns_is_not_asked_afterwards(tmp_path, own):
    tables, _, state = play(tmp_path, "holdem", own("Learner"), hands=3)
    link = state["hand"]["link"]
    played = [thought["own"] for step in tables.review(link)["steps"] for thought in step["thoughts"]]
    assert all(played)  # as it was in the hand
    tables._played.clear()  # as after a restart
    assert not any(step["thoughts"] for step in tables.review(link)["steps"])
    shown = HandAnalyser(BotPool([own("Learner")])).losses(*tables.linked(link))
    assert "learns from hand to hand" in shown["explain"]
    assert shown["decisions"] == []


def test_an_unknown_session_is_missing_and_one_without_its_bot_is_not(tmp_path, own):
    tables, key, _ = play(tmp_path, "leduc", own("Plain"))
    path = tables._store.path
    tables.close()
    without = SessionManager(SessionStore(path), BotPool())
    with pytest.raises(MissingError):
        without.state("nothing")
    with pytest.raises(Exception, match="There is no bot for leduc") as found:
        without.state(key)
    assert not isinstance(found.value, MissingError)


def test_the_terminal_plays_on_when_a_bot_fails(own, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("c\n" * 40))
    assert main(["play", "leduc", "--terminal", "--hands", "3", "--seed", "1", "--bot", own("Raises")]) == 0
    text = capsys.readouterr().out
    assert "failed to act (ValueError: lost my glasses); it checks or folds" in text


def test_greedy_is_for_the_usual_bot_too(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("c\n" * 40))
    assert main(["play", "leduc", "--terminal", "--greedy", "--hands", "3", "--seed", "1"]) == 0
    chances = [line for line in capsys.readouterr().out.splitlines() if "it chose" in line]
    assert chances
    assert all("100%" in line for line in chances)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--terminal", "--port", "9"], "--port is for the browser"),
        (["--terminal", "--no-browser"], "--no-browser is for the browser"),
        (["--bot", "mine.py:Mine"], "Name the game that mine.py:Mine plays"),
        (["--greedy"], "--greedy needs a game or a bot."),
        (["--token", " "], "The token has 0 characters and could be guessed; give at least 12"),
        (["leduc", "--bot", "default"], "felt: The policy plays holdem, not leduc."),
    ],
)
def test_what_makes_no_sense_is_said(words, says, capsys):
    assert main(["play", *words]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("name", TABLE_GAMES)
def test_the_strongest_are_first(name):
    game = table_game(name)
    order = [weakness(bot.name, game) for bot in bots_for(game)]
    assert order == sorted(order)
    assert order[0] < order[-1]


def test_equal_winnings_give_no_interval():
    score = Score(None)
    for _ in range(3):
        score.add(1.0, 1.0)
    assert score.summary()["interval"] is None
    score.add(2.0, 1.0)
    assert score.summary()["interval"] > 0


def test_a_file_of_sessions_becomes_phh(tmp_path, capsys):
    store = SessionStore(tmp_path / "table.db")
    tables = SessionManager(store, BotPool())
    for game in ("holdem", "leduc", "kuhn"):
        key = tables.begin(game, ["always-fold"])
        for number in (1, 2):
            state = tables.deal(key, number, NONCE)
            while not state["hand"]["over"]:
                hand = state["hand"]
                state = tables.act(key, number, hand["step"], hand["actions"][-1]["word"])
    tables.close()
    target = tmp_path / "hands.phhs"
    convert = ["history", "convert", str(tmp_path / "table.db"), str(target), "--json"]
    assert main(convert) == 2
    assert "PHH has no variant for leduc" in capsys.readouterr().err
    assert not target.exists()
    assert main([*convert, "--game", "holdem"]) == 0
    assert json.loads(capsys.readouterr().out)["hands"] == 2
