"""From rules to a tree, cached in memory and, if it is large, on disk."""

from __future__ import annotations

import inspect
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openfelt.core.disk_cache import FolderContents, cache_name, load_or_build
from openfelt.core.errors import FileError, GameError
from openfelt.core.user_folders import cache_folder
from openfelt.games.bluff import Bluff
from openfelt.games.compile import (
    bluff_tree,
    factored_tree,
    game_tree,
    phantom_groups,
    phantom_tree,
    phantom_tries,
    sequence_form,
    state_graph as states,
)
from openfelt.games.compile.betting_tree import compile_holdem
from openfelt.games.compile.factored_tree import FactoredTree, factored_arrays, factored_from
from openfelt.games.compile.flop_tree import flop_tree
from openfelt.games.compile.game_tree import BettingArrays, GameTree, RowArrays, TreeArrays, unfold
from openfelt.games.compile.infoset_tree import InfosetTree
from openfelt.games.compile.state_graph import StateGraph, explore, graph_arrays, graph_from
from openfelt.games.compile.tree import Tree, too_many_histories
from openfelt.games.flop_holdem import FlopHoldem
from openfelt.games.game import AnyGame, Game
from openfelt.games.holdem import Holdem
from openfelt.games.open_spiel import OpenSpielGame
from openfelt.games.phantom_board import PhantomBoard
from openfelt.games.registry import GAMES, load_game

PARTS: dict[str, Any] = {"nodes": TreeArrays, "rows": RowArrays, "betting": BettingArrays}  # of a GameTree
LARGE_GRAPH = 100_000  # edges; larger state graphs are cached on disk too
LARGE = 1_000_000  # histories, or infosets where histories are not listed; larger trees are cached on disk
MOST_STORED = 4e9  # bytes; a tree that takes more is compiled again, which leaves the user's disk alone
FACTORED: dict[Any, tuple[Any, ...]] = {  # how they are compiled, and the modules that do it
    Bluff: (bluff_tree.compile_bluff, bluff_tree),
    PhantomBoard: (phantom_tree.compile_phantom, phantom_tree, phantom_groups, phantom_tries),
}


def compile_game(game: AnyGame | Tree, *, cache: Path | None = None) -> GameTree:
    """Compile an enumerated game to the tree of its histories.

    Parameters
    ----------
    game : Game, str or Path
        A game, its name or the path of a Gambit .efg file; a tree is returned as it is.
    cache : Path, optional
        Where trees of over a million histories are cached; by default the user's cache folder.

    Returns
    -------
    GameTree

    Examples
    --------
    >>> felt.compile_game("kuhn").num_rows
    12
    """
    if isinstance(game, GameTree):
        return game
    rules = load_game(game.game if isinstance(game, Tree) else game)
    require_enumerable(rules)
    if rules.is_factored:
        raise too_many_histories(rules.name)
    return _compile(rules, cache or cache_folder())


def compile_infosets(game: AnyGame | Tree, *, cache: Path | None = None) -> InfosetTree:
    """Compile an enumerated game for methods that need its infosets and its sequence form only.

    As `compile_game`, but a game with too many histories to list is compiled without them.
    """
    if isinstance(game, InfosetTree):
        return game
    rules = load_game(game.game if isinstance(game, Tree) else game)
    require_enumerable(rules)
    return (_compile_factored if rules.is_factored else _compile)(rules, cache or cache_folder())


def require_enumerable(rules: Game) -> None:
    """Raise if a game has too many histories to enumerate."""
    if isinstance(rules, FlopHoldem):
        raise too_many_histories(rules.name)
    if not rules.is_enumerable:
        raise GameError(
            f"{rules.name} has about 1e18 histories, too many to enumerate. Use a solver that samples, such "
            "as smooth-uct or external-mccfr."
        )


def compile_any(game: AnyGame | Tree) -> Tree:
    """Compile a game: hold'em and Flop Hold'em to their trees, any other game to that of its infosets."""
    if isinstance(game, Tree):
        return game
    rules = load_game(game)
    if isinstance(rules, FlopHoldem):
        return flop_tree()
    return compile_holdem(rules) if isinstance(rules, Holdem) else compile_infosets(rules)


