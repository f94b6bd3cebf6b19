"""Decisions of a spot as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from openfelt.cards.hand_classes import CELL_CLASS, PAIR_CELL
from openfelt.core.jit import Floats
from openfelt.spots.node import NEVER, Node


def node_text(node: Node) -> str:
    """A decision: its actions, then the hands of the player to act by class."""
    lines = [heading(node)]
    if node.player is None or not node.is_reached:
        return lines[0]
    lines += ["", f"{'action':<14} {'often':>7} {'EV':>9}"]
    for action, often, value in zip(node.actions, node.frequencies, node.action_values, strict=True):
        lines.append(f"{action!s:<14} {often:>7.1%} {_chips(value):>9}")
    codes = [action.code for action in node.actions]
    lines += [
        "",
        f"{'hand':<5} {'combos':>6} {'equity':>7} {'EV':>9} " + " ".join(f"{code:>7}" for code in codes),
    ]
    lines += [row for cell in range(len(CELL_CLASS)) if (row := _class_row(node, cell))]
    return "\n".join(lines)


def heading(node: Node) -> str:
    """Where a decision is, and what both players have."""
    oop, ip = node.values
    who = "The line ends" if node.player is None else f"{('OOP', 'IP')[node.player]} to act"
    if not node.is_reached:
        return f"Board {node.board}, pot {node.pot}. No hand of one player gets here."
    equities = " and ".join(f"{each:.1%}" for each in node.equities)
    return (
        f"Board {node.board}, pot {node.pot}, stacks {node.stacks[0]} and {node.stacks[1]}. {who}.\n"
        f"OOP gets {oop:.2f} and IP {ip:.2f} of the pot in chips; equities {equities}."
    )


def runout_text(nodes: Sequence[Node]) -> str:
    """The first decision after each card: frequencies and values."""
    codes = sorted({action.code for node in nodes for action in node.actions}, key=_code_order)
    lines = [
        f"{'card':<5} {'OOP EV':>9} {'IP EV':>9} {'equity':>7} " + " ".join(f"{code:>7}" for code in codes)
    ]
    for node in nodes:
        shares = dict(zip((action.code for action in node.actions), node.frequencies, strict=True))
        cells = " ".join(_percent(shares.get(code, np.nan)) for code in codes)
        oop, ip = node.values
        lines.append(
            f"{node.board[-2:]:<5} {_chips(oop):>9} {_chips(ip):>9} {_percent(node.equities[0])} {cells}"
        )
    return "\n".join(lines)


def _class_row(node: Node, cell: int) -> str:
    assert node.player is not None
    pairs = np.flatnonzero(cell == PAIR_CELL)
    weights, mass = node.ranges[node.player, pairs], node.mass[node.player, pairs]
    if weights.sum() <= NEVER:
        return ""

    def mean(values: Floats) -> float:
        return float(np.nan_to_num(values) @ mass / mass.sum()) if mass.any() else float("nan")

    shares = " ".join(_percent(mean(row[pairs])) for row in node.strategy)
    equity, value = mean(node.equity[node.player, pairs]), mean(node.ev[node.player, pairs])
    return f"{CELL_CLASS[cell]:<5} {weights.sum():>6.2f} {_percent(equity)} {_chips(value):>9} {shares}"


def _code_order(code: str) -> tuple[int, int]:
    return ("fxcbra").index(code[0]), int(code[1:] or 0)


def _percent(share: float) -> str:
    return f"{'':>7}" if np.isnan(share) else f"{share:>7.1%}"


def _chips(value: float) -> str:
    return "" if np.isnan(value) else f"{round(value, 2) + 0.0:.2f}"  # never -0.00
