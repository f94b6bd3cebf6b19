"""A visit to the table: from its start to the first decision, reviews, and answers while 50 people play.

The first visit is that of a browser to a server that has nothing in its cache, as after an installation; it
needs Playwright and Chromium. Reviews are of hands of hold'em against `default` in which the person calls to
the river, with compiled kernels. The people are the clients of `table.py`, on one of the server's cores.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from table import MIX, PAUSE, play, server_url, shares
from timing import Result, on_all_cores, peer

PEOPLE, SECONDS = 50, 120.0
GAMES = ("kuhn", "holdem")  # the first in the lobby, and the one that most people come for
WANTED = 10.0  # seconds, at most, until the first decision
REVIEWS = 12  # hands
WANTED_REVIEW = 5.0  # seconds
WANTED_P99 = 0.15  # seconds
ALL_CARDS = 9  # two hands and a board
PATIENCE = 120_000  # milliseconds
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def run() -> Iterator[Result]:
    """The first visit for each game, then 50 people who think."""
    on_all_cores()
    if peer("playwright") and (program := next(filter(None, map(shutil.which, BROWSERS)), None)):
        for game in GAMES:
            load = _load()
            started, decided = first_visit(game, program)
            note = (
                f"{started:.1f} s until the server is up, {decided:.1f} s in all; load average before: {load}"
            )
            what, wanted = f"first visit, {game}: first decision", {f"{WANTED:g} s": 1 / WANTED}
            yield Result(what, "per second", 1 / decided, wanted, dict.fromkeys(wanted, 1.0), note)
    load = _load()
    taken = reviews()
    mean, slowest = sum(taken) / REVIEWS, max(taken)
    note = f"mean of {REVIEWS} hands {mean:.1f} s, at most {slowest:.1f} s; load average before: {load}"
    wanted = {f"{WANTED_REVIEW:g} s": 1 / WANTED_REVIEW}
    yield Result(
        "review of a hand to the river, hold'em: the slowest",
        *("per second", 1 / slowest, wanted, dict.fromkeys(wanted, 1.0), note),
    )
    load = _load()
    measured = play(PEOPLE, SECONDS, MIX, pause=PAUSE)
    faults = "; ".join(measured.faults[:3]) or "no chip, hand or card was out of place"
    note = f"{shares(measured)} for an answer; {faults}; load average before and after: {load}, {_load()}"
    slowest = measured.percentile(99) / 1000
    what, wanted = (
        f"{PEOPLE} people who think {PAUSE:g} s: p99",
        {f"{1000 * WANTED_P99:g} ms": 1 / WANTED_P99},
    )
    yield Result(what, "per second", 1 / slowest, wanted, dict.fromkeys(wanted, 1.0), note)


def _load() -> str:
    """The load of the machine, and whether we took precedence over it (chrt)."""
    has_precedence = hasattr(os, "sched_getscheduler") and os.sched_getscheduler(0) != os.SCHED_OTHER
    note = ", with real-time priority" if has_precedence else ""
    return f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores{note}"


def reviews() -> list[float]:
    """Seconds for the EV losses of each hand; the first hand only compiles kernels."""
    from openfelt.bots.registry import load_bot
    from openfelt.games.registry import load_game
    from openfelt.table.review.evaluator import hand_evaluator
    from openfelt.table.session.table_hand import TableHand

    game = load_game("holdem")
    bot, taken, seed = load_bot("default", game), list[float](), 0
    while len(taken) <= REVIEWS:
        seed, seat = seed + 1, seed % 2
        live = TableHand(game, {1 - seat: bot}, seat, f"{seed:064x}", "")
        live.advance()
        while not live.over:
            live.act(next(word for word in ("check", "call") if word in game.actions(live.hand.state)))
        if len(live.hand.state.cards) < ALL_CARDS:
            continue
        begun = time.perf_counter()
        hand_evaluator(live.hand, seat, live.bots).ev_losses()
        taken.append(time.perf_counter() - begun)
    return taken[1:]


def first_visit(game: str, program: str) -> tuple[float, float]:
    """Seconds until the server is up, and until a person who goes straight to a table can decide."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        chrome = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        page = chrome.new_page()
        page.set_default_timeout(PATIENCE)
        begun = time.perf_counter()
        with _new_server(Path(name)) as url:
            started = time.perf_counter() - begun
            page.goto(url)
            _decide(page, game)
            taken = time.perf_counter() - begun
        chrome.close()
    return started, taken


def _decide(page: Any, game: str) -> None:
    """Sit down with the usual bot, and deal until there is something to decide."""
    page.locator(f'[data-game="{game}"] label').click()
    page.locator("#sit-down:enabled").click()
    while not page.locator("[data-action]:enabled").count():
        page.locator("#next-hand:enabled, [data-action]:enabled").first.wait_for()
        if page.locator("#next-hand:enabled").count():
            page.locator("#next-hand").click()
        page.locator("#next-hand:enabled, [data-action]:enabled").first.wait_for()


@contextmanager
def _new_server(folder: Path) -> Iterator[str]:
    """A server with an empty cache and no sessions."""
    environment = {**os.environ, "OPENFELT_CACHE": str(folder / "cache"), "OPENFELT_DATA": str(folder)}
    environment.pop("NUMBA_CACHE_DIR", None)
    log = folder / "log.txt"
    with log.open("wb") as out:
        words = [sys.executable, "-m", "openfelt", "play", "--no-browser", "--json", "--port", "0"]
        server = subprocess.Popen(words, stdout=out, stderr=out, env=environment)
    try:
        yield server_url(server, log)
    finally:
        server.terminate()
        server.wait()
