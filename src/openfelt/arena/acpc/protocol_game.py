"""The games that can be played over the ACPC protocol: their cards, betting and views.

All that depends on the game is here; the other modules of this package get a `ProtocolGame`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cache, lru_cache, singledispatch
from itertools import pairwise

from openfelt.arena.acpc.betting_line import BettingLine, HoldemLine, KuhnLine
from openfelt.arena.acpc.game_definition import GameDefinition
from openfelt.arena.acpc.match_state import SIZED_RAISE, CardNames, MatchState, MessageError
from openfelt.bots.view import HoldemView, TreeView, View
from openfelt.cards.deck import BOARD_CARDS, RANKS, STREETS, SUITS
from openfelt.cards.evaluator import hand_value
from openfelt.core.errors import FeltError
from openfelt.games.compile.compiler import compile_game
from openfelt.games.game import Game
from openfelt.games.holdem import BET, BLINDS, CARD_NUMBERS, FIRST, Holdem
from openfelt.games.kuhn import Kuhn
from openfelt.hands.record import HIDDEN

CACHED_LINES = 1 << 14  # about the number of lines of two-player hold'em


class ProtocolGame(ABC):
    """One of our games in the terms of the protocol."""

    hole_cards: int  # of each player
    board_cards: tuple[int, ...]  # dealt in each round after the first

    @abstractmethod
    def first_line(self) -> BettingLine:
        """The line before the first action."""

    @abstractmethod
    def card_names(self) -> dict[str, str]:
        """The protocol's cards, with our names for them."""

    @abstractmethod
    def view(self, state: MatchState, line: BettingLine) -> View:
        """What a bot sees of a message."""

    @abstractmethod
    def definition(self, chip: int | None) -> tuple[GameDefinition, Fraction]:
        """The definition, and how many of its chips one of ours is; by default those of the ACPC server."""

    @abstractmethod
    def prepare(self) -> None:
        """Compile what the first showdown needs, so that no player has to wait for it later."""


class HoldemProtocol(ProtocolGame):
    """Limit hold'em."""

    hole_cards = 2
    board_cards = tuple(now - before for before, now in pairwise(BOARD_CARDS))

    def __init__(self, game: Holdem) -> None:
        self.game = game

    def first_line(self) -> HoldemLine:
        return HoldemLine(self.game, self.game.start().betting)

    def card_names(self) -> dict[str, str]:
        return {name: name for name in CARD_NUMBERS}

    def view(self, state: MatchState, line: BettingLine) -> HoldemView:
        seat = state.position
        hole = [tuple(CARD_NUMBERS[card] for card in cards) for cards in state.hole]
        board = tuple(CARD_NUMBERS[card] for cards in state.board for card in cards)
        shown = {position: hole[position] for position in line.shown}
        return HoldemView(self.game, seat, _actions(state, line), hole[seat], board, line.actions, shown)

    def definition(self, chip: int | None) -> tuple[GameDefinition, Fraction]:
        return holdem_definition(self.game, chip or 5), Fraction(chip or 5)

    def prepare(self) -> None:
        hand_value(range(7))


class KuhnProtocol(ProtocolGame):
    """Kuhn poker.

    A deck of fewer ranks has the highest ones in the protocol, and one of fewer suits the last ones: with two
    players the cards are Qs, Ks and As, our J, Q and K.
    """

    hole_cards = 1
    board_cards = ()

    def __init__(self, game: Kuhn) -> None:
        self.game = game

    def first_line(self) -> KuhnLine:
        return KuhnLine(self.game)

    def card_names(self) -> dict[str, str]:
        ranks = RANKS[-len(self.game.deck) :]
        return {rank + SUITS[-1]: name for rank, name in zip(ranks, self.game.deck, strict=True)}

    def view(self, state: MatchState, line: BettingLine) -> TreeView:
        seat, tree = state.position, compile_game(self.game)
        actions = _actions(state, line)
        infoset = " ".join([card_names(self.game)[state.hole[seat][0]], *line.actions])
        row = tree.find_row(seat, infoset) if actions else -1
        dealt = dealt_words(self.game, state.hole, state.board)
        return TreeView(self.game, seat, actions, tree, row, dealt, line.actions)

    def definition(self, chip: int | None) -> tuple[GameDefinition, Fraction]:
        ante = Fraction(self.game.ante).limit_denominator(1000)
        if ante != Fraction(self.game.ante):
            raise FeltError(f"The antes of {self.game.name} are not a whole number of a definition's chips.")
        scale = (chip or 1) * ante.denominator
        return kuhn_definition(self.game, int(ante * scale), scale), Fraction(scale)

    def prepare(self) -> None:
        pass


