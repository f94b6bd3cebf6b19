"""The public side of a betting game, as models see it: who bet what in which order, without any cards.

A *line* is the actions so far, each coded as one byte. At a decision on it a model may ask for *facts*, which
are numbers such as the pot, and whether a *query* holds: a conjunction of literals about earlier actions,
with variables that the literals may share (PGC10). A query's literal number k reads

    ACTION_IN_GAME(X, P, Y, A)

with X the variable `parent` (0 is the decision itself, k the action that literal k - 1 found), P the player
to move or another, and Y a new variable: there was an action Y before X, in which P did A. ACTION_IN_PHASE
asks that X and Y be on one street. A query holds if there is a choice of actions for which all literals do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import Bytes
from openfelt.core.jit import Ints, Longs, kernel, part
from openfelt.games.compile.betting_tree import (
    ACTIONS_MASK,
    CHILD,
    FACING_SHIFT,
    KIND,
    PLAYER,
    STREET_SHIFT,
    betting_nodes,
)
from openfelt.games.game import CHANCE, TERMINAL, Game
from openfelt.games.holdem import BET, BLINDS, Holdem

FOLD, CALL, RAISE = range(3)  # classes of actions; a check is a CALL, a bet a RAISE (PGC10)
CLASSES = ("fold", "call", "bet")
LONGEST = 64  # actions of a line

FACTS = (
    "seat",
    "phase",
    "bets_in_game",
    "bets_in_phase",
    "bets_of_player",
    "pot",
    "to_call",
    "paid",
    "last_of_player",  # 0 none yet, 1 check or call, 2 bet or raise
    "last_of_others",
    "players_in",
)
_SEAT, _PHASE, _BETS, _PHASE_BETS, _OWN_BETS, _POT, _TO_CALL, _PAID, _LAST, _OTHERS_LAST, _INSIDE = range(11)

THE_PLAYER, ANOTHER = 0, 1  # who a literal speaks of
IN_GAME, IN_PHASE = 0, 1  # where it looks
PARENT, WHO, WHAT, WHERE = range(4)  # columns of a query [literals, 4]


class PublicTree(NamedTuple):
    """All lines of a game; nodes are those of `compile.betting_tree`, which see for the columns."""

    node: Ints
    opening: Longs  # [players] chips that each has paid before the first action
    sizes: Longs  # [streets] chips of a bet


class Places(NamedTuple):
    """Some decisions of a game: their nodes, each with the line that leads there."""

    node: Longs  # [places]
    line: Bytes  # [places, LONGEST]
    length: Longs  # [places]


def holdem_public(game: Holdem) -> PublicTree:
    """Of hold'em."""
    node, _, _ = betting_nodes(game.players, game.bets)
    return PublicTree(node, np.array(BLINDS[game.players], np.int64), np.array(BET, np.int64))


def small_public(game: Game, opening: Sequence[int], sizes: Sequence[int]) -> PublicTree:
    """Of a small betting game whose betting does not depend on the cards, from its rules."""
    rows: list[list[int]] = [[0, 0, 0, 0]]
    open_nodes = [(0, _without_chance(game, game.start()), 0)]
    for here, state, _ in open_nodes:
        mover = game.turn(state)
        if mover == TERMINAL:
            rows[here] = [TERMINAL, 0, 0, 0]
            continue
        actions = game.actions(state)
        facing = len(actions) == 3 or game.passive(state) == actions[1]
        street = _street(game, state)
        kind = len(actions) | facing << FACING_SHIFT | street << STREET_SHIFT
        rows[here] = [mover, kind, len(rows), 0]
        for action in actions:
            open_nodes.append((len(rows), _without_chance(game, game.play(state, action)), 0))
            rows.append([0, 0, 0, 0])
    return PublicTree(np.array(rows, np.int32), np.array(opening, np.int64), np.array(sizes, np.int64))


