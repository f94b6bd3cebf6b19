"""Whole iterations on a GPU, of solvers that deal a flop and a turn: both seats, some boards at a time."""

from __future__ import annotations

import numpy as np

from openfelt.cards.deck import FLOP, PAIRS, RIVER, TURN
from openfelt.core.cuda import free_memory, gpu_faults, gpu_name, zeros_on_gpu
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, Ints, Longs
from openfelt.games.compile.betting_tree import BettingTree
from openfelt.solve.vector.betting_lines import LINES, betting_lines
from openfelt.solve.vector.gpu.deal import GpuDeal
from openfelt.solve.vector.gpu.opponent import GpuOpponent
from openfelt.solve.vector.gpu.player import GpuPlayer, OnRiver
from openfelt.solve.vector.gpu.river_squares import ROOM, WORDS
from openfelt.solve.vector.gpu.rows import DECISIONS, ROW
from openfelt.solve.vector.public_boards import PublicBoards

MARGIN = 1.05  # memory to require on the GPU, as a multiple of what the tables take


class PublicChanceOnGpu:
    """Both players learn in buckets, against each other."""

    responds = False

    def __init__(
        self,
        tree: BettingTree,
        boards: PublicBoards,
        in_flight: int,
        flop_rows: Ints | None = None,
        river_step: int = 1,
    ) -> None:
        _require_memory(tree, boards, in_flight, 0 if flop_rows is None else int(flop_rows.max()) + 1)
        buckets = tree.abstraction.tables()
        with gpu_faults():
            rows = np.asarray(buckets.flop, np.int32) if flop_rows is None else flop_rows
            self.deal = GpuDeal(boards, buckets, rows, in_flight)
            self.players = [GpuPlayer(tree, seat, self.deal, self.responds, river_step) for seat in range(2)]
            self._no_choices = zeros_on_gpu((0,), np.uint32)

    def iterate(self, chosen: Longs, offsets: Longs, weight: float, averaged: float) -> None:
        """Queue an iteration on these boards, with the offsets of sampled rivers and with its weights."""
        with gpu_faults():
            self.deal.begin(chosen, offsets)
            for player in self.players:
                player.go_down()
            self.learn(weight)
            for player in self.players:
                player.renew(averaged)

    def learn(self, weight: float) -> None:
        """Add to the regrets of both players."""
        for player, other in zip(self.players, reversed(self.players), strict=True):
            river = other.rows[2]
            on_river = OnRiver(self._no_choices, river.shares, river.came_by)
            player.learn(other.reach, on_river, other.preflop, weight)

    def wait(self) -> None:
        """Wait for the GPU."""
        with gpu_faults():
            self.deal.queue.synchronize()

    def fetch(self, regrets: Floats, average: Floats, trunks: list[list[Floats]]) -> None:
        """Copy what was learned into tables on the CPU."""
        with gpu_faults():
            for player in self.players:
                player.fetch(regrets, average)

    def load(self, regrets: Floats, average: Floats, trunks: list[list[Floats]]) -> None:
        """Continue with other tables."""
        with gpu_faults():
            for player in self.players:
                player.load(regrets, average)


class CFRBROnGpu(PublicChanceOnGpu):
    """Each player learns against an opponent of its own, which best-responds."""

    responds = True

    def __init__(
        self,
        tree: BettingTree,
        boards: PublicBoards,
        in_flight: int,
        trunk_rows: tuple[Ints, Ints],
        trunk_counts: tuple[int, int],
        river_step: int,
    ) -> None:
        super().__init__(tree, boards, in_flight, trunk_rows[1], river_step)
        with gpu_faults():
            self.opponents = [
                GpuOpponent(player, self.deal, trunk_rows[0], trunk_counts) for player in self.players
            ]

    def learn(self, weight: float) -> None:
        for player, opponent in zip(self.players, self.opponents, strict=True):
            opponent.respond()
            player.learn(opponent.reach, opponent.on_river, opponent.preflop, weight)
            opponent.learn(weight)
            opponent.preflop.renew(self.deal, 0.0)

    def opponents_won(self) -> Floats:
        """[2] their chips, summed over all iterations and pairs of hands."""
        with gpu_faults():
            return np.concatenate([opponent.preflop.won.copy_to_host() for opponent in self.opponents])

    def fetch(self, regrets: Floats, average: Floats, trunks: list[list[Floats]]) -> None:
        super().fetch(regrets, average, trunks)
        with gpu_faults():
            for opponent, trunk in zip(self.opponents, trunks, strict=True):
                opponent.fetch(trunk[0], trunk[1])

    def load(self, regrets: Floats, average: Floats, trunks: list[list[Floats]]) -> None:
        super().load(regrets, average, trunks)
        with gpu_faults():
            for opponent, trunk in zip(self.opponents, trunks, strict=True):
                opponent.load(trunk[0], trunk[1])


def _require_memory(tree: BettingTree, boards: PublicBoards, in_flight: int, trunk: int) -> None:
    """Raise if the tables of both seats do not fit."""
    roots, layout = [lines.roots for lines in betting_lines(tree.most_bets).streets], tree.layout
    counts = [int(layout.buckets[street].sum()) for street in (FLOP, TURN, RIVER)]
    places = sum(number * count for number, count in zip(roots, counts, strict=True))
    rivers = in_flight * boards.rivers
    needed = 4 * (places * (3 * ROW + LINES + 1) + 2 * roots[0] * trunk * ROW)
    needed += 4 * rivers * (WORDS * ROOM + (2 * roots[2] * DECISIONS * ROOM if trunk else 0))
    needed += 4 * in_flight * PAIRS * (8 * sum(roots) + 2 * ROW * roots[0])
    if MARGIN * needed > free_memory():
        raise FeltError(
            f"{tree.game} needs {MARGIN * needed / 1e9:.1f} GB on the GPU; of {gpu_name()}'s memory "
            f"{free_memory() / 1e9:.1f} GB are free. Use fewer buckets, or fewer boards in flight."
        )
