"""AIVAT (Burch, Schmid, Moravcik, Morrill & Bowling 2018): winnings without the luck that can be computed.

At each move of chance, and of each player whose policy is known, AIVAT adds to the winnings the mean of a
value function u over all outcomes of the move minus u of the outcome that occurred. Each such term has mean 0
for any u, so winnings stay unbiased; the better u predicts them, the lower the variance. With the true values
of the policies no variance is left. (The original also averages over the hands that a known player might have
held; here the values are those of the hands that were dealt.)

In an enumerated game u is the expected value of the policies, where unknown ones are taken to be uniform. In
two-player hold'em u is the expected winnings if there were no further bets: the pot, shared by the exact
equity of the two hands. That is a martingale while cards are dealt, so its mean over all cards needs no
enumeration.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.arena.hand_kernels import Deals, HandOutcomes
from openfelt.cards.deck import Bytes
from openfelt.cards.equity import deal_equities
from openfelt.core.jit import Floats, Ints, Longs, episode_kernel, kernel
from openfelt.games.compile.betting_tree import (
    ACTIONS_MASK,
    CHILD,
    FACING_SHIFT,
    KIND,
    PLACE,
    PLAYER,
    STREET_SHIFT,
    BettingTree,
)
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.game import CHANCE
from openfelt.games.holdem import bet, first_betting
from openfelt.policy.holdem import WHOLE
from openfelt.policy.tabular import uniform_policy


class BettingHistory(NamedTuple):
    """What led to each node of a betting tree."""

    parent: Ints  # [nodes] the node before; -1 at the root
    paid: Floats  # [nodes, players] chips that each player has put in


class KnownPolicies(NamedTuple):
    """The policies of the participants, as far as they are known."""

    tables: tuple[Bytes, ...]  # by participant; any table where it is not known
    offsets: Longs  # [participants, deals, streets * players] see `slot_offsets`
    is_known: NDArray[np.bool_]  # [participants]


def betting_history(tree: BettingTree) -> BettingHistory:
    """By the rules of the game."""
    paid = np.empty((tree.num_nodes, tree.players))
    open_nodes = [(0, first_betting(tree.players, tree.most_bets))]
    while open_nodes:
        node, betting = open_nodes.pop()
        paid[node] = betting.paid
        if tree.node[node, PLAYER] >= 0:
            for place, action in enumerate(tree.actions(node)):
                open_nodes.append((tree.child(node, place), bet(betting, action)))
    return BettingHistory(parents(tree), paid)


def holdem_aivat(
    tree: BettingTree,
    history: BettingHistory,
    deals: Deals,
    outcomes: HandOutcomes,
    seated: Longs,
    policies: KnownPolicies,
) -> Floats:
    """[deals, times, seats] adjusted winnings at two-player hold'em.

    `seated` [deals, times, seats] is the participant in each seat.
    """
    adjusted = outcomes.won.copy()
    equity = deal_equities(deals.cards)
    path = np.empty(64, np.int32)
    _adjust(tree.node, history, equity, outcomes.leaf, seated, policies, path, adjusted)
    return adjusted


def tree_aivat(tree: GameTree, policies: Sequence[Floats | None]) -> Floats:
    """[nodes, players] adjusted winnings at each leaf, where seat p plays policies[p] (None: not known)."""
    nodes, uniform = tree.nodes, uniform_policy(tree).probabilities
    tables = np.stack([uniform if table is None else table for table in policies])
    known = np.array([table is not None for table in policies])
    value = np.zeros((tree.num_nodes, tree.players))
    luck = np.zeros((tree.num_nodes, tree.players))
    _spread_luck(
        nodes.player,
        nodes.first_child,
        nodes.num_children,
        nodes.row,
        nodes.chance,
        nodes.payoffs,
        tree.rows.first_slot,
        tables,
        known,
        value,
        luck,
    )
    return value + luck


def parents(tree: BettingTree) -> Ints:
    """[nodes] the node before each; -1 at the root."""
    found = np.full(tree.num_nodes, -1, np.int32)
    _find_parents(tree.node, found)
    return found


@kernel
def _find_parents(node: Ints, found: Ints) -> None:
    for here in range(len(node)):
        if node[here, PLAYER] >= 0:
            for action in range(node[here, KIND] & ACTIONS_MASK):
                found[node[here, CHILD] + action] = here


@episode_kernel
def _adjust(
    node: Ints,
    history: BettingHistory,
    equity: Floats,
    leaf: Ints,
    seated: Longs,
    policies: KnownPolicies,
    path: Ints,
    adjusted: Floats,
) -> None:
    paid = history.paid
    for deal in range(leaf.shape[0]):
        for time in range(leaf.shape[1]):
            length, here = 0, leaf[deal, time]
            while here >= 0:
                path[length] = here
                length += 1
                here = history.parent[here]
            street = 0
            change = (paid[0, 0] + paid[0, 1]) * (0.5 - equity[deal, 0])  # the hole cards
            for step in range(length - 1, 0, -1):
                here = path[step]
                player, kind = node[here, PLAYER], node[here, KIND]
                pot = paid[here, 0] + paid[here, 1]
                while street < kind >> STREET_SHIFT & 3:  # the board cards
                    change += pot * (equity[deal, street] - equity[deal, street + 1])
                    street += 1
                chosen = path[step - 1] - node[here, CHILD]
                bot = seated[deal, time, player]
                if not policies.is_known[bot]:
                    continue
                slot = node[here, PLACE] + policies.offsets[bot, deal, street * 2 + player]
                mean, came = 0.0, 0.0
                for action in range(kind & ACTIONS_MASK):
                    after = node[here, CHILD] + action
                    if kind >> FACING_SHIFT & 1 and action == 0:  # a fold
                        value = -paid[here, 0] if player == 0 else paid[here, 1]
                    else:
                        value = (paid[after, 0] + paid[after, 1]) * equity[deal, street] - paid[after, 0]
                    mean += value * policies.tables[bot][slot + action] / WHOLE
                    if action == chosen:
                        came = value
                change += mean - came
            adjusted[deal, time, 0] += change
            adjusted[deal, time, 1] -= change


@kernel
def _spread_luck(
    player: NDArray[np.int8],
    first_child: Ints,
    num_children: Ints,
    row: Ints,
    chance: Floats,
    payoffs: Floats,
    first_slot: Longs,
    tables: Floats,
    known: NDArray[np.bool_],
    value: Floats,
    luck: Floats,
) -> None:
    """Values from the leaves up, then the luck on the way down to each node."""
    players = value.shape[1]
    for here in range(len(player) - 1, -1, -1):  # children come after their parents
        for seat in range(players):
            if num_children[here] == 0:
                value[here, seat] = payoffs[row[here], seat]
            for action in range(num_children[here]):
                if player[here] == CHANCE:
                    share = chance[row[here] + action]
                else:
                    share = tables[player[here], first_slot[row[here]] + action]
                value[here, seat] += share * value[first_child[here] + action, seat]
    for here in range(len(player)):
        is_known = player[here] == CHANCE or (player[here] >= 0 and known[player[here]])
        for action in range(num_children[here]):
            below = first_child[here] + action
            for seat in range(players):
                luck[below, seat] = luck[here, seat]
                if is_known:
                    luck[below, seat] += value[here, seat] - value[below, seat]
