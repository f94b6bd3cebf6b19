"""Flop Hold'em as arrays: the betting before the flop, all flops up to suits, and the hands on each.

An infoset is a betting line and a hand up to suits: one of 169 classes before the flop, one of 1,286,792
hands with a flop after it. Nothing is abstracted. After each of the seven *roots*, the betting lines on which
a flop is dealt, each player has 13 actions, numbered so that both seats use the same kernels:

    0-1    first decision: check, bet
    2-7    answers to the opponent's bets 1 and 3, if the opponent began to bet: fold, call, raise of each
    8-12   answers to the opponent's bets 2 and 4, if the player began: fold, call, raise; fold, call

The slots of a table are ordered by seat; those of a seat are [169, edges] before the flop, then
[hands, actions, roots].
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.boards import PERMUTED_CARD, PERMUTED_PAIR
from openfelt.cards.deck import FLOP, PAIR, PAIR_CARDS, PAIRS, Bytes
from openfelt.cards.evaluator import CARD_BIT, evaluate
from openfelt.cards.public_cards import Deck, keepers
from openfelt.core.errors import GameError
from openfelt.core.jit import Floats, Ints, Longs, kernel
from openfelt.games.compile.tree import Tree
from openfelt.games.flop_holdem import FlopHoldem
from openfelt.games.game import CHANCE, TERMINAL
from openfelt.games.holdem import BET, Betting, bet, betting_actions, first_betting, is_over, players_in

CLASSES = 169
ACTIONS = 13  # of each player after a root
FIRST_ACTIONS = (0, 2, 5, 8, 11)  # of the five decisions of a player
DECISIONS = len(FIRST_ACTIONS)
STREET_NODES = 27  # of the betting after a root: ten decisions, nine showdowns, eight folds


class Node(NamedTuple):
    """A node of the betting before the flop."""

    player: int  # who decides; TERMINAL after a fold, CHANCE where the flop is dealt
    words: tuple[str, ...]  # its actions
    children: tuple[int, ...]
    place: int  # of a decision: its first edge in the player's table; of a root: its number
    betting: Betting


class FlopHands(NamedTuple):
    """The hands that are possible on each flop, in the order of their values."""

    pair: Ints  # [flops, hands]
    end: Ints  # [flops, hands] the place after the last hand of equal value
    row: Ints  # [flops, hands] the number of the hand up to suits, from 0 on each flop
    first_row: Longs  # [flops + 1] the first hand of each flop among those of all flops
    example: Ints  # [all rows] the place of a hand with that number
    times: Ints  # [all rows] how many hands have it


@dataclass(frozen=True, eq=False)
class FlopTree(Tree):
    """Compiled Flop Hold'em."""

    deck: Deck
    nodes: tuple[Node, ...]  # before the flop; parents first
    hands: FlopHands
    game: ClassVar[str] = FlopHoldem.key
    players: ClassVar[int] = 2
    unit: ClassVar[str] = "chips"
    is_enumerated: ClassVar[bool] = False
    two_player_zero_sum: ClassVar[bool] = True

    @cached_property
    def roots(self) -> list[int]:
        """The nodes where the flop is dealt."""
        return [number for number, node in enumerate(self.nodes) if node.player == CHANCE]

    @cached_property
    def edges(self) -> tuple[int, int]:
        """The number of actions before the flop, by seat."""
        counts = [sum(len(node.words) for node in self.nodes if node.player == seat) for seat in range(2)]
        return counts[0], counts[1]

    @property
    def num_hands(self) -> int:
        """The number of hands on flops, up to suits."""
        return int(self.hands.first_row[-1])

    @property
    def num_nodes(self) -> int:
        return len(self.nodes) - len(self.roots) + STREET_NODES * len(self.roots)

    @property
    def num_rows(self) -> int:
        before = sum(node.player >= 0 for node in self.nodes)
        return CLASSES * before + 2 * DECISIONS * len(self.roots) * self.num_hands

    @property
    def num_edges(self) -> int:
        return sum(self.edges) + 2 * ACTIONS * len(self.roots)

    @property
    def num_slots(self) -> int:
        return self._slots_of(0) + self._slots_of(1)

    def _slots_of(self, seat: int) -> int:
        return CLASSES * self.edges[seat] + self.num_hands * ACTIONS * len(self.roots)

    @property
    def payoff_range(self) -> tuple[float, float]:
        most = float(max(self.stakes) + 4 * BET[FLOP])
        return -most, most

    @cached_property
    def stakes(self) -> list[int]:
        """What each player has paid at each root."""
        return [self.nodes[root].betting.paid[0] for root in self.roots]

    def pots(self) -> tuple[Floats, Floats]:
        """Unused: pots are in the betting of the nodes."""
        return np.zeros(0), np.zeros(0)

    def passive_actions(self) -> NDArray[np.int8]:
        """Unused: actions have names."""
        return np.zeros(1, np.int8)

    def player_slots(self, player: int) -> Iterator[slice]:
        first = player * self._slots_of(0)
        yield slice(first, first + self._slots_of(player))

    def hand(self, hole: tuple[int, ...], board: tuple[int, ...]) -> int:
        """The number of a hand on a flop among all hands up to suits."""
        for permutation in self.deck.symmetry:
            seen = tuple(sorted(PERMUTED_CARD[permutation, list(board)].tolist()))
            if seen in self._flop_numbers:
                flop = self._flop_numbers[seen]
                pair = PERMUTED_PAIR[permutation, PAIR[hole]]
                place = int(np.flatnonzero(self.hands.pair[flop] == pair)[0])
                return int(self.hands.first_row[flop] + self.hands.row[flop, place])
        raise GameError("The cards are not in the deck.")

    @cached_property
    def _flop_numbers(self) -> dict[tuple[int, ...], int]:
        return {flop.cards: number for number, flop in enumerate(self.deck.flops)}

    def parts(self, table: NDArray[Any], seat: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Views of a seat's part of a table: [169, edges], and on the flop [hands, actions, roots]."""
        own = table[next(self.player_slots(seat))]
        before = CLASSES * self.edges[seat]
        after = own[before:].reshape(self.num_hands, ACTIONS, len(self.roots))
        return own[:before].reshape(CLASSES, self.edges[seat]), after

    @cached_property
    def fingerprint(self) -> str:
        """Equal for two trees if and only if their betting and hands are equal."""
        digest = hashlib.sha256(repr((self.deck, self.nodes)).encode())
        for array in self.hands:
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()[:32]


@lru_cache(maxsize=2)
def flop_tree(deck: Deck | None = None) -> FlopTree:
    """The tree of Flop Hold'em, with a smaller deck for tests."""
    deck = deck or Deck()
    nodes: list[Node] = []
    edges = [0, 0]
    _unfold(first_betting(2), nodes, edges, [0])
    cards = np.array([flop.cards for flop in deck.flops], np.int32)
    count = (deck.size - 3) * (deck.size - 4) // 2
    shapes = [(len(cards), count)] * 3
    pair, end, row = (np.zeros(shape, np.int32) for shape in shapes)
    example, times = np.zeros((2, len(cards), count), np.int32)
    rows = np.zeros(len(cards), np.int64)
    _list_hands(deck.live, cards, deck.symmetry.astype(np.int32), (pair, end, row), (rows, example, times))
    is_row = np.arange(count) < rows[:, None]
    first_row = np.concatenate([[0], np.cumsum(rows)])
    return FlopTree(deck, tuple(nodes), FlopHands(pair, end, row, first_row, example[is_row], times[is_row]))


def _unfold(betting: Betting, nodes: list[Node], edges: list[int], roots: list[int]) -> int:
    """Append the node of a betting state and those below it; returns its number."""
    here = len(nodes)
    if len(players_in(betting)) == 1:
        nodes.append(Node(TERMINAL, (), (), -1, betting))
    elif betting.street == FLOP:
        nodes.append(Node(CHANCE, (), (), roots[0], betting))
        roots[0] += 1
    else:
        seat, words = betting.turn, tuple(betting_actions(betting))
        nodes.append(Node(seat, words, (), edges[seat], betting))
        edges[seat] += len(words)
        children = tuple(_unfold(bet(betting, word), nodes, edges, roots) for word in words)
        nodes[here] = nodes[here]._replace(children=children)
    return here


class FlopDecision(NamedTuple):
    """A decision on the flop, or the end of the betting there."""

    player: int  # TERMINAL if the betting has ended
    first: int  # its first action
    words: tuple[str, ...]


def flop_decision(betting: Betting, line: Sequence[str]) -> FlopDecision:
    """The decision after these actions on the flop, from the betting at a root; raises ValueError."""
    for place, word in enumerate(line):
        if is_over(betting, FLOP) or word not in betting_actions(betting):
            raise ValueError(f"'{word}' after {place} actions")
        betting = bet(betting, word)
    if is_over(betting, FLOP):
        return FlopDecision(TERMINAL, -1, ())
    bets = betting.bets
    # Odd bets are answered by the player that did not begin, even bets by the one that did.
    which = 0 if bets == 0 else (bets + 1) // 2 if bets % 2 else 2 + bets // 2
    return FlopDecision(betting.turn, FIRST_ACTIONS[which], tuple(betting_actions(betting)))


@kernel
def _list_hands(
    live: Bytes,
    cards: Ints,
    symmetry: Ints,
    by_place: tuple[Ints, Ints, Ints],
    by_row: tuple[Longs, Ints, Ints],
) -> None:
    pair, end, row = by_place
    rows, example, times = by_row
    keys, number = np.empty(pair.shape[1], np.int64), np.empty(PAIRS, np.int32)
    kept = np.empty(24, np.int32)
    for flop in range(len(cards)):
        free, word = live.copy(), np.uint64(0)
        for card in cards[flop]:
            free[card] = 0
            word |= CARD_BIT[card]
        count = 0
        for hole in range(PAIRS):
            low, high = PAIR_CARDS[hole, 0], PAIR_CARDS[hole, 1]
            if free[low] and free[high]:
                keys[count] = np.int64(evaluate(word | CARD_BIT[low] | CARD_BIT[high])) << 11 | hole
                count += 1
        keys.sort()
        number[:] = -1
        size = keepers(symmetry, len(symmetry), cards[flop], 3, kept)
        following = count
        for place in range(count - 1, -1, -1):
            if place < count - 1 and keys[place] >> 11 != keys[place + 1] >> 11:
                following = place + 1
            hole = keys[place] & 2047
            pair[flop, place], end[flop, place] = hole, following
            least = PAIRS
            for keeper in range(size):
                least = min(least, PERMUTED_PAIR[kept[keeper], hole])
            if number[least] < 0:
                number[least] = rows[flop]
                rows[flop] += 1
            kind = number[least]
            row[flop, place] = kind
            example[flop, kind] = place
            times[flop, kind] += 1
