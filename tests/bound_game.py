"""Restricted games as rules: the draws and the bound player's fixed decisions are chance moves.

Written from the papers' definitions: Figure 5 of PJL11 for one toss, its footnote 9 for a toss at each
decision. It can be compiled and solved like any other game.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from bridge import as_profile

from openfelt.games.game import CHANCE, TERMINAL, Game
from openfelt.games.registry import load_game

TOSS, BOUND, FREE = "toss", "bound", "free"


@dataclass(frozen=True, eq=False)
class BoundGame(Game):
    """A state is (whether the player is bound, the state of the rules, what the player has observed)."""

    key: ClassVar[str] = "bound"
    players: ClassVar[int] = 2
    rules: Game = field(repr=False)
    seat: int
    profile: dict = field(repr=False)  # {(player, seen): probabilities}
    chances: Any = field(repr=False)  # p, or {seen: p}
    each: bool

    @property
    def name(self) -> str:
        return "bound"

    def start(self):
        return TOSS, self.rules.start(), ()

    def tossing(self, state) -> bool:
        return state[0] == TOSS and (not self.each or self.rules.turn(state[1]) == self.seat)

    def turn(self, state) -> int:
        standing, inner, _ = state
        mover = self.rules.turn(inner)
        return CHANCE if self.tossing(state) or (mover == self.seat and standing == BOUND) else mover

    def actions(self, state):
        return (BOUND, FREE) if self.tossing(state) else self.rules.actions(state[1])

    def chance(self, state):
        _, inner, seen = state
        if self.tossing(state):
            p = self.chances[seen] if isinstance(self.chances, dict) else self.chances
            return [p, 1.0 - p]
        return self.rules.chance(inner) if self.rules.turn(inner) == CHANCE else self.profile[self.seat, seen]

    def play(self, state, action):
        standing, inner, seen = state
        if self.tossing(state):
            return action, inner, seen
        word = self.rules.sees(inner, action, self.seat)
        after = self.rules.play(inner, action)
        over = self.rules.turn(after) == TERMINAL
        return TOSS if self.each and not over else standing, after, (*seen, word) if word else seen

    def sees(self, state, action, player):
        if self.tossing(state):
            return action if player == self.seat else ""
        return self.rules.sees(state[1], action, player)

    def payoffs(self, state):
        return self.rules.payoffs(state[1])


def bound_game(game, fixed, seat, p, each=False) -> BoundGame:
    """`p` is a number, or with `each` one per infoset of the player."""
    return BoundGame(load_game(game), seat, as_profile(fixed), p, each)
