"""Rule players at the table: always-raise, always-call, always-fold, random and probe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from openfelt.bots.policy_bot import KERNEL_WEIGHTS, PolicyBot
from openfelt.bots.view import View
from openfelt.core.errors import FeltError
from openfelt.games.compile.tree import Tree
from openfelt.games.game import Game
from openfelt.policy.holdem import WHOLE
from openfelt.policy.rules import RANDOM, rule_probabilities, rule_table, rule_weights


class RuleBot(PolicyBot[View]):
    """Plays any poker game (and `random` any game) by a rule that ignores its cards."""

    def __init__(self, rule: str, game: Game) -> None:
        super().__init__(game)
        if rule != RANDOM and not game.is_poker:
            raise FeltError(f"{rule} plays poker, not {game.name}.")
        self.rule: str = rule
        self._in_255ths = not game.is_enumerable  # as policies of hold'em are
        self.whole = WHOLE if self._in_255ths else 1.0

    def weights(self, view: View) -> Sequence[float]:
        passive = 0 if self.rule == RANDOM else view.actions.index(view.passive)
        weights = rule_weights if self._in_255ths else rule_probabilities
        return weights(self.rule, len(view.actions), passive)

    def _table(self, tree: Tree) -> NDArray[Any]:
        return rule_table(tree, self.rule)


KERNEL_WEIGHTS.append(RuleBot.weights)
