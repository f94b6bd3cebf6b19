"""One sampled path through a game: the functions of a tree that the sampling solvers call.

There are several kinds of trees: those of an enumerated game (`enumerated.py`), of one that is compiled
without its histories (`states.py`), of hold'em (`holdem.py`) and of a restricted game (`restricted.py`). A
solver is written once, against the functions below. They are dispatched on the type of the tree: when numba
compiles the solver for a kind of tree, it calls that kind's implementation. `deal` holds what the node does
not tell, such as cards, for one thread to write to.

In every tree, tree.node[node, PLAYER] is the player to move, below 0 at a leaf, and tree.node[node, PLACE] is
a decision's first *edge*: the number of its first action among all actions of all nodes, whatever cards are
dealt.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba.extending import overload

from openfelt.core.jit import PART_FLAGS, Floats, Longs, part
from openfelt.core.random import Stream, uniform
from openfelt.core.sampling import categorical

PLAYER, PLACE = 0, 3  # columns of node, in every kind of tree
F = TypeVar("F", bound=Callable[..., object])


IMPLEMENTATIONS: dict[tuple[Callable[..., object], type | None], Callable[..., object]] = {}


def dispatched(function: F) -> F:
    """A function for kernels to call whose implementation depends on the type of its first argument."""

    def choose(first: Any, *_: Any) -> Callable[..., object] | None:
        return IMPLEMENTATIONS.get((function, getattr(first, "instance_class", None)))

    overload(function, jit_options=PART_FLAGS, strict=False)(choose)
    return function


def implements(function: Callable[..., object], kind: type) -> Callable[[F], F]:
    """The decorated function implements a dispatched one for a first argument of that type."""

    def register(implementation: F) -> F:
        IMPLEMENTATIONS[function, kind] = implementation
        return implementation

    return register


def implementations(kind: type) -> dict[Callable[..., object], Any]:
    """By dispatched function: its implementation for a type."""
    return {called: function for (called, of), function in IMPLEMENTATIONS.items() if of is kind}


@dispatched
def begin(tree: Any, deal: Any, stream: Stream) -> int:
    """Start an episode; returns the first node at which a player moves."""
    raise NotImplementedError


@dispatched
def follow(tree: Any, deal: Any, node: int, action: int, stream: Stream) -> int:
    """The next node at which a player moves, or a leaf, after `action` at `node`."""
    raise NotImplementedError


@dispatched
def num_actions(tree: Any, node: int) -> int:
    """The number of actions of a decision."""
    raise NotImplementedError


@dispatched
def first_slot(tree: Any, deal: Any, node: int) -> int:
    """The first slot of a decision's infoset."""
    raise NotImplementedError


@dispatched
def payoff(tree: Any, deal: Any, leaf: int, player: int) -> float:
    """The payoff of a player at a leaf."""
    raise NotImplementedError


@dispatched
def num_players(tree: Any) -> int:
    """The number of players."""
    raise NotImplementedError


@dispatched
def exploration(tree: Any, node: int, c: Floats) -> float:
    """The exploration constant of UCB at a decision."""
    raise NotImplementedError


@dispatched
def passive(tree: Any, node: int, passive: Any) -> int:
    """The place of the action that checks or calls."""
    raise NotImplementedError


@dispatched
def save_past(tree: Any, deal: Any, whole: Longs, depth: int, column: int) -> None:
    """Write what the deal must hold at a node to whole[depth, column], ..., to return there in this episode.

    There is room for one number for each player.
    """
    raise NotImplementedError


@dispatched
def restore_past(tree: Any, deal: Any, whole: Longs, depth: int, column: int) -> None:
    """Prepare the deal to return to a node."""
    raise NotImplementedError


@part
def draw(policies: Floats, row: int, first: int, last: int, stream: Stream) -> int:
    """One of the columns from `first` up to `last`, drawn by the probabilities in a row."""
    return first + categorical(policies[row], first, last - first, uniform(stream))
