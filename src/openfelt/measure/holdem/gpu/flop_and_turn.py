"""The flop and the turn on a GPU: reach down, values up, a block of threads for each board and root."""

from __future__ import annotations

from typing import Any

import numpy as np

from openfelt.cards.boards import PERMUTED_PAIR
from openfelt.cards.deck import CARDS as DECK, PAIR, PAIR_CARDS, PAIRS
from openfelt.core.cuda_build import cuda
from openfelt.games.holdem import MOST_BETS
from openfelt.measure.holdem.gpu.network_shares import POSITION
from openfelt.measure.holdem.gpu.river import StreetTables, share_of
from openfelt.solve.vector.betting_lines import LINES
from openfelt.solve.vector.gpu.plan import CARDS, NUMBER, THROUGH, TURN, TURN_BACK, TURN_FIRST
from openfelt.solve.vector.gpu.terms import PAID
from openfelt.solve.vector.street_kernels import raise_sequence, whole_street

# These are set when a kernel is built.
OPENS = True  # whether we act first
BY_BOARD = False  # whether the player at hand is a network, whose shares are computed board by board
OURS_BY_BOARD = False  # whether we are one


def deal(live: Any, plan: Any, part: int, flop_table: Any, turn_table: Any, bucket: Any) -> None:
    """The bucket of each hand on the flop and its turns, -1 if it is impossible; a block for each board.

    Of a network it is the hand's position.
    """
    board = cuda.blockIdx.x
    number, through = plan[NUMBER, board], plan[THROUGH, board]
    for pair in range(cuda.threadIdx.x, PAIRS, cuda.blockDim.x):
        low, high = PAIR_CARDS[pair, 0], PAIR_CARDS[pair, 1]
        lives = live[low] and live[high]
        for place in range(3):
            card = plan[CARDS, place]
            lives = lives and card != low and card != high
        if board > 0:
            card = plan[TURN, board - 1]
            lives = lives and card != low and card != high
        found: Any = -1
        if lives and BY_BOARD:
            found = np.int64(POSITION[pair])
        elif lives:
            seen = PERMUTED_PAIR[through, pair]
            if board == 0:
                found = np.int64(flop_table[part, number, seen])
            else:
                found = np.int64(turn_table[part, number, seen])
        bucket[board, pair] = found


def go_down(bucket: Any, first: int, share: Any, roots: int, reach: Any, below: Any) -> None:
    """Pass a player's reach down to the roots of the next street; `first` is the first board in `bucket`."""
    board, root = cuda.blockIdx.x // roots, cuda.blockIdx.x % roots
    for pair in range(cuda.threadIdx.x, PAIRS, cuda.blockDim.x):
        own = bucket[first + board, pair]
        came = reach[0, root, pair] if own >= 0 else np.float32(0.0)
        for line in range(LINES):
            part = share_of(share, BY_BOARD, board, root, own, line) if own >= 0 else np.float32(0.0)
            below[board, line * roots + root, pair] = came * part


def sum_parts(parts: int, boards: int, roots: int, reach: Any, total: Any) -> None:
    """Sum the reach over the parts of a mixture; a block for each board and root."""
    board, root = cuda.blockIdx.x // roots, cuda.blockIdx.x % roots
    for pair in range(cuda.threadIdx.x, PAIRS, cuda.blockDim.x):
        summed = np.float32(0.0)
        for part in range(parts):
            summed += reach[part * boards + board, root, pair]
        total[board, root, pair] = summed


