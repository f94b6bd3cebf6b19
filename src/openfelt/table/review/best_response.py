"""What each action of a decision wins in two-player hold'em, if the person continues with a best response.

From the flop on this is exact: all cards to come are enumerated (`street_values.py`). Before the flop, and
with less effort on the flop, flops and turns are sampled (`sampled_cards.py`). Two techniques then reduce
the noise and keep the 95% interval honest:

- *Control variates.* A multiple of what a sampled card changes in the value of the pot without further bets
  is subtracted. Its mean is known: it follows from the equity of the hand against the bot's range.
- *Two estimates.* A best response to sampled cards wins too much on average, as it is chosen with these
  cards. A response chosen with one half of the cards and valued with the other half wins too little. The
  interval reaches from one to the other, and by its sampling error further.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import numpy as np

from openfelt.cards.deck import BOARD_CARDS, CARDS, FLOP, PAIRS, PREFLOP, RIVER, TURN
from openfelt.cards.equity import equities_against
from openfelt.core.jit import Floats, Ints, Longs
from openfelt.games.compile.betting_tree import PLACE, PLAYER
from openfelt.games.game import TERMINAL
from openfelt.games.holdem import bet, betting_actions, first_betting
from openfelt.solve.traverse.conditional_deals import pairs_without
from openfelt.solve.vector.betting_lines import LANES, children, lines_below, street_of
from openfelt.table.review.ev_loss import DecisionLoss
from openfelt.table.review.fixed_play import FixedPlay
from openfelt.table.review.ranges import DecisionPoint
from openfelt.table.review.sampled_cards import CardSample, nothing_sampled, sample_flops, sample_turns
from openfelt.table.review.street_values import new_runout_workspace, river_values, street_table, turn_values

THREADS = 2
FLOPS, TURNS = 20, 2  # sampled before the flop; turns of each flop
QUICK_FLOPS, QUICK_TURNS = 8, 8  # with less effort: before the flop; on the flop
TURN_SLOPE = 1.5  # by how much more the value of a turn varies than that of its pot without further bets
Board = tuple[int, ...]


def best_response_losses(
    points: Sequence[DecisionPoint], play: FixedPlay, effort: float = 1.0
) -> list[DecisionLoss]:
    """The EV losses of the decisions of a hand against a bot that plays like `play`."""
    found = list[DecisionLoss]()
    for board in dict.fromkeys(point.board for point in points):
        on_street = [point for point in points if point.board == board]
        response = _Response(on_street[0], play, effort)
        for at in on_street:
            values = response.of_actions(at.line)
            if values is None:  # the bot never plays like this; the range of the decision ignores that
                response = _Response(at, play, effort)
                values = response.of_actions(at.line)
            assert values is not None
            found.append(response.sample.decision_loss(at.step, values))
    return found


class _Betting:
    """The betting of one street from some nodes on, on several boards at once."""

    def __init__(self, play: FixedPlay, at: DecisionPoint, boards: Sequence[Board]) -> None:
        self._play, self._seat, self._hole, self._boards = play, at.seat, at.hole, boards
        self._street = BOARD_CARDS.index(len(boards[0]))
        self._buckets = np.stack([play.buckets(board) for board in boards])
        self.ends: dict[int, Floats] = {}  # by terminal node [boards] what the person wins
        self.roots: dict[int, Floats] = {}  # by root of the next street [boards, 1326] the bot's reach
        self.mass: dict[int, float] = {}  # by decision of the person, the sum of the bot's reach

    def descend(self, node: int, reach: Floats) -> None:
        """Find the ends and roots below a node that the bot gets to with this reach [boards, 1326]."""
        betting, seat = self._play.betting, self._seat
        player = int(betting.node[node, PLAYER])
        if player == TERMINAL:
            leaf = int(betting.node[node, PLACE])
            inside, paid = int(betting.leaves.inside[leaf]), betting.leaves.paid[leaf]
            if inside & (inside - 1):
                self.ends[node] = paid[seat] * (reach * lead(self._hole, self._boards[0])).sum(axis=1)
            else:
                self.ends[node] = (paid[1 - seat] if inside >> seat & 1 else -paid[seat]) * reach.sum(axis=1)
        elif street_of(betting.node, node) > self._street:
            self.roots[node] = reach
        elif player == seat:
            self.mass[node] = float(reach.sum())
            for child in children(betting.node, node):
                self.descend(child, reach)
        else:
            shares = self._play.shares(node, self._buckets)
            for child, share in zip(children(betting.node, node), shares, strict=True):
                self.descend(child, reach * share)

    def value(self, node: int, at_root: Mapping[int, Floats], sample: CardSample) -> Floats:
        """[choosing sets, flops, turns] what the person wins from a node on, given those of the roots."""
        betting = self._play.betting
        if node in self.ends:
            return np.broadcast_to(self.ends[node][:, None], sample.shape)
        if node in self.roots:
            return at_root[node]
        below = np.stack([self.value(child, at_root, sample) for child in children(betting.node, node)])
        if betting.node[node, PLAYER] != self._seat:
            return np.asarray(below.sum(axis=0))
        return sample.choose(below, across_flops=self._street == PREFLOP)


class _Response:
    """A best response from a decision on, to the range that the bot has there."""

    def __init__(self, at: DecisionPoint, play: FixedPlay, effort: float) -> None:
        self._at, self._play = at, play
        self._street = BOARD_CARDS.index(len(at.board))
        self.sample = self._cards_to_come(is_quick=effort < 1)
        self._here = _Betting(play, at, [at.board])
        self._here.descend(self._node(at.line), at.ranges[None, 1 - at.seat])
        self._at_root = self._roots(self._here.roots, self.sample)

    def of_actions(self, line: Sequence[str]) -> Floats | None:
        """[choosing sets, flops, turns, actions] values of a decision of the same street after a line.

        None if the bot's range never gets there.
        """
        node = self._node(line)
        if not (mass := self._here.mass.get(node, 0.0)):
            return None
        nodes = children(self._play.betting.node, node)
        values = [self._here.value(child, self._at_root, self.sample) for child in nodes]
        return np.stack(values, axis=-1) / mass

    def _node(self, line: Sequence[str]) -> int:
        state, node = first_betting(2, self._at.game.bets), 0
        for word in line:
            node = children(self._play.betting.node, node)[betting_actions(state).index(word)]
            state = bet(state, word)
        return node

    def _cards_to_come(self, *, is_quick: bool) -> CardSample:
        at = self._at
        if self._street == PREFLOP:
            return sample_flops(at.hole, QUICK_FLOPS if is_quick else FLOPS, TURNS)
        if self._street == FLOP:
            return sample_turns(at.hole, at.board, QUICK_TURNS if is_quick else CARDS)
        return nothing_sampled(at.board)

    def _roots(self, reach: Mapping[int, Floats], sample: CardSample) -> dict[int, Floats]:
        """By root of the next street [choosing sets, flops, turns] what the person wins from there on."""
        if not reach:
            return {}
        if self._street == PREFLOP:
            return self._flops(reach, sample)
        if self._street == FLOP:
            return self._turns(reach, sample)
        nodes, found = np.array([*reach]), np.zeros((1, _columns(len(reach))))
        below, board = lines_below(self._play.betting, RIVER, nodes), self._at.board
        river = street_table(below, RIVER, *self._play.policy, 1 - self._at.seat)
        rivers, buckets = self._rivers(board)
        cards = _cards(self._at.hole), _cards(board)
        came = _matrix(reach.values(), 0)
        river_values(river, cards, buckets, rivers, self._at.seat, came, new_runout_workspace(river), found)
        return {node: np.broadcast_to(found[0, place], sample.shape) for place, node in enumerate(reach)}

    def _flops(self, reach: Mapping[int, Floats], sample: CardSample) -> dict[int, Floats]:
        at, boards = self._at, sample.boards
        below = _Betting(self._play, at, boards)
        apart = sample.flop_weight * np.stack([pairs_without(board) for board in boards])
        came = {node: apart * each for node, each in reach.items()}
        for node, each in came.items():
            below.descend(node, each)
        at_root = self._turns(below.roots, sample)
        pots = dict(zip(reach, self._pots(FLOP, reach), strict=True))
        before, leads, found = self._leads([()])[0], self._leads(boards), {}
        for node, each in came.items():
            known = pots[node] * float((reach[node] * before).sum())
            sampled = pots[node] * (each * leads).sum(axis=1)  # [flops]
            values = below.value(node, at_root, sample)
            found[node] = values + (slopes(sampled, values[0].mean(axis=1)) * (known - sampled))[:, None]
        return found

    def _turns(self, reach: Mapping[int, Floats], sample: CardSample) -> dict[int, Floats]:
        """The values at roots of the turn."""
        at, play = self._at, self._play
        below = lines_below(play.betting, TURN, np.array([*reach]))
        turn, river = (street_table(below, street, *play.policy, 1 - at.seat) for street in (TURN, RIVER))
        pots = self._pots(TURN, reach)
        found = np.zeros((*sample.turns.shape, len(reach)))
        leads = None if sample.is_complete else self._leads(sample.boards)

        def solve(places: Sequence[tuple[int, int]]) -> None:
            work, values = new_runout_workspace(river), np.zeros((1, _columns(len(reach))))
            for flop, place in places:
                board = (*sample.boards[flop], int(sample.turns[flop, place]))
                apart = sample.turn_weight * pairs_without(board)
                came = _matrix(reach.values(), flop) * apart[:, None]
                rivers, later = self._rivers(board)
                buckets, cards = (play.buckets(board), later), (_cards(at.hole), _cards(board))
                turn_values(turn, river, cards, buckets, rivers, at.seat, came, work, values)
                found[flop, place] = values[0, : len(reach)]
                if leads is not None:
                    known = leads[flop] @ _matrix(reach.values(), flop)
                    sampled = self._leads([board])[0] @ came
                    found[flop, place] += TURN_SLOPE * pots * (known - sampled)[: len(reach)]

        places = [*np.ndindex(*sample.turns.shape)]
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(solve, [places[first::THREADS] for first in range(THREADS)]))
        if sample.is_complete:
            found = found.mean(axis=1, keepdims=True)
        return {node: np.broadcast_to(found[..., place], sample.shape) for place, node in enumerate(reach)}

    def _rivers(self, board: Board) -> tuple[Ints, Longs]:
        """The cards that may follow a turn, and the buckets [cards, 1326] with them."""
        rivers = [card for card in range(CARDS) if card not in (*self._at.hole, *board)]
        return _cards(rivers), np.stack([self._play.buckets((*board, card)) for card in rivers])

    def _pots(self, street: int, roots: Iterable[int]) -> Floats:
        """What each player has paid at roots of a street."""
        lines = lines_below(self._play.betting, street, np.array([*roots])).streets[street - FLOP]
        return lines.pot[0, : lines.roots]

    def _leads(self, boards: Sequence[Board]) -> Floats:
        return np.stack([lead(self._at.hole, board) for board in boards])


def slopes(known: Floats, values: Floats) -> Floats:
    """[flops] the slope of `values` over `known`, in the half of the flops that a flop is not in."""
    found, half = np.empty(len(values)), np.arange(len(values)) % 2 == 0
    for own, other in ((half, ~half), (~half, half)):
        apart = known[other] - known[other].mean()
        found[own] = (apart @ values[other]) / max(float(apart @ apart), 1e-12)
    return found


@lru_cache(maxsize=128)
def lead(hole: Board, board: Board) -> Floats:
    """[1326] how much more often a hand wins than loses against each other hand, without further bets."""
    return 2 * equities_against(hole, board) - 1


def _cards(cards: Sequence[int]) -> Ints:
    return np.array(cards, np.int32)


def _matrix(reach: Iterable[Floats], board: int) -> Floats:
    """[1326, columns] the reach of all roots on one board, padded to whole lanes."""
    rows = [each[board] for each in reach]
    found = np.zeros((PAIRS, _columns(len(rows))))
    found[:, : len(rows)] = np.stack(rows, axis=1)
    return found


def _columns(roots: int) -> int:
    return -(-roots // LANES) * LANES
