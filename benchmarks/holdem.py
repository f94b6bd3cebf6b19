"""Limit hold'em: solvers compared with OpenSpiel's outcome sampling and HS14's figures; evaluations and exact
strengths compared with phevaluator and eval7.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from timing import Result, in_turn, on_all_cores, peer, per_call

import openfelt as felt
from openfelt.arena.holdem_value import holdem_value
from openfelt.cards.evaluator import hand_values
from openfelt.cards.strength import hand_strength
from openfelt.cards.strength_tables import make_tables
from openfelt.policy.rules import rule_policy

TWO, LARGE = "holdem", "holdem(buckets='ehs2:169/1000/500/200')"
THREE = "holdem(players=3,buckets='ehs2:169/1000/100/10')"
HS14_TWO, HS14_THREE = 7e9 / (30 * 3600), 12e9 / (48 * 3600)  # episodes per second, on one core of 2014
EPISODES, THEIRS = 2_000_000, 2_000
RULES = {2: "blind=2 1,firstPlayer=2 1 1 1", 3: "blind=1 2 0,firstPlayer=3 1 1 1"}
PEER = (
    "universal_poker(betting=limit,numPlayers={players},numRounds=4,{rules},raiseSize=2 2 4 4,"
    "maxRaises=3 4 4 4,numSuits=4,numRanks=13,numHoleCards=2,numBoardCards=0 3 1 1,bettingAbstraction=fcpa)"
)
NOTE = (
    "open_spiel has no abstraction, so its tables grow with every iteration; HS14 is the paper's own figure."
)


def run() -> Iterator[Result]:
    """All results."""
    yield _learner("Smooth UCT, 2p S", felt.SmoothUCT(TWO, k=0.5), 2, 8.0)
    yield _learner("Smooth UCT, 2p L", felt.SmoothUCT(LARGE, k=0.5), 2)
    yield _learner("outcome sampling, 2p S", felt.OutcomeMCCFR(TWO), 2)
    external = felt.ExternalMCCFR(TWO)
    yield Result("external sampling, 2p S", "iterations/s", _speed(external, EPISODES // 40), {})
    del external
    three = felt.SmoothUCT(THREE, k=0.5, schedule="max-average", threshold=10_000)
    yield _learner("Smooth UCT, three players", three, 3, 3.0)
    del three
    yield _matches()
    yield _evaluations()
    yield _one_flop()
    yield _all_tables()


def _learner(what: str, solver: Any, players: int, goal: float = 0.0) -> Result:
    solver.run(EPISODES)
    paper = HS14_TWO if players == 2 else HS14_THREE
    goals = {"HS14": goal} if goal else {}
    if (pyspiel := peer("pyspiel")) is None:
        return Result(what, "episodes/s", _speed(solver, EPISODES), {"HS14": paper}, goals, NOTE)
    game = pyspiel.load_game(PEER.format(players=players, rules=RULES[players]))
    other = pyspiel.OutcomeSamplingMCCFRSolver(game, seed=1)

    def iterate() -> None:
        for _ in range(THEIRS):
            other.run_iteration()

    ours, theirs = in_turn(lambda: solver.run(EPISODES), iterate, rounds=7)
    return Result(
        what, "episodes/s", EPISODES / ours, {"HS14": paper, "open_spiel": THEIRS / theirs}, goals, NOTE
    )


def _speed(solver: Any, count: int) -> float:
    solver.run(count)
    return count / per_call(lambda: solver.run(count))


def _matches() -> Result:
    tree = felt.SmoothUCT(TWO, k=0.5).tree
    pair = rule_policy(tree, "random"), rule_policy(tree, "probe")
    deals = 200_000

    def play() -> object:
        return holdem_value(*pair, deals=deals)

    play()
    return Result("hands of one policy against another", "hands/s", 2 * deals / per_call(play), {})


def _evaluations() -> Result:
    generator = np.random.default_rng(1)
    hands = np.argsort(generator.random((200_000, 52)), axis=1)[:, :7].astype(np.uint8)
    functions: list[Callable[[], object]] = [lambda: hand_values(hands)]
    names = []
    if (phevaluator := peer("phevaluator")) is not None:
        some = hands[:20_000].tolist()
        functions.append(lambda: [phevaluator.evaluate_cards(*hand) for hand in some])
        names.append("phevaluator")
    if (eval7 := peer("eval7")) is not None:
        deck = [eval7.Card(rank + suit) for rank in "23456789TJQKA" for suit in "cdhs"]
        cards = [[deck[card] for card in hand] for hand in hands[:20_000].tolist()]
        functions.append(lambda: [eval7.evaluate(hand) for hand in cards])
        names.append("eval7")
    functions[0]()
    ours, *theirs = in_turn(*functions)
    peers = {name: 20_000 / seconds for name, seconds in zip(names, theirs, strict=True)}
    note = "One call of ours for all hands; the peers are called from Python, hand by hand."
    return Result("seven cards evaluated", "hands/s", 200_000 / ours, peers, {}, note)


def _one_flop() -> Result:
    """E[HS^2] of one hand on the flop, without tables; a loop over a peer would be a million calls."""
    draw = random.Random(1)
    hands = [draw.sample(range(52), 5) for _ in range(20)]
    hand_strength(hands[0][:2], hands[0][2:])
    ours = per_call(lambda: [hand_strength(hand[:2], hand[2:]) for hand in hands]) / len(hands)
    peers = {}
    if (phevaluator := peer("phevaluator")) is not None:
        hand = [*hands[0], 50, 51]
        calls = 20_000
        begun = time.perf_counter()
        for _ in range(calls):
            phevaluator.evaluate_cards(*hand)
        each = (time.perf_counter() - begun) / calls
        peers["phevaluator"] = 1 / (each * 1081 * 991)
    note = "phevaluator: the 1,071,271 evaluations that it takes, from Python."
    return Result("exact E[HS2] of one hand on the flop", "hands/s", 1 / ours, peers, {}, note)


def _all_tables() -> Result:
    """The tables of every hand on every street; the goal is five minutes on two cores."""
    on_all_cores()
    make_tables(threads=2)  # compiles
    begun = time.perf_counter()
    make_tables(threads=2)
    seconds = time.perf_counter() - begun
    note = f"{seconds:.1f} seconds for all four streets with two threads; the goal is five minutes."
    goal = {"goal": 12.0}
    return Result("all tables of exact strength", "times/hour", 3600 / seconds, goal, {"goal": 1.0}, note)
