"""Conversion of one hand of a PHH file to a record."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from openfelt.cards.deck import BOARD_CARDS, RIVER, STREETS
from openfelt.cards.evaluator import hand_value
from openfelt.core.errors import FeltError
from openfelt.games.holdem import (
    BET,
    CARD_NUMBERS,
    Holdem,
    bet,
    betting_actions,
    first_betting,
    is_over,
    passive,
    players_in,
    require_holdem,
)
from openfelt.games.registry import load_game
from openfelt.hands.check import split_pot
from openfelt.hands.record import HIDDEN, HandRecord

VARIANT = "FT"
GAME = "_game"  # our own field, for a game with more parameters than the number of players
POSTED = {2: (1, 2), 3: (1, 2, 0)}  # chips, as PHH lists the blinds


def record_of(fields: Mapping[str, Any], place: int) -> HandRecord:
    """The record of a hand; `place` is its number in the file, for hands without one."""
    if fields.get("variant") != VARIANT:
        raise FeltError(
            f"The variant is {fields.get('variant')}; only {VARIANT}, limit Texas hold'em, can be read."
        )
    stacks = _numbers(fields, "starting_stacks")
    players = len(stacks)
    if players not in POSTED:
        raise FeltError(f"There are {players} players; only 2 or 3 can be read.")
    unit = _unit(fields, players)
    notations = fields.get("actions")
    if not isinstance(notations, list) or not all(isinstance(each, str) for each in notations):
        raise FeltError("The actions are not a list of texts.")
    game = _game(fields, players)
    hand = _HandReader(game, unit)
    for notation in notations:
        hand.read(notation)
    if not is_over(hand.betting):
        raise FeltError("The actions end before the hand is over.")
    if any(stack < unit * paid for stack, paid in zip(stacks, hand.betting.paid, strict=True)):
        raise FeltError("A player is all in; only hands without all-ins can be read.")
    return HandRecord(
        game=game.name,
        number=hand_number(fields, place),
        names=_names(fields, players),
        dealt=tuple(hand.dealt),
        actions=tuple(hand.words),
        won=tuple(_won(fields, hand, stacks)),
    )


def hand_number(fields: Mapping[str, Any], place: int) -> int:
    """The number of a hand, by default its place in the file."""
    number = fields.get("hand")
    return number if type(number) is int and 0 <= number < 1 << 63 else place


def _game(fields: Mapping[str, Any], players: int) -> Holdem:
    name = str(fields.get(GAME, ""))
    game = require_holdem(load_game(name)) if name.startswith(Holdem.key) else Holdem(players=players)
    if game.players != players:
        raise FeltError(f"The game is '{name}', but there are {players} players.")
    return game


def _names(fields: Mapping[str, Any], players: int) -> tuple[str, ...]:
    names = fields.get("players", [f"p{seat + 1}" for seat in range(players)])
    if not isinstance(names, list) or [type(name) for name in names] != [str] * players:
        raise FeltError(f"The players are not {players} names.")
    return tuple(names)


def _unit(fields: Mapping[str, Any], players: int) -> Decimal:
    """What the file writes for a chip, the small blind of our rules."""
    unit, *_ = blinds = _numbers(fields, "blinds_or_straddles", players)
    bets = _numbers({"bets": [fields.get("small_bet"), fields.get("big_bet")]}, "bets")
    if any(_numbers(fields, "antes", players)):
        raise FeltError("There are antes; only hands without antes can be read.")
    if unit <= 0 or blinds != [unit * chips for chips in POSTED[players]]:
        raise FeltError(
            f"The blinds are {_listed(blinds)}; they must be a small blind and a big blind of twice that."
        )
    if bets != [unit * BET[0], unit * BET[RIVER]]:
        raise FeltError(f"The bets are {_listed(bets)}; they must be one and two big blinds.")
    return unit


def _won(fields: Mapping[str, Any], hand: _HandReader, stacks: list[Decimal]) -> list[float]:
    """Winnings in chips: from the file if it has them, else by the rules."""
    players, paid = len(stacks), hand.betting.paid
    found = list[list[float]]()
    if "finishing_stacks" in fields and all(stack.is_finite() for stack in stacks):
        left = _numbers(fields, "finishing_stacks", players)
        found.append([float((after - stack) / hand.unit) for after, stack in zip(left, stacks, strict=True)])
    if "winnings" in fields:
        taken = _numbers(fields, "winnings", players)
        found.append([float(chips / hand.unit - own) for chips, own in zip(taken, paid, strict=True)])
    if found[1:] and found[0] != found[1]:
        raise FeltError("The fields finishing_stacks and winnings contradict each other.")
    return found[0] if found else split_pot(hand.betting, hand.winners())


def _numbers(fields: Mapping[str, Any], name: str, count: int | None = None) -> list[Decimal]:
    """The numbers in a field, `count` of them."""
    values = fields.get(name)
    if not isinstance(values, list) or any(type(value) not in (int, Decimal) for value in values):
        raise FeltError(f"The field {name} is not a list of numbers.")
    numbers = [Decimal(value) for value in values]
    if any(number.is_nan() for number in numbers) or len(numbers) != (count or len(numbers)):
        raise FeltError(f"The field {name} is not a list of {count or len(numbers)} numbers.")
    return numbers


def _listed(numbers: list[Decimal]) -> str:
    return ", ".join(map(str, numbers))


class _HandReader:
    """Reads a hand, notation by notation."""

    def __init__(self, game: Holdem, unit: Decimal) -> None:
        self.unit = unit
        self.hole: list[list[str]] = [[] for _ in range(game.players)]
        self.board: list[str] = []
        self.words: list[str] = []
        self.betting = first_betting(game.players, game.bets)
        self._before = 0  # chips that each player had paid before this street
        self._mucked: set[int] = set()

    @property
    def dealt(self) -> list[str]:
        """The cards in the order of the rules."""
        return [card for hole in self.hole for card in (*hole, HIDDEN, HIDDEN)[:2]] + self.board

    def read(self, notation: str) -> None:
        """Apply one action of the file; the text after # is a comment."""
        match notation.partition("#")[0].split():
            case []:
                pass
            case ["d", "db", cards]:
                if is_over(self.betting):
                    raise FeltError("Board cards are dealt after the end of the hand.")
                self.board += _cards(cards)
            case ["d", "dh", player, cards]:
                self._deal(self._seat(player), _cards(cards))
            case [player, "sm"]:
                self._mucked.add(self._seat(player))
            case [player, "sm", "-"]:  # shows the cards that it was dealt
                self._seat(player)
            case [player, "sm", cards]:
                self._show(self._seat(player), _cards(cards))
            case [player, "f"]:
                self._act(player, "fold")
            case [player, "cc"]:
                self._act(player, passive(self.betting))
            case [player, "cbr", amount]:
                self._act(player, "raise" if self.betting.bets else "bet", amount)
            case _:
                raise FeltError(f"'{notation[:60]}' is not an action of {VARIANT}.")

    def _seat(self, player: str) -> int:
        labels = [f"p{seat + 1}" for seat in range(len(self.hole))]
        if player not in labels:
            raise FeltError(f"There is no player '{player}'.")
        return labels.index(player)

    def _act(self, player: str, word: str, amount: str = "") -> None:
        betting, street = self.betting, self.betting.street
        if is_over(betting):
            raise FeltError(f"{player} acts after the end of the hand.")
        if len(self.board) != BOARD_CARDS[street]:
            raise FeltError(f"On the {STREETS[street]} the board has {len(self.board)} cards.")
        if self._seat(player) != betting.turn:
            raise FeltError(f"{player} acts, but it is p{betting.turn + 1}'s turn.")
        if word not in betting_actions(betting):
            raise FeltError(f"{player} cannot {word} on the {STREETS[street]}.")
        self.betting = bet(betting, word)
        due = self.unit * (max(self.betting.paid) - self._before)
        if amount and Decimal(amount.replace(",", "")) != due:
            raise FeltError(f"{player} raises to {amount} on the {STREETS[street]}; the limit is {due}.")
        if self.betting.street > street:
            self._before = max(self.betting.paid)
        self.words.append(word)

    def _deal(self, seat: int, cards: list[str]) -> None:
        self.hole[seat] += cards
        if len(self.hole[seat]) > 2:
            raise FeltError(f"p{seat + 1} has more than two hole cards.")

    def _show(self, seat: int, cards: list[str]) -> None:
        dealt = self.dealt[2 * seat : 2 * seat + 2]
        if HIDDEN in dealt:
            self.hole[seat] = []
            self._deal(seat, cards)
        elif not set(cards) <= {*dealt, HIDDEN}:
            raise FeltError(f"p{seat + 1} shows other cards than it was dealt.")

    def winners(self) -> list[int]:
        """The seats that share the pot, by their cards."""
        inside = [seat for seat in players_in(self.betting) if seat not in self._mucked]
        if len(inside) == 1:
            return inside
        cards = {seat: (*self.dealt[2 * seat : 2 * seat + 2], *self.board) for seat in inside}
        if not inside or any(HIDDEN in hand for hand in cards.values()):
            raise FeltError("The winner is not recorded, and not all cards are shown.")
        value = {seat: hand_value(hand) for seat, hand in cards.items()}
        return [seat for seat in inside if value[seat] == max(value.values())]


def _cards(text: str) -> list[str]:
    cards = [text[place : place + 2] for place in range(0, len(text), 2)]
    for card in cards:
        if card not in CARD_NUMBERS and card != HIDDEN:
            raise FeltError(f"'{card}' is not a card.")
    return cards
