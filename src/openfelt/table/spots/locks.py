"""Locked decisions of a form: hands whose frequencies are given by hand, on top of a known strategy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from openfelt.cards.deck import PAIRS
from openfelt.cards.ranges import parse_range
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.spots.betting import FOLD
from openfelt.spots.lines import find_place, parse_line
from openfelt.spots.locks import Lock, decision_line
from openfelt.spots.solution import Solution
from openfelt.spots.spot import PLAYERS, Spot
from openfelt.table.spots.fields import read_text

MOST_LOCKS, MOST_RULES = 100, 200
LONGEST_LINE = 1_000  # characters
LONGEST_RANGE = 30_000  # characters; 1,326 single combinations with weights have fewer
LONGEST_KEY = 100


class Rule(NamedTuple):
    """The shares of the actions with some hands: by action code, not necessarily with a sum of 1."""

    hands: str  # a range; weights do not count
    shares: Mapping[str, float]


class FormLock(NamedTuple):
    """One decision, or all decisions of a player, whose strategy is given.

    Later rules override earlier ones. Hands without a rule play by the source.
    """

    line: str  # without cards
    player: str  # "oop" or "ip": all decisions of the player, instead of a line
    source: str  # key of a solution or of a bot's policy; "" for none
    rules: tuple[Rule, ...]

    def as_dict(self) -> dict[str, Any]:
        """As `read_locks` reads it."""
        where = {"player": self.player} if self.player else {"line": self.line}
        rules = [{"hands": each.hands, "shares": dict(each.shares)} for each in self.rules]
        return {**where, "source": self.source or None, "rules": rules}


class Source(Protocol):
    """Something that has a strategy at the decisions of a spot."""

    def strategy(self, line: str, board: tuple[int, ...]) -> Floats:
        """[actions, 1326] after a line without cards, on a board."""


def read_locks(value: object) -> tuple[FormLock, ...]:
    """The locks in a message; raises FeltError with one sentence."""
    if not isinstance(value, list) or len(value) > MOST_LOCKS:
        raise FeltError(f"The field 'locks' must be a list of at most {MOST_LOCKS} locks.")
    return tuple(map(_read_lock, value))


def locks_of(solution: Solution, key: str) -> tuple[FormLock, ...]:
    """The locks of a solution, which is their source too."""
    spot, locked = solution.spot, set(solution.locked)
    found: list[FormLock] = []
    for player, name in enumerate(PLAYERS):
        decisions = list(_decisions(spot, player))
        if decisions and locked.issuperset(decisions):
            found.append(FormLock("", name, key, ()))
        else:
            lines = [decision_line(spot, *place) for place in decisions if place in locked]
            found += [FormLock(line, "", key, ()) for line in lines]
    return tuple(found)


def make_locks(spot: Spot, locks: tuple[FormLock, ...], find: Callable[[str], Source]) -> list[Lock]:
    """The locks of a form as the solver takes them; `find` gives the source of a key."""
    made = []
    for lock in locks:
        source = find(lock.source) if lock.source else None
        if lock.player:
            places = _decisions(spot, PLAYERS.index(lock.player))
            lines = [decision_line(spot, *place) for place in places]
        else:
            lines = [lock.line]
        made += [Lock(line, _Strategy(spot, line, source, lock.rules)) for line in lines]
    return made


class _Strategy:
    """A strategy by board: that of the source, changed by the rules."""

    def __init__(self, spot: Spot, line: str, source: Source | None, rules: tuple[Rule, ...]) -> None:
        street, place = find_place(spot, parse_line(line))
        here = spot.streets[street].places[place]
        codes = [action.code for action in here.actions]
        for rule in rules:
            unknown = set(rule.shares) - set(codes)
            if unknown:
                raise FeltError(f"There is no action '{min(unknown)[:20]}' after '{line}'.")
        self.line, self.source, self.size = line, source, len(codes)
        self.rules = [(parse_range(rule.hands) > 0, _column(rule, codes)) for rule in rules]
        held = spot.ranges[here.kind] > 0 if codes else np.zeros(PAIRS, bool)
        for hands, _ in self.rules:
            held &= ~hands
        if source is None and held.any():
            raise FeltError(f"The lock after '{line}' does not say what to do with every hand.")

    def __call__(self, board: tuple[int, ...]) -> Floats:
        shape = self.size, PAIRS
        strategy = np.full(shape, 1 / max(self.size, 1))
        if self.source is not None:
            strategy = self.source.strategy(self.line, board)
            if strategy.shape != shape:
                raise FeltError(f"The strategy to lock has other actions after '{self.line}' than this spot.")
        for hands, column in self.rules:
            strategy[:, hands] = column[:, None]
        return strategy


def _column(rule: Rule, codes: list[str]) -> Floats:
    shares = np.array([rule.shares.get(code, 0.0) for code in codes])
    return np.asarray(shares / shares.sum())


def _decisions(spot: Spot, player: int) -> Iterator[tuple[int, int]]:
    for number, street in enumerate(spot.streets):
        for place, here in enumerate(street.places):
            if here.kind == player and here.kind < FOLD:
                yield number, place


def _read_lock(value: object) -> FormLock:
    if not isinstance(value, dict):
        raise FeltError("A lock must be an object with 'line' or 'player', 'source' and 'rules'.")
    rules = value.get("rules", [])
    if not isinstance(rules, list) or len(rules) > MOST_RULES:
        raise FeltError(f"The 'rules' of a lock must be a list of at most {MOST_RULES}.")
    source = "" if value.get("source") is None else read_text(value, "source", LONGEST_KEY)
    if "player" in value:
        player = read_text(value, "player", 10)
        if player not in PLAYERS or not source or rules:
            raise FeltError("A lock of a player needs 'oop' or 'ip' and a source, and has no rules.")
        return FormLock("", player, source, ())
    line = read_text(value, "line", LONGEST_LINE)
    return FormLock(line, "", source, tuple(map(_read_rule, rules)))


def _read_rule(value: object) -> Rule:
    shares = value.get("shares") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(shares, dict) or not 1 <= len(shares) <= MOST_RULES:
        raise FeltError("A rule of a lock must be an object with 'hands' and 'shares' of actions.")
    numbers = list(shares.values())
    if not all(type(each) in (int, float) and 0 <= each <= 1e6 for each in numbers) or not sum(numbers) > 0:
        raise FeltError("The shares of a rule are numbers from 0 on, and one is larger than 0.")
    hands = read_text(value, "hands", LONGEST_RANGE)
    return Rule(hands, {code: float(share) for code, share in shares.items()})
