"""CFR-BR on small decks: the least exploitable policy of an abstraction, by a linear program."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from types import SimpleNamespace

import numpy as np
from small_holdem import ALIKE, SmallHoldem, SmallState, live_cards, live_pairs

from openfelt.cards.boards import PERMUTED_PAIR, board_set, find_board
from openfelt.cards.deck import BOARD_CARDS, PAIR_CARDS, PAIRS, parse_cards
from openfelt.cards.evaluator import hand_value
from openfelt.cards.public_cards import Deck
from openfelt.games.compile.betting_tree import betting_tree
from openfelt.games.game import CHANCE
from openfelt.measure.holdem.player import Player
from openfelt.solve.vector.betting_lines import betting_lines
from openfelt.solve.vector.cfr_br import CFRBR

NINE = Deck(3, 3)


def hole_bucket(hole) -> int:
    """A pair, suited, or neither."""
    one, two = hole
    return 0 if one // 4 == two // 4 else 1 if one % 4 == two % 4 else 2


def river_bucket(hole, board) -> int:
    """With a hand that the board alone does not make, or not; the hole bucket is remembered."""
    return 2 * hole_bucket(hole) + (hand_value((*hole, *board)) > 2 * 3000)


@dataclass(frozen=True)
class Bucketed(SmallHoldem):
    """One seat sees the buckets of its hole cards and of the river only."""

    seat: int = 0

    def sees(self, state: SmallState, action: str, player: int) -> str:
        if player != self.seat or self.turn(state) != CHANCE:
            return super().sees(state, action, player)
        cards = parse_cards(action)
        if len(state.hands) < 2:
            return f"hole {hole_bucket(cards)}" if len(state.hands) == player else ""
        board = (*state.board, *cards)
        return f"river {river_bucket(state.hands[player], board)}" if len(board) == 5 else ""


def bucket_tables(deck):
    """By street [canonical boards, 1326]; filled where the deck has the cards."""
    tables = []
    for size in BOARD_CARDS:
        table = np.zeros((len(board_set(size).key), PAIRS), ALIKE)
        for board in combinations(live_cards(deck), size):
            number, seen_as = find_board(board)
            for pair in live_pairs(deck):
                hole = PAIR_CARDS[pair].tolist()
                if not {*hole} & {*board}:
                    bucket = river_bucket(hole, board) if size == 5 else hole_bucket(hole)
                    table[number, PERMUTED_PAIR[seen_as, pair]] = bucket
        tables.append(table)
    return tables


def learner(bets=1, **options):
    tables = bucket_tables(NINE)
    rules = SimpleNamespace(name="small", players=2, bets=bets)
    abstraction = SimpleNamespace(counts=(3, 3, 3, 6), tables=lambda: tables, fingerprint="small")
    return CFRBR(betting_tree(rules, abstraction), deck=NINE, **options), tables


def player_of(solver, tables):
    tree = solver.tree
    weights, probabilities = solver.weights, np.empty(tree.num_slots)
    node = tree.node
    for here in np.flatnonzero(node[:, 0] >= 0):
        for bucket in range(int(tree.layout.buckets[tree.street(here), node[here, 0]])):
            slots = tree.slots(int(here), bucket)
            total = weights[slots].sum()
            probabilities[slots] = weights[slots] / total if total > 0 else 1.0 / (slots.stop - slots.start)
    return Player("learned", betting_lines(tree.most_bets), tree.layout, probabilities, tuple(tables))
