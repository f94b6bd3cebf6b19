"""What holds for policies of enumerated games and of hold'em alike: making, saving and loading them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from openfelt.core.errors import FeltError, FileError
from openfelt.core.files import MANIFEST, load_folder, read_manifest, save_folder
from openfelt.core.jit import Floats
from openfelt.games.compile.betting_tree import BettingTree
from openfelt.games.compile.compiler import Tree, compile_game
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.game import AnyGame, Game
from openfelt.games.holdem import Holdem
from openfelt.games.registry import load_game
from openfelt.policy import holdem as holdem_policy
from openfelt.policy.holdem import RULES, HoldemPolicy
from openfelt.policy.tabular import Policy, normalised

AnyPolicy: TypeAlias = Policy | HoldemPolicy
POLICY = "policy"  # where a run keeps it
SHIPPED = "default"  # the name of the hold'em bot that comes with the package


def policy_by_weights(tree: Tree, weights: NDArray[Any]) -> AnyPolicy:
    """The policy that plays in proportion to weights per slot; uniform in a row without weight."""
    if isinstance(tree, BettingTree):
        return holdem_policy.quantised(tree, weights)
    return Policy(tree, normalised(tree, weights))


def policy_by_values(tree: Tree, sums: Floats, visits: Floats) -> AnyPolicy:
    """The policy of the highest means, of actions that were visited; uniform in a row without visits."""
    if isinstance(tree, BettingTree):
        return holdem_policy.of_highest_values(tree, sums, visits)
    first_slot = tree.rows.first_slot
    value = np.divide(sums, visits, out=np.full(tree.num_slots, -np.inf), where=visits > 0)
    row = np.repeat(np.arange(tree.num_rows), np.diff(first_slot))
    by_value = np.lexsort((np.arange(len(value)), -value, row))  # of equal ones the first is first
    best = by_value[first_slot[:-1]]
    table = np.zeros(tree.num_slots)
    table[best] = visits[best] > 0
    return Policy(tree, normalised(tree, table))


def rule_table(tree: GameTree, rule: str) -> Floats:
    """[slots] probabilities of a player of an enumerated poker game who does not look at his card."""
    table = np.empty(tree.num_slots)
    for row in range(tree.num_rows):
        slots = tree.slots(row)
        passive = max(0, int(tree.betting.passive[row]))
        table[slots] = RULES[rule](slots.stop - slots.start, passive)
    return normalised(tree, table)


def enumerated(policy: AnyPolicy) -> Policy:
    """Refuse a policy of a game that is too large for what walks all of it."""
    if isinstance(policy, HoldemPolicy):
        raise FeltError(f"{policy.tree.game} is too large to be measured exactly; see `felt value`.")
    return policy


def require_game(policy: AnyPolicy, tree: Tree) -> None:
    """Refuse a policy of another game."""
    if policy.tree.fingerprint != tree.fingerprint:
        raise FeltError(f"The policy was made for {policy.tree.game}, not for {tree.game}.")


def save_policy(policy: AnyPolicy, folder: str | Path, **more_facts: Any) -> None:
    """Write a policy as a folder: `manifest.json` beside the table."""
    facts = {"game": policy.tree.game, "fingerprint": policy.tree.fingerprint, **more_facts}
    if isinstance(policy, HoldemPolicy):
        arrays = holdem_policy.to_arrays(policy)
    else:
        arrays = {"probabilities": policy.probabilities}
    save_folder(Path(folder), "policy", arrays, facts)


def game_of(folder: str | Path) -> Game | None:
    """The game of a saved policy or run, without loading it; None if there is none."""
    folder = Path(folder)
    folder = folder / POLICY if (folder / POLICY / MANIFEST).exists() else folder
    if not (folder / MANIFEST).exists():
        return None
    return load_game(str(read_manifest(folder, "policy").get("game")))


def load_policy(folder: str | Path, game: AnyGame | None = None) -> AnyPolicy:
    """Read a saved policy, or that of a run; `game` is for one of your own, or a file that was moved."""
    shipped = str(folder) == SHIPPED and not Path(folder).exists()
    told = str(folder)
    folder = Path(__file__).parent / "pretrained" / SHIPPED if shipped else Path(folder)
    if not folder.exists():
        raise FileError(f"There is no run or policy at {folder}.")
    if (folder / POLICY / MANIFEST).exists():
        folder /= POLICY
    arrays, facts = load_folder(folder, "policy")
    if not {"probabilities", "weights"} & arrays.keys() or "game" not in facts:
        raise FileError(f"{folder} is not a complete policy.")
    rules = load_game(str(facts["game"]) if game is None else game)
    if isinstance(rules, Holdem) != ("weights" in arrays):
        raise FileError(f"{told} holds a policy of {facts['game']}, which does not fit {rules.name}.")
    if isinstance(rules, Holdem):
        saved = load_game(str(facts["game"]))  # the same game, whatever the buckets
        assert isinstance(saved, Holdem)
        if (saved.players, saved.bets) != (rules.players, rules.bets):
            raise FileError(f"{told} holds a policy of {saved.name}, which does not fit {rules.name}.")
        tree: Tree = holdem_policy.tree_of(saved, arrays)
    else:
        tree = compile_game(rules)
    if facts.get("fingerprint") != tree.fingerprint:
        raise FileError(f"{folder} holds a policy of {facts['game']}, which does not fit {tree.game}.")
    try:
        if isinstance(tree, BettingTree):
            return HoldemPolicy(tree, arrays["weights"])
        return Policy(tree, np.asarray(arrays["probabilities"], np.float64))
    except FeltError as error:
        raise FileError(f"{folder} is damaged: {error}") from None
