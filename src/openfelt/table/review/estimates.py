"""Means, 95% intervals and EV losses from sampled winnings."""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from openfelt.core.jit import Floats, Ints


def best_way(won: Floats, groups: Ints) -> Floats:
    """[hands, actions] winnings in the best way of each action, from all ways [ways, hands, actions].

    The best way of one half of the groups of hands is the one of the highest mean in the other half, so that
    means stay unbiased.
    """
    found = np.empty(won.shape[1:])
    half = groups % 2 == 0
    for own, other in ((half, ~half), (~half, half)):
        source = other if other.any() else own
        best = won[:, source].mean(axis=1).argmax(axis=0)  # [actions]
        for action, way in enumerate(best.tolist()):
            found[own, action] = won[way, own, action]
    return found


def means_and_intervals(
    won: Floats, groups: Ints | None = None, unsure: Floats | None = None
) -> tuple[Floats, Floats, Floats]:
    """From winnings [hands, actions]: means, intervals of their differences to the best, and of the means.

    Hands of a group share their board, and are not independent of each other. `unsure` [actions] is by how
    much a mean may be off whatever the number of hands. The interval of a difference allows for each action
    to be the best.
    """
    means, places = won.mean(axis=0), range(won.shape[1])
    more = np.zeros(len(means)) if unsure is None else unsure
    count = len(won) if groups is None else int(groups.max()) + 1
    widths = float(stdtrit(max(1, count - 1), 0.975))  # standard errors in half of the interval
    apart = np.stack([won[:, [each]] - won for each in places])  # [rivals, hands, actions]
    allowed = np.stack([widths * _errors(each, groups) for each in apart]) + more[:, None] + more
    allowed[places, places] = 0.0
    gains, losses = means[:, None] - means, means.max() - means
    highest = (gains + allowed).max(axis=0)
    lowest = (gains - allowed).max(axis=0)
    return means, np.maximum(highest - losses, losses - lowest), widths * _errors(won, groups) + more


def fair_losses(won: Floats, groups: Ints) -> tuple[Floats, Floats]:
    """EV losses of all actions, and their standard errors, that can be summed over decisions.

    The highest of noisy means is too high on average. So the best action is chosen on one half of the groups
    and, if it is better by more than a standard error there, its gain is measured on the other half: on
    average this loss is at most the true loss.
    """
    half, gains = groups % 2 == 0, np.zeros_like(won)
    for own, other in ((half, ~half), (~half, half)):
        rest = won[other if other.any() else own]
        best = int(rest.mean(axis=0).argmax())
        tried = rest[:, [best]] - rest
        is_clear = tried.mean(axis=0) > tried.std(axis=0) / len(tried) ** 0.5
        gains[own] = (won[own, best][:, None] - won[own]) * is_clear
    return gains.mean(axis=0), _errors(gains, groups)


def _errors(values: Floats, groups: Ints | None) -> Floats:
    """Standard errors of the means."""
    rest = values - values.mean(axis=0)
    if groups is not None:
        count = int(groups.max()) + 1
        rest = np.stack([np.bincount(groups, column, count) for column in rest.T], axis=1)
    count = len(rest)
    return np.asarray(np.sqrt((rest**2).sum(axis=0) * count / max(1, count - 1)) / len(values))