def come_up(
    bucket: Any,
    first: int,
    ours: Any,
    roots: int,
    below: Any,
    after: Any,
    street: StreetTables,
    best: bool,
    values: Any,
) -> None:
    """Pass values up, from the roots of the next street to those of this one."""
    board, root, thread = cuda.blockIdx.x // roots, cuda.blockIdx.x % roots, cuda.threadIdx.x
    step = cuda.blockDim.x
    of_card = cuda.shared.array((LINES, DECK), np.float32)
    total = cuda.shared.array(LINES, np.float32)
    for at in range(thread, LINES * DECK, step):
        line, card = at // DECK, at % DECK
        summed = np.float32(0.0)
        for partner in range(DECK):
            if partner != card:
                summed += below[board, line * roots + root, PAIR[card, partner]]
        of_card[line, card] = summed
    cuda.syncthreads()
    for line in range(thread, LINES, step):
        summed = np.float32(0.0)
        for card in range(DECK):
            summed += of_card[line, card]
        total[line] = summed / np.float32(2.0)
    cuda.syncthreads()
    call, met = cuda.local.array(LINES, np.float32), cuda.local.array(LINES, np.float32)
    for pair in range(thread, PAIRS, step):
        found = np.float32(0.0)
        if bucket[first + board, pair] >= 0:
            low, high = PAIR_CARDS[pair, 0], PAIR_CARDS[pair, 1]
            for line in range(LINES):
                column = line * roots + root
                call[line] = after[board, column, pair]
                here = total[line] - of_card[line, low] - of_card[line, high] + below[board, column, pair]
                met[line] = max(here, np.float32(0.0))  # see `meet`
            if best:
                found = _best(call, met, street.terms[root])
            else:
                own = ours[first + board, pair]
                for line in range(LINES):
                    found += share_of(street.own_share, OURS_BY_BOARD, board, root, own, line) * call[line]
                    found += share_of(street.own_folds, OURS_BY_BOARD, board, root, own, line) * met[line]
        values[board, root, pair] = found


def _best(call: Any, met: Any, terms: Any) -> Any:
    """The value of a street for a best response, as in `street_kernels.py`."""
    ours, theirs = (1 + MOST_BETS, 1) if OPENS else (1, 1 + MOST_BETS)
    begun = raise_sequence(True, _four(call, ours), _four(met, ours), _paid(terms, ours))
    joined = raise_sequence(False, _four(call, theirs), _four(met, theirs), _paid(terms, theirs))
    if OPENS:
        begun += terms[ours, PAID] * met[theirs]
    return whole_street(OPENS, begun, joined, call[0], met[0], terms[ours, PAID])


def _four(table: Any, at: int) -> Any:
    return table[at], table[at + 1], table[at + 2], table[at + 3]


def _paid(terms: Any, at: int) -> Any:
    return terms[at, PAID], terms[at + 1, PAID], terms[at + 2, PAID], terms[at + 3, PAID]


def add_images(turns: int, plan: Any, chance: Any, values: Any, total: Any) -> None:
    """Sum over turns, each with all isomorphic cards; a block for each root."""
    root = cuda.blockIdx.x
    for pair in range(cuda.threadIdx.x, PAIRS, cuda.blockDim.x):
        summed = np.float32(0.0)
        for turn in range(turns):
            for image in range(plan[TURN_FIRST, turn], plan[TURN_FIRST, turn + 1]):
                summed += values[turn, root, PERMUTED_PAIR[plan[TURN_BACK, image], pair]]
        total[0, root, pair] = summed * chance


def add_leaks(
    boards: int, alike: bool, plan: Any, chance: Any, own_reach: Any, best: Any, played: Any, leak: Any
) -> None:
    """What a best response gains on a street over the fixed strategy on it, by pair; a block for each root.

    Boards are turns, each with all isomorphic ones if `alike`, or the flop.
    """
    root = cuda.blockIdx.x
    for pair in range(cuda.threadIdx.x, PAIRS, cuda.blockDim.x):
        gained = np.float32(0.0)
        for board in range(boards):
            times = plan[TURN_FIRST, board + 1] - plan[TURN_FIRST, board] if alike else 1
            came = own_reach[board if own_reach.shape[0] > 1 else 0, root, pair]
            gained += np.float32(times) * came * (best[board, root, pair] - played[board, root, pair])
        leak[root, pair] = gained * chance
