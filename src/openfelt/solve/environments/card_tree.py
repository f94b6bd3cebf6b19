"""Hold'em without buckets: the betting lines, with cards that are drawn and not looked up."""

from __future__ import annotations

from typing import NamedTuple

from openfelt.core.jit import Ints
from openfelt.core.random import Stream
from openfelt.games.compile.betting_tree import ACTIONS_MASK, CHILD, KIND, STREET_SHIFT, Leaves
from openfelt.solve.traverse import episode
from openfelt.solve.traverse.episode import implements
from openfelt.solve.traverse.holdem import STREET, Deal, clear, draw_cards, pay


class CardTree(NamedTuple):
    """The fields of HoldemTree that do not depend on an abstraction."""

    node: Ints  # [nodes, 4] as in BettingTree
    leaves: Leaves


@implements(episode.begin, CardTree)
def _begin(tree: CardTree, deal: Deal, stream: Stream) -> int:
    clear(deal)
    draw_cards(deal, 2 * len(deal.value), stream)
    return 0


@implements(episode.follow, CardTree)
def _follow(tree: CardTree, deal: Deal, node: int, action: int, stream: Stream) -> int:
    node = tree.node[node, CHILD] + action
    street = tree.node[node, KIND] >> STREET_SHIFT & 3
    if street > deal.at[STREET]:
        draw_cards(deal, 3 if street == 1 else 1, stream)
        deal.at[STREET] = street
    return node


@implements(episode.payoff, CardTree)
def _payoff(tree: CardTree, deal: Deal, leaf: int, player: int) -> float:
    return pay(tree, deal, leaf, player)


@implements(episode.num_actions, CardTree)
def _num_actions(tree: CardTree, node: int) -> int:
    return int(tree.node[node, KIND] & ACTIONS_MASK)


@implements(episode.first_slot, CardTree)
def _first_slot(tree: CardTree, deal: Deal, node: int) -> int:
    return 0  # there are no tables
