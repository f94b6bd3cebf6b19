"""The studies by name."""

from __future__ import annotations

from openfelt.core.errors import FeltError, unknown
from openfelt.studies.experiment import Experiment
from openfelt.studies.holdem.buckets import BUCKETS_STUDY
from openfelt.studies.holdem.cfr_br import CFR_BR_STUDY
from openfelt.studies.holdem.cross_table import CROSS_TABLE
from openfelt.studies.holdem.exploitability import HOLDEM_EXPLOITABILITY
from openfelt.studies.holdem.exploitability_curve import HOLDEM_EXPLOITABILITY_CURVE
from openfelt.studies.holdem.gpu_equals_cpu import GPU_EQUALS_CPU, GPU_EQUALS_CPU_HOLDEM, PARALLEL_SPREAD
from openfelt.studies.holdem.learning_curve import HOLDEM_CURVE
from openfelt.studies.holdem.three_handed import THREE_HANDED
from openfelt.studies.hs14 import figures_1_2 as hs14_kuhn, tables_2_3 as hs14_holdem
from openfelt.studies.hs14.threshold import HS14_THRESHOLD
from openfelt.studies.learning_study import LearningStudy
from openfelt.studies.mm19.experiments import EXPERIMENT_1, EXPERIMENT_2, EXPERIMENT_3, HEINRICH
from openfelt.studies.models.models_truth import MODELS_TRUTH
from openfelt.studies.neural.convergence import DEEP_CFR_LEDUC, GRADIENTS_KUHN, GRADIENTS_LEDUC
from openfelt.studies.neural.deep_holdem import DEEP_HOLDEM
from openfelt.studies.neural.deep_large import DEEP_LARGE
from openfelt.studies.neural.deep_methods import DEEP_METHODS
from openfelt.studies.neural.nfsp_leduc import NFSP_LEDUC
from openfelt.studies.pgc10.figure_2 import PGC10_FIGURE_2
from openfelt.studies.pgc10.table_1 import PGC10_TABLE_1
from openfelt.studies.pjl11 import (
    figure_4_kuhn,
    figure_6,
    figure_7,
    figure_8,
    table_1 as pjl11_table_1,
    table_2 as pjl11_table_2,
)
from openfelt.studies.tau.figures_2_4 import TAU_MATCHES
from openfelt.studies.tau.figures_5_7 import FIGURES_5_TO_7

AnyStudy = LearningStudy | Experiment

STUDIES: dict[str, AnyStudy] = {
    study.name: study
    for study in (
        *(hs14_kuhn.FIGURE_1, hs14_kuhn.FIGURE_2, HS14_THRESHOLD, figure_4_kuhn.FIGURE_4_KUHN),
        *(EXPERIMENT_1, EXPERIMENT_2, EXPERIMENT_3, HEINRICH),
        *(HOLDEM_CURVE, GPU_EQUALS_CPU, GPU_EQUALS_CPU_HOLDEM, PARALLEL_SPREAD),
        *(hs14_holdem.TABLE_2, hs14_holdem.TABLE_3, pjl11_table_1.TABLE_1, pjl11_table_1.FIGURE_4_HOLDEM),
        *(CROSS_TABLE, THREE_HANDED, FIGURES_5_TO_7, MODELS_TRUTH),
        *(PGC10_TABLE_1, PGC10_FIGURE_2, *TAU_MATCHES),
        *(figure_6.FIGURE_6, figure_7.FIGURE_7, pjl11_table_2.TABLE_2, figure_8.FIGURE_8),
        *(HOLDEM_EXPLOITABILITY, HOLDEM_EXPLOITABILITY_CURVE, CFR_BR_STUDY, BUCKETS_STUDY),
        *(NFSP_LEDUC, DEEP_CFR_LEDUC, GRADIENTS_KUHN, GRADIENTS_LEDUC),
        *(DEEP_METHODS, DEEP_LARGE, DEEP_HOLDEM),
    )
}


def find_study(name: str) -> AnyStudy:
    """The study called `name`."""
    if name not in STUDIES:
        raise FeltError(unknown("study", name, STUDIES))
    return STUDIES[name]
