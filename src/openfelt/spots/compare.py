"""Two solutions side by side: how the same decision differs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from openfelt.core.errors import FeltError
from openfelt.spots.node import Node, hand_text
from openfelt.spots.solution import Solution


@dataclass(frozen=True, eq=False)
class Comparison:
    """A decision in two solutions.

    Attributes
    ----------
    first, second : Node
        The decision in both.
    changed : float
        Share of the range whose action changes: the mean over hands of half the sum of absolute differences
        of probabilities.
    """

    first: Node
    second: Node
    changed: float

    def __str__(self) -> str:
        lines = [f"{'action':<12} {'first':>8} {'second':>8} {'EV first':>10} {'EV second':>10}"]
        columns = (*(node.frequencies for node in self.nodes), *(node.action_values for node in self.nodes))
        for action, one, two, ev_one, ev_two in zip(self.first.actions, *columns, strict=True):
            lines.append(f"{action!s:<12} {one:>8.1%} {two:>8.1%} {ev_one:>10.2f} {ev_two:>10.2f}")
        values = ", ".join(
            f"{name} {one:.2f} and {two:.2f}"
            for name, one, two in zip(("OOP", "IP"), self.first.values, self.second.values, strict=True)
        )
        lines.append(f"{self.changed:.1%} of the range plays differently; values in chips: {values}.")
        return "\n".join(lines)

    @property
    def nodes(self) -> tuple[Node, Node]:
        return self.first, self.second

    def largest(self, count: int = 10) -> list[tuple[str, float]]:
        """The hands whose strategies differ most, with half the sum of absolute differences."""
        apart = _apart(self.first, self.second)
        order = np.argsort(-np.nan_to_num(apart))[:count]
        return [(hand_text(int(pair)), float(apart[pair])) for pair in order if apart[pair] > 0]


def compare_solutions(first: Solution, second: Solution, line: str = "") -> Comparison:
    """Compare a decision of two solutions.

    Parameters
    ----------
    first, second : Solution
        Solutions with the same actions at this decision.
    line : str
        The line that leads to it, as in `Solution.node`.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> spot = felt.Spot(oop="AA,QQ", ip="KK", board="2c3d4h8s9s", pot=100, stack=100, bets="a")
    >>> first, second = spot.solve(until=0.1), spot.solve(until=0.1, locks=[felt.Lock("a", {"c": 1.0})])
    >>> round(felt.compare_solutions(first, second).changed, 1)  # half of the queens stop bluffing
    0.2
    """
    one, two = first.node(line), second.node(line)
    if one.actions != two.actions or one.player is None:
        raise FeltError(f"The two solutions do not have the same actions after '{line}'.")
    apart, weight = np.nan_to_num(_apart(one, two)), one.mass[one.player]
    return Comparison(one, two, float(apart @ weight / weight.sum()) if weight.any() else float("nan"))


def _apart(one: Node, two: Node) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.asarray(np.abs(one.strategy - two.strategy).sum(axis=0) / 2)
