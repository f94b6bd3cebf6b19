"""TAU, Figures 2 to 4 and section 4: freeze-outs of searches that differ in c or use a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from openfelt.arena.freeze_out.freeze_out import CHIP
from openfelt.arena.statistics.estimates import wilson
from openfelt.bots.search.mcts import CALL, UNIFORM
from openfelt.studies.findings import Finding, apart, both, is_above, is_below, rate_is_above, rate_is_below
from openfelt.studies.freeze_out_study import (
    FreezeOutResults,
    FreezeOutStudy,
    Pairing,
    PairingResult,
    pairing_key,
)
from openfelt.studies.study import HOUR, Setting

PAPER = 'Ong, Baid, Suri & Soh, "Poker Agent with Monte Carlo Tree Search", '
ITERATIONS = 200  # a decision
LENGTH = 500  # the most hands of a game
SERIES = {
    "uniform rollouts": (UNIFORM, 200),
    "rollouts that call": (CALL, 100),
}  # rollout, games of a pairing
TAUS, PGC10S = SERIES
GAMES = max(games for _, games in SERIES.values())
WIDE = (1, 5, 10, 20, 50, 100, 250, 500, 1_000, 2_500, 5_000)  # dollars
CLOSE = tuple(range(10, 101, 10))
BEST = 50  # dollars: the c that the paper chooses
STRONGLY = 0.6  # share of games: winning fewer is not "outperforming strongly"


def dollars(c: int) -> str:
    """TAU's c in its money, and in chips."""
    return f"${c:,} ({c / CHIP:g} chips)"


def _searcher(c: int, kind: str = "mcts", rollout: str = UNIFORM) -> str:
    return f"{kind}(c={c / CHIP:g},iterations={ITERATIONS},rollout={rollout!r},expand='random')"


def _against(baseline: int, others: Sequence[int], published: Mapping[int, float]) -> tuple[Pairing, ...]:
    """A baseline against all other values of c, with both rollouts."""
    return tuple(
        Pairing(
            dollars(c),
            (_searcher(baseline, rollout=rollout), _searcher(c, rollout=rollout)),
            games,
            LENGTH,
            published.get(c) if series == TAUS else None,
            series,
        )
        for series, (rollout, games) in SERIES.items()
        for c in others
        if c != baseline
    )


def _of_series(
    results: FreezeOutResults, values: Sequence[int], series: str = TAUS
) -> dict[int, PairingResult]:
    """The results of some values of c in one series."""
    keys = {c: pairing_key(dollars(c), series) for c in values}
    return {c: results[key] for c, key in keys.items() if key in results}


def _judge_win(each: PairingResult, claim: str) -> Finding:
    return Finding(claim, f"{each} of the games, {each.per_hand} chips a hand", each.wins_more_than())


def _most(verdicts: Sequence[bool | None]) -> bool | None:
    """Whether a claim holds of more than half of all."""
    if 2 * sum(verdict is True for verdict in verdicts) > len(verdicts):
        return True
    return False if 2 * sum(verdict is False for verdict in verdicts) >= len(verdicts) else None


def _judge_figure_2(results: FreezeOutResults) -> list[Finding]:
    found = _of_series(results, WIDE)
    shortest = min(found, key=lambda c: found[c].rate)
    others = [found[BEST].wins_fewer_than(each) for c, each in found.items() if c != BEST]
    losing = [_judge_win(found[c], f"c above $1,000 does badly: ${c:,}") for c in (2_500, 5_000)]
    return [
        _judge_win(found[1], "c = $100 beats c = $1 (85 of 100 games)"),
        *losing,
        Finding(
            f"c = ${BEST} has the shortest bar",
            f"{dollars(shortest)}: {found[shortest]}; {dollars(BEST)}: {found[BEST]}",
            both(*others),
        ),
    ]


