"""The soak of the table: its own checks notice what they should, and a short run finds nothing."""

from __future__ import annotations

import asyncio
import copy
import json
import os
import random
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from soak.audit import audit
from soak.clock import TICK, SimulatedClock
from soak.ledger import Ledger, Table
from table_player import new_nonce

from openfelt.table.lobby.bot_pool import BotPool
from openfelt.table.session.manager import SessionManager
from openfelt.table.session.session_store import SessionStore

SITTINGS = [
    ("kuhn(players=3)", ["random", "always-call"]),
    ("leduc", ["random"]),
    ("holdem", ["always-call"]),
]


def played(path: Path) -> tuple[Ledger, dict[str, list[dict[str, Any]]]]:
    """Some hands of each game, and all that their player was told."""
    tables, ledger, states, dice = (
        SessionManager(SessionStore(path), BotPool()),
        Ledger(),
        {},
        random.Random(1),
    )
    for game, bots in SITTINGS:
        key = tables.begin(game, bots)
        ledger.tables[key], states[key] = Table(game), [tables.state(key)]
        for number in range(1, 5):
            states[key].append(tables.deal(key, number, new_nonce()))
            while not states[key][-1]["hand"]["over"]:
                hand = states[key][-1]["hand"]
                word = dice.choice(hand["actions"])["word"]
                states[key].append(tables.act(key, number, hand["step"], word))
        for state in states[key]:
            ledger.told(key, state)
    tables.close()
    return ledger, states


def test_an_audit_of_sound_sessions_finds_nothing(tmp_path):
    ledger, _ = played(tmp_path / "table.db")
    found = audit(tmp_path / "table.db", ledger)
    assert ledger.violations == []
    assert (found["hands acknowledged"], found["hands stored"]) == (12, 12)
    assert found["acknowledged hands missing"] == 0
    assert (found["hands stored but not acknowledged"], found["hands in progress"]) == (0, 0)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("DELETE FROM table_hands WHERE number = 4", "acknowledged and lost"),
        ("UPDATE table_hands SET status = 0 WHERE number = 4", "acknowledged and lost"),
        ("DELETE FROM hands WHERE id = 7", "12 hands were counted, 11 are stored"),
        ("UPDATE hands SET won = x'020002000200' WHERE id = 1", "its chips sum to 3"),
        ("UPDATE hands SET won = x'7000000090FF' WHERE id = 1", "otherwise than its hand history"),
        ("UPDATE table_hands SET won = won + 1 WHERE number = 2", "acknowledged otherwise than saved"),
        ("UPDATE table_hands SET won = won + 1 WHERE number = 2", "chips were told for 4 hands"),
        ("UPDATE hands SET number = 1 WHERE id = 2", "hand 1: stored 2 times"),
        ("UPDATE hands SET dealt = x'0001020304' WHERE id = 9", "otherwise than its hand history"),
        ("UPDATE table_hands SET hand = 1 WHERE hand = 2", "do not refer to each hand history once"),
    ],
)
def test_an_audit_notices(tmp_path, change, says):
    ledger, _ = played(tmp_path / "table.db")
    base = sqlite3.connect(tmp_path / "table.db")
    base.execute(change)
    base.commit()
    base.close()
    try:
        audit(tmp_path / "table.db", ledger)
    except KeyError:  # a session refers to a hand that is gone
        assert "DELETE FROM hands" in change
    assert any(says in sentence for sentence in ledger.violations)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda state: state["score"].update(hands=2), "the score counts 2 hands"),
        (lambda state: state["hand"].update(nonce="0" * 32), "continued with other cards"),
        (lambda state: state["hand"].update(seed="0" * 64), "not the one of the commitment"),
        (lambda state: state["hand"].update(link="another"), "ended in two ways"),
        (lambda state: state["next"].update(commitment="0" * 64), "another commitment than before"),
        (lambda state: state["next"].update(number=4), "went back from"),
        (lambda state: state.update(notice="It could not be restored; it does not count."), "does not count"),
    ],
)
def test_a_visitor_notices_what_contradicts_an_earlier_answer(tmp_path, change, says):
    ledger, states = played(tmp_path / "table.db")
    session, told = next(iter(states.items()))
    ledger.told(session, told[-1])  # the same once more
    assert ledger.violations == []
    state = copy.deepcopy(told[-1])
    change(state)
    ledger.told(session, state)
    assert any(says in sentence for sentence in ledger.violations)


def test_the_clock_passes_while_all_sleep_and_wakes_in_order():
    log = []

    async def sleeper(clock: SimulatedClock, name: str, pause: float) -> None:
        while True:
            await clock.sleep(pause)
            await asyncio.sleep(0)  # others of this moment act meanwhile
            log.append((clock.now, name))

    async def run() -> None:
        clock = SimulatedClock()
        clock.start(sleeper(clock, "a", 2 * TICK))
        clock.start(sleeper(clock, "b", 3 * TICK))
        await clock.run(6 * TICK, lambda: None)

    asyncio.run(run())
    moments = [(2, "a"), (3, "b"), (4, "a"), (6, "a"), (6, "b")]
    assert sorted(log) == [(TICK * ticks, name) for ticks, name in moments]
    assert [moment for moment, _ in log] == sorted(moment for moment, _ in log)


@pytest.mark.slow
def test_a_soak_loses_no_hand_and_creates_no_chip(tmp_path):
    """The short form of `make soak`: every kind of fault comes a few times."""
    options = ("--hours", "3", "--gap", "300", "--seed", "7", "--visitors", "16")
    command = [sys.executable, "-m", "soak", *options]
    tests = str(Path(__file__).parent)
    paths = os.pathsep.join(filter(None, (tests, os.environ.get("PYTHONPATH", ""))))
    done = subprocess.run(
        [*command, "--out", tmp_path / "soak.json"],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((tmp_path / "soak.json").read_text())
    assert report["violations"] == []
    assert report["audit"]["acknowledged hands missing"] == 0
    assert report["audit"]["hands acknowledged"] > 100
    assert report["server starts"] > 2
    kills, disk = {"kills", "kills at start"}, {"disk full", "deletions"}
    assert kills | disk | {"clock jumps", "suspensions", "second servers"} == set(report["faults"]) - {
        "files deleted",
        "starts refused on a full disk",
    }
    assert {"disk full", "file deleted", "message sent twice"} <= set(report["refusals"])
