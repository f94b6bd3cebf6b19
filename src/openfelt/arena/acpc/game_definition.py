"""The competition's game definitions, and which of them are our games.

A definition is a text file, as the README of the competition's server describes it:

    GAMEDEF
    limit
    numPlayers = 2
    ...
    END GAMEDEF

Case does not matter, `#` begins a comment, `=` may be left out, and values beyond those needed are ignored.
Its chips are not ours: limit hold'em has blinds of 5 and 10 there, and of 1 and 2 here. How many of its chips
make one of ours follows from its bets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple, TypeAlias

from openfelt.cards.deck import BOARD_CARDS, RANKS, STREETS, SUITS
from openfelt.core.errors import FeltError, FileError
from openfelt.games.game import Game
from openfelt.games.holdem import ALLOWED_BETS, BET, BLINDS, FIRST, MOST_BETS, Holdem
from openfelt.games.kuhn import Kuhn

LIMIT, NO_LIMIT = "limit", "nolimit"
BEGIN, END = "GAMEDEF", "END GAMEDEF"
ONE, PLAYERS, ROUNDS = "one", "players", "rounds"  # how many values a key has
# The lines of a definition in the order of the server's own files: key, field, how many values.
KEYS = (
    ("numPlayers", "players", ONE),
    ("numRounds", "rounds", ONE),
    ("stack", "stacks", PLAYERS),
    ("blind", "blinds", PLAYERS),
    ("raiseSize", "raises", ROUNDS),
    ("firstPlayer", "first", ROUNDS),
    ("maxRaises", "most_raises", ROUNDS),
    ("numSuits", "suits", ONE),
    ("numRanks", "ranks", ONE),
    ("numHoleCards", "hole_cards", ONE),
    ("numBoardCards", "board_cards", ROUNDS),
)
NAMES = {  # our games by the names of the files that come with the server; the last one is by analogy
    "holdem.limit.2p.reverse_blinds.game": Holdem(2),
    "holdem.limit.3p.game": Holdem(3),
    "kuhn.limit.3p.game": Kuhn(players=3),
    "kuhn.limit.2p.game": Kuhn(),
}
CUSTOM = "custom.game"  # the name of a definition with other chips than those
MOST_BYTES = 1 << 16

Values: TypeAlias = "tuple[int, ...]"


@dataclass(frozen=True)
class GameDefinition:
    """A game in the competition's terms: positions count from the button's left, chips are its own."""

    players: int
    rounds: int
    blinds: Values  # by position
    raises: Values  # what a bet or raise adds, by round; () without limit
    suits: int
    ranks: int
    hole_cards: int
    board_cards: Values  # that each round brings
    first: Values = ()  # who acts first in each round, counted from 1; () means position 1 always
    most_raises: Values = ()  # by round; () means that there is no limit
    stacks: Values = ()  # by position; () means that nobody can go all-in
    betting: str = LIMIT

    @property
    def text(self) -> str:
        """The definition as a file."""
        lines = [
            BEGIN,
            self.betting,
            *(self.line(key) for key, field, _ in KEYS if getattr(self, field) != ()),
        ]
        return "\n".join([*lines, END, ""])

    def line(self, key: str) -> str:
        """One line of it: "maxRaises = 3 4 4 4"."""
        value = getattr(self, next(field for known, field, _ in KEYS if known == key))
        return f"{key} = {' '.join(map(str, value)) if isinstance(value, tuple) else value}"


class CompetitionGame(NamedTuple):
    """One of our games in the competition's terms."""

    game: Game
    definition: GameDefinition
    chip: Fraction  # how many of the definition's chips one of ours is


