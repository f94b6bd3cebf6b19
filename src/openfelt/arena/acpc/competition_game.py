"""Our games in the terms of the ACPC protocol, and the games that definitions describe.

The chips of a definition are not ours: limit hold'em has blinds of 5 and 10 there, and of 1 and 2 here. How
many of its chips are one of ours follows from its bets.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from openfelt.arena.acpc.game_definition import KEYS, LIMIT, GameDefinition
from openfelt.arena.acpc.protocol_game import holdem_definition, kuhn_definition, protocol_game
from openfelt.core.errors import FeltError
from openfelt.games.game import Game
from openfelt.games.holdem import ALLOWED_BETS, BET, BLINDS, MOST_BETS, Holdem
from openfelt.games.kuhn import Kuhn

NAMES = {  # our games by the names of the files that come with the server; the last one is by analogy
    "holdem.limit.2p.reverse_blinds.game": Holdem(2),
    "holdem.limit.3p.game": Holdem(3),
    "kuhn.limit.3p.game": Kuhn(players=3),
    "kuhn.limit.2p.game": Kuhn(),
}
CUSTOM = "custom.game"  # the name of a definition with other chips than those


class CompetitionGame(NamedTuple):
    """One of our games in the terms of the protocol."""

    game: Game
    definition: GameDefinition
    chip: Fraction  # how many of the definition's chips one of ours is


def definition_of(game: Game, chip: int | None = None) -> CompetitionGame:
    """The definition of one of our games; by default with the chips of the server's own files."""
    return CompetitionGame(game, *protocol_game(game).definition(chip))


def game_of(definition: GameDefinition) -> CompetitionGame:
    """The game that a definition describes; raises FeltError that names the first line we do not support."""
    players, one_card = definition.players, definition.hole_cards == 1
    if definition.betting != LIMIT:
        raise FeltError(
            f"The line '{definition.betting}' of the game definition is not supported: only limit games are."
        )
    if players not in BLINDS:
        raise _unsupported(definition, "numPlayers", "there must be 2 or 3")
    if definition.hole_cards not in (1, 2):
        raise _unsupported(definition, "numHoleCards", "hold'em has 2 and Kuhn poker 1")
    size = definition.raises[0]
    if size == 0:
        raise _unsupported(definition, "raiseSize", "a bet is at least one chip")
    if one_card:
        if definition.blinds[0] == 0:
            raise _unsupported(definition, "blind", "all players ante in Kuhn poker")
        game: Game = Kuhn(pot=players * definition.blinds[0] / size, players=players)
        ours, chip = kuhn_definition(Kuhn(players=players), definition.blinds[0], size), Fraction(size)
        most = definition.blinds[0] + size
    else:
        bets = max(definition.most_raises, default=MOST_BETS)
        game = Holdem(players, bets=bets if bets in ALLOWED_BETS else MOST_BETS)
        chip = Fraction(size, BET[0])
        if chip.denominator > 1:
            raise _unsupported(definition, "raiseSize", "its half, the small blind, must be a whole number")
        ours, most = holdem_definition(game, int(chip)), game.bets * sum(BET) * int(chip)
    _compare(definition, ours, "Kuhn poker" if one_card else "limit hold'em")
    if definition.stacks and min(definition.stacks) < most:
        raise _unsupported(definition, "stack", f"players cannot go all in, so {most} chips are needed")
    return CompetitionGame(game, definition, chip)


def _compare(definition: GameDefinition, ours: GameDefinition, name: str) -> None:
    for key, field, _ in KEYS:
        given = getattr(definition, field) or ((1,) * definition.rounds if field == "first" else ())
        if field != "stacks" and given != getattr(ours, field):
            line = definition.line(key) if given else f"{key} (missing)"
            raise FeltError(
                f"The line '{line}' of the game definition is not supported: "
                f"{name} for {ours.players} players has '{ours.line(key)}'."
            )


def _unsupported(definition: GameDefinition, key: str, why: str) -> FeltError:
    return FeltError(f"The line '{definition.line(key)}' of the game definition is not supported: {why}.")


def file_name(rules: CompetitionGame) -> str:
    """The name of the game in a log: that of the server's file if there is one, else ours."""
    game = rules.game.unabstracted
    if definition_of(game).chip != rules.chip:
        return CUSTOM
    return next((name for name, known in NAMES.items() if known == game), game.name)
