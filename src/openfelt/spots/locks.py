"""Locked decisions: a strategy is given, and the rest of the spot is solved around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
ByBoard = Callable[[tuple[int, ...]], Probabilities]  # from the cards of a board


@dataclass(frozen=True)
class Lock:
    """A decision whose strategy is given.

    Parameters
    ----------
    line : str
        The actions before it, street by street, without cards: "x b120 / x". It is locked on every turn and
        river.
    strategy : mapping, array or callable
        Probabilities by action code, the same for all hands (``{"f": 0.5, "c": 0.5}``), or an array of shape
        (actions, 1326), or a function from the cards of a board, as numbers, to such an array. After the
        spot's first street a function is called for every board; isomorphic ones are not merged then.

    Examples
    --------
    Kings that always call are not bluffed: aces win 200, queens give up.

    >>> spot = felt.Spot(oop="AA,QQ", ip="KK", board="2c3d4h8s9s", pot=100, stack=100, bets="a")
    >>> solution = spot.solve(until=0.1, locks=[felt.Lock("a", {"c": 1.0})])
    >>> round(solution.values[0])
    100
    """

    line: str
    strategy: Mapping[str, float] | Sequence[Sequence[float]] | Probabilities | ByBoard


class LockedStrategy(NamedTuple):
    """A lock as numbers."""

    street: int  # 0 for the spot's first
    place: int
    strategy: Probabilities | ByBoard  # [actions, 1326]


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
        codes = [action.code for action in spot.streets[street].places[place].actions]
        if not codes:
            raise FeltError(f"The line '{lock.line}' ends the betting; there is no decision to lock.")
        board = spot.cards if street == 0 else None
        found.append(LockedStrategy(street, place, _strategy(lock, codes, board)))
    return found


def apply_locks(engine: Engine, locks: Sequence[LockedStrategy]) -> None:
    """Write the strategies of locked decisions into the tables, on every board."""
    for street, place, strategy in locks:
        level = engine.levels[street]
        runouts, player = level.runouts, int(level.betting.kind[place])
        for board in range(len(runouts.card)):
            here = strategy(tuple(runouts.cards[board].tolist())) if callable(strategy) else strategy
            write_strategy(level, board, place, here[:, pairs_of(runouts, player, board)])
            level.tables.locked[board, level.betting.decision[place]] = 1


def decision_line(spot: Spot, street: int, place: int) -> str:
    """The line of a place without cards, as locks have it: "x x / b120"."""
    trees = spot.streets[street]
    lines = *trees.roots[trees.places[place].root].lines, trees.places[place].line
    return " / ".join(" ".join(action.code for action in line) for line in lines).strip(" /")


def _strategy(lock: Lock, codes: Sequence[str], board: tuple[int, ...] | None) -> Probabilities | ByBoard:
    """[actions, 1326], or a function to it where there are many boards."""
    given = lock.strategy
    if not callable(given):
        return _probabilities(lock.line, given, codes)
    if board is not None:
        return _probabilities(lock.line, given(board), codes)
    return lambda cards: _probabilities(lock.line, given(cards), codes)


def _probabilities(line: str, strategy: Any, codes: Sequence[str]) -> Probabilities:
    """[actions, 1326] of what a lock gives, checked."""
    if isinstance(strategy, Mapping):
        unknown = set(strategy) - set(codes)
        if unknown:
            raise FeltError(
                f"There is no action '{sorted(unknown)[0]}' after '{line}'; the actions are "
                f"{', '.join(codes)}."
            )
        strategy = [[strategy.get(code, 0.0)] * PAIRS for code in codes]
    try:
        found = np.asarray(strategy, np.float64)
    except (TypeError, ValueError):
        raise FeltError(f"The strategy after '{line}' is not made of numbers.") from None
    if found.shape != (len(codes), PAIRS):
        raise FeltError(
            f"The strategy after '{line}' has the shape {found.shape} instead of ({len(codes)}, {PAIRS})."
        )
    total = found.sum(axis=0)
    if not np.isfinite(found).all() or (found < 0).any() or not np.allclose(total, 1.0, atol=1e-3):
        raise FeltError(
            f"The probabilities after '{line}' are not between 0 and 1 with a sum of 1 for every hand."
        )
    return np.asarray(found / total)
