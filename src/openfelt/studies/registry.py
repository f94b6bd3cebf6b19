"""The studies by name."""

from __future__ import annotations

from openfelt.core.errors import FeltError, unknown
from openfelt.studies.holdem.cross_table import CROSS_TABLE
from openfelt.studies.holdem.exploitability import HOLDEM_EXPLOITABILITY
from openfelt.studies.holdem.exploitability_curve import HOLDEM_EXPLOITABILITY_CURVE
from openfelt.studies.holdem.gpu_equals_cpu import GPU_EQUALS_CPU, GPU_EQUALS_CPU_HOLDEM
from openfelt.studies.holdem.learning_curve import HOLDEM_CURVE
from openfelt.studies.holdem.three_handed import THREE_HANDED
from openfelt.studies.hs14.figures_1_2 import FIGURE_1, FIGURE_2
from openfelt.studies.hs14.tables_2_3 import TABLE_2, TABLE_3
from openfelt.studies.match_study import MatchStudy
from openfelt.studies.mm19.experiments import EXPERIMENT_1, EXPERIMENT_2, EXPERIMENT_3, HEINRICH
from openfelt.studies.models.models_truth import MODELS_TRUTH
from openfelt.studies.pgc10.figure_2 import PGC10_FIGURE_2
from openfelt.studies.pgc10.table_1 import PGC10_TABLE_1
from openfelt.studies.pjl11.figure_4_kuhn import FIGURE_4_KUHN
from openfelt.studies.pjl11.figure_6 import FIGURE_6
from openfelt.studies.pjl11.figure_7 import FIGURE_7
from openfelt.studies.pjl11.figure_8 import FIGURE_8
from openfelt.studies.pjl11.table_1 import FIGURE_4_HOLDEM, TABLE_1
from openfelt.studies.pjl11.table_2 import TABLE_2 as RESPONSES_TABLE
from openfelt.studies.study import Study
from openfelt.studies.tau.figures_2_4 import TAU_MATCHES
from openfelt.studies.tau.figures_5_7 import FIGURES_5_TO_7

STUDIES: dict[str, Study | MatchStudy] = {
    study.name: study
    for study in (
        *(FIGURE_1, FIGURE_2, FIGURE_4_KUHN, EXPERIMENT_1, EXPERIMENT_2, EXPERIMENT_3, HEINRICH),
        *(HOLDEM_CURVE, GPU_EQUALS_CPU, GPU_EQUALS_CPU_HOLDEM),
        *(TABLE_2, TABLE_3, TABLE_1, FIGURE_4_HOLDEM, CROSS_TABLE, THREE_HANDED, FIGURES_5_TO_7),
        MODELS_TRUTH,
        *(PGC10_TABLE_1, PGC10_FIGURE_2, *TAU_MATCHES),
        *(FIGURE_6, FIGURE_7, RESPONSES_TABLE, FIGURE_8),
        *(HOLDEM_EXPLOITABILITY, HOLDEM_EXPLOITABILITY_CURVE),
    )
}


def find_study(name: str) -> Study | MatchStudy:
    """The study called `name`."""
    if name not in STUDIES:
        raise FeltError(unknown("study", name, STUDIES))
    return STUDIES[name]
