"""The levels of infosets, by which a GPU passes over the sequence form."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from openfelt.games.compile.compiler import compile_game
from openfelt.games.compile.sequence_form import sequence_form
from openfelt.solve.traverse.levels import levels_of


def shuffled(form):
    """The same rows with those of later levels moved forward, as far as parents allow it: depth first."""
    children = {slot: np.flatnonzero(form.parent_slot == slot)[::-1] for slot in range(form.num_slots + 2)}
    order = []

    def visit(slot):
        for row in children[slot]:
            order.append(row)
            for below in range(*form.first_slot[row : row + 2]):
                visit(below)

    for player in range(2):
        visit(form.num_slots + player)
    sizes = np.diff(form.first_slot)[order]
    first_slot = np.concatenate([[0], np.cumsum(sizes)])
    moved = np.arange(form.num_slots + 2)
    for place, row in enumerate(order):
        span = np.arange(*form.first_slot[row : row + 2])
        moved[span] = first_slot[place] + np.arange(len(span))
    return form._replace(first_slot=first_slot, parent_slot=moved[form.parent_slot[order]])


@pytest.mark.parametrize("game", ["kuhn", "leduc", "goofspiel(4)"])
@pytest.mark.parametrize("change", [lambda form: form, shuffled], ids=["as compiled", "depth first"])
def test_a_row_is_one_level_below_the_row_of_its_parent(game, change):
    form = change(sequence_form(compile_game(game)))
    levels = levels_of(form)
    assert sorted(levels.rows) == list(range(len(form.parent_slot)))
    row_of = np.repeat(np.arange(len(form.parent_slot)), np.diff(form.first_slot))
    level = {}
    for player, cuts in enumerate(levels.cuts):
        assert (cuts[0], cuts[-1]) == tuple(form.first_row[player : player + 2])
        for number, (first, last) in enumerate(pairwise(cuts)):
            assert first < last
            level |= dict.fromkeys(levels.rows[first:last].tolist(), number)
    for row, parent in enumerate(form.parent_slot):
        assert level[row] == (level[row_of[parent]] + 1 if parent < form.num_slots else 0)


@pytest.mark.parametrize("game", ["kuhn", "leduc"])
def test_the_rows_after_a_sequence_are_listed_the_last_one_first(game):
    form = sequence_form(compile_game(game))
    levels = levels_of(form)
    for slot, (first, last) in enumerate(pairwise(levels.first_child)):
        assert levels.child[first:last].tolist() == np.flatnonzero(form.parent_slot == slot)[::-1].tolist()
