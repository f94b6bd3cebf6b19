"""CFR-BR (Johanson, Bard, Burch & Bowling 2012): learn in buckets against an opponent who sees every hand.

CFR in an abstract game learns to play against an opponent that uses the same abstraction, and becomes easier
to exploit in the real game while it learns. CFR-BR plays against an opponent that does not use one. In each
iteration a flop and a turn are dealt. From the turn on, the opponent plays a best response to our current
policy, with every hand and on every river. Before the turn it learns by CFR, also with every hand: there it
cannot best-respond, since it would have to know the values of all other turns. Our average policy converges
to the least exploitable policy of the abstraction, if that has perfect recall.

The two seats are separate games: we against the opponent, and the opponent against us.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.boards import PERMUTED_PAIR, Boards, board_set, boards, hole_class, step
from openfelt.cards.deck import CARDS, FLOP, PAIR_CARDS, PAIRS, PREFLOP, RIVER, STREETS, TURN, Bytes
from openfelt.cards.evaluator import CARD_BIT, evaluate
from openfelt.cards.public_cards import Deck
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, Ints, Longs, kernel
from openfelt.core.random import ITERATION_DRAWS, Numbers, starts
from openfelt.games.compile.betting_tree import BettingTree
from openfelt.games.compile.compiler import compile_any
from openfelt.games.compile.tree import Tree
from openfelt.games.game import AnyGame
from openfelt.solve.solver import Settings, Solver, setting, within
from openfelt.solve.vector.hand_vectors import (
    Choices,
    Hands,
    StreetWork,
    end,
    go_down,
    learn,
    match_regrets,
    new_street_work,
    respond_best,
    share_by_choice,
    share_by_policy,
)
from openfelt.solve.vector.streets import EXIT, Street, street_tables


@dataclass(frozen=True)
class CFRBRSettings(Settings):
    delay: float = setting(0, "iterations before the average policy begins", kind=int)


class Rows(NamedTuple):
    """What a player has learned on one street, [rows, edges]; a row is a bucket, or a hand up to suits."""

    regrets: Floats
    average: Floats  # empty for the opponent
    policy: Floats


class Betting(NamedTuple):
    """The streets of the game, and which cards are in the deck."""

    preflop: Street
    flop: Street
    turn: Street
    river: Street
    live: Bytes  # [52]
    boards: Boards


class Learner(NamedTuple):
    """Us in one seat: rows by street, and the bucket of each hand on each canonical board."""

    seat: int
    preflop: Rows
    flop: Rows
    turn: Rows
    river: Rows
    preflop_buckets: NDArray[Any]  # [1, 1326]
    flop_buckets: NDArray[Any]
    turn_buckets: NDArray[Any]
    river_buckets: NDArray[Any]


class Trunk(NamedTuple):
    """The opponent before the turn. Its policies are those of the hands of the current board."""

    preflop: Rows
    flop: Rows
    preflop_row: Longs  # [1326]
    flop_row: Longs  # [canonical flops, 1326]


class Work(NamedTuple):
    """The arrays that one thread writes to."""

    street: StreetWork
    reach_flop: Floats  # [2, roots, hands]
    reach_turn: Floats
    reach_river: Floats
    value_flop: Floats  # [2, roots, hands]
    value_turn: Floats
    value_river: Floats
    turn_choice: Choices  # [roots, decisions, hands]
    river_choice: Choices  # [rivers, roots, decisions, hands]


class CFRBR(Solver):
    """CFR-BR: learns in the buckets of hold'em against an opponent that best-responds with every hand.

    Parameters
    ----------
    game : Holdem or str
        Two-player hold'em, with the buckets to learn in.
    delay : int
        Iterations before the average policy begins.
    **options
        `seed` and `threads`, as in `Solver`: the two seats learn in two threads.

    Examples
    --------
    >>> felt.CFRBR("holdem(buckets='ehs:2')").summary
    'CFR against an opponent that best-responds with every hand (Johanson et al. 2012)'
    """

    name: ClassVar[str] = "cfr-br"
    summary: ClassVar[str] = (
        "CFR against an opponent that best-responds with every hand (Johanson et al. 2012)"
    )
    settings_type: ClassVar[type[Settings]] = CFRBRSettings
    full_width: ClassVar[bool] = False
    settings: CFRBRSettings

    def __init__(self, game: AnyGame, *, deck: Deck | None = None, **options: Any) -> None:
        self.deck = deck or Deck()
        super().__init__(game, **options)

    def _compile(self, game: AnyGame) -> Tree:
        tree = compile_any(game)
        if not isinstance(tree, BettingTree) or tree.players != 2:
            raise FeltError(f"{self.name} learns two-player hold'em, not {tree.game}.")
        return tree

    def _start(self) -> None:
        within("delay", self.settings.delay, 0, np.inf)
        tree = self.tree
        assert isinstance(tree, BettingTree)
        if self.restriction is not None:
            raise FeltError(f"{self.name} has no restrictions.")
        self._starts = starts(self.seed, 1)
        layout, streets = tree.layout, street_tables(tree)
        self.betting = Betting(*streets, self.deck.live, boards())
        self._regrets, self._average, self._policy = (np.zeros(tree.num_slots) for _ in range(3))
        buckets = tree.abstraction.tables()
        flop_row, flop_rows = flop_hands()
        self._trunk_tables: dict[str, Floats] = {}
        self.learners_by_seat, self.trunks, self.work = [], [], []
        hands = int(self.deck.pairs.sum())
        for seat in range(2):
            rows = []
            for street in range(len(STREETS)):
                base, count = int(layout.slot_base[street, seat]), int(layout.buckets[street, seat])
                edges = int(layout.edges[street, seat])
                rows.append(
                    Rows(
                        *(
                            table[base : base + count * edges].reshape(count, edges)
                            for table in (self._regrets, self._average, self._policy)
                        )
                    )
                )
            self.learners_by_seat.append(Learner(seat, *rows, *buckets))
            trunk = []
            for street, count in ((PREFLOP, 169), (FLOP, flop_rows)):
                edges = int(layout.edges[street, 1 - seat])
                regrets = np.zeros((count, edges))
                self._trunk_tables[f"opponent-{1 - seat}-{STREETS[street]}"] = regrets
                trunk.append(Rows(regrets, np.zeros((0, 0)), np.zeros((hands, edges))))
            self.trunks.append(Trunk(*trunk, hole_class().astype(np.int64), flop_row))
            self.work.append(self._new_work(streets, seat, hands))
        self._resumed()

    def _new_work(self, streets: tuple[Street, ...], seat: int, hands: int) -> Work:
        roots = [len(street.edge) for street in streets]
        decisions = [int((street.player == 1 - seat).sum()) for street in streets]
        by_street = [np.zeros((2, roots[street], hands)) for street in (FLOP, TURN, RIVER)]
        values = [np.zeros_like(each) for each in by_street]
        return Work(
            new_street_work(max(len(street.player) for street in streets), hands),
            *by_street,
            *values,
            np.zeros((roots[TURN], decisions[TURN], hands), np.int8),
            np.zeros((self.deck.size - 4, roots[RIVER], decisions[RIVER], hands), np.int8),
        )

    def _resumed(self) -> None:
        for learner in self.learners_by_seat:
            _match_all(self.betting, learner)

    def _advance(self, iterations: int) -> None:
        with ThreadPoolExecutor(min(self.threads, 2)) as pool:
            list(pool.map(lambda seat: self._learn(seat, iterations), range(2)))

    def _learn(self, seat: int, iterations: int) -> None:
        learner, trunk, work = self.learners_by_seat[seat], self.trunks[seat], self.work[seat]
        for number in range(self.iterations + 1, self.iterations + iterations + 1):
            cards = self._deal(number)
            averaged = max(0.0, number - float(self.settings.delay))
            iterate(self.betting, cards, learner, trunk, (float(number), averaged), work)
            _match_all(self.betting, learner)

    def _deal(self, number: int) -> Ints:
        """A random flop and turn; they depend on the number of the iteration alone."""
        draw, left = Numbers(int(self._starts[0]), number * ITERATION_DRAWS), np.flatnonzero(self.deck.live)
        left = left.tolist()
        return np.array([left.pop(int(draw.uniform() * len(left))) for _ in range(4)], np.int32)

    @property
    def weights(self) -> Floats:
        return self._average

    def tables(self) -> dict[str, NDArray[Any]]:
        return {"regrets": self._regrets, "average": self._average, **self._trunk_tables}


def flop_hands() -> tuple[Longs, int]:
    """[canonical flops, 1326] a number for each hand up to suits, and how many there are: 1,286,792."""
    from openfelt.cards.boards import PERMUTED_CARD

    cards = board_set(3).cards()
    rows, count = np.zeros((len(cards), PAIRS), np.int64), 0
    for number, board in enumerate(cards):
        held = np.zeros(CARDS, np.bool_)
        held[board] = True
        keeping = [order for order, seen in enumerate(PERMUTED_CARD) if held[seen[board]].all()]
        least = PERMUTED_PAIR[keeping].min(axis=0)
        off = ~held[PAIR_CARDS].any(axis=1)
        different, kind = np.unique(least[off], return_inverse=True)
        rows[number, off] = count + kind
        count += len(different)
    return rows, count


@kernel
def _match_all(betting: Betting, learner: Learner) -> None:
    """The current policy of all buckets."""
    seat = learner.seat
    for street, rows in (
        (betting.preflop, learner.preflop),
        (betting.flop, learner.flop),
        (betting.turn, learner.turn),
        (betting.river, learner.river),
    ):
        match_regrets(street, seat, np.arange(len(rows.regrets)), rows.regrets, rows.policy)


@kernel
def possible_pairs(live: Bytes, cards: Ints) -> Ints:
    """The hole cards that are possible on a board."""
    free = live.copy()
    for card in cards:
        free[card] = 0
    found = np.empty(PAIRS, np.int32)
    count = 0
    for pair in range(PAIRS):
        if free[PAIR_CARDS[pair, 0]] and free[PAIR_CARDS[pair, 1]]:
            found[count] = pair
            count += 1
    return found[:count]


@kernel
def sorted_hands(board: Ints, pairs: Ints) -> tuple[Hands, Longs]:
    """The hands that are possible on a river, in the order of their values; and their places in `pairs`."""
    word, river = np.uint64(0), board[4]
    for card in board:
        word |= CARD_BIT[card]
    keys = np.empty(len(pairs), np.int64)
    count = 0
    for place in range(len(pairs)):
        low, high = PAIR_CARDS[pairs[place], 0], PAIR_CARDS[pairs[place], 1]
        if low != river and high != river:
            keys[count] = np.int64(evaluate(word | CARD_BIT[low] | CARD_BIT[high])) << 11 | place
            count += 1
    keys = np.sort(keys[:count])
    last = np.empty(count, np.int32)
    following = count
    for place in range(count - 1, -1, -1):
        if place < count - 1 and keys[place] >> 11 != keys[place + 1] >> 11:
            following = place + 1
        last[place] = following
    places = keys & 2047
    return Hands(pairs[places], last), places


@kernel
def _both_by_policy(street: Street, root: int, seat: int, rows: Any, tables: Any, work: StreetWork) -> None:
    """Both players' shares and reach by their policies; ours first in `rows` and `tables`."""
    count = len(rows[0])
    share_by_policy(street, root, seat, rows[0], tables[0].policy, work)
    share_by_policy(street, root, 1 - seat, rows[1], tables[1].policy, work)
    go_down(street, seat, count, work)
    go_down(street, 1 - seat, count, work)


