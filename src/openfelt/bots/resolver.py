"""`resolver` plays two-player limit hold'em by a policy and re-solves the last streets as it reaches them.

The policy, the *blueprint*, was computed with buckets. On the river, and on the turn if wanted, the bot
solves the rest of the hand anew from both players' ranges: without buckets and, up to the error of the
iterations, without becoming more exploitable (`resolve/subgame.py`). The first decision on a street starts
the computation; later ones use its result. The strategy is computed for all hands of the bot's range,
whatever its own cards are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from openfelt.bots.bot import Clock
from openfelt.bots.parameters import read_parameters
from openfelt.bots.policy_bot import PolicyBot
from openfelt.bots.resolve.blueprint import Blueprint, Strategy, ranges_after
from openfelt.bots.resolve.subgame import Resolved, Subgame, SubgameRoot, resolve
from openfelt.bots.view import HoldemView, holdem_view
from openfelt.cards.deck import BOARD_CARDS, RIVER, STREETS, TURN, pair_number, parse_cards
from openfelt.core.errors import FeltError
from openfelt.core.random import Dice
from openfelt.games.game import Game
from openfelt.games.holdem import Holdem, require_holdem
from openfelt.policy.files import DEFAULT
from openfelt.policy.holdem import HoldemPolicy, require_holdem_policy
from openfelt.solve.run_folder import open_policy
from openfelt.spots.solver import Budget

ITERATIONS = 1_000
UNLIMITED = 1_000_000  # iterations where only a time is given
SHARE = 0.8  # of the clock that is left, for re-solving
LEAST = 0.02  # seconds; with less time the bot plays on by its blueprint
DEFAULT_BUDGET = Budget(ITERATIONS)
KEPT = 4  # solutions
EXAMPLE = "2c7dJhAs9c"  # a board


@dataclass(frozen=True)
class ResolverParameters:
    """Parameters in the bot's name, as in resolver(iterations=500)."""

    iterations: int = ITERATIONS
    seconds: float = 0.0  # for each street that is re-solved; 0: no limit but that of the clock
    policy: str = DEFAULT
    streets: str = STREETS[RIVER]  # the first street that is re-solved: 'turn' or 'river'
    safe: bool = True


