"""The river on a GPU: a block of threads for each turn and entry, a thread for each square of hole cards.

Way after way, the threads enter the other's reach into the lists of cards and of squares (`gpu_squares.py`).
Some of them go through a list each, and leave in each place what came before. Then each square finds in a few
places what its hands beat and what beats them. All numbers are of single precision, and are added in the same
order every time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from openfelt.cards.boards import PERMUTATIONS
from openfelt.cards.deck import PAIR
from openfelt.core.cuda_build import cuda
from openfelt.core.jit import Floats
from openfelt.games.holdem import MOST_BETS
from openfelt.measure.holdem.betting_lines import WAYS, Lines
from openfelt.measure.holdem.gpu.lists import add_up, enter, look_up
from openfelt.measure.holdem.gpu.plan import OF_TURN, RIVER_AS, RIVER_FIRST
from openfelt.measure.holdem.gpu.squares import (
    ALL_HANDS,
    FOUR,
    HALF_BITS,
    HANDS,
    KIND_WORD,
    KINDS,
    LIVE_WORD,
    OUR_WORD,
    PARTS,
    PLAIN,
    ROOM,
    ROOM_APART,
    SIDE_WORDS,
    SQUARE_RANKS,
    SQUARES,
    TABLE,
    THEIR_WORD,
    THREE,
    TWO_TABLES,
    U,
    bucket_word,
    kind_counts,
    kind_of,
    words_of,
)
from openfelt.measure.holdem.street import LEAST, back, whole

SINGLE = np.dtype(np.float32)  # as the simulator wants it
SUITS_AS = PERMUTATIONS.astype(np.uint32) @ np.array([1, 4, 16, 64], np.uint32)  # two bits a suit

# These are set when the kernel is built.
ALIGNED: int | None = 16  # bytes, so that four numbers are read at once; the simulator knows none
OPENS = True  # whether we act first
BEST = True  # whether we answer best, or by a policy
FITS = True  # whether the other's shares at an entry fit into the memory of a block

POT, PAID, PAID_NEXT, PAID_LAST, PAID_ASIDE = range(5)
TERMS = 5
ALL_TERMS = WAYS * TERMS


def terms_of(lines: Lines, opens: bool) -> Floats:
    """[entries, ways, TERMS] of each way: the pot, and for `back` what was paid before its last bet, before
    the next one, and before the one that it raised. For both checking, the next is the first bet of the chain
    that we begin. To that he also comes with what he would have bet himself if we open: PAID_ASIDE.
    """
    terms = np.zeros((lines.pot.shape[1], WAYS, TERMS))
    terms[:, :, POT], terms[:, :, PAID] = lines.pot.T, lines.paid.T
    first = 1 + MOST_BETS if opens else 1
    for way in range(1, WAYS):
        bet = (way - 1) % MOST_BETS + 1
        terms[:, way, PAID_NEXT] = lines.paid[way + 1] if bet < MOST_BETS else 0.0
        terms[:, way, PAID_LAST] = lines.paid[way - 1] if bet > 1 else 0.0
    terms[:, 0, PAID_NEXT] = lines.paid[first]
    if opens:
        terms[:, 1, PAID_ASIDE] = lines.paid[first]
    return terms


class Street(NamedTuple):
    """What is known of a street's entries."""

    share: Any  # [entries, buckets, ways] of the other
    own_share: Any  # [entries, buckets, ways] of ours, if we do not answer best
    own_folds: Any
    terms: Any  # [entries, ways, TERMS] of `terms_of`


