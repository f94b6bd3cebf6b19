"""The same on a GPU: a block of threads for each entry of a river, its hands spread over the threads.

What a thread of the CPU adds up hand by hand (`street.py`) is here added up in lists: for each card the hands
that hold it, in the order of their values, and all hands in pieces of that order. A thread goes through one
list and leaves in each place the sum of what came before, so that each hand finds in a few places what it
beats and what beats it. All numbers are of single precision, and are added in the same order every time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openfelt.base.cuda import cuda, for_cuda, gpu_faults, is_simulated, new_queue, to_gpu, zeros_on_gpu
from openfelt.base.jit import Floats, Ints
from openfelt.cards.boards import PAIR_AS, THEN
from openfelt.cards.deck import CARDS, PAIR, PAIR_CARDS, PAIRS
from openfelt.cards.evaluator import CARD_BIT, evaluate
from openfelt.exact.best_response import Task, by_class, reach_at_flop
from openfelt.exact.deals import Deck, Flop, Plan, plan_flop
from openfelt.exact.lines import FIRST, LANES, WAYS
from openfelt.exact.street import begin, finish, go_on

Single = NDArray[np.float32]

MOST_LEFT = 47  # cards that a river leaves, of 52
LISTS = MOST_LEFT + 24  # of cards, and of pieces of the order of all hands
TOGETHER = 3  # ways that are worked out at once: as many as the shared memory of a block holds
SUMS = LISTS * MOST_LEFT
OFFSETS = 32
ALL_SUMS, ALL_OFFSETS = TOGETHER * SUMS, TOGETHER * OFFSETS
# What a hand needs to know on a river: two numbers of 16 bits in each field, the first in the lower half.
# `AT` is its own place in a list, `LAST` the place of the list's sum; what is lower than it lies before
# `FROM`, what is not higher before `TO`. PIECES of the order of all hands are those of BEGIN and END.
FIELDS = 8
PAIR_THEIRS, OURS_HERE, LOW_AT_LAST, LOW_FROM_TO, HIGH_AT_LAST, HIGH_FROM_TO, BEGIN_END, PIECES = range(
    FIELDS
)
HALF, HALF_BITS = 16, 65535
ROOM = 1104  # hands of a river, filled up
REGISTERS = 48  # of a thread, so that two blocks fit side by side
THREADS = 544  # of a block, with two hands each: there are 1,081


def _rank(
    live: Any,
    flop: Any,
    turn_of: Any,
    turn: Any,
    river: Any,
    number: Any,
    through: Any,
    theirs: Any,
    ours: Any,
    fields: Any,
) -> None:
    """For each river, a block: the order of its hands, and where each finds its sums in the lists."""
    which, thread, step = cuda.blockIdx.x, cuda.threadIdx.x, cuda.blockDim.x
    value = cuda.shared.array(PAIRS, np.int32)
    place_of = cuda.shared.array(CARDS, np.int32)
    board = CARD_BIT[flop[0]] | CARD_BIT[flop[1]] | CARD_BIT[flop[2]]
    board |= CARD_BIT[turn[turn_of[which]]] | CARD_BIT[river[which]]
    if thread == 0:
        left = 0
        for card in range(CARDS):
            on_board = (board & CARD_BIT[card]) != 0
            place_of[card] = -1
            if live[card] and not on_board:
                place_of[card] = left
                left += 1
    cuda.syncthreads()
    for pair in range(thread, PAIRS, step):
        low, high = PAIR_CARDS[pair, 0], PAIR_CARDS[pair, 1]
        value[pair] = -1
        if place_of[low] >= 0 and place_of[high] >= 0:
            value[pair] = evaluate(board | CARD_BIT[low] | CARD_BIT[high])
    cuda.syncthreads()
    cards = 0
    for card in range(CARDS):
        cards += place_of[card] >= 0
    for pair in range(thread, PAIRS, step):
        own = value[pair]
        if own < 0:
            continue
        below, equal, before = 0, 0, 0
        for other in range(PAIRS):
            below += 0 <= value[other] < own
            equal += value[other] == own
            before += value[other] == own and other < pair
        place, length = below + before, cards - 1
        seen, end = PAIR_AS[through[which], pair], below + equal
        begin_piece, end_piece = below // length, (end - 1) // length
        here = (cards + place // length) * cards + place % length
        begin_at = (cards + begin_piece) * cards + below % length
        end_at = (cards + end_piece) * cards + end - end_piece * length
        fields[PAIR_THEIRS, which, place] = pair | np.int64(theirs[number[which], seen]) << HALF
        fields[OURS_HERE, which, place] = np.int64(ours[number[which], seen]) | here << HALF
        fields[BEGIN_END, which, place] = begin_at | end_at << HALF
        fields[PIECES, which, place] = begin_piece | end_piece << HALF
        for side in range(2):
            held = np.int64(PAIR_CARDS[pair, side])
            under, same, earlier = 0, 0, 0
            for partner in range(CARDS):
                if partner != held and place_of[partner] >= 0:
                    other = PAIR[held, partner]
                    under += value[other] < own
                    same += value[other] == own
                    earlier += value[other] == own and other < pair
            first = place_of[held] * cards
            at = LOW_AT_LAST + 2 * side
            fields[at, which, place] = (first + under + earlier) | (first + length) << HALF
            fields[at + 1, which, place] = (first + under) | (first + under + same) << HALF


def _down(bucket: Any, share: Any, entries: int, reach: Any, below: Any) -> None:
    """The other's reach at the entries of the next street: a block for each board and entry."""
    board, entry = cuda.blockIdx.x // entries, cuda.blockIdx.x % entries
    for pair in range(cuda.threadIdx.x, PAIRS, cuda.blockDim.x):
        own = bucket[board, pair]
        came = reach[board if reach.shape[0] > 1 else 0, entry, pair] if own >= 0 else np.float32(0.0)
        for way in range(WAYS):
            part = share[entry, own, way] if own >= 0 else np.float32(0.0)
            below[board, way * entries + entry, pair] = came * part


