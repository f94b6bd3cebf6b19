"""Exact values of two-player hold'em: what a best response, or another player, wins from a player.

The flop is the unit of work: the values of all hands at the roots of a flop are computed independently of
other flops (`flop.py` on the CPU, `gpu/engine.py` on a GPU). This module combines them into the values before
the flop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from openfelt.cards.boards import boards, hole_class
from openfelt.cards.deck import FLOP, PAIRS
from openfelt.cards.public_cards import Deck, Flop
from openfelt.cards.runouts import Runouts
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.games.compile.betting_tree import PLAYER
from openfelt.games.game import TERMINAL
from openfelt.measure.holdem.by_board import FlopByBoard, SolveRivers, no_strategy
from openfelt.measure.holdem.flop import (
    FixedStrategy,
    FlopWorkspace,
    KernelTask,
    LeakSums,
    StreetTask,
    new_leak_sums,
    new_workspace,
    solve_flop,
    stages_of,
)
from openfelt.measure.holdem.network import NetworkPlayer
from openfelt.measure.holdem.player import AnyPlayer, Player, fixed_strategy
from openfelt.measure.holdem.street_walk import StreetWalk
from openfelt.solve.vector.betting_lines import LANES, BettingLines, children

CLASSES = 169
AnyStrategy: TypeAlias = AnyPlayer | NetworkPlayer
ALL_RUNOUTS = Runouts()
KINDS: dict[str, type[np.floating[Any]]] = {"double": np.float64, "single": np.float32}


class Task(NamedTuple):
    """What to compute: what `seat` wins from `other`, by a best response or playing as `ours`.

    With `leaks` it is a best response, and is compared with playing as `ours`.
    """

    other: AnyStrategy
    seat: int
    ours: Player | NetworkPlayer | None = None
    leaks: bool = False

    @property
    def best(self) -> bool:
        return self.ours is None or self.leaks


class FlopValues(NamedTuple):
    """What a flop and its isomorphic flops add to the values before the flop, by class of hole cards."""

    # [stages, roots of the flop, 169]; of a best response to sampled turns and rivers as in `by_board.py`
    values: Floats
    leaks: tuple[Floats, ...]  # by street after the flop [roots, 169]; empty if not requested


class FlopSolver:
    """Solves one flop after another, each thread in a workspace of its own."""

    def __init__(
        self,
        task: Task,
        deck: Deck,
        precision: str = "double",
        runouts: Runouts = ALL_RUNOUTS,
        solve_rivers: SolveRivers | None = None,
    ) -> None:
        """`solve_rivers` computes the rivers of networks and of samples elsewhere, as in `by_board.py`."""
        kind, betting = KINDS[precision], task.other.betting
        if task.ours is not None and task.ours.betting.most_bets != betting.most_bets:
            raise FeltError(f"{task.ours.name} and {task.other.name} play with different numbers of bets.")
        self._kind, self._task, self._deck = kind, task, deck
        flop, turn, river = (
            each._replace(pot=each.pot.astype(kind), paid=each.paid.astype(kind)) for each in betting.streets
        )
        other = _fixed(task.other, 1 - task.seat, kind)
        ours = other if task.ours is None else _fixed(task.ours, task.seat, kind)
        self._kernel_task = KernelTask(
            StreetTask(flop, other.flop, ours.flop),
            StreetTask(turn, other.turn, ours.turn),
            StreetTask(river, other.river, ours.river),
            task.seat,
            task.best,
            deck.live,
            boards(),
            deck.symmetry.astype(np.int32),
            deck.chances.astype(kind),
        )
        roots = len(betting.flop_roots)
        columns = -(-roots // LANES) * LANES
        self._reach = np.zeros((len(task.other.parts), PAIRS, columns), kind)
        self._reach[:, :, :roots] = reach_at_flop(task.other, 1 - task.seat, deck)
        self._own_reach = np.zeros((1, PAIRS if task.leaks else 0, columns), kind)
        if task.leaks:
            assert task.ours is not None
            self._own_reach[:, :, :roots] = reach_at_flop(task.ours, task.seat, deck)
        self._workspaces: SimpleQueue[FlopWorkspace] = SimpleQueue()
        self._by_board: FlopByBoard | None = None
        if is_network(task.other) or is_network(task.ours) or runouts.within(deck).is_sample:
            players = task.other, task.ours
            self._by_board = FlopByBoard(deck, kind, self._kernel_task, players, runouts, solve_rivers)

    def solve(self, flop: Flop) -> FlopValues:
        """The values of one flop."""
        values, leaks = self.by_hand(flop)
        betting, deck = self._task.other.betting, self._deck
        stages = [each.T for each in values[:, :, : len(betting.flop_roots)]]
        by_street = zip(leaks, betting.streets, strict=True) if self._task.leaks else ()
        return FlopValues(
            np.array([by_class(each, flop, deck) for each in stages]),
            tuple(by_class(leak.T[: lines.roots], flop, deck) for leak, lines in by_street),
        )

    def solve_all(self, flops: Sequence[Flop]) -> Iterator[FlopValues]:
        """The values of flops, in their order."""
        return map(self.solve, flops)

    def by_hand(self, flop: Flop) -> tuple[Floats, LeakSums]:
        """[stages, 1326, roots] the value of each hand at each root of the flop; and its leaks."""
        task, kernel_task = self._task, self._kernel_task
        work = self._new_workspace() if self._workspaces.empty() else self._workspaces.get()
        kinds = self._by_board.kinds if self._by_board is not None else 1
        stages = max(stages_of(FLOP, task.leaks), kinds)
        values = np.zeros((stages, *self._reach.shape[1:]), self._kind)
        leaks = new_leak_sums(kernel_task, self._kind, task.leaks)
        if self._by_board is not None:
            self._by_board.solve(flop, work, values, leaks)
        else:
            solve_flop(kernel_task, np.array(flop.cards, np.int32), work, values, leaks)
        self._workspaces.put(work)
        return values, leaks

    def _new_workspace(self) -> FlopWorkspace:
        return new_workspace(self._kernel_task, self._reach, self._own_reach)


def is_network(player: AnyStrategy | None) -> bool:
    """Whether a player's strategy is computed board by board."""
    return isinstance(player, NetworkPlayer)