@kernel
def _both_learn(
    street: Street,
    root: int,
    seat: int,
    hands: Hands,
    rows: Any,
    tables: Any,
    weights: Any,
    values: Any,
    work: StreetWork,
) -> None:
    """Both players' values up to a root, from those of the next street; `values` are (next, this)."""
    count = len(hands.pair)
    for side in range(2):
        player = seat if side == 0 else 1 - seat
        _enter(street, root, count, values[0][player], work)
        end(street, root, player, hands, work)
        learn(street, root, player, rows[side], weights, tables[side].regrets, tables[side].average, work)
        values[1][player, root, :count] = work.value[0, :count]


@kernel
def _leave(street: Street, root: int, player: int, count: int, work: StreetWork, reach: Floats) -> None:
    """A player's reach of the exits is that of the roots of the next street."""
    for node in range(len(street.player)):
        if street.player[node] == EXIT:
            reach[player, street.next_root[root, street.exit[node]], :count] = work.reach[
                player, node, :count
            ]


@kernel
def _enter(street: Street, root: int, count: int, values: Floats, work: StreetWork) -> None:
    """The values of the exits are those of the roots of the next street."""
    for node in range(len(street.player)):
        if street.player[node] == EXIT:
            work.value[node, :count] = values[street.next_root[root, street.exit[node]], :count]


