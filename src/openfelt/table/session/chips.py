"""What lies on the table, in the games that are played at one: Kuhn poker, Leduc hold'em, limit hold'em."""

from __future__ import annotations

from typing import Any, NamedTuple

from openfelt.cards.deck import BOARD_CARDS, RIVER, STREETS
from openfelt.core.errors import FeltError
from openfelt.games.game import Game
from openfelt.games.holdem import BET, BIG_BLIND, BLINDS, Betting, Holdem
from openfelt.games.kuhn import Kuhn, KuhnState
from openfelt.games.leduc import MOST_RAISES, RAISE, Leduc, LeducState

FOLD, CHECK, CALL, RAISED = "fold", "check", "call", "raise"  # what an action comes to in any of them
ALL_STREETS = (*STREETS, "showdown")


class Chips(NamedTuple):
    """By seat of the rules."""

    paid: tuple[float, ...]  # in this hand
    bets: tuple[float, ...]  # of that, on this street
    folded: tuple[bool, ...]
    step: float  # by how much a bet or raise on this street goes up
    street: str


class Furniture(NamedTuple):
    """What does not change in a hand."""

    hole: int  # cards in a hand
    board: int  # cards on the table in the end
    button: int  # the seat that acts last
    posts: tuple[str, ...]  # what each seat pays before the deal
    posted: tuple[float, ...]
    most: float  # chips that a player can lose in a hand
    unit_bet: float | None  # chips in a big blind, where winnings are told in thousandths of one


def furniture(game: Game) -> Furniture:
    """Of one of the three games."""
    everyone = range(game.players)
    if isinstance(game, Holdem):
        blinds = BLINDS[game.players]
        names = {BIG_BLIND: "big blind", BIG_BLIND // 2: "small blind", 0: ""}
        posts = tuple(names[chips] for chips in blinds)
        most = game.bets * sum(BET)
        return Furniture(2, BOARD_CARDS[RIVER], game.players - 1, posts, blinds, most, BIG_BLIND)
    antes = ("ante",) * game.players
    if isinstance(game, Leduc):
        most = 1 + MOST_RAISES * sum(RAISE)
        return Furniture(1, 1, game.players - 1, antes, tuple(1.0 for _ in everyone), most, None)
    if isinstance(game, Kuhn):
        paid = tuple(game.ante for _ in everyone)
        return Furniture(1, 0, game.players - 1, antes, paid, game.ante + 1, None)
    raise FeltError(f"{game.name} is not played at this table.")


def chips(game: Game, state: Any) -> Chips:
    """What lies there in a state of one of the three games."""
    if isinstance(game, Holdem):
        return _holdem(state.betting)
    return _leduc(state) if isinstance(game, Leduc) else _kuhn(game, state)


def _holdem(betting: Betting) -> Chips:
    street = min(betting.street, RIVER)
    over = betting.street > RIVER
    level = 0 if street == 0 else max(betting.paid) - betting.bets * BET[street]
    bets = tuple(0 if over else max(0, paid - level) for paid in betting.paid)
    return Chips(betting.paid, bets, betting.folded, BET[street], ALL_STREETS[betting.street])


def _leduc(state: LeducState) -> Chips:
    step = RAISE[bool(state.board)]
    level = max(state.paid) - state.raises * step
    bets = tuple(max(0, paid - level) for paid in state.paid)
    street = "second round" if state.board else "first round"
    return Chips(state.paid, bets, state.folded, step, street)


def _kuhn(game: Game, state: KuhnState) -> Chips:
    assert isinstance(game, Kuhn)
    actions = [(place % game.players, letter) for place, letter in enumerate(state.bets)]
    first = state.bets.find("b")
    bets, folded = [0.0] * game.players, [False] * game.players
    for place, (player, letter) in enumerate(actions):
        bets[player] += letter == "b"
        folded[player] |= letter == "p" and 0 <= first < place
    paid = tuple(game.ante + bet for bet in bets)
    return Chips(paid, tuple(bets), tuple(folded), 1, "the only round")


def plain_word(game: Game, state: Any, word: str) -> str:
    """What poker players call an action; Kuhn poker has only two words for four of them."""
    kind = kind_of(game, state, word)
    return word if kind == RAISED else kind


def kind_of(game: Game, state: Any, word: str) -> str:
    """What an action comes to: FOLD, CHECK, CALL or RAISED (a bet too)."""
    if isinstance(game, Kuhn):
        facing = "b" in state.bets
        return (CALL if facing else RAISED) if word == "bet" else (FOLD if facing else CHECK)
    return RAISED if word == "bet" else word