class Resolver(PolicyBot[HoldemView]):
    """Plays two-player limit hold'em by a blueprint, and re-solves from a street on.

    Parameters
    ----------
    game : Game
    policy : HoldemPolicy
        The blueprint.
    budget : Budget
        Iterations and seconds for each street that is re-solved; the clock of a decision may allow less.
    first_street : int
        TURN or RIVER.
    safe : bool
        False: re-solve by both ranges as if they were certain (unsafe).
    """

    def __init__(
        self,
        game: Game,
        policy: HoldemPolicy,
        budget: Budget = DEFAULT_BUDGET,
        *,
        first_street: int = RIVER,
        safe: bool = True,
    ) -> None:
        super().__init__(game)
        self.require(game)
        if policy.rules != game.unabstracted:
            raise FeltError(f"The policy plays {policy.game}, not {game.name}.")
        if first_street not in (TURN, RIVER):
            raise FeltError(f"A resolver begins on the turn or the river, not on street {first_street}.")
        if budget.iterations < 1 or not budget.seconds > 0:
            raise FeltError("Re-solving needs at least one iteration and a time above 0 seconds.")
        self.policy, self.budget, self.first_street, self.safe = policy, budget, first_street, safe
        self.blueprint = Blueprint(policy)
        self._solutions: dict[Any, Resolved | None] = {}  # the oldest first; None: by the blueprint
        self._clock = Clock()
        self._compile()

    @classmethod
    def require(cls, game: Game) -> None:
        """Raise for a game that it does not play."""
        if require_holdem(game, "resolver").unabstracted != Holdem(2):
            raise FeltError(f"resolver plays two-player hold'em with four bets a street, not {game.name}.")

    @classmethod
    def from_parameters(cls, game: Game, given: Mapping[str, Any]) -> Self:
        """The bot with the parameters of its name, as in resolver(seconds=1)."""
        cls.require(game)
        chosen = read_parameters(ResolverParameters, given, "resolver")
        if chosen.streets not in (STREETS[TURN], STREETS[RIVER]):
            raise FeltError(f"streets must be 'turn' or 'river', not '{chosen.streets}'.")
        if chosen.seconds < 0 or not math.isfinite(chosen.seconds):
            raise FeltError(f"seconds must be a number from 0 up, not {chosen.seconds}.")
        iterations = UNLIMITED if chosen.seconds and "iterations" not in given else chosen.iterations
        policy = require_holdem_policy(open_policy(chosen.policy, game))
        budget = Budget(iterations, chosen.seconds or math.inf)
        return cls(game, policy, budget, first_street=STREETS.index(chosen.streets), safe=chosen.safe)

    @property
    def fingerprint(self) -> str:
        return self.policy.fingerprint[:12]

    def use_tables(self) -> None:
        """Look buckets up; missing tables are built."""
        if not self.blueprint.has_tables:
            self.policy.tree.abstraction.tables()
            self.blueprint.has_tables = True

    def act(self, view: HoldemView, dice: Dice, clock: Clock) -> str:
        self._clock = clock
        try:
            return super().act(view, dice, clock)
        finally:
            self._clock = Clock()

    def weights(self, view: HoldemView) -> Sequence[float]:
        node = self.policy.tree.find_node(view.line)
        strategy = self._strategy(view)
        shares = strategy.at(node, tuple(view.board))[:, pair_number(view.hole)]
        return [float(share) for share in shares / shares.sum()]

    def infoset(self, view: HoldemView) -> str:
        solved = self.solution(view)
        if solved is None:
            return view.infoset
        return f"{view.infoset} (re-solved in {solved.iterations:,} iterations)"

    def solution(self, view: HoldemView) -> Resolved | None:
        """The solution of the view's street; None if it is not re-solved."""
        if view.street < self.first_street:
            return None
        line = tuple(move.action for move in view.moves if move.street < view.street)
        return self._solution(view.seat, tuple(view.board), line)

    def _strategy(self, view: HoldemView) -> Strategy:
        solved = self.solution(view)
        return self.blueprint if solved is None else solved.strategy

    def _solution(self, seat: int, board: tuple[int, ...], line: tuple[str, ...]) -> Resolved | None:
        """The solution of the subgame that begins on this board after this line."""
        key = seat, board, line
        if key not in self._solutions:
            solved = self._solve(seat, board, line)
            if len(self._solutions) >= KEPT:
                del self._solutions[next(iter(self._solutions))]
            self._solutions[key] = solved
        return self._solutions[key]

    def _solve(self, seat: int, board: tuple[int, ...], line: tuple[str, ...]) -> Resolved | None:
        tree, street = self.policy.tree, BOARD_CARDS.index(len(board))
        own = self._references(seat, board, line)
        strategies = [own if player == seat else [self.blueprint] * len(STREETS) for player in (0, 1)]
        ranges = ranges_after(tree, line, board, strategies)
        pot = holdem_view(Holdem(2), seat, (), board, line).pot
        seconds = min(self.budget.seconds, SHARE * self._clock.left)
        if seconds < LEAST:
            return None
        subgame = Subgame(tree, SubgameRoot(board, tree.find_node(line), pot), ranges)
        return resolve(subgame, seat, own[street], self.budget._replace(seconds=seconds), safe=self.safe)

    def _references(self, seat: int, board: tuple[int, ...], line: tuple[str, ...]) -> list[Strategy]:
        """What the seat plays on each street, as long as the subgame that begins here is not re-solved."""
        found: list[Strategy] = [self.blueprint] * len(STREETS)
        moves = holdem_view(Holdem(2), seat, (), board, line).moves
        for street in range(self.first_street, BOARD_CARDS.index(len(board))):
            before = tuple(move.action for move in moves if move.street < street)
            solved = self._solution(seat, board[: BOARD_CARDS[street]], before)
            if solved is not None:
                found[street:] = [solved.strategy] * (len(STREETS) - street)
        return found

    def _compile(self) -> None:
        """Compile and load the kernels now, and not while a clock runs."""
        budget, self.budget = self.budget, Budget(1)
        for street in range(self.first_street, len(STREETS)):
            board = parse_cards(EXAMPLE)[: BOARD_CARDS[street]]
            self._solve(0, board, ("call", "check") + ("check", "check") * (street - 1))
        self.budget, self._solutions = budget, {}
