"""OpenFelt: train, measure, exploit and play agents for games of imperfect information.

    import openfelt as felt

    solver = felt.PCFRPlus("leduc").run(until=1e-4)
    print(felt.exploitability("leduc", solver.policy))
    felt.save_policy(solver.policy, "leduc-policy")

Everything here is loaded when first used, so that `import openfelt` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from openfelt.base.version import VERSION

__version__ = VERSION

_DOOR = {
    "base.errors": ["FeltError", "FileError", "GameError"],
    "rules.game": ["Game", "CHANCE", "TERMINAL"],
    "rules.registry": ["load_game"],
    "compile.compiler": ["compile_game"],
    "compile.check_game": ["check_game"],
    "compile.export_efg": ["write_efg"],
    "policy.policy": ["Policy", "mixture", "random_policy", "uniform_policy"],
    "policy.holdem_policy": ["HoldemPolicy", "rule_policy"],
    "policy.any_policy": ["load_policy", "save_policy"],
    "solvers.cfr": ["CFR", "CFRPlus", "DCFR", "PCFRPlus"],
    "solvers.fictitious_play": ["FictitiousPlay"],
    "solvers.sampled_fictitious_play": ["SampledFictitiousPlay"],
    "solvers.sequence_lp": ["SequenceLP"],
    "solvers.uct": ["UCT"],
    "solvers.smooth_uct": ["SmoothUCT"],
    "solvers.outcome_mccfr": ["OutcomeMCCFR"],
    "solvers.external_mccfr": ["ChanceCFR", "ExternalMCCFR"],
    "cards.strength": ["hand_strength"],
    "abstraction.abstraction": ["load_abstraction"],
    "cards.equity": ["equity"],
    "bots.bot": ["Bot"],
    "bots.registry": ["load_bot"],
    "responses.fixed": ["fixed_policy"],
    "responses.response": ["Responses"],
    "arena.match": ["match"],
    "arena.tournament": ["tournament"],
    "arena.freeze_out": ["freeze_out"],
    "arena.holdem_value": ["holdem_value"],
    "evaluate.exploitability": ["against", "best_response", "expected_values", "exploitability", "seat"],
    "evaluate.dominated": ["dominated_actions"],
    "evaluate.equilibrium_distance": ["EquilibriumSet", "closest_equilibrium"],
}
_PLACE = {name: module for module, names in _DOOR.items() for name in names}

__all__ = ["__version__", *sorted(_PLACE)]

if TYPE_CHECKING:
    from openfelt.abstraction.abstraction import load_abstraction
    from openfelt.arena.freeze_out import freeze_out
    from openfelt.arena.holdem_value import holdem_value
    from openfelt.arena.match import match
    from openfelt.arena.tournament import tournament
    from openfelt.base.errors import FeltError, FileError, GameError
    from openfelt.bots.bot import Bot
    from openfelt.bots.registry import load_bot
    from openfelt.cards.equity import equity
    from openfelt.cards.strength import hand_strength
    from openfelt.compile.check_game import check_game
    from openfelt.compile.compiler import compile_game
    from openfelt.compile.export_efg import write_efg
    from openfelt.evaluate.dominated import dominated_actions
    from openfelt.evaluate.equilibrium_distance import EquilibriumSet, closest_equilibrium
    from openfelt.evaluate.exploitability import (
        against,
        best_response,
        expected_values,
        exploitability,
        seat,
    )
    from openfelt.policy.any_policy import load_policy, save_policy
    from openfelt.policy.holdem_policy import HoldemPolicy, rule_policy
    from openfelt.policy.policy import Policy, mixture, random_policy, uniform_policy
    from openfelt.responses.fixed import fixed_policy
    from openfelt.responses.response import Responses
    from openfelt.rules.game import CHANCE, TERMINAL, Game
    from openfelt.rules.registry import load_game
    from openfelt.solvers.cfr import CFR, DCFR, CFRPlus, PCFRPlus
    from openfelt.solvers.external_mccfr import ChanceCFR, ExternalMCCFR
    from openfelt.solvers.fictitious_play import FictitiousPlay
    from openfelt.solvers.outcome_mccfr import OutcomeMCCFR
    from openfelt.solvers.sampled_fictitious_play import SampledFictitiousPlay
    from openfelt.solvers.sequence_lp import SequenceLP
    from openfelt.solvers.smooth_uct import SmoothUCT
    from openfelt.solvers.uct import UCT


def __getattr__(name: str) -> Any:
    if name not in _PLACE:
        raise AttributeError(f"module 'openfelt' has no attribute '{name}'")
    return getattr(importlib.import_module(f"openfelt.{_PLACE[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
