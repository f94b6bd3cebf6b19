"""The nearest of thousands of centres, exactly, by a k-d tree.

Nearly all variance of the centres is along their first few principal axes. The tree is over the coordinates
on these axes. It only rules out centres that are too far away. Distances to the remaining ones are computed
in the original coordinates, so rounding errors of the rotation cannot change the result.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from openfelt.core.jit import Floats, Longs, kernel

AXES = 5  # principal axes of the tree
LEAF = 16  # most centres in a leaf
DEPTH = 32  # more than the levels of any tree
ROUNDING = 1e-9  # far more than the rounding error of squared distances


class CentreTree(NamedTuple):
    """A balanced tree: the children of node n are 2n and 2n + 1; the leaves follow the inner nodes."""

    axes: Floats  # [coordinates, AXES] orthonormal columns
    axis: Longs  # [inner nodes + 1] the coordinate that a node splits; node 0 does not exist
    split: Floats  # [inner nodes + 1] centres of child 2n are not above it, those of 2n + 1 not below
    start: Longs  # [leaves + 1] the first centre of each leaf
    rotated: Floats  # [centres, AXES] in the order of the leaves
    centres: Floats  # [centres, coordinates] in the same order
    number: Longs  # [centres] original number of each


def build_tree(centres: Floats) -> CentreTree:
    """The tree of centres [centres, coordinates], with at least AXES coordinates."""
    apart = centres - centres.mean(axis=0)
    axes = np.ascontiguousarray(np.linalg.eigh(apart.T @ apart)[1][:, : -AXES - 1 : -1])
    rotated = centres @ axes
    leaves = 1
    while len(centres) > leaves * LEAF:
        leaves *= 2
    axis, split = np.zeros(leaves, np.int64), np.zeros(leaves)
    parts = [np.arange(len(centres))]  # by node, from node 1 on
    for node in range(1, leaves):
        part = parts[node - 1]
        axis[node] = np.ptp(rotated[part], axis=0).argmax()
        part = part[np.argsort(rotated[part, axis[node]], kind="stable")]
        half = len(part) // 2
        split[node] = rotated[part[half], axis[node]]
        parts += [part[:half], part[half:]]
    number = np.concatenate(parts[leaves - 1 :])
    start = np.cumsum([0, *map(len, parts[leaves - 1 :])])
    return CentreTree(axes, axis, split, start, rotated[number], centres[number], number)


@kernel
def nearest(points: Floats, tree: CentreTree) -> Longs:
    """[points] the number of the centre nearest to each point, the first of equally near ones.

    The search goes down to the leaf of a point, then back through those other sides of splits that are not
    farther away than the nearest centre so far.
    """
    found = np.empty(len(points), np.int64)
    own, nodes, bounds = np.empty(AXES), np.empty(DEPTH, np.int64), np.empty(DEPTH)
    for place in range(len(points)):
        own[:] = 0.0
        for coordinate in range(points.shape[1]):
            for axis in range(AXES):
                own[axis] += points[place, coordinate] * tree.axes[coordinate, axis]
        found[place] = _search(points[place], own, tree, nodes, bounds)
    return found


@kernel
def _search(point: Floats, own: Floats, tree: CentreTree, nodes: Longs, bounds: Floats) -> int:
    """The nearest centre of a point with the rotated coordinates `own`.

    `nodes` and `bounds` are scratch space: nodes still to search, and their least possible squared distances.
    """
    nodes[0], bounds[0], left = 1, 0.0, 1
    found, least, leaves = 0, np.inf, len(tree.split)
    while left:
        left -= 1
        node, bound = nodes[left], bounds[left]
        if bound > least + ROUNDING:
            continue
        while node < leaves:  # down on the point's own side; the other side is searched later
            apart = own[tree.axis[node]] - tree.split[node]
            upper = int(apart > 0.0)
            nodes[left], bounds[left] = 2 * node + 1 - upper, max(bound, apart * apart)
            left += 1
            node = 2 * node + upper
        for at in range(tree.start[node - leaves], tree.start[node - leaves + 1]):
            distance = 0.0
            for axis in range(AXES):
                apart = own[axis] - tree.rotated[at, axis]
                distance += apart * apart
            if distance > least + ROUNDING:
                continue
            distance = 0.0
            for place in range(len(point)):
                apart = point[place] - tree.centres[at, place]
                distance += apart * apart
            if distance < least or (distance == least and tree.number[at] < found):
                found, least = tree.number[at], distance
    return found
