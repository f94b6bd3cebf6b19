"""NFSP in Leduc compared with OpenSpiel's in PyTorch: decisions per second of CPU time, one thread each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any

from timing import Result, in_turn, peer

import openfelt as felt

THEIRS = 2_000  # decisions per call of the peer
WARM_UP = 10  # iterations
# As in OpenSpiel's example for Leduc (nfsp_leduc_pytorch.py).
EXAMPLE: dict[str, Any] = {
    "replay_buffer_capacity": 200_000,
    "reservoir_buffer_capacity": 2_000_000,
    "min_buffer_size_to_learn": 1_000,
    "anticipatory_param": 0.1,
    "batch_size": 128,
    "learn_every": 64,
    "rl_learning_rate": 0.01,
    "sl_learning_rate": 0.01,
    "optimizer_str": "sgd",
    "loss_str": "mse",
    "update_target_network_every": 19_200,
    "discount_factor": 1.0,
    "epsilon_decay_duration": 20_000_000,
    "epsilon_start": 0.06,
    "epsilon_end": 0.001,
}
UNITS = 128  # of its hidden layer
SAME_RATIO = {"games": 1024, "steps": 1, "updates": 16, "hidden": 64}
DEFAULTS = "Two updates of each network with the whole memories in 16,384 decisions."
RATIO = "16 updates of each network with the whole memories in 1,024 decisions, one in 64 as in OpenSpiel."


def run() -> Iterator[Result]:
    """Our NFSP with its defaults, and with as many gradient steps per decision as OpenSpiel's."""
    theirs = player()
    for what, settings, iterations, note in (
        ("NFSP on Leduc", {}, 20, DEFAULTS),
        ("NFSP on Leduc, one update in 64 decisions", SAME_RATIO, 20, RATIO),
    ):
        yield beside(what, felt.NFSP("leduc", seed=1, threads=1, **settings), iterations, theirs, note)


def beside(
    what: str, solver: felt.NFSP, iterations: int, theirs: Callable[[], object] | None, note: str
) -> Result:
    """The speed of a solver compared with the peer."""

    def train() -> None:
        solver.run(iterations, measure=False)

    solver.run(WARM_UP, measure=False)
    begun = solver.environment_steps
    train()
    decisions = solver.environment_steps - begun
    ours, *others = in_turn(train, *filter(None, [theirs]), clock=time.process_time)
    peers = dict(zip(["open_spiel"], [THEIRS / seconds for seconds in others], strict=False))
    return Result(what, "decisions/s", decisions / ours, peers, note=f"{note} PyTorch {version('torch')}.")


def player() -> Callable[[], object] | None:
    """Plays and trains OpenSpiel's agents, which have enough in their memories to learn; None without it."""
    nfsp = peer("open_spiel.python.pytorch.nfsp")  # also needs dm-tree
    environments = peer("open_spiel.python.rl_environment")
    if nfsp is None or environments is None:
        return None
    env = environments.Environment("leduc_poker", players=2)
    size, actions = env.observation_spec()["info_state"][0], env.action_spec()["num_actions"]
    agents = [nfsp.NFSP(seat, size, actions, [UNITS], **EXAMPLE) for seat in range(2)]

    def play() -> None:
        decisions = 0
        while decisions < THEIRS:  # then the game is finished
            at = env.reset()
            while not at.last():
                at = env.step([agents[at.observations["current_player"]].step(at).action])
                decisions += 1
            for agent in agents:
                agent.step(at)

    while any(loss is None for agent in agents for loss in agent.loss):
        play()
    return play
