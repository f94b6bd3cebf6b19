"""A hand in words: what an action is called, and the account of what happened, as one seat may hear it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openfelt.cards.deck import BOARD_CARDS, RANKS
from openfelt.cards.evaluator import CATEGORY_SHIFT, RANK_SHIFT, hand_value
from openfelt.games.game import CHANCE, TERMINAL, Game
from openfelt.games.hand import Hand, Step
from openfelt.games.holdem import Holdem
from openfelt.games.leduc import Leduc
from openfelt.table.session.chips import CALL, CHECK, FOLD, RAISED, chips, furniture, kind_of

KEYS = {FOLD: "f", CHECK: "c", CALL: "c", RAISED: "r"}
SUIT_SIGNS = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}
YOU = "you"
RANK_NAMES = (
    *("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("jack", "queen", "king", "ace"),
)
LOW = (1 << RANK_SHIFT) - 1


def action_key(game: Game, state: Any, word: str) -> str:
    """The key for it: f, c or r."""
    return KEYS[kind_of(game, state, word)]


def action_label(game: Game, state: Any, word: str) -> str:
    """What stands on its button: "Call 2", "Raise to 6"."""
    return _with_chips(game, state, word, fold="Fold", check="Check", call="Call", bet="Bet", lift="Raise to")


def told(game: Game, state: Any, word: str, name: str) -> str:
    """What is said of it: "You call 2.", "default raises to 6."."""
    if name == YOU:
        verbs = {"fold": "fold", "check": "check", "call": "call", "bet": "bet", "lift": "raise to"}
    else:
        verbs = {"fold": "folds", "check": "checks", "call": "calls", "bet": "bets", "lift": "raises to"}
    return f"{_start(name)} {_with_chips(game, state, word, **verbs)}."


def _with_chips(
    game: Game, state: Any, word: str, *, fold: str, check: str, call: str, bet: str, lift: str
) -> str:
    kind, lies, me = kind_of(game, state, word), chips(game, state), game.turn(state)
    if kind == FOLD:
        return fold
    if kind == CHECK:
        return check
    if kind == CALL:
        return f"{call} {max(lies.paid) - lies.paid[me]:g}"
    high = max(lies.bets)
    return f"{lift if high else bet} {high + lies.step:g}"


def amount(number: float, unit: str = "chips") -> str:
    """1 chip, 2 chips."""
    return f"{number:g} {unit.removesuffix('s') if number == 1 else unit}"


def card_sign(card: str) -> str:
    """A♥ for Ah, 10♣ for Tc; K for a K without a suit."""
    rank = "10" if card[0] == "T" else card[0]
    return rank + SUIT_SIGNS.get(card[1:], "")


def signs(cards: Sequence[str]) -> str:
    return " ".join(map(card_sign, cards))


def account(hand: Hand, seat: int, names: Sequence[str], number: int) -> list[str]:
    """What the person in `seat` is told of a hand, line by line."""
    lines = [_opening(hand.game, seat, names, number)]
    lines += [text for _, text in happenings(hand, seat, names)]
    if hand.mover == TERMINAL:
        lines += ending(hand, seat, names)
    return lines


def told_apart(names: Sequence[str], seat: int) -> tuple[str, ...]:
    """By seat, with numbers where two have the same name, clockwise from the person in `seat`."""
    told = list(names)
    for place, name in enumerate(names):
        if names.count(name) > 1:
            before = [(place - step) % len(names) for step in range(1, (place - seat) % len(names))]
            told[place] = f"{name} {1 + sum(names[other] == name for other in before)}"
    return tuple(told)


def happenings(hand: Hand, seat: int, names: Sequence[str]) -> list[tuple[int, str]]:
    """The number of the step and the line for each action, and for all cards that came at once."""
    lines, dealt = list[tuple[int, str]](), list[str]()
    for number, (step, state) in enumerate(zip(hand.steps, hand.states, strict=True)):
        if step.mover != CHANCE:
            lines.append((number, told(hand.game, state, step.action, names[step.mover])))
            continue
        dealt.append(step.seen[seat])
        if hand.game.turn((*hand.states, hand.state)[number + 1]) != CHANCE:
            text = _dealt(hand.game, [card for card in dealt if card], state)
            lines.append((number + 1 - len(dealt), text))
            dealt = []
    return lines


def _opening(game: Game, seat: int, names: Sequence[str], number: int) -> str:
    fixed = furniture(game)
    if isinstance(game, Holdem):
        posts = [
            f"{name} {'post' if name == YOU else 'posts'} the {post} of {paid:g}"
            for name, post, paid in zip(names, fixed.posts, fixed.posted, strict=True)
            if post
        ]
        text = _start(" and ".join(posts))
        dealer = names[fixed.button]
        return f"Hand {number}. {_start(dealer)} {'are' if dealer == YOU else 'is'} the dealer. {text}."
    place = ("first", "second", "third")[seat]
    return f"Hand {number}. Everyone antes {amount(fixed.posted[0])}. You act {place}."


def _dealt(game: Game, cards: Sequence[str], state: Any) -> str:
    if isinstance(game, Holdem):
        on_board = len(state.cards) + 1 - 2 * game.players  # with the last one of these
        if on_board <= 0:
            return f"Your cards: {signs(cards)}."
        street = ("Flop", "Turn", "River")[BOARD_CARDS.index(on_board) - 1]
        return f"{street}: {signs(cards)}."
    if isinstance(game, Leduc) and len(state.cards) == game.players:
        return f"The board card: {cards[0]}."
    return f"Your card: {cards[0]}."


def ending(hand: Hand, seat: int, names: Sequence[str]) -> list[str]:
    """Who showed what, and who won."""
    game, lies = hand.game, chips(hand.game, hand.state)
    inside = [player for player in range(game.players) if not lies.folded[player]]
    lines = []
    if len(inside) > 1:
        for player in inside:
            shown, what = hole_cards(hand, player), hand_name(hand, player)
            verb = "show" if names[player] == YOU else "shows"
            lines.append(f"{_start(names[player])} {verb} {signs(shown)}{f': {what}' if what else ''}.")
    won = hand.payoffs
    for player in sorted(range(game.players), key=lambda player: (player != seat, player)):
        if player == seat or won[player] > 0:
            lines.append(result(won[player], names[player], game.unit))
    return lines


def result(won: float, name: str, unit: str) -> str:
    """You win 6 chips."""
    you = name == YOU
    if won == 0:
        return f"{_start(name)} {'break' if you else 'breaks'} even."
    verb = ("win" if you else "wins") if won > 0 else ("lose" if you else "loses")
    return f"{_start(name)} {verb} {amount(abs(won), unit)}."


def hole_cards(hand: Hand, player: int) -> list[str]:
    """What a seat holds, as far as it is dealt."""
    hole = furniture(hand.game).hole
    return [step.action for step in chance_steps(hand)[hole * player : hole * (player + 1)]]


def board_cards(hand: Hand) -> list[str]:
    """What lies open on the table."""
    return [step.action for step in chance_steps(hand)[furniture(hand.game).hole * hand.game.players :]]


def chance_steps(hand: Hand) -> list[Step]:
    """The cards that came: the hands, seat by seat, then the board."""
    return [step for step in hand.steps if step.mover == CHANCE]


def hand_name(hand: Hand, player: int) -> str:
    """What a seat has at the showdown: "two pair, kings and fours"; nothing where a card says it all."""
    cards, board = hole_cards(hand, player), board_cards(hand)
    if isinstance(hand.game, Holdem):
        return holdem_name("".join(cards + board))
    return f"a pair of {_plural(RANK_NAMES[RANKS.index(cards[0])])}" if cards == board else ""


def holdem_name(cards: str) -> str:
    """The best hand of five to seven cards."""
    value = hand_value(cards)
    category, main, rest = value >> CATEGORY_SHIFT, _ranks(value >> RANK_SHIFT & LOW), _ranks(value & LOW)
    many = [_plural(name) for name in main]
    return (
        lambda: f"{rest[0]} high",
        lambda: f"a pair of {many[0]}",
        lambda: f"two pair, {many[0]} and {many[1]}",
        lambda: f"three {many[0]}",
        lambda: f"a straight to the {rest[0]}",
        lambda: f"a flush, {rest[0]} high",
        lambda: f"a full house, {many[0]} over {_plural(rest[0])}",
        lambda: f"four {many[0]}",
        lambda: f"a straight flush to the {rest[0]}",
    )[category]()


def _ranks(mask: int) -> list[str]:
    """The names in a mask of ranks, highest first."""
    return [name for rank, name in reversed(list(enumerate(RANK_NAMES))) if mask >> rank & 1]


def _plural(name: str) -> str:
    return name + ("es" if name == "six" else "s")


def _start(text: str) -> str:
    """As a sentence begins; the names of bots stay as they are written."""
    return "You" + text[3:] if text.startswith(YOU) and text[3:4] in ("", " ") else text
