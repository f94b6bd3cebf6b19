"""Limit Texas hold'em for two or three players, as in the Annual Computer Poker Competition.

Seats are those of the competition. Heads-up, seat 0 posts the big blind; seat 1, the dealer, posts the small
blind and acts first before the flop and last after it. With three players, seat 0 posts the small blind, seat
1 the big blind, and seat 2, the dealer, acts first before the flop; after it the first seat still in the hand
does.

The betting arithmetic below is the only one; the betting tree, hand histories and kernels are built from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from openfelt.cards.abstraction.spec import parse_spec
from openfelt.cards.deck import BOARD_CARDS, CARDS, RIVER, card_text, parse_cards
from openfelt.cards.evaluator import hand_value
from openfelt.core.errors import FeltError
from openfelt.games.game import CHANCE, TERMINAL, Game, Unit, require

BLINDS = {2: (2, 1), 3: (1, 2, 0)}  # chips, by seat
BUCKETS = {2: "ehs2:169/100/100/100", 3: "ehs2:169/1000/100/10"}  # HS14, table 1
FIRST = {2: 1, 3: 2}  # the seat that acts first before the flop
SEAT_NAMES = {2: ("big blind", "dealer"), 3: ("small blind", "big blind", "dealer")}
BIG_BLIND = 2
CARD_NUMBERS = {card_text(card): card for card in range(CARDS)}  # "2c": 0, ...
BET = (2, 2, 4, 4)  # chips, by street
MOST_BETS = 4  # per street; before the flop the big blind is the first
ALLOWED_BETS = (3, MOST_BETS)  # three in the models of Billings et al. 2003


class Betting(NamedTuple):
    """The public betting state: everything public but the board."""

    street: int  # one above the river after the last betting round
    paid: tuple[int, ...]  # chips that each player has put in
    folded: tuple[bool, ...]
    bets: int  # on this street
    waiting: int  # players that must still act before the street ends
    turn: int  # the player to act
    most_bets: int = MOST_BETS  # per street


class HoldemState(NamedTuple):
    cards: tuple[int, ...]  # seat 0's two, seat 1's two, ..., then the board, as far as dealt
    betting: Betting


class LimitHoldem(Game):
    """The rules that limit hold'em and games that end on an earlier street share."""

    is_poker: ClassVar[bool] = True
    is_enumerable: ClassVar[bool] = False
    big_blind: ClassVar[float] = float(BIG_BLIND)
    last_street: ClassVar[int] = RIVER

    @property
    def winnings_unit(self) -> Unit:
        return Unit("mbb/h", 1000 / BIG_BLIND, digits=1)

    def turn(self, state: HoldemState) -> int:
        if is_over(state.betting, self.last_street):
            return TERMINAL
        if len(state.cards) < 2 * self.players + BOARD_CARDS[state.betting.street]:
            return CHANCE
        return state.betting.turn

    def actions(self, state: HoldemState) -> Sequence[str]:
        if self.turn(state) == CHANCE:
            return [card_text(card) for card in range(CARDS) if card not in state.cards]
        return betting_actions(state.betting)

    def is_legal(self, state: HoldemState, action: str) -> bool:
        if self.turn(state) == CHANCE:  # without a list of the whole deck
            number = CARD_NUMBERS.get(action)
            return number is not None and number not in state.cards
        return action in betting_actions(state.betting)

    def play(self, state: HoldemState, action: str) -> HoldemState:
        if self.turn(state) == CHANCE:
            return state._replace(cards=state.cards + parse_cards(action))
        return state._replace(betting=bet(state.betting, action))

    def sees(self, state: HoldemState, action: str, player: int) -> str:
        is_hole = len(state.cards) < 2 * self.players
        return action if not is_hole or len(state.cards) // 2 == player else ""

    def stakes(self, state: HoldemState) -> tuple[float, float]:
        return stakes(state.betting, self.last_street)

    def passive(self, state: HoldemState) -> str:
        return passive(state.betting)

    def shown(self, state: HoldemState) -> Sequence[int]:
        inside = players_in(state.betting)
        return inside if len(inside) > 1 else ()

    def payoffs(self, state: HoldemState) -> Sequence[float]:
        betting, board = state.betting, state.cards[2 * self.players :]
        inside = players_in(betting)
        value = dict.fromkeys(inside, 0)
        if len(inside) > 1:
            value = {seat: hand_value((*self.hole(state, seat), *board)) for seat in inside}
        winners = [seat for seat in inside if value[seat] == max(value.values())]
        share = sum(betting.paid) / len(winners)
        return [share * (seat in winners) - betting.paid[seat] for seat in range(self.players)]

    def hole(self, state: HoldemState, seat: int) -> tuple[int, ...]:
        """The hole cards of a seat."""
        return state.cards[2 * seat : 2 * seat + 2]

    def board(self, state: HoldemState) -> tuple[int, ...]:
        """The cards on the table."""
        return state.cards[2 * self.players :]


