"""The hands of a match as records: its actions follow from where each ended, its cards from the seed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from openfelt.arena.contest import Contest
from openfelt.arena.hand_kernels import deal_block, room, who_sat
from openfelt.arena.statistics.aivat import parents
from openfelt.cards.deck import BOARD_CARDS, card_text
from openfelt.core.errors import FeltError
from openfelt.core.jit import Ints
from openfelt.games.compile.betting_tree import PLACE, BettingTree
from openfelt.games.compile.compiler import compile_game
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.game import CHANCE, TERMINAL
from openfelt.hands.phh import write_phh
from openfelt.hands.record import HandRecord
from openfelt.hands.store import HandStore

PHH, STORE = (".phh", ".phhs"), (".db",)


def require_history(path: Path) -> None:
    """Refuse a file that could not be written, before the match."""
    if path.suffix not in PHH + STORE:
        raise FeltError(f"A history is a file that ends in .phhs (or .phh) or .db, not {path.name}.")
    if not path.parent.is_dir():
        raise FeltError(f"There is no folder {path.parent} for the history.")
    if path.exists():
        raise FeltError(f"{path} exists already; name another file for the history.")


def write_history(path: Path, records: Iterator[HandRecord], match: str) -> None:
    """Write the hands of a match."""
    if path.suffix in PHH:
        write_phh(path, records, event=match)
    else:
        with HandStore(path) as store:
            store.append(records, match=match)


def records(contest: Contest, first: int, leaf: Ints) -> Iterator[HandRecord]:
    """The hands of a block, in the order of their numbers: deal by deal, one seating after the other."""
    deals, times = leaf.shape
    who = who_sat(contest.lineup.seatings, first, room(deals, times, contest.game.players, 0))
    tree = contest.tree
    if isinstance(tree, BettingTree):
        hands = _holdem(contest, tree, first, leaf)
    else:
        hands = _tree(compile_game(tree), leaf)
    for place, (dealt, actions, won) in enumerate(hands):
        names = tuple(contest.lineup.names[bot] for bot in who[place // times, place % times])
        yield HandRecord(contest.game.name, first * times + place, names, dealt, actions, won)


_Hand = tuple[tuple[str, ...], tuple[str, ...], tuple[float, ...]]  # dealt, actions, won


def _holdem(contest: Contest, tree: BettingTree, first: int, leaf: Ints) -> Iterator[_Hand]:
    players, parent = tree.players, parents(tree)
    deals = deal_block(players, contest.luck, first, len(leaf))
    won = contest.pay(deals, leaf)
    for deal, cards in enumerate(deals.cards.tolist()):
        words = tuple(map(card_text, cards))
        for time, end in enumerate(leaf[deal].tolist()):
            path = _path(parent, end)
            actions = tuple(tree.actions(here)[after - tree.child(here, 0)] for here, after in pairwise(path))
            inside = int(tree.leaves.inside[tree.node[end, PLACE]])
            street = 3 if inside & (inside - 1) else tree.street(path[-2])
            yield words[: 2 * players + BOARD_CARDS[street]], actions, tuple(won[deal, time].tolist())


def _tree(tree: GameTree, leaf: Ints) -> Iterator[_Hand]:
    nodes = tree.nodes
    parent = np.full(tree.num_nodes, -1, np.int32)
    inner = np.flatnonzero(nodes.num_children)
    parent[1:] = np.repeat(inner, nodes.num_children[inner])
    for end in leaf.ravel().tolist():
        dealt, actions = [], []
        path = _path(parent, end)
        for here, after in pairwise(path):
            way, row = after - int(nodes.first_child[here]), int(nodes.row[here])
            if nodes.player[here] == CHANCE:
                dealt.append(tree.labels[tree.rows.chance_label[row + way]])
            else:
                actions.append(tree.actions(row)[way])
        assert nodes.player[end] == TERMINAL
        yield tuple(dealt), tuple(actions), tuple(nodes.payoffs[nodes.row[end]].tolist())


def _path(parent: Ints, end: int) -> list[int]:
    """The nodes from the first to this one."""
    path = [end]
    while parent[path[-1]] >= 0:
        path.append(int(parent[path[-1]]))
    return path[::-1]
