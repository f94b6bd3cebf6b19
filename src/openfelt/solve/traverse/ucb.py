"""UCB (Kocsis & Szepesvári 2006), with the exploration bonus of UCT, and Smooth UCB (HS14, Algorithm 2).

Shared by self-play (`solve/sampling/uct.py`) and the search bots (`bots/search/simulate.py`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from openfelt.core.jit import Floats, part
from openfelt.core.random import Stream, uniform
from openfelt.core.sampling import categorical

VISITS, PAYOFFS = 0, 1  # columns of the table


class Selection(NamedTuple):
    """The probability eta that an infoset is played by UCB, and not by its average policy."""

    by_average: bool  # eta is the largest probability of the average (HS14, 3); or else
    gamma: float  # max(gamma, eta0 / (1 + d sqrt(N))) (HS14, 4; MM19, 2.11)
    eta0: float
    d: float
    threshold: float  # below so many visits there is no mixing:
    below_by_ucb: bool = False  # UCB is played there, or the average (eta is 0)


ALWAYS_UCB = Selection(False, 1.0, 1.0, 0.0, 0.0)


@part
def select(
    selection: Selection, counts: Floats, first: int, last: int, visits: float, c: float, stream: Stream
) -> int:
    """Smooth UCB (Algorithm 2 of HS14), which is UCB where eta is always 1."""
    if visits < selection.threshold and not selection.below_by_ucb:
        slot = _first_untried(counts, first, last)
        if slot == last:
            slot = _draw_average(counts, first, last, visits, stream)
    elif (
        visits < selection.threshold
        or selection.gamma >= 1.0
        or _is_ucb(selection, counts, first, last, visits, uniform(stream))
    ):
        slot = highest_bound(counts, first, last, visits, c)
    else:
        slot = _draw_average(counts, first, last, visits, stream)
    return slot


@part
def highest_bound(counts: Floats, first: int, last: int, visits: float, c: float) -> int:
    """UCB: the action of highest value plus bonus; one that was never tried has an infinite bonus."""
    log_visits = math.log(visits)
    best, highest = first, -math.inf
    for slot in range(first, last):
        tried, bound = counts[slot, VISITS], math.inf
        if tried > 0.0:
            bound = (counts[slot, PAYOFFS] + c * math.sqrt(log_visits * tried)) / tried
        if bound > highest:
            best, highest = slot, bound
    return best


@part
def _is_ucb(
    selection: Selection, counts: Floats, first: int, last: int, visits: float, chance: float
) -> bool:
    """Whether chance < eta."""
    if selection.by_average:
        most = 0.0
        for slot in range(first, last):
            most = max(most, counts[slot, VISITS])
        below = chance * visits < most
    else:
        decayed = chance * (1.0 + selection.d * math.sqrt(visits)) < selection.eta0
        below = chance < selection.gamma or decayed
    return below


@part
def _draw_average(counts: Floats, first: int, last: int, visits: float, stream: Stream) -> int:
    """An action in proportion to its visits."""
    return first + categorical(counts[:, VISITS], first, last - first, uniform(stream) * visits)


@part
def _first_untried(counts: Floats, first: int, last: int) -> int:
    """The first action that was never taken, or `last` if there is none."""
    slot = first
    while slot < last and counts[slot, VISITS] > 0.0:
        slot += 1
    return slot
