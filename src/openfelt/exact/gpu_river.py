"""The river on a GPU: a block of threads for each turn and entry, a thread for each square of hole cards.

A thread goes through a list of sums (`gpu_squares.py`) and leaves in each place what came before. Then each
square finds in a few places what its hands beat and what beats them. All numbers are of single precision, and
are added in the same order every time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from openfelt.base.cuda import cuda
from openfelt.base.jit import Floats
from openfelt.cards.boards import PERMUTATIONS
from openfelt.cards.deck import PAIR
from openfelt.exact.gpu_plan import OF_TURN, RIVER_AS, RIVER_FIRST
from openfelt.exact.gpu_squares import (
    ALL_HANDS,
    BYTE,
    CARD_WORDS,
    HALF_BITS,
    HANDS,
    KIND_WORD,
    KIND_WORDS,
    LISTS,
    LISTS_APART,
    LIVE_WORD,
    OUR_WORD,
    PIECES,
    PIECES_APART,
    RANK_COUNT,
    ROOM,
    ROOM_APART,
    SQUARE_LIST,
    SQUARE_RANKS,
    SQUARES,
    SUITED_WORD,
    TABLE,
    TEN_BITS,
    THEIR_WORD,
    TWO_PIECES,
    TWO_TABLES,
    WORDS,
    U,
)
from openfelt.exact.lines import WAYS, Lines
from openfelt.exact.street import LEAST, back, whole
from openfelt.rules.holdem import MOST_BETS

SUITS_AS = PERMUTATIONS.astype(np.uint32) @ np.array([1, 4, 16, 64], np.uint32)  # two bits a suit

# These are set when the kernel is built.
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
    table = cuda.shared.array(TWO_TABLES, np.float32)  # of one way, and of the next
    before = cuda.shared.array(TWO_PIECES, np.float32)
    shares = cuda.shared.array(SHARES, np.float32)
    low, high = SQUARE_RANKS[min(thread, U(SQUARES - 1)), 0], SQUARE_RANKS[min(thread, U(SQUARES - 1)), 1]
    comes = 0
    for seat in range(HANDS):
        one, two = U(4) * low + U(seat // 4), U(4) * high + U(seat % 4)
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
                _one_river(
                    words, U(river), True, last, entry, low, high, street, came, shares, table, before, hold
                )
            else:
                last = U(3)
                _one_river(
                    words, U(river), False, last, entry, low, high, street, came, shares, table, before, hold
                )
            for image in range(plan[RIVER_FIRST, U(river)], plan[RIVER_FIRST, U(river + 1)]):
                order, lives = SUITS_AS[U(plan[RIVER_AS, U(image)])], words[first + U(LIVE_WORD * ROOM)]
                for hand in range(HANDS):
                    if lives >> U(hand) & U(1):
                        one = order >> U(2) * (last + U(1 + hand // 4) & U(3)) & U(3)
                        two = order >> U(2) * (last + U(1 + hand % 4) & U(3)) & U(3)
                        worth[(U(4) * one + two) * ROOM_APART + thread] += chance * hold[hand]
    for seat in range(HANDS):
        one, two = U(4) * low + U(seat // 4), U(4) * high + U(seat % 4)
        if one < two:
            values[turn, entry, U(PAIR[one, two])] = worth[U(seat * ROOM) + thread]


def _one_river(
    words: Any,
    river: Any,
    flush: bool,
    last: Any,
    entry: Any,
    low: Any,
    high: Any,
    street: Street,
    came: Any,
    shares: Any,
    table: Any,
    before: Any,
    hold: Any,
) -> None:
    """What a river is worth to the hands of a square, at `hold`: way after way, back from the last."""
    thread, zero = U(cuda.threadIdx.x), np.float32(0.0)
    length, pieces = (U(2 * RANK_COUNT), U(14)) if flush else (U(RANK_COUNT), U(7))
    aside, own = cuda.local.array(HANDS, np.float32), cuda.local.array(HANDS, np.float32)
    call, met = cuda.local.array(HANDS, np.float32), cuda.local.array(HANDS, np.float32)
    reach, known = cuda.local.array(HANDS, np.float32), cuda.local.array(OUR_WORD, np.uint32)
    first = river * U(WORDS * ROOM) + thread
    lives = words[first + U(LIVE_WORD * ROOM)]
    for hand in range(HANDS):
        hold[hand] = LEAST if BEST and OPENS else zero
        aside[hand] = zero
        seat = U(4) * (last + U(1 + hand // 4) & U(3)) + (last + U(1 + hand % 4) & U(3))
        reach[hand] = came[seat * ROOM_APART + thread] if lives >> U(hand) & U(1) else zero
    for word in range(OUR_WORD):
        if flush or word < SUITED_WORD or word == KIND_WORD or word >= THEIR_WORD:
            known[word] = words[first + U(word * ROOM)]
    for done in range(WAYS):
        # One way after the other in turns, over rivers too: others may still look up the one before.
        way, turns = U(WAYS - 1 - done), river + U(done) & U(1)
        cards, sums = turns * U(TABLE), turns * U(PIECES)
        squares = cards + U(SQUARE_LIST)
        comes, one_bucket = 0, _half(known[THEIR_WORD], 0)
        one_part = shares[one_bucket * U(WAYS) + way] if FITS else street.share[entry, one_bucket, way]
        for hand in range(HANDS):
            part, bucket = one_part, _half(known[THEIR_WORD + hand // 2], hand)
            if bucket != one_bucket:  # mostly all hands of a square are in one
                part = shares[bucket * U(WAYS) + way] if FITS else street.share[entry, bucket, way]
            own[hand] = reach[hand] * part
            call[hand] = met[hand] = zero
            comes |= own[hand] != zero
        _enter(known, flush, low, high, own, table, cards, squares)
        if cuda.syncthreads_or(comes):
            if thread < U(LISTS - 1):
                _scan(table, cards + thread, LISTS_APART, flush)
            elif thread < U(LISTS - 1) + pieces:
                _scan(table, squares + thread - U(LISTS - 1), PIECES_APART, flush)
            cuda.syncthreads()
            if thread <= pieces:
                total, place = zero, squares + length * PIECES_APART
                for piece in range(14 if flush else 7):
                    total += table[place + U(piece)] if piece < thread else zero
                before[sums + thread] = total
            cuda.syncthreads()
            _look_up(known, flush, low, high, length, table, cards, call, met)
            _look_up_kinds(known, flush, table, squares, before, sums, before[sums + pieces], call)
            every, pot = before[sums + pieces], street.terms[entry, way, POT]
            for hand in range(HANDS):
                call[hand] *= pot
                met[hand] = max(every - met[hand] + own[hand], zero)
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


def _enter(
    known: Any, flush: bool, low: Any, high: Any, own: Any, table: Any, cards: Any, squares: Any
) -> None:
    """Enter the sums of a square into the lists of its cards, and of squares."""
    plain, suited = own[0] - own[0], own[0] - own[0]
    for place in range(4):
        for side in range(2):
            step, start = (1, 4 * place) if side == 0 else (4, place)
            others = own[start] + own[start + step] + own[start + 2 * step]
            last = own[start + 3 * step]
            at = cards + U(place * RANK_COUNT) + (high if side else low)
            word = known[4 * side + place]
            if flush:
                table[at + (word & BYTE) * LISTS_APART] = others
                word = known[SUITED_WORD + 4 * side + place]
                table[at + (word & BYTE) * LISTS_APART] = last
            else:
                table[at + (word & BYTE) * LISTS_APART] = others + last
            if side == 0 and place < 3:
                plain += others
                suited += last
    half = np.float32(0.5) if low == high else np.float32(1.0)  # two of one rank are there twice
    lone = own[12] + own[13] + own[14]
    if flush:
        table[squares + (known[KIND_WORD] & TEN_BITS)] = half * plain
        table[squares + (known[KIND_WORD + 1] & TEN_BITS)] = half * suited
        table[squares + (known[KIND_WORD + 2] & TEN_BITS)] = half * lone
        table[squares + (known[KIND_WORD + 3] & TEN_BITS)] = half * own[15]
    else:
        summed = plain + suited + lone + own[15]
        table[squares + (known[KIND_WORD] & TEN_BITS)] = half * summed


def _scan(table: Any, place: Any, apart: Any, flush: bool) -> None:
    """Leave in each place of a list the sum of what came before, and at its end that of all."""
    running, here = np.float32(0.0), cuda.local.array(RANK_COUNT, np.float32)
    for _ in range(2 if flush else 1):
        for step in range(RANK_COUNT):  # all at once, so that none waits for another
            here[step] = table[place + U(step) * apart]
        for step in range(RANK_COUNT):
            table[place + U(step) * apart] = running
            running += here[step]
        place += U(RANK_COUNT) * apart
    table[place] = running


def _look_up(
    known: Any,
    flush: bool,
    low: Any,
    high: Any,
    length: Any,
    table: Any,
    cards: Any,
    call: Any,
    met: Any,
) -> None:
    """Take off what is lower than a hand, less what is higher, of hands with each of its cards; and what is
    met of these.
    """
    for card in range(CARD_WORDS):
        at = cards + U(card % 4 * RANK_COUNT) + (high if card >= 4 else low)
        every = table[at + length * LISTS_APART]
        plain = suited = _between(table, at, known[card]) - every
        if flush:
            suited = _between(table, at, known[SUITED_WORD + card]) - every
        for partner in range(4):
            hand = 4 * card + partner if card < 4 else 4 * partner + card - 4
            call[hand] -= suited if partner == 3 else plain
            met[hand] += every


def _between(table: Any, at: Any, word: Any) -> Any:
    return table[at + (word >> U(8) & BYTE) * LISTS_APART] + table[at + (word >> U(16)) * LISTS_APART]


def _look_up_kinds(
    known: Any, flush: bool, table: Any, squares: Any, before: Any, sums: Any, every: Any, call: Any
) -> None:
    """Add the same of all hands, by kind, from the list of squares."""
    for kind in range(KIND_WORDS if flush else 1):
        word = known[KIND_WORD + kind]
        start, end = word >> U(10) & TEN_BITS, word >> U(20)
        lower = table[squares + start] + before[sums + (start & U(PIECES - 1))]
        not_higher = table[squares + end] + before[sums + (end & U(PIECES - 1))]
        found = lower + not_higher - every
        for hand in range(HANDS):
            if not flush or kind == 2 * (hand // 4 == 3) + (hand % 4 == 3):
                call[hand] += found


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
