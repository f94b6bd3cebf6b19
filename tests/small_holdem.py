"""Hold'em with few cards: the rules for the enumerating code, random players, and a slow twin of one flop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any, ClassVar, NamedTuple

import numpy as np

from openfelt.cards.boards import PERMUTED_CARD, PERMUTED_PAIR, board_set, find_board
from openfelt.cards.deck import BOARD_CARDS, FLOP, PAIR, PAIR_CARDS, PAIRS, RIVER, cards_text, parse_cards
from openfelt.cards.evaluator import hand_value
from openfelt.cards.public_cards import Deck
from openfelt.games.compile.betting_tree import CHILD, KIND, PLACE, PLAYER, betting_nodes, betting_words
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.game import CHANCE, TERMINAL, Game
from openfelt.games.holdem import Betting, bet, betting_actions, first_betting, is_over, players_in
from openfelt.measure.holdem.player import Player, one_bucket
from openfelt.policy.tabular import TabularPolicy
from openfelt.solve.vector.betting_lines import betting_lines, street_of

WORDS = ("fold", "check", "call", "bet", "raise")
ALIKE = np.uint16  # one type of buckets for all players here, for which kernels are compiled once


class SmallState(NamedTuple):
    """Cards are dropped as soon as they matter no more, so that few states are different."""

    betting: Betting
    hands: tuple[tuple[int, ...], ...] = ()
    board: tuple[int, ...] = ()  # ascending, whatever the order in which it came
    shares: tuple[float, ...] = ()  # of the pot, by seat, as soon as the river is known


@dataclass(frozen=True)
class SmallHoldem(Game):
    """Limit hold'em for two with the highest ranks of the first suits; hands and flops come at once."""

    key: ClassVar[str] = "small_holdem"
    players: ClassVar[int] = 2
    ranks: int = 3
    suits: int = 3
    bets: int = 1

    def start(self) -> SmallState:
        return SmallState(first_betting(2, self.bets))

    def turn(self, state: SmallState) -> int:
        if is_over(state.betting):
            return TERMINAL
        dealt = len(state.hands) == 2 and len(state.board) == BOARD_CARDS[state.betting.street]
        return state.betting.turn if state.shares or dealt else CHANCE

    def actions(self, state: SmallState) -> Sequence[str]:
        if self.turn(state) != CHANCE:
            return betting_actions(state.betting)
        out = {*state.board, *(card for hand in state.hands for card in hand)}
        left = [4 * (12 - rank) + suit for rank in range(self.ranks) for suit in range(self.suits)]
        some = combinations(sorted(set(left) - out), self._next(state))
        return [cards_text(cards) for cards in some]

    def _next(self, state: SmallState) -> int:
        """How many cards come at once."""
        return 2 if len(state.hands) < 2 else 1 if state.board else 3

    def play(self, state: SmallState, action: str) -> SmallState:
        if self.turn(state) != CHANCE:
            after = bet(state.betting, action)
            return SmallState(after) if len(players_in(after)) == 1 else state._replace(betting=after)
        cards = _parsed(action)
        if len(state.hands) < 2:
            return state._replace(hands=(*state.hands, cards))
        board = tuple(sorted(state.board + cards))
        if len(board) < 5:
            return state._replace(board=board)
        value = [_value(hand, board) for hand in state.hands]
        best = [each == max(value) for each in value]
        return SmallState(state.betting, shares=tuple(each / sum(best) for each in best))

    def sees(self, state: SmallState, action: str, player: int) -> str:
        hole = self.turn(state) == CHANCE and len(state.hands) < 2
        return action if not hole or len(state.hands) == player else ""

    def payoffs(self, state: SmallState) -> Sequence[float]:
        paid, inside = state.betting.paid, players_in(state.betting)
        shares = state.shares if len(inside) == 2 else [float(seat in inside) for seat in range(2)]
        return [sum(paid) * share - own for share, own in zip(shares, paid, strict=True)]


@cache
def _parsed(text: str) -> tuple[int, ...]:
    return parse_cards(text)


@cache
def _value(hand: tuple[int, ...], board: tuple[int, ...]) -> int:
    return hand_value((*hand, *board))


