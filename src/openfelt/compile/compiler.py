"""`compile_game`: from rules to a tree, remembered in memory and, where it is large, on disk."""

from __future__ import annotations

import glob
import hashlib
import inspect
import re
import shutil
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

from openfelt.base.errors import FileError
from openfelt.base.files import MANIFEST, load_folder, save_folder
from openfelt.base.folders import cache_folder
from openfelt.compile import game_tree, state_graph
from openfelt.compile.game_tree import BettingArrays, GameTree, RowArrays, TreeArrays, unfold
from openfelt.compile.state_graph import explore
from openfelt.rules.game import AnyGame, Game
from openfelt.rules.registry import GAMES, load_game

PARTS: dict[str, Any] = {"nodes": TreeArrays, "rows": RowArrays, "betting": BettingArrays}  # of a GameTree
LARGE = 1_000_000  # nodes; trees above this are kept on disk


def compile_game(game: AnyGame, *, cache: Path | None = None) -> GameTree:
    """The tree of a game. Large trees are kept in `cache` (by default the user's cache folder)."""
    return _compile(load_game(game), cache or cache_folder())


@lru_cache(maxsize=4)
def _compile(game: Game, cache: Path) -> GameTree:
    # Only for our own games do we know all the sources that their trees depend on.
    folder = cache / "trees" / _cache_name(game) if type(game) in GAMES.values() else None
    if folder and (folder / MANIFEST).exists():
        try:
            return load_tree(folder, game.name)
        except FileError as error:
            warnings.warn(f"{error} It is built again.", stacklevel=3)
            shutil.rmtree(folder, ignore_errors=True)
    tree = unfold(explore(game), game.name, game.unit)
    if folder and tree.num_nodes > LARGE:
        try:
            _remove_outdated(folder)
            save_tree(folder, tree)
        except (FileError, OSError) as error:
            warnings.warn(f"The compiled {game.name} is not kept: {error}", stacklevel=3)
    return tree


def _cache_name(game: Game) -> str:
    """A readable word, a checksum of the name, and one of the sources that the tree depends on."""
    digest = hashlib.sha256()
    for module in (*map(inspect.getmodule, type(game).__mro__[:-2]), state_graph, game_tree):
        if module is not None and module.__name__ not in ("abc", "builtins"):
            digest.update(inspect.getsource(module).encode())
    word = re.sub(r"[^0-9a-z]+", "-", game.name.lower()).strip("-")
    return f"{word}-{hashlib.sha256(game.name.encode()).hexdigest()[:8]}-{digest.hexdigest()[:12]}"


def _remove_outdated(folder: Path) -> None:
    """Remove the trees that were made of the same game by earlier sources."""
    stem = folder.name.rpartition("-")[0]
    for other in folder.parent.glob(f"{glob.escape(stem)}-*"):
        if re.fullmatch("[0-9a-f]{12}", other.name.removeprefix(f"{stem}-")):
            shutil.rmtree(other, ignore_errors=True)


def save_tree(folder: Path, tree: GameTree) -> None:
    """Write a tree as a folder of arrays."""
    arrays = {
        f"{part}.{field}": array for part in PARTS for field, array in getattr(tree, part)._asdict().items()
    }
    facts = {"game": tree.game, "players": tree.players, "unit": tree.unit, "labels": tree.labels}
    save_folder(folder, "tree", arrays, facts)


def load_tree(folder: Path, game: str) -> GameTree:
    """Read the tree of that game, memory-mapped."""
    arrays, facts = load_folder(folder, "tree")
    if facts.get("game") != game:
        raise FileError(f"{folder} holds the tree of {facts.get('game')}, not of {game}.")
    try:
        parts = {
            part: kind(*(arrays[f"{part}.{field}"] for field in kind._fields)) for part, kind in PARTS.items()
        }
        return GameTree(
            facts["game"], facts["players"], facts["unit"], **parts, labels=tuple(facts["labels"])
        )
    except KeyError as error:
        raise FileError(f"{folder} lacks {error}, so it is not a complete tree.") from None
