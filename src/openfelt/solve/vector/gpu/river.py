"""The river of CFR-BR on a GPU, twice for each board: the opponent's best response, then what we learn.

As in `measure/holdem/gpu/river.py` a block of threads computes each board and root, and a thread each square
of hole cards. Our hands of one kind in a square must have the same bucket on a river.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from openfelt.cards.deck import PAIR
from openfelt.core.cuda_build import cuda
from openfelt.games.holdem import MOST_BETS
from openfelt.solve.vector.betting_lines import LINES
from openfelt.solve.vector.gpu.plan import OF_TURN, RIVER_AS, RIVER_FIRST, SAMPLED
from openfelt.solve.vector.gpu.river_lists import add_up, enter, look_up
from openfelt.solve.vector.gpu.river_squares import (
    ALL_HANDS,
    FOUR,
    HANDS,
    KINDS,
    LIVE_WORD,
    PLAIN,
    ROOM,
    ROOM_APART,
    SQUARE_RANKS,
    SQUARES,
    SUITS_AS,
    TABLE,
    THEIR_WORD,
    THREE,
    TWO_TABLES,
    WORDS,
    U,
    bucket_of,
    is_needed,
    kind_of,
    position,
    seat_of,
)
from openfelt.solve.vector.gpu.rows import DECISIONS, answers
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

# These are set when a kernel is built.
ALIGNED: int | None = 16  # bytes, so that four numbers are read at once; None in the simulator
OPENS = True  # whether the player whose values are computed acts first
BETS = MOST_BETS  # of a street
RESPONDS = True  # whether the opponent makes choices, or has shares of the lines
STEP = 1  # one river in this many is sampled to learn from

KIND_HANDS = (0, 3, 12, 15)  # a hand of each kind
PROBABILITIES = 3 * KINDS
CALLS = U(0x55555555)  # two bits a hand


def respond_river(
    plan: Any,
    words: Any,
    facts: Any,
    roots: int,
    chance: Any,
    reach: Any,
    shares: Any,
    terms_of_root: Any,
    came_by: Any,
    choices: Any,
    values: Any,
) -> None:
    """The opponent's best response to our `reach`: its choices, and its values summed over the rivers.

    Also adds our reach of each bucket to `came_by`, for the average policy. A choice has two bits a hand:
    check or bet, then fold, call or raise.
    """
    turn, root, thread = U(cuda.blockIdx.x // roots), U(cuda.blockIdx.x % roots), U(cuda.threadIdx.x)
    came = cuda.shared.array(ALL_HANDS, np.float32)  # by suits, and thread
    worth = cuda.shared.array(ALL_HANDS, np.float32)
    table = cuda.shared.array(TWO_TABLES, np.float32, alignment=ALIGNED)  # of one line, and of the next
    terms = cuda.shared.array(ALL_TERMS, np.float32)
    square = min(thread, U(SQUARES - 1))
    ranks = SQUARE_RANKS[square, 0], SQUARE_RANKS[square, 1]
    comes = _load(turn, root, ranks, reach, came)
    for seat in range(HANDS):
        worth[U(seat * ROOM) + thread] = np.float32(0.0)
    rivers = plan[OF_TURN, turn], plan[OF_TURN, turn + U(1)]
    if cuda.syncthreads_or(comes):
        if thread < U(ALL_TERMS):
            terms[thread] = terms_of_root[root, thread // U(TERMS), thread % U(TERMS)]
        cuda.syncthreads()
        hold, before = cuda.local.array(HANDS, np.float32), cuda.local.array(HANDS, np.float32)
        for river in range(rivers[0], rivers[1]):
            fact = facts[U(river)]
            where = U(river), fact, root, U(roots), ranks
            room = plan, words, came, shares, terms, table, hold, came_by, choices
            board = fact >> U(2) & U(3)
            if board == U(PLAIN):
                _respond_one(PLAIN, where, room)
            elif board == U(THREE):
                _respond_one(THREE, where, room)
            else:
                _respond_one(FOUR, where, room)
            _add_images(plan, U(river), fact, thread, worth, hold, before)
    else:
        for river in range(rivers[0], rivers[1]):
            for decision in range(DECISIONS):
                at = ((U(river) * U(roots) + root) * U(DECISIONS) + U(decision)) * ROOM_APART + thread
                choices[at] = CALLS if decision else U(0)
    _store(turn, root, ranks, chance, worth, values)


def learn_river(
    plan: Any,
    words: Any,
    facts: Any,
    roots: int,
    chance: Any,
    weight: Any,
    reach: Any,
    policy: Any,
    terms_of_root: Any,
    choices: Any,
    shares: Any,
    came_by: Any,
    regrets: Any,
    values: Any,
) -> None:
    """Our values against the opponent's `reach` of the river, and what it does there; adds to our regrets.

    `chance` is that of a river that is sampled, and `weight` the iteration's times this.
    An opponent that does not best-respond has `shares` of the lines by bucket; its reach of the buckets is
    added to its `came_by`.
    """
    turn, root, thread = U(cuda.blockIdx.x // roots), U(cuda.blockIdx.x % roots), U(cuda.threadIdx.x)
    came = cuda.shared.array(ALL_HANDS, np.float32)
    worth = cuda.shared.array(ALL_HANDS, np.float32)
    table = cuda.shared.array(TWO_TABLES, np.float32, alignment=ALIGNED)
    terms = cuda.shared.array(ALL_TERMS, np.float32)
    square = min(thread, U(SQUARES - 1))
    ranks = SQUARE_RANKS[square, 0], SQUARE_RANKS[square, 1]
    comes = _load(turn, root, ranks, reach, came)
    for seat in range(HANDS):
        worth[U(seat * ROOM) + thread] = np.float32(0.0)
    if cuda.syncthreads_or(comes):
        if thread < U(ALL_TERMS):
            terms[thread] = terms_of_root[root, thread // U(TERMS), thread % U(TERMS)]
        cuda.syncthreads()
        hold, before = cuda.local.array(HANDS, np.float32), cuda.local.array(HANDS, np.float32)
        for river in range(plan[SAMPLED, turn], plan[OF_TURN, turn + U(1)], STEP):
            fact = facts[U(river)]
            where = U(river), fact, root, U(roots), ranks
            room = plan, words, came, policy, terms, table, hold, regrets, (choices, shares, came_by), weight
            board = fact >> U(2) & U(3)
            if board == U(PLAIN):
                _learn_one(PLAIN, where, room)
            elif board == U(THREE):
                _learn_one(THREE, where, room)
            else:
                _learn_one(FOUR, where, room)
            _add_images(plan, U(river), fact, thread, worth, hold, before)
    _store(turn, root, ranks, chance, worth, values)


def _load(turn: Any, root: Any, ranks: Any, reach: Any, came: Any) -> Any:
    """Copy a reach to shared memory; whether any of it is not 0."""
    thread, comes = U(cuda.threadIdx.x), 0
    for seat in range(HANDS):
        one, two = U(4) * ranks[0] + U(seat // 4), U(4) * ranks[1] + U(seat % 4)
        here = np.float32(0.0)
        if one != two:
            here = reach[turn, root, U(PAIR[one, two])]
        came[U(seat * ROOM) + thread] = here
        comes |= here != np.float32(0.0)
    return comes


def _store(turn: Any, root: Any, ranks: Any, chance: Any, worth: Any, values: Any) -> None:
    thread = U(cuda.threadIdx.x)
    for seat in range(HANDS):
        one, two = U(4) * ranks[0] + U(seat // 4), U(4) * ranks[1] + U(seat % 4)
        if one != two:
            values[turn, root, U(PAIR[one, two])] = chance * worth[U(seat * ROOM) + thread]


def _add_images(plan: Any, river: Any, fact: Any, thread: Any, worth: Any, hold: Any, before: Any) -> None:
    """Add the values of a river for each isomorphic one."""
    for image in range(plan[RIVER_FIRST, river], plan[RIVER_FIRST, river + U(1)]):
        order = SUITS_AS[U(plan[RIVER_AS, U(image)])]
        for hand in range(HANDS):  # independent loads, so that none waits for another
            before[hand] = worth[position(order, fact, hand) + thread]
        for hand in range(HANDS):
            worth[position(order, fact, hand) + thread] = before[hand] + hold[hand]


def _images(plan: Any, river: Any, ranks: Any) -> Any:
    """How often a hand of a square on a river counts; those of one rank appear twice."""
    half = np.float32(0.5) if ranks[0] == ranks[1] else np.float32(1.0)
    return half * np.float32(plan[RIVER_FIRST, river + U(1)] - plan[RIVER_FIRST, river])


def _respond_one(board: int, where: Any, room: Any) -> None:
    """The opponent's values on one river into `hold`, line by line from the last."""
    (river, fact, root, roots, ranks) = where
    (plan, words, came, shares, terms, table, hold, came_by, choices) = room
    thread, zero, first = U(cuda.threadIdx.x), np.float32(0.0), river * U(WORDS * ROOM) + U(cuda.threadIdx.x)
    aside, own = cuda.local.array(HANDS, np.float32), cuda.local.array(HANDS, np.float32)
    call, met = cuda.local.array(HANDS, np.float32), cuda.local.array(HANDS, np.float32)
    reach, square = cuda.local.array(HANDS, np.float32), cuda.local.array(LIVE_WORD, np.uint32)
    for word in range(LIVE_WORD):
        if is_needed(word, board):
            square[word] = words[first + U(word * ROOM)]
    lives, buckets = words[first + U(LIVE_WORD * ROOM)], cuda.local.array(KINDS, np.uint32)
    for kind in range(1 if board == PLAIN else KINDS):
        buckets[kind] = bucket_of(words, first + U(THEIR_WORD * ROOM), KIND_HANDS[kind])
    for hand in range(HANDS):
        hold[hand] = zero if OPENS else LEAST
        aside[hand] = LEAST if OPENS else zero
        reach[hand] = came[seat_of(fact, hand) + thread] if lives >> U(hand) & U(1) else zero
    _add_reach(board, plan, river, root, ranks, reach, buckets, came_by)
    share = cuda.local.array(KINDS, np.float32)
    _read_shares(board, root, U(LINES - 1), shares, buckets, share)
    for done in range(LINES):
        line, cells = U(LINES - 1 - done), (river + U(done) & U(1)) * U(TABLE)
        _share_out(board, share, reach, own)
        if line > U(0):  # read early: it takes until the next line
            _read_shares(board, root, line - U(1), shares, buckets, share)
        if cuda.syncthreads_or(1 if enter(square, board, ranks, own, table, cells) != zero else 0):
            add_up(board, table, cells)
            cuda.syncthreads()
            look_up(square, board, ranks, own, terms[line * U(TERMS) + U(POT)], table, cells, call, met)
        else:
            for hand in range(HANDS):
                call[hand] = met[hand] = zero
        at = ((river * roots + root) * U(DECISIONS) + (line + U(1) >> U(1))) * ROOM_APART + thread
        _choose(line, terms, call, met, hold, aside, choices, at)
    for hand in range(HANDS):
        if not lives >> U(hand) & U(1):
            hold[hand] = zero


