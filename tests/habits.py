"""Players with known action probabilities and their hands, from the rules alone, for tests of models."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from openfelt.games.game import CHANCE, TERMINAL, Game
from openfelt.games.registry import load_game
from openfelt.hands.record import HandRecord

FOLD, CALL, RAISE = range(3)


class Moment(NamedTuple):
    """A decision, described by the rules."""

    me: int
    words: tuple[str, ...]  # all actions before
    past: tuple[tuple[int, int, int], ...]  # the same: who, class of action, street
    card: str  # the player's own; two in hold'em
    board: tuple[str, ...]
    seen: tuple[str, ...]  # the player's information state
    paid: tuple[float, ...]
    street: int
    facing: bool
    ways: int

    @property
    def facts(self) -> dict[str, int]:
        """The facts that models may use, from their definitions."""
        bets = [(who, street) for who, klass, street in self.past if klass == RAISE]
        own = [klass for who, klass, _ in self.past if who == self.me]
        others = [klass for who, klass, _ in self.past if who != self.me and klass != FOLD]
        return {
            "seat": self.me,
            "phase": self.street,
            "bets_in_game": len(bets),
            "bets_in_phase": sum(street == self.street for _, street in bets),
            "bets_of_player": sum(who == self.me for who, _ in bets),
            "pot": int(sum(self.paid)),
            "to_call": int(max(self.paid) - self.paid[self.me]),
            "paid": int(self.paid[self.me]),
            "last_of_player": own[-1] if own else 0,
            "last_of_others": others[-1] if others else 0,
            "players_in": len(self.paid) - sum(klass == FOLD for _, klass, _ in self.past),
        }

    @property
    def hand(self) -> tuple[str, bool]:
        """The player's card, and whether it is paired."""
        return self.card, self.card in self.board


@dataclass(frozen=True)
class Habit:
    """A player whose action probabilities are drawn once for each key, uniformly over all distributions."""

    key: Any  # from a moment
    seed: int = 0
    bold: bool = True  # whether it ever raises a bet

    def chances(self, moment: Moment) -> np.ndarray:
        """[actions of the rules]."""
        drawn = _drawn(repr((self.seed, self.key(moment)))).copy()
        if moment.facing and not self.bold:
            drawn[RAISE] = 0.0
        first = 0 if moment.facing else 1
        drawn = drawn[first : first + moment.ways]
        return drawn / drawn.sum()


@cache
def _drawn(words: str) -> np.ndarray:
    return np.random.default_rng(list(words.encode())).exponential(size=3)


@dataclass(frozen=True)
class ByPolicy:
    """A player by a policy of an enumerated game."""

    policy: Any

    def chances(self, moment: Moment) -> np.ndarray:
        return np.array(list(self.policy.at(moment.me, " ".join(moment.seen)).values()))


@cache
def rules_of(game: str) -> Game:
    """Cached, since parsing a name takes longer than playing a hand."""
    return load_game(game)