def _actions(state: MatchState, line: BettingLine) -> tuple[str, ...]:
    """The actions of the player that gets the message, in the order of the rules.

    That is the order of the letters: f, c, r in hold'em; c, r and f, c in Kuhn poker.
    """
    return tuple(line.legal.values()) if line.turn == state.position else ()


@cache
def protocol_game(game: Game) -> ProtocolGame:
    """A game in the terms of the protocol."""
    return _protocol_game(game)


@singledispatch
def _protocol_game(game: Game) -> ProtocolGame:
    raise FeltError(f"The ACPC protocol is available for holdem and kuhn, not for {game.name}.")


_protocol_game.register(Holdem, HoldemProtocol)
_protocol_game.register(Kuhn, KuhnProtocol)


def holdem_definition(game: Holdem, chip: int) -> GameDefinition:
    """The definition of hold'em, with that many of its chips to one of ours."""
    return GameDefinition(
        players=game.players,
        rounds=len(STREETS),
        blinds=tuple(chip * blind for blind in BLINDS[game.players]),
        raises=tuple(chip * bet for bet in BET),
        first=(FIRST[game.players] + 1, 1, 1, 1),
        most_raises=(game.bets - 1, game.bets, game.bets, game.bets),  # the big blind is the first bet
        suits=len(SUITS),
        ranks=len(RANKS),
        hole_cards=2,
        board_cards=(0, *HoldemProtocol.board_cards),
    )


def kuhn_definition(game: Kuhn, ante: int, bet: int) -> GameDefinition:
    """The definition of Kuhn poker, with these chips."""
    return GameDefinition(
        players=game.players,
        rounds=1,
        blinds=(ante,) * game.players,
        raises=(bet,),
        first=(1,),
        most_raises=(1,),
        suits=1,
        ranks=len(game.deck),
        hole_cards=1,
        board_cards=(0,),
    )


def first_line(game: Game) -> BettingLine:
    """The line before the first action."""
    return protocol_game(game).first_line()


@cache
def card_names(game: Game) -> dict[str, str]:
    """The protocol's cards, with our names for them."""
    return protocol_game(game).card_names()


@lru_cache(CACHED_LINES)
def follow(game: Game, betting: tuple[str, ...]) -> BettingLine:
    """The line of the letters of a message."""
    line, letters = first_line(game), "/".join(betting)
    if sized := SIZED_RAISE.search(letters):
        raise MessageError(
            f"'{sized[0]}' raises to an amount, as in a no-limit game, but {game.name} is a limit game."
        )
    for number, letter in enumerate(letters.replace("/", ""), start=1):
        if letter not in line.legal:
            raise MessageError(f"Action {number} of '{letters[:60]}' is not possible there.")
        line = line.take(letter)
    if line.letters != letters:
        raise MessageError(f"The rounds of '{letters[:60]}' are not separated as in '{line.letters}'.")
    return line


def check_cards(game: Game, hole: Sequence[CardNames], board: Sequence[CardNames]) -> None:
    """Raise if the cards are not of the game, or their numbers wrong."""
    protocol, names = protocol_game(game), card_names(game)
    if len(hole) != game.players:
        raise MessageError(f"The number of players is {len(hole)}, but {game.name} has {game.players}.")
    if [len(cards) for cards in board] != list(protocol.board_cards[: len(board)]):
        raise MessageError(f"The number of board cards is not that of {game.name}.")
    for cards in (*hole, *board):
        if not names.keys() >= set(cards):
            raise MessageError(f"{''.join(cards)} are not cards of {game.name}.")
    if any(len(cards) not in (0, protocol.hole_cards) for cards in hole):
        raise MessageError(f"A player has {protocol.hole_cards} hole cards in {game.name}.")


def match_line(game: Game, state: MatchState) -> BettingLine:
    """The line of a message; raises MessageError if it cannot be a message of the game."""
    check_cards(game, state.hole, state.board)
    line = follow(game, state.betting)
    if any(not state.hole[position] for position in line.shown):
        raise MessageError("The cards of a showdown are missing.")
    return line


def dealt_words(game: Game, hole: Sequence[CardNames], board: Sequence[CardNames]) -> tuple[str, ...]:
    """The cards in the order of the rules, by our names, with HIDDEN for those not seen."""
    names, hidden = card_names(game), (HIDDEN,) * protocol_game(game).hole_cards
    own = [names.get(card, card) for cards in hole for card in cards or hidden]
    return (*own, *(names[card] for cards in board for card in cards))
