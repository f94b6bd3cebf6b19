"""Saved opponent models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from fuzz.hands import some_hands
from fuzz.target import Finding, Mutant
from fuzz.targets.folders import FolderTarget, require_sealed
from openfelt.opponents.api import fit_model
from openfelt.opponents.models.files import KINDS, open_model, save_model

GAME, PLAYER = "leduc", "probe"


class ModelTarget(FolderTarget):
    """One model of each kind, fitted to hands of Leduc hold'em."""

    name = "model"
    share = 1.5
    cost = 1.5

    def prepare(self) -> None:
        hands = some_hands(GAME, 300)
        for kind in KINDS:
            model = fit_model(hands, PLAYER, kind=kind)
            save_model(model, self.folder / kind, player=PLAYER)
            self.add_folder(self.folder / kind)

    def read_folder(self, folder: Path, sample: int) -> Any:
        model, habits, about = open_model(folder)
        policy = model.policy().table
        decisions = model.earlier.decisions
        columns = None if decisions is None else tuple(map(_bytes, [*decisions[:-1], *decisions.places]))
        text = model.describe(), habits.describe()
        return model.fingerprint, _bytes(policy), _bytes(habits.counts), tuple(about.items()), columns, text

    def rule(self, mutant: Mutant, content: Any) -> str:
        require_sealed(mutant)
        policy = np.frombuffer(content[1])
        if not (policy >= 0).all() or len(content[1]) != len(self.contents[mutant.sample][1]):
            raise Finding("the model predicts no probabilities")
        return "another model with valid checksums and predictions"


def _bytes(array: Any) -> bytes:
    return np.ascontiguousarray(array).tobytes()
