"""What is the same for every flop on a GPU: tables, networks and kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import PAIRS
from openfelt.cards.public_cards import Deck
from openfelt.core.cuda import to_gpu
from openfelt.core.jit import Floats
from openfelt.games.holdem import MOST_BETS
from openfelt.measure.holdem.flop_solver import AnyStrategy, Task, reach_at_flop
from openfelt.measure.holdem.gpu.flop_and_turn import add_images, add_leaks, come_up, deal, go_down, sum_parts
from openfelt.measure.holdem.gpu.network import GpuNetwork
from openfelt.measure.holdem.gpu.river import StreetTables, solve_river
from openfelt.measure.holdem.network import NetworkPlayer
from openfelt.measure.holdem.player import fixed_strategy
from openfelt.solve.vector.betting_lines import FIRST, LANES, LINES
from openfelt.solve.vector.gpu.launch import river_kernel, street_kernel
from openfelt.solve.vector.gpu.river_squares import order_river
from openfelt.solve.vector.gpu.terms import terms_of

MOST_SHARES = 3_800  # that fit into the shared memory of a block
STREETS = 3  # after the deal
NO_SHARES = np.zeros((1, 1, 1, 1))
NO_BUCKETS = np.zeros((1, 1, PAIRS), np.int32)  # of a network: one board, which serves all


class Game:
    """A task on a GPU."""

    def __init__(self, task: Task, deck: Deck) -> None:
        self.task, self.deck, betting = task, deck, task.other.betting
        self.live = to_gpu(deck.live)
        self.roots = [lines.roots for lines in betting.streets]
        self.parts = len(task.other.parts)
        theirs = _Strategy(task.other, 1 - task.seat)
        ours = theirs if task.ours is None else _Strategy(task.ours, task.seat, folds=True)
        self.networks = theirs.network, ours.network if task.ours is not None else None
        self.streets = [
            StreetTables(
                _single(theirs.shares[street]),
                _single(ours.shares[street]),
                _single(ours.folds[street]),
                _single(terms_of(lines, task.seat == FIRST)),
            )
            for street, lines in enumerate(betting.streets)
        ]
        tables = [to_gpu(np.asarray(table)) for table in theirs.buckets]
        same = ours is theirs or _have_the_same_buckets(task)
        self.tables = [tables, tables if same else [to_gpu(np.asarray(table)) for table in ours.buckets]]
        self.reach = _reach(task.other, 1 - task.seat, deck)
        self.own_reach = _reach(task.ours, task.seat, deck) if task.leaks else []
        self.chances = deck.chances.astype(np.float32)
        self.best = [True, False] if task.leaks else [task.best]  # by stage of the river
        shares = self.streets[-1].share.shape[2] * LINES
        self.share_bytes = 4 * shares if theirs.network is None and shares <= MOST_SHARES else 0
        self._build_kernels(betting.most_bets, theirs.network is not None, ours.network is not None)

    def _build_kernels(self, most_bets: int, theirs: bool, ours: bool) -> None:
        """`theirs`, `ours`: whether that strategy is a network's."""
        opens = self.task.seat == FIRST
        how = {"OPENS": opens, "FEWER": most_bets < MOST_BETS, "FITS": self.share_bytes > 0}
        how |= {"PARTS": self.parts, "BY_BOARD": theirs, "OURS_BY_BOARD": ours}
        self.solve_river = [river_kernel(solve_river, **how, BEST=best) for best in self.best]
        self.come_up = street_kernel(come_up, OPENS=opens, OURS_BY_BOARD=ours)
        self.deal = [street_kernel(deal, BY_BOARD=each) for each in (theirs, ours)]
        self.go_down = [street_kernel(go_down, BY_BOARD=each) for each in (theirs, ours)]
        self.add_images, self.add_leaks = street_kernel(add_images), street_kernel(add_leaks)
        self.sum_parts = street_kernel(sum_parts)
        self.order_river = street_kernel(order_river, PARTS=self.parts)


class _Strategy:
    """A player's strategy in a seat by street, as tables or as a network."""

    def __init__(self, player: AnyStrategy, seat: int, *, folds: bool = False) -> None:
        self.network: GpuNetwork | None = None
        if isinstance(player, NetworkPlayer):
            self.network = GpuNetwork(player, seat, folds=folds)
            self.shares = self.folds = [NO_SHARES] * STREETS
            self.buckets: list[NDArray[Any]] = [NO_BUCKETS] * STREETS
        else:
            streets = fixed_strategy(player, seat, np.float32)
            self.shares = [_by_root(street.shares.share) for street in streets]
            self.folds = [_by_root(street.shares.folds) for street in streets]
            self.buckets = [street.buckets for street in streets]


def _have_the_same_buckets(task: Task) -> bool:
    """Whether both have the same tables: those of the first part are numbered from 0, like ours."""
    ours, first = task.ours, task.other.parts[0]
    if isinstance(ours, NetworkPlayer) or isinstance(first, NetworkPlayer) or ours is None:
        return False
    return all(a is b for a, b in zip(ours.buckets, first.buckets, strict=True))


def _single(table: Floats) -> Any:
    return to_gpu(table.astype(np.float32))


def _reach(player: Any, seat: int, deck: Deck) -> Any:
    """By part [1, roots, 1326]."""
    return [_single(np.ascontiguousarray(part.T[None])) for part in reach_at_flop(player, seat, deck)]


def _by_root(shares: NDArray[Any]) -> Floats:
    """[1, roots, buckets, lines], so that a block of threads reads consecutive memory."""
    blocks, buckets, _ = shares.shape
    table = shares.reshape(blocks, buckets, LINES, LANES).transpose(0, 3, 1, 2)
    return np.asarray(table.reshape(1, blocks * LANES, buckets, LINES))
