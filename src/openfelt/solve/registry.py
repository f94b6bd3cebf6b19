"""The solvers by name."""

from __future__ import annotations

from openfelt.core.errors import FeltError, unknown
from openfelt.solve.cfr import CFR, DCFR, CFRPlus, PCFRPlus
from openfelt.solve.fictitious_play import FictitiousPlay
from openfelt.solve.neural.deep_cfr import DeepCFR
from openfelt.solve.neural.mmd import MMD
from openfelt.solve.neural.nfsp import NFSP
from openfelt.solve.neural.ppo import PPO
from openfelt.solve.neural.r_nad import RNaD
from openfelt.solve.sampling.external_mccfr import ChanceCFR, ExternalMCCFR
from openfelt.solve.sampling.outcome_mccfr import OutcomeMCCFR
from openfelt.solve.sampling.sampled_fictitious_play import SampledFictitiousPlay
from openfelt.solve.sampling.smooth_uct import SmoothUCT
from openfelt.solve.sampling.uct import UCT
from openfelt.solve.sequence_lp import SequenceLP
from openfelt.solve.solver import Solver
from openfelt.solve.vector.cfr_br import CFRBR
from openfelt.solve.vector.flop_cfr import FlopCFR
from openfelt.solve.vector.public_chance_cfr import PublicChanceCFR

SOLVERS: dict[str, type[Solver]] = {
    solver.name: solver
    for solver in (
        *(CFR, CFRPlus, DCFR, PCFRPlus, FictitiousPlay, SequenceLP),
        *(UCT, SmoothUCT, OutcomeMCCFR, ExternalMCCFR, ChanceCFR, SampledFictitiousPlay),
        *(CFRBR, PublicChanceCFR, FlopCFR),
        *(NFSP, DeepCFR, PPO, MMD, RNaD),
    )
}


def solver_type(name: str) -> type[Solver]:
    """The solver class of that name."""
    if name not in SOLVERS:
        raise FeltError(unknown("solver", name, SOLVERS))
    return SOLVERS[name]
