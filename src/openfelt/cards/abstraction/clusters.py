"""k-means, for thousands of clusters.

The first centres are chosen as in k-means++ (Arthur & Vassilvitskii 2007): a few points are drawn with
probabilities in proportion to weight times squared distance to the nearest centre so far, and the one that
reduces the sum of these distances most becomes the next centre. That takes time in proportion to the square
of the number of clusters. Above ONE_BY_ONE clusters only the first FEW are chosen so, from a sample of the
points; then as many points as there are centres are drawn at a time, with the same probabilities, as in the
rounds of "Scalable k-means++" (Bahmani et al. 2012), which draws more and clusters them again.

Lloyd's iterations follow. Distances that the triangle inequality or a k-d tree (`centre_tree.py`) rules out
are skipped; this does not change the result.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from openfelt.cards.abstraction.centre_tree import AXES, build_tree, nearest
from openfelt.core.jit import Floats, Longs, kernel

SEED = 0
ONE_BY_ONE, FEW = 5_000, 1_000  # clusters
SAMPLE = 100_000  # points, from which the first FEW centres are chosen
ITERATIONS = 100  # at most, until no point changes its cluster
FEWER_ITERATIONS = 20  # above ONE_BY_ONE clusters
PARTS = 64  # of the points, for threads


def fit(points: Floats, weights: Floats, count: int) -> Floats:
    """The centres [clusters, coordinates] of points [points, coordinates].

    There are `count` clusters, or fewer if there are fewer distinct points.
    """
    own = points.shape[1]
    points = np.ascontiguousarray(np.pad(points, ((0, 0), (0, max(0, AXES - own)))))  # for the tree
    if count > ONE_BY_ONE:
        points, places = np.unique(points, axis=0, return_inverse=True)
        weights = np.bincount(places.ravel(), weights).astype(np.float64)
    centres = _choose_first(points, weights, count)
    cluster = np.full(len(points), -1)
    for _ in range(ITERATIONS if count <= ONE_BY_ONE else FEWER_ITERATIONS):
        before, cluster = cluster, _nearest(points, centres)
        if np.array_equal(before, cluster):
            break
        _move_to_means(points, weights, cluster, centres)
    return centres[:, :own].copy()


def _choose_first(points: Floats, weights: Floats, count: int) -> Floats:
    generator, trials = np.random.default_rng(SEED), 2 + int(np.log(count))  # as many as in scikit-learn
    if count <= ONE_BY_ONE:
        return _first_centres(points, weights, generator.random((count, trials)))
    some = points[generator.choice(len(points), SAMPLE, p=weights / weights.sum())]
    centres = _first_centres(some, np.ones(SAMPLE), generator.random((FEW, trials)))
    while len(centres) < min(count, len(points)):
        apart = points - centres[_nearest(points, centres)]
        chance = weights * (apart * apart).sum(axis=1)
        size = min(len(centres), count - len(centres), int(np.count_nonzero(chance)))
        if not size:  # the points that are left have no weight
            break
        chosen = generator.choice(len(points), size, replace=False, p=chance / chance.sum())
        centres = np.concatenate((centres, points[chosen]))
    return centres


def _nearest(points: Floats, centres: Floats) -> Longs:
    tree = build_tree(centres)
    with ThreadPoolExecutor() as pool:
        return np.concatenate(list(pool.map(lambda some: nearest(some, tree), np.array_split(points, PARTS))))


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
