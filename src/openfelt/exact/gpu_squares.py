"""The squares of a river: where each finds its sums, worked out once for all entries.

The hole cards of two ranks are a *square*: four suits by four, and two cards of one rank are there twice. A
square has four *kinds* of hands, by which of its cards are of the suit of flushes (it is put last of the
four). Hands of a kind are worth the same whatever the other suits are. On a PLAIN board there are no flushes,
and all kinds are worth the same; where THREE cards of a suit lie, all but that of two cards of the suit; with
FOUR or more they all differ.

Each card has a *list*: what the other holds with that card and a card of each rank, in the order of what
these hands are worth. All the lists of a rank have one order, so that a square has its *cell* in the same row
of each, and reads and writes four numbers at once; but the card of the suit of flushes has its own. With
partners of that suit hands are worth something else; where they are, they have rows of their own. The squares
have a list too, of 91 sums or, by kind, up to 364; it is added up in pieces.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from openfelt.base.cuda import cuda
from openfelt.cards.boards import PAIR_AS
from openfelt.cards.deck import PAIR, RANKS
from openfelt.cards.evaluator import CARD_BIT, evaluate
from openfelt.exact.gpu_plan import CARDS, RIVER, RIVER_NUMBER, RIVER_THROUGH, RIVER_TURN, TURN

PARTS = 1  # of the other, who may play a mixture; set when kernels are built

RANK_COUNT, HANDS, KINDS = len(RANKS), 16, 4
PLAIN, THREE, FOUR = range(3)  # boards, by their flushes
BOTH = 3  # the kind of two cards of the suit of flushes

# A thread has the square of ranks r and r + d, d from 0 to 6 in rows of 13: so threads side by side have
# cards of ranks side by side, which lie in different banks of the memory.
_FIRST, _APART = np.tile(np.arange(RANK_COUNT), 7), np.repeat(np.arange(7), RANK_COUNT)
SQUARE_RANKS = np.stack([_FIRST, (_FIRST + _APART) % RANK_COUNT], axis=1).astype(np.uint32)
SQUARES = len(SQUARE_RANKS)
ROOM = 96  # threads of a block: whole warps for all squares; those without one do what the last one does

# The words that a square needs to know on a river. For each of its sides, in the lists of cards there: its
# row, where hands of the same worth begin, and where they end (8 bits each); with partners that are not of
# the suit, or with all if that is the same; with partners of it; and both again for the card of the suit.
# For each kind of hands the same in the list of squares (10 bits each). Then which hands there are, a bit
# each, and the buckets, two in a word: of the other, and ours; and those of the other's further parts.
SIDE_WORDS = 4
KIND_WORD = 2 * SIDE_WORDS
LIVE_WORD = KIND_WORD + KINDS
THEIR_WORD = LIVE_WORD + 1
BUCKET_WORDS = HANDS // 2
OUR_WORD = THEIR_WORD + BUCKET_WORDS
WORDS = OUR_WORD + BUCKET_WORDS

# The table of a way. Lists of cards side by side, the four of a rank together; their last row has the sums of
# all, whatever their length. Then those of the cards of the suit, the list of squares, and what its pieces
# sum up to. Rows are so wide that the four numbers of a rank are in the same banks in each.
ROW, SUITED_ROW = 64, 16
LONGEST = 2 * RANK_COUNT
EVERY = LONGEST * ROW
SUITED = EVERY + ROW
SUITED_EVERY = SUITED + LONGEST * SUITED_ROW
SQUARE_LIST = SUITED_EVERY + SUITED_ROW
PIECE_SUMS = SQUARE_LIST + 368  # more than the squares of all kinds
TABLE = PIECE_SUMS + 16
ALL_HANDS, ALL_KINDS, TWO_TABLES = HANDS * ROOM, KINDS * SQUARES, 2 * TABLE

# Indices are unsigned numbers of 32 bits: with others, each would be asked whether it counts from the end.
U: Any = np.uint32
BYTE, TEN_BITS, HALF_BITS = U(255), U(1023), U(65535)
ROOM_APART = U(ROOM)


def words_of(parts: Any) -> Any:
    """How many there are."""
    return WORDS + BUCKET_WORDS * (parts - 1)


def bucket_word(part: Any) -> Any:
    """The first of a part's."""
    return WORDS + BUCKET_WORDS * (part - 1) if part else THEIR_WORD


