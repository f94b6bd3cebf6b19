"""Luck-adjusted winnings of a person in a hand: AIVAT (`arena/statistics/aivat.py`).

The person's policy is not known, the bots' are. In hold'em the value of a place in a hand is that of the pot,
shared by the exact chances of the hands if there were no more bets. That holds for three players too: the
shares are those of the players still in, with the cards of all three known (`cards/three_way_equity.py`).
"""

from __future__ import annotations

from collections.abc import Mapping

from openfelt.arena.statistics.aivat import tree_aivat
from openfelt.bots.bot import Bot
from openfelt.cards.deck import BOARD_CARDS, PREFLOP
from openfelt.cards.equity import equity
from openfelt.cards.three_way_equity import Shares, three_way_shares
from openfelt.games.compile.compiler import compile_game
from openfelt.games.game import CHANCE
from openfelt.games.hand import Hand
from openfelt.games.holdem import Betting, Holdem, bet, first_betting, players_in
from openfelt.table.review.bot_policies import nodes_of, policy_table


def luck_free(hand: Hand, seat: int, bots: Mapping[int, Bot]) -> float | None:
    """What `seat` won in a finished hand, with luck taken out; the mean over many hands is that of winnings.

    None if the probabilities of a bot are not known. In hold'em they are those of the hand's steps, in other
    games those that the bots tell when asked now.
    """
    if any(step.thought is None for step in hand.steps if step.mover not in (seat, CHANCE)):
        return None  # not known, or it failed and did something else
    if isinstance(hand.game, Holdem):
        return _HoldemLuck(hand, hand.game, seat).taken_out()
    tree = compile_game(hand.game)
    policies = [
        None if player == seat else policy_table(bots[player], player) for player in range(tree.players)
    ]
    if any(table is None for player, table in enumerate(policies) if player != seat):
        return None
    hand.payoffs  # noqa: B018 (refuses a hand that is not over)
    return float(tree_aivat(tree, policies)[nodes_of(hand, tree)[-1], seat])


class _HoldemLuck:
    """One hand of hold'em."""

    def __init__(self, hand: Hand, game: Holdem, seat: int) -> None:
        self.hand, self.game, self.seat = hand, game, seat
        self._holes = [game.hole(hand.state, player) for player in range(game.players)]
        self._board = game.board(hand.state)
        self._known: dict[int, Shares] = {}  # by street

    def taken_out(self) -> float | None:
        """What was won, with the luck of the cards and of the bots' choices taken out."""
        adjusted, street = self.hand.payoffs[self.seat], PREFLOP
        blinds = first_betting(self.game.players, self.game.bets)
        before_deal = sum(blinds.paid) / self.game.players - blinds.paid[self.seat]  # all hands are alike
        adjusted += before_deal - self._value(blinds, PREFLOP)
        for step, state in zip(self.hand.steps, self.hand.states, strict=True):
            if step.mover == CHANCE:
                continue
            while street < state.betting.street:  # the board came
                adjusted += self._value(state.betting, street) - self._value(state.betting, street + 1)
                street += 1
            if step.mover == self.seat:
                continue
            assert step.thought is not None
            values = [self._value(bet(state.betting, word), street) for word in step.actions]
            shares = step.thought.probabilities
            mean = sum(share * value for share, value in zip(shares, values, strict=True))
            adjusted += mean - values[step.number]
        return adjusted

    def _value(self, betting: Betting, street: int) -> float:
        """What the seat wins if there are no more bets, given the cards of a street."""
        inside, pot = tuple(players_in(betting)), sum(betting.paid)
        if self.seat not in inside:
            return -float(betting.paid[self.seat])
        share = 1.0 if len(inside) == 1 else self._shares(street)[inside][self.seat]
        return pot * share - betting.paid[self.seat]

    def _shares(self, street: int) -> Shares:
        if street not in self._known:
            board = self._board[: BOARD_CARDS[street]]
            if self.game.players == 2:
                first = equity(self._holes[0], self._holes[1], board)
                self._known[street] = {(0, 1): (first, 1 - first)}
            else:
                self._known[street] = three_way_shares(self._holes, board)
        return self._known[street]