class Table:
    """A hand in progress, by the rules."""

    def __init__(self, game: str) -> None:
        self.game = rules_of(game)
        self.state = self.game.start()
        self.dealt, self.words, self.past = [], [], []
        self.seen = [[] for _ in range(self.game.players)]
        self.own = [[] for _ in range(self.game.players)]
        self.board = []

    @property
    def mover(self) -> int:
        return self.game.turn(self.state)

    def act(self, word: str) -> None:
        if self.mover == CHANCE:
            seers = [seat for seat in range(self.game.players) if self.game.sees(self.state, word, seat)]
            (self.own[seers[0]] if len(seers) == 1 else self.board).append(word)
            self.dealt.append(word)
        else:
            self.past.append((self.mover, self.klass(word), self.street))
            self.words.append(word)
        for seat in range(self.game.players):
            if word_seen := self.game.sees(self.state, word, seat):
                self.seen[seat].append(word_seen)
        self.state = self.game.play(self.state, word)

    @property
    def facing(self) -> bool:
        if self.game.key == "kuhn":
            return "bet" in self.words
        return "call" in self.game.actions(self.state)

    def klass(self, word: str) -> int:
        if self.game.key == "kuhn":
            return {"pass": FOLD, "bet": CALL}[word] if self.facing else {"pass": CALL, "bet": RAISE}[word]
        return {"fold": FOLD, "check": CALL, "call": CALL, "bet": RAISE, "raise": RAISE}[word]

    @property
    def street(self) -> int:
        return max(0, len(self.board) - 2) if self.game.key == "holdem" else len(self.board)

    @property
    def paid(self) -> tuple[float, ...]:
        if self.game.key == "kuhn":
            bets = [
                sum(klass in (RAISE, CALL) for who, klass, _ in self._bets() if who == seat)
                for seat in range(self.game.players)
            ]
            return tuple(1 + bet for bet in bets)
        return tuple(getattr(self.state, "betting", self.state).paid)

    def _bets(self) -> list[tuple[int, int, int]]:
        """From the first bet on, in Kuhn poker."""
        first = next(
            (place for place, (_, klass, _) in enumerate(self.past) if klass == RAISE), len(self.past)
        )
        return self.past[first:]

    def moment(self) -> Moment:
        me = self.mover
        return Moment(
            me, tuple(self.words), tuple(self.past), " ".join(self.own[me]), tuple(self.board),
            tuple(self.seen[me]), self.paid, self.street, self.facing, len(self.game.actions(self.state)),
        )  # fmt: skip


def play(game: str, habits, hands: int, seed: int, names=("ann", "bob", "cyd")) -> list[HandRecord]:
    """Hands of players with these habits; seats rotate."""
    generator = np.random.default_rng(seed)
    records = []
    for number in range(hands):
        table = Table(game)
        players = table.game.players
        order = [(seat + number) % players for seat in range(players)]
        while table.mover != TERMINAL:
            actions = list(table.game.actions(table.state))
            if table.mover == CHANCE:
                chances = table.game.chance(table.state)
            else:
                chances = habits[order[table.mover]].chances(table.moment())
            place = int(np.searchsorted(np.cumsum(chances), generator.random(), side="right"))
            table.act(actions[min(place, len(actions) - 1)])
        won = tuple(float(chips) for chips in table.game.payoffs(table.state))
        seated = tuple(names[who] for who in order)
        records.append(HandRecord(game, number, seated, tuple(table.dealt), tuple(table.words), won))
    return records


def moments(record: HandRecord) -> list[tuple[Moment, str]]:
    """The decisions of a hand, and what was done."""
    table, found = Table(record.game), []
    dealt, words = iter(record.dealt), iter(record.actions)
    while table.mover != TERMINAL:
        word = next(dealt if table.mover == CHANCE else words)
        if table.mover != CHANCE:
            found.append((table.moment(), word))
        table.act(word)
    return found


def exact_cards(record: HandRecord, seat: int, habit) -> dict[str, float]:
    """The player's range in a small game, given the other's card: every deal is replayed."""
    found = {}
    for card in rules_of(record.game).deck:
        dealt = list(record.dealt)
        dealt[seat] = card
        found[card] = _likelihood(record, dealt, seat, habit)
    total = sum(found.values())
    return {card: likely / total for card, likely in found.items()}


def _likelihood(record: HandRecord, dealt: list[str], seat: int, habit) -> float:
    table, cards, words = Table(record.game), iter(dealt), iter(record.actions)
    likely = 1.0
    while table.mover != TERMINAL:
        actions = list(table.game.actions(table.state))
        if table.mover == CHANCE:
            word = next(cards)
            if word not in actions:
                return 0.0
            likely *= table.game.chance(table.state)[actions.index(word)]
        else:
            word = next(words)
            if table.mover == seat:
                likely *= habit.chances(table.moment())[actions.index(word)]
        table.act(word)
    return likely
