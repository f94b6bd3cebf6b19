"""An opponent of hold'em who is watched, and responses to what was seen of him (PJL11, section 4.3.2).

All that is made is kept in a folder, so that a study that was stopped goes on.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from openfelt.arena.contest import FRESH
from openfelt.arena.match import match
from openfelt.core.errors import MissingError
from openfelt.core.files import MANIFEST
from openfelt.core.jit import Floats
from openfelt.games.compile.betting_tree import BettingTree
from openfelt.games.compile.compiler import compile_any
from openfelt.games.holdem import Holdem
from openfelt.hands.store import HandStore
from openfelt.opponents.models.files import load_model, new_model, save_model
from openfelt.opponents.models.model import OpponentModel
from openfelt.opponents.models.observed import ObservedHand, observed_hands
from openfelt.opponents.responses.bucketed import DEALS, bucketed
from openfelt.opponents.responses.confidence import CONSTANT, confidence, observations
from openfelt.opponents.responses.response import restricted_solver
from openfelt.policy.files import POLICY, load_policy, save_policy
from openfelt.policy.holdem import HoldemPolicy
from openfelt.policy.policy import Policy, join_seats
from openfelt.solve.registry import solver_type
from openfelt.solve.restriction import EACH
from openfelt.solve.sampling.external_mccfr import ExternalMCCFR
from openfelt.solve.sampling.outcome_mccfr import OutcomeMCCFR
from openfelt.solve.solver import Solver
from openfelt.studies.match_table import PER_UNIT, Measured

GAMES = 20_000  # that are watched
QUICK_GAMES, QUICK_DEALS = 300, 300
WATCHING_SEED = 1_000_000  # away from that of the matches: what was learned from is not played again
TREES, RELATIONAL = "trees", "relational"  # kinds of model
P = 0.75
UNIT = "sb/h"
EPSILON = 0.6  # of outcome sampling


class Way(NamedTuple):
    """How a response is learned."""

    buckets: int
    iterations: int  # of each seat
    solver: str = ExternalMCCFR.name
    p: float = P  # 0: an equilibrium, whoever the opponent is
    toss: str = EACH
    trust: str = CONSTANT  # or how p follows from the observations of a row
    model: str = TREES

    @property
    def game(self) -> str:
        return f"holdem(buckets='ehs:{self.buckets}')"


@dataclass(frozen=True)
class Scouted:
    """An opponent, with what follows from the games that he was watched in."""

    opponent: str
    folder: Path
    deals: int = DEALS  # over which the model becomes a policy of buckets

    @property
    def history(self) -> Path:
        return self.folder / f"{self.opponent}.db"

    def watch(
        self, against: str, games: int, seed: int, processes: int, progress: Callable[[int], object]
    ) -> None:
        """Play the games, all cards known."""
        self.history.unlink(missing_ok=True)  # it may have been cut off; what was played is kept
        self.folder.mkdir(parents=True, exist_ok=True)
        match(
            against,
            self.opponent,
            hands=games,
            seed=seed + WATCHING_SEED,
            dealing=FRESH,
            processes=processes,
            history=self.history,
            folder=self.folder / f"{self.opponent}-watched",
            progress=progress,
        )

    @cached_property
    def hands(self) -> list[ObservedHand]:
        with HandStore(self.history) as store:
            return observed_hands(store.hands(self.opponent), self.opponent, Holdem.key)

    def model(self, kind: str) -> OpponentModel:
        folder = self.folder / f"{self.opponent}-{kind}"
        if not (folder / MANIFEST).exists():
            model = new_model(kind, Holdem.key)
            model.fit(self.hands)
            save_model(model, folder, player=self.opponent)
        return load_model(folder)

    def fixed(self, way: Way) -> HoldemPolicy:
        """The model as a policy of the buckets."""
        folder = self.folder / f"{self.opponent}-{way.model}-{way.buckets}"
        if not (folder / MANIFEST).exists():
            tree = compile_any(way.game)
            assert isinstance(tree, BettingTree)
            save_policy(bucketed(self.model(way.model), tree, deals=self.deals), folder)
        return _holdem_policy(folder)

    def solvers(self, way: Way, seed: int) -> list[Solver]:
        """One for each seat; or one for both where no opponent counts."""
        how: dict[str, Any] = {"epsilon": EPSILON} if way.solver == OutcomeMCCFR.name else {}
        if not way.p:
            return [solver_type(way.solver)(way.game, seed=seed, **how)]
        fixed = self.fixed(way)
        bound: float | Floats = way.p
        if way.trust != CONSTANT:
            bound = confidence(way.trust, observations(fixed.tree, self.hands), way.p)
        return [
            restricted_solver(way.game, fixed, bound, free, way.toss, way.solver, seed=seed, **how)
            for free in range(2)
        ]

    def respond(self, way: Way, folder: Path, seed: int, threads: int) -> None:
        """Leave a response in the folder, unless it is there."""
        if not (folder / POLICY / MANIFEST).exists():
            save_policy(learn(self.solvers(way, seed), way.iterations, threads), folder / POLICY)


def learn(solvers: Sequence[Solver], iterations: int, threads: int) -> Policy:
    """Run the solvers of the seats, so many at a time; each with one thread, so that the seed tells all."""
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda solver: solver.run(iterations) if iterations else None, solvers))
    policies = [solver.policy for solver in solvers]
    return join_seats(policies * (2 // len(policies)))


def sb_per_hand(
    bot: str,
    opponent: str,
    hands: int,
    seed: int,
    processes: int,
    folder: Path,
    progress: Callable[[int], object],
) -> Measured:
    """What the bot wins, each deal played in both seats, with luck taken out by AIVAT; kept in the folder."""
    result = match(
        bot,
        opponent,
        hands=hands,
        seed=seed,
        aivat=True,
        processes=processes,
        folder=folder,
        progress=progress,
    )
    won = result.amount(result.scores[0].won).scaled(PER_UNIT[UNIT])
    return Measured(won.mean, won.interval(0.68), won.interval(), result.hands)


def require_trees() -> None:
    """Say that scikit-learn is missing before minutes of work."""
    if importlib.util.find_spec("sklearn") is None:
        raise MissingError("Models of trees need scikit-learn: pip install 'openfelt[models]'.")


def _holdem_policy(folder: Path) -> HoldemPolicy:
    policy = load_policy(folder)
    assert isinstance(policy, HoldemPolicy)
    return policy
