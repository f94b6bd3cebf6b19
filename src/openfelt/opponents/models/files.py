"""Kinds of opponent models, and their folders."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.core.errors import FeltError, FileError, unknown
from openfelt.core.files import MALFORMED, load_folder, save_folder
from openfelt.games.game import AnyGame
from openfelt.opponents.models.domain import model_domain
from openfelt.opponents.models.frequencies import FrequencyModel
from openfelt.opponents.models.model import EarlierTraining, OpponentModel
from openfelt.opponents.models.observed import Decisions
from openfelt.opponents.models.public_tree import Places

# By kind: module in this folder, and class.
KINDS = {
    "tally": ("tally", "TallyModel"),
    "relational": ("relational.model", "RelationalModel"),
    "trees": ("decision_trees", "TreesModel"),
    "frequencies": ("frequencies", "FrequencyModel"),
}
FOLDER = "model"
COLUMNS = tuple(name for name in Decisions._fields if name != "places")
LEARNED = "learned_"  # prefix of the arrays of decisions
HABITS = "habits"  # counts of FrequencyModel in the same hands, the baseline of `score`


def new_model(kind: str, game: AnyGame) -> OpponentModel:
    """An untrained model."""
    if kind not in KINDS:
        raise FeltError(unknown("kind of model", kind, KINDS))
    module, name = KINDS[kind]
    model: OpponentModel = getattr(importlib.import_module(f"openfelt.opponents.models.{module}"), name)(game)
    return model


def save_model(model: OpponentModel, folder: Path, *, player: str = "") -> None:
    """Write what a model has learned, and the decisions it needs to continue learning; not the hands."""
    arrays, facts = model.to_save()
    about = {
        "kind": model.kind,
        "game": model.domain.game.name,
        "player": player,
        "learned": model.earlier.hands + len(model.hands),
    }
    more = {HABITS: frequencies_of(model).counts, **_decisions_to_save(model)}
    save_folder(folder, FOLDER, {**arrays, **more}, {**about, "model": facts})


def frequencies_of(model: OpponentModel) -> FrequencyModel:
    """The action frequencies in the hands that a model was fitted to."""
    frequencies = FrequencyModel(model.domain.game)
    if model.earlier.habits is not None:
        frequencies.counts += model.earlier.habits
    for hand in model.hands:
        frequencies.count(hand)
    return frequencies


def _decisions_to_save(model: OpponentModel) -> dict[str, NDArray[Any]]:
    decisions = model.learned_from()
    if decisions is None:
        return {}
    columns = {name: getattr(decisions, name) for name in COLUMNS} | decisions.places._asdict()
    return {f"{LEARNED}{name}": array for name, array in columns.items()}


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
    """Load a model; raises if it is not of `game`, where that is given."""
    arrays, manifest = load_folder(folder, FOLDER)
    try:
        kind, name, facts = str(manifest["kind"]), str(manifest["game"]), dict(manifest["model"])
        model = new_model(kind, name)
        model.restore(arrays, facts)
        habits = np.array(arrays[HABITS], np.float64)
        model.resume_from(EarlierTraining(int(manifest["learned"]), habits, _saved_decisions(arrays)))
    except MALFORMED:
        raise FileError(f"{folder} is damaged: the model cannot be read.") from None
    if game is not None and model_domain(game) is not model.domain:
        raise FeltError(f"{folder} is a model of a player of {name}, not of {model_domain(game).game.name}.")
    return model


class SavedModel(NamedTuple):
    """A model with what was saved beside it."""

    model: OpponentModel
    habits: FrequencyModel
    about: dict[str, Any]  # kind, game, player, learned


def open_model(folder: Path) -> SavedModel:
    """Load a model with what was saved beside it."""
    model = load_model(folder)
    arrays, manifest = load_folder(folder, FOLDER)
    habits = FrequencyModel(model.domain.game)
    try:
        habits.restore({"counts": arrays[HABITS]}, {})
        about = {key: manifest[key] for key in ("kind", "game", "player", "learned")}
    except MALFORMED:
        raise FileError(f"{folder} is damaged: the model cannot be read.") from None
    return SavedModel(model, habits, about)
