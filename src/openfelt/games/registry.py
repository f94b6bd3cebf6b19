"""From the name of a game, such as "kuhn(pot=8)", to its rules."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from openfelt.core.call_syntax import Call, parse_call
from openfelt.core.errors import GameError, unknown
from openfelt.games.battleship import Battleship
from openfelt.games.bluff import Bluff
from openfelt.games.cash_holdem import CashHoldem
from openfelt.games.dark_hex import DarkHex
from openfelt.games.efg import read_efg
from openfelt.games.flop_holdem import FlopHoldem
from openfelt.games.game import AnyGame, Game
from openfelt.games.goofspiel import Goofspiel
from openfelt.games.holdem import Holdem
from openfelt.games.kuhn import Kuhn
from openfelt.games.leduc import Leduc
from openfelt.games.one_card import OneCard
from openfelt.games.open_spiel import PREFIX, read_open_spiel
from openfelt.games.oshi_zumo import OshiZumo
from openfelt.games.phantom_ttt import PhantomTicTacToe
from openfelt.games.princess_monster import PrincessMonster
from openfelt.games.sheriff import Sheriff

RULES = (
    *(Kuhn, OneCard, Leduc, Holdem, FlopHoldem, Goofspiel, Bluff, PrincessMonster),
    *(PhantomTicTacToe, DarkHex, OshiZumo, Battleship, Sheriff),
)
GAMES: dict[str, type[Game]] = {game.key: game for game in RULES}
RECORDED: dict[str, type[Game]] = {CashHoldem.key: CashHoldem}  # games of hand histories only


def load_game(name: AnyGame) -> Game:
    """Load a game by its name.

    Parameters
    ----------
    name : str, Path or Game
        A name such as "leduc", "kuhn(pot=8)" or "goofspiel(4)" (`felt games` lists all), the path of a
        Gambit .efg file, or "openspiel:" and the name of a game of OpenSpiel. A game is returned as it is.

    Returns
    -------
    Game

    Examples
    --------
    >>> felt.load_game("kuhn(pot=8)").players
    2
    >>> felt.load_game("holdem(players=3)").name
    'holdem(players=3)'
    """
    if isinstance(name, Game):
        return name
    if str(name).endswith(".efg"):
        return read_efg(Path(name))
    if str(name).startswith(PREFIX):
        return read_open_spiel(str(name))
    return _load(str(name), GAMES)


def load_recorded_game(name: str) -> Game:
    """As `load_game`, also for games of which there are only hand histories."""
    elsewhere = name.endswith(".efg") or name.startswith(PREFIX)
    return load_game(name) if elsewhere else _load(name, GAMES | RECORDED)


def _load(name: str, known: Mapping[str, type[Game]]) -> Game:
    word, positional, keywords = _parse(name)
    if word in RECORDED and word not in known:
        raise GameError(
            f"{word} is a game of hand histories only: nothing can be trained, measured or played on it."
        )
    if word not in known:
        raise GameError(unknown("game", word, GAMES))
    rules = known[word]
    fields = {field.name: field for field in dataclasses.fields(rules)}  # type: ignore[arg-type]
    if len(positional) > len(fields):
        raise GameError(
            f"{word} takes at most {len(fields)} parameters, not {len(positional)}: {usage(rules)}."
        )
    given = dict(zip(fields, positional, strict=False))
    for key, value in keywords.items():
        if key not in fields:
            raise GameError(f"{word} has no parameter '{key}'; write {usage(rules)}.")
        if key in given:
            raise GameError(f"{word}: {key} is given twice.")
        given[key] = value
    for key, field in fields.items():
        if key not in given and field.default is dataclasses.MISSING:
            raise GameError(f"{word} needs a value for {key}: write {usage(rules)}.")
        if key in given:
            given[key] = _value(word, key, given[key], str(field.type))
    return rules(**given)


def usage(rules: type[Game]) -> str:
    """How to write the name of a game: "kuhn(pot=..., players=2)"."""
    words = []
    for field in dataclasses.fields(rules):  # type: ignore[arg-type]
        default = "..." if field.default is None else repr(field.default)
        words.append(field.name if field.default is dataclasses.MISSING else f"{field.name}={default}")
    return f"{rules.key}({', '.join(words)})"


def _parse(name: str) -> Call:
    try:
        call = parse_call(name)
    except ValueError:
        raise GameError(f"The parameters of '{name}' cannot be read; write them like kuhn(pot=8).") from None
    if call is None:
        raise GameError(
            f"'{name}' is not the name of a game; write it like leduc, kuhn(pot=8) or goofspiel(4)."
        )
    return call


def _value(word: str, key: str, value: object, kind: str) -> int | float | str:
    if kind == "str":
        if isinstance(value, str):
            return value
        raise GameError(f"{word}: {key} must be a text in quotes, not {value!r}.")
    if kind == "bool":
        if isinstance(value, bool):
            return value
        raise GameError(f"{word}: {key} must be True or False, not {value!r}.")
    whole = "float" not in kind
    number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15
    if not number or (whole and value != int(value)):  # type: ignore[call-overload]
        allowed = "a whole number" if whole else "a number"
        raise GameError(f"{word}: {key} must be {allowed}, not {value!r}.")
    return int(value) if value == int(value) else value  # type: ignore[call-overload, return-value]
