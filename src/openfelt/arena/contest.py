"""What is played in a match, and the playing of one block of it: a function of the setup and a number.

A match is cut into blocks of deals. A block's result does not depend on the others, nor on where or when it
is played; so blocks can be shared out over processes, and those that are finished need not be played again.
"""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from openfelt.arena.hand_kernels import (
    ACTION_DRAWS,
    Deals,
    Played,
    deal_block,
    luck,
    pay_block,
    place_block,
    play_block,
    play_tree_block,
    room,
    who_sat,
)
from openfelt.arena.lineup import Lineup
from openfelt.arena.statistics.aivat import holdem_aivat, parents, tree_aivat
from openfelt.arena.statistics.card_luck import CONTROLS, card_luck
from openfelt.arena.statistics.intervals import Moments
from openfelt.arena.table import Conduct, HoldemTable, Table, TreeTable
from openfelt.bots.bot import Bot
from openfelt.bots.policy_bot import HoldemBot, PolicyBot, TreeBot
from openfelt.bots.registry import load_bot
from openfelt.bots.rule_bot import RuleBot
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, Ints, Longs
from openfelt.games.compile.betting_tree import BettingTree
from openfelt.games.compile.compiler import compile_any, compile_game
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.compile.tree import Tree
from openfelt.games.game import Game
from openfelt.games.holdem import Holdem
from openfelt.games.registry import load_game
from openfelt.policy.rules import rule_table
from openfelt.solve.traverse.holdem import holdem_tree
from openfelt.solve.traverse.open_tree import open_tree

DUPLICATE, FRESH = "duplicate", "fresh"
DEALINGS = (DUPLICATE, FRESH)


@dataclass(frozen=True)
class Setup:
    """All that the result of a match depends on, but for its length."""

    game: str
    bots: tuple[str, ...]  # by name, one for each seat
    seed: int = 0
    dealing: str = DUPLICATE  # each deal in every seating; or a new deal for each hand
    block: int = 0  # deals in a block; 0: as many as suit the bots
    limit: float = math.inf  # seconds a decision
    compiled: bool = True  # whether policies may play in kernels
    aivat: bool = False  # whether luck is taken out where policies are known
    history: bool = False  # whether it is kept how each hand ended


@dataclass(frozen=True)
class BlockResult:
    """What is kept of a block."""

    moments: Moments  # of rows as Contest.columns says, one for each deal
    hands: int
    seats: Floats  # [participants, seats, 2] the sum of what was won in each seat, and the hands
    style: Longs  # [participants, STYLE_COLUMNS]
    conduct: tuple[Conduct, ...]  # by participant; without decisions where kernels played
    leaf: Ints | None = None  # [deals, times] where each hand ended

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "moments": self.moments.as_dict(),
            "hands": self.hands,
            "seats": self.seats.tolist(),
            "style": self.style.tolist(),
            "conduct": [dataclasses.asdict(each) for each in self.conduct],
            **({} if self.leaf is None else {"leaf": self.leaf.tolist()}),
        }

    @staticmethod
    def from_dict(found: dict[str, Any]) -> BlockResult:
        """What `as_dict` gave."""
        return BlockResult(
            Moments.from_dict(found["moments"]),
            int(found["hands"]),
            np.array(found["seats"], float),
            np.array(found["style"], np.int64),
            tuple(Conduct(**each) for each in found["conduct"]),
            np.array(found["leaf"], np.int32) if "leaf" in found else None,
        )


def plays_by_numbers(bot: Bot) -> bool:
    """Whether a bot plays by a table of numbers and nothing else, so that a kernel can play for it."""
    if not isinstance(bot, RuleBot | HoldemBot | TreeBot) or type(bot).act is not PolicyBot.act:
        return False
    if type(bot).end_hand is not Bot.end_hand:  # it wants to see how hands end
        return False
    return type(bot).weights in (RuleBot.weights, HoldemBot.weights, TreeBot.weights)


