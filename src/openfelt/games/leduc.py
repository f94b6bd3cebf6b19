"""Leduc hold'em (MM19 2.3.4, after Southey et al. 2005), for two or three players."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from openfelt.games.game import CHANCE, TERMINAL, Game, require

RANKS = "23456789TJQKA"
RAISE = (2, 4)  # chips per raise, by round
MOST_RAISES = 2  # per round


class LeducState(NamedTuple):
    cards: str  # one rank per player, in seat order, as far as dealt
    board: str  # "" before it is dealt
    paid: tuple[int, ...]  # chips that each player has put in
    folded: tuple[bool, ...]
    raises: int  # in this round
    waiting: int  # players that must still act before the round ends
    turn: int  # the player to act


@dataclass(frozen=True)
class Leduc(Game):
    """Leduc hold'em: a private card, a bet, a board card, a bet; a pair with the board wins.

    The deck has two suits of `ranks` ranks (3: the usual six cards; `leduc(players=3,ranks=4)` is what
    OpenSpiel calls three-player Leduc). Each player antes 1; raises are 2 in the first round and 4 in the
    second, at most two per round; in each round the first player still in the hand acts first. The best
    hand is a pair with the board, then the highest card; equal hands split the pot.

    Suits never matter, so chance deals ranks, each with the probability of its remaining cards. Infosets that
    differ only in suits are one infoset, and deals that differ only in suits one deal.
    """

    key: ClassVar[str] = "leduc"
    is_poker: ClassVar[bool] = True
    players: int = 2
    ranks: int = 3

    def __post_init__(self) -> None:
        require(self.players in (2, 3), self.key, "players", "2 or 3", self.players)
        require(3 <= self.ranks <= 13, self.key, "ranks", "from 3 to 13", self.ranks)

    @property
    def deck(self) -> str:
        """The ranks, lowest first: J Q K, then A, then those below."""
        return "JQKA"[: self.ranks] if self.ranks <= 4 else RANKS[-self.ranks :]

    def start(self) -> LeducState:
        nobody = (False,) * self.players
        return LeducState("", "", (1,) * self.players, nobody, raises=0, waiting=self.players, turn=0)

    def turn(self, state: LeducState) -> int:
        if sum(state.folded) == self.players - 1:
            return TERMINAL
        if len(state.cards) < self.players:
            return CHANCE
        if state.waiting == 0:
            return TERMINAL if state.board else CHANCE
        return state.turn

    def actions(self, state: LeducState) -> Sequence[str]:
        if self.turn(state) == CHANCE:
            return [rank for rank in self.deck if self._left(state, rank)]
        facing = max(state.paid) > state.paid[state.turn]
        words = ["fold", "call"] if facing else ["check"]
        if state.raises < MOST_RAISES:
            words.append("raise" if state.raises else "bet")
        return words

    def chance(self, state: LeducState) -> Sequence[float]:
        left = [self._left(state, rank) for rank in self.actions(state)]
        return [count / sum(left) for count in left]

    def _left(self, state: LeducState, rank: str) -> int:
        return 2 - state.cards.count(rank)

    def play(self, state: LeducState, action: str) -> LeducState:
        if len(state.cards) < self.players:
            return state._replace(cards=state.cards + action)
        if self.turn(state) == CHANCE:
            inside = [player for player in range(self.players) if not state.folded[player]]
            return state._replace(board=action, raises=0, waiting=len(inside), turn=inside[0])
        me, paid, folded = state.turn, list(state.paid), list(state.folded)
        raises, waiting = state.raises, state.waiting - 1
        if action == "fold":
            folded[me] = True
        else:
            paid[me] = max(paid)
        if action in ("bet", "raise"):
            paid[me] += RAISE[bool(state.board)]
            raises, waiting = raises + 1, self.players - sum(folded) - 1
        after = [(me + step) % self.players for step in range(1, self.players + 1)]
        turn = next(player for player in after if not folded[player])
        return LeducState(state.cards, state.board, tuple(paid), tuple(folded), raises, waiting, turn)

    def sees(self, state: LeducState, action: str, player: int) -> str:
        dealing = len(state.cards) < self.players
        return action if not dealing or player == len(state.cards) else ""

    def stakes(self, state: LeducState) -> tuple[float, float]:
        this_round = bool(state.board)
        paid = max(state.paid) - state.raises * RAISE[this_round]  # by each player at the start of the round
        inside = sum(chips >= paid for chips in state.paid)
        return sum(min(chips, paid) for chips in state.paid), inside * MOST_RAISES * sum(RAISE[this_round:])

    def passive(self, state: LeducState) -> str:
        return "call" if "call" in self.actions(state) else "check"

    def shown(self, state: LeducState) -> Sequence[int]:
        inside = [player for player in range(self.players) if not state.folded[player]]
        return inside if len(inside) > 1 else ()

    def payoffs(self, state: LeducState) -> Sequence[float]:
        strength = [
            -1 if state.folded[player] else RANKS.index(card) + len(RANKS) * (card == state.board)
            for player, card in enumerate(state.cards)
        ]
        best = max(strength)
        share = sum(state.paid) / strength.count(best)
        return [
            (share if strength[player] == best else 0.0) - state.paid[player]
            for player in range(self.players)
        ]
