"""Saved solutions of spots: folders of arrays with a manifest, like policies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import PAIRS
from openfelt.core.errors import FeltError, FileError
from openfelt.core.files import MALFORMED, load_folder, save_folder
from openfelt.games.bet_sizes import Thresholds
from openfelt.spots.engine import strategy_rows
from openfelt.spots.runouts import build_runouts
from openfelt.spots.solution import Solution
from openfelt.spots.solver import memory_needed, new_engine
from openfelt.spots.spot import PLAYERS, Spot
from openfelt.spots.traversal import Level

KIND = "spot"
SCALE = 65535  # probabilities are saved as 16-bit whole numbers


def save_solution(solution: Solution, folder: str | Path) -> None:
    """Save a solution as a folder of arrays with a manifest.

    Strategies are rounded to 16 bits. A solution in the folder is replaced.

    Parameters
    ----------
    solution : Solution
        What to save.
    folder : str or Path
        Created if it does not exist.

    Examples
    --------
    >>> spot = felt.Spot(oop="AA,QQ", ip="KK", board="2c3d4h8s9s", pot=100, stack=100, bets="a")
    >>> felt.save_solution(spot.solve(until=0.1), folder / "spot")
    >>> [action.code for action in felt.load_solution(folder / "spot").node("a").actions]
    ['f', 'c']
    """
    arrays: dict[str, NDArray[Any]] = {"ranges": solution.spot.ranges}
    for street, level in zip(solution.spot.streets, solution.engine.levels, strict=True):
        arrays[f"{street.name}-average"] = _rounded(level)
        arrays[f"{street.name}-locked"] = level.tables.locked
    merged = len(solution.engine.runouts[-1].card) == len(solution.spot.runouts[-1].card)
    save_folder(Path(folder), KIND, arrays, solution.as_dict() | {"merged": merged})


def load_solution(folder: str | Path, *, most_memory: float = float("inf")) -> Solution:
    """Load what `save_solution` or ``felt spot --save`` wrote.

    Parameters
    ----------
    folder : str or Path
        A saved solution.
    most_memory : float
        Refuse a solution whose tables take more bytes than this.

    Returns
    -------
    Solution

    Examples
    --------
    >>> felt.load_solution("no-such-folder")
    Traceback (most recent call last):
    ...
    openfelt.core.errors.FileError: There is no solution of a spot at no-such-folder.
    """
    if not Path(folder).exists():
        raise FileError(f"There is no solution of a spot at {folder}.")
    arrays, facts = load_folder(Path(folder), KIND)
    try:
        given = dict(facts["spot"])
        ranges = arrays["ranges"]
        if ranges.shape != (len(PLAYERS), PAIRS):
            raise FileError("the ranges do not have a weight for each hand.")
        given |= {"oop": ranges[0], "ip": ranges[1], "thresholds": Thresholds(*given["thresholds"])}
        given["rake_cap"] = float("inf") if given["rake_cap"] is None else float(given["rake_cap"])
        spot = Spot(**given)
        runouts = spot.runouts if facts["merged"] else build_runouts(spot.cards, spot.ranges, merge=False)
        needed = memory_needed(spot, runouts)
        if needed > most_memory:
            raise FileError(f"its tables need {needed / 1e6:,.0f} MB of {most_memory / 1e6:,.0f} allowed.")
        engine = new_engine(spot, runouts)
        for street, level in zip(spot.streets, engine.levels, strict=True):
            _fill(level.tables.average, arrays[f"{street.name}-average"], np.uint16)
            level.tables.average[...] /= SCALE
            _fill(level.tables.locked, arrays[f"{street.name}-locked"], np.uint8)
        oop, ip = map(float, facts["values"])
        numbers = float(facts["exploitability"]), int(facts["iterations"]), float(facts["seconds"])
        if not np.isfinite((oop, ip, *numbers)).all() or min(numbers[1:]) < 0:
            raise FileError("its values are not finite numbers.")
        return Solution(spot, engine, (oop, ip), *numbers)
    except MALFORMED as error:
        raise FileError(f"{folder} is not a complete solution of a spot ({error}).") from None
    except FeltError as error:
        raise FileError(f"{folder} is damaged: {error}") from None


def _rounded(level: Level) -> NDArray[np.uint16]:
    """The average strategies of a street, in 65535ths."""
    betting, runouts = level.betting, level.runouts
    parts = []
    for board in range(len(runouts.card)):
        for player in (0, 1):  # in the order of the tables
            for place in np.flatnonzero(betting.kind == player):
                rows = strategy_rows(level, board, int(place))
                total = rows.sum(axis=0)
                shares = np.divide(rows, total, out=np.zeros_like(rows), where=total > 0)
                parts.append(np.round(shares * SCALE).astype(np.uint16).ravel())
    return np.concatenate(parts) if parts else np.zeros(0, np.uint16)


def _fill(table: NDArray[Any], values: NDArray[Any], kind: type[np.integer[Any]]) -> None:
    if table.shape != values.shape or values.dtype != kind:
        raise FileError("the tables do not fit the betting tree.")
    table[...] = values