def _without_chance(game: Game, state: object) -> object:
    while game.turn(state) == CHANCE:
        state = game.play(state, game.actions(state)[0])
    return state


def _street(game: Game, state: object) -> int:
    return int(bool(getattr(state, "board", "")))


@part
def classes(kind: int) -> tuple[int, int]:
    """The first class of action that a decision has, and how many."""
    return 1 - (kind >> FACING_SHIFT & 1), kind & ACTIONS_MASK


@part
def code(player: int, klass: int, street: int) -> int:
    """An action in a byte."""
    return player << 4 | klass << 2 | street


def find_places(tree: PublicTree, lines: Sequence[Sequence[int]]) -> Places:
    """The decisions after lines that are given as places of actions among those of the rules."""
    node, length = np.zeros((2, len(lines)), np.int64)
    codes = np.zeros((len(lines), LONGEST), np.uint8)
    for row, line in enumerate(lines):
        here = 0
        for place, way in enumerate(line):
            player, kind, child, _ = (int(number) for number in tree.node[here])
            klass = way + 1 - (kind >> FACING_SHIFT & 1)
            codes[row, place] = player << 4 | klass << 2 | (kind >> STREET_SHIFT & 3)
            here = child + way
        node[row], length[row] = here, len(line)
    return Places(node, codes, length)


def facts_at(tree: PublicTree, places: Places) -> Bytes:
    """[places, FACTS]."""
    found = np.zeros((len(places.node), len(FACTS)), np.uint8)
    _facts_at(tree, places, np.zeros((2, len(tree.opening)), np.int64), found)
    return found


def holds_at(tree: PublicTree, places: Places, query: Ints) -> Bytes:
    """[places] 1 where a query holds."""
    found = np.zeros(len(places.node), np.uint8)
    _holds_at(tree, places, query, found)
    return found


def all_facts(tree: PublicTree, names: Sequence[str] = FACTS) -> Bytes:
    """[nodes, names] the facts of these names; zeros where nobody decides."""
    columns = np.array([FACTS.index(name) for name in names], np.int64)
    found = np.zeros((len(tree.node), len(names)), np.uint8)
    nothing = np.zeros(0, np.int64)
    _walk(tree, columns, found, np.zeros((0, 0, 4), np.int32), nothing, nothing, np.zeros((0, 0), np.uint64))
    return found


def bits_everywhere(tree: PublicTree, queries: Mapping[int, Ints], bits: NDArray[np.uint64]) -> None:
    """Set bits of [nodes, words] where queries hold, each the bit of its number.

    All in one walk, for trees of millions of nodes.
    """
    longest = max((len(query) for query in queries.values()), default=0)
    table, literals = np.zeros((len(queries), longest, 4), np.int32), np.zeros(len(queries), np.int64)
    for place, query in enumerate(queries.values()):
        table[place, : len(query)], literals[place] = query, len(query)
    numbers, nothing = np.array(list(queries), np.int64), np.zeros(0, np.int64)
    _walk(tree, nothing, np.zeros((0, 0), np.uint8), table, literals, numbers, bits)


@kernel
def _facts_at(tree: PublicTree, places: Places, money: Longs, found: Bytes) -> None:
    for row in range(len(places.node)):
        node = places.node[row]
        _look(tree, node, places.line[row], places.length[row], money, found[row])


@kernel
def _holds_at(tree: PublicTree, places: Places, query: Ints, found: Bytes) -> None:
    done, when = np.zeros((len(tree.opening) + 1, 3), np.int64), np.zeros(4, np.int64)
    room = np.zeros(len(query) + 1, np.int64)
    for row in range(len(places.node)):
        done[:], when[:] = 0, 0
        for place in range(places.length[row]):
            _put(done, when, place, places.line[row, place])
        kind, player = tree.node[places.node[row], KIND], tree.node[places.node[row], PLAYER]
        found[row] = _holds(query, len(query), done, when, player, kind >> STREET_SHIFT & 3, room)


