"""Exact values of network policies: the network is queried for all hands of a board on all betting lines.

The kernels are those of `flop.py`; only the boards are enumerated here, in Python, since the strategy of a
network is computed board by board. Its input does not depend on the names of suits (`games/features/`), so
isomorphic boards count once here too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.boards import IDENTITY, PERMUTED_PAIR, find_board
from openfelt.cards.deck import FLOP, PAIR_CARDS, PAIRS, PREFLOP, RIVER, TURN
from openfelt.cards.public_cards import Deck, Flop, Plan, plan_flop
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.games.compile.betting_tree import ACTIONS_MASK, FACING_SHIFT, KIND, PLACE, PLAYER, STREET_SHIFT
from openfelt.measure.holdem.flop import (
    FixedStrategy,
    FlopWorkspace,
    KernelTask,
    LeakSums,
    StreetState,
    StreetStrategy,
    StreetTask,
    add_images,
    add_leaks,
    come_up,
    deal_hands,
    go_down,
    solve_river,
    sort_hands,
)
from openfelt.measure.holdem.player import one_bucket
from openfelt.policy.network import NetworkPolicy
from openfelt.solve.vector.betting_lines import BettingLines, LineShares, betting_lines, street_shares

PROBE = (0, 17, 34)  # a flop, by which networks are told apart


@dataclass(frozen=True, eq=False)
class NetworkPlayer:
    """A network policy as the exact engine reads it."""

    policy: NetworkPolicy

    def __post_init__(self) -> None:
        if self.policy.rules.players != 2:
            raise FeltError(f"Exact values are for two players; {self.policy.game} has more.")

    @property
    def name(self) -> str:
        """What it is called in results."""
        return self.policy.name

    @cached_property
    def betting(self) -> BettingLines:
        """The betting lines."""
        return betting_lines(self.policy.rules.bets)

    @property
    def parts(self) -> tuple[NetworkPlayer, ...]:
        """The player itself."""
        return (self,)

    @property
    def weights(self) -> tuple[float, ...]:
        """The weights of the parts."""
        return (1.0,)

    @property
    def identity(self) -> tuple[NDArray[Any], ...]:
        """Its probabilities before the flop and on one flop."""
        pairs = _pairs(Deck(), PROBE)
        return (self.before_flop(0), *(self._table(FLOP, seat, PROBE, pairs) for seat in range(2)))

    @cached_property
    def _before_flop(self) -> dict[int, Floats]:
        node = self.betting.node
        is_here = (node[:, PLAYER] >= 0) & (node[:, KIND] >> STREET_SHIFT & 3 == PREFLOP)
        nodes = np.flatnonzero(is_here)
        shares = self.policy.on_board((), np.arange(PAIRS), nodes)
        return {
            node: shares[place][:, _numbers(int(self.betting.node[node, KIND]))].astype(float)
            for place, node in enumerate(nodes.tolist())
        }

    def before_flop(self, node: int) -> Floats:
        """[1326, actions] the action probabilities at a decision before the flop."""
        return self._before_flop[node]

    def shares(self, street: int, seat: int, board: Sequence[int], pairs: NDArray[Any]) -> LineShares:
        """The shares of the lines of a street on a board; the pairs are the buckets."""
        layout, place = one_bucket(self.betting), (street, seat)
        base, buckets = np.zeros_like(layout.slot_base), layout.buckets.copy()
        buckets[place] = len(pairs)
        table = self._table(street, seat, board, pairs)
        return street_shares(
            self.betting, street, table.ravel(), layout._replace(slot_base=base, buckets=buckets), seat
        )

    def _table(self, street: int, seat: int, board: Sequence[int], pairs: NDArray[Any]) -> Floats:
        """[pairs, edges] the probabilities of all actions of a seat on a street."""
        nodes, line, number = self._edges[street, seat]
        shares = self.policy.on_board(board, pairs, nodes)
        return np.ascontiguousarray(shares[line, :, number].T)

    @cached_property
    def _edges(self) -> dict[tuple[int, int], tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
        """By street and seat: its decisions, and for each edge the place of its decision and its action."""
        node, found = self.betting.node, {}
        street = node[:, KIND] >> STREET_SHIFT & 3
        for place in np.ndindex(RIVER + 1, 2):
            nodes = np.flatnonzero((node[:, PLAYER] == place[1]) & (street == place[0]))
            nodes = nodes[np.argsort(node[nodes, PLACE])]
            numbers = [_numbers(int(kind)) for kind in node[nodes, KIND]]
            line = np.repeat(np.arange(len(nodes)), [len(own) for own in numbers])
            found[place] = nodes, line, np.concatenate(numbers)
        return found


def _numbers(kind: int) -> NDArray[np.int64]:
    """The numbers of the actions of a decision among fold, call and raise."""
    first = 1 - (kind >> FACING_SHIFT & 1)
    return np.arange(first, first + (kind & ACTIONS_MASK))


def _pairs(deck: Deck, board: Sequence[int]) -> NDArray[np.int64]:
    """The hole cards that are possible on a board."""
    return np.flatnonzero((deck.pairs > 0) & ~np.isin(PAIR_CARDS, board).any(axis=1))


def no_strategy(kind: type[np.floating[Any]]) -> FixedStrategy:
    """In place of a strategy that is computed board by board."""
    nothing = np.zeros((0, 0, 0), kind)
    street = StreetStrategy(LineShares(nothing, nothing), np.zeros((1, 1, PAIRS), np.uint16))
    return FixedStrategy(street, street, street)


class BoardStrategies:
    """The strategies of both players on any board; either may be a network."""

    def __init__(self, deck: Deck, kind: type[np.floating[Any]], task: KernelTask, players: Any) -> None:
        self._deck, self._kind, self._task = deck, kind, task
        self._other, self._ours = players  # ours is None for a best response
        self._streets = {FLOP: task.flop, TURN: task.turn, RIVER: task.river}

    def deal(self, street: int, board: Sequence[int], state: StreetState) -> StreetTask:
        """The street on a board; lists the hands that are possible there."""
        fixed, pairs = self._streets[street], _pairs(self._deck, board)
        theirs = self._strategy(self._other, fixed.theirs, street, 1 - self._task.seat, board, pairs)
        ours = theirs
        if self._ours is not None:
            ours = self._strategy(self._ours, fixed.ours, street, self._task.seat, board, pairs)
        cards = np.array(board, np.int32)
        deal_hands(self._task.live, cards, (0, IDENTITY), theirs.buckets, ours.buckets, state.hands)
        return StreetTask(fixed.lines, theirs, ours)

    def _strategy(
        self,
        player: Any,
        fixed: StreetStrategy,
        street: int,
        seat: int,
        board: Sequence[int],
        pairs: NDArray[Any],
    ) -> StreetStrategy:
        if isinstance(player, NetworkPlayer):
            shares = player.shares(street, seat, board, pairs)
            buckets = np.zeros((1, 1, PAIRS), np.uint16)
            buckets[0, 0, pairs] = np.arange(len(pairs))
            return StreetStrategy(LineShares(*(table.astype(self._kind) for table in shares)), buckets)
        number, seen_as = find_board(board)
        tables = fixed.buckets[:, number][:, PERMUTED_PAIR[seen_as]]
        return StreetStrategy(fixed.shares, np.ascontiguousarray(tables[:, None]).astype(np.uint16))


def solve_flop_by_boards(
    strategies: BoardStrategies,
    deck: Deck,
    flop: Flop,
    task: KernelTask,
    work: FlopWorkspace,
    values: Floats,
    leaks: LeakSums,
) -> None:
    """As `solve_flop`, with strategies that are computed board by board."""
    here, board, plan = work.flop, list(flop.cards), plan_flop(deck, flop)
    street = strategies.deal(FLOP, board, here)
    go_down(street, here, work.turn, work.street)
    here.below[:] = 0.0
    for turn in range(plan.turns):
        images = plan.turn_as[plan.turn_first[turn] : plan.turn_first[turn + 1]]
        weight = task.chances[2] * len(images)
        _solve_turn(strategies, plan, turn, (board, weight), task, work, leaks)
        add_images(work.turn.hands, work.values, images, task.chances[2], here.below)
        if len(leaks.turn):
            add_leaks(work.turn, work.values, weight, leaks.turn)
    values[:] = 0.0
    come_up(task, street, here, work.street, values)
    if len(leaks.flop):
        add_leaks(here, values, 1.0, leaks.flop)


def _solve_turn(
    strategies: BoardStrategies,
    plan: Plan,
    turn: int,
    flop: tuple[list[int], float],
    task: KernelTask,
    work: FlopWorkspace,
    leaks: LeakSums,
) -> None:
    """Compute the values of a turn into `work.values`; `flop` has its cards and the weight of the turn."""
    here, board = work.turn, [*flop[0], int(plan.turn[turn])]
    street = strategies.deal(TURN, board, here)
    go_down(street, here, work.river, work.street)
    here.below[:] = 0.0
    for river in range(plan.of_turn[turn], plan.of_turn[turn + 1]):
        last = [*board, int(plan.river[river])]
        images = plan.river_as[plan.river_first[river] : plan.river_first[river + 1]]
        on_river = task._replace(river=strategies.deal(RIVER, last, work.river))
        sort_hands(np.array(last, np.int32), work.river.hands, work.strength)
        solve_river(on_river, work)
        add_images(work.river.hands, work.values, images, task.chances[3], here.below)
        if len(leaks.river):
            add_leaks(work.river, work.values, flop[1] * task.chances[3] * len(images), leaks.river)
    come_up(task, street, here, work.street, work.values)
