"""Flops and turns that may follow a decision: all of them or a sample, and choices by halves of it."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import CARDS
from openfelt.core.jit import Floats, Ints
from openfelt.table.review.estimates import fair_losses, means_and_intervals
from openfelt.table.review.ev_loss import DecisionLoss, decision_loss


class CardSample(NamedTuple):
    """Boards of a flop with turns.

    Values have a row for each *choosing set* of cards: the person's actions are chosen by the mean over these
    cards. The first set is all cards. The others are one half of the turns of one half of the flops each.
    """

    boards: Sequence[tuple[int, ...]]  # flops
    turns: Ints  # [flops, turns]
    flop_weight: float  # all flops, divided by those that share no card with a hand of the bot
    turn_weight: float  # the same of turns
    is_complete: bool  # whether no card is sampled
    flop_sets: NDArray[np.bool_]  # [choosing sets, flops]
    turn_sets: NDArray[np.bool_]  # [choosing sets, turns]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Choosing sets, flops and turns; a complete sample counts as one turn."""
        return len(self.turn_sets), len(self.boards), self.turn_sets.shape[1]

    def choose(self, values: Floats, *, across_flops: bool) -> Floats:
        """Of values [actions, choosing sets, flops, turns] those of the best action, by the choosing sets."""
        weights = self.turn_sets / self.turn_sets.sum(axis=1, keepdims=True)
        means = np.einsum("aeft,et->aef", values, weights)
        if across_flops:
            sets = self.flop_sets / self.flop_sets.sum(axis=1, keepdims=True)
            means = np.broadcast_to(np.einsum("aef,ef->ae", means, sets)[..., None], means.shape)
        best = means.argmax(axis=0)[None, ..., None]
        return np.asarray(np.take_along_axis(values, best, axis=0)[0])

    def decision_loss(self, step: int, values: Floats) -> DecisionLoss:
        """The EV losses from values [choosing sets, flops, turns, actions].

        Sampled values are means of two estimates with opposite biases, so their fair losses are only
        approximately unbiased.
        """
        if self.is_complete:
            exact = values[0, 0, 0]
            return decision_loss(step, exact, *np.zeros((2, len(exact))))
        flop, turn = (1 - np.arange(size) % 2 for size in values.shape[1:3])
        others = turn + (2 * flop[:, None] if len(self.boards) > 1 else 0)  # chosen with none of these cards
        others = np.broadcast_to(1 + others, values.shape[1:3])
        low = np.take_along_axis(values, others[None, ..., None], axis=0)[0]
        middle = (values[0] + low) / 2
        apart = middle.mean(axis=1) if len(self.boards) > 1 else middle[0]  # [independent cards, actions]
        unsure = np.maximum((values[0] - low).mean(axis=(0, 1)) / 2, 0.0)
        fair = fair_losses(apart, np.arange(len(apart), dtype=np.int32))
        return decision_loss(step, *means_and_intervals(apart, None, unsure), fair)


def nothing_sampled(board: tuple[int, ...]) -> CardSample:
    """A decision from the turn on, where nothing is sampled."""
    return CardSample([board], np.zeros((1, 1), np.int32), 1.0, 1.0, True, *np.ones((2, 1, 1), bool))


def sample_turns(hole: tuple[int, ...], board: tuple[int, ...], most: int) -> CardSample:
    """The turns that may follow a flop, or a sample of `most`."""
    rest = [card for card in range(CARDS) if card not in (*hole, *board)]
    weight = len(rest) / (len(rest) - 2)
    if most >= len(rest):
        whole = np.ones((2, 1, 1), bool)
        return CardSample([board], np.array([rest], np.int32), 1.0, weight, True, *whole)
    turns = np.random.default_rng(0).permutation(rest)[None, :most].astype(np.int32)
    return CardSample([board], turns, 1.0, weight, False, *_choosing_sets(1, most))


def sample_flops(hole: tuple[int, ...], count: int, turns: int) -> CardSample:
    """Flops, each with some turns."""
    rest = [card for card in range(CARDS) if card not in hole]
    dice = np.random.default_rng(0)
    drawn = np.array([dice.permutation(rest)[: 3 + turns] for _ in range(count)], np.int32)
    flops = [tuple(cards) for cards in drawn[:, :3].tolist()]
    weight, left = comb(len(rest), 3) / comb(len(rest) - 2, 3), len(rest) - 3
    return CardSample(flops, drawn[:, 3:], weight, left / (left - 2), False, *_choosing_sets(count, turns))


def _choosing_sets(flops: int, turns: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """All cards, then each half of the turns of each half of the flops."""
    flop_halves = [np.arange(flops) % 2 == half for half in range(2)] if flops > 1 else [np.ones(1, bool)]
    turn_halves = [np.arange(turns) % 2 == half for half in range(2)]
    sets = [(flop, turn) for flop in flop_halves for turn in turn_halves]
    return (
        np.array([np.ones(flops, bool), *(flop for flop, _ in sets)]),
        np.array([np.ones(turns, bool), *(turn for _, turn in sets)]),
    )
