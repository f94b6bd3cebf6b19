"""Flop Hold'em with few cards, as rules for the enumerating code, and its policies as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from small_holdem import SmallHoldem, SmallState, _parsed, _value

from openfelt.cards.deck import FLOP
from openfelt.games.compile.flop_tree import FlopTree, flop_decision
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.game import CHANCE, TERMINAL
from openfelt.games.holdem import bet, is_over, players_in
from openfelt.policy.holdem import parse_infoset
from openfelt.policy.tabular import TabularPolicy


@dataclass(frozen=True)
class SmallFlop(SmallHoldem):
    """Flop Hold'em with the highest ranks of the first suits; hands and flops come at once."""

    key = "small_flop"
    bets: int = 4

    def turn(self, state: SmallState) -> int:
        if is_over(state.betting, FLOP):
            return TERMINAL
        if state.betting.street == FLOP:
            return state.betting.turn if state.shares else CHANCE
        return state.betting.turn if len(state.hands) == 2 else CHANCE

    def play(self, state: SmallState, action: str) -> SmallState:
        if self.turn(state) != CHANCE:
            after = bet(state.betting, action)
            return SmallState(after) if len(players_in(after)) == 1 else state._replace(betting=after)
        cards = _parsed(action)
        if len(state.hands) < 2:
            return state._replace(hands=(*state.hands, cards))
        value = [_value(hand, cards) for hand in state.hands]
        best = [each == max(value) for each in value]
        return SmallState(state.betting, shares=tuple(each / sum(best) for each in best))


def slot_finder(tree: FlopTree):
    """A function from an infoset in words to the player and the first slots of its actions."""
    numbers = np.arange(tree.num_slots)
    parts = [tree.parts(numbers, seat) for seat in range(2)]
    hand = cache(tree.hand)

    @cache
    def place(line: tuple[str, ...], board: bool):
        node = 0
        for count, word in enumerate(line):
            if tree.nodes[node].player == CHANCE:
                return node, flop_decision(tree.nodes[node].betting, line[count:])
            node = tree.nodes[node].children[tree.nodes[node].words.index(word)]
        if board:
            return node, flop_decision(tree.nodes[node].betting, ())
        return node, None

    def find(name: str) -> Sequence[int]:
        hole, board, line = parse_infoset(name)
        node, decision = place(tuple(line), bool(board))
        if decision is None:
            here = tree.nodes[node]
            row = parts[here.player][0][kind(hole)]
            return row[here.place : here.place + len(here.words)]
        row = parts[decision.player][1][hand(hole, board)]
        return row[decision.first : decision.first + len(decision.words), tree.nodes[node].place]

    return find


@cache
def kind(hole: tuple[int, ...]) -> int:
    from openfelt.cards.boards import hole_class
    from openfelt.cards.deck import PAIR

    return int(hole_class()[PAIR[hole]])


@cache
def slots_of(small: GameTree, tree: FlopTree) -> np.ndarray:
    """[slots of the enumerated game] the slots of the tree."""
    find = slot_finder(tree)
    return np.concatenate([find(small.row_name(row)) for row in range(small.num_rows)])


def as_table(small: GameTree, tree: FlopTree, weights: np.ndarray) -> TabularPolicy:
    """Weights [slots] of the tree as a policy of the enumerated game."""
    table = np.asarray(weights, float)[slots_of(small, tree)]
    first = small.first_slot[:-1]
    total = np.repeat(np.add.reduceat(table, first), np.diff(small.first_slot))
    equal = np.repeat(1.0 / np.diff(small.first_slot), np.diff(small.first_slot))
    return TabularPolicy(small, np.where(total > 0, table / np.where(total > 0, total, 1.0), equal))