def _add_reach(
    board: int, plan: Any, river: Any, root: Any, ranks: Any, reach: Any, buckets: Any, came_by: Any
) -> None:
    """Add a player's reach of the river to that of its buckets."""
    if U(cuda.threadIdx.x) < U(SQUARES):
        times = _images(plan, river, ranks)
        for kind in range(1 if board == PLAIN else KINDS):
            total = np.float32(0.0)
            for hand in range(HANDS):
                if kind_of(hand, board) == kind:
                    total += reach[hand]
            if total > np.float32(0.0):
                cuda.atomic.add(came_by, (root, buckets[kind]), total * times)


def _read_shares(board: int, root: Any, line: Any, shares: Any, buckets: Any, share: Any) -> None:
    """A player's share of a line, by kind of hands."""
    for kind in range(1 if board == PLAIN else KINDS):
        share[kind] = shares[root, buckets[kind], line]


def _share_out(board: int, share: Any, reach: Any, own: Any) -> None:
    """A player's reach of the end of a line."""
    for kind in range(1 if board == PLAIN else KINDS):
        for hand in range(HANDS):
            if kind_of(hand, board) == kind:
                own[hand] = reach[hand] * share[kind]


def _choose(line: Any, terms: Any, call: Any, met: Any, hold: Any, aside: Any, choices: Any, at: Any) -> None:
    """Back up the values of one line for a best response, and store its choices."""
    base = line * U(TERMS)
    paid, after, last = terms[base + U(PAID)], terms[base + U(PAID_NEXT)], terms[base + U(PAID_LAST)]
    chosen = U(0)
    if line == U(0):
        for hand in range(HANDS):
            begun, joined = (aside[hand], hold[hand]) if OPENS else (hold[hand], aside[hand])
            check, bet = call[hand], begun + after * met[hand]
            if OPENS:
                check += joined
            if bet > check:
                chosen |= U(1) << U(2 * hand)
            hold[hand] = max(check, bet) if OPENS else max(check, bet) + joined
        choices[at] = chosen
    elif line > U(MOST_BETS):
        if (line % U(2) == U(0)) == OPENS:
            for hand in range(HANDS):
                value, choice = _best(call[hand], met[hand], aside[hand], paid, after)
                aside[hand] = value - last * met[hand]
                chosen |= choice << U(2 * hand)
            choices[at] = chosen
        else:
            for hand in range(HANDS):
                aside[hand] += call[hand] - paid * met[hand]
    elif (line % U(2) == U(0)) == OPENS:
        for hand in range(HANDS):
            hold[hand] += call[hand] - paid * met[hand]
    else:
        for hand in range(HANDS):
            value, choice = _best(call[hand], met[hand], hold[hand], paid, after)
            hold[hand] = value - last * met[hand]
            chosen |= choice << U(2 * hand)
        choices[at] = chosen
    if OPENS and line == U(1):  # our first bet is also faced by hands that the opponent would have bet
        for hand in range(HANDS):
            aside[hand] += terms[base + U(PAID_ASIDE)] * met[hand]


