"""The river on a GPU: a block of threads for each turn and root, a thread for each square of hole cards.

Line by line, the threads write the opponent's reach to the lists of cards and of squares
(`river_squares.py`). Some of them replace each entry of a list by the sum of the entries before it. Then each
square looks up the reach of the hands that its own hands beat and lose to. All numbers are in single
precision and are summed in a fixed order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from openfelt.cards.deck import PAIR
from openfelt.core.cuda_build import cuda
from openfelt.games.holdem import MOST_BETS
from openfelt.solve.vector.betting_lines import LINES
from openfelt.solve.vector.gpu.plan import OF_TURN, RIVER_AS, RIVER_FIRST
from openfelt.solve.vector.gpu.river_lists import add_up, enter, look_up
from openfelt.solve.vector.gpu.river_squares import (
    ALL_HANDS,
    FOUR,
    HALF_BITS,
    HANDS,
    KINDS,
    LIVE_WORD,
    OUR_WORD,
    PARTS,
    PLAIN,
    ROOM,
    SQUARE_RANKS,
    SQUARES,
    SUITS_AS,
    TABLE,
    THEIR_WORD,
    THREE,
    TWO_TABLES,
    U,
    bucket_of,
    bucket_word,
    is_needed,
    kind_of,
    position,
    seat_of,
    words_of,
)
from openfelt.solve.vector.gpu.terms import (
    ALL_TERMS,
    LEAST,
    PAID,
    PAID_ASIDE,
    PAID_LAST,
    PAID_NEXT,
    POT,
    TERMS,
)
from openfelt.solve.vector.street_kernels import back, whole_street

SINGLE = np.dtype(np.float32)  # in the form that the simulator accepts

# These are set when the kernel is built.
ALIGNED: int | None = 16  # bytes, so that four numbers are read at once; None in the simulator
OPENS = True  # whether we act first
BEST = True  # whether we play a best response, or a fixed strategy
FITS = True  # whether the opponent's shares at a root fit into the shared memory of a block
BY_BOARD = False  # whether the opponent is a network, whose shares are computed board by board
OURS_BY_BOARD = False  # whether we are one


class StreetTables(NamedTuple):
    """The tables of a street, by root.

    Shares are [1, roots, buckets, lines], or of a network [boards, roots, lines, POSITIONS], where a hand is
    at the position of its square and suits (`network_shares.py`).
    """

    share: Any  # of the opponent
    own_share: Any  # ours, if we play a fixed strategy
    own_folds: Any
    terms: Any  # [roots, lines, TERMS] of `terms_of`


def share_of(table: Any, by_board: bool, board: Any, root: Any, bucket: Any, line: Any) -> Any:
    """The share of a line for a bucket, or for a position on a board."""
    return table[board, root, line, bucket] if by_board else table[0, root, bucket, line]


def solve_river(
    plan: Any,
    words: Any,
    facts: Any,
    launched: tuple[int, int],
    chance: Any,
    reach: Any,
    street: StreetTables,
    values: Any,
) -> None:
    """Compute the values of river roots, summed over the rivers of a turn; a block for each turn and root.

    `launched` has the first turn of this launch and the number of roots. The shares of networks begin with
    the first river of that turn.
    """
    begun, roots = launched
    turn, root = U(begun + cuda.blockIdx.x // roots), U(cuda.blockIdx.x % roots)
    thread, first_river = U(cuda.threadIdx.x), U(plan[OF_TURN, begun])
    came = cuda.shared.array(ALL_HANDS, np.float32)  # by suits, and thread
    worth = cuda.shared.array(ALL_HANDS, np.float32)
    table = cuda.shared.array(TWO_TABLES, np.float32, alignment=ALIGNED)  # of one line, and of the next
    shares = cuda.shared.array(0, SINGLE)  # its length is an argument of the launch
    terms = cuda.shared.array(ALL_TERMS, np.float32)
    square = min(thread, U(SQUARES - 1))
    ranks = SQUARE_RANKS[square, 0], SQUARE_RANKS[square, 1]
    comes, turns = 0, U(reach.shape[0] // PARTS)
    for seat in range(HANDS):
        one, two = U(4) * ranks[0] + U(seat // 4), U(4) * ranks[1] + U(seat % 4)
        here = np.float32(0.0)
        for part in range(PARTS if one != two else 0):
            here += reach[U(part) * turns + turn, root, U(PAIR[one, two])]
        came[U(seat * ROOM) + thread] = here
        worth[U(seat * ROOM) + thread] = np.float32(0.0)
        comes |= here != np.float32(0.0)
    if cuda.syncthreads_or(comes):
        if FITS:
            for place in range(thread, street.share.shape[2] * LINES, ROOM):
                shares[place] = street.share[0, root, place // LINES, place % LINES]
        if thread < U(ALL_TERMS):
            terms[thread] = street.terms[root, thread // U(TERMS), thread % U(TERMS)]
        cuda.syncthreads()
        hold, before = cuda.local.array(HANDS, np.float32), cuda.local.array(HANDS, np.float32)
        for river in range(plan[OF_TURN, turn], plan[OF_TURN, turn + U(1)]):
            first, fact = U(river) * U(words_of(PARTS) * ROOM) + thread, facts[U(river)]
            room = words, first, street, came, shares, terms, table, hold, reach, turn, turns
            where, board = (fact, root, ranks, U(river) - first_river), fact >> U(2) & U(3)
            if board == U(PLAIN):
                _solve_one(PLAIN, U(river), where, room)
            elif board == U(THREE):
                _solve_one(THREE, U(river), where, room)
            else:
                _solve_one(FOUR, U(river), where, room)
            for image in range(plan[RIVER_FIRST, U(river)], plan[RIVER_FIRST, U(river + 1)]):
                order = SUITS_AS[U(plan[RIVER_AS, U(image)])]
                for hand in range(HANDS):  # independent loads, so that none waits for another
                    before[hand] = worth[position(order, fact, hand) + thread]
                for hand in range(HANDS):
                    worth[position(order, fact, hand) + thread] = before[hand] + hold[hand]
    for seat in range(HANDS):
        one, two = U(4) * ranks[0] + U(seat // 4), U(4) * ranks[1] + U(seat % 4)
        if one != two:
            values[turn, root, U(PAIR[one, two])] = chance * worth[U(seat * ROOM) + thread]


def _solve_one(board: int, river: Any, where: Any, room: Any) -> None:
    """Compute the values of the hands of a square on a river into `hold`, line by line from the last."""
    (fact, root, ranks, dealt), (words, first, street, came, shares, terms, table, hold, _, _, _) = (
        where,
        room,
    )
    thread, zero = U(cuda.threadIdx.x), np.float32(0.0)
    aside, own = cuda.local.array(HANDS, np.float32), cuda.local.array(HANDS, np.float32)
    call, met = cuda.local.array(HANDS, np.float32), cuda.local.array(HANDS, np.float32)
    reach, square = cuda.local.array(HANDS, np.float32), cuda.local.array(LIVE_WORD, np.uint32)
    for word in range(LIVE_WORD):
        if is_needed(word, board):
            square[word] = words[first + U(word * ROOM)]
    lives, buckets = words[first + U(LIVE_WORD * ROOM)], cuda.local.array(KINDS, np.uint32)
    for kind in range(1 if board == PLAIN else KINDS):
        buckets[kind] = bucket_of(words, first + U(THEIR_WORD * ROOM), (0, 3, 12, 15)[kind])
    own_square = min(thread, U(SQUARES - 1))
    for hand in range(HANDS):
        hold[hand] = zero if OPENS or not BEST else LEAST
        aside[hand] = LEAST if OPENS else zero
        reach[hand] = came[seat_of(fact, hand) + thread] if lives >> U(hand) & U(1) else zero
    for done in range(LINES):
        # The two tables alternate, across rivers too: other threads may still read that of the previous line.
        line, cells = U(LINES - 1 - done), (river + U(done) & U(1)) * U(TABLE)
        if PARTS > 1:
            _add_parts(where, room, line, lives, own)
        elif BY_BOARD:
            for hand in range(HANDS):
                own[hand] = reach[hand] * street.share[dealt, root, line, seat_of(fact, hand) + own_square]
        elif fact < U(16):
            for kind in range(1 if board == PLAIN else KINDS):
                part = _share(street, shares, root, buckets[kind], line)
                for hand in range(HANDS):
                    if kind_of(hand, board) == kind:
                        own[hand] = reach[hand] * part
        else:
            for hand in range(HANDS):
                bucket = bucket_of(words, first + U(THEIR_WORD * ROOM), hand)
                own[hand] = reach[hand] * _share(street, shares, root, bucket, line)
        if cuda.syncthreads_or(1 if enter(square, board, ranks, own, table, cells) != zero else 0):
            add_up(board, table, cells)
            cuda.syncthreads()
            look_up(square, board, ranks, own, terms[line * U(TERMS) + U(POT)], table, cells, call, met)
        else:
            for hand in range(HANDS):
                call[hand] = met[hand] = zero
        if BEST:
            _respond(line, terms, call, met, hold, aside)
        else:
            for hand in range(HANDS):
                if OURS_BY_BOARD:
                    bucket = seat_of(fact, hand) + own_square
                else:
                    bucket = bucket_of(words, first + U(OUR_WORD * ROOM), hand)
                won = share_of(street.own_share, OURS_BY_BOARD, dealt, root, bucket, line) * call[hand]
                folds = share_of(street.own_folds, OURS_BY_BOARD, dealt, root, bucket, line)
                hold[hand] += won + folds * met[hand]
    for hand in range(HANDS):
        if not lives >> U(hand) & U(1):
            hold[hand] = zero


def _add_parts(where: Any, room: Any, line: Any, lives: Any, own: Any) -> None:
    """The reach of an opponent that plays a mixture."""
    (fact, root, ranks, _), (words, first, street, _, shares, _, _, _, reach, turn, turns) = where, room
    for hand in range(HANDS):
        own[hand] = np.float32(0.0)
    for part in range(PARTS):
        at = first + U(bucket_word(part) * ROOM)
        for hand in range(HANDS):
            if lives >> U(hand) & U(1):
                one = U(4) * ranks[0] + (fact + U(1 + hand // 4) & U(3))
                two = U(4) * ranks[1] + (fact + U(1 + hand % 4) & U(3))
                # `bucket_of` and `_share` inlined: calling them this often is slow in the simulator.
                bucket = words[at + U(hand // 2 * ROOM)] >> U(16 * (hand % 2)) & HALF_BITS
                share = shares[bucket * U(LINES) + line] if FITS else street.share[0, root, bucket, line]
                own[hand] += reach[U(part) * turns + turn, root, U(PAIR[one, two])] * share


def _share(street: StreetTables, shares: Any, root: Any, bucket: Any, line: Any) -> Any:
    """The opponent's share of a line."""
    return shares[bucket * U(LINES) + line] if FITS else street.share[0, root, bucket, line]


