"""Steps per second of VectorEnv on one core, with observations, compared with OpenSpiel's states in C++."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from typing import Any

from timing import Result, in_turn, peer, per_call

import openfelt as felt

COUNT, STEPS = 4_096, 20  # games, and steps of each per call
THEIRS = 300  # steps per call of the peer
NOTE = (
    "A step: draw a legal action uniformly, take it, and write vector and mask of the next decision. "
    "The peer is driven from Python, one state at a time, as its environment is."
)
PEERS = {
    "kuhn": "kuhn_poker",
    "leduc": "leduc_poker",
    "goofspiel(5)": "",
    "bluff(1,1,6)": "liars_dice",
    "holdem": (
        "universal_poker(betting=limit,numPlayers=2,numRounds=4,blind=2 1,firstPlayer=2 1 1 1,numSuits=4,"
        "numRanks=13,numHoleCards=2,numBoardCards=0 3 1 1,raiseSize=2 2 4 4,maxRaises=3 4 4 4)"
    ),
    "holdem(players=3)": "",
}


def run() -> Iterator[Result]:
    """All games; the peer is measured again for each."""
    for game, theirs in PEERS.items():
        env = felt.VectorEnv(game, COUNT, seed=1)

        def advance(env: felt.VectorEnv = env) -> None:
            for _ in range(STEPS):
                env.step(env.sample())

        advance()
        what = f"VectorEnv on {game}, {env.layout.size} columns"
        pyspiel = peer("pyspiel")
        if pyspiel is None or not theirs:
            yield Result(what, "steps/s", COUNT * STEPS / per_call(advance), {}, note=NOTE)
            continue
        ours, peers = in_turn(advance, partial(play, pyspiel.load_game(theirs)))
        speeds = COUNT * STEPS / ours, THEIRS / peers
        yield Result(what, "steps/s", speeds[0], {"open_spiel": speeds[1]}, note=NOTE)


def play(game: Any) -> None:
    """Random steps of OpenSpiel, with the tensor of each decision."""
    steps, state = 0, game.new_initial_state()
    while steps < THEIRS:
        if state.is_terminal():
            state = game.new_initial_state()
        elif state.is_chance_node():
            state.apply_action(random.choice(state.legal_actions()))
        else:
            state.information_state_tensor()
            state.apply_action(random.choice(state.legal_actions()))
            steps += 1
