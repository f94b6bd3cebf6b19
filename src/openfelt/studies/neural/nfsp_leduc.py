"""Neural fictitious self-play in Leduc hold'em (Heinrich & Silver 2016)."""

from __future__ import annotations

from typing import Any

from openfelt.solve.neural.nfsp import NFSP
from openfelt.studies.findings import Finding, is_below
from openfelt.studies.learning_study import LearningCurves, LearningStudy, Panel, SolverConfig
from openfelt.studies.metrics import nash_conv
from openfelt.studies.study import Setting, spaced

LABEL = "NFSP"
TARGET, PUBLISHED = 0.1, 0.06
SETTINGS: dict[str, Any] = {"steps": 32, "reservoir": 8_000_000}  # otherwise the defaults


def _judge(curves: LearningCurves) -> list[Finding]:
    end = curves.ends(LABEL, "nash_conv")
    return [
        Finding(
            f"nash_conv of the average policy falls below {TARGET:g}",
            f"{end:.3f} chips",
            is_below(end, TARGET),
        ),
        Finding(
            "it is still falling at the end",
            f"{curves.change(LABEL, 'nash_conv', 0.5):+.3f} chips in the second half",
            is_below(curves.change(LABEL, "nash_conv", 0.5)),
        ),
    ]


NFSP_LEDUC = LearningStudy(
    name="nfsp-leduc",
    title="Neural fictitious self-play in Leduc",
    paper=(
        'Heinrich & Silver, "Deep Reinforcement Learning from Self-Play in Imperfect-Information Games" '
        "(2016): NFSP approaches an equilibrium of Leduc hold'em, with an exploitability on the scale of "
        f"{PUBLISHED:g}."
    ),
    question="How close does neural fictitious self-play come to an equilibrium of Leduc hold'em?",
    settings=(
        Setting(
            "network", "one hidden layer of 64 units, one network for each player", "256 units, one network"
        ),
        Setting("optimiser", "stochastic gradient descent, 0.1 and 0.005", "Adam, 0.01 and 0.005, annealed"),
        Setting(
            "batch", "128 decisions, two updates in 128 steps", "the whole memories, two updates in 32,768"
        ),
        Setting("anticipatory parameter", "0.1", "0.2, annealed"),
        Setting(
            "exploration", "from 0.06 to 0, part of the average", "from 0.4, annealed; not in the average"
        ),
        Setting(
            "memories",
            "200,000 and 2 million",
            "the latest 3%, at most a million, and 8 million, where later decisions weigh more",
        ),
    ),
    setup=(
        "An iteration is 32,768 decisions in 1,024 games and two updates of each network. Suits are merged."
    ),
    solvers=(SolverConfig(LABEL, lambda seed: NFSP("leduc", seed=seed, **SETTINGS)),),
    panels=(
        Panel(
            "nash_conv",
            nash_conv,
            "nash_conv of the average policy (chips)",
            logarithmic=True,
            published={"exploitability in the paper, times two players": 2 * PUBLISHED},
        ),
    ),
    episodes=spaced(10, 8_000),
    quick_episodes=spaced(10, 300),
    findings=_judge,
    runs=5,
    work="iterations",
    own_claims=True,
    requires="PyTorch, 20 minutes",
)
