"""Walking down a game one sampled path at a time: the few questions that the Monte-Carlo learners ask.

There are two kinds of trees, that of an enumerated game (`enumerated.py`) and that of hold'em's betting
(`betting.py`). A learner is written once, against the functions below; when numba compiles it for a kind of
tree, it puts that kind's own in their place. `deal` is what chance decided ahead, for one thread to write to.

In both, tree.node[node, PLAYER] is who moves, below 0 at a leaf, and tree.node[node, PLACE] is a decision's
*spot*, a number apart for each action of each node as far as it does not depend on what was dealt.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba.extending import overload

from openfelt.core.jit import PART_FLAGS, Floats, part
from openfelt.core.random import Stream, uniform

PLAYER, PLACE = 0, 3  # columns of node, in every kind of tree
F = TypeVar("F", bound=Callable[..., object])


ANSWERS: dict[tuple[Callable[..., object], type | None], Callable[..., object]] = {}


def question(asked: F) -> F:
    """A function that kernels call, whose answer depends on the kind of its first argument."""

    def choose(first: Any, *_: Any) -> Callable[..., object] | None:
        return ANSWERS.get((asked, getattr(first, "instance_class", None)))

    overload(asked, jit_options=PART_FLAGS, strict=False)(choose)
    return asked


def implements(asked: Callable[..., object], kind: type) -> Callable[[F], F]:
    """Let a question be answered by the decorated function where its first argument is of that kind."""

    def register(answer: F) -> F:
        ANSWERS[asked, kind] = answer
        return answer

    return register


@question
def begin(tree: Any, deal: Any, stream: Stream) -> int:
    """Start an episode; the first node at which somebody other than chance moves."""
    raise NotImplementedError


@question
def follow(tree: Any, deal: Any, node: int, action: int, stream: Stream) -> int:
    """The next node at which a player moves, or a leaf, after `action` at `node`."""
    raise NotImplementedError


@question
def num_actions(tree: Any, node: int) -> int:
    """How many actions a decision has."""
    raise NotImplementedError


@question
def first_slot(tree: Any, deal: Any, node: int) -> int:
    """The first slot of the row that a decision is in."""
    raise NotImplementedError


@question
def payoff(tree: Any, deal: Any, leaf: int, player: int) -> float:
    """What a player has won."""
    raise NotImplementedError


@question
def num_players(tree: Any) -> int:
    """How many play."""
    raise NotImplementedError


@question
def exploration(tree: Any, node: int, c: Floats) -> float:
    """The exploration constant of UCB at a decision."""
    raise NotImplementedError


@question
def passive(tree: Any, node: int, passive: Any) -> int:
    """The place of the action that checks or calls."""
    raise NotImplementedError


@part
def draw(policies: Floats, row: int, first: int, last: int, stream: Stream) -> int:
    """One of the columns from `first` up to `last`, with the probability that stands there."""
    place, chosen = uniform(stream), first
    for column in range(first, last - 1):
        place -= policies[row, column]
        chosen += place >= 0.0
    return chosen