class Contest:
    """A setup made ready to be played: game and bots are loaded."""

    def __init__(self, setup: Setup, bots: Sequence[Bot] | None = None) -> None:
        self.game: Game = load_game(setup.game)
        if len(setup.bots) != self.game.players:
            raise FeltError(f"{self.game.name} is for {self.game.players} bots, not for {len(setup.bots)}.")
        if setup.dealing not in DEALINGS:
            raise FeltError(f"Deals are {' or '.join(DEALINGS)}, not '{setup.dealing}'.")
        if not setup.limit > 0:
            raise FeltError(f"A decision needs some time, not {setup.limit} seconds.")
        self.setup, self.lineup, self._given = setup, Lineup.of(setup.bots), bots
        self.luck = luck(setup.seed)
        self._warm = False
        self.bots = self._load()
        self.tree = self._find_tree()
        self._known = np.array([plays_by_numbers(bot) for bot in self.bots])
        self.compiled = setup.compiled and setup.limit == math.inf and bool(self._known.all())
        if setup.aivat and setup.limit < math.inf:
            raise FeltError("AIVAT needs actions drawn from the policies, which a clock may prevent.")
        if setup.aivat and isinstance(self.tree, BettingTree) and self.game.players != 2:
            raise FeltError("Luck can be taken out of hold'em by AIVAT for two players, not for three.")
        self._opened = open_tree(self.tree) if isinstance(self.tree, GameTree) else None
        if self._opened and self._opened.depth > ACTION_DRAWS:
            raise FeltError(f"{self.game.name} has more than {ACTION_DRAWS} decisions in a row.")
        if self.compiled or setup.aivat:  # tables of three players are made in seconds
            self._tables = tuple(self._table(bot) for bot in self.bots)
            self._trees = [
                holdem_tree(bot.policy.tree) if isinstance(bot, HoldemBot) else None for bot in self.bots
            ]

    def _load(self) -> list[Bot]:
        """One for each participant."""
        first = [self.lineup.seats.index(participant) for participant in range(len(self.lineup.names))]
        if self._given is not None:
            return [self._given[place] for place in first]
        return [load_bot(self.setup.bots[place], self.game) for place in first]

    def _sit_down(self) -> list[Bot]:
        """One for each place of the lineup: bots that learn anew and apart, the others as they are."""
        sitting = []
        for place, participant in enumerate(self.lineup.seats):
            bot = self.bots[participant]
            if bot.learns and self._given is None:
                bot = load_bot(self.setup.bots[place], self.game)
            elif bot.learns:
                bot = copy.deepcopy(bot)  # as it was given
            sitting.append(bot)
        return sitting

    def _find_tree(self) -> Tree:
        """Of the game; that of a policy, if there is one, so that no second one need be made."""
        for bot in self.bots:
            if isinstance(bot, HoldemBot | TreeBot):
                return bot.policy.tree
        return compile_any(self.game)

    def _table(self, bot: Bot) -> Any:
        """The numbers that a bot plays by, where it plays by numbers."""
        if isinstance(bot, RuleBot):
            if isinstance(self.tree, BettingTree):
                return rule_table(self.tree, bot.rule)
            return rule_table(self.tree, bot.rule)
        if isinstance(bot, TreeBot):
            return bot.policy.probabilities
        return bot.policy.weights if isinstance(bot, HoldemBot) else np.zeros(0, np.uint8)

    @property
    def times(self) -> int:
        """How often a deal is played."""
        return len(self.lineup.seatings) if self.setup.dealing == DUPLICATE else 1

    @property
    def columns(self) -> dict[str, list[int]]:
        """Of a row: what each participant won, and the control variates."""
        participants = len(self.lineup.names)
        controls = participants * CONTROLS * self._has_controls
        ends = np.cumsum([participants, controls, participants * self.setup.aivat]).tolist()
        return {
            "won": list(range(ends[0])),
            "controls": list(range(ends[0], ends[1])),
            "adjusted": list(range(ends[1], ends[2])),
        }

    @property
    def _has_controls(self) -> bool:
        """When a deal is played in every seating, everyone has had the same luck."""
        return self.setup.dealing == FRESH and isinstance(self.tree, BettingTree)

    def play(self, first: int, count: int) -> BlockResult:
        """Play deals from number `first` on."""
        played, conduct = self.play_hands(first, count)
        who = who_sat(self.lineup.seatings, first, played)
        rows = self._rows(played.won, who)
        if self._has_controls:
            lucky = card_luck(deal_block(self.game.players, self.luck, first, count))[:, None]
            rows += [row for place in range(CONTROLS) for row in self._rows(lucky[..., place], who)]
        if self.setup.aivat:
            rows += self._rows(self._adjusted(played, who, first), who)
        moments, style = Moments.of(np.stack(rows, axis=1)), played.style
        shares = self.lineup.shares(who)
        seats = np.stack(
            [[(played.won * share).sum(axis=(0, 1)), share.sum(axis=(0, 1))] for share in shares]
        )
        leaf = played.leaf if self.setup.history else None
        return BlockResult(moments, played.leaf.size, seats.transpose(0, 2, 1), style, conduct, leaf)

    def pay(self, deals: Deals, leaf: Ints) -> Floats:
        """[deals, times, seats] what was won in hands of hold'em that ended so."""
        assert isinstance(self.tree, BettingTree)
        played = room(leaf.shape[0], leaf.shape[1], self.game.players, 0)
        played.leaf[...] = leaf
        pay_block(self.tree.node, self.tree.leaves, deals.value, played)
        return played.won

    def play_hands(self, first: int, count: int) -> tuple[Played, tuple[Conduct, ...]]:
        """The hands themselves."""
        if not self.compiled:
            return self._play_by_hand(first, count)
        seatings = self.lineup.seatings
        conduct = tuple(Conduct() for _ in self.bots)
        if isinstance(self.tree, BettingTree):
            deals = deal_block(self.game.players, self.luck, first, count)
            shifts = self._shifts(deals)
            played = play_block(
                self.tree, self._tables, shifts, seatings, self.times, deals, self.luck, first
            )
        else:
            assert self._opened is not None
            played = play_tree_block(
                self._opened.tree, self._tables, seatings, self.times, self.luck, first, count
            )
        return played, conduct

    def _play_by_hand(self, first: int, count: int) -> tuple[Played, tuple[Conduct, ...]]:
        """The same by asking bots. One that learns plays each seating in a life of its own: it would know the
        cards of a deal that it meets again.
        """
        if self.setup.limit < math.inf and not self._warm:
            self._warm_up()
        lives = [[time] for time in range(self.times)]
        if not any(bot.learns for bot in self.bots):
            lives = [list(range(self.times))]
        played = room(count, self.times, self.game.players, len(self.bots))
        conduct = tuple(Conduct() for _ in self.bots)
        for times in lives:
            table = self._open_table()
            part = table.play_block(self.lineup, times, self.luck, first, count)
            played.leaf[:, times], played.won[:, times] = part.leaf, part.won
            for place, participant in enumerate(self.lineup.seats):
                conduct[participant].add(table.conduct[place])
                played.style[participant] += part.style[place]
        return played, conduct

    def _warm_up(self) -> None:
        """Under a clock, let bots compile and read what they need before it counts."""
        self._warm, table = True, self._open_table()
        if isinstance(table, HoldemTable):
            cards = deal_block(self.game.players, self.luck, 0, 1).cards[0].tolist()
            own = [tuple(cards[2 * seat : 2 * seat + 2]) for seat in range(self.game.players)]
            table.warm_up(own, tuple(cards[2 * self.game.players :]))
        elif isinstance(table, TreeTable):
            table.warm_up()

    def _open_table(self) -> Table:
        bots = self._sit_down()
        for bot in bots:
            if isinstance(bot, HoldemBot):
                bot.use_tables()
        if isinstance(self.tree, BettingTree):
            assert isinstance(self.game, Holdem)
            return HoldemTable(self.game, bots, self.tree, limit=self.setup.limit)
        return TreeTable(self.game, bots, compile_game(self.tree), limit=self.setup.limit)

    def _shifts(self, deals: Deals) -> Longs:
        """Where each policy finds its hands; one that plays by a rule has them all in one place."""
        found: dict[int, Longs] = {}
        for tree in self._trees:
            if tree is not None and id(tree) not in found:
                found[id(tree)] = place_block(tree, deals)
        size = (len(deals.cards), 4 * self.game.players)
        nothing = np.zeros(size, np.int64)
        return np.stack([nothing if tree is None else found[id(tree)] for tree in self._trees])

    def _adjusted(self, played: Played, who: Longs, first: int) -> Floats:
        """What was won, with luck taken out."""
        if isinstance(self.tree, BettingTree):
            deals = deal_block(self.game.players, self.luck, first, len(who))
            return holdem_aivat(
                self.tree, self._parents, deals, played, who, self._tables, self._shifts(deals), self._known
            )
        adjusted = np.empty_like(played.won)
        for seating, leaves in enumerate(self._adjusted_leaves):
            here = (who == self.lineup.seatings[seating]).all(axis=2)
            adjusted[here] = leaves[played.leaf[here]]
        return adjusted

    @cached_property
    def _parents(self) -> Ints:
        assert isinstance(self.tree, BettingTree)
        return parents(self.tree)

    @cached_property
    def _adjusted_leaves(self) -> list[Floats]:
        """By seating."""
        assert isinstance(self.tree, GameTree)
        tables = [table if known else None for table, known in zip(self._tables, self._known, strict=True)]
        return [tree_aivat(self.tree, [tables[bot] for bot in row]) for row in self.lineup.seatings]

    def _rows(self, values: Floats, who: Longs) -> list[Floats]:
        """[deals, times, seats] by participant: the mean over all that he sat in."""
        return [
            (values * share).sum(axis=(1, 2)) / share.sum(axis=(1, 2)) for share in self.lineup.shares(who)
        ]
