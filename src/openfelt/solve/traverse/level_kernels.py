"""Kernels of passes over the sequence form on a GPU; `sequence_gpu.py` launches them.

A launch has many blocks for one level, or one block for several: then its threads wait for each other between
two levels. All sums are in the order of the CPU, so that the results are the same to the bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from openfelt.core.cuda_build import cuda
from openfelt.core.jit import part
from openfelt.core.rounding import product
from openfelt.solve.cfr_kernels import CFRTables, IterationWeights, UpdateRule, match_row, update_row
from openfelt.solve.restriction import Binding
from openfelt.solve.traverse.sequence import follow_row, respond_row, spread_row

PIECE = 1024  # entries of lists that a block multiplies at a time
TEAM = 32  # threads of a block that sums up one long list
DOUBLE = np.dtype(np.float64)  # in the form that the simulator accepts


class GpuRows(NamedTuple):
    """The infosets of all players, in GPU memory."""

    first_slot: Any  # [rows + 1]
    parent_slot: Any  # [rows]
    by_level: Any  # [rows] as `Levels.rows`
    first_child: Any  # [slots + players + 1]
    child: Any  # [rows]


class Lists(NamedTuple):
    """Lists of weighted products of reach: the leaves of sequences, or the members of groups."""

    first: Any  # [lists + 1]
    weight: Any  # [entries]; empty if all weights are 1
    others: Any  # [entries, factors] sequences


class Evaluation(NamedTuple):
    """Values of best responses and of the policy itself; those of sequences include empty ones."""

    response: Any  # [slots] the best responses
    best: Any  # [slots + players]
    best_row: Any  # [rows]
    expected: Any  # [slots + players]
    expected_row: Any  # [rows]


def sum_lists(lists: Lists, first: int, last: int, reach: Any, found: Any) -> None:
    """The sum of each list from `first` up to `last`; a thread takes one.

    The lists of a block follow each other in memory: its threads multiply all of their entries in turn, piece
    by piece, and then each adds those of its list.
    """
    products = cuda.shared.array(PIECE, DOUBLE)
    begin = first + cuda.blockIdx.x * cuda.blockDim.x
    stop, number = min(begin + cuda.blockDim.x, last), begin + cuda.threadIdx.x
    start = lists.first[min(number, last)]
    end = lists.first[min(number + 1, last)]
    last_entry = lists.first[stop]
    total = 0.0
    for piece in range(lists.first[begin], last_entry, PIECE):
        for place in range(cuda.threadIdx.x, min(PIECE, last_entry - piece), cuda.blockDim.x):
            products[place] = _product_of(lists, piece + place, reach)
        cuda.syncthreads()
        for entry in range(max(start, piece), min(end, piece + PIECE)):
            total += products[entry - piece]
        cuda.syncthreads()
    if number < last:
        found[number] = total


def sum_long_lists(lists: Lists, first: int, reach: Any, found: Any) -> None:
    """The sums of long lists from `first` on; a block takes one. Its threads multiply, the first one adds."""
    products = cuda.shared.array(TEAM, DOUBLE)
    number = first + cuda.blockIdx.x
    end = lists.first[number + 1]
    total = 0.0
    for piece in range(lists.first[number], end, TEAM):
        entry = piece + cuda.threadIdx.x
        products[cuda.threadIdx.x] = _product_of(lists, entry, reach) if entry < end else 0.0
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            for place in range(TEAM):  # of constant length, so that the compiler unrolls it
                total += products[place]
        cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        found[number] = total


@part
def _product_of(lists: Lists, entry: int, reach: Any) -> Any:
    weight = lists.weight[entry] if len(lists.weight) > 0 else 1.0
    for factor in range(lists.others.shape[1]):
        weight = product(weight, reach[lists.others[entry, factor]])
    return weight


def spread_levels(rows: GpuRows, cuts: Any, first: int, last: int, policy: Any, reach: Any) -> None:
    """`spread_reach` for the levels from `first` up to `last`."""
    for level in range(first, last):
        for place in range(cuts[level] + cuda.grid(1), cuts[level + 1], cuda.gridsize(1)):
            spread_row(rows, rows.by_level[place], policy, reach)
        cuda.syncthreads()


def evaluate_levels(rows: GpuRows, cuts: Any, first: int, last: int, policy: Any, found: Evaluation) -> None:
    """`best_response` and `follow_policy`, from the level before `last` up to `first`."""
    for level in range(last - 1, first - 1, -1):
        for place in range(cuts[level] + cuda.grid(1), cuts[level + 1], cuda.gridsize(1)):
            row = rows.by_level[place]
            for slot in range(rows.first_slot[row], rows.first_slot[row + 1]):
                found.best[slot] = found.expected[slot]
                _add_children(rows, slot, found.best_row, found.best)
                _add_children(rows, slot, found.expected_row, found.expected)
            found.best_row[row] = respond_row(rows, row, found.best, found.response)
            found.expected_row[row] = follow_row(rows, row, policy, found.expected)
        cuda.syncthreads()


def evaluate_game(rows: GpuRows, empty: int, found: Evaluation) -> None:
    """The values of an empty sequence."""
    if cuda.grid(1) == 0:
        found.best[empty] = found.expected[empty]
        _add_children(rows, empty, found.best_row, found.best)
        _add_children(rows, empty, found.expected_row, found.expected)


def update_levels(
    rows: GpuRows, cuts: Any, first: int, last: int, rule: UpdateRule, bound: Binding, tables: CFRTables,
    row_value: Any, schedule: Any, step: Any,
) -> None:  # fmt: skip
    """`update_row` from the level before `last` up to `first`; the weights are in a row of the schedule."""
    at = step[0]
    weights = IterationWeights(schedule[at, 0], schedule[at, 1], schedule[at, 2])
    for level in range(last - 1, first - 1, -1):
        for place in range(cuts[level] + cuda.grid(1), cuts[level + 1], cuda.gridsize(1)):
            row = rows.by_level[place]
            for slot in range(rows.first_slot[row], rows.first_slot[row + 1]):
                _add_children(rows, slot, row_value, tables.values)
            row_value[row] = update_row(rows, rule, bound, tables, weights, row)
        cuda.syncthreads()


def count_step(step: Any) -> None:
    """Go on to the next row of the schedule."""
    if cuda.grid(1) == 0:
        step[0] += 1


def match_rows(rows: GpuRows, rule: UpdateRule, bound: Binding, tables: CFRTables) -> None:
    """The policy, from the regrets."""
    for row in range(cuda.grid(1), len(rows.parent_slot), cuda.gridsize(1)):
        match_row(rule, bound, tables, rows.first_slot[row], rows.first_slot[row + 1])


def normalise_rows(rows: GpuRows, weights: Any, policy: Any) -> None:
    """The policy in proportion to weights; uniform at infosets without weight."""
    for row in range(cuda.grid(1), len(rows.parent_slot), cuda.gridsize(1)):
        first, last = rows.first_slot[row], rows.first_slot[row + 1]
        total = 0.0
        for slot in range(first, last):
            total += weights[slot]
        for slot in range(first, last):
            policy[slot] = weights[slot] / total if total > 0.0 else 1.0 / (last - first)


@part
def _add_children(rows: GpuRows, slot: int, row_value: Any, values: Any) -> None:
    """Add the values of the infosets after a sequence to its own."""
    value = values[slot]
    for place in range(rows.first_child[slot], rows.first_child[slot + 1]):
        value += row_value[rows.child[place]]
    values[slot] = value
