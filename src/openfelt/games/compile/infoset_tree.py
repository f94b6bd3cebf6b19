"""The base of compiled games whose infosets are listed, so that full-width methods apply."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from openfelt.core.jit import Ints
from openfelt.games.compile.tree import Tree


class InfosetTree(Tree):
    """A compiled game whose infosets are numbered: those of player 0 first, parents before their children.

    `GameTree` lists every history too, `FactoredTree` does not. A *row* is the number of an infoset.
    """

    is_enumerated: ClassVar[bool] = True

    if TYPE_CHECKING:  # subclasses have these as fields or properties

        @property
        def first_row(self) -> NDArray[np.int64]:
            """[players + 1] the rows of player p are first_row[p] up to first_row[p + 1]."""

        @property
        def first_slot(self) -> NDArray[np.int64]:
            """[rows + 1] the actions of a row have the slots first_slot[row], ..."""

        @property
        def slot_label(self) -> Ints:
            """[slots] label of the action."""

        @property
        def labels(self) -> tuple[str, ...]:
            """The texts of label numbers."""

    @property
    def num_rows(self) -> int:
        return len(self.first_slot) - 1

    @property
    def num_slots(self) -> int:
        return int(self.first_slot[-1])

    @property
    def num_edges(self) -> int:
        """The slots: there are no buckets."""
        return self.num_slots

    def player_slots(self, player: int) -> Iterator[slice]:
        first, last = self.first_slot[self.first_row[player : player + 2]]
        yield slice(int(first), int(last))

    def row_player(self, row: int) -> int:
        """The player of an infoset."""
        return int(np.searchsorted(self.first_row, row, side="right")) - 1

    def slots(self, row: int) -> slice:
        """The slots of an infoset's actions."""
        return slice(int(self.first_slot[row]), int(self.first_slot[row + 1]))

    def actions(self, row: int) -> tuple[str, ...]:
        """The names of an infoset's actions."""
        return tuple(self.labels[label] for label in self.slot_label[self.slots(row)])

    @abstractmethod
    def row_name(self, row: int) -> str:
        """The name of an infoset: all observations of its player, in order, such as "K pass bet"."""

    @abstractmethod
    def find_row(self, player: int, name: str) -> int:
        """The infoset of that name, as `row_name` writes it."""
