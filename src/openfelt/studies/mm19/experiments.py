"""Mac Manus 2019, chapter 4: UCT and Smooth UCT in Leduc hold'em, and Heinrich's reference curve."""

from __future__ import annotations

from functools import cache

from openfelt.measure.exploitability import best_response
from openfelt.plots.intervals import Interval
from openfelt.policy.tabular import require_tabular, uniform_policy
from openfelt.solve.sampling.smooth_uct import SmoothUCT
from openfelt.solve.sampling.uct import UCT
from openfelt.solve.sequence_lp import SequenceLP
from openfelt.solve.solver import Solver
from openfelt.studies.findings import Finding, both, is_above, is_below, is_within, mean_of_runs
from openfelt.studies.learning_study import LearningCurves, LearningStudy, Panel, SolverConfig
from openfelt.studies.metrics import (
    cumulative_reward,
    first_seat_reward,
    greedy_best_response,
    greedy_nash_conv,
    mean_reward,
    nash_conv,
)
from openfelt.studies.mm19.thesis_measure import thesis_exploitability
from openfelt.studies.study import Setting, spaced

PAPER = (
    'Mac Manus, "Learning to Play Leduc Hold\'em Using Reinforcement Learning" (2019), section {section}. '
    "The thesis measures the greedy policy of the first player, because its program could not compute best "
    "responses to mixed policies. Three things are measured here: what the thesis computes (its equation "
    "3.2, see the remarks), an exact best response in the second seat to the same greedy policy, and "
    "nash_conv of the average policy: the summed gains of best responses in both seats."
)
THESIS = "thesis_measure"
GREEDY = Panel("greedy_best_response", greedy_best_response, "best response to the greedy policy (chips)")
AVERAGE = Panel("nash_conv", nash_conv, "nash_conv of the average policy (chips)")


def greedy_by_thesis(solver: Solver) -> float:
    """The thesis's exploitability of the greedy policy, which is not that of a best response."""
    return thesis_exploitability(require_tabular(solver.greedy))


def _as_in_thesis(**published: float) -> Panel:
    values = {label.replace("_", " "): value for label, value in published.items()}
    return Panel(THESIS, greedy_by_thesis, "exploitability by equation 3.2 (chips)", published=values)


UCT_LABEL, SMOOTH_LABEL = "UCT (c=18)", "Smooth UCT (c=18)"
THESIS_LABEL, HEINRICH_LABEL = "Smooth UCT (gamma=.01, d=.1)", "Smooth UCT (gamma=.1, d=.002)"
EXPLAINED = 0.2  # how far our values may be from the thesis's
AROUND_ZERO = 0.05  # chips a game: what "around 0" allows
SETTLED = 1_000  # episodes; minima before are noise
MEASURE = (
    "Equation 3.2 of the thesis averages the payoffs of all terminal histories that the responding player "
    "cannot distinguish, with equal weights, even if the greedy policy does not reach them with those cards; "
    "and the responding player then chooses the best action history by history, so it reacts to a card that "
    "it cannot see. This is not the value of a best response, and can be above or below it. Other "
    "causes of the thesis's larger values are possible: it does not say which seat is measured, and its "
    "reward may be the pot rather than what is won beyond the own chips. Best responses here are exact and "
    "are tested against OpenSpiel."
)


def _uct(opponent: str = "self") -> SolverConfig:
    return SolverConfig(UCT_LABEL, lambda seed: UCT("leduc", c=18.0, opponent=opponent, seed=seed))


def _smooth(label: str, *, gamma: float, d: float) -> SolverConfig:
    return SolverConfig(label, lambda seed: SmoothUCT("leduc", c=18.0, gamma=gamma, eta0=0.9, d=d, seed=seed))


def _settings(runs: str, ours: str = "the same") -> tuple[Setting, ...]:
    """What the experiments have in common."""
    return (
        Setting("exploration constant c", "18", "18"),
        Setting("runs", runs, ours),
        Setting("infosets", "cards with their suits", "ranks, as suits never matter"),
        Setting("measured policy", "the greedy one of the first player", "the same, and the average policy"),
        Setting("measure", "equation 3.2", "the same, and exact best responses"),
    )


def _chips(value: float) -> str:
    return f"{value:.2f} chips"


