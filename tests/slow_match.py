"""A slow twin of a match, from the definitions: rules, `Hand`, and the numbers of the generator by place.

A deal has 64 numbers for chance and 64 for decisions; the n-th decision of a hand draws the n-th of these,
whichever bot decides. Deal n is played in seating number n, and in each following one if every deal is played
in all seatings.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from slow_holdem import draw_cards
from slow_learners import GOLDEN, MASK, SplitMix64

from openfelt.cards.deck import card_text
from openfelt.games.game import CHANCE, TERMINAL
from openfelt.games.hand import Hand
from openfelt.games.holdem import Holdem
from openfelt.solve.traverse.enumerated import alias

DRAWS = 64  # numbers set apart for a deal, of each kind
PARTS = 255  # of which a probability of hold'em is a whole number

Decider = Callable[[Hand], list[float]]  # weights of the actions of the one to move


def by_rule(words: dict[str, float], parts: bool) -> Decider:
    """By fixed weights of words; in 255ths the likeliest action gets what is lost by rounding down."""

    def decide(hand: Hand) -> list[float]:
        shares = [words.get(word, 0.0) for word in hand.actions]
        if not any(shares):  # a raise that is not allowed any more is a call
            shares = [float(word in ("call", "check")) for word in hand.actions]
        if not parts:
            return [share / sum(shares) for share in shares]
        weights = [math.floor(PARTS * share / sum(shares)) for share in shares]
        weights[shares.index(max(shares))] += PARTS - sum(weights)
        return weights

    return decide


def by_holdem_policy(policy) -> Decider:
    """The bucket of the one hand is computed from its cards, and the row found by the words."""

    def decide(hand: Hand) -> list[float]:
        game, seat = hand.game, hand.mover
        bucket = policy.tree.abstraction.bucket(game.hole(hand.state, seat), game.board(hand.state))
        weights = policy.at_bucket(policy.tree.find_node(line_of(hand)), bucket)
        return [round(PARTS * weights[word]) for word in hand.actions]

    return decide


def by_table(policy) -> Decider:
    """The row is found by what the player has seen."""

    def decide(hand: Hand) -> list[float]:
        return list(policy.at(hand.mover, seen_by(hand, hand.mover)).values())

    return decide


def seen_by(hand: Hand, seat: int) -> str:
    """All that a seat has seen so far, as rows are named."""
    return " ".join(step.seen[seat] for step in hand.steps if step.seen[seat]) or "start"


def line_of(hand: Hand) -> list[str]:
    """What the players did."""
    return [step.action for step in hand.steps if step.mover != CHANCE]


@dataclass
class SlowHand:
    """One hand of the match."""

    hand: Hand
    seating: tuple[int, ...]  # the participant in each seat

    def style(self, participant: int) -> Counter:
        """How often a bot took each action, before the flop and later."""
        found: Counter = Counter()
        board = -2 * self.hand.game.players
        for step in self.hand.steps:
            if step.mover == CHANCE:
                board += 1
            elif self.seating[step.mover] == participant:
                found[step.action, board > 0] += 1
        return found


class SlowMatch:
    """Participants are numbers; `places` has one for each seat, `deciders` one for each participant."""

    def __init__(self, game, places, deciders: list[Decider], *, seed: int, duplicate: bool) -> None:
        self.game, self.deciders = game, deciders
        seatings = dict.fromkeys(permutations(places))
        self.seatings, self.times = list(seatings), len(seatings) if duplicate else 1
        children = np.random.SeedSequence(seed).spawn(2)
        self.cards, self.actions = (int(child.generate_state(1, np.uint64)[0]) for child in children)
        self.participants = len(set(places))

    def deal(self, number: int) -> list[SlowHand]:
        """One deal in all the seatings that it is played in."""
        count = len(self.seatings)
        return [self._play(number, self.seatings[(number + time) % count]) for time in range(self.times)]

    def deals(self, count: int) -> list[list[SlowHand]]:
        """The first ones."""
        return [self.deal(number) for number in range(count)]

    def _play(self, number: int, seating: tuple[int, ...]) -> SlowHand:
        hand, decisions, is_holdem = Hand(self.game), 0, isinstance(self.game, Holdem)
        chance, cards = self._at(self.cards, number * DRAWS), []
        if is_holdem:
            draw_cards(cards, 2 * self.game.players + 5, chance)
            cards = iter([card_text(card) for card in cards])
        while hand.mover != TERMINAL:
            if hand.mover == CHANCE:
                place = hand.actions.index(next(cards)) if is_holdem else self._chance(hand, chance)
            else:
                weights = self.deciders[seating[hand.mover]](hand)
                number_drawn = self._at(self.actions, number * DRAWS + decisions).uniform()
                place = _choose(weights, number_drawn * (PARTS if is_holdem else 1))
                decisions += 1
            hand.act(place)
        return SlowHand(hand, seating)

    def _at(self, start: int, draws: int) -> SplitMix64:
        return SplitMix64(start + draws * GOLDEN & MASK)

    def _chance(self, hand: Hand, numbers: SplitMix64) -> int:
        """Walker's alias method, as the learners draw."""
        share, other = alias(self.game.chance(hand.state))
        column = numbers.uniform() * len(share)
        place = int(column)
        return place if column - place < share[place] else int(other[place])

    def rows(self, deals: list[list[SlowHand]]) -> list[list[float]]:
        """For each deal what each participant won a hand and seat."""
        return [[_mean_won(hands, participant) for participant in self._everyone] for hands in deals]

    @property
    def _everyone(self) -> range:
        return range(self.participants)

    def estimates(self, deals: list[list[SlowHand]]) -> list[tuple[float, float]]:
        """Mean and standard error of each participant, deals as the sample."""
        found = []
        for column in zip(*self.rows(deals), strict=True):
            mean = sum(column) / len(column)
            spread = sum((value - mean) ** 2 for value in column) / (len(column) - 1)
            found.append((mean, math.sqrt(spread / len(column))))
        return found

    def style(self, deals: list[list[SlowHand]], participant: int) -> tuple[float, float, float]:
        """SF, P-AGR and AGR of PGC10's table 1."""
        found: Counter = Counter()
        seats = 0
        for hands in deals:
            for hand in hands:
                found += hand.style(participant)
                seats += hand.seating.count(participant)

        def aggression(late: bool) -> float:
            return (found["bet", late] + found["raise", late]) / found["call", late]

        return 1 - found["fold", False] / seats, aggression(False), aggression(True)


def _mean_won(hands: list[SlowHand], participant: int) -> float:
    won = [
        chips
        for hand in hands
        for chips, who in zip(hand.hand.payoffs, hand.seating, strict=True)
        if who == participant
    ]
    return sum(won) / len(won)


def _choose(weights: list[float], place: float) -> int:
    for action, weight in enumerate(weights[:-1]):
        place -= weight
        if place < 0:
            return action
    return len(weights) - 1
