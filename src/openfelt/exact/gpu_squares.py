"""The squares of a river: where each finds its sums, worked out once for all entries.

The hole cards of two ranks are a *square*: four suits by four, and two cards of one rank are there twice. On
most boards all hands of a square are worth the same. Where three cards of a suit or more are on the board, a
square has four *kinds* of hands, by which of its cards are of that suit (it is put last of the four). A hand
of a kind is worth the same whatever the other suits are, so all that a square must add to the sums of a card
are two numbers: what the other holds with that card and a card of the other rank, not of the suit and of it.

So each card has a *list* of 13 or 26 such sums, in the order of what the hands are worth; and the squares
have one of their own, cut into pieces.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from openfelt.base.cuda import cuda
from openfelt.cards.boards import PAIR_AS
from openfelt.cards.deck import PAIR, RANKS
from openfelt.cards.evaluator import CARD_BIT, evaluate
from openfelt.exact.gpu_plan import CARDS, RIVER, RIVER_NUMBER, RIVER_THROUGH, RIVER_TURN, TURN

SQUARES, RANK_COUNT, HANDS = 91, len(RANKS), 16
ROOM = 96  # threads of a block: whole warps for all squares; those without one do what the last one does
SQUARE_RANKS = np.array([(low, high) for high in range(RANK_COUNT) for low in range(high + 1)], np.uint32)

# The words that a square needs to know on a river. For each of its eight cards, with partners not of the suit
# of flushes and then with those of it: its place in the list of the card, where hands of the same worth begin
# there, and where they end (8 bits each). For each kind of its hands the same in the list of squares (10 bits
# each). Then which hands there are, a bit each, and the buckets, two in a word: of the other, and ours.
CARD_WORDS, KIND_WORDS, BUCKET_WORDS = 8, 4, HANDS // 2
SUITED_WORD, KIND_WORD = CARD_WORDS, 2 * CARD_WORDS
LIVE_WORD = KIND_WORD + KIND_WORDS
THEIR_WORD = LIVE_WORD + 1
OUR_WORD = THEIR_WORD + BUCKET_WORDS
WORDS = OUR_WORD + BUCKET_WORDS

# Lists lie side by side: place p of list c is at p * LISTS + c (odd, so that places of one list are in
# different banks of the memory). The list of squares is cut into pieces that lie side by side too.
LISTS, PIECES = 53, 16
LONGEST = 2 * RANK_COUNT + 1
SQUARE_LIST = LISTS * LONGEST
TABLE = SQUARE_LIST + PIECES * LONGEST
ALL_HANDS, ALL_KINDS, TWO_TABLES, TWO_PIECES = HANDS * ROOM, 4 * SQUARES, 2 * TABLE, 2 * PIECES

# Indices are unsigned numbers of 32 bits: with others, each would be asked whether it counts from the end.
U: Any = np.uint32
BYTE, TEN_BITS, HALF_BITS = U(255), U(1023), U(65535)
LISTS_APART, PIECES_APART, ROOM_APART = U(LISTS), U(PIECES), U(ROOM)


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
    low, high = np.int64(SQUARE_RANKS[square, 0]), np.int64(SQUARE_RANKS[square, 1])
    if thread < SQUARES:
        for kind in range(4):
            worth[kind * SQUARES + square] = -1
        for hand in range(HANDS):
            one, two = card_of(low, hand // 4, last), card_of(high, hand % 4, last)
            if is_live(live, board, one, two):
                kind = kind_of(hand // 4, hand % 4, flush)
                worth[kind * SQUARES + square] = evaluate(board | CARD_BIT[one] | CARD_BIT[two])
    cuda.syncthreads()
    kinds = 2 if flush >= 0 else 1
    for card in range(CARD_WORDS):
        rank, partner = (low, high) if card < 4 else (high, low)
        suited = card % 4 == 3 and flush >= 0
        for kind in range(kinds):
            own = worth[cell(rank, partner, suited, kind == 1)]
            below, same, before = 0, 0, 0
            for other_kind in range(kinds):
                for other in range(RANK_COUNT):
                    # As `cell`, which is slow to call so often where a GPU is only simulated.
                    sides = 2 * suited + other_kind if rank <= other else 2 * other_kind + suited
                    lowest, highest = (rank, other) if rank <= other else (other, rank)
                    value = worth[sides * SQUARES + highest * (highest + 1) // 2 + lowest]
                    below += value < own
                    if value == own:
                        same += 1
                        before += (other_kind, other) < (kind, partner)
            word: Any = below + before | below << 8 | (below + same) << 16
            words[(river * WORDS + CARD_WORDS * kind + card) * ROOM + thread] = word
    length, pieces = RANK_COUNT * kinds, 7 * kinds
    for kind in range(kinds * kinds):
        own = worth[kind * SQUARES + square]
        below, same, before = 0, 0, 0
        for other in range(kinds * kinds * SQUARES):
            below += worth[other] < own
            if worth[other] == own:
                same += 1
                before += other < kind * SQUARES + square
        place = in_pieces(below + before, length, pieces)
        place |= in_pieces(below, length, pieces) << 10 | in_pieces(below + same, length, pieces) << 20
        words[(river * WORDS + KIND_WORD + kind) * ROOM + thread] = place
    number, through = plan[RIVER_NUMBER, river], plan[RIVER_THROUGH, river]
    lives = 0
    spare: Any = -1
    for hand in range(HANDS):
        one, two = card_of(low, hand // 4, last), card_of(high, hand % 4, last)
        if is_live(live, board, one, two):
            lives |= 1 << hand
            spare = max(spare, np.int64(PAIR[one, two]))
    words[(river * WORDS + LIVE_WORD) * ROOM + thread] = lives
    for half in range(BUCKET_WORDS):
        his, mine = np.uint32(0), np.uint32(0)
        for side in range(2):
            hand = 2 * half + side
            one, two = card_of(low, hand // 4, last), card_of(high, hand % 4, last)
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


def cell(rank: Any, partner: Any, suited: bool, partner_suited: bool) -> Any:
    """Where the worth of hands is that hold a card and one of a rank."""
    if rank <= partner:
        return (2 * suited + partner_suited) * SQUARES + partner * (partner + 1) // 2 + rank
    return (2 * partner_suited + suited) * SQUARES + rank * (rank + 1) // 2 + partner


def in_pieces(place: Any, length: Any, pieces: Any) -> Any:
    """Where a place of the list of squares is: the end of the whole is that of the last piece."""
    piece = min(place // length, pieces - 1)
    return (place - piece * length) * PIECES + piece
