"""What one hand wins by a best response on the streets to come, from the opponent's reach at their roots.

As in the exact engine (`measure/holdem/flop.py`), whose betting of a street is used here, but for one hand of
ours instead of all: a showdown is then one sum over the opponent's hands. On the river these are first added
up by bucket and by who wins.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from openfelt.cards.deck import CARDS, PAIR_CARDS, PAIRS, Bytes
from openfelt.cards.evaluator import CARD_BIT, evaluate
from openfelt.core.jit import Floats, Ints, Longs, kernel
from openfelt.games.compile.betting_tree import Layout
from openfelt.solve.vector.betting_lines import (
    FIRST,
    LANES,
    LINES,
    BettingLines,
    StreetLines,
    in_lanes,
    line_probabilities,
)
from openfelt.solve.vector.street_kernels import (
    Hands,
    StreetWorkspace,
    new_hands,
    new_street_workspace,
    respond_best,
    spread,
)

OUTCOMES = 3  # our hand loses, ties, wins


class StreetTable(NamedTuple):
    """The betting of a street, and the opponent's share of its lines as in `LineShares`."""

    lines: StreetLines
    share: Floats  # [columns / LANES, buckets, lines * LANES]


class RunoutWorkspace(NamedTuple):
    """The arrays that one thread writes to."""

    street: StreetWorkspace
    theirs: Hands  # on the turn
    own: Hands  # our hand alone
    reach: Floats  # [1326, roots of the river]
    below: Floats  # [1, roots of the river] values, summed over rivers
    values: Floats  # [1, roots of the river] of one river
    grouped: Floats  # [groups, roots of the river] reach by bucket and outcome
    number: Longs  # [OUTCOMES * buckets] of each group, or -1
    known: Longs  # [groups] outcome and bucket


def street_table(
    betting: BettingLines, street: int, probabilities: Floats | Bytes, layout: Layout, seat: int
) -> StreetTable:
    """The table of a street for an opponent in `seat`."""
    share, _ = line_probabilities(betting, street, probabilities, layout, seat)
    return StreetTable(betting.streets[street - 1], in_lanes(share))


def new_runout_workspace(river: StreetTable) -> RunoutWorkspace:
    """A workspace for boards after the roots of `river`."""
    columns, buckets = river.lines.pot.shape[1], river.share.shape[1]
    groups = min(PAIRS, OUTCOMES * buckets)
    own = new_hands(1)
    own.size[0] = 1
    return RunoutWorkspace(
        new_street_workspace(np.float64),
        new_hands(1),
        own,
        np.zeros((PAIRS, columns)),
        np.zeros((1, columns)),
        np.zeros((1, columns)),
        np.zeros((groups, columns)),
        np.full(OUTCOMES * buckets, -1),
        np.zeros(groups, np.int64),
    )


