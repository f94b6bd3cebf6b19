"""`felt demo`: the main job from end to end, with no questions asked."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from openfelt.cli.options import command, print_json

HELP = "Train a Leduc hold'em bot, measure exactly how exploitable it is, save it, and watch it play."
EXAMPLES = ["felt demo"]
GAME, SECONDS, HANDS, SEED = "leduc", 6.0, 3, 7
HOLDEM_SEED = 0  # of a hand that goes on to the river


def add_arguments(parser: argparse.ArgumentParser, argv: list[str]) -> None:
    parser.add_argument("--out", type=Path, help="the run folder (default: a new one under runs/)")


def run(arguments: argparse.Namespace) -> int:
    import numpy as np

    from openfelt.cli.exploit import against_equilibrium, equilibrium_lines
    from openfelt.cli.learning import learn
    from openfelt.games.registry import load_game
    from openfelt.measure.exploitability import exploitability
    from openfelt.policy.files import DEFAULT
    from openfelt.solve.cfr import CFRPlus
    from openfelt.solve.run_folder import RunFolder, free_folder, open_policy
    from openfelt.table.terminal import watch

    say = (lambda *_: None) if arguments.json else print
    solver = CFRPlus(GAME)
    tree = solver.tree
    folder = RunFolder(arguments.out or free_folder(Path("runs"), GAME, "demo"))
    folder.require_new()
    say(
        f"1. Learning {GAME} hold'em by self-play: {tree.num_rows} information states, "
        f"{tree.num_nodes:,} histories."
    )
    if learn(solver, folder, seconds=SECONDS, shown=not arguments.json):
        say(f"Stopped by you; what was learned is saved in {folder.path}.")
        return 130

    say("\n2. How exploitable is it, exactly?")
    policy = solver.policy
    measured = exploitability(policy)
    facts = {
        **measured.as_dict(),
        "solver": solver.name,
        "iterations": solver.iterations,
        "seconds": solver.seconds,
        **against_equilibrium(policy),
    }
    say(measured)
    for line in equilibrium_lines(facts):
        say(f"  {line}")

    facts["run"] = str(folder.path)
    say(f"\n3. Saved in {folder.path}. A few hands of it against itself:")
    generator = np.random.default_rng(SEED)
    for number in range(1, HANDS + 1):
        say(f"  hand {number}")
        for line in watch(load_game(GAME), policy, generator):
            say(f"    {line}")

    say("\n4. The hold'em bot that comes along, against itself (it needs no tables):")
    for line in watch(load_game("holdem"), open_policy(DEFAULT), np.random.default_rng(HOLDEM_SEED)):
        say(f"    {line}")

    say(_try_next(folder.path))
    if arguments.json:
        print_json(facts)
    return 0


def _try_next(run: Path) -> str:
    felt, path = command(), shlex.quote(str(run))
    return (
        "\nTry next:\n"
        f"  {felt} play --bot {path}\n      play against it\n"
        f"  {felt} play holdem\n      limit hold'em, heads-up, against the bot that comes along\n"
        f"  {felt} games\n      what else can be played and solved\n"
        f'  {felt} train "bluff(1,1,5)" --until 1e-3\n      learn another game\n'
        f"  {felt} exploit {path} --greedy\n      how much worse is it without mixed actions?\n"
        f"  {felt} train kuhn --solver lp\n      an exact equilibrium\n"
        f"  {felt} train leduc --solver smooth-uct --c 18 --episodes 5e7 --threads 2\n"
        "      the same game by self-play tree search\n"
        f"  {felt} study list\n      the papers' figures and experiments, each by one command"
    )
