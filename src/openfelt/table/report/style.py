"""The style of players of hold'em by the usual figures: VPIP, PFR, AF and WTSD."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache, singledispatch
from typing import Any

from openfelt.cards.deck import PREFLOP
from openfelt.games.cash_holdem import CashHoldem
from openfelt.games.game import CHANCE, Game
from openfelt.games.holdem import Holdem, bet, first_betting
from openfelt.games.registry import load_recorded_game
from openfelt.hands.check import replay
from openfelt.hands.record import HandRecord

RAISES = ("bet", "raise")


@dataclass
class Style:
    """How a player plays, by counts."""

    hands: int = 0
    entered: int = 0  # hands with a voluntary call or raise before the flop
    raised: int = 0  # hands with a raise before the flop
    bets: int = 0  # bets and raises from the flop on
    calls: int = 0  # from the flop on
    flops: int = 0  # hands in which the player saw the flop
    showdowns: int = 0  # of those, hands in which it went to the showdown

    @property
    def vpip(self) -> float | None:
        """Share of hands in which the player voluntarily put money in the pot before the flop."""
        return self.entered / self.hands if self.hands else None

    @property
    def pfr(self) -> float | None:
        """Share of hands with a raise before the flop."""
        return self.raised / self.hands if self.hands else None

    @property
    def af(self) -> float | None:
        """Aggression factor: bets and raises per call, from the flop on."""
        return self.bets / self.calls if self.calls else None

    @property
    def wtsd(self) -> float | None:
        """Share of the flops seen that went to the showdown."""
        return self.showdowns / self.flops if self.flops else None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"hands": self.hands, "vpip": self.vpip, "pfr": self.pfr, "af": self.af, "wtsd": self.wtsd}


def styles(records: Iterable[HandRecord]) -> dict[str, Style]:
    """The style of each player in hands of hold'em; hands of other games do not count."""
    found: dict[str, Style] = {}
    for record in records:
        events = hand_events(game_of(record), record)
        if events is not None:
            for seat, name in enumerate(record.names):
                _count(found.setdefault(name, Style()), seat, events, len(record.names))
    return found


def game_of(record: HandRecord) -> Game:
    """The rules of a hand; cached, since many hands are of one game."""
    return _load(record.game)


_load = lru_cache(maxsize=256)(load_recorded_game)
Events = tuple[tuple[int, int, str], ...]  # seat, street and kind of each action


def _count(style: Style, seat: int, events: Events, players: int) -> None:
    own = [(street, word) for mover, street, word in events if mover == seat]
    folds = {mover: street for mover, street, word in events if word == "fold"}
    early = {word for street, word in own if street == PREFLOP}
    late = [word for street, word in own if street > PREFLOP]
    is_shown = len(folds) < players - 1
    saw_flop = seat not in folds or folds[seat] > PREFLOP
    is_flop = is_shown or any(street > PREFLOP for _, street, _ in events)
    style.hands += 1
    style.entered += bool(early & {"call", *RAISES})
    style.raised += bool(early & {*RAISES})
    style.bets += sum(word in RAISES for word in late)
    style.calls += late.count("call")
    style.flops += saw_flop and is_flop
    style.showdowns += is_shown and seat not in folds


@singledispatch
def hand_events(game: Game, record: HandRecord) -> Events | None:
    """The actions of a hand of hold'em; None in other games."""
    return None


@hand_events.register
def _(game: Holdem, record: HandRecord) -> Events | None:
    return _line_events(game.players, game.bets, record.actions)


@hand_events.register
def _(game: CashHoldem, record: HandRecord) -> Events | None:
    steps = [step for step in replay(record).steps if step.mover != CHANCE]
    return tuple((step.mover, step.state.betting.street, step.word.partition(" ")[0]) for step in steps)


@lru_cache(maxsize=1 << 16)
def _line_events(players: int, bets: int, actions: tuple[str, ...]) -> Events:
    """Many hands share a line."""
    betting, events = first_betting(players, bets), list[tuple[int, int, str]]()
    for word in actions:
        events.append((betting.turn, betting.street, word))
        betting = bet(betting, word)
    return tuple(events)
