"""One flop, worked out on the CPU: all turns and rivers that can follow, for all hands at once.

Values have *stages*. Stage 0 is what is asked for: a best response, or a policy of ours. To tell where a best
response gains, further stages play a policy for longer and longer before they answer best: stage 1 on the
street itself, stage 2 on the next one too, and so on. Stage 0 goes on with stage 0 of the next street, stage
s with stage s - 1. What stage 0 has more than stage 1 is what a best response gains on a street.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.boards import PERMUTED_PAIR, Boards, step
from openfelt.cards.deck import CARDS, PAIR_CARDS, RIVER, TURN, Bytes
from openfelt.cards.evaluator import CARD_BIT, evaluate
from openfelt.core.jit import Floats, Ints, Longs, kernel
from openfelt.measure.holdem.betting_lines import FIRST, LANES, WAYS, Lines, Ways
from openfelt.measure.holdem.public_cards import Orbits, find_orbits, keepers, no_orbits
from openfelt.measure.holdem.street import (
    Hands,
    Room,
    answer_as,
    answer_best,
    meet,
    new_hands,
    new_room,
    show_down,
    spread,
    spread_parts,
)

PAIRS = len(PAIR_CARDS)


class Known(NamedTuple):
    """What a player does in one seat; his parts' buckets are numbered one after the other."""

    flop: Ways
    turn: Ways
    river: Ways
    flop_bucket: NDArray[Any]  # [parts, boards, 1326]
    turn_bucket: NDArray[Any]
    river_bucket: NDArray[Any]


class Table(NamedTuple):
    """All that is the same for every flop."""

    live: Bytes
    boards: Boards
    flop: Lines
    turn: Lines
    river: Lines
    chances: Floats  # [streets]


class Leaks(NamedTuple):
    """What a best response gains, with each hand, at each entry of a street: [1326, entries], or empty."""

    flop: Floats
    turn: Floats
    river: Floats


def new_leaks(table: Table, kind: type[np.floating[Any]], wanted: bool) -> Leaks:
    """Zeros; of no hands, if they are not wanted."""
    rows = PAIRS if wanted else 0
    return Leaks(
        *(np.zeros((rows, lines.pot.shape[1]), kind) for lines in (table.flop, table.turn, table.river))
    )


class Desk(NamedTuple):
    """The working space of one thread."""

    room: Room
    flop: Hands
    turn: Hands
    river: Hands
    turn_reach: Floats  # [parts, 1326, entries of the turn]
    river_reach: Floats  # [parts, 1326, entries of the river]
    own_turn_reach: Floats  # of ours, if leaks are asked for
    own_river_reach: Floats
    flop_values: Floats  # [stages, ...] what the turn's entries are worth on the flop
    turn_values: Floats  # what the river's are worth on the turn
    board_values: Floats  # of one board
    turns: Orbits
    rivers: Orbits
    kept: Ints  # [2, 24] permutations that keep the flop, and the turn too
    cards: Ints  # [5]
    strength: Longs  # [1326]


def stages_of(street: int, leaks: bool) -> int:
    """How many there are, on a street after the flop."""
    return 5 - street if leaks else 1


def new_desk(table: Table, kind: type[np.floating[Any]], leaks: bool = False, parts: int = 1) -> Desk:
    """For the lines of a table, numbers of that kind, and so many parts of the other."""
    turn, river = table.turn.pot.shape[1], table.river.pot.shape[1]
    own = PAIRS if leaks else 0
    return Desk(
        new_room(kind),
        new_hands(parts),
        new_hands(parts),
        new_hands(parts),
        np.zeros((parts, PAIRS, turn), kind),
        np.zeros((parts, PAIRS, river), kind),
        np.zeros((1, own, turn), kind),
        np.zeros((1, own, river), kind),
        np.zeros((stages_of(TURN, leaks), PAIRS, turn), kind),
        np.zeros((stages_of(RIVER, leaks), PAIRS, river), kind),
        np.zeros((stages_of(TURN, leaks), PAIRS, river), kind),
        no_orbits(),
        no_orbits(),
        np.zeros((2, 24), np.int32),
        np.zeros(5, np.int32),
        np.zeros(PAIRS, np.int64),
    )


