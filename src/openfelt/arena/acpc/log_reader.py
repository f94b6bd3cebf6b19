"""Reads the lines of a match log: replays each hand by the rules, and compares numbers and winnings."""

from __future__ import annotations

import os
from collections.abc import Sequence

from openfelt.arena.acpc.competition_game import NAMES, CompetitionGame, definition_of
from openfelt.arena.acpc.match_state import MessageError, parse_number, parse_state
from openfelt.arena.acpc.protocol_game import check_cards, dealt_words, follow
from openfelt.core.errors import FeltError
from openfelt.games.registry import load_game
from openfelt.hands.record import HandRecord

HEADER = "# name/game/hands/seed"
TOLERANCE = 1e-5  # winnings have six digits after the decimal point
DIGITS = frozenset("0123456789.-")


class LogReader:
    """Reads a log line by line, with the game, the winnings and the hands so far."""

    def __init__(self, rules: CompetitionGame | None, partial: bool) -> None:
        self._fixed_rules = self._rules = rules
        self._partial = partial
        self._won: dict[str, float] = {}
        self._hands = 0  # of the current match
        self._last = -1  # the number of the last one
        self._announced: int | None = None  # by the match's header

    def read(self, text: str) -> HandRecord | None:
        """The hand of a line, or None if it has none; raises MessageError."""
        if text.startswith(HEADER):
            self._header(text)
            return None
        if not text or text.startswith("#"):
            return None
        kind, *fields = text.split(":")
        if kind == "STATE" and len(fields) == 5:
            return self._hand(*fields)
        if kind == "SCORE" and len(fields) == 2:
            self._score(*fields)
            return None
        raise MessageError("it is neither a comment nor STATE with five fields nor SCORE with two.")

    def _header(self, text: str) -> None:
        if self._announced is not None or self._hands:
            self.finish()
        words = text.removeprefix(HEADER).split()
        if len(words) != 4:
            raise MessageError("the header must have a name, a game, the number of hands and a seed.")
        self._won, self._hands, self._announced = {}, 0, parse_number(words[2], "number of hands")
        if self._fixed_rules is None:
            name = os.path.basename(words[1])
            self._rules = definition_of(NAMES[name]) if name in NAMES else _game_by_name(words[1])

    def _hand(self, hand: str, betting: str, cards: str, winnings: str, who: str) -> HandRecord:
        if self._rules is None:
            raise MessageError("the log has no header that names the game; give its definition.")
        game, _, chip = self._rules
        number, rounds, hole, board = parse_state(hand, betting, cards)
        line = follow(game, rounds)
        if not line.over:
            raise MessageError(f"the hand is not over after '{line.letters}'.")
        check_cards(game, hole, board)
        won, names = _numbers(winnings, game.players), tuple(who.split("|"))
        if len(names) != game.players:
            raise MessageError(f"there are {len(names)} names for {game.players} players.")
        dealt = dealt_words(game, hole, board)
        if any(not hole[position] for position in line.shown):
            exact = [value / float(chip) for value in won]
        else:
            exact = list(line.payoffs(dealt))
            ours = [value * float(chip) for value in exact]
            if any(abs(own - given) > TOLERANCE for own, given in zip(ours, won, strict=True)):
                raise MessageError(f"by the rules the winnings are {chips_text(ours)}, not {winnings}.")
        self._count(number)
        for name, value in zip(names, exact, strict=True):
            self._won[name] = self._won.get(name, 0.0) + value
        return HandRecord(game.name, number, names, dealt, line.actions, tuple(exact))

    def _count(self, number: int) -> None:
        if self._hands and number != self._last + 1:
            raise MessageError(f"hand {number} follows hand {self._last}: the numbers must be consecutive.")
        if self._hands == self._announced:
            raise MessageError(f"the header announces {self._announced:,} hands, and this is one more.")
        self._hands, self._last = self._hands + 1, number

    def finish(self) -> None:
        """Raise if the match has fewer hands than announced."""
        if self._partial:
            return
        if self._announced is not None and self._hands < self._announced:
            raise MessageError(
                f"the header announces {self._announced:,} hands, but the match has {self._hands:,}."
            )
        if not self._hands:
            raise MessageError("the log has no hand.")

    def _score(self, winnings: str, who: str) -> None:
        self.finish()
        if self._rules is None:
            return
        names = who.split("|")
        given = dict(zip(names, _numbers(winnings, len(names)), strict=True))
        chip, slack = float(self._rules.chip), TOLERANCE * (1 + self._hands)
        if len(given) < len(names):  # players with the same name cannot be distinguished
            return
        for name, value in given.items():
            summed = self._won.get(name, 0.0) * chip
            if abs(summed - value) > slack:
                raise MessageError(
                    f"{name}'s hands sum to {chips_text([summed])}, not {chips_text([value])}."
                )


def _game_by_name(name: str) -> CompetitionGame:
    try:
        return definition_of(load_game(name))
    except FeltError:
        raise MessageError(f"the game '{name}' is not known by that name; give its definition.") from None


def _numbers(text: str, count: int) -> list[float]:
    words = text.split("|")
    try:
        if len(words) != count or not DIGITS.issuperset(text.replace("|", "")):
            raise ValueError
        return [float(word) for word in words]
    except ValueError:
        raise MessageError(f"'{text[:60]}' are not the winnings of {count} players.") from None


def chips_text(won: Sequence[float]) -> str:
    """Winnings as in a log: at most six digits after the decimal point, without trailing zeros."""
    return "|".join(f"{value + 0.0:.6f}".rstrip("0").rstrip(".") for value in won)
