"""Observed hands, and the decisions of the modelled player in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from openfelt.cards.deck import Bytes
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, Longs
from openfelt.games.compile.betting_tree import FACING_SHIFT, PLAYER, STREET_SHIFT
from openfelt.games.registry import load_game
from openfelt.hands.record import HandRecord
from openfelt.opponents.models.domain import UNKNOWN, ModelDomain, model_domain
from openfelt.opponents.models.public_tree import FOLD, Places, PublicTree, find_places

KNOWN, SHOWN = "known", "shown"  # cards: all in the history, or only those of showdowns


class ObservedHand(NamedTuple):
    """A hand of the modelled player."""

    seat: int  # the player's
    line: tuple[int, ...]  # all actions, each by its position among the legal ones
    board: tuple[int, ...]
    holding: int = UNKNOWN
    dead: tuple[int, ...] = ()  # cards held by others


class Ending(NamedTuple):
    """How a hand ended for the player."""

    showdown: bool
    folded: bool  # the player folded


class Decisions(NamedTuple):
    """The player's decisions in observed hands, from which models learn."""

    hand: Longs  # [decisions] number of the hand
    place: Longs  # [decisions] number of the place
    action: Bytes  # [decisions] FOLD, CALL or RAISE
    holding: Longs  # [decisions] or UNKNOWN
    rank: Longs  # [decisions] of the hand, 0 to 99, or UNKNOWN
    weight: Floats  # [decisions] 1, or less for one of several drawn holdings
    places: Places  # each node once

    @property
    def node(self) -> Longs:
        """[decisions] of the public tree."""
        return np.asarray(self.places.node[self.place])


def observed_hand(domain: ModelDomain, record: HandRecord, seat: int, cards: str = KNOWN) -> ObservedHand:
    """A hand of a history, as observed of the player in a seat."""
    held, hole, board = domain.read(record.dealt)
    line = domain.line(record.actions)
    others = [other for other in range(domain.players) if other != seat]
    ends = [ending(domain.public, line, each) for each in range(domain.players)]
    visible = [cards == KNOWN or (end.showdown and not end.folded) for end in ends]
    if domain.players == 2:  # the opponent knows its own cards
        visible[others[0]] = True
    dead = tuple(card for other in others if visible[other] for card in hole[other])
    return ObservedHand(seat, line, board, held[seat] if visible[seat] else UNKNOWN, dead)


def observed_hands(
    records: Iterable[HandRecord], player: str, game: str, cards: str = KNOWN
) -> list[ObservedHand]:
    """All hands of a player in a history, of the same rules, whatever the abstraction in their names."""
    found, others = find_hands(records, player, game, cards)
    require_hands(found, others, player, game)
    return found


def require_hands(found: Sequence[ObservedHand], others: Iterable[str], player: str, game: str) -> None:
    """Raise FeltError if no hands were found; `others` are other games of the player."""
    if not found:
        instead = f", only of {', '.join(sorted(others))}" if others else ""
        raise FeltError(f"There are no hands of {player} in {model_domain(game).game.name}{instead}.")


def find_hands(
    records: Iterable[HandRecord], player: str, game: str, cards: str = KNOWN
) -> tuple[list[ObservedHand], set[str]]:
    """The hands of a player, and the names of other games that it plays in the history."""
    if cards not in (KNOWN, SHOWN):
        raise FeltError(f"Cards are {KNOWN} or {SHOWN}, not '{cards}'.")
    domain = model_domain(game)
    found: list[ObservedHand] = []
    others = set[str]()
    for record in records:
        if len(record.names) < 2:
            raise FeltError(f"Hand {record.number} has only one player; a model needs hands of two or more.")
        if player in record.names:
            if not _same_game(record.game, domain):
                others.add(record.game)
                continue
            seats = [seat for seat, name in enumerate(record.names) if name == player]
            found.extend(observed_hand(domain, record, seat, cards) for seat in seats)
    return found, others


@lru_cache(maxsize=64)
def _same_game(name: str, domain: ModelDomain) -> bool:
    return model_domain(load_game(name)) is domain


def ending(tree: PublicTree, line: Sequence[int], seat: int) -> Ending:
    """How a line ended for a seat."""
    folds, folded, node = 0, False, 0
    for action in line:
        player, kind, child, _ = tree.node[node].tolist()
        if action + 1 - (kind >> FACING_SHIFT & 1) == FOLD:
            folds += 1
            folded = folded or player == seat
        node = child + action
    over = int(tree.node[node, PLAYER]) < 0
    return Ending(over and folds < tree.paid.shape[1] - 1, folded)


class Decision(NamedTuple):
    """A decision of the player."""

    node: int
    length: int  # number of actions before it
    street: int
    action: int  # FOLD, CALL or RAISE


def decisions_in(tree: PublicTree, hand: ObservedHand) -> Iterator[Decision]:
    """The player's decisions in a hand, in order."""
    node = 0
    for length, action in enumerate(hand.line):
        player, kind, child, _ = tree.node[node].tolist()
        if player == hand.seat:
            yield Decision(node, length, kind >> STREET_SHIFT & 3, action + 1 - (kind >> FACING_SHIFT & 1))
        node = child + action


def concatenate(parts: Sequence[Decisions]) -> Decisions:
    """Join several sets of decisions."""
    if len(parts) == 1:
        return parts[0]
    hands = np.cumsum([0, *(int(part.hand.max(initial=-1)) + 1 for part in parts)])
    places = np.cumsum([0, *(len(part.places.node) for part in parts)])
    moved = [
        part._replace(hand=part.hand + hand, place=part.place + place)
        for part, hand, place in zip(parts, hands, places, strict=False)
    ]
    names = [name for name in Decisions._fields if name != "places"]
    joined = {name: np.concatenate([getattr(part, name) for part in moved]) for name in names}
    where = [np.concatenate(columns) for columns in zip(*(part.places for part in parts), strict=True)]
    return Decisions(**joined, places=Places(*where))


def all_decisions(domain: ModelDomain, hands: Sequence[ObservedHand]) -> Decisions:
    """The decisions in all hands; unknown cards stay unknown."""
    rows: list[tuple[int, int, int, int, int]] = []
    lines: dict[int, tuple[int, ...]] = {}  # by node
    places: dict[int, int] = {}
    for number, hand in enumerate(hands):
        for node, length, street, action in decisions_in(domain.public, hand):
            place = places.setdefault(node, len(places))
            lines.setdefault(node, hand.line[:length])
            rank = UNKNOWN
            if hand.holding != UNKNOWN:
                rank = domain.rank_of(hand.holding, hand.board[: domain.board_cards[street]])
            rows.append((number, place, action, hand.holding, rank))
    table = np.array(rows, np.int64).reshape(-1, 5)
    return Decisions(
        hand=table[:, 0],
        place=table[:, 1],
        action=table[:, 2].astype(np.uint8),
        holding=table[:, 3],
        rank=table[:, 4],
        weight=np.ones(len(table)),
        places=find_places(domain.public, list(lines.values())),
    )
