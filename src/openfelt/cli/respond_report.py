"""What `felt respond` prints."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from openfelt.cli.options import command, print_json, progress_bar

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping
    from pathlib import Path

    from openfelt.measure.results import Value
    from openfelt.opponents.responses.response import Response, Responses
    from openfelt.policy.policy import Policy

    Frontier = Mapping[float, Response]  # by p


MEASURED_DEALS = 200_000  # of hold'em


def duplicate_value(arguments: argparse.Namespace, policy: Policy, opponent: Policy, name: str) -> Value:
    """What a policy of hold'em wins from another over duplicate deals."""
    from openfelt.arena.value import value

    with progress_bar(not arguments.json) as bar:
        progress = bar(f"{2 * MEASURED_DEALS:,} hands against {name}")
        return value(policy, opponent, deals=MEASURED_DEALS, threads=arguments.threads, progress=progress)


def print_response(
    arguments: argparse.Namespace, responses: Responses, found: Response, folder: Path | None
) -> None:
    """One response: what it wins, and in an enumerated game what it risks."""
    if arguments.json:
        print_json({**_facts(arguments, responses), **found.as_dict(), "saved": str(folder)})
        return
    print(f"{found.game}: {found.how}, against {arguments.model}")
    if responses.tree.is_enumerated:
        _print_exact(responses, found)
        print(f"saved in {folder}")
        return
    print("\n".join(str(found.value).splitlines()[1:]))
    name = shlex.quote(str(folder))
    print(f"saved in {folder}\n  {command()} exploit {name}\n  {command()} value {name} default")


def _print_exact(responses: Responses, found: Response) -> None:
    unit = f"{found.unit} per game"
    won, usual, most = (sum(each) / 2 for each in (found.won, found.usual, responses.most))
    print(
        f"  exploitation    {found.exploitation:.6f} {unit}: it wins {won:+.6f}; an equilibrium wins "
        f"{usual:+.6f}, a best response {most:+.6f}"
    )
    print(f"  exploitability  {found.exploitability:.6f} {unit} (nash_conv / 2 players)")
    print(f"  by seat it wins {', '.join(f'{won:+.6f}' for won in found.won)}")


def print_sweep(
    arguments: argparse.Namespace,
    responses: Responses,
    found: Frontier,
    exact: Frontier,
    folder: Path | None,
) -> None:
    """Responses for several p: the frontier, or in hold'em what each wins."""
    if responses.tree.is_enumerated:
        frontiers = {arguments.solver: found, **({"exact (lp)": exact} if exact else {})}
        _print_frontiers(arguments, responses, frontiers)
    else:
        _print_winnings(arguments, found, folder)


def _print_frontiers(
    arguments: argparse.Namespace, responses: Responses, frontiers: Mapping[str, Frontier]
) -> None:
    unit = responses.tree.unit
    if arguments.plot:
        from openfelt.plots.frontier import Point, plot_frontier

        drawn = {
            name: [Point(p, each.exploitability, each.exploitation) for p, each in found.items()]
            for name, found in reversed(list(frontiers.items()))
        }
        plot_frontier(f"{responses.tree.game}: responses to {arguments.model}", drawn, unit, arguments.plot)
    if arguments.json:
        points = {
            name: [{"p": p, **each.as_dict()} for p, each in found.items()]
            for name, found in frontiers.items()
        }
        print_json({**_facts(arguments, responses), "frontiers": points})
        return
    print(f"{responses.tree.game}, against {arguments.model} ({unit} per game, averages over the seats)")
    for name, found in frontiers.items():
        print(f"{name:<12}{'p':>6}{'won':>12}{'exploitation':>14}{'exploitability':>16}")
        for p, each in found.items():
            won = sum(each.won) / 2
            print(f"{'':<12}{p:>6g}{won:>12.6f}{each.exploitation:>14.6f}{each.exploitability:>16.6f}")
    if arguments.plot:
        print(f"drawn in {arguments.plot}")


def _print_winnings(arguments: argparse.Namespace, found: Frontier, folder: Path | None) -> None:
    """What each wins from the model, and from the most careful of them: a lower bound on its risk."""
    least, *others = found
    careful = {
        p: duplicate_value(arguments, found[p].policy, found[least].policy, f"p {least:g}") for p in others
    }
    if arguments.json:
        points = [
            {"p": p, "how": each.how, "won": each.value.as_dict()}
            | ({f"won_from_p_{least:g}": careful[p].as_dict()} if p in careful else {})
            for p, each in found.items()
        ]
        facts = {"game": found[least].game, "model": arguments.model, "saved": str(folder)}
        print_json({**facts, "points": points})
        return
    print(f"{found[least].game}: {arguments.solver} (mbb/h, with 95% intervals)")
    head = f"from {arguments.model}", f"from p {least:g}"
    wide = [max(18, len(word) + 2) for word in head]
    print(f"{'p':>6}{head[0]:>{wide[0]}}{head[1]:>{wide[1]}}")
    for p, each in found.items():
        cells = [
            f"{value.mean:+.1f} ± {value.half_width:.1f}" if value else ""
            for value in (each.value, careful.get(p))
        ]
        print(f"{p:>6g}{cells[0]:>{wide[0]}}{cells[1]:>{wide[1]}}".rstrip())
    print(f"saved in {folder}")


def _facts(arguments: argparse.Namespace, responses: Responses) -> dict[str, Any]:
    facts = {"game": responses.tree.game, "model": arguments.model}
    if responses.tree.is_enumerated:
        facts |= {"best_response": responses.most, "value": responses.values}
    return facts
