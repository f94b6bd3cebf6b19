"""A search names an action in time, whatever an iteration costs, and its memory does not grow."""

from __future__ import annotations

import gc
import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from openfelt.bots.search.clock import MARGIN, RESERVE, SHARE, STALLS, Pace, TimingHistory
from openfelt.bots.search.mcts import MctsSettings
from openfelt.bots.search.searcher import HoldemSearcher, TreeSearcher
from openfelt.bots.search.simulate import look_up, search_on
from openfelt.cards.deck import parse_cards
from openfelt.core.errors import FeltError

SMALL = "holdem(buckets='ehs2:169/20/20/20')"
SPOTS = [
    (1, "JsTs", "", []),
    (0, "AhKd", "Qh7h2s", ["raise", "call"]),
    (0, "9h8h", "Qh7h2s9c", ["raise", "call", "check", "check"]),
    (0, "5d5c", "Qh7h2s9cJd", ["raise", "call", "check", "check", "check", "check"]),
]


class Watch:
    """A clock that somebody else sets."""

    time = 100.0

    def __call__(self):
        return self.time


@pytest.mark.slow
@settings(max_examples=300)
@given(
    seconds=st.floats(0.001, 10.0),
    cost=st.floats(1e-8, 0.01),
    known=st.sampled_from([0.0, 0.5, 1.0]),
    besides=st.floats(0.0, 0.0005),
    slower=st.lists(st.floats(1.0, MARGIN), min_size=1, max_size=20),
)
def test_it_is_in_time_though_iterations_take_up_to_twice_as_long(seconds, cost, known, besides, slower):
    watch, chunks, first = Watch(), [], 0.0
    pace = Pace(watch, seconds, None, TimingHistory(known * cost))
    while count := pace.grant():
        watch.time += besides + count * cost * slower[len(chunks) % len(slower)]
        chunks.append(count)
        first = first or watch.time - 100.0
        assert len(chunks) < 100_000
    assert pace.done == sum(chunks) >= 1
    assert pace.used <= max(seconds, first)


@pytest.mark.parametrize("sudden", range(40))
def test_it_is_in_time_though_from_some_chunk_on_all_takes_twice_as_long(sudden):
    watch, chunks = Watch(), 0
    pace = Pace(watch, 0.05, None, TimingHistory(2e-6))
    while count := pace.grant():
        watch.time += count * 2e-6 * (1.0 if chunks < sudden else MARGIN)
        chunks += 1
    assert pace.used <= 0.05


@pytest.mark.parametrize("cost", [1e-6, 2e-5, 1e-3])
@pytest.mark.parametrize("seconds", [0.05, 0.2, 5.0])
def test_it_uses_most_of_its_time(cost, seconds):
    watch = Watch()
    pace = Pace(watch, seconds, None, TimingHistory(cost))
    while count := pace.grant():
        watch.time += 5e-5 + count * cost
    left = seconds * SHARE + RESERVE + 2 * MARGIN * (cost + 5e-5)
    assert seconds - left - 0.001 <= pace.used <= seconds


def test_a_machine_that_stalls_is_given_more_room():
    """Every 30 ms it is away for 12; at first a search may be late by that, later on it is not."""
    watch, habits, used = Watch(), TimingHistory(), []
    for _ in range(20):
        pace, away = Pace(watch, 0.2, None, habits), watch.time + 0.03
        while count := pace.grant():
            watch.time += 5e-5 + count * 2e-6
            if watch.time > away:
                watch.time += 0.012
                away = watch.time + 0.03
        used.append(pace.used)
    assert habits.stall == pytest.approx(0.012, rel=0.1)
    assert 0.2 * (1 - STALLS) < min(used) <= max(used) <= 0.2


def test_a_late_start_still_names_an_action():
    """The first look at the clock is after all is used up."""
    times = iter([0.0, *[1000.0] * 1_000])
    searcher = TreeSearcher("leduc", now=lambda: next(times))
    found = searcher.search(0, seconds=0.001)
    assert found.iterations == 1
    assert 0 <= found.picked < len(found.visits)
    assert found.visits.sum() >= 1


def test_a_sudden_stop_ends_the_search():
    """The machine was away after some chunks."""
    times = iter([*np.arange(0.0, 0.02, 0.004), *[7.0] * 1_000])
    searcher = TreeSearcher("leduc", now=lambda: next(times))
    assert 0 < searcher.search(0, seconds=0.2).iterations < 100_000


def test_without_a_clock_all_iterations_are_done():
    watch = Watch()
    pace = Pace(watch, math.inf, 1_000)
    while pace.grant():
        watch.time += 1e6
    assert pace.done == 1_000
    searcher = TreeSearcher("kuhn", now=watch)  # a clock that stands still
    assert searcher.search(0, seconds=1.0, iterations=5_000).iterations == 5_000


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.nan, -math.inf])
def test_no_time_at_all(seconds):
    with pytest.raises(FeltError, match="a time above 0 seconds"):
        TreeSearcher("kuhn").search(0, seconds=seconds)


@pytest.mark.parametrize("iterations", [0, -5])
def test_no_iterations(iterations):
    with pytest.raises(FeltError, match="at least one iteration"):
        TreeSearcher("kuhn").search(0, iterations=iterations)


@pytest.fixture(scope="module")
def searcher(strengths):
    return HoldemSearcher(SMALL, MctsSettings(c=8.0))


def think(searcher, decisions):
    generator = np.random.default_rng(decisions)
    for number in range(decisions):
        seat, hole, board, line = SPOTS[number % 4]
        beliefs = generator.random((2, 1326)) if number % 3 else None
        cards = parse_cards(hole), parse_cards(board)
        searcher.search(seat, *cards, line, beliefs=beliefs, iterations=50, seed=number)


def held():
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


@pytest.mark.slow
def test_a_long_match_takes_no_more_memory_and_compiles_nothing(searcher):
    think(searcher, 40)
    compiled = [len(kernel.signatures) for kernel in (search_on, look_up)]
    tracemalloc.start()
    try:
        grown = [held()]
        for _ in range(5):
            think(searcher, 800)
            grown.append(held())
    finally:
        tracemalloc.stop()
    # Python keeps thousands of tuples for later; an object kept of each decision would be in every part.
    assert min(np.diff(grown)) < 800 * 8
    assert [len(kernel.signatures) for kernel in (search_on, look_up)] == compiled


def test_what_was_prepared_is_not_compiled_again(searcher):
    fresh = HoldemSearcher(SMALL)
    fresh.prepare()
    assert fresh.rows == 0
    compiled = len(search_on.signatures)
    think(fresh, 4)
    assert len(search_on.signatures) == compiled
