"""`mcts` thinks at the table by tree search (PGC10; TAU); with a model of the others, it answers their play.

`mcts-tally` (TAU's Taurus) and `mcts-relational` (PGC10's) learn a model of the others from the hands of a
match, or start from one that was saved. The model says what they may hold by what they did, and what
they will do with it. With two opponents it is one model of both, as a seat does not see who sits where.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from openfelt.bots.bot import Bot, Clock
from openfelt.bots.search.mcts import BY_AVERAGE, POLICY, SMOOTH, MctsSettings, SearchResult
from openfelt.bots.search.searcher import HoldemSearcher, TreeSearcher
from openfelt.bots.view import HoldemView, TreeView, View
from openfelt.cards.deck import BOARD_CARDS, PAIRS, pair_number
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.core.random import Dice
from openfelt.games.compile.compiler import compile_game
from openfelt.games.game import Game
from openfelt.games.holdem import Holdem
from openfelt.opponents.models.domain import UNKNOWN, model_domain
from openfelt.opponents.models.files import load_model, new_model
from openfelt.opponents.models.model import OpponentModel
from openfelt.opponents.models.observed import ObservedHand
from openfelt.policy.holdem import HoldemPolicy
from openfelt.policy.policy import Policy
from openfelt.policy.tabular import TabularPolicy
from openfelt.solve.run_folder import open_policy

ITERATIONS = 1_000  # a decision without a clock, as in PGC10
SHARE = 0.9  # of the clock that is left, for the search itself
LEAST = 1e-3  # seconds of a search, however late it is
UNLIKELY = 1e-4  # that somebody departs from the policy that he is taken to play
SEEDS = 1 << 53
_WORDS = {int: "a whole number", float: "a number", str: "a text in quotes", bool: "True or False"}


class MctsBot(Bot):
    """Plays hold'em and games small enough to be compiled, without a model of the others.

    With a policy it is Smooth UCT from the decision at hand (HS14), which starts from that policy; what
    others may hold follows from it too.
    """

    c: ClassVar[float] = MctsSettings.c  # exploration, if nobody says otherwise

    def __init__(
        self,
        game: Game,
        settings: MctsSettings | None = None,
        *,
        iterations: int = ITERATIONS,
        policy: Policy | None = None,
        expander: Any = None,
    ) -> None:
        """`policy` and `expander` as in `HoldemSearcher`, where the settings need them."""
        super().__init__(game)
        self.require(game)
        if iterations < 1:
            raise FeltError(f"A search needs at least one iteration, not {iterations}.")
        if policy is None and settings is not None and settings.needs_policy:
            raise FeltError("Rollouts by policy, and rows warmed by one, need a policy.")
        self.settings, self.iterations = settings or MctsSettings(c=self.c), iterations
        self.policy, self.expander = policy, expander

    @classmethod
    def require(cls, game: Game) -> None:
        """Refuse a game that cannot be searched."""
        if not isinstance(game, Holdem):
            compile_game(game)

    @cached_property
    def _holdem(self) -> HoldemSearcher:
        policy = self.policy if isinstance(self.policy, HoldemPolicy) else None
        return HoldemSearcher(self.game, self.settings, policy=policy, expander=self.expander)

    @cached_property
    def _tree(self) -> TreeSearcher:
        policy = self.policy if isinstance(self.policy, TabularPolicy) else None
        return TreeSearcher(self.game, self.settings, policy=policy, expander=self.expander)

    def act(self, view: View, dice: Dice, clock: Clock) -> str:
        return view.actions[self.search(view, int(dice.uniform() * SEEDS), clock).picked]

    def search(self, view: View, seed: int = 0, clock: Clock | None = None) -> SearchResult:
        """What it finds: for so many iterations, or for so long as the clock still allows."""
        if isinstance(view, HoldemView):
            searcher, model, beliefs = self._holdem, self._model, self.beliefs(view)
            return searcher.search(
                view.seat,
                view.hole,
                view.board,
                view.line,
                beliefs=beliefs,
                model=model,
                seed=seed,
                **self._budget(clock),
            )
        assert isinstance(view, TreeView)
        self._tree.forget()
        return self._tree.search(view.row, seed=seed, **self._budget(clock))

    def _budget(self, clock: Clock | None) -> dict[str, Any]:
        """Asked last, so that all that was done before is on the clock."""
        if clock is None or clock.limit == math.inf:
            return {"iterations": self.iterations}
        return {"seconds": max(SHARE * clock.left, LEAST)}

    _model: Any = None  # of the others, for the search

    def beliefs(self, view: HoldemView) -> Floats | None:
        """[players, 1326] what each may hold, of the bot itself as the others see it; None: anything."""
        if not isinstance(self.policy, HoldemPolicy):
            return None
        found, tree, node = np.ones((self.game.players, PAIRS)), self.policy.tree, 0
        for move in view.moves:
            shares = self.policy.of_all_pairs(node, view.board[: BOARD_CARDS[move.street]])
            number = tree.actions(node).index(move.action)
            likely = found[move.seat] * np.maximum(shares[:, number], UNLIKELY)
            found[move.seat] = likely / likely.max()
            node = tree.child(node, number)
        return found


class ModelBot(MctsBot):
    """The same with a model, from a saved one or from nothing."""

    kind: str
    c = 10.0  # docs/studies/pgc10-table-1.md

    @classmethod
    def require(cls, game: Game) -> None:
        model_domain(game)

    def __init__(
        self,
        game: Game,
        settings: MctsSettings | None = None,
        *,
        iterations: int = ITERATIONS,
        model: OpponentModel | None = None,
        learn: bool = True,
    ) -> None:
        """`model` is one to start from; `learn` whether it goes on learning."""
        super().__init__(game, settings, iterations=iterations)
        self.model = model or new_model(self.kind, game)
        if self.model.kind != self.kind:
            raise FeltError(f"This bot has a model of kind {self.kind}, not {self.model.kind}.")
        self.learns = learn
        if isinstance(game, Holdem):  # now, and not while a clock runs
            self._model = self.model.for_search()

    def beliefs(self, view: HoldemView) -> Floats:
        """[players, 1326] what each of the others may hold; of the bot itself all pairs alike."""
        line = self.model.domain.line(view.line)
        found = np.ones((self.game.players, PAIRS))
        for seat in self._others(view):
            found[seat] = self.model.cards(
                ObservedHand(seat, line, tuple(view.board), UNKNOWN, tuple(view.hole))
            )
        return found

    def _others(self, view: View) -> list[int]:
        return [seat for seat in range(self.game.players) if seat != view.seat]

    @cached_property
    def _tree(self) -> TreeSearcher:
        return TreeSearcher(self.game, self.settings, opponent=self.model.policy())

    def end_hand(self, view: View, won: float) -> None:
        if not self.learns:
            return
        for hand in self.seen(view):
            self.model.learn(hand)
        if isinstance(view, HoldemView):
            self._model = self.model.for_search()
        else:
            self._tree.play_against(self.model.policy())

    def seen(self, view: View) -> list[ObservedHand]:
        """The hand that is over, as it was seen of each of the others."""
        if isinstance(view, HoldemView):
            line, board = self.model.domain.line(view.line), tuple(view.board)
            held = {seat: pair_number(hole) for seat, hole in view.shown.items()}
            cards = [tuple(view.shown.get(seat, ())) for seat in range(self.game.players)]
        else:
            assert isinstance(view, TreeView)
            holdings, cards, board = self.model.domain.read(view.dealt)
            line = self.model.domain.line(view.line)
            held = {seat: holding for seat, holding in enumerate(holdings) if holding != UNKNOWN}
        cards[view.seat] = tuple(view.hole) if isinstance(view, HoldemView) else cards[view.seat]
        found = []
        for seat in self._others(view):
            dead = tuple(card for other, hole in enumerate(cards) if other != seat for card in hole)
            found.append(ObservedHand(seat, line, board, held.get(seat, UNKNOWN), dead))
        return found


class TallyBot(ModelBot):
    """Taurus (TAU)."""

    kind = "tally"


class RelationalBot(ModelBot):
    """PGC10's player with its Bayes-relational model."""

    kind = "relational"


