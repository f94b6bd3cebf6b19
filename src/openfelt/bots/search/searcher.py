"""Searchers for hold'em and for enumerated games; the search tree is kept during a hand."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openfelt.bots.search.lazy_tree import lazy_holdem_tree
from openfelt.bots.search.mcts import LINES, ROWS, Mcts, MctsSettings, SearchResult, TableModel
from openfelt.bots.search.position import holdem_position, tree_position
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, Ints, Longs, kernel
from openfelt.games.compile.betting_tree import PLAYER, BettingTree, compile_holdem
from openfelt.games.compile.compiler import compile_game
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.game import CHANCE, AnyGame
from openfelt.games.holdem import Holdem, require_holdem
from openfelt.games.registry import load_game
from openfelt.policy.holdem import HoldemPolicy
from openfelt.policy.policy import require_game
from openfelt.policy.tabular import TabularPolicy, uniform_policy
from openfelt.solve.traverse.open_tree import open_tree
from openfelt.solve.traverse.opponent_hooks import ProbabilityModel

DEVIATION = 1e-2  # probability that opponents deviate from the policy that a search starts from


class HoldemSearcher:
    """Searches hold'em for any seat, in the game's abstraction, or in that of the policy."""

    def __init__(
        self,
        game: AnyGame,
        settings: MctsSettings | None = None,
        *,
        policy: HoldemPolicy | None = None,
        expander: Any = None,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        """`policy` guides rollouts and warm starts, `expander` the expansion, if the settings need them."""
        rules = require_holdem(load_game(game), "This searcher")
        self.tree = compile_holdem(rules) if policy is None else _tree_of(policy, rules)
        opened = open_tree(self.tree)
        self.opened = lazy_holdem_tree(opened.tree)
        self._mcts = Mcts(
            opened.depth,
            rules.players,
            opened.most_actions,
            settings=settings,
            policy=None if policy is None else TableModel(policy.weights),
            expander=expander,
            now=now,
        )
        self._last: tuple[Any, ...] = ()  # seat, cards and line of the last search

    def prepare(self, model: Any = None) -> None:
        """Compile the kernels, so that the first decision is not delayed."""
        self.search(int(self.tree.node[0, PLAYER]), (0, 1), (), (), model=model, iterations=100)
        self.forget()

    def forget(self) -> None:
        """Clear the search tree, as for a new hand."""
        self._mcts.forget()
        self._last = ()

    @property
    def rows(self) -> int:
        """Number of infosets in the search tree."""
        return self._mcts.rows

    def search(
        self,
        seat: int,
        hole: Sequence[int],
        board: Sequence[int],
        line: Sequence[str],
        *,
        beliefs: Floats | None = None,
        model: Any = None,
        iterations: int | None = None,
        seconds: float = math.inf,
        seed: int = 0,
    ) -> SearchResult:
        """Search for a seat that holds `hole` after a betting line; `beliefs` as in `holdem_position`."""
        begun, node = self._mcts.now(), self.tree.find_node(line)
        if self.tree.node[node, PLAYER] != seat:
            raise FeltError(f"Seat {seat} is not to act.")
        here = seat, tuple(hole), tuple(board), tuple(line)
        if self._mcts.settings.nodes == LINES or not _continues(self._last, here):
            self._mcts.forget()
        self._last = here
        self._mcts.seed(seed)
        position = holdem_position(self.opened, node, seat, hole, board, beliefs)
        return self._mcts.search(position, model, iterations=iterations, seconds=seconds, begun=begun)


def _tree_of(policy: HoldemPolicy, rules: Holdem) -> BettingTree:
    tree = policy.tree
    if (tree.players, tree.most_bets) != (rules.players, rules.bets):
        raise FeltError(f"The policy was made for {tree.game}, not for {rules.name}.")
    return tree


def _continues(before: tuple[Any, ...], after: tuple[Any, ...]) -> bool:
    """Whether it is a later decision of the same seat in the same hand, so that the tree stays valid."""
    if not before or before[:2] != after[:2]:
        return False
    boards, lines = (before[2], after[2]), (before[3], after[3])
    return (
        all(later[: len(earlier)] == earlier for earlier, later in (boards, lines)) and lines[0] != lines[1]
    )


class TreeSearcher:
    """Searches an enumerated game; `opponent` is the policy of the opponents, if it is known.

    `policy` and `expander` are as in `HoldemSearcher`.
    """

    def __init__(
        self,
        game: AnyGame,
        settings: MctsSettings | None = None,
        *,
        opponent: TabularPolicy | None = None,
        policy: TabularPolicy | None = None,
        rows: int = ROWS,
        expander: Any = None,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        if settings is not None and settings.nodes == LINES:
            raise FeltError("A search tree of betting lines (nodes='lines') is for hold'em.")
        self.tree = compile_game(game)
        opened = open_tree(self.tree)
        self._opened = opened.tree
        for given in (opponent, policy):
            if given is not None:
                require_game(given, self.tree)
        self._chance = uniform_policy(self.tree).probabilities
        self._policy = policy
        self.play_against(opponent)
        passive = self.tree.betting.passive[: self.tree.num_rows]
        calls = np.zeros(self.tree.num_slots, np.int8)
        calls[self.tree.rows.first_slot[:-1]] = np.maximum(passive, 0)
        self._mcts = Mcts(
            opened.depth,
            self.tree.players,
            opened.most_actions,
            settings=settings,
            passive=calls,
            policy=_model(policy),
            rows=rows,
            expander=expander,
            now=now,
        )

    def play_against(self, opponent: TabularPolicy | None) -> None:
        """From now on opponents have this policy; None: unknown."""
        if opponent is not None:
            require_game(opponent, self.tree)
        believed = opponent or self._policy
        table = self._chance if believed is None else believed.probabilities
        if opponent is None and believed is not None:  # opponents may deviate from it
            table = (1.0 - DEVIATION) * table + DEVIATION * self._chance
        self._model = _model(opponent)
        self._reach = _opponents_reach(self.tree, table)

    @property
    def rows(self) -> int:
        """Number of infosets in the search tree."""
        return self._mcts.rows

    def prepare(self) -> None:
        """Compile the kernels, so that the first decision is not delayed."""
        self.search(0, iterations=100)
        self.forget()

    def forget(self) -> None:
        """Clear the search tree, as for a new hand."""
        self._mcts.forget()

    def picks(self) -> Longs:
        """The chosen action at each infoset of the game; -1 if not visited."""
        return self._mcts.picks(np.ascontiguousarray(self.tree.rows.first_slot[:-1]))

    def likely(self, row: int) -> Floats:
        """Reach of each history of an infoset by chance and the opponents."""
        here = self._nodes(row), self.tree.row_player(row)
        likely = self._reach[here]
        if not likely.any():  # opponents never reach it
            likely = _opponents_reach(self.tree, self._chance)[here]
        return np.asarray(likely)

    def _nodes(self, row: int) -> Ints:
        nodes = self.tree.nodes
        here = np.flatnonzero((nodes.row == row) & (nodes.player == self.tree.row_player(row)))
        return here.astype(np.int32)

    def search(
        self, row: int, *, iterations: int | None = None, seconds: float = math.inf, seed: int = 0
    ) -> SearchResult:
        """Search for the player of an infoset."""
        begun, seat = self._mcts.now(), self.tree.row_player(row)
        self._mcts.seed(seed)
        position = tree_position(self._opened, seat, self._nodes(row), self.likely(row))
        return self._mcts.search(position, self._model, iterations=iterations, seconds=seconds, begun=begun)


def _model(policy: TabularPolicy | None) -> ProbabilityModel | None:
    return None if policy is None else ProbabilityModel(np.ascontiguousarray(policy.probabilities)[None])


def _opponents_reach(tree: GameTree, table: Floats) -> Floats:
    """[nodes, players] reach of each history by chance and the opponents of a player."""
    nodes = tree.nodes
    reach = np.ones((tree.num_nodes, tree.players))
    _spread(
        nodes.player,
        nodes.first_child,
        nodes.num_children,
        nodes.row,
        nodes.chance,
        tree.rows.first_slot,
        table,
        reach,
    )
    return reach


@kernel
def _spread(
    player: NDArray[np.int8],
    first_child: NDArray[np.int32],
    num_children: NDArray[np.int32],
    row: NDArray[np.int32],
    chance: Floats,
    first_slot: Longs,
    table: Floats,
    reach: Floats,
) -> None:
    for here in range(len(player)):
        for action in range(num_children[here]):
            by_chance = player[here] == CHANCE
            share = chance[row[here] + action] if by_chance else table[first_slot[row[here]] + action]
            for seat in range(reach.shape[1]):
                own = player[here] == seat
                reach[first_child[here] + action, seat] = reach[here, seat] * (1.0 if own else share)
