"""A small neural network that guesses what a player does (TAU, section 5.1), for hold'em of two players.

It is trained on (features, action) examples of hands that a searcher won, the decisions of both seats, and
then says which action of a row to try first in a search (`prefer` of solve/traverse/opponent_hooks.py).

TAU's features, and what they are here. Hand potential, there the share of 500 simulations won, is exact up to
hundredths: EHS, the chance to win against any two cards (`ehs:100`). Hand strength is Chen's formula. Max/min
node says whether the searcher or the other one is to act; cards are always those of the one who is to act.
Actions available are fold, call (or check) and raise (or bet). Pot size is in shares of the largest. How the
history of the opponent's actions is put TAU does not say; here it is how often he has called and raised on
each street, seen from the one who is to act.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.abstraction.abstraction import load_abstraction
from openfelt.cards.boards import PAIR_AS
from openfelt.cards.deck import FLOP, PAIR, PAIRS, PREFLOP, STREETS, TURN
from openfelt.core.errors import FeltError, unknown
from openfelt.core.jit import Floats, Ints, Longs, episode_kernel, part
from openfelt.core.memory import scratch
from openfelt.core.random import Stream
from openfelt.games.compile.betting_tree import CHILD, FACING_SHIFT, KIND, PLAYER, STREET_SHIFT, BettingTree
from openfelt.games.holdem import MOST_BETS, Betting, bet, betting_actions, first_betting, is_over
from openfelt.opponents.models.public_tree import CALL, FOLD, RAISE
from openfelt.solve.traverse.episode import implements
from openfelt.solve.traverse.holdem import BOARD, PERMUTATION, Deal
from openfelt.solve.traverse.opponent_hooks import prefer

ACTIONS = ("fold", "call", "raise")  # a check is a call, a bet a raise
_ACTION = {"fold": FOLD, "check": CALL, "call": CALL, "bet": RAISE, "raise": RAISE}

POTENTIAL, CHEN, MAX_NODE = "hand potential", "Chen formula", "max/min node"
AVAILABLE, STREET, POT, OPPONENT = "actions available", "street", "pot size", "opponent's actions"
# How many columns each has. The first three depend on who looks at which cards, the rest on the node alone.
WIDTH = {POTENTIAL: 1, CHEN: 1, MAX_NODE: 1, AVAILABLE: 3, STREET: 4, POT: 1, OPPONENT: 8}
COLUMNS, PRIVATE = sum(WIDTH.values()), 3
GRAIN = 100  # steps of hand potential
MOST_POINTS = 20.0  # by Chen's formula
HIDDEN = (32, 16)  # units of the two layers
BATCH = 500


class HandTables(NamedTuple):
    """What a pair of hole cards is worth."""

    chen: Floats  # [1326] points by Chen's formula, in shares of the most
    preflop: NDArray[Any]  # [1, 1326] EHS of every hand in hundredths
    flop: NDArray[Any]  # [boards, 1326]
    turn: NDArray[Any]
    river: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Features:
    """All that is needed to tell the features of any decision."""

    tree: BettingTree
    hands: HandTables
    public: Floats  # [nodes, COLUMNS - PRIVATE]
    parent: Ints  # [nodes]; -1 at the root
    depth: int  # the most decisions of a hand


class Examples(NamedTuple):
    """Decisions."""

    features: Floats  # [examples, COLUMNS]
    action: Longs  # [examples] FOLD, CALL or RAISE


class Weights(NamedTuple):
    """A network as it was trained; features that it was not given have weights of 0."""

    first: Floats  # [COLUMNS, units]
    first_bias: Floats
    second: Floats  # [units, units]
    second_bias: Floats
    last: Floats  # [units, 3]
    last_bias: Floats


class Network(NamedTuple):
    """The same for kernels; for one thread, which writes to the last three."""

    hands: HandTables
    at_node: Floats  # [nodes, units] of the first layer: what follows from the node alone
    private: Floats  # [PRIVATE, units] and the weights of what does not
    second: Floats  # [units, units] by the unit that they lead to
    second_bias: Floats
    last: Floats  # [3, units] by action
    last_bias: Floats
    units_1: Floats
    units_2: Floats
    score: Floats  # [3] of each action: the logarithm of its chance, up to a constant


def features_of(tree: BettingTree, points: Sequence[int] | Longs) -> Features:
    """`points` [1326] are those of each pair by Chen's formula."""
    if tree.players != 2:
        raise FeltError(f"The network tells a searcher from his one opponent; {tree.game} has more players.")
    chen = np.asarray(points, np.float64)
    if chen.shape != (PAIRS,):
        raise FeltError(f"Chen's formula is wanted for {PAIRS} pairs of hole cards, not for {chen.size}.")
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
        for way, word in enumerate(words):
            child = tree.child(node, way)
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
            opponent[when, action - CALL] += 1.0 / MOST_BETS  # whoever has folded is not there any more
    return np.concatenate([actions, street, [sum(betting.paid) / largest], opponent.ravel()])


def feature_columns(names: Sequence[str]) -> Longs:
    """Where the features of these names stand."""
    if not names:
        raise FeltError("A network needs a feature, at least one.")
    for name in names:
        if name not in WIDTH:
            raise FeltError(unknown("feature", name, WIDTH))
    ends = dict(zip(WIDTH, np.cumsum(list(WIDTH.values())).tolist(), strict=True))
    return np.concatenate([np.arange(ends[name] - WIDTH[name], ends[name]) for name in names])


