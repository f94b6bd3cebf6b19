"""Kuhn poker at the table."""

from __future__ import annotations

from typing import ClassVar

from openfelt.games.game import CHANCE
from openfelt.games.hand import Hand
from openfelt.games.kuhn import Kuhn, KuhnState
from openfelt.table.presentation.presentation import CALL, CHECK, FOLD, RAISE, Chips, Presentation


class KuhnPresentation(Presentation[Kuhn]):
    """Its rules have two words, pass and bet, for the four actions of poker."""

    streets: ClassVar[tuple[str, ...]] = ("the only round",)

    @property
    def title(self) -> str:
        pot = f", a pot of {self.game.pot:g}" if self.game.pot else ""
        return f"Kuhn poker{', three-handed' if self.game.players == 3 else ''}{pot}"

    @property
    def deck(self) -> list[str]:
        return list(self.game.deck)

    @property
    def largest_loss(self) -> float:
        return self.game.ante + 1

    @property
    def forced_bets(self) -> tuple[float, ...]:
        return (self.game.ante,) * self.game.players

    def chips(self, state: KuhnState) -> Chips:
        players, first_bet = self.game.players, state.bets.find("b")
        bets, folded = [0.0] * players, [False] * players
        for place, letter in enumerate(state.bets):
            bets[place % players] += letter == "b"
            folded[place % players] |= letter == "p" and 0 <= first_bet < place
        paid = tuple(self.game.ante + bet for bet in bets)
        return Chips(paid, tuple(bets), tuple(folded), 1, self.streets[0])

    def action_kind(self, state: KuhnState, action: str) -> str:
        facing = "b" in state.bets
        return (CALL if facing else RAISE) if action == "bet" else (FOLD if facing else CHECK)

    def infoset_text(self, hand: Hand, infoset: str) -> str:
        words = [
            self.action_name(state, step.action)
            for step, state in zip(hand.steps, hand.states, strict=True)
            if step.mover != CHANCE
        ]
        return " ".join([hand.steps[hand.mover].action, *words])
