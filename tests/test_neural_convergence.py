"""The claims of the studies of converging neural players, judged on curves made up for the purpose."""

from __future__ import annotations

import numpy as np
import pytest

from openfelt.studies.learning_study import LearningCurves
from openfelt.studies.neural.convergence import GRADIENTS_KUHN as KUHN, GRADIENTS_LEDUC as LEDUC
from openfelt.studies.neural.deep_methods import METRIC

CLOSE, SPREAD = [0.05, 0.051, 0.052], [0.02, 0.05, 0.2]


def curves(study, *ends):
    """Three runs of each solver, at 1 first, then at four times their ends, then at their ends."""
    labels = [solver.label for solver in study.solvers]
    tables = {
        (label, METRIC): np.stack([np.ones(3), 4 * np.array(end), end], axis=1)
        for label, end in zip(labels, ends, strict=True)
    }
    return LearningCurves((1, 50, 100), tables)


@pytest.mark.parametrize(
    ("study", "ends", "verdicts"),
    [
        (KUHN, (CLOSE, [0.01] * 3), [False, True, True, True]),
        (LEDUC, (CLOSE, SPREAD), [True, True, None, None]),
    ],
)
def test_claims_are_decided_by_intervals_of_the_ends_and_of_changes(study, ends, verdicts):
    findings = study.judge(curves(study, *ends))
    assert [finding.holds for finding in findings] == verdicts
    assert [finding.claim.split(": ")[1].split()[0] for finding in findings] == ["PPO", "PPO", "MMD", "MMD"]
    assert f"ends below {0.02 if study is KUHN else 0.1} chips" in findings[0].claim


def test_the_table_has_a_row_for_each_method_and_the_uniform_policy():
    rows = [line.split("|")[1].strip() for line in KUHN.table(curves(KUHN, CLOSE, CLOSE)) if "|" in line]
    assert rows == ["solver", "---", "PPO", "MMD", "uniform policy"]
