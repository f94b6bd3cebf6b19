"""`felt drill`: the drills of the page in the terminal."""

from __future__ import annotations

import json

import pytest

from openfelt.cli.app import main
from openfelt.core.errors import FeltError
from openfelt.table.drills.coach import DrillCoach
from openfelt.table.drills.drill_store import DrillStore
from openfelt.table.drills.schedule import INTERVALS
from openfelt.table.drills.terminal_drills import TerminalDrills
from openfelt.table.lobby.bot_pool import BotPool
from openfelt.table.session.session_store import SessionStore


class Sitting:
    """A person who gives the best or the worst answer."""

    def __init__(self, path, bots=("equilibrium", "always-call")):
        self.time, self.lines, self.answers = 1e9, [], []
        self.coach = DrillCoach(BotPool(bots))
        self.file = SessionStore(path)
        self.drills = TerminalDrills(
            self.coach, DrillStore(self.file), ask=self.answer, write=self.lines.append, now=lambda: self.time
        )
        self.drill, self.wants = None, max

    def sample(self):
        self.drill = self.coach.sample({"game": "leduc", "bot": "always-call"})
        return self.drill

    def due(self):
        self.drill = self.drills.due()
        return self.drill

    def answer(self, _):
        values = self.coach.evaluate(self.drill).decisions[0].values
        return str(1 + values.index(self.wants(values)))

    @property
    def text(self):
        return "\n".join(self.lines)


@pytest.fixture
def sitting(tmp_path):
    found = Sitting(tmp_path / "drills.db")
    yield found
    found.file.close()


def test_right_answers_are_counted_and_do_not_come_back(sitting):
    sitting.drills.run(sitting.sample, 3)
    assert sitting.lines[-1].startswith(
        "All drills so far: 3 of 3 answers right; leduc: mean EV loss 0.00 chips"
    )
    assert sitting.text.count("  Right.") == 3
    assert "Pot " in sitting.text
    assert "EV loss 0.00" in sitting.text
    sitting.drills.run(sitting.drills.due)
    assert "Nothing is due for repetition: no decision was missed yet" in sitting.text


def test_what_was_missed_comes_back(sitting):
    sitting.wants = min
    while "Wrong." not in sitting.text:
        sitting.drills.run(sitting.sample, 1)
    assert "It comes back in 10 minutes." in sitting.text
    sitting.drills.run(sitting.drills.due)
    assert "the next one is due in 10 minutes" in sitting.text
    sitting.time += INTERVALS[1]
    sitting.wants = max
    before = sitting.drills.summary()
    sitting.drills.run(sitting.due)
    after = sitting.drills.summary()
    assert before["due"] == before["boxes"][0] == after["boxes"][1]
    assert "It comes back in 1 day." in sitting.text
    assert after["due"] == after["boxes"][0] == 0


def test_the_deck_is_that_of_the_file(sitting, tmp_path):
    sitting.drills.run(sitting.sample, 2)
    sitting.file.close()
    again = Sitting(tmp_path / "drills.db")
    assert again.drills.summary()["answers"] == 2
    again.file.close()


def test_a_drill_of_a_bot_that_is_gone_is_postponed(sitting, monkeypatch):
    sitting.wants = min
    while "Wrong." not in sitting.text:
        sitting.drills.run(sitting.sample, 1)
    sitting.time += INTERVALS[1]
    due = sitting.drills.summary()["due"]

    def gone(_):
        raise FeltError("There is no such bot.")

    monkeypatch.setattr(sitting.coach, "show", gone)
    sitting.drills.run(sitting.due)
    assert sitting.text.count("There is no such bot.") == due
    assert sitting.drills.summary()["due"] == 0


def test_the_command(tmp_path, monkeypatch, capsys):
    answers = iter(["nonsense", "1", "q"])
    monkeypatch.setattr("builtins.input", lambda _="": next(answers))
    file = tmp_path / "own.db"
    words = ["drill", "leduc", "--bot", "always-call", "--street", "second round", "--database", str(file)]
    assert main([*words, "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["answers"] == 1
    assert "'nonsense' is not one of" in err
    assert "--- drill 2 ---" in err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--repeat", "--street", "flop"], "--repeat takes what you missed"),
        (["leduc", "--street", "flop"], "The street must be one of: first round, second round."),
        (["holdem", "--bot", "mcts"], "drills need a bot that plays by a policy or a rule"),
        (["holdem(players=3)"], "Limit hold'em"),
    ],
)
def test_wrong_requests(words, sentence, tmp_path, capsys):
    assert main(["drill", *words, "--database", str(tmp_path / "own.db")]) == 2
    assert sentence in capsys.readouterr().err