def _up(
    bucket: Any,
    mine: Any,
    entries: int,
    below: Any,
    worth: Any,
    own_share: Any,
    pot: Any,
    paid: Any,
    opens: bool,
    best: bool,
    values: Any,
) -> None:
    """From what the entries of the next street are worth to what those of this one are."""
    board, entry, thread, step = (
        cuda.blockIdx.x // entries,
        cuda.blockIdx.x % entries,
        cuda.threadIdx.x,
        cuda.blockDim.x,
    )
    of_card = cuda.shared.array((WAYS, CARDS), np.float32)
    total = cuda.shared.array(WAYS, np.float32)
    for at in range(thread, WAYS * CARDS, step):
        way, card = at // CARDS, at % CARDS
        summed = np.float32(0.0)
        for partner in range(CARDS):
            if partner != card:
                summed += below[board, way * entries + entry, PAIR[card, partner]]
        of_card[way, card] = summed
    cuda.syncthreads()
    for way in range(thread, WAYS, step):
        summed = np.float32(0.0)
        for card in range(CARDS):
            summed += of_card[way, card]
        total[way] = summed / np.float32(2.0)
    cuda.syncthreads()
    call, met = cuda.local.array(WAYS, np.float32), cuda.local.array(WAYS, np.float32)
    for pair in range(thread, PAIRS, step):
        if bucket[board, pair] < 0:
            values[board, entry, pair] = np.float32(0.0)
            continue
        low, high = PAIR_CARDS[pair, 0], PAIR_CARDS[pair, 1]
        for way in range(WAYS):
            column = way * entries + entry
            call[way] = worth[board, column, pair]
            here = total[way] - of_card[way, low] - of_card[way, high] + below[board, column, pair]
            met[way] = max(here, np.float32(0.0))  # see `meet`
        own = own_share[entry, 0 if best else mine[board, pair]]
        state = _begin((call[0], call[1], call[2]), (met[0], met[1], met[2]), paid, own, entry, opens, best)
        later = _go_on(
            state, (call[3], call[4], call[5]), (met[3], met[4], met[5]), paid, own, entry, opens, best
        )
        values[board, entry, pair] = _finish(
            later, (call[6], call[7], call[8]), (met[6], met[7], met[8]), paid, own, entry, opens, best
        )


