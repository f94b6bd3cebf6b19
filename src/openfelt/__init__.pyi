"""The public names of OpenFelt; `__init__.py` loads each when it is first used."""

from .arena.freeze_out.freeze_out import freeze_out as freeze_out
from .arena.hand_files import read_hands as read_hands, write_hands as write_hands
from .arena.match import match as match
from .arena.statistics.sequential_test import SequentialTest as SequentialTest
from .arena.tournament import tournament as tournament
from .arena.value import value as value
from .bots.bot import Bot as Bot
from .bots.measurable import load_measurable as load_measurable
from .bots.registry import load_bot as load_bot
from .bots.search.api import search as search
from .cards.abstraction.abstraction import load_abstraction as load_abstraction
from .cards.equity import equity as equity
from .cards.ranges import format_range as format_range, parse_range as parse_range
from .cards.strength import hand_strength as hand_strength
from .core.errors import FeltError as FeltError, FileError as FileError, GameError as GameError
from .games.compile.check_game import check_game as check_game
from .games.compile.compiler import compile_game as compile_game
from .games.compile.export_efg import write_efg as write_efg
from .games.features.features import features as features
from .games.game import CHANCE as CHANCE, TERMINAL as TERMINAL, Game as Game
from .games.registry import load_game as load_game
from .hands.check import check_record as check_record
from .hands.record import HandRecord as HandRecord
from .hands.store import HandStore as HandStore
from .measure.dominated import dominated_actions as dominated_actions
from .measure.equilibrium_distance import (
    EquilibriumSet as EquilibriumSet,
    closest_equilibrium as closest_equilibrium,
)
from .measure.exploitability import (
    best_response as best_response,
    expected_values as expected_values,
    exploitability as exploitability,
)
from .measure.mixture import mixture as mixture
from .opponents.api import (
    fit_model as fit_model,
    load_model as load_model,
    save_model as save_model,
    score_model as score_model,
)
from .opponents.models.model import OpponentModel as OpponentModel
from .opponents.responses.fixed_policy import fixed_policy as fixed_policy
from .opponents.responses.response import Responses as Responses
from .policy.files import load_policy as load_policy, save_policy as save_policy
from .policy.flop import FlopPolicy as FlopPolicy
from .policy.holdem import HoldemPolicy as HoldemPolicy
from .policy.network import NetworkPolicy as NetworkPolicy, network_policy as network_policy
from .policy.policy import Policy as Policy, join_seats as join_seats
from .policy.rules import rule_policy as rule_policy
from .policy.tabular import (
    TabularPolicy as TabularPolicy,
    random_policy as random_policy,
    uniform_policy as uniform_policy,
)
from .solve.cfr import CFR as CFR, DCFR as DCFR, CFRPlus as CFRPlus, PCFRPlus as PCFRPlus
from .solve.environments.vector_env import VectorEnv as VectorEnv
from .solve.fictitious_play import FictitiousPlay as FictitiousPlay
from .solve.neural.deep_cfr import DeepCFR as DeepCFR
from .solve.neural.mmd import MMD as MMD
from .solve.neural.nfsp import NFSP as NFSP
from .solve.neural.ppo import PPO as PPO
from .solve.neural.r_nad import RNaD as RNaD
from .solve.sampling.external_mccfr import ChanceCFR as ChanceCFR, ExternalMCCFR as ExternalMCCFR
from .solve.sampling.outcome_mccfr import OutcomeMCCFR as OutcomeMCCFR
from .solve.sampling.sampled_fictitious_play import SampledFictitiousPlay as SampledFictitiousPlay
from .solve.sampling.smooth_uct import SmoothUCT as SmoothUCT
from .solve.sampling.uct import UCT as UCT
from .solve.sequence_lp import SequenceLP as SequenceLP
from .solve.solver import Solver as Solver
from .solve.vector.cfr_br import CFRBR as CFRBR
from .solve.vector.flop_cfr import FlopCFR as FlopCFR
from .solve.vector.public_chance_cfr import PublicChanceCFR as PublicChanceCFR
from .spots.compare import compare_solutions as compare_solutions
from .spots.files import load_solution as load_solution, save_solution as save_solution
from .spots.locks import Lock as Lock
from .spots.spot import Spot as Spot

__version__: str
