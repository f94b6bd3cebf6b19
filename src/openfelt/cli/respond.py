"""`felt respond`."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openfelt.cli.options import busy, count, positive as positive_number, print_json, seed
from openfelt.cli.responding import bound_by, known_policy, save_response
from openfelt.cli.train import add_parameters, named_solver, parameters_of
from openfelt.core.errors import FeltError

if TYPE_CHECKING:
    from openfelt.core.jit import Floats
    from openfelt.games.game import Game
    from openfelt.opponents.responses.response import Response, Responses
    from openfelt.solve.solver import Measurement, Solver

HELP = (
    "Make a counter-strategy to a player: one that wins from him, and risks little if he is not what he\n"
    "seems. --model is what is known of him: the folder of a model (`felt model fit`), of a run or policy,\n"
    "or a bot that plays by a table. With probability --p he is taken to play like that, else as best he\n"
    "can: 0 gives the equilibrium, 1 the best response. Once for the whole game (the restricted Nash\n"
    "response), or anew at each decision (--each; the data-biased response), there also with less\n"
    "confidence where he was seldom seen (--confidence). Solvers: lp is exact; rnr and dbr are CFR+ with\n"
    "one toss and with many, mcrnr and mcdbr outcome sampling; or any solver of `felt train`. The policy\n"
    "is for both seats, one run each. Prints what it wins from him more than an equilibrium does\n"
    "(exploitation) and how exploitable it is itself; in hold'em, what it wins from him."
)
EXAMPLES = [
    "felt respond leduc --model always-raise --p 0.75",
    "felt respond leduc --model runs/leduc-uct --p 0.9 --solver mcrnr --iterations 1e6 --out counter",
    "felt respond leduc --model runs/leduc-uct --sweep --plot frontier.png",
    "felt respond leduc --model runs/leduc-uct --sweep 0,0.5,1 --solver mcrnr --iterations 1e6",
    "felt respond leduc --model ann --p 0.95 --confidence 0-10-linear --hands ann.phhs --player Ann",
    "felt respond kuhn --model always-call --safe 0.05",
    "felt respond \"holdem(buckets='ehs:10')\" --model poki --solver mcdbr --iterations 2e7 --out poki2",
]
LP, MCRNR = "lp", "mcrnr"
P = 0.75  # PJL11, 4.3.2
SWEEP = (0.0, 0.5, 0.7, 0.8, 0.9, 0.93, 0.97, 1.0)  # PJL11, Figure 6


def add_arguments(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    default = MCRNR if any(word.startswith("holdem") for word in argv[:1]) else LP
    parser.add_argument("game", help="a game's name (see felt games) or the path of a Gambit .efg file")
    parser.add_argument("--model", required=True, help="whom it is for: a model, a run or policy, a bot")
    parser.add_argument("--p", type=float, help=f"how likely he plays like that, 0 to 1 (default: {P})")
    parser.add_argument("--each", action="store_true", help="toss the coin at each of his decisions")
    parser.add_argument(
        "--confidence",
        metavar="KIND",
        help="constant, 0-10-linear (p times n / 10, from 10 observations on p) or s-curve (p times "
        "n / (s + n)), with n the number of times that he was seen at a row; needs --hands and --player",
    )
    parser.add_argument("--s", type=positive_number, help="the s of the s-curve (default: 10)")
    parser.add_argument("--hands", type=Path, metavar="HISTORIES", help="where he was seen")
    parser.add_argument("--player", help="his name there")
    parser.add_argument(
        "--solver",
        default=default,
        help="lp, rnr, mcrnr, dbr, mcdbr or one of `felt train` (default: lp; in hold'em mcrnr)",
    )
    parser.add_argument(
        "--iterations", "--episodes", type=count, dest="iterations", metavar="N", help="of each run"
    )
    parser.add_argument("--seconds", type=positive_number, help="of each run")
    parser.add_argument("--until", type=positive_number, help="stop at this distance from its equilibrium")
    parser.add_argument(
        "--safe", type=float, metavar="EPS", help="instead of --p: give up at most EPS of the game's value"
    )
    parser.add_argument(
        "--sweep",
        nargs="?",
        const=",".join(f"{p:g}" for p in SWEEP),
        metavar="P,P,...",
        help="for these p (default: those of PJL11's Figure 6): the frontier; in hold'em, what each wins",
    )
    parser.add_argument("--plot", type=Path, help="a .png file: draw the frontier, beside the exact one")
    parser.add_argument("--out", type=Path, help="the folder for the policy (default: a new one under runs/)")
    parser.add_argument("--resume", action="store_true", help="hold'em: go on with the runs in --out")
    parser.add_argument("--seed", type=seed, default=0, help="for solvers that draw at random")
    parser.add_argument("--threads", type=count, default=1, help="for sampling solvers, and CFR (default: 1)")
    add_parameters(parser, _solver_type(named_solver(argv, default)))


def run(arguments: argparse.Namespace) -> int:
    from openfelt.games.holdem import Holdem
    from openfelt.games.registry import load_game
    from openfelt.opponents.responses.fixed import require_two_players

    rules = load_game(arguments.game)
    require_two_players(rules)
    how = _how(arguments, rules)
    _check_files(arguments, how)
    if isinstance(rules, Holdem):
        from openfelt.cli.respond_holdem import respond_in_holdem

        return respond_in_holdem(arguments, rules, how)
    if arguments.resume:
        raise FeltError(f"--resume is for hold'em; {rules.name} is learned anew.")
    fixed = known_policy(arguments, rules)
    with busy(f"the equilibrium of {rules.name}"):
        from openfelt.opponents.responses.response import Responses

        responses = Responses(rules, fixed)
    if arguments.sweep:
        _sweep(arguments, responses, how)
    else:
        _one(arguments, responses, how)
    return 0


@dataclasses.dataclass(frozen=True)
class How:
    """What is asked for."""

    solver: str
    toss: str
    ps: tuple[float, ...]
    parameters: dict[str, Any]

    @property
    def budget_free(self) -> bool:
        return not _solver_type(self.solver).iterative


def _solver_type(name: str) -> type[Solver]:
    from openfelt.opponents.responses.response import METHODS
    from openfelt.solve.registry import SOLVERS, solver_type

    if name not in METHODS and name not in SOLVERS:
        from openfelt.core.errors import unknown

        raise FeltError(unknown("solver", name, [*METHODS, *SOLVERS]))
    return solver_type(METHODS[name][0] if name in METHODS else name)


def _how(arguments: argparse.Namespace, rules: Game) -> How:
    from openfelt.opponents.responses.response import METHODS
    from openfelt.solve.restriction import EACH, ONCE

    toss = METHODS.get(arguments.solver, ("", ONCE))[1]
    if arguments.each or arguments.confidence:
        if arguments.solver in METHODS and toss == ONCE:
            other = {"rnr": "dbr", MCRNR: "mcdbr"}[arguments.solver]
            raise FeltError(f"{arguments.solver} tosses one coin for the game; {other} one at each decision.")
        toss = EACH
    ps = _numbers(arguments.sweep) if arguments.sweep else (P if arguments.p is None else arguments.p,)
    for p in ps:
        if not 0 <= p <= 1:
            raise FeltError(f"The probability p must be from 0 to 1, not {p:g}.")
    if arguments.safe is not None and (arguments.p is not None or arguments.sweep or toss == EACH):
        raise FeltError("--safe stands alone: it needs no probability, and is solved by linear programs.")
    if arguments.sweep and arguments.p is not None:
        raise FeltError("Give --p for one response, or --sweep for several.")
    kind = _solver_type(arguments.solver)
    how = How(kind.name, toss, ps, parameters_of(arguments, kind))
    budget = arguments.iterations or arguments.seconds or arguments.until
    if kind.iterative and not budget and arguments.safe is None:
        raise FeltError("Say how long to learn: give --iterations N, --seconds T or --until LIMIT.")
    return how


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(sorted({float(word) for word in text.split(",")}))
    except ValueError:
        raise FeltError(f"--sweep takes numbers with commas between them, not '{text}'.") from None


def _check_files(arguments: argparse.Namespace, how: How) -> None:
    """Before the work."""
    if arguments.plot:
        from openfelt.plots.figure import prepare_figure

        if not arguments.sweep:
            raise FeltError("--plot draws a frontier: it goes with --sweep.")
        prepare_figure(arguments.plot)
    if arguments.confidence:
        from openfelt.opponents.responses.confidence import CONFIDENCES

        if arguments.confidence not in CONFIDENCES:
            from openfelt.core.errors import unknown

            raise FeltError(unknown("confidence", arguments.confidence, CONFIDENCES))
        if not (arguments.hands and arguments.player):
            raise FeltError("--confidence needs the hands in which he was seen: --hands and --player.")
    elif arguments.hands or arguments.player or arguments.s:
        raise FeltError("--hands, --player and --s go with --confidence.")
    if arguments.out and arguments.out.exists() and any(arguments.out.iterdir()) and not arguments.resume:
        raise FeltError(f"{arguments.out} holds other files; name an empty or new folder.")


def _respond(
    arguments: argparse.Namespace, responses: Responses, how: How, bound: float | Floats
) -> Response:
    from openfelt.cli.learning import LearningBar

    bars: list[tuple[Solver, LearningBar]] = []

    def progress(solver: Solver, measured: Measurement | None) -> None:
        if not bars or bars[-1][0] is not solver:
            for _, bar in bars[-1:]:
                bar.__exit__()
            budget = arguments.iterations, arguments.seconds, arguments.until
            bars.append((solver, LearningBar(solver, *budget, shown=not arguments.json).__enter__()))
        bars[-1][1].update(solver, measured)

    try:
        work = {} if how.budget_free else {"seed": arguments.seed, "threads": arguments.threads}
        return responses.restricted(
            bound,
            toss=how.toss,
            solver=how.solver,
            iterations=arguments.iterations,
            seconds=arguments.seconds,
            until=arguments.until,
            progress=None if how.budget_free else progress,
            **work,
            **how.parameters,
        )
    finally:
        for _, bar in bars[-1:]:
            bar.__exit__()


def _one(arguments: argparse.Namespace, responses: Responses, how: How) -> None:
    with busy("solving"):
        if arguments.safe is not None:
            found = responses.safe(arguments.safe)
        else:
            bound = bound_by(arguments, responses.tree)
            found = _respond(arguments, responses, how, bound(how.ps[0]))
    folder = save_response(found.policy, arguments, found.how)
    if arguments.json:
        print_json({**_facts(arguments, responses), **found.as_dict(), "saved": str(folder)})
        return
    unit = f"{found.unit} per game"
    mean = {name: sum(each) / 2 for name, each in _winnings(responses, found).items()}
    print(f"{found.game}: {found.how}, against {arguments.model}")
    print(
        f"  exploitation    {found.exploitation:.6f} {unit}: it wins {mean['won']:+.6f} from it, where an "
        f"equilibrium wins {mean['usual']:+.6f} and a best response {mean['most']:+.6f}"
    )
    print(f"  exploitability  {found.exploitability:.6f} {unit} (nash_conv / 2 players)")
    print(f"  by seat it wins {', '.join(f'{won:+.6f}' for won in found.won)}\nsaved in {folder}")


def _sweep(arguments: argparse.Namespace, responses: Responses, how: How) -> None:
    from openfelt.plots.frontier import Point, plot_frontier

    curves: dict[str, list[Response]] = {arguments.solver: []}
    bound = bound_by(arguments, responses.tree)
    for p in how.ps:
        curves[arguments.solver].append(_respond(arguments, responses, how, bound(p)))
        if arguments.out:
            save_response(curves[arguments.solver][-1].policy, arguments, f"p {p:g}", f"p-{p:g}")
    if how.solver != LP and how.toss == "once" and responses.is_exact:
        with busy("the exact frontier"):
            curves["exact (lp)"] = [responses.restricted(p) for p in how.ps]
    if arguments.plot:
        drawn = {
            name: [
                Point(p, each.exploitability, each.exploitation)
                for p, each in zip(how.ps, found, strict=True)
            ]
            for name, found in reversed(curves.items())
        }
        title = f"{responses.tree.game}: responses to {arguments.model}"
        plot_frontier(title, drawn, responses.tree.unit, arguments.plot)
    if arguments.json:
        points = {
            name: [{"p": p, **each.as_dict()} for p, each in zip(how.ps, found, strict=True)]
            for name, found in curves.items()
        }
        print_json({**_facts(arguments, responses), "frontiers": points})
        return
    unit = responses.tree.unit
    print(f"{responses.tree.game}, against {arguments.model} ({unit} per game, means of the seats)")
    for name, found in curves.items():
        print(f"{name:<12}{'p':>6}{'won':>12}{'exploitation':>14}{'exploitability':>16}")
        for p, each in zip(how.ps, found, strict=True):
            won = sum(each.won) / 2
            print(f"{'':<12}{p:>6g}{won:>12.6f}{each.exploitation:>14.6f}{each.exploitability:>16.6f}")
    print(f"drawn in {arguments.plot}" if arguments.plot else "", end="\n" if arguments.plot else "")


def _winnings(responses: Responses, found: Response) -> dict[str, tuple[float, ...]]:
    return {"won": found.won, "usual": found.usual, "most": responses.most}


def _facts(arguments: argparse.Namespace, responses: Responses) -> dict[str, Any]:
    return {"model": arguments.model, "best_response": responses.most, "value": responses.values}
