"""The gain of a second thread for CFR+ in large games (one thread is the peer)."""

from __future__ import annotations

from collections.abc import Iterator

from timing import Result, on_all_cores, per_call

import openfelt as felt

GAMES = ["one_card(500)", "princess_monster(3,3,11)", "goofspiel(7)"]


def run() -> Iterator[Result]:
    """One result per game."""
    on_all_cores()
    for game in GAMES:
        one, two = (felt.CFRPlus(game, threads=threads).run(2) for threads in (1, 2))
        alone = 1 / per_call(lambda solver=one: solver._advance(1))
        shared = 1 / per_call(lambda solver=two: solver._advance(1))
        yield Result(f"CFR+ on {game}, two threads", "iterations/s", shared, {"one thread": alone})
