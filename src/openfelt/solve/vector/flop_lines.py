"""One flop of Flop Hold'em for all hands: strategies to shares of the betting lines, and values of actions.

The betting after a root has nine lines to the showdown (`betting_lines.py`); all roots are computed side by
side (`street_kernels.py`). A strategy is [rows, ACTIONS * LANES]: for each hand up to suits and each of the
player's actions (`games/compile/flop_tree.py`) the numbers of all roots.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import FLOP, PAIRS
from openfelt.core.jit import kernel, vector_kernel
from openfelt.games.compile.flop_tree import ACTIONS, FlopHands, FlopTree
from openfelt.games.holdem import BET, MOST_BETS
from openfelt.solve.vector.betting_lines import FIRST, LANES, LINES
from openfelt.solve.vector.street_kernels import (
    Hands,
    StreetWorkspace,
    meet,
    new_street_workspace,
    show_down,
    spread,
)

Reals: TypeAlias = NDArray[Any]  # single or double precision
WIDTH = ACTIONS * LANES  # of a row of a strategy


class FlopWork(NamedTuple):
    """The arrays that one thread writes to."""

    street: StreetWorkspace  # with the pots of all lines
    ours: Reals  # [1326, ACTIONS * LANES] strategy of the player whose values are computed
    theirs: Reals  # that of the opponent
    share: Reals  # [1326, LINES * LANES] the opponent's share of each line
    value: Reals  # [ACTIONS * LANES] value of each action of a hand
    whole: Reals  # [LANES] its value at the root


def new_flop_work(tree: FlopTree, kind: type[np.floating[Any]]) -> FlopWork:
    """Arrays of that type of numbers."""
    street = new_street_workspace(kind)
    stakes = np.zeros(LANES)
    stakes[: len(tree.roots)] = tree.stakes
    bets = np.array([0, *range(1, MOST_BETS + 1), *range(1, MOST_BETS + 1)])
    pot = stakes + BET[FLOP] * bets[:, None]
    street.pot[:] = pot.ravel()
    street.paid[0] = (pot - BET[FLOP]).ravel()  # by the player that answers the last bet of a line
    ours, theirs, share = (np.zeros((PAIRS, width), kind) for width in (WIDTH, WIDTH, LINES * LANES))
    return FlopWork(street, ours, theirs, share, np.zeros(WIDTH, kind), np.zeros(LANES, kind))


@kernel
def meet_strategy(hands: FlopHands, flop: int, seat: int, reach: Reals, work: FlopWork) -> Hands:
    """Fill the values of all lines and what each hand of `seat` meets, from the opponent's strategy.

    `reach` [1, 1326, LANES] is the opponent's at the roots.
    """
    row = hands.row[flop].reshape((1, -1))
    here = Hands(np.array([hands.pair.shape[1]], np.int32), hands.pair[flop], hands.end[flop], row, row)
    rows = hands.first_row[flop + 1] - hands.first_row[flop]
    _line_shares(work.theirs[:rows], seat != FIRST, work.share)
    spread(here, here.theirs[0], work.share, reach[0], 0, work.street.reach)
    meet(here, work.street)
    show_down(here, work.street)
    return here


@vector_kernel
def _line_shares(strategy: Reals, opens: bool, share: Reals) -> None:
    """The player's share of each line; `opens` if it acts first on the flop."""
    lanes = strategy.shape[1] // ACTIONS
    ours, theirs = (MOST_BETS + 1, 1) if opens else (1, MOST_BETS + 1)  # raise sequences, by who begins
    for row in range(len(strategy)):
        act, line = strategy[row], share[row]
        for lane in range(lanes):
            line[lane] = act[lane]
            bet, again = act[lanes + lane], act[lanes + lane] * act[10 * lanes + lane]
            line[ours * lanes + lane] = bet
            line[(ours + 1) * lanes + lane] = bet * act[9 * lanes + lane]
            line[(ours + 2) * lanes + lane] = again
            line[(ours + 3) * lanes + lane] = again * act[12 * lanes + lane]
        for lane in range(lanes):
            call, rise = act[3 * lanes + lane], act[4 * lanes + lane]
            if opens:  # it has checked before
                call, rise = call * act[lane], rise * act[lane]
            line[theirs * lanes + lane] = call
            line[(theirs + 1) * lanes + lane] = rise
            line[(theirs + 2) * lanes + lane] = rise * act[6 * lanes + lane]
            line[(theirs + 3) * lanes + lane] = rise * act[7 * lanes + lane]


@vector_kernel
def value_actions(place: int, opens: bool, act: Reals, street: StreetWorkspace, value: Reals) -> None:
    """The value of each action of the hand at `place`, which goes on by its strategy `act`."""
    call, met, paid = street.call[place], street.met[place], street.paid[0]
    lanes = LANES
    one = lanes * (MOST_BETS + 1) if opens else lanes
    for at in range(lanes):  # what we began to bet, from the last bet to the first
        first, second, third, fourth = one + at, one + lanes + at, one + 2 * lanes + at, one + 3 * lanes + at
        value[11 * lanes + at] = -paid[fourth] * met[fourth]
        value[12 * lanes + at] = call[fourth]
        later = act[11 * lanes + at] * value[11 * lanes + at] + act[12 * lanes + at] * call[fourth]
        value[8 * lanes + at] = -paid[second] * met[second]
        value[9 * lanes + at] = call[second]
        again = paid[third] * (met[second] - met[third] - met[fourth]) + call[third] + later
        value[10 * lanes + at] = again
        later = act[8 * lanes + at] * value[8 * lanes + at] + act[9 * lanes + at] * call[second]
        later += act[10 * lanes + at] * again
        before = met[at]  # the opponent has checked
        if opens:  # it has done nothing yet, and would have checked or bet
            before += met[lanes + at]
        value[lanes + at] = paid[first] * (before - met[first] - met[second]) + call[first] + later
    one = lanes if opens else lanes * (MOST_BETS + 1)
    for at in range(lanes):  # what the opponent began
        first, second, third, fourth = one + at, one + lanes + at, one + 2 * lanes + at, one + 3 * lanes + at
        value[5 * lanes + at] = -paid[third] * met[third]
        value[6 * lanes + at] = call[third]
        again = paid[fourth] * (met[third] - met[fourth]) + call[fourth]
        value[7 * lanes + at] = again
        later = act[5 * lanes + at] * value[5 * lanes + at] + act[6 * lanes + at] * call[third]
        later += act[7 * lanes + at] * again
        value[2 * lanes + at] = -paid[first] * met[first]
        value[3 * lanes + at] = call[first]
        value[4 * lanes + at] = paid[second] * (met[first] - met[second] - met[third]) + call[second] + later
        value[at] = call[at]
    if opens:  # a bet may follow our check
        for at in range(lanes):
            value[at] += _joined(act, value, at, lanes)


@vector_kernel
def value_root(opens: bool, act: Reals, value: Reals, whole: Reals) -> None:
    """The value of the root, from those of the actions."""
    lanes = len(whole)
    for at in range(lanes):
        whole[at] = act[at] * value[at] + act[lanes + at] * value[lanes + at]
    if not opens:
        for at in range(lanes):
            whole[at] += _joined(act, value, at, lanes)


@vector_kernel
def _joined(act: Reals, value: Reals, at: int, lanes: int) -> float:
    """The value of the answer to the opponent's first bet."""
    fold = act[2 * lanes + at] * value[2 * lanes + at]
    call = act[3 * lanes + at] * value[3 * lanes + at]
    return float(fold + call + act[4 * lanes + at] * value[4 * lanes + at])
