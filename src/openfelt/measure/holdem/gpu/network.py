"""Networks on a GPU: their weights, and the tables of their shares on some boards of a street."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import FLOP, RIVER
from openfelt.cards.public_cards import Deck
from openfelt.core.cuda import free_memory, is_simulated, require_memory, to_gpu, zeros_on_gpu
from openfelt.games.features.features import Vectors
from openfelt.measure.holdem.gpu.network_shares import (
    AT_ONCE,
    DECISIONS,
    HANDS_EACH,
    MOST_THREADS,
    POSITIONS,
    ROOTS_OF_BLOCK,
    WIDTH,
    FirstLayer,
    HandsOnBoards,
    OtherLayers,
    add_cards,
    fill_shares,
)
from openfelt.measure.holdem.network import NetworkPlayer
from openfelt.policy.network import one_hidden_layer
from openfelt.solve.vector.betting_lines import FIRST, LINES
from openfelt.solve.vector.gpu.launch import river_kernel, street_kernel
from openfelt.solve.vector.gpu.terms import terms_of

MOST_BYTES = 8e9  # of the tables of rivers in one workspace
MEMORY_SHARE = 0.3  # of the free memory, at most, for these
FILL_THREADS = 64  # of a block that evaluates the network
FEW = 8  # the same in the simulator
FOLD, CALL, RAISE = range(3)


class GpuNetwork:
    """A network of one hidden layer in one seat.

    Parameters
    ----------
    player : NetworkPlayer
    seat : int
    folds : bool
        Whether the value of folds is computed too, which is needed of our own strategy.
    """

    def __init__(self, player: NetworkPlayer, seat: int, *, folds: bool) -> None:
        network = one_hidden_layer(player.policy)
        assert network is not None
        self.betting, self.folds, self._player, self._begins = player.betting, folds, player, seat == FIRST
        (first, output), biases = network.layers.weights, network.layers.biases
        split = player.policy.layout.layout.cards
        self._of_betting, self.units = first[:split], len(biases[0])
        self.first: FirstLayer = to_gpu(FirstLayer(np.ascontiguousarray(first[split:].T), biases[0]))
        # A softmax depends on the differences of logits only.
        self._output = (output[:, [FOLD, RAISE]] - output[:, [CALL]]).astype(np.float32)
        self._biases = (biases[1][[FOLD, RAISE]] - biases[1][CALL]).astype(np.float32)
        constants = {"BEGINS": seat == FIRST, "BETS": self.betting.most_bets, "FOLDS": folds}
        self.fill = river_kernel(fill_shares, **constants, GREEDY=network.greedy)
        self.add_cards = street_kernel(add_cards)

    @cached_property
    def layers(self) -> list[OtherLayers]:
        """By street, on the GPU."""
        terms = (terms_of(lines, self._begins).astype(np.float32) for lines in self.betting.streets)
        return [
            to_gpu(OtherLayers(self._of_lines(nodes), self._output, self._biases, each))
            for nodes, each in zip(self.betting.decisions, terms, strict=True)
        ]

    def _of_lines(self, decisions: NDArray[Any]) -> Vectors:
        """[roots / AT_ONCE, units, WIDTH] the sums of the first layer over the betting lines of decisions.

        Those that a game with fewer bets does not have are zero.
        """
        joined, begun = (1, LINES // 2 + 1) if self._begins else (LINES // 2 + 1, 1)
        rows = [0 if self._begins else 1, 1 + joined, 3 + joined, 2 + begun, 4 + begun]
        nodes = decisions[rows].T
        betting, _ = self._player.policy.betting_table
        sums = np.where(nodes[:, :, None] < 0, 0, betting[nodes] @ self._of_betting)
        found = np.zeros((-(-len(nodes) // AT_ONCE), self.units, WIDTH), np.float32)
        for root, row in enumerate(sums):
            start = root % AT_ONCE * DECISIONS
            found[root // AT_ONCE, :, start : start + DECISIONS] = row.T
        return found


class ShareTables(NamedTuple):
    """The shares of a network on some boards of a street, as `StreetTables` has them."""

    share: Any  # [boards, roots, lines, POSITIONS]
    folds: Any  # the same, if needed


class NetworkTables:
    """The memory for the shares of a network on at most `boards` boards of a street."""

    def __init__(self, network: GpuNetwork, deck: Deck, street: int, boards: int) -> None:
        self._network, self._street, self._roots = network, street, roots_of(network, street)
        shape, places = (boards, self._roots, LINES, POSITIONS), most_places(deck, street)
        self.tables = ShareTables(
            zeros_on_gpu(shape, np.float32),
            zeros_on_gpu(shape if network.folds else (1, 1, 1, 1), np.float32),
        )
        self._hands = HandsOnBoards(
            zeros_on_gpu((boards,), np.int32),
            zeros_on_gpu((boards, places), np.int32),
            zeros_on_gpu((boards, network.units, places), np.float32),
        )
        self._places = places

    def fill(self, run: Any, live: Any, plan: Any, first: int, boards: int, weights: Any) -> None:
        """Queue the computation for boards of the plan, from `first` on; `run` queues a kernel."""
        network, threads = self._network, FEW if is_simulated() else FILL_THREADS
        most = threads if is_simulated() else MOST_THREADS
        run(
            network.add_cards,
            boards,
            live,
            plan,
            self._street,
            first,
            network.first,
            self._hands,
            threads=most,
        )
        sizes = -(-self._places // (HANDS_EACH * threads)), -(-self._roots // ROOTS_OF_BLOCK)
        layers = network.layers[self._street - FLOP]
        blocks = boards * sizes[0] * sizes[1]
        run(network.fill, blocks, self._hands, sizes, layers, weights, *self.tables, threads=threads)


def roots_of(network: GpuNetwork, street: int) -> int:
    return network.betting.streets[street - FLOP].roots


def most_places(deck: Deck, street: int) -> int:
    """The most positions of hands on a board of a street; a hand of one rank has two."""
    left = deck.size - 2 - street
    return left * (left - 1) // 2 + deck.ranks * deck.suits * (deck.suits - 1) // 2


def rivers_at_once(networks: list[GpuNetwork], deck: Deck, least: int, most: int) -> int:
    """For how many rivers, from `least` to `most`, the tables of networks fit into memory."""
    shares = [POSITIONS * LINES * roots_of(each, RIVER) * (1 + each.folds) for each in networks]
    numbers = [*shares, *(each.units * most_places(deck, RIVER) for each in networks)]
    each_takes = 4 * sum(numbers)
    require_memory("Measuring a network", least * each_takes)
    fit = min(MOST_BYTES, MEMORY_SHARE * free_memory()) / each_takes
    return max(least, min(most, int(fit)))
