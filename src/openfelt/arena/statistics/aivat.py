"""AIVAT (Burch, Schmid, Moravcik, Morrill & Bowling 2018): winnings with luck taken out where it is known.

Whenever chance moves, or somebody whose policy is known, what came is compared with what could have come: the
mean of a value function u over all that could, less u of what did, is added to the winnings. The mean of such
a term is 0 whatever u is, so winnings stay unbiased; the better u, the less luck is left. With the true
values of the policies that play, nothing is left at all. (The original also averages over the hands that a
known player might have held; here the values are those of the hands that were really dealt.)

In an enumerated game u is the expected value of the policies, those not known taken as playing evenly. In
two-player hold'em u is what the hands would win if there were no more bets: the pot, shared by the exact
chances of the two hands. As that is a martingale while cards come, its mean over all cards needs no
enumeration.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from openfelt.arena.hand_kernels import Deals, Played
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
from openfelt.games.holdem import BET, BLINDS
from openfelt.policy.holdem import WHOLE
from openfelt.policy.tabular import uniform_policy

PLAYERS = 2  # of hold'em
BETS = np.array(BET, float)
FIRST_PAID = np.array(BLINDS[PLAYERS], float)


def holdem_aivat(
    tree: BettingTree,
    parent: Ints,
    deals: Deals,
    played: Played,
    who: Longs,
    weights: tuple[Bytes, ...],
    shifts: Longs,
    known: NDArray[np.bool_],
) -> Floats:
    """[deals, times, seats] the winnings, adjusted; `weights` and `shifts` count of those `known`."""
    adjusted = played.won.copy()
    equity = deal_equities(deals.cards)
    path = np.empty(64, np.int32)
    _adjust(tree.node, parent, equity, played.leaf, who, weights, shifts, known, path, adjusted)
    return adjusted


def tree_aivat(tree: GameTree, policies: Sequence[Floats | None]) -> Floats:
    """[nodes, players] at each leaf what was won, adjusted; seat p plays policies[p] (None: not known)."""
    nodes, even = tree.nodes, uniform_policy(tree).probabilities
    tables = np.stack([even if table is None else table for table in policies])
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
            for way in range(node[here, KIND] & ACTIONS_MASK):
                found[node[here, CHILD] + way] = here


@episode_kernel
def _adjust(
    node: Ints,
    parent: Ints,
    equity: Floats,
    leaf: Ints,
    who: Longs,
    weights: tuple[Bytes, ...],
    shifts: Longs,
    known: NDArray[np.bool_],
    path: Ints,
    adjusted: Floats,
) -> None:
    for deal in range(leaf.shape[0]):
        for time in range(leaf.shape[1]):
            length, here = 0, leaf[deal, time]
            while here >= 0:
                path[length] = here
                length += 1
                here = parent[here]
            paid_0, paid_1 = FIRST_PAID[0], FIRST_PAID[1]
            street = 0
            change = (paid_0 + paid_1) * (0.5 - equity[deal, 0])  # the hole cards came
            for step in range(length - 1, 0, -1):
                here = path[step]
                player, kind = node[here, PLAYER], node[here, KIND]
                while street < kind >> STREET_SHIFT & 3:  # the board came
                    change += (paid_0 + paid_1) * (equity[deal, street] - equity[deal, street + 1])
                    street += 1
                chosen = path[step - 1] - node[here, CHILD]
                ways, facing = kind & ACTIONS_MASK, kind >> FACING_SHIFT & 1
                bot = who[deal, time, player]
                slot = node[here, PLACE] + shifts[bot, deal, street * 2 + player]
                next_0, next_1 = paid_0, paid_1
                mean, came = 0.0, 0.0
                for way in range(ways):
                    top, sum_0, sum_1 = max(paid_0, paid_1), paid_0, paid_1
                    if facing and way == 0:
                        value = -paid_0 if player == 0 else paid_1
                    else:
                        after = top + (BETS[street] if way > facing else 0.0)
                        if player == 0:
                            sum_0 = after
                        else:
                            sum_1 = after
                        value = (sum_0 + sum_1) * equity[deal, street] - sum_0
                    if known[bot]:
                        mean += value * weights[bot][slot + way] / WHOLE
                    if way == chosen:
                        came, next_0, next_1 = value, sum_0, sum_1
                if known[bot]:
                    change += mean - came
                paid_0, paid_1 = next_0, next_1
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
    """Values from the leaves up, then what luck had brought on the way down to each node."""
    players = value.shape[1]
    for here in range(len(player) - 1, -1, -1):  # children come after their parents
        for seat in range(players):
            if num_children[here] == 0:
                value[here, seat] = payoffs[row[here], seat]
            for way in range(num_children[here]):
                if player[here] == CHANCE:
                    share = chance[row[here] + way]
                else:
                    share = tables[player[here], first_slot[row[here]] + way]
                value[here, seat] += share * value[first_child[here] + way, seat]
    for here in range(len(player)):
        is_known = player[here] == CHANCE or (player[here] >= 0 and known[player[here]])
        for way in range(num_children[here]):
            below = first_child[here] + way
            for seat in range(players):
                luck[below, seat] = luck[here, seat]
                if is_known:
                    luck[below, seat] += value[here, seat] - value[below, seat]
