"""Bluff, also known as Liar's dice (PJL11 2.2)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import ClassVar, NamedTuple

from openfelt.games.game import CHANCE, TERMINAL, Game, require

LIAR = "liar"
MOST_HISTORIES = 200_000_000  # a game with more is compiled without them


class BluffState(NamedTuple):
    rolls: tuple[str, ...]  # the faces of each player's dice, lowest first, as far as rolled
    bids: int  # number of the highest bid so far, counted from 1; 0 before the first
    turn: int
    called: bool


@dataclass(frozen=True)
class Bluff(Game):
    """Bluff (Liar's dice): claim how many dice show a face, or call the opponent a liar.

    `bluff(D1,D2,N)`: the players roll D1 and D2 dice of N faces, in secret. In turn they raise the bid, a
    number of dice and a face (more dice, or the same number of a higher face), or call. The highest face is
    wild: it counts as any face. The caller wins 1 if the bid does not hold for all dice together, and loses
    1 otherwise. After the highest bid the only action is to call.
    """

    key: ClassVar[str] = "bluff"
    unit: ClassVar[str] = "points"
    players = 2
    dice1: int
    dice2: int
    faces: int

    def __post_init__(self) -> None:
        for field in ("dice1", "dice2"):
            dice = getattr(self, field)
            require(1 <= dice <= 5, self.key, field, "a whole number of dice from 1 to 5", dice)
        require(2 <= self.faces <= 9, self.key, "faces", "a whole number from 2 to 9", self.faces)
        what = "the number of bids, (dice1 + dice2) x faces,"
        require(self.num_bids <= 20, self.key, what, "at most 20", self.num_bids)

    def start(self) -> BluffState:
        return BluffState((), bids=0, turn=0, called=False)

    def turn(self, state: BluffState) -> int:
        if state.called:
            return TERMINAL
        return CHANCE if len(state.rolls) < self.players else state.turn

    def actions(self, state: BluffState) -> Sequence[str]:
        if self.turn(state) == CHANCE:
            return self.rolls(len(state.rolls))
        words = [self.bid(number) for number in range(state.bids + 1, self.num_bids + 1)]
        return [*words, LIAR] if state.bids else words

    @property
    def num_bids(self) -> int:
        """Number of different bids."""
        return (self.dice1 + self.dice2) * self.faces

    @property
    def num_histories(self) -> int:
        """Number of histories: any set of bids can be made and, unless it is empty, called."""
        first, second = (len(self.rolls(player)) for player in range(2))
        return 1 + first + first * second * ((2 << self.num_bids) - 1)

    @property
    def is_factored(self) -> bool:
        return self.num_histories > MOST_HISTORIES

    def bid(self, number: int) -> str:
        """The name of a bid, counted from 1."""
        quantity, face = divmod(number - 1, self.faces)
        return f"{quantity + 1}x{face + 1}"

    def rolls(self, player: int) -> list[str]:
        """The different rolls of a player's dice, lowest faces first."""
        dice = (self.dice1, self.dice2)[player]
        faces = map(str, range(1, self.faces + 1))
        return ["".join(roll) for roll in combinations_with_replacement(faces, dice)]

    def chance(self, state: BluffState) -> Sequence[float]:
        return self.roll_chances(len(state.rolls))

    def roll_chances(self, player: int) -> list[float]:
        """The probability of each of the `rolls`."""
        weights = []
        for roll in self.rolls(player):
            same = math.prod(math.factorial(count) for count in Counter(roll).values())
            weights.append(math.factorial(len(roll)) // same)
        return [weight / sum(weights) for weight in weights]

    def play(self, state: BluffState, action: str) -> BluffState:
        if self.turn(state) == CHANCE:
            return state._replace(rolls=(*state.rolls, action))
        if action == LIAR:
            return state._replace(called=True)
        quantity, face = map(int, action.split("x"))
        return state._replace(bids=(quantity - 1) * self.faces + face, turn=1 - state.turn)

    def sees(self, state: BluffState, action: str, player: int) -> str:
        rolling = len(state.rolls) < self.players
        return action if not rolling or player == len(state.rolls) else ""

    def payoffs(self, state: BluffState) -> Sequence[float]:
        quantity, face = map(int, self.bid(state.bids).split("x"))
        showing = self.showing("".join(state.rolls), face)
        winner = 1 - state.turn if showing >= quantity else state.turn
        return [1.0, -1.0] if winner == 0 else [-1.0, 1.0]

    def showing(self, dice: str, face: int) -> int:
        """How many dice count for a face."""
        return sum(die in (str(face), str(self.faces)) for die in dice)
