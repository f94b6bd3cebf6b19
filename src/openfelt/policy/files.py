"""Creating, saving and loading policies of any game."""

from __future__ import annotations

from functools import singledispatch
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openfelt.core.errors import FeltError, FileError
from openfelt.core.files import MANIFEST, load_folder, read_manifest, save_folder
from openfelt.core.jit import Floats
from openfelt.games.compile.betting_tree import BettingTree, betting_only
from openfelt.games.compile.compiler import compile_any, compile_infosets
from openfelt.games.compile.flop_tree import FlopTree
from openfelt.games.compile.infoset_tree import InfosetTree
from openfelt.games.compile.tree import Tree
from openfelt.games.features.holdem import HoldemFeatures
from openfelt.games.flop_holdem import FlopHoldem
from openfelt.games.game import AnyGame, Game
from openfelt.games.holdem import Holdem, require_holdem
from openfelt.games.registry import load_game
from openfelt.policy import flop, holdem, tabular
from openfelt.policy.flop import FlopPolicy
from openfelt.policy.holdem import HoldemPolicy
from openfelt.policy.network import NetworkPolicy
from openfelt.policy.packing import PACKED
from openfelt.policy.perceptron import FIRST as NETWORK, saved_perceptron
from openfelt.policy.policy import Policy
from openfelt.policy.tabular import TabularPolicy

POLICY = "policy"  # the folder of a run's policy
DEFAULT = "default"  # the name of the pretrained hold'em policy
PRETRAINED = Path(__file__).parent / "pretrained"


@singledispatch
def policy_from_weights(tree: Tree, weights: NDArray[Any]) -> Policy:
    """The policy in proportion to weights per slot; uniform at infosets without weight."""
    raise NotImplementedError(type(tree))


@policy_from_weights.register
def _(tree: InfosetTree, weights: NDArray[Any]) -> Policy:
    return TabularPolicy(tree, tabular.normalised(tree, weights))


@policy_from_weights.register
def _(tree: BettingTree, weights: NDArray[Any]) -> Policy:
    return holdem.quantised(tree, weights)


policy_from_weights.register(FlopTree, flop.quantised)


@singledispatch
def policy_from_values(tree: Tree, sums: Floats, visits: Floats) -> Policy:
    """The policy of the highest mean value among visited actions; uniform at infosets without visits."""
    raise NotImplementedError(type(tree))


policy_from_values.register(InfosetTree, tabular.highest_values)
policy_from_values.register(BettingTree, holdem.highest_values)


@singledispatch
def _policy_from_arrays(tree: Tree, arrays: dict[str, NDArray[Any]]) -> Policy:
    """The policy that was saved as these arrays."""
    raise NotImplementedError(type(tree))


@_policy_from_arrays.register
def _(tree: InfosetTree, arrays: dict[str, NDArray[Any]]) -> Policy:
    return TabularPolicy(tree, np.asarray(arrays["probabilities"], np.float64))


@_policy_from_arrays.register
def _(tree: BettingTree, arrays: dict[str, NDArray[Any]]) -> Policy:
    if NETWORK in arrays:
        rules = Holdem(tree.players, bets=tree.most_bets)
        layout = HoldemFeatures(rules)
        return NetworkPolicy(rules, saved_perceptron(arrays, layout.size, len(layout.actions)))
    return (
        holdem.unpacked(tree, arrays[PACKED]) if PACKED in arrays else HoldemPolicy(tree, arrays["weights"])
    )


@_policy_from_arrays.register
def _(tree: FlopTree, arrays: dict[str, NDArray[Any]]) -> Policy:
    return FlopPolicy(tree, np.asarray(arrays.get("weights", np.zeros(0))))


def save_policy(policy: Policy, folder: str | Path, **more_facts: Any) -> None:
    """Save a policy as a folder of arrays with a manifest.

    Parameters
    ----------
    policy : Policy
        The profile.
    folder : str or Path
        Created if it does not exist; a policy in it is replaced.
    **more_facts
        Further entries of the manifest.

    Examples
    --------
    >>> felt.save_policy(felt.uniform_policy("kuhn"), folder / "uniform")
    >>> felt.load_policy(folder / "uniform")
    TabularPolicy(kuhn, 12 infosets)
    """
    facts = {"game": policy.game, "fingerprint": policy.tree.fingerprint, **more_facts}
    save_folder(Path(folder), "policy", dict(policy.arrays()), facts)


def game_of(folder: str | Path) -> Game | None:
    """The game of a saved policy or run, without loading it; None if the folder holds neither."""
    folder = _policy_folder(folder)
    if not (folder / MANIFEST).exists():
        return None
    return load_game(str(read_manifest(folder, "policy").get("game")))


def load_policy(folder: str | Path, game: AnyGame | None = None) -> Policy:
    """Load a saved policy, or the policy of a run.

    Parameters
    ----------
    folder : str or Path
        A folder that `save_policy` or `felt train` wrote, or "default", the pretrained hold'em policy.
    game : Game, str or Path, optional
        For a game of your own, or a Gambit file that has moved since.

    Returns
    -------
    Policy

    Examples
    --------
    >>> felt.load_policy("default").game
    "holdem(buckets='ochs:169/5000/5000/5000')"
    """
    name, folder = str(folder), _policy_folder(folder)
    if not folder.exists():
        raise FileError(f"There is no run or policy at {folder}.")
    arrays, facts = load_folder(folder, "policy")
    if not {"probabilities", "weights", PACKED, NETWORK} & arrays.keys() or "game" not in facts:
        raise FileError(f"{folder} is not a complete policy.")
    rules = load_game(str(facts["game"]) if game is None else game)
    tree = _tree_of(rules, arrays, str(facts["game"]), name)
    if facts.get("fingerprint") != tree.fingerprint:
        raise FileError(f"{folder} holds a policy of {facts['game']}, which does not match {tree.game}.")
    try:
        return _policy_from_arrays(tree, arrays)
    except FeltError as error:
        raise FileError(f"{folder} is damaged: {error}") from None


def _policy_folder(folder: str | Path) -> Path:
    if str(folder) == DEFAULT and not Path(folder).exists():
        return PRETRAINED / DEFAULT
    folder = Path(folder)
    return folder / POLICY if (folder / POLICY / MANIFEST).exists() else folder


def _tree_of(rules: Game, arrays: dict[str, NDArray[Any]], game: str, folder: str) -> Tree:
    """The tree that a saved policy is for; that of hold'em with the policy's own abstraction."""
    saved = rules if rules.is_enumerable else load_game(game)
    if saved.unabstracted != rules.unabstracted or rules.is_enumerable != ("probabilities" in arrays):
        raise FileError(f"{folder} holds a policy of {game}, which does not match {rules.name}.")
    if rules.is_enumerable:
        return compile_infosets(rules)
    if isinstance(saved, FlopHoldem):
        return compile_any(saved)
    game_of_policy = require_holdem(saved)
    return betting_only(game_of_policy) if NETWORK in arrays else holdem.tree_of(game_of_policy, arrays)
