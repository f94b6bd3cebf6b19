"""Relational trees as arrays: one descent gives the probabilities of all actions.

An action tree gives for each action how much likelier than under the prior the player takes it. It is
compiled for all actions at once, so that a leaf has a weight for each; a test whose result is known from the
path is not repeated. Equal subtrees are shared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, Longs, kernel
from openfelt.games.compile.betting_tree import KIND, STREET_SHIFT
from openfelt.opponents.models.domain import ModelDomain
from openfelt.opponents.models.public_tree import CLASSES, PublicTree
from openfelt.opponents.models.relational.language import HAND_RANK, LanguageBias, Query
from openfelt.opponents.models.relational.public_bits import PublicTest, all_bits, bits_at
from openfelt.opponents.models.relational.tree import Acts, Did, Exceeds, RelationalTree, TreeLeaf, TreeSplit
from openfelt.opponents.models.tree_arrays import (
    BIT,
    CARD,
    LEAF,
    RANK,
    DecisionTreeArrays,
    leaf_of,
    tree_probabilities,
)

MOST_STEPS = 2_000_000
FEW_NODES = 1_000_000  # of a public tree whose bits are all computed at once


class Steps:
    """Steps of trees while they are written to arrays; equal ones are shared."""

    def __init__(self) -> None:
        self.steps: dict[tuple[int, float, int, int], int] = {}
        self.leaves: dict[tuple[float, ...], int] = {}

    def leaf(self, weights: tuple[float, ...]) -> int:
        """The number of a leaf's step."""
        place = self.leaves.setdefault(weights, len(self.leaves))
        return self._step((LEAF, 0.0, place, place))

    def test(self, kind: int, limit: float, yes: int, no: int) -> int:
        """The number of a test's step, or of the next one if both results lead there."""
        return yes if yes == no else self._step((kind, limit, yes, no))

    def _step(self, step: tuple[int, float, int, int]) -> int:
        if len(self.steps) > MOST_STEPS:
            raise FeltError(f"The trees have more than {MOST_STEPS:,} steps in all; allow fewer leaves.")
        return self.steps.setdefault(step, len(self.steps))

    def grown(self, bits: NDArray[np.uint64], roots: Sequence[int], card_facts: Floats) -> DecisionTreeArrays:
        """The arrays."""
        rows = list(self.steps)
        return DecisionTreeArrays(
            bits,
            np.array(roots, np.int32),
            np.array([(kind, yes, no) for kind, _, yes, no in rows], np.int32).reshape(-1, 3),
            np.array([limit for _, limit, _, _ in rows], np.float64),
            np.array(list(self.leaves), np.float64).reshape(-1, len(CLASSES)),
            card_facts,
        )


class CompiledTrees(NamedTuple):
    """Trees for kernels, and the tests of their bits."""

    grown: DecisionTreeArrays  # without bits
    tests: tuple[PublicTest, ...]


