"""The interface of compiled games: what solvers, policies and measurements need of any of them.

There are four kinds: `GameTree` holds every history of a game, `FactoredTree` its infosets only,
`BettingTree` the betting lines of hold'em, whose cards are dealt separately, and `FlopTree` those of Flop
Hold'em with its hands. All number the actions of all
infosets from 0: these numbers are the *slots* of tables.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from openfelt.core.errors import GameError
from openfelt.core.jit import Floats
from openfelt.games.flop_holdem import is_flop_holdem_name


class Tree(ABC):
    """A compiled game. Subclasses are frozen dataclasses."""

    is_enumerated: ClassVar[bool]  # whether it holds every infoset, so that full-width methods apply

    if TYPE_CHECKING:  # subclasses have these as fields or properties

        @property
        def game(self) -> str:
            """Name of the game."""

        @property
        def players(self) -> int:
            """Number of players."""

        @property
        def unit(self) -> str:
            """Unit of payoffs."""

        @property
        def num_nodes(self) -> int:
            """Number of histories, or of betting lines."""

        @property
        def num_rows(self) -> int:
            """Number of infosets."""

        @property
        def num_slots(self) -> int:
            """Number of actions of all infosets."""

        @property
        def num_edges(self) -> int:
            """Number of slots, not counted again for each bucket."""

        @property
        def two_player_zero_sum(self) -> bool:
            """Whether mixtures of average policies keep their guarantee."""

        @property
        def fingerprint(self) -> str:
            """Equal for two trees if and only if all of their contents are equal."""

    @property
    @abstractmethod
    def payoff_range(self) -> tuple[float, float]:
        """The lowest and the highest payoff of any player."""

    @abstractmethod
    def pots(self) -> tuple[Floats, Floats]:
        """In poker: pots at the start of betting rounds, and what could be added from then on (HS14, (5))."""

    @abstractmethod
    def passive_actions(self) -> NDArray[np.int8]:
        """In poker: the position of the action that checks or calls."""

    @abstractmethod
    def player_slots(self, player: int) -> Iterator[slice]:
        """The slots of one player's infosets."""


def too_many_histories(game: str) -> GameError:
    """The error of a method that needs the histories of a game that is compiled without them."""
    if is_flop_holdem_name(game):
        return GameError(
            f"{game} has too many histories to list. The solver flop-cfr trains it, and `felt exploit` and "
            "`felt value` measure the result; it cannot be played at the table or in matches."
        )
    return GameError(
        f"{game} has too many histories to list, as this requires; solvers such as pcfr+ and external-mccfr, "
        "and exploitability, do without."
    )
