"""A compiled game whose histories are too many to list: its infosets and a sequence form with groups."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openfelt.core.disk_cache import FolderContents
from openfelt.core.errors import FileError, GameError
from openfelt.core.jit import Floats
from openfelt.core.memory import machine_memory
from openfelt.games.compile.infoset_tree import InfosetTree
from openfelt.games.compile.sequence_form import SequenceForm, sequence_form

FACTS = ("game", "unit", "labels", "payoffs", "num_nodes", "fingerprint")  # all fields but the arrays


@dataclass(frozen=True, eq=False)
class FactoredTree(InfosetTree):
    """A compiled two-player zero-sum game without its histories."""

    game: str  # its name
    unit: str
    form: SequenceForm
    slot_label: NDArray[np.int16]  # type: ignore[assignment]  # [slots] label of the action
    row_label: NDArray[np.int16]  # [rows] label of what the player has observed since the infoset before
    labels: tuple[str, ...]
    payoffs: tuple[float, float]  # the lowest and the highest of any player
    num_nodes: int  # histories
    fingerprint: str

    @property
    def payoff_range(self) -> tuple[float, float]:
        return self.payoffs

    @property
    def players(self) -> int:
        return self.form.num_players

    @property
    def first_row(self) -> NDArray[np.int64]:
        return self.form.first_row

    @property
    def first_slot(self) -> NDArray[np.int64]:
        return self.form.first_slot

    @property
    def two_player_zero_sum(self) -> bool:
        return True

    def pots(self) -> tuple[Floats, Floats]:
        return np.full(self.num_slots, np.nan), np.full(self.num_slots, np.nan)

    def passive_actions(self) -> NDArray[np.int8]:
        return np.full(self.num_slots, -1, np.int8)

    def row_name(self, row: int) -> str:
        words = []
        while True:
            words.append(self.labels[self.row_label[row]])
            slot = int(self.form.parent_slot[row])
            if slot >= self.num_slots:
                return " ".join(word for word in reversed(words) if word) or "start"
            row = int(np.searchsorted(self.first_slot, slot, side="right")) - 1

    def find_row(self, player: int, name: str) -> int:
        left = [] if name == "start" else name.split()
        own = slice(*self.first_row[player : player + 2])
        low = self.num_slots + player
        high = low + 1
        while True:
            parent = self.form.parent_slot[own]
            after = (np.flatnonzero((parent >= low) & (parent < high)) + own.start).tolist()
            seen = [(self.labels[self.row_label[each]].split(), each) for each in after]
            fits = [(words, each) for words, each in seen if words == left[: len(words)]]
            if not fits:
                raise GameError(f"{self.game} has no infoset '{name}' for player {player}.")
            words, row = max(fits, key=lambda fit: len(fit[0]))
            left = left[len(words) :]
            if not left:
                return int(row)
            low, high = self.first_slot[row], self.first_slot[row + 1]


@sequence_form.register
def _(tree: FactoredTree) -> SequenceForm:
    return tree.form


def fingerprint(form: SequenceForm, row_label: NDArray[np.int16], labels: tuple[str, ...]) -> str:
    """Equal for two trees if and only if their sequence forms and the names of infosets are equal."""
    digest = hashlib.sha256("\0".join(labels).encode())
    for array in (*form, row_label):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()[:32]


def require_memory(game: str, needed: float) -> None:
    """Raise GameError if a game takes more memory to compile than the machine has."""
    there = machine_memory()
    if needed > there:
        raise GameError(
            f"{game} needs {needed / 1e9:.1f} GB to be compiled; this machine has {there / 1e9:.1f}."
        )


def factored_arrays(tree: FactoredTree) -> FolderContents:
    """A tree as the arrays and facts of a folder."""
    arrays = {f"form.{name}": array for name, array in tree.form._asdict().items()}
    facts = {name: getattr(tree, name) for name in FACTS}
    return arrays | {"slot_label": tree.slot_label, "row_label": tree.row_label}, facts


def factored_from(arrays: dict[str, NDArray[Any]], facts: dict[str, Any], game: str) -> FactoredTree:
    """The tree from its arrays and facts; it must be that of `game`."""
    if facts.get("game") != game:
        raise FileError(f"The cached tree is that of {facts.get('game')}, not of {game}.")
    try:
        form = SequenceForm(*(arrays[f"form.{name}"] for name in SequenceForm._fields))
        known = {name: facts[name] for name in FACTS}
        known |= {"labels": tuple(facts["labels"]), "payoffs": tuple(facts["payoffs"])}
        return FactoredTree(
            form=form, slot_label=arrays["slot_label"], row_label=arrays["row_label"], **known
        )
    except KeyError as error:
        raise FileError(f"The cached tree of {game} is incomplete: {error} is missing.") from None