def live_cards(deck: Deck) -> list[int]:
    """Of a deck, without its own word for it."""
    return [card for card in range(52) if card // 4 >= 13 - deck.ranks and card % 4 < deck.suits]


def live_pairs(deck: Deck) -> list[int]:
    """The same of hole cards."""
    return sorted(int(PAIR[two]) for two in combinations(live_cards(deck), 2))


@cache
def canonical_hands(deck: Deck, size: int) -> tuple[Any, int]:
    """[boards, 1326] a number for each kind of hand on boards of a size, and how many there are.

    Hands are alike if a permutation of suits makes one of the other, together with the board.
    """
    table, kinds = np.zeros((len(board_set(size).key), PAIRS), ALIKE), 0
    all_cards, pairs = board_set(size).cards().tolist(), live_pairs(deck)
    seen_as = dict(find_board(board) for board in combinations(live_cards(deck), size))
    for number, through in sorted(seen_as.items()):
        board = set(all_cards[number])
        keeping = [
            order for order, seen in enumerate(PERMUTED_CARD) if set(seen[list(board)].tolist()) == board
        ]
        least = PERMUTED_PAIR[keeping].min(axis=0)
        off = ~np.isin(PAIR_CARDS, list(board)).any(axis=1)
        off &= np.isin(least, least[PERMUTED_PAIR[through, pairs]])  # alike to hands of the deck
        different, kind = np.unique(least[off], return_inverse=True)
        table[number, off] = kinds + kind
        kinds += len(different)
    return table, kinds


def random_player(deck: Deck, bets: int, seed: int, *, buckets: int = 0, pure: float = 0.0) -> Player:
    """Another random mixture for every decision and every kind of hand, or for each of a few buckets.

    A part of the mixtures, `pure`, is a single action.
    """
    draw, betting = np.random.default_rng(seed), betting_lines(bets)
    tables, counts = [], []
    for cards in BOARD_CARDS:
        table, kinds = canonical_hands(deck, cards)
        if buckets:
            bucket = draw.integers(buckets, size=kinds).astype(ALIKE)
            few = np.zeros_like(table)
            touched = np.flatnonzero(table.any(axis=1)) if cards else [0]
            few[touched] = bucket[table[touched]]
            table, kinds = few, buckets
        tables.append(table)
        counts.append(kinds)
    layout = one_bucket(betting)
    slots = layout.edges * np.array(counts)[:, None]
    base = (np.cumsum(slots) - slots.ravel()).reshape(slots.shape)
    layout = layout._replace(slot_base=base, buckets=np.repeat(np.array(counts)[:, None], 2, axis=1))
    probabilities = np.empty(int(slots.sum()))
    for place in np.ndindex(4, 2):
        block = draw.exponential(size=(layout.buckets[place], layout.edges[place]))
        starts = _first_edges(betting.node, place) - int(layout.first_edge[place])
        widths = np.diff([*starts, block.shape[1]])
        one = np.repeat(draw.random((len(block), len(starts))) < pure, widths, axis=1)
        top = block == np.repeat(np.maximum.reduceat(block, starts, axis=1), widths, axis=1)
        block = np.where(one, top, block)
        block /= np.repeat(np.add.reduceat(block, starts, axis=1), widths, axis=1)
        probabilities[base[place] : base[place] + slots[place]] = block.ravel()
    return Player(f"random {seed}", betting, layout, probabilities, tuple(tables))


def _first_edges(node: Any, place: tuple[int, ...]) -> Any:
    """Where the actions of each decision of a player on a street begin, ascending."""
    mine = [here for here in np.flatnonzero(node[:, PLAYER] == place[1]) if street_of(node, here) == place[0]]
    return np.sort(node[mine, PLACE])


def slot_of(player: Player, node: Any, bucket: Any) -> Any:
    """The first slots of decisions with buckets, all of one street and seat (see BettingTree)."""
    facts, layout = player.betting.node[node], player.layout
    place = facts[..., KIND] >> 3 & 3, facts[..., PLAYER]
    inside = facts[..., PLACE] - layout.first_edge[place]
    return layout.slot_base[place] + bucket.astype(np.int64) * layout.edges[place] + inside


def tree_policy(tree: GameTree, player: Player) -> TabularPolicy:
    """The player's policy of the enumerated game, from the observations of each infoset."""
    rows, node = tree.rows, player.betting.node
    word = np.array([WORDS.index(label) if label in WORDS else -1 for label in tree.labels])
    held = [
        0 if label in ("", *WORDS) else sum(1 << card for card in parse_cards(label)) for label in tree.labels
    ]
    bits = np.array(held, np.int64)
    size = len(rows.before)
    at, hole, board = np.zeros((3, size), np.int64)
    done = rows.before < 0
    while not done.all():
        now = np.flatnonzero(~done & done[rows.before])
        before, label = rows.before[now], rows.label[now]
        here = at[before]
        facing = node[here, KIND] >> 2 & 1
        action = np.array([0, 0, 1, 1, 1])[word[label]] + facing * (word[label] == WORDS.index("raise"))
        at[now] = np.where(word[label] < 0, here, node[here, CHILD] + action)
        hole[now] = np.where(hole[before] == 0, bits[label], hole[before])
        board[now] = np.where(hole[before] == 0, 0, board[before] | bits[label])
        done[now] = True
    at, hole, board = (of[rows.information] for of in (at, hole, board))
    different, which = np.unique(np.stack([hole, board]), axis=1, return_inverse=True)
    bucket = np.array([_bucket(player, _cards(two), _cards(table)) for two, table in different.T.tolist()])
    counts = np.diff(rows.first_slot)
    first = np.repeat(slot_of(player, at, bucket[which.ravel()]) - rows.first_slot[:-1], counts)
    return TabularPolicy(tree, player.probabilities[first + np.arange(tree.num_slots)])


def _cards(bits: int) -> list[int]:
    return [card for card in range(52) if bits >> card & 1]


def _bucket(player: Player, hole: Sequence[int], board: Sequence[int]) -> int:
    number, seen_as = find_board(board)
    return int(
        player.buckets[BOARD_CARDS.index(len(board))][number, PERMUTED_PAIR[seen_as, PAIR[tuple(hole)]]]
    )


class SlowFlop:
    """All turns and rivers after a flop, one by one in the order of cards, and every pair of hands.

    Vectors are [boards, hands] over all boards of a street and all hands of the deck.
    """

    def __init__(self, deck: Deck, flop: Sequence[int], bets: int) -> None:
        self.deck, self.pairs = deck, live_pairs(deck)
        self.node, self.leaves, _ = betting_nodes(2, bets)
        self.boards = {FLOP: [tuple(flop)]}
        self.before = {}
        for street in range(FLOP + 1, RIVER + 1):
            longer = [
                (number, (*board, card))
                for number, board in enumerate(self.boards[street - 1])
                for card in live_cards(deck)
                if card not in board
            ]
            self.before[street] = np.array([number for number, _ in longer])
            self.boards[street] = [board for _, board in longer]
        hands = PAIR_CARDS[self.pairs].tolist()
        self.free = {
            street: np.array([[not {*hand} & {*board} for hand in hands] for board in boards], float)
            for street, boards in self.boards.items()
        }
        self.meets = np.array([[not {*one} & {*two} for two in hands] for one in hands], float)
        self.wins = np.array([self._wins(board, hands) for board in self.boards[RIVER]])

    def _wins(self, board: tuple[int, ...], hands: list[list[int]]) -> Any:
        value = [0 if {*hand} & {*board} else _value(tuple(hand), tuple(sorted(board))) for hand in hands]
        return np.sign(np.subtract.outer(value, value)) * self.meets

    def flop_roots(self, other: Player, seat: int) -> dict[int, Any]:
        """By node with which the flop begins: [1, hands] the other's reach there."""
        bucket = other.buckets[0][0, self.pairs]
        found: dict[int, Any] = {}
        walk = [(0, np.ones(len(self.pairs)))]
        for node, reach in walk:
            if self.node[node, PLAYER] == TERMINAL:
                continue
            if street_of(self.node, node) == FLOP:
                found[node] = reach[None] * self.free[FLOP]
                continue
            for action in range(len(betting_words(int(self.node[node, KIND])))):
                own = self.node[node, PLAYER] == seat
                share = 1.0 if own else other.probabilities[slot_of(other, node, bucket) + action]
                walk.append((int(self.node[node, CHILD]) + action, reach * share))
        return found

    def values(
        self, other: Player, seat: int, ours: Player | None, best: Callable[[int], bool] | None = None
    ) -> dict[int, Any]:
        """By node with which the flop begins: [hands] what it is worth to each.

        We play a best response at nodes where `best` says so, or everywhere if `ours` is not given.
        """
        self._best = best or (lambda node: ours is None)
        self._seat, self._players = seat, [ours, other] if seat == 0 else [other, ours]
        self._buckets = [player and self._seen(player) for player in self._players]
        flop_roots = self.flop_roots(other, seat)
        return {
            node: self._worth(node, FLOP, reach)[0] * self.free[FLOP][0] for node, reach in flop_roots.items()
        }

    def _seen(self, player: Player) -> dict[int, Any]:
        """By street [boards, hands] the bucket."""
        found = {}
        for street, boards in self.boards.items():
            seen = [find_board(board) for board in boards]
            hands = [
                player.buckets[street][number, PERMUTED_PAIR[order, self.pairs]] for number, order in seen
            ]
            found[street] = np.array(hands)
        return found

    def _worth(self, node: int, street: int, reach: Any) -> Any:
        player = int(self.node[node, PLAYER])
        if player == TERMINAL:
            return self._ending(int(self.node[node, PLACE]), reach)
        if street_of(self.node, node) > street:
            after, free = self.before[street + 1], self.free[street + 1]
            deeper = self._worth(node, street + 1, reach[after] * free) * free
            total = np.zeros_like(reach)
            np.add.at(total, after, deeper)
            return total / (self.deck.size - 4 - BOARD_CARDS[street])
        first, ways = int(self.node[node, CHILD]), len(betting_words(int(self.node[node, KIND])))
        if self._players[player] is not None:
            slot = slot_of(self._players[player], node, self._buckets[player][street])
            shares = [self._players[player].probabilities[slot + action] for action in range(ways)]
        if player != self._seat:
            return sum(self._worth(first + action, street, reach * shares[action]) for action in range(ways))
        worth = [self._worth(first + action, street, reach) for action in range(ways)]
        if self._best(node):
            return np.max(worth, axis=0)
        return sum(share * each for share, each in zip(shares, worth, strict=True))

    def _ending(self, leaf: int, reach: Any) -> Any:
        paid = self.leaves.paid[leaf]
        inside = [bool(self.leaves.inside[leaf] >> seat & 1) for seat in range(2)]
        if all(inside):
            return paid[0] * np.einsum("bij,bj->bi", self.wins, reach)
        return (paid[1 - self._seat] if inside[self._seat] else -paid[self._seat]) * (reach @ self.meets)
