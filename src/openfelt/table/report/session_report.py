"""Reports on sessions at the table; EV losses are computed hand by hand, and cached."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from openfelt.games.hand import Hand
from openfelt.games.registry import load_game
from openfelt.hands.record import HandRecord
from openfelt.table.lobby.bot_pool import BotPool
from openfelt.table.lobby.characters import title_of
from openfelt.table.presentation.registry import presentation_of
from openfelt.table.report.decisions import Decision, decision_table, hand_situations
from openfelt.table.report.report import Results, make_report
from openfelt.table.report.style import styles
from openfelt.table.review.ev_loss import UNAVAILABLE, DecisionLoss, EvLosses
from openfelt.table.review.evaluator import hand_evaluator
from openfelt.table.review.replay import replay_hand
from openfelt.table.session.score import chart_points
from openfelt.table.session.session_store import HandRow

PATIENCE = 1.5  # seconds of one call
CACHED_HANDS = 20_000
EFFORT = 1 / 6  # of a review
ROUGH = "Estimated from fewer sampled cards or rollouts than in the review of a hand, so values may differ."
EXACT = "Exact: the EV losses against the bots, if you continue with a best response."

FinishedHands = Sequence[tuple[HandRow, HandRecord]]


class SessionReports:
    """For one thread. Results are ready for JSON."""

    def __init__(self, bots: BotPool) -> None:
        self._bots = bots
        self._cache: dict[str, tuple[Decision, ...] | None] = {}  # by the link of a hand; None: not known

    def report(self, hands: FinishedHands, patience: float = PATIENCE) -> dict[str, Any]:
        """The report on finished hands of a session; call again until all are `reviewed`."""
        end = time.monotonic() + patience
        for row, record in hands:
            if row.link not in self._cache:
                if time.monotonic() > end:
                    break
                self._review(row, record)
        reviewed = 0
        while reviewed < len(hands) and hands[reviewed][0].link in self._cache:
            reviewed += 1
        return {**self._report(hands[:reviewed]), "reviewed": reviewed, "all_hands": len(hands)}

    def _review(self, row: HandRow, record: HandRecord) -> None:
        live = replay_hand(row, record, self._bots.get)
        try:
            losses = hand_evaluator(live.hand, row.seat, live.bots, EFFORT).ev_losses()
        except (Exception, SystemExit):
            if all(type(bot).__module__.startswith("openfelt.") for bot in live.bots.values()):
                raise
            losses = EvLosses(UNAVAILABLE, False, ())
        known = None if losses.explain == UNAVAILABLE else hand_decisions(live.hand, losses.decisions)
        while len(self._cache) >= CACHED_HANDS:
            del self._cache[next(iter(self._cache))]
        self._cache[row.link] = known

    def _report(self, hands: FinishedHands) -> dict[str, Any]:
        if not hands:
            return {}
        game = load_game(hands[0][1].game)
        known = [self._cache[row.link] for row, _ in hands]
        decisions = [
            decision._replace(hand=place) for place, own in enumerate(known) for decision in own or ()
        ]
        luck_free = [row.luck_free for row, _ in hands]
        adjusted = None if None in luck_free else np.array(luck_free, float)
        won = np.array([row.won for row, _ in hands])
        is_known = None not in known
        explain = (EXACT if game.is_enumerable else ROUGH) if is_known else UNAVAILABLE
        report = make_report(
            Results(won, adjusted, presentation_of(game).big_blind),
            decision_table(decisions) if is_known else None,
            explain,
            styles(replace(record, names=tuple(map(title_of, record.names))) for _, record in hands),
        )
        worst = [
            {**each, "number": hands[each["hand"]][0].number, "link": hands[each["hand"]][0].link}
            for each in report.as_dict()["worst"]
        ]
        lost = np.zeros(len(hands))
        for each in decisions:
            lost[each.hand] -= each.loss
        chart = chart_points(won, adjusted, lost if is_known else None)
        facts = {"title": presentation_of(game).title, "game": game.name, "chart": chart}
        return {**report.as_dict(), **facts, "worst": worst, "chips": game.unit}


def hand_decisions(hand: Hand, losses: Sequence[DecisionLoss]) -> tuple[Decision, ...]:
    """The decisions of a hand with what they cost."""
    presentation, found = presentation_of(hand.game), list[Decision]()
    by_step = {loss.step: loss for loss in losses}
    for place, street, situation in hand_situations(hand):
        if place not in by_step:
            continue
        loss, step, state = by_step[place], hand.steps[place], hand.states[place]
        best = int(np.argmax(loss.values))
        best = step.number if loss.values[step.number] == loss.values[best] else best
        chosen, better = (presentation.action_name(state, step.actions[each]) for each in (step.number, best))
        cost = loss.fair_losses[step.number], loss.fair_errors[step.number]
        found.append(Decision(0, street, situation, chosen, better, *cost))
    return tuple(found)