def _judge_figure_3(results: FreezeOutResults) -> list[Finding]:
    found = _of_series(results, WIDE)
    verdicts = [each.wins_more_than() for each in found.values()]
    counts = [sum(each is verdict for each in verdicts) for verdict in (True, False, None)]
    measured = "of {} others it wins against {} and loses to {}; undecided: {}".format(len(found), *counts)
    claim = "it beats c below $20 and above $250: ${:,}"
    return [
        Finding(f"c = ${BEST} does well against most others", measured, _most(verdicts)),
        *(_judge_win(found[c], claim.format(c)) for c in (*WIDE[:3], *WIDE[-4:])),
    ]


def _judge_figure_4(results: FreezeOutResults) -> list[Finding]:
    found, calling = _of_series(results, CLOSE), _of_series(results, CLOSE, PGC10S)
    close = [each for c, each in found.items() if c >= 30]
    games = sum(each.games for each in close)
    low, high = wilson(sum(each.rate * each.games for each in close), games)
    best = max(found, key=lambda c: found[c].dollars.mean)
    moved = apart(found[20].chips, calling[20].chips)
    return [
        Finding(
            f"c = ${BEST} does not outperform c from $30 to $100 strongly (below {STRONGLY:.0%} of games)",
            f"it wins {low:.1%} to {high:.1%} of {games:,} games against all of them together",
            rate_is_below((low, high), STRONGLY),
        ),
        Finding(
            "it wins less than $1,000 in most games of 500 hands against c from $10 to $100 (ours: on "
            "average)",
            f"at most {found[best].dollars:+,.0f} dollars a game (c = {dollars(best)})",
            both(*(is_below(each.dollars, 1_000) for each in found.values())),
        ),
        Finding(
            f"the best c depends on the rollout: c = ${BEST} wins more from $20 with uniform ones",
            f"{found[20].per_hand} chips a hand; with rollouts that call {calling[20].per_hand}; "
            f"difference {moved:+.3f}",
            is_above(moved),
            ours=True,
        ),
    ]


QUESTION = (
    "Which exploration constant c is best for UCT in heads-up limit hold'em? The paper lets searches that "
    "differ only in c play each other."
)
NUMBERS = " and ".join(f"{games} with {series}" for series, (_, games) in SERIES.items())
SETTINGS = (
    Setting("games of a pairing", "100", NUMBERS),
    Setting("length of a game", "500 hands at most", f"{LENGTH} hands at most"),
    Setting("stacks and blinds", "$10,000; $10 and $20", f"the same; a chip is ${CHIP}"),
    Setting("winner of a game", "the larger stack at the end", "the same; equal stacks count as half a win"),
    Setting(
        "time of a decision",
        "200 ms",
        f"{ITERATIONS} iterations, of two playouts without a model and one with it",
    ),
    Setting("rollouts", "random actions", "random actions; in a second series calls, as in PGC10"),
    Setting("expansion", "an untried action at random (5.1)", "the same"),
    Setting(
        "nodes of the search tree", "actions, and chance", "infosets: betting line and bucket of the hand"
    ),
)
JUDGED = (
    "Claims of the paper are judged by the series with uniform rollouts. A claim about a win rate holds if "
    "the whole interval is on its side, and is undecided if the interval contains the limit."
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
        question=QUESTION,
        setup=f"{JUDGED} Two win rates are compared by Newcombe's interval of their difference.",
        settings=SETTINGS,
        pairings=_against(baseline, others, published or {}),
        first=f"c = {dollars(baseline)}",
        axis="c of the opponent",
        budget=GAMES * LENGTH,
        quick_budget=20,
        findings=findings,
        requires=HOUR,
    )


FIGURE_2 = _exploration(2, 100, WIDE, _judge_figure_2, {1: 0.85})
FIGURE_3 = _exploration(3, BEST, WIDE, _judge_figure_3)
FIGURE_4 = _exploration(4, BEST, CLOSE, _judge_figure_4)

OPPONENTS = {"mcts": 0.60, "always-raise": 0.65, "random": 1.0}  # the paper's win rates
NEARLY_ALL = 0.95  # share of games: the paper's "100%"
SHORT = 100  # hands: the paper's 100 rounds per game


