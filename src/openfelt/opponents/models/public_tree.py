"""The public states of a betting game, as opponent models see them: all betting lines, without cards.

A *line* is the sequence of actions so far, each coded in one byte. At a decision, models read *facts*, which
are numbers such as the pot; queries (`public_queries.py`) test for sequences of earlier actions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from openfelt.cards.deck import Bytes
from openfelt.core.jit import Ints, Longs, kernel, part
from openfelt.games.compile.betting_tree import (
    ACTIONS_MASK,
    FACING_SHIFT,
    KIND,
    PLAYER,
    STREET_SHIFT,
    betting_nodes,
    betting_states,
)
from openfelt.games.game import CHANCE, TERMINAL, Game
from openfelt.games.holdem import Holdem, betting_actions, is_over

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


class PublicTree(NamedTuple):
    """All betting lines of a game.

    Lines with the same future share a *state*, from which the chips follow: state 0 is the start, and
    `after` leads from state to state.
    """

    node: Ints  # [nodes, 4], with the columns of `games/compile/betting_tree.py`
    after: Ints  # [states, CLASSES] the state that follows an action; -1 where it is not legal
    paid: Longs  # [states, players] chips that each has put in


class Places(NamedTuple):
    """Decisions of a game: their nodes, each with the line that leads there."""

    node: Longs  # [places]
    line: Bytes  # [places, LONGEST]
    length: Longs  # [places]


def holdem_public(game: Holdem) -> PublicTree:
    """The public tree of hold'em."""
    states, following = betting_states(game.players, game.bets)
    after = np.full((len(states), len(CLASSES)), -1, np.int32)
    for here, state in enumerate(states):
        if not is_over(state):
            first = FOLD if "call" in betting_actions(state) else CALL
            after[here, first : first + len(following[here])] = following[here]
    paid = np.array([state.paid for state in states], np.int64)
    return PublicTree(betting_nodes(game.players, game.bets)[0], after, paid)


def small_public(game: Game, paid: Callable[[Any], Sequence[int]]) -> PublicTree:
    """The public tree of a small game whose betting does not depend on the cards; each node is a state.

    `paid` gives the chips that each player has put in at a state of the game.
    """
    rows: list[list[int]] = [[0, 0, 0, 0]]
    after: list[list[int]] = [[-1] * len(CLASSES)]
    open_nodes = [(0, _without_chance(game, game.start()))]
    for here, state in open_nodes:
        mover = game.turn(state)
        if mover == TERMINAL:
            rows[here] = [TERMINAL, 0, 0, 0]
            continue
        actions = game.actions(state)
        facing = len(actions) == 3 or game.passive(state) == actions[1]
        kind = len(actions) | facing << FACING_SHIFT | _street(state) << STREET_SHIFT
        rows[here] = [mover, kind, len(rows), 0]
        for position, action in enumerate(actions):
            after[here][position + 1 - facing] = len(rows)
            open_nodes.append((len(rows), _without_chance(game, game.play(state, action))))
            rows.append([0, 0, 0, 0])
            after.append([-1] * len(CLASSES))
    chips = np.array([paid(state) for _, state in open_nodes], np.int64)
    return PublicTree(np.array(rows, np.int32), np.array(after, np.int32), chips)


def _without_chance(game: Game, state: object) -> object:
    while game.turn(state) == CHANCE:
        state = game.play(state, game.actions(state)[0])
    return state


def _street(state: object) -> int:
    return int(bool(getattr(state, "board", "")))


@part
def classes(kind: int) -> tuple[int, int]:
    """The first class of action at a decision, and the number of its actions."""
    return 1 - (kind >> FACING_SHIFT & 1), kind & ACTIONS_MASK


@part
def code(player: int, klass: int, street: int) -> int:
    """An action in one byte."""
    return player << 4 | klass << 2 | street


def find_places(tree: PublicTree, lines: Sequence[Sequence[int]]) -> Places:
    """The decisions after lines; actions are given by their position among the legal ones."""
    node, length = np.zeros((2, len(lines)), np.int64)
    codes = np.zeros((len(lines), LONGEST), np.uint8)
    for row, line in enumerate(lines):
        here = 0
        for place, position in enumerate(line):
            player, kind, child, _ = (int(number) for number in tree.node[here])
            klass = position + 1 - (kind >> FACING_SHIFT & 1)
            codes[row, place] = player << 4 | klass << 2 | (kind >> STREET_SHIFT & 3)
            here = child + position
        node[row], length[row] = here, len(line)
    return Places(node, codes, length)


def facts_at(tree: PublicTree, places: Places) -> Bytes:
    """[places, FACTS] the facts of decisions."""
    found = np.zeros((len(places.node), len(FACTS)), np.uint8)
    _facts_at(tree, places, found)
    return found


@kernel
def _facts_at(tree: PublicTree, places: Places, found: Bytes) -> None:
    for row in range(len(places.node)):
        read_facts(tree, places.node[row], places.line[row], places.length[row], found[row])


@part
def read_facts(tree: PublicTree, node: int, line: Bytes, length: int, facts: Bytes) -> None:
    """Write the facts of the decision at `node`, after the first `length` actions of `line`."""
    me, street = tree.node[node, PLAYER], tree.node[node, KIND] >> STREET_SHIFT & 3
    players = tree.paid.shape[1]
    for fact in range(len(facts)):
        facts[fact] = 0
    facts[_SEAT], facts[_PHASE], facts[_INSIDE] = me, street, players
    state = 0
    for place in range(length):
        player, klass, when = line[place] >> 4, line[place] >> 2 & 3, line[place] & 3
        state = tree.after[state, klass]
        if klass == RAISE:
            facts[_BETS] += 1
            facts[_PHASE_BETS] += when == street
            facts[_OWN_BETS] += player == me
        facts[_INSIDE] -= klass == FOLD
        if player == me:
            facts[_LAST] = klass
        elif klass != FOLD:  # of three players, one that folds does not undo what another did
            facts[_OTHERS_LAST] = klass
    most = 0
    for seat in range(players):
        facts[_POT] += tree.paid[state, seat]
        most = max(most, tree.paid[state, seat])
    facts[_PAID] = tree.paid[state, me]
    facts[_TO_CALL] = most - tree.paid[state, me]
