"""One flop on the CPU: all turns and rivers that can follow, for all hands at once.

Values have *stages*. Stage 0 is the task itself: a best response, or our fixed strategy. To find where a best
response gains, further stages play the fixed strategy for longer before they switch to a best response: stage
1 on the street itself, stage 2 on the next street too, and so on. Stage 0 continues with stage 0 of the next
street, stage s with stage s - 1. Stage 0 minus stage 1 is what a best response gains on a street.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.boards import PERMUTED_PAIR, Boards, step
from openfelt.cards.deck import CARDS, PAIR_CARDS, RIVER, TURN, Bytes
from openfelt.cards.evaluator import CARD_BIT, evaluate
from openfelt.cards.public_cards import Orbits, find_orbits, keepers, no_orbits
from openfelt.core.jit import Floats, Ints, Longs, kernel
from openfelt.solve.vector.betting_lines import FIRST, LANES, LINES, LineShares, StreetLines
from openfelt.solve.vector.street_kernels import (
    Hands,
    StreetWorkspace,
    meet,
    new_hands,
    new_street_workspace,
    respond_best,
    respond_fixed,
    show_down,
    spread,
    spread_parts,
)

PAIRS = len(PAIR_CARDS)


class StreetStrategy(NamedTuple):
    """A player's strategy on one street; the buckets of its parts are numbered consecutively."""

    shares: LineShares
    buckets: NDArray[Any]  # [parts, boards, 1326]


class FixedStrategy(NamedTuple):
    """A player's strategy in one seat, by street."""

    flop: StreetStrategy
    turn: StreetStrategy
    river: StreetStrategy


class StreetTask(NamedTuple):
    """One street of a task."""

    lines: StreetLines
    theirs: StreetStrategy
    ours: StreetStrategy  # of a best response: a copy of `theirs`, not used


class KernelTask(NamedTuple):
    """A `Task` as kernels read it, the same for every flop."""

    flop: StreetTask
    turn: StreetTask
    river: StreetTask
    seat: int  # whose values are computed
    best: bool  # stage 0 is a best response; else the strategy `ours`
    live: Bytes  # [52] whether a card is in the deck
    boards: Boards
    symmetry: Ints  # permutations of the deck's suits
    chances: Floats  # [streets]


class LeakSums(NamedTuple):
    """What a best response gains with each hand at each root of a street: [1326, roots], or empty."""

    flop: Floats
    turn: Floats
    river: Floats


def new_leak_sums(task: KernelTask, kind: type[np.floating[Any]], wanted: bool) -> LeakSums:
    """Zeros; for no hands if leaks are not requested."""
    rows = PAIRS if wanted else 0
    streets = (task.flop, task.turn, task.river)
    return LeakSums(*(np.zeros((rows, street.lines.pot.shape[1]), kind) for street in streets))


class StreetState(NamedTuple):
    """The state of one street on one board. The last index of `reach` is a root of the street."""

    hands: Hands
    reach: Floats  # [parts, 1326, roots] the opponent's
    own_reach: Floats  # [1, 1326, roots] ours; [1, 0, roots] if leaks are not requested
    below: Floats  # [stages, 1326, roots of the next street] values of the next street; on the river empty


class FlopWorkspace(NamedTuple):
    """The arrays that one thread writes to while it solves a flop."""

    flop: StreetState
    turn: StreetState
    river: StreetState
    values: Floats  # [stages, 1326, roots] of one board of the turn or the river
    street: StreetWorkspace
    turns: Orbits
    rivers: Orbits
    kept: Ints  # [2, 24] permutations that fix the flop, and those that fix the turn too
    cards: Ints  # [5]
    strength: Longs  # [1326]


def stages_of(street: int, leaks: bool) -> int:
    """The number of stages on a street after the flop."""
    return 5 - street if leaks else 1


