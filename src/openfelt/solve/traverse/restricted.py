"""Episodes of a restricted game: one player is sometimes bound to a fixed policy, hidden from its opponent.

The restricted Nash response (Johanson, Zinkevich & Bowling 2007; PJL11 section 4) draws once before the game:
with probability p the player is bound for all of it. The data-biased response (Johanson & Bowling 2009) draws
before each of the player's decisions, by the amount of data there. A bound decision is drawn as if by chance,
so a sampling solver visits only the free ones and needs no change.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from openfelt.core.jit import Floats, Ints, Longs, part
from openfelt.core.random import Stream, uniform
from openfelt.solve.traverse.episode import (
    PLAYER,
    begin,
    draw,
    exploration,
    first_slot,
    follow,
    implements,
    num_actions,
    num_players,
    passive,
    payoff,
    restore_past,
    save_past,
)
from openfelt.solve.traverse.holdem import BOUND, Deal


class RestrictedTree(NamedTuple):
    """Any kind of tree, with the fixed policy of one player."""

    node: Ints  # that of `tree`
    tree: Any
    seat: int  # the player that is bound
    fixed: Floats  # [1, slots] its policy when bound
    bound: Floats  # [1] the probability that it is bound, or [slots] by the first slot of an infoset
    once: bool  # whether this is drawn once, before the game


@implements(begin, RestrictedTree)
def _begin(tree: RestrictedTree, deal: Deal, stream: Stream) -> int:
    node = begin(tree.tree, deal, stream)
    deal.at[BOUND] = 1 if tree.once and uniform(stream) < tree.bound[0] else 0
    return _settle(tree, deal, node, stream)


@implements(follow, RestrictedTree)
def _follow(tree: RestrictedTree, deal: Deal, node: int, action: int, stream: Stream) -> int:
    return _settle(tree, deal, follow(tree.tree, deal, node, action, stream), stream)


@part
def _settle(tree: RestrictedTree, deal: Deal, node: int, stream: Stream) -> int:
    """Take the decisions at which the player is bound."""
    while tree.node[node, PLAYER] == tree.seat:
        first = first_slot(tree.tree, deal, node)
        if tree.once:
            if deal.at[BOUND] == 0:
                break
        elif uniform(stream) >= tree.bound[first if len(tree.bound) > 1 else 0]:
            break
        last = first + num_actions(tree.tree, node)
        action = draw(tree.fixed, 0, first, last, stream) - first
        node = follow(tree.tree, deal, node, action, stream)
    return node


@implements(num_actions, RestrictedTree)
def _num_actions(tree: RestrictedTree, node: int) -> int:
    return num_actions(tree.tree, node)


@implements(first_slot, RestrictedTree)
def _first_slot(tree: RestrictedTree, deal: Deal, node: int) -> int:
    return first_slot(tree.tree, deal, node)


@implements(payoff, RestrictedTree)
def _payoff(tree: RestrictedTree, deal: Deal, leaf: int, player: int) -> float:
    return payoff(tree.tree, deal, leaf, player)


@implements(num_players, RestrictedTree)
def _num_players(tree: RestrictedTree) -> int:
    return num_players(tree.tree)


@implements(exploration, RestrictedTree)
def _exploration(tree: RestrictedTree, node: int, c: Floats) -> float:
    return exploration(tree.tree, node, c)


@implements(passive, RestrictedTree)
def _passive(tree: RestrictedTree, node: int, passives: Any) -> int:
    return passive(tree.tree, node, passives)


@implements(save_past, RestrictedTree)
def _save_past(tree: RestrictedTree, deal: Deal, whole: Longs, depth: int, column: int) -> None:
    save_past(tree.tree, deal, whole, depth, column)


@implements(restore_past, RestrictedTree)
def _restore_past(tree: RestrictedTree, deal: Deal, whole: Longs, depth: int, column: int) -> None:
    restore_past(tree.tree, deal, whole, depth, column)
