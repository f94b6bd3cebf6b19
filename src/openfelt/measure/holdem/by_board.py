"""A flop with strategies that are computed board by board, and with all turns and rivers or a sample.

The kernels are those of `flop.py`; only the boards are enumerated here, in Python. Rivers, which take nearly
all of the time, may be computed on a GPU (`gpu/sampled.py`).

A best response is fitted to the sampled cards, so its value is biased upwards. In a sample a second value is
therefore computed, of a response that a player who does not know the cards can play: at each decision it
takes the action that is best on one half of the sample, and is evaluated on the other half, both ways round.
Its mean over samples is at most the value of a best response.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from openfelt.cards.boards import IDENTITY, PERMUTED_PAIR, find_board
from openfelt.cards.deck import BOARD_CARDS, FLOP, PAIRS, RIVER, TURN
from openfelt.cards.public_cards import Deck, Flop
from openfelt.cards.runouts import Runouts, Turn
from openfelt.core.jit import Floats
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
from openfelt.measure.holdem.network import NetworkPlayer
from openfelt.measure.holdem.street_walk import StreetWalk
from openfelt.solve.vector.betting_lines import LineShares, street_shares

FIT, HELD_OUT = range(2)  # values: fitted to all cards, and fitted to one half and evaluated on the other


class Dealt(NamedTuple):
    """A street on a board."""

    board: list[int]
    street: StreetTask
    theirs: Callable[[int], Floats]  # at a decision of the opponent: [parts, 1326, actions] probabilities


# From a board of four cards, its turn and a workspace: for each half of the sample the values at its end.
SolveRivers: TypeAlias = Callable[[list[int], Turn, FlopWorkspace], list[Floats]]


class FlopByBoard:
    """Solves flops; either player may be a network."""

    def __init__(
        self,
        deck: Deck,
        kind: type[np.floating[Any]],
        task: KernelTask,
        players: Any,
        runouts: Runouts,
        solve_rivers: SolveRivers | None = None,
    ) -> None:
        """With `solve_rivers` rivers are not computed here; leaks are not available then."""
        self._deck, self._kind, self._task = deck, kind, task
        self._other, self._ours = players  # ours is None for a best response
        self._runouts, self._solve_rivers = runouts.within(deck), solve_rivers
        self._streets = {FLOP: task.flop, TURN: task.turn, RIVER: task.river}
        self.kinds = 2 if self._runouts.is_sample and task.best else 1  # of values

    def solve(self, flop: Flop, work: FlopWorkspace, values: Floats, leaks: LeakSums) -> None:
        """As `solve_flop`; of a best response to a sample also the value that is held out."""
        here = work.flop
        dealt = self._deal(FLOP, list(flop.cards), here)
        go_down(dealt.street, here, work.turn, work.street)
        halves = [
            self._solve_turns(dealt.board, half, work, leaks)
            for half in self._runouts.after(self._deck, flop)
        ]
        values[:] = 0.0
        self._come_up(dealt, here, halves, work, values)
        if len(leaks.flop):
            add_leaks(here, values, 1.0, leaks.flop)

    def _solve_turns(
        self, flop: list[int], turns: list[Turn], work: FlopWorkspace, leaks: LeakSums
    ) -> Floats:
        """The values at the end of the flop, from these turns."""
        chance, stages = self._task.chances[2], max(len(work.flop.below), self.kinds)
        total = np.zeros((stages, *work.flop.below.shape[1:]), self._kind)
        for turn in turns:
            values = self._solve_turn([*flop, turn.card], turn, work, leaks)
            add_images(work.turn.hands, values, turn.seen_as, chance * turn.weight, total)
            if len(leaks.turn):
                add_leaks(work.turn, values, chance * len(turn.seen_as), leaks.turn)
        return total

    def _solve_turn(self, board: list[int], turn: Turn, work: FlopWorkspace, leaks: LeakSums) -> Floats:
        """The values of a turn."""
        here = work.turn
        dealt = self._deal(TURN, board, here)
        go_down(dealt.street, here, work.river, work.street)
        if self._solve_rivers is None:
            halves = self._rivers(board, turn, work, leaks)
        else:
            halves = self._solve_rivers(board, turn, work)
        values = np.zeros((max(len(work.flop.below), self.kinds), *here.reach.shape[1:]), self._kind)
        self._come_up(dealt, here, halves, work, values)
        return values

    def _rivers(self, board: list[int], turn: Turn, work: FlopWorkspace, leaks: LeakSums) -> list[Floats]:
        """The values at the end of a turn, from each half of its rivers."""
        task = self._task
        halves = [np.zeros_like(work.turn.below) for _ in turn.rivers[0].weights]
        for river in turn.rivers:
            cards = [*board, river.card]
            on_river = task._replace(river=self._deal(RIVER, cards, work.river).street)
            sort_hands(np.array(cards, np.int32), work.river.hands, work.strength)
            solve_river(on_river, work)
            for weight, total in zip(river.weights, halves, strict=True):
                if weight:
                    add_images(work.river.hands, work.values, river.seen_as, task.chances[3] * weight, total)
            if len(leaks.river):
                weight = task.chances[2] * len(turn.seen_as) * task.chances[3] * len(river.seen_as)
                add_leaks(work.river, work.values, weight, leaks.river)
        return halves

    def _come_up(
        self, dealt: Dealt, here: StreetState, halves: list[Floats], work: FlopWorkspace, values: Floats
    ) -> None:
        """Pass values up, from the mean of the halves and, held out, from one to the other."""
        here.below[:] = sum(half[: len(here.below)] for half in halves) / len(halves)
        come_up(self._task, dealt.street, here, work.street, values)
        if self.kinds == 2:
            values[HELD_OUT] = self._held_out(dealt, here, halves) if len(halves) == 2 else values[FIT]

    def _held_out(self, dealt: Dealt, here: StreetState, halves: list[Floats]) -> Floats:
        """[1326, roots] the value on each half of the actions that are best on the other; their mean."""
        betting, street = self._other.betting, BOARD_CARDS.index(len(dealt.board))
        nodes, after = (betting.decisions[each - FLOP][0] for each in (street, street + 1))
        held = np.zeros(PAIRS)
        held[here.hands.pair[: here.hands.size[0]]] = 1.0
        reach = here.reach * held[:, None]
        values = np.zeros(here.reach.shape[1:])
        for fitted, other in (halves, halves[::-1]):
            both = np.array([fitted[-1], other[-1]], float)
            at_root = {int(node): both[:, :, root] for root, node in enumerate(after) if node >= 0}
            walk = StreetWalk(betting, self._task.seat, at_root, dealt.theirs, _best_on_first)
            for root, node in enumerate(nodes):
                if node >= 0:
                    values[:, root] += walk.value(int(node), reach[:, :, root])[1] / 2
        return values * held[:, None]

    def _deal(self, street: int, board: list[int], state: StreetState) -> Dealt:
        """The street on a board; lists the hands that are possible there."""
        fixed, seat = self._streets[street], self._task.seat
        theirs, at = self._strategy(self._other, fixed.theirs, 1 - seat, board)
        ours = theirs if self._ours is None else self._strategy(self._ours, fixed.ours, seat, board)[0]
        cards = np.array(board, np.int32)
        deal_hands(self._task.live, cards, (0, IDENTITY), theirs.buckets, ours.buckets, state.hands)
        return Dealt(board, StreetTask(fixed.lines, theirs, ours), at)

    def _strategy(
        self, player: Any, fixed: StreetStrategy, seat: int, board: Sequence[int]
    ) -> tuple[StreetStrategy, Callable[[int], Floats]]:
        if isinstance(player, NetworkPlayer):
            table, buckets = player.on_board(seat, board, self._deck)
            street = BOARD_CARDS.index(len(board))
            shares = street_shares(table.betting, street, table.probabilities, table.layout, seat)
            lines = LineShares(*(each.astype(self._kind) for each in shares))
            return StreetStrategy(lines, buckets[None, None]), lambda node: table.at(node, buckets)[None]
        number, seen_as = find_board(board)
        tables = fixed.buckets[:, number][:, PERMUTED_PAIR[seen_as]]
        found = StreetStrategy(fixed.shares, np.ascontiguousarray(tables[:, None], np.int32))
        parts = [(part, part.buckets_on(board)) for part in player.parts]
        return found, lambda node: np.array([part.at(node, buckets) for part, buckets in parts])


def _best_on_first(node: int, values: Floats) -> Floats:
    """[2, 1326] the values of the action whose first value is the highest of `values` [actions, 2, 1326]."""
    best = values[:, 0].argmax(axis=0)
    return np.asarray(np.take_along_axis(values, best[None, None], axis=0)[0])


def no_strategy(kind: type[np.floating[Any]]) -> FixedStrategy:
    """In place of a strategy that is computed board by board."""
    nothing = np.zeros((0, 0, 0), kind)
    street = StreetStrategy(LineShares(nothing, nothing), np.zeros((1, 1, PAIRS), np.int32))
    return FixedStrategy(street, street, street)