def _respond(line: Any, terms: Any, call: Any, met: Any, hold: Any, aside: Any) -> None:
    """Back up the values of one line. Raise sequence B has its value in `aside`."""
    at = line * U(TERMS)
    after = terms[at + U(PAID_NEXT)]
    paid = terms[at + U(PAID)], after, terms[at + U(PAID_LAST)]
    if line == 0:
        for hand in range(HANDS):
            begun, joined = (aside[hand], hold[hand]) if OPENS else (hold[hand], aside[hand])
            hold[hand] = whole_street(OPENS, begun, joined, call[hand], met[hand], after)
    elif line > U(MOST_BETS):
        if (line % U(2) == 0) == OPENS:  # we answer the even bets if we begin
            for hand in range(HANDS):
                aside[hand] = back(True, aside[hand], call[hand], met[hand], paid)
        else:
            for hand in range(HANDS):
                aside[hand] = back(False, aside[hand], call[hand], met[hand], paid)
    elif (line % U(2) == 0) == OPENS:
        for hand in range(HANDS):
            hold[hand] = back(False, hold[hand], call[hand], met[hand], paid)
    else:
        for hand in range(HANDS):
            hold[hand] = back(True, hold[hand], call[hand], met[hand], paid)
            if OPENS:  # our first bet is also faced by hands that the opponent would have bet
                aside[hand] += terms[at + U(PAID_ASIDE)] * met[hand]
