"""The lobby: the games of the table, and the bots that play them.

Names of games and bots may come from the web, so a name is looked up in the lists of what is offered before
anything is opened, imported or compiled.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from openfelt.bots.bot import Bot
from openfelt.bots.learned import EQUILIBRIUM
from openfelt.bots.registry import BOTS, load_bot
from openfelt.cards.abstraction.abstraction import load_abstraction
from openfelt.core.errors import FeltError, unknown
from openfelt.games.game import Game
from openfelt.games.holdem import Holdem
from openfelt.games.registry import GAMES, load_game
from openfelt.policy.files import DEFAULT
from openfelt.table.lobby.characters import CHARACTERS, can_be_drilled, has_ranges, title_of
from openfelt.table.lobby.strength import REFERENCE, level, strength, weakness
from openfelt.table.presentation.registry import PRESENTATIONS, presentation_of

# What a newcomer should know, by name of the game.
TABLE_GAMES = {
    "holdem": (
        "Texas hold'em with bets of fixed size: two cards for each player, five on the board, four betting "
        "rounds, blinds of 1 and 2 chips."
    ),
    "leduc": (
        "Hold'em with six cards: one card for each player, one on the board, a betting round after each; "
        "a pair beats a high card."
    ),
    "kuhn": "Three cards, one for each player, one chip to bet: the smallest poker in which bluffing pays.",
    "holdem(players=3)": "Limit hold'em with two opponents.",
    "leduc(players=3)": "Leduc hold'em with two opponents and the same six cards.",
    "kuhn(players=3)": "Kuhn poker with four cards and two opponents.",
}
SMALL_GAMES = [name for name in TABLE_GAMES if not name.startswith(Holdem.key)]
SMALLEST = "kuhn"
LONGEST_NAME = 60
NAME = re.compile(r"(\w+)(\([\w=., ]*\))?", re.ASCII)

ADDED = "Added on the command line of this server."
TABLES = (
    "Before its first hand on this machine it builds tables of all hands: about two minutes and 2 GB of disk."
)
CACHE_SIZE = 256


@dataclass(frozen=True)
class BotChoice:
    """A bot that can be chosen for a game."""

    name: str
    title: str  # the name at the table
    style: str
    level: str  # empty if it is not measured
    summary: str  # how it was made
    strength: str
    delay: str  # what delays the first hand on this machine; empty if nothing does
    has_policy: bool  # whether its action probabilities can be shown
    usual: bool  # the one chosen by default
    drills: bool  # whether drills are possible against it


def table_game(name: str) -> Game:
    """The game of that name, if it is played at the table."""
    found = NAME.fullmatch(name) if len(name) <= LONGEST_NAME else None
    word = found[1].lower() if found else ""
    if word not in PRESENTATIONS:
        if word in GAMES:
            raise FeltError(f"{word} is not played at the table; kuhn, leduc and holdem are.")
        raise FeltError(unknown("game", name[:LONGEST_NAME], TABLE_GAMES))
    game = load_game(name)
    presentation_of(game).require_playable()
    return game


def bots_for(game: Game, extra: Sequence[str] = ()) -> list[BotChoice]:
    """The bots that can be chosen: first `extra` ones of the command line, then ours, strongest first."""
    usual = usual_bot(game)
    names = sorted(_names(game, tuple(extra)), key=lambda name: (name in BOTS, weakness(name, game)))
    return [
        BotChoice(
            name,
            title_of(name),
            CHARACTERS[name].style if name in CHARACTERS else ADDED,
            level(name, game),
            BOTS[name].summary if name in BOTS else ADDED,
            strength(name, game),
            _delay(name, game),
            has_ranges(name),
            name == usual,
            (game.is_enumerable and has_ranges(name)) or can_be_drilled(name),
        )
        for name in names
    ]


def _delay(name: str, game: Game) -> str:
    """Search in hold'em looks buckets up in tables of all hands, which are made once."""
    if has_ranges(name) or game.is_enumerable or load_abstraction(game.abstraction).folder.exists():
        return ""
    return TABLES


def usual_bot(game: Game) -> str:
    """The opponent by default."""
    if game.is_enumerable:
        return EQUILIBRIUM
    return DEFAULT if game == Holdem() else REFERENCE


def first_choice() -> tuple[str, list[str]]:
    """The game that the lobby shows first, and its usual bots."""
    game = table_game(next(iter(TABLE_GAMES)))
    return game.name, [usual_bot(game)] * (game.players - 1)


def table_bot(name: str, game: Game, extra: Sequence[str] = ()) -> Bot:
    """The bot of that name, if it can be chosen for the game."""
    names = _names(game, tuple(extra))
    if name not in names:
        raise FeltError(unknown(f"bot for {game.name}", name[:LONGEST_NAME], names))
    return load_bot(name, game)


@lru_cache(maxsize=CACHE_SIZE)
def _names(game: Game, extra: tuple[str, ...]) -> tuple[str, ...]:
    # The same bots play all small games, and the smallest is compiled in a moment.
    asked = load_game(SMALLEST) if game.name in SMALL_GAMES else game
    ours = [name for name, kind in BOTS.items() if kind.plays(asked)]
    return tuple(dict.fromkeys([*ours, *(name for name in extra if _is_loadable(name, game))]))


def _is_loadable(name: str, game: Game) -> bool:
    try:
        load_bot(name, game)
    except FeltError:
        return False
    return True
