"""Bots that play by a policy. They bucket their own hand, so no bucket tables are needed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import Any

from numpy.typing import NDArray

from openfelt.bots.bot import Bot, Clock
from openfelt.bots.view import HoldemView, TreeView, ViewType
from openfelt.cards.boards import PERMUTED_CARD, find_board
from openfelt.cards.deck import BOARD_CARDS, PAIR, STREETS
from openfelt.core.errors import FeltError
from openfelt.core.random import Dice
from openfelt.games.compile.tree import Tree
from openfelt.games.game import Game
from openfelt.games.hand import Thought
from openfelt.policy.holdem import WHOLE, HoldemPolicy
from openfelt.policy.network import NetworkPolicy
from openfelt.policy.policy import Policy
from openfelt.policy.tabular import TabularPolicy


class PolicyBot(Bot[ViewType]):
    """A bot that draws its actions from probabilities which depend on the view alone."""

    whole: float = 1.0  # what the weights of a decision sum to

    @abstractmethod
    def weights(self, view: ViewType) -> Sequence[float]:
        """For each action a weight in proportion to its probability."""

    def act(self, view: ViewType, dice: Dice, clock: Clock) -> str:
        remainder = dice.uniform() * self.whole
        for action, weight in zip(view.actions, self.weights(view), strict=True):
            remainder -= weight
            if remainder < 0:
                return action
        return view.actions[-1]

    def think(self, view: ViewType) -> Thought:
        shares = tuple(weight / self.whole for weight in self.weights(view))
        return Thought(self.infoset(view), shares)

    def infoset(self, view: ViewType) -> str:
        """What the decision depends on, in words."""
        return view.infoset

    @property
    def plays_in_kernels(self) -> bool:
        # A subclass that decides in its own way, or observes how hands end, must be called.
        return (
            type(self).act is PolicyBot.act
            and type(self).weights in KERNEL_WEIGHTS
            and type(self).end_hand is Bot.end_hand
        )

    def kernel_table(self, tree: Tree) -> NDArray[Any] | None:
        return self._table(tree) if self.plays_in_kernels else None

    def _table(self, tree: Tree) -> NDArray[Any]:
        """The table by which kernels play, where `weights` is one of KERNEL_WEIGHTS."""
        raise NotImplementedError


KERNEL_WEIGHTS: list[Any] = []  # implementations of `weights` that read the very table that kernels get


@singledispatch
def policy_bot(policy: Policy, game: Game) -> PolicyBot:
    """The bot that plays by a policy."""
    raise NotImplementedError(type(policy))


class TreeBot(PolicyBot[TreeView]):
    """Plays by a policy of an enumerated game."""

    def __init__(self, policy: TabularPolicy, game: Game) -> None:
        super().__init__(game)
        if policy.game != game.name:
            raise FeltError(f"The policy plays {policy.game}, not {game.name}.")
        self.policy = policy

    @property
    def fixed_policy(self) -> TabularPolicy:
        return self.policy

    @property
    def fingerprint(self) -> str:
        return self.policy.fingerprint[:12]

    def weights(self, view: TreeView) -> Sequence[float]:
        weights: list[float] = self.policy.row(view.row).tolist()
        return weights

    def _table(self, tree: Tree) -> NDArray[Any]:
        return self.policy.table


class HoldemBot(PolicyBot[HoldemView]):
    """Plays by a policy of hold'em."""

    whole = WHOLE

    def __init__(self, policy: HoldemPolicy, game: Game) -> None:
        super().__init__(game)
        if policy.rules != game.unabstracted:
            raise FeltError(f"The policy plays {policy.game}, not {game.name}.")
        self.policy = policy
        self._hand: tuple[Sequence[int], Sequence[int], int] = (), (), -1
        self._at: tuple[tuple[str, ...], int] = (), 0
        self._has_tables = False
        self._bucket_of: Callable[[Sequence[int], Sequence[int]], int] = policy.tree.abstraction.bucket

    @property
    def fixed_policy(self) -> HoldemPolicy:
        return self.policy

    @property
    def fingerprint(self) -> str:
        return self.policy.fingerprint[:12]

    def use_tables(self) -> None:
        """Look buckets up instead of computing them in milliseconds; missing tables are built."""
        if self._has_tables:
            return
        self._has_tables = True
        tables = self.policy.tree.abstraction.tables()

        def look_up(hole: Sequence[int], board: Sequence[int]) -> int:
            number, permutation = find_board(board)
            first, second = (PERMUTED_CARD[permutation, card] for card in hole)
            return int(tables[BOARD_CARDS.index(len(board))][number, PAIR[first, second]])

        self._bucket_of = look_up

    def use_buckets(self, find: Callable[[Sequence[int], Sequence[int]], int | None] | None) -> None:
        """Look buckets up in `find` where it knows them; None: compute them all."""
        compute = self.policy.tree.abstraction.bucket

        def look_up(hole: Sequence[int], board: Sequence[int]) -> int:
            found = find(hole, board) if find else None
            return compute(hole, board) if found is None else found

        if not self._has_tables:
            self._bucket_of, self._hand = look_up, ((), (), -1)

    def weights(self, view: HoldemView) -> Sequence[float]:
        slots = self.policy.tree.slots(self._node(view.line), self._bucket(view))
        weights: list[int] = self.policy.weights[slots].tolist()
        return weights

    def _table(self, tree: Tree) -> NDArray[Any]:
        return self.policy.table

    def _node(self, line: Sequence[str]) -> int:
        """The node of a betting line, found from the one before where the line extends it."""
        before, node = self._at
        if tuple(line[: len(before)]) != before:
            before, node = (), 0
        for action in line[len(before) :]:
            node = self.policy.tree.child(node, self.policy.tree.actions(node).index(action))
        self._at = tuple(line), node
        return node

    def _bucket(self, view: HoldemView) -> int:
        """Computed once per street."""
        if self._hand[:2] != (view.hole, view.board):
            self._hand = view.hole, view.board, self._bucket_of(view.hole, view.board)
        return self._hand[2]

    def infoset(self, view: HoldemView) -> str:
        count = self.policy.tree.abstraction.counts[view.street]
        where = f"on the {STREETS[view.street]}" if view.street else "before the flop"
        return f"{view.infoset} (bucket {self._bucket(view)} of {count} {where})"


class NetworkBot(PolicyBot[HoldemView]):
    """Plays hold'em by a network."""

    def __init__(self, policy: NetworkPolicy, game: Game) -> None:
        super().__init__(game)
        if policy.rules.unabstracted != game.unabstracted:
            raise FeltError(f"The policy plays {policy.game}, not {game.name}.")
        self.policy = policy

    @property
    def fingerprint(self) -> str:
        return self.policy.fingerprint[:12]

    def weights(self, view: HoldemView) -> Sequence[float]:
        shares = self.policy.at_decision(view.seat, view.hole, view.board, view.line)
        return [float(shares[self.policy.layout.number(action)]) for action in view.actions]


KERNEL_WEIGHTS += [TreeBot.weights, HoldemBot.weights]
policy_bot.register(TabularPolicy, TreeBot)
policy_bot.register(HoldemPolicy, HoldemBot)
policy_bot.register(NetworkPolicy, NetworkBot)
