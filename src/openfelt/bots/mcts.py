"""`mcts`: thinks at the table by tree search (PGC10; TAU), without a model of the others."""

from __future__ import annotations

import math
from functools import cached_property

from openfelt.base.random import Dice
from openfelt.bots.bot import Bot, Clock
from openfelt.bots.view import HoldemView, TreeView, View
from openfelt.rules.game import Game
from openfelt.rules.holdem import Holdem
from openfelt.search.mcts import Found, MctsSettings
from openfelt.search.searcher import HoldemSearcher, TreeSearcher

ITERATIONS = 1_000  # a decision without a clock, as in PGC10
SHARE = 0.9  # of the clock that is left, for the search itself
SEEDS = 1 << 53


class MctsBot(Bot):
    """Plays hold'em and games small enough to be compiled."""

    def __init__(
        self, game: Game, settings: MctsSettings | None = None, *, iterations: int = ITERATIONS
    ) -> None:
        super().__init__(game)
        self.settings, self.iterations = settings, iterations

    @cached_property
    def _holdem(self) -> HoldemSearcher:
        return HoldemSearcher(self.game, self.settings)

    @cached_property
    def _tree(self) -> TreeSearcher:
        return TreeSearcher(self.game, self.settings)

    def act(self, view: View, dice: Dice, clock: Clock) -> str:
        return view.actions[self.search(view, int(dice.uniform() * SEEDS), clock.left).picked]

    def search(self, view: View, seed: int = 0, seconds: float = math.inf) -> Found:
        """What it finds: for so many iterations, or for so long where there is a clock."""
        iterations = self.iterations if seconds == math.inf else None
        seconds *= SHARE
        if isinstance(self.game, Holdem):
            assert isinstance(view, HoldemView)
            return self._holdem.search(
                view.seat,
                view.hole,
                view.board,
                view.line,
                iterations=iterations,
                seconds=seconds,
                seed=seed,
            )
        assert isinstance(view, TreeView)
        self._tree.forget()
        return self._tree.search(view.row, iterations=iterations, seconds=seconds, seed=seed)