def _begin(call: Any, met: Any, paid: Any, own: Any, entry: int, opens: bool, best: bool) -> Any:
    """The first three ways; `own` is how much of each way is ours."""
    before = (paid[0, entry], paid[1, entry], paid[2, entry])
    return begin(opens, best, call, met, before, (own[0], own[1], own[2], own[3]))


def _go_on(so_far: Any, call: Any, met: Any, paid: Any, own: Any, entry: int, opens: bool, best: bool) -> Any:
    before = (paid[2, entry], paid[3, entry], paid[4, entry], paid[5, entry])
    return go_on(opens, best, so_far, call, met, before, (own[2], own[3], own[4], own[5], own[6]))


def _finish(
    so_far: Any, call: Any, met: Any, paid: Any, own: Any, entry: int, opens: bool, best: bool
) -> Any:
    before = (paid[5, entry], paid[6, entry], paid[7, entry], paid[8, entry])
    return finish(opens, best, so_far, call, met, before, (own[5], own[6], own[7], own[8]))


def _scan(sums: Any, first: int, count: int) -> None:
    """Leave in each place of a list the sum of what came before, and at its end that of all."""
    running, place = np.float32(0.0), first
    while place + 4 <= first + count:  # several at once, so that none waits for the memory alone
        one, two, three, four = sums[place], sums[place + 1], sums[place + 2], sums[place + 3]
        two += one
        sums[place] = running
        sums[place + 1] = running + one
        sums[place + 2] = running + two
        sums[place + 3] = running + two + three
        running += two + three + four
        place += 4
    while place < first + count:
        one = sums[place]
        sums[place] = running
        running += one
        place += 1
    sums[place] = running


def _put(sums: Any, offset: int, own: Any, low: int, high: int, here: int) -> None:
    sums[offset + low] = own
    sums[offset + high] = own
    sums[offset + here] = own


def _three(
    first: int,
    own: Any,
    other: Any,
    share: Any,
    hands: int,
    cards: int,
    pieces: int,
    sums: Any,
    before: Any,
    pot: Any,
    entry: int,
) -> Any:
    """For TOGETHER ways from `first` on and both hands of a thread: what a call gets, and what is met."""
    thread, step, length = cuda.threadIdx.x, cuda.blockDim.x, cards - 1
    lists = cards + pieces
    if thread < hands:
        at, low, high = own[2] >> HALF, own[3] & HALF_BITS, own[5] & HALF_BITS
        _put(sums, 0, own[0] * share[own[1], first], low, high, at)
        _put(sums, SUMS, own[0] * share[own[1], first + 1], low, high, at)
        _put(sums, 2 * SUMS, own[0] * share[own[1], first + 2], low, high, at)
    if thread + step < hands:
        at, low, high = other[2] >> HALF, other[3] & HALF_BITS, other[5] & HALF_BITS
        _put(sums, 0, other[0] * share[other[1], first], low, high, at)
        _put(sums, SUMS, other[0] * share[other[1], first + 1], low, high, at)
        _put(sums, 2 * SUMS, other[0] * share[other[1], first + 2], low, high, at)
    cuda.syncthreads()
    for job in range(thread, lists * TOGETHER, step):
        way = (job >= lists) + (job >= 2 * lists)
        which = job - way * lists
        count = length if which < cards else min(length, hands - (which - cards) * length)
        _scan(sums, way * SUMS + which * cards, count)
    cuda.syncthreads()
    for job in range(thread, (pieces + 1) * TOGETHER, step):
        way = (job >= pieces + 1) + (job >= 2 * (pieces + 1))
        which = job - way * (pieces + 1)
        total = np.float32(0.0)
        for piece in range(which):
            total += sums[way * SUMS + (cards + piece) * cards + min(length, hands - piece * length)]
        before[way * OFFSETS + which] = total
    cuda.syncthreads()
    found = (
        _all_three(own, share, first, pieces, sums, before, pot, entry),
        _all_three(other, share, first, pieces, sums, before, pot, entry),
    )
    cuda.syncthreads()
    return found


