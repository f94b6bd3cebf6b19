"""`felt train`."""

from __future__ import annotations

import argparse
import dataclasses
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openfelt.cli.learning import CHECKPOINT_EVERY, learn
from openfelt.cli.options import add_on, busy, command, count, positive, print_json, seed
from openfelt.core.devices import AUTO, CPU, DEVICES
from openfelt.core.errors import FeltError

if TYPE_CHECKING:
    from openfelt.games.game import Game
    from openfelt.policy.policy import Policy
    from openfelt.solve.solver import Solver

DEFAULT_SOLVER, HOLDEM_SOLVER, FLOP_SOLVER = "pcfr+", "external-mccfr", "flop-cfr"
DEFAULT_SECONDS, DEFAULT_UNTIL = 60, 1e-4
HELP = (
    "Train a policy for a game. Training stops when the first of --iterations (or --episodes), --seconds\n"
    f"and --until is reached; without any of them after {DEFAULT_SECONDS} seconds, or earlier at an\n"
    f"exploitability of {DEFAULT_UNTIL:g} where it is measured, not in hold'em (the solver lp needs no\n"
    "budget). The result is saved in a run folder, also on Ctrl-C."
)
EXAMPLES = [
    "felt train leduc",
    "felt train leduc --solver pcfr+ --until 1e-4",
    "felt train kuhn --solver lp",
    'felt train "bluff(1,1,6)" --solver cfr+ --seconds 10 --out runs/bluff',
    'felt train "bluff(1,1,6)" --solver cfr+ --seconds 10 --out runs/bluff --resume',
    'felt train "one_card(500)" --solver cfr+ --until 1e-4 --threads 2',
    "felt train leduc --solver dcfr --alpha 1.5 --beta 0.5 --iterations 1e4",
    "felt train leduc --solver smooth-uct --c 18 --gamma 0.1 --eta0 0.9 --d 0.002 --episodes 5e7 --threads 2",
    "felt train leduc --solver uct --k 0.5 --opponent random --episodes 1e6",
    "felt train leduc --solver outcome-mccfr --epsilon 0.6 --episodes 1e7 --seed 1",
    "felt train holdem --solver smooth-uct --k 0.5 --episodes 7e9 --threads 2 --out runs/holdem",
    "felt train holdem --solver smooth-uct --k 0.5 --episodes 7e9 --device cuda --out runs/holdem",
    "felt train 'goofspiel(6)' --solver cfr+ --iterations 10000 --device cuda --out runs/goofspiel",
    "felt train leduc --solver nfsp --seconds 60        (neural players need openfelt[torch])",
    "felt train holdem --solver mmd --alpha 0.02 --games 128 --anneal 1000 --seconds 300 --out runs/net",
    "felt train flop_holdem --seconds 300 --out runs/flop",
    "felt train holdem --solver cfr-br --iterations 2e4 --on ray://head:10001 --out runs/far",
    "felt train leduc --solver smooth-uct --help        (lists the parameters of that solver)",
]
MEASURED_AGAINST, MEASURED_DEALS = ("always-call", "always-raise", "random"), 200_000
NETWORK_DEALS = 1_000  # networks play a thousand hands a second