@kernel
def solve_flop(
    table: Table,
    flop: Ints,
    symmetry: Ints,
    other: Known,
    ours: Known,
    seat: int,
    best: bool,
    reach: Floats,
    own_reach: Floats,
    desk: Desk,
    values: Floats,
    leaks: Leaks,
) -> None:
    """What each entry of the flop is worth to each hand in `seat`, given the other's reach there: `values`.

    These are [stages, 1326, entries]. If `best`, stage 0 answers as well as possible; else as `ours` does.
    With our own reach (else it is empty), `leaks` is added to.
    """
    cards, room, told = desk.cards, desk.room, len(leaks.flop) > 0
    board, seen_as = 0, 0
    for place in range(3):
        cards[place] = flop[place]
    board, seen_as = step(table.boards.to_1, board, seen_as, cards[0])
    board, seen_as = step(table.boards.to_2, board, seen_as, cards[1])
    board, seen_as = step(table.boards.to_3, board, seen_as, cards[2])
    size = keepers(symmetry, len(symmetry), cards, 3, desk.kept[0])
    _deal(table.live, cards, 3, board, seen_as, other.flop_bucket, ours.flop_bucket, desk.flop)
    _down(desk.flop, desk.flop.theirs, table.flop, other.flop.share, reach, room, desk.turn_reach)
    if told:
        _down(desk.flop, desk.flop.ours, table.flop, ours.flop.share, own_reach, room, desk.own_turn_reach)
    desk.flop_values[:] = 0.0
    for turn in range(find_orbits(table.live, cards, 3, desk.kept[0], size, desk.turns)):
        cards[3] = desk.turns.card[turn]
        after, seen = step(table.boards.to_4, board, seen_as, cards[3])
        left = keepers(desk.kept[0], size, cards[3:], 1, desk.kept[1])
        turns = desk.turns.seen_as[desk.turns.first[turn] : desk.turns.first[turn + 1]]
        _deal(table.live, cards, 4, after, seen, other.turn_bucket, ours.turn_bucket, desk.turn)
        _down(
            desk.turn,
            desk.turn.theirs,
            table.turn,
            other.turn.share,
            desk.turn_reach,
            room,
            desk.river_reach,
        )
        if told:
            _down(
                desk.turn,
                desk.turn.ours,
                table.turn,
                ours.turn.share,
                desk.own_turn_reach,
                room,
                desk.own_river_reach,
            )
        desk.turn_values[:] = 0.0
        for river in range(find_orbits(table.live, cards, 4, desk.kept[1], left, desk.rivers)):
            cards[4] = desk.rivers.card[river]
            last, through = step(table.boards.to_5, after, seen, cards[4])
            rivers = desk.rivers.seen_as[desk.rivers.first[river] : desk.rivers.first[river + 1]]
            _deal(table.live, cards, 5, last, through, other.river_bucket, ours.river_bucket, desk.river)
            _sort(cards, desk.river, desk.strength)
            _river(table.river, other.river.share, ours.river, seat, best, desk)
            _gather(desk.river, desk.board_values, rivers, table.chances[3], desk.turn_values)
            if told:
                weight = table.chances[2] * table.chances[3] * len(turns) * len(rivers)
                _tell(desk.river, desk.own_river_reach, desk.board_values, weight, leaks.river)
        _up(
            desk.turn,
            table.turn,
            other.turn.share,
            ours.turn,
            seat,
            best,
            desk.turn_reach,
            room,
            desk.turn_values,
            desk.board_values,
        )
        _gather(desk.turn, desk.board_values, turns, table.chances[2], desk.flop_values)
        if told:
            weight = table.chances[2] * len(turns)
            _tell(desk.turn, desk.own_turn_reach, desk.board_values, weight, leaks.turn)
    values[:] = 0.0
    _up(desk.flop, table.flop, other.flop.share, ours.flop, seat, best, reach, room, desk.flop_values, values)
    if told:
        _tell(desk.flop, own_reach, values, 1.0, leaks.flop)


@kernel
def _deal(
    live: Bytes,
    cards: Ints,
    count: int,
    board: int,
    seen_as: int,
    theirs: NDArray[Any],
    ours: NDArray[Any],
    hands: Hands,
) -> None:
    """The hands that a board leaves, with their buckets."""
    dead = np.int64(0)
    for card in range(CARDS):
        dead |= np.int64(not live[card]) << card
    for place in range(count):
        dead |= np.int64(1) << np.int64(cards[place])
    found = 0
    for pair in range(PAIRS):
        if not (dead >> np.int64(PAIR_CARDS[pair, 0]) | dead >> np.int64(PAIR_CARDS[pair, 1])) & 1:
            seen = PERMUTED_PAIR[seen_as, pair]
            hands.pair[found] = pair
            hands.ours[0, found] = ours[0, board, seen]
            for part in range(len(theirs)):
                hands.theirs[part, found] = theirs[part, board, seen]
            found += 1
    hands.size[0] = found


