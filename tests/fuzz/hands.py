"""Hands for samples, played at random by the rules."""

from __future__ import annotations

from random import Random

from openfelt.games.game import CHANCE, TERMINAL
from openfelt.games.registry import load_game
from openfelt.hands.record import HandRecord

NAMES = ("probe", "random", "caller")
FOLDS = 0.15  # how often a fold or pass is chosen first


def some_hands(name: str, count: int) -> list[HandRecord]:
    """The first hands of a match between players that act at random."""
    game, random, found = load_game(name), Random(f"{name} {count}"), []
    for number in range(count):
        state, dealt, actions = game.start(), list[str](), list[str]()
        while (turn := game.turn(state)) != TERMINAL:
            options = list(game.actions(state))
            if turn == CHANCE:
                word = random.choices(options, game.chance(state))[0]
                dealt.append(word)
            else:
                word = options[0] if random.random() < FOLDS else random.choice(options[1:])
                actions.append(word)
            state = game.play(state, word)
        won = tuple(float(chips) for chips in game.payoffs(state))
        found.append(HandRecord(game.name, number, NAMES[: game.players], tuple(dealt), tuple(actions), won))
    return found
