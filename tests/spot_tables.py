"""What the tables of a spot's engine hold for single hands, and spots that tests share."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

import openfelt as felt
from openfelt.cards.boards import PERMUTATIONS
from openfelt.cards.deck import PAIR, PAIR_CARDS, pair_number
from openfelt.spots.engine import Engine
from openfelt.spots.lines import find_place, parse_line
from openfelt.spots.runouts import build_runouts


def build_engine(spot, *, merge=False):
    """An engine of a spot; its boards are not merged unless asked for."""
    runouts = build_runouts(spot.cards, spot.ranges, merge=merge)
    return Engine(spot.streets, runouts, [spot.ranges[player][root_pairs(spot, player)] for player in (0, 1)])


def root_pairs(spot, player):
    """The numbers of a player's hands in the order of values at the root."""
    return np.flatnonzero(spot.ranges[player])


def fill_at_random(engine, seed):
    """Fill all tables with random numbers: some regrets are negative, some rows without a positive number."""
    random = np.random.default_rng(seed)
    for level in engine.levels:
        tables = level.tables
        tables.regret[:] = random.normal(size=tables.regret.shape)
        tables.average[:] = random.exponential(size=tables.average.shape)
        tables.average[random.random(tables.average.shape) < 0.2] = 0


class TableReader:
    """Numbers of a table by street, place, cards and hand, also on boards that are merged with others."""

    def __init__(self, engine, name="average"):
        self.levels, self.name = engine.levels, name
        self._boards = [_board_numbers(engine.runouts, street) for street in range(1, len(engine.levels))]
        self._hands = [_hand_numbers(runouts) for runouts in engine.runouts]

    def entries(self, street, place, cards, pair):
        """[actions] where the numbers of a hand are in the table; `cards` are those dealt since the root."""
        board, suits = 0, (0, 1, 2, 3)
        for boards, card in zip(self._boards, cards, strict=False):
            board, back = boards[board, _permute(card, suits)]
            suits = tuple(back[suit] for suit in suits)
        low, high = (_permute(int(card), suits) for card in PAIR_CARDS[pair])
        level = self.levels[street]
        player = int(level.betting.kind[place])
        size = int(level.runouts.size[player, board])
        hand = self._hands[street][player, board, int(PAIR[low, high])]
        row = int(level.tables.first[player, board]) + int(level.betting.entry[place]) * size + hand
        return row + size * np.arange(level.betting.actions[place])

    def read(self, *where):
        level = self.levels[where[0]]
        return getattr(level.tables, self.name)[self.entries(*where)].astype(np.float64)

    def strategy(self, *where):
        """[actions] in proportion to positive numbers; uniform without any."""
        above = np.maximum(self.read(*where), 0)
        return above / above.sum() if above.any() else np.full(len(above), 1 / len(above))


def _permute(card, suits):
    return card // 4 * 4 + suits[card % 4]


def _board_numbers(runouts, street):
    """The board after each board and card, and the permutation of suits that leads to it."""
    children, boards = runouts[street - 1].children, runouts[street]
    found = {}
    for parent, (first, last) in enumerate(pairwise(children.tolist())):
        for board in range(first, last):
            for image in range(boards.image[board], boards.image[board + 1]):
                back = np.argsort(PERMUTATIONS[boards.image_suits[image]]).tolist()
                found[parent, int(boards.image_card[image])] = board, back
    return found


def _hand_numbers(runouts):
    """The place of each pair in the list of each player and board."""
    found = {}
    for player in (0, 1):
        for board in range(len(runouts.card)):
            first, size = runouts.hands[player, board], runouts.size[player, board]
            for hand, pair in enumerate(runouts.pair[first : first + size].tolist()):
                found[player, board, pair] = hand
    return found


def policy_of(solver, tree):
    """The average strategies of a solver as a policy of the compiled game of the same spot."""
    reader = TableReader(solver.engine)
    probabilities = np.zeros(tree.num_slots)
    for row in range(tree.num_rows):
        hand, _, text = tree.row_name(row).partition(" ")
        line = parse_line(text)
        street, place = find_place(solver.spot, line)
        at = solver.spot.streets[street].places[place]
        assert tuple(action.code for action in at.actions) == tree.actions(row)
        probabilities[tree.slots(row)] = reader.strategy(street, place, line.cards, pair_number(hand))
    return felt.TabularPolicy(tree, probabilities)
