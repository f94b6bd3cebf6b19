"""The policy of the player whom a counter-strategy is made for, from whatever is known of him."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from openfelt.core.errors import FeltError, FileError
from openfelt.core.files import MANIFEST
from openfelt.games.compile.betting_tree import BettingTree
from openfelt.games.compile.compiler import compile_any
from openfelt.games.game import AnyGame, Game
from openfelt.games.holdem import Holdem
from openfelt.games.registry import load_game
from openfelt.opponents.models.files import FOLDER, load_model
from openfelt.opponents.responses.bucketed import DEALS, bucketed
from openfelt.policy.files import DEFAULT
from openfelt.policy.policy import Policy, require_game
from openfelt.policy.rules import RULES, rule_policy
from openfelt.solve.run_folder import open_policy


def fixed_policy(
    source: str | Path | Policy,
    game: AnyGame,
    *,
    deals: int = DEALS,
    seed: int = 0,
    progress: Callable[[float], object] = lambda _: None,
) -> Policy:
    """The policy of an opponent, for which counter-strategies are computed.

    Parameters
    ----------
    source : str, Path or Policy
        A rule such as "always-raise", the folder of a run, policy or model, or a policy.
    game : Game, str or Path
        A two-player game.
    deals : int
        Hold'em: a model becomes a policy of the game's buckets by averaging over this many sampled deals.
    seed : int
        Of the sampled deals.
    progress : callable
        Called with the share of all work done since its last call.

    Returns
    -------
    Policy

    Examples
    --------
    >>> felt.fixed_policy("always-raise", "leduc").at(0, "J")
    {'check': 0.0, 'bet': 1.0}
    """
    rules = load_game(game)
    require_two_players(rules)
    if isinstance(source, str | Path):
        return _by_name(str(source), rules, deals, seed, progress)
    require_game(source, compile_any(rules))
    return source


def _by_name(name: str, rules: Game, deals: int, seed: int, progress: Callable[[float], object]) -> Policy:
    if name in RULES:
        return rule_policy(rules, name)
    folder = Path(name)
    if holds_model(folder):
        model = load_model(folder, rules)
        tree = compile_any(rules)
        if isinstance(tree, BettingTree):
            return bucketed(model, tree, deals=deals, seed=seed, progress=progress)
        return model.policy()
    if not folder.exists() and name != DEFAULT:
        raise FileError(f"There is no model, run or policy at {name}.")
    policy = open_policy(name)
    if isinstance(rules, Holdem) and policy.tree.game != rules.name:  # before a minute of making tables
        raise FeltError(f"{name} holds a policy of {policy.tree.game}, not of {rules.name}.")
    require_game(policy, compile_any(rules))
    return policy


def refuse_others(name: str, rules: Game) -> None:
    """Refuse a folder of another game before the tables of this one are made."""
    if holds_model(Path(name)):
        load_model(Path(name), rules)
    elif (name == DEFAULT or Path(name).exists()) and open_policy(name).tree.game != rules.name:
        raise FeltError(f"{name} holds a policy of {open_policy(name).tree.game}, not of {rules.name}.")


def holds_model(folder: Path) -> bool:
    """Whether a folder holds a model, and not a policy."""
    try:
        return f'"openfelt {FOLDER}"' in (folder / MANIFEST).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False


def require_two_players(rules: Game) -> None:
    """Refuse games for more."""
    if rules.players != 2:
        raise FeltError(f"Counter-strategies are for two players; {rules.name} has {rules.players}.")
