"""Whether a hand that somebody wrote down was played by the rules."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from openfelt.cards.deck import CARDS, card_text
from openfelt.cards.evaluator import hand_value
from openfelt.core.errors import FeltError
from openfelt.games.game import CHANCE, TERMINAL, Game
from openfelt.games.holdem import Betting, Holdem, HoldemState, players_in
from openfelt.games.registry import load_game
from openfelt.hands.record import HIDDEN, HandRecord

TOLERANCE = 1e-6  # chips; files of others have winnings with six digits
MOST_ENDINGS = 2_000  # that are tried to make sense of hidden cards
DECK = {card_text(card): card for card in range(CARDS)}


class Step(NamedTuple):
    """Something that happened in a hand."""

    mover: int  # a player or CHANCE
    word: str  # what he did or what came, or HIDDEN
    state: Any  # of the game, before it


class Replay(NamedTuple):
    """A hand from start to end; where cards are hidden, others stand in for them."""

    steps: list[Step]
    state: Any  # of the game, in the end


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
    'The winnings are written as +2, -2, but the rules give +1, -1.'
    """
    try:
        game = _game(record.game)
        won = [tuple(payoffs) for payoffs in _endings(game, record)]
    except FeltError as error:
        return str(error)
    if any(_same(record.won, payoffs) for payoffs in won) or len(won) == MOST_ENDINGS:
        return None
    rules = f"give {_chips(won[0])}" if len(won) == 1 else "cannot give that, whatever the hidden cards are"
    return f"The winnings are written as {_chips(record.won)}, but the rules {rules}."


def replay(record: HandRecord) -> Replay:
    """The hand by the rules, or a FeltError that says where it leaves them."""
    game = _game(record.game)
    for name, values in (("names", record.names), ("winnings", record.won)):
        if len(values) != game.players:
            raise FeltError(f"{record.game} has {game.players} players, but there are {len(values)} {name}.")
    return next(_replays(game, record, [], game.start()))


def split_pot(betting: Betting, winners: Sequence[int]) -> list[float]:
    """What each seat of hold'em has won when these share the pot."""
    share = sum(betting.paid) / len(winners)
    return [share * (seat in winners) - chips for seat, chips in enumerate(betting.paid)]


@lru_cache(maxsize=16)
def _game(name: str) -> Game:
    """Many hands are of one game."""
    return load_game(name)


def _endings(game: Game, record: HandRecord) -> Iterable[Sequence[float]]:
    """The winnings that the rules give: one way, or all that hidden cards leave possible."""
    first = replay(record)
    if HIDDEN not in record.dealt:
        return [game.payoffs(first.state)]
    if isinstance(game, Holdem):
        return _holdem_endings(game, record, first.state)
    replays = itertools.islice(_replays(game, record, [], game.start()), MOST_ENDINGS)
    return [game.payoffs(each.state) for each in replays]


def _holdem_endings(game: Holdem, record: HandRecord, state: HoldemState) -> list[list[float]]:
    """By who may have won: any seat that hides its cards, and of the others only the best."""
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


def _replays(game: Game, record: HandRecord, steps: list[Step], state: Any) -> Iterator[Replay]:
    """From a state on; one for each way to fill in the hidden cards (in hold'em, where they do not matter
    before the showdown, only one).
    """
    dealt = sum(step.mover == CHANCE for step in steps)
    acted = len(steps) - dealt
    while (mover := game.turn(state)) != TERMINAL:
        chance = mover == CHANCE
        words, place = (record.dealt, dealt) if chance else (record.actions, acted)
        if place == len(words):
            raise FeltError("It stops before the hand is over.")
        word, step = words[place], Step(mover, words[place], state)
        if chance and word == HIDDEN:
            yield from _filled(game, record, [*steps, step])
            return
        if not _can(game, state, word, chance=chance):
            legal = game.actions(state)
            raise FeltError(_not_dealt(record, word) if chance else _not_legal(record, mover, acted, legal))
        steps.append(step)
        state = game.play(state, word)
        dealt, acted = dealt + chance, acted + (not chance)
    if (dealt, acted) != (len(record.dealt), len(record.actions)):
        raise FeltError("It goes on after the hand is over.")
    yield Replay(steps, state)


def _can(game: Game, state: Any, word: str, *, chance: bool) -> bool:
    """Whether the one to move can do that; the deck of hold'em is not listed anew for each card."""
    if chance and isinstance(game, Holdem):
        return word in DECK and DECK[word] not in state.cards
    return word in game.actions(state)


def _filled(game: Game, record: HandRecord, steps: list[Step]) -> Iterator[Replay]:
    """With each card that may be the hidden one, those first that are not seen elsewhere."""
    fault, found, state = FeltError("Its hidden cards cannot be any."), False, steps[-1].state
    cards = sorted(game.actions(state), key=record.dealt.count)
    for word in cards[:1] if isinstance(game, Holdem) else cards:
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
    return f"'{word}' is no card that can be dealt in {record.game}."


def _not_legal(record: HandRecord, seat: int, place: int, legal: Sequence[str]) -> str:
    did, could = record.actions[place], ", ".join(legal)
    return f"Action {place + 1}, '{did}' by seat {seat}, is not legal there (allowed: {could})."


def _same(some: Sequence[float], others: Sequence[float]) -> bool:
    return all(abs(one - other) <= TOLERANCE for one, other in zip(some, others, strict=True))


def _chips(won: Sequence[float]) -> str:
    return ", ".join(f"{chips:+g}" for chips in won)
