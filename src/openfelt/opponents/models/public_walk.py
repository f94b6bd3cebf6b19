"""Facts and queries at every node of a public tree, in one traversal: three players have millions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import Bytes
from openfelt.core.jit import Ints, Longs, kernel
from openfelt.games.compile.betting_tree import CHILD, KIND, PLAYER, STREET_SHIFT
from openfelt.opponents.models.public_queries import query_holds, record_action
from openfelt.opponents.models.public_tree import FACTS, LONGEST, PublicTree, classes, code, read_facts


def all_facts(tree: PublicTree, names: Sequence[str] = FACTS) -> Bytes:
    """[nodes, names] the facts of these names; zeros at leaves."""
    columns = np.array([FACTS.index(name) for name in names], np.int64)
    found = np.zeros((len(tree.node), len(names)), np.uint8)
    nothing = np.zeros(0, np.int64)
    _visit_all(
        tree, columns, found, np.zeros((0, 0, 4), np.int32), nothing, nothing, np.zeros((0, 0), np.uint64)
    )
    return found


def bits_everywhere(tree: PublicTree, queries: Mapping[int, Ints], bits: NDArray[np.uint64]) -> None:
    """Set the bits of queries, by their numbers, in [nodes, words] where they hold."""
    longest = max((len(query) for query in queries.values()), default=0)
    table, literals = np.zeros((len(queries), longest, 4), np.int32), np.zeros(len(queries), np.int64)
    for place, query in enumerate(queries.values()):
        table[place, : len(query)], literals[place] = query, len(query)
    numbers, nothing = np.array(list(queries), np.int64), np.zeros(0, np.int64)
    _visit_all(tree, nothing, np.zeros((0, 0), np.uint8), table, literals, numbers, bits)


@kernel
def _visit_all(
    tree: PublicTree,
    columns: Longs,
    facts: Bytes,
    queries: Ints,
    literals: Longs,
    numbers: Longs,
    bits: NDArray[np.uint64],
) -> None:
    """Depth first: write the facts of these columns, and set the bits of queries that hold."""
    row, line = np.zeros(len(FACTS), np.uint8), np.zeros(LONGEST, np.uint8)
    done, when = np.zeros((tree.paid.shape[1] + 1, 3), np.int64), np.zeros(4, np.int64)
    room = np.zeros(queries.shape[1] + 1, np.int64)
    stack = np.zeros((4 * LONGEST, 3), np.int64)  # node, depth, the code that led there
    count = 1
    while count:
        count -= 1
        node, depth = stack[count, 0], stack[count, 1]
        if depth:
            line[depth - 1] = stack[count, 2]
            record_action(done, when, depth - 1, stack[count, 2])
        player, kind = tree.node[node, PLAYER], tree.node[node, KIND]
        if player < 0:
            continue
        street = kind >> STREET_SHIFT & 3
        if len(columns):
            read_facts(tree, node, line, depth, row)
            for place in range(len(columns)):
                facts[node, place] = row[columns[place]]
        for place in range(len(queries)):
            if query_holds(queries[place], literals[place], done, when, player, street, room):
                bits[node, numbers[place] >> 6] |= np.uint64(1) << np.uint64(numbers[place] & 63)
        first, num_actions = classes(kind)
        for action in range(num_actions):
            stack[count, 0], stack[count, 1] = tree.node[node, CHILD] + action, depth + 1
            stack[count, 2] = code(player, first + action, street)
            count += 1
