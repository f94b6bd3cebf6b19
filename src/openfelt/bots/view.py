"""What one seat sees of a hand: its own cards, what is on the table, what everybody did. No more.

This is all that a bot is given, whoever deals: the arena, a table, or a dealer of the competition's protocol.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

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


class View:
    """What a seat sees when it is to act, or when the hand is over."""

    __slots__ = ("actions", "game", "seat")

    def __init__(self, game: Game, seat: int, actions: Sequence[str]) -> None:
        self.game, self.seat = game, seat
        self.actions = actions  # what it can do, in the order of the rules; () when the hand is over

    @property
    def knew(self) -> str:
        """Everything that the seat has seen, in words."""
        raise NotImplementedError

    @property
    def passive(self) -> str:
        """The action that checks or calls."""
        raise NotImplementedError


class TreeView(View):
    """Of an enumerated game: the information state, as a row of its tree."""

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
        self.tree, self.row = tree, row  # -1 when the hand is over; then also:
        self.dealt = dealt  # chance's words, HIDDEN where this seat did not see them and they were not shown
        self.line = line  # the words of all actions

    @property
    def knew(self) -> str:
        return self.tree.row_name(self.row) if self.row >= 0 else ""

    @property
    def passive(self) -> str:
        return self.actions[int(self.tree.betting.passive[self.row])]


class Move(NamedTuple):
    """What somebody did in hold'em."""

    seat: int
    street: int
    action: str  # fold, check, call, bet, raise
    before: Betting  # the betting that he faced


class HoldemView(View):
    """Of limit hold'em."""

    __slots__ = ("_moves", "board", "hole", "line", "shown")

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
        self.hole, self.board = hole, board  # cards as numbers (cards/deck.py)
        self.line = line  # the words of all actions since the blinds
        self.shown = shown or {}  # the hole cards that were shown, by seat, once the hand is over
        self._moves: tuple[list[Move], Betting] | None = None

    def _replay(self) -> tuple[list[Move], Betting]:
        if self._moves is None:
            assert isinstance(self.game, Holdem)
            betting, moves = first_betting(self.game.players, self.game.bets), []
            for word in self.line:
                moves.append(Move(betting.turn, betting.street, word, betting))
                betting = bet(betting, word)
            self._moves = moves, betting
        return self._moves

    @property
    def betting(self) -> Betting:
        """What has been bet, by the rules: street, chips paid by each seat, who folded, and so on."""
        return self._replay()[1]

    @property
    def moves(self) -> list[Move]:
        """All actions since the blinds, with who took them and when."""
        return self._replay()[0]

    @property
    def street(self) -> int:
        """0 before the flop, to 3 on the river."""
        return BOARD_CARDS.index(len(self.board))

    @property
    def pot(self) -> int:
        """Chips in the middle, with all bets."""
        return sum(self.betting.paid)

    @property
    def to_call(self) -> int:
        """Chips that this seat must add to stay in."""
        return max(self.betting.paid) - self.betting.paid[self.seat]

    @property
    def knew(self) -> str:
        cards = " ".join(cards_text(some) for some in (self.hole, self.board) if len(some))
        return f"{cards}: {' '.join(self.line) or 'first to act'}"

    @property
    def passive(self) -> str:
        return "call" if "call" in self.actions else "check"


def holdem_view(
    game: Holdem, seat: int, hole: Sequence[int], board: Sequence[int], line: Sequence[str]
) -> HoldemView:
    """The view of a seat after a line of actions; what it can do follows from the rules."""
    view = HoldemView(game, seat, (), hole, board, line)
    betting = view.betting
    if not is_over(betting) and betting.turn == seat:
        view.actions = betting_actions(betting)
    return view


def view_of(hand: Hand, seat: int | None = None) -> View:
    """What a seat sees of a hand that somebody deals step by step; by default the seat that is to move."""
    mover = hand.mover
    seat = mover if seat is None else seat
    actions = hand.actions if mover == seat else ()
    game = hand.game
    if isinstance(game, Holdem):
        line = [step.action for step in hand.steps if step.mover != CHANCE]
        seats = game.shown(hand.state) if mover == TERMINAL else ()
        shown = {other: game.hole(hand.state, other) for other in seats}
        return HoldemView(
            game, seat, actions, game.hole(hand.state, seat), game.board(hand.state), line, shown
        )
    tree, node = compile_game(game), 0
    for step in hand.steps:
        node = int(tree.nodes.first_child[node]) + step.number
    if mover == TERMINAL:
        return TreeView(game, seat, (), tree, -1, *_seen_in_the_end(hand, seat))
    return TreeView(game, seat, actions, tree, int(tree.nodes.row[node]) if mover == seat else -1)


def _seen_in_the_end(hand: Hand, seat: int) -> tuple[list[str], list[str]]:
    """What was dealt and done, as far as a seat knows when a hand of an enumerated game is over."""
    eyes = [seat, *hand.game.shown(hand.state)]
    dealt = [
        step.action if any(step.seen[each] for each in eyes) else HIDDEN
        for step in hand.steps
        if step.mover == CHANCE
    ]
    return dealt, [step.action for step in hand.steps if step.mover != CHANCE]
