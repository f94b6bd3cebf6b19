"""The lobby: which games are played at the table, which bots play them, and how strong each of them is.

Names of games and bots may come from the web, so nothing is opened, imported or compiled by a name before it
was found among those that are offered.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from openfelt.bots.bot import Bot
from openfelt.bots.learned import EQUILIBRIUM
from openfelt.bots.registry import BOTS, load_bot
from openfelt.core.errors import FeltError, unknown
from openfelt.games.game import Game
from openfelt.games.holdem import MOST_BETS, Holdem
from openfelt.games.kuhn import Kuhn
from openfelt.games.leduc import Leduc
from openfelt.games.registry import GAMES, load_game
from openfelt.policy.files import DEFAULT
from openfelt.table.lobby.strength import REFERENCE, strength, weakness

# By name, what a newcomer should know of each.
TABLE_GAMES = {
    "holdem": (
        "The real game with bets of fixed size: two cards for each player, five on the table, four rounds of "
        "bets, blinds of 1 and 2 chips."
    ),
    "leduc": (
        "A hold'em of six cards: one for each player, bets, one on the table, bets; a pair beats a high card."
    ),
    "kuhn": "Three cards, one for each player, and one chip to bet: the smallest poker in which bluffs pay.",
    "holdem(players=3)": "Limit hold'em with two opponents, each of whom plays for himself.",
    "leduc(players=3)": "Leduc hold'em with two opponents, and still six cards.",
    "kuhn(players=3)": "Kuhn poker with four cards and two opponents.",
}
SMALL_GAMES = [name for name in TABLE_GAMES if not name.startswith(Holdem.key)]
KINDS = (Kuhn, Leduc, Holdem)
MOST_RANKS = {2: 6, 3: 4}  # of Leduc, by players: larger trees take seconds to compile
LONGEST_NAME = 60
NAME = re.compile(r"(\w+)(\([\w=., ]*\))?", re.ASCII)

ADDED = "added by whoever runs this table"
REMEMBERED = 256


@dataclass(frozen=True)
class BotChoice:
    """A bot that can be chosen for a game."""

    name: str
    summary: str
    strength: str
    usual: bool  # the one chosen by default


def table_game(name: str) -> Game:
    """The game of that name, if it is played at the table."""
    found = NAME.fullmatch(name) if len(name) <= LONGEST_NAME else None
    word = found[1].lower() if found else ""
    if word not in [kind.key for kind in KINDS]:
        if word in GAMES:
            raise FeltError(f"{word} is not played at the table, which has kuhn, leduc and holdem.")
        raise FeltError(unknown("game", name[:LONGEST_NAME], TABLE_GAMES))
    game = load_game(name)
    if isinstance(game, Leduc) and game.ranks > MOST_RANKS[game.players]:
        raise FeltError(
            f"At the table leduc has at most {MOST_RANKS[game.players]} ranks with {game.players} players, "
            f"not {game.ranks}."
        )
    return game


def title(game: Game) -> str:
    """What the game is called on the page."""
    with_three = ["three-handed"] if game.players == 3 else []
    if isinstance(game, Kuhn):
        words = ["Kuhn poker", *with_three, *([f"a pot of {game.pot:g}"] if game.pot else [])]
    elif isinstance(game, Leduc):
        words = ["Leduc hold'em", *with_three, *([f"{game.ranks} ranks"] if game.ranks != 3 else [])]
    elif isinstance(game, Holdem):
        words = ["Limit hold'em", *(with_three or ["heads-up"])]
        words += [f"at most {game.bets} bets a street"] if game.bets != MOST_BETS else []
    else:
        words = [game.name]
    return ", ".join(words)


def bots_for(game: Game, extra: Sequence[str] = ()) -> list[BotChoice]:
    """The bots that can be chosen, those added first and then ours, the strongest first.

    `extra` are names that whoever started the server allows besides ours.
    """
    usual = usual_bot(game)
    names = sorted(_names(game, tuple(extra)), key=lambda name: (name in BOTS, weakness(name, game)))
    return [
        BotChoice(name, BOTS[name].summary if name in BOTS else ADDED, strength(name, game), name == usual)
        for name in names
    ]


def usual_bot(game: Game) -> str:
    """Who plays a game if nobody else is asked for."""
    if not isinstance(game, Holdem):
        return EQUILIBRIUM
    return DEFAULT if game == Holdem() else REFERENCE


def table_bot(name: str, game: Game, extra: Sequence[str] = ()) -> Bot:
    """The bot of that name, if it can be chosen for the game."""
    names = _names(game, tuple(extra))
    if name not in names:
        raise FeltError(unknown(f"bot for {game.name}", name[:LONGEST_NAME], names))
    return load_bot(name, game)


@lru_cache(maxsize=REMEMBERED)
def _names(game: Game, extra: tuple[str, ...]) -> tuple[str, ...]:
    ours = [name for name, kind in BOTS.items() if kind.plays(game)]
    return tuple(dict.fromkeys([*ours, *(name for name in extra if _can_be_made(name, game))]))


def _can_be_made(name: str, game: Game) -> bool:
    try:
        load_bot(name, game)
    except FeltError:
        return False
    return True
