"""TAU, figures 2 to 4 and section 4: searches with other c, and with a model, in games with stacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from openfelt.arena.freeze_out.freeze_out import CHIP
from openfelt.studies.freeze_out_study import EVEN, FreezeOutStudy, Pairing, Results
from openfelt.studies.study import Finding

PAPER = 'Ong, Baid, Suri & Soh, "Poker Agent with Monte Carlo Tree Search", '
ITERATIONS = 200  # a decision
GAMES, LENGTH = 40, 500  # of each pairing (TAU: 100 games); hands in a game, at most
WIDE = (1, 5, 10, 20, 50, 100, 250, 500, 1_000, 2_500, 5_000)  # dollars
CLOSE = tuple(range(10, 101, 10))
BEST = 50  # dollars: the c that the paper settles on


def dollars(c: int) -> str:
    """TAU's c in its money, and in chips."""
    return f"${c:,} ({c / CHIP:g} chips)"


def _searcher(c: int, kind: str = "mcts") -> str:
    return f"{kind}(c={c / CHIP:g},iterations={ITERATIONS})"


def _against(baseline: int, others: Sequence[int], published: Mapping[int, float]) -> tuple[Pairing, ...]:
    """A baseline against all others; against itself it would win half of the games."""
    return tuple(
        Pairing(dollars(c), (_searcher(baseline), _searcher(c)), GAMES, LENGTH, published.get(c))
        for c in others
        if c != baseline
    )


def _beats(results: Results, c: int, words: str) -> Finding:
    each = results[dollars(c)]
    return Finding(words, f"{each} of the games, {each.per_hand} chips a hand", each.is_more)


def _figure_2(results: Results) -> list[Finding]:
    found = [_beats(results, 1, "c = $100 beats c = $1 (85 of 100 games)")]
    for c in (2_500, 5_000):
        found.append(_beats(results, c, f"above c = $1,000 a search does not fare well: ${c:,}"))
    shortest = min(results, key=lambda label: results[label].rate)
    text = f"the shortest bar is that of c = ${BEST}"
    ours = f"{shortest}: {results[shortest]}; c = ${BEST}: {results[dollars(BEST)]}"
    return [*found, Finding(text, ours, shortest == dollars(BEST))]


def _figure_3(results: Results) -> list[Finding]:
    ahead = [label for label, each in results.items() if each.rate > EVEN]
    sure = sum(each.is_more for each in results.values())
    ours = f"it wins more games than {len(ahead)} of {len(results)}, beyond the interval {sure}"
    found = [Finding(f"c = ${BEST} does well against most others", ours, 2 * len(ahead) > len(results))]
    for c in (*WIDE[:3], *WIDE[-4:]):
        found.append(_beats(results, c, f"it outperforms c below $20 and above $250: ${c:,}"))
    return found


def _figure_4(results: Results) -> list[Finding]:
    close = {label: results[label] for label in map(dollars, range(30, 101, 10)) if label in results}
    sure = [label for label, each in close.items() if each.is_more]
    best = max(results, key=lambda label: results[label].dollars.mean)
    most = results[best].dollars
    return [
        Finding(
            f"c = ${BEST} does not outperform c from $30 to $100 strongly",
            f"it wins more than half of the games, beyond the interval, against {len(sure)} of {len(close)}",
            2 * len(sure) < len(close),
        ),
        Finding(
            "it wins less than $1,000 in 500 hands from c from $10 to $100",
            f"at most {most.mean:+,.0f} ± {most.interval():,.0f} dollars a game (c = {best})",
            most.mean < 1_000,
        ),
    ]


SETTING = (
    f"{GAMES} games of at most {LENGTH} hands, stacks of $10,000, blinds of $10 and $20: a chip is ${CHIP}. "
    "Who has more at the end has won. The paper gave each decision 200 ms in Python. "
)
THINKING = (
    f"Here a decision has {ITERATIONS} iterations, of two plays each, which is about what a program in "
    "Python can do in that time; so the games do not depend on the machine. How long it takes "
    "here is told below."
)
WORDS = "Of the figure only the caption and the findings in words are known here."


def _exploration(
    number: int,
    baseline: int,
    others: Sequence[int],
    findings: Callable[[Results], list[Finding]],
    published: Mapping[int, float] | None = None,
) -> FreezeOutStudy:
    return FreezeOutStudy(
        name=f"tau-figure-{number}",
        title=f"TAU, Figure {number}: a search with c = ${baseline} against others, c from ${others[0]} to "
        f"${others[-1]:,}",
        paper=f"{PAPER}section 2.1, Figure {number}. {WORDS}",
        setting=SETTING + THINKING,
        pairings=_against(baseline, others, published or {}),
        first=f"c = {dollars(baseline)}",
        axis="c of the other search",
        hands=GAMES * LENGTH,
        quick_hands=20,
        findings=findings,
        needs="half an hour",
    )


FIGURE_2 = _exploration(2, 100, WIDE, _figure_2, {1: 0.85})
FIGURE_3 = _exploration(3, BEST, WIDE, _figure_3)
FIGURE_4 = _exploration(4, BEST, CLOSE, _figure_4)

TAURUS = _searcher(BEST, "mcts-tally")
OTHERS = {"mcts": 0.60, "always-raise": 0.65, "random": 1.0}  # the paper's win rates
SHORT = 100  # hands: what the paper calls 100 rounds per game


def _duel(other: str, length: int) -> str:
    return f"{other} ({length} hands)"


def _results_pairings() -> tuple[Pairing, ...]:
    return tuple(
        Pairing(
            _duel(other, length),
            (TAURUS, _searcher(BEST) if other == "mcts" else other),
            GAMES * LENGTH // length,
            length,
            rate if length == SHORT else None,
        )
        for length in (SHORT, LENGTH)
        for other, rate in OTHERS.items()
    )


def _results_findings(results: Results) -> list[Finding]:
    found = []
    for other, rate in OTHERS.items():
        each = results[_duel(other, SHORT)]
        text = f"it wins {rate:.0%} of the games against {other}"
        ours = f"{each}, {each.per_hand} chips a hand"
        # A win rate of all games leaves nothing open: then it is whether nearly all are won.
        found.append(Finding(text, ours, each.is_more if rate < 1 else each.rate > 0.95))
    each = results[_duel("mcts", LENGTH)]
    when = f", after {each.until_ruin:,.0f} hands in the mean" if each.ruined else ""
    text = "it takes all the money of the search without a model within 300 hands"
    ours = f"in {each.ruined} of {each.games} games of at most {LENGTH} hands{when}"
    found.append(Finding(text, ours, 2 * each.ruined > each.games and each.until_ruin <= 300))
    return found


RESULTS = FreezeOutStudy(
    name="tau-results",
    title="TAU, section 4: the search with a model that it learns at the table",
    paper=f"{PAPER}sections 3 and 4, whose numbers stand in the text.",
    setting=(
        f"`mcts-tally` with c = {dollars(BEST)} starts each game with an empty tally and learns from hand to "
        "hand. Games of at most 100 hands (the paper's 100 rounds per game; it does not say how many games) "
        "and of at most 500, with stacks of $10,000 and blinds of $10 and $20. " + THINKING
    ),
    pairings=_results_pairings(),
    first="mcts-tally",
    axis="opponent",
    hands=GAMES * LENGTH,
    quick_hands=20,
    findings=_results_findings,
    needs="half an hour",
)

TAU_MATCHES = (FIGURE_2, FIGURE_3, FIGURE_4, RESULTS)
