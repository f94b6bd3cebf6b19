"""Counter-strategies to a fixed policy: what they win from it, and what they risk against any opponent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from openfelt.core.jit import Floats
from openfelt.games.compile.compiler import compile_any
from openfelt.games.game import AnyGame
from openfelt.games.registry import load_game
from openfelt.measure.results import Value
from openfelt.opponents.responses.evaluation import LP, Evaluation, ValueFunction, evaluation
from openfelt.opponents.responses.fixed_policy import require_two_players
from openfelt.policy.policy import Policy, join_seats, require_game
from openfelt.solve.cfr import CFRPlus
from openfelt.solve.registry import solver_type
from openfelt.solve.restriction import EACH, ONCE, Restriction
from openfelt.solve.run_folder import RunFolder
from openfelt.solve.sampling.outcome_mccfr import OutcomeMCCFR
from openfelt.solve.solver import Progress, Solver

# By the papers' names: the solver, and when the draw is made whether the opponent plays the fixed policy. Any
# other solver has its own name.
METHODS = {
    "rnr": (CFRPlus.name, ONCE),
    "mcrnr": (OutcomeMCCFR.name, ONCE),
    "dbr": (CFRPlus.name, EACH),
    "mcdbr": (OutcomeMCCFR.name, EACH),
}
Train = Callable[[Solver, RunFolder | None], object]  # runs the solver of one seat


@dataclass(frozen=True, eq=False)
class Response:
    """A counter-strategy for both seats, with its value; averages are over the two seats, in `unit`."""

    policy: Policy
    how: str  # solver and parameters, in words
    evaluation: Evaluation = field(repr=False)

    @property
    def game(self) -> str:
        """Name of the game."""
        return self.policy.game

    @property
    def unit(self) -> str:
        """Unit of all values."""
        return self.evaluation.unit

    @cached_property
    def value(self) -> Value:
        """What it wins from the fixed policy; in hold'em computed or sampled on first use."""
        return self.evaluation.value(self.policy)

    @property
    def won(self) -> tuple[float, ...]:
        """What it wins from the fixed policy, by seat."""
        return self.value.by_seat

    @property
    def usual(self) -> tuple[float, ...]:
        """What an equilibrium wins from the fixed policy, by seat; enumerated games only."""
        return self.evaluation.usual

    @property
    def exploitation(self) -> float:
        """What it wins more than an equilibrium, on average over the seats; enumerated games only."""
        return float(np.mean(self.won) - np.mean(self.usual))

    @cached_property
    def exploitability(self) -> float:
        """nash_conv / 2; in hold'em computed on first use, in about a minute on a GPU."""
        return self.evaluation.exploitability(self.policy)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        if not self.policy.tree.is_enumerated:
            value = self.value.as_dict()
            return {"game": self.game, "how": self.how, **_without(value, "policy", "opponent", "game")}
        names = ("game", "how", "won", "usual", "exploitation", "exploitability", "unit")
        return {name: getattr(self, name) for name in names}


def _without(facts: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: each for name, each in facts.items() if name not in names}