def add_arguments(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    from openfelt.games.flop_holdem import is_flop_holdem_name
    from openfelt.games.holdem import is_holdem_name
    from openfelt.solve.registry import SOLVERS, solver_type

    solvers = "; ".join(f"{name}: {solver.summary}" for name, solver in SOLVERS.items())
    parser.add_argument("game", help="a game's name (see felt games) or the path of a Gambit .efg file")
    default = HOLDEM_SOLVER if any(map(is_holdem_name, argv)) else DEFAULT_SOLVER
    default = FLOP_SOLVER if any(map(is_flop_holdem_name, argv)) else default
    parser.add_argument(
        "--solver",
        default=default,
        help=f"{solvers} (default: {DEFAULT_SOLVER}, in hold'em {HOLDEM_SOLVER}, in "
        f"flop_holdem {FLOP_SOLVER})",
    )
    parser.add_argument(
        "--iterations",
        "--episodes",
        type=count,
        dest="iterations",
        metavar="N",
        help="number of iterations; for uct, smooth-uct and outcome-mccfr these are episodes",
    )
    parser.add_argument("--seconds", type=positive, help="training time in seconds")
    parser.add_argument("--until", type=positive, help="stop at this exploitability (in the game's unit)")
    parser.add_argument(
        "--seed",
        type=seed,
        default=0,
        help="random seed of sampling solvers and neural players (default: 0); a resumed run keeps its own",
    )
    parser.add_argument(
        "--threads",
        type=count,
        default=1,
        help="CPU threads of sampling solvers, and of CFR in large games (default: 1; see docs/commands.md)",
    )
    parser.add_argument(
        "--device",
        choices=DEVICES,
        default=CPU,
        help="for cfr, cfr+, dcfr, pcfr+, cfr-br, public-chance-cfr, sampling solvers and neural players: "
        "the CPU, an NVIDIA GPU (needs openfelt[cuda]; neural players: openfelt[torch]), or auto: a GPU if "
        f"there is one and, for the CFR family, the game is large (default: {CPU})",
    )
    parser.add_argument(
        "--in-flight",
        type=count,
        metavar="N",
        help="the most iterations in flight on a GPU (default: as many as do not harm the result; for cfr-br "
        "and public-chance-cfr, boards at a time: 1 on the CPU, 16 on a GPU, 16 on a cluster)",
    )
    parser.add_argument(
        "--learners",
        type=count,
        metavar="N",
        help="for sampling solvers in two-player zero-sum games: independent learners whose average policies "
        "are mixed (default on a cluster: one per CPU)",
    )
    add_on(parser)
    parser.add_argument("--out", type=Path, help="the run folder (default: a new one under runs/)")
    parser.add_argument("--resume", action="store_true", help="resume the run in --out")
    parser.add_argument(
        "--checkpoint",
        type=positive,
        default=CHECKPOINT_EVERY,
        metavar="SECONDS",
        help=f"time between checkpoints (default: {CHECKPOINT_EVERY:.0f})",
    )
    parser.add_argument(
        "--policy-only",
        action="store_true",
        help="save no checkpoint: the run cannot be resumed, and its folder stays small",
    )
    parser.add_argument(
        "--compact",
        action="store_true",
        help="save the policy in 15ths, pure at rarely reached infosets, and compressed (hold'em)",
    )
    add_parameters(parser, solver_type(named_solver(argv, default)))


def add_parameters(parser: argparse.ArgumentParser, solver: type[Solver]) -> None:
    """Add the parameters of a solver, each as an option."""
    fields = dataclasses.fields(solver.settings_type)
    group = parser.add_argument_group(f"parameters of {solver.name}") if fields else parser
    for field in fields:
        default = "" if field.default is None else f" (default: {field.default})"
        group.add_argument(
            f"--{field.name.replace('_', '-')}",
            type=field.metadata["kind"],
            default=field.default,
            choices=field.metadata["choices"] or None,
            help=field.metadata["help"] + default,
        )


def parameters_of(arguments: argparse.Namespace, solver: type[Solver]) -> dict[str, Any]:
    """The values of a solver's parameters."""
    return {field.name: getattr(arguments, field.name) for field in dataclasses.fields(solver.settings_type)}


def named_solver(argv: list[str], default: str) -> str:
    """The solver's name, found before parsing, since its parameters become options."""
    scan = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    scan.add_argument("--solver", nargs="?", default=default, const=default)
    return str(scan.parse_known_args(argv)[0].solver)


def run(arguments: argparse.Namespace) -> int:
    from openfelt.games.compile.betting_tree import BettingTree
    from openfelt.games.compile.flop_tree import FlopTree
    from openfelt.solve.run_folder import RunFolder, free_folder

    solver = _open_solver(arguments)
    path = arguments.out or free_folder(Path("runs"), solver.tree.game, solver.name)
    if arguments.compact and not isinstance(solver.tree, BettingTree):
        raise FeltError("--compact is for hold'em with an abstraction.")
    folder = RunFolder(path, with_checkpoint=not arguments.policy_only, compact=arguments.compact)
    budget = {key: getattr(arguments, key) for key in ("iterations", "seconds", "until")}
    interrupted = learn(
        solver, folder, shown=not arguments.json, checkpoint_every=arguments.checkpoint, **budget
    )
    measured = _measured(solver, arguments)
    if arguments.json:
        print_json(
            {
                **measured.facts,
                "solver": solver.name,
                "parameters": dataclasses.asdict(solver.settings),
                "iterations": solver.iterations,
                "seconds": solver.seconds,
                "device": solver.device,
                "run": str(folder.path),
                "interrupted": interrupted,
            }
        )
    else:
        how = "stopped after" if interrupted else "trained for"
        work = f"{solver.iterations:,} {solver.work}, " if solver.iterative else ""
        print(f"{solver.name}: {how} {work}{solver.seconds:.2f} seconds")
        print("\n".join(measured.lines))
        path = shlex.quote(str(folder.path))
        print(f"saved in {folder.path}\n  {command()} {_next_command(solver, path)}")
        if not isinstance(solver.tree, FlopTree):  # which is not played
            print(f"  {command()} play --bot {path}")
    return 130 if interrupted else 0


def _next_command(solver: Solver, path: str) -> str:
    """What to measure next."""
    if solver.is_measured:
        return f"exploit {path}"
    if not solver.uses_buckets:
        return f"exploit {path} --flops 12 --turns 4 --rivers 4"
    return f"exploit {path} --flops 20" if solver.tree.players == 2 else f"value {path} always-call"


@dataclasses.dataclass(frozen=True)
class _Measured:
    """How good the policy is, for JSON and as text."""

    facts: dict[str, Any]
    lines: list[str]


def _measured(solver: Solver, arguments: argparse.Namespace) -> _Measured:
    from openfelt.measure.exploitability import exploitability

    if not solver.is_measured:
        return _measured_in_holdem(solver, arguments)
    measured = exploitability(solver.policy)
    facts, lines = measured.as_dict(), [str(measured)]
    if won := _won_against_opponent(solver):
        facts["against_opponent"] = won
    for policy, values in won.items():
        seats = ", ".join(f"{value:+.6f}" for value in values)
        lines.append(f"  against the opponent, by seat: {policy} {seats} {solver.tree.unit} per game")
    return _Measured(facts, lines)


def _measured_in_holdem(solver: Solver, arguments: argparse.Namespace) -> _Measured:
    """Winnings against rule players, or the fixed opponent; `felt exploit` computes exploitability."""
    from openfelt.arena.holdem_value import holdem_value
    from openfelt.games.holdem import BIG_BLIND
    from openfelt.policy.rules import rule_policy
    from openfelt.solve.vector.cfr_br import CFRBR

    tree, policy = solver.tree, solver.policy
    opponent: Policy | None = getattr(solver, "opponent", None)
    won = {}
    deals = MEASURED_DEALS if solver.uses_buckets else NETWORK_DEALS
    for name in ("the opponent",) if opponent else MEASURED_AGAINST:
        other = opponent or rule_policy(tree, name)
        won[name] = holdem_value(policy, other, deals=deals, threads=solver.threads)
    lines, facts = [tree.game], dict[str, Any](game=tree.game)
    if solver.uses_buckets:
        lines, facts = [f"{tree.game}\n  {tree.num_rows:,} infosets"], {**facts, "rows": tree.num_rows}
    lines += [f"  against {name}: {value}" for name, value in won.items()]
    if isinstance(solver, CFRBR):
        by_seat = [1000 * won / BIG_BLIND for won in solver.opponent_value]
        facts["opponent_value"] = by_seat
        lines.append(
            f"  in the last tenth of the iterations the opponent won {sum(by_seat) / 2:.1f} mbb/h from the "
            f"current policy (by our seat {by_seat[0]:.1f}, {by_seat[1]:.1f})"
        )
    return _Measured(facts | {"against": {name: value.as_dict() for name, value in won.items()}}, lines)


def _won_against_opponent(solver: Solver) -> dict[str, tuple[float, ...]]:
    """By seat, where there is a fixed opponent: what the policies win, and what a best response wins."""
    from openfelt.measure.exploitability import best_response, values_against

    opponent: Policy | None = getattr(solver, "opponent", None)
    if opponent is None:
        return {}
    seats = range(solver.tree.players)
    return {
        "average policy": values_against(solver.policy, opponent),
        "greedy policy": values_against(solver.greedy, opponent),
        "best response": tuple(best_response(opponent, seat).value for seat in seats),
    }


def _open_solver(arguments: argparse.Namespace) -> Solver:
    from openfelt.cli.abstraction import built
    from openfelt.games.registry import load_game
    from openfelt.solve.registry import solver_type
    from openfelt.solve.run_folder import RunFolder

    solver = solver_type(arguments.solver)
    if arguments.resume and arguments.policy_only:
        raise FeltError("--resume needs a checkpoint, which --policy-only would not update.")
    if arguments.resume and not arguments.out:
        raise FeltError("--resume needs --out, the folder of the run.")
    if arguments.out and not arguments.resume:
        RunFolder(arguments.out).require_new()
    parameters = parameters_of(arguments, solver)
    rules = load_game(arguments.game)
    if solver.iterative and not (arguments.iterations or arguments.seconds or arguments.until):
        arguments.seconds = DEFAULT_SECONDS
        arguments.until = DEFAULT_UNTIL if rules.is_enumerable else None
    if rules.abstraction:
        _check_before_building(rules, solver, arguments, parameters)
    if rules.abstraction and solver.uses_buckets:
        built(rules.abstraction, max(2, arguments.threads), shown=not arguments.json)
    with busy(f"compiling {arguments.game}"):
        work = {key: getattr(arguments, key) for key in ("device", "in_flight", "learners")}
        work["threads"] = arguments.on or arguments.threads
        if arguments.resume:
            opened = RunFolder(arguments.out).resume(arguments.game, arguments.solver, work, parameters)
        else:
            opened = solver(arguments.game, seed=arguments.seed, **work, **parameters)
    if arguments.device == AUTO:
        print(_chosen(opened), file=sys.stderr)
    return opened


def _chosen(solver: Solver) -> str:
    """The chosen device, and why."""
    return f"training on the {f'GPU ({solver.gpu})' if solver.device != CPU else f'CPU: {solver.why_cpu}'}"


def _check_before_building(
    rules: Game, solver: type[Solver], arguments: argparse.Namespace, parameters: dict[str, Any]
) -> None:
    """Find errors in the command before a minute of building tables."""
    from openfelt.games.compile.compiler import require_enumerable
    from openfelt.solve.run_folder import RunFolder

    if solver.full_width:
        require_enumerable(rules)
    if arguments.until:
        raise FeltError(
            f"--until is not available for {rules.name}: its exploitability is not computed during training. "
            "Give --episodes or --seconds, and run felt exploit afterwards."
        )
    solver.settings_type(**parameters)
    solver.check_device(arguments.device, arguments.in_flight, arguments.on or arguments.threads)
    if arguments.resume:
        RunFolder(arguments.out).require_checkpoint()
