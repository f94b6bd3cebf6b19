"""Exact evaluation of hands in enumerated games: the person continues with a best response to the bots."""

from __future__ import annotations

import numpy as np

from openfelt.arena.statistics.aivat import tree_aivat
from openfelt.core.jit import Floats
from openfelt.games.compile.compiler import compile_game
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.hand import Hand
from openfelt.measure.action_values import action_values
from openfelt.policy.tabular import uniform_policy
from openfelt.table.review.bot_policies import policy_table
from openfelt.table.review.ev_loss import OFF_POLICY, UNAVAILABLE, EvLosses, HandEvaluator, decision_loss

TREMBLE = 1e-6  # probability of a random action, to evaluate infosets that the bots' policies never reach
EXACT = "Exact: the expected value of each action against the bots, if you continue with a best response."


class ExactEvaluator(HandEvaluator):
    """Uses the policies that the bots report now."""

    def _ev_losses(self, first: int) -> EvLosses:
        hand, seat, tree = self._hand, self._seat, compile_game(self._hand.game)
        tables = self._policy_tables(tree)
        uniform = uniform_policy(tree).probabilities
        profile = uniform.copy()
        for player, table in enumerate(tables):
            if player == seat:
                continue
            if table is None:
                return EvLosses(UNAVAILABLE, False, ())
            for own in tree.player_slots(player):
                profile[own] = table[own]
        values = action_values(tree, profile, seat)
        with_tremble = action_values(tree, (1 - TREMBLE) * profile + TREMBLE * uniform, seat)
        decisions, is_off_policy = [], False
        for place, (step, node) in enumerate(zip(hand.steps, _path(hand, tree)[:-1], strict=True)):
            if step.mover == seat and place >= first:
                slots = tree.slots(int(tree.nodes.row[node]))
                is_unreached = bool(np.isnan(values[slots]).any())
                is_off_policy |= is_unreached
                found = (with_tremble if is_unreached else values)[slots]
                decisions.append(decision_loss(place, found, *np.zeros((2, len(found)))))
        return EvLosses(EXACT + OFF_POLICY * is_off_policy, not is_off_policy, tuple(decisions))

    def _luck_adjusted(self) -> float:
        hand, tree = self._hand, compile_game(self._hand.game)
        # A bot that failed has taken an action that was not drawn from its probabilities.
        unknown = {step.mover for step in hand.steps if not (step.thought and step.thought.probabilities)}
        tables = [
            None if player in unknown else table for player, table in enumerate(self._policy_tables(tree))
        ]
        hand.payoffs  # noqa: B018 (raises if the hand is not over)
        return float(tree_aivat(tree, tables)[_path(hand, tree)[-1], self._seat])

    def _policy_tables(self, tree: GameTree) -> list[Floats | None]:
        """By player; None for the person, and for bots that do not report their probabilities."""
        return [
            None if player == self._seat else policy_table(self._bots[player], player)
            for player in range(tree.players)
        ]


def _path(hand: Hand, tree: GameTree) -> list[int]:
    """The nodes of a hand, from the root on."""
    nodes = [0]
    for step in hand.steps:
        nodes.append(int(tree.nodes.first_child[nodes[-1]]) + step.number)
    return nodes
