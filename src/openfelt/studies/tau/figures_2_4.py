"""TAU, Figures 2 to 4 and section 4: freeze-outs of searches that differ in c or use a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from openfelt.arena.freeze_out.freeze_out import CHIP
from openfelt.studies.findings import Finding
from openfelt.studies.freeze_out_study import EVEN, FreezeOutResults, FreezeOutStudy, Pairing

PAPER = 'Ong, Baid, Suri & Soh, "Poker Agent with Monte Carlo Tree Search", '
ITERATIONS = 200  # a decision
GAMES, LENGTH = 40, 500  # games of each pairing (TAU: 100), and the most hands of a game
WIDE = (1, 5, 10, 20, 50, 100, 250, 500, 1_000, 2_500, 5_000)  # dollars
CLOSE = tuple(range(10, 101, 10))
BEST = 50  # dollars: the c that the paper chooses


def dollars(c: int) -> str:
    """TAU's c in its money, and in chips."""
    return f"${c:,} ({c / CHIP:g} chips)"


def _searcher(c: int, kind: str = "mcts") -> str:
    return f"{kind}(c={c / CHIP:g},iterations={ITERATIONS})"


def _against(baseline: int, others: Sequence[int], published: Mapping[int, float]) -> tuple[Pairing, ...]:
    """A baseline against all other values of c."""
    return tuple(
        Pairing(dollars(c), (_searcher(baseline), _searcher(c)), GAMES, LENGTH, published.get(c))
        for c in others
        if c != baseline
    )


def _judge_win(results: FreezeOutResults, c: int, claim: str) -> Finding:
    each = results[dollars(c)]
    return Finding(claim, f"{each} of the games, {each.per_hand} chips a hand", each.wins_most_games)


def _judge_figure_2(results: FreezeOutResults) -> list[Finding]:
    found = [_judge_win(results, 1, "c = $100 beats c = $1 (85 of 100 games)")]
    for c in (2_500, 5_000):
        found.append(_judge_win(results, c, f"c above $1,000 does badly: ${c:,}"))
    shortest = min(results, key=lambda label: results[label].rate)
    measured = f"{shortest}: {results[shortest]}; c = ${BEST}: {results[dollars(BEST)]}"
    best = Finding(f"c = ${BEST} has the shortest bar", measured, shortest == dollars(BEST))
    return [*found, best]


def _judge_figure_3(results: FreezeOutResults) -> list[Finding]:
    ahead = [label for label, each in results.items() if each.rate > EVEN]
    significant = sum(each.wins_most_games for each in results.values())
    measured = (
        f"it wins most games against {len(ahead)} of {len(results)}, significantly against {significant}"
    )
    found = [Finding(f"c = ${BEST} does well against most others", measured, 2 * len(ahead) > len(results))]
    for c in (*WIDE[:3], *WIDE[-4:]):
        found.append(_judge_win(results, c, f"it beats c below $20 and above $250: ${c:,}"))
    return found


def _judge_figure_4(results: FreezeOutResults) -> list[Finding]:
    close = {label: results[label] for label in map(dollars, range(30, 101, 10)) if label in results}
    significant = [label for label, each in close.items() if each.wins_most_games]
    best = max(results, key=lambda label: results[label].dollars.mean)
    most = results[best].dollars
    return [
        Finding(
            f"c = ${BEST} is not much better than c from $30 to $100",
            f"it wins significantly more than half of the games against {len(significant)} of {len(close)}",
            2 * len(significant) < len(close),
        ),
        Finding(
            "it wins less than $1,000 in 500 hands from any c from $10 to $100",
            f"at most {most.mean:+,.0f} ± {most.interval():,.0f} dollars a game (c = {best})",
            most.mean < 1_000,
        ),
    ]


GAME_SETUP = (
    f"{GAMES} games of at most {LENGTH} hands (the paper: 100 games) with stacks of $10,000 and blinds of "
    f"$10 and $20; a chip is ${CHIP}. The larger stack at the end wins the game. The paper's searches think "
    "for 200 ms a decision, in Python. "
)
SEARCH_SETUP = (
    f"Here a search has {ITERATIONS} iterations a decision, of two playouts each: about what a Python "
    "program can do in 200 ms, but independent of the machine. The measured times are in the table."
)
SOURCE = "Only the caption of the figure and the findings in the text were available to us."