def _all_three(
    own: Any, share: Any, first: int, pieces: int, sums: Any, before: Any, pot: Any, entry: int
) -> Any:
    one = _one(own, share, first, 0, pieces, sums, before, pot, entry)
    two = _one(own, share, first, 1, pieces, sums, before, pot, entry)
    three = _one(own, share, first, 2, pieces, sums, before, pot, entry)
    return (one[0], two[0], three[0]), (one[1], two[1], three[1])


def _one(
    own: Any, share: Any, first: int, way: int, pieces: int, sums: Any, before: Any, pot: Any, entry: int
) -> Any:
    """What a hand gets by a call on a way, and what it meets there."""
    at, piece = way * SUMS, way * OFFSETS
    low_all, high_all = sums[at + (own[3] >> HALF)], sums[at + (own[5] >> HALF)]
    every = before[piece + pieces]
    won = sums[at + (own[7] & HALF_BITS)] + before[piece + (own[8] & HALF_BITS)]
    won += sums[at + (own[7] >> HALF)] + before[piece + (own[8] >> HALF)] - every
    won -= sums[at + (own[4] & HALF_BITS)] + sums[at + (own[4] >> HALF)] - low_all
    won -= sums[at + (own[6] & HALF_BITS)] + sums[at + (own[6] >> HALF)] - high_all
    met = every - low_all - high_all + own[0] * share[own[1], first + way]
    return won * pot[first + way, entry], max(met, np.float32(0.0))


def _hand(fields: Any, river: int, place: int, reach: Any) -> Any:
    """How likely he comes with a hand, its bucket, and the fields from OURS_HERE on."""
    first = fields[PAIR_THEIRS, river, place]
    return (
        reach[first & HALF_BITS],
        first >> HALF,
        fields[OURS_HERE, river, place],
        fields[LOW_AT_LAST, river, place],
        fields[LOW_FROM_TO, river, place],
        fields[HIGH_AT_LAST, river, place],
        fields[HIGH_FROM_TO, river, place],
        fields[BEGIN_END, river, place],
        fields[PIECES, river, place],
    )


def _river(
    fields: Any,
    hands: int,
    cards: int,
    entries: int,
    of_turn: Any,
    river_first: Any,
    river_as: Any,
    chance: Any,
    reach: Any,
    share: Any,
    own_share: Any,
    pot: Any,
    paid: Any,
    opens: bool,
    best: bool,
    values: Any,
) -> None:
    """What the river's entries are worth, summed over a turn's rivers: a block for each turn and entry."""
    turn, entry, thread, step = (
        cuda.blockIdx.x // entries,
        cuda.blockIdx.x % entries,
        cuda.threadIdx.x,
        cuda.blockDim.x,
    )
    sums = cuda.shared.array(ALL_SUMS, np.float32)
    before = cuda.shared.array(ALL_OFFSETS, np.float32)
    worth = cuda.shared.array(PAIRS, np.float32)
    comes = cuda.shared.array(1, np.int32)
    pieces = (hands + cards - 2) // (cards - 1)
    if thread == 0:
        comes[0] = 0
    cuda.syncthreads()
    for pair in range(thread, PAIRS, step):
        worth[pair] = np.float32(0.0)
        if reach[turn, entry, pair] != 0.0:
            comes[0] = 1
    cuda.syncthreads()
    if comes[0] == 0:
        for pair in range(thread, PAIRS, step):
            values[turn, entry, pair] = np.float32(0.0)
        return
    came, part = reach[turn, entry], share[entry]
    for river in range(of_turn[turn], of_turn[turn + 1]):
        # A thread without a hand looks at another's, and keeps its results to itself.
        own = _hand(fields, river, min(thread, hands - 1), came)
        other = _hand(fields, river, min(thread + step, hands - 1), came)
        ours, theirs = (
            own_share[entry, 0 if best else own[2] & HALF_BITS],
            own_share[entry, 0 if best else other[2] & HALF_BITS],
        )
        mine, second = _three(0, own, other, part, hands, cards, pieces, sums, before, pot, entry)
        a = _begin(mine[0], mine[1], paid, ours, entry, opens, best)
        b = _begin(second[0], second[1], paid, theirs, entry, opens, best)
        mine, second = _three(3, own, other, part, hands, cards, pieces, sums, before, pot, entry)
        c = _go_on(a, mine[0], mine[1], paid, ours, entry, opens, best)
        d = _go_on(b, second[0], second[1], paid, theirs, entry, opens, best)
        mine, second = _three(6, own, other, part, hands, cards, pieces, sums, before, pot, entry)
        won = chance * _finish(c, mine[0], mine[1], paid, ours, entry, opens, best)
        also = chance * _finish(d, second[0], second[1], paid, theirs, entry, opens, best)
        for image in range(river_first[river], river_first[river + 1]):
            if thread < hands:
                worth[PAIR_AS[river_as[image], fields[PAIR_THEIRS, river, thread] & HALF_BITS]] += won
            if thread + step < hands:
                worth[PAIR_AS[river_as[image], fields[PAIR_THEIRS, river, thread + step] & HALF_BITS]] += also
            cuda.syncthreads()
    for pair in range(thread, PAIRS, step):
        values[turn, entry, pair] = worth[pair]


