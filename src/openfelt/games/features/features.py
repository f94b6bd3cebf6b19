"""Infosets and public states as vectors of zeros and ones: the input of neural networks, for every game.

There is one layout per game, and every column of it has a name. Two infosets have equal vectors only if they
are the same infoset; in hold'em, if they are the same up to suits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from openfelt.games.game import AnyGame, Game
from openfelt.games.hand import Hand
from openfelt.games.holdem import Holdem
from openfelt.games.registry import load_game

Vectors: TypeAlias = NDArray[np.float32]
Masks: TypeAlias = NDArray[np.bool_]


class Features(ABC):
    """The layout of a game's vectors, and functions that fill them."""

    actions: tuple[str, ...]  # what each number of an action means, in every infoset
    names: tuple[str, ...]  # of the columns of an infoset's vector
    public_names: tuple[str, ...]  # of the columns of a public state's vector
    synonyms: ClassVar[dict[str, str]] = {}  # actions that share a number

    @property
    def size(self) -> int:
        """The length of an infoset's vector."""
        return len(self.names)

    @property
    def public_size(self) -> int:
        """The length of a public state's vector."""
        return len(self.public_names)

    @abstractmethod
    def infoset(self, hand: Hand, player: int | None = None) -> Vectors:
        """[size] what a player knows; by default the player to move."""

    @abstractmethod
    def public_state(self, hand: Hand) -> Vectors:
        """[public_size] what everybody knows."""

    def number(self, action: str) -> int:
        """The number of an action."""
        return self.actions.index(self.synonyms.get(action, action))

    def mask(self, legal: Sequence[str]) -> Masks:
        """[actions] which actions are among the legal ones."""
        mask = np.zeros(len(self.actions), np.bool_)
        mask[[self.number(action) for action in legal]] = True
        return mask


def features(game: AnyGame) -> Features:
    """The layout of a game's vectors for neural networks.

    Parameters
    ----------
    game : Game, str or Path
        Any game, also hold'em; an enumerated game is compiled.

    Returns
    -------
    Features
        `names` and `public_names` describe the columns, `actions` the numbers of actions. `infoset(hand)` and
        `public_state(hand)` encode a hand in progress; in enumerated games `table()`, `public_table()` and
        `masks()` are for all infosets.

    Examples
    --------
    >>> layout = felt.features("kuhn")
    >>> layout.names
    ('player 0', 'player 1', '1: J', '1: Q', '1: K', '2: pass', '2: bet', '3: bet')
    >>> layout.table().shape, layout.actions
    ((12, 8), ('pass', 'bet'))
    >>> felt.features("holdem").size
    262
    """
    return _cached(load_game(game))


@lru_cache(maxsize=8)
def _cached(game: Game) -> Features:
    from openfelt.games.features.enumerated import EnumeratedFeatures
    from openfelt.games.features.holdem import HoldemFeatures

    return HoldemFeatures(game) if isinstance(game, Holdem) else EnumeratedFeatures(game)
