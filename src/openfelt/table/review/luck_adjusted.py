"""Luck-adjusted winnings of a person in a hand of hold'em: AIVAT (`arena/statistics/aivat.py`).

The bots' policies are known, the person's is not. The value of a state is the player's exact equity in the
pot if there were no more bets. With three players it is the equity among those still in, given the cards of
all three (`cards/three_way_equity.py`).
"""

from __future__ import annotations

from openfelt.cards.deck import BOARD_CARDS, PREFLOP
from openfelt.cards.equity import equity
from openfelt.cards.three_way_equity import Shares, three_way_shares
from openfelt.games.game import CHANCE
from openfelt.games.hand import Hand
from openfelt.games.holdem import Betting, Holdem, bet, first_betting, players_in


class HoldemLuck:
    """The luck of one seat in one finished hand."""

    def __init__(self, hand: Hand, game: Holdem, seat: int) -> None:
        self.hand, self.game, self.seat = hand, game, seat
        self._holes = [game.hole(hand.state, player) for player in range(game.players)]
        self._board = game.board(hand.state)
        self._equities: dict[int, Shares] = {}  # by street

    def adjusted(self) -> float:
        """Winnings without the luck of the cards and of the bots' draws."""
        adjusted, street = self.hand.payoffs[self.seat], PREFLOP
        blinds = first_betting(self.game.players, self.game.bets)
        # Before the deal all seats have the same equity.
        before_deal = sum(blinds.paid) / self.game.players - blinds.paid[self.seat]
        adjusted += before_deal - self._value(blinds, PREFLOP)
        for step, state in zip(self.hand.steps, self.hand.states, strict=True):
            if step.mover == CHANCE:
                continue
            while street < state.betting.street:  # board cards were dealt
                adjusted += self._value(state.betting, street) - self._value(state.betting, street + 1)
                street += 1
            if step.mover == self.seat or step.thought is None or not step.thought.probabilities:
                continue
            values = [self._value(bet(state.betting, word), street) for word in step.actions]
            shares = step.thought.probabilities
            mean = sum(share * value for share, value in zip(shares, values, strict=True))
            adjusted += mean - values[step.number]
        return adjusted

    def _value(self, betting: Betting, street: int) -> float:
        """Expected winnings without further bets, given the board of a street."""
        inside, pot = tuple(players_in(betting)), sum(betting.paid)
        if self.seat not in inside:
            return -float(betting.paid[self.seat])
        share = 1.0 if len(inside) == 1 else self._shares(street)[inside][self.seat]
        return pot * share - betting.paid[self.seat]

    def equities(self, betting: Betting, street: int) -> list[float | None]:
        """By seat, its share of the pot without further bets; None if it has folded."""
        inside = tuple(players_in(betting))
        shares = self._shares(street)[inside] if len(inside) > 1 else None
        return [
            None if seat not in inside else shares[seat] if shares else 1.0
            for seat in range(self.game.players)
        ]

    def _shares(self, street: int) -> Shares:
        if street not in self._equities:
            board = self._board[: BOARD_CARDS[street]]
            if self.game.players == 2:
                first = equity(self._holes[0], self._holes[1], board)
                self._equities[street] = {(0, 1): (first, 1 - first)}
            else:
                self._equities[street] = three_way_shares(self._holes, board)
        return self._equities[street]