class Responses:
    """Counter-strategies to one fixed policy of a two-player zero-sum game.

    Parameters
    ----------
    game : Game, str or Path
        An enumerated game or hold'em.
    fixed : Policy
        What the opponent is believed to play: `felt.fixed_policy` makes one of a model, run or bot.
    value : callable, optional
        Hold'em only: measures a response against the fixed policy. By default the value is exact, which takes
        minutes on a GPU and hours without; `felt.value` samples duplicate deals.

    Examples
    --------
    >>> responses = felt.Responses("leduc", felt.fixed_policy("always-raise", "leduc"))
    >>> careful, best = responses.restricted(0.5), responses.restricted(1.0)
    >>> careful.won < best.won, careful.exploitability < best.exploitability
    (True, True)
    """

    def __init__(self, game: AnyGame, fixed: Policy, *, value: ValueFunction | None = None) -> None:
        self.game = load_game(game)
        require_two_players(self.game)
        self.tree = compile_any(self.game)
        require_game(fixed, self.tree)
        self.fixed = fixed
        self.evaluation = evaluation(self.tree, self.game, fixed, value)

    @property
    def is_exact(self) -> bool:
        """Whether the game is small enough for linear programs, of seconds or a minute."""
        return self.evaluation.is_exact

    @property
    def equilibrium(self) -> Policy:
        """An equilibrium of the game, or close to one; enumerated games only."""
        return self.evaluation.equilibrium

    @property
    def usual(self) -> tuple[float, ...]:
        """What the equilibrium wins from the fixed policy, by seat."""
        return self.evaluation.usual

    @property
    def values(self) -> tuple[float, ...]:
        """The value of the game for each player."""
        return self.evaluation.values

    @property
    def most(self) -> tuple[float, ...]:
        """What a best response wins from the fixed policy, by seat."""
        return self.evaluation.most

    def measured(self, policy: Policy, how: str) -> Response:
        """A policy for both seats as a response."""
        require_game(policy, self.tree)
        return Response(policy, how, self.evaluation)

    def restricted(
        self,
        p: float | Floats,
        *,
        toss: str = ONCE,
        solver: str = LP,
        iterations: int | None = None,
        seconds: float | None = None,
        until: float | None = None,
        progress: Progress | None = None,
        train: Train | None = None,
        folder: Path | None = None,
        resume: bool = False,
        **settings: Any,
    ) -> Response:
        """The restricted Nash response (PJL11), or the data-biased response: one solver for each seat.

        Parameters
        ----------
        p : float or array
            Probability that the opponent plays the fixed policy; with `toss` "each" also one for each slot.
        toss : {"once", "each"}
            When that is drawn: once a game (restricted Nash), or at each decision (data-biased).
        solver : str
            "lp" or a solver of `felt train`; hold'em needs a sampling solver.
        iterations, seconds, until, progress
            Budget of each seat's solver, as in `Solver.run`.
        train : callable, optional
            Runs a solver, with its run folder, in place of `Solver.run` and that budget.
        folder : Path, optional
            Save the solvers there, as runs `seat-0` and `seat-1`.
        resume : bool
            Continue the runs in `folder`.
        **settings
            Of the solver: its parameters, seed and threads.

        Returns
        -------
        Response
        """

        def run(solver: Solver, _: RunFolder | None) -> None:
            solver.run(iterations, seconds=seconds, until=until, progress=progress)

        seats = []
        for seat in range(2):
            run_folder = RunFolder(folder / f"seat-{seat}") if folder else None
            if run_folder is not None and resume and run_folder.exists:
                restriction = Restriction(1 - seat, self.fixed, p, toss)
                learner = _resumed(run_folder, self.game.name, solver, restriction, settings)
            else:
                learner = restricted_solver(self.game, self.fixed, p, seat, toss, solver, **settings)
            (train or run)(learner, run_folder)
            seats.append(learner.policy)
        shown = f"{p:g}" if isinstance(p, float | int) else "by observations"
        drawn = "" if self.tree.is_enumerated else f", {toss}"
        return self.measured(join_seats(seats), f"{solver}, p {shown}{drawn}")

    def safe(self, epsilon: float) -> Response:
        """The response that wins most while giving up at most `epsilon` of the game's value.

        In each seat a linear program maximises the payoff against the fixed policy, where the worst case is
        at least the value of the game less epsilon.
        """
        return self.measured(self.evaluation.safe_policy(epsilon), f"safe within {epsilon:g}")


def _resumed(
    run_folder: RunFolder, game: str, solver: str, restriction: Restriction, settings: dict[str, Any]
) -> Solver:
    """The solver of a run; its seed is the one that it began with."""
    work = {"threads": settings.get("threads", 1), "restriction": restriction}
    return run_folder.resume(game, solver, work, _without(settings, "threads", "seed"))


def restricted_solver(
    game: AnyGame, fixed: Policy, p: float | Floats, free: int, toss: str, solver: str, **settings: Any
) -> Solver:
    """Learns for the seat `free`, against an opponent that plays the fixed policy with probability p."""
    return solver_type(solver)(game, restriction=Restriction(1 - free, fixed, p, toss), **settings)


def frontier(game: AnyGame, fixed: Policy, ps: Sequence[float], **how: Any) -> list[Response]:
    """The responses for several p, as in PJL11's Figure 6."""
    responses = Responses(game, fixed)
    return [responses.restricted(p, **how) for p in ps]