def solve_river(
    plan: Any, words: Any, facts: Any, entries: int, chance: Any, reach: Any, street: Street, values: Any
) -> None:
    """What the river's entries are worth, summed over a turn's rivers: a block for each turn and entry."""
    turn, entry, thread = U(cuda.blockIdx.x // entries), U(cuda.blockIdx.x % entries), U(cuda.threadIdx.x)
    came = cuda.shared.array(ALL_HANDS, np.float32)  # by suits, and thread
    worth = cuda.shared.array(ALL_HANDS, np.float32)
    table = cuda.shared.array(TWO_TABLES, np.float32, alignment=ALIGNED)  # of one way, and of the next
    shares = cuda.shared.array(0, SINGLE)  # as long as the launch says
    terms = cuda.shared.array(ALL_TERMS, np.float32)
    square = min(thread, U(SQUARES - 1))
    ranks = SQUARE_RANKS[square, 0], SQUARE_RANKS[square, 1]
    comes, turns = 0, U(reach.shape[0] // PARTS)
    for seat in range(HANDS):
        one, two = U(4) * ranks[0] + U(seat // 4), U(4) * ranks[1] + U(seat % 4)
        here = np.float32(0.0)
        for part in range(PARTS if one != two else 0):
            here += reach[U(part) * turns + turn, entry, U(PAIR[one, two])]
        came[U(seat * ROOM) + thread] = here
        worth[U(seat * ROOM) + thread] = np.float32(0.0)
        comes |= here != np.float32(0.0)
    if cuda.syncthreads_or(comes):
        if FITS:
            for place in range(thread, street.share.shape[1] * WAYS, ROOM):
                shares[place] = street.share[entry, place // WAYS, place % WAYS]
        if thread < U(ALL_TERMS):
            terms[thread] = street.terms[entry, thread // U(TERMS), thread % U(TERMS)]
        cuda.syncthreads()
        hold, before = cuda.local.array(HANDS, np.float32), cuda.local.array(HANDS, np.float32)
        for river in range(plan[OF_TURN, turn], plan[OF_TURN, turn + U(1)]):
            first, fact = U(river) * U(words_of(PARTS) * ROOM) + thread, facts[U(river)]
            room, board = (words, first, street, came, shares, terms, table, hold), fact >> U(2) & U(3)
            came_by = reach, turn, turns
            if board == U(PLAIN):
                _one_river(PLAIN, U(river), fact, entry, ranks, came_by, room)
            elif board == U(THREE):
                _one_river(THREE, U(river), fact, entry, ranks, came_by, room)
            else:
                _one_river(FOUR, U(river), fact, entry, ranks, came_by, room)
            for image in range(plan[RIVER_FIRST, U(river)], plan[RIVER_FIRST, U(river + 1)]):
                order = SUITS_AS[U(plan[RIVER_AS, U(image)])]
                for hand in range(HANDS):  # all at once, so that none waits for another
                    before[hand] = worth[_place(order, fact, hand) + thread]
                for hand in range(HANDS):
                    worth[_place(order, fact, hand) + thread] = before[hand] + hold[hand]
    for seat in range(HANDS):
        one, two = U(4) * ranks[0] + U(seat // 4), U(4) * ranks[1] + U(seat % 4)
        if one != two:
            values[turn, entry, U(PAIR[one, two])] = chance * worth[U(seat * ROOM) + thread]


def _place(order: Any, fact: Any, hand: int) -> Any:
    """Where a hand of a river is by its suits, once these have changed places."""
    one = order >> U(2) * (fact + U(1 + hand // 4) & U(3)) & U(3)
    two = order >> U(2) * (fact + U(1 + hand % 4) & U(3)) & U(3)
    return (U(4) * one + two) * ROOM_APART


def _one_river(board: int, river: Any, fact: Any, entry: Any, ranks: Any, came_by: Any, room: Any) -> None:
    """What a river is worth to the hands of a square, at `hold`: way after way, back from the last."""
    words, first, street, came, shares, terms, table, hold = room
    thread, zero = U(cuda.threadIdx.x), np.float32(0.0)
    aside, own = cuda.local.array(HANDS, np.float32), cuda.local.array(HANDS, np.float32)
    call, met = cuda.local.array(HANDS, np.float32), cuda.local.array(HANDS, np.float32)
    reach, known = cuda.local.array(HANDS, np.float32), cuda.local.array(LIVE_WORD, np.uint32)
    for word in range(LIVE_WORD):
        if _is_needed(word, board):
            known[word] = words[first + U(word * ROOM)]
    lives, buckets = words[first + U(LIVE_WORD * ROOM)], cuda.local.array(KINDS, np.uint32)
    for kind in range(1 if board == PLAIN else KINDS):
        buckets[kind] = _bucket(words, first + U(THEIR_WORD * ROOM), (0, 3, 12, 15)[kind])
    for hand in range(HANDS):
        hold[hand] = zero if OPENS or not BEST else LEAST
        aside[hand] = LEAST if OPENS else zero
        seat = U(4) * (fact + U(1 + hand // 4) & U(3)) + (fact + U(1 + hand % 4) & U(3))
        reach[hand] = came[seat * ROOM_APART + thread] if lives >> U(hand) & U(1) else zero
    for done in range(WAYS):
        # One way after the other in turns, over rivers too: others may still look up the one before.
        way, cells = U(WAYS - 1 - done), (river + U(done) & U(1)) * U(TABLE)
        if PARTS > 1:
            _add_parts(fact, entry, ranks, came_by, room, way, lives, own)
        elif fact < U(16):
            for kind in range(1 if board == PLAIN else KINDS):
                part = _share(street, shares, entry, buckets[kind], way)
                for hand in range(HANDS):
                    if kind_of(hand, board) == kind:
                        own[hand] = reach[hand] * part
        else:
            for hand in range(HANDS):
                bucket = _bucket(words, first + U(THEIR_WORD * ROOM), hand)
                own[hand] = reach[hand] * _share(street, shares, entry, bucket, way)
        if cuda.syncthreads_or(1 if enter(known, board, ranks, own, table, cells) != zero else 0):
            add_up(board, table, cells)
            cuda.syncthreads()
            look_up(known, board, ranks, own, terms[way * U(TERMS) + U(POT)], table, cells, call, met)
        else:
            for hand in range(HANDS):
                call[hand] = met[hand] = zero
        if BEST:
            _answer(way, terms, call, met, hold, aside)
        else:
            for hand in range(HANDS):
                bucket = _bucket(words, first + U(OUR_WORD * ROOM), hand)
                won = street.own_share[entry, bucket, way] * call[hand]
                hold[hand] += won + street.own_folds[entry, bucket, way] * met[hand]
    for hand in range(HANDS):
        if not lives >> U(hand) & U(1):
            hold[hand] = zero


def _add_parts(
    fact: Any, entry: Any, ranks: Any, came_by: Any, room: Any, way: Any, lives: Any, own: Any
) -> None:
    """The reach of one who plays a mixture."""
    (words, first, street, _, shares, _, _, _), (reach, turn, turns) = room, came_by
    for hand in range(HANDS):
        own[hand] = np.float32(0.0)
    for part in range(PARTS):
        at = first + U(bucket_word(part) * ROOM)
        for hand in range(HANDS):
            if lives >> U(hand) & U(1):
                one = U(4) * ranks[0] + (fact + U(1 + hand // 4) & U(3))
                two = U(4) * ranks[1] + (fact + U(1 + hand % 4) & U(3))
                # As `_bucket` and `_share`, which are slow to call so often where a GPU is only simulated.
                bucket = words[at + U(hand // 2 * ROOM)] >> U(16 * (hand % 2)) & HALF_BITS
                share = shares[bucket * U(WAYS) + way] if FITS else street.share[entry, bucket, way]
                own[hand] += reach[U(part) * turns + turn, entry, U(PAIR[one, two])] * share


def _is_needed(word: int, board: int) -> Any:
    """Whether a word says something new on such a board."""
    if word >= KIND_WORD:
        return kind_counts(word - KIND_WORD, board)
    return word % SIDE_WORDS == 0 or board == FOUR or (board == THREE and word % SIDE_WORDS >= 2)


def _bucket(words: Any, first: Any, hand: int) -> Any:
    """Of a hand."""
    word = words[first + U(hand // 2 * ROOM)]
    return word >> U(16) if hand & 1 else word & HALF_BITS


def _share(street: Street, shares: Any, entry: Any, bucket: Any, way: Any) -> Any:
    """The other's of a way."""
    return shares[bucket * U(WAYS) + way] if FITS else street.share[entry, bucket, way]


def _answer(way: Any, terms: Any, call: Any, met: Any, hold: Any, aside: Any) -> None:
    """Go back over one way. What the chain of the higher ways is worth is put `aside`."""
    at = way * U(TERMS)
    paid, after, last = terms[at + U(PAID)], terms[at + U(PAID_NEXT)], terms[at + U(PAID_LAST)]
    if way == 0:
        for hand in range(HANDS):
            begun, joined = (aside[hand], hold[hand]) if OPENS else (hold[hand], aside[hand])
            hold[hand] = whole(OPENS, begun, joined, call[hand], met[hand], after)
    elif way > U(MOST_BETS):
        if (way % U(2) == 0) == OPENS:  # the even bets are ours to answer if we begin
            for hand in range(HANDS):
                aside[hand] = back(True, aside[hand], call[hand], met[hand], paid, after, last)
        else:
            for hand in range(HANDS):
                aside[hand] = back(False, aside[hand], call[hand], met[hand], paid, after, last)
    elif (way % U(2) == 0) == OPENS:
        for hand in range(HANDS):
            hold[hand] = back(False, hold[hand], call[hand], met[hand], paid, after, last)
    else:
        for hand in range(HANDS):
            hold[hand] = back(True, hold[hand], call[hand], met[hand], paid, after, last)
            if OPENS:  # he comes to our first bet with what he would have bet too
                aside[hand] += terms[at + U(PAID_ASIDE)] * met[hand]