@lru_cache(maxsize=2)
def _compile_factored(game: Game, cache: Path) -> FactoredTree:
    if type(game) not in GAMES.values():  # a subclass may have other rules
        raise too_many_histories(game.name)
    compiler, *how = next(how for kind, how in FACTORED.items() if isinstance(game, kind))
    sources = [*_rule_sources(game), factored_tree, sequence_form, *how]
    return load_or_build(
        cache / "trees" / cache_name(game.name, sources),
        "factored tree",
        f"The compiled {game.name}",
        lambda: factored_arrays(compiler(game)),
        lambda arrays, facts: factored_from(arrays, facts, game.name),
        is_worth_storing=_is_worth_storing,
    )


@lru_cache(maxsize=2)
def state_graph(game: str) -> StateGraph:
    """The states of a game of the registry, which may have too many histories to list."""
    rules = load_game(game)
    return load_or_build(
        cache_folder() / "graphs" / cache_name(rules.name, [*_rule_sources(rules), states]),
        "state graph",
        f"The states of {rules.name}",
        lambda: graph_arrays(explore(rules, listed=False), rules.name),
        lambda arrays, facts: graph_from(arrays, facts, rules.name),
        is_worth_storing=lambda arrays: len(arrays["target"]) > LARGE_GRAPH,
    )


@lru_cache(maxsize=8)
def _compile(game: Game, cache: Path) -> GameTree:
    # The sources that a tree depends on are known for the games of the registry only.
    if type(game) not in GAMES.values():
        tree = unfold(explore(game), game.name, game.unit)
        if isinstance(game, OpenSpielGame):
            _require_recall(tree)
        return tree
    return load_or_build(
        cache / "trees" / cache_name(game.name, _sources(game)),
        "tree",
        f"The compiled {game.name}",
        lambda: tree_arrays(unfold(explore(game), game.name, game.unit)),
        lambda arrays, facts: tree_from(arrays, facts, game.name),
        is_worth_storing=_is_large,
    )


def _require_recall(tree: GameTree) -> None:
    """Raise if an information state of OpenSpiel follows on different ones of the same player."""
    last = tree.rows.label[tree.rows.information].astype(np.int64)
    player = np.repeat(np.arange(tree.players), np.diff(tree.rows.first_row))
    if len(np.unique(last * tree.players + player)) < tree.num_rows:
        raise GameError(f"{tree.game} has imperfect recall, which OpenFelt does not support.")


def _is_worth_storing(arrays: dict[str, NDArray[Any]]) -> bool:
    size = sum(array.nbytes for array in arrays.values())
    return len(arrays["row_label"]) > LARGE and size <= MOST_STORED


def _is_large(arrays: dict[str, NDArray[Any]]) -> bool:
    return len(arrays["nodes.player"]) > LARGE


def _sources(game: Game) -> list[ModuleType]:
    return [*_rule_sources(game), states, game_tree]


def _rule_sources(game: Game) -> list[ModuleType]:
    modules = map(inspect.getmodule, type(game).__mro__[:-2])
    return [module for module in modules if module and module.__name__ not in ("abc", "builtins")]


def tree_arrays(tree: GameTree) -> FolderContents:
    """A tree as the arrays and facts of a folder."""
    arrays = {
        f"{part}.{field}": array for part in PARTS for field, array in getattr(tree, part)._asdict().items()
    }
    return arrays, {"game": tree.game, "players": tree.players, "unit": tree.unit, "labels": tree.labels}


def tree_from(arrays: dict[str, NDArray[Any]], facts: dict[str, Any], game: str) -> GameTree:
    """The tree from its arrays and facts; it must be that of `game`."""
    if facts.get("game") != game:
        raise FileError(f"The cached tree is that of {facts.get('game')}, not of {game}.")
    try:
        parts = {
            part: kind(*(arrays[f"{part}.{field}"] for field in kind._fields)) for part, kind in PARTS.items()
        }
        return GameTree(
            facts["game"], facts["players"], facts["unit"], **parts, labels=tuple(facts["labels"])
        )
    except KeyError as error:
        raise FileError(f"The cached tree of {game} is incomplete: {error} is missing.") from None