@kernel
def turn_values(
    turn: StreetTable,
    river: StreetTable,
    cards: tuple[Ints, Ints],
    buckets: tuple[Longs, Longs],
    rivers: Ints,
    seat: int,
    reach: Floats,
    work: RunoutWorkspace,
    values: Floats,
) -> None:
    """Fill `values` [1, roots] with what our hand wins at the roots of the turn, on one board.

    `cards` are our hand and the board; `buckets` [1326] of the turn and [rivers, 1326] of the rivers; `reach`
    [1326, roots] of the opponent. Hands that share a card with ours or the board have reach 0.
    """
    roots, theirs, street = turn.lines.roots, work.theirs, work.street
    _list_hands(reach, buckets[0], theirs)
    count = theirs.size[0]
    work.reach[:] = 0.0
    for first in range(0, turn.lines.pot.shape[1], LANES):
        spread(theirs, theirs.theirs[0], turn.share[first // LANES], reach, first, street.reach)
        for place in range(count):
            for line in range(LINES):
                for lane in range(min(LANES, roots - first)):
                    at = line * roots + first + lane
                    work.reach[theirs.pair[place], at] = street.reach[place, line * LANES + lane]
    _river_values(river, cards, buckets[1], rivers, seat, work.reach, work, work.below)
    for first in range(0, turn.lines.pot.shape[1], LANES):
        spread(theirs, theirs.theirs[0], turn.share[first // LANES], reach, first, street.reach)
        street.met[0, :] = 0.0
        for place in range(count):
            for at in range(LINES * LANES):
                street.met[0, at] += street.reach[place, at]
        street.call[0, :] = 0.0
        for line in range(LINES):
            for lane in range(min(LANES, roots - first)):
                street.call[0, line * LANES + lane] = work.below[0, line * roots + first + lane]
        _respond(turn.lines, seat, first, work, values)


@kernel
def river_values(
    river: StreetTable,
    cards: tuple[Ints, Ints],
    buckets: Longs,
    rivers: Ints,
    seat: int,
    reach: Floats,
    work: RunoutWorkspace,
    values: Floats,
) -> None:
    """The same at the roots of the river, with the board of the turn; `rivers` are all that may follow."""
    _list_hands(reach, buckets[0], work.theirs)
    _river_values(river, cards, buckets, rivers, seat, reach, work, values)


@kernel
def _is_reached(reach: Floats) -> bool:
    for row in reach:
        for here in row:
            if here != 0.0:
                return True
    return False


@kernel
def _list_hands(reach: Floats, buckets: Longs, theirs: Hands) -> None:
    """The hands with which the opponent gets to any root, and their buckets."""
    count = 0
    for pair in range(PAIRS):
        if _is_reached(reach[pair : pair + 1]):
            theirs.pair[count], theirs.theirs[0, count] = pair, buckets[pair]
            count += 1
    theirs.size[0] = count


@kernel
def _river_values(
    river: StreetTable,
    cards: tuple[Ints, Ints],
    buckets: Longs,
    rivers: Ints,
    seat: int,
    reach: Floats,
    work: RunoutWorkspace,
    values: Floats,
) -> None:
    hole, board = cards
    values[:] = 0.0
    street, columns = work.street, river.lines.pot.shape[1]
    word = np.uint64(0)
    for card in board[:4]:
        word |= CARD_BIT[card]
    for number in range(len(rivers)):
        groups = _group_hands(word, hole, rivers[number], buckets[number], reach, work)
        for first in range(0, columns, LANES):
            if not _is_reached(work.grouped[:groups, first : first + LANES]):
                work.values[0, first : first + LANES] = 0.0
                continue
            street.met[0, :] = 0.0
            street.call[0, :] = 0.0
            for group in range(groups):
                outcome, bucket = work.known[group] % OUTCOMES, work.known[group] // OUTCOMES
                sign = float(outcome) - 1.0
                share = river.share[first // LANES, bucket]
                for line in range(LINES):
                    for lane in range(LANES):
                        here = work.grouped[group, first + lane] * share[line * LANES + lane]
                        street.met[0, line * LANES + lane] += here
                        street.call[0, line * LANES + lane] += sign * here
            for line in range(LINES):
                for lane in range(LANES):
                    street.call[0, line * LANES + lane] *= river.lines.pot[line, first + lane]
            _respond(river.lines, seat, first, work, work.values)
        for root in range(columns):
            values[0, root] += work.values[0, root]
    for root in range(columns):
        values[0, root] /= CARDS - 8  # with each hand of the opponent that many rivers are possible


@kernel
def _respond(lines: StreetLines, seat: int, first: int, work: RunoutWorkspace, values: Floats) -> None:
    for line in range(LINES):
        for lane in range(LANES):
            work.street.paid[0, line * LANES + lane] = lines.paid[line, first + lane]
    respond_best(work.own, seat == FIRST, first, work.street, values)


@kernel
def _group_hands(
    word: np.uint64, hole: Ints, card: int, buckets: Longs, reach: Floats, work: RunoutWorkspace
) -> int:
    """Add up the reach of the hands of equal bucket and outcome on a river; returns the number of groups."""
    last, columns, count = word | CARD_BIT[card], reach.shape[1], 0
    ours = evaluate(last | CARD_BIT[hole[0]] | CARD_BIT[hole[1]])
    for place in range(work.theirs.size[0]):
        pair = work.theirs.pair[place]
        low, high = PAIR_CARDS[pair, 0], PAIR_CARDS[pair, 1]
        if low == card or high == card:
            continue
        value = evaluate(last | CARD_BIT[low] | CARD_BIT[high])
        key = buckets[pair] * OUTCOMES + (1 if value == ours else 2 if value < ours else 0)
        group = work.number[key]
        if group < 0:
            group, count = count, count + 1
            work.number[key], work.known[group] = group, key
            for root in range(columns):
                work.grouped[group, root] = 0.0
        for root in range(columns):
            work.grouped[group, root] += reach[pair, root]
    for group in range(count):
        work.number[work.known[group]] = -1
    return count
