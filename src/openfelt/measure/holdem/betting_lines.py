"""The betting of two players after the flop, street by street.

A street of limit betting has one shape. The first player checks or bets, the second answers a check by a
check or a bet. Either bet begins a *chain*, in which the players take turns to fold, call or raise until the
street has its four bets. So there are nine *ways* to the next street: both check; or a bet is called, the
1st, 2nd, 3rd or 4th, in chain A (begun by the second player, after a check) or B (by the first). To come to a
street so is an *entry* of it; of E entries of a street, way w of entry e is entry w * E + e of the next.

A game with fewer bets has the same ways. Those that it lacks are never taken: the policies do not, and a best
response does not since a fold there costs it more than it can ever win.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from openfelt.cards.deck import FLOP, PREFLOP, RIVER
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

FIRST = 0  # the seat that acts first after the flop
WAYS = 2 * MOST_BETS + 1
LANES = 8  # entries that are worked out side by side
NEVER = -1e9  # chips that are won by making a bet that the rules do not allow
FOLD, CALL, RAISE = range(3)


class Lines(NamedTuple):
    """One street after the flop, in columns for its entries, filled up to whole lanes."""

    entries: int
    pot: Floats  # [ways, columns] what each has paid at the end of a way
    paid: Floats  # [ways, columns] what he who answers the last bet of a way had paid before it


@dataclass(frozen=True, eq=False)
class Betting:
    """All of a two-player tree as the engine goes through it."""

    node: Ints  # of the betting tree
    leaves: Leaves
    most_bets: int
    entries: Longs  # nodes with which the flop begins
    streets: tuple[Lines, ...]  # flop, turn, river
    answered: tuple[Longs, ...]  # by street [2 + 8, entries] nodes: of check or bet by each player, of chains


@cache
def betting_lines(most_bets: int = MOST_BETS) -> Betting:
    """Of hold'em with so many bets a street."""
    node, leaves, _ = betting_nodes(2, most_bets)
    entries = _entries(node)
    streets, answered, roots = [], [], entries
    for street in range(FLOP, RIVER + 1):
        nodes, after = _street(node, most_bets, roots)
        streets.append(_lines(node, leaves, most_bets, street, roots))
        answered.append(nodes)
        roots = after.ravel()
    return Betting(node, leaves, most_bets, entries, tuple(streets), tuple(answered))


def street_of(node: Ints, which: int) -> int:
    """The street of a decision."""
    return int(node[which, KIND]) >> STREET_SHIFT & 3


def children(node: Ints, which: int) -> range:
    """Where the actions of a decision lead."""
    first = int(node[which, CHILD])
    return range(first, first + (int(node[which, KIND]) & ACTIONS_MASK))


def _entries(node: Ints) -> Longs:
    found, open_nodes = [], [0]
    while open_nodes:
        here = open_nodes.pop(0)
        if node[here, PLAYER] != TERMINAL and street_of(node, here) > PREFLOP:
            found.append(here)
        elif node[here, PLAYER] != TERMINAL:
            open_nodes += children(node, here)
    return np.array(found, np.int64)


def _street(node: Ints, most_bets: int, roots: Longs) -> tuple[Longs, Longs]:
    """[10, entries] the decisions, -1 where there is none; and [ways, entries] where the ways lead."""
    nodes, after = np.full((1 + WAYS, len(roots)), -1), np.full((WAYS, len(roots)), -1)

    def child(of: Longs, action: int) -> Longs:
        return np.where(of < 0, -1, node[of, CHILD] + action)

    nodes[0], nodes[1] = roots, child(roots, 0)
    after[0] = child(nodes[1], 0)
    for chain, bet in ((0, child(nodes[1], 1)), (1, child(roots, 1))):
        for number in range(most_bets):
            way = 1 + chain * MOST_BETS + number
            nodes[1 + way], after[way] = bet, child(bet, CALL)
            bet = child(bet, RAISE)
    return nodes, after