def compile_trees(
    trees: Sequence[RelationalTree], bias: LanguageBias, card_facts: Floats, m: float
) -> CompiledTrees:
    """The action trees of all streets, one for each or one for all."""
    names = [fact.name for fact in bias.cards]
    kinds = {HAND_RANK: RANK, **{name: CARD + place for place, name in enumerate(names)}}
    made = _Descent(kinds, m)
    roots = {id(tree): made.down([(tree, ())] * len(CLASSES), {}) for tree in trees}
    empty = np.zeros((0, max(1, -(-len(made.tests) // 64))), np.uint64)
    # Kernels need at least one row.
    rows = card_facts if len(card_facts) else np.zeros((1, card_facts.shape[1]))
    grown = made.steps.grown(empty, [roots[id(tree)] for tree in trees], rows)
    return CompiledTrees(grown, tuple(made.tests))


class _Descent:
    """Descends a tree for all actions at once."""

    def __init__(self, kinds: Mapping[str, int], m: float) -> None:
        self.kinds, self.m = kinds, m
        self.steps = Steps()
        self.tests: dict[PublicTest, int] = {}

    def down(
        self, cursors: list[tuple[RelationalTree, Query]], known: Mapping[object, tuple[float, float]]
    ) -> int:
        """The number of the step for `cursors`: the subtree of each action, with its path's query.

        `known` are the bounds of facts on this path: above the first number, at most the second.
        """
        cursors = [self._settled(cursor, action, known) for action, cursor in enumerate(cursors)]
        open_cursor = next((cursor for cursor in cursors if isinstance(cursor[0], TreeSplit)), None)
        if open_cursor is None:
            leaves = [tree for tree, _ in cursors if isinstance(tree, TreeLeaf)]
            return self.steps.leaf(tuple(leaf.odds(self.m) for leaf in leaves))
        tree, query = open_cursor
        assert isinstance(tree, TreeSplit)
        kind, limit, what = self._step_of(tree, query)
        at = 0.5 if kind == BIT else limit
        low, high = known.get(what, (-np.inf, np.inf))
        yes = self.down(cursors, {**known, what: (max(low, at), high)})
        no = self.down(cursors, {**known, what: (low, min(high, at))})
        return self.steps.test(kind, limit, yes, no)

    def _settled(
        self, cursor: tuple[RelationalTree, Query], action: int, known: Mapping[object, tuple[float, float]]
    ) -> tuple[RelationalTree, Query]:
        """Descend as far as results are known."""
        tree, query = cursor
        while isinstance(tree, TreeSplit):
            test = tree.test
            if isinstance(test, Acts):
                yes = test.action == action
            else:
                kind, limit, what = self._step_of(tree, query)
                low, high = known.get(what, (-np.inf, np.inf))
                limit = 0.5 if kind == BIT else limit
                if low < limit < high:
                    break
                yes = low >= limit
            if yes and isinstance(test, Did):
                query = query + test.literals
            tree = tree.yes if yes else tree.no
        return tree, query

    def _step_of(self, tree: TreeSplit, query: Query) -> tuple[int, float, object]:
        """The kind of a test's step, its limit, and the tested fact or query."""
        test = tree.test
        if isinstance(test, Exceeds) and test.fact in self.kinds:
            return self.kinds[test.fact], test.limit, test.fact
        assert not isinstance(test, Acts)
        public: PublicTest = test if isinstance(test, Exceeds) else query + test.literals
        bit = self.tests.setdefault(public, len(self.tests))
        return BIT, float(bit), public


def product(first: DecisionTreeArrays, second: DecisionTreeArrays) -> DecisionTreeArrays:
    """The product of two models' weights: of a prior, and of a correction to it."""
    steps, words = Steps(), first.bits.shape[1]
    facts = len(first.card_facts)
    done: dict[tuple[int, int], int] = {}

    def down(here: int, there: int) -> int:
        if (here, there) in done:
            return done[here, there]
        one = first.step[here, 0] != LEAF
        if not one and second.step[there, 0] == LEAF:
            weights = first.leaves[first.step[here, 1]] * second.leaves[second.step[there, 1]]
            made = steps.leaf(tuple(weights.tolist()))
        else:
            kind, yes, no = (int(number) for number in (first.step[here] if one else second.step[there]))
            limit = float(first.limit[here] if one else second.limit[there])
            if not one and kind == BIT:
                limit += 64 * words
            elif not one and kind >= CARD:
                kind += facts
            made = steps.test(
                kind,
                limit,
                down(yes if one else here, there if one else yes),
                down(no if one else here, there if one else no),
            )
        done[here, there] = made
        return made

    roots = [down(int(here), int(there)) for here, there in zip(first.root, second.root, strict=True)]
    bits = np.concatenate([first.bits, second.bits], axis=1)
    return steps.grown(bits, roots, np.concatenate([first.card_facts, second.card_facts]))


class TreeEvaluator:
    """Evaluates compiled trees; bits are computed on first use."""

    def __init__(self, domain: ModelDomain, bias: LanguageBias, compiled: CompiledTrees) -> None:
        self.domain, self.bias, self.compiled = domain, bias, compiled
        self._grown: DecisionTreeArrays | None = None
        self._rows: dict[int, NDArray[np.uint64]] = {}

    def everywhere(self) -> DecisionTreeArrays:
        """The arrays with the bits of every node."""
        if self._grown is None:
            bits = all_bits(self.domain, self.bias, self.compiled.tests)
            self._grown = self.compiled.grown._replace(bits=bits)
        return self._grown

    def at(self, nodes: Longs) -> tuple[PublicTree, DecisionTreeArrays, Longs]:
        """For kernels: a public tree of these nodes, the arrays with their bits, and the nodes' rows."""
        public = self.domain.public
        if self._grown is not None or len(public.node) <= FEW_NODES:
            return public, self.everywhere(), nodes
        once, rows = np.unique(nodes, return_inverse=True)
        new = [node for node in once.tolist() if node not in self._rows]
        if new:
            found = bits_at(self.domain, self.bias, self.compiled.tests, np.array(new))
            self._rows.update(zip(new, found, strict=True))
        bits = np.array([self._rows[node] for node in once.tolist()], np.uint64)
        part = public._replace(node=np.ascontiguousarray(public.node[once]))
        return part, self.compiled.grown._replace(bits=bits), rows.astype(np.int64)

    def shares(self, nodes: Longs, ranks: Longs, holdings: Longs) -> Floats:
        """[n, CLASSES] probabilities of the legal actions."""
        found = np.zeros((len(nodes), len(CLASSES)))
        tree, grown, rows = self.at(np.asarray(nodes, np.int64))
        tree_probabilities(
            tree, grown, rows, np.asarray(ranks, np.int64), np.asarray(holdings, np.int64), found
        )
        return found

    def weights(self, nodes: Longs, ranks: Longs, holdings: Longs) -> Floats:
        """[n, CLASSES] weights of all actions."""
        found = np.zeros((len(nodes), len(CLASSES)))
        tree, grown, rows = self.at(np.asarray(nodes, np.int64))
        _weights(tree, grown, rows, np.asarray(ranks, np.int64), np.asarray(holdings, np.int64), found)
        return found


@kernel
def _weights(
    tree: PublicTree, grown: DecisionTreeArrays, nodes: Longs, ranks: Longs, holdings: Longs, found: Floats
) -> None:
    for row in range(len(nodes)):
        street = tree.node[nodes[row], KIND] >> STREET_SHIFT & 3
        leaf = leaf_of(grown, nodes[row], street, ranks[row], holdings[row])
        for klass in range(found.shape[1]):
            found[row, klass] = grown.leaves[leaf, klass]
