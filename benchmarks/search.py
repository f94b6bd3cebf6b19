"""Search: iterations in 200 ms on each street, compared with OpenSpiel's ISMCTSBot; punctuality.

An iteration of ours has two simulations without a model and one with a model; OpenSpiel's has one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from holdem import PEER, RULES
from timing import Result, peer

import openfelt as felt
from openfelt.bots.search.mcts import MctsSettings, TableModel
from openfelt.bots.search.searcher import HoldemSearcher, TreeSearcher
from openfelt.cards.deck import parse_cards
from openfelt.hands.store import HandStore
from openfelt.opponents.models.files import new_model
from openfelt.opponents.models.observed import observed_hands
from openfelt.policy.rules import rule_policy

CLOCK = 0.2  # seconds, as in TAU's competition
WANTED = 100_000  # iterations in that time
ROUNDS = 9
HOLE, BOARD = parse_cards("AhKd"), parse_cards("Qh7h2s9cJd")
SPOTS = {
    "preflop": (1, HOLE, (), []),
    "flop": (0, HOLE, BOARD[:3], ["raise", "call"]),
    "turn": (0, HOLE, BOARD[:4], ["raise", "call", "check", "check"]),
    "river": (0, HOLE, BOARD, ["raise", "call", "check", "check", "check", "check"]),
}
CLOCKS = {0.005: 10_000, CLOCK: 1_000}  # seconds per decision, and number of decisions
UNIT = "iterations in 200 ms"


def models(searcher: HoldemSearcher) -> dict[str, Any]:
    """Opponent models by row; each implements the hooks of `solve/traverse/opponent_hooks.py`."""
    return {
        "no model": None,
        "a known policy": TableModel(rule_policy(searcher.tree, "random").weights),
        **{f"a model ({kind})": _learned(kind) for kind in ("tally", "trees", "relational")},
    }


def _learned(kind: str) -> Any:
    """A model of poki-like, from a thousand hands."""
    with TemporaryDirectory() as folder:
        store = Path(folder) / "hands.db"
        felt.match("poki-like", "always-call", hands=1_000, history=store)
        with HandStore(store) as hands:
            seen = observed_hands(hands.hands(), "poki-like", "holdem")
    model = new_model(kind, "holdem")
    model.fit(seen)
    return model.for_search()


def run() -> Iterator[Result]:
    """All results."""
    searcher = HoldemSearcher("holdem", MctsSettings(c=8.0))
    theirs = _spiel_holdem()
    for name, model in models(searcher).items():
        searcher.prepare(model)
        for street, spot in SPOTS.items():
            yield _iterations(searcher, f"{street}, {name}", spot, model, theirs.get(street))
    yield _leduc()
    yield _positions(searcher)
    for seconds, decisions in CLOCKS.items():
        yield _in_time(searcher, seconds, decisions)


def _iterations(
    searcher: HoldemSearcher, what: str, spot: Any, model: Any, theirs: Callable[[], float] | None
) -> Result:
    ours, others = [], []
    for seed in range(ROUNDS):
        searcher.forget()
        ours.append(searcher.search(*spot, model=model, seconds=CLOCK, seed=seed).iterations)
        if theirs is not None:
            others.append(theirs())
    goals = {"goal": 1.0} if model is None else {}
    peers = {"goal": float(WANTED)} if goals else {}
    if others:
        peers["open_spiel"] = float(np.median(others))
    return Result(what, UNIT, float(np.median(ours)), peers, goals)


def _spiel_holdem() -> dict[str, Callable[[], float]]:
    """By street, a function that measures a decision of OpenSpiel's bot."""
    if (pyspiel := peer("pyspiel")) is None:
        return {}
    game = pyspiel.load_game(PEER.format(players=2, rules=RULES[2]))
    found = {}
    # Their cards are numbered as ours; their actions are fold, call, raise.
    for street, (_, hole, board, line) in SPOTS.items():
        state, cards, words = game.new_initial_state(), list(board), list(line)
        hidden = [card for card in range(52) if card not in (*hole, *BOARD)][:2]
        dealt = [*hidden, *hole] if street == "preflop" else [*hole, *hidden]
        while state.is_chance_node() or words:
            if state.is_chance_node():
                state.apply_action(dealt.pop(0) if dealt else cards.pop(0))
            else:
                state.apply_action({"fold": 0, "call": 1, "check": 1}.get(words.pop(0), 2))
        found[street] = _spiel_decision(pyspiel, state, 10)
    return found


def _spiel_decision(pyspiel: Any, state: Any, some: int) -> Callable[[], float]:
    """The number of iterations of OpenSpiel's bot in 200 ms, extrapolated from a few."""

    def measure() -> float:
        bot = pyspiel.ISMCTSBot(
            1,  # seed
            pyspiel.RandomRolloutEvaluator(1, 1),
            8.0,
            some,
            -1,  # no limit on worlds
            pyspiel.ISMCTSFinalPolicyType.MAX_VISIT_COUNT,
            False,
            False,
        )
        begun = time.perf_counter()
        bot.step(state)
        return some * CLOCK / (time.perf_counter() - begun)

    return measure


def _leduc() -> Result:
    searcher = TreeSearcher("leduc", MctsSettings(c=20.0, rollout="uniform"))
    searcher.prepare()
    theirs = None
    if (pyspiel := peer("pyspiel")) is not None:
        game = pyspiel.load_game("leduc_poker")
        state = game.new_initial_state()
        for action in (2, 4):
            state.apply_action(action)
        theirs = _spiel_decision(pyspiel, state, 2_000)
    ours, others = [], []
    for seed in range(ROUNDS):
        searcher.forget()
        ours.append(searcher.search(0, seconds=CLOCK, seed=seed).iterations)
        if theirs is not None:
            others.append(theirs())
    peers = {"open_spiel": float(np.median(others))} if others else {}
    return Result("Leduc, first decision, no model", UNIT, float(np.median(ours)), peers)


def _positions(searcher: HoldemSearcher) -> Result:
    """Everything that a decision computes besides its iterations, with beliefs about the opponents."""
    beliefs, taken = np.random.default_rng(1).random((2, 1326)), []
    for number in range(1_000):
        spot = SPOTS["flop" if number % 2 else "turn"]
        begun = time.perf_counter()
        searcher.search(*spot, beliefs=beliefs, iterations=1, seed=number)
        taken.append(time.perf_counter() - begun)
    return Result("decisions of one iteration", "decisions/s", float(1 / np.median(taken)), {})


def _in_time(searcher: HoldemSearcher, seconds: float, decisions: int) -> Result:
    """The time of decisions under a clock, from call to answer, and their CPU time."""
    spots, taken, worked = list(SPOTS.values()), np.empty(decisions), np.empty(decisions)
    for number in range(decisions):
        begun, working = time.perf_counter(), time.thread_time()
        searcher.search(*spots[number % len(spots)], seconds=seconds, seed=number)
        taken[number], worked[number] = time.perf_counter() - begun, time.thread_time() - working
    late = taken > seconds
    note = (
        f"of {decisions:,} decisions: median {np.median(taken) * 1e3:.2f} ms, 99.9th percentile "
        f"{np.quantile(taken, 0.999) * 1e3:.2f} ms, worst {taken.max() * 1e3:.2f} ms; {late.sum()} late"
    )
    if late.any():
        most = worked[late].max() * 1e3
        note += f", of which at most {most:.2f} ms were CPU time; the system used the rest"
    in_time = float(1.0 - late.mean())
    return Result(f"decisions with {seconds * 1e3:.0f} ms each", "in time, of all", in_time, {}, {}, note)
