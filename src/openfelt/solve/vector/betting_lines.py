"""The betting lines of two players after the flop, street by street.

All streets of limit betting have the same shape. The first player checks or bets; after a check the second
player checks or bets. Either bet begins a *raise sequence*, in which the players take turns to fold, call or
raise until the street has its four bets. So nine *lines* lead to the next street: both players check; or the
1st, 2nd, 3rd or 4th bet is called, in sequence A (begun by the second player, after a check) or B (begun by
the first player).

The first node of a street is a *root* of it. If a street has R roots, line l of root r leads to root l * R +
r of the next street.

A game with fewer bets has the same lines. Those that it lacks are never played: policies give them
probability zero, and a best response avoids them since a fold there costs more than it can ever win.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from openfelt.cards.deck import FLOP, PREFLOP, RIVER, Bytes
from openfelt.core.jit import Floats, Ints, Longs
from openfelt.games.compile.betting_tree import (
    ACTIONS_MASK,
    CHILD,
    KIND,
    PLACE,
    PLAYER,
    STREET_SHIFT,
    Layout,
    Leaves,
    betting_nodes,
)
from openfelt.games.game import TERMINAL
from openfelt.games.holdem import BET, MOST_BETS
from openfelt.policy.holdem import WHOLE

FIRST = 0  # the seat that acts first after the flop
LINES = 2 * MOST_BETS + 1  # of a street
LANES = 8  # roots that are computed side by side
NEVER = -1e9  # chips won by making a bet that the rules do not allow
FOLD, CALL, RAISE = range(3)


class StreetLines(NamedTuple):
    """The lines of one street, with a column for each root, padded to whole lanes."""

    roots: int
    pot: Floats  # [lines, columns] what each player has paid at the end of a line
    paid: Floats  # [lines, columns] what the player that answers the last bet of a line had paid before it


@dataclass(frozen=True, eq=False)
class BettingLines:
    """The lines of a two-player tree."""

    node: Ints  # of the betting tree
    leaves: Leaves
    most_bets: int
    flop_roots: Longs  # first nodes of the flop
    streets: tuple[StreetLines, ...]  # flop, turn, river
    # By street [2 + 8, roots] nodes: the first decision of each player, then those of the raise sequences.
    decisions: tuple[Longs, ...]


@cache
def betting_lines(most_bets: int = MOST_BETS) -> BettingLines:
    """The lines of hold'em with that many bets a street."""
    node, leaves, _ = betting_nodes(2, most_bets)
    flop_roots = _find_flop_roots(node)
    return _lines_from(node, leaves, most_bets, FLOP, flop_roots)


def lines_below(betting: BettingLines, street: int, roots: Longs) -> BettingLines:
    """The lines that begin at some roots of a street; earlier streets have none."""
    return _lines_from(betting.node, betting.leaves, betting.most_bets, street, roots)


def _lines_from(node: Ints, leaves: Leaves, most_bets: int, first: int, begun: Longs) -> BettingLines:
    streets, decisions, roots = [], [], begun[:0]
    for street in range(FLOP, RIVER + 1):
        roots = begun if street == first else roots
        nodes, after = _street_nodes(node, most_bets, roots)
        streets.append(_street_lines(node, leaves, most_bets, street, roots))
        decisions.append(nodes)
        roots = after.ravel()
    flop_roots = begun if first == FLOP else begun[:0]
    return BettingLines(node, leaves, most_bets, flop_roots, tuple(streets), tuple(decisions))


def street_of(node: Ints, which: int) -> int:
    """The street of a decision."""
    return int(node[which, KIND]) >> STREET_SHIFT & 3


def children(node: Ints, which: int) -> range:
    """The nodes after the actions of a decision."""
    first = int(node[which, CHILD])
    return range(first, first + (int(node[which, KIND]) & ACTIONS_MASK))


def _find_flop_roots(node: Ints) -> Longs:
    found, open_nodes = [], [0]
    while open_nodes:
        here = open_nodes.pop(0)
        if node[here, PLAYER] != TERMINAL and street_of(node, here) > PREFLOP:
            found.append(here)
        elif node[here, PLAYER] != TERMINAL:
            open_nodes += children(node, here)
    return np.array(found, np.int64)


def _street_nodes(node: Ints, most_bets: int, roots: Longs) -> tuple[Longs, Longs]:
    """[10, roots] the decisions, -1 where there is none; and [lines, roots] the nodes after the lines."""
    nodes, after = np.full((1 + LINES, len(roots)), -1), np.full((LINES, len(roots)), -1)

    def child(of: Longs, action: int) -> Longs:
        return np.where(of < 0, -1, node[of, CHILD] + action)

    nodes[0], nodes[1] = roots, child(roots, 0)
    after[0] = child(nodes[1], 0)
    for sequence, bet in ((0, child(nodes[1], 1)), (1, child(roots, 1))):
        for number in range(most_bets):
            line = 1 + sequence * MOST_BETS + number
            nodes[1 + line], after[line] = bet, child(bet, CALL)
            bet = child(bet, RAISE)
    return nodes, after


