"""Limit hold'em at the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from openfelt.cards.deck import BOARD_CARDS, CARDS, PREFLOP, RANKS, RIVER, STREETS, card_text
from openfelt.cards.evaluator import CATEGORY_SHIFT, RANK_SHIFT, hand_value
from openfelt.games.holdem import BET, BIG_BLIND, BLINDS, MOST_BETS, Holdem, HoldemState
from openfelt.table.presentation.presentation import Chips, Presentation
from openfelt.table.presentation.text import RANK_NAMES, YOU, card_signs, plural, sentence_start, verb

BLIND_NAMES = {BIG_BLIND: "big blind", BIG_BLIND // 2: "small blind", 0: ""}
STREET_NAMES = (*STREETS, "showdown")
RANK_MASK = (1 << RANK_SHIFT) - 1
MADE = 5  # cards of a poker hand


class HoldemPresentation(Presentation[Holdem]):
    """Two cards each, five on the board, blinds."""

    hole_size: ClassVar[int] = 2
    board_size: ClassVar[int] = BOARD_CARDS[RIVER]
    streets: ClassVar[tuple[str, ...]] = STREETS
    big_blind: ClassVar[float | None] = BIG_BLIND

    @property
    def title(self) -> str:
        bets = f", at most {self.game.bets} bets a street" if self.game.bets != MOST_BETS else ""
        return f"Limit hold'em, {'three-handed' if self.game.players == 3 else 'heads-up'}{bets}"

    @property
    def deck(self) -> list[str]:
        return [card_text(card) for card in range(CARDS)]

    @property
    def largest_loss(self) -> float:
        return self.game.bets * sum(BET)

    @property
    def forced_bets(self) -> tuple[float, ...]:
        return BLINDS[self.game.players]

    @property
    def forced_bet_names(self) -> tuple[str, ...]:
        return tuple(BLIND_NAMES[blind] for blind in BLINDS[self.game.players])

    def position(self, seat: int) -> str:
        """The button, the small blind or the big blind."""
        return f"the {'button' if seat == self.button else self.forced_bet_names[seat]}"

    def chips(self, state: HoldemState) -> Chips:
        betting = state.betting
        is_over, street = betting.street > RIVER, min(betting.street, RIVER)
        # What was paid before this street; before the flop the blinds count as bets.
        level = 0 if street == PREFLOP else max(betting.paid) - betting.bets * BET[street]
        bets = tuple(0 if is_over else max(0, paid - level) for paid in betting.paid)
        return Chips(betting.paid, bets, betting.folded, BET[street], STREET_NAMES[betting.street])

    def opening(self, names: Sequence[str], seat: int) -> str:
        dealer = names[self.button]
        posts = [
            f"{name} {verb(name, 'post')} the {blind} of {chips:g}"
            for name, blind, chips in zip(names, self.forced_bet_names, self.forced_bets, strict=True)
            if blind
        ]
        has_button = f"{sentence_start(dealer)} {'have' if dealer == YOU else 'has'} the button"
        return f"{has_button}. {sentence_start(' and '.join(posts))}."

    def deal_text(self, cards: Sequence[str], dealt: int) -> str:
        if not self.is_board(dealt):
            return f"Your cards: {card_signs(cards)}."
        street = BOARD_CARDS.index(dealt - self.hole_size * self.game.players)
        return f"{STREETS[street].capitalize()}: {card_signs(cards)}."

    def hand_name(self, hole: Sequence[str], board: Sequence[str]) -> str:
        cards = (*hole, *board)
        return poker_hand_name("".join(cards)) if len(cards) >= MADE else hole_name(hole)

    def showdown_names(self, holes: Sequence[Sequence[str]], board: Sequence[str]) -> list[str]:
        values = [hand_value("".join((*hole, *board))) for hole in holes]
        return [_value_name(value, _deciding_kickers(value, values)) for value in values]


def poker_hand_name(cards: str) -> str:
    """The best hand of five to seven cards: "two pair, kings and fours"."""
    return _value_name(hand_value(cards), 0)


def hole_name(hole: Sequence[str]) -> str:
    """Two hole cards: "a pair of nines", "ace-king suited"."""
    high, low = sorted((RANKS.index(card[0]) for card in hole), reverse=True)
    if high == low:
        return f"a pair of {plural(RANK_NAMES[high])}"
    suits = "suited" if hole[0][1] == hole[1][1] else "offsuit"
    return f"{RANK_NAMES[high]}-{RANK_NAMES[low]} {suits}"


def _value_name(value: int, kickers: int) -> str:
    """The name of a hand by its value, with that many of its kickers."""
    main, rest = _rank_names(value >> RANK_SHIFT & RANK_MASK), _rank_names(value & RANK_MASK)
    many = [plural(name) for name in main]
    return (
        lambda: f"{rest[0]} high{_kicker_text(rest[1 : 1 + kickers])}",
        lambda: f"a pair of {many[0]}{_kicker_text(rest[:kickers])}",
        lambda: f"two pair, {many[0]} and {many[1]}{_kicker_text(rest[:kickers])}",
        lambda: f"three {many[0]}{_kicker_text(rest[:kickers])}",
        lambda: f"{_article(rest[0])}-high straight",
        lambda: f"a flush, {'-'.join(rest[: 1 + kickers])} high",
        lambda: f"a full house, {many[0]} over {plural(rest[0])}",
        lambda: f"four {many[0]}{_kicker_text(rest[:kickers])}",
        lambda: "a royal flush" if rest[0] == RANK_NAMES[-1] else f"{_article(rest[0])}-high straight flush",
    )[value >> CATEGORY_SHIFT]()


def _deciding_kickers(value: int, values: Sequence[int]) -> int:
    """How many kickers must be named to tell a hand from the others of the same name."""
    name, rivals = _value_name(value, 0), [other for other in values if other != value]
    rivals = [other for other in rivals if _value_name(other, 0) == name]
    for kickers in range(1, 5):
        if not any(_value_name(other, kickers - 1) == _value_name(value, kickers - 1) for other in rivals):
            return kickers - 1
    return 4


def _kicker_text(ranks: Sequence[str]) -> str:
    """The end of a name: a comma, then "king kicker" or "king and nine kickers"."""
    if not ranks:
        return ""
    named = ranks[0] if len(ranks) == 1 else f"{', '.join(ranks[:-1])} and {ranks[-1]}"
    return f", {named} kicker{'s' if len(ranks) > 1 else ''}"


def _article(rank: str) -> str:
    return f"{'an' if rank in ('eight', 'ace') else 'a'} {rank}"


def _rank_names(mask: int) -> list[str]:
    """The names of the ranks in a mask, highest first."""
    return [name for rank, name in reversed(list(enumerate(RANK_NAMES))) if mask >> rank & 1]
