"""The squares of a river: where each finds its sums, worked out once for all entries.

The hole cards of two ranks are a *square*: four suits by four, and two cards of one rank are there twice. On
most boards all hands of a square are worth the same. Where three cards of a suit or more are on the board, a
square has four *kinds* of hands, by which of its cards are of that suit (it is put last of the four). A hand
of a kind is worth the same whatever the other suits are, so all that a square must add to the sums of a card
are two numbers: what the other holds with that card and a card of the other rank, not of the suit and of it.

So each card has a *list* of 13 or 26 such sums, a *cell* for each rank and kind of partner. It is added up in
the order of what the hands are worth; what comes out of it for a hand is put where its sum was. The squares
have a list of their own, cut into pieces, in which they lie in that order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from openfelt.base.cuda import cuda
from openfelt.cards.boards import PAIR_AS
from openfelt.cards.deck import CARDS as DECK
from openfelt.cards.deck import PAIR, RANKS
from openfelt.cards.evaluator import CARD_BIT, evaluate
from openfelt.exact.gpu_plan import CARDS, RIVER, RIVER_NUMBER, RIVER_THROUGH, RIVER_TURN, TURN

RANK_COUNT, HANDS, WARP = len(RANKS), 16, 32

# A thread has the square of ranks r and r + d, d from 0 to 6 in rows of 13: so threads side by side have
# cards of ranks side by side, which lie in different banks of the memory.
SQUARE_RANKS = np.array(
    [(rank, (rank + by) % RANK_COUNT) for by in range(7) for rank in range(RANK_COUNT)], np.uint32
)
SQUARES = len(SQUARE_RANKS)
SQUARE_OF = np.zeros((RANK_COUNT, RANK_COUNT), np.int64)
SQUARE_OF[*SQUARE_RANKS.T] = SQUARE_OF[*SQUARE_RANKS.T[::-1]] = np.arange(SQUARES)
ROOM = 96  # threads of a block: whole warps for all squares; those without one do what the last one does

# The words that a thread needs to know on a river. For each kind of its square's hands, in the list of
# squares: its place, where hands of the same worth begin, and where they end (10 bits each). Which hands
# there are, a bit each. For the list of a card, if the thread adds one up: its cells in order (6 bits each:
# the cell, and whether it is worth as much as the one before). Then the buckets, two in a word: of the other,
# and ours.
KIND_WORDS, ORDER_WORDS, BUCKET_WORDS = 4, 6, HANDS // 2
CELL_BITS, CELLS_IN_WORD, TIED = 6, 5, 32  # the bit of a tie; cells are less
LIVE_WORD = KIND_WORDS
ORDER_WORD = LIVE_WORD + 1
THEIR_WORD = ORDER_WORD + ORDER_WORDS
OUR_WORD = THEIR_WORD + BUCKET_WORDS
WORDS = OUR_WORD + BUCKET_WORDS

# The table of a way. Cells lie in rows, side by side for all cards, the four of a rank together: a thread
# reads and writes these at once, and whatever its order the list of a card stays in one bank. After the rows
# of both kinds comes that of all sums. Then the list of squares, with its pieces side by side; then what each
# piece sums up to.
ROW = 64
LONGEST = 2 * RANK_COUNT
EVERY = LONGEST * ROW
SQUARE_LIST = EVERY + ROW
PIECE_SUMS = SQUARE_LIST + RANK_COUNT * WARP
TABLE = PIECE_SUMS + WARP
ALL_HANDS, ALL_KINDS, TWO_TABLES = HANDS * ROOM, KIND_WORDS * SQUARES, 2 * TABLE

# Indices are unsigned numbers of 32 bits: with others, each would be asked whether it counts from the end.
U: Any = np.uint32
TEN_BITS, HALF_BITS = U(1023), U(65535)
ROOM_APART = U(ROOM)


def order_river(live: Any, plan: Any, theirs: Any, ours: Any, words: Any, suits: Any) -> None:
    """For each river, a block: the words of its squares, and the suit of its flushes or 4."""
    river, thread = cuda.blockIdx.x, cuda.threadIdx.x
    square = min(thread, SQUARES - 1)
    worth = cuda.shared.array(ALL_KINDS, np.int32)
    board, turn = np.uint64(0), plan[RIVER_TURN, river]
    count = cuda.local.array(4, np.int32)
    for suit in range(4):
        count[suit] = 0
    for place in range(5):
        card = plan[CARDS, place] if place < 3 else plan[TURN, turn] if place == 3 else plan[RIVER, river]
        board |= CARD_BIT[card]
        count[card % 4] += 1
    flush = -1
    for suit in range(4):
        if count[suit] >= 3:
            flush = suit
    last = flush if flush >= 0 else 3
    if thread == 0:
        suits[river] = flush if flush >= 0 else 4
    one_rank, two_rank = np.int64(SQUARE_RANKS[square, 0]), np.int64(SQUARE_RANKS[square, 1])
    if thread < SQUARES:
        for kind in range(4):
            worth[kind * SQUARES + square] = -1
        for hand in range(HANDS):
            one, two = card_of(one_rank, hand // 4, last), card_of(two_rank, hand % 4, last)
            if is_live(live, board, one, two):
                kind = kind_of(hand // 4, hand % 4, flush)
                worth[kind * SQUARES + square] = evaluate(board | CARD_BIT[one] | CARD_BIT[two])
    cuda.syncthreads()
    kinds = 2 if flush >= 0 else 1
    if thread < DECK:
        rank, suited = thread // 4, thread % 4 == 3 and flush >= 0
        key = cuda.local.array(LONGEST, np.int64)  # what such hands are worth, and the cell
        for at in range(RANK_COUNT * kinds):
            there, with_suit = SQUARE_OF[rank, at % RANK_COUNT], at // RANK_COUNT
            first = SQUARE_RANKS[there, 0] == rank
            kind = 2 * suited + with_suit if first else 2 * with_suit + suited
            key[at] = np.int64(worth[kind * SQUARES + there]) * TIED + at
        done: Any = -3 * TIED  # less than all: what cannot be is worth -1
        for step in range(RANK_COUNT * kinds):  # find the next: the least that is more than this one
            following: Any = 1 << 40
            for at in range(RANK_COUNT * kinds):
                if done < key[at] < following:
                    following = key[at]
            field = following % TIED + (TIED if following // TIED == done // TIED else 0)
            done = following
            into = (river * WORDS + ORDER_WORD + step // CELLS_IN_WORD) * ROOM + thread
            shift = CELL_BITS * (step % CELLS_IN_WORD)
            words[into] = (words[into] if shift else 0) | field << shift
    for kind in range(kinds * kinds):
        own = worth[kind * SQUARES + square]
        below, same, before = 0, 0, 0
        for other in range(kinds * kinds * SQUARES):
            below += worth[other] < own
            if worth[other] == own:
                same += 1
                before += other < kind * SQUARES + square
        place = in_pieces(below + before) | in_pieces(below) << 10 | in_pieces(below + same) << 20
        words[(river * WORDS + kind) * ROOM + thread] = place
    number, through = plan[RIVER_NUMBER, river], plan[RIVER_THROUGH, river]
    lives = 0
    spare: Any = -1
    for hand in range(HANDS):
        one, two = card_of(one_rank, hand // 4, last), card_of(two_rank, hand % 4, last)
        if is_live(live, board, one, two):
            lives |= 1 << hand
            spare = max(spare, np.int64(PAIR[one, two]))
    words[(river * WORDS + LIVE_WORD) * ROOM + thread] = lives
    for half in range(BUCKET_WORDS):
        his, mine = np.uint32(0), np.uint32(0)
        for side in range(2):
            hand = 2 * half + side
            one, two = card_of(one_rank, hand // 4, last), card_of(two_rank, hand % 4, last)
            # Hands that cannot be are in the bucket of one that can, so that most squares have one bucket.
            pair = np.int64(PAIR[one, two]) if lives >> hand & 1 else spare
            if pair >= 0:
                seen = PAIR_AS[through, pair]
                his |= np.uint32(theirs[number, seen]) << np.uint32(16 * side)
                mine |= np.uint32(ours[number, seen]) << np.uint32(16 * side)
        words[(river * WORDS + THEIR_WORD + half) * ROOM + thread] = his
        words[(river * WORDS + OUR_WORD + half) * ROOM + thread] = mine


def is_live(live: Any, board: Any, one: Any, two: Any) -> Any:
    """Whether two cards can be a hand on a board."""
    return live[one] and live[two] and one != two and not board & (CARD_BIT[one] | CARD_BIT[two])


def card_of(rank: Any, place: Any, last: Any) -> Any:
    """A card of a square's side, the suit of flushes last."""
    return 4 * rank + (last + 1 + place & 3)


def kind_of(one: Any, two: Any, flush: Any) -> Any:
    """Of a hand in a square, from its places on both sides."""
    return 2 * (one == 3) + (two == 3) if flush >= 0 else 0


def in_pieces(place: Any) -> Any:
    """Where a place of the list of squares is: pieces of 13 lie side by side."""
    return place % RANK_COUNT * WARP + place // RANK_COUNT
