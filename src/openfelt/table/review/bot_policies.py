"""Asking bots what they would do: the probabilities in one place, or in all rows of a game."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from openfelt.bots.bot import Bot
from openfelt.bots.view import TreeView, View
from openfelt.core.jit import Floats
from openfelt.games.compile.compiler import compile_game
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.hand import Hand, Thought
from openfelt.policy.tabular import uniform_policy

TABLES_KEPT = 32


class _Known(NamedTuple):
    bot: Bot
    tree: GameTree
    seat: int
    table: Floats | None


_known: list[_Known] = []  # the latest last


def thought_of(bot: Bot, view: View) -> Thought | None:
    """What a bot says that it thinks; a ValueError where that makes no sense."""
    thought = bot.think(view)
    if thought is None:
        return None
    shares = tuple(map(float, thought.probabilities))
    sound = all(0 <= share <= 1 for share in shares) and math.isclose(sum(shares), 1, abs_tol=1e-6)
    if not sound or len(shares) != len(view.actions):
        raise ValueError(f"{shares} are no probabilities of {len(view.actions)} actions")
    return Thought(str(thought.infoset), shares)


def probabilities(bot: Bot, view: View) -> tuple[float, ...] | None:
    """How likely a bot takes each action; None where it does not say, or says no probabilities."""
    try:
        thought = thought_of(bot, view)
    except Exception:  # bots may be anybody's
        return None
    return thought.probabilities if thought else None


def policy_table(bot: Bot, seat: int) -> Floats | None:
    """[slots] what a bot does in all rows of a seat of an enumerated game, even chances in the others' rows.

    None if it does not say, or learns from hand to hand: then it may have played otherwise before.
    """
    tree = compile_game(bot.game)
    for entry in reversed(_known):
        if entry.bot is bot and entry.tree is tree and entry.seat == seat:
            found: Floats | None = entry.table
            return found
    table = None if bot.learns else _ask_all(bot, tree, seat)
    _known.append(_Known(bot, tree, seat, table))
    del _known[:-TABLES_KEPT]
    return table


def _ask_all(bot: Bot, tree: GameTree, seat: int) -> Floats | None:
    table = uniform_policy(tree).probabilities.copy()
    first, last = tree.rows.first_row[seat : seat + 2].tolist()
    for row in range(first, last):
        shares = probabilities(bot, TreeView(bot.game, seat, tree.actions(row), tree, row))
        if shares is None:
            return None
        table[tree.slots(row)] = shares
    return np.asarray(table)


def nodes_of(hand: Hand, tree: GameTree) -> list[int]:
    """The nodes that a hand of an enumerated game went through, from the first to where it is."""
    nodes = [0]
    for step in hand.steps:
        nodes.append(int(tree.nodes.first_child[nodes[-1]]) + step.number)
    return nodes
