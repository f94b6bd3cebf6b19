"""The solvers by name."""

from __future__ import annotations

from openfelt.base.errors import FeltError, unknown
from openfelt.solvers.cfr import CFR, DCFR, CFRPlus, PCFRPlus
from openfelt.solvers.external_mccfr import ChanceCFR, ExternalMCCFR
from openfelt.solvers.fictitious_play import FictitiousPlay
from openfelt.solvers.outcome_mccfr import OutcomeMCCFR
from openfelt.solvers.sampled_fictitious_play import SampledFictitiousPlay
from openfelt.solvers.sequence_lp import SequenceLP
from openfelt.solvers.smooth_uct import SmoothUCT
from openfelt.solvers.solver import Solver
from openfelt.solvers.uct import UCT

SOLVERS: dict[str, type[Solver]] = {
    solver.name: solver
    for solver in (
        *(CFR, CFRPlus, DCFR, PCFRPlus, FictitiousPlay, SequenceLP),
        *(UCT, SmoothUCT, OutcomeMCCFR, ExternalMCCFR, ChanceCFR, SampledFictitiousPlay),
    )
}


def solver_type(name: str) -> type[Solver]:
    """The solver called `name`."""
    if name not in SOLVERS:
        raise FeltError(unknown("solver", name, SOLVERS))
    return SOLVERS[name]
