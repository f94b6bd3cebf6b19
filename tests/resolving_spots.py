"""Sampled rivers of the default policy against itself, re-solved: safety, gain and time.

`python tests/resolving_spots.py --out benchmarks/results/resolving_spots.json`. Winnings from the default
policy are exact given the public state: both ranges are known, so only boards and betting lines are sampled.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from pathlib import Path

import numpy as np

import openfelt as felt
from openfelt.bots.resolve.blueprint import Blueprint, ranges_after
from openfelt.bots.resolve.subgame import Subgame, SubgameRoot, resolve, write_strategies
from openfelt.cards.deck import BOARD_CARDS, PAIR, RIVER, cards_text
from openfelt.games.holdem import BIG_BLIND, bet, first_betting, is_over
from openfelt.spots.solver import Budget, SpotSolver
from openfelt.spots.spot import total_weight
from openfelt.spots.traversal import EXPECTED

KINDS = {
    "safe, 100 iterations": (100, True),
    "safe, 300 iterations": (300, True),
    "safe, 1,000 iterations": (1_000, True),
    "unsafe, 1,000 iterations": (1_000, False),
}


def sampled_rivers(blueprint, hands, seed):
    """Hands of the blueprint against itself that come to the river: board, line, node and pot."""
    generator, tree = np.random.default_rng(seed), blueprint.tree
    for _ in range(hands):
        cards = generator.permutation(52)[:9].tolist()
        holes, board = (cards[:2], cards[2:4]), tuple(cards[4:])
        line, node, betting = [], 0, first_betting(2)
        while betting.street < RIVER and not is_over(betting):
            pair = PAIR[tuple(holes[betting.turn])]
            chances = blueprint.at(node, board[: BOARD_CARDS[betting.street]])[:, pair]
            action = int(generator.choice(len(chances), p=chances / chances.sum()))
            line.append(tree.actions(node)[action])
            node, betting = tree.child(node, action), bet(betting, line[-1])
        if not is_over(betting):
            yield board, line, node, sum(betting.paid)


def winnings(subgame, strategies, seat):
    """What a seat wins in a subgame by the strategies of both seats, in chips from the middle of the pot."""
    solver = SpotSolver(subgame.spot)
    for player, strategy in enumerate(strategies):
        write_strategies(subgame, solver.engine, player, strategy)
    values = solver.engine.passes().run(seat, EXPECTED).astype(np.float64)
    return float(values @ solver.engine.weights[seat]) / total_weight(subgame.spot.ranges)


def measure(subgame, seat, blueprint, iterations, safe):
    """Re-solve for one seat."""
    begun = time.process_time()
    solved = resolve(subgame, seat, blueprint, Budget(iterations), safe=safe)
    taken = time.process_time() - begun
    strategies = [solved.strategy if player == seat else blueprint for player in (0, 1)]
    return {
        "seconds": taken,
        "excess": solved.excess,
        "mean_excess": solved.mean_excess,
        "gain": solved.gain,
        "won": winnings(subgame, strategies, seat) - winnings(subgame, [blueprint] * 2, seat),
        "kept_blueprint": solved.strategy is blueprint,
    }


def main():
    """Measure, print and write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--hands", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    policy = felt.load_policy("default")
    blueprint = Blueprint(policy)
    rows, rivers = [], 0
    for board, line, node, pot in sampled_rivers(blueprint, arguments.hands, arguments.seed):
        rivers += 1
        ranges = ranges_after(policy.tree, line, board, [[blueprint] * 4] * 2)
        subgame = Subgame(policy.tree, SubgameRoot(board, node, pot), ranges)
        facts = {"board": cards_text(board), "line": " ".join(line), "pot": pot}
        for seat in (0, 1):
            for kind, setting in KINDS.items():
                numbers = measure(subgame, seat, blueprint, *setting)
                rows.append(facts | {"seat": seat, "kind": kind} | numbers)
    report(rows, rivers, arguments.hands)
    if arguments.out:
        about = {"processor": platform.machine(), "policy": policy.fingerprint, "hands": arguments.hands}
        arguments.out.write_text(json.dumps(about | {"rivers": rows}, indent=1) + "\n", encoding="utf-8")


def report(rows, rivers, hands):
    """Print a line for each kind."""
    print(f"{rivers} rivers of {hands} hands; excess and gain in chips (big blind 2), winnings in mbb/h")
    print(f"{'':26}worst excess  median worst  mean excess    gain  kept  CPU s  won from default")
    for kind in KINDS:
        some = [row for row in rows if row["kind"] == kind]
        worst = [row["excess"] for row in some]
        means = [np.mean([row[name] for row in some]) for name in ("mean_excess", "gain", "seconds")]
        kept = sum(row["kept_blueprint"] for row in some)
        won = np.zeros(hands)  # 0 for hands that do not come to the river; the mean of both seats
        won[:rivers] = np.reshape([row["won"] for row in some], (rivers, 2)).mean(axis=1)
        won *= 1_000 / BIG_BLIND
        interval = 1.96 * won.std(ddof=1) / np.sqrt(hands)
        print(
            f"{kind:26}{max(worst):12.4f}{np.median(worst):14.4f}{means[0]:13.5f}{means[1]:8.4f}{kept:6}"
            f"{means[2]:7.2f}{won.mean():9.2f} ± {interval:.2f}"
        )


if __name__ == "__main__":
    main()
