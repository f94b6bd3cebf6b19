"""EV losses of a player of two-player limit hold'em, thousands a second, if the opponent plays a policy.

The opponent's range follows from Bayes' rule over its actions so far, by the policy. On the river values are
exact: the sum over all hands of the range, where the player continues with a best response. On earlier
streets they are means over rollouts in which both continue with the policy. All actions are tried with the
same cards and the same random numbers.

The highest of noisy values is too high on average. So the best action is chosen on one half of the rollouts
and, if it is better by more than a standard error there, its gain is measured on the other half: on average
the estimated loss is at most the true loss.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from openfelt.cards.boards import IDENTITY, PERMUTED_PAIR, step
from openfelt.cards.deck import BOARD_CARDS, CARDS, PAIR_CARDS, PAIRS, RIVER, STREETS, Bytes
from openfelt.cards.evaluator import CARD_BIT, evaluate
from openfelt.core.jit import Floats, Ints, Longs, kernel, part
from openfelt.core.random import Stream, go_to, uniform
from openfelt.core.sampling import search_sums
from openfelt.games.compile.betting_tree import (
    ACTIONS_MASK,
    CHILD,
    KIND,
    PLACE,
    PLAYER,
    STREET_SHIFT,
)
from openfelt.policy.holdem import WHOLE, HoldemPolicy, choose
from openfelt.solve.traverse.holdem import Deal, HoldemTree, hand_shift, holdem_tree, new_deal, share_pot

MOST_ACTIONS = 3
MOST_NODES = 64  # below a decision on the river
NODE, ROW, FIRST = range(
    3
)  # columns of the nodes below: of the tree, row of the reach, place of the first child
DRAWS = 1 << 10  # random numbers reserved for a rollout
END = -1  # of a line


class Lines(NamedTuple):
    """Hands of one player, as far as they went."""

    seat: Ints  # [hands] of the player
    hole: Ints  # [hands, 2] its cards
    board: Ints  # [hands, 5] -1 where no card was dealt
    line: Ints  # [hands, longest] number of each action at its node of the betting tree; then END
    first: Longs  # [hands + 1] number of the first decision of each hand


class ActionLosses(NamedTuple):
    """At each decision, the EV loss of each action; 0 beyond the number of actions."""

    loss: Floats  # [decisions, 3] chips
    error: Floats  # [decisions, 3] its standard error; 0 if it is exact
    best: Longs  # [decisions] number of the best action


def no_losses(count: int) -> ActionLosses:
    """For kernels to write to."""
    shape = count, MOST_ACTIONS
    return ActionLosses(np.zeros(shape), np.zeros(shape), np.zeros(count, np.int64))


class _Workspace(NamedTuple):
    """What a thread writes to."""

    weight: Floats  # [2, 1326] of the opponent's hands, now and after its action
    summed: Floats  # [1326] running sums of the hands that are possible
    slot: Longs  # [1326] what is added to an edge to get the slot of a hand, on the river
    sign: Floats  # [1326] 1 where the player wins the showdown, -1 where it loses
    reach: Floats  # [MOST_NODES, 1326] of the opponent's hands, on the river
    below: Longs  # [MOST_NODES, 3] the nodes below a decision on the river
    value: Floats  # [MOST_NODES] of these nodes
    won: Floats  # [rollouts, 3]
    mean: Floats  # [3, 3] of each action's winnings, in the first half, the second, and both
    stream: Stream


class PolicyReview:
    """Reviews hands against a policy; loads the tables of its abstraction, or makes them first."""

    def __init__(self, policy: HoldemPolicy) -> None:
        self._tree, self._weights = holdem_tree(policy.tree), policy.weights

    def losses(self, hands: Lines, rollouts: Ints, start: np.uint64, number: int = 0) -> ActionLosses:
        """The EV losses at all decisions on streets with `rollouts` [4]; others are left at 0.

        The random numbers of a decision depend on `start` and its number, counted from `number` on.
        """
        count = int(hands.first[-1])
        found = no_losses(count)
        space = _Workspace(
            np.empty((2, PAIRS)),
            np.empty(PAIRS),
            np.empty(PAIRS, np.int64),
            np.empty(PAIRS),
            np.empty((MOST_NODES, PAIRS)),
            np.empty((MOST_NODES, 3), np.int64),
            np.empty(MOST_NODES),
            np.empty((int(rollouts.max()), MOST_ACTIONS)),
            np.empty((3, MOST_ACTIONS)),
            np.zeros(1, np.uint64),
        )
        _review(self._tree, self._weights, hands, rollouts, start, number, new_deal(2), space, found)
        return found


@kernel
def _review(
    tree: HoldemTree,
    weights: Bytes,
    hands: Lines,
    rollouts: Ints,
    start: np.uint64,
    number: int,
    deal: Deal,
    space: _Workspace,
    found: ActionLosses,
) -> None:
    for hand in range(len(hands.seat)):
        seat, here, street, board, permutation = hands.seat[hand], 0, 0, 0, IDENTITY
        decision = hands.first[hand]
        space.weight[0, :] = 1.0
        for place in range(hands.line.shape[1]):
            action = hands.line[hand, place]
            if action == END:
                break
            kind = tree.node[here, KIND]
            while street < kind >> STREET_SHIFT & 3:
                street += 1
                board, permutation = _next_board(tree, street, board, permutation, hands.board[hand], 0)
            if tree.node[here, PLAYER] != seat:
                _follow_range(tree, weights, hands, hand, here, action, board, permutation, space)
            else:
                count = kind & ACTIONS_MASK
                if rollouts[street] and _sum_range(hands, hand, street, space):
                    if street == RIVER:
                        _exact(tree, weights, hands, hand, here, board, permutation, space, found, decision)
                    else:
                        won = space.won[: rollouts[street], :count]
                        first = (number + decision) * len(space.won) * DRAWS
                        _roll_out(
                            tree,
                            weights,
                            hands,
                            hand,
                            here,
                            board,
                            permutation,
                            deal,
                            space,
                            won,
                            start,
                            first,
                        )
                        _compare(won, space.mean, found, decision)
                decision += 1
            here = tree.node[here, CHILD] + action


@part
def _next_board(
    tree: HoldemTree, street: int, board: int, permutation: int, cards: Ints, first: int
) -> tuple[int, int]:
    """The canonical board of the next street, and the permutation that leads to it."""
    if street == 1:
        board, permutation = step(tree.boards.to_1, board, permutation, cards[first])
        board, permutation = step(tree.boards.to_2, board, permutation, cards[first + 1])
        return step(tree.boards.to_3, board, permutation, cards[first + 2])
    if street == 2:
        return step(tree.boards.to_4, board, permutation, cards[first + 3])
    return step(tree.boards.to_5, board, permutation, cards[first + 4])


@part
def _bucket(tree: HoldemTree, street: int, board: int, pair: int) -> int:
    if street == 0:
        return int(tree.preflop[0, pair])
    if street == 1:
        return int(tree.flop[board, pair])
    if street == 2:
        return int(tree.turn[board, pair])
    return int(tree.river[board, pair])


@part
def _follow_range(
    tree: HoldemTree,
    weights: Bytes,
    hands: Lines,
    hand: int,
    here: int,
    action: int,
    board: int,
    permutation: int,
    space: _Workspace,
) -> None:
    """Bayes' rule for an action of the opponent; one that it takes with no possible hand is ignored."""
    street, player = tree.node[here, KIND] >> STREET_SHIFT & 3, tree.node[here, PLAYER]
    edges = tree.layout.edges[street, player]
    first = tree.layout.slot_base[street, player] - tree.layout.first_edge[street, player]
    first += tree.node[here, PLACE] + action
    total = 0.0
    for pair in range(PAIRS):
        space.weight[1, pair] = 0.0
        if space.weight[0, pair] > 0.0 and not _is_dead(hands, hand, street, pair):
            bucket = _bucket(tree, street, board, PERMUTED_PAIR[permutation, pair])
            space.weight[1, pair] = space.weight[0, pair] * weights[first + bucket * edges] / WHOLE
            total += space.weight[1, pair]
    if total > 0.0:
        for pair in range(PAIRS):
            space.weight[0, pair] = space.weight[1, pair]


