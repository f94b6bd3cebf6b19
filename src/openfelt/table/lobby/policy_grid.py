"""The whole policy of a bot in an enumerated game (Kuhn poker, Leduc hold'em), as tables of the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from openfelt.bots.bot import Bot
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.games.compile.compiler import compile_game
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.game import CHANCE, Game
from openfelt.table.presentation.presentation import PLACES
from openfelt.table.presentation.registry import presentation_of
from openfelt.table.review.bot_policies import policy_table
from openfelt.table.session.hand_log import action_label

NO_PROBABILITIES = "This bot does not report its action probabilities, so its policy cannot be shown."


def policy_grid(game: Game, bot: Bot) -> dict[str, Any]:
    """The policy at every infoset: by player, board card, history and own card."""
    if not game.is_enumerable:
        raise FeltError(f"{game.name} is too large to show a whole policy; kuhn and leduc are small enough.")
    players = []
    for player in range(game.players):
        table = policy_table(bot, player)
        if table is None:
            raise FeltError(NO_PROBABILITIES)
        tables = _player_tables(game, player, table)
        players.append({"player": player, "name": f"{PLACES[player]} to act", "tables": tables})
    return {"title": presentation_of(game).title, "game": game.name, "players": players}


def _player_tables(game: Game, player: int, policy: Floats) -> list[dict[str, Any]]:
    """One before the board card, and one for each board card."""
    tree, presentation = compile_game(game), presentation_of(game)
    cards = list(dict.fromkeys(presentation.deck))
    paths, before = _paths(tree), "before the board" if presentation.board_size else "the only round"
    tables: dict[str, dict[str, dict[str, Any]]] = {board: {} for board in ["", *cards]}
    first, last = tree.rows.first_row[player : player + 2].tolist()
    for infoset in range(first, last):
        board, history, labels = _describe(game, paths[infoset])
        new = {"history": history, "actions": list(tree.actions(infoset)), "labels": labels}
        row = tables[board].setdefault(history, new | {"cells": [None] * len(cards)})
        own = tree.row_name(infoset).split()[0]
        row["cells"][cards.index(own)] = policy[tree.slots(infoset)].tolist()
    return [
        {
            "title": f"after the board card {board}" if board else before,
            "cards": cards,
            "rows": list(rows.values()),
        }
        for board, rows in tables.items()
        if rows
    ]


def _paths(tree: GameTree) -> dict[int, list[int]]:
    """For each infoset, the numbers of all actions (also chance's) that lead to one of its histories."""
    nodes = tree.nodes
    inner = np.flatnonzero(nodes.num_children)
    parent = [-1, *np.repeat(inner, nodes.num_children[inner]).tolist()]
    decisions = np.flatnonzero(nodes.player >= 0)
    infosets, firsts = np.unique(nodes.row[decisions], return_index=True)
    paths = {}
    for infoset, node in zip(infosets.tolist(), decisions[firsts].tolist(), strict=True):
        path: list[int] = []
        while node:
            path.insert(0, node - int(nodes.first_child[parent[node]]))
            node = parent[node]
        paths[infoset] = path
    return paths


def _describe(game: Game, path: Sequence[int]) -> tuple[str, str, list[str]]:
    """The board card, the betting in words, and the labels of the legal actions after a path."""
    presentation, state, dealt = presentation_of(game), game.start(), 0
    board, rounds = "", [list[str]()]
    for number in path:
        action = game.actions(state)[number]
        if game.turn(state) != CHANCE:
            rounds[-1].append(presentation.action_name(state, action))
        else:
            dealt += 1
            if presentation.is_board(dealt):
                board = action
                rounds.append([])
        state = game.play(state, action)
    labels = [action_label(game, state, action) for action in game.actions(state)]
    return board, " / ".join(", ".join(actions) for actions in rounds).rstrip(), labels