def order_river(live: Any, plan: Any, theirs: Any, ours: Any, words: Any, facts: Any) -> None:
    """For each river, a block: the words of its squares. And a fact: the suit of its flushes, what board it
    is (times 4), and if the other's hands of one kind in a square are not all in one bucket 16.
    """
    river, thread = cuda.blockIdx.x, cuda.threadIdx.x
    square, first_word = min(thread, SQUARES - 1), river * words_of(PARTS)
    worth = cuda.shared.array(ALL_KINDS, np.int32)
    board, turn = np.uint64(0), plan[RIVER_TURN, river]
    count = cuda.local.array(4, np.int32)
    for suit in range(4):
        count[suit] = 0
    for place in range(5):
        card = plan[CARDS, place] if place < 3 else plan[TURN, turn] if place == 3 else plan[RIVER, river]
        board |= CARD_BIT[card]
        count[card % 4] += 1
    last, flushes = 3, PLAIN
    for suit in range(4):
        if count[suit] >= 3:
            last, flushes = suit, THREE if count[suit] == 3 else FOUR
    one_rank, two_rank = int(SQUARE_RANKS[square, 0]), int(SQUARE_RANKS[square, 1])
    lives = 0
    word: Any = np.int64(0)
    hand_of = cuda.local.array(KINDS, np.int64)  # one of each kind
    for kind in range(KINDS):
        hand_of[kind] = -1
        if thread < SQUARES:
            worth[kind * SQUARES + square] = -1
    for hand in range(HANDS):
        one, two = card_of(one_rank, hand // 4, last), card_of(two_rank, hand % 4, last)
        if is_live(live, board, one, two):
            kind = kind_of(hand, flushes)
            lives |= 1 << hand
            hand_of[kind] = PAIR[one, two]
            if thread < SQUARES:
                worth[kind * SQUARES + square] = evaluate(board | CARD_BIT[one] | CARD_BIT[two])
    if flushes == THREE and thread < SQUARES:
        same = max(worth[square], worth[SQUARES + square], worth[2 * SQUARES + square])
        for kind in range(BOTH):
            worth[kind * SQUARES + square] = same
    words[(first_word + LIVE_WORD) * ROOM + thread] = lives
    cuda.syncthreads()
    for side in range(2):
        rank, partner = (two_rank, one_rank) if side else (one_rank, two_rank)
        for suited in range(2 if flushes != PLAIN else 1):
            wide = 2 if flushes == FOUR or suited else 1
            for with_suited in range(wide):
                own = worth[cell(rank, partner, suited, with_suited)]
                below, same, before = 0, 0, 0
                for other_suited in range(wide):
                    for other in range(RANK_COUNT):
                        # As `cell`, which is slow to call so often where a GPU is only simulated.
                        apart = (other - rank) % RANK_COUNT
                        there = RANK_COUNT * apart + rank
                        kind = 2 * suited + other_suited
                        if 2 * apart > RANK_COUNT:
                            there = RANK_COUNT * (RANK_COUNT - apart) + other
                            kind = 2 * other_suited + suited
                        value = worth[kind * SQUARES + there]
                        below += value < own
                        if value == own:
                            same += 1
                            before += (other_suited, other) < (with_suited, partner)
                end = LONGEST if below + same == RANK_COUNT * wide else below + same
                word = below + before | below << 8 | end << 16
                at = SIDE_WORDS * side + 2 * suited + with_suited
                words[(first_word + at) * ROOM + thread] = word
    for kind in range(KINDS):
        if kind_counts(kind, flushes):
            own = worth[kind * SQUARES + square]
            below, same, before = 0, 0, 0
            for other_kind in range(KINDS):
                if kind_counts(other_kind, flushes):
                    for other in range(other_kind * SQUARES, (other_kind + 1) * SQUARES):
                        below += worth[other] < own
                        if worth[other] == own:
                            same += 1
                            before += other < kind * SQUARES + square
            word = below + before | below << 10 | (below + same) << 20
            words[(first_word + KIND_WORD + kind) * ROOM + thread] = word
    number, through = plan[RIVER_NUMBER, river], plan[RIVER_THROUGH, river]
    differ = 0
    for half in range(BUCKET_WORDS):
        for part in range(PARTS + 1):  # the last is ours
            word = np.int64(0)
            for side in range(2):
                hand = 2 * half + side
                spare = hand_of[kind_of(hand, flushes)]
                if spare >= 0:  # hands that cannot be are in the bucket of one that can
                    one, two = card_of(one_rank, hand // 4, last), card_of(two_rank, hand % 4, last)
                    seen = PAIR_AS[through, np.int64(PAIR[one, two]) if lives >> hand & 1 else spare]
                    if part < PARTS:
                        bucket = np.int64(theirs[part, number, seen])
                        differ |= bucket != theirs[part, number, PAIR_AS[through, spare]]
                    else:
                        bucket = np.int64(ours[0, number, seen])
                    word |= bucket << 16 * side
            at = bucket_word(part) if part < PARTS else OUR_WORD
            words[(first_word + at + half) * ROOM + thread] = word
    if cuda.syncthreads_or(differ):
        differ = 1
    if thread == 0:
        facts[river] = last + 4 * flushes + 16 * differ


def is_live(live: Any, board: Any, one: Any, two: Any) -> Any:
    """Whether two cards can be a hand on a board."""
    return live[one] and live[two] and one != two and not board & (CARD_BIT[one] | CARD_BIT[two])


def card_of(rank: Any, place: Any, last: Any) -> Any:
    """A card of a square's side, the suit of flushes last."""
    return 4 * rank + (last + 1 + place & 3)


def kind_of(hand: Any, flushes: Any) -> Any:
    """Of a hand in a square."""
    return 2 * (hand // 4 == 3) + (hand % 4 == 3) if flushes != PLAIN else 0


def kind_counts(kind: Any, flushes: Any) -> Any:
    """Whether hands of a kind are worth something else than those before."""
    return kind == 0 or flushes == FOUR or (flushes == THREE and kind == BOTH)


def cell(rank: Any, partner: Any, suited: Any, with_suited: Any) -> Any:
    """Where the worth of hands is that hold a card, and one of another rank."""
    apart = (partner - rank) % RANK_COUNT
    if 2 * apart > RANK_COUNT:
        return (2 * with_suited + suited) * SQUARES + RANK_COUNT * (RANK_COUNT - apart) + partner
    return (2 * suited + with_suited) * SQUARES + RANK_COUNT * apart + rank