@part
def _is_dead(hands: Lines, hand: int, street: int, pair: int) -> bool:
    """Whether a pair shares a card with the player or the board."""
    low, high = PAIR_CARDS[pair, 0], PAIR_CARDS[pair, 1]
    for place in range(2):
        if hands.hole[hand, place] == low or hands.hole[hand, place] == high:
            return True
    for place in range(BOARD_CARDS[street]):
        if hands.board[hand, place] == low or hands.board[hand, place] == high:
            return True
    return False


@part
def _sum_range(hands: Lines, hand: int, street: int, space: _Workspace) -> bool:
    """Running sums of the range, which end at 1; every possible hand if the range is empty."""
    for attempt in range(2):
        total = 0.0
        for pair in range(PAIRS):
            if not _is_dead(hands, hand, street, pair):
                total += 1.0 if attempt else space.weight[0, pair]
            space.summed[pair] = total
        if total > 0.0:
            for pair in range(PAIRS):
                space.summed[pair] /= total
            return True
    return False


@part
def _roll_out(
    tree: HoldemTree,
    weights: Bytes,
    hands: Lines,
    hand: int,
    here: int,
    board: int,
    permutation: int,
    deal: Deal,
    space: _Workspace,
    won: Floats,
    start: np.uint64,
    first: int,
) -> None:
    """Fill in the winnings [rollouts, actions] of the player."""
    seat, street = hands.seat[hand], tree.node[here, KIND] >> STREET_SHIFT & 3
    known = BOARD_CARDS[street]
    for place in range(2):
        deal.cards[2 * seat + place] = hands.hole[hand, place]
    for place in range(known):
        deal.cards[4 + place] = hands.board[hand, place]
    other = 2 * (1 - seat)
    for number in range(len(won)):
        go_to(space.stream, start, first + number * DRAWS)
        pair = search_sums(space.summed, uniform(space.stream))
        deal.cards[other], deal.cards[other + 1] = PAIR_CARDS[pair, 0], PAIR_CARDS[pair, 1]
        out = 0
        for place in range(4 + known):
            out |= 1 << deal.cards[place]
        for place in range(known, 5):
            card = int(uniform(space.stream) * CARDS)
            while out >> card & 1:
                card = int(uniform(space.stream) * CARDS)
            deal.cards[4 + place] = card
            out |= 1 << card
        now, turned = board, permutation
        for later in range(street, len(STREETS)):
            if later > street:
                now, turned = _next_board(tree, later, now, turned, deal.cards, 4)
            for player in range(2):
                deal.shift[2 * later + player] = hand_shift(tree, deal, later, player, now, turned)
        bits = np.uint64(0)
        for place in range(4, 9):
            bits |= CARD_BIT[deal.cards[place]]
        for player in range(2):
            own = CARD_BIT[deal.cards[2 * player]] | CARD_BIT[deal.cards[2 * player + 1]]
            deal.value[player] = evaluate(bits | own)
        for action in range(won.shape[1]):
            go_to(space.stream, start, first + number * DRAWS + DRAWS // 2)
            won[number, action] = _play_on(tree, weights, tree.node[here, CHILD] + action, deal, space, seat)


@part
def _play_on(tree: HoldemTree, weights: Bytes, node: int, deal: Deal, space: _Workspace, seat: int) -> float:
    while tree.node[node, PLAYER] >= 0:
        player, kind = tree.node[node, PLAYER], tree.node[node, KIND]
        slot = tree.node[node, PLACE] + deal.shift[2 * (kind >> STREET_SHIFT & 3) + player]
        node = tree.node[node, CHILD] + choose(weights, slot, kind & ACTIONS_MASK, uniform(space.stream))
    return share_pot(tree.leaves, tree.node[node, PLACE], deal.value, seat)


@part
def _compare(won: Floats, means: Floats, found: ActionLosses, decision: int) -> None:
    """Losses of all actions from their winnings in rollouts, chosen and measured on different halves."""
    count, actions = won.shape
    half = count // 2
    for action in range(actions):
        means[0, action] = means[1, action] = 0.0
        for number in range(count):
            means[int(number >= half), action] += won[number, action]
        means[2, action] = (means[0, action] + means[1, action]) / count
        means[0, action] /= half
        means[1, action] /= count - half
    best = 0
    for action in range(1, actions):
        if means[2, action] > means[2, best]:
            best = action
    found.best[decision] = best
    for action in range(actions):
        total, squares = 0.0, 0.0
        for low, high in ((0, half), (half, count)):  # where the gain is measured; chosen on the rest
            chosen_on = int(low == 0)
            rival = action
            for other in range(actions):
                if means[chosen_on, other] > means[chosen_on, rival]:
                    rival = other
            if not _is_clear(won, rival, action, half - low, count + half - high):
                rival = action
            for number in range(low, high):
                gain = won[number, rival] - won[number, action]
                total += gain
                squares += gain * gain
        mean = total / count
        found.loss[decision, action] = mean
        found.error[decision, action] = np.sqrt(max(0.0, squares / count - mean * mean) / (count - 1))


@part
def _is_clear(won: Floats, rival: int, action: int, low: int, high: int) -> bool:
    """Whether an action gains more than its standard error in these rollouts, and not just by chance."""
    total, squares = 0.0, 0.0
    for number in range(low, high):
        gain = won[number, rival] - won[number, action]
        total += gain
        squares += gain * gain
    count = high - low
    return total * total / count > max(0.0, squares - total * total / count) / max(1, count - 1)


@part
def _exact(
    tree: HoldemTree,
    weights: Bytes,
    hands: Lines,
    hand: int,
    here: int,
    board: int,
    permutation: int,
    space: _Workspace,
    found: ActionLosses,
    decision: int,
) -> None:
    """The losses on the river, where the player continues with a best response."""
    seat = hands.seat[hand]
    other = 1 - seat
    bits = np.uint64(0)
    for place in range(5):
        bits |= CARD_BIT[hands.board[hand, place]]
    own = evaluate(bits | CARD_BIT[hands.hole[hand, 0]] | CARD_BIT[hands.hole[hand, 1]])
    edges = tree.layout.edges[RIVER, other]
    first = tree.layout.slot_base[RIVER, other] - tree.layout.first_edge[RIVER, other]
    live, before = 0, 0.0
    for pair in range(PAIRS):
        weight = space.summed[pair] - before
        before = space.summed[pair]
        if weight > 0.0:
            theirs = evaluate(bits | CARD_BIT[PAIR_CARDS[pair, 0]] | CARD_BIT[PAIR_CARDS[pair, 1]])
            space.sign[live] = 1.0 if own > theirs else -1.0 if own < theirs else 0.0
            bucket = _bucket(tree, RIVER, board, PERMUTED_PAIR[permutation, pair])
            space.slot[live] = first + bucket * edges
            space.reach[0, live] = weight
            live += 1
    values = space.mean[0]
    best, count = 0, tree.node[here, KIND] & ACTIONS_MASK
    for action in range(count):
        child = tree.node[here, CHILD] + action
        values[action] = _best_value(tree, weights, child, seat, live, space)
        if values[action] > values[best]:
            best = action
    found.best[decision] = best
    for action in range(count):
        found.loss[decision, action] = values[best] - values[action]


@part
def _best_value(
    tree: HoldemTree, weights: Bytes, root: int, seat: int, live: int, space: _Workspace
) -> float:
    """Expected winnings at a node of the river against the range of reach[0]; the player answers best.

    Down the nodes, breadth first, goes the opponent's reach, and up come the values.
    """
    space.below[0, NODE], space.below[0, ROW] = root, 0
    count, rows = 1, 1
    here = 0
    while here < count:
        node, row = space.below[here, NODE], space.below[here, ROW]
        space.below[here, FIRST] = count
        if tree.node[node, PLAYER] >= 0:
            for action in range(tree.node[node, KIND] & ACTIONS_MASK):
                space.below[count, NODE], space.below[count, ROW] = tree.node[node, CHILD] + action, row
                if tree.node[node, PLAYER] != seat:
                    edge = tree.node[node, PLACE] + action
                    for pair in range(live):
                        share = weights[edge + space.slot[pair]] / WHOLE
                        space.reach[rows, pair] = space.reach[row, pair] * share
                    space.below[count, ROW] = rows
                    rows += 1
                count += 1
        here += 1
    for here in range(count - 1, -1, -1):
        space.value[here] = _node_value(tree, here, seat, live, space)
    return float(space.value[0])


@part
def _node_value(tree: HoldemTree, here: int, seat: int, live: int, space: _Workspace) -> float:
    """The value of a node from those below it, or from the reach of a leaf."""
    node, row, first = space.below[here, NODE], space.below[here, ROW], space.below[here, FIRST]
    player, total = tree.node[node, PLAYER], 0.0
    if player >= 0:
        total = float(space.value[first])
        for place in range(first + 1, first + (tree.node[node, KIND] & ACTIONS_MASK)):
            total = max(total, space.value[place]) if player == seat else total + space.value[place]
        return total
    ending = tree.node[node, PLACE]
    inside = int(tree.leaves.inside[ending])
    for pair in range(live):
        total += space.reach[row, pair] * (space.sign[pair] if inside & (inside - 1) else 1.0)
    lost, won = tree.leaves.paid[ending, seat], tree.leaves.paid[ending, 1 - seat]
    return float(total * (won if inside >> seat & 1 else -lost))