def read_definition(path: Path) -> GameDefinition:
    """A definition from its file."""
    try:
        with path.open("rb") as file:
            text = file.read(MOST_BYTES + 1).decode()
    except OSError as error:
        raise FileError(f"The game definition {path} cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise FileError(f"{path} is not a game definition: it is not a text.") from None
    if len(text) > MOST_BYTES:
        raise FileError(f"{path} is not a game definition: it has over {MOST_BYTES} letters.")
    return parse_definition(text, str(path))


def parse_definition(text: str, where: str = "The game definition") -> GameDefinition:
    """A definition from its text; `where` is what a fault is blamed on."""
    betting, found = LIMIT, dict[str, tuple[int, ...]]()
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("#")[0].replace("=", " ").split()
        phrase = " ".join(words).lower()
        if phrase == END.lower():
            break
        if phrase in (LIMIT, NO_LIMIT):
            betting = phrase
        elif words and phrase != BEGIN.lower():
            field = next((field for key, field, _ in KEYS if key.lower() == words[0].lower()), None)
            if field is None:
                raise FileError(f"{where}, line {number}: '{line.strip()[:60]}' is not of a game definition.")
            found[field] = _numbers(words[1:], f"{where}, line {number}: {words[0]}")
    else:
        raise FileError(f"{where} has no line '{END}'.")
    return _definition(found, betting, where)


def _numbers(words: Sequence[str], where: str) -> tuple[int, ...]:
    if not words or not all(word.isdecimal() and word.isascii() and len(word) < 10 for word in words):
        raise FileError(f"{where} takes whole numbers, not '{' '.join(words)[:60]}'.")
    return tuple(map(int, words))


def _definition(found: dict[str, tuple[int, ...]], betting: str, where: str) -> GameDefinition:
    """Each key has as many values as there are players, or rounds."""
    fields: dict[str, int | tuple[int, ...]] = {}
    optional = {"stacks", "first", "most_raises", *(["raises"] if betting == NO_LIMIT else [])}
    for key, field, kind in KEYS:
        if field in found:
            count = 1 if kind == ONE else int(fields[kind])  # type: ignore[arg-type]
            if len(found[field]) < count:
                raise FileError(f"{where}: {key} needs {count} numbers, not {len(found[field])}.")
            if kind == ONE and found[field][0] == 0:
                raise FileError(f"{where}: {key} must be at least 1.")
            fields[field] = found[field][0] if kind == ONE else found[field][:count]
        elif field not in optional:
            raise FileError(f"{where} has no line '{key} = ...'.")
        else:
            fields[field] = ()
    return GameDefinition(**fields, betting=betting)  # type: ignore[arg-type]


def definition_of(game: Game, chip: int | None = None) -> CompetitionGame:
    """A game of ours in the competition's terms; by default with the chips of the server's own files."""
    if isinstance(game, Holdem):
        return CompetitionGame(game, _holdem(game, chip or 5), Fraction(chip or 5))
    if isinstance(game, Kuhn):
        ante = Fraction(game.ante).limit_denominator(1000)
        if ante != Fraction(game.ante):
            raise FeltError(
                f"The antes of {game.name} are no whole number of chips that a definition could have."
            )
        scale = (chip or 1) * ante.denominator
        return CompetitionGame(game, _kuhn(game, int(ante * scale), scale), Fraction(scale))
    raise FeltError(f"The competition's protocol is spoken in holdem and kuhn here, not in {game.name}.")


def game_of(definition: GameDefinition) -> CompetitionGame:
    """The game of ours that a definition describes, or a sentence that names the line that is not ours."""
    players, one_card = definition.players, definition.hole_cards == 1
    if definition.betting != LIMIT:
        raise FeltError(
            f"The line '{definition.betting}' of the game definition is not ours: games here have a limit."
        )
    if players not in BLINDS:
        raise _not_ours(definition, "numPlayers", "2 or 3 play here")
    if definition.hole_cards not in (1, 2):
        raise _not_ours(definition, "numHoleCards", "hold'em has 2 and Kuhn poker 1")
    size = definition.raises[0]
    if size == 0:
        raise _not_ours(definition, "raiseSize", "a bet has at least one chip")
    if one_card:
        if definition.blinds[0] == 0:
            raise _not_ours(definition, "blind", "everybody antes in Kuhn poker")
        game: Game = Kuhn(pot=players * definition.blinds[0] / size, players=players)
        ours, chip = _kuhn(Kuhn(players=players), definition.blinds[0], size), Fraction(size)
        most = definition.blinds[0] + size
    else:
        bets = max(definition.most_raises, default=MOST_BETS)
        game = Holdem(players, bets=bets if bets in ALLOWED_BETS else MOST_BETS)
        chip = Fraction(size, BET[0])
        if chip.denominator > 1:
            raise _not_ours(definition, "raiseSize", "the small blind, half of it, would be no whole number")
        ours, most = _holdem(game, int(chip)), game.bets * sum(BET) * int(chip)
    _compare(definition, ours, "Kuhn poker" if one_card else "limit hold'em")
    if definition.stacks and min(definition.stacks) < most:
        raise _not_ours(definition, "stack", f"nobody can go all-in here, so {most} chips are needed")
    return CompetitionGame(game, definition, chip)


def _compare(definition: GameDefinition, ours: GameDefinition, name: str) -> None:
    for key, field, _ in KEYS:
        theirs = getattr(definition, field) or ((1,) * definition.rounds if field == "first" else ())
        if field != "stacks" and theirs != getattr(ours, field):
            there = definition.line(key) if theirs else f"{key} (there is none)"
            raise FeltError(
                f"The line '{there}' of the game definition is not ours: "
                f"{name} for {ours.players} has '{ours.line(key)}'."
            )


def _not_ours(definition: GameDefinition, key: str, why: str) -> FeltError:
    return FeltError(f"The line '{definition.line(key)}' of the game definition is not ours: {why}.")


def _holdem(game: Holdem, chip: int) -> GameDefinition:
    return GameDefinition(
        players=game.players,
        rounds=len(STREETS),
        blinds=tuple(chip * blind for blind in BLINDS[game.players]),
        raises=tuple(chip * bet for bet in BET),
        first=(FIRST[game.players] + 1, 1, 1, 1),
        most_raises=(game.bets - 1, game.bets, game.bets, game.bets),  # the big blind is the first bet
        suits=len(SUITS),
        ranks=len(RANKS),
        hole_cards=2,
        board_cards=tuple(now - before for before, now in zip((0, *BOARD_CARDS), BOARD_CARDS, strict=False)),
    )


def _kuhn(game: Kuhn, ante: int, bet: int) -> GameDefinition:
    return GameDefinition(
        players=game.players,
        rounds=1,
        blinds=(ante,) * game.players,
        raises=(bet,),
        first=(1,),
        most_raises=(1,),
        suits=1,
        ranks=len(game.deck),
        hole_cards=1,
        board_cards=(0,),
    )


def file_name(rules: CompetitionGame) -> str:
    """What a log calls the game: its file that comes with the server, or where there is none our own name."""
    game = rules.game
    # The buckets of hold'em are no matter of the rules.
    plain = Holdem(game.players, bets=game.bets) if isinstance(game, Holdem) else game
    if definition_of(plain).chip != rules.chip:
        return CUSTOM
    return next((name for name, known in NAMES.items() if known == plain), plain.name)