def _gather(
    entries: int, turns: int, turn_first: Any, back: Any, chance: Any, values: Any, total: Any
) -> None:
    """Sum over turns, each for all cards that are like it; a block for each entry."""
    entry = cuda.blockIdx.x
    for pair in range(cuda.threadIdx.x, PAIRS, cuda.blockDim.x):
        summed = np.float32(0.0)
        for turn in range(turns):
            for image in range(turn_first[turn], turn_first[turn + 1]):
                summed += values[turn, entry, PAIR_AS[back[image], pair]]
        total[0, entry, pair] = summed * chance


class GpuSolver:
    """Works out one flop after another on the GPU."""

    def __init__(self, task: Task, deck: Deck) -> None:
        betting = task.other.betting
        self._task, self._deck, self._queue = task, deck, new_queue()
        self._kernels = {kernel: _built(kernel) for kernel in (_rank, _down, _up, _river, _gather)}
        self._live = to_gpu(deck.live)
        self._lines = [(each.entries, *map(_single, (each.pot, each.paid))) for each in betting.streets]
        other = task.other.known(1 - task.seat, np.float32)
        ours = other if task.ours is None else task.ours.known(task.seat, np.float32)
        self._theirs, self._ours = ([_by_entry(each) for each in known[:3]] for known in (other, ours))
        self._buckets = [[np.asarray(each) for each in known[3:]] for known in (other, ours)]
        self._river_buckets = [to_gpu(np.asarray(known.river_bucket)) for known in (other, ours)]
        reach = reach_at_flop(task.other, 1 - task.seat, deck)
        self._reach = _single(np.ascontiguousarray(reach.T[None]))
        self._chances = deck.chances.astype(np.float32)
        turns, left = deck.size - 3, deck.size - 5
        self._hands, self._left = left * (left - 1) // 2, left
        self._threads = 32 if is_simulated() else THREADS
        e1, e2, e3 = (lines[0] for lines in self._lines)
        self._turn_reach = zeros_on_gpu((1, e2, PAIRS), np.float32)
        self._river_reach = zeros_on_gpu((turns, e3, PAIRS), np.float32)
        self._river_values = zeros_on_gpu((turns, e3, PAIRS), np.float32)
        self._turn_values = zeros_on_gpu((turns, e2, PAIRS), np.float32)
        self._flop_sums = zeros_on_gpu((1, e2, PAIRS), np.float32)
        self._flop_values = zeros_on_gpu((1, e1, PAIRS), np.float32)
        self._fields = zeros_on_gpu((FIELDS, turns * (turns - 1), ROOM), np.uint32)

    def solve_all(self, flops: Sequence[Flop]) -> Iterator[Floats]:
        """One after the other: [entries, 169] what the flops of a kind add before the flop."""
        with gpu_faults():
            for flop in flops:
                yield by_class(self.solve(flop), flop, self._deck)

    def solve(self, flop: Flop) -> Floats:
        """[entries, 1326] what each entry of the flop is worth to each hand."""
        deck, task = self._deck, self._task
        opens, best = task.seat == FIRST, task.ours is None
        plan = plan_flop(deck, flop)
        turn_of = np.repeat(np.arange(plan.turns), np.diff(plan.of_turn)).astype(np.int32)
        first_river = 1 + plan.turns
        buckets = [
            [to_gpu(_board_buckets(deck, flop, plan, street, tables)) for tables in self._buckets]
            for street in range(2)
        ]
        (e1, pot1, paid1), (e2, pot2, paid2), (e3, pot3, paid3) = self._lines
        of_turn, river_first = to_gpu(plan.of_turn), to_gpu(plan.river_first)
        river_as, turn_first = to_gpu(plan.river_as), to_gpu(plan.turn_first)
        back = to_gpu(INVERSE[plan.turn_as].astype(np.int32))
        self._run(
            _rank,
            plan.rivers,
            self._live,
            to_gpu(np.array(flop.cards, np.int32)),
            to_gpu(turn_of),
            to_gpu(plan.turn),
            to_gpu(plan.river),
            to_gpu(plan.number[first_river:]),
            to_gpu(plan.through[first_river:]),
            *self._river_buckets,
            self._fields,
        )
        self._run(_down, e1, buckets[0][0], self._theirs[0], e1, self._reach, self._turn_reach)
        self._run(
            _down, plan.turns * e2, buckets[1][0], self._theirs[1], e2, self._turn_reach, self._river_reach
        )
        self._run(
            _river,
            plan.turns * e3,
            self._fields,
            self._hands,
            self._left,
            e3,
            of_turn,
            river_first,
            river_as,
            self._chances[3],
            self._river_reach,
            self._theirs[2],
            self._ours[2],
            pot3,
            paid3,
            opens,
            best,
            self._river_values,
        )
        self._run(
            _up,
            plan.turns * e2,
            *buckets[1],
            e2,
            self._river_reach,
            self._river_values,
            self._ours[1],
            pot2,
            paid2,
            opens,
            best,
            self._turn_values,
        )
        self._run(
            _gather,
            e2,
            e2,
            plan.turns,
            turn_first,
            back,
            self._chances[2],
            self._turn_values,
            self._flop_sums,
        )
        self._run(
            _up,
            e1,
            *buckets[0],
            e1,
            self._turn_reach,
            self._flop_sums,
            self._ours[0],
            pot1,
            paid1,
            opens,
            best,
            self._flop_values,
        )
        return np.asarray(self._flop_values.copy_to_host(stream=self._queue)[0])

    def _run(self, kernel: Any, blocks: int, *arguments: Any) -> None:
        self._kernels[kernel][blocks, self._threads, self._queue](*arguments)


