"""The players that never look at their cards: always-raise, always-call, always-fold, random and probe."""

from __future__ import annotations

from collections.abc import Sequence

from openfelt.bots.policy_bot import PolicyBot
from openfelt.bots.view import View
from openfelt.core.errors import FeltError
from openfelt.games.game import Game
from openfelt.games.holdem import Holdem
from openfelt.games.kuhn import OneCardBetting
from openfelt.games.leduc import Leduc
from openfelt.policy.holdem import RULES, WHOLE, rule_weights

POKER = (Holdem, Leduc, OneCardBetting)
RANDOM = "random"  # the one that plays any game


class RuleBot(PolicyBot):
    """Plays any poker game (and `random` any game) by the same few weights at each decision."""

    def __init__(self, rule: str, game: Game) -> None:
        super().__init__(game)
        if rule != RANDOM and not isinstance(game, POKER):
            raise FeltError(f"{rule} plays poker, not {game.name}.")
        self.rule = rule
        self._in_parts = isinstance(game, Holdem)  # of 255, as policies of hold'em are
        self.whole = WHOLE if self._in_parts else 1.0

    def weights(self, view: View) -> Sequence[float]:
        place = 0 if self.rule == RANDOM else view.actions.index(view.passive)
        if self._in_parts:
            return rule_weights(self.rule, len(view.actions), place)
        shares = RULES[self.rule](len(view.actions), place)
        return [share / sum(shares) for share in shares]
