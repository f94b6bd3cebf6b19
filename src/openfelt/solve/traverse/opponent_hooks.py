"""What a search asks of those who know better: what the others will do, and which action to try first.

A model of the others and an expander are each a NamedTuple of numbers and arrays that `implements` these
questions; the search is compiled for its kind. Answers allocate nothing, and look at no cards but those of
the one to move and the board.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from openfelt.core.jit import Floats, part
from openfelt.core.random import Stream, uniform
from openfelt.solve.traverse.episode import first_slot, implements, num_actions, question
from openfelt.solve.traverse.holdem import Deal


@question
def is_known(model: Any) -> bool:
    """Whether the model says what the others do."""
    raise NotImplementedError


@question
def answer(model: Any, tree: Any, deal: Deal, node: int, place: float) -> int:
    """What the one to move does, by a number from 0 to 1."""
    raise NotImplementedError


@question
def prefer(expander: Any, tree: Any, deal: Deal, node: int, seat: int, untried: int, stream: Stream) -> int:
    """Which action to try next of those never tried, a bit for each of them, of which there are at least two.

    `seat` is the searcher's. Below 0: whichever; the rollout's in a row that is new, else the first.
    """
    raise NotImplementedError


class NoModel(NamedTuple):
    """The others are searched like the searcher himself."""

    none: int = 0


class ProbabilityModel(NamedTuple):
    """The others play a known policy."""

    probabilities: Floats  # [1, slots]


class InOrder(NamedTuple):
    """Actions are tried in their order."""

    none: int = 0


class AtRandom(NamedTuple):
    """Each of those never tried is as likely as the others (TAU, section 5.1)."""

    none: int = 0


@implements(is_known, NoModel)
def _none(model: NoModel) -> bool:
    return False


@implements(answer, NoModel)
def _no_answer(model: NoModel, tree: Any, deal: Deal, node: int, place: float) -> int:
    return 0


@implements(is_known, ProbabilityModel)
def _probabilities(model: ProbabilityModel) -> bool:
    return True


@implements(answer, ProbabilityModel)
def _probable_answer(model: ProbabilityModel, tree: Any, deal: Deal, node: int, place: float) -> int:
    first, chosen = first_slot(tree, deal, node), 0
    for way in range(num_actions(tree, node) - 1):
        place -= model.probabilities[0, first + way]
        chosen += place >= 0.0
    return chosen


@implements(prefer, InOrder)
def _in_order(
    expander: InOrder, tree: Any, deal: Deal, node: int, seat: int, untried: int, stream: Stream
) -> int:
    return -1


@implements(prefer, AtRandom)
def _at_random(
    expander: AtRandom, tree: Any, deal: Deal, node: int, seat: int, untried: int, stream: Stream
) -> int:
    count, rest = 0, untried
    while rest:
        count += 1
        rest &= rest - 1
    return nth(untried, int(uniform(stream) * count))


@part
def nth(bits: int, skipped: int) -> int:
    """The place of a bit that is set, after so many others."""
    way = 0
    while True:
        if bits >> way & 1:
            if skipped == 0:
                return way
            skipped -= 1
        way += 1
