"""The features of TAU's neural network (section 5.1), for hold'em of two players.

Hand potential, in TAU the share of 500 simulations won, is exact up to hundredths: EHS, the probability of
winning against a random hand (`ehs:100`). Hand strength is Chen's formula. Max/min node
says whether the searcher or its opponent is to act; cards are always those of the player to act. Actions
available are fold, call (or check) and raise (or bet). The pot is a fraction of the largest pot. TAU does not
say how the history of the opponent's actions is encoded; here it is the number of its calls and raises on
each street, from the view of the player to act.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.abstraction.abstraction import load_abstraction
from openfelt.cards.boards import PERMUTED_PAIR
from openfelt.cards.deck import FLOP, PAIR, PAIRS, PREFLOP, STREETS, TURN
from openfelt.core.errors import FeltError, unknown
from openfelt.core.jit import Floats, Ints, Longs, episode_kernel, part
from openfelt.games.compile.betting_tree import CHILD, FACING_SHIFT, KIND, PLAYER, STREET_SHIFT, BettingTree
from openfelt.games.holdem import MOST_BETS, Betting, bet, betting_actions, first_betting, is_over
from openfelt.opponents.models.public_tree import CALL, FOLD, RAISE

ACTIONS = ("fold", "call", "raise")  # a check is a call, a bet a raise
_ACTION = {"fold": FOLD, "check": CALL, "call": CALL, "bet": RAISE, "raise": RAISE}

POTENTIAL, CHEN, MAX_NODE = "hand potential", "Chen formula", "max/min node"
AVAILABLE, STREET, POT, OPPONENT = "actions available", "street", "pot size", "opponent's actions"
# How many columns each has. The first three depend on who looks at which cards, the rest on the node alone.
WIDTH = {POTENTIAL: 1, CHEN: 1, MAX_NODE: 1, AVAILABLE: 3, STREET: 4, POT: 1, OPPONENT: 8}
COLUMNS, PRIVATE = sum(WIDTH.values()), 3
GRAIN = 100  # steps of hand potential
MOST_POINTS = 20.0  # by Chen's formula


class HandTables(NamedTuple):
    """The strength of pairs of hole cards."""

    chen: Floats  # [1326] points by Chen's formula, as fractions of the highest
    preflop: NDArray[Any]  # [1, 1326] EHS of every hand in hundredths
    flop: NDArray[Any]  # [boards, 1326]
    turn: NDArray[Any]
    river: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Features:
    """Everything from which the features of a decision follow."""

    tree: BettingTree
    hands: HandTables
    public: Floats  # [nodes, COLUMNS - PRIVATE]
    parent: Ints  # [nodes]; -1 at the root
    depth: int  # largest number of decisions in a hand


class Examples(NamedTuple):
    """Decisions with the actions taken."""

    features: Floats  # [examples, COLUMNS]
    action: Longs  # [examples] FOLD, CALL or RAISE


def features_of(tree: BettingTree, points: Sequence[int] | Longs) -> Features:
    """`points` [1326] are those of each pair by Chen's formula."""
    if tree.players != 2:
        raise FeltError(f"The network is for two players; {tree.game} has {tree.players}.")
    chen = np.asarray(points, np.float64)
    if chen.shape != (PAIRS,):
        raise FeltError(f"Chen's formula must give points for {PAIRS} pairs of hole cards, not {chen.size}.")
    hands = HandTables(chen / MOST_POINTS, *load_abstraction(f"ehs:{GRAIN}").tables())
    public = np.zeros((tree.num_nodes, COLUMNS - PRIVATE))
    parent = np.full(tree.num_nodes, -1, np.int32)
    largest, depth = float(tree.leaves.paid.sum(axis=1).max()), 0
    start = first_betting(tree.players, tree.most_bets)
    todo: list[tuple[int, Betting, tuple[tuple[int, int, int], ...]]] = [(0, start, ())]
    while todo:
        node, betting, done = todo.pop()
        depth = max(depth, len(done))
        if is_over(betting):
            continue
        words = betting_actions(betting)
        public[node] = _public(betting, [_ACTION[word] for word in words], done, largest)
        for action, word in enumerate(words):
            child = tree.child(node, action)
            parent[child] = node
            todo.append((child, bet(betting, word), (*done, (betting.turn, betting.street, _ACTION[word]))))
    return Features(tree, hands, public, parent, depth)


