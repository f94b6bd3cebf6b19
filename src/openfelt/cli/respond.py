"""`felt respond`."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openfelt.cli.hand_options import add_hand_options, read_histories
from openfelt.cli.learning import LearningBar, learn
from openfelt.cli.options import busy, count, positive as positive_number, progress_bar, seed
from openfelt.cli.respond_report import duplicate_value, print_response, print_sweep
from openfelt.cli.train import add_parameters, named_solver, parameters_of
from openfelt.core.devices import CPU, DEVICES
from openfelt.core.errors import FeltError, unknown

if TYPE_CHECKING:
    from openfelt.core.jit import Floats
    from openfelt.games.compile.tree import Tree
    from openfelt.games.game import Game
    from openfelt.opponents.responses.response import Response, Responses
    from openfelt.policy.policy import Policy
    from openfelt.solve.run_folder import RunFolder
    from openfelt.solve.solver import Solver

HELP = (
    "Compute a counter-strategy: a policy that wins from an opponent and is hard to exploit if the\n"
    "opponent plays differently. --model gives the opponent's fixed policy: the folder of a model (`felt\n"
    "model fit`), run or policy, or a bot with a tabular policy. With probability --p the opponent plays\n"
    "the fixed policy, otherwise optimally: 0 gives an equilibrium, 1 a best response. By default this is\n"
    "drawn once a game (the restricted Nash response); with --each at every decision (the data-biased\n"
    "response), where --confidence lowers p at infosets with few observations. Solvers: lp is exact; rnr\n"
    "and dbr are CFR+ with one draw and with a draw at each decision, mcrnr and mcdbr outcome sampling; or\n"
    "any solver of `felt train`. One solver runs for each seat. Prints exploitation (what the policy wins\n"
    "beyond what an equilibrium wins) and exploitability; in hold'em what it wins (`felt exploit` computes\n"
    "exploitability)."
)
EXAMPLES = [
    "felt respond leduc --model always-raise --p 0.75",
    "felt respond leduc --model runs/leduc-uct --p 0.9 --solver mcrnr --iterations 1e6 --out counter",
    "felt respond leduc --model runs/leduc-uct --sweep --plot frontier.png",
    "felt respond leduc --model runs/leduc-uct --sweep 0,0.5,1 --solver mcrnr --iterations 1e6",
    "felt respond leduc --model ann --p 0.95 --confidence 0-10-linear --hands ann.phhs --player Ann",
    "felt respond kuhn --model always-call --safe 0.05",
    "felt respond \"holdem(buckets='ehs:10')\" --model poki --solver mcdbr --iterations 2e7 --out poki2",
    "felt respond \"holdem(buckets='ehs:10')\" --model poki --iterations 5e9 --device cuda --out poki3",
]
LP, MCRNR = "lp", "mcrnr"
P = 0.75  # PJL11, 4.3.2
CONFIDENCE_OPTIONS = ("hands", "player", "s", "definition", "partial", "skip_bad")
SWEEP = (0.0, 0.5, 0.7, 0.8, 0.9, 0.93, 0.97, 1.0)  # PJL11, Figure 6


def add_arguments(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    default = MCRNR if any(word.startswith("holdem") for word in argv[:1]) else LP
    parser.add_argument("game", help="a game's name (see felt games) or the path of a Gambit .efg file")
    parser.add_argument("--model", required=True, help="the opponent: a model, a run or policy, or a bot")
    parser.add_argument(
        "--p", type=float, help=f"probability that the opponent plays the fixed policy (default: {P})"
    )
    parser.add_argument("--each", action="store_true", help="draw anew at each decision of the opponent")
    parser.add_argument(
        "--confidence",
        metavar="KIND",
        help="constant, 0-10-linear (p times n / 10, at most p) or s-curve (p times n / (s + n)), with n the "
        "number of observations at the infoset; needs --hands and --player",
    )
    parser.add_argument("--s", type=positive_number, help="the s of the s-curve (default: 10)")
    parser.add_argument("--hands", type=Path, metavar="HISTORIES", help="hand histories of the opponent")
    parser.add_argument("--player", help="the opponent's name in them")
    add_hand_options(parser)
    parser.add_argument(
        "--solver",
        default=default,
        help="lp, rnr, mcrnr, dbr, mcdbr or one of `felt train` (default: lp; in hold'em mcrnr)",
    )
    parser.add_argument(
        "--iterations", "--episodes", type=count, dest="iterations", metavar="N", help="budget of each seat"
    )
    parser.add_argument("--seconds", type=positive_number, help="budget of each seat")
    parser.add_argument(
        "--until", type=positive_number, help="stop at this distance from equilibrium of the restricted game"
    )
    parser.add_argument(
        "--safe", type=float, metavar="EPS", help="instead of --p: give up at most EPS of the game's value"
    )
    parser.add_argument(
        "--sweep",
        nargs="?",
        const=",".join(f"{p:g}" for p in SWEEP),
        metavar="P,P,...",
        help="responses for several p (default: those of PJL11's Figure 6)",
    )
    parser.add_argument("--plot", type=Path, help="draw the frontier, with the exact one, to a .png file")
    parser.add_argument("--out", type=Path, help="the folder for the policy (default: a new one under runs/)")
    parser.add_argument("--resume", action="store_true", help="hold'em: continue the runs in --out")
    parser.add_argument("--seed", type=seed, default=0, help="seed of sampling solvers (default: 0)")
    parser.add_argument(
        "--threads", type=count, default=1, help="CPU threads of sampling solvers and CFR (default: 1)"
    )
    parser.add_argument(
        "--device",
        choices=DEVICES,
        default=CPU,
        help="for sampling solvers and the CFR family: the CPU, an NVIDIA GPU (needs openfelt[cuda]), or a "
        f"GPU if there is one (default: {CPU})",
    )
    add_parameters(parser, _solver_type(named_solver(argv, default)))


@dataclasses.dataclass(frozen=True)
class Request:
    """The responses to compute."""

    solver: type[Solver]
    toss: str
    ps: tuple[float, ...]
    parameters: dict[str, Any]


class Stopped(Exception):
    """The user stopped a solver; its run is saved."""


def run(arguments: argparse.Namespace) -> int:
    from openfelt.games.registry import load_game
    from openfelt.opponents.responses.fixed_policy import require_two_players
    from openfelt.solve.run_folder import free_folder

    rules = load_game(arguments.game)
    require_two_players(rules)
    request = _request(arguments)
    _check_files(arguments)
    _check_game(arguments, rules, request)
    responses = _open(arguments, rules)
    keeps = arguments.out or not (arguments.sweep and rules.is_enumerable)
    folder = (arguments.out or free_folder(Path("runs"), rules.name, "response")) if keeps else None
    try:
        found = _respond_all(arguments, responses, request, folder)
    except Stopped:
        print(f"felt: stopped; continue with --resume --out {folder}.", file=sys.stderr)
        return 130
    if arguments.sweep:
        print_sweep(arguments, responses, found, _exact_frontier(responses, request), folder)
    else:
        print_response(arguments, responses, found[request.ps[0]], folder)
    return 0


def _solver_type(name: str) -> type[Solver]:
    from openfelt.opponents.responses.response import METHODS
    from openfelt.solve.registry import SOLVERS, solver_type

    if name not in METHODS and name not in SOLVERS:
        raise FeltError(unknown("solver", name, [*METHODS, *SOLVERS]))
    return solver_type(METHODS[name][0] if name in METHODS else name)


def _request(arguments: argparse.Namespace) -> Request:
    from openfelt.opponents.responses.response import METHODS
    from openfelt.solve.restriction import EACH, ONCE

    toss = METHODS.get(arguments.solver, ("", ONCE))[1]
    if arguments.each or arguments.confidence:
        if arguments.solver in METHODS and toss == ONCE:
            other = {"rnr": "dbr", MCRNR: "mcdbr"}[arguments.solver]
            raise FeltError(f"{arguments.solver} draws once a game; {other} draws at each decision.")
        toss = EACH
    ps = _numbers(arguments.sweep) if arguments.sweep else (P if arguments.p is None else arguments.p,)
    for p in ps:
        if not 0 <= p <= 1:
            raise FeltError(f"The probability p must be from 0 to 1, not {p:g}.")
    if arguments.safe is not None and (arguments.p is not None or arguments.sweep or toss == EACH):
        raise FeltError("--safe excludes --p, --sweep, --each and --confidence.")
    if arguments.sweep and arguments.p is not None:
        raise FeltError("Give --p for one response, or --sweep for several.")
    solver = _solver_type(arguments.solver)
    solver.check_device(arguments.device, None)
    budget = arguments.iterations or arguments.seconds or arguments.until
    if solver.iterative and not budget and arguments.safe is None:
        raise FeltError("Give a budget: --iterations, --seconds or --until.")
    return Request(solver, toss, ps, parameters_of(arguments, solver))


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(sorted({float(word) for word in text.split(",")}))
    except ValueError:
        raise FeltError(f"--sweep takes numbers separated by commas, not '{text}'.") from None


def _check_files(arguments: argparse.Namespace) -> None:
    """Before any work is done."""
    if arguments.plot:
        from openfelt.plots.figure import prepare_figure

        if not arguments.sweep:
            raise FeltError("--plot draws a frontier: it goes with --sweep.")
        prepare_figure(arguments.plot)
    if arguments.confidence:
        from openfelt.opponents.responses.confidence import CONFIDENCES

        if arguments.confidence not in CONFIDENCES:
            raise FeltError(unknown("confidence", arguments.confidence, CONFIDENCES))
        if not (arguments.hands and arguments.player):
            raise FeltError("--confidence needs hands of the opponent: --hands and --player.")
    elif any(getattr(arguments, name) for name in CONFIDENCE_OPTIONS):
        options = ", ".join(f"--{name.replace('_', '-')}" for name in CONFIDENCE_OPTIONS)
        raise FeltError(f"These options go with --confidence: {options}.")
    if arguments.out and arguments.out.exists() and any(arguments.out.iterdir()) and not arguments.resume:
        raise FeltError(f"{arguments.out} holds other files; name an empty or new folder.")


def _check_game(arguments: argparse.Namespace, rules: Game, request: Request) -> None:
    """What needs every history of the game, and what needs long runs."""
    from openfelt.bots.registry import require_playable

    require_playable(rules)
    if rules.is_enumerable:
        if arguments.resume:
            raise FeltError(f"--resume is for hold'em; runs of {rules.name} are short and not saved.")
        return
    if arguments.safe is not None:
        raise FeltError(f"{rules.name} is too large for the linear programs of --safe; give --p.")
    if arguments.plot:
        raise FeltError(
            f"--plot needs the equilibrium of the game, which is not known for {rules.name}; "
            "`felt exploit` measures each policy."
        )
    if request.solver.full_width:
        raise FeltError(f"{rules.name} is too large for {arguments.solver}; use mcrnr or mcdbr.")
    if arguments.until:
        raise FeltError(
            f"--until needs exploitability during training, which is not computed in {rules.name}; "
            "give --iterations or --seconds."
        )
    if arguments.resume and not arguments.out:
        raise FeltError("--resume needs --out, the folder of the runs.")


def _open(arguments: argparse.Namespace, rules: Game) -> Responses:
    from openfelt.cli.abstraction import built
    from openfelt.opponents.responses.fixed_policy import require_same_game
    from openfelt.opponents.responses.response import Responses

    if rules.abstraction:
        require_same_game(arguments.model, rules)
        built(rules.abstraction, max(2, arguments.threads), shown=not arguments.json)
    fixed = _opponent(arguments, rules)
    with busy(f"the equilibrium of {rules.name}" if rules.is_enumerable else "reading the policy"):
        return Responses(rules, fixed, value=partial(duplicate_value, arguments, name=arguments.model))


def _opponent(arguments: argparse.Namespace, rules: Game) -> Policy:
    """The policy of --model."""
    from openfelt.bots.registry import BOTS, load_bot
    from openfelt.opponents.responses.fixed_policy import fixed_policy
    from openfelt.policy.files import DEFAULT
    from openfelt.policy.rules import RULES

    name = arguments.model
    if name in BOTS and name not in (*RULES, DEFAULT):
        policy = load_bot(name, rules).fixed_policy
        if policy is None:
            raise FeltError(f"{name} has no tabular policy; fit a model to its hands (felt model --help).")
        return fixed_policy(policy, rules)
    with progress_bar(not arguments.json) as bar:
        return fixed_policy(name, rules, seed=arguments.seed, progress=bar(f"the policy of {name}"))


def _confidence(arguments: argparse.Namespace, tree: Tree) -> Callable[[float], float | Floats]:
    """From p to the probability of the fixed policy: p, or by the observations at each infoset at most p."""
    from openfelt.opponents.models.observed import observed_hands
    from openfelt.opponents.responses.confidence import HALF, confidence, observations

    if not arguments.confidence:
        return lambda p: p
    with busy(f"reading {arguments.hands}"):
        hands = observed_hands(read_histories(arguments.hands, arguments), arguments.player, tree.game)
        observed = observations(tree, hands)
    return lambda p: confidence(arguments.confidence, observed, p, arguments.s or HALF)


def _respond_all(
    arguments: argparse.Namespace, responses: Responses, request: Request, folder: Path | None
) -> dict[float, Response]:
    """The response for each p, saved where bots, `felt exploit` and `felt value` find it."""
    from openfelt.policy.files import POLICY, save_policy

    p_of, found = _confidence(arguments, responses.tree), {}
    for p in request.ps:
        below = folder / f"p-{p:g}" if folder and arguments.sweep else folder
        if arguments.safe is not None:
            with busy("solving"):
                found[p] = responses.safe(arguments.safe)
        else:
            found[p] = _respond(arguments, responses, request, p_of(p), below)
        if below:
            how = f"p {p:g}" if arguments.sweep and responses.tree.is_enumerated else found[p].how
            made_by = {"response": how, "model": arguments.model, "seed": arguments.seed}
            save_policy(found[p].policy, below / POLICY, made_by=made_by)
    return found


def _respond(
    arguments: argparse.Namespace,
    responses: Responses,
    request: Request,
    p: float | Floats,
    folder: Path | None,
) -> Response:
    budget: dict[str, Any] = {name: getattr(arguments, name) for name in ("iterations", "seconds", "until")}

    def train(solver: Solver, run_folder: RunFolder | None) -> None:
        if run_folder is not None:
            if learn(solver, run_folder, shown=not arguments.json, **budget):
                raise Stopped
        elif solver.iterative:
            with LearningBar(solver, **budget, shown=not arguments.json) as bar:
                solver.run(**budget, progress=bar.update)
        else:
            with busy("solving"):
                solver.run()

    names = ("seed", "threads", "device") if request.solver.iterative else ()
    work = {name: getattr(arguments, name) for name in names}
    return responses.restricted(
        p,
        toss=request.toss,
        solver=request.solver.name,
        train=train,
        folder=None if responses.tree.is_enumerated else folder,
        resume=arguments.resume,
        **work,
        **request.parameters,
    )


def _exact_frontier(responses: Responses, request: Request) -> dict[float, Response]:
    """The exact responses for the same p, beside those of another solver; none where they are not known."""
    if request.solver.name == LP or request.toss != "once" or not responses.is_exact:
        return {}
    with busy("the exact frontier"):
        return {p: responses.restricted(p) for p in request.ps}
