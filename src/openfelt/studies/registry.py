"""The studies by name."""

from __future__ import annotations

from openfelt.base.errors import FeltError, unknown
from openfelt.studies.gpu_equals_cpu import GPU_EQUALS_CPU, GPU_EQUALS_CPU_HOLDEM
from openfelt.studies.holdem_curve import HOLDEM_CURVE
from openfelt.studies.hs14_kuhn import FIGURE_1, FIGURE_2
from openfelt.studies.mm19_leduc import EXPERIMENT_1, EXPERIMENT_2, EXPERIMENT_3, HEINRICH
from openfelt.studies.pjl11_kuhn import FIGURE_4_KUHN
from openfelt.studies.study import Study

STUDIES: dict[str, Study] = {
    study.name: study
    for study in (
        *(FIGURE_1, FIGURE_2, FIGURE_4_KUHN, EXPERIMENT_1, EXPERIMENT_2, EXPERIMENT_3, HEINRICH),
        *(HOLDEM_CURVE, GPU_EQUALS_CPU, GPU_EQUALS_CPU_HOLDEM),
    )
}


def find_study(name: str) -> Study:
    """The study called `name`."""
    if name not in STUDIES:
        raise FeltError(unknown("study", name, STUDIES))
    return STUDIES[name]
