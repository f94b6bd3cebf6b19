"""The betting of a hand, in the competition's letters and in our words.

The competition has three letters: `f` folds, `c` checks or calls, `r` bets or raises. In hold'em they are
fold, check or call, bet or raise; in Kuhn poker, whose players pass or bet, `c` passes where there is no bet
and bets where there is one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise

from openfelt.arena.acpc.match_state import CALL, FOLD, RAISE, Hand, MessageError
from openfelt.cards.deck import BOARD_CARDS, CARDS, RANKS, SUITS, card_text
from openfelt.cards.evaluator import hand_value
from openfelt.core.errors import FeltError
from openfelt.games.game import TERMINAL, Game
from openfelt.games.holdem import (
    Betting,
    Holdem,
    HoldemState,
    bet,
    betting_actions,
    is_over,
    players_in,
)
from openfelt.games.kuhn import Kuhn, KuhnState
from openfelt.hands.record import HIDDEN

REMEMBERED = 1 << 14  # lines; two-player hold'em has about as many
UNSEEN = -1  # instead of a card's number
NUMBERS = {card_text(card): card for card in range(CARDS)}


class BettingLine(ABC):
    """What was done so far. Lines do not change: `take` gives the next one."""

    __slots__ = ("letters", "menu", "turn", "words")

    def __init__(self, letters: str, words: tuple[str, ...], turn: int, menu: Mapping[str, str]) -> None:
        self.letters = letters  # as in a message: "rrc/r"
        self.words = words  # the same in our words
        self.turn = turn  # the position to act, or TERMINAL
        self.menu = menu  # the letters that it can choose from, with our words for them

    @property
    def over(self) -> bool:
        return self.turn == TERMINAL

    @property
    def shown(self) -> Sequence[int]:
        """The positions whose cards are shown in the end."""
        inside = self.inside
        return inside if self.over and len(inside) > 1 else ()

    @property
    def idle(self) -> str:
        """The letter for one who does nothing: he checks where he can, and else folds."""
        return FOLD if FOLD in self.menu else CALL

    def letter(self, word: str) -> str:
        """The letter for a word of the menu."""
        return next(letter for letter, known in self.menu.items() if known == word)

    @property
    @abstractmethod
    def inside(self) -> Sequence[int]:
        """The positions that have not folded."""

    @abstractmethod
    def take(self, letter: str) -> BettingLine:
        """The line after an action of the menu."""

    @abstractmethod
    def payoffs(self, dealt: Sequence[str]) -> Sequence[float]:
        """What each position has won in the end, in our chips.

        `dealt` are chance's words in the order of the rules; those that do not matter may be HIDDEN.
        """


class HoldemLine(BettingLine):
    """Of limit hold'em."""

    __slots__ = ("betting", "game")

    def __init__(
        self, game: Holdem, betting: Betting, letters: str = "", words: tuple[str, ...] = ()
    ) -> None:
        over = is_over(betting)
        menu = {} if over else {_HOLDEM_LETTERS[word]: word for word in betting_actions(betting)}
        super().__init__(letters, words, TERMINAL if over else betting.turn, menu)
        self.game, self.betting = game, betting

    @property
    def inside(self) -> Sequence[int]:
        return players_in(self.betting)

    def take(self, letter: str) -> HoldemLine:
        word = self.menu[letter]
        betting = bet(self.betting, word)
        next_round = "/" if betting.street > self.betting.street and not is_over(betting) else ""
        return HoldemLine(self.game, betting, self.letters + letter + next_round, (*self.words, word))

    def payoffs(self, dealt: Sequence[str]) -> Sequence[float]:
        cards = tuple(NUMBERS.get(word, UNSEEN) for word in dealt)
        return self.game.payoffs(HoldemState(cards, self.betting))


_HOLDEM_LETTERS = {"fold": FOLD, "check": CALL, "call": CALL, "bet": RAISE, "raise": RAISE}


