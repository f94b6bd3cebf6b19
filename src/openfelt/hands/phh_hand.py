"""One hand of a PHH file: from its fields to a record."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from openfelt.cards.deck import BOARD_CARDS, RIVER, STREETS
from openfelt.cards.evaluator import hand_value
from openfelt.core.errors import FeltError
from openfelt.games.holdem import (
    BET,
    Holdem,
    bet,
    betting_actions,
    first_betting,
    is_over,
    passive,
    players_in,
)
from openfelt.games.registry import load_game
from openfelt.hands.check import DECK, split_pot
from openfelt.hands.record import HIDDEN, HandRecord

VARIANT = "FT"
GAME = "_game"  # a field of our own, where the game's name has more to it than the number of players
POSTED = {2: (1, 2), 3: (1, 2, 0)}  # chips, as PHH lists the blinds


def record_of(fields: Mapping[str, Any], place: int) -> HandRecord:
    """The hand with these fields, which is the place-th of its file."""
    if fields.get("variant") != VARIANT:
        raise FeltError(
            f"Its variant is {fields.get('variant')}; {VARIANT}, limit Texas hold'em, is what can be read."
        )
    stacks = _numbers(fields, "starting_stacks")
    players = len(stacks)
    if players not in POSTED:
        raise FeltError(f"It has {players} players; 2 or 3 can be read.")
    unit = _unit(fields, players)
    notations = fields.get("actions")
    if not isinstance(notations, list) or not all(isinstance(each, str) for each in notations):
        raise FeltError("Its actions are not a list of texts.")
    game = _game(fields, players)
    hand = _Hand(game, unit)
    for notation in notations:
        hand.read(notation)
    if not is_over(hand.betting):
        raise FeltError("It stops before the hand is over.")
    if any(stack < unit * paid for stack, paid in zip(stacks, hand.betting.paid, strict=True)):
        raise FeltError("A player is all in; our limit hold'em has no stacks that end.")
    number = fields.get("hand")
    return HandRecord(
        game=game.name,
        number=number if type(number) is int and 0 <= number < 1 << 63 else place,
        names=_names(fields, players),
        dealt=tuple(hand.dealt),
        actions=tuple(hand.words),
        won=tuple(_won(fields, hand, stacks)),
    )


def _game(fields: Mapping[str, Any], players: int) -> Holdem:
    name = str(fields.get(GAME, ""))
    game = load_game(name) if name.startswith(Holdem.key) else Holdem(players=players)
    if not isinstance(game, Holdem) or game.players != players:
        raise FeltError(f"Its game is '{name}', but it has {players} players.")
    return game


def _names(fields: Mapping[str, Any], players: int) -> tuple[str, ...]:
    names = fields.get("players", [f"p{seat + 1}" for seat in range(players)])
    if not isinstance(names, list) or [type(name) for name in names] != [str] * players:
        raise FeltError(f"Its players are not {players} names.")
    return tuple(names)


def _unit(fields: Mapping[str, Any], players: int) -> Decimal:
    """What a file writes for a chip, which is our small blind."""
    unit, *_ = blinds = _numbers(fields, "blinds_or_straddles", players)
    bets = _numbers({"bets": [fields.get("small_bet"), fields.get("big_bet")]}, "bets")
    if any(_numbers(fields, "antes", players)):
        raise FeltError("It has antes.")
    if unit <= 0 or blinds != [unit * chips for chips in POSTED[players]]:
        raise FeltError(f"Its blinds are {_listed(blinds)}, not a small blind and a big one of twice that.")
    if bets != [unit * BET[0], unit * BET[RIVER]]:
        raise FeltError(f"Its bets are {_listed(bets)}, not one and two big blinds.")
    return unit


def _won(fields: Mapping[str, Any], hand: _Hand, stacks: list[Decimal]) -> list[float]:
    """Chips, from what the file says of the end, or else by the rules."""
    players, paid = len(stacks), hand.betting.paid
    if "finishing_stacks" in fields and all(stack.is_finite() for stack in stacks):
        left = _numbers(fields, "finishing_stacks", players)
        return [float((after - stack) / hand.unit) for after, stack in zip(left, stacks, strict=True)]
    if "winnings" in fields:
        taken = _numbers(fields, "winnings", players)
        return [float(chips / hand.unit - mine) for chips, mine in zip(taken, paid, strict=True)]
    return split_pot(hand.betting, hand.winners())


def _numbers(fields: Mapping[str, Any], name: str, count: int | None = None) -> list[Decimal]:
    """A list of numbers, of that length."""
    values = fields.get(name)
    if not isinstance(values, list) or any(type(value) not in (int, Decimal) for value in values):
        raise FeltError(f"Its {name} are not numbers.")
    numbers = [Decimal(value) for value in values]
    if any(number.is_nan() for number in numbers) or len(numbers) != (count or len(numbers)):
        raise FeltError(f"Its {name} are not {count or len(numbers)} numbers.")
    return numbers


def _listed(numbers: list[Decimal]) -> str:
    return ", ".join(map(str, numbers))


class _Hand:
    """A hand as it is read, notation by notation."""

    def __init__(self, game: Holdem, unit: Decimal) -> None:
        self.unit = unit
        self.hole: list[list[str]] = [[] for _ in range(game.players)]
        self.board: list[str] = []
        self.words: list[str] = []
        self.betting = first_betting(game.players, game.bets)
        self._before = 0  # chips that each player in the hand had paid before this street
        self._mucked: set[int] = set()

    @property
    def dealt(self) -> list[str]:
        """The cards in the order of the rules."""
        return [card for hole in self.hole for card in (*hole, HIDDEN, HIDDEN)[:2]] + self.board

    def read(self, notation: str) -> None:
        """What one of the file's actions says; the text after # is commentary."""
        match notation.partition("#")[0].split():
            case []:
                pass
            case ["d", "db", cards]:
                if is_over(self.betting):
                    raise FeltError("A board is dealt after the end.")
                self.board += _cards(cards)
            case ["d", "dh", player, cards]:
                self._deal(self._seat(player), _cards(cards))
            case [player, "sm"]:
                self._mucked.add(self._seat(player))
            case [player, "sm", "-"]:  # what he was dealt
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
                raise FeltError(f"'{notation}' is no action of {VARIANT}.")

    def _seat(self, player: str) -> int:
        labels = [f"p{seat + 1}" for seat in range(len(self.hole))]
        if player not in labels:
            raise FeltError(f"There is no player '{player}'.")
        return labels.index(player)

    def _act(self, player: str, word: str, amount: str = "") -> None:
        betting, street = self.betting, self.betting.street
        if is_over(betting):
            raise FeltError(f"{player} acts after the end.")
        if len(self.board) != BOARD_CARDS[street]:
            raise FeltError(f"On the {STREETS[street]} there are {len(self.board)} cards on the board.")
        if self._seat(player) != betting.turn:
            raise FeltError(f"{player} acts where it is p{betting.turn + 1}'s turn.")
        if word not in betting_actions(betting):
            raise FeltError(f"{player} cannot {word} on the {STREETS[street]}.")
        self.betting = bet(betting, word)
        due = self.unit * (max(self.betting.paid) - self._before)
        if amount and Decimal(amount.replace(",", "")) != due:
            raise FeltError(f"{player} makes it {amount} on the {STREETS[street]}, where the limit is {due}.")
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
            raise FeltError(f"p{seat + 1} shows other cards than he was dealt.")

    def winners(self) -> list[int]:
        """Who shares the pot, by the cards."""
        inside = [seat for seat in players_in(self.betting) if seat not in self._mucked]
        if len(inside) == 1:
            return inside
        cards = {seat: (*self.dealt[2 * seat : 2 * seat + 2], *self.board) for seat in inside}
        if not inside or any(HIDDEN in hand for hand in cards.values()):
            raise FeltError("It does not say who won, and not all cards are shown.")
        value = {seat: hand_value(hand) for seat, hand in cards.items()}
        return [seat for seat in inside if value[seat] == max(value.values())]


def _cards(text: str) -> list[str]:
    cards = [text[place : place + 2] for place in range(0, len(text), 2)]
    for card in cards:
        if card not in DECK and card != HIDDEN:
            raise FeltError(f"'{card}' is no card.")
    return cards
