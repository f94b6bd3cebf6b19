"""The value of a policy against an opponent: exact, or estimated from duplicate deals in hold'em."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from pathlib import Path
from typing import TYPE_CHECKING

from openfelt.arena.holdem_value import holdem_value
from openfelt.core.devices import AUTO
from openfelt.core.errors import FeltError
from openfelt.core.workers import Workers
from openfelt.games.holdem import SEAT_NAMES
from openfelt.measure.exploitability import Effort, evaluator
from openfelt.measure.results import Origin, Value
from openfelt.policy.holdem import HoldemPolicy
from openfelt.policy.network import NetworkPolicy

if TYPE_CHECKING:
    from openfelt.measure.exploitability import Measurable


def value(
    policy: Measurable,
    opponent: Measurable,
    *,
    exact: bool = False,
    deals: int = 1_000_000,
    seed: int = 0,
    threads: Workers = 1,
    device: str = AUTO,
    flops: int | None = None,
    turns: int | None = None,
    rivers: int | None = None,
    folder: Path | None = None,
    progress: Callable[[float], object] = lambda _: None,
) -> Value:
    """What a policy wins against an opponent, in each seat.

    Parameters
    ----------
    policy, opponent : Policy
        Of the same game. The opponent takes all seats but one.
    exact : bool
        Hold'em only, as all options that follow: the expected value over all deals, for two players. By
        default the policies play `deals` duplicate deals. Values of enumerated games are always exact.
    deals : int
        Each is played in every seat with the same cards.
    seed : int
        Deals or samples other cards.
    threads : int or str
        CPU threads, or "ray" or the address of a Ray cluster. Does not change the result.
    device : {"auto", "cpu", "cuda"}
        For exact values.
    flops : int, optional
        With `exact`: estimate from this many sampled flops.
    turns, rivers : int, optional
        With `flops`: sample this many turns of each flop and rivers of each turn; on a GPU only for networks.
    folder : Path, optional
        With `exact`: save finished work there; a later call resumes.
    progress : callable
        Called with the share of all work done since its last call.

    Returns
    -------
    Value
        `mean` over the seats, `by_seat`, `half_width` of the 95% interval (0 if exact), with their unit.

    Examples
    --------
    >>> print(felt.value(felt.rule_policy("leduc", "always-raise"), felt.uniform_policy("leduc")))
    policy against opponent, in leduc
      +1.899306 chips per game, exact
      by seat: +1.222222 as player 0, +2.576389 as player 1
    """
    effort = Effort(device, flops or 0, seed, threads, False, folder, progress, turns or 0, rivers or 0)
    return (
        evaluator(policy).against(opponent, effort)
        if exact
        else _default_value(policy, opponent, deals, effort)
    )


@singledispatch
def _default_value(policy: Measurable, opponent: Measurable, deals: int, effort: Effort) -> Value:
    return evaluator(policy).against(opponent, effort)


@_default_value.register(HoldemPolicy)
@_default_value.register(NetworkPolicy)
def _duplicate_value(
    policy: HoldemPolicy | NetworkPolicy, opponent: Measurable, deals: int, effort: Effort
) -> Value:
    """Hold'em: estimated from duplicate deals."""
    if not isinstance(opponent, HoldemPolicy | NetworkPolicy):  # it may be no policy at all but a mixture
        raise FeltError(
            f"The opponent does not play {policy.game}, or is a mixture; use exact=True for those."
        )
    done = 0

    def report(now: int) -> None:
        nonlocal done
        effort.progress((now - done) / deals)
        done = now

    sampled = holdem_value(
        policy, opponent, deals=deals, seed=effort.seed, threads=effort.threads, progress=report
    )
    return Value(
        "policy",
        "opponent",
        policy.game,
        policy.rules.winnings_unit.name,
        SEAT_NAMES[policy.rules.players],
        tuple(sampled.as_dict()["by_seat"]),
        Origin(half_width=sampled.interval()),
        sampled.hands,
        sampled.deals,
    )
