"""The results of PJL11's Figure 7, and the claims of its page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from openfelt.studies.findings import Finding
from openfelt.studies.pjl11.figure_6 import FULL_GAMES, MCRNR

HISTORY_RNR = "RNR (CFR over all histories)"
RNR = "RNR (CFR)"  # ours, on the sequence form
BASELINES = "MCRNR with baselines"
EXTERNAL = "MCRNR, external sampling"
# Too large for the linear program; they show how the advantage of sampling grows with size.
LARGER_GAMES = ("bluff(1,1,8)", "princess_monster(3,3,11)")
SECONDS, NODES = "seconds", "nodes"  # axes
FRACTIONS = (2, 4, 10, 30, 100)  # of the initial distance, as divisors; findings use the first three


class ConvergenceCurve(NamedTuple):
    """One method in one game; the runs of both seats together."""

    seconds: list[float]
    nodes: list[float]  # decisions and terminal histories visited
    epsilon: list[float]  # the paper's: nash_conv of the profile of both responses
    distance: list[float]  # nash_conv in the restricted games, summed over both runs; converges to zero


class GameConvergence(NamedTuple):
    """All methods in one game."""

    curves: dict[str, ConvergenceCurve]
    limit: float  # epsilon of the exact restricted Nash responses
    start: float  # distance of the uniform policy, with which all methods start


ConvergenceResults = Mapping[str, GameConvergence]


def work_to(convergence: GameConvergence, method: str, fraction: float, axis: str = SECONDS) -> float:
    """Seconds or nodes until the distance is 1/fraction of the initial one; infinite if it never is.

    Interpolates linearly on logarithmic axes.
    """
    curve, target = convergence.curves[method], np.log(convergence.start / fraction)
    distances = np.log(np.maximum(curve.distance, 1e-12))
    here = next((place for place, value in enumerate(distances) if value <= target), None)
    if here is None:
        return np.inf
    work = getattr(curve, axis)
    if here == 0:
        return float(work[0])
    part = (distances[here - 1] - target) / (distances[here - 1] - distances[here])
    before, after = np.log(work[here - 1 : here + 1])
    return float(np.exp(before + part * (after - before)))


def _speedups(convergence: GameConvergence, sampled: str, full: str, axis: str) -> list[float]:
    """How many times less work sampling needs to reach the first fractions.

    0: only the other reaches it; nan: neither does.
    """
    times = [
        (work_to(convergence, sampled, fraction, axis), work_to(convergence, full, fraction, axis))
        for fraction in FRACTIONS[:3]
    ]
    return [np.nan if own == other == np.inf else other / own for own, other in times]


def _describe(speedups: Mapping[str, list[float]]) -> str:
    """Speedups in words, game by game."""
    return "; ".join(f"{game}: {', '.join(map(_times, each))}" for game, each in speedups.items())


def _times(speedup: float) -> str:
    if np.isnan(speedup):
        return "neither"
    if speedup == 0.0 or np.isinf(speedup):
        return "only the first" if speedup else "only the second"
    how, ratio = ("faster", speedup) if speedup >= 1.0 else ("slower", 1 / speedup)
    return f"{ratio:{'.2g' if ratio < 99.5 else ',.0f'}} times {how}"


def findings(results: ConvergenceResults) -> list[Finding]:
    def against(sampled: str, full: str, axis: str = SECONDS) -> dict[str, list[float]]:
        return {game: _speedups(convergence, sampled, full, axis) for game, convergence in results.items()}

    to = f"to 1/{FRACTIONS[0]}, 1/{FRACTIONS[1]} and 1/{FRACTIONS[2]} of the initial distance: "
    textbook, sequence_form = against(MCRNR, HISTORY_RNR), against(MCRNR, RNR)
    by_nodes = against(MCRNR, HISTORY_RNR, NODES)
    baselines, external = against(BASELINES, HISTORY_RNR), against(EXTERNAL, HISTORY_RNR)
    external_sequence_form = against(EXTERNAL, RNR)
    early = {game: each[0] > max(1.0, np.nanmax([0.0, *each[1:]])) for game, each in textbook.items()}
    return [
        Finding(
            "MCRNR gives a better approximation in less time than RNR (CFR over all histories)",
            to + _describe(textbook),
            _all_faster(textbook),
        ),
        Finding(
            "especially in the early iterations",
            "faster at first, and by more than later, in "
            + (", ".join(game for game, so in early.items() if so) or "no game"),
            all(early.values()),
        ),
        Finding(
            "counted in nodes, too, MCRNR is ahead of that RNR",
            to + _describe(by_nodes),
            _all_faster(by_nodes),
            ours=True,
        ),
        *_judge_growth(textbook),
        Finding(
            "MCRNR with baselines is faster than that RNR",
            to + _describe(baselines),
            _all_faster(baselines),
            ours=True,
        ),
        Finding(
            "external sampling is faster than that RNR",
            to + _describe(external),
            _all_faster(external),
            ours=True,
        ),
        Finding(
            "MCRNR is faster than our CFR on the sequence form",
            to + _describe(sequence_form),
            _all_faster(sequence_form),
            ours=True,
        ),
        Finding(
            "external sampling is faster than our CFR on the sequence form",
            to + _describe(external_sequence_form),
            _all_faster(external_sequence_form),
            ours=True,
        ),
    ]


def _judge_growth(speedups: Mapping[str, list[float]]) -> list[Finding]:
    """For the games that are measured in two sizes."""
    pairs = [
        (small, large)
        for large in LARGER_GAMES
        for small in FULL_GAMES
        if small.partition("(")[0] == large.partition("(")[0] and {small, large} <= speedups.keys()
    ]
    if not pairs:
        return []
    texts = (
        f"{_times(speedups[small][0])} in {small}, {_times(speedups[large][0])} in {large}"
        for small, large in pairs
    )
    grows = all(speedups[large][0] > speedups[small][0] for small, large in pairs)
    measured = f"to 1/{FRACTIONS[0]}: {'; '.join(texts)}"
    return [Finding("the speedup grows with the size of the game", measured, grows, ours=True)]


def _all_faster(speedups: Mapping[str, list[float]]) -> bool:
    """To all fractions in all games."""
    return all(speedup > 1.0 for each in speedups.values() for speedup in each)
