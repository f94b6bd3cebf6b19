"""The strategies of formula bots as the exact engine reads them: queried once for each distinguishable hand.

The bots of STRATEGY_FEATURES decide by one number of their hand on each street and by the state of the
betting, whatever line led there, and independently of earlier hands. So each is queried at every state of a
street with one hand for every number; numbers with the same decisions everywhere form a bucket. No threshold
of a bot is repeated here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from openfelt.bots.bot import Bot
from openfelt.bots.registry import BOTS, load_bot
from openfelt.bots.view import holdem_view
from openfelt.cards.boards import board_set, hole_class
from openfelt.cards.deck import BOARD_CARDS, PAIR_CARDS, PAIRS, PREFLOP, STREETS
from openfelt.cards.strength_tables import NO_HAND, Shorts, strength_tables
from openfelt.core.errors import FeltError, unknown
from openfelt.core.jit import Floats, Longs
from openfelt.games.compile.betting_tree import PLACE, PLAYER, Layout
from openfelt.games.game import TERMINAL
from openfelt.games.holdem import Betting, Holdem, bet, betting_actions, first_betting, require_holdem
from openfelt.measure.holdem.player import Player, one_bucket
from openfelt.solve.vector.betting_lines import betting_lines, children

NUMBERS = NO_HAND + 1
STEP = 1 << 22  # hands processed at once
_CARD = np.int64(1) << np.arange(52)
_PAIR_BITS = _CARD[PAIR_CARDS].sum(axis=1)


class StreetStrategy(NamedTuple):
    """The strategy of a bot on a street."""

    buckets: Shorts  # [boards, 1326]; where a card is on the board, 0
    probabilities: Floats  # [buckets, actions of all states]


class StreetBetting(NamedTuple):
    """The betting of a street; lines with the same future share a state."""

    lines: list[Sequence[str]]  # one line to each state
    states: list[Betting]
    nodes: list[list[int]]  # all nodes of each state


def kinds(street: int, boards: Longs) -> Shorts:
    """[boards, 1326] the class of hole cards, of 169; NO_HAND with a card of the board."""
    taken = _CARD[board_set(BOARD_CARDS[street]).cards()[boards]].sum(axis=1)
    found = np.empty((len(boards), PAIRS), np.uint16)
    kind = hole_class().astype(np.uint16)
    for board, bits in enumerate(taken):
        found[board] = np.where(_PAIR_BITS & bits, NO_HAND, kind)
    return found


def strengths(street: int, boards: Longs) -> Shorts:
    """[boards, 1326] twice the hands beaten plus those tied; before the flop the class of hole cards."""
    return kinds(street, boards) if street == PREFLOP else strength_tables()[street].hs[boards]


# By bot: the number by which it decides.
STRATEGY_FEATURES: dict[str, Callable[[int, Longs], Shorts]] = {"ace1": kinds, "chen": strengths}
NOT_READABLE = (
    "Only {known} can be read as strategies: they decide by one number of the hand and the state of the "
    "betting; {name} does not."
)


def formula_player(name: str) -> Player:
    """A bot of STRATEGY_FEATURES, with the buckets of all boards."""
    return player_on(name, [np.arange(len(board_set(cards).key)) for cards in BOARD_CARDS])


def player_on(name: str, boards: Sequence[Longs]) -> Player:
    """The same with the buckets of some canonical boards only, by street."""
    if name not in BOTS:
        raise FeltError(unknown("bot", name, STRATEGY_FEATURES))
    if name not in STRATEGY_FEATURES:
        raise FeltError(NOT_READABLE.format(known=" and ".join(STRATEGY_FEATURES), name=name))
    game = Holdem()
    bot, betting, streets = load_bot(name, game), betting_lines(game.bets), _streets(game)
    strategies = [
        _query(bot, streets[street], street, some, STRATEGY_FEATURES[name](street, some))
        for street, some in enumerate(boards)
    ]
    layout = _with_buckets(one_bucket(betting), [len(each.probabilities) for each in strategies])
    probabilities = np.zeros(int((layout.edges * layout.buckets).sum()))
    for street, (_, shares) in enumerate(strategies):
        first = 0
        for state, nodes in zip(streets[street].states, streets[street].nodes, strict=True):
            place, num_actions = (street, state.turn), len(betting_actions(state))
            rows = layout.slot_base[place] + layout.edges[place] * np.arange(len(shares))
            spots = betting.node[nodes, PLACE] - layout.first_edge[place]
            slots = rows[:, None, None] + spots[:, None] + np.arange(num_actions)  # [buckets, nodes, actions]
            probabilities[slots] = shares[:, None, first : first + num_actions]
            first += num_actions
    return Player(name, betting, layout, probabilities, tuple(each.buckets for each in strategies))


def _streets(game: Holdem) -> list[StreetBetting]:
    """All decisions, street by street."""
    node = betting_lines(game.bets).node
    number: dict[Betting, int] = {}
    streets = [StreetBetting([], [], []) for _ in STREETS]
    walk: list[tuple[int, Betting, tuple[str, ...]]] = [(0, first_betting(game.players, game.bets), ())]
    while walk:
        here, state, line = walk.pop()
        if node[here, PLAYER] == TERMINAL:
            continue
        street = streets[state.street]
        if state not in number:
            number[state] = len(street.states)
            street.lines.append(line)
            street.states.append(state)
            street.nodes.append([])
        street.nodes[number[state]].append(here)
        for child, word in zip(children(node, here), betting_actions(state), strict=True):
            walk.append((child, bet(state, word), (*line, word)))
    return streets


def _query(bot: Bot, betting: StreetBetting, street: int, boards: Longs, numbers: Shorts) -> StreetStrategy:
    """Query the bot with a hand for each number; the table of numbers becomes that of buckets."""
    hands, flat = np.full(NUMBERS, -1), numbers.reshape(-1)
    for first in range(0, len(flat), STEP):
        some = flat[first : first + STEP]
        hands[some] = np.arange(first, first + len(some))
    hands[NO_HAND] = -1
    there = np.flatnonzero(hands >= 0)
    cards = board_set(BOARD_CARDS[street]).cards()[boards[hands[there] // PAIRS]].tolist()
    holes = PAIR_CARDS[hands[there] % PAIRS].tolist()
    shares = _probabilities(bot, betting, list(zip(holes, cards, strict=True)))
    different, bucket = np.unique(shares, axis=0, return_inverse=True)
    bucket_of = np.zeros(NUMBERS, np.uint16)
    bucket_of[there] = bucket.ravel()
    for first in range(0, len(flat), STEP):
        flat[first : first + STEP] = bucket_of[flat[first : first + STEP]]
    return StreetStrategy(numbers, different)


def _probabilities(bot: Bot, betting: StreetBetting, hands: list[tuple[list[int], list[int]]]) -> Floats:
    """[hands, actions of all states] the probabilities of a bot's actions."""
    game = require_holdem(bot.game, "The bot")
    found = []
    for line, state in zip(betting.lines, betting.states, strict=True):
        view = holdem_view(game, state.turn, (), (), line)
        there = np.empty((len(hands), len(view.actions)))
        for place, (hole, board) in enumerate(hands):
            view.hole, view.board = hole, board
            thought = bot.think(view)
            assert thought is not None
            there[place] = thought.probabilities
        found.append(there)
    return np.concatenate(found, axis=1)


def _with_buckets(layout: Layout, counts: Sequence[int]) -> Layout:
    """A layout of one bucket, with these numbers of buckets by street."""
    buckets = np.repeat(np.array(counts, np.int64)[:, None], layout.edges.shape[1], axis=1)
    slots = layout.edges * buckets
    return layout._replace(slot_base=(np.cumsum(slots) - slots.ravel()).reshape(slots.shape), buckets=buckets)