def new_workspace(task: KernelTask, reach: Floats, own_reach: Floats) -> FlopWorkspace:
    """A workspace for flops; `reach` and `own_reach` are those at the roots of the flop (see StreetState)."""
    parts, own, kind = len(reach), own_reach.shape[1], reach.dtype.type
    turn, river = task.turn.lines.pot.shape[1], task.river.lines.pot.shape[1]

    def zeros(*shape: int) -> Floats:
        return np.zeros(shape, kind)

    turn_stages, river_stages = stages_of(TURN, own > 0), stages_of(RIVER, own > 0)
    return FlopWorkspace(
        StreetState(new_hands(parts), reach, own_reach, zeros(turn_stages, PAIRS, turn)),
        StreetState(
            new_hands(parts),
            zeros(parts, PAIRS, turn),
            zeros(1, own, turn),
            zeros(river_stages, PAIRS, river),
        ),
        StreetState(new_hands(parts), zeros(parts, PAIRS, river), zeros(1, own, river), zeros(0, 0, 0)),
        zeros(turn_stages, PAIRS, river),
        new_street_workspace(kind),
        no_orbits(),
        no_orbits(),
        np.zeros((2, 24), np.int32),
        np.zeros(5, np.int32),
        np.zeros(PAIRS, np.int64),
    )


@kernel
def solve_flop(task: KernelTask, flop: Ints, work: FlopWorkspace, values: Floats, leaks: LeakSums) -> None:
    """Fill `values` [stages, 1326, roots] with the value of each hand at each root of the flop.

    If the workspace has our own reach, the gains of a best response are added to `leaks`.
    """
    cards, here, board, seen_as = work.cards, work.flop, 0, 0
    for place in range(3):
        cards[place] = flop[place]
    board, seen_as = step(task.boards.to_1, board, seen_as, cards[0])
    board, seen_as = step(task.boards.to_2, board, seen_as, cards[1])
    board, seen_as = step(task.boards.to_3, board, seen_as, cards[2])
    size = keepers(task.symmetry, len(task.symmetry), cards, 3, work.kept[0])
    deal_hands(
        task.live, cards[:3], (board, seen_as), task.flop.theirs.buckets, task.flop.ours.buckets, here.hands
    )
    go_down(task.flop, here, work.turn, work.street)
    here.below[:] = 0.0
    for turn in range(find_orbits(task.live, cards, 3, work.kept[0], size, work.turns)):
        cards[3] = work.turns.card[turn]
        after, through = step(task.boards.to_4, board, seen_as, cards[3])
        left = keepers(work.kept[0], size, cards[3:], 1, work.kept[1])
        images = work.turns.seen_as[work.turns.first[turn] : work.turns.first[turn + 1]]
        _solve_turn(task, (after, through), left, len(images), work, leaks)
        add_images(work.turn.hands, work.values, images, task.chances[2], here.below)
        if len(leaks.turn):
            weight = task.chances[2] * len(images)
            add_leaks(work.turn, work.values, weight, leaks.turn)
    values[:] = 0.0
    come_up(task, task.flop, here, work.street, values)
    if len(leaks.flop):
        add_leaks(here, values, 1.0, leaks.flop)


@kernel
def _solve_turn(
    task: KernelTask, board: tuple[int, int], size: int, images: int, work: FlopWorkspace, leaks: LeakSums
) -> None:
    """Compute the values of a turn into `work.values`. It stands for `images` isomorphic turns.

    The first `size` permutations of `work.kept[1]` map it to itself.
    """
    cards, here = work.cards, work.turn
    deal_hands(task.live, cards[:4], board, task.turn.theirs.buckets, task.turn.ours.buckets, here.hands)
    go_down(task.turn, here, work.river, work.street)
    here.below[:] = 0.0
    for river in range(find_orbits(task.live, cards, 4, work.kept[1], size, work.rivers)):
        cards[4] = work.rivers.card[river]
        last, through = step(task.boards.to_5, board[0], board[1], cards[4])
        rivers = work.rivers.seen_as[work.rivers.first[river] : work.rivers.first[river + 1]]
        deal_hands(
            task.live,
            cards,
            (last, through),
            task.river.theirs.buckets,
            task.river.ours.buckets,
            work.river.hands,
        )
        sort_hands(cards, work.river.hands, work.strength)
        solve_river(task, work)
        add_images(work.river.hands, work.values, rivers, task.chances[3], here.below)
        if len(leaks.river):
            weight = task.chances[2] * task.chances[3] * images * len(rivers)
            add_leaks(work.river, work.values, weight, leaks.river)
    come_up(task, task.turn, here, work.street, work.values)


