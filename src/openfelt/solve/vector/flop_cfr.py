"""CFR for Flop Hold'em without abstraction: all hands at once, on all flops or on sampled ones.

Between flops only the strategies before the flop are shared. So an iteration deals some flops, all of them or
a sample (public chance sampling: Johanson, Bard, Lanctot, Gibson & Bowling 2012), and updates the players in
turn: the infosets on these flops, then those before the flop by the sum, or an estimate of it. Regrets are
discounted as in DCFR (Brown & Sandholm 2019); on a flop by the number of times that it was dealt.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.public_cards import Deck
from openfelt.core.errors import FeltError, FileError
from openfelt.core.jit import Floats, Longs
from openfelt.core.random import Numbers, starts
from openfelt.games.compile.flop_tree import CLASSES, FlopTree, flop_tree
from openfelt.games.compile.tree import Tree
from openfelt.games.flop_holdem import FlopHoldem
from openfelt.games.game import AnyGame
from openfelt.games.registry import load_game
from openfelt.policy.files import policy_from_weights
from openfelt.policy.flop import FlopPolicy
from openfelt.solve.cfr import DCFRSettings
from openfelt.solve.cfr_kernels import UpdateRule, iteration_weights
from openfelt.solve.solver import Settings, Solver, setting, within
from openfelt.solve.vector.before_flop import BeforeFlop
from openfelt.solve.vector.betting_lines import LANES
from openfelt.solve.vector.flop_kernels import learn_flops
from openfelt.solve.vector.flop_lines import WIDTH, FlopWork, Reals, new_flop_work
from openfelt.solve.vector.flop_values import values_against

GOLDEN_RATIO = (5**0.5 - 1) / 2  # its multiples are spread evenly between whole numbers
UNIT = FlopHoldem().winnings_unit


@dataclass(frozen=True)
class FlopSettings(DCFRSettings):
    flops: float = setting(0, "flops that are dealt in each iteration; 0: all", kind=int)


class FlopCFR(Solver):
    """CFR for Flop Hold'em without abstraction, on all flops or sampled ones.

    Parameters
    ----------
    game : FlopHoldem or str
        Flop Hold'em.
    flops : int
        Flops that are dealt in each iteration; 0: all.
    alpha, beta, gamma : float
        Discounts as in `DCFR`. `alpha=inf, beta=-inf, gamma=1` is CFR+.
    **options
        `threads`, which do not change the result; `seed`, if flops are sampled; `deck`, a smaller deck for
        tests.

    Examples
    --------
    >>> felt.FlopCFR("flop_holdem").summary
    "CFR for Flop Hold'em without abstraction, on all flops or sampled ones"
    """

    name: ClassVar[str] = "flop-cfr"
    summary: ClassVar[str] = "CFR for Flop Hold'em without abstraction, on all flops or sampled ones"
    full_width: ClassVar[bool] = False
    uses_buckets: ClassVar[bool] = False
    spacing: ClassVar[float] = 1.5
    settings_type: ClassVar[type[Settings]] = FlopSettings
    settings: FlopSettings
    tree: FlopTree

    def __init__(self, game: AnyGame, *, deck: Deck | None = None, **options: Any) -> None:
        self.deck = deck or Deck()
        super().__init__(game, **options)

    def _compile(self, game: AnyGame) -> Tree:
        rules = load_game(game)
        if not isinstance(rules, FlopHoldem):
            raise FeltError(f"{self.name} learns flop_holdem, not {rules.name}.")
        return flop_tree(self.deck)

    def _start(self) -> None:
        within("flops", self.settings.flops, 0, len(self.deck.flops))
        if self.restriction is not None:
            raise FeltError(f"{self.name} has no restrictions.")
        self._rule = UpdateRule(self.settings.alpha, self.settings.beta, self.settings.gamma)
        multiplicity = np.array([flop.multiplicity for flop in self.deck.flops], np.int64)
        self._multiplicity, self._bounds = multiplicity, np.cumsum(multiplicity) / multiplicity.sum()
        shape = self.tree.num_hands, WIDTH
        self._regrets, self._averages = ([np.zeros(shape, np.float32) for _ in range(2)] for _ in range(2))
        self._early = [np.zeros((2, CLASSES, edges)) for edges in self.tree.edges]  # regrets and average
        self._times = np.zeros(len(multiplicity), np.int64)  # in how many iterations each flop was dealt
        self._before = BeforeFlop(self.tree)
        self._work = [new_flop_work(self.tree, np.float32) for _ in range(self.threads)]

    def _resumed(self) -> None:
        if not ((self._times >= 0) & (self._times <= self.iterations)).all():
            raise FileError("The checkpoint is damaged: its table 'times' has numbers out of range.")

    @property
    def _first_draw(self) -> float:
        return float(Numbers(int(starts(self.seed, 1)[0]), 0).uniform())

    def _dealt(self, iteration: int) -> tuple[Longs, Floats]:
        """The flops of an iteration, and the weight of each in the sum over all flops."""
        count = int(self.settings.flops)
        if not count:
            return np.arange(len(self._multiplicity)), self._multiplicity.astype(float)
        numbers = np.arange((iteration - 1) * count, iteration * count)
        drawn = np.searchsorted(self._bounds, (self._first_draw + numbers * GOLDEN_RATIO) % 1.0, "right")
        flops, times = np.unique(drawn, return_counts=True)
        return flops, times * self._multiplicity.sum() / count

    def _advance(self, iterations: int) -> None:
        if not iterations:  # compiles the kernels
            self._learn(0, np.zeros(0, np.int64), *np.ones((2, CLASSES, len(self.tree.roots))))
        for iteration in range(self.iterations + 1, self.iterations + iterations + 1):
            flops, weights = self._dealt(iteration)
            self._times[flops] += 1
            for seat in range(2):
                self._update(seat, iteration, flops, weights)

    def _update(self, seat: int, iteration: int, flops: Longs, weights: Floats) -> None:
        """Update one player."""
        policies = [self._policy_before(each) for each in range(2)]
        ours, theirs = (self._before.reach(each, policies[each]) for each in (seat, 1 - seat))
        found = self._learn(seat, flops, self._before.at_roots(ours), self._before.at_roots(theirs))
        total = np.einsum("f,fcl->cl", weights, found)[:, : len(self.tree.roots)]
        rule = iteration_weights(self._rule, iteration)
        regrets, average = self._early[seat]

        def learn(number: int, values: Floats) -> Floats:
            node = self.tree.nodes[number]
            here = slice(node.place, node.place + len(node.words))
            act = policies[seat][:, here]
            value = np.asarray((act * values).sum(axis=1))
            before = regrets[:, here]
            kept = before * np.where(before > 0.0, rule.positive, rule.negative)
            regrets[:, here] = kept + values - value[:, None]
            average[:, here] += rule.average * ours[number][:, None] * act
            return value

        self._before.values(seat, theirs, self._before.by_class(total), learn)

    def _policy_before(self, seat: int) -> Floats:
        """[169, edges] the current policy before the flop."""
        positive = np.maximum(self._early[seat][0], 0.0)
        policy: Floats = np.empty_like(positive)
        for node in self.tree.nodes:
            if node.player == seat:
                here = slice(node.place, node.place + len(node.words))
                total = positive[:, here].sum(axis=1, keepdims=True)
                policy[:, here] = np.divide(
                    positive[:, here],
                    total,
                    out=np.full(positive[:, here].shape, 1 / len(node.words)),
                    where=total > 0.0,
                )
        return policy

    def _learn(self, seat: int, flops: Longs, ours: Floats, theirs: Floats) -> Floats:
        """[flops, 169, LANES] the sums of a player's values by class, on flops that are updated."""
        found = np.zeros((len(flops), CLASSES, LANES))
        reach = _in_lanes(ours), _in_lanes(theirs)
        tables = self._regrets[seat], self._averages[seat], self._regrets[1 - seat]

        def learn(part: Longs, work: FlopWork) -> None:
            dealt = flops[part], self._times
            values = np.zeros((len(part), CLASSES, LANES))
            learn_flops(self.tree.hands, dealt, seat, reach, tables, self._rule, work, values)
            found[part] = values

        parts = np.array_split(np.arange(len(flops)), self.threads)
        if self.threads == 1:
            learn(parts[0], self._work[0])
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                list(pool.map(learn, parts, self._work))
        return found

    @property
    def is_measured(self) -> bool:
        """Always: it takes seconds."""
        return True

    @property
    def measured_in(self) -> str:
        return UNIT.name

    def _next_measurement(self) -> int:
        """Not before about every flop was dealt: a measurement takes as long as dealing them."""
        count = int(self.settings.flops)
        return max(math.ceil(len(self._multiplicity) / count) if count else 1, super()._next_measurement())

    def _evaluate(self) -> tuple[Floats, Floats]:
        policy = policy_from_weights(self.tree, self.weights)
        assert isinstance(policy, FlopPolicy)
        return UNIT.scale * np.array(values_against(policy, None, self.threads)), np.zeros(2)

    @property
    def weights(self) -> Floats:
        weights = np.empty(self.tree.num_slots, np.float32)
        for seat in range(2):
            before, after = self.tree.parts(weights, seat)
            before[...] = self._early[seat][1]
            after[...] = self._averages[seat].reshape(len(after), -1, LANES)[:, :, : after.shape[2]]
        return weights  # type: ignore[return-value]

    def tables(self) -> dict[str, NDArray[Any]]:
        found: dict[str, NDArray[Any]] = {"times": self._times}
        for seat in range(2):
            found |= {
                f"preflop.{seat}": self._early[seat],
                f"regrets.{seat}": self._regrets[seat],
                f"average.{seat}": self._averages[seat],
            }
        return found


def _in_lanes(reach: Floats) -> Reals:
    """[169, LANES] from [169, roots]."""
    wide = np.zeros((CLASSES, LANES), np.float32)
    wide[:, : reach.shape[1]] = reach
    return wide
