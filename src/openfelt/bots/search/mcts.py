"""Online Monte-Carlo tree search in games of imperfect information (PGC10, Algorithm 1; TAU, section 2).

An iteration samples hidden cards, descends by UCT through the infosets of the tree, adds an infoset for each
player that leaves it, plays to the end by the rollout policy, and adds the payoffs to all infosets on the
way. In hold'em an infoset is the betting line and the bucket of the player's hand, so later decisions depend
on cards that are still to come.

Without an opponent model each iteration is simulated twice (PGC10, step 3): once with the searcher's own
cards, to learn the searcher's strategy, and once with cards that opponents believe it may hold, to learn the
opponents' strategies, which must not depend on cards that they cannot see. With a model opponents follow it,
and there is one simulation. In the second simulation the searcher learns too, for hands that it does not
hold; else opponents would learn to exploit its rollouts.

PGC10's own tree (nodes=LINES), as we read the paper, departs from this. It has one node for a betting line,
whatever the cards, so a plan for later streets cannot depend on the cards to come. A simulation adds at most
one node, after which all players roll out. The searcher learns from the first simulation only, opponents from
the second; there the searcher still selects by what it learned with its own cards, so opponents adapt to
cards that they cannot see. Each decision starts a new tree.

Smooth UCT from the current decision (HS14, Algorithm 2) is the same with another selection (SMOOTH). It can
start from a trained policy: an infoset with N visits is played by the policy with probability warmth /
(warmth + N), else as selected. So its average starts as the policy, whose share grows like the logarithm of
N; its values start as those of the policy against itself; in the long run it is Smooth UCT.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.bots.search.clock import Pace, TimingHistory
from openfelt.bots.search.lazy_tree import lazy_deal
from openfelt.bots.search.search_tree import USED, forget, new_memory
from openfelt.bots.search.simulate import (
    SimulationHooks,
    SimulationSettings,
    SimulationWorkspace,
    find_all,
    look_up,
    search_on,
)
from openfelt.cards.deck import Bytes
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, Longs
from openfelt.core.memory import scratch
from openfelt.core.random import Numbers, starts
from openfelt.policy.holdem import choose
from openfelt.solve.sampling.smooth_uct import SmoothUCTSettings
from openfelt.solve.traverse.episode import first_slot, implements, num_actions
from openfelt.solve.traverse.holdem import Deal
from openfelt.solve.traverse.opponent_hooks import AtRandom, InOrder, NoModel, answer, is_known
from openfelt.solve.traverse.ucb import ALWAYS_UCB, PAYOFFS, VISITS, Selection

CALL, UNIFORM, POLICY = "call", "uniform", "policy"
ROLLOUTS = (CALL, UNIFORM, POLICY)  # in the order of `simulate.py`
BY_VALUE, BY_VISITS, BY_AVERAGE = "value", "visits", "average"
PICKS = (BY_VALUE, BY_VISITS, BY_AVERAGE)
IN_ORDER, AT_RANDOM, NETWORK = "order", "random", "network"
EXPANSIONS = (IN_ORDER, AT_RANDOM, NETWORK)
INFOSETS, LINES = "infosets", "lines"
NODES = (INFOSETS, LINES)
SMOOTH = Selection(False, SmoothUCTSettings.gamma, SmoothUCTSettings.eta0, SmoothUCTSettings.d, 0.0)
ROWS = 1 << 18  # capacity of the tree, in nodes
MOST_FILLED = 0.5  # share of the capacity that may be used when a search begins


@dataclass(frozen=True)
class MctsSettings:
    """Settings of a search."""

    c: float = 5.0  # exploration, in the game's unit: TAU's 50 with blinds of 10 and 20 is 5 chips of ours
    rollout: str = CALL
    pick: str = BY_VALUE  # the action of the highest value (PGC10), of most visits, or drawn by visits (HS14)
    selection: Selection = ALWAYS_UCB  # or SMOOTH, or another one of Smooth UCT
    expand: str = IN_ORDER  # which untried action comes first (TAU, 5.1); network: by an expander
    warmth: float = 0.0  # visits at which policy and search are equally likely to act
    nodes: str = INFOSETS  # what the nodes of the search tree are; LINES: betting lines (PGC10), in hold'em

    def __post_init__(self) -> None:
        if not 0 < self.c < math.inf:
            raise FeltError(f"The exploration constant must be above 0, not {self.c}.")
        if not 0 <= self.warmth < math.inf:
            raise FeltError(f"The warmth must be 0 or above, not {self.warmth}.")
        if self.rollout not in ROLLOUTS:
            raise FeltError(f"There is no rollout '{self.rollout}'; choose from {', '.join(ROLLOUTS)}.")
        if self.expand not in EXPANSIONS:
            raise FeltError(f"There is no expansion '{self.expand}'; choose from {', '.join(EXPANSIONS)}.")
        if self.nodes not in NODES:
            raise FeltError(f"The nodes of a search tree are {' or '.join(NODES)}, not '{self.nodes}'.")
        if self.pick not in PICKS:
            raise FeltError(f"An action is picked by {' or by '.join(PICKS)}, not by '{self.pick}'.")

    @property
    def needs_policy(self) -> bool:
        """Whether rollouts or warm starts follow a policy."""
        return self.rollout == POLICY or self.warmth > 0


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The result of a search at its decision."""

    visits: Floats  # [actions]
    values: Floats  # [actions] mean payoff; nan if never taken
    iterations: int  # of this search
    seconds: float
    picked: int  # number of the chosen action


