"""A match that is ready to be played, and the playing of one block of its deals.

A block's result depends only on the setup and the number of its first deal, not on other blocks, nor on where
or when it is played. So blocks can be distributed over processes, and finished ones need not be played again.
"""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from openfelt.arena.decision_stats import DecisionStats
from openfelt.arena.engine import match_engine
from openfelt.arena.hand_kernels import HandOutcomes, MatchPlan, empty_outcomes, random_streams
from openfelt.arena.participants import Participants
from openfelt.arena.statistics.card_luck import CONTROLS
from openfelt.arena.statistics.estimates import Moments
from openfelt.arena.table import Table
from openfelt.bots.bot import Bot
from openfelt.bots.registry import load_bot
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, Ints, Longs
from openfelt.games.compile.compiler import compile_any
from openfelt.games.compile.tree import Tree
from openfelt.games.game import Game
from openfelt.games.registry import load_game
from openfelt.hands.record import HandRecord

DUPLICATE, FRESH = "duplicate", "fresh"
DEALINGS = (DUPLICATE, FRESH)


@dataclass(frozen=True)
class Setup:
    """All that the result of a match depends on, except its length."""

    game: str
    bots: tuple[str, ...]  # by name, one per seat
    seed: int = 0
    dealing: str = DUPLICATE  # each deal in every seating; or a new deal for each hand
    block: int = 0  # deals in a block; 0: chosen to suit the bots
    limit: float = math.inf  # seconds per decision
    compiled: bool = True  # whether policies may play in kernels
    aivat: bool = False  # whether winnings are adjusted by AIVAT
    history: bool = False  # whether results include the leaf of each hand
    strict: bool = False  # whether a bot's exception or illegal action stops the match


@dataclass(frozen=True)
class BlockResult:
    """The result of a block."""

    moments: Moments  # of one row per deal, with the columns of `Contest.columns`
    hands: int
    seats: Floats  # [participants, seats, 2] the total won in each seat, and the number of hands
    style: Longs  # [participants, STYLE_COLUMNS]
    stats: tuple[DecisionStats, ...]  # by participant; without decisions where kernels played
    leaf: Ints | None = None  # [deals, times] the last node of each hand

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "moments": self.moments.as_dict(),
            "hands": self.hands,
            "seats": self.seats.tolist(),
            "style": self.style.tolist(),
            "conduct": [dataclasses.asdict(each) for each in self.stats],
            **({} if self.leaf is None else {"leaf": self.leaf.tolist()}),
        }

    @staticmethod
    def from_dict(facts: dict[str, Any]) -> BlockResult:
        """The inverse of `as_dict`."""
        return BlockResult(
            Moments.from_dict(facts["moments"]),
            int(facts["hands"]),
            np.array(facts["seats"], float),
            np.array(facts["style"], np.int64),
            tuple(DecisionStats(**each) for each in facts["conduct"]),
            np.array(facts["leaf"], np.int32) if "leaf" in facts else None,
        )


