"""What `felt respond` does alike in all games: whom it is for, how far he is trusted, where it is saved."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openfelt.cli.options import busy, progress_bar
from openfelt.core.errors import FeltError

if TYPE_CHECKING:
    from openfelt.core.jit import Floats
    from openfelt.games.compile.tree import Tree
    from openfelt.games.game import Game
    from openfelt.policy.policy import Policy


def known_policy(arguments: argparse.Namespace, rules: Game) -> Policy:
    """The policy of --model: that of a bot, or what a folder tells."""
    from openfelt.bots.policy_bot import HoldemBot, TreeBot
    from openfelt.bots.registry import BOTS, load_bot
    from openfelt.opponents.responses.fixed import fixed_policy
    from openfelt.policy.files import DEFAULT
    from openfelt.policy.rules import RULES

    name = arguments.model
    if name in BOTS and name not in (*RULES, DEFAULT):
        bot = load_bot(name, rules)
        if not isinstance(bot, HoldemBot | TreeBot):
            raise FeltError(f"{name} plays by no table; fit a model to its hands (felt model --help).")
        return fixed_policy(bot.policy, rules)
    with progress_bar(not arguments.json) as bar:
        return fixed_policy(name, rules, seed=arguments.seed, progress=bar(f"the policy of {name}"))


def bound_by(arguments: argparse.Namespace, tree: Tree) -> Callable[[float], float | Floats]:
    """From p to how likely he is bound: that, or by the observations of each row at most that."""
    from openfelt.cli.model import all_records
    from openfelt.opponents.models.observed import observed_hands
    from openfelt.opponents.responses.confidence import HALF, confidence, observations

    if not arguments.confidence:
        return lambda p: p
    with busy(f"reading {arguments.hands}"):
        hands = observed_hands(all_records(arguments.hands), arguments.player, tree.game)
        seen = observations(tree, hands)
    return lambda p: confidence(arguments.confidence, seen, p, arguments.s or HALF)


def save_response(
    policy: Policy, arguments: argparse.Namespace, how: str, below: str = "", folder: Path | None = None
) -> Path:
    """Write the policy where bots, `felt exploit` and `felt value` find it; returns the folder."""
    from openfelt.policy.files import POLICY, save_policy

    made_by: dict[str, Any] = {"response": how, "model": arguments.model, "seed": arguments.seed}
    folder = folder or arguments.out or free(policy.tree.game)
    save_policy(policy, folder / below / POLICY, made_by=made_by)
    return folder / below


def free(game: str) -> Path:
    """A new folder for it."""
    from openfelt.solve.run_folder import free_folder

    return free_folder(Path("runs"), game, "response")
