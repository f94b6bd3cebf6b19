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
from openfelt.opponents.models.domain import model_domain
from openfelt.opponents.models.frequencies import FrequencyModel
from openfelt.opponents.models.model import EarlierTraining, OpponentModel
from openfelt.opponents.models.observed import Decisions
from openfelt.opponents.models.public_tree import Places

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
    habits = FrequencyModel(model.domain.game)
    if model.before.habits is not None:
        habits.counts += model.before.habits
    for hand in model.hands:
        habits.count(hand)
    about = {
        "kind": model.kind,
        "game": model.domain.game.name,
        "player": player,
        "learned": model.before.hands + len(model.hands),
    }
    more = {HABITS: habits.counts, **_decisions_to_save(model)}
    save_folder(folder, FOLDER, {**arrays, **more}, {**about, "model": facts})


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
        model.resume_from(EarlierTraining(int(manifest["learned"]), habits, _saved_decisions(arrays)))
    except (KeyError, TypeError, ValueError, IndexError):
        raise FileError(f"{folder} is damaged: its model cannot be read.") from None
    if game is not None and model_domain(game) is not model.domain:
        raise FeltError(f"{folder} is a model of a player of {name}, not of {model_domain(game).game.name}.")
    return model


class SavedModel(NamedTuple):
    """What a folder holds."""

    model: OpponentModel
    habits: FrequencyModel
    about: dict[str, Any]  # kind, game, player, learned


def open_model(folder: Path) -> SavedModel:
    """The model with all that was written beside it."""
    model = load_model(folder)
    arrays, manifest = load_folder(folder, FOLDER)
    habits = FrequencyModel(model.domain.game)
    try:
        habits.restore({"counts": arrays[HABITS]}, {})
        about = {key: manifest[key] for key in ("kind", "game", "player", "learned")}
    except (KeyError, ValueError):
        raise FileError(f"{folder} is damaged: its model cannot be read.") from None
    return SavedModel(model, habits, about)
