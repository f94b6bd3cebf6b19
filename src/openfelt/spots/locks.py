"""Locked decisions: a strategy is given, and the rest of the spot is solved around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import PAIRS
from openfelt.core.errors import FeltError
from openfelt.spots.engine import Engine, write_strategy
from openfelt.spots.lines import find_place, parse_line
from openfelt.spots.runouts import pairs_of
from openfelt.spots.spot import Spot

Probabilities = NDArray[np.float64]


@dataclass(frozen=True)
class Lock:
    """A decision whose strategy is given.

    Parameters
    ----------
    line : str
        The actions before it, street by street, without cards: "x b120 / x". It is locked on every turn and
        river.
    strategy : mapping or array
        Probabilities by action code, the same for all hands (``{"f": 0.5, "c": 0.5}``), or an array of shape
        (actions, 1326).

    Examples
    --------
    Kings that always call are not bluffed: aces win 200, queens give up.

    >>> spot = felt.Spot(oop="AA,QQ", ip="KK", board="2c3d4h8s9s", pot=100, stack=100, bets="a")
    >>> solution = spot.solve(until=0.1, locks=[felt.Lock("a", {"c": 1.0})])
    >>> round(solution.values[0])
    100
    """

    line: str
    strategy: Mapping[str, float] | Sequence[Sequence[float]] | Probabilities


class LockedStrategy(NamedTuple):
    """A lock as numbers."""

    street: int  # 0 for the spot's first
    place: int
    strategy: Probabilities  # [actions, 1326]


def lock_strategies(spot: Spot, locks: Sequence[Lock]) -> list[LockedStrategy]:
    """The strategies of locks, checked against the betting tree."""
    found = []
    for lock in locks:
        line = parse_line(lock.line)
        if line.cards:
            raise FeltError(
                f"The line of a lock has no cards, unlike '{lock.line}': it counts for every turn and river."
            )
        street, place = find_place(spot, line)
        actions = spot.streets[street].places[place].actions
        if not actions:
            raise FeltError(f"The line '{lock.line}' ends the betting; there is no decision to lock.")
        found.append(LockedStrategy(street, place, _strategy(lock, [action.code for action in actions])))
    return found


def apply_locks(engine: Engine, locks: Sequence[LockedStrategy]) -> None:
    """Write the strategies of locked decisions into the tables, on every board."""
    for street, place, strategy in locks:
        level = engine.levels[street]
        runouts, player = level.runouts, int(level.betting.kind[place])
        for board in range(len(runouts.card)):
            write_strategy(level, board, place, strategy[:, pairs_of(runouts, player, board)])
            level.tables.locked[board, level.betting.decision[place]] = 1


def _strategy(lock: Lock, codes: Sequence[str]) -> Probabilities:
    """[actions, 1326]"""
    if isinstance(lock.strategy, Mapping):
        unknown = set(lock.strategy) - set(codes)
        if unknown:
            raise FeltError(
                f"There is no action '{sorted(unknown)[0]}' after '{lock.line}'; the actions are "
                f"{', '.join(codes)}."
            )
        given: Any = [[lock.strategy.get(code, 0.0)] * PAIRS for code in codes]
    else:
        given = lock.strategy
    try:
        strategy = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise FeltError(f"The strategy after '{lock.line}' is not made of numbers.") from None
    if strategy.shape != (len(codes), PAIRS):
        raise FeltError(
            f"The strategy after '{lock.line}' has the shape {strategy.shape} instead of "
            f"({len(codes)}, {PAIRS})."
        )
    total = strategy.sum(axis=0)
    if not np.isfinite(strategy).all() or (strategy < 0).any() or not np.allclose(total, 1.0, atol=1e-3):
        raise FeltError(
            f"The probabilities after '{lock.line}' are not between 0 and 1 with a sum of 1 for every hand."
        )
    return np.asarray(strategy / total)
