"""The server under load: many tables, played as fast as it answers; then every chip is checked.

Clients run in a process of their own, on another core. They record what they saw: how long each answer took,
how each hand ended, and any card that came too soon. Afterwards all of it is looked up in the database.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import secrets
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from timing import Result, on_one_core
from websockets.asyncio.client import ClientConnection, connect

from openfelt.hands.check import check_record
from openfelt.table.lobby.bot_pool import BotPool
from openfelt.table.lobby.lobby import table_game
from openfelt.table.presentation.registry import presentation_of
from openfelt.table.session.fair_dealing import commitment, shuffled
from openfelt.table.session.manager import SessionManager
from openfelt.table.session.session_store import FINISHED, SessionStore

TABLES, SECONDS = 200, 60.0
PAUSE = 2.0  # seconds that a person thinks, on average
MIX = (
    ("kuhn", ("equilibrium",)),
    ("leduc", ("equilibrium",)),
    ("holdem", ("default",)),
    ("holdem", ("random",)),
    ("holdem(players=3)", ("chen", "always-call")),
)
Sitting = tuple[str, Sequence[str]]
HIDDEN = "??"


class Load(NamedTuple):
    """The measurements of one load."""

    seconds: float
    times: list[float]  # of each answer, in milliseconds
    hands: int  # finished in this time
    ended: int  # finished in all, including before and after it
    stored: int  # in the database
    faults: list[str]  # one sentence each
    said: str  # output of the server besides its address

    def percentile(self, share: float) -> float:
        return float(np.percentile(self.times, share))


def run() -> Iterator[Result]:
    """With players that act at once, then with players that think."""
    games = ", ".join(f"{game} with {' and '.join(bots)}" for game, bots in MIX)
    for pause, seconds, who in (
        (0.0, SECONDS, "who never wait"),
        (PAUSE, SECONDS / 2, f"who think {PAUSE:g} s"),
    ):
        load, what = play(TABLES, seconds, MIX, pause=pause), f"{TABLES} tables at once, players {who}"
        note = f"{shares(load)} for an answer; {games}."
        yield Result(f"{what}: answers", "messages/s", len(load.times) / load.seconds, {}, {}, note)
        faults = "; ".join(load.faults[:3]) or "no chip, hand or card was out of place"
        note = f"{load.ended:,} hands were seen to end, {load.stored:,} are stored; {faults}."
        yield Result(f"{what}: hands", "hands/s", load.hands / load.seconds, {}, {}, note)


def shares(load: Load) -> str:
    named = ((50, "p50"), (99, "p99"), (100, "max"))
    return ", ".join(f"{load.percentile(share):.0f} ms {name}" for share, name in named)


def play(
    tables: int, seconds: float, mix: Sequence[Sitting], *, pause: float = 0.0, wait_for_lobby: bool = True
) -> Load:
    """Play at many tables for some time, and check everything afterwards."""
    with tempfile.TemporaryDirectory() as name:
        database, seen, log = (Path(name) / file for file in ("table.db", "seen.json", "log.txt"))
        sessions = _begun(database, tables, mix)
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        with log.open("wb") as out:
            words = [
                "-m",
                "openfelt",
                "play",
                "--no-browser",
                "--json",
                "--port",
                "0",
                "--database",
                str(database),
            ]
            server = subprocess.Popen([sys.executable, *words], stdout=out, stderr=out)
        try:
            url = server_url(server, log)
            if wait_for_lobby:
                urllib.request.urlopen(f"{url}api/lobby").read()
            if cores and hasattr(os, "sched_setaffinity"):
                os.sched_setaffinity(0, set(range(os.cpu_count() or 1)) - {cores[0]} or {cores[0]})
            players = [sys.executable, __file__, url, str(seconds), str(pause), str(seen)]
            subprocess.run(players, input=json.dumps(sessions), text=True, check=True)
            on_one_core()
        finally:
            server.terminate()
            server.wait()
        said = log.read_text().partition("}\n")[2]
        facts = json.loads(seen.read_text())
        faults = [*facts["faults"], *_faults(database, facts["ends"])]
        with SessionStore(database) as store:
            stored = store.count()
    return Load(facts["seconds"], facts["times"], facts["hands"], len(facts["ends"]), stored, faults, said)


def _begun(database: Path, tables: int, mix: Sequence[Sitting]) -> list[str]:
    found = SessionManager(SessionStore(database), BotPool())
    sessions = [
        found.begin(game, list(bots)) for game, bots in (mix[place % len(mix)] for place in range(tables))
    ]
    found.close()
    return sessions


def server_url(server: subprocess.Popen[bytes], log: Path) -> str:
    while not (text := log.read_text()).endswith("}\n"):
        if server.poll() is not None:
            raise RuntimeError(text)
        time.sleep(0.01)
    return str(json.loads(text)["url"])


# Checks afterwards


def _faults(database: Path, ends: list[dict[str, Any]]) -> Iterator[str]:
    """Lost hands, wrong chips, and cards that do not match the shuffle."""
    with SessionStore(database) as store:
        by_session: dict[str, list[dict[str, Any]]] = {}
        for end in ends:
            by_session.setdefault(end["session"], []).append(end)
        for session, own in by_session.items():
            rows = {row.number: row for row in store.table_hands(session)}
            records = {record.number: record for record in store.records(session)}
            if sorted(rows) != list(range(1, len(rows) + 1)):
                yield f"{session} has hands {sorted(rows)}"
            if set(records) != {number for number, row in rows.items() if row.status == FINISHED}:
                yield f"{session} has other hands finished than recorded"
            if not len(rows) == len(own) == len(records):
                yield f"{session} has {len(records)} records of {len(own)} hands that ended"
            for end in own:
                record, row = records[end["number"]], rows[end["number"]]
                fault = check_record(record)
                deck = shuffled(presentation_of(table_game(record.game)).deck, end["seed"], end["nonce"])
                for wrong, what in (
                    (fault is not None, fault or ""),
                    (sum(record.won) != 0, "is not zero-sum"),
                    (list(record.won) != end["won"], "was reported differently than stored"),
                    (row.won != record.won[row.seat], "counts otherwise than it was won"),
                    (tuple(deck[: len(record.dealt)]) != record.dealt, "was not dealt as shuffled"),
                    (commitment(end["seed"]) != end["promised"], "was not dealt from the promised seed"),
                    (list(record.dealt) != end["cards"], "was shown with other cards"),
                ):
                    if wrong:
                        yield f"{session}, hand {record.number}: {what}"
            if abs(own[-1]["score"] - sum(row.won for row in rows.values())) > 1e-6:
                yield f"{session}: the score is {own[-1]['score']}"


# The clients, in a process of their own


class _Player:
    """Plays at one table and records what it sees."""

    def __init__(self, url: str, session: str, pause: float) -> None:
        self._address = f"{url.replace('http', 'ws')}ws/{session}"
        self._session, self._pause, self._dice = session, pause, random.Random(session)
        self._took = 0.0
        self.hands = 0
        self.times: list[float] = []
        self.ends: list[dict[str, Any]] = []
        self.faults: list[str] = []

    async def play(self, first: asyncio.Event, until: asyncio.Event) -> None:
        """One hand; then, when all clients are ready, as many as time allows."""
        async with connect(self._address, compression=None, max_queue=None) as stream:
            state = json.loads(await stream.recv())
            promised = ""
            while not until.is_set() or not state["next"]:
                if state["next"]:
                    if self.ends and not first.is_set():
                        await first.wait()
                    promised = state["next"]["commitment"]
                if self._pause and first.is_set() and not until.is_set():
                    await asyncio.sleep(self._dice.uniform(0, 2 * self._pause))
                state = await self._ask(stream, self._wish(state))
                self._look(state, promised, in_time=first.is_set() and not until.is_set())

    def _wish(self, state: dict[str, Any]) -> dict[str, Any]:
        hand = state["hand"]
        if state["next"]:
            return {"do": "deal", "hand": state["next"]["number"], "nonce": secrets.token_hex(16)}
        word = self._dice.choice(hand["actions"])["word"]
        return {"do": "act", "hand": hand["number"], "step": hand["step"], "action": word}

    async def _ask(self, stream: ClientConnection, wish: dict[str, Any]) -> dict[str, Any]:
        begun = time.perf_counter()
        await stream.send(json.dumps(wish))
        text = await stream.recv()
        self._took = 1000 * (time.perf_counter() - begun)
        found: dict[str, Any] = json.loads(text)
        if found["type"] != "state":
            raise RuntimeError(text)
        return found

    def _look(self, state: dict[str, Any], promised: str, *, in_time: bool) -> None:
        hand = state["hand"]
        self.times += [self._took] * in_time
        self.hands += hand["over"] and in_time
        cards = [card for seat in hand["seats"] for card in seat["cards"]] + hand["board"]
        if not hand["over"]:
            others = {card for seat in hand["seats"] if not seat["you"] for card in seat["cards"]}
            if others != {HIDDEN} or hand["seed"] or hand["link"]:
                self.faults.append(f"{self._session}, hand {hand['number']}: something came too soon")
            return
        self.ends.append(
            {
                **{
                    "session": self._session,
                    "number": hand["number"],
                    "seed": hand["seed"],
                    "nonce": hand["nonce"],
                },
                **{"won": [seat["won"] for seat in hand["seats"]], "cards": cards, "promised": promised},
                "score": state["score"]["won"],
            }
        )


async def _load(url: str, sessions: list[str], seconds: float, pause: float) -> dict[str, Any]:
    players = [_Player(url, session, pause) for session in sessions]
    first, until = asyncio.Event(), asyncio.Event()
    playing = [asyncio.create_task(player.play(first, until)) for player in players]
    while not all(player.ends for player in players):
        await asyncio.sleep(0.05)
        for task in playing:
            if task.done():
                task.result()
    begun = time.perf_counter()
    first.set()
    await asyncio.sleep(seconds)
    taken = time.perf_counter() - begun
    until.set()
    await asyncio.gather(*playing)
    return {
        "seconds": taken,
        "times": [each for player in players for each in player.times],
        "hands": sum(player.hands for player in players),
        "ends": [end for player in players for end in player.ends],
        "faults": [fault for player in players for fault in player.faults],
    }


if __name__ == "__main__":
    _, where, how_long, thinking, file = sys.argv
    found = asyncio.run(_load(where, json.loads(sys.stdin.read()), float(how_long), float(thinking)))
    Path(file).write_text(json.dumps(found), encoding="utf-8")