@kernel
def deal_hands(
    live: Bytes,
    cards: Ints,
    board: tuple[int, int],
    theirs: NDArray[Any],
    ours: NDArray[Any],
    hands: Hands,
) -> None:
    """List the hands that are possible on a board, with their buckets.

    `board` is the number of the canonical board and the permutation that leads to it.
    """
    number, seen_as = board
    dead = np.int64(0)
    for card in range(CARDS):
        dead |= np.int64(not live[card]) << card
    for place in range(len(cards)):
        dead |= np.int64(1) << np.int64(cards[place])
    found = 0
    for pair in range(PAIRS):
        if not (dead >> np.int64(PAIR_CARDS[pair, 0]) | dead >> np.int64(PAIR_CARDS[pair, 1])) & 1:
            seen = PERMUTED_PAIR[seen_as, pair]
            hands.pair[found] = pair
            hands.ours[0, found] = ours[0, number, seen]
            for part in range(len(theirs)):
                hands.theirs[part, found] = theirs[part, number, seen]
            found += 1
    hands.size[0] = found


@kernel
def sort_hands(cards: Ints, hands: Hands, strength: Longs) -> None:
    """Sort hands by their showdown value, and find the end of each group of equal ones."""
    count, word = hands.size[0], np.uint64(0)
    for card in cards:
        word |= CARD_BIT[card]
    for place in range(count):
        pair = hands.pair[place]
        value = evaluate(word | CARD_BIT[PAIR_CARDS[pair, 0]] | CARD_BIT[PAIR_CARDS[pair, 1]])
        strength[place] = np.int64(value) << 11 | place
    strength[:count].sort()
    theirs, ours = hands.theirs[:, :count].copy(), hands.ours[0, :count].copy()
    pairs = hands.pair[:count].copy()
    for place in range(count):
        before = strength[place] & 2047
        hands.pair[place], hands.ours[0, place] = pairs[before], ours[before]
        for part in range(len(theirs)):
            hands.theirs[part, place] = theirs[part, before]
    end = count
    for place in range(count - 1, -1, -1):
        if place < count - 1 and strength[place] >> 11 != strength[place + 1] >> 11:
            end = place + 1
        hands.end[place] = end


@kernel
def go_down(street: StreetTask, here: StreetState, after: StreetState, work: StreetWorkspace) -> None:
    """Pass the reach down to the roots of the next street; our own only if leaks are requested."""
    hands, roots = here.hands, street.lines.roots
    theirs = street.theirs.shares.share, here.reach, after.reach
    _go_down(hands, hands.theirs, theirs, roots, work.reach)
    if here.own_reach.shape[1]:
        ours = street.ours.shares.share, here.own_reach, after.own_reach
        _go_down(hands, hands.ours, ours, roots, work.reach)


