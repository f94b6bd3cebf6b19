"""From a name to a player of exact values: a rule, a bot that plays by a policy, or a policy's folder; or a
mixture of these.
"""

from __future__ import annotations

from pathlib import Path

from openfelt.bots.exact_player import GOES_BY, bot_player
from openfelt.bots.policy_bot import HoldemBot
from openfelt.bots.registry import BOTS, load_bot
from openfelt.core.errors import FeltError
from openfelt.games.registry import load_game
from openfelt.measure.holdem.player import Anyone, Player, mixed, policy_player, rule_player
from openfelt.policy.files import AnyPolicy
from openfelt.policy.holdem import RULES, HoldemPolicy
from openfelt.solve.run_folder import open_policy

AND = " + "  # between the parts of a mixture


def is_mixture(name: str) -> bool:
    """Whether several are named."""
    return AND in name and not Path(name).exists()


def anyone_of(name: str, *, greedy: bool = False) -> Anyone:
    """A player, or a mixture: "3 * default + always-raise" plays the first in three hands of four."""
    if not is_mixture(name):
        return player_of(name, greedy=greedy)
    parts, weights = [], []
    for term in name.split(AND):
        weight, times, who = (word.strip() for word in term.rpartition("*"))
        try:
            weights.append(float(weight) if times else 1.0)
        except ValueError:
            who = ""
        if not who:
            raise FeltError(
                f"A mixture is written like '3 * default + always-raise'; '{term.strip()}' is no part of one."
            )
        parts.append(player_of(who, greedy=greedy))
    return mixed(parts, weights)


def player_of(name: str, *, greedy: bool = False) -> Player:
    """A rule, a bot that plays by a policy or by rules, or the folder of a run or policy."""
    if name in RULES:
        return rule_player(name)
    if name in GOES_BY:
        return bot_player(name)
    policy = policy_of(name, greedy=greedy)
    if not isinstance(policy, HoldemPolicy):
        raise FeltError(f"{name} plays {policy.tree.game}, not hold'em.")
    return policy_player(policy, name)


def policy_of(name: str, *, greedy: bool = False) -> AnyPolicy:
    """That of a bot of hold'em which plays by one, or of a folder."""
    if name not in BOTS:
        return open_policy(name, greedy=greedy)
    bot = load_bot(name, load_game("holdem"))
    if not isinstance(bot, HoldemBot):
        raise FeltError(f"{name} plays by no policy; see `felt match`.")
    return bot.policy.greedy() if greedy else bot.policy