def _best(call: Any, met: Any, later: Any, paid: Any, after: Any) -> Any:
    """The value of the best answer to a bet, and which it is; of equal ones a call."""
    value, choice = call, U(1)
    if -paid * met > value:
        value, choice = -paid * met, U(0)
    if later + after * met > value:
        value, choice = later + after * met, U(2)
    return value, choice


def _learn_one(board: int, where: Any, room: Any) -> None:
    """Our values on one river into `hold`, line by line from the last; adds to our regrets."""
    (river, fact, root, roots, ranks) = where
    (plan, words, came, policy, terms, table, hold, regrets, (choices, shares, came_by), weight) = room
    thread, zero, first = U(cuda.threadIdx.x), np.float32(0.0), river * U(WORDS * ROOM) + U(cuda.threadIdx.x)
    aside, own = cuda.local.array(HANDS, np.float32), cuda.local.array(HANDS, np.float32)
    call, met = cuda.local.array(HANDS, np.float32), cuda.local.array(HANDS, np.float32)
    reach, square = cuda.local.array(HANDS, np.float32), cuda.local.array(LIVE_WORD, np.uint32)
    for word in range(LIVE_WORD):
        if is_needed(word, board):
            square[word] = words[first + U(word * ROOM)]
    lives, buckets = words[first + U(LIVE_WORD * ROOM)], cuda.local.array(KINDS, np.uint32)
    for kind in range(1 if board == PLAIN else KINDS):
        buckets[kind] = bucket_of(words, first + U(THEIR_WORD * ROOM), KIND_HANDS[kind])
    for hand in range(HANDS):
        hold[hand] = aside[hand] = zero
        reach[hand] = came[seat_of(fact, hand) + thread] if lives >> U(hand) & U(1) else zero
    masks, probability = cuda.local.array(LINES, np.uint32), cuda.local.array(PROBABILITIES, np.float32)
    if RESPONDS:
        _masks_of(choices, (river * roots + root) * U(DECISIONS * ROOM) + thread, masks)
    else:
        _add_reach(board, plan, river, root, ranks, reach, buckets, came_by)
    times = weight * _images(plan, river, ranks) if thread < U(SQUARES) else zero
    number = river // U(STEP)  # so that a river does not begin with the table with which the last one ended
    for done in range(LINES):
        line, cells = U(LINES - 1 - done), (number + U(done) & U(1)) * U(TABLE)
        if RESPONDS:
            mask = masks[line]
            for hand in range(HANDS):
                own[hand] = reach[hand] if mask >> U(2 * hand) & U(1) else zero
        else:
            _read_shares(board, root, line, shares, buckets, probability)
            _share_out(board, probability, reach, own)
        ours, place = answers(line, OPENS), U(3) * (line + U(1) >> U(1))
        for kind in range(1 if board == PLAIN else KINDS):  # read early: it takes until the lists are ready
            if ours or line == U(0):
                for action in range(3):
                    probability[3 * kind + action] = policy[root, buckets[kind], place + U(action)]
        if cuda.syncthreads_or(1 if enter(square, board, ranks, own, table, cells) != zero else 0):
            add_up(board, table, cells)
            cuda.syncthreads()
            look_up(square, board, ranks, own, terms[line * U(TERMS) + U(POT)], table, cells, call, met)
        else:
            for hand in range(HANDS):
                call[hand] = met[hand] = zero
        for hand in range(HANDS):  # the values of impossible hands stay 0
            if not lives >> U(hand) & U(1):
                call[hand] = met[hand] = zero
        what = line, ours, times, terms, call, met, hold, aside, probability
        _learn_kind(board, 0, root, buckets[0], what, regrets)
        if board != PLAIN:
            _learn_kind(board, 1, root, buckets[1], what, regrets)
            _learn_kind(board, 2, root, buckets[2], what, regrets)
            _learn_kind(board, 3, root, buckets[3], what, regrets)
        base = line * U(TERMS)
        if OPENS and line == U(1):
            for hand in range(HANDS):
                aside[hand] += terms[base + U(PAID_ASIDE)] * met[hand]


