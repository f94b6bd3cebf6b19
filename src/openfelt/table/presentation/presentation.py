"""What the table needs to know of a poker game besides its rules."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from openfelt.games.game import Game
from openfelt.games.hand import Hand
from openfelt.table.presentation.text import amount

FOLD, CHECK, CALL, RAISE = "fold", "check", "call", "raise"  # kinds of actions; a bet is a RAISE
PLACES = ("first", "second", "third")

GameType = TypeVar("GameType", bound=Game)


class Chips(NamedTuple):
    """Chips in a state of a hand, by seat."""

    paid: tuple[float, ...]  # in this hand
    bets: tuple[float, ...]  # in this betting round
    folded: tuple[bool, ...]
    increment: float  # of a bet or raise in this betting round
    street: str


class Presentation(ABC, Generic[GameType]):
    """How a game is dealt, shown and described. The defaults are those of games with one card and antes.

    Chance deals the cards seat by seat, then the board. The button is in the last seat.
    """

    hole_size: ClassVar[int] = 1  # private cards of a player
    board_size: ClassVar[int] = 0
    streets: ClassVar[tuple[str, ...]]  # the betting rounds
    big_blind: ClassVar[float | None] = None  # in chips, if winnings are measured in big blinds

    def __init__(self, game: GameType) -> None:
        self.game = game

    def require_playable(self) -> None:
        """Raise if the table does not offer the game with these parameters."""

    @property
    @abstractmethod
    def title(self) -> str:
        """Name of the game on the pages."""

    @property
    @abstractmethod
    def deck(self) -> list[str]:
        """The cards in their order before the shuffle, in chance's words."""

    @property
    @abstractmethod
    def largest_loss(self) -> float:
        """The most chips that a player can lose in a hand."""

    @property
    @abstractmethod
    def forced_bets(self) -> tuple[float, ...]:
        """Chips that each seat pays before the deal."""

    @property
    def forced_bet_names(self) -> tuple[str, ...]:
        """What each seat's forced bet is called; empty if it pays none."""
        return ("ante",) * self.game.players

    @property
    def button(self) -> int:
        """The seat of the dealer button."""
        return self.game.players - 1

    @abstractmethod
    def chips(self, state: Any) -> Chips:
        """The chips in a state."""

    def action_kind(self, state: Any, action: str) -> str:
        """FOLD, CHECK, CALL or RAISE."""
        return RAISE if action == "bet" else action

    def action_name(self, state: Any, action: str) -> str:
        """What poker players call an action."""
        kind = self.action_kind(state, action)
        return action if kind == RAISE else kind

    def infoset_text(self, hand: Hand, infoset: str) -> str:
        """The infoset of the player to act, in the words of poker players."""
        return infoset

    def position(self, seat: int) -> str:
        """What poker players call the place of a seat."""
        return f"{PLACES[seat]} to act"

    def opening(self, names: Sequence[str], seat: int) -> str:
        """Who posts what, for the player in `seat`."""
        return f"Everyone antes {amount(self.forced_bets[0])}. You act {PLACES[seat]}."

    def deal_text(self, cards: Sequence[str], dealt: int) -> str:
        """The cards that a player has just seen; `dealt` is the number of cards dealt to all so far."""
        return f"Your card: {cards[0]}."

    def hand_name(self, hole: Sequence[str], board: Sequence[str]) -> str:
        """The poker hand of a player; empty if the card says it all."""
        return ""

    def showdown_names(self, holes: Sequence[Sequence[str]], board: Sequence[str]) -> list[str]:
        """The poker hands at showdown, with kickers where they decide."""
        return [self.hand_name(hole, board) for hole in holes]

    def is_board(self, dealt: int) -> bool:
        """Whether the last of that many dealt cards is on the board."""
        return dealt > self.hole_size * self.game.players
