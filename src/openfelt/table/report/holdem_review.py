"""Reviews hands of two-player limit hold'em against a policy, in threads; the worst decisions twice."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from openfelt.cards.boards import hole_class
from openfelt.cards.deck import PAIR, PREFLOP, RIVER, STREETS
from openfelt.core.jit import Longs
from openfelt.core.random import starts
from openfelt.games.compile.betting_tree import FACING_SHIFT, KIND, PLAYER, BettingTree
from openfelt.games.holdem import CARD_NUMBERS
from openfelt.hands.record import HIDDEN, HandRecord
from openfelt.policy.holdem import HoldemPolicy
from openfelt.table.report.decisions import SITUATIONS, DecisionTable
from openfelt.table.report.hand_review import Progress
from openfelt.table.report.policy_review import END, ActionLosses, Lines, PolicyReview, no_losses

ALL_ROLLOUTS = 4_000_000  # on the flop and the turn, divided among the decisions
FEWEST, MOST = 500, 8_000  # rollouts of a decision there
PREFLOP_ROLLOUTS = 10_000  # of a decision before the flop, computed once for equal hands
AGAIN, AGAIN_ROLLOUTS = 20, 20_000  # the worst decisions are reviewed again, with more rollouts
BLOCK = 250  # hands
KINDS = 169  # classes of hole cards
WORDS = (*STREETS, *SITUATIONS, "fold", "check", "call", "bet", "raise")


class LinePlan(NamedTuple):
    """A betting line on the tree."""

    actions: tuple[int, ...]  # the number of each
    nodes: tuple[int, ...]  # before each
    raises: tuple[int, ...]  # on its street before each


class HoldemReview:
    """Reviews hands against a policy. Results do not depend on the number of threads."""

    def __init__(self, policy: HoldemPolicy, *, threads: int = 1, seed: int = 0) -> None:
        self._tree, self._threads = policy.tree, threads
        self._review = PolicyReview(policy)
        self._flop_start, self._preflop_start, self._again_start = starts(seed, 3)

    def __call__(
        self, records: Sequence[HandRecord], seats: Sequence[int], progress: Progress = lambda _: None
    ) -> DecisionTable:
        """The decisions of the player in `seats`; hands in which its cards are hidden have none."""
        known = [
            place
            for place, (record, seat) in enumerate(zip(records, seats, strict=True))
            if HIDDEN not in record.dealt[2 * seat : 2 * seat + 2]
        ]
        plans = [line_plan(self._tree, records[place].actions) for place in known]
        lines = _lines(
            self._tree, [records[place] for place in known], [seats[place] for place in known], plans
        )
        table = _decisions(self._tree, lines, plans, np.array(known, np.int64))
        found = self._losses(lines, table, progress)
        place = np.arange(len(table.hand))
        made = DecisionTable(
            WORDS,
            table.hand,
            table.street,
            table.situation,
            _action_words(self._tree, table.node, table.chosen),
            _action_words(self._tree, table.node, found.best),
            found.loss[place, table.chosen],
            found.error[place, table.chosen],
        )
        return self._again(lines, table, made)

    def _losses(self, lines: Lines, table: _Columns, progress: Progress) -> ActionLosses:
        """All decisions: by blocks of hands from the flop on, by kinds of hands before it."""
        sampled = int(((table.street > PREFLOP) & (table.street < RIVER)).sum())
        rollouts = max(FEWEST, min(MOST, ALL_ROLLOUTS // max(1, sampled)))
        later = np.array([0, rollouts, rollouts, 1], np.int32)
        blocks = [slice(first, first + BLOCK) for first in range(0, len(lines.seat), BLOCK)]
        early = np.flatnonzero(table.street == PREFLOP)
        keys = table.node[early] * KINDS + table.kind[early]
        kinds, examples, which = np.unique(keys, return_index=True, return_inverse=True)
        share = 1 / max(1, len(blocks) + len(kinds))

        def block(hands: slice) -> ActionLosses:
            number = int(lines.first[hands.start])
            found = self._review.losses(_part(lines, hands), later, self._flop_start, number)
            progress(share)
            return found

        def kind(place: int) -> ActionLosses:
            found = self._one(lines, table, int(early[examples[place]]), int(kinds[place]), PREFLOP_ROLLOUTS)
            progress(share)
            return found

        found = no_losses(len(table.hand))
        with ThreadPoolExecutor(self._threads) as pool:
            for hands, losses in zip(blocks, pool.map(block, blocks), strict=True):
                first = int(lines.first[hands.start])
                _write(found, slice(first, first + len(losses.best)), losses)
            for place, losses in enumerate(pool.map(kind, range(len(kinds)))):
                _write(found, early[which == place], losses)
        return found

    def _one(self, lines: Lines, table: _Columns, decision: int, number: int, rollouts: int) -> ActionLosses:
        """One decision alone, with its own random numbers."""
        hand, place = int(table.line[decision]), int(table.place[decision])
        street = int(table.street[decision])
        cut = lines.line[hand : hand + 1, : place + 1].copy()
        own = table.line == hand
        own &= table.place <= place
        part = _part(lines, slice(hand, hand + 1))
        alone = part._replace(line=cut, first=np.array([0, own.sum()], np.int64))
        count = np.zeros(len(STREETS), np.int32)
        count[street] = rollouts
        start = self._preflop_start if street == PREFLOP else self._again_start
        found = self._review.losses(alone, count, start, number)
        return ActionLosses(found.loss[-1:], found.error[-1:], found.best[-1:])

    def _again(self, lines: Lines, table: _Columns, made: DecisionTable) -> DecisionTable:
        """Review the worst decisions again: of many estimates, the highest are the luckiest."""
        order = np.argsort(-made.loss, kind="stable")[:AGAIN]
        loss, error, best = made.loss.copy(), made.error.copy(), made.best.copy()
        for decision in order.tolist():
            if PREFLOP < table.street[decision] < RIVER:
                found = self._one(lines, table, decision, decision, AGAIN_ROLLOUTS)
                chosen = int(table.chosen[decision])
                loss[decision], error[decision] = found.loss[0, chosen], found.error[0, chosen]
                best[decision] = _action_words(self._tree, table.node[[decision]], found.best)[0]
        return replace(made, loss=loss, error=error, best=best)


class _Columns(NamedTuple):
    """The decisions of the player, in the order of the hands."""

    hand: Longs  # index among all hands
    line: Longs  # index among the lines
    place: Longs  # index in the line
    node: Longs
    kind: Longs  # class of the hole cards
    street: Longs  # as a word of WORDS, which begin with the streets
    situation: Longs  # as a word
    chosen: Longs  # number of the action at its node


@lru_cache(maxsize=1 << 16)
def line_plan(tree: BettingTree, actions: tuple[str, ...]) -> LinePlan:
    """Many hands share a line."""
    numbers, nodes, raises = list[int](), list[int](), list[int]()
    node, street, count = 0, PREFLOP, 0
    for word in actions:
        if tree.street(node) != street:
            street, count = tree.street(node), 0
        number = tree.actions(node).index(word)
        numbers.append(number)
        nodes.append(node)
        raises.append(count)
        count += number > (int(tree.node[node, KIND]) >> FACING_SHIFT & 1)
        node = tree.child(node, number)
    return LinePlan(tuple(numbers), tuple(nodes), tuple(raises))


def _lines(
    tree: BettingTree, records: Sequence[HandRecord], seats: Sequence[int], plans: Sequence[LinePlan]
) -> Lines:
    count, longest = len(records), max((len(plan.actions) for plan in plans), default=1)
    hole, board = np.empty((count, 2), np.int32), np.full((count, 5), -1, np.int32)
    line, first = np.full((count, longest), END, np.int32), np.zeros(count + 1, np.int64)
    player = tree.node[:, PLAYER]
    for place, (record, seat, plan) in enumerate(zip(records, seats, plans, strict=True)):
        cards = [CARD_NUMBERS.get(card, -1) for card in record.dealt]
        hole[place] = cards[2 * seat : 2 * seat + 2]
        board[place, : len(cards) - 4] = cards[4:]
        line[place, : len(plan.actions)] = plan.actions
        first[place + 1] = first[place] + sum(int(player[node]) == seat for node in plan.nodes)
    return Lines(np.array(seats, np.int32), hole, board, line, first)


def _decisions(tree: BettingTree, lines: Lines, plans: Sequence[LinePlan], known: Longs) -> _Columns:
    kinds = hole_class()[PAIR[lines.hole[:, 0], lines.hole[:, 1]]]
    player, rows = tree.node[:, PLAYER], list[tuple[int, ...]]()
    for place, (plan, seat) in enumerate(zip(plans, lines.seat.tolist(), strict=True)):
        for at, (number, node, raises) in enumerate(zip(*plan, strict=True)):
            if player[node] == seat:
                rows.append((place, at, node, min(raises, 2), number))
    table = np.array(rows, np.int64).reshape(-1, 5)
    street = tree.node[table[:, 2], KIND] >> 3 & 3
    return _Columns(
        known[table[:, 0]],
        table[:, 0],
        table[:, 1],
        table[:, 2],
        kinds[table[:, 0]].astype(np.int64),
        street.astype(np.int64),
        len(STREETS) + table[:, 3],
        table[:, 4],
    )


def _action_words(tree: BettingTree, nodes: Longs, numbers: Longs) -> Longs:
    """Actions as words of WORDS."""
    known = {
        node: np.array([WORDS.index(word) for word in tree.actions(node)])
        for node in np.unique(nodes).tolist()
    }
    return np.array(
        [known[node][number] for node, number in zip(nodes.tolist(), numbers.tolist(), strict=True)]
    )


def _part(lines: Lines, hands: slice) -> Lines:
    """Some of the hands."""
    first = lines.first[hands.start : hands.stop + 1]
    return Lines(
        lines.seat[hands], lines.hole[hands], lines.board[hands], lines.line[hands], first - first[0]
    )


def _write(found: ActionLosses, places: slice | Longs, losses: ActionLosses) -> None:
    found.loss[places], found.error[places], found.best[places] = losses
