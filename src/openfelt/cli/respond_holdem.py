"""`felt respond` in hold'em: a run for each seat that can be gone on with, and one policy of both."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from openfelt.base.errors import FeltError
from openfelt.cli.learning import learn
from openfelt.cli.options import busy, command, print_json, progress_bar
from openfelt.cli.responding import bound, free, known_policy, save_response

if TYPE_CHECKING:
    from openfelt.cli.respond import How
    from openfelt.policy.any_policy import AnyPolicy
    from openfelt.rules.holdem import Holdem
    from openfelt.solvers.solver import Solver

MEASURED_DEALS = 200_000


def respond_in_holdem(arguments: argparse.Namespace, rules: Holdem, how: How) -> int:
    """Learn for each seat, join, save and play it out."""
    from openfelt.arena.holdem_value import holdem_value
    from openfelt.cli.abstraction import built
    from openfelt.policy.holdem_policy import HoldemPolicy
    from openfelt.responses.fixed import refuse_others
    from openfelt.responses.response import joined

    _check(arguments, rules, how)
    refuse_others(arguments.model, rules)
    built(rules.abstraction, max(2, arguments.threads), shown=not arguments.json)
    fixed = known_policy(arguments, rules)
    assert isinstance(fixed, HoldemPolicy)
    path = arguments.out or free(rules.name)
    seats: list[HoldemPolicy] = []
    for own in range(2):
        solver, stopped = _learn_seat(arguments, rules, how, fixed, own, path)
        assert isinstance(solver.policy, HoldemPolicy)
        seats.append(solver.policy)
        if stopped:
            print(f"felt: stopped in seat {own}; --resume with --out {path} goes on.", file=sys.stderr)
            return 130
    policy = joined(seats)
    about = f"{how.solver}, p {how.ps[0]:g}, {how.toss}"
    save_response(policy, arguments, about, folder=path)
    with progress_bar(not arguments.json) as bar:
        tell = bar(f"{2 * MEASURED_DEALS:,} hands against {arguments.model}")
        value = holdem_value(
            policy,
            fixed,
            deals=MEASURED_DEALS,
            threads=arguments.threads,
            progress=lambda done: tell(done / MEASURED_DEALS),
        )
    if arguments.json:
        facts = {"game": rules.name, "model": arguments.model, "how": about, "saved": str(path)}
        print_json({**facts, **value.as_dict()})
        return 0
    print(f"{rules.name}: {about}, against {arguments.model}\n  wins from it {value}")
    print(f"saved in {path}\n  {command()} value {shlex.quote(str(path))} default")
    return 0


def _check(arguments: argparse.Namespace, rules: Holdem, how: How) -> None:
    from openfelt.solvers.learner import Learner
    from openfelt.solvers.registry import solver_type

    if arguments.safe is not None or arguments.sweep:
        raise FeltError(f"{rules.name} is too large for --safe and --sweep, which are exact; give --p.")
    if not issubclass(solver_type(how.solver), Learner):
        raise FeltError(f"{rules.name} is too large for {arguments.solver}; mcrnr and mcdbr sample it.")
    if arguments.until:
        raise FeltError(f"{rules.name} is too large for --until: give --iterations or --seconds.")
    if arguments.resume and not arguments.out:
        raise FeltError("--resume needs --out, the folder to go on with.")


def _learn_seat(
    arguments: argparse.Namespace, rules: Holdem, how: How, fixed: AnyPolicy, own: int, path: Path
) -> tuple[Solver, bool]:
    from openfelt.responses.response import restricted_solver
    from openfelt.solvers.restriction import Restriction
    from openfelt.solvers.run_folder import RunFolder

    folder = RunFolder(path / f"seat-{own}")
    p = bound(arguments, fixed.tree, how.ps[0])
    with busy(f"compiling {rules.name}"):
        if arguments.resume and folder.exists:
            restriction = Restriction(1 - own, fixed, p, how.toss)
            work = {"threads": arguments.threads, "restriction": restriction}
            solver = folder.resume(rules.name, how.solver, work, how.parameters)
        else:
            work = {"threads": arguments.threads, "seed": arguments.seed}
            solver = restricted_solver(rules, fixed, p, own, how.toss, how.solver, **work, **how.parameters)
    budget = {"iterations": arguments.iterations, "seconds": arguments.seconds}
    return solver, learn(solver, folder, shown=not arguments.json, **budget)
