"""The opponent of CFR-BR on a GPU: a best response from the turn on, CFR before it."""

from __future__ import annotations

import numpy as np

from openfelt.cards.deck import FLOP, PAIRS
from openfelt.core.cuda import to_gpu, zeros_on_gpu
from openfelt.core.jit import Floats, Ints
from openfelt.games.holdem import MOST_BETS
from openfelt.solve.vector.betting_lines import FIRST
from openfelt.solve.vector.gpu import streets
from openfelt.solve.vector.gpu.deal import OUR_FLOP, OUR_TURN, THEIR_FLOP, GpuDeal
from openfelt.solve.vector.gpu.launch import hand_table, river_kernel, street_kernel
from openfelt.solve.vector.gpu.player import GpuPlayer, OnRiver, Preflop, edges_of_rows, from_rows, to_rows
from openfelt.solve.vector.gpu.river import respond_river
from openfelt.solve.vector.gpu.river_squares import ROOM
from openfelt.solve.vector.gpu.rows import DECISIONS, ROW
from openfelt.solve.vector.gpu.terms import terms_of


class GpuOpponent:
    """The opponent of one player; `rows` are how many it has before the flop and on it."""

    def __init__(self, player: GpuPlayer, deal: GpuDeal, preflop_row: Ints, rows: tuple[int, int]) -> None:
        self._player, self._deal, tree = player, deal, player.tree
        self.seat, boards, (e1, _, e3) = 1 - player.seat, deal.most, player.roots
        self.preflop = Preflop(tree, self.seat, preflop_row, rows[0], boards)
        self.regrets = zeros_on_gpu((e1, rows[1], ROW), np.float32)
        self._policy = zeros_on_gpu((boards * e1, PAIRS, ROW), np.float32)  # of the hands of the boards
        self._no_average = zeros_on_gpu((0, 0), np.float32)
        choices = zeros_on_gpu((boards * deal.boards.rivers * e3 * DECISIONS * ROOM,), np.uint32)
        none = zeros_on_gpu((0, 0, 0), np.float32), self._no_average
        self.on_river = OnRiver(choices, *none)
        self.reach, self.values = ([hand_table(boards, roots) for roots in player.roots] for _ in range(2))
        opens = self.seat == FIRST
        self._terms = [to_gpu(terms_of(lines, opens).astype(np.float32)) for lines in player.betting.streets]
        how = {"OPENS": opens, "BETS": tree.most_bets}
        self._respond_river = river_kernel(respond_river, **how, FEWER=tree.most_bets < MOST_BETS)
        self._go_down, self._respond_turn, self._learn = (
            street_kernel(source, **how)
            for source in (streets.go_down_trunk, streets.respond_turn, streets.learn_street)
        )
        self.preflop.renew(deal, 0.0)

    def respond(self) -> None:
        """Our reach of the turn, and the best response to the player's policy from there on."""
        deal, player, (e1, e2, e3) = self._deal, self._player, self._player.roots
        self.preflop.go_down(deal, self.reach[0])
        arguments = deal.row[THEIR_FLOP], self.regrets, self.reach[0], self._policy, self.reach[1]
        deal.run(self._go_down, deal.count * e1, *arguments)
        river = player.rows[2]
        deal.run(
            self._respond_river,
            deal.count * e3,
            *(deal.plan, deal.words, deal.facts, e3, deal.chance, player.reach[2], river.shares),
            *(self._terms[2], river.came_by, self.on_river.choices, self.values[2]),
            threads=ROOM,
        )
        deal.run(
            self._respond_turn,
            deal.count * e2,
            *(deal.row[OUR_TURN], self._terms[1], player.reach[2], self.values[2]),
            *(self.reach[1], self.values[1], self.reach[2]),
        )

    def learn(self, weight: float) -> None:
        """Add to the regrets before the turn."""
        deal, player, single = self._deal, self._player, np.float32(weight)
        deal.run(
            self._learn,
            deal.count * player.roots[0],
            *(deal.row[OUR_FLOP], deal.row[THEIR_FLOP], deal.count, self._terms[0], player.reach[1]),
            *(self.values[1], self._policy, single, self.regrets),
            *(self.reach[0], self._no_average, self.values[0]),
        )
        self.preflop.learn(deal, player.preflop, self.values[0], single)

    def fetch(self, preflop: Floats, flop: Floats) -> None:
        """Copy the regrets before the flop and on it."""
        preflop[...] = self.preflop.regrets.copy_to_host(stream=self._deal.queue)
        player = self._player
        edges = edges_of_rows(player.tree, player.betting, FLOP, self.seat)
        from_rows(edges, self.regrets.copy_to_host(stream=self._deal.queue), flop)

    def load(self, preflop: Floats, flop: Floats) -> None:
        """Continue with other regrets."""
        player = self._player
        self.preflop.regrets.copy_to_device(np.ascontiguousarray(preflop, np.float32))
        edges = edges_of_rows(player.tree, player.betting, FLOP, self.seat)
        self.regrets.copy_to_device(to_rows(edges, flop))
        self.preflop.renew(self._deal, 0.0)
