"""Relational probability trees, grown top-down like those of TILDE (Blockeel & De Raedt 1998).

Examples have two weights, as the player's and as the prior's; a leaf separates the two by its sums of
weights. At a leaf all tests of the language bias are tried, and all literals about earlier actions that can
extend the path's query; the best test gives the labels the highest likelihood. A leaf is split if the gain is
significant (chi-square, with Bonferroni's correction for the number of tests), the best of all leaves first,
up to a maximal number of leaves. In the branch where literals hold, they extend the path's query.

Cards and public facts may be informative only together: a player may bet good cards and call with bad ones
after one history, and do the opposite after another. So where no test is significant, public tests are tried
with a test of the cards in each of their branches (TILDE's lookahead).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # scipy.stats takes long to import and loads itself when it is first used
from numpy.typing import NDArray

from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, Longs
from openfelt.opponents.models.relational.examples import QueryCache, TreeExamples, fact_columns
from openfelt.opponents.models.relational.language import Query
from openfelt.opponents.models.relational.tree import (
    Acts,
    Did,
    Exceeds,
    RelationalTree,
    Test,
    TreeLeaf,
    TreeSplit,
)


@dataclass(frozen=True)
class Growth:
    """When to stop growing."""

    leaves: int = 24  # maximum
    smallest: float = 4.0  # minimal weight of a leaf, of both labels together
    significance: float = 0.3  # of a split, over all tests; chosen by experiment, like m
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
        self, examples: TreeExamples, queries: QueryCache, growth: Growth, *, noise: float = 0.0
    ) -> None:
        """`noise`: variance of the prior's sums, relative to that of the player's.

        With 1, twice the gain follows a chi-square distribution. The prior's examples are many with small
        weights (0: not sampled at all), so the factor is larger.
        """
        self.examples, self.queries, self.growth = examples, queries, growth
        self.scale = 4.0 / (1.0 + noise)
        self.columns = fact_columns(examples.facts)
        self.public = {fact.name for fact in queries.bias.public}

    def grow_by_action(self) -> RelationalTree:
        """A tree that tests the action first.

        The prior's examples are the player's with other actions or other cards. So often only an action
        together with another fact separates them; testing one at a time would find neither.
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
        """A tree of some examples, or all; it does not test the action."""
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
        """The significant test with the highest gain, and the gain."""
        if node.player + node.prior < 2 * self.growth.smallest:
            return None
        best_gain, best, tried = 0.0, None, 0
        for tests, player, prior in self._candidates(node):
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
        if best is None or self.scale * best_gain < scipy.stats.chi2.isf(self.growth.significance / tried, 1):
            return self._best_ahead(node)
        return best_gain, best

    def _best_ahead(self, node: _Node) -> tuple[float, Test] | None:
        """The public test with the highest gain when each branch is split by a test of the cards."""
        bar = scipy.stats.chi2.isf(self.growth.significance, 3) / self.scale
        if -float(_likely(node.player, node.prior)) < bar:  # not significant even if it separated all labels
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
        if self.scale * best_gain < scipy.stats.chi2.isf(self.growth.significance / max(tried, 1), 3):
            return None
        return best_gain, best

    def _best_limit(self, player: Floats, prior: Floats) -> Floats:
        """[tests] log-likelihood of the labels if examples [tests, codes] are split at the best limit."""
        totals = player.sum(axis=1, keepdims=True), prior.sum(axis=1, keepdims=True)
        above = [part[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:] for part in (player, prior)]
        rest = [np.maximum(total - part, 0.0) for total, part in zip(totals, above, strict=True)]
        smallest = self.growth.smallest
        fits = (above[0] + above[1] >= smallest) & (rest[0] + rest[1] >= smallest)
        split = np.where(fits, _likely(*above) + _likely(*rest), -np.inf).max(axis=1, initial=-np.inf)
        alone = np.where((totals[0] + totals[1])[:, 0] >= smallest, _likely(*totals)[:, 0], -np.inf)
        return np.asarray(np.maximum(split, alone))

    def _public_tests(self, query: Query, here: Longs, weight: Floats) -> tuple[list[Test], Floats]:
        """Public tests that separate places, with weights; and [tests, places] 1 where they hold."""
        extensions, holds = self.queries.extensions(query)
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
        kept, patterns = list[int](), set[bytes]()
        for row in np.flatnonzero(np.minimum(size, weight.sum() - size) >= self.growth.smallest).tolist():
            key = table[row].tobytes()
            if key not in patterns:
                patterns.add(key)
                kept.append(row)
        return [tests[row] for row in kept], table[kept]

    def _candidates(self, node: _Node) -> Iterator[tuple[Sequence[Test], Floats, Floats]]:
        """Tests, with the sums of weights of the examples for which they hold."""
        rows, examples = node.rows, self.examples
        player, prior = examples.player[rows], examples.prior[rows]
        for column in self.columns:
            code, count = column.code[rows], len(column.limits) + 1
            above = [np.bincount(code, weight, count)[::-1].cumsum()[::-1][1:] for weight in (player, prior)]
            yield [Exceeds(column.name, float(limit)) for limit in column.limits], above[0], above[1]
        extensions, holds = self.queries.extensions(node.query)
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
            yes = self.queries.holds(query)[self.examples.place[rows]]
        return _Node(rows[yes], query, self.examples), _Node(rows[~yes], node.query, self.examples)

    def _gain_of(self, yes: NDArray[np.bool_]) -> float:
        player, prior = self.examples.player, self.examples.prior
        inside = _likely(player[yes].sum(), prior[yes].sum())
        return float(inside + _likely(player[~yes].sum(), prior[~yes].sum()))


def _likely(player: Any, prior: Any) -> Any:
    """Log-likelihood of the labels at their own frequencies."""
    return _times_log(player) + _times_log(prior) - _times_log(player + prior)


def _times_log(number: Any) -> Any:
    return number * np.log(np.maximum(number, 1e-300))
