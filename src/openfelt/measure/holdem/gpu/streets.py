"""The flop and the turn on a GPU: reach down, values up, a block of threads for each board and entry."""

from __future__ import annotations

from typing import Any

import numpy as np

from openfelt.cards.boards import PERMUTED_PAIR
from openfelt.cards.deck import CARDS as DECK, PAIR, PAIR_CARDS, PAIRS
from openfelt.core.cuda_build import cuda
from openfelt.games.holdem import MOST_BETS
from openfelt.measure.holdem.betting_lines import WAYS
from openfelt.measure.holdem.gpu.plan import CARDS, NUMBER, THROUGH, TURN, TURN_BACK, TURN_FIRST
from openfelt.measure.holdem.gpu.river import PAID, Street
from openfelt.measure.holdem.street import chain, whole

OPENS = True  # whether we act first; set when a kernel is built


def deal(live: Any, plan: Any, part: int, flop_table: Any, turn_table: Any, bucket: Any) -> None:
    """The bucket of each hand on the flop and on its turns, -1 if it cannot be: a block for each board."""
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
        if lives:
            seen = PERMUTED_PAIR[through, pair]
            if board == 0:
                found = np.int64(flop_table[part, number, seen])
            else:
                found = np.int64(turn_table[part, number, seen])
        bucket[board, pair] = found


def go_down(bucket: Any, first: int, share: Any, entries: int, reach: Any, below: Any) -> None:
    """A player's reach at the entries of the next street; boards begin at `first` of those with buckets."""
    board, entry = cuda.blockIdx.x // entries, cuda.blockIdx.x % entries
    for pair in range(cuda.threadIdx.x, PAIRS, cuda.blockDim.x):
        own = bucket[first + board, pair]
        came = reach[0, entry, pair] if own >= 0 else np.float32(0.0)
        for way in range(WAYS):
            part = share[entry, own, way] if own >= 0 else np.float32(0.0)
            below[board, way * entries + entry, pair] = came * part


def put_together(parts: int, boards: int, entries: int, reach: Any, total: Any) -> None:
    """The reach of all parts of a mixture: a block for each board and entry."""
    board, entry = cuda.blockIdx.x // entries, cuda.blockIdx.x % entries
    for pair in range(cuda.threadIdx.x, PAIRS, cuda.blockDim.x):
        summed = np.float32(0.0)
        for part in range(parts):
            summed += reach[part * boards + board, entry, pair]
        total[board, entry, pair] = summed


def come_up(
    bucket: Any,
    first: int,
    ours: Any,
    entries: int,
    below: Any,
    worth: Any,
    street: Street,
    best: bool,
    values: Any,
) -> None:
    """From what the entries of the next street are worth to what those of this one are."""
    board, entry, thread = cuda.blockIdx.x // entries, cuda.blockIdx.x % entries, cuda.threadIdx.x
    step = cuda.blockDim.x
    of_card = cuda.shared.array((WAYS, DECK), np.float32)
    total = cuda.shared.array(WAYS, np.float32)
    for at in range(thread, WAYS * DECK, step):
        way, card = at // DECK, at % DECK
        summed = np.float32(0.0)
        for partner in range(DECK):
            if partner != card:
                summed += below[board, way * entries + entry, PAIR[card, partner]]
        of_card[way, card] = summed
    cuda.syncthreads()
    for way in range(thread, WAYS, step):
        summed = np.float32(0.0)
        for card in range(DECK):
            summed += of_card[way, card]
        total[way] = summed / np.float32(2.0)
    cuda.syncthreads()
    call, met = cuda.local.array(WAYS, np.float32), cuda.local.array(WAYS, np.float32)
    for pair in range(thread, PAIRS, step):
        found = np.float32(0.0)
        if bucket[first + board, pair] >= 0:
            low, high = PAIR_CARDS[pair, 0], PAIR_CARDS[pair, 1]
            for way in range(WAYS):
                column = way * entries + entry
                call[way] = worth[board, column, pair]
                here = total[way] - of_card[way, low] - of_card[way, high] + below[board, column, pair]
                met[way] = max(here, np.float32(0.0))  # see `meet`
            if best:
                found = _best(call, met, street.terms[entry])
            else:
                own = ours[first + board, pair]
                for way in range(WAYS):
                    found += street.own_share[entry, own, way] * call[way]
                    found += street.own_folds[entry, own, way] * met[way]
        values[board, entry, pair] = found


def _best(call: Any, met: Any, terms: Any) -> Any:
    """As `answer_best` does."""
    ours, his = (1 + MOST_BETS, 1) if OPENS else (1, 1 + MOST_BETS)
    begun = chain(True, _four(call, ours), _four(met, ours), _paid(terms, ours))
    joined = chain(False, _four(call, his), _four(met, his), _paid(terms, his))
    if OPENS:
        begun += terms[ours, PAID] * met[his]
    return whole(OPENS, begun, joined, call[0], met[0], terms[ours, PAID])


def _four(table: Any, at: int) -> Any:
    return table[at], table[at + 1], table[at + 2], table[at + 3]


def _paid(terms: Any, at: int) -> Any:
    return terms[at, PAID], terms[at + 1, PAID], terms[at + 2, PAID], terms[at + 3, PAID]


def gather(turns: int, plan: Any, chance: Any, values: Any, total: Any) -> None:
    """Sum over turns, each for all cards that are like it; a block for each entry."""
    entry = cuda.blockIdx.x
    for pair in range(cuda.threadIdx.x, PAIRS, cuda.blockDim.x):
        summed = np.float32(0.0)
        for turn in range(turns):
            for image in range(plan[TURN_FIRST, turn], plan[TURN_FIRST, turn + 1]):
                summed += values[turn, entry, PERMUTED_PAIR[plan[TURN_BACK, image], pair]]
        total[0, entry, pair] = summed * chance


def tell(
    boards: int, alike: bool, plan: Any, chance: Any, own_reach: Any, best: Any, played: Any, leak: Any
) -> None:
    """What the best answer gains on playing the policy once more, by pair: a block for each entry.

    Boards are turns, each for as many as are `alike`, or the flop.
    """
    entry = cuda.blockIdx.x
    for pair in range(cuda.threadIdx.x, PAIRS, cuda.blockDim.x):
        gained = np.float32(0.0)
        for board in range(boards):
            times = plan[TURN_FIRST, board + 1] - plan[TURN_FIRST, board] if alike else 1
            came = own_reach[board if own_reach.shape[0] > 1 else 0, entry, pair]
            gained += np.float32(times) * came * (best[board, entry, pair] - played[board, entry, pair])
        leak[entry, pair] = gained * chance