@kernel
def _go_down(hands: Hands, buckets: Ints, tables: Any, roots: int, spread_reach: Floats) -> None:
    """Pass one player's reach down, part by part."""
    share, reach, below = tables
    below[:] = 0.0
    for part in range(len(reach)):
        for first in range(0, len(share) * LANES, LANES):
            spread(hands, buckets[part], share[first // LANES], reach[part], first, spread_reach)
            width = min(LANES, roots - first)
            for place in range(hands.size[0]):
                pair = hands.pair[place]
                for line in range(LINES):
                    root = line * roots + first
                    for lane in range(width):
                        below[part, pair, root + lane] = spread_reach[place, line * LANES + lane]


@kernel
def come_up(
    task: KernelTask, street: StreetTask, here: StreetState, work: StreetWorkspace, values: Floats
) -> None:
    """Pass values up, from the roots of the next street to those of this one."""
    hands, below, roots = here.hands, here.below, street.lines.roots
    for first in range(0, street.lines.pot.shape[1], LANES):
        spread_parts(hands, street.theirs.shares.share[first // LANES], here.reach, first, work)
        meet(hands, work)
        width = min(LANES, roots - first)
        for stage in range(len(below) + 1 if len(below) > 1 else 1):
            after = max(stage - 1, 0)
            for place in range(hands.size[0]):
                pair = hands.pair[place]
                for line in range(LINES):
                    root = line * roots + first
                    for lane in range(width):
                        work.call[place, line * LANES + lane] = below[after, pair, root + lane]
            _respond(street, task.seat, task.best and stage == 0, first, (hands, work), values[stage])


@kernel
def solve_river(task: KernelTask, work: FlopWorkspace) -> None:
    """Compute the values of a river, from its showdowns, into `work.values`."""
    street, here, stages = task.river, work.river, len(work.turn.below)
    hands, lines, values = here.hands, street.lines, work.values
    for first in range(0, lines.pot.shape[1], LANES):
        if not _is_reached(hands, here.reach, first):
            for stage in range(stages):
                for place in range(hands.size[0]):
                    values[stage, hands.pair[place], first : first + LANES] = 0.0
            continue
        spread_parts(hands, street.theirs.shares.share[first // LANES], here.reach, first, work.street)
        meet(hands, work.street)
        for line in range(LINES):
            work.street.pot[line * LANES : (line + 1) * LANES] = lines.pot[line, first : first + LANES]
        show_down(hands, work.street)
        for stage in range(stages):
            _respond(street, task.seat, task.best and stage == 0, first, (hands, work.street), values[stage])


@kernel
def _respond(street: StreetTask, seat: int, best: bool, first: int, on_board: Any, values: Floats) -> None:
    hands, work = on_board
    if best:
        for line in range(LINES):
            work.paid[0, line * LANES : (line + 1) * LANES] = street.lines.paid[line, first : first + LANES]
        respond_best(hands, seat == FIRST, first, work, values)
    else:
        block, shares = first // LANES, street.ours.shares
        respond_fixed(hands, shares.share[block], shares.folds[block], first, work, values)


@kernel
def _is_reached(hands: Hands, reach: Floats, first: int) -> bool:
    """Whether the opponent reaches any of these roots with any hand."""
    for part in range(len(reach)):
        for place in range(hands.size[0]):
            for lane in range(LANES):
                if reach[part, hands.pair[place], first + lane] != 0.0:
                    return True
    return False


@kernel
def add_images(hands: Hands, values: Floats, images: Ints, chance: float, total: Floats) -> None:
    """Add the values of a card for all cards that are isomorphic to it."""
    for stage in range(len(total)):
        for seen_as in images:
            for place in range(hands.size[0]):
                pair = hands.pair[place]
                seen = PERMUTED_PAIR[seen_as, pair]
                for root in range(total.shape[2]):
                    total[stage, seen, root] += chance * values[stage, pair, root]


@kernel
def add_leaks(here: StreetState, values: Floats, weight: float, leaks: Floats) -> None:
    """Add what a best response gains on this street over the fixed strategy on it."""
    for place in range(here.hands.size[0]):
        pair = here.hands.pair[place]
        for root in range(leaks.shape[1]):
            gained = values[0, pair, root] - values[1, pair, root]
            leaks[pair, root] += weight * here.own_reach[0, pair, root] * gained