def _minimum_and_end(curves: LearningCurves, label: str, metric: str) -> str:
    low, at = curves.minimum(label, metric, SETTLED)
    return f"minimum {_chips(low)} after {at:,} episodes, {_chips(curves.end(label, metric))} at the end"


def _rise(curves: LearningCurves, label: str, metric: str) -> Interval:
    """How far each run rises from the minimum of the mean curve to the end."""
    at = curves.minimum(label, metric, SETTLED)[1]
    return curves.change(label, metric, at / curves.episodes[-1])


def _rises_again(curves: LearningCurves, label: str, metric: str, share: float = 0.05) -> bool | None:
    """Whether it rises by more than that share of the minimum."""
    return is_above(_rise(curves, label, metric), share * curves.minimum(label, metric, SETTLED)[0])


def _rise_text(curves: LearningCurves, label: str, metric: str) -> str:
    return f"{_minimum_and_end(curves, label, metric)}; rise {_rise(curves, label, metric):.2f}"


def _at_minimum(curves: LearningCurves, label: str, metric: str) -> Interval:
    """The runs' values where the mean curve is lowest."""
    place = list(curves.episodes).index(curves.minimum(label, metric, SETTLED)[1])
    return mean_of_runs(curves.values[label, metric][:, place])


def _judge_experiment_1(curves: LearningCurves) -> list[Finding]:
    opponent = uniform_policy("leduc")
    best = sum(best_response(opponent, seat).value for seat in (0, 1)) / 2
    won = curves.end(UCT_LABEL, "mean_reward")
    return [
        Finding(
            "the reward against a random player rises steeply, then levels off (Figures 4.1, 4.2)",
            f"{curves.at(0.02, UCT_LABEL, 'mean_reward'):.2f} chips a game after a fiftieth of the episodes, "
            f"{curves.ends(UCT_LABEL, 'mean_reward'):.2f} at the end; a best response wins {_chips(best)}",
            both(
                is_within(curves.ends(UCT_LABEL, "mean_reward"), 0.8 * best, best),
                is_above(curves.change(UCT_LABEL, "mean_reward", 0.02), 0.4 * won),
            ),
        ),
        Finding(
            "exploitability dips, then rises towards 4.9 (Figure 4.3)",
            f"by equation 3.2: {_rise_text(curves, UCT_LABEL, THESIS)}",
            _rises_again(curves, UCT_LABEL, THESIS),
        ),
        Finding(
            "the greedy policy stays exploitable: a best response wins more than 2 chips throughout",
            _minimum_and_end(curves, UCT_LABEL, "greedy_best_response"),
            is_above(_at_minimum(curves, UCT_LABEL, "greedy_best_response"), 2.0),
            ours=True,
        ),
        _judge_measure(curves, UCT_LABEL, 4.9),
    ]


def _judge_measure(curves: LearningCurves, label: str, published: float) -> Finding:
    """Whether the thesis's measure explains its values."""
    by_thesis = curves.ends(label, THESIS)
    return Finding(
        f"equation 3.2 explains the thesis's value at the end, {published:g} (within {EXPLAINED:.0%})",
        f"{by_thesis:.2f} by equation 3.2; an exact best response wins "
        f"{curves.ends(label, 'greedy_best_response'):.2f}",
        is_within(by_thesis, (1 - EXPLAINED) * published, (1 + EXPLAINED) * published),
        ours=True,
    )


@cache
def _leduc_value() -> float:
    """Of the first player, by linear program."""
    return float(best_response(SequenceLP("leduc").run().policy, 0).value)


def _judge_experiment_2(curves: LearningCurves) -> list[Finding]:
    return [
        Finding(
            "the average reward of the first player fluctuates around 0 (Figure 4.4)",
            f"{curves.ends(UCT_LABEL, 'reward'):+.3f} chips a game at the end; in equilibrium "
            f"{_leduc_value():+.4f}",
            is_within(curves.ends(UCT_LABEL, "reward"), -AROUND_ZERO, AROUND_ZERO),
        ),
        Finding(
            "exploitability has a minimum (3.5), then rises again (towards 4.6; Figure 4.5)",
            f"by equation 3.2: {_rise_text(curves, UCT_LABEL, THESIS)}",
            _rises_again(curves, UCT_LABEL, THESIS),
        ),
        Finding(
            "Heinrich's average policy fell to 0.8, before it rose ([mm19-heinrich](mm19-heinrich.md))",
            _rise_text(curves, UCT_LABEL, "nash_conv"),
            both(
                is_below(_at_minimum(curves, UCT_LABEL, "nash_conv"), 1.0),
                _rises_again(curves, UCT_LABEL, "nash_conv"),
            ),
        ),
        Finding(
            "what an exact best response wins rises again, too",
            _rise_text(curves, UCT_LABEL, "greedy_best_response"),
            _rises_again(curves, UCT_LABEL, "greedy_best_response"),
            ours=True,
        ),
        _judge_measure(curves, UCT_LABEL, 4.6),
    ]