def _lines(node: Ints, leaves: Leaves, most_bets: int, street: int, roots: Longs) -> Lines:
    columns = -(-len(roots) // LANES) * LANES
    stake, bets = np.zeros(columns), np.array([0, *range(1, MOST_BETS + 1), *range(1, MOST_BETS + 1)])
    stake[: len(roots)] = [_stake(node, leaves, int(root)) for root in roots]
    pot = stake + BET[street] * bets[:, None]
    paid = np.where(bets[:, None] > most_bets, NEVER, pot - BET[street])
    return Lines(len(roots), pot, paid)


def _stake(node: Ints, leaves: Leaves, here: int) -> float:
    """What each has paid when a street begins: as much as if nobody bets any more."""
    if here < 0:
        return 0.0
    while node[here, PLAYER] != TERMINAL:
        here = int(node[here, CHILD])
    return float(leaves.paid[node[here, PLACE]].min())


class Ways(NamedTuple):
    """What a player makes of the ways of a street [columns / LANES, buckets, ways * LANES]."""

    share: Floats  # how much of a way is his: the product of all that he does on it
    folds: Floats  # what folds win him, and lose, for each of the other's hands that he meets on it


def ways_of(betting: Betting, probabilities: Floats, layout: Layout, seat: int) -> tuple[Ways, ...]:
    """By street after the flop."""
    found = []
    for street, lines in enumerate(betting.streets, FLOP):
        share, none = _shares(betting, street, probabilities, layout, seat)
        folds = _folds(lines, share, none, seat == FIRST)
        found.append(Ways(_in_lanes(share), _in_lanes(folds)))
    return tuple(found)


def _in_lanes(ways: Floats) -> Floats:
    blocks = ways.reshape(WAYS, ways.shape[1], -1, LANES).transpose(2, 1, 0, 3)
    return np.ascontiguousarray(blocks.reshape(blocks.shape[0], blocks.shape[1], -1))


def _shares(
    betting: Betting, street: int, probabilities: Floats, layout: Layout, seat: int
) -> tuple[Floats, Floats]:
    """[ways, buckets, columns] how much of each way is a player's; [buckets, columns] if he does nothing."""
    place, nodes, lines = (street, seat), betting.answered[street - FLOP], betting.streets[street - FLOP]
    spots, buckets = int(layout.edges[place]), int(layout.buckets[place])
    rows = int(layout.slot_base[place]) + spots * np.arange(buckets)
    first_edge = int(layout.first_edge[place])

    def share(which: int, action: int) -> Floats:
        """[buckets, entries]"""
        node = nodes[which]
        known = (node >= 0) & ((betting.node[node, KIND] & ACTIONS_MASK) > action)
        spot = np.where(known, betting.node[node, PLACE] - first_edge + action, 0)
        return np.where(known, probabilities[rows[:, None] + spot], 0.0)

    own = 0 if seat == FIRST else 1
    checks, bets = share(own, 0), share(own, 1)
    ways = np.zeros((WAYS, buckets, lines.pot.shape[1]))
    none = np.zeros(ways.shape[1:])
    none[:, : lines.entries] = (nodes[0] >= 0).astype(float)
    ways[0, :, : lines.entries] = checks
    for chain in range(2):
        begun_by_us = _begins(chain, seat == FIRST)
        before = checks if seat == FIRST else np.ones_like(checks)
        here = bets if begun_by_us else before
        for bet in range(1, MOST_BETS + 1):
            way = chain * MOST_BETS + bet
            ours = (bet % 2 == 1) != begun_by_us  # to answer
            ways[way, :, : lines.entries] = here * share(1 + way, CALL) if ours else here
            if ours:
                here = here * share(1 + way, RAISE)
    return ways, none


def _begins(chain: int, opens: bool) -> bool:
    """Whether he who opens a street, or not, begins chain A (0) or B (1)."""
    return (chain == 1) == opens


def _folds(lines: Lines, share: Floats, none: Floats, opens: bool) -> Floats:
    """[ways, buckets, columns] what folds are worth to him who makes so much of the ways."""
    folds, paid = np.zeros_like(share), lines.paid[:, None]
    for chain in range(2):
        begins, first = _begins(chain, opens), 1 + chain * MOST_BETS
        for bet in range(1, MOST_BETS + 1):
            way = first + bet - 1
            if (bet % 2 == 1) == begins:  # the other answers: he folds less the more he calls
                folds[way] -= share[way] * paid[way]
                continue
            came = share[way - 1] if bet > 1 else share[0] if opens else none
            raised = share[way + 1] if bet < MOST_BETS else 0.0
            folds[way] -= (came - share[way] - raised) * paid[way]
            if bet > 1:  # the other has raised, and so not folded
                folds[way] -= share[way - 1] * paid[way - 1]
            if bet < MOST_BETS:  # he comes with this to our raise, to which he may fold
                folds[way] += raised * paid[way + 1]
        if (
            begins
        ):  # he comes with all to our first bet: what he checks with, and if we open what he would bet
            for way in (0, 1) if opens else (0,):
                folds[way] += share[first] * paid[first]
    return folds
