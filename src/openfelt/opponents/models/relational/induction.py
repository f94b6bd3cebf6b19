"""Relational probability trees, grown from the top down in the manner of TILDE (Blockeel & De Raedt 1998).

Examples have a weight as the player's and one as the prior's; a leaf tells the player from the prior by the
weights there. At a leaf all tests of the language bias are tried, with those literals about earlier actions
that the path can be extended by; the best is the one that makes the labels likeliest. It is taken if that is
significant, all that were tried counted (chi-square with Bonferroni's correction), the best of all leaves
first, until there are as many leaves as allowed. Literals are added to the path's query where they hold;
where they do not, their variables are not seen.

What cards and what is public tell may be nothing alone and much together: a player who bets good cards and
calls bad ones after one history, and does the opposite after another. So where no test is significant, public
tests are tried with a test of the cards below each of their answers (TILDE's lookahead).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, Longs
from openfelt.opponents.models.public_queries import holds_at
from openfelt.opponents.models.public_tree import Places, PublicTree
from openfelt.opponents.models.relational.language import LanguageBias, Query, query_array
from openfelt.opponents.models.relational.tree import (
    Acts,
    Did,
    Exceeds,
    RelationalTree,
    Test,
    TreeLeaf,
    TreeSplit,
)

MOST_LIMITS = 128  # of a fact; if it has more values, quantiles


@dataclass(frozen=True)
class Growth:
    """When to stop."""

    leaves: int = 24  # at most
    smallest: float = 4.0  # weight of examples of both labels on a leaf, at least
    significance: float = 0.3  # of a split, all tests together; found by trial, as m
    m: float = 2.0  # of the m-estimate at the leaves

    def __post_init__(self) -> None:
        for name, good in (
            ("leaves", 1 <= self.leaves <= 64),
            ("smallest", self.smallest > 0),
            ("significance", 0 < self.significance <= 1),
            ("m", self.m > 0),
        ):
            if not good:
                raise FeltError(
                    f"{name} of a tree cannot be {getattr(self, name)}: 1 to 64 leaves, a significance "
                    "above 0 and up to 1, the smallest weight and m above 0."
                )


class TreeExamples(NamedTuple):
    """What a tree is grown from."""

    place: Longs  # [examples] which of the places
    action: Longs  # [examples]
    player: Floats  # [examples] weight among the player's
    prior: Floats  # [examples] and among the prior's
    facts: dict[str, Floats]  # [examples] each


class FactColumn(NamedTuple):
    """A fact of all examples, by the number of limits that it exceeds."""

    name: str
    code: Longs  # [examples]
    limits: Floats  # rising


class QueryCache:
    """Which queries hold at some places; each is answered once."""

    def __init__(self, tree: PublicTree, places: Places, bias: LanguageBias) -> None:
        self.tree, self.places, self.bias = tree, places, bias
        self._holds: dict[Query, NDArray[np.bool_]] = {}
        self._tried: dict[Query, tuple[list[Query], Floats]] = {}

    def holds(self, query: Query) -> NDArray[np.bool_]:
        """[places]."""
        if query not in self._holds:
            self._holds[query] = holds_at(self.tree, self.places, query_array(query)).astype(bool)
        return self._holds[query]

    def extensions(self, query: Query) -> tuple[list[Query], Floats]:
        """What a path's query can be extended by, [tests, places] 1 where it then holds; no two alike."""
        if query not in self._tried:
            others = self.tree.paid.shape[1] - 1
            base, seen = self.holds(query), set[bytes]()
            found, rows = list[Query](), []
            for more in self.bias.extensions(query, others=others):
                row = self.holds(query + more)
                key = row.tobytes()
                if key not in seen and row.any() and (row != base).any():
                    seen.add(key)
                    found.append(more)
                    rows.append(row)
            table = np.array(rows, np.float64).reshape(len(rows), len(self.places.node))
            self._tried[query] = found, table
        return self._tried[query]


def fact_columns(facts: dict[str, Floats]) -> list[FactColumn]:
    """Limits between all values, or quantiles if these are many."""
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


class _Node:
    """A leaf that may still be split."""

    def __init__(self, rows: Longs, query: Query, examples: TreeExamples) -> None:
        self.rows, self.query = rows, query
        self.player = float(examples.player[rows].sum())
        self.prior = float(examples.prior[rows].sum())
        self.test: Test | None = None
        self.below: tuple[_Node, _Node] | None = None

    def frozen(self, m: float, above: float = 0.5) -> RelationalTree:
        leaf = TreeLeaf(self.player, self.prior, above)
        if self.below is None or self.test is None:
            return leaf
        yes, no = (part.frozen(m, leaf.chance(m)) for part in self.below)
        return TreeSplit(self.test, yes, no)