class TableModel(NamedTuple):
    """Opponents play a known policy of hold'em."""

    weights: Bytes  # [slots], in 255ths


@implements(is_known, TableModel)
def _table(model: TableModel) -> bool:
    return True


@implements(answer, TableModel)
def _table_answer(model: TableModel, tree: Any, deal: Deal, node: int, place: float) -> int:
    return choose(model.weights, first_slot(tree, deal, node), num_actions(tree, node), place)


class Mcts:
    """Searches one tree; the search tree is kept until `forget`."""

    def __init__(
        self,
        depth: int,
        players: int,
        most_actions: int,
        *,
        settings: MctsSettings | None = None,
        passive: NDArray[np.int8] | None = None,
        policy: Any = None,
        expander: Any = None,
        rows: int = ROWS,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        """`policy` and `expander` implement the hooks of `solve/traverse/opponent_hooks.py`, if needed."""
        self.settings = settings or MctsSettings()
        if self.settings.needs_policy and policy is None:
            raise FeltError("Rollouts by policy and warm starts need a policy.")
        self.now, self._history = now, TimingHistory()
        self._memory, self._room = new_memory(rows, most_actions), rows
        self._ways = most_actions
        self._policy = policy if self.settings.needs_policy else NoModel()
        self._expander = _expander(self.settings.expand, expander)
        self._how = SimulationSettings(
            self.settings.selection,
            float(self.settings.c),
            ROLLOUTS.index(self.settings.rollout),
            float(self.settings.warmth),
            self.settings.nodes == LINES,
            np.zeros(1, np.int8) if passive is None else passive,
        )
        trace = scratch(2 * depth, np.int64).reshape(depth, 2)
        self._workspace = SimulationWorkspace(
            lazy_deal(players), trace, scratch(players), scratch(1, np.uint64)
        )
        self.seed(0)

    def seed(self, seed: int) -> None:
        """Seed the random numbers of the next search."""
        self._start = starts(seed, 1)[0]
        self._done = 0  # iterations since then, so that no random number is used twice

    @property
    def rows(self) -> int:
        """Number of nodes in the search tree."""
        return int(self._memory.state[USED])

    def forget(self) -> None:
        """Clear the search tree, as for a new hand."""
        forget(self._memory)

    def search(
        self,
        position: Any,
        model: Any = None,
        *,
        iterations: int | None = None,
        seconds: float = math.inf,
        begun: float | None = None,
    ) -> SearchResult:
        """Search for a number of iterations, or of seconds since `begun`; at least one iteration."""
        if self.rows > MOST_FILLED * self._room:  # so that there is room for the decision itself
            self.forget()
        pace = Pace(self.now, seconds, iterations, self._history, begun)
        guides = SimulationHooks(NoModel() if model is None else model, self._policy, self._expander)
        how, memory, workspace = self._how, self._memory, self._workspace
        while count := pace.grant():
            search_on(how, guides, position, memory, workspace, self._start, self._done, count)
            self._done += count
        return self._found(position, pace)

    def picks(self, first_slots: Longs) -> Longs:
        """The chosen action at infosets, by their first slots; -1 if not visited."""
        picked = np.full(len(first_slots), -1, np.int64)
        find_all(self._memory, first_slots, picked)
        for row in np.flatnonzero(picked >= 0).tolist():
            picked[row] = self._pick(self._memory.counts[picked[row] : picked[row] + self._ways])
        return picked

    def _pick(self, counts: Floats) -> int:
        """Actions without visits are never chosen, nor unused entries."""
        visits = counts[:, VISITS]
        if self.settings.pick == BY_VISITS:
            return int(np.argmax(visits))
        if self.settings.pick == BY_AVERAGE:
            place = Numbers(int(self._start), -1).uniform()  # a number that no iteration uses
            return int(np.searchsorted(np.cumsum(visits), place * visits.sum(), side="right"))
        values = _means(counts)
        return max(
            range(len(values)), key=lambda action: -math.inf if math.isnan(values[action]) else values[action]
        )

    def _found(self, position: Any, pace: Pace) -> SearchResult:
        first, count = look_up(self._how, position, self._memory, self._workspace, self._start)
        counts = self._memory.counts[first : first + count]
        visits, values = counts[:, VISITS].copy(), np.array(_means(counts))
        return SearchResult(visits, values, pace.done, pace.used, self._pick(counts))


def _means(counts: Floats) -> list[float]:
    """Mean payoff of each action; nan if never taken. For two or three, Python is faster than numpy."""
    rows = zip(counts[:, PAYOFFS].tolist(), counts[:, VISITS].tolist(), strict=True)
    return [payoffs / visits if visits else math.nan for payoffs, visits in rows]


def _expander(expand: str, given: Any) -> Any:
    if (given is None) == (expand == NETWORK):
        raise FeltError("Expansion by network needs a network, and a network needs expand='network'.")
    return {IN_ORDER: InOrder(), AT_RANDOM: AtRandom(), NETWORK: given}[expand]
