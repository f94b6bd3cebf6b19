"""What one seat sees of a hand: its own cards, the board, all actions. This is all that a bot is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import singledispatch
from typing import TYPE_CHECKING, Any, NamedTuple

from openfelt.cards.deck import BOARD_CARDS, cards_text
from openfelt.games.compile.compiler import compile_game
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.game import CHANCE, TERMINAL, Game
from openfelt.games.hand import Hand
from openfelt.games.holdem import (
    Betting,
    Holdem,
    bet,
    betting_actions,
    first_betting,
    is_over,
)
from openfelt.hands.record import HIDDEN

if TYPE_CHECKING:
    from typing_extensions import TypeVar
else:
    from typing import TypeVar


class View:
    """What a seat sees when it is to act, or when the hand is over."""

    __slots__ = ("actions", "game", "seat")

    def __init__(self, game: Game, seat: int, actions: Sequence[str]) -> None:
        self.game, self.seat = game, seat
        self.actions = actions  # in the order of the rules; () when the hand is over

    @property
    def infoset(self) -> str:
        """Everything that the seat has observed, in words."""
        raise NotImplementedError

    @property
    def passive(self) -> str:
        """The action that checks or calls."""
        raise NotImplementedError


if TYPE_CHECKING:
    ViewType = TypeVar("ViewType", bound=View, default=Any)
else:
    ViewType = TypeVar("ViewType", bound=View)


class TreeView(View):
    """The view of a seat in an enumerated game: an infoset of its tree."""

    __slots__ = ("dealt", "line", "row", "tree")

    def __init__(
        self,
        game: Game,
        seat: int,
        actions: Sequence[str],
        tree: GameTree,
        row: int,
        dealt: Sequence[str] = (),
        line: Sequence[str] = (),
    ) -> None:
        super().__init__(game, seat, actions)
        self.tree, self.row = tree, row  # row: number of the infoset; -1 when the hand is over, and then:
        self.dealt = dealt  # chance's outcomes, HIDDEN where this seat did not observe them
        self.line = line  # all actions

    @property
    def infoset(self) -> str:
        return self.tree.row_name(self.row) if self.row >= 0 else ""

    @property
    def passive(self) -> str:
        return self.actions[int(self.tree.betting.passive[self.row])]


class Move(NamedTuple):
    """One action in hold'em."""

    seat: int
    street: int
    action: str  # fold, check, call, bet, raise
    before: Betting  # the betting that the player faced


class HoldemView(View):
    """The view of a seat in limit hold'em."""

    __slots__ = ("_moves", "board", "hole", "line", "rules", "shown")

    def __init__(
        self,
        game: Holdem,
        seat: int,
        actions: Sequence[str],
        hole: Sequence[int],
        board: Sequence[int],
        line: Sequence[str],
        shown: Mapping[int, Sequence[int]] | None = None,
    ) -> None:
        super().__init__(game, seat, actions)
        self.rules = game
        self.hole, self.board = hole, board  # cards as numbers (cards/deck.py)
        self.line = line  # all actions since the blinds
        self.shown = shown or {}  # hole cards shown at showdown, by seat, when the hand is over
        self._moves: tuple[list[Move], Betting] | None = None

    def _replay(self) -> tuple[list[Move], Betting]:
        if self._moves is None:
            betting, moves = first_betting(self.rules.players, self.rules.bets), []
            for action in self.line:
                moves.append(Move(betting.turn, betting.street, action, betting))
                betting = bet(betting, action)
            self._moves = moves, betting
        return self._moves

    @property
    def betting(self) -> Betting:
        """The state of the betting: street, chips paid by each seat, who has folded, and so on."""
        return self._replay()[1]

    @property
    def moves(self) -> list[Move]:
        """All actions since the blinds, with seat and street."""
        return self._replay()[0]

    @property
    def street(self) -> int:
        """0 before the flop, 3 on the river."""
        return BOARD_CARDS.index(len(self.board))

    @property
    def pot(self) -> int:
        """Chips in the pot, with all bets."""
        return sum(self.betting.paid)

    @property
    def to_call(self) -> int:
        """Chips that this seat must add to call."""
        return max(self.betting.paid) - self.betting.paid[self.seat]

    @property
    def infoset(self) -> str:
        cards = " ".join(cards_text(some) for some in (self.hole, self.board) if len(some))
        return f"{cards}: {' '.join(self.line) or 'first to act'}"

    @property
    def passive(self) -> str:
        return "call" if "call" in self.actions else "check"


def holdem_view(
    game: Holdem, seat: int, hole: Sequence[int], board: Sequence[int], line: Sequence[str]
) -> HoldemView:
    """The view of a seat after a betting line; the legal actions follow from the rules."""
    view = HoldemView(game, seat, (), hole, board, line)
    betting = view.betting
    if not is_over(betting) and betting.turn == seat:
        view.actions = betting_actions(betting)
    return view


def view_of(hand: Hand, seat: int | None = None) -> View:
    """What a seat sees of a hand in progress; by default the seat that is to act."""
    return _view(hand.game, hand, hand.mover if seat is None else seat)


@singledispatch
def _view(game: Game, hand: Hand, seat: int) -> View:
    mover, tree, node = hand.mover, compile_game(game), 0
    for step in hand.steps:
        node = int(tree.nodes.first_child[node]) + step.number
    if mover == TERMINAL:
        return TreeView(game, seat, (), tree, -1, *_observed_at_end(hand, seat))
    if mover != seat:
        return TreeView(game, seat, (), tree, -1)
    return TreeView(game, seat, hand.actions, tree, int(tree.nodes.row[node]))


@_view.register
def _(game: Holdem, hand: Hand, seat: int) -> HoldemView:
    line = [step.action for step in hand.steps if step.mover != CHANCE]
    seats = game.shown(hand.state) if hand.mover == TERMINAL else ()
    shown = {other: game.hole(hand.state, other) for other in seats}
    actions = hand.actions if hand.mover == seat else ()
    return HoldemView(game, seat, actions, game.hole(hand.state, seat), game.board(hand.state), line, shown)


def _observed_at_end(hand: Hand, seat: int) -> tuple[list[str], list[str]]:
    """Chance's outcomes as far as a seat knows them at the end of an enumerated game, and all actions."""
    observers = [seat, *hand.game.shown(hand.state)]
    dealt = [
        step.action if any(step.seen[each] for each in observers) else HIDDEN
        for step in hand.steps
        if step.mover == CHANCE
    ]
    return dealt, [step.action for step in hand.steps if step.mover != CHANCE]
