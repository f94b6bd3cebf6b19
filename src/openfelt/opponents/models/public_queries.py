"""Queries about earlier actions: conjunctions of literals that may share variables (PGC10).

Literal number k of a query reads

    ACTION_IN_GAME(X, P, Y, A)

X is the variable `parent` (0: the decision itself; k: the action that literal k - 1 found), P the player to
move or another one, and Y a new variable: before X there was an action Y in which P did A. ACTION_IN_PHASE
also requires X and Y to be on one street. A query holds if some choice of actions satisfies all literals.
"""

from __future__ import annotations

import numpy as np

from openfelt.cards.deck import Bytes
from openfelt.core.jit import Ints, Longs, kernel, part
from openfelt.games.compile.betting_tree import KIND, PLAYER, STREET_SHIFT
from openfelt.opponents.models.public_tree import Places, PublicTree

THE_PLAYER, ANOTHER = 0, 1  # who acted
IN_GAME, IN_PHASE = 0, 1  # where the literal looks
PARENT, WHO, WHAT, WHERE = range(4)  # columns of a query [literals, 4]


def holds_at(tree: PublicTree, places: Places, query: Ints) -> Bytes:
    """[places] 1 where a query holds."""
    found = np.zeros(len(places.node), np.uint8)
    _holds_at(tree, places, query, found)
    return found


@kernel
def _holds_at(tree: PublicTree, places: Places, query: Ints, found: Bytes) -> None:
    done, when = np.zeros((tree.paid.shape[1] + 1, 3), np.int64), np.zeros(4, np.int64)
    room = np.zeros(len(query) + 1, np.int64)
    for row in range(len(places.node)):
        done[:], when[:] = 0, 0
        for place in range(places.length[row]):
            record_action(done, when, place, places.line[row, place])
        kind, player = tree.node[places.node[row], KIND], tree.node[places.node[row], PLAYER]
        found[row] = query_holds(query, len(query), done, when, player, kind >> STREET_SHIFT & 3, room)


@part
def record_action(done: Longs, when: Longs, place: int, action: int) -> None:
    """Set the action at a place of the line; actions recorded there and later are dropped.

    `done` has a bit for each place of the line, by player (the last row: all players) and class; `when` has
    them by street.
    """
    kept, bit = (1 << place) - 1, 1 << place
    for whose in range(done.shape[0]):
        for klass in range(done.shape[1]):
            done[whose, klass] &= kept
    for street in range(len(when)):
        when[street] &= kept
    done[action >> 4, action >> 2 & 3] |= bit
    done[-1, action >> 2 & 3] |= bit
    when[action & 3] |= bit


@part
def query_holds(
    query: Ints, literals: int, done: Longs, when: Longs, me: int, street: int, room: Longs
) -> bool:
    """Whether some choice of actions satisfies all literals.

    From the last literal to the first: room[literal] is the set of actions that can be its Y, those of its
    kind that come after a possible action of each literal about Y.
    """
    for literal in range(literals - 1, -1, -1):
        what = query[literal, WHAT]
        can = done[me, what] if query[literal, WHO] == THE_PLAYER else done[-1, what] & ~done[me, what]
        for later in range(literal + 1, literals):
            if query[later, PARENT] != literal + 1:
                continue
            if query[later, WHERE] == IN_GAME:
                can &= _after_first(room[later])
            else:
                fits = 0
                for each in range(len(when)):
                    fits |= when[each] & _after_first(room[later] & when[each])
                can &= fits
        room[literal] = can
        if query[literal, PARENT] == 0:
            here = can & when[street] if query[literal, WHERE] == IN_PHASE else can
            if here == 0:
                return False
    return True


@part
def _after_first(places: int) -> int:
    """All places after the first of a set; none if the set is empty."""
    first = places & -places
    return ~((first << 1) - 1) if first else 0
