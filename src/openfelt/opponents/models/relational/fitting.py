"""From decisions to the relational trees of all streets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from openfelt.core.jit import Floats, Longs
from openfelt.games.compile.betting_tree import KIND, STREET_SHIFT
from openfelt.opponents.models.domain import ModelDomain
from openfelt.opponents.models.observed import ObservedHand, decisions_in
from openfelt.opponents.models.public_tree import Places, facts_at
from openfelt.opponents.models.relational.examples import QueryCache, TreeExamples
from openfelt.opponents.models.relational.induction import Grower, Growth
from openfelt.opponents.models.relational.language import HAND_RANK, LanguageBias, columns_by_fact
from openfelt.opponents.models.relational.tree import RelationalTree

FEW_HOLDINGS = 16  # up to this many, all are among the prior's examples, weighted by probability
PRIOR_DRAWS = 4  # otherwise this many of them are drawn


class WeightedDecisions(NamedTuple):
    """Decisions with their weights as examples of the player and of the prior."""

    places: Places
    place: Longs  # [examples] number of the decision's place
    action: Longs  # [examples]
    player: Floats  # [examples] weight among the player's
    prior: Floats  # [examples] weight among the prior's
    rank: Longs  # [examples] of the hand
    holding: Longs  # [examples]


@dataclass(frozen=True)
class TreeFitter:
    """Grows one tree for each street, or one for all."""

    domain: ModelDomain
    bias: LanguageBias
    growth: Growth
    per_phase: bool
    card_numbers: Floats  # [card facts, holdings]

    def fit(
        self, data: WeightedDecisions, *, noise: float = 0.0, ask_action: bool = True
    ) -> list[RelationalTree]:
        """A tree for each street; `noise` as in Grower, `ask_action`: whether trees test the action."""
        bias, streets, places, place = self.bias, len(self.domain.streets), data.places, data.place
        facts = columns_by_fact(facts_at(self.domain.public, places))
        public = {fact.name: bias.public_numbers(fact.name, facts) for fact in bias.public}
        cards = dict(zip((fact.name for fact in bias.cards), self.card_numbers, strict=True))
        street = self.domain.public.node[places.node, KIND] >> STREET_SHIFT & 3
        trees: list[RelationalTree] = []
        for phase in range(streets if self.per_phase else 1):
            inside = np.flatnonzero(street == phase) if self.per_phase else np.arange(len(street))
            renumbered = np.full(len(street), -1)
            renumbered[inside] = np.arange(len(inside))
            rows = np.flatnonzero(renumbered[place] >= 0)
            columns = {name: numbers[place[rows]] for name, numbers in public.items()}
            columns |= {name: numbers[data.holding[rows]] for name, numbers in cards.items()}
            if bias.hand_rank:
                columns[HAND_RANK] = data.rank[rows].astype(np.float64)
            weights = data.player[rows], data.prior[rows]
            examples = TreeExamples(renumbered[place[rows]], data.action[rows], *weights, columns)
            here = Places(places.node[inside], places.line[inside], places.length[inside])
            queries = QueryCache(self.domain.public, here, bias)
            grower = Grower(examples, queries, self.growth, noise=noise)
            trees.append(grower.grow_by_action() if ask_action else grower.grow())
        return trees if self.per_phase else trees * streets


class PriorCards(NamedTuple):
    """Holdings that the prior would have in the player's decisions."""

    decision: Longs  # [examples]
    holding: Longs  # [examples]
    rank: Longs  # [examples]
    weight: Floats  # [examples]


def prior_cards(
    domain: ModelDomain, hands: Sequence[ObservedHand], generator: np.random.Generator
) -> PriorCards:
    """Draw from the possible holdings of every hand, or take all of them if they are few."""
    found = list(_prior_cards(domain, hands, generator))
    decision, holding, rank = (np.array([each[column] for each in found], np.int64) for column in range(3))
    return PriorCards(decision, holding, rank, np.array([each[3] for each in found], np.float64))


def _prior_cards(
    domain: ModelDomain, hands: Sequence[ObservedHand], generator: np.random.Generator
) -> Iterator[tuple[int, int, int, float]]:
    number = 0
    for hand in hands:
        likely = domain.possible((*hand.board, *hand.dead))
        if len(likely) <= FEW_HOLDINGS:
            drawn, weight = np.arange(len(likely)), likely
        else:
            drawn = generator.choice(len(likely), PRIOR_DRAWS, p=likely)
            weight = np.full(PRIOR_DRAWS, 1.0 / PRIOR_DRAWS)
        for _, _, street, _ in decisions_in(domain.public, hand):
            board = hand.board[: domain.board_cards[street]]
            for holding, share in zip(drawn.tolist(), weight.tolist(), strict=True):
                yield number, holding, domain.rank_of(holding, board), share
            number += 1
