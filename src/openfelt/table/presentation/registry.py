"""The games of the table, by the word in their names."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from openfelt.core.errors import FeltError
from openfelt.games.game import Game
from openfelt.games.holdem import Holdem
from openfelt.games.kuhn import Kuhn
from openfelt.games.leduc import Leduc
from openfelt.table.presentation.holdem import HoldemPresentation
from openfelt.table.presentation.kuhn import KuhnPresentation
from openfelt.table.presentation.leduc import LeducPresentation
from openfelt.table.presentation.presentation import Presentation

PRESENTATIONS: dict[str, type[Presentation[Any]]] = {
    Kuhn.key: KuhnPresentation,
    Leduc.key: LeducPresentation,
    Holdem.key: HoldemPresentation,
}


@lru_cache(maxsize=256)
def presentation_of(game: Game) -> Presentation[Any]:
    """How a game is dealt, shown and described; raises if it is not played at the table."""
    if game.key not in PRESENTATIONS:
        *some, last = PRESENTATIONS
        raise FeltError(f"{game.name} is not played at the table; {', '.join(some)} and {last} are.")
    return PRESENTATIONS[game.key](game)