def _judge_experiment_3(curves: LearningCurves) -> list[Finding]:
    def against(label: str, metric: str) -> str:
        values = f"{_chips(curves.end(THESIS_LABEL, metric))} against {_chips(curves.end(label, metric))}"
        return f"{values} (difference {curves.apart(metric, THESIS_LABEL, label):+.2f})"

    first = float(curves.values[THESIS_LABEL, THESIS][:, 0].mean())
    settled = 0.25 * curves.end(THESIS_LABEL, THESIS)
    return [
        Finding(
            "exploitability falls (from 3.8 to 2.2) and stays there (Figure 4.6)",
            f"by equation 3.2 from {_chips(first)}; {_rise_text(curves, THESIS_LABEL, THESIS)}",
            both(
                is_below(curves.change(THESIS_LABEL, THESIS, 0.0), -0.3 * first),
                is_below(_rise(curves, THESIS_LABEL, THESIS), settled),
            ),
        ),
        Finding(
            "it ends below that of UCT",
            f"by equation 3.2 {against(UCT_LABEL, THESIS)}",
            is_below(curves.apart(THESIS, THESIS_LABEL, UCT_LABEL)),
        ),
        Finding(
            "d = 0.1 gives a less exploitable greedy policy than Heinrich's d = 0.002",
            f"by equation 3.2 {against(HEINRICH_LABEL, THESIS)}",
            is_below(curves.apart(THESIS, THESIS_LABEL, HEINRICH_LABEL)),
        ),
        Finding(
            "Heinrich's average policy was at about 0.5 after a million episodes",
            f"{curves.ends(HEINRICH_LABEL, 'nash_conv'):.3f} chips",
            is_within(curves.ends(HEINRICH_LABEL, "nash_conv"), 0.4, 0.6),
        ),
        Finding(
            "against an exact best response it ends below UCT, too",
            against(UCT_LABEL, "greedy_best_response"),
            is_below(curves.apart("greedy_best_response", THESIS_LABEL, UCT_LABEL)),
            ours=True,
        ),
        Finding(
            "for the average policy, d = 0.002 is better",
            against(HEINRICH_LABEL, "nash_conv"),
            is_above(curves.apart("nash_conv", THESIS_LABEL, HEINRICH_LABEL)),
            ours=True,
        ),
        _judge_measure(curves, THESIS_LABEL, 2.2),
    ]


def _judge_heinrich(curves: LearningCurves) -> list[Finding]:
    smooth = curves.ends(SMOOTH_LABEL, "nash_conv")
    return [
        Finding(
            "Smooth UCT comes close to equilibrium, about 0.02",
            f"{smooth:.4f} chips",
            is_within(smooth, 0.015, 0.025),
        ),
        Finding(
            "UCT falls to about 0.8, then rises again",
            _rise_text(curves, UCT_LABEL, "nash_conv"),
            both(
                is_within(_at_minimum(curves, UCT_LABEL, "nash_conv"), 0.6, 1.0),
                _rises_again(curves, UCT_LABEL, "nash_conv", 0.2),
            ),
        ),
    ]


EXPERIMENT_1 = LearningStudy(
    name="mm19-experiment-1",
    title="MM19, experiment 1: UCT against a random player in Leduc",
    paper=PAPER.format(section="4.2"),
    question="How well does UCT learn to exploit a random player, and how exploitable is what it learns?",
    settings=(
        *_settings("20, of 500,000 episodes (Figure 4.1: 100, of 10,000)", "20, of 500,000"),
        Setting(
            "opponent", "takes random actions", "the same; the learning player changes its seat each game"
        ),
    ),
    setup="",
    solvers=(_uct(opponent="random"),),
    panels=(
        Panel("cumulative_reward", cumulative_reward, "cumulative reward (chips)"),
        Panel("mean_reward", mean_reward, "average reward (chips a game)"),
        _as_in_thesis(at_the_end=4.9),
        GREEDY,
        AVERAGE,
    ),
    episodes=spaced(100, 500_000, per_decade=20),
    quick_episodes=spaced(100, 50_000),
    findings=_judge_experiment_1,
    runs=20,
    remarks=MEASURE,
)

