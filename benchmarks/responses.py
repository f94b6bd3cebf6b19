"""MCRNR compared with plain outcome sampling on the same tree: the cost of the hidden draw."""

from __future__ import annotations

from collections.abc import Iterator

from timing import Result, in_turn

import openfelt as felt
from openfelt.games.compile.compiler import compile_any
from openfelt.opponents.responses.response import restricted_solver
from openfelt.policy.rules import rule_policy
from openfelt.solve.restriction import EACH, ONCE

P, ROUNDS = 0.5, 9
HOLDEM = "holdem(buckets='ehs:10')"


def run() -> Iterator[Result]:
    """All results; plain outcome sampling is measured again for each."""
    holdem = compile_any(HOLDEM)
    fixed = {"leduc": felt.random_policy("leduc", seed=1), HOLDEM: rule_policy(holdem, "random")}
    for game, count in (("leduc", 400_000), (HOLDEM, 200_000)):
        for name, toss in (("MCRNR", ONCE), ("MCDBR", EACH)):
            bound = restricted_solver(game, fixed[game], P, 0, toss, "outcome-mccfr")
            plain = felt.OutcomeMCCFR(game)
            for solver in (bound, plain):
                solver.run(count)  # compiles, and fills the tables
            ours, theirs = in_turn(
                lambda bound=bound, count=count: bound._advance(count),
                lambda plain=plain, count=count: plain._advance(count),
                rounds=ROUNDS,
            )
            yield Result(
                f"{name} on {game}",
                "iterations/s",
                count / ours,
                {"outcome-mccfr": count / theirs},
                {"outcome-mccfr": 0.8},
                f"One player is bound with probability {P:g}; the peer is our own plain outcome sampling.",
            )
