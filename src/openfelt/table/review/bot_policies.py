"""Action probabilities of bots: at one decision, at all infosets of a game, with all hands of hold'em."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from openfelt.bots.bot import Bot
from openfelt.bots.view import TreeView, View
from openfelt.core.jit import Floats
from openfelt.games.compile.compiler import compile_game
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.hand import Thought
from openfelt.policy.holdem import HoldemPolicy, require_holdem_policy
from openfelt.policy.tabular import uniform_policy

CACHED_TABLES = 32


class _CachedTable(NamedTuple):
    bot: Bot
    tree: GameTree
    seat: int
    table: Floats | None


_cache: list[_CachedTable] = []  # latest last


def thought_of(bot: Bot, view: View) -> Thought | None:
    """The probabilities that a bot reports; raises ValueError if they are not probabilities."""
    thought = bot.think(view)
    if thought is None:
        return None
    shares = tuple(map(float, thought.probabilities))
    sound = all(0 <= share <= 1 for share in shares) and math.isclose(sum(shares), 1, abs_tol=1e-6)
    if not sound or len(shares) != len(view.actions):
        raise ValueError(f"{shares} are not probabilities of {len(view.actions)} actions")
    return Thought(str(thought.infoset), shares)


def probabilities(bot: Bot, view: View) -> tuple[float, ...] | None:
    """The action probabilities of a bot; None if it reports none, or invalid ones."""
    try:
        thought = thought_of(bot, view)
    except Exception:  # the bot may be a user's own
        return None
    return thought.probabilities if thought else None


def policy_table(bot: Bot, seat: int) -> Floats | None:
    """[slots] the policy of a bot in one seat of an enumerated game; uniform in the other seats.

    None if it does not report its probabilities, or learns from hand to hand (its policy may have changed).
    """
    tree = compile_game(bot.game)
    for entry in reversed(_cache):
        if entry.bot is bot and entry.tree is tree and entry.seat == seat:
            cached: Floats | None = entry.table
            return cached
    table = None if bot.learns else _query_all(bot, tree, seat)
    _cache.append(_CachedTable(bot, tree, seat, table))
    del _cache[:-CACHED_TABLES]
    return table


def _query_all(bot: Bot, tree: GameTree, seat: int) -> Floats | None:
    table = uniform_policy(tree).probabilities.copy()
    first, last = tree.rows.first_row[seat : seat + 2].tolist()
    for row in range(first, last):
        shares = probabilities(bot, TreeView(bot.game, seat, tree.actions(row), tree, row))
        if shares is None:
            return None
        table[tree.slots(row)] = shares
    return np.asarray(table)


def kernel_policy(bot: Bot) -> HoldemPolicy | None:
    """The hold'em policy by which kernels can play in the place of a bot."""
    policy = bot.fixed_policy if bot.plays_in_kernels else None
    return require_holdem_policy(policy) if policy else None
