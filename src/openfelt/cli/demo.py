"""`felt demo`: train, measure, save and play, without questions."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from openfelt.cli.options import command, print_json

HELP = "Train a Leduc hold'em bot, compute its exact exploitability, save it and watch it play."
EXAMPLES = ["felt demo"]
GAME, SECONDS, HANDS, SEED = "leduc", 6.0, 3, 7
HOLDEM_SEED = 0  # a hand that reaches the river


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
    say(f"1. Training {solver.name} on {GAME}: {tree.num_rows} infosets, {tree.num_nodes:,} histories.")
    if learn(solver, folder, seconds=SECONDS, shown=not arguments.json):
        say(f"Stopped; the run so far is saved in {folder.path}.")
        return 130

    say("\n2. Its exact exploitability:")
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
    say(f"\n3. Saved in {folder.path}. Some hands against itself:")
    generator = np.random.default_rng(SEED)
    for number in range(1, HANDS + 1):
        say(f"  hand {number}")
        for line in watch(load_game(GAME), policy, generator):
            say(f"    {line}")

    say("\n4. The pretrained hold'em bot against itself:")
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
        f"  {felt} play holdem\n      heads-up limit hold'em against the pretrained bot\n"
        f"  {felt} games\n      all games\n"
        f'  {felt} train "bluff(1,1,5)" --until 1e-3\n      train a bot for another game\n'
        f"  {felt} exploit {path} --greedy\n      the exploitability of its most likely actions alone\n"
        f"  {felt} train kuhn --solver lp\n      compute an exact equilibrium\n"
        f"  {felt} train leduc --solver smooth-uct --c 18 --episodes 5e7 --threads 2\n"
        "      the same game by self-play tree search\n"
        f"  {felt} study list\n      reproductions of published figures and tables"
    )
