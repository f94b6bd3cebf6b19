"""Spots by plain rules, as a game that compiles to the tree of its histories.

Betting, showdown and deals are written from the rules of poker and share no code with `openfelt.spots`. Hands
are compared by phevaluator. Names of actions are the codes of lines ("x", "b60", "r150", "a").
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, NamedTuple

from phevaluator import evaluate_cards

from openfelt.games.game import CHANCE, TERMINAL, Game

DECK = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
Hands = tuple[tuple[str, float], ...]


def split_cards(text: str) -> list[str]:
    return [text[place : place + 2] for place in range(0, len(text), 2)]


@cache
def strength(hand: str, board: str) -> int:
    """Higher is better."""
    return -int(evaluate_cards(*split_cards(hand + board)))


class State(NamedTuple):
    hands: tuple[str, ...]  # of both players, once they are dealt
    board: str
    paid: tuple[int, int]  # chips put in by each player
    start: int  # chips that each had put in at the beginning of the street
    line: tuple[str, ...]  # of this street
    over: bool  # whether the betting of the street has ended
    folded: int  # the player who folded, or -1


@dataclass(frozen=True)
class SpotGame(Game):
    """A spot: `bets` are shares of the pot, `raises` multiples of the last bet."""

    key: ClassVar[str] = "spot"
    players: ClassVar[int] = 2
    oop: Hands
    ip: Hands
    board: str
    pot: int
    stack: int
    bets: tuple[float, ...]
    raises: tuple[float, ...] = ()

    @property
    def deals(self) -> dict[tuple[str, str], float]:
        """The probability of each pair of hands."""
        weights = {
            (mine, theirs): first * second
            for (mine, first), (theirs, second) in itertools.product(self.oop, self.ip)
            if len(set(split_cards(mine + theirs + self.board))) == 4 + len(self.board) // 2
        }
        return {pair: weight / sum(weights.values()) for pair, weight in weights.items()}

    def start(self) -> State:
        return State((), self.board, (0, 0), 0, (), False, -1)

    def turn(self, state: State) -> int:
        if not state.hands:
            return CHANCE
        if state.folded >= 0:
            return TERMINAL
        if state.over or state.start == self.stack:
            return TERMINAL if len(state.board) == 10 else CHANCE
        return len(state.line) % 2

    def actions(self, state: State) -> Sequence[str]:
        if not state.hands:
            return ["".join(pair) for pair in self.deals]
        if self.turn(state) == CHANCE:
            gone = split_cards("".join(state.hands) + state.board)
            return [card for card in DECK if card not in gone]
        me = self.turn(state)
        mine, theirs = state.paid[me] - state.start, state.paid[1 - me] - state.start
        left = self.stack - state.start
        words = ["f", "c"] if theirs > mine else ["x"]
        if theirs:
            least = theirs + (theirs - mine)
            sizes = [max(round(factor * theirs), least) for factor in self.raises] if theirs < left else []
        else:
            sizes = [round(share * (self.pot + 2 * state.start)) for share in self.bets]
        for size in sorted({min(size, left) for size in sizes}):
            words.append("a" if size == left else f"{'r' if theirs else 'b'}{size}")
        return words

    def chance(self, state: State) -> Sequence[float]:
        return super().chance(state) if state.hands else list(self.deals.values())

    def play(self, state: State, action: str) -> State:
        if not state.hands:
            return state._replace(hands=(action[:4], action[4:]))
        if self.turn(state) == CHANCE:
            return State(state.hands, state.board + action, state.paid, state.paid[0], (), False, -1)
        me, paid, line = self.turn(state), list(state.paid), (*state.line, action)
        if action == "f":
            return state._replace(line=line, folded=me)
        if action == "x":
            return state._replace(line=line, over=me == 1)
        if action == "c":
            return state._replace(line=line, paid=(max(paid), max(paid)), over=True)
        paid[me] = self.stack if action == "a" else state.start + int(action[1:])
        return state._replace(line=line, paid=(paid[0], paid[1]))

    def sees(self, state: State, action: str, player: int) -> str:
        return action if state.hands else (action[:4], action[4:])[player]

    def payoffs(self, state: State) -> Sequence[float]:
        """From the middle of the pot, so that they add up to zero."""
        at_stake = self.pot / 2 + min(state.paid)
        if state.folded >= 0:
            first = at_stake * (1 if state.folded == 1 else -1)
        else:
            mine, theirs = (strength(hand, state.board) for hand in state.hands)
            first = at_stake * ((mine > theirs) - (mine < theirs))
        return [first, -first]
