"""TAU's opponent model (section 3): counts of actions by hand and context.

Actions are counted by the *bucket* of the player's hand (of its hand rank on the board), by the last action
of its opponents, by the pot in four levels (TAU does not give them; ours form a geometric sequence), and by
whether there is a bet to call, so that fold is legal. Normalised over actions, the counts predict what the
player does with given cards; over buckets, what cards it has when it does so.

Cells are smoothed by coarser counts: each has PRIOR pseudo-counts of the same bucket in any context, which
again has PRIOR pseudo-counts of any cards. With a hundred hands most cells are empty, and the coarser counts
decide; with a thousand the cells do. In experiments with 100 to 5,000 hands of ace1 and of poki-like (on
whose held-out hands it was chosen), 2 cost at most 0.005 nats per decision more than the best of 1, 2, 4 and
8; 1 and 4 cost up to 0.022 and 0.024 more. Two uniform pseudo-counts, without coarser ones, cost up to 0.05
more, and at best 0.002 less.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import Bytes
from openfelt.core.errors import FeltError, unknown
from openfelt.core.jit import Floats, Longs
from openfelt.games.compile.betting_tree import FACING_SHIFT, KIND, PLAYER, STREET_SHIFT
from openfelt.games.game import AnyGame
from openfelt.opponents.models.domain import HAND_RANKS, UNKNOWN, HoldemRanks, ModelDomain
from openfelt.opponents.models.frequencies import CountingModel, over_possible
from openfelt.opponents.models.model import guess
from openfelt.opponents.models.observed import Decisions, ObservedHand, decisions_in
from openfelt.opponents.models.public_tree import CLASSES
from openfelt.opponents.models.public_walk import all_facts
from openfelt.opponents.models.tree_arrays import draw_class, hand_rank
from openfelt.solve.traverse.episode import implements
from openfelt.solve.traverse.holdem import Deal, HoldemTree
from openfelt.solve.traverse.opponent_hooks import answer, is_known

BUCKETS = 10
LEVELS = 4  # of the pot
LASTS = ("nothing yet", "check or call", "bet or raise")  # last action of the opponents
CONTEXTS = 2 * LEVELS * len(LASTS)
PRIOR = 2.0
TALLY, BAYES = "tally", "bayes"  # how the posterior of cards is computed


class TallySearchModel(NamedTuple):
    """The model for search in hold'em."""

    context: Bytes  # [nodes]
    table: Floats  # [contexts * buckets, CLASSES]
    buckets: int
    ranks: HoldemRanks