def _exploration(
    number: int,
    baseline: int,
    others: Sequence[int],
    findings: Callable[[FreezeOutResults], list[Finding]],
    published: Mapping[int, float] | None = None,
) -> FreezeOutStudy:
    return FreezeOutStudy(
        name=f"tau-figure-{number}",
        title=f"TAU, Figure {number}: exploration constant c = ${baseline} against c from ${others[0]} to "
        f"${others[-1]:,}",
        paper=f"{PAPER}section 2.1, Figure {number}. {SOURCE}",
        setup=GAME_SETUP + SEARCH_SETUP,
        pairings=_against(baseline, others, published or {}),
        first=f"c = {dollars(baseline)}",
        axis="c of the opponent",
        budget=GAMES * LENGTH,
        quick_budget=20,
        findings=findings,
        requires="half an hour",
    )


FIGURE_2 = _exploration(2, 100, WIDE, _judge_figure_2, {1: 0.85})
FIGURE_3 = _exploration(3, BEST, WIDE, _judge_figure_3)
FIGURE_4 = _exploration(4, BEST, CLOSE, _judge_figure_4)

TAURUS = _searcher(BEST, "mcts-tally")
OPPONENTS = {"mcts": 0.60, "always-raise": 0.65, "random": 1.0}  # the paper's win rates
SHORT = 100  # hands: the paper's 100 rounds per game


def _label(opponent: str, length: int) -> str:
    return f"{opponent} ({length} hands)"


def _results_pairings() -> tuple[Pairing, ...]:
    return tuple(
        Pairing(
            _label(opponent, length),
            (TAURUS, _searcher(BEST) if opponent == "mcts" else opponent),
            GAMES * LENGTH // length,
            length,
            rate if length == SHORT else None,
        )
        for length in (SHORT, LENGTH)
        for opponent, rate in OPPONENTS.items()
    )


def _judge_results(results: FreezeOutResults) -> list[Finding]:
    found = []
    for opponent, rate in OPPONENTS.items():
        each = results[_label(opponent, SHORT)]
        claim = f"it wins {rate:.0%} of the games against {opponent}"
        measured = f"{each}, {each.per_hand} chips a hand"
        # A win rate of 100% is judged by whether nearly all games are won.
        found.append(Finding(claim, measured, each.wins_most_games if rate < 1 else each.rate > 0.95))
    each = results[_label("mcts", LENGTH)]
    when = f", after {each.hands_to_bankruptcy:,.0f} hands on average" if each.bankruptcies else ""
    claim = "it wins the whole stack of the search without a model within 300 hands"
    measured = f"in {each.bankruptcies} of {each.games} games of at most {LENGTH} hands{when}"
    holds = 2 * each.bankruptcies > each.games and each.hands_to_bankruptcy <= 300
    found.append(Finding(claim, measured, holds))
    return found


RESULTS = FreezeOutStudy(
    name="tau-results",
    title="TAU, section 4: search with an opponent model learned during the game",
    paper=f"{PAPER}sections 3 and 4; the numbers are from the text.",
    setup=(
        f"`mcts-tally` with c = {dollars(BEST)} starts each game with an empty tally and updates it after "
        "each hand. Games of at most 100 hands (the paper's 100 rounds per game; it does not say how many "
        "games) and of at most 500, with stacks of $10,000 and blinds of $10 and $20. The paper's searches "
        "think for 200 ms a decision, in Python. " + SEARCH_SETUP
    ),
    pairings=_results_pairings(),
    first="mcts-tally",
    axis="opponent",
    budget=GAMES * LENGTH,
    quick_budget=20,
    findings=_judge_results,
    requires="half an hour",
)

TAU_MATCHES = (FIGURE_2, FIGURE_3, FIGURE_4, RESULTS)
