"""The language bias of relational trees (PGC10), which users can extend.

A *fact* is a number, of the public state or of the cards; trees test whether it exceeds a limit. A *literal*
tests for an earlier action (`public_queries.py`); literals on one path of a tree share variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from openfelt.cards.deck import Bytes
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, Ints
from openfelt.opponents.models.domain import CARD_FACTS, ModelDomain
from openfelt.opponents.models.public_queries import ANOTHER, IN_GAME, IN_PHASE, THE_PLAYER
from openfelt.opponents.models.public_tree import CALL, FACTS, FOLD, RAISE

Columns = Mapping[str, Floats]  # by name in FACTS: the numbers of some decisions
Literal = tuple[int, int, int, int]  # parent, who, what, where; see public_queries.py
Query = tuple[Literal, ...]

HAND_RANK = "hand_rank"
MOST_LOOKAHEAD = 2
_ACTORS = ((THE_PLAYER, CALL), (THE_PLAYER, RAISE), (ANOTHER, CALL), (ANOTHER, RAISE), (ANOTHER, FOLD))


def columns_by_fact(facts: Bytes) -> Columns:
    """Columns by name, from [decisions, FACTS]."""
    return {name: facts[:, place].astype(np.float64) for place, name in enumerate(FACTS)}


@dataclass(frozen=True)
class PublicFact:
    """A number of a public state, from the columns of FACTS."""

    name: str
    function: Callable[[Columns], Floats]


@dataclass(frozen=True)
class CardFact:
    """A number of each holding, [holdings] for a domain; a `flag` is 1 or 0."""

    name: str
    function: Callable[[ModelDomain], Floats]
    flag: bool = False


def _fact(name: str, column: str) -> PublicFact:
    return PublicFact(name, lambda columns: columns[column])


def _ratio(name: str, column: str) -> PublicFact:
    return PublicFact(name, lambda columns: columns[column] / np.maximum(columns["pot"], 1.0))


def _card(name: str, *, flag: bool) -> CardFact:
    return CardFact(name, lambda domain: domain.card_facts[CARD_FACTS.index(name)], flag)


PUBLIC = (
    _fact("phase", "phase"),
    _fact("game_number_bets", "bets_in_game"),
    _fact("phase_number_bets", "bets_in_phase"),
    _fact("player_number_bets", "bets_of_player"),
    _ratio("pot_odds", "to_call"),
    _ratio("pot_ratio", "paid"),
)
CARDS = (_card("sum_hole_cards", flag=False), _card("suited", flag=True), _card("pair", flag=True))


@dataclass(frozen=True)
class LanguageBias:
    """All tests that a tree may use; the default is PGC10's."""

    public: tuple[PublicFact, ...] = PUBLIC
    cards: tuple[CardFact, ...] = CARDS
    hand_rank: bool = True  # whether the hand rank may be tested
    lookahead: int = MOST_LOOKAHEAD  # most literals that one test may add
    most_literals: int = 4  # on a path

    def __post_init__(self) -> None:
        names = self._names()
        for name in names:
            if not name.isidentifier():
                raise FeltError(f"A fact's name has letters, digits and underscores only, unlike '{name}'.")
        if len({HAND_RANK, "action", *(name.lower() for name in names)}) < len(names) + 2:
            raise FeltError(f"Names of facts must be distinct, and not {HAND_RANK} or action: {names}.")
        if not 0 <= self.lookahead <= MOST_LOOKAHEAD:
            raise FeltError(f"A test adds 0 to {MOST_LOOKAHEAD} literals at a time, not {self.lookahead}.")
        if not 0 <= self.most_literals <= 8:
            raise FeltError(f"A path has 0 to 8 literals, not {self.most_literals}.")

    def _names(self) -> list[str]:
        return [*(fact.name for fact in self.public), *(fact.name for fact in self.cards)]

    def public_numbers(self, name: str, columns: Columns) -> Floats:
        """[decisions] the numbers of a public fact."""
        fact = next(each for each in self.public if each.name == name)
        return _numbers(name, fact.function(columns), len(columns[FACTS[0]]))

    def card_numbers(self, domain: ModelDomain) -> Floats:
        """[card facts, holdings] the numbers of all card facts."""
        rows = [_numbers(fact.name, fact.function(domain), domain.holdings) for fact in self.cards]
        return np.array(rows).reshape(-1, domain.holdings)

    def has_fact(self, name: str) -> bool:
        """Whether tests may compare this fact."""
        return name == HAND_RANK or name in self._names()

    def is_flag(self, name: str) -> bool:
        """Whether a fact is 1 or 0."""
        return any(fact.name == name and fact.flag for fact in self.cards)

    def extensions(self, query: Query, *, others: int) -> Iterator[Query]:
        """Literals that a test may add to the path's query, the short ones first."""
        room = min(self.lookahead, self.most_literals - len(query))
        for first in _literals(range(len(query) + 1), others) if room >= 1 else ():
            yield (first,)
        for first in _literals(range(len(query) + 1), others) if room >= 2 else ():
            for second in _literals((len(query) + 1,), others):
                yield (first, second)

    def to_save(self) -> dict[str, Any]:
        """What is saved: of facts only the names."""
        return {
            "public": [fact.name for fact in self.public],
            "cards": [fact.name for fact in self.cards],
            "hand_rank": self.hand_rank,
            "lookahead": self.lookahead,
            "most_literals": self.most_literals,
        }

    def restored(self, saved: Mapping[str, Any]) -> LanguageBias:
        """The saved bias, with the functions of this one's facts."""
        public = {fact.name: fact for fact in (*PUBLIC, *self.public)}
        cards = {fact.name: fact for fact in (*CARDS, *self.cards)}
        missing = {*saved["public"]} - {*public} | {*saved["cards"]} - {*cards}
        if missing:
            raise FeltError(
                f"The model uses facts of your own ({', '.join(sorted(missing))}): load it with "
                "load_relational(folder, bias), where the bias defines them."
            )
        return LanguageBias(
            tuple(public[name] for name in saved["public"]),
            tuple(cards[name] for name in saved["cards"]),
            bool(saved["hand_rank"]),
            int(saved["lookahead"]),
            int(saved["most_literals"]),
        )


def _numbers(name: str, given: Any, count: int) -> Floats:
    numbers = np.asarray(given, np.float64)
    if numbers.shape != (count,) or not np.isfinite(numbers).all():
        raise FeltError(f"The fact '{name}' must give {count} finite numbers, one for each row.")
    return numbers


def _literals(parents: Any, others: int) -> Iterator[Literal]:
    for parent in parents:
        for who, what in _ACTORS:
            if what != FOLD or others > 1:  # when the only opponent folds, the hand is over
                for where in (IN_GAME, IN_PHASE):
                    yield (parent, who, what, where)


def query_array(query: Query) -> Ints:
    """A query for kernels."""
    return np.array(query, np.int32).reshape(-1, 4)
