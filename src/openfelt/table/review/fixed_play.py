"""How a bot plays that follows a policy or a rule in two-player hold'em, for all hands of a board at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.bots.bot import Bot
from openfelt.cards.abstraction.board_buckets import BoardBuckets
from openfelt.cards.deck import PAIRS, Bytes
from openfelt.core.jit import Floats, Longs
from openfelt.games.compile.betting_tree import ACTIONS_MASK, KIND, PLACE, PLAYER, Layout
from openfelt.measure.holdem.player import rule_player
from openfelt.policy.holdem import WHOLE, HoldemPolicy
from openfelt.solve.vector.betting_lines import BettingLines, betting_lines, street_of
from openfelt.table.review.bot_policies import kernel_policy

KEPT_BOARDS = 4096  # of a policy, each with 5.3 kB of buckets


class FixedPlay(NamedTuple):
    """The action probabilities of a bot, given its cards and the betting."""

    betting: BettingLines
    probabilities: Floats | Bytes  # [slots] bytes are the weights of a policy
    layout: Layout
    buckets: Callable[[tuple[int, ...]], Longs]  # [1326] on a board

    @property
    def policy(self) -> tuple[Floats | Bytes, Layout]:
        """The probabilities, and where they are."""
        return self.probabilities, self.layout

    def shares(self, node: int, buckets: Longs) -> Floats:
        """[actions, ...] probabilities at a node with hands of these buckets."""
        facts, layout = self.betting.node[node], self.layout
        place = street_of(self.betting.node, node), int(facts[PLAYER])
        rows = int(layout.slot_base[place]) + int(layout.edges[place]) * buckets
        first = rows + int(facts[PLACE]) - int(layout.first_edge[place])
        found: NDArray[Any] = np.stack(
            [self.probabilities[first + action] for action in range(facts[KIND] & ACTIONS_MASK)]
        )
        return np.asarray(found / (WHOLE if self.probabilities.dtype == np.uint8 else 1.0))


def fixed_play(bot: Bot, most_bets: int) -> FixedPlay | None:
    """None if the bot has neither a policy nor a rule."""
    if bot.learns or not bot.plays_in_kernels:
        return None
    policy = kernel_policy(bot)
    if policy is not None:
        return _policy_play(policy)
    return _rule_play(bot.rule, most_bets) if bot.rule else None


@lru_cache(maxsize=8)
def _policy_play(policy: HoldemPolicy) -> FixedPlay:
    computing, kept = BoardBuckets(policy.tree.abstraction), dict[tuple[int, ...], NDArray[Any]]()
    lock = Lock()  # of `kept`, which threads share

    def buckets(board: tuple[int, ...]) -> Longs:
        key = tuple(sorted(board))
        found = kept.get(key)
        if found is None:
            found = computing.of(key).astype(np.int32)
            with lock:
                while len(kept) >= KEPT_BOARDS:
                    del kept[next(iter(kept))]
                kept[key] = found
        return found.astype(np.int64)

    return FixedPlay(betting_lines(policy.tree.most_bets), policy.weights, policy.tree.layout, buckets)


@lru_cache(maxsize=16)
def _rule_play(rule: str, most_bets: int) -> FixedPlay:
    player = rule_player(rule, most_bets)
    return FixedPlay(player.betting, player.probabilities, player.layout, lambda _: np.zeros(PAIRS, np.int64))