def _street_lines(node: Ints, leaves: Leaves, most_bets: int, street: int, roots: Longs) -> StreetLines:
    columns = -(-len(roots) // LANES) * LANES
    stake, bets = np.zeros(columns), np.array([0, *range(1, MOST_BETS + 1), *range(1, MOST_BETS + 1)])
    stake[: len(roots)] = [_stake(node, leaves, int(root)) for root in roots]
    pot = stake + BET[street] * bets[:, None]
    paid = np.where(bets[:, None] > most_bets, NEVER, pot - BET[street])
    return StreetLines(len(roots), pot, paid)


def _stake(node: Ints, leaves: Leaves, here: int) -> float:
    """What each player has paid at the start of a street: as much as at a leaf with no further bets."""
    if here < 0:
        return 0.0
    while node[here, PLAYER] != TERMINAL:
        here = int(node[here, CHILD])
    return float(leaves.paid[node[here, PLACE]].min())


class LineShares(NamedTuple):
    """A player's share of the lines of a street, [columns / LANES, buckets, lines * LANES] each."""

    share: Floats  # probability that the player takes all of its own actions on the line
    folds: Floats  # value of both players' folds, per unit of the opponent's reach that it meets on the line


def line_shares(
    betting: BettingLines, probabilities: Floats, layout: Layout, seat: int
) -> tuple[LineShares, ...]:
    """The shares of a player by street, from the flop on."""
    return tuple(
        street_shares(betting, street, probabilities, layout, seat) for street in range(FLOP, RIVER + 1)
    )


def street_shares(
    betting: BettingLines, street: int, probabilities: Floats, layout: Layout, seat: int
) -> LineShares:
    """The shares of a player on one street."""
    share, none = line_probabilities(betting, street, probabilities, layout, seat)
    folds = _folds(betting.streets[street - FLOP], share, none, seat == FIRST)
    return LineShares(in_lanes(share), in_lanes(folds))


def in_lanes(by_line: Floats) -> Floats:
    """From [lines, buckets, columns] to the order of `LineShares`."""
    blocks = by_line.reshape(LINES, by_line.shape[1], -1, LANES).transpose(2, 1, 0, 3)
    return np.ascontiguousarray(blocks.reshape(blocks.shape[0], blocks.shape[1], -1))


def line_probabilities(
    betting: BettingLines, street: int, probabilities: Floats | Bytes, layout: Layout, seat: int
) -> tuple[Floats, Floats]:
    """[lines, buckets, columns] the player's share of each line; [buckets, columns] that of no action.

    `probabilities` [slots] of the layout; bytes are the weights of a `HoldemPolicy`.
    """
    whole = WHOLE if probabilities.dtype == np.uint8 else 1.0
    place, nodes, lines = (street, seat), betting.decisions[street - FLOP], betting.streets[street - FLOP]
    edges, buckets = int(layout.edges[place]), int(layout.buckets[place])
    rows = int(layout.slot_base[place]) + edges * np.arange(buckets)
    first_edge = int(layout.first_edge[place])

    def probability(which: int, action: int) -> Floats:
        """[buckets, roots]"""
        node = nodes[which]
        exists = (node >= 0) & ((betting.node[node, KIND] & ACTIONS_MASK) > action)
        edge = np.where(exists, betting.node[node, PLACE] - first_edge + action, 0)
        return np.where(exists, probabilities[rows[:, None] + edge] / whole, 0.0)

    own = 0 if seat == FIRST else 1
    checks, bets = probability(own, 0), probability(own, 1)
    shares = np.zeros((LINES, buckets, lines.pot.shape[1]))
    none = np.zeros(shares.shape[1:])
    none[:, : lines.roots] = (nodes[0] >= 0).astype(float)
    shares[0, :, : lines.roots] = checks
    for sequence in range(2):
        begun_by_us = _begins(sequence, seat == FIRST)
        before = checks if seat == FIRST else np.ones_like(checks)
        here = bets if begun_by_us else before
        for bet in range(1, MOST_BETS + 1):
            line = sequence * MOST_BETS + bet
            is_ours = (bet % 2 == 1) != begun_by_us  # to answer
            shares[line, :, : lines.roots] = here * probability(1 + line, CALL) if is_ours else here
            if is_ours:
                here = here * probability(1 + line, RAISE)
    return shares, none


def _begins(sequence: int, opens: bool) -> bool:
    """Whether a player, which opens the street or not, begins raise sequence A (0) or B (1)."""
    return (sequence == 1) == opens


def _folds(lines: StreetLines, share: Floats, none: Floats, opens: bool) -> Floats:
    """[lines, buckets, columns] the value of folds for the player with these shares of the lines."""
    folds, paid = np.zeros_like(share), lines.paid[:, None]
    for sequence in range(2):
        begins, first = _begins(sequence, opens), 1 + sequence * MOST_BETS
        for bet in range(1, MOST_BETS + 1):
            line = first + bet - 1
            if (bet % 2 == 1) == begins:  # the opponent answers: what it calls with, it does not fold
                folds[line] -= share[line] * paid[line]
                continue
            came = share[line - 1] if bet > 1 else share[0] if opens else none
            raised = share[line + 1] if bet < MOST_BETS else 0.0
            folds[line] -= (came - share[line] - raised) * paid[line]
            if bet > 1:  # what the opponent raised with, it did not fold
                folds[line] -= share[line - 1] * paid[line - 1]
            if bet < MOST_BETS:  # these hands face our raise and may fold to it
                folds[line] += raised * paid[line + 1]
        if begins:  # our first bet is faced by hands that check and, if we open, by those that would bet
            for line in (0, 1) if opens else (0,):
                folds[line] += share[first] * paid[first]
    return folds