def _public(
    betting: Betting, available: Sequence[int], done: Sequence[tuple[int, int, int]], largest: float
) -> Floats:
    actions, street = np.zeros(len(ACTIONS)), np.zeros(len(STREETS))
    actions[list(available)] = street[betting.street] = 1.0
    opponent = np.zeros((len(STREETS), 2))
    for seat, when, action in done:
        if seat != betting.turn:
            opponent[when, action - CALL] += 1.0 / MOST_BETS  # folds end the hand
    return np.concatenate([actions, street, [sum(betting.paid) / largest], opponent.ravel()])


def feature_columns(names: Sequence[str]) -> Longs:
    """The columns of the features of these names."""
    if not names:
        raise FeltError("A network needs at least one feature.")
    for name in names:
        if name not in WIDTH:
            raise FeltError(unknown("feature", name, WIDTH))
    ends = dict(zip(WIDTH, np.cumsum(list(WIDTH.values())).tolist(), strict=True))
    return np.concatenate([np.arange(ends[name] - WIDTH[name], ends[name]) for name in names])


def hand_examples(
    features: Features, cards: Ints, board: Ints, permutation: Ints, leaf: Ints, searcher: Longs
) -> Examples:
    """All decisions of hands [hands] that ended at these leaves; none if the searcher's seat is below 0.

    `cards` [hands, 9] and their canonical boards and permutations [hands, streets] are those of `deal_block`
    in the arena.
    """
    room = len(leaf) * features.depth
    found = Examples(np.empty((room, COLUMNS)), np.empty(room, np.int64))
    count = _collect(
        features.hands,
        features.public,
        features.tree.node,
        features.parent,
        cards,
        board,
        permutation,
        leaf,
        searcher,
        found,
    )
    return Examples(found.features[:count].copy(), found.action[:count].copy())


@part
def potential(hands: HandTables, street: int, board: int, permutation: int, pair: int) -> float:
    """Probability of winning against a random hand, on a canonical board with its permutation of suits."""
    pair = PERMUTED_PAIR[permutation, pair]
    if street == PREFLOP:
        step = np.int64(hands.preflop[0, pair])
    elif street == FLOP:
        step = np.int64(hands.flop[board, pair])
    elif street == TURN:
        step = np.int64(hands.turn[board, pair])
    else:
        step = np.int64(hands.river[board, pair])
    return (step + 0.5) / GRAIN


@episode_kernel
def _collect(
    hands: HandTables,
    public: Floats,
    node: Ints,
    parent: Ints,
    cards: Ints,
    board: Ints,
    permutation: Ints,
    leaf: Ints,
    searcher: Longs,
    found: Examples,
) -> int:
    """From each leaf up to the root."""
    count = 0
    for hand in range(len(leaf)):
        after = leaf[hand]
        while searcher[hand] >= 0 and parent[after] >= 0:
            here = parent[after]
            player, kind = node[here, PLAYER], node[here, KIND]
            street = kind >> STREET_SHIFT & 3
            pair = PAIR[cards[hand, 2 * player], cards[hand, 2 * player + 1]]
            row = found.features[count]
            row[0] = potential(hands, street, board[hand, street], permutation[hand, street], pair)
            row[1] = hands.chen[pair]
            row[2] = 1.0 if player == searcher[hand] else 0.0
            for column in range(public.shape[1]):
                row[PRIVATE + column] = public[here, column]
            found.action[count] = after - node[here, CHILD] + 1 - (kind >> FACING_SHIFT & 1)
            count += 1
            after = here
    return count
