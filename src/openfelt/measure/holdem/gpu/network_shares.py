"""The shares of betting lines of a network with one hidden layer, for all hands on some boards, on a GPU.

The first layer is a sum of a part for the cards and a part for the betting line. `add_cards` computes the
former for each hand on each board. `fill_shares` adds the latter for each decision of a street, applies the
ReLU and the output layer, and multiplies the action probabilities along the lines of the street.

A hand is at the *position* of its square of ranks and of its suits (`river_squares.py`), so that neighbouring
threads of the river read neighbouring numbers. A hand of one rank has two positions.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from openfelt.cards.deck import CARDS as DECK, PAIR, PAIR_CARDS, PAIRS, RIVER as ON_RIVER
from openfelt.core.cuda_build import cuda
from openfelt.games.features.holdem import CARD_GROUPS, rename_suits
from openfelt.games.holdem import MOST_BETS
from openfelt.solve.vector.betting_lines import LINES
from openfelt.solve.vector.gpu.plan import CARDS, RIVER, RIVER_TURN, TURN
from openfelt.solve.vector.gpu.river_squares import HANDS, ROOM, SQUARE_RANKS, SQUARES, U
from openfelt.solve.vector.gpu.terms import PAID

POSITIONS = HANDS * ROOM
HOLE = CARD_GROUPS.index("hole")

# A thread computes two hands at two roots at a time: what it reads of a decision serves both hands.
AT_ONCE = 2  # roots
HANDS_EACH = 2
# Of a player at a root: its first decision, then two each in the raise sequence that its opponent begins and
# in the one that it begins itself.
DECISIONS = 5
FIRST_CHOICE, LAST_CHOICE = 0, DECISIONS - 1  # no fold in the one, no raise in the other
SUMS = 2 * DECISIONS - 2  # differences of logits at a root
WIDTH = 12  # numbers of a unit for the decisions at AT_ONCE roots, padded to multiples of four
UNITS = 64  # that are in shared memory at a time
STAGED, LAST_STAGED, ALL_SUMS = UNITS * WIDTH, 2 * UNITS, HANDS_EACH * AT_ONCE * SUMS
MOST_THREADS = 128  # of a block that lists hands
ROOTS_OF_BLOCK = 64  # roots that a block computes

# These are set when a kernel is built.
ALIGNED: int | None = 16  # bytes, as in `river.py`
BEGINS = True  # whether the player acts first on a street
BETS = MOST_BETS  # of a street
FOLDS = False  # whether the value of folds is computed too
GREEDY = False  # whether the player takes the likeliest action


def _positions() -> tuple[Any, Any]:
    """[POSITIONS] the hand at each position, -1 for none; [1326] a position of each hand."""
    suits, square = np.divmod(np.arange(POSITIONS), ROOM)
    ranks = SQUARE_RANKS[np.minimum(square, SQUARES - 1)].astype(np.int64)
    one, two = 4 * ranks[:, 0] + suits // 4, 4 * ranks[:, 1] + suits % 4
    pair_at = np.where((one != two) & (square < SQUARES), PAIR[one, two], -1).astype(np.int32)
    position = np.zeros(PAIRS, np.int32)
    position[pair_at[pair_at >= 0]] = np.flatnonzero(pair_at >= 0)
    return pair_at, position


PAIR_AT, POSITION = _positions()


class FirstLayer(NamedTuple):
    """The part of the first layer that depends on the cards."""

    weights: Any  # [units, columns of the cards]
    biases: Any  # [units]


class OtherLayers(NamedTuple):
    """The part that depends on the betting lines of a street, and the output layer."""

    of_lines: Any  # [roots / AT_ONCE, units, WIDTH] by the decisions at AT_ONCE roots
    weights: Any  # [units, 2] of the logits of folding and raising, less that of calling
    biases: Any  # [2]
    terms: Any  # [roots, lines, TERMS] of `terms_of`


class HandsOnBoards(NamedTuple):
    """The possible hands on some boards; the first `count` places of each board are used."""

    count: Any  # [boards]
    position: Any  # [boards, places]
    sums: Any  # [boards, units, places] of the first layer over the cards


def add_cards(live: Any, plan: Any, street: int, first: int, layer: FirstLayer, hands: HandsOnBoards) -> None:
    """List the hands that are possible on boards, and add up the first layer; a block for each board.

    `first` is the first of the boards among those of its street.
    """
    board, thread, threads = cuda.blockIdx.x, cuda.threadIdx.x, cuda.blockDim.x
    counts, cards = cuda.shared.array(MOST_THREADS, np.int32), cuda.local.array(5, np.int64)
    keys, own, renamed = (
        cuda.local.array(4, np.int64),
        cuda.local.array(4, np.int64),
        cuda.local.array(4, np.int64),
    )
    columns, number, size = cuda.local.array(7, np.int64), first + board, 2 + street
    turn = plan[RIVER_TURN, number] if street == ON_RIVER else number
    taken = np.uint64(0)
    for suit in range(4):
        keys[suit] = 0
    for place in range(size):
        card = np.int64(plan[CARDS, 3 * turn + place]) if place < 3 else np.int64(plan[TURN, turn])
        if place == 4:
            card = np.int64(plan[RIVER, number])
        cards[place] = card
        keys[card % 4] |= np.int64(1) << np.int64(13 * (HOLE - max(place - 2, 0)) + card // 4)
        taken |= np.uint64(1) << np.uint64(card)
    each = (POSITIONS + threads - 1) // threads
    begin, end, found = thread * each, min((thread + 1) * each, POSITIONS), 0
    for position in range(begin, end):
        found += _is_possible(live, taken, PAIR_AT[position])
    counts[thread] = found
    cuda.syncthreads()
    place = 0
    for other in range(thread):
        place += counts[other]
    if thread == threads - 1:
        hands.count[board] = place + found
    for position in range(begin, end):
        if _is_possible(live, taken, PAIR_AT[position]):
            hands.position[board, place] = position
            place += 1
    cuda.syncthreads()
    for place in range(thread, hands.count[board], threads):
        pair = PAIR_AT[hands.position[board, place]]
        for suit in range(4):
            own[suit] = keys[suit]
        for which in range(2):
            card = np.int64(PAIR_CARDS[pair, which])
            own[card % 4] += np.int64(1) << (card // 4)
        rename_suits(own, renamed)
        for at in range(size + 2):
            card = cards[at] if at < size else np.int64(PAIR_CARDS[pair, at - size])
            group = max(at - 2, 0) if at < size else HOLE
            columns[at] = DECK * group + card // 4 * 4 + renamed[card % 4]
        for unit in range(len(layer.biases)):
            total = layer.biases[unit]
            for at in range(size + 2):
                total += layer.weights[unit, columns[at]]
            hands.sums[board, unit, place] = total


def _is_possible(live: Any, taken: Any, pair: Any) -> Any:
    """Whether the hand at a position is possible."""
    if pair < 0:
        return False
    low, high = PAIR_CARDS[pair, 0], PAIR_CARDS[pair, 1]
    both = np.uint64(1) << np.uint64(low) | np.uint64(1) << np.uint64(high)
    return live[low] != 0 and live[high] != 0 and taken & both == 0


def fill_shares(
    hands: HandsOnBoards, sizes: tuple[int, int], layers: OtherLayers, weight: Any, share: Any, folds: Any
) -> None:
    """Write the shares of lines, [boards, roots, lines, POSITIONS], each times the weight of its board.

    `sizes` has the number of blocks for the hands of a board, and for its roots.
    """
    thread, threads = cuda.threadIdx.x, cuda.blockDim.x
    staged = cuda.shared.array(STAGED, np.float32, alignment=ALIGNED)
    last = cuda.shared.array(LAST_STAGED, np.float32, alignment=ALIGNED)
    sums, zero = cuda.local.array(ALL_SUMS, np.float32), np.float32(0.0)
    block, of_roots = cuda.blockIdx.x // sizes[1], cuda.blockIdx.x % sizes[1]
    board, begin = block // sizes[0], block % sizes[0] * HANDS_EACH * threads
    count, units, roots = hands.count[board], layers.of_lines.shape[1], share.shape[1]
    if begin < count:
        one, two = begin + thread, begin + thread + threads
        # A thread without a hand repeats the last one, and writes nothing.
        of_hands, ours_at, other_at = hands.sums[board], U(min(one, count - 1)), U(min(two, count - 1))
        first_group = of_roots * (ROOTS_OF_BLOCK // AT_ONCE)
        for group in range(first_group, min(first_group + ROOTS_OF_BLOCK // AT_ONCE, len(layers.of_lines))):
            for at in range(ALL_SUMS):
                sums[at] = layers.biases[1 if at % SUMS % 2 == 0 else 0]
            for first in range(0, units, UNITS):
                many = min(UNITS, units - first)
                for at in range(thread, many * WIDTH, threads):
                    staged[at] = layers.of_lines[group, first + at // WIDTH, at % WIDTH]
                for at in range(thread, 2 * many, threads):
                    last[at] = layers.weights[first + at // 2, at % 2]
                cuda.syncthreads()
                following, after = of_hands[U(first), ours_at], of_hands[U(first), other_at]
                for unit in range(many):
                    ours, other = following, after
                    below = U(first + min(unit + 1, many - 1))  # read early: it takes until the next unit
                    following, after = of_hands[below, ours_at], of_hands[below, other_at]
                    to_fold, to_raise = last[U(2) * U(unit)], last[U(2) * U(unit) + U(1)]
                    for at in range(AT_ONCE * DECISIONS):
                        line, choice = staged[U(unit) * U(WIDTH) + U(at)], at % DECISIONS
                        here = SUMS * (at // DECISIONS) + 2 * choice
                        active, again = max(ours + line, zero), max(other + line, zero)
                        if choice != LAST_CHOICE:
                            sums[here] += to_raise * active
                            sums[here + AT_ONCE * SUMS] += to_raise * again
                        if choice != FIRST_CHOICE:
                            sums[here - 1] += to_fold * active
                            sums[here - 1 + AT_ONCE * SUMS] += to_fold * again
                cuda.syncthreads()
            for which in range(HANDS_EACH * AT_ONCE):
                place = one if which < AT_ONCE else two
                root = AT_ONCE * group + which % AT_ONCE
                if place < count and root < roots:
                    where = board, root, hands.position[board, place]
                    _write_lines(sums, which * SUMS, where, layers, weight[board], share, folds)


def _write_lines(
    sums: Any, at: int, where: Any, layers: OtherLayers, weight: Any, share: Any, folds: Any
) -> None:
    """Write the shares of the lines at a root for one hand, from the differences of its logits."""
    board, root, position = where
    lines = cuda.local.array(LINES, np.float32)
    one, none = np.float32(1.0), np.float32(-1e30)
    # Where the raise sequences begin that the player begins, and those that its opponent begins.
    begun, joined = (1 + MOST_BETS, 1) if BEGINS else (1, 1 + MOST_BETS)
    checks, bets = _choose(none, sums[at])
    lines[0] = checks
    came = checks if BEGINS else one
    call, raises = _answer(1, sums[at + 1], sums[at + 2])
    lines[joined] = came * call
    lines[joined + 1] = came * raises
    call, raises = _answer(3, sums[at + 3], sums[at + 4])
    lines[joined + 2] = lines[joined + 1] * call
    lines[joined + 3] = lines[joined + 1] * raises
    call, raises = _answer(2, sums[at + 5], sums[at + 6])
    last_call, _ = _answer(MOST_BETS, sums[at + 7], none)
    lines[begun] = bets
    lines[begun + 1] = bets * call
    lines[begun + 2] = bets * raises
    lines[begun + 3] = lines[begun + 2] * last_call
    for line in range(LINES):
        share[board, root, line, position] = weight * lines[line]
    if FOLDS:
        for line in range(LINES):
            folds[board, root, line, position] = weight * _folds(line, lines, layers.terms, root)


def _answer(bet: int, fold: Any, raises: Any) -> Any:
    """The probabilities of calling a bet of this number and of raising it; 0 if there is no such bet."""
    fold, call, raises = _softmax(fold, raises if bet < BETS else np.float32(-1e30))
    if bet > BETS:
        return np.float32(0.0), np.float32(0.0)
    return call, raises


def _choose(none: Any, raises: Any) -> Any:
    """The probabilities of checking and of betting."""
    _, call, raises = _softmax(none, raises)
    return call, raises


def _softmax(fold: Any, raises: Any) -> Any:
    """The probabilities of folding, calling and raising, from logits of which that of calling is 0."""
    one, zero = np.float32(1.0), np.float32(0.0)
    if GREEDY:  # the first of equal ones
        if fold >= zero and fold >= raises:
            return one, zero, zero
        return (zero, one, zero) if raises <= zero else (zero, zero, one)
    highest = max(max(fold, raises), zero)
    folds, calls = math.exp(fold - highest), math.exp(-highest)
    more = math.exp(raises - highest)
    total = one / (folds + calls + more)
    return np.float32(folds * total), np.float32(calls * total), np.float32(more * total)


def _folds(line: int, lines: Any, terms: Any, root: Any) -> Any:
    """The value of folds on a line per unit of the opponent's reach, as `_folds` of `betting_lines.py`."""
    begun = 1 + MOST_BETS if BEGINS else 1
    if line == 0:
        return lines[begun] * terms[root, begun, PAID]
    first = 1 + MOST_BETS if line > MOST_BETS else 1
    bet, paid, share = line - first + 1, terms[root, line, PAID], lines[line]
    if (bet % 2 == 1) == (first == begun):  # the opponent answers: what it calls with, it does not fold
        found = -share * paid
    else:
        came = lines[line - 1] if bet > 1 else lines[0] if BEGINS else np.float32(1.0)
        raised = lines[line + 1] if bet < MOST_BETS else np.float32(0.0)
        found = -(came - share - raised) * paid
        if bet > 1:  # what the opponent raised with, it did not fold
            found -= lines[line - 1] * terms[root, line - 1, PAID]
        if bet < MOST_BETS:  # these hands face our raise and may fold to it
            found += raised * terms[root, line + 1, PAID]
    if BEGINS and line == 1:  # our first bet is faced by hands that the opponent would have bet
        found += lines[begun] * terms[root, begun, PAID]
    return found