@kernel
def _rivers(
    betting: Betting, cards: Ints, turn: Any, pairs: Ints, us: Learner, weights: Any, best: bool, work: Work
) -> None:
    """The values of all rivers: of the opponent's best response if `best`, else ours against it."""
    seat, other, street, river = us.seat, 1 - us.seat, work.street, betting.river
    player = other if best else seat
    left = betting.live.sum() - 8
    chances = weights[0] / left, weights[1] / left
    board = np.empty(5, np.int32)
    board[:4] = cards
    work.value_river[player] = 0.0
    number = 0
    for card in range(CARDS):
        if not betting.live[card] or (cards == card).any():
            continue
        board[4] = card
        hands, places = sorted_hands(board, pairs)
        count = len(places)
        last, seen_as = step(betting.boards.to_5, turn[0], turn[1], card)
        row = us.river_buckets[last][PERMUTED_PAIR[seen_as][hands.pair]].astype(np.int64)
        for root in range(len(river.edge)):
            choice = work.river_choice[number, root]
            for hand in range(count):
                street.reach[seat, 0, hand] = work.reach_river[seat, root, places[hand]]
                street.reach[other, 0, hand] = work.reach_river[other, root, places[hand]]
            share_by_policy(river, root, seat, row, us.river.policy, street)
            go_down(river, seat, count, street)
            if best:
                end(river, root, other, hands, street)
                respond_best(river, other, count, choice, street)
            else:
                share_by_choice(river, other, choice, count, street)
                go_down(river, other, count, street)
                end(river, root, seat, hands, street)
                learn(river, root, seat, row, chances, us.river.regrets, us.river.average, street)
            for hand in range(count):
                work.value_river[player, root, places[hand]] += street.value[0, hand] / left
        number += 1


