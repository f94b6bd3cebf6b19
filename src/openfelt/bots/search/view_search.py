"""Search from a bot's view of a hand: one interface for enumerated games and hold'em."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cached_property, singledispatch
from typing import Any, Generic

import numpy as np

from openfelt.bots.search.mcts import MctsSettings, SearchResult
from openfelt.bots.search.searcher import HoldemSearcher, TreeSearcher
from openfelt.bots.view import HoldemView, TreeView, View, ViewType
from openfelt.cards.deck import BOARD_CARDS, PAIRS, pair_number
from openfelt.core.jit import Floats
from openfelt.games.game import Game
from openfelt.games.holdem import Holdem
from openfelt.opponents.models.domain import UNKNOWN
from openfelt.opponents.models.model import OpponentModel
from openfelt.opponents.models.observed import ObservedHand
from openfelt.policy.holdem import require_holdem_policy
from openfelt.policy.policy import Policy
from openfelt.policy.tabular import require_tabular

UNLIKELY = 1e-4  # least probability of an action of the policy that players are taken to follow

Budget = Callable[[], Mapping[str, Any]]  # iterations or seconds; called last, when all else is done


class ViewSearch(ABC, Generic[ViewType]):
    """Searches for one bot.

    `policy` guides rollouts and Smooth UCT, `expander` the expansion (`solve/traverse/opponent_hooks.py`),
    where the settings need them.
    """

    model: OpponentModel | None = None  # of the opponents

    def __init__(self, game: Game, settings: MctsSettings, policy: Policy | None, expander: Any) -> None:
        self.game, self.settings, self.expander = game, settings, expander

    @abstractmethod
    def search(self, view: ViewType, seed: int, budget: Budget) -> SearchResult:
        """Search from the decision of a view."""

    @abstractmethod
    def use_model(self, model: OpponentModel) -> None:
        """From now on the opponents play as a model says; called again after it has learned."""

    def observed(self, view: ViewType, model: OpponentModel) -> list[ObservedHand]:
        """The hand that is over, as it was observed of each opponent."""
        line, board, held, cards = self._record(view, model)
        found = []
        for seat in self.opponents(view):
            dead = tuple(card for other, hole in enumerate(cards) if other != seat for card in hole)
            found.append(ObservedHand(seat, line, board, held.get(seat, UNKNOWN), dead))
        return found

    @abstractmethod
    def _record(
        self, view: ViewType, model: OpponentModel
    ) -> tuple[tuple[int, ...], tuple[int, ...], dict[int, int], list[tuple[int, ...]]]:
        """The line, the board, holdings by seat as far as they were shown, and the cards of each seat."""

    def opponents(self, view: View) -> list[int]:
        """The other seats."""
        return [seat for seat in range(self.game.players) if seat != view.seat]


@singledispatch
def view_search(
    game: Game, settings: MctsSettings, policy: Policy | None = None, expander: Any = None
) -> ViewSearch:
    """The search for a kind of game."""
    return TreeViewSearch(game, settings, policy, expander)


class TreeViewSearch(ViewSearch[TreeView]):
    """Search in an enumerated game."""

    def __init__(self, game: Game, settings: MctsSettings, policy: Policy | None, expander: Any) -> None:
        super().__init__(game, settings, policy, expander)
        self.policy = None if policy is None else require_tabular(policy)

    @cached_property
    def searcher(self) -> TreeSearcher:
        """Built on first use."""
        opponent = None if self.model is None else self.model.policy()
        return TreeSearcher(
            self.game, self.settings, opponent=opponent, policy=self.policy, expander=self.expander
        )

    def search(self, view: TreeView, seed: int, budget: Budget) -> SearchResult:
        self.searcher.forget()
        return self.searcher.search(view.row, seed=seed, **budget())

    def use_model(self, model: OpponentModel) -> None:
        self.model = model
        if "searcher" in self.__dict__:
            self.searcher.play_against(model.policy())

    def _record(
        self, view: TreeView, model: OpponentModel
    ) -> tuple[tuple[int, ...], tuple[int, ...], dict[int, int], list[tuple[int, ...]]]:
        holdings, cards, board = model.domain.read(view.dealt)
        held = {seat: holding for seat, holding in enumerate(holdings) if holding != UNKNOWN}
        return model.domain.line(view.line), board, held, cards


@view_search.register(Holdem)
class HoldemViewSearch(ViewSearch[HoldemView]):
    """Search in hold'em; what opponents may hold follows from their model, or from the policy."""

    def __init__(
        self, game: Holdem, settings: MctsSettings, policy: Policy | None = None, expander: Any = None
    ) -> None:
        super().__init__(game, settings, policy, expander)
        self.policy = None if policy is None else require_holdem_policy(policy)
        self._hook: Any = None  # the model for kernels

    @cached_property
    def searcher(self) -> HoldemSearcher:
        """Built on first use."""
        return HoldemSearcher(self.game, self.settings, policy=self.policy, expander=self.expander)

    def search(self, view: HoldemView, seed: int, budget: Budget) -> SearchResult:
        searcher, beliefs = self.searcher, self.beliefs(view)
        return searcher.search(
            view.seat,
            view.hole,
            view.board,
            view.line,
            beliefs=beliefs,
            model=self._hook,
            seed=seed,
            **budget(),
        )

    def use_model(self, model: OpponentModel) -> None:
        self.model, self._hook = model, model.for_search()

    def beliefs(self, view: HoldemView) -> Floats | None:
        """[players, 1326] likelihood of pairs by seat, of its own as opponents see it; None: uniform."""
        if self.model is not None:
            return self._beliefs_by_model(self.model, view)
        return self._beliefs_by_policy(view)

    def _beliefs_by_model(self, model: OpponentModel, view: HoldemView) -> Floats:
        """By the model for opponents, uniform for the own seat."""
        line = model.domain.line(view.line)
        found = np.ones((self.game.players, PAIRS))
        for seat in self.opponents(view):
            found[seat] = model.cards(ObservedHand(seat, line, tuple(view.board), UNKNOWN, tuple(view.hole)))
        return found

    def _beliefs_by_policy(self, view: HoldemView) -> Floats | None:
        if self.policy is None:
            return None
        found, tree, node = np.ones((self.game.players, PAIRS)), self.policy.tree, 0
        for move in view.moves:
            shares = self.policy.of_all_pairs(node, view.board[: BOARD_CARDS[move.street]])
            number = tree.actions(node).index(move.action)
            likely = found[move.seat] * np.maximum(shares[:, number], UNLIKELY)
            found[move.seat] = likely / likely.max()
            node = tree.child(node, number)
        return found

    def _record(
        self, view: HoldemView, model: OpponentModel
    ) -> tuple[tuple[int, ...], tuple[int, ...], dict[int, int], list[tuple[int, ...]]]:
        held = {seat: pair_number(hole) for seat, hole in view.shown.items()}
        cards = [tuple(view.shown.get(seat, ())) for seat in range(self.game.players)]
        cards[view.seat] = tuple(view.hole)
        return model.domain.line(view.line), tuple(view.board), held, cards