@kernel
def _sort(cards: Ints, hands: Hands, strength: Longs) -> None:
    """By the value of the hand, and where the hands of equal value end."""
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
def _down(
    hands: Hands, buckets: Ints, lines: Lines, share: Floats, reach: Floats, room: Room, below: Floats
) -> None:
    """A player's reach at the entries of the next street, part by part."""
    below[:] = 0.0
    for part in range(len(reach)):
        for first in range(0, lines.pot.shape[1], LANES):
            spread(hands, buckets[part], share[first // LANES], reach[part], first, room.reach)
            width = min(LANES, lines.entries - first)
            for place in range(hands.size[0]):
                pair = hands.pair[place]
                for way in range(WAYS):
                    entry = way * lines.entries + first
                    for lane in range(width):
                        below[part, pair, entry + lane] = room.reach[place, way * LANES + lane]


@kernel
def _up(
    hands: Hands,
    lines: Lines,
    theirs: Floats,
    ours: Ways,
    seat: int,
    best: bool,
    reach: Floats,
    room: Room,
    below: Floats,
    values: Floats,
) -> None:
    """From what the entries of the next street are worth to what those of this one are."""
    for first in range(0, lines.pot.shape[1], LANES):
        spread_parts(hands, theirs[first // LANES], reach, first, room)
        meet(hands, room)
        width = min(LANES, lines.entries - first)
        for stage in range(len(below) + 1 if len(below) > 1 else 1):
            after = max(stage - 1, 0)
            for place in range(hands.size[0]):
                pair = hands.pair[place]
                for way in range(WAYS):
                    entry = way * lines.entries + first
                    for lane in range(width):
                        room.call[place, way * LANES + lane] = below[after, pair, entry + lane]
            _answer(hands, lines, ours, seat, best and stage == 0, first, room, values[stage])


@kernel
def _river(lines: Lines, theirs: Floats, ours: Ways, seat: int, best: bool, desk: Desk) -> None:
    """The same on the river, where the hands are shown."""
    hands, room, stages = desk.river, desk.room, len(desk.turn_values)
    for first in range(0, lines.pot.shape[1], LANES):
        if not _comes(hands, desk.river_reach, first):
            for stage in range(stages):
                for place in range(hands.size[0]):
                    desk.board_values[stage, hands.pair[place], first : first + LANES] = 0.0
            continue
        spread_parts(hands, theirs[first // LANES], desk.river_reach, first, room)
        meet(hands, room)
        for way in range(WAYS):
            room.pot[way * LANES : (way + 1) * LANES] = lines.pot[way, first : first + LANES]
        show_down(hands, room)
        for stage in range(stages):
            _answer(hands, lines, ours, seat, best and stage == 0, first, room, desk.board_values[stage])


@kernel
def _answer(
    hands: Hands, lines: Lines, ours: Ways, seat: int, best: bool, first: int, room: Room, values: Floats
) -> None:
    if best:
        for way in range(WAYS):
            room.paid[0, way * LANES : (way + 1) * LANES] = lines.paid[way, first : first + LANES]
        answer_best(hands, seat == FIRST, first, room, values)
    else:
        block = first // LANES
        answer_as(hands, ours.share[block], ours.folds[block], first, room, values)


@kernel
def _comes(hands: Hands, reach: Floats, first: int) -> bool:
    """Whether the other comes to any of these entries with any hand."""
    for part in range(len(reach)):
        for place in range(hands.size[0]):
            for lane in range(LANES):
                if reach[part, hands.pair[place], first + lane] != 0.0:
                    return True
    return False


@kernel
def _gather(hands: Hands, values: Floats, orbit: Ints, chance: float, total: Floats) -> None:
    """Add what a card is worth, for it and for all cards that are like it."""
    for stage in range(len(total)):
        for seen_as in orbit:
            for place in range(hands.size[0]):
                pair = hands.pair[place]
                seen = PERMUTED_PAIR[seen_as, pair]
                for entry in range(total.shape[2]):
                    total[stage, seen, entry] += chance * values[stage, pair, entry]


@kernel
def _tell(hands: Hands, own_reach: Floats, values: Floats, weight: float, leak: Floats) -> None:
    """Add what the best answer on this street gains on playing the policy here once more."""
    for place in range(hands.size[0]):
        pair = hands.pair[place]
        for entry in range(leak.shape[1]):
            gained = values[0, pair, entry] - values[1, pair, entry]
            leak[pair, entry] += weight * own_reach[0, pair, entry] * gained
