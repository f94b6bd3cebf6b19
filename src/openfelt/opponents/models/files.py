"""Models in folders: what kinds there are, how they are saved and found again."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.core.errors import FeltError, FileError, unknown
from openfelt.core.files import load_folder, save_folder
from openfelt.games.game import AnyGame
from openfelt.opponents.models.frequencies import FrequencyModel
from openfelt.opponents.models.ground import ground_of
from openfelt.opponents.models.model import Before, OpponentModel
from openfelt.opponents.models.public_tree import Places
from openfelt.opponents.models.seen import Decisions

# By kind: the module of this folder, and its class.
KINDS = {
    "tally": ("tally", "TallyModel"),
    "relational": ("relational.model", "RelationalModel"),
    "trees": ("trees", "TreesModel"),
    "frequencies": ("frequencies", "FrequencyModel"),
}
FOLDER = "model"
COLUMNS = tuple(name for name in Decisions._fields if name != "places")
LEARNED = "learned_"  # before the names of arrays that are the decisions
HABITS = "habits"  # the counts of FrequencyModel of the same hands: what `score` sets it beside


def new_model(kind: str, game: AnyGame) -> OpponentModel:
    """A model that has seen nothing yet."""
    if kind not in KINDS:
        raise FeltError(unknown("kind of model", kind, KINDS))
    module, name = KINDS[kind]
    made: OpponentModel = getattr(importlib.import_module(f"openfelt.opponents.models.{module}"), name)(game)
    return made


def save_model(model: OpponentModel, folder: Path, *, player: str = "") -> None:
    """Write what it has learned, and what it needs to go on learning: his decisions, not the hands."""
    arrays, facts = model.to_save()
    about = {
        "kind": model.kind,
        "game": model.ground.game.name,
        "player": player,
        "learned": model.before.hands + len(model.hands),
    }
    more = {HABITS: frequencies_of(model).counts, **_decisions_to_save(model)}
    save_folder(folder, FOLDER, {**arrays, **more}, {**about, "model": facts})


def frequencies_of(model: OpponentModel) -> FrequencyModel:
    """The action frequencies of the hands that a model was fitted to."""
    frequencies = FrequencyModel(model.ground.game)
    if model.before.habits is not None:
        frequencies.counts += model.before.habits
    for hand in model.hands:
        frequencies.count(hand)
    return frequencies


def _decisions_to_save(model: OpponentModel) -> dict[str, NDArray[Any]]:
    found = model.learned_from()
    if found is None:
        return {}
    columns = {name: getattr(found, name) for name in COLUMNS}
    return {f"{LEARNED}{name}": array for name, array in {**columns, **found.places._asdict()}.items()}


def _saved_decisions(arrays: Mapping[str, NDArray[Any]]) -> Decisions | None:
    if f"{LEARNED}{COLUMNS[0]}" not in arrays:
        return None
    columns = {name: np.array(arrays[f"{LEARNED}{name}"]) for name in COLUMNS}
    places = Places(*(np.array(arrays[f"{LEARNED}{name}"]) for name in Places._fields))
    count = len(columns["action"])
    if any(len(each) != count for each in columns.values()) or columns["place"].max() >= len(places.node):
        raise ValueError("decisions")
    return Decisions(**columns, places=places)


def load_model(folder: Path, game: AnyGame | None = None) -> OpponentModel:
    """Read it again; with a game, it must be of that game."""
    arrays, manifest = load_folder(folder, FOLDER)
    try:
        kind, name, facts = str(manifest["kind"]), str(manifest["game"]), dict(manifest["model"])
        model = new_model(kind, name)
        model.restore(arrays, facts)
        habits = np.array(arrays[HABITS], np.float64)
        model.goes_on(Before(int(manifest["learned"]), habits, _saved_decisions(arrays)))
    except (KeyError, TypeError, ValueError, IndexError):
        raise FileError(f"{folder} is damaged: its model cannot be read.") from None
    if game is not None and ground_of(game) is not model.ground:
        raise FeltError(f"{folder} is a model of a player of {name}, not of {ground_of(game).game.name}.")
    return model


class Saved(NamedTuple):
    """What a folder holds."""

    model: OpponentModel
    habits: FrequencyModel
    about: dict[str, Any]  # kind, game, player, learned


def open_model(folder: Path) -> Saved:
    """The model with all that was written beside it."""
    model = load_model(folder)
    arrays, manifest = load_folder(folder, FOLDER)
    habits = FrequencyModel(model.ground.game)
    try:
        habits.restore({"counts": arrays[HABITS]}, {})
        about = {key: manifest[key] for key in ("kind", "game", "player", "learned")}
    except (KeyError, ValueError):
        raise FileError(f"{folder} is damaged: its model cannot be read.") from None
    return Saved(model, habits, about)