def hand_examples(
    features: Features, cards: Ints, board: Ints, permutation: Ints, leaf: Ints, searcher: Longs
) -> Examples:
    """All decisions of hands [hands] that ended at these leaves; none where the searcher's seat is below 0.

    `cards` [hands, 9], with their canonical boards and permutations [hands, streets], are as those of
    `deal_block` in the arena.
    """
    room = len(leaf) * features.depth
    found = Examples(np.empty((room, COLUMNS)), np.empty(room, np.int64))
    count = _walk(
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


def classifier() -> Any:
    """Scikit-learn's class of networks, or one sentence on how to get it."""
    try:
        from sklearn.neural_network import MLPClassifier
    except ImportError:
        raise FeltError("The network needs scikit-learn: pip install 'openfelt[models]'.") from None
    return MLPClassifier


def train(
    examples: Examples,
    names: Sequence[str],
    *,
    epochs: int,
    seed: int = 0,
    hidden: tuple[int, int] = HIDDEN,
) -> Iterator[Any]:
    """Train a network on the features of these names; gives scikit-learn's classifier after each epoch.

    Two layers of rectified units, Adam, batches of 500. (TAU does not tell its network.)
    """
    make = classifier()
    if len(examples.action) < BATCH:
        raise FeltError(f"A network needs {BATCH} examples or more, not {len(examples.action)}.")
    seen = examples.features[:, feature_columns(names)]
    model = make(hidden, batch_size=BATCH, random_state=seed)
    for _ in range(epochs):
        model.partial_fit(seen, examples.action, classes=np.arange(len(ACTIONS)))
        yield model


def weights_of(model: Any, names: Sequence[str]) -> Weights:
    """What scikit-learn's classifier has learned from the features of these names."""
    columns, layers = feature_columns(names), len(model.coefs_)
    if layers != len(Weights._fields) // 2 or len(model.coefs_[0]) != len(columns):
        raise FeltError(
            f"A network of two hidden layers and {len(columns)} inputs is wanted, not of {layers - 1} and "
            f"{len(model.coefs_[0])}."
        )
    first = np.zeros((COLUMNS, model.coefs_[0].shape[1]))
    first[columns] = model.coefs_[0]
    bias = model.intercepts_
    return Weights(first, bias[0], model.coefs_[1], bias[1], model.coefs_[2], bias[2])


def new_network(features: Features, weights: Weights) -> Network:
    """Make it ready for kernels; one for each thread."""
    return Network(
        features.hands,
        features.public @ weights.first[PRIVATE:] + weights.first_bias,
        np.ascontiguousarray(weights.first[:PRIVATE]),
        np.ascontiguousarray(weights.second.T),
        np.ascontiguousarray(weights.second_bias),
        np.ascontiguousarray(weights.last.T),
        np.ascontiguousarray(weights.last_bias),
        scratch(len(weights.first_bias)),
        scratch(len(weights.second_bias)),
        scratch(len(ACTIONS)),
    )


@part
def potential(hands: HandTables, street: int, board: int, permutation: int, pair: int) -> float:
    """The chance to win against any two cards, on a canonical board and its permutation of suits."""
    pair = PAIR_AS[permutation, pair]
    if street == PREFLOP:
        step = np.int64(hands.preflop[0, pair])
    elif street == FLOP:
        step = np.int64(hands.flop[board, pair])
    elif street == TURN:
        step = np.int64(hands.turn[board, pair])
    else:
        step = np.int64(hands.river[board, pair])
    return (step + 0.5) / GRAIN


@part
def score_actions(network: Network, node: int, potential: float, chen: float, is_max: float) -> None:
    """The forward pass, up to the last softmax, into `network.score`."""
    for unit in range(len(network.units_1)):
        total = network.at_node[node, unit] + potential * network.private[0, unit]
        total += chen * network.private[1, unit] + is_max * network.private[2, unit]
        network.units_1[unit] = max(total, 0.0)
    for unit in range(len(network.units_2)):
        total = network.second_bias[unit]
        for before in range(len(network.units_1)):
            total += network.second[unit, before] * network.units_1[before]
        network.units_2[unit] = max(total, 0.0)
    for action in range(len(network.score)):
        total = network.last_bias[action]
        for before in range(len(network.units_2)):
            total += network.last[action, before] * network.units_2[before]
        network.score[action] = total


@implements(prefer, Network)
def _network_prefers(
    network: Network, tree: Any, deal: Deal, node: int, seat: int, untried: int, stream: Stream
) -> int:
    """The action that the network holds for the likeliest of those never tried."""
    player, kind = tree.node[node, PLAYER], tree.node[node, KIND]
    street, free = (
        kind >> STREET_SHIFT & 3,
        1 - (kind >> FACING_SHIFT & 1),
    )  # free: there is nothing to fold to
    pair = PAIR[deal.cards[2 * player], deal.cards[2 * player + 1]]
    chance = potential(network.hands, street, deal.at[BOARD], deal.at[PERMUTATION], pair)
    score_actions(network, node, chance, network.hands.chen[pair], 1.0 if player == seat else 0.0)
    best, highest = -1, -np.inf
    for way in range(3 - free):
        if untried >> way & 1 and network.score[way + free] > highest:
            best, highest = way, network.score[way + free]
    return best


@episode_kernel
def _walk(
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