def _fixed(player: AnyStrategy, seat: int, kind: type[np.floating[Any]]) -> FixedStrategy:
    return no_strategy(kind) if isinstance(player, NetworkPlayer) else fixed_strategy(player, seat, kind)


def parts_of(player: AnyStrategy) -> tuple[Player | NetworkPlayer, ...]:
    """The parts of a mixture, or the player itself."""
    return player.parts


def by_class(values: Floats, flop: Flop, deck: Deck) -> Floats:
    """[roots, 169] the sum over all isomorphic flops, for a hand of each class."""
    kinds, live = hole_class(), deck.pairs > 0
    size = np.maximum(np.bincount(kinds[live], minlength=CLASSES), 1)
    summed = [np.bincount(kinds[live], row[live].astype(float), minlength=CLASSES) for row in values]
    return np.asarray(np.array(summed) * flop.multiplicity * deck.chances[1] / size)


def reach_at_flop(player: AnyStrategy, seat: int, deck: Deck) -> Floats:
    """[parts, 1326, roots] the player's reach of the roots of the flop with each hand."""
    return np.array(
        [
            weight * _part_at_flop(part, seat, deck)
            for part, weight in zip(parts_of(player), player.weights, strict=True)
        ]
    )


def _part_at_flop(player: Player | NetworkPlayer, seat: int, deck: Deck) -> Floats:
    betting = player.betting
    places = {node: place for place, node in enumerate(betting.flop_roots.tolist())}
    found = np.zeros((PAIRS, len(places)))

    def walk(node: int, reach: Floats) -> None:
        if node in places:
            found[:, places[node]] = reach
        elif betting.node[node, PLAYER] != TERMINAL:
            below = children(betting.node, node)
            own = betting.node[node, PLAYER] == seat
            shares = player.before_flop(node) if own else np.ones((PAIRS, len(below)))
            for child, share in zip(below, shares.T, strict=True):
                walk(child, reach * share)

    walk(0, deck.pairs.astype(float))
    return found


@dataclass(frozen=True, eq=False)
class Before:
    """The values of a seat before the flop."""

    value: Floats  # [1326] chips
    # By node of the seat: [1326, actions] the value of each action, followed by a best response.
    chosen: dict[int, Floats]


def before_flop(task: Task, deck: Deck, at_flop: Floats, *, best: bool) -> Before:
    """The values before the flop, from `at_flop` [roots, 169], the sums over all flops.

    With `best` they are those of a best response, else of playing as `ours`.
    """
    betting: BettingLines = task.other.betting
    at_root = dict(zip(betting.flop_roots.tolist(), at_flop[:, hole_class()], strict=True))
    chosen: dict[int, Floats] = {}

    def theirs(node: int) -> Floats:
        return np.array([part.before_flop(node) for part in parts_of(task.other)])

    def ours(node: int, values: Floats) -> Floats:
        chosen[node] = values.T
        if best:
            return np.asarray(values.max(axis=0))
        assert task.ours is not None
        return np.asarray((values * task.ours.before_flop(node).T).sum(axis=0))

    walk = StreetWalk(betting, task.seat, at_root, theirs, ours)
    value = walk.value(0, np.outer(task.other.weights, deck.pairs)) * deck.chances[0]
    return Before(value, chosen)


def gains(task: Task, deck: Deck, before: Before) -> Floats:
    """[roots, 169] the derivative of the winnings by the value of each hand at each root of the flop."""
    betting = task.other.betting
    found = np.zeros((len(betting.flop_roots), CLASSES))
    places = {node: place for place, node in enumerate(betting.flop_roots.tolist())}
    live = deck.pairs > 0

    def walk(node: int, reach: Floats) -> None:
        if node in places:
            found[places[node]] += np.bincount(hole_class()[live], reach[live], minlength=CLASSES)
        elif betting.node[node, PLAYER] != TERMINAL:
            below = children(betting.node, node)
            if betting.node[node, PLAYER] != task.seat:
                shares = np.ones((PAIRS, len(below)))  # the value of the root includes the opponent's reach
            elif not task.best:
                assert task.ours is not None
                shares = task.ours.before_flop(node)
            else:
                shares = np.eye(len(below))[before.chosen[node].argmax(axis=1)]
            for child, share in zip(below, shares.T, strict=True):
                walk(child, reach * share)

    walk(0, np.ones(PAIRS) * deck.chances[0] / live.sum())
    return found


def solve(
    task: Task,
    deck: Deck,
    *,
    flops: Sequence[Flop] | None = None,
    threads: int = 1,
    precision: str = "double",
) -> float:
    """What the seat wins a hand, in chips, over all flops."""
    solver = FlopSolver(task, deck, precision)
    total = np.zeros((len(task.other.betting.flop_roots), CLASSES))
    with ThreadPoolExecutor(threads) as pool:
        for found in pool.map(solver.solve, deck.flops if flops is None else flops):
            total += found.values[0]
    value = before_flop(task, deck, total, best=task.best).value
    return float(value[deck.pairs > 0].mean())