class Grower:
    """Grows trees of one set of examples."""

    def __init__(
        self, examples: TreeExamples, histories: QueryCache, growth: Growth, *, noise: float = 0.0
    ) -> None:
        """`noise`: the variance of the prior's sums, as a share of that of the player's.

        Were it 1, twice the gain would be a chi-square. The prior's examples are many with small weights,
        down to 0 where they are not drawn at all, so it is more.
        """
        self.examples, self.histories, self.growth = examples, histories, growth
        self.scale = 4.0 / (1.0 + noise)
        self.columns = fact_columns(examples.facts)
        self.public = {fact.name for fact in histories.bias.public}

    def grow_by_action(self) -> RelationalTree:
        """A tree that asks for the action first.

        The prior's examples are the player's with other actions, or other cards. So often nothing tells
        them apart but an action and something beside it: one test at a time would find neither.
        """
        rows = np.arange(len(self.examples.place))
        here = self.examples.action
        actions = np.unique(here).tolist()
        gains = {action: self._gain_of(here == action) for action in actions}
        actions.sort(key=lambda action: gains[action])
        tree: RelationalTree = self.grow(rows[here == actions[0]]) if actions else TreeLeaf(0.0, 0.0)
        for action in actions[1:]:
            tree = TreeSplit(Acts(action), self.grow(rows[here == action]), tree)
        return tree

    def grow(self, rows: Longs | None = None) -> RelationalTree:
        """A tree of some examples, or all; it does not ask for their actions."""
        if rows is None:
            rows = np.arange(len(self.examples.place))
        root = _Node(rows, (), self.examples)
        count, order = 1, 0
        heap: list[tuple[float, int, _Node, Test]] = []

        def look(node: _Node) -> None:
            nonlocal order
            best = self._best(node)
            if best:
                heapq.heappush(heap, (-best[0], order, node, best[1]))
                order += 1

        look(root)
        while heap and count < self.growth.leaves:
            _, _, node, test = heapq.heappop(heap)
            node.test, node.below = test, self._parts(node, test)
            count += 1
            for part in node.below:
                look(part)
        return root.frozen(self.growth.m)

    def _best(self, node: _Node) -> tuple[float, Test] | None:
        """The significant test that gains most, with its gain."""
        if node.player + node.prior < 2 * self.growth.smallest:
            return None
        best_gain, best, tried = 0.0, None, 0
        for tests, player, prior in self._tried(node):
            other_player = np.maximum(node.player - player, 0.0)  # but for rounding
            other_prior = np.maximum(node.prior - prior, 0.0)
            size, other_size = player + prior, other_player + other_prior
            fits = (size >= self.growth.smallest) & (other_size >= self.growth.smallest)
            gain = np.where(fits, _likely(player, prior) + _likely(other_player, other_prior), -np.inf)
            tried += int(fits.sum())
            if fits.any() and (place := int(gain.argmax())) >= 0:
                gained = float(gain[place]) - float(_likely(node.player, node.prior))
                if gained > best_gain + 1e-9:
                    best_gain, best = gained, tests[place]
        if best is None or self.scale * best_gain < chi2.isf(self.growth.significance / tried, 1):
            return self._best_ahead(node)
        return best_gain, best

    def _best_ahead(self, node: _Node) -> tuple[float, Test] | None:
        """The public test that gains most with a test of the cards below each of its answers."""
        bar = chi2.isf(self.growth.significance, 3) / self.scale
        if -float(_likely(node.player, node.prior)) < bar:  # not even if all labels were told apart
            return None
        here, place = np.unique(self.examples.place[node.rows], return_inverse=True)
        weights = self.examples.player[node.rows], self.examples.prior[node.rows]
        at_place = np.asarray(np.bincount(place, weights[0] + weights[1]), np.float64)
        tests, holds = self._public_tests(node.query, here, at_place)
        if not tests:
            return None
        count = len(here)
        best_gain, best, tried = 0.0, tests[0], 0
        for column in self.columns:
            if column.name in self.public:
                continue
            codes = len(column.limits) + 1
            cell = place * codes + column.code[node.rows]
            whole = [np.bincount(cell, weight, count * codes).reshape(count, codes) for weight in weights]
            yes = [holds @ table for table in whole]
            no = [np.maximum(table.sum(axis=0) - part, 0.0) for table, part in zip(whole, yes, strict=True)]
            gains = self._best_limit(*yes) + self._best_limit(*no) - _likely(node.player, node.prior)
            tried += len(tests) * len(column.limits)
            if float(gains.max()) > best_gain:
                best_gain, best = float(gains.max()), tests[int(gains.argmax())]
        if self.scale * best_gain < chi2.isf(self.growth.significance / max(tried, 1), 3):
            return None
        return best_gain, best

    def _best_limit(self, player: Floats, prior: Floats) -> Floats:
        """[tests] how likely labels are if the examples, [tests, codes], are split at the best limit."""
        totals = player.sum(axis=1, keepdims=True), prior.sum(axis=1, keepdims=True)
        above = [part[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:] for part in (player, prior)]
        rest = [np.maximum(total - part, 0.0) for total, part in zip(totals, above, strict=True)]
        smallest = self.growth.smallest
        fits = (above[0] + above[1] >= smallest) & (rest[0] + rest[1] >= smallest)
        split = np.where(fits, _likely(*above) + _likely(*rest), -np.inf).max(axis=1, initial=-np.inf)
        alone = np.where((totals[0] + totals[1])[:, 0] >= smallest, _likely(*totals)[:, 0], -np.inf)
        return np.asarray(np.maximum(split, alone))

    def _public_tests(self, query: Query, here: Longs, weight: Floats) -> tuple[list[Test], Floats]:
        """Tests of what is public that part places with weights, [tests, places] 1 where they hold."""
        extensions, holds = self.histories.extensions(query)
        tests: list[Test] = [Did(more) for more in extensions]
        rows = [holds]
        for column in self.columns:
            if column.name in self.public:
                code = np.zeros(holds.shape[1], np.int64)
                code[self.examples.place] = column.code
                rows.append((code > np.arange(len(column.limits))[:, None]).astype(np.float64))
                tests += [Exceeds(column.name, float(limit)) for limit in column.limits]
        table = np.concatenate(rows)[:, here]
        size = table @ weight
        kept, seen = list[int](), set[bytes]()
        for row in np.flatnonzero(np.minimum(size, weight.sum() - size) >= self.growth.smallest).tolist():
            key = table[row].tobytes()
            if key not in seen:
                seen.add(key)
                kept.append(row)
        return [tests[row] for row in kept], table[kept]

    def _tried(self, node: _Node) -> Iterator[tuple[Sequence[Test], Floats, Floats]]:
        """Tests, with the weights of the examples for which they hold."""
        rows, examples = node.rows, self.examples
        player, prior = examples.player[rows], examples.prior[rows]
        for column in self.columns:
            code, count = column.code[rows], len(column.limits) + 1
            above = [np.bincount(code, weight, count)[::-1].cumsum()[::-1][1:] for weight in (player, prior)]
            yield [Exceeds(column.name, float(limit)) for limit in column.limits], above[0], above[1]
        extensions, holds = self.histories.extensions(node.query)
        if extensions:
            place, count = examples.place[rows], holds.shape[1]
            held = [holds @ np.bincount(place, weight, count) for weight in (player, prior)]
            yield [Did(more) for more in extensions], held[0], held[1]

    def _parts(self, node: _Node, test: Test) -> tuple[_Node, _Node]:
        rows = node.rows
        query = node.query
        if isinstance(test, Exceeds):
            yes = self.examples.facts[test.fact][rows] > test.limit
        else:
            assert isinstance(test, Did)
            query = query + test.literals
            yes = self.histories.holds(query)[self.examples.place[rows]]
        return _Node(rows[yes], query, self.examples), _Node(rows[~yes], node.query, self.examples)

    def _gain_of(self, yes: NDArray[np.bool_]) -> float:
        player, prior = self.examples.player, self.examples.prior
        inside = _likely(player[yes].sum(), prior[yes].sum())
        return float(inside + _likely(player[~yes].sum(), prior[~yes].sum()))


def _likely(player: Any, prior: Any) -> Any:
    """The logarithm of how likely the labels are, at their own shares."""
    return _times_log(player) + _times_log(prior) - _times_log(player + prior)


def _times_log(number: Any) -> Any:
    return number * np.log(np.maximum(number, 1e-300))
