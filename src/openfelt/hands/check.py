"""Checks of hand records: whether a hand follows the rules of its game."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, singledispatch
from typing import Any, NamedTuple

import numpy as np

from openfelt.cards.deck import BOARD_CARDS
from openfelt.cards.evaluator import hand_value, hand_values
from openfelt.core.errors import FeltError
from openfelt.games.cash_holdem import CashHoldem, CashState
from openfelt.games.game import CHANCE, TERMINAL, Game
from openfelt.games.holdem import (
    CARD_NUMBERS,
    Betting,
    Holdem,
    HoldemState,
    bet,
    betting_actions,
    is_over,
    players_in,
)
from openfelt.games.registry import load_recorded_game
from openfelt.hands.record import HIDDEN, HandRecord

TOLERANCE = 1e-6  # chips; other programs write winnings with six digits
MOST_PAYOFFS = 2_000  # most assignments of hidden cards to try
NO_CARD = -1


class Step(NamedTuple):
    """One action of a player or of chance."""

    mover: int  # a player or CHANCE
    word: str  # the action or the card, or HIDDEN
    state: Any  # of the game, before the step


class Replay(NamedTuple):
    """A hand from start to end, with possible cards in place of hidden ones."""

    steps: list[Step]
    state: Any  # of the game, at the end


def check_record(record: HandRecord) -> str | None:
    """Replay a hand by the rules.

    With hidden cards, winnings are valid if some assignment of these cards leads to them.

    Parameters
    ----------
    record : HandRecord
        The hand.

    Returns
    -------
    str or None
        One sentence on the first violation of the rules, or None.

    Examples
    --------
    >>> hand = felt.HandRecord("kuhn", 0, ("Ann", "Bo"), ("K", "Q"), ("bet", "pass"), (2.0, -2.0))
    >>> felt.check_record(hand)
    'The recorded winnings are +2, -2, but the rules give +1, -1.'
    """
    try:
        game = _game(record.game)
        payoffs = _quick_payoffs(game, record)
        if payoffs is not None and _same(record.won, payoffs):
            return None
        won = [tuple(payoffs) for payoffs in _possible_payoffs(game, record)]
    except FeltError as error:
        return str(error)
    if any(_same(record.won, payoffs) for payoffs in won) or len(won) == MOST_PAYOFFS:
        return None
    rules = f"give {_chips(won[0])}" if len(won) == 1 else "cannot give that, whatever the hidden cards are"
    return f"The recorded winnings are {_chips(record.won)}, but the rules {rules}."


def replay(record: HandRecord) -> Replay:
    """Replay a hand by the rules; raises FeltError at the first step that violates them."""
    game = _game(record.game)
    for name, values in (("names", record.names), ("winnings", record.won)):
        if len(values) != game.players:
            raise FeltError(f"{record.game} has {game.players} players, but there are {len(values)} {name}.")
    return next(_replays(game, record, [], game.start()))


def possible_winnings(record: HandRecord) -> list[tuple[float, ...]]:
    """What the seats may have won by the rules, one for each way in which hidden cards can fall."""
    return [tuple(won) for won in _possible_payoffs(_game(record.game), record)]


def split_pot(betting: Betting, winners: Sequence[int]) -> list[float]:
    """What each seat has won at hold'em when the winners share the pot."""
    share = sum(betting.paid) / len(winners)
    return [share * (seat in winners) - chips for seat, chips in enumerate(betting.paid)]


@lru_cache(maxsize=16)
def _game(name: str) -> Game:
    """Cached, since many hands are of one game."""
    return load_recorded_game(name)


@singledispatch
def _quick_payoffs(game: Game, record: HandRecord) -> Sequence[float] | None:
    """The payoffs without a replay, or None where they need one, which also finds what is wrong."""
    return None


@_quick_payoffs.register
def _(game: Holdem, record: HandRecord) -> Sequence[float] | None:
    """Many hands share a betting line, and most need no cards, or one evaluation."""
    ending = _ending(game, record.actions)
    known = [CARD_NUMBERS.get(card, NO_CARD) for card in record.dealt if card != HIDDEN]
    if ending is None or not len(record.names) == len(record.won) == game.players:
        return None
    if len(record.dealt) != ending.cards or len(set(known)) < len(known) or NO_CARD in known:
        return None
    if ending.won is not None:
        return ending.won
    if len(known) < ending.cards:
        return None
    inside, board = players_in(ending.betting), known[2 * game.players :]
    hands = np.array([known[2 * seat : 2 * seat + 2] + board for seat in inside], np.uint8)
    values = hand_values(hands).tolist()
    return split_pot(
        ending.betting, [seat for seat, value in zip(inside, values, strict=True) if value == max(values)]
    )


class Ending(NamedTuple):
    """How a complete betting line of hold'em ends."""

    cards: int  # that were dealt
    betting: Betting
    won: Sequence[float] | None  # if all but one player have folded


@lru_cache(maxsize=1 << 16)
def _ending(game: Holdem, actions: tuple[str, ...]) -> Ending | None:
    """How a line ends, or None if it is not a complete line by the rules."""
    betting, board = game.start().betting, 0
    for action in actions:
        if is_over(betting) or action not in betting_actions(betting):
            return None
        board = BOARD_CARDS[betting.street]
        betting = bet(betting, action)
    if not is_over(betting):
        return None
    inside = players_in(betting)
    return Ending(2 * game.players + board, betting, split_pot(betting, inside) if len(inside) == 1 else None)


