"""The log of a hand, as one seat may read it, and the names of actions on buttons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from openfelt.games.game import CHANCE, TERMINAL, Game
from openfelt.games.hand import Hand, Step
from openfelt.table.presentation.presentation import CALL, CHECK, FOLD, RAISE
from openfelt.table.presentation.registry import presentation_of
from openfelt.table.presentation.text import YOU, amount, card_signs, sentence_start, verb

FOLDED = FOLD.capitalize()  # the label of a fold
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
    """The hands at showdown, who won the pot, and what the player in `seat` won."""
    game, lines, pot = hand.game, list[str](), contested_pot(hand)
    described = showdown(hand)
    for player, description in described.items():
        shows = f"{sentence_start(names[player])} {verb(names[player], 'show')}"
        cards = card_signs(hole_cards(hand, player))
        lines.append(f"{shows} {cards}: {description}." if description else f"{shows} {cards}.")
    if pot.uncalled:
        lines.append(f"The uncalled bet of {pot.uncalled:g} is returned to {names[pot.bettor]}.")
    lines.append(_pot_line(hand, names, pot.chips, described))
    return [*lines, _result(hand.payoffs[seat], names[seat], game.unit)]


def showdown(hand: Hand) -> dict[int, str]:
    """The seats that show their cards, in that order, with the names of their hands.

    The last player to bet or raise in the last betting round shows first; if nobody did, the first seat.
    """
    presentation, seats = presentation_of(hand.game), list(hand.game.shown(hand.state))
    if not seats:
        return {}
    actions = [(step, state) for step, state in zip(hand.steps, hand.states, strict=True) if step.mover >= 0]
    last_street = presentation.chips(actions[-1][1]).street
    raisers = [
        step.mover
        for step, state in actions
        if presentation.chips(state).street == last_street
        and presentation.action_kind(state, step.action) == RAISE
    ]
    first = raisers[-1] if raisers else seats[0]
    seats.sort(key=lambda each: (each - first) % hand.game.players)
    holes = [hole_cards(hand, player) for player in seats]
    return dict(zip(seats, presentation.showdown_names(holes, board_cards(hand)), strict=True))


class ContestedPot(NamedTuple):
    """The pot at the end of a hand, without the part of a bet that nobody called."""

    chips: float
    uncalled: float
    bettor: int  # to whom the uncalled part is returned


def contested_pot(hand: Hand) -> ContestedPot:
    """The pot that the winners share."""
    paid = presentation_of(hand.game).chips(hand.state).paid
    bettor = max(range(len(paid)), key=paid.__getitem__)
    uncalled = paid[bettor] - max(chips for player, chips in enumerate(paid) if player != bettor)
    return ContestedPot(sum(paid) - uncalled, uncalled, bettor)


def _pot_line(hand: Hand, names: Sequence[str], pot: float, described: Mapping[int, str]) -> str:
    paid = presentation_of(hand.game).chips(hand.state).paid
    winners = [player for player, won in enumerate(hand.payoffs) if won + paid[player] > 0]
    how = f" with {described[winners[0]]}" if described.get(winners[0]) else ""
    if len(winners) > 1:
        named = [names[player] for player in winners]
        return f"{sentence_start(', '.join(named[:-1]))} and {named[-1]} split the pot ({pot:g}){how}."
    name = names[winners[0]]
    return f"{sentence_start(name)} {verb(name, 'win')} the pot ({pot:g}){how}."


def _result(won: float, name: str, unit: str) -> str:
    """You win 6 chips."""
    if won == 0:
        return f"{sentence_start(name)} {verb(name, 'break')} even."
    return f"{sentence_start(name)} {verb(name, 'win' if won > 0 else 'lose')} {amount(abs(won), unit)}."


def last_actions(hand: Hand) -> list[str]:
    """By seat, its last action in the current betting round: "Call 2"; "Fold" stays."""
    presentation = presentation_of(hand.game)
    labels, street = [""] * hand.game.players, ""
    for step, state in zip(hand.steps, hand.states, strict=True):
        if step.mover == CHANCE:
            continue
        now = presentation.chips(state).street
        if now != street:
            labels, street = [label if label == FOLDED else "" for label in labels], now
        labels[step.mover] = action_label(hand.game, state, step.action)
    if hand.mover >= 0 and presentation.chips(hand.state).street != street:
        return [label if label == FOLDED else "" for label in labels]
    return labels


def hole_cards(hand: Hand, player: int) -> list[str]:
    """The private cards of a seat."""
    size = presentation_of(hand.game).hole_size
    return [step.action for step in deal_steps(hand)[size * player : size * (player + 1)]]


def deal_steps(hand: Hand) -> list[Step]:
    """The steps that dealt cards: the hands, seat by seat, then the board."""
    return [step for step in hand.steps if step.mover == CHANCE]


def board_cards(hand: Hand) -> list[str]:
    """The cards on the board."""
    first = presentation_of(hand.game).hole_size * hand.game.players
    return [step.action for step in deal_steps(hand)[first:]]


def hand_name(hand: Hand, player: int) -> str:
    """What a seat holds with the board, in words; empty before the deal."""
    hole = hole_cards(hand, player)
    return presentation_of(hand.game).hand_name(hole, board_cards(hand)) if hole else ""
