"""The claims of the page of PJL11's Figure 7, and its table of speedups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from openfelt.studies.findings import WORDS, Finding, both
from openfelt.studies.pjl11.figure_6 import FULL_GAMES, MCRNR
from openfelt.studies.pjl11.figure_7_speedups import (
    NODES,
    SECONDS,
    ConvergenceResults,
    GameConvergence,
    Speedup,
    speedup,
    work_to,
)

HISTORY_RNR = "RNR (CFR over all histories)"
RNR = "RNR (CFR)"  # ours, on the sequence form
BASELINES = "MCRNR with baselines"
EXTERNAL = "MCRNR, external sampling"
# Too large for the linear program; they show how the advantage of sampling grows with size.
LARGER_GAMES = ("bluff(1,1,8)", "princess_monster(3,3,11)")
FRACTIONS = (2, 4, 10, 30, 100)  # of the initial distance, as divisors
EARLIEST, *LATER = JUDGED = FRACTIONS[:3]  # those that findings use


class Comparison(NamedTuple):
    """A claim that one method needs less work than another in every game."""

    claim: str
    fast: str
    slow: str
    axis: str = SECONDS
    ours: bool = True

    def speedups(self, convergence: GameConvergence) -> list[Speedup]:
        """In one game, to the first fractions."""
        return [
            speedup(*(work_to(convergence, method, each, self.axis) for method in (self.slow, self.fast)))
            for each in JUDGED
        ]

    def finding(self, results: ConvergenceResults) -> Finding:
        """Whether it holds to all of these fractions in all games."""
        verdicts = [
            [each.above_one() for each in self.speedups(convergence)] for convergence in results.values()
        ]
        texts = [
            f"to 1/{fraction}: {_counts(column)}" for fraction, *column in zip(JUDGED, *verdicts, strict=True)
        ]
        return Finding(
            self.claim,
            f"of {len(results)} games, {'; '.join(texts)}",
            both(*(each for row in verdicts for each in row)),
            self.ours,
        )


PAPERS = Comparison(
    "MCRNR gives a better approximation in less time than RNR (CFR over all histories)",
    MCRNR,
    HISTORY_RNR,
    ours=False,
)
COMPARISONS = (
    PAPERS,
    Comparison("counted in nodes, too, MCRNR is ahead of that RNR", MCRNR, HISTORY_RNR, NODES),
    Comparison("MCRNR with baselines is faster than that RNR", BASELINES, HISTORY_RNR),
    Comparison("external sampling is faster than that RNR", EXTERNAL, HISTORY_RNR),
    Comparison("MCRNR is faster than our CFR on the sequence form", MCRNR, RNR),
    Comparison("external sampling is faster than our CFR on the sequence form", EXTERNAL, RNR),
)


def findings(results: ConvergenceResults) -> list[Finding]:
    first, *rest = (each.finding(results) for each in COMPARISONS)
    return [first, _judge_start(results), *rest, *_judge_growth(results)]


def speedup_table(results: ConvergenceResults) -> list[str]:
    """All speedups behind the findings."""
    lines = ["| first method | second method | game | " + " | ".join(f"1/{each}" for each in JUDGED) + " |"]
    lines.append("|---|---|---|" + "---:|" * len(JUDGED))
    for each in COMPARISONS:
        methods = f"{each.fast} | {each.slow}" + (", by nodes" if each.axis == NODES else "")
        for game, convergence in results.items():
            cells = " | ".join(map(str, each.speedups(convergence)))
            lines.append(f"| {methods} | {game} | {cells} |")
    return lines


def _counts(verdicts: Iterable[bool | None]) -> str:
    """For example "ahead in 3, behind in 2, undecided in 1"."""
    found = list(verdicts)
    words = {True: "ahead", False: "behind", None: "undecided"}
    counts = ((word, sum(each is verdict for each in found)) for verdict, word in words.items())
    return ", ".join(f"{word} in {count}" for word, count in counts if count)


def _judge_start(results: ConvergenceResults) -> Finding:
    """The paper's MCRNR is faster at first, and by more than later."""
    verdicts = {game: _is_faster_at_first(convergence) for game, convergence in results.items()}
    return Finding(
        "especially in the early iterations",
        f"faster to 1/{EARLIEST}, and by more than to {' and '.join(f'1/{each}' for each in LATER)}: "
        + _by_verdict(verdicts),
        both(*verdicts.values()),
    )


def _is_faster_at_first(convergence: GameConvergence) -> bool | None:
    """How much more work follows is compared within runs: it is not independent of what came before."""
    at_first, *_ = PAPERS.speedups(convergence)
    first = {method: work_to(convergence, method, EARLIEST) for method in (MCRNR, HISTORY_RNR)}
    loses = [
        speedup(*(work_to(convergence, method, later).after(first[method]) for method in first)).above_one()
        for later in LATER
    ]
    return both(at_first.above_one(), *loses)


def _judge_growth(results: ConvergenceResults) -> list[Finding]:
    """For the games that are measured in two sizes."""
    pairs = [
        (small, large)
        for large in LARGER_GAMES
        for small in FULL_GAMES
        if small.partition("(")[0] == large.partition("(")[0] and {small, large} <= results.keys()
    ]
    if not pairs:
        return []
    at_first = {game: PAPERS.speedups(convergence)[0] for game, convergence in results.items()}
    texts = (f"{at_first[small]} in {small}, {at_first[large]} in {large}" for small, large in pairs)
    return [
        Finding(
            "the speedup of MCRNR over that RNR grows with the size of the game",
            f"to 1/{EARLIEST}: {'; '.join(texts)}",
            both(*(at_first[large].over(at_first[small]).above_one() for small, large in pairs)),
            ours=True,
        )
    ]


def _by_verdict(verdicts: Mapping[str, bool | None]) -> str:
    """For example "yes in kuhn, leduc; undecided in bluff(1,1,2)"."""
    parts = []
    for verdict, word in WORDS.items():
        if games := [game for game, each in verdicts.items() if each is verdict]:
            parts.append(f"{word.strip('*')} in {', '.join(games)}")
    return "; ".join(parts)
