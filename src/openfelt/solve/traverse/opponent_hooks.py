"""Hooks of the search: a model of the opponents' actions, and the action to try first.

A model and an expander are each a NamedTuple of numbers and arrays that `implements` these functions; the
search is compiled for its type. Implementations allocate nothing, and read no cards but the board and those
of the player to move.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from openfelt.core.jit import Floats, part
from openfelt.core.random import Stream, uniform
from openfelt.core.sampling import categorical
from openfelt.solve.traverse.episode import dispatched, first_slot, implements, num_actions
from openfelt.solve.traverse.holdem import Deal


@dispatched
def is_known(model: Any) -> bool:
    """Whether the model predicts the opponents' actions."""
    raise NotImplementedError


@dispatched
def answer(model: Any, tree: Any, deal: Deal, node: int, place: float) -> int:
    """The action of the player to move, drawn by a number from 0 to 1."""
    raise NotImplementedError


@dispatched
def prefer(expander: Any, tree: Any, deal: Deal, node: int, seat: int, untried: int, stream: Stream) -> int:
    """Which of the actions never tried to try next; `untried` has a bit for each of them, at least two.

    `seat` is the searcher's. Below 0 means no preference: then a new infoset takes the action of the rollout,
    and any other the first.
    """
    raise NotImplementedError


class NoModel(NamedTuple):
    """No model: the opponents are searched like the searcher."""

    none: int = 0


class ProbabilityModel(NamedTuple):
    """The opponents play a fixed policy."""

    probabilities: Floats  # [1, slots]


class InOrder(NamedTuple):
    """Actions are tried in their order."""

    none: int = 0


class AtRandom(NamedTuple):
    """All actions never tried are equally likely (TAU, section 5.1)."""

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
    first = first_slot(tree, deal, node)
    return categorical(model.probabilities[0], first, num_actions(tree, node), place)


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
    """The position of a set bit, after `skipped` lower ones."""
    place = 0
    while True:
        if bits >> place & 1:
            if skipped == 0:
                return place
            skipped -= 1
        place += 1