INVERSE = np.array([[order.tolist().index(0) for order in THEN]]).ravel()  # which undoes each permutation


PARTS = (
    _begin,
    _go_on,
    _finish,
    _scan,
    _put,
    _three,
    _all_three,
    _one,
    _hand,
)  # what the kernels call besides parts of the CPU's


@cache
def _built(kernel: Any) -> Any:
    return for_cuda(kernel, {part: part for part in PARTS}, REGISTERS)


def _single(table: Floats) -> Any:
    return to_gpu(table.astype(np.float32))


def _by_entry(ways: NDArray[Any]) -> Any:
    """[entries, buckets, ways]: what lies together for a block."""
    blocks, buckets, _ = ways.shape
    table = ways.reshape(blocks, buckets, WAYS, LANES).transpose(0, 3, 1, 2)
    return _single(table.reshape(blocks * LANES, buckets, WAYS))


def _board_buckets(deck: Deck, flop: Flop, plan: Plan, street: int, tables: list[NDArray[Any]]) -> Ints:
    """[boards, 1326] of the flop or its turns: the bucket of each hand, -1 if it cannot be."""
    boards = range(1) if street == 0 else range(1, 1 + plan.turns)
    found = np.empty((len(boards), PAIRS), np.int32)
    for row, board in zip(found, boards, strict=True):
        row[:] = tables[street][plan.number[board]][PAIR_AS[plan.through[board]]]
        dead = [*flop.cards, plan.turn[board - 1]] if street else flop.cards
        row[(deck.pairs == 0) | np.isin(PAIR_CARDS, dead).any(axis=1)] = -1
    return found
