"""The fixed policy that a counter-strategy is computed against, from a model, run, policy or rule."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from openfelt.core.errors import FeltError, FileError
from openfelt.core.files import MANIFEST
from openfelt.games.compile.compiler import compile_any
from openfelt.games.game import AnyGame, Game
from openfelt.games.registry import load_game
from openfelt.opponents.models.files import FOLDER, load_model
from openfelt.opponents.responses.model_policy import DEALS, model_policy
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
        return _load(str(source), rules, deals, seed, progress)
    require_game(source, compile_any(rules))
    return source


def _load(name: str, rules: Game, deals: int, seed: int, progress: Callable[[float], object]) -> Policy:
    if name in RULES:
        return rule_policy(rules, name)
    folder = Path(name)
    if holds_model(folder):
        model = load_model(folder, rules)
        return model_policy(compile_any(rules), model, deals=deals, seed=seed, progress=progress)
    if not folder.exists() and name != DEFAULT:
        raise FileError(f"There is no model, run or policy at {name}.")
    policy = open_policy(name)
    if rules.abstraction:  # before a minute of building tables
        _require_abstraction(name, policy, rules)
    require_game(policy, compile_any(rules))
    return policy


def require_same_game(name: str, rules: Game) -> None:
    """Raise for the folder of another game or abstraction, before the tables of this one are built."""
    if holds_model(Path(name)):
        load_model(Path(name), rules)
    elif name == DEFAULT or Path(name).exists():
        _require_abstraction(name, open_policy(name), rules)


def _require_abstraction(name: str, policy: Policy, rules: Game) -> None:
    if policy.game != rules.name:
        raise FeltError(f"{name} holds a policy of {policy.game}, not of {rules.name}.")


def holds_model(folder: Path) -> bool:
    """Whether a folder holds a model, and not a policy."""
    try:
        return f'"openfelt {FOLDER}"' in (folder / MANIFEST).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False


def require_two_players(rules: Game) -> None:
    """Raise for games with more players."""
    if rules.players != 2:
        raise FeltError(f"Counter-strategies are for two players; {rules.name} has {rules.players}.")