@dataclass(frozen=True)
class SearchParameters:
    """What can be written in brackets after the name of such a bot, as in mcts(c=2,iterations=1000)."""

    iterations: int = ITERATIONS
    c: float = MctsSettings.c  # with a model as ModelBot.c
    rollout: str = MctsSettings.rollout
    pick: str = MctsSettings.pick
    policy: str = ""  # the folder of a run or policy, for Smooth UCT that starts from it
    warmth: float = 50.0  # how firmly it holds to that policy
    model: str = ""  # the folder of a saved model
    learn: bool = True

    def settings(self, given: Mapping[str, Any]) -> MctsSettings:
        """Of the search; with a policy, rollouts follow it, and actions are drawn from the average."""
        if not self.policy:
            return MctsSettings(c=self.c, rollout=self.rollout, pick=self.pick)
        rollout, pick = given.get("rollout", POLICY), given.get("pick", BY_AVERAGE)
        return MctsSettings(c=self.c, rollout=rollout, pick=pick, selection=SMOOTH, warmth=self.warmth)


def make_search_bot(kind: type[MctsBot], game: Game, given: Mapping[str, Any]) -> MctsBot:
    """A bot with parameters that somebody wrote."""
    chosen = _parameters({"c": kind.c, **given})
    settings = chosen.settings(given)
    if not issubclass(kind, ModelBot):
        if not {"model", "learn"}.isdisjoint(given):
            raise FeltError("mcts has no model; take mcts-tally or mcts-relational.")
        if "warmth" in given and not chosen.policy:
            raise FeltError("Warmth is for a search that starts from a policy; give policy='...' too.")
        policy = open_policy(chosen.policy, game) if chosen.policy else None
        return kind(game, settings, iterations=chosen.iterations, policy=policy)
    if not {"policy", "warmth"}.isdisjoint(given):
        raise FeltError("A search with a model starts from no policy; take mcts.")
    model = load_model(Path(chosen.model), game) if chosen.model else None
    return kind(game, settings, iterations=chosen.iterations, model=model, learn=chosen.learn)


def _parameters(given: Mapping[str, Any]) -> SearchParameters:
    kinds = {field.name: type(field.default) for field in dataclasses.fields(SearchParameters)}
    for key, value in given.items():
        if key not in kinds:
            raise FeltError(f"A search has no parameter '{key}' (known: {', '.join(kinds)}).")
        if type(value) is not kinds[key] and (kinds[key], type(value)) != (float, int):
            raise FeltError(f"{key} must be {_WORDS[kinds[key]]}, not {value!r}.")
    return SearchParameters(**given)
