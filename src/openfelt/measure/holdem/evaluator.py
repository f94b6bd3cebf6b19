"""Exact measurements in two-player hold'em, as every evaluator offers them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openfelt.cards.runouts import Runouts
from openfelt.core.errors import FeltError
from openfelt.measure.holdem.exploitability import SEATS, Exploit, measure_exploit
from openfelt.measure.holdem.flop_solver import AnyStrategy
from openfelt.measure.holdem.network import NetworkPlayer
from openfelt.measure.holdem.player import Mixture, Player, policy_player
from openfelt.measure.results import BestResponse, Exploitability, Origin, Value
from openfelt.policy.holdem import HoldemPolicy
from openfelt.policy.network import NetworkPolicy

if TYPE_CHECKING:
    from openfelt.measure.exploitability import Effort, Measurable

GAME, UNIT = "holdem", "mbb/h"


class HoldemEvaluator:
    """Measures a strategy for both seats in the full game."""

    def __init__(self, policy: Measurable) -> None:
        self.player = as_player(policy)

    def exploitability(self, effort: Effort) -> Exploitability:
        """What best responses win, by seat."""
        found = _measure(self.player, None, effort)
        best = tuple(found.by_seat)
        return Exploitability(self.player.name, GAME, UNIT, SEATS, best, None, _origin(found), found.leaks)

    def best_response(self, player: int, effort: Effort) -> BestResponse:
        """What a best response wins in one seat."""
        if player not in (0, 1):
            raise FeltError(f"Hold'em has players 0 (big blind) and 1 (dealer), not {player}.")
        found = _measure(self.player, None, effort)
        return BestResponse(player, found.by_seat[player], UNIT, None)

    def against(self, opponent: Measurable, effort: Effort) -> Value:
        """The expected value against the opponent in each seat."""
        ours, theirs = self.player, as_player(opponent)
        if not isinstance(ours, Mixture):
            return _value(_measure(theirs, ours, effort))
        if isinstance(theirs, Mixture):
            raise FeltError("At most one of the two can be a mixture.")
        return _value(_measure(ours, theirs, effort)).from_the_other_side()


def as_player(policy: Measurable) -> AnyStrategy:
    """A policy of hold'em as the engine reads it."""
    if isinstance(policy, Player | Mixture):
        return policy
    if isinstance(policy, NetworkPolicy):
        return NetworkPlayer(policy)
    if not isinstance(policy, HoldemPolicy):
        raise FeltError(f"The policy plays {policy.game}, not hold'em.")
    return policy_player(policy)


def _measure(other: AnyStrategy, ours: Player | NetworkPlayer | None, effort: Effort) -> Exploit:
    return measure_exploit(
        other,
        ours,
        leaks=effort.leaks,
        flops=effort.flops,
        runouts=Runouts(effort.turns, effort.rivers, effort.seed),
        seed=effort.seed,
        device=effort.device,
        threads=effort.threads,
        folder=effort.folder,
        progress=effort.progress,
    )


def _origin(found: Exploit) -> Origin:
    return Origin(
        found.flops,
        found.interval,
        found.seconds,
        found.device,
        found.runouts.turns,
        found.runouts.rivers,
        found.held_out_mbb,
    )


def _value(found: Exploit) -> Value:
    return Value(found.against, found.name, GAME, UNIT, SEATS, tuple(found.by_seat), _origin(found))
