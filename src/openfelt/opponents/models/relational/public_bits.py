"""Results of a tree's tests at public nodes, one bit each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import Bytes
from openfelt.core.jit import Floats, Ints, Longs, kernel
from openfelt.games.compile.betting_tree import ACTIONS_MASK, CHILD, KIND, PLAYER, STREET_SHIFT
from openfelt.opponents.models.domain import ModelDomain
from openfelt.opponents.models.public_queries import holds_at
from openfelt.opponents.models.public_tree import LONGEST, Places, PublicTree, classes, code, facts_at
from openfelt.opponents.models.public_walk import all_facts, bits_everywhere
from openfelt.opponents.models.relational.language import LanguageBias, Query, columns_by_fact, query_array
from openfelt.opponents.models.relational.tree import Exceeds

PublicTest = Query | Exceeds  # a test of public states
_CHUNK = 1 << 20  # nodes whose facts are evaluated together


def all_bits(domain: ModelDomain, bias: LanguageBias, tests: Sequence[PublicTest]) -> NDArray[np.uint64]:
    """[public nodes, words] the bits of every node."""
    tree = domain.public
    bits = np.zeros((len(tree.node), max(1, -(-len(tests) // 64))), np.uint64)
    queries = {number: query_array(each) for number, each in enumerate(tests) if isinstance(each, tuple)}
    if queries:
        bits_everywhere(tree, queries, bits)
    if any(isinstance(each, Exceeds) for each in tests):
        facts = all_facts(tree)
        for start in range(0, len(facts), _CHUNK):
            _set_facts(bias, tests, facts[start : start + _CHUNK], bits[start : start + _CHUNK])
    return bits


def bits_at(
    domain: ModelDomain, bias: LanguageBias, tests: Sequence[PublicTest], nodes: Longs
) -> NDArray[np.uint64]:
    """[nodes, words] the bits of some nodes."""
    places = places_at(domain, nodes)
    bits = np.zeros((len(nodes), max(1, -(-len(tests) // 64))), np.uint64)
    for number, each in enumerate(tests):
        if isinstance(each, tuple):
            holds = holds_at(domain.public, places, query_array(each)).astype(np.uint64)
            bits[:, number >> 6] |= holds << np.uint64(number & 63)
    _set_facts(bias, tests, facts_at(domain.public, places), bits)
    return bits


def _set_facts(
    bias: LanguageBias, tests: Sequence[PublicTest], facts: Bytes, bits: NDArray[np.uint64]
) -> None:
    columns, numbers = columns_by_fact(facts), dict[str, Floats]()
    for number, each in enumerate(tests):
        if isinstance(each, Exceeds):
            if each.fact not in numbers:
                numbers[each.fact] = bias.public_numbers(each.fact, columns)
            exceeds = (numbers[each.fact] > each.limit).astype(np.uint64)
            bits[:, number >> 6] |= exceeds << np.uint64(number & 63)


def places_at(domain: ModelDomain, nodes: Longs) -> Places:
    """Nodes with the lines that lead there."""
    lines, lengths = np.zeros((len(nodes), LONGEST), np.uint8), np.zeros(len(nodes), np.int64)
    _climb(domain.public, _parents(domain), np.asarray(nodes, np.int64), lines, lengths)
    return Places(np.asarray(nodes, np.int64), lines, lengths)


@lru_cache(maxsize=8)
def _parents(domain: ModelDomain) -> Ints:
    """[nodes] parents in the public tree; -1 for the root."""
    node = domain.public.node
    parent = np.full(len(node), -1, np.int32)
    inner = np.flatnonzero(node[:, PLAYER] >= 0).astype(np.int32)
    num_actions, child = node[inner, KIND] & ACTIONS_MASK, node[inner, CHILD]
    for action in range(int(num_actions.max())):
        parent[child[num_actions > action] + action] = inner[num_actions > action]
    return parent


@kernel
def _climb(tree: PublicTree, parent: Ints, nodes: Longs, lines: Bytes, lengths: Longs) -> None:
    for row in range(len(nodes)):
        length, here = 0, nodes[row]
        while parent[here] >= 0:
            length, here = length + 1, parent[here]
        lengths[row], here = length, nodes[row]
        for place in range(length - 1, -1, -1):
            above = parent[here]
            kind = tree.node[above, KIND]
            first, _ = classes(kind)
            klass = first + here - tree.node[above, CHILD]
            lines[row, place] = code(tree.node[above, PLAYER], klass, kind >> STREET_SHIFT & 3)
            here = above
