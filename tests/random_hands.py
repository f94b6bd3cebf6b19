"""Hands played at random, as records."""

from __future__ import annotations

import dataclasses
import random

from openfelt.games.game import CHANCE, TERMINAL, Game
from openfelt.games.hand import Hand
from openfelt.games.registry import load_game
from openfelt.hands.record import HIDDEN, HandRecord


def played(game: Game, dice: random.Random, number: int = 0, names: tuple[str, ...] = ()) -> HandRecord:
    """A hand at random; folding is made rare, so that there are showdowns."""
    hand = Hand(game)
    while hand.mover != TERMINAL:
        words = hand.actions
        folds_now = hand.mover == CHANCE or words[0] != "fold" or dice.random() < 0.3
        hand.act(dice.randrange(0 if folds_now else 1, len(words)))
    done = [(step.mover == CHANCE, step.action) for step in hand.steps]
    return HandRecord(
        game.name,
        number,
        names or tuple(f"player{seat}" for seat in range(game.players)),
        tuple(word for chance, word in done if chance),
        tuple(word for chance, word in done if not chance),
        hand.payoffs,
    )


def some_hands(name: str, count: int, seed: int = 0) -> list[HandRecord]:
    game, dice = load_game(name), random.Random(seed)
    return [played(game, dice, number) for number in range(count)]


def hidden(record: HandRecord, *seats: int) -> HandRecord:
    dealt = list(record.dealt)
    for seat in seats:
        dealt[2 * seat : 2 * seat + 2] = [HIDDEN, HIDDEN]
    return dataclasses.replace(record, dealt=tuple(dealt))