class TallyModel(CountingModel):
    """Counts of actions by bucket, last action of the opponents and pot."""

    kind = "tally"
    summary = "counts of actions by bucket of the hand, last action of the opponents and pot (TAU)"

    def __init__(self, game: AnyGame, *, buckets: int = BUCKETS, reading: str = BAYES) -> None:
        super().__init__(game)
        if reading not in (TALLY, BAYES):
            raise FeltError(unknown("reading of cards", reading, (TALLY, BAYES)))
        self.buckets, self.reading = bucket_count(self.domain, buckets), reading
        self.reset()

    def reset(self) -> None:
        self.counts = np.zeros((CONTEXTS, self.buckets, len(CLASSES)))
        self._table: Floats | None = None

    @property
    def context(self) -> Bytes:
        """[nodes] of the public tree."""
        return public_contexts(self.domain).context

    def table(self) -> Floats:
        """[contexts, buckets, CLASSES] weights of all actions, also of those that are not legal."""
        if self._table is None:
            facing = np.arange(CONTEXTS) % 2
            any_cards, any_context = np.zeros((2, 1, len(CLASSES))), np.zeros((2, self.buckets, len(CLASSES)))
            np.add.at(any_context, facing, self.counts)
            any_cards = _shares(any_context.sum(axis=1, keepdims=True), 1.0 / 3)
            any_context = _shares(any_context, any_cards)
            self._table = _shares(self.counts, any_context[facing])
        return self._table

    def fit_to(self, decisions: Decisions) -> None:
        self.reset()
        where = self.context[decisions.node], decisions.rank * self.buckets // HAND_RANKS, decisions.action
        np.add.at(self.counts, where, decisions.weight)

    def count(self, hand: ObservedHand) -> None:
        """Where the cards are not known, each bucket counts by its probability under TAU's heuristic."""
        self._table = None
        domain, likely = self.domain, None
        if hand.holding == UNKNOWN:
            likely = guess(domain, hand)
        for node, _, street, action in decisions_in(domain.public, hand):
            board = hand.board[: domain.board_cards[street]]
            context = self.context[node]
            if likely is None:
                bucket = domain.rank_of(hand.holding, board) * self.buckets // HAND_RANKS
                self.counts[context, bucket, action] += 1.0
            else:
                self.counts[context, :, action] += self._by_bucket(likely, board)

    def _by_bucket(self, weights: Floats, board: tuple[int, ...]) -> Floats:
        buckets = self.domain.ranks(board) * self.buckets // HAND_RANKS
        return np.asarray(np.bincount(buckets, weights, minlength=self.buckets), np.float64)

    def shares(self, nodes: Longs, ranks: Longs, holdings: Longs) -> Floats:
        weights = self.table()[self.context[nodes], np.asarray(ranks) * self.buckets // HAND_RANKS]
        return over_possible(weights, self.domain.public.node[nodes, KIND])

    def cards(self, hand: ObservedHand) -> Floats:
        """By the counts over buckets of the last action, uniform within a bucket; or by Bayes' rule."""
        if self.reading == BAYES:
            return self.bayes(hand)
        likely = self.domain.possible((*hand.board, *hand.dead))
        decisions = list(decisions_in(self.domain.public, hand))
        if not decisions:
            return likely
        last = decisions[-1]
        board = hand.board[: self.domain.board_cards[last.street]]
        buckets = self.domain.ranks(board) * self.buckets // HAND_RANKS
        before = np.bincount(buckets, likely, minlength=self.buckets)
        counts = self.counts[self.context[last.node], :, last.action]
        after = np.where(before > 0, counts + PRIOR * before, 0.0)
        likely = likely * (after / np.where(before > 0, before, 1.0))[buckets]
        return np.asarray(likely / likely.sum())

    def for_search(self) -> TallySearchModel:
        table = self.table().reshape(-1, len(CLASSES))
        return TallySearchModel(self.context, table, self.buckets, self.domain.rank_tables)

    def to_save(self) -> tuple[Mapping[str, NDArray[Any]], Mapping[str, Any]]:
        return {"counts": self.counts}, {"buckets": self.buckets, "reading": self.reading}

    def restore(self, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> None:
        self.buckets, self.reading = int(facts["buckets"]), str(facts["reading"])
        counts = np.array(arrays["counts"], np.float64)
        if (
            counts.shape != (CONTEXTS, self.buckets, len(CLASSES))
            or not (np.isfinite(counts) & (counts >= 0)).all()
            or counts[::2, :, CLASSES.index("fold")].any()  # contexts without a bet to fold to
        ):
            raise ValueError("counts")
        self.reset()
        self.counts = counts

    def describe(self) -> str:
        """A line for each bucket of each context that has counts."""
        lines = [
            f"{'opponents':<16}{'pot':<10}{'bucket':>6}{'count':>9}"
            + "".join(f"{name:>8}" for name in CLASSES)
        ]
        levels, table = public_contexts(self.domain).levels, self.table()
        for context in np.flatnonzero(self.counts.sum(axis=(1, 2))):
            last, level, facing = int(context) // 8, int(context) // 2 % LEVELS, int(context) % 2
            pot = f"{levels[level]}-{levels[level + 1] - 1}" if level < LEVELS - 1 else f"{levels[level]} on"
            for bucket in np.flatnonzero(self.counts[context].sum(axis=1)):
                shown = table[context, bucket] * (1.0 if facing else np.array([0.0, 1.0, 1.0]))
                shares = "".join(f"{share:>8.2f}" for share in shown / shown.sum())
                count = self.counts[context, bucket].sum()
                lines.append(f"{LASTS[last]:<16}{pot:<10}{bucket:>6}{count:>9.1f}{shares}")
        return "\n".join(lines)


def _shares(counts: Floats, prior: Floats | float) -> Floats:
    """Counts along the last axis as frequencies, with PRIOR pseudo-counts of a coarser frequency."""
    return np.asarray((counts + PRIOR * prior) / (counts.sum(axis=-1, keepdims=True) + PRIOR))


class PublicContexts(NamedTuple):
    """The contexts of a game's public states."""

    levels: tuple[int, ...]  # [LEVELS] lowest pot of each, in chips
    context: Bytes  # [nodes]


@cache
def public_contexts(domain: ModelDomain) -> PublicContexts:
    """Computed on first use; it takes seconds with three players."""
    pot, last = all_facts(domain.public, ("pot", "last_of_others")).T
    least, most = int(pot[pot > 0].min()), int(pot.max())
    ratio = (most / least) ** (1 / LEVELS)
    levels = tuple(int(np.ceil(least * ratio**level - 1e-9)) for level in range(LEVELS))
    level = np.searchsorted(np.array(levels[1:], np.uint8), pot, side="right").astype(np.uint8)
    facing = (domain.public.node[:, KIND] >> FACING_SHIFT & 1).astype(np.uint8)
    return PublicContexts(levels, np.asarray((last * LEVELS + level) * 2 + facing, np.uint8))


def bucket_count(domain: ModelDomain, wanted: int) -> int:
    """The number of buckets; in a small game at least enough to separate all hands."""
    if not 1 <= wanted <= HAND_RANKS:
        raise FeltError(f"A model has from 1 to {HAND_RANKS} buckets, not {wanted}.")
    return max(wanted, domain.least_buckets)


@implements(is_known, TallySearchModel)
def _known(model: TallySearchModel) -> bool:
    return True


@implements(answer, TallySearchModel)
def _answer(model: TallySearchModel, tree: HoldemTree, deal: Deal, node: int, place: float) -> int:
    player, kind = tree.node[node, PLAYER], tree.node[node, KIND]
    rank = hand_rank(model.ranks, deal, player, kind >> STREET_SHIFT & 3)
    row = model.context[node] * model.buckets + rank * model.buckets // HAND_RANKS
    return draw_class(model.table, row, kind, place)
