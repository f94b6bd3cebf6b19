"""The squares of a river: the positions of their sums, computed once for all roots.

The hole cards of two ranks are a *square*: four suits by four; with two equal ranks every hand appears twice.
A square has four *kinds* of hands, by which of the two cards have the flush suit (which is put last of the
four suits). Hands of one kind have the same value, whatever the other suits. On a PLAIN board no flush is
possible, and all kinds have the same value; with THREE cards of a suit on the board only the kind with two
cards of that suit differs; with FOUR or more all kinds differ.

Each card has a *list*: the opponent's reach of the hands with that card and a card of each rank, ordered by
the value of these hands. The lists of a rank have the same order, so that a square has its *cell* in the same
row of each, and reads and writes four numbers at once; only the card of the flush suit has an order of its
own. Where hands whose other card has the flush suit have another value, they have rows of their own. There is
also a list of squares, of 91 sums or, by kind, up to 364; it is summed in pieces.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from openfelt.cards.boards import PERMUTATIONS, PERMUTED_PAIR
from openfelt.cards.deck import PAIR, RANKS
from openfelt.cards.evaluator import CARD_BIT, evaluate
from openfelt.core.cuda_build import cuda
from openfelt.solve.vector.gpu.plan import CARDS, RIVER, RIVER_NUMBER, RIVER_THROUGH, RIVER_TURN, TURN

PARTS = 1  # of the opponent, which may play a mixture; set when kernels are built

RANK_COUNT, HANDS, KINDS = len(RANKS), 16, 4
PLAIN, THREE, FOUR = range(3)  # boards, by their flushes
BOTH = 3  # the kind with two cards of the flush suit

# A thread has the square of ranks r and r + d, with d from 0 to 6 in rows of 13: so neighbouring threads have
# cards of neighbouring ranks, which are in different memory banks.
_FIRST, _APART = np.tile(np.arange(RANK_COUNT), 7), np.repeat(np.arange(7), RANK_COUNT)
SQUARE_RANKS = np.stack([_FIRST, (_FIRST + _APART) % RANK_COUNT], axis=1).astype(np.uint32)
SQUARES = len(SQUARE_RANKS)
ROOM = 96  # threads of a block: whole warps for all squares; threads without one repeat the last one

# The words of a square on a river. For each of its two ranks, in the lists of cards of that rank: its row,
# and where hands of the same value begin and end (8 bits each); first for other cards outside the flush suit
# (for all other cards, if there is no difference), then for those in it; and both again for the card of the
# flush suit. For each kind of hands the same in the list of squares (10 bits each). Then a bit for each hand
# that is possible, and the buckets, two in a word: the opponent's, ours, and those of the opponent's further
# parts.
SIDE_WORDS = 4
KIND_WORD = 2 * SIDE_WORDS
LIVE_WORD = KIND_WORD + KINDS
THEIR_WORD = LIVE_WORD + 1
BUCKET_WORDS = HANDS // 2
OUR_WORD = THEIR_WORD + BUCKET_WORDS
WORDS = OUR_WORD + BUCKET_WORDS

# The table of a line: the lists of cards side by side, the four of a rank together, with the totals in the
# last row, whatever their length; the lists of the cards of the flush suit; the list of squares; the sums of
# its pieces. Rows are so wide that the four numbers of a rank are in the same memory banks in each.
ROW, SUITED_ROW = 64, 16
LONGEST = 2 * RANK_COUNT
EVERY = LONGEST * ROW
SUITED = EVERY + ROW
SUITED_EVERY = SUITED + LONGEST * SUITED_ROW
SQUARE_LIST = SUITED_EVERY + SUITED_ROW
PIECE_SUMS = SQUARE_LIST + 368  # more than the squares of all kinds
TABLE = PIECE_SUMS + 16
ALL_HANDS, ALL_KINDS, TWO_TABLES = HANDS * ROOM, KINDS * SQUARES, 2 * TABLE

# Indices are unsigned 32-bit numbers: signed ones would be tested for being negative (counted from the end).
U: Any = np.uint32
SUITS_AS = PERMUTATIONS.astype(np.uint32) @ np.array([1, 4, 16, 64], np.uint32)  # two bits a suit
BYTE, TEN_BITS, HALF_BITS = U(255), U(1023), U(65535)
ROOM_APART = U(ROOM)


def words_of(parts: Any) -> Any:
    """The number of words of a square."""
    return WORDS + BUCKET_WORDS * (parts - 1)


def bucket_word(part: Any) -> Any:
    """The first word with buckets of a part."""
    return WORDS + BUCKET_WORDS * (part - 1) if part else THEIR_WORD


def order_river(live: Any, plan: Any, theirs: Any, ours: Any, words: Any, facts: Any) -> None:
    """Compute the words of all squares; a block for each river.

    A river's fact is its flush suit, plus 4 times the kind of its board, plus 16 if the opponent's hands of
    one kind in a square are not all in one bucket.
    """
    river, thread = cuda.blockIdx.x, cuda.threadIdx.x
    square, first_word = min(thread, SQUARES - 1), river * words_of(PARTS)
    worth = cuda.shared.array(ALL_KINDS, np.int32)
    board, turn = np.uint64(0), plan[RIVER_TURN, river]
    count = cuda.local.array(4, np.int32)
    for suit in range(4):
        count[suit] = 0
    for place in range(5):
        card = plan[RIVER, river] if place == 4 else plan[TURN, turn]
        if place < 3:
            card = plan[CARDS, 3 * turn + place]
        board |= CARD_BIT[card]
        count[card % 4] += 1
    last, flushes = 3, PLAIN
    for suit in range(4):
        if count[suit] >= 3:
            last, flushes = suit, THREE if count[suit] == 3 else FOUR
    ranks = int(SQUARE_RANKS[square, 0]), int(SQUARE_RANKS[square, 1])
    hand_of = cuda.local.array(KINDS, np.int64)  # one of each kind
    lives = _judge(live, board, flushes, last, ranks, worth, hand_of)
    first = first_word * ROOM + thread
    words[first + LIVE_WORD * ROOM] = lives
    cuda.syncthreads()
    for side in range(2):
        _order_cards(side, ranks, flushes, worth, words, first)
    _order_squares(square, flushes, worth, words, first)
    seen_as = plan[RIVER_NUMBER, river], plan[RIVER_THROUGH, river]
    differ = 0
    for hand in range(HANDS):
        pair = hand_of[kind_of(hand, flushes)]  # an impossible hand gets the bucket of a possible one
        if lives >> hand & 1:
            one, two = card_of(ranks[0], hand // 4, last), card_of(ranks[1], hand % 4, last)
            for part in range(PARTS):
                differ |= _bucket_of(theirs, part, pair, seen_as) != _bucket_of(
                    theirs, part, np.int64(PAIR[one, two]), seen_as
                )
            pair = np.int64(PAIR[one, two])
        for part in range(PARTS):
            _put_bucket(
                words, first + bucket_word(part) * ROOM, hand, _bucket_of(theirs, part, pair, seen_as)
            )
        _put_bucket(words, first + OUR_WORD * ROOM, hand, _bucket_of(ours, 0, pair, seen_as))
    if cuda.syncthreads_or(differ):
        differ = 1
    if thread == 0:
        facts[river] = last + 4 * flushes + 16 * differ


def _judge(live: Any, board: Any, flushes: Any, last: Any, ranks: Any, worth: Any, hand_of: Any) -> Any:
    """Evaluate the kinds of hands of a square, -1 if impossible; returns the bits of possible hands."""
    square, lives, found = min(cuda.threadIdx.x, SQUARES - 1), 0, cuda.local.array(KINDS, np.int32)
    for kind in range(KINDS):
        hand_of[kind] = found[kind] = -1
    for hand in range(HANDS):
        one, two = card_of(ranks[0], hand // 4, last), card_of(ranks[1], hand % 4, last)
        if is_live(live, board, one, two):
            kind = kind_of(hand, flushes)
            lives |= 1 << hand
            hand_of[kind] = PAIR[one, two]
            found[kind] = evaluate(board | CARD_BIT[one] | CARD_BIT[two])
    if flushes == THREE:
        found[0] = found[1] = found[2] = max(found[0], found[1], found[2])
    for kind in range(KINDS):  # threads that repeat the last square write the same values
        worth[kind * SQUARES + square] = found[kind]
    return lives


def _order_cards(side: int, ranks: Any, flushes: Any, worth: Any, words: Any, first: Any) -> None:
    """Write the words of one of the two ranks, for the lists of its cards."""
    value = cuda.local.array(LONGEST, np.int32)
    for suited in range(2 if flushes != PLAIN else 1):
        length = LONGEST if flushes == FOUR or suited else RANK_COUNT
        for at in range(length):
            value[at] = worth[cell(ranks[side], at % RANK_COUNT, suited, at // RANK_COUNT)]
        for with_suited in range(length // RANK_COUNT):
            own, below, same, before = with_suited * RANK_COUNT + ranks[1 - side], 0, 0, 0
            for at in range(length):
                below += value[at] < value[own]
                same += value[at] == value[own]
                before += value[at] == value[own] and at < own
            end = LONGEST if below + same == length else below + same
            word = SIDE_WORDS * side + 2 * suited + with_suited
            words[first + word * ROOM] = below + before | below << 8 | end << 16


def _order_squares(square: Any, flushes: Any, worth: Any, words: Any, first: Any) -> None:
    """Write the words of the kinds of hands, for the list of squares."""
    for kind in range(KINDS):
        if kind_counts(kind, flushes):
            own, below, same, before = worth[kind * SQUARES + square], 0, 0, 0
            for other_kind in range(KINDS):
                if kind_counts(other_kind, flushes):
                    for other in range(other_kind * SQUARES, (other_kind + 1) * SQUARES):
                        below += worth[other] < own
                        if worth[other] == own:
                            same += 1
                            before += other < kind * SQUARES + square
            words[first + (KIND_WORD + kind) * ROOM] = below + before | below << 10 | (below + same) << 20


def _bucket_of(table: Any, part: Any, pair: Any, seen_as: Any) -> Any:
    """The bucket of a pair; 0 if there is none. A table of one board serves all boards."""
    number, through = min(seen_as[0], table.shape[1] - 1), seen_as[1]
    return np.int64(table[part, number, PERMUTED_PAIR[through, pair]]) if pair >= 0 else np.int64(0)


def _put_bucket(words: Any, first: Any, hand: Any, bucket: Any) -> None:
    """Write a bucket into its half of a word."""
    at = first + hand // 2 * ROOM
    words[at] = words[at] | bucket << 16 if hand % 2 else bucket


def is_live(live: Any, board: Any, one: Any, two: Any) -> Any:
    """Whether two cards are a possible hand on a board."""
    return live[one] and live[two] and one != two and not board & (CARD_BIT[one] | CARD_BIT[two])


def card_of(rank: Any, place: Any, last: Any) -> Any:
    """A card of a rank, with the flush suit last."""
    return 4 * rank + (last + 1 + place & 3)


def kind_of(hand: Any, flushes: Any) -> Any:
    """The kind of a hand in a square."""
    return 2 * (hand // 4 == 3) + (hand % 4 == 3) if flushes != PLAIN else 0


def kind_counts(kind: Any, flushes: Any) -> Any:
    """Whether hands of a kind have another value than those of the kinds before."""
    return kind == 0 or flushes == FOUR or (flushes == THREE and kind == BOTH)


def cell(rank: Any, partner: Any, suited: Any, with_suited: Any) -> Any:
    """The position of the value of hands with a card of `rank` and one of `partner`."""
    apart = (partner - rank) % RANK_COUNT
    if 2 * apart > RANK_COUNT:
        return (2 * with_suited + suited) * SQUARES + RANK_COUNT * (RANK_COUNT - apart) + partner
    return (2 * suited + with_suited) * SQUARES + RANK_COUNT * apart + rank


def position(order: Any, fact: Any, hand: int) -> Any:
    """The position of a hand of a river after a permutation of suits."""
    one = order >> U(2) * (fact + U(1 + hand // 4) & U(3)) & U(3)
    two = order >> U(2) * (fact + U(1 + hand % 4) & U(3)) & U(3)
    return (U(4) * one + two) * ROOM_APART


def seat_of(fact: Any, hand: int) -> Any:
    """Where the positions of hands with the suits of this one begin."""
    suits = U(4) * (fact + U(1 + hand // 4) & U(3)) + (fact + U(1 + hand % 4) & U(3))
    return suits * ROOM_APART


def is_needed(word: int, board: int) -> Any:
    """Whether a word is needed on a board of this kind."""
    if word >= KIND_WORD:
        return kind_counts(word - KIND_WORD, board)
    return word % SIDE_WORDS == 0 or board == FOUR or (board == THREE and word % SIDE_WORDS >= 2)


def bucket_of(words: Any, first: Any, hand: int) -> Any:
    """The bucket of a hand."""
    word = words[first + U(hand // 2 * ROOM)]
    return word >> U(16) if hand & 1 else word & HALF_BITS
