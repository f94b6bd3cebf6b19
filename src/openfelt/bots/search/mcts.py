"""Online Monte-Carlo tree search in games of imperfect information (PGC10, Algorithm 1; TAU, section 2).

An iteration samples what is hidden, goes down by UCT at rows of the tree, adds a row for each player who
leaves it, plays on to the end by the rollout policy, and adds what was won to all rows on the way. A row is
what its player knows: in hold'em the betting and the bucket of his hand, so that later decisions depend on
cards that are still to come.

Without a model of the others each iteration plays twice (PGC10, step 3): once with the searcher's own cards,
to learn what he should do, and once with cards that the others think he may hold, to learn what they would
do, which must not depend on what they cannot know. With a model they follow it, and play once. Where we
depart from PGC10: its tree has one node for a betting sequence, whatever cards come or anybody holds; ours
has rows. In the second play the searcher learns too, for hands that he does not hold: or else the others
would learn to beat his rollouts.

Smooth UCT from the decision at hand (HS14, Algorithm 2) is the same with another selection (SMOOTH). It can
start from a trained policy: a row with N visits is played by the policy with probability warmth / (warmth +
N), and else as selected. So its average begins as the policy, whose part in it grows like the logarithm of N;
its values begin as those of the policy against itself; and in the long run it is Smooth UCT.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.bots.search.clock import Habits, Pace
from openfelt.bots.search.lazy_tree import lazy_deal
from openfelt.bots.search.search_tree import USED, forget, new_memory
from openfelt.bots.search.simulate import Guides, How, SearchWorkspace, find_all, look_up, search_on
from openfelt.cards.deck import Bytes
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, Longs
from openfelt.core.memory import scratch
from openfelt.core.random import Numbers, starts
from openfelt.policy.holdem import choose
from openfelt.solve.sampling.smooth_uct import SmoothUCTSettings
from openfelt.solve.sampling.uct import ALWAYS_UCB, PAYOFFS, VISITS, Selection
from openfelt.solve.traverse.episode import first_slot, implements, num_actions
from openfelt.solve.traverse.holdem import Deal
from openfelt.solve.traverse.opponent_hooks import AtRandom, InOrder, NoModel, answer, is_known

CALL, UNIFORM, POLICY = "call", "uniform", "policy"
ROLLOUTS = (CALL, UNIFORM, POLICY)  # in the order of `simulate.py`
BY_VALUE, BY_VISITS, BY_AVERAGE = "value", "visits", "average"
PICKS = (BY_VALUE, BY_VISITS, BY_AVERAGE)
IN_ORDER, AT_RANDOM, NETWORK = "order", "random", "network"
EXPANSIONS = (IN_ORDER, AT_RANDOM, NETWORK)
SMOOTH = Selection(False, SmoothUCTSettings.gamma, SmoothUCTSettings.eta0, SmoothUCTSettings.d, 0.0)
ROWS = 1 << 18  # that the tree has room for
CROWDED = 0.5  # of which no more than that may be taken when a search begins


@dataclass(frozen=True)
class MctsSettings:
    """How to search."""

    c: float = 5.0  # exploration, in the game's unit: TAU's 50 with blinds of 10 and 20 is 5 chips of ours
    rollout: str = CALL
    pick: str = BY_VALUE  # the action of the highest value (PGC10), of most visits, or drawn by visits (HS14)
    selection: Selection = ALWAYS_UCB  # or SMOOTH, or another of Smooth UCT's
    expand: str = IN_ORDER  # which action of a row is tried first (TAU, 5.1); network: as an expander says
    warmth: float = 0.0  # visits for which a row is as likely played by the policy as by what was learned

    def __post_init__(self) -> None:
        if not 0 < self.c < math.inf:
            raise FeltError(f"The exploration constant must be above 0, not {self.c}.")
        if not 0 <= self.warmth < math.inf:
            raise FeltError(f"The warmth must be 0 or above, not {self.warmth}.")
        if self.rollout not in ROLLOUTS:
            raise FeltError(f"There is no rollout '{self.rollout}' (known: {', '.join(ROLLOUTS)}).")
        if self.expand not in EXPANSIONS:
            raise FeltError(f"There is no expansion '{self.expand}' (known: {', '.join(EXPANSIONS)}).")
        if self.pick not in PICKS:
            raise FeltError(f"An action is picked by {' or by '.join(PICKS)}, not by '{self.pick}'.")

    @property
    def needs_policy(self) -> bool:
        """Whether rollouts or warm rows follow one."""
        return self.rollout == POLICY or self.warmth > 0


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found at the decision."""

    visits: Floats  # of each action
    values: Floats  # the mean payoff after each; nan where it was never taken
    iterations: int  # of this search
    seconds: float
    picked: int  # which action


