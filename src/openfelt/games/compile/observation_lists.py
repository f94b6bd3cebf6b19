"""What players have observed: the lists of observations that lead to a compiled game's infosets."""

from __future__ import annotations

from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from openfelt.core.errors import GameError
from openfelt.core.jit import Ints, kernel, part
from openfelt.games.compile.compiler import state_graph
from openfelt.games.compile.factored_tree import FactoredTree
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.compile.infoset_tree import InfosetTree


class ObservationLists(NamedTuple):
    """Each list is another one with one observation more. List p is the empty one of player p."""

    before: Ints  # [lists] the list without its last observation; -1 at the empty ones
    label: Ints  # [lists] the last observation, a place in `labels`; 0 at the empty ones
    of_row: Ints  # [infosets] the list of each
    labels: tuple[str, ...]


class Continuations(NamedTuple):
    """The lists that are longer by one observation."""

    label: Ints  # [lists] as in ObservationLists
    longer: Ints  # [lists] the first continuation of a list; -1 if there is none
    sibling: Ints  # [lists] the next continuation of the list before it; -1 at the last


@singledispatch
def observation_lists(tree: InfosetTree) -> ObservationLists:
    """The lists of a compiled game."""
    raise NotImplementedError(type(tree).__name__)


@observation_lists.register
def _(tree: GameTree) -> ObservationLists:
    rows = tree.rows
    return ObservationLists(rows.before, rows.label, rows.information, tree.labels)


@observation_lists.register
def _(tree: FactoredTree) -> ObservationLists:
    graph = state_graph(tree.game)
    number = {label: place for place, label in enumerate(graph.labels)}
    observed = [_observations(label, number) for label in tree.labels]
    most = max(map(len, observed))
    words = np.array([[*each, *[0] * (most - len(each))] for each in observed], np.int32)
    row_of_slot = np.repeat(np.arange(tree.num_rows, dtype=np.int32), np.diff(tree.first_slot))
    roots = ~np.arange(tree.players, dtype=np.int32)
    parent = np.concatenate([row_of_slot, roots])[tree.form.parent_slot]
    size = tree.players + int((words > 0).sum(axis=1)[tree.row_label].sum())
    before, label, longer, sibling = np.full((4, size), -1, np.int32)
    label[: tree.players] = 0
    of_row = np.empty(tree.num_rows, np.int32)
    growing = Continuations(label, longer, sibling)
    count = _grow(parent, words, tree.row_label, before, growing, tree.players, of_row)
    return ObservationLists(before[:count].copy(), label[:count].copy(), of_row, graph.labels)


def _observations(label: str, number: dict[str, int]) -> list[int]:
    """The observations of which a label consists, which may have several words each.

    The longest that fits is taken: where an observation begins another one, as "a1" does "a1 taken", its next
    words are no observation.
    """
    words, found = label.split(), []
    while words:
        fits = (end for end in range(len(words), 0, -1) if " ".join(words[:end]) in number)
        end = next(fits, 0)
        if not end:
            raise GameError(f"'{label}' is not a sequence of observations of the game.")
        found.append(number[" ".join(words[:end])])
        words = words[end:]
    return found


@kernel
def _grow(
    parent: Ints, words: Ints, row_label: Any, before: Ints, lists: Continuations, count: int, of_row: Ints
) -> int:
    """Add the lists of all infosets to the empty ones; returns their number. Parents come first."""
    for row in range(len(parent)):
        here = of_row[parent[row]] if parent[row] >= 0 else ~parent[row]
        for place in range(words.shape[1]):
            word = words[row_label[row], place]
            if word == 0:
                break
            after = longer_list(lists, here, word)
            if after < 0:
                after, count = count, count + 1
                before[after], lists.label[after] = here, word
                lists.sibling[after], lists.longer[here] = lists.longer[here], after
            here = after
        of_row[row] = here
    return count


@part
def longer_list(lists: Continuations, here: int, word: int) -> int:
    """The list after one more observation; -1 if no infoset begins with it."""
    found = lists.longer[here] if here >= 0 else -1
    while found >= 0 and lists.label[found] != word:
        found = lists.sibling[found]
    return int(found)


def continuations(lists: ObservationLists) -> Continuations:
    """The continuations of all lists."""
    longer, sibling = np.full((2, len(lists.before)), -1, np.int32)
    _link(lists.before, longer, sibling)
    return Continuations(lists.label, longer, sibling)


@kernel
def _link(before: Ints, longer: Ints, sibling: Ints) -> None:
    for here in range(len(before)):
        if before[here] >= 0:
            sibling[here], longer[before[here]] = longer[before[here]], here
