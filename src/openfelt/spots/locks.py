"""Locked decisions: a strategy is given, and the rest of the spot is solved around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import PAIRS
from openfelt.core.errors import FeltError
from openfelt.spots.engine import Engine, write_strategy
from openfelt.spots.lines import find_place, parse_line
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
    """

    line: str
    strategy: Mapping[str, float] | Sequence[Sequence[float]] | Probabilities


def apply_locks(spot: Spot, engine: Engine, locks: Sequence[Lock]) -> None:
    """Write the strategies of locked decisions into the tables of a spot."""
    for lock in locks:
        line = parse_line(lock.line)
        if line.cards:
            raise FeltError(
                f"The line of a lock has no cards, unlike '{lock.line}': it counts for every turn and river."
            )
        street, place = find_place(spot, line)
        decision = spot.streets[street].places[place]
        if not decision.actions:
            raise FeltError(f"The line '{lock.line}' ends the betting; there is no decision to lock.")
        strategy = _strategy(lock, [action.code for action in decision.actions])
        _write(engine, street, place, decision.kind, strategy)


def _strategy(lock: Lock, codes: Sequence[str]) -> Probabilities:
    """[actions, 1326]"""
    if isinstance(lock.strategy, Mapping):
        unknown = set(lock.strategy) - set(codes)
        if unknown:
            raise FeltError(
                f"There is no action '{sorted(unknown)[0]}' after '{lock.line}'; the actions are "
                f"{', '.join(codes)}."
            )
        rows = np.array([[float(lock.strategy.get(code, 0.0))] for code in codes])
        strategy = np.repeat(rows, PAIRS, axis=1)
    else:
        strategy = np.asarray(lock.strategy, np.float64)
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


def _write(engine: Engine, street: int, place: int, player: int, strategy: Probabilities) -> None:
    level = engine.levels[street]
    runouts = level.runouts
    for board in range(len(runouts.card)):
        size, hands = int(runouts.size[player, board]), int(runouts.hands[player, board])
        write_strategy(level, board, place, strategy[:, runouts.pair[hands : hands + size]])
        level.tables.locked[board, level.betting.decision[place]] = 1