def _label(opponent: str, length: int) -> str:
    return f"{opponent} ({length} hands)"


def _results_pairings() -> tuple[Pairing, ...]:
    return tuple(
        Pairing(
            _label(opponent, length),
            (
                _searcher(BEST, "mcts-tally", rollout),
                _searcher(BEST, rollout=rollout) if opponent == "mcts" else opponent,
            ),
            games * LENGTH // length,
            length,
            rate if (length, series) == (SHORT, TAUS) else None,
            series,
        )
        for series, (rollout, games) in SERIES.items()
        for length in (SHORT, LENGTH)
        for opponent, rate in OPPONENTS.items()
    )


def _judge_results(results: FreezeOutResults) -> list[Finding]:
    found = []
    for opponent, rate in OPPONENTS.items():
        each = results[pairing_key(_label(opponent, SHORT), TAUS)]
        # Whether it is the stronger one; "100%" is judged by whether nearly all games are won.
        holds = each.wins_more_than(NEARLY_ALL if rate == 1 else 0.5)
        claim = f"it wins {rate:.0%} of the games against {opponent}"
        found.append(Finding(claim, f"{each}, {each.per_hand} chips a hand", holds))
    each = results[pairing_key(_label("mcts", LENGTH), TAUS)]
    when = f", after {each.hands_to_bankruptcy:,.0f} hands on average" if each.bankruptcies else ""
    measured = f"in {each.bankruptcies} of {each.games} games of at most {LENGTH} hands{when}"
    claim = "it wins all the money of the search without a model, within 300 hands, in most games"
    most = rate_is_above(wilson(each.bankruptcies, each.games), 0.5)
    found.append(Finding(claim, measured, both(most, most and each.hands_to_bankruptcy <= 300)))
    return found


RESULTS = FreezeOutStudy(
    name="tau-results",
    title="TAU, section 4: search with an opponent model learned during the game",
    paper=f"{PAPER}sections 3 and 4; the numbers are from the text.",
    question=(
        "Does a tally of the opponent's actions, learned during a game, make the search stronger? "
        f"`mcts-tally` with c = {dollars(BEST)} starts each game with an empty tally and updates it after "
        "each hand."
    ),
    setup=JUDGED,
    settings=(
        Setting(
            "length of a game",
            "100 rounds",
            f"{SHORT} hands at most, and {LENGTH} hands at most",
        ),
        Setting(
            "games of a pairing",
            "not given",
            " and ".join(
                f"{games * LENGTH // SHORT:,} short and {games:,} long ones with {series}"
                for series, (_, games) in SERIES.items()
            ),
        ),
        *SETTINGS[2:],
    ),
    pairings=_results_pairings(),
    first="mcts-tally",
    axis="opponent",
    budget=GAMES * LENGTH,
    quick_budget=20,
    findings=_judge_results,
    remarks=(
        "With uniform rollouts `mcts-tally` folds nearly every hand before the flop: it loses about the "
        "mean of the blinds, 1.5 chips, to always-raise. By the tally the opponent of the rollouts always "
        "raises, while our own player folds a third of the time at each decision, so the first rollouts "
        "after a call lose several chips. With c = 5 chips UCB then prefers the fold, whose value is "
        "certain, and hardly explores the call. More iterations do not help: with 10,000 it sees 0.7% of "
        "the flops (`felt match \"mcts-tally(c=5,iterations=10000,rollout='uniform',expand='random')\" "
        "always-raise --hands 300`). Without a model, "
        "`mcts(c=5,iterations=2000,rollout='uniform',expand='random')` sees 95% of them, since in its "
        "rollouts the opponent folds as well. The paper's rollouts or its unit of c may differ from our "
        "reading."
    ),
    requires=HOUR,
)

TAU_MATCHES = (FIGURE_2, FIGURE_3, FIGURE_4, RESULTS)
