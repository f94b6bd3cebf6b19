"""Betting lines in the letters of the ACPC protocol and in the actions of our rules.

The protocol has three letters: `f` folds, `c` checks or calls, `r` bets or raises. In hold'em they are fold,
check or call, bet or raise. In Kuhn poker, where players pass or bet, `c` passes before a bet and bets after
one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from openfelt.arena.acpc.match_state import CALL, FOLD, RAISE
from openfelt.games.game import TERMINAL
from openfelt.games.holdem import (
    CARD_NUMBERS,
    Betting,
    Holdem,
    HoldemState,
    bet,
    betting_actions,
    is_over,
    players_in,
)
from openfelt.games.kuhn import Kuhn, KuhnState

UNKNOWN_CARD = -1  # instead of a card's number
HOLDEM_LETTERS = {"fold": FOLD, "check": CALL, "call": CALL, "bet": RAISE, "raise": RAISE}


class BettingLine(ABC):
    """The actions so far. Lines are immutable: `take` returns the next one."""

    __slots__ = ("actions", "legal", "letters", "turn")

    def __init__(self, letters: str, actions: tuple[str, ...], turn: int, legal: Mapping[str, str]) -> None:
        self.letters = letters  # as in a message: "rrc/r"
        self.actions = actions  # the same, as actions of our rules
        self.turn = turn  # the position to act, or TERMINAL
        self.legal = legal  # the letters to choose from, with our actions

    @property
    def over(self) -> bool:
        return self.turn == TERMINAL

    @property
    def shown(self) -> Sequence[int]:
        """The positions whose cards are shown at the end."""
        remaining = self.remaining
        return remaining if self.over and len(remaining) > 1 else ()

    @property
    def check_or_fold(self) -> str:
        """The letter that checks if that is possible, else folds."""
        return FOLD if FOLD in self.legal else CALL

    def letter(self, action: str) -> str:
        """The letter of a legal action."""
        return next(letter for letter, legal in self.legal.items() if legal == action)

    @property
    @abstractmethod
    def remaining(self) -> Sequence[int]:
        """The positions that have not folded."""

    @abstractmethod
    def take(self, letter: str) -> BettingLine:
        """The line after a legal action."""

    @abstractmethod
    def payoffs(self, dealt: Sequence[str]) -> Sequence[float]:
        """What each position has won at the end, in our chips.

        `dealt` are the cards in the order of the rules; those that do not matter may be HIDDEN.
        """


class HoldemLine(BettingLine):
    """A betting line of limit hold'em."""

    __slots__ = ("betting", "game")

    def __init__(
        self, game: Holdem, betting: Betting, letters: str = "", actions: tuple[str, ...] = ()
    ) -> None:
        over = is_over(betting)
        legal = {} if over else {HOLDEM_LETTERS[action]: action for action in betting_actions(betting)}
        super().__init__(letters, actions, TERMINAL if over else betting.turn, legal)
        self.game, self.betting = game, betting

    @property
    def remaining(self) -> Sequence[int]:
        return players_in(self.betting)

    def take(self, letter: str) -> HoldemLine:
        action = self.legal[letter]
        betting = bet(self.betting, action)
        next_round = "/" if betting.street > self.betting.street and not is_over(betting) else ""
        return HoldemLine(self.game, betting, self.letters + letter + next_round, (*self.actions, action))

    def payoffs(self, dealt: Sequence[str]) -> Sequence[float]:
        cards = tuple(CARD_NUMBERS.get(card, UNKNOWN_CARD) for card in dealt)
        return self.game.payoffs(HoldemState(cards, self.betting))


class KuhnLine(BettingLine):
    """A betting line of Kuhn poker."""

    __slots__ = ("bets", "game")

    def __init__(self, game: Kuhn, bets: str = "", letters: str = "", actions: tuple[str, ...] = ()) -> None:
        turn = game.turn(KuhnState(tuple(range(game.players)), bets))  # with any cards
        legal = {FOLD: "pass", CALL: "bet"} if "b" in bets else {CALL: "pass", RAISE: "bet"}
        super().__init__(letters, actions, turn, {} if turn == TERMINAL else legal)
        self.game, self.bets = game, bets

    @property
    def remaining(self) -> Sequence[int]:
        passed = self.bets.partition("b")[0]
        after_bet = range(len(passed) + 1, len(self.bets))  # to pass there is to fold
        folded = {place % self.game.players for place in after_bet if self.bets[place] == "p"}
        return [seat for seat in range(self.game.players) if seat not in folded]

    def take(self, letter: str) -> KuhnLine:
        action = self.legal[letter]
        return KuhnLine(self.game, self.bets + action[0], self.letters + letter, (*self.actions, action))

    def payoffs(self, dealt: Sequence[str]) -> Sequence[float]:
        cards = tuple(self.game.deck.get(card, UNKNOWN_CARD) for card in dealt)
        return self.game.payoffs(KuhnState(cards, self.bets))
