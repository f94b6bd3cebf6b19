"""A hold'em opponent observed in games, and restricted responses to its model (PJL11, section 4.3.2).

Everything is stored in a folder, so that a stopped study can be resumed.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from openfelt.arena.match import match
from openfelt.arena.match_blocks import FRESH
from openfelt.core.devices import CPU
from openfelt.core.errors import MissingError
from openfelt.core.files import MANIFEST
from openfelt.core.jit import Floats
from openfelt.core.workers import Workers, own_threads
from openfelt.games.compile.betting_tree import compile_holdem
from openfelt.games.holdem import Holdem
from openfelt.hands.store import HandStore
from openfelt.opponents.models.files import load_model, new_model, save_model
from openfelt.opponents.models.model import OpponentModel
from openfelt.opponents.models.observed import SHOWN, ObservedHand, observed_hands
from openfelt.opponents.responses.confidence import CONSTANT, confidence, observations
from openfelt.opponents.responses.model_policy import DEALS, bucketed
from openfelt.opponents.responses.response import restricted_solver
from openfelt.policy.files import POLICY, load_policy, save_policy
from openfelt.policy.holdem import HoldemPolicy, require_holdem_policy
from openfelt.policy.policy import Policy, join_seats
from openfelt.solve.registry import solver_type
from openfelt.solve.restriction import EACH
from openfelt.solve.sampling.external_mccfr import ExternalMCCFR
from openfelt.solve.sampling.outcome_mccfr import OutcomeMCCFR
from openfelt.solve.solver import Solver
from openfelt.studies.match_table import Winnings

GAMES = 20_000  # in which an opponent is observed
QUICK_GAMES, QUICK_DEALS = 300, 300
OBSERVATION_SEED = 1_000_000  # added to the seed: observed games and matches have different deals
TREES, RELATIONAL = "trees", "relational"  # kinds of model
P = 0.75
UNIT = "sb/h"
EPSILON = 0.6  # of outcome sampling


class ResponseConfig(NamedTuple):
    """How a response is trained."""

    buckets: int
    iterations: int  # of each seat
    solver: str = ExternalMCCFR.name
    p: float = P  # 0: an equilibrium, independent of the opponent
    toss: str = EACH
    trust: str = CONSTANT  # or the function that gives p from the observations of an infoset
    model: str = TREES
    cards: str = SHOWN  # from which the model learns: those of showdowns, or all
    device: str = CPU

    @property
    def abstraction(self) -> str:
        return f"ehs:{self.buckets}"

    @property
    def game(self) -> str:
        return f"holdem(buckets='{self.abstraction}')"


@dataclass(frozen=True)
class ObservedOpponent:
    """An opponent, the games it was observed in, and what is derived from them."""

    opponent: str
    folder: Path
    deals: int = DEALS  # over which the model is averaged into a policy of buckets

    @property
    def history(self) -> Path:
        return self.folder / f"{self.opponent}.db"

    def observe(
        self, against: str, games: int, seed: int, processes: Workers, progress: Callable[[int], object]
    ) -> None:
        """Play the games; all cards are recorded."""
        self.history.unlink(missing_ok=True)  # it may be incomplete; stored games are written again
        self.folder.mkdir(parents=True, exist_ok=True)
        match(
            against,
            self.opponent,
            hands=games,
            seed=seed + OBSERVATION_SEED,
            dealing=FRESH,
            processes=processes,
            history=self.history,
            folder=self.folder / f"{self.opponent}-watched",
            progress=progress,
        )

    def hands(self, cards: str) -> list[ObservedHand]:
        """The games, with all cards or those of showdowns only."""
        with HandStore(self.history) as store:
            return observed_hands(store.hands(self.opponent), self.opponent, Holdem.key, cards)

    def model(self, kind: str, cards: str) -> OpponentModel:
        """The model of that kind, fitted unless it is stored."""
        folder = self.folder / f"{self.opponent}-{kind}-{cards}"
        if not (folder / MANIFEST).exists():
            model = new_model(kind, Holdem.key)
            model.fit(self.hands(cards))
            save_model(model, folder, player=self.opponent)
        return load_model(folder)

    def fixed_policy(self, config: ResponseConfig) -> HoldemPolicy:
        """The model as a policy of the buckets."""
        folder = self.folder / f"{self.opponent}-{config.model}-{config.cards}-{config.buckets}"
        if not (folder / MANIFEST).exists():
            tree = compile_holdem(Holdem(buckets=config.abstraction))
            model = self.model(config.model, config.cards)
            save_policy(bucketed(model, tree, deals=self.deals), folder)
        return require_holdem_policy(load_policy(folder))

    def solvers(self, config: ResponseConfig, seed: int) -> list[Solver]:
        """One for each seat; only one if p is 0."""
        settings: dict[str, Any] = {"seed": seed, "device": config.device}
        if config.solver == OutcomeMCCFR.name:
            settings["epsilon"] = EPSILON
        if not config.p:
            return [solver_type(config.solver)(config.game, **settings)]
        fixed = self.fixed_policy(config)
        p: float | Floats = config.p
        if config.trust != CONSTANT:
            p = confidence(config.trust, observations(fixed.tree, self.hands(config.cards)), config.p)
        return [
            restricted_solver(config.game, fixed, p, free, config.toss, config.solver, **settings)
            for free in range(2)
        ]

    def train_response(self, config: ResponseConfig, folder: Path, seed: int, threads: Workers) -> None:
        """Train a response and save it in the folder, unless it is there."""
        if not (folder / POLICY / MANIFEST).exists():
            save_policy(train(self.solvers(config, seed), config.iterations, threads), folder / POLICY)


def train(solvers: Sequence[Solver], iterations: int, threads: Workers) -> Policy:
    """Train the solvers of the seats, `threads` at a time; each has one thread, so results are seeded.

    On a GPU one at a time, so that they do not share it.
    """
    on_cpu = all(solver.device == CPU for solver in solvers)
    with ThreadPoolExecutor(own_threads(threads) if on_cpu else 1) as pool:
        list(pool.map(lambda solver: solver.run(iterations) if iterations else None, solvers))
    policies = [solver.policy for solver in solvers]
    return join_seats(policies * (2 // len(policies)))


def play_match(
    bot: str,
    opponent: str,
    hands: int,
    seed: int,
    processes: Workers,
    folder: Path,
    progress: Callable[[int], object],
) -> Winnings:
    """Winnings of the bot in sb/h: duplicate deals, luck-adjusted by AIVAT; stored in the folder."""
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
    return Winnings.of_first_bot(result, UNIT)


def require_scikit_learn() -> None:
    """Raise before minutes of work if scikit-learn is missing."""
    if importlib.util.find_spec("sklearn") is None:
        raise MissingError("Tree models need scikit-learn: pip install 'openfelt[models]'.")
