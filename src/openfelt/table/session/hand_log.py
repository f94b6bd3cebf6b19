"""The log of a hand, as one seat may read it, and the names of actions on buttons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openfelt.games.game import CHANCE, TERMINAL, Game
from openfelt.games.hand import Hand, Step
from openfelt.table.presentation.presentation import CALL, CHECK, FOLD, RAISE
from openfelt.table.presentation.registry import presentation_of
from openfelt.table.presentation.text import YOU, amount, card_signs, sentence_start, verb

KEYS = {FOLD: "f", CHECK: "c", CALL: "c", RAISE: "r"}


def action_key(game: Game, state: Any, action: str) -> str:
    """The key for an action: f, c or r."""
    return KEYS[presentation_of(game).action_kind(state, action)]


def action_label(game: Game, state: Any, action: str) -> str:
    """The text on an action's button: "Call 2", "Raise to 6"."""
    return _action_text(game, state, action, YOU).capitalize()


def _action_text(game: Game, state: Any, action: str, name: str) -> str:
    """The action with its verb and chips: "raises to 6", for the person "raise to 6"."""
    presentation = presentation_of(game)
    kind, chips = presentation.action_kind(state, action), presentation.chips(state)
    if kind == CALL:
        return f"{verb(name, CALL)} {max(chips.paid) - chips.paid[game.turn(state)]:g}"
    if kind != RAISE:
        return verb(name, kind)
    highest = max(chips.bets)
    raises = f"{verb(name, 'raise')} to" if highest else verb(name, "bet")
    return f"{raises} {highest + chips.increment:g}"


def hand_log(hand: Hand, seat: int, names: Sequence[str], number: int) -> list[str]:
    """The hand so far in lines, without what the player in `seat` may not see."""
    lines = [f"Hand {number}. {presentation_of(hand.game).opening(names, seat)}"]
    lines += [text for _, text in events(hand, seat, names)]
    if hand.mover == TERMINAL:
        lines += result_lines(hand, seat, names)
    return lines


def distinct_names(names: Sequence[str], seat: int) -> tuple[str, ...]:
    """Names by seat; equal ones are numbered clockwise from the person in `seat`."""
    distinct = list(names)
    for place, name in enumerate(names):
        if names.count(name) > 1:
            before = [(place - step) % len(names) for step in range(1, (place - seat) % len(names))]
            distinct[place] = f"{name} {1 + sum(names[other] == name for other in before)}"
    return tuple(distinct)


def events(hand: Hand, seat: int, names: Sequence[str]) -> list[tuple[int, str]]:
    """A line for each action and for all cards dealt at once, with the number of its first step."""
    game, lines, seen, dealt = hand.game, list[tuple[int, str]](), list[str](), 0
    for number, (step, state) in enumerate(zip(hand.steps, hand.states, strict=True)):
        if step.mover != CHANCE:
            name = names[step.mover]
            text = f"{sentence_start(name)} {_action_text(game, state, step.action, name)}."
            lines.append((number, text))
            continue
        seen.append(step.seen[seat])
        dealt += 1
        if game.turn((*hand.states, hand.state)[number + 1]) != CHANCE:
            text = presentation_of(game).deal_text([card for card in seen if card], dealt)
            lines.append((number + 1 - len(seen), text))
            seen = []
    return lines


def result_lines(hand: Hand, seat: int, names: Sequence[str]) -> list[str]:
    """The hands at showdown, and who won."""
    game, lines = hand.game, []
    for player in game.shown(hand.state):
        hole, description = hole_cards(hand, player), _hand_name(hand, player)
        shows = f"{sentence_start(names[player])} {verb(names[player], 'show')} {card_signs(hole)}"
        lines.append(f"{shows}: {description}." if description else f"{shows}.")
    winners = [player for player in range(game.players) if player != seat and hand.payoffs[player] > 0]
    return lines + [_result(hand.payoffs[player], names[player], game.unit) for player in (seat, *winners)]


def _result(won: float, name: str, unit: str) -> str:
    """You win 6 chips."""
    if won == 0:
        return f"{sentence_start(name)} {verb(name, 'break')} even."
    return f"{sentence_start(name)} {verb(name, 'win' if won > 0 else 'lose')} {amount(abs(won), unit)}."


def hole_cards(hand: Hand, player: int) -> list[str]:
    """The private cards of a seat."""
    size = presentation_of(hand.game).hole_size
    return [step.action for step in deal_steps(hand)[size * player : size * (player + 1)]]


def deal_steps(hand: Hand) -> list[Step]:
    """The steps that dealt cards: the hands, seat by seat, then the board."""
    return [step for step in hand.steps if step.mover == CHANCE]


def _hand_name(hand: Hand, player: int) -> str:
    presentation = presentation_of(hand.game)
    board = [step.action for step in deal_steps(hand)[presentation.hole_size * hand.game.players :]]
    return presentation.hand_name(hole_cards(hand, player), board)
