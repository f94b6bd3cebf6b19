"""A policy at the table: from what its seat has seen to an action. It needs no tables of cards."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence

from openfelt.bots.bot import Bot, Clock
from openfelt.bots.view import HoldemView, TreeView, View
from openfelt.cards.boards import CARD_AS, find_board
from openfelt.cards.deck import BOARD_CARDS, PAIR, STREETS
from openfelt.core.errors import FeltError
from openfelt.core.random import Dice
from openfelt.games.game import Game
from openfelt.games.hand import Thought
from openfelt.games.holdem import Holdem
from openfelt.policy.files import AnyPolicy
from openfelt.policy.holdem import WHOLE, HoldemPolicy
from openfelt.policy.tabular import Policy


class PolicyBot(Bot):
    """Plays any seat by a policy."""

    def act(self, view: View, dice: Dice, clock: Clock) -> str:
        chance = dice.uniform() * self.whole
        for action, weight in zip(view.actions, self.weights(view), strict=True):
            chance -= weight
            if chance < 0:
                return action
        return view.actions[-1]

    whole: float = 1.0  # what the weights of a row sum to

    @abstractmethod
    def weights(self, view: View) -> Sequence[float]:
        """For each action a number in proportion to its probability."""

    def think(self, view: View) -> Thought:
        shares = tuple(weight / self.whole for weight in self.weights(view))
        return Thought(self.knew(view), shares)

    def knew(self, view: View) -> str:
        """What it went by, in words."""
        return view.knew


def policy_bot(policy: AnyPolicy, game: Game) -> PolicyBot:
    """The bot that plays a policy."""
    return HoldemBot(policy, game) if isinstance(policy, HoldemPolicy) else TreeBot(policy, game)


class TreeBot(PolicyBot):
    """By a policy of an enumerated game."""

    def __init__(self, policy: Policy, game: Game) -> None:
        super().__init__(game)
        if policy.tree.game != game.name:
            raise FeltError(f"The policy plays {policy.tree.game}, not {game.name}.")
        self.policy = policy

    def weights(self, view: View) -> Sequence[float]:
        assert isinstance(view, TreeView)
        weights: list[float] = self.policy.row(view.row).tolist()
        return weights


class HoldemBot(PolicyBot):
    """By a policy of hold'em: it buckets its own hand."""

    whole = WHOLE

    def __init__(self, policy: HoldemPolicy, game: Game) -> None:
        super().__init__(game)
        tree = policy.tree
        if not isinstance(game, Holdem) or (game.players, game.bets) != (tree.players, tree.most_bets):
            raise FeltError(f"The policy plays {policy.tree.game}, not {game.name}.")
        self.policy = policy
        self._hand: tuple[Sequence[int], Sequence[int], int] = (), (), -1
        self._at: tuple[tuple[str, ...], int] = (), 0
        self._has_tables = False
        self._bucket_of: Callable[[Sequence[int], Sequence[int]], int] = policy.tree.abstraction.bucket

    def use_tables(self) -> None:
        """Look buckets up instead of computing them in milliseconds; makes the tables if need be."""
        if self._has_tables:
            return
        self._has_tables = True
        tables = self.policy.tree.abstraction.tables()

        def look_up(hole: Sequence[int], board: Sequence[int]) -> int:
            number, permutation = find_board(board)
            first, second = (CARD_AS[permutation, card] for card in hole)
            return int(tables[BOARD_CARDS.index(len(board))][number, PAIR[first, second]])

        self._bucket_of = look_up

    def weights(self, view: View) -> Sequence[float]:
        assert isinstance(view, HoldemView)
        tree = self.policy.tree
        weights: list[int] = self.policy.weights[
            tree.slots(self._node(view.line), self._bucket(view))
        ].tolist()
        return weights

    def _node(self, line: Sequence[str]) -> int:
        """Found from the one before, where the line goes on from there."""
        known, node = self._at
        if tuple(line[: len(known)]) != known:
            known, node = (), 0
        for word in line[len(known) :]:
            node = self.policy.tree.child(node, self.policy.tree.actions(node).index(word))
        self._at = tuple(line), node
        return node

    def _bucket(self, view: HoldemView) -> int:
        """Computed once a street."""
        if self._hand[:2] != (view.hole, view.board):
            self._hand = view.hole, view.board, self._bucket_of(view.hole, view.board)
        return self._hand[2]

    def knew(self, view: View) -> str:
        assert isinstance(view, HoldemView)
        count = self.policy.tree.abstraction.counts[view.street]
        where = f"on the {STREETS[view.street]}" if view.street else "before the flop"
        return f"{view.knew} (bucket {self._bucket(view)} of {count} {where})"