@dataclass(frozen=True)
class Holdem(LimitHoldem):
    """Limit Texas hold'em: two hole cards, four streets of at most four bets; blinds 1 and 2, bets 2 and 4.

    `buckets` names the card abstraction that solvers use (`felt abstraction`), by default that of HS14 (2p S,
    or 3p). The rules are those of the full game, unless `bets` is 3: then a street has at most three bets, a
    smaller game to train in.
    """

    key: ClassVar[str] = "holdem"
    players: int = 2
    buckets: str = ""
    bets: int = MOST_BETS

    def __post_init__(self) -> None:
        require(self.players in BLINDS, self.key, "players", "2 or 3", self.players)
        require(self.bets in ALLOWED_BETS, self.key, "bets", "3 or 4", self.bets)
        if self.buckets:
            name = parse_spec(self.buckets).name
            object.__setattr__(self, "buckets", "" if name == BUCKETS[self.players] else name)

    @property
    def abstraction(self) -> str:
        """Name of the abstraction, also where it is the default."""
        return self.buckets or BUCKETS[self.players]

    @property
    def unabstracted(self) -> Holdem:
        return Holdem(self.players, bets=self.bets)

    def start(self) -> HoldemState:
        return HoldemState((), first_betting(self.players, self.bets))


def require_holdem(game: Game, user: str = "") -> Holdem:
    """The game, if it is hold'em; else raise FeltError, with the name of the user that needs hold'em."""
    if not isinstance(game, Holdem):
        needs = f"{user} plays limit hold'em" if user else "The game must be hold'em"
        raise FeltError(f"{needs}, not {game.name}.")
    return game


def is_holdem_name(name: str) -> bool:
    """Whether the name of a game is that of hold'em, with any parameters."""
    return name.partition("(")[0] == Holdem.key


def first_betting(players: int, most_bets: int = MOST_BETS) -> Betting:
    """The betting state after the blinds are posted."""
    first, nobody = FIRST[players], (False,) * players
    return Betting(0, BLINDS[players], nobody, bets=1, waiting=players, turn=first, most_bets=most_bets)


def is_over(betting: Betting, last_street: int = RIVER) -> bool:
    """Whether only one player is left, or betting on the last street has ended."""
    return betting.street > last_street or len(players_in(betting)) == 1


def players_in(betting: Betting) -> list[int]:
    """The seats that have not folded."""
    return [seat for seat, folded in enumerate(betting.folded) if not folded]


def betting_actions(betting: Betting) -> Sequence[str]:
    """The legal actions of the player to act."""
    facing = max(betting.paid) > betting.paid[betting.turn]
    words = ["fold", "call"] if facing else ["check"]
    if betting.bets < betting.most_bets:
        words.append("raise" if betting.bets else "bet")
    return words


def passive(betting: Betting) -> str:
    """The action that checks or calls."""
    return next(word for word in betting_actions(betting) if word in ("check", "call"))


def bet(betting: Betting, action: str) -> Betting:
    """The betting state after an action; the last action of a street begins the next one."""
    street, me = betting.street, betting.turn
    paid, folded = list(betting.paid), list(betting.folded)
    bets, waiting = betting.bets, betting.waiting - 1
    if action == "fold":
        folded[me] = True
    else:
        paid[me] = max(paid)
    if action in ("bet", "raise"):
        paid[me] += BET[street]
        bets, waiting = bets + 1, folded.count(False) - 1
    players = len(paid)
    after = [(me + place) % players for place in range(1, players + 1)]
    if waiting == 0:
        street, bets, waiting = street + 1, 0, folded.count(False)
        after = list(range(players))
    turn = next(seat for seat in after if not folded[seat])
    return Betting(street, tuple(paid), tuple(folded), bets, waiting, turn, betting.most_bets)


def stakes(betting: Betting, last_street: int = RIVER) -> tuple[float, float]:
    """The pot at the start of the street, and the most that its players could add from then on."""
    rest = betting.most_bets * sum(BET[betting.street : last_street + 1])  # that one player can pay
    if betting.street == 0:
        blinds = BLINDS[len(betting.paid)]
        return sum(blinds), len(blinds) * rest - sum(blinds)
    level = max(betting.paid) - betting.bets * BET[betting.street]  # paid by all players of the street
    pot = sum(min(chips, level) for chips in betting.paid)
    return pot, sum(chips >= level for chips in betting.paid) * rest