class KuhnLine(BettingLine):
    """Of Kuhn poker."""

    __slots__ = ("bets", "game")

    def __init__(self, game: Kuhn, bets: str = "", letters: str = "", words: tuple[str, ...] = ()) -> None:
        turn = game.turn(KuhnState(tuple(range(game.players)), bets))  # whatever was dealt
        menu = {FOLD: "pass", CALL: "bet"} if "b" in bets else {CALL: "pass", RAISE: "bet"}
        super().__init__(letters, words, turn, {} if turn == TERMINAL else menu)
        self.game, self.bets = game, bets

    @property
    def inside(self) -> Sequence[int]:
        passed = self.bets.partition("b")[0]
        answering = range(len(passed) + 1, len(self.bets))  # places; those who pass there fold
        folded = {place % self.game.players for place in answering if self.bets[place] == "p"}
        return [seat for seat in range(self.game.players) if seat not in folded]

    def take(self, letter: str) -> KuhnLine:
        word = self.menu[letter]
        return KuhnLine(self.game, self.bets + word[0], self.letters + letter, (*self.words, word))

    def payoffs(self, dealt: Sequence[str]) -> Sequence[float]:
        cards = tuple(self.game.deck.get(word, UNSEEN) for word in dealt)
        return self.game.payoffs(KuhnState(cards, self.bets))


def first_line(game: Game) -> BettingLine:
    """The line before the first action."""
    if isinstance(game, Holdem):
        return HoldemLine(game, game.start().betting)
    if isinstance(game, Kuhn):
        return KuhnLine(game)
    raise FeltError(f"The competition's protocol is spoken in holdem and kuhn here, not in {game.name}.")


@lru_cache(REMEMBERED)
def follow(game: Game, betting: tuple[str, ...]) -> BettingLine:
    """The line that the letters of a message lead to; a number after a raise is passed over."""
    line = first_line(game)
    letters = "".join(letter for letter in "/".join(betting) if not letter.isdecimal())
    for number, letter in enumerate(letters.replace("/", ""), start=1):
        if letter not in line.menu:
            raise MessageError(f"Action {number} of '{letters[:60]}' is not possible there.")
        line = line.take(letter)
    if line.letters != letters:
        raise MessageError(f"The rounds of '{letters[:60]}' are not separated as in '{line.letters}'.")
    return line


def check_cards(game: Game, hole: Sequence[Hand], board: Sequence[Hand]) -> None:
    """See that the cards are those of the game: how many, and which."""
    if len(hole) != game.players:
        raise MessageError(f"There are cards of {len(hole)} positions; {game.players} play {game.name}.")
    later = [now - before for before, now in pairwise(BOARD_CARDS)]
    counts = later if isinstance(game, Holdem) else []
    if [len(cards) for cards in board] != counts[: len(board)]:
        raise MessageError(f"The board has not as many cards as in {game.name}.")
    each = hole_cards(game)
    known = card_words(game)
    for cards in (*hole, *board):
        if not known.keys() >= set(cards):
            raise MessageError(f"{''.join(cards)} are not cards of {game.name}.")
    if any(len(cards) not in (0, each) for cards in hole):
        raise MessageError(f"A player has {each} hole cards in {game.name}.")


def prepare(game: Game) -> None:
    """Compile now what the first showdown needs, so that nobody has to wait for it later."""
    if isinstance(game, Holdem):
        hand_value(range(7))


def hole_cards(game: Game) -> int:
    """How many each player gets."""
    return 2 if isinstance(game, Holdem) else 1


@cache
def card_words(game: Game) -> dict[str, str]:
    """The competition's cards, with our words for them.

    A deck of fewer ranks has the highest ones there, and one of fewer suits the last ones: in Kuhn poker for
    two the cards are Qs, Ks and As, our J, Q and K.
    """
    if isinstance(game, Kuhn):
        return {
            rank + SUITS[-1]: word for rank, word in zip(RANKS[-len(game.deck) :], game.deck, strict=True)
        }
    return {name: name for name in NUMBERS}


def dealt_words(game: Game, hole: Sequence[Hand], board: Sequence[Hand]) -> tuple[str, ...]:
    """Chance's words in the order of the rules, with HIDDEN for what is not seen."""
    words, hidden = card_words(game), (HIDDEN,) * hole_cards(game)
    own = [words.get(card, card) for cards in hole for card in cards or hidden]
    return (*own, *(words[card] for cards in board for card in cards))
