"""Full-width solving and exploitability, compared with OpenSpiel (C++) and LiteEFG on one core in one run."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from collections.abc import Iterator

from timing import Result, peer, per_call

import openfelt as felt

LEDUC_GOALS = {"open_spiel": 150.0, "LiteEFG": 30.0}


def run() -> Iterator[Result]:
    """All results."""
    yield cfr_iterations()
    yield leduc_exploitability()
    yield exploitability_of(
        "goofspiel(5)", "goofspiel(imp_info=True,num_cards=5,points_order=descending)", {}
    )
    yield exploitability_of("bluff(1,1,6)", "liars_dice(numdice=1,dice_sides=6)", {"open_spiel": 300.0})


def cfr_iterations() -> Result:
    solver = felt.CFRPlus("leduc").run(100)
    ours = 2_000 / per_call(lambda: solver.run(2_000))
    peers = {}
    if pyspiel := peer("pyspiel"):
        theirs = pyspiel.CFRPlusSolver(pyspiel.load_game("leduc_poker"))
        theirs.evaluate_and_update_policy()
        peers["open_spiel"] = 1 / per_call(theirs.evaluate_and_update_policy)
    if environment := LiteEFGLeduc():
        peers["LiteEFG"] = 1 / per_call(environment.iterate)
    return Result("CFR+ on Leduc", "iterations/s", ours, peers, LEDUC_GOALS)


def leduc_exploitability() -> Result:
    result = exploitability_of("leduc", "leduc_poker", {"open_spiel": 500.0, "LiteEFG": 4.0})
    if environment := LiteEFGLeduc():
        environment.iterate()
        result.peers["LiteEFG"] = 1 / per_call(environment.exploitability)
    return result


def exploitability_of(name: str, theirs: str, goals: dict[str, float]) -> Result:
    policy = felt.uniform_policy(name)
    felt.exploitability(policy)
    ours = 1 / per_call(lambda: felt.exploitability(policy))
    peers = {}
    if pyspiel := peer("pyspiel"):
        other = pyspiel.load_game(theirs)
        if other.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
            other = pyspiel.convert_to_turn_based(other)
        uniform = pyspiel.UniformRandomPolicy(other)
        peers["open_spiel"] = 1 / per_call(lambda: pyspiel.exploitability(other, uniform), least=1)
    return Result(f"exploitability of {name}", "per second", ours, peers, goals)


class LiteEFGLeduc:
    """LiteEFG's CFR+ on Leduc with its running average; false if it is not installed."""

    def __init__(self) -> None:
        self.library, pyspiel = peer("LiteEFG"), peer("pyspiel")
        if not self:
            return
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            os.chdir(folder)  # it writes the game to a file
            try:
                self.graph = self.library.baselines.CFRplus.graph()
                game = pyspiel.load_game("leduc_poker")
                self.environment = self.library.OpenSpielEnv(game, traverse_type="Enumerate", regenerate=True)
                self.environment.set_graph(self.graph)
            finally:
                os.chdir(before)

    def __bool__(self) -> bool:
        return self.library is not None

    def iterate(self) -> None:
        self.graph.update_graph(self.environment)
        self.environment.update_strategy(self.graph.current_strategy())

    def exploitability(self) -> None:
        self.environment.exploitability(self.graph.current_strategy(), "avg-iterate")