def _learn_kind(board: int, kind: int, root: Any, bucket: Any, what: Any, regrets: Any) -> None:
    """Back up the values of one line for the hands of one kind, and add to the regrets of their bucket.

    Called with each kind by its number, so that the compiler knows the hands.
    """
    (line, ours, times, terms, call, met, hold, aside, probability) = what
    zero, base = np.float32(0.0), line * U(TERMS)
    paid, after, last = terms[base + U(PAID)], terms[base + U(PAID_NEXT)], terms[base + U(PAID_LAST)]
    legal = (line + U(MOST_BETS - 1)) % U(MOST_BETS) + U(1) < U(BETS)
    fold_sum, call_sum, raise_sum = zero, zero, zero
    p0, p1, p2 = probability[3 * kind], probability[3 * kind + 1], probability[3 * kind + 2]
    for hand in range(HANDS):
        if kind_of(hand, board) == kind:
            if line == U(0):
                begun, joined = (aside[hand], hold[hand]) if OPENS else (hold[hand], aside[hand])
                check, bet = call[hand], begun + after * met[hand]
                if OPENS:
                    check += joined
                value = p0 * check + p1 * bet
                fold_sum += check - value
                call_sum += bet - value
                hold[hand] = value if OPENS else value + joined
            else:
                later = aside[hand] if line > U(MOST_BETS) else hold[hand]
                if ours:
                    folded, raised = -paid * met[hand], later + after * met[hand]
                    if not legal:
                        raised = zero
                    value = p0 * folded + p1 * call[hand] + p2 * raised
                    fold_sum += folded - value
                    call_sum += call[hand] - value
                    raise_sum += raised - value
                    value -= last * met[hand]
                else:
                    value = later + call[hand] - paid * met[hand]
                if line > U(MOST_BETS):
                    aside[hand] = value
                else:
                    hold[hand] = value
    if (ours or line == U(0)) and times > zero:
        place = U(3) * (line + U(1) >> U(1))
        cuda.atomic.add(regrets, (root, bucket, place), times * fold_sum)
        cuda.atomic.add(regrets, (root, bucket, place + U(1)), times * call_sum)
        if ours and legal:
            cuda.atomic.add(regrets, (root, bucket, place + U(2)), times * raise_sum)


def _masks_of(choices: Any, at: Any, masks: Any) -> None:
    """Which hands of the opponent take each line, from its choices; two bits a hand."""
    word = choices[at]
    bet, check = word & CALLS, ~word & CALLS
    masks[0] = check
    for sequence in range(2):
        begins = (sequence == 1) != OPENS  # the opponent opens if we do not
        here = bet if begins else CALLS if OPENS else check
        for number in range(1, MOST_BETS + 1):
            line = sequence * MOST_BETS + number
            if (number % 2 == 1) != begins:  # the opponent answers
                word = choices[at + U((1 + (line - 1) // 2) * ROOM)]
                masks[line] = here & word
                here = here & word >> U(1)
            else:
                masks[line] = here