class TableModel(NamedTuple):
    """The others play a known policy of hold'em."""

    weights: Bytes  # [slots], in 255ths


@implements(is_known, TableModel)
def _table(model: TableModel) -> bool:
    return True


@implements(answer, TableModel)
def _table_answer(model: TableModel, tree: Any, deal: Deal, node: int, place: float) -> int:
    return choose(model.weights, first_slot(tree, deal, node), num_actions(tree, node), place)


class Mcts:
    """A searcher for one tree; what it knows lasts until `forget`."""

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
            raise FeltError("Rollouts by policy, and rows warmed by one, need a policy.")
        self.now, self._habits = now, Habits()
        self._memory, self._room = new_memory(rows, most_actions), rows
        self._ways = most_actions
        self._policy = policy if self.settings.needs_policy else NoModel()
        self._expander = _expander(self.settings.expand, expander)
        self._how = How(
            self.settings.selection,
            float(self.settings.c),
            ROLLOUTS.index(self.settings.rollout),
            float(self.settings.warmth),
            np.zeros(1, np.int8) if passive is None else passive,
        )
        trace = scratch(2 * depth, np.int64).reshape(depth, 2)
        self._work = SearchWorkspace(lazy_deal(players), trace, scratch(players), scratch(1, np.uint64))
        self.seed(0)

    def seed(self, seed: int) -> None:
        """Let the next random numbers depend on this alone."""
        self._start = starts(seed, 1)[0]
        self._done = 0  # iterations since then: no number is drawn twice

    @property
    def rows(self) -> int:
        """How many rows the tree has."""
        return int(self._memory.state[USED])

    def forget(self) -> None:
        """Start anew, as for another hand."""
        forget(self._memory)

    def search(
        self,
        position: Any,
        model: Any = None,
        *,
        iterations: int | None = None,
        seconds: float = math.inf,
        begun: float | None = None,
    ) -> Found:
        """Search from a position until either is used up, but at least once; time runs since `begun`."""
        if self.rows > CROWDED * self._room:  # or else there may be no row for the decision itself
            self.forget()
        pace = Pace(self.now, seconds, iterations, self._habits, begun)
        guides = Guides(NoModel() if model is None else model, self._policy, self._expander)
        how, memory, work = self._how, self._memory, self._work
        while count := pace.grant():
            search_on(how, guides, position, memory, work, self._start, self._done, count)
            self._done += count
        return self._found(position, pace)

    def picks(self, first_slots: Longs) -> Longs:
        """What it would do now in rows, by their first slots; -1 where it has never been."""
        picked = np.full(len(first_slots), -1, np.int64)
        find_all(self._memory, first_slots, picked)
        for row in np.flatnonzero(picked >= 0).tolist():
            picked[row] = self._pick(self._memory.counts[picked[row] : picked[row] + self._ways])
        return picked

    def _pick(self, counts: Floats) -> int:
        """Actions that were never taken count for nothing, and so does room for more of them."""
        visits = counts[:, VISITS]
        if self.settings.pick == BY_VISITS:
            return int(np.argmax(visits))
        if self.settings.pick == BY_AVERAGE:
            place = Numbers(int(self._start), -1).uniform()  # which no iteration draws
            return int(np.searchsorted(np.cumsum(visits), place * visits.sum(), side="right"))
        values = _means(counts)
        return max(range(len(values)), key=lambda way: -math.inf if math.isnan(values[way]) else values[way])

    def _found(self, position: Any, pace: Pace) -> Found:
        first, ways = look_up(position, self._memory, self._work, self._start)
        counts = self._memory.counts[first : first + ways]
        visits, values = counts[:, VISITS].copy(), np.array(_means(counts))
        return Found(visits, values, pace.done, pace.used, self._pick(counts))


def _means(counts: Floats) -> list[float]:
    """What each action won; nan where it was never taken. With two or three, Python is quicker than numpy."""
    rows = zip(counts[:, PAYOFFS].tolist(), counts[:, VISITS].tolist(), strict=True)
    return [payoffs / visits if visits else math.nan for payoffs, visits in rows]


def _expander(expand: str, given: Any) -> Any:
    if (given is None) == (expand == NETWORK):
        raise FeltError("Expansion by network and a network go together: one was given without the other.")
    return {IN_ORDER: InOrder(), AT_RANDOM: AtRandom(), NETWORK: given}[expand]
