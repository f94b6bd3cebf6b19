"""A subgame of limit hold'em: from the beginning of a street to the end of the hand, re-solved.

Safe re-solving (Burch, Johanson & Bowling 2014): the player's new strategy may leave no hand of the opponent
with a higher best-response value than the strategy that it replaces, the *reference*. So exploitability does
not rise, whatever the opponent's range. Among the safe strategies many gain nothing; Moravcik et al. 2016
maximize the least margin. Here the opponent must also play on with its range by the blueprint, with weight
BASE (`spots.engine.Gadget`): the solution minimizes what a best response wins with this range, subject to
safety.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from openfelt.bots.resolve.blueprint import Strategy
from openfelt.cards.boards import PERMUTED_PAIR
from openfelt.cards.deck import PAIRS, cards_text
from openfelt.core.jit import Floats
from openfelt.games.compile.betting_tree import BettingTree
from openfelt.games.holdem import BIG_BLIND
from openfelt.solve.traverse.conditional_deals import pairs_without
from openfelt.spots.betting import FOLD, ON
from openfelt.spots.engine import Engine, average_strategy, write_strategy
from openfelt.spots.runouts import pairs_of
from openfelt.spots.solver import Budget, SpotSolver
from openfelt.spots.spot import Spot, compatible_weight
from openfelt.spots.traversal import BEST_RESPONSE, Level

BASE = 0.1  # weight of the opponent's likeliest hand in the range that must play on
LEAST = 1e-6  # weight of hands that do not come here, so that they have a strategy too
STACK = 1_000  # chips: nobody is all-in in limit hold'em


class SubgameRoot(NamedTuple):
    """The public state in which a subgame begins."""

    board: tuple[int, ...]
    node: int  # of the betting tree
    pot: int


class Subgame:
    """The spot of a subgame, and where the nodes of the betting tree are in it."""

    def __init__(self, tree: BettingTree, root: SubgameRoot, ranges: Floats) -> None:
        self.tree, self.root = tree, root
        self.ranges = np.maximum(ranges, LEAST) * pairs_without(root.board)
        oop, ip = self.ranges
        self.spot = Spot(
            oop=oop,
            ip=ip,
            board=cards_text(root.board),
            pot=root.pot,
            stack=STACK,
            bets="limit",
            big_blind=BIG_BLIND,
        )
        self.place = dict(self._places(0, 0, root.node))  # by node: street of the spot, place

    def _places(self, street: int, place: int, node: int) -> Iterator[tuple[int, tuple[int, int]]]:
        trees = self.spot.streets[street]
        here = trees.places[place]
        if here.kind == ON and street + 1 < len(self.spot.streets):
            root = int(trees.arrays.next_root[place])
            yield from self._places(street + 1, int(self.spot.streets[street + 1].arrays.root[root]), node)
        elif here.kind < FOLD:
            yield node, (street, place)
            for action, child in enumerate(here.children):
                yield from self._places(street, child, self.tree.child(node, action))

    def compatible(self, seat: int) -> Floats:
        """[hands] the weight of a seat's hands that each hand of the opponent can meet."""
        return compatible_weight(self.ranges[seat])[np.flatnonzero(self.ranges[1 - seat])]


@dataclass(frozen=True, eq=False)
class SubgameStrategy:
    """The average strategies of an engine at the nodes of a subgame."""

    subgame: Subgame
    engine: Engine

    def at(self, node: int, board: Sequence[int]) -> Floats:
        """[actions, 1326] probabilities; uniform for hands that share a card with the board."""
        street, place = self.subgame.place[node]
        level, player = self.engine.levels[street], self.subgame.spot.streets[street].places[place].kind
        number, suits = _find_board(level, board, self.subgame.root.board)
        pairs = pairs_of(level.runouts, player, number)
        shares = average_strategy(level, number, place)
        strategy = np.full((len(shares), PAIRS), 1.0 / len(shares))
        strategy[:, PERMUTED_PAIR[suits][pairs]] = shares
        return strategy