EXPERIMENT_2 = LearningStudy(
    name="mm19-experiment-2",
    title="MM19, experiment 2: UCT in self-play in Leduc",
    paper=PAPER.format(section="4.3"),
    question="Does UCT in self-play approach an equilibrium of Leduc hold'em?",
    settings=_settings("10, of 500,000 episodes"),
    setup="",
    solvers=(_uct(),),
    panels=(
        Panel("reward", first_seat_reward, "first player's average reward (chips a game)"),
        _as_in_thesis(lowest=3.5, at_the_end=4.6),
        GREEDY,
        AVERAGE,
    ),
    episodes=spaced(100, 500_000, per_decade=20),
    quick_episodes=spaced(100, 50_000),
    findings=_judge_experiment_2,
    remarks=MEASURE,
)

EXPERIMENT_3 = LearningStudy(
    name="mm19-experiment-3",
    title="MM19, experiment 3: Smooth UCT in Leduc",
    paper=PAPER.format(section="4.4"),
    question="Does Smooth UCT, which sometimes plays its average policy, avoid UCT's later deterioration?",
    settings=(
        *_settings("10, of 1,000,000 episodes"),
        Setting("gamma, eta0, d", "0.01, 0.9, 0.1", "the same; also Heinrich's 0.1, 0.9, 0.002"),
    ),
    setup="UCT is run with the same number of episodes for comparison.",
    solvers=(
        _smooth(THESIS_LABEL, gamma=0.01, d=0.1),
        _smooth(HEINRICH_LABEL, gamma=0.1, d=0.002),
        _uct(),
    ),
    panels=(_as_in_thesis(at_the_start=3.8, at_the_end=2.2), GREEDY, AVERAGE),
    episodes=spaced(1_000, 1_000_000, per_decade=20),
    quick_episodes=spaced(1_000, 100_000),
    findings=_judge_experiment_3,
    remarks=MEASURE + " With a fast decay UCB is soon used rarely. The greedy policy benefits from the more "
    "stable opponents, but the average policy stays close to early play. The thesis could only measure the "
    "greedy policy; for the average policy Heinrich's slow decay is far better.",
)

HEINRICH = LearningStudy(
    name="mm19-heinrich",
    title="MM19, reference curve of Heinrich & Silver: Smooth UCT in Leduc, 500 million episodes",
    paper=(
        "Mac Manus 2019, section 4.4, aims at the Leduc experiment of Heinrich & Silver, "
        '"Smooth UCT Search in Computer Poker" (2015): Smooth UCT converges towards an equilibrium, UCT does '
        "not. The thesis could not run that many episodes."
    ),
    question="Do the average policies of Smooth UCT and UCT converge to an equilibrium of Leduc hold'em?",
    settings=(
        Setting("exploration constant c", "18", "18"),
        Setting("gamma, eta0, d", "0.1, 0.9, 0.002", "the same"),
        Setting("runs", "of 500,000,000 episodes", "3, of as many episodes"),
        Setting("measure", "exploitability: what a best response gains", "nash_conv of the average policy"),
    ),
    setup="nash_conv is the summed gain of the best responses in both seats, in chips a game.",
    solvers=(
        _smooth(SMOOTH_LABEL, gamma=0.1, d=0.002),
        _uct(),
    ),
    panels=(
        Panel(
            "nash_conv",
            nash_conv,
            "nash_conv of the average policy (chips)",
            logarithmic=True,
            published={"UCT, lowest": 0.8, "UCT, at the end": 1.5, "Smooth UCT": 0.0223},
        ),
        Panel("greedy_nash_conv", greedy_nash_conv, "nash_conv of the greedy policy (chips)"),
    ),
    episodes=spaced(1_000, 500_000_000, per_decade=20),
    quick_episodes=spaced(1_000, 3_000_000),
    findings=_judge_heinrich,
    runs=3,
)
