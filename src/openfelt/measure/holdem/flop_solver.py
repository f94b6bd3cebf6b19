"""Exact values of two-player hold'em: what a best response, or another player, wins from a player.

The flop is the unit of work: what the hands are worth where the flop begins, for the flops of each kind, is
worked out apart from all others (`flop.py` on the CPU, `gpu.py` on a GPU). What comes before the flop is put
together here.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np

from openfelt.cards.boards import boards, hole_class
from openfelt.cards.deck import FLOP, PAIR_CARDS, PAIRS
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.games.compile.betting_tree import PLACE, PLAYER
from openfelt.games.game import TERMINAL
from openfelt.measure.holdem.betting_lines import LANES, Betting, children
from openfelt.measure.holdem.flop import Desk, Leaks, Table, new_desk, new_leaks, solve_flop, stages_of
from openfelt.measure.holdem.player import Anyone, Player, known
from openfelt.measure.holdem.public_cards import Deck, Flop

CLASSES = 169
KINDS: dict[str, type[np.floating[Any]]] = {"double": np.float64, "single": np.float32}


class Task(NamedTuple):
    """What to work out: what `seat` wins from `other`, answering best or playing as `ours`.

    If `leaks` are asked for, it answers best, and is compared with what playing as `ours` wins.
    """

    other: Anyone
    seat: int
    ours: Player | None = None
    leaks: bool = False

    @property
    def best(self) -> bool:
        return self.ours is None or self.leaks


class Found(NamedTuple):
    """What the flops of a kind add before the flop, for a hand of each of the 169 kinds."""

    values: Floats  # [stages, entries of the flop, 169]
    leaks: tuple[Floats, ...]  # by street after the flop [entries, 169]; none if not asked for


class FlopSolver:
    """Works out one flop after another, each thread at its own desk."""

    def __init__(self, task: Task, deck: Deck, precision: str = "double") -> None:
        kind, betting = KINDS[precision], task.other.betting
        if task.ours is not None and task.ours.betting.most_bets != betting.most_bets:
            raise FeltError(f"{task.ours.name} and {task.other.name} play with different numbers of bets.")
        self._kind, self._task, self._deck = kind, task, deck
        flop, turn, river = (
            each._replace(pot=each.pot.astype(kind), paid=each.paid.astype(kind)) for each in betting.streets
        )
        self._table = Table(deck.live, boards(), flop, turn, river, deck.chances.astype(kind))
        self._other = known(task.other, 1 - task.seat, kind)
        self._ours = self._other if task.ours is None else known(task.ours, task.seat, kind)
        self._symmetry = deck.symmetry.astype(np.int32)
        entries = len(betting.entries)
        columns = -(-entries // LANES) * LANES
        self._reach = np.zeros((len(task.other.parts), PAIRS, columns), kind)
        self._reach[:, :, :entries] = reach_at_flop(task.other, 1 - task.seat, deck)
        self._own_reach = np.zeros((1, PAIRS if task.leaks else 0, columns), kind)
        if task.leaks:
            assert task.ours is not None
            self._own_reach[:, :, :entries] = reach_at_flop(task.ours, task.seat, deck)
        self._desks: SimpleQueue[Any] = SimpleQueue()

    def solve(self, flop: Flop) -> Found:
        """Work out one."""
        values, leaks = self.by_hand(flop)
        ways = [each.T for each in values[:, :, : len(self._task.other.betting.entries)]]
        told = zip(leaks, self._task.other.betting.streets, strict=True) if self._task.leaks else ()
        return Found(
            np.array([by_class(each, flop, self._deck) for each in ways]),
            tuple(by_class(leak.T[: lines.entries], flop, self._deck) for leak, lines in told),
        )

    def by_hand(self, flop: Flop) -> tuple[Floats, Leaks]:
        """[stages, 1326, entries] what each hand is worth where the flop begins; and its leaks."""
        task = self._task
        desk = self._new_desk() if self._desks.empty() else self._desks.get()
        values = np.zeros((stages_of(FLOP, task.leaks), *self._reach.shape[1:]), self._kind)
        leaks = new_leaks(self._table, self._kind, task.leaks)
        solve_flop(
            self._table,
            np.array(flop.cards, np.int32),
            self._symmetry,
            self._other,
            self._ours,
            task.seat,
            task.best,
            self._reach,
            self._own_reach,
            desk,
            values,
            leaks,
        )
        self._desks.put(desk)
        return values, leaks

    def _new_desk(self) -> Desk:
        return new_desk(self._table, self._kind, self._task.leaks, len(self._task.other.parts))


def by_class(values: Floats, flop: Flop, deck: Deck) -> Floats:
    """[entries, 169] the sum over all flops that are alike, a hand of each kind."""
    kinds, live = hole_class(), deck.pairs > 0
    size = np.maximum(np.bincount(kinds[live], minlength=CLASSES), 1)
    summed = [np.bincount(kinds[live], row[live].astype(float), minlength=CLASSES) for row in values]
    return np.asarray(np.array(summed) * flop.ways * deck.chances[1] / size)


def reach_at_flop(player: Anyone, seat: int, deck: Deck) -> Floats:
    """[parts, 1326, entries] how likely he comes with each hand to where the flop begins."""
    return np.array(
        [
            weight * _part_at_flop(part, seat, deck)
            for part, weight in zip(player.parts, player.weights, strict=True)
        ]
    )


def _part_at_flop(player: Player, seat: int, deck: Deck) -> Floats:
    betting = player.betting
    places = {node: place for place, node in enumerate(betting.entries.tolist())}
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


def met_by(reach: Floats) -> Floats:
    """[1326] the sum of a reach over the hands that share no card with each hand."""
    low, high = PAIR_CARDS.T.astype(np.int64)
    of_card = np.bincount(low, reach, minlength=52) + np.bincount(high, reach, minlength=52)
    return np.asarray(reach.sum() - of_card[low] - of_card[high] + reach)


@dataclass(frozen=True, eq=False)
class Before:
    """What a seat gets before the flop, and what it does there."""

    value: Floats  # [1326] chips
    chosen: dict[
        int, Floats
    ]  # by node of ours: [1326, actions] what each action is worth, the best following


def before_flop(task: Task, deck: Deck, at_flop: Floats, *, best: bool) -> Before:
    """Put together from `at_flop` [entries, 169], the sum over all flops; answer best, or play as `ours`."""
    betting: Betting = task.other.betting
    worth = dict(zip(betting.entries.tolist(), at_flop[:, hole_class()], strict=True))
    chosen: dict[int, Floats] = {}

    def walk(node: int, reach: Floats) -> Floats:
        if node in worth:
            return np.asarray(worth[node])
        player = int(betting.node[node, PLAYER])
        if player == TERMINAL:
            leaf = int(betting.node[node, PLACE])
            stays = int(betting.leaves.inside[leaf]) >> task.seat & 1
            paid = betting.leaves.paid[leaf]
            met = met_by(reach.sum(axis=0))
            return np.asarray((paid[1 - task.seat] if stays else -paid[task.seat]) * met)
        if player != task.seat:
            shares = np.array([part.before_flop(node) for part in task.other.parts])
            below = [
                walk(child, reach * shares[:, :, action])
                for action, child in enumerate(children(betting.node, node))
            ]
            return np.asarray(np.sum(below, axis=0))
        ways = np.array([walk(child, reach) for child in children(betting.node, node)])
        chosen[node] = ways.T
        if best:
            return np.asarray(ways.max(axis=0))
        assert task.ours is not None
        return np.asarray((ways * task.ours.before_flop(node).T).sum(axis=0))

    value = walk(0, np.outer(task.other.weights, deck.pairs)) * deck.chances[0]
    return Before(value, chosen)


def gains(task: Task, deck: Deck, before: Before) -> Floats:
    """[entries, 169] how much a chip more at an entry of the flop, in each hand, adds to what is won."""
    betting = task.other.betting
    found = np.zeros((len(betting.entries), CLASSES))
    places = {node: place for place, node in enumerate(betting.entries.tolist())}
    live = deck.pairs > 0

    def walk(node: int, reach: Floats) -> None:
        if node in places:
            found[places[node]] += np.bincount(hole_class()[live], reach[live], minlength=CLASSES)
        elif betting.node[node, PLAYER] != TERMINAL:
            below = children(betting.node, node)
            if betting.node[node, PLAYER] != task.seat:
                shares = np.ones((PAIRS, len(below)))  # his part is in what the entry is worth
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
    total = np.zeros((len(task.other.betting.entries), CLASSES))
    with ThreadPoolExecutor(threads) as pool:
        for found in pool.map(solver.solve, deck.flops if flops is None else flops):
            total += found.values[0]
    value = before_flop(task, deck, total, best=task.best).value
    return float(value[deck.pairs > 0].mean())
