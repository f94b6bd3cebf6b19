"""Self-play Monte Carlo tree search over information sets (IS-UCT), and the episode that Smooth UCT shares.

Heinrich & Silver 2014 (HS14), Algorithms 1 and 2. A player's tree consists of its infosets with visits. An
infoset enters it at its first visit; from there to the end of the episode its player plays by the rollout
policy and updates nothing more. Where the paper is silent: ties go to the first action, and UCB takes an
action never tried before all others.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.core.atomics import add
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, part
from openfelt.core.random import Stream, uniform
from openfelt.games.game import AnyGame
from openfelt.policy.files import DEFAULT, load_policy, policy_from_values, policy_from_weights
from openfelt.policy.policy import Policy, require_game
from openfelt.policy.rules import RULES, rule_policy
from openfelt.solve.sampling.gpu import InFlightLimits, Shapes
from openfelt.solve.sampling.sampling_solver import SamplingSolver
from openfelt.solve.solver import Settings, setting, within
from openfelt.solve.traverse.episode import (
    PLAYER,
    begin,
    draw,
    exploration,
    first_slot,
    follow,
    implements,
    num_actions,
    num_players,
    passive,
    payoff,
)
from openfelt.solve.traverse.sampling_worker import Worker, WorkerSize, iterate
from openfelt.solve.traverse.ucb import ALWAYS_UCB, PAYOFFS, VISITS, Selection, select

UNIFORM, CALL, ON_POLICY = "uniform", "call", "on-policy"
SELF, RANDOM = "self", "random"


@dataclass(frozen=True)
class UCTSettings(Settings):
    """Parameters of IS-UCT."""

    c: float | None = setting(
        None, "exploration constant, in the game's unit (default: half the range of payoffs)"
    )
    k: float | None = setting(
        None, "in poker, instead of c: explore with the pot + k times what can still be bet (HS14, 5)"
    )
    rollout: str = setting(
        UNIFORM, "the rollout policy, outside a player's tree", choices=(UNIFORM, CALL, ON_POLICY)
    )
    opponent: str = setting(
        SELF,
        "the opponents, each seat learning in turn: self, random, or the folder of a run or policy; in "
        "hold'em also default, always-raise, always-call, always-fold, probe",
    )

    def __post_init__(self) -> None:
        if self.c is not None and self.k is not None:
            raise FeltError("Give c or k, not both: k makes the exploration follow the pot.")
        if self.c is not None:
            within("c", self.c, 0.0, math.inf)
        if self.k is not None:
            within("k", self.k, 0.0, 1.0)


class Setup(NamedTuple):
    """What an episode reads besides the selection."""

    c: Floats  # laid out as `pots` and `passive_actions` of the tree, or [1] if all are alike
    rollout: NDArray[np.int8]  # the action outside the tree, or [0] for a uniform draw
    opponent: Floats  # [1, slots] the policy of players that do not learn, or [0, 0] in self-play
    leaves_tree: bool  # False: rollouts are on-policy (PJL11 3.2.1), so every infoset is selected and updated


class Search(NamedTuple):
    """How episodes are played."""

    selection: Selection
    setup: Setup


class Counts(NamedTuple):
    """The tables."""

    counts: Floats  # [slots, 2] visits and summed payoffs


SLOT, MOVER = 0, 1  # trace of a decision, in whole numbers
WON = 0  # trace of a player


class UCT(SamplingSolver):
    """IS-UCT: self-play tree search with UCB at each information set (Heinrich & Silver 2014).

    Its average policy need not converge to an equilibrium; `SmoothUCT` comes close. Against a fixed
    `opponent` it learns a best response, in each seat in turn.

    Parameters
    ----------
    game : Game, str or Path
        Any game, hold'em included.
    c : float, optional
        Exploration constant, in the game's unit; by default half the range of payoffs.
    k : float, optional
        In poker, instead of `c`: explore with the pot plus k times what can still be bet (HS14, 5).
    rollout : {"uniform", "call", "on-policy"}
        How a player acts after it has left its tree.
    opponent : str, Path or Policy
        "self", "random", a rule, the folder of a run or policy, or a policy.
    **options
        `seed`, `threads`, `device` and `in_flight`, as in `Solver`.

    Examples
    --------
    >>> opponent = felt.rule_policy("leduc", "always-raise")
    >>> response = felt.UCT("leduc", c=18, opponent=opponent, seed=1).run(50_000).greedy
    >>> felt.value(response, opponent).mean > 0
    True
    """

    name: ClassVar[str] = "uct"
    summary: ClassVar[str] = "self-play tree search over information states (IS-UCT, Heinrich & Silver 2014)"
    settings_type: ClassVar[type[Settings]] = UCTSettings
    settings: UCTSettings
    knows_values: ClassVar[bool] = True
    tables_type: ClassVar[Any] = Counts
    exchanges: ClassVar[bool] = True

    def __init__(self, game: AnyGame, *, opponent: str | Path | Policy = SELF, **rest: Any) -> None:
        self._given = opponent if isinstance(opponent, Policy) else None
        if isinstance(opponent, Policy):
            name = f"policy {opponent.fingerprint[:16]}"
        elif str(opponent) in (SELF, RANDOM, DEFAULT, *RULES):
            name = str(opponent)
        else:
            name = str(Path(opponent).resolve())  # so that a resumed run finds it from any folder
        super().__init__(game, opponent=name, **rest)

    def _start(self) -> None:
        if self.settings.c is None and self.settings.k is None:
            low, high = self.tree.payoff_range
            self.settings = dataclasses.replace(self.settings, c=high / 2 - low / 2)
        self._selection = self._choose_selection()
        on_policy = self.settings.rollout == ON_POLICY
        self._setup = Setup(self._exploration(), self._rollout(), self._opponent(), not on_policy)
        super()._start()

    def _choose_selection(self) -> Selection:
        return ALWAYS_UCB

    def _exploration(self) -> Floats:
        if self.settings.k is None:
            return np.array([self.settings.c], np.float64)
        pot, potential = self.tree.pots()
        self._require(not bool(np.isnan(pot).any()), "k needs a pot")
        return pot + self.settings.k * potential

    def _rollout(self) -> NDArray[np.int8]:
        if self.settings.rollout != CALL:
            return np.empty(0, np.int8)
        calls = self.tree.passive_actions()
        self._require(bool((calls >= 0).all()), f"rollout {CALL} needs an action that checks or calls")
        return calls

    def _require(self, met: bool, need: str) -> None:
        if not met:
            raise FeltError(f"{self.name}: {need}, and {self.tree.game} has none.")

    def _opponent(self) -> Floats:
        if self.settings.opponent == SELF:
            return np.empty((0, 0))
        name, tree = self.settings.opponent, self.tree
        if name in RULES:
            return rule_policy(tree, name).probabilities[None]
        policy = self._given or load_policy(name)
        require_game(policy, tree)
        return np.array(policy.probabilities)[None]

    def _table_shapes(self) -> Shapes:
        return {"counts": ((self.tree.num_slots, 2), np.float64)}

    def _worker_size(self) -> WorkerSize:
        return WorkerSize(self.tree.players, self.depth, whole=2, real=1)

    def _in_flight_limits(self) -> InFlightLimits:
        return InFlightLimits(4096, 1.0)

    def _how(self) -> Search:
        return Search(self._selection, self._setup)

    def tables(self) -> dict[str, NDArray[Any]]:
        # With the opponent, so that a resumed run faces the same one, though its own run may have continued.
        return {**super().tables(), "opponent": self._setup.opponent}

    @property
    def opponent(self) -> Policy | None:
        """The fixed policy of the opponents; none in self-play."""
        table = self._setup.opponent
        return policy_from_weights(self.tree, table[0]) if len(table) else None

    @property
    def visits(self) -> Floats:
        """How often each action was taken, per slot."""
        return self.summed("counts", VISITS)

    @property
    def values(self) -> Floats:
        """The mean payoff after each action, per slot; nan where it was never taken."""
        with np.errstate(invalid="ignore"):
            return self.summed("counts", PAYOFFS) / self.visits

    @property
    def weights(self) -> Floats:
        return self.visits

    @property
    def greedy(self) -> Policy:
        """The policy of highest values; uniform at infosets without visits."""
        return policy_from_values(self.tree, self.summed("counts", PAYOFFS), self.visits)


@implements(iterate, Search)
def _play(how: Search, tree: Any, tables: Counts, own: Worker, number: int) -> None:
    """Algorithm 1 of HS14: one episode."""
    setup, counts = how.setup, tables.counts
    deal, trace, stream = own.deal, own.trace, own.stream
    learner = (number - 1) % num_players(tree) if len(setup.opponent) else -1
    outside, length = 0, 0  # outside: a bit for each player that has left its tree
    node = begin(tree, deal, stream)
    player = tree.node[node, PLAYER]
    while player >= 0:
        first = first_slot(tree, deal, node)
        last = first + num_actions(tree, node)
        if learner >= 0 and player != learner:
            slot = draw(setup.opponent, 0, first, last, stream)
        elif outside >> player & 1:
            slot = _roll_out(tree, node, setup, first, last, stream)
        else:
            visits = 0.0
            for slot in range(first, last):
                visits += counts[slot, VISITS]
            if visits > 0.0:
                c = exploration(tree, node, setup.c)
                slot = select(how.selection, counts, first, last, visits, c, stream)
            else:
                slot = _roll_out(tree, node, setup, first, last, stream)
                outside |= setup.leaves_tree << player
            trace.whole[length, SLOT] = slot
            trace.whole[length, MOVER] = player
            length += 1
        node = follow(tree, deal, node, slot - first, stream)
        player = tree.node[node, PLAYER]
    for player in range(num_players(tree)):
        trace.of_player[player, WON] = payoff(tree, deal, node, player)
    for step in range(length):
        slot, player = trace.whole[step, SLOT], trace.whole[step, MOVER]
        add(counts, slot, VISITS, 1.0)
        add(counts, slot, PAYOFFS, trace.of_player[player, WON])


@part
def _roll_out(tree: Any, node: int, setup: Setup, first: int, last: int, stream: Stream) -> int:
    if len(setup.rollout):
        return first + passive(tree, node, setup.rollout)
    return first + int(uniform(stream) * (last - first))