@kernel
def iterate(
    betting: Betting, cards: Ints, us: Learner, trunk: Trunk, weights: tuple[float, float], work: Work
) -> float:
    """One iteration on a flop and a turn; returns the opponent's value, in chips."""
    seat, other, street = us.seat, 1 - us.seat, work.street
    pairs = possible_pairs(betting.live, cards)
    count = len(pairs)
    hands = Hands(pairs, pairs)  # in no order: nothing is shown down before the river
    board, seen_as = step(betting.boards.to_1, 0, 0, cards[0])
    board, seen_as = step(betting.boards.to_2, board, seen_as, cards[1])
    board, seen_as = step(betting.boards.to_3, board, seen_as, cards[2])
    after, turn_seen_as = step(betting.boards.to_4, board, seen_as, cards[3])
    preflop_row = us.preflop_buckets[0][pairs].astype(np.int64)
    flop_row = us.flop_buckets[board][PERMUTED_PAIR[seen_as][pairs]].astype(np.int64)
    turn_row = us.turn_buckets[after][PERMUTED_PAIR[turn_seen_as][pairs]].astype(np.int64)
    theirs, order = trunk.preflop_row[pairs], np.arange(count)
    their_flop = trunk.flop_row[board][PERMUTED_PAIR[seen_as][pairs]]
    match_regrets(betting.preflop, other, theirs, trunk.preflop.regrets, trunk.preflop.policy)
    match_regrets(betting.flop, other, their_flop, trunk.flop.regrets, trunk.flop.policy)

    # Down: both players' reach of the turn.
    street.reach[:, 0, :count] = 1.0
    _both_by_policy(betting.preflop, 0, seat, (preflop_row, order), (us.preflop, trunk.preflop), street)
    _leave(betting.preflop, 0, seat, count, street, work.reach_flop)
    _leave(betting.preflop, 0, other, count, street, work.reach_flop)
    for root in range(len(betting.flop.edge)):
        street.reach[:, 0, :count] = work.reach_flop[:, root, :count]
        _both_by_policy(betting.flop, root, seat, (flop_row, order), (us.flop, trunk.flop), street)
        _leave(betting.flop, root, seat, count, street, work.reach_turn)
        _leave(betting.flop, root, other, count, street, work.reach_turn)

    # The opponent's best response from the turn on.
    for root in range(len(betting.turn.edge)):
        street.reach[seat, 0, :count] = work.reach_turn[seat, root, :count]
        share_by_policy(betting.turn, root, seat, turn_row, us.turn.policy, street)
        go_down(betting.turn, seat, count, street)
        _leave(betting.turn, root, seat, count, street, work.reach_river)
    _rivers(betting, cards, (after, turn_seen_as), pairs, us, weights, True, work)
    for root in range(len(betting.turn.edge)):
        street.reach[seat, 0, :count] = work.reach_turn[seat, root, :count]
        share_by_policy(betting.turn, root, seat, turn_row, us.turn.policy, street)
        go_down(betting.turn, seat, count, street)
        _enter(betting.turn, root, count, work.value_river[other], street)
        end(betting.turn, root, other, hands, street)
        respond_best(betting.turn, other, count, work.turn_choice[root], street)
        work.value_turn[other, root, :count] = street.value[0, :count]
        street.reach[other, 0, :count] = work.reach_turn[other, root, :count]
        share_by_choice(betting.turn, other, work.turn_choice[root], count, street)
        go_down(betting.turn, other, count, street)
        _leave(betting.turn, root, other, count, street, work.reach_river)

    # Up: our values against it, and what both learn.
    _rivers(betting, cards, (after, turn_seen_as), pairs, us, weights, False, work)
    for root in range(len(betting.turn.edge)):
        street.reach[:, 0, :count] = work.reach_turn[:, root, :count]
        share_by_policy(betting.turn, root, seat, turn_row, us.turn.policy, street)
        share_by_choice(betting.turn, other, work.turn_choice[root], count, street)
        go_down(betting.turn, seat, count, street)
        go_down(betting.turn, other, count, street)
        _enter(betting.turn, root, count, work.value_river[seat], street)
        end(betting.turn, root, seat, hands, street)
        learn(betting.turn, root, seat, turn_row, weights, us.turn.regrets, us.turn.average, street)
        work.value_turn[seat, root, :count] = street.value[0, :count]
    for root in range(len(betting.flop.edge)):
        street.reach[:, 0, :count] = work.reach_flop[:, root, :count]
        _both_by_policy(betting.flop, root, seat, (flop_row, order), (us.flop, trunk.flop), street)
        _both_learn(
            betting.flop,
            root,
            seat,
            hands,
            (flop_row, their_flop),
            (us.flop, trunk.flop),
            weights,
            (work.value_turn, work.value_flop),
            street,
        )
    street.reach[:, 0, :count] = 1.0
    _both_by_policy(betting.preflop, 0, seat, (preflop_row, order), (us.preflop, trunk.preflop), street)
    _both_learn(
        betting.preflop,
        0,
        seat,
        hands,
        (preflop_row, theirs),
        (us.preflop, trunk.preflop),
        weights,
        (work.value_flop, np.zeros((2, 1, count))),
        street,
    )
    return street.value[0, :count].sum()