@kernel
def _walk(
    tree: PublicTree,
    columns: Longs,
    facts: Bytes,
    queries: Ints,
    literals: Longs,
    numbers: Longs,
    bits: NDArray[np.uint64],
) -> None:
    """All nodes in depth: facts of these columns, if there are any, and the bits of queries that hold."""
    row, line = np.zeros(len(FACTS), np.uint8), np.zeros(LONGEST, np.uint8)
    money = np.zeros((2, len(tree.opening)), np.int64)
    done, when = np.zeros((len(tree.opening) + 1, 3), np.int64), np.zeros(4, np.int64)
    room = np.zeros(queries.shape[1] + 1, np.int64)
    stack = np.zeros((4 * LONGEST, 3), np.int64)  # node, depth, the code that led there
    count = 1
    while count:
        count -= 1
        node, depth = stack[count, 0], stack[count, 1]
        if depth:
            line[depth - 1] = stack[count, 2]
            _put(done, when, depth - 1, stack[count, 2])
        player, kind = tree.node[node, PLAYER], tree.node[node, KIND]
        if player < 0:
            continue
        street = kind >> STREET_SHIFT & 3
        if len(columns):
            _look(tree, node, line, depth, money, row)
            for place in range(len(columns)):
                facts[node, place] = row[columns[place]]
        for place in range(len(queries)):
            if _holds(queries[place], literals[place], done, when, player, street, room):
                bits[node, numbers[place] >> 6] |= np.uint64(1) << np.uint64(numbers[place] & 63)
        first, ways = classes(kind)
        for way in range(ways):
            stack[count, 0], stack[count, 1] = tree.node[node, CHILD] + way, depth + 1
            stack[count, 2] = code(player, first + way, street)
            count += 1


@part
def _put(done: Longs, when: Longs, place: int, action: int) -> None:
    """Set the action at a place of the line, and forget what stood there and after it.

    `done` has a bit for each place of the line, by player and class, and last of all players; `when` by
    street.
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
def _holds(query: Ints, literals: int, done: Longs, when: Longs, me: int, street: int, room: Longs) -> bool:
    """Whether there are actions for all literals.

    From the last literal to the first: which actions can be its Y? Those of its kind that come after some
    action that can be that of each literal about Y; room[literal] has them.
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
    """All places after the first of some; none if there are none."""
    first = places & -places
    return ~((first << 1) - 1) if first else 0


@part
def _look(tree: PublicTree, node: int, line: Bytes, length: int, money: Longs, facts: Bytes) -> None:
    """The facts of a decision. `money` is room for what each has paid, and whether he folded."""
    me, street = tree.node[node, PLAYER], tree.node[node, KIND] >> STREET_SHIFT & 3
    for seat in range(len(tree.opening)):
        money[0, seat], money[1, seat] = tree.opening[seat], 0
    for fact in range(len(facts)):
        facts[fact] = 0
    facts[_SEAT], facts[_PHASE] = me, street
    for place in range(length):
        player, klass, when = line[place] >> 4, line[place] >> 2 & 3, line[place] & 3
        most = 0
        for seat in range(len(tree.opening)):
            most = max(most, money[0, seat])
        if klass == FOLD:
            money[1, player] = 1
        else:
            money[0, player] = most + (tree.sizes[when] if klass == RAISE else 0)
        if klass == RAISE:
            facts[_BETS] += 1
            facts[_PHASE_BETS] += when == street
            facts[_OWN_BETS] += player == me
        if player == me:
            facts[_LAST] = klass
        elif klass != FOLD:  # of three players, one who folds does not undo what another did
            facts[_OTHERS_LAST] = klass
    most = 0
    for seat in range(len(tree.opening)):
        facts[_POT] += money[0, seat]
        most = max(most, money[0, seat])
        facts[_INSIDE] += 1 - money[1, seat]
    facts[_PAID] = money[0, me]
    facts[_TO_CALL] = most - money[0, me]