class Contest:
    """A setup whose game and bots are loaded."""

    def __init__(self, setup: Setup, bots: Sequence[Bot] | None = None) -> None:
        self.game: Game = load_game(setup.game)
        _require_valid(setup, self.game)
        self.setup, self.participants, self.bot_objects = setup, Participants.of(setup.bots), bots
        self.streams = random_streams(setup.seed)
        self._is_warm = False
        self.bots = self._load()
        self.tree = self._find_tree()
        in_kernels = all(bot.plays_in_kernels for bot in self.bots)
        self.compiled = setup.compiled and setup.limit == math.inf and in_kernels
        if setup.aivat and setup.limit < math.inf:
            raise FeltError("AIVAT needs actions drawn from the policies, which a time limit may prevent.")
        plan = MatchPlan(self.participants.seatings, self.times, self.streams)
        self.engine = match_engine(self.tree, self.game, plan)
        if setup.aivat:
            self.engine.require_aivat()
        if self.compiled or setup.aivat:  # for three players, tables take seconds
            self.engine.use_tables(self.bots, [bot.kernel_table(self.tree) for bot in self.bots])

    def _load(self) -> list[Bot]:
        """One bot per participant."""
        places = self.participants.places
        first = [places.index(participant) for participant in range(len(self.participants.names))]
        if self.bot_objects is not None:
            return [self.bot_objects[place] for place in first]
        return [load_bot(self.setup.bots[place], self.game) for place in first]

    def _seated_bots(self) -> list[Bot]:
        """One bot per place. A bot that learns is a new copy in each, without memory of other hands."""
        seated = []
        for place, participant in enumerate(self.participants.places):
            bot = self.bots[participant]
            if bot.learns and self.bot_objects is None:
                bot = load_bot(self.setup.bots[place], self.game)
            elif bot.learns:
                bot = copy.deepcopy(bot)
            seated.append(bot)
        return seated

    def _find_tree(self) -> Tree:
        """The tree of a bot's policy if there is one, so that no second tree is compiled."""
        policies = [bot.fixed_policy for bot in self.bots]
        return next((policy.tree for policy in policies if policy is not None), None) or compile_any(
            self.game
        )

    @property
    def times(self) -> int:
        """How often a deal is played."""
        return len(self.participants.seatings) if self.setup.dealing == DUPLICATE else 1

    @property
    def columns(self) -> dict[str, list[int]]:
        """The columns of a row: winnings of each participant, control variates, adjusted winnings."""
        participants = len(self.participants.names)
        controls = participants * CONTROLS * self._has_controls
        ends = np.cumsum([participants, controls, participants * self.setup.aivat]).tolist()
        return {
            "won": list(range(ends[0])),
            "controls": list(range(ends[0], ends[1])),
            "adjusted": list(range(ends[1], ends[2])),
        }

    @property
    def _has_controls(self) -> bool:
        """Not with duplicate deals, where all participants get the same cards."""
        return self.setup.dealing == FRESH and self.engine.has_controls

    def play(self, first: int, count: int) -> BlockResult:
        """Play deals from number `first` on."""
        outcomes, stats = self.play_hands(first, count)
        seated = self.engine.plan.participants(first, count)
        rows = self._means(outcomes.won, seated)
        if self._has_controls:
            controls = self.engine.controls(first, count)[:, None]
            rows += [row for place in range(CONTROLS) for row in self._means(controls[..., place], seated)]
        if self.setup.aivat:
            rows += self._means(self.engine.aivat(outcomes, first), seated)
        masks = self.participants.masks(seated)
        seats = np.stack([[(outcomes.won * mask).sum(axis=(0, 1)), mask.sum(axis=(0, 1))] for mask in masks])
        return BlockResult(
            Moments.of(np.stack(rows, axis=1)),
            outcomes.leaf.size,
            seats.transpose(0, 2, 1),
            outcomes.style,
            stats,
            outcomes.leaf if self.setup.history else None,
        )

    def _means(self, values: Floats, seated: Longs) -> list[Floats]:
        """From values [deals, times, seats] for each participant the mean [deals] over its seats."""
        masks = self.participants.masks(seated)
        return [(values * mask).sum(axis=(1, 2)) / mask.sum(axis=(1, 2)) for mask in masks]

    def play_hands(self, first: int, count: int) -> tuple[HandOutcomes, tuple[DecisionStats, ...]]:
        """The outcomes of the hands, and the stats of the participants."""
        if self.compiled:
            return self.engine.play(first, count), tuple(DecisionStats() for _ in self.bots)
        return self._call_bots(first, count)

    def _call_bots(self, first: int, count: int) -> tuple[HandOutcomes, tuple[DecisionStats, ...]]:
        """Call the bots for each decision.

        If one of them learns, each time that the deals are played is a session with new bots: otherwise it
        would know the cards of a deal that it meets again.
        """
        if self.setup.limit < math.inf and not self._is_warm:
            self._is_warm = True
            self._open_table().warm_up(self.streams)
        sessions = [[time] for time in range(self.times)]
        if not any(bot.learns for bot in self.bots):
            sessions = [list(range(self.times))]
        outcomes = empty_outcomes(count, self.times, self.game.players, len(self.bots))
        stats = tuple(DecisionStats() for _ in self.bots)
        for times in sessions:
            table = self._open_table()
            part = table.play_block(self.participants, times, self.streams, first, count)
            outcomes.leaf[:, times], outcomes.won[:, times] = part.leaf, part.won
            for place, participant in enumerate(self.participants.places):
                stats[participant].add(table.stats[place])
                outcomes.style[participant] += part.style[place]
        return outcomes, stats

    def _open_table(self) -> Table:
        bots = self._seated_bots()
        for bot in bots:
            bot.use_tables()
        table = self.engine.open_table(bots, self.setup.limit)
        table.strict = self.setup.strict
        return table

    def records(self, first: int, leaf: Ints) -> Iterator[HandRecord]:
        """The hands of a block in order: deal by deal, one seating after the other."""
        deals, times = leaf.shape
        seated = self.engine.plan.participants(first, deals)
        for place, hand in enumerate(self.engine.hands(first, leaf)):
            names = tuple(self.participants.names[bot] for bot in seated[place // times, place % times])
            yield HandRecord(self.game.name, first * times + place, names, *hand)


def _require_valid(setup: Setup, game: Game) -> None:
    if len(setup.bots) != game.players:
        raise FeltError(f"{game.name} is for {game.players} bots, not for {len(setup.bots)}.")
    if setup.dealing not in DEALINGS:
        raise FeltError(f"Deals are {' or '.join(DEALINGS)}, not '{setup.dealing}'.")
    if not setup.limit > 0:
        raise FeltError(f"The time limit of a decision must be above 0 seconds, not {setup.limit}.")
