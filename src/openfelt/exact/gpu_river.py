"""The river on a GPU: a block of threads for each turn and entry, a thread for each square of hole cards.

Way after way, the threads enter the other's reach into the lists of cards and of squares (`gpu_squares.py`).
Some of them add up a list each, and leave in each of its cells what is lower than such a hand less what is
higher. Then each square finds in a few places what its hands win. All numbers are of single precision, and
are added in the same order every time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from openfelt.base.cuda import cuda
from openfelt.base.jit import Floats
from openfelt.cards.boards import PERMUTATIONS
from openfelt.cards.deck import CARDS as DECK
from openfelt.cards.deck import PAIR
from openfelt.exact.gpu_plan import OF_TURN, RIVER_AS, RIVER_FIRST
from openfelt.exact.gpu_squares import (
    ALL_HANDS,
    CELL_BITS,
    CELLS_IN_WORD,
    EVERY,
    HALF_BITS,
    HANDS,
    KIND_WORDS,
    LIVE_WORD,
    LONGEST,
    ORDER_WORD,
    ORDER_WORDS,
    OUR_WORD,
    PIECE_SUMS,
    RANK_COUNT,
    ROOM,
    ROOM_APART,
    ROW,
    SQUARE_LIST,
    SQUARE_RANKS,
    SQUARES,
    TABLE,
    TEN_BITS,
    THEIR_WORD,
    TIED,
    TWO_TABLES,
    WARP,
    WORDS,
    U,
)
from openfelt.exact.lines import WAYS, Lines
from openfelt.exact.street import LEAST, back, whole
from openfelt.rules.holdem import MOST_BETS

SUITS_AS = PERMUTATIONS.astype(np.uint32) @ np.array([1, 4, 16, 64], np.uint32)  # two bits a suit

# These are set when the kernel is built.
ALIGNED: int | None = 16  # bytes, so that four numbers are read at once; the simulator knows none
OPENS = True  # whether we act first
BEST = True  # whether we answer best, or by a policy
SHARES, FITS = 9, True  # how many shares the other has at an entry, if they fit into the memory of a block

POT, PAID, PAID_NEXT, PAID_LAST, PAID_ASIDE = range(5)
TERMS = 5


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
    plan: Any, words: Any, suits: Any, entries: int, chance: Any, reach: Any, street: Street, values: Any
) -> None:
    """What the river's entries are worth, summed over a turn's rivers: a block for each turn and entry."""
    turn, entry, thread = U(cuda.blockIdx.x // entries), U(cuda.blockIdx.x % entries), U(cuda.threadIdx.x)
    came = cuda.shared.array(ALL_HANDS, np.float32)  # by suits, and thread
    worth = cuda.shared.array(ALL_HANDS, np.float32)
    table = cuda.shared.array(TWO_TABLES, np.float32, alignment=ALIGNED)  # of one way, and of the next
    shares = cuda.shared.array(SHARES, np.float32)
    square = min(thread, U(SQUARES - 1))
    ranks = SQUARE_RANKS[square, 0], SQUARE_RANKS[square, 1]
    comes = 0
    for seat in range(HANDS):
        one, two = U(4) * ranks[0] + U(seat // 4), U(4) * ranks[1] + U(seat % 4)
        here = reach[turn, entry, U(PAIR[one, two])] if one != two else np.float32(0.0)
        came[U(seat * ROOM) + thread] = here
        worth[U(seat * ROOM) + thread] = np.float32(0.0)
        comes |= here != np.float32(0.0)
    if cuda.syncthreads_or(comes):
        if FITS:
            for place in range(thread, SHARES, ROOM):
                shares[place] = street.share[entry, place // WAYS, place % WAYS]
        cuda.syncthreads()
        hold = cuda.local.array(HANDS, np.float32)
        for river in range(plan[OF_TURN, turn], plan[OF_TURN, turn + U(1)]):
            first, last = U(river) * U(WORDS * ROOM) + thread, suits[U(river)]
            if last < U(4):
                _one_river(words, U(river), True, last, entry, ranks, street, came, shares, table, hold)
            else:
                last = U(3)
                _one_river(words, U(river), False, last, entry, ranks, street, came, shares, table, hold)
            for image in range(plan[RIVER_FIRST, U(river)], plan[RIVER_FIRST, U(river + 1)]):
                order, lives = SUITS_AS[U(plan[RIVER_AS, U(image)])], words[first + U(LIVE_WORD * ROOM)]
                for hand in range(HANDS):
                    if lives >> U(hand) & U(1):
                        one = order >> U(2) * (last + U(1 + hand // 4) & U(3)) & U(3)
                        two = order >> U(2) * (last + U(1 + hand % 4) & U(3)) & U(3)
                        worth[(U(4) * one + two) * ROOM_APART + thread] += chance * hold[hand]
    for seat in range(HANDS):
        one, two = U(4) * ranks[0] + U(seat // 4), U(4) * ranks[1] + U(seat % 4)
        if one != two:
            values[turn, entry, U(PAIR[one, two])] = worth[U(seat * ROOM) + thread]


def _one_river(
    words: Any,
    river: Any,
    flush: bool,
    last: Any,
    entry: Any,
    ranks: Any,
    street: Street,
    came: Any,
    shares: Any,
    table: Any,
    hold: Any,
) -> None:
    """What a river is worth to the hands of a square, at `hold`: way after way, back from the last."""
    thread, zero = U(cuda.threadIdx.x), np.float32(0.0)
    aside, own = cuda.local.array(HANDS, np.float32), cuda.local.array(HANDS, np.float32)
    call, met = cuda.local.array(HANDS, np.float32), cuda.local.array(HANDS, np.float32)
    reach, known = cuda.local.array(HANDS, np.float32), cuda.local.array(OUR_WORD, np.uint32)
    sums = cuda.local.array(LONGEST, np.float32)
    first = river * U(WORDS * ROOM) + thread
    for word in range(OUR_WORD):
        if flush or word == 0 or LIVE_WORD <= word < ORDER_WORD + ORDER_WORDS // 2 or word >= THEIR_WORD:
            known[word] = words[first + U(word * ROOM)]
    one_bucket, differ = _half(known[THEIR_WORD], 0), U(0)  # mostly all hands of a square are in one
    for hand in range(HANDS):
        hold[hand] = LEAST if BEST and OPENS else zero
        aside[hand] = zero
        seat = U(4) * (last + U(1 + hand // 4) & U(3)) + (last + U(1 + hand % 4) & U(3))
        reach[hand] = came[seat * ROOM_APART + thread] if known[LIVE_WORD] >> U(hand) & U(1) else zero
        if _half(known[THEIR_WORD + hand // 2], hand) != one_bucket:
            differ |= U(1 << hand)
    for done in range(WAYS):
        # One way after the other in turns, over rivers too: others may still look up the one before.
        way, cells = U(WAYS - 1 - done), (river + U(done) & U(1)) * U(TABLE)
        one_part = shares[one_bucket * U(WAYS) + way] if FITS else street.share[entry, one_bucket, way]
        for hand in range(HANDS):
            part = one_part
            if differ >> U(hand) & U(1):
                bucket = _half(known[THEIR_WORD + hand // 2], hand)
                part = shares[bucket * U(WAYS) + way] if FITS else street.share[entry, bucket, way]
            own[hand] = reach[hand] * part
        if cuda.syncthreads_or(1 if _enter(known, flush, ranks, own, table, cells) != zero else 0):
            _begin_lists(known, flush, table, cells, sums)
            cuda.syncthreads()
            _end_lists(known, flush, table, cells, sums)
            cuda.syncthreads()
            _look_up(known, flush, ranks, own, street.terms[entry, way, POT], table, cells, call, met)
        else:
            for hand in range(HANDS):
                call[hand] = met[hand] = zero
        if BEST:
            _answer(way, street.terms[entry, way], call, met, hold, aside)
        else:
            for hand in range(HANDS):
                bucket = _half(words[first + U((OUR_WORD + hand // 2) * ROOM)], hand)
                won = street.own_share[entry, bucket, way] * call[hand]
                hold[hand] += won + street.own_folds[entry, bucket, way] * met[hand]


def _half(word: Any, hand: int) -> Any:
    """The bucket of a hand, from its word."""
    return word >> U(16) if hand & 1 else word & HALF_BITS


def _enter(known: Any, flush: bool, ranks: Any, own: Any, table: Any, cells: Any) -> Any:
    """Enter the sums of a square into the lists of its cards, and of squares; and return that of all."""
    for side in range(2):
        rank, partner = ranks[side], ranks[1 - side]
        at, step, next_card = cells + partner * U(ROW) + U(4) * rank, (4 if side else 1), (1 if side else 4)
        for suit in range(4):
            start = next_card * suit
            others = own[start] + own[start + step] + own[start + 2 * step]
            table[at + U(suit)] = others if flush else others + own[start + 3 * step]
        if flush:
            for suit in range(4):
                table[at + U(RANK_COUNT * ROW + suit)] = own[next_card * suit + 3 * step]
    squares = cells + U(SQUARE_LIST)
    half = np.float32(0.5) if ranks[0] == ranks[1] else np.float32(1.0)  # two of one rank are there twice
    plain, suited, lone = own[0] - own[0], own[3] + own[7] + own[11], own[12] + own[13] + own[14]
    for row in range(3):
        plain += own[4 * row] + own[4 * row + 1] + own[4 * row + 2]
    if flush:
        table[squares + (known[0] & TEN_BITS)] = half * plain
        table[squares + (known[1] & TEN_BITS)] = half * suited
        table[squares + (known[2] & TEN_BITS)] = half * lone
        table[squares + (known[3] & TEN_BITS)] = half * own[15]
    else:
        table[squares + (known[0] & TEN_BITS)] = half * (plain + suited + lone + own[15])
    return plain + suited + lone + own[15]


def _cell(known: Any, step: int) -> Any:
    """What comes at a step in the list that a thread adds up, and whether it is worth as much as the last."""
    word = known[ORDER_WORD + step // CELLS_IN_WORD] >> U(CELL_BITS * (step % CELLS_IN_WORD))
    return (word & U(TIED - 1)) * U(ROW) + U(cuda.threadIdx.x), word & U(TIED) != U(0)


def _begin_lists(known: Any, flush: bool, table: Any, cells: Any, sums: Any) -> None:
    """Add up the lists of cards, a thread each, and the pieces of that of squares."""
    thread, running = U(cuda.threadIdx.x), np.float32(0.0)
    if thread < U(DECK):
        start = running
        for step in range(LONGEST if flush else RANK_COUNT):  # all at once, so that none waits
            sums[step] = table[cells + _cell(known, step)[0]]
        for step in range(LONGEST if flush else RANK_COUNT):
            start = start if _cell(known, step)[1] else running
            running += sums[step]
            sums[step] = start
        table[cells + U(EVERY) + thread] = running
    elif U(2 * WARP) <= thread < U(2 * WARP + (4 * 7 if flush else 7)):
        at = cells + U(SQUARE_LIST) + thread - U(2 * WARP)
        for step in range(RANK_COUNT):
            sums[step] = table[at + U(step * WARP)]
        for step in range(RANK_COUNT):
            running += sums[step]
        table[cells + U(PIECE_SUMS) + thread - U(2 * WARP)] = running


def _end_lists(known: Any, flush: bool, table: Any, cells: Any, sums: Any) -> None:
    """Leave in the cells what is lower less what is higher; with the squares what came before."""
    thread, pieces = U(cuda.threadIdx.x), 4 * 7 if flush else 7
    if thread < U(DECK):
        every = table[cells + U(EVERY) + thread]
        end, length = every, LONGEST if flush else RANK_COUNT
        for back in range(length):
            at, tied = _cell(known, length - 1 - back)
            start = sums[length - 1 - back]
            table[cells + at] = start + end - every
            end = end if tied else start
    elif U(2 * WARP) <= thread <= U(2 * WARP + pieces):
        piece, running = thread - U(2 * WARP), np.float32(0.0)
        for other in range(pieces):
            total = table[cells + U(PIECE_SUMS + other)]
            running += total if U(other) < piece else np.float32(0.0)
        at = cells + U(SQUARE_LIST) + piece
        table[at] = running
        if piece < U(pieces):
            for step in range(1, RANK_COUNT):
                running += sums[step - 1]
                table[at + U(step * WARP)] = running


def _look_up(
    known: Any, flush: bool, ranks: Any, own: Any, pot: Any, table: Any, cells: Any, call: Any, met: Any
) -> None:
    """What each hand of a square gets where hands are shown, and what it meets."""
    squares = cells + U(SQUARE_LIST)
    every = table[squares + U(4 * 7 if flush else 7)]
    for kind in range(KIND_WORDS if flush else 1):
        start, end = known[kind] >> U(10) & TEN_BITS, known[kind] >> U(20)
        found = pot * (table[squares + start] + table[squares + end] - every)
        for hand in range(HANDS):
            if not flush or kind == 2 * (hand // 4 == 3) + (hand % 4 == 3):
                call[hand] = found
    for side in range(2):
        rank, partner = ranks[side], ranks[1 - side]
        at, of_card = cells + partner * U(ROW) + U(4) * rank, cells + U(EVERY) + U(4) * rank
        for suit in range(4):
            plain = pot * table[at + U(suit)]
            suited = pot * table[at + U(RANK_COUNT * ROW + suit)] if flush else plain
            here = table[of_card + U(suit)]
            for other in range(4):  # the suit of its partner
                hand = 4 * other + suit if side else 4 * suit + other
                call[hand] -= suited if other == 3 else plain
                met[hand] = max(met[hand] - here, np.float32(0.0)) if side else own[hand] + every - here


def _answer(way: Any, terms: Any, call: Any, met: Any, hold: Any, aside: Any) -> None:
    """Go back over one way. The chain of the higher ways comes first; what it is worth is put `aside`."""
    zero = np.float32(0.0)
    paid, after, last = terms[PAID], terms[PAID_NEXT], terms[PAID_LAST]
    if way == 0:
        for hand in range(HANDS):
            begun, joined = (aside[hand], hold[hand]) if OPENS else (hold[hand], aside[hand])
            hold[hand] = whole(OPENS, begun, joined, call[hand], met[hand], after)
    elif ((way > U(MOST_BETS)) == OPENS) == (way % U(2) == 0):  # the even bets are ours to answer if we begin
        for hand in range(HANDS):
            hold[hand] = back(True, hold[hand], call[hand], met[hand], paid, after, last)
            if OPENS:  # he comes to our first bet with what he would have bet too
                aside[hand] += terms[PAID_ASIDE] * met[hand]
    else:
        for hand in range(HANDS):
            hold[hand] = back(False, hold[hand], call[hand], met[hand], paid, after, last)
    if way == U(1 + MOST_BETS):
        for hand in range(HANDS):
            aside[hand] = hold[hand]
            hold[hand] = zero if OPENS else LEAST
