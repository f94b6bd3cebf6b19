"""Leduc hold'em at the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from openfelt.core.errors import FeltError
from openfelt.games.leduc import MOST_RAISES, RAISE, Leduc, LeducState
from openfelt.table.presentation.presentation import Chips, Presentation
from openfelt.table.presentation.text import ranks_text

MOST_RANKS = {2: 6, 3: 4}  # by players: larger trees take seconds to compile
STANDARD_RANKS = 3
ANTE = 1


class LeducPresentation(Presentation[Leduc]):
    """One card each and one on the board, without suits."""

    board_size: ClassVar[int] = 1
    streets: ClassVar[tuple[str, ...]] = ("first round", "second round")

    def require_playable(self) -> None:
        game, most = self.game, MOST_RANKS[self.game.players]
        if game.ranks > most:
            raise FeltError(
                f"At the table leduc has at most {most} ranks with {game.players} players, not {game.ranks}."
            )

    @property
    def title(self) -> str:
        ranks = f", {self.game.ranks} ranks" if self.game.ranks != STANDARD_RANKS else ""
        return f"Leduc hold'em{', three-handed' if self.game.players == 3 else ''}{ranks}"

    @property
    def deck(self) -> list[str]:
        return [rank for rank in self.game.deck for _ in range(2)]

    @property
    def largest_loss(self) -> float:
        return ANTE + MOST_RAISES * sum(RAISE)

    @property
    def forced_bets(self) -> tuple[float, ...]:
        return (ANTE,) * self.game.players

    def chips(self, state: LeducState) -> Chips:
        increment = RAISE[bool(state.board)]
        level = max(state.paid) - state.raises * increment  # paid before this round
        bets = tuple(max(0, paid - level) for paid in state.paid)
        return Chips(state.paid, bets, state.folded, increment, self.streets[bool(state.board)])

    def deal_text(self, cards: Sequence[str], dealt: int) -> str:
        if self.is_board(dealt):
            return f"The board card: {cards[0]}."
        return super().deal_text(cards, dealt)

    def hand_name(self, hole: Sequence[str], board: Sequence[str]) -> str:
        return f"a pair of {ranks_text(hole[0])}" if hole == board else ""
