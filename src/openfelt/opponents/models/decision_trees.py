"""Decision trees that predict actions, one for each street (PJL11, section 4.3.2).

The paper's J48 learns from five features: the seat relative to the button, the number of bets and raises in
the game, on the street and by the player, and the bucket of its hand. Here scikit-learn grows the trees by
the same criterion, information gain, and prunes them by cost-complexity: a leaf must gain at least two nats,
one for each free probability that it adds (AIC; J48 prunes by bounds on a leaf's errors instead). In
experiments with 100 to 5,000 hands of ace1 and of poki-like (on whose held-out hands it was chosen) this
predicted better than the penalty of BIC in 8 cases of 12 and worse in 2, better than no pruning in 10 and
worse in 1. Leaves start from one count for each action (Laplace).

A grown tree is stored as arrays, so that playing with a model, or loading one, does not need scikit-learn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openfelt.core.errors import MissingError
from openfelt.core.jit import Floats, Ints, Longs
from openfelt.games.game import AnyGame
from openfelt.opponents.models.domain import HAND_RANKS
from openfelt.opponents.models.model import OpponentModel
from openfelt.opponents.models.observed import Decisions
from openfelt.opponents.models.public_tree import CLASSES, FACTS as ALL_FACTS, PublicTree, facts_at
from openfelt.opponents.models.public_walk import all_facts
from openfelt.opponents.models.tally import bucket_count
from openfelt.opponents.models.tree_arrays import (
    BIT,
    KIND_OF,
    LEAF,
    NO,
    RANK,
    YES,
    DecisionTreeArrays,
    TreeSearchModel,
    tree_probabilities,
)

BUCKETS = 10
FACTS = ("seat", "bets_in_game", "bets_in_phase", "bets_of_player")  # and the bucket
LEAST = 5  # decisions at a leaf
PENALTY = 2.0 / math.log(2.0)  # bits that a further leaf must gain in all
LAPLACE = 1.0


class TreesModel(OpponentModel):
    """A decision tree for each street."""

    kind = "trees"
    summary = "a decision tree for each street, of five features (PJL11)"

    def __init__(self, game: AnyGame, *, buckets: int = BUCKETS) -> None:
        super().__init__(game)
        self.buckets = bucket_count(self.domain, buckets)
        self._set(_Growth())

    def _set(self, growth: _Growth) -> None:
        if not growth.root:
            growth.root = [growth.leaf(np.zeros(len(CLASSES))) for _ in self.domain.streets]
        self.root, self.step = np.array(growth.root, np.int32), np.array(growth.step, np.int32)
        self.limit, self.leaves = np.array(growth.limit, np.float64), np.array(growth.leaves, np.float64)
        self.tests = np.array(growth.tests, np.int32).reshape(-1, 2)  # a fact, and its limit
        self.__dict__.pop("grown", None)

    @cached_property
    def grown(self) -> DecisionTreeArrays:
        """With the tests evaluated at all public states, on first use."""
        bits = _answers(self.domain.public, self.tests)
        return DecisionTreeArrays(bits, self.root, self.step, self.limit, self.leaves, self.domain.card_facts)

    def shares(self, nodes: Longs, ranks: Longs, holdings: Longs) -> Floats:
        found = np.zeros((len(nodes), len(CLASSES)))
        tree_probabilities(self.domain.public, self.grown, nodes, ranks, holdings, found)
        return found

    def fit_to(self, decisions: Decisions) -> None:
        table = features(self.domain.public, decisions, self.buckets)
        streets = facts_at(self.domain.public, decisions.places)[decisions.place, ALL_FACTS.index("phase")]
        growth = _Growth()
        for street in range(len(self.domain.streets)):
            here = streets == street
            action, weight = decisions.action[here], decisions.weight[here]
            if len(np.unique(action)) < 2:  # nothing to separate
                counts = np.bincount(action, weight, minlength=len(CLASSES))
                growth.root.append(growth.leaf(np.asarray(counts, np.float64)))
            else:
                growth.add(grow(table[here], action, weight), self.buckets)
        self._set(growth)

    def for_search(self) -> TreeSearchModel:
        return TreeSearchModel(self.grown, self.domain.rank_tables)

    def to_save(self) -> tuple[Mapping[str, NDArray[Any]], Mapping[str, Any]]:
        names = ("root", "step", "limit", "leaves", "tests")
        return {name: getattr(self, name) for name in names}, {"buckets": self.buckets}

    def restore(self, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> None:
        root, step, limit = arrays["root"], arrays["step"], arrays["limit"]
        leaves, tests = arrays["leaves"], arrays["tests"]
        if not _is_sound(root, step, limit, leaves, tests) or len(root) != len(self.domain.streets):
            raise ValueError("trees")
        self.buckets = bucket_count(self.domain, int(facts["buckets"]))
        self.root, self.step, self.tests = (np.array(each, np.int32) for each in (root, step, tests))
        self.limit, self.leaves = (np.array(each, np.float64) for each in (limit, leaves))
        self.__dict__.pop("grown", None)

    def describe(self) -> str:
        """The rules by street; at each leaf the frequencies of actions and the number of decisions."""
        lines: list[str] = []
        for street, root in zip(self.domain.streets, self.root, strict=True):
            lines += [street, *self._rules(int(root), "  ")]
        lines.append("Without a bet to call, the probability of folding goes to the other actions.")
        return "\n".join(lines)

    def _rules(self, here: int, indent: str) -> list[str]:
        kind, yes, no = (int(number) for number in self.step[here])
        if kind == LEAF:
            weights = self.leaves[yes]
            shares = (f"{name} {w / weights.sum():.2f}" for name, w in zip(CLASSES, weights, strict=True))
            return [f"{indent}{', '.join(shares)} ({weights.sum() - len(CLASSES) * LAPLACE:.0f})"]
        if kind == RANK:
            test = f"hand rank > {math.floor(self.limit[here])}"
        else:
            fact, limit = self.tests[int(self.limit[here])]
            test = f"{FACTS[fact]} > {limit}"
        below = indent + "  "
        return [f"{indent}if {test}", *self._rules(yes, below), f"{indent}else", *self._rules(no, below)]


class _Growth:
    """Trees while they are written to arrays."""

    def __init__(self) -> None:
        self.root: list[int] = []
        self.step: list[list[int]] = []
        self.limit: list[float] = []
        self.leaves: list[Floats] = []
        self.tests: list[tuple[int, int]] = []

    def leaf(self, counts: Floats) -> int:
        self.leaves.append(counts + LAPLACE)
        self.step.append([LEAF, len(self.leaves) - 1, 0])
        self.limit.append(0.0)
        return len(self.step) - 1

    def add(self, tree: Any, buckets: int) -> None:
        """Add a tree of scikit-learn."""
        self.root.append(self._below(tree.tree_, tree.classes_, 0, buckets))

    def _below(self, tree: Any, classes: NDArray[Any], node: int, buckets: int) -> int:
        if tree.children_left[node] < 0:
            counts = np.zeros(len(CLASSES))
            counts[classes] = tree.value[node, 0] * tree.weighted_n_node_samples[node]
            return self.leaf(counts)
        here, above = len(self.step), math.floor(tree.threshold[node])
        self.step.append([])
        self.limit.append(0.0)
        if tree.feature[node] < len(FACTS):
            kind, test = BIT, (int(tree.feature[node]), above)
            if test not in self.tests:
                self.tests.append(test)
            self.limit[here] = self.tests.index(test)
        else:  # ranks of the next bucket on
            kind = RANK
            self.limit[here] = -(-(above + 1) * HAND_RANKS // buckets) - 0.5
        no = self._below(tree, classes, tree.children_left[node], buckets)
        yes = self._below(tree, classes, tree.children_right[node], buckets)
        self.step[here] = [kind, yes, no]
        return here


def features(tree: PublicTree, decisions: Decisions, buckets: int) -> Longs:
    """[decisions, 5] the features."""
    columns = [ALL_FACTS.index(name) for name in FACTS]
    table = facts_at(tree, decisions.places)[:, columns][decisions.place]
    return np.column_stack([table.astype(np.int64), decisions.rank * buckets // HAND_RANKS])


def grow(table: Longs, action: NDArray[Any], weight: Floats) -> Any:
    """A tree of scikit-learn, pruned."""
    try:
        from sklearn.tree import DecisionTreeClassifier
    except ImportError:
        raise MissingError("Decision trees need scikit-learn: pip install 'openfelt[models]'.") from None
    total = float(weight.sum())
    tree = DecisionTreeClassifier(
        criterion="entropy",
        min_weight_fraction_leaf=min(0.5, LEAST / total),
        ccp_alpha=PENALTY / total,
        random_state=0,
    )
    return tree.fit(table, action, sample_weight=weight)


def _answers(tree: PublicTree, tests: Ints) -> NDArray[np.uint64]:
    """[nodes, words] a bit for each test."""
    bits = np.zeros((len(tree.node), max(1, -(-len(tests) // 64))), np.uint64)
    for fact in np.unique(tests[:, 0]):
        found = all_facts(tree, (FACTS[fact],))[:, 0]
        for number in np.flatnonzero(tests[:, 0] == fact):
            answer = (found > tests[number, 1]).astype(np.uint64)
            bits[:, number // 64] |= answer << np.uint64(number % 64)
    return bits


def _is_sound(
    root: NDArray[Any], step: NDArray[Any], limit: NDArray[Any], leaves: NDArray[Any], tests: NDArray[Any]
) -> bool:
    """Whether saved trees are valid: each step leads to a later one or to a leaf."""
    count = len(step)
    if step.shape != (count, 3) or limit.shape != (count,) or leaves.shape[1:] != (len(CLASSES),):
        return False
    if step.dtype != np.int32 or root.dtype != np.int32 or tests.shape[1:] != (2,):
        return False
    kind, here = step[:, KIND_OF], np.arange(count)
    leaf, bit = kind == LEAF, kind == BIT
    onward = ((step[:, [YES, NO]] > here[:, None]) & (step[:, [YES, NO]] < count)).all(axis=1)
    known = (step[:, YES] >= 0) & (step[:, YES] < len(leaves))
    has_test = (limit >= 0) & (limit < len(tests))
    return bool(
        np.isin(kind, (LEAF, BIT, RANK)).all()
        and np.where(leaf, known, onward).all()
        and (~bit | has_test).all()
        and ((root >= 0) & (root < count)).all()
        and ((tests[:, 0] >= 0) & (tests[:, 0] < len(FACTS))).all()
        and (leaves > 0).all()
    )