def _possible_payoffs(game: Game, record: HandRecord) -> Iterable[Sequence[float]]:
    """The payoffs by the rules: one result, or one for each assignment of the hidden cards."""
    first = replay(record)
    if HIDDEN not in record.dealt:
        return [game.payoffs(first.state)]
    return _hidden_payoffs(game, record, first.state)


@singledispatch
def _hidden_payoffs(game: Game, record: HandRecord, state: Any) -> Iterable[Sequence[float]]:
    """The payoffs for each assignment of the hidden cards, where `state` is one possible end of the hand."""
    replays = itertools.islice(_replays(game, record, [], game.start()), MOST_PAYOFFS)
    return [game.payoffs(each.state) for each in replays]


@_hidden_payoffs.register
def _(game: Holdem, record: HandRecord, state: HoldemState) -> Iterable[Sequence[float]]:
    """By the possible winners: any seats with hidden cards, and of the other seats only the best."""
    inside = players_in(state.betting)
    if len(inside) == 1:
        return [split_pot(state.betting, inside)]
    board_hidden = HIDDEN in record.dealt[2 * game.players :]
    hidden = [seat for seat in inside if board_hidden or HIDDEN in record.dealt[2 * seat : 2 * seat + 2]]
    value = {
        seat: hand_value((*game.hole(state, seat), *game.board(state)))
        for seat in inside
        if seat not in hidden
    }
    best = [seat for seat in value if value[seat] == max(value.values())]
    groups = [
        [*shown, *some]
        for shown in ([], best)
        for count in range(len(hidden) + 1)
        for some in itertools.combinations(hidden, count)
    ]
    return [split_pot(state.betting, winners) for winners in groups if winners]


@_hidden_payoffs.register
def _(game: CashHoldem, record: HandRecord, state: CashState) -> Iterable[Sequence[float]]:
    """By the places that the hidden hands may have among the known ones; first they lose all."""
    inside, board_hidden = game.inside(state), HIDDEN in record.dealt[2 * game.players :]
    hidden = [seat for seat in inside if board_hidden or HIDDEN in record.dealt[2 * seat : 2 * seat + 2]]
    if len(inside) == 1 or not hidden:
        return [game.payoffs(state)]
    value = {
        seat: hand_value((*game.hole(state, seat), *game.board(state)))
        for seat in inside
        if seat not in hidden
    }
    ranks = sorted(set(value.values()))
    gap = len(hidden) + 1  # places between two known hands, so that hidden ones can differ
    places = {seat: gap * (1 + ranks.index(own)) for seat, own in value.items()}
    orders = itertools.product(range(gap * (len(ranks) + 1)), repeat=len(hidden))
    return [
        game.share_pots(state, places | dict(zip(hidden, order, strict=True)))
        for order in itertools.islice(orders, MOST_PAYOFFS)
    ]


@singledispatch
def _candidates(game: Game, cards: Sequence[str]) -> Sequence[str]:
    """The cards to try in place of a hidden one."""
    return cards


@_candidates.register(Holdem)
@_candidates.register(CashHoldem)
def _(game: Game, cards: Sequence[str]) -> Sequence[str]:
    """One is enough: before the showdown the hidden cards of hold'em do not matter."""
    return cards[:1]


def _replays(game: Game, record: HandRecord, steps: list[Step], state: Any) -> Iterator[Replay]:
    """All replays from a state on, one for each assignment of the hidden cards that `_candidates` allow."""
    dealt = sum(step.mover == CHANCE for step in steps)
    acted = len(steps) - dealt
    while (mover := game.turn(state)) != TERMINAL:
        chance = mover == CHANCE
        words, place = (record.dealt, dealt) if chance else (record.actions, acted)
        if place == len(words):
            raise FeltError("The record ends before the hand is over.")
        word, step = words[place], Step(mover, words[place], state)
        if chance and word == HIDDEN:
            yield from _hidden_replays(game, record, [*steps, step])
            return
        if not game.is_legal(state, word):
            legal = game.actions(state)
            raise FeltError(_not_dealt(record, word) if chance else _not_legal(record, mover, acted, legal))
        steps.append(step)
        state = game.play(state, word)
        dealt, acted = dealt + chance, acted + (not chance)
    if (dealt, acted) != (len(record.dealt), len(record.actions)):
        raise FeltError("The record continues after the hand is over.")
    yield Replay(steps, state)


def _hidden_replays(game: Game, record: HandRecord, steps: list[Step]) -> Iterator[Replay]:
    """The replays for each candidate of a hidden card, first those that are not dealt elsewhere."""
    fault, found, state = FeltError("No cards can take the place of the hidden ones."), False, steps[-1].state
    cards = sorted(game.actions(state), key=record.dealt.count)
    for word in _candidates(game, cards):
        try:
            for each in _replays(game, record, list(steps), game.play(state, word)):
                found = True
                yield each
        except FeltError as error:
            fault = error
    if not found:
        raise fault


def _not_dealt(record: HandRecord, word: str) -> str:
    count = record.dealt.count(word)
    if count > 1:
        return f"The card {word} is dealt {'twice' if count == 2 else f'{count} times'}."
    return f"'{word}' is not a card that can be dealt in {record.game}."


def _not_legal(record: HandRecord, seat: int, place: int, legal: Sequence[str]) -> str:
    did, could = record.actions[place], ", ".join(legal)
    return f"Action {place + 1}, '{did}' by seat {seat}, is not legal there (allowed: {could})."


def _same(some: Sequence[float], others: Sequence[float]) -> bool:
    return all(abs(one - other) <= TOLERANCE for one, other in zip(some, others, strict=True))


def _chips(won: Sequence[float]) -> str:
    return ", ".join(f"{chips:+g}" for chips in won)
