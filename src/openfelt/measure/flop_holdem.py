"""Exact measurements in Flop Hold'em: all flops, and all hands on each."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from openfelt.core.devices import CPU, CUDA
from openfelt.core.errors import FeltError
from openfelt.core.workers import is_cluster, own_threads
from openfelt.games.flop_holdem import FlopHoldem
from openfelt.games.holdem import SEAT_NAMES
from openfelt.measure.results import BestResponse, Exploitability, Origin, Value
from openfelt.policy.flop import FlopPolicy
from openfelt.policy.policy import require_game
from openfelt.solve.vector.flop_values import values_against

if TYPE_CHECKING:
    from openfelt.measure.exploitability import Effort, Measurable

SEATS, UNIT = SEAT_NAMES[2], FlopHoldem().winnings_unit


class FlopEvaluator:
    """Measures a policy of Flop Hold'em."""

    def __init__(self, policy: FlopPolicy) -> None:
        self.policy = policy

    def exploitability(self, effort: Effort) -> Exploitability:
        """The gains of best responses."""
        _require_plain(effort)
        begun = time.monotonic()
        best = self._won(self.policy, None, effort)
        origin = Origin(seconds=time.monotonic() - begun, device=CPU)
        game = self.policy.game
        return Exploitability(game, game, UNIT.name, SEATS, best, None, origin)

    def best_response(self, player: int, effort: Effort) -> BestResponse:
        """The value of the best response of one player."""
        if player not in (0, 1):
            raise FeltError(f"{self.policy.game} has players 0 (big blind) and 1 (dealer), not {player}.")
        return BestResponse(player, self.exploitability(effort).best_responses[player], UNIT.name, None)

    def against(self, opponent: Measurable, effort: Effort) -> Value:
        """The expected value against the opponent in each seat."""
        if not isinstance(opponent, FlopPolicy):
            raise FeltError(f"The opponent does not play {self.policy.game}.")
        require_game(opponent, self.policy.tree)
        _require_plain(effort)
        begun = time.monotonic()
        won = self._won(opponent, self.policy, effort)
        origin = Origin(seconds=time.monotonic() - begun, device=CPU)
        return Value("policy", "opponent", self.policy.game, UNIT.name, SEATS, won, origin)

    @staticmethod
    def _won(other: FlopPolicy, ours: FlopPolicy | None, effort: Effort) -> tuple[float, ...]:
        """By seat, in mbb/h."""
        chips = values_against(other, ours, own_threads(effort.threads), effort.progress)
        return tuple(UNIT.scale * won for won in chips)


def _require_plain(effort: Effort) -> None:
    if effort.flops or effort.turns or effort.rivers or effort.leaks or effort.folder:
        raise FeltError(
            "Flop Hold'em is measured on all flops in seconds: it takes no sampled cards, leaks, plot or "
            "folder to resume from."
        )
    if effort.device == CUDA or is_cluster(effort.threads):
        raise FeltError("Flop Hold'em is measured on this machine's CPU; leave out --device and --on.")