@dataclass(frozen=True, eq=False)
class Resolved:
    """A re-solved subgame.

    `limits` and `values` [hands]: what each of the opponent's hands gets at most, in chips from the middle of
    the pot, against the reference and against the new strategy.
    """

    strategy: Strategy
    limits: Floats
    values: Floats
    range: Floats  # [hands] the opponent's
    met: Floats  # [hands] the weight of the seat's hands that the hand can meet
    iterations: int

    @property
    def excess(self) -> float:
        """The largest amount by which a hand of the opponent exceeds its limit.

        In chips, weighted by how likely it is that the seat is here with a hand that does not share a card,
        relative to the opponent's hand for which this is likeliest.
        """
        return float((self.met * (self.values - self.limits)).max() / self.met.max())

    @property
    def mean_excess(self) -> float:
        """The mean over all hands of what each gets more, in chips: a bound on the rise of exploitability."""
        return float(self.met @ np.maximum(self.values - self.limits, 0.0) / self.met.sum())

    @property
    def gain(self) -> float:
        """By how much less the opponent's range gets, in chips a hand that comes to this subgame."""
        weights = self.range * self.met
        return float(weights @ (self.limits - self.values) / weights.sum())


def resolve(
    subgame: Subgame, seat: int, reference: Strategy, budget: Budget, *, safe: bool = True
) -> Resolved:
    """Solve a subgame anew for a seat, by the ranges of the subgame.

    Parameters
    ----------
    subgame : Subgame
        Where to begin, with both ranges.
    seat : int
        The seat that gets a new strategy.
    reference : Strategy
        What the seat plays in the subgame otherwise.
    budget : Budget
        Iterations and seconds.
    safe : bool
        False: solve the subgame by both ranges, as if they were certain. Exploitability may rise.

    Returns
    -------
    Resolved
        The reference itself if the budget was too small for a better strategy.
    """
    begun, opponent = time.perf_counter(), 1 - seat
    before = SpotSolver(subgame.spot)
    write_strategies(subgame, before.engine, seat, reference)
    limits = before.engine.passes().run(opponent, BEST_RESPONSE).astype(np.float64)
    weights, met = before.engine.weights[opponent], subgame.compatible(seat)
    gadget = (opponent, limits, BASE * weights) if safe else None
    solver = SpotSolver(subgame.spot, gadget=gadget)
    left = budget.seconds - (time.perf_counter() - begun)
    if left <= 0:
        return Resolved(reference, limits / met, limits / met, weights, met, 0)
    done = solver.iterate(budget.iterations, seconds=left)
    values = solver.engine.passes().run(opponent, BEST_RESPONSE).astype(np.float64)
    strategy = SubgameStrategy(subgame, solver.engine)
    solved = Resolved(strategy, limits / met, values / met, weights, met, done)
    if safe and solved.mean_excess >= solved.gain:
        return replace(solved, strategy=reference, values=solved.limits)
    return solved


def write_strategies(subgame: Subgame, engine: Engine, player: int, strategy: Strategy) -> None:
    """Write what a player does at all decisions of a subgame into the tables of an engine."""
    for street, level in enumerate(engine.levels):
        boards = level.runouts.cards
        for node, (where, place) in subgame.place.items():
            if where == street and subgame.spot.streets[street].places[place].kind == player:
                for number in range(len(boards)):
                    pairs = pairs_of(level.runouts, player, number)
                    write_strategy(level, number, place, strategy.at(node, boards[number].tolist())[:, pairs])


def _find_board(level: Level, board: Sequence[int], root: Sequence[int]) -> tuple[int, int]:
    """The number of a board, or of one that is isomorphic to it, and the permutation of suits from there."""
    if len(board) == len(root):
        return 0, 0
    runouts = level.runouts
    image = int(np.flatnonzero(runouts.image_card == board[-1])[0])
    number = int(np.searchsorted(runouts.image, image, side="right")) - 1
    return number, int(runouts.image_suits[image])
