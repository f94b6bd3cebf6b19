"""Whole policies to look at: all rows of Kuhn poker and Leduc hold'em, all starting hands of hold'em."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from openfelt.bots.bot import Bot
from openfelt.bots.view import holdem_view
from openfelt.cards.deck import PAIR_CARDS, PREFLOP, RANKS, pair_class
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.games.compile.compiler import compile_game
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.game import CHANCE, Game
from openfelt.games.holdem import Betting, Holdem, HoldemState, bet, betting_actions, first_betting, is_over
from openfelt.games.kuhn import Kuhn
from openfelt.games.leduc import Leduc
from openfelt.table.lobby.lobby import title
from openfelt.table.review.bot_policies import policy_table, probabilities
from openfelt.table.session.chips import furniture
from openfelt.table.session.wording import action_label

ORDER = ("first", "second", "third")
VERBS = {"fold": "folds", "check": "checks", "call": "calls", "bet": "bets", "raise": "raises"}
SILENT = "This bot does not tell how likely it takes which action, so there is nothing to show."


def policy_grid(game: Game, bot: Bot) -> dict[str, Any]:
    """What a bot does in every row of a small game: by player, board card, history and own card."""
    if not isinstance(game, Kuhn | Leduc):
        raise FeltError(f"{game.name} is too large for its policy to be shown whole; kuhn and leduc are not.")
    players = []
    for player in range(game.players):
        table = policy_table(bot, player)
        if table is None:
            raise FeltError(SILENT)
        tables = _player_tables(game, player, table)
        players.append({"player": player, "name": f"{ORDER[player]} to act", "tables": tables})
    return {"title": title(game), "game": game.name, "players": players}


def _player_tables(game: Kuhn | Leduc, player: int, table: Floats) -> list[dict[str, Any]]:
    """One before the board card, and one for each that may come."""
    tree, deck = compile_game(game), list(game.deck)
    ways, before = _ways_to_rows(tree), "before the board" if isinstance(game, Leduc) else "the only round"
    found: dict[str, dict[str, dict[str, Any]]] = {board: {} for board in ["", *deck]}
    first, last = tree.rows.first_row[player : player + 2].tolist()
    for row in range(first, last):
        board, history, labels = _told(game, ways[row])
        new = {"history": history, "actions": list(tree.actions(row)), "labels": labels}
        entry = found[board].setdefault(history, new | {"cells": [None] * len(deck)})
        own = tree.row_name(row).split()[0]
        entry["cells"][deck.index(own)] = table[tree.slots(row)].tolist()
    return [
        {
            "title": f"after the board card {board}" if board else before,
            "cards": deck,
            "rows": list(rows.values()),
        }
        for board, rows in found.items()
        if rows
    ]


def _ways_to_rows(tree: GameTree) -> dict[int, list[int]]:
    """The numbers of all actions, also chance's, that lead to one of the histories of each row."""
    nodes = tree.nodes
    inner = np.flatnonzero(nodes.num_children)
    parent = [-1, *np.repeat(inner, nodes.num_children[inner]).tolist()]
    decisions = np.flatnonzero(nodes.player >= 0)
    rows, firsts = np.unique(nodes.row[decisions], return_index=True)
    found = {}
    for row, node in zip(rows.tolist(), decisions[firsts].tolist(), strict=True):
        way: list[int] = []
        while node:
            way.insert(0, node - int(nodes.first_child[parent[node]]))
            node = parent[node]
        found[row] = way
    return found


def _told(game: Kuhn | Leduc, way: Sequence[int]) -> tuple[str, str, list[str]]:
    """Of a history: the board card, what was done, in words, and the labels of what can be done."""
    state: Any = game.start()
    board, rounds = "", [list[str]()]
    for number in way:
        word = game.actions(state)[number]
        if game.turn(state) != CHANCE:
            rounds[-1].append(_verb(game, state, word))
        elif len(state.cards) == game.players:
            board = word
            rounds.append([])
        state = game.play(state, word)
    labels = [action_label(game, state, word) for word in game.actions(state)]
    return board, " / ".join(", ".join(some) for some in rounds).rstrip(), labels


def _verb(game: Game, state: Any, word: str) -> str:
    """What an action comes to: "bet" of "Bet 2", "call" where Kuhn poker says bet."""
    return action_label(game, state, word).split()[0].lower()


def preflop_matrix(game: Game, bot: Bot, line: Sequence[str]) -> dict[str, Any]:
    """What a bot does with each kind of starting hand after a line of actions before the flop."""
    if not isinstance(game, Holdem):
        raise FeltError(f"{game.name} has no starting hands of two cards; holdem has.")
    betting, told = _follow(game, line)
    over = _ends(betting)
    if is_over(betting):
        told.append("the hand is over")
    elif over:
        told.append("the flop comes")
    else:
        told.append(f"{_position(game, betting.turn)} is to act")
    words = () if over else betting_actions(betting)
    state = HoldemState((0,) * 2 * game.players, betting)
    labels = [action_label(game, state, word) for word in words]
    cells, overall = ({}, []) if over else _hands(game, bot, betting.turn, line)
    ways = [
        {"word": word, "label": label, "ends": _ends(bet(betting, word))}
        for word, label in zip(words, labels, strict=True)
    ]
    return {
        "title": title(game),
        "game": game.name,
        "line": list(line),
        "text": "; ".join(told),
        "over": over,
        "actions": list(words),
        "labels": labels,
        "ranks": RANKS[::-1],
        "cells": cells,
        "overall": overall,
        "ways": ways,
    }


def _follow(game: Holdem, line: Sequence[str]) -> tuple[Betting, list[str]]:
    """The betting after a line, and the line in words."""
    betting, told = first_betting(game.players, game.bets), list[str]()
    for word in line:
        if _ends(betting):
            raise FeltError(f"The betting before the flop is over after '{', '.join(line[: len(told)])}'.")
        words = betting_actions(betting)
        if word not in words:
            raise FeltError(f"'{word[:20]}' is not possible there; possible are {', '.join(words)}.")
        told.append(f"{_position(game, betting.turn)} {VERBS[word]}")
        betting = bet(betting, word)
    return betting, told


def _ends(betting: Betting) -> bool:
    return is_over(betting) or betting.street > PREFLOP


def _position(game: Holdem, seat: int) -> str:
    fixed = furniture(game)
    return f"the {'dealer' if seat == fixed.button else fixed.posts[seat]}"


def _hands(
    game: Holdem, bot: Bot, seat: int, line: Sequence[str]
) -> tuple[dict[str, list[float]], list[float]]:
    """The probabilities by kind of hand, in the mean over its suits, and over all hands."""
    by_kind: dict[str, list[tuple[float, ...]]] = {}
    for pair in PAIR_CARDS[::-1].tolist():
        shares = probabilities(bot, holdem_view(game, seat, tuple(pair), (), tuple(line)))
        if shares is None:
            raise FeltError(SILENT)
        by_kind.setdefault(pair_class(pair), []).append(shares)
    overall = np.mean([shares for some in by_kind.values() for shares in some], axis=0)
    return {kind: np.mean(some, axis=0).tolist() for kind, some in by_kind.items()}, overall.tolist()
