"""`mcts` decides by tree search (PGC10; TAU), with or without a model of its opponents.

`mcts-tally` (TAU's Taurus) and `mcts-relational` (PGC10's player) learn an opponent model from the hands of a
match, or start from a saved one. From an opponent's actions the model infers what it may hold, and predicts
what it will do. With two opponents one model covers both, since a seat does not see who sits where.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

from openfelt.bots.bot import Bot, Clock
from openfelt.bots.parameters import read_parameters
from openfelt.bots.search.mcts import BY_AVERAGE, POLICY, SMOOTH, MctsSettings, SearchResult
from openfelt.bots.search.view_search import view_search
from openfelt.bots.view import View
from openfelt.core.errors import FeltError
from openfelt.core.random import Dice
from openfelt.games.compile.compiler import compile_game
from openfelt.games.game import Game
from openfelt.games.hand import Thought
from openfelt.opponents.models.domain import require_domain
from openfelt.opponents.models.files import load_model, new_model
from openfelt.opponents.models.model import OpponentModel
from openfelt.policy.policy import Policy
from openfelt.solve.run_folder import open_policy

ITERATIONS = 1_000  # of a decision without a clock, as in PGC10
SHARE = 0.9  # of the clock that is left, for the search itself
LEAST = 1e-3  # seconds of a search, however late it is
SEEDS = 1 << 53


class MctsBot(Bot[View]):
    """Plays hold'em and enumerated games by tree search, without a model of its opponents.

    With a policy it is Smooth UCT from the current decision (HS14), which starts from that policy; what
    opponents may hold follows from it too.
    """

    c: ClassVar[float] = MctsSettings.c  # exploration, unless settings are given

    def __init__(
        self,
        game: Game,
        settings: MctsSettings | None = None,
        *,
        iterations: int = ITERATIONS,
        policy: Policy | None = None,
        expander: Any = None,
    ) -> None:
        """`policy` and `expander` are those of `ViewSearch`, where the settings need them."""
        super().__init__(game)
        self.require(game)
        if iterations < 1:
            raise FeltError(f"A search needs at least one iteration, not {iterations}.")
        if policy is None and settings is not None and settings.needs_policy:
            raise FeltError("Rollouts by policy and warm starts need a policy.")
        self.settings, self.iterations = settings or MctsSettings(c=self.c), iterations
        self.policy, self.expander = policy, expander
        self.view_search = view_search(game, self.settings, policy, expander)
        self._considered: Thought | None = None

    @classmethod
    def require(cls, game: Game) -> None:
        """Raise for a game that cannot be searched."""
        if game.is_enumerable:
            compile_game(game)

    @classmethod
    def from_parameters(cls, game: Game, given: Mapping[str, Any]) -> Self:
        """The bot with the parameters of its name, as in mcts(c=2)."""
        if not {"model", "learn"}.isdisjoint(given):
            raise FeltError("mcts has no model; use mcts-tally or mcts-relational.")
        chosen = _parameters({"c": cls.c, **given})
        if "warmth" in given and not chosen.policy:
            raise FeltError("warmth applies to a search that starts from a policy: give policy='...' too.")
        policy = open_policy(chosen.policy, game) if chosen.policy else None
        return cls(game, chosen.settings(given), iterations=chosen.iterations, policy=policy)

    @property
    def fingerprint(self) -> str:
        return self.policy.fingerprint[:12] if self.policy is not None else ""

    def act(self, view: View, dice: Dice, clock: Clock) -> str:
        found = self.search(view, int(dice.uniform() * SEEDS), clock)
        visits, values = tuple(found.visits.tolist()), tuple(found.values.tolist())
        self._considered = Thought(view.infoset, (), visits, values)
        return view.actions[found.picked]

    def considered(self) -> Thought | None:
        return self._considered

    def search(self, view: View, seed: int = 0, clock: Clock | None = None) -> SearchResult:
        """Search for a number of iterations, or as long as the clock allows."""
        return self.view_search.search(view, seed, lambda: self._budget(clock))

    def _budget(self, clock: Clock | None) -> Mapping[str, Any]:
        if clock is None or clock.limit == math.inf:
            return {"iterations": self.iterations}
        return {"seconds": max(SHARE * clock.left, LEAST)}


class ModelBot(MctsBot):
    """Tree search with an opponent model, which is new or loaded."""

    kind: str
    c = 10.0  # docs/studies/pgc10-table-1.md

    @classmethod
    def require(cls, game: Game) -> None:
        require_domain(game)

    def __init__(
        self,
        game: Game,
        settings: MctsSettings | None = None,
        *,
        iterations: int = ITERATIONS,
        model: OpponentModel | None = None,
        learn: bool = True,
    ) -> None:
        """`model` is the one to start from; `learn`: whether it learns from every hand."""
        super().__init__(game, settings, iterations=iterations)
        self.model = model or new_model(self.kind, game)
        if self.model.kind != self.kind:
            raise FeltError(f"This bot has a model of kind {self.kind}, not {self.model.kind}.")
        self.learns = learn
        self.view_search.use_model(self.model)  # now, and not while a clock runs

    @classmethod
    def from_parameters(cls, game: Game, given: Mapping[str, Any]) -> Self:
        if not {"policy", "warmth"}.isdisjoint(given):
            raise FeltError("A search with a model does not start from a policy; use mcts.")
        chosen = _parameters({"c": cls.c, **given})
        model = load_model(Path(chosen.model), game) if chosen.model else None
        settings = chosen.settings(given)
        return cls(game, settings, iterations=chosen.iterations, model=model, learn=chosen.learn)

    @property
    def fingerprint(self) -> str:
        return self.model.fingerprint

    def end_hand(self, view: View, won: float) -> None:
        if not self.learns:
            return
        for hand in self.view_search.observed(view, self.model):
            self.model.learn(hand)
        self.view_search.use_model(self.model)


class TallyBot(ModelBot):
    """Taurus (TAU)."""

    kind = "tally"


class RelationalBot(ModelBot):
    """PGC10's player with its Bayes-relational model."""

    kind = "relational"


@dataclass(frozen=True)
class SearchParameters:
    """Parameters in a bot's name, as in mcts(c=2,iterations=1000)."""

    iterations: int = ITERATIONS
    c: float = MctsSettings.c  # with a model ModelBot.c
    rollout: str = MctsSettings.rollout
    expand: str = MctsSettings.expand
    nodes: str = MctsSettings.nodes
    pick: str = MctsSettings.pick
    policy: str = ""  # the folder of a run or policy, from which Smooth UCT starts
    warmth: float = 50.0  # visits for which an infoset is as likely played by that policy as by the search
    model: str = ""  # the folder of a saved model
    learn: bool = True

    def settings(self, given: Mapping[str, Any]) -> MctsSettings:
        """With a policy, rollouts follow it, and actions are drawn from the average."""
        if not self.policy:
            return MctsSettings(
                c=self.c, rollout=self.rollout, expand=self.expand, nodes=self.nodes, pick=self.pick
            )
        return MctsSettings(
            c=self.c,
            rollout=given.get("rollout", POLICY),
            expand=self.expand,
            nodes=self.nodes,
            pick=given.get("pick", BY_AVERAGE),
            selection=SMOOTH,
            warmth=self.warmth,
        )


def _parameters(given: Mapping[str, Any]) -> SearchParameters:
    return read_parameters(SearchParameters, given, "A search")
