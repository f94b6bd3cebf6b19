"""k-means, for thousands of clusters.

The first centres are chosen as in k-means++ (Arthur & Vassilvitskii 2007): a few points are drawn with
probabilities in proportion to weight times squared distance to the nearest centre so far, and the one that
reduces the sum of these distances most becomes the next centre. Lloyd's iterations follow. Distances that the
triangle inequality or a k-d tree (`centre_tree.py`) rules out are skipped; this does not change the result.
"""

from __future__ import annotations

import numpy as np

from openfelt.cards.abstraction.centre_tree import AXES, build_tree, nearest
from openfelt.core.jit import Floats, Longs, kernel

SEED = 0
ITERATIONS = 100  # at most, until no point changes its cluster


def fit(points: Floats, weights: Floats, count: int) -> Floats:
    """The centres [clusters, coordinates] of points [points, coordinates].

    There are `count` clusters, or fewer if there are fewer distinct points.
    """
    own = points.shape[1]
    points = np.ascontiguousarray(np.pad(points, ((0, 0), (0, max(0, AXES - own)))))  # for the tree
    trials = 2 + int(np.log(count))  # as in scikit-learn
    centres = _first_centres(points, weights, np.random.default_rng(SEED).random((count, trials)))
    cluster = np.full(len(points), -1)
    for _ in range(ITERATIONS):
        before, cluster = cluster, nearest(points, build_tree(centres))
        if np.array_equal(before, cluster):
            break
        _move_to_means(points, weights, cluster, centres)
    return centres[:, :own].copy()


@kernel
def _first_centres(points: Floats, weights: Floats, draws: Floats) -> Floats:
    """A centre for each row of draws from 0 to 1 [count, trials]; fewer if all points are drawn."""
    centres, between = np.empty((len(draws), points.shape[1])), np.empty(len(draws))
    cluster, distance = np.zeros(len(points), np.int64), np.full(len(points), np.inf)
    found, best = np.empty(len(points)), np.empty(len(points))
    for count in range(len(draws)):
        reached = np.cumsum(weights * distance if count else weights)
        if reached[-1] <= 0.0:
            return centres[:count]
        most = -1.0
        for draw in draws[count] if count else draws[0, :1]:
            chosen = points[min(np.searchsorted(reached, draw * reached[-1], side="right"), len(points) - 1)]
            for other in range(count):
                between[other] = _squared_distance(chosen, centres[other])
            gain = 0.0
            for place in range(len(points)):
                found[place] = distance[place]
                # A point is nearer to its centre than to any that is twice as far from that centre.
                if not count or between[cluster[place]] < 4.0 * distance[place]:
                    here = _squared_distance(points[place], chosen)
                    if here < distance[place]:
                        found[place] = here
                        gain += weights[place] * (distance[place] - here) if count else 0.0
            if gain > most:
                most, centres[count] = gain, chosen
                best, found = found, best
        for place in range(len(points)):
            if best[place] < distance[place]:
                cluster[place], distance[place] = count, best[place]
    return centres


@kernel
def _squared_distance(one: Floats, two: Floats) -> float:
    total = 0.0
    for place in range(len(one)):
        total += (one[place] - two[place]) ** 2
    return total


@kernel
def _move_to_means(points: Floats, weights: Floats, cluster: Longs, centres: Floats) -> None:
    """Replace each centre by the mean of its points; one without points stays."""
    sums, totals = np.zeros_like(centres), np.zeros(len(centres))
    for place in range(len(points)):
        totals[cluster[place]] += weights[place]
        for coordinate in range(points.shape[1]):
            sums[cluster[place], coordinate] += weights[place] * points[place, coordinate]
    for number in range(len(centres)):
        if totals[number] > 0.0:
            for coordinate in range(points.shape[1]):
                centres[number, coordinate] = sums[number, coordinate] / totals[number]
