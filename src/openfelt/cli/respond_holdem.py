"""`felt respond` in hold'em: a run for each seat that can be gone on with, and one policy of both."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openfelt.cli.learning import learn
from openfelt.cli.options import busy, command, print_json, progress_bar
from openfelt.cli.responding import bound_by, free, known_policy, save_response
from openfelt.core.errors import FeltError

if TYPE_CHECKING:
    from openfelt.arena.holdem_value import HoldemValue
    from openfelt.cli.respond import How
    from openfelt.core.jit import Floats
    from openfelt.games.holdem import Holdem
    from openfelt.policy.policy import Policy
    from openfelt.solve.solver import Solver

MEASURED_DEALS = 200_000


def respond_in_holdem(arguments: argparse.Namespace, rules: Holdem, how: How) -> int:
    """Learn for each seat, join, save and play it out; with --sweep so for each p."""
    from openfelt.cli.abstraction import built
    from openfelt.opponents.responses.fixed import refuse_others

    _check(arguments, rules, how)
    refuse_others(arguments.model, rules)
    built(rules.abstraction, max(2, arguments.threads), shown=not arguments.json)
    fixed = known_policy(arguments, rules)
    path = arguments.out or free(rules.name)
    bound = bound_by(arguments, fixed.tree)
    made: dict[float, Policy] = {}
    for p in how.ps:
        below = path / f"p-{p:g}" if arguments.sweep else path
        policy = _respond(arguments, rules, how, fixed, bound(p), _about(how, p), below)
        if policy is None:
            print(f"felt: stopped; --resume with --out {path} goes on.", file=sys.stderr)
            return 130
        made[p] = policy
    facts = {"game": rules.name, "model": arguments.model, "saved": str(path)}
    if arguments.sweep:
        _tell_sweep(arguments, facts, how, made, fixed)
        return 0
    value, about = _played(arguments, made[how.ps[0]], fixed, arguments.model), _about(how, how.ps[0])
    if arguments.json:
        print_json({**facts, "how": about, **value.as_dict()})
        return 0
    print(f"{rules.name}: {about}, against {arguments.model}\n  wins from it {value}")
    print(f"saved in {path}\n  {command()} value {shlex.quote(str(path))} default")
    return 0


def _about(how: How, p: float) -> str:
    return f"{how.solver}, p {p:g}, {how.toss}"


def _respond(
    arguments: argparse.Namespace,
    rules: Holdem,
    how: How,
    fixed: Policy,
    bound: float | Floats,
    about: str,
    path: Path,
) -> Policy | None:
    """The response for both seats, saved; None if it was stopped."""
    from openfelt.policy.policy import join_seats

    seats: list[Policy] = []
    for own in range(2):
        solver, stopped = _learn_seat(arguments, rules, how, fixed, own, bound, path)
        if stopped:
            return None
        seats.append(solver.policy)
    policy = join_seats(seats)
    save_response(policy, arguments, about, folder=path)
    return policy


def _played(arguments: argparse.Namespace, policy: Policy, other: Policy, name: str) -> HoldemValue:
    from openfelt.arena.holdem_value import holdem_value

    with progress_bar(not arguments.json) as bar:
        tell = bar(f"{2 * MEASURED_DEALS:,} hands against {name}")
        return holdem_value(
            policy,
            other,
            deals=MEASURED_DEALS,
            threads=arguments.threads,
            progress=lambda done: tell(done / MEASURED_DEALS),
        )


def _tell_sweep(
    arguments: argparse.Namespace,
    facts: dict[str, Any],
    how: How,
    made: dict[float, Policy],
    fixed: Policy,
) -> None:
    """What each wins from the model, and from the most careful of them: what it risks, from below."""
    least = how.ps[0]
    won = {p: _played(arguments, policy, fixed, arguments.model) for p, policy in made.items()}
    careful = {p: _played(arguments, made[p], made[least], f"p {least:g}") for p in how.ps[1:]}
    if arguments.json:
        points = [
            {"p": p, "how": _about(how, p), "won": won[p].as_dict()}
            | ({f"won_from_p_{least:g}": careful[p].as_dict()} if p in careful else {})
            for p in how.ps
        ]
        print_json({**facts, "points": points})
        return
    print(f"{facts['game']}: {how.solver}, {how.toss} (mbb/h, with 95% intervals)")
    head = f"from {arguments.model}", f"from p {least:g}"
    wide = [max(18, len(word) + 2) for word in head]
    print(f"{'p':>6}{head[0]:>{wide[0]}}{head[1]:>{wide[1]}}")
    for p in how.ps:
        cells = [
            f"{each.mbb:+.1f} ± {each.interval():.1f}" if each else "" for each in (won[p], careful.get(p))
        ]
        print(f"{p:>6g}{cells[0]:>{wide[0]}}{cells[1]:>{wide[1]}}".rstrip())
    print(f"saved in {facts['saved']}")


def _check(arguments: argparse.Namespace, rules: Holdem, how: How) -> None:
    from openfelt.solve.registry import solver_type
    from openfelt.solve.sampling.sampling_solver import SamplingSolver

    if arguments.safe is not None:
        raise FeltError(f"{rules.name} is too large for --safe, which is exact; give --p.")
    if arguments.plot:
        raise FeltError(f"{rules.name} is too large for --plot: exploitability is not known there.")
    if not issubclass(solver_type(how.solver), SamplingSolver):
        raise FeltError(f"{rules.name} is too large for {arguments.solver}; mcrnr and mcdbr sample it.")
    if arguments.until:
        raise FeltError(f"{rules.name} is too large for --until: give --iterations or --seconds.")
    if arguments.resume and not arguments.out:
        raise FeltError("--resume needs --out, the folder to go on with.")


def _learn_seat(
    arguments: argparse.Namespace,
    rules: Holdem,
    how: How,
    fixed: Policy,
    own: int,
    bound: float | Floats,
    path: Path,
) -> tuple[Solver, bool]:
    from openfelt.opponents.responses.response import restricted_solver
    from openfelt.solve.restriction import Restriction
    from openfelt.solve.run_folder import RunFolder

    folder = RunFolder(path / f"seat-{own}")
    with busy(f"compiling {rules.name}"):
        if arguments.resume and folder.exists:
            restriction = Restriction(1 - own, fixed, bound, how.toss)
            work = {"threads": arguments.threads, "restriction": restriction}
            solver = folder.resume(rules.name, how.solver, work, how.parameters)
        else:
            work = {"threads": arguments.threads, "seed": arguments.seed}
            solver = restricted_solver(
                rules, fixed, bound, own, how.toss, how.solver, **work, **how.parameters
            )
    budget = {"iterations": arguments.iterations, "seconds": arguments.seconds}
    return solver, learn(solver, folder, shown=not arguments.json, **budget)
