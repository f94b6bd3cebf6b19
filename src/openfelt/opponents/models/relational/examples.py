"""The examples that relational trees are grown from, and the tests that can split them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.core.jit import Floats, Longs
from openfelt.opponents.models.public_queries import holds_at
from openfelt.opponents.models.public_tree import Places, PublicTree
from openfelt.opponents.models.relational.language import LanguageBias, Query, query_array

MOST_LIMITS = 128  # of a fact; with more values, quantiles


class TreeExamples(NamedTuple):
    """Decisions with two weights: as examples of the player, and of the prior."""

    place: Longs  # [examples] number of the decision's place
    action: Longs  # [examples]
    player: Floats  # [examples] weight among the player's
    prior: Floats  # [examples] weight among the prior's
    facts: dict[str, Floats]  # [examples] each


class FactColumn(NamedTuple):
    """A fact of all examples, coded by the number of limits that it exceeds."""

    name: str
    code: Longs  # [examples]
    limits: Floats  # ascending


class QueryCache:
    """Which queries hold at some places; each query is evaluated once."""

    def __init__(self, tree: PublicTree, places: Places, bias: LanguageBias) -> None:
        self.tree, self.places, self.bias = tree, places, bias
        self._holds: dict[Query, NDArray[np.bool_]] = {}
        self._extensions: dict[Query, tuple[list[Query], Floats]] = {}

    def holds(self, query: Query) -> NDArray[np.bool_]:
        """[places] whether a query holds."""
        if query not in self._holds:
            self._holds[query] = holds_at(self.tree, self.places, query_array(query)).astype(bool)
        return self._holds[query]

    def extensions(self, query: Query) -> tuple[list[Query], Floats]:
        """Literals that extend a path's query, and [tests, places] 1 where it then holds; no duplicates."""
        if query not in self._extensions:
            others = self.tree.paid.shape[1] - 1
            base, patterns = self.holds(query), set[bytes]()
            found, rows = list[Query](), []
            for more in self.bias.extensions(query, others=others):
                row = self.holds(query + more)
                key = row.tobytes()
                if key not in patterns and row.any() and (row != base).any():
                    patterns.add(key)
                    found.append(more)
                    rows.append(row)
            table = np.array(rows, np.float64).reshape(len(rows), len(self.places.node))
            self._extensions[query] = found, table
        return self._extensions[query]


def fact_columns(facts: dict[str, Floats]) -> list[FactColumn]:
    """Facts with the limits between their values, or with quantiles if these are many."""
    found = []
    for name, numbers in facts.items():
        values = np.unique(numbers)
        if len(values) < 2:
            continue
        limits = (values[1:] + values[:-1]) / 2
        if len(limits) > MOST_LIMITS:
            limits = np.unique(np.quantile(numbers, np.linspace(0, 1, MOST_LIMITS + 2)[1:-1]))
        if (values == np.rint(values)).all():
            limits = np.unique(np.floor(limits))
        found.append(FactColumn(name, np.searchsorted(limits, numbers), limits))
    return found
