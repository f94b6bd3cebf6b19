"""Hands played by any bots, one decision at a time, on the same deals that kernels would play.

A bot that is too slow, raises an error or returns an illegal action does not stop a match: the first of its
legal actions is taken instead, which checks or folds in poker, and the fault is counted. A strict table
raises BotFaultError instead, except for a bot that is too slow.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from openfelt.arena.decision_stats import ERROR, ILLEGAL, LATE, DecisionStats
from openfelt.arena.hand_kernels import HandOutcomes, RandomStreams
from openfelt.arena.participants import Participants
from openfelt.arena.time_limit import TooLateError, call_within
from openfelt.bots.bot import Bot, Clock
from openfelt.bots.view import View
from openfelt.core.random import Dice
from openfelt.games.game import Game

WARM_UP = 60.0  # seconds for a decision before the clock counts
LEARNING = 60.0  # seconds after a hand, for a bot that learns


class Table(ABC):
    """Bots at a game, one for each of the `places` of the participants."""

    strict = False  # whether exceptions and illegal actions stop the match

    def __init__(self, game: Game, bots: Sequence[Bot], *, limit: float = math.inf) -> None:
        self.game, self.bots, self.limit = game, bots, limit
        self.stats = [DecisionStats() for _ in bots]
        self._observes_end = [type(bot).end_hand is not Bot.end_hand for bot in bots]

    @property
    def warm_up_limit(self) -> float:
        """Seconds for a decision before the clock counts."""
        return max(WARM_UP, self.limit)

    @abstractmethod
    def warm_up(self, streams: RandomStreams) -> None:
        """Let bots decide before the clock counts.

        What a bot compiles or reads when it first needs it can take seconds. Under a short clock it would be
        interrupted each time and never finish. The decisions made here must not change how a bot plays, so
        create a bot that learns anew afterwards.
        """

    @abstractmethod
    def play_block(
        self, participants: Participants, times: Sequence[int], streams: RandomStreams, first: int, count: int
    ) -> HandOutcomes:
        """Play deals from number `first` on, each at the given `times` of the match plan."""

    def decide(self, place: int, view: View, dice: Dice) -> int:
        """The index of the action that a bot chooses; 0 if it fails to choose one in time."""
        stats, clock, actions = self.stats[place], Clock(self.limit), view.actions
        fault, chosen = _guard(lambda: self.bots[place].act(view, dice, clock), self.limit)
        used = clock.used
        stats.decisions += 1
        stats.seconds += used
        if used > stats.longest:
            stats.longest = used
        if used > self.limit:
            fault = LATE
        if not fault and isinstance(chosen, str) and chosen in actions:
            return actions.index(chosen)
        self._count(place, fault or ILLEGAL, chosen)
        return 0

    def end_hand(self, place: int, view: View, won: float) -> None:
        """Let a bot observe how a hand ended; its faults there are counted too.

        The limit is for decisions: a bot that learns from hands has more time for that.
        """
        bot = self.bots[place]
        limit = max(self.limit, LEARNING) if bot.learns else self.limit
        clock = Clock(limit)
        fault, error = _guard(lambda: bot.end_hand(view, won), limit)
        if fault or clock.used > limit:
            self._count(place, fault or LATE, error)

    def _count(self, place: int, fault: str, cause: object) -> None:
        self.stats[place].note_fault(fault, cause, __file__)
        if self.strict:
            self.stats[place].require_faultless(type(self.bots[place]).__name__)


class WarmUpBot(Bot):
    """A bot that sees the limit of the match on its clock, whatever that of the table."""

    def __init__(self, bot: Bot, limit: float) -> None:
        super().__init__(bot.game)
        self._bot, self._limit = bot, limit

    def act(self, view: View, dice: Dice, clock: Clock) -> str:
        return self._bot.act(view, dice, Clock(self._limit))


def _guard(call: Callable[[], object], limit: float) -> tuple[str, object]:
    """The fault of a bot, or "", and what the call returned or raised."""
    try:
        return "", call_within(limit, call)
    except TooLateError:
        return LATE, None
    except (Exception, SystemExit) as error:
        return ERROR, error
