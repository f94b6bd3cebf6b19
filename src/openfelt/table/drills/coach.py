"""Chooses drills and judges answers by the same review that judges hands; for one thread."""

from __future__ import annotations

from typing import Any

from openfelt.core.errors import FeltError
from openfelt.hands.record import HandRecord
from openfelt.table.drills.drill import Drill, drill_hand, drill_json, shown_names
from openfelt.table.drills.drill_store import Answer
from openfelt.table.drills.sampling import parse_spot, require_suitable, sample_drill
from openfelt.table.lobby.bot_pool import BotPool, parse_request
from openfelt.table.presentation.registry import presentation_of
from openfelt.table.report.report import HALF_WIDTH
from openfelt.table.report.session_report import EFFORT
from openfelt.table.review.ev_loss import DecisionLoss, EvLosses
from openfelt.table.review.evaluator import hand_evaluator
from openfelt.table.review.replay import decision_facts, losses_json, replay_hand
from openfelt.table.session.hand_log import action_label
from openfelt.table.session.session_store import HandRow

CACHED_DRILLS = 500
NOTHING = 0.005  # chips; a smaller EV loss is shown as 0, and is none


class DrillCoach:
    """Results are ready for JSON. Evaluations are cached."""

    def __init__(self, bots: BotPool) -> None:
        self._bots = bots
        self._cache: dict[str, EvLosses] = {}  # by the key of a drill

    def sample(self, fields: dict[str, object]) -> Drill:
        """A decision of a simulated hand against the bot of a request, in the spot that it names."""
        game, (name,) = parse_request(fields.get("game"), [fields.get("bot")])
        return sample_drill(game, name, parse_spot(game, fields), self._bots.get)

    def mistakes(self, row: HandRow, record: HandRecord) -> list[tuple[Drill, float]]:
        """Clear mistakes of a finished hand with their EV losses; none if they cannot be judged at once."""
        try:
            live = replay_hand(row, record, self._bots.get)  # fails if a bot is not offered any more
            for seat, bot in live.bots.items():
                require_suitable(bot, record.names[seat])
        except FeltError:
            return []
        try:
            losses = hand_evaluator(live.hand, row.seat, live.bots, EFFORT).ev_losses()
        except (Exception, SystemExit):
            if all(type(bot).__module__.startswith("openfelt.") for bot in live.bots.values()):
                raise
            return []  # a user's own bot failed
        found = []
        for decision in losses.decisions:
            chosen = live.hand.steps[decision.step].number
            loss, error = decision.fair_losses[chosen], decision.fair_errors[chosen]
            if loss > HALF_WIDTH * error + NOTHING:
                taken = live.hand.steps[: decision.step]
                actions = tuple(step.action for step in taken if step.mover >= 0)
                drill = Drill(record.game, record.names, row.seat, row.seed, row.nonce, actions, row.link)
                found.append((drill, loss))
        return found

    def show(self, drill: Drill) -> dict[str, Any]:
        """The decision as the person sees it."""
        return drill_json(drill, drill_hand(drill, self._bots.get))

    def evaluate(self, drill: Drill) -> EvLosses:
        """The EV losses of all actions; this takes about a second in hold'em, and a few before the flop."""
        if drill.key not in self._cache:
            live = drill_hand(drill, self._bots.get)
            place = len(live.hand.steps)
            live.hand.act(0)  # any action: all are evaluated
            while len(self._cache) >= CACHED_DRILLS:
                del self._cache[next(iter(self._cache))]
            losses = hand_evaluator(live.hand, drill.seat, live.bots).ev_losses(place)
            if not losses.decisions:
                raise FeltError(losses.explain)
            self._cache[drill.key] = losses
        return self._cache[drill.key]

    def judge(self, drill: Drill, word: object) -> tuple[Answer, dict[str, Any]]:
        """The verdict on an answer; a close decision is right."""
        live, losses, names = drill_hand(drill, self._bots.get), self.evaluate(drill), shown_names(drill)
        hand, place = live.hand, len(live.hand.steps)
        if word not in hand.actions:
            raise FeltError(f"An answer must be one of: {', '.join(hand.actions)}.")
        number, decision = hand.actions.index(str(word)), losses.decisions[0]
        best = decision.values.index(max(decision.values))
        labels = [action_label(hand.game, hand.state, each) for each in hand.actions]
        hand.act(number)
        answer = Answer(_is_right(decision, number), decision.fair_losses[number])
        found = losses_json(hand, drill.seat, names, losses)
        return answer, {
            "right": answer.is_right,
            "close": answer.is_right and number != best,
            "best": labels[best],
            "explain": losses.explain,
            "review": {
                "seat": drill.seat,
                "unit": hand.game.unit,
                "steps": [
                    {
                        "mover": drill.seat,
                        "text": f"You chose: {labels[number]}.",
                        **decision_facts(live, place, names),
                    }
                ],
            },
            "losses": {**found, "decisions": [{**found["decisions"][0], "step": 0}]},
            "title": presentation_of(hand.game).title,
        }


def _is_right(decision: DecisionLoss, number: int) -> bool:
    """Whether the EV loss of an action does not exceed its interval."""
    return decision.losses[number] <= decision.intervals[number] + NOTHING
