"""Bots that are learned on the spot, in small enumerated games: equilibrium, smooth-uct, uct.

They are reproducible: what is learned depends on the game, on numbers of iterations and on a fixed seed, not
on the clock.

- `equilibrium` is solved by PCFR+ to `TARGET`, or as far as `ITERATIONS` and `WORK` allow. With two players
  that is close to an equilibrium. With three, CFR has no guarantee, and even an equilibrium guarantees
  nothing against two opponents that deviate from it. For the games of the table the result is included
  (`make equilibria`), because compiling the kernels of PCFR+ would delay the first hand on a new machine.
- `smooth-uct` and `uct` play the average policies of a second or two of self-play, with the constants of the
  papers' figures: in Kuhn poker HS14's, in Leduc hold'em those that MM19 took from Heinrich.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from openfelt.bots.policy_bot import TreeBot
from openfelt.core.errors import FeltError
from openfelt.core.files import MANIFEST, read_manifest
from openfelt.games.compile.compiler import compile_game
from openfelt.games.game import Game
from openfelt.games.registry import load_game
from openfelt.policy.files import POLICY, PRETRAINED, load_policy, save_policy
from openfelt.policy.tabular import TabularPolicy, require_tabular
from openfelt.solve.cfr import PCFRPlus
from openfelt.solve.run_folder import folder_name
from openfelt.solve.sampling.smooth_uct import MAX_AVERAGE, SmoothUCT
from openfelt.solve.sampling.uct import UCT
from openfelt.solve.solver import Solver

EQUILIBRIUM = "equilibrium"
MOST_NODES = 2_000_000  # of the tree, so that a second or two suffice
TARGET = 1e-4  # exploitability, in the game's unit
ITERATIONS = 10_000  # of PCFR+, maximum
WORK = 200_000_000  # nodes visited by them, maximum
EPISODES, SEED = 4_000_000, 1  # of self-play: a second in Leduc
REMEMBERED = 32  # policies in the cache

# By solver and game; elsewhere c is half the range of payoffs, and the schedule of Smooth UCT is Heinrich's.
CONSTANTS: dict[tuple[str, str], dict[str, Any]] = {
    (UCT.name, "kuhn"): {"c": 2.0},
    (SmoothUCT.name, "kuhn"): {"c": 1.75, "schedule": MAX_AVERAGE},
    (UCT.name, "leduc"): {"c": 18.0},
    (SmoothUCT.name, "leduc"): {"c": 18.0},
}


class LearnedPolicies(NamedTuple):
    """The policies learned for a game."""

    policy: TabularPolicy
    greedy: TabularPolicy  # the likeliest actions, or those of highest value where values are known


def _solve(game: Game) -> Solver:
    solver = PCFRPlus(game)
    return solver.run(min(ITERATIONS, max(1, WORK // solver.tree.num_nodes)), until=TARGET)


def _self_play(learner: type[UCT]) -> Callable[[Game], Solver]:
    def learn(game: Game) -> Solver:
        return learner(game, seed=SEED, **CONSTANTS.get((learner.name, game.name), {})).run(EPISODES)

    return learn


LEARNERS: dict[str, Callable[[Game], Solver]] = {
    EQUILIBRIUM: _solve,
    SmoothUCT.name: _self_play(SmoothUCT),
    UCT.name: _self_play(UCT),
}


def learned_bot(name: str, game: Game, *, greedy: bool = False) -> TreeBot:
    """The bot of LEARNERS called `name`; fast if its policy is in the cache."""
    learned = learn(name, game)
    return TreeBot(learned.greedy if greedy else learned.policy, game)


def learn(name: str, game: Game) -> LearnedPolicies:
    """The policies of a bot, learned once for each game."""
    require_small(name, game)
    with _LEARNING:
        return _learn(name, game)


def require_small(name: str, game: Game) -> None:
    """Raise for a game that is too large, before anything is learned."""
    if not game.is_enumerable or compile_game(game).num_nodes > MOST_NODES:
        how = "solved" if name == EQUILIBRIUM else "learned"
        raise FeltError(f"{name} is {how} on the spot, which {game.name} is too large for.")


_LEARNING = Lock()  # two threads must not learn the same


@lru_cache(maxsize=REMEMBERED)
def _learn(name: str, game: Game) -> LearnedPolicies:
    if name == EQUILIBRIUM and (included := _included(game)):
        return LearnedPolicies(included, included.greedy())
    solver = LEARNERS[name](game)
    return LearnedPolicies(require_tabular(solver.policy), require_tabular(solver.greedy))


def _included(game: Game) -> TabularPolicy | None:
    """The included equilibrium, if there is one of these very rules."""
    folder = _folder(game)
    if not (folder / MANIFEST).exists():
        return None
    if read_manifest(folder, POLICY).get("fingerprint") != compile_game(game).fingerprint:
        return None
    return require_tabular(load_policy(folder, game))


def save_equilibria(games: Iterable[str]) -> None:
    """Solve these games anew and replace their included equilibria."""
    for game in map(load_game, games):
        save_policy(_solve(game).policy, _folder(game))


def _folder(game: Game) -> Path:
    return PRETRAINED / EQUILIBRIUM / folder_name(game.name)
