"""From a name to a policy that can be measured: a folder, a bot that plays by a policy, or a mixture."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from openfelt.bots.bot import Bot
from openfelt.bots.formula.strategy import STRATEGY_FEATURES, formula_player
from openfelt.bots.registry import BOTS, load_bot, own_file, own_object
from openfelt.core.errors import FeltError
from openfelt.games.compile.compiler import compile_any
from openfelt.games.game import AnyGame, Game
from openfelt.games.holdem import Holdem
from openfelt.games.registry import load_game
from openfelt.measure.holdem.player import Player, policy_player, rule_player
from openfelt.measure.mixture import mixture
from openfelt.policy.flop import FlopPolicy
from openfelt.policy.holdem import require_holdem_policy
from openfelt.policy.network import NetworkPolicy
from openfelt.policy.policy import Policy
from openfelt.policy.rules import RULES, rule_policy
from openfelt.solve.run_folder import open_policy

if TYPE_CHECKING:
    from openfelt.measure.exploitability import Measurable

PLUS = " + "  # between the parts of a mixture


def load_measurable(name: str, game: AnyGame | None = None, *, greedy: bool = False) -> Measurable:
    """Load something that `exploitability` and `value` can measure, by its name.

    Parameters
    ----------
    name : str
        The folder of a run or policy, a hold'em bot that has a strategy to measure (a policy, a rule, "ace1"
        or "chen"), "FILE.py:NAME", a function of yours from the game to a policy, or a mixture such as "3 *
        default + always-raise", which plays the first in three hands of four.
    game : Game, str or Path, optional
        For a Gambit file that has moved; that of FILE.py:NAME, by default hold'em.
    greedy : bool
        Take the pure policy of the likeliest actions.

    Returns
    -------
    Policy
        Or a strategy of two-player hold'em.

    Examples
    --------
    >>> felt.save_policy(felt.uniform_policy("kuhn"), "uniform")
    >>> felt.save_policy(felt.uniform_policy("kuhn").greedy(), "passes")
    >>> felt.load_measurable("3 * uniform + passes").at(0, "K")
    {'pass': 0.625, 'bet': 0.375}
    """
    if PLUS not in name or Path(name).exists():
        return _load_part(name, game, greedy=greedy)
    parts, weights = [], []
    for term in name.split(PLUS):
        weight, times, part = (word.strip() for word in term.rpartition("*"))
        try:
            weights.append(float(weight) if times else 1.0)
        except ValueError:
            part = ""
        if not part:
            raise FeltError(
                f"'{term.strip()}' is not a part of a mixture; write one like '3 * default + always-raise'."
            )
        parts.append(_load_part(part, game, greedy=greedy))
    return mixture(parts, weights)


def load_player(name: str, *, greedy: bool = False) -> Player:
    """A strategy of hold'em that is not a mixture, as the exact engine reads it."""
    if name in RULES and not Path(name).exists():
        return rule_player(name)
    if name in STRATEGY_FEATURES and not Path(name).exists():
        return formula_player(name)
    return policy_player(require_holdem_policy(load_bot_policy(name, greedy=greedy)), name)


def load_policies(*names: str, greedy: bool = False) -> list[Policy]:
    """Policies of one game; a rule plays the game of the other policies, or hold'em if all are rules."""
    loaded = [None if name in RULES else load_bot_policy(name, greedy=greedy) for name in names]
    tree = next((policy.tree for policy in loaded if policy), None) or compile_any("holdem")
    return [policy or rule_policy(tree, name) for name, policy in zip(names, loaded, strict=True)]


def load_bot_policy(name: str, game: AnyGame | None = None, *, greedy: bool = False) -> Policy:
    """The policy of a hold'em bot that plays by one, or that of a folder."""
    if name not in BOTS or Path(name).exists():
        return open_policy(name, game, greedy=greedy)
    policy = load_bot(name, load_game("holdem")).fixed_policy
    if policy is None:
        raise FeltError(f"{name} has no tabular policy; see `felt match`.")
    return policy.greedy() if greedy else policy


def _load_part(name: str, game: AnyGame | None, *, greedy: bool) -> Measurable:
    if own := own_file(name):
        return _own_policy(*own, load_game("holdem" if game is None else game), greedy=greedy)
    if name in (*RULES, *STRATEGY_FEATURES) and not Path(name).exists():
        if game is not None and name in RULES and not isinstance(load_game(game), Holdem):
            return rule_policy(game, name)
        return load_player(name)
    policy = load_bot_policy(name, game, greedy=greedy)
    if isinstance(policy, NetworkPolicy):
        return replace(policy, name=name)
    if isinstance(policy, FlopPolicy):
        return policy
    return policy if policy.tree.is_enumerated else policy_player(require_holdem_policy(policy), name)


def _own_policy(path: Path, name: str, game: Game, *, greedy: bool) -> Measurable:
    """The policy that a function in a user's file makes, or that of its bot."""
    made = own_object(path, name, game)
    policy = made.fixed_policy if isinstance(made, Bot) else made
    if policy is None:
        raise FeltError(f"{name} of {path} has no policy that could be measured; see `felt match`.")
    return policy.greedy() if greedy else policy
