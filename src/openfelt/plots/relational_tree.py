"""Relational trees of an opponent model, drawn like PGC10's Figure 2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openfelt.core.errors import FeltError
from openfelt.opponents.models.model import OpponentModel
from openfelt.opponents.models.relational.language import LanguageBias
from openfelt.opponents.models.relational.model import ACTION_TREES, RelationalModel
from openfelt.opponents.models.relational.tree import PathFormatter, RelationalTree, TreeLeaf
from openfelt.plots.figure import new_figure, save_figure

PLAYER_COLOUR, PRIOR_COLOUR = "#0b6e99", "#c9c9c9"
WIDE, HIGH = 1.65, 1.25  # inches per leaf and per level


@dataclass
class _Box:
    """A node of the drawing: a test with two branches, or a leaf."""

    words: str
    row: int
    leaf: TreeLeaf | None = None
    is_leaf: bool = True  # False: stands for a subtree below the last level
    below: tuple[_Box, ...] = ()
    column: float = 0.0


@dataclass(frozen=True)
class TreeDrawing:
    """A tree to draw, down to `rows` levels of tests; each deeper subtree is drawn as one leaf."""

    tree: RelationalTree
    bias: LanguageBias
    m: float
    title: str
    rows: int = 6


def draw_model(model: OpponentModel, path: Path) -> None:
    """Draw all trees of a relational model into a PNG file."""
    if not isinstance(model, RelationalModel):
        raise FeltError(f"A model of kind {model.kind} has no trees to draw; relational models do.")
    draw_trees(
        [tree_drawing(model, phase, f"{name}, {what}", what) for phase, name, what in model.all_trees()], path
    )


def tree_drawing(
    model: RelationalModel, phase: int, title: str, what: str = ACTION_TREES, *, rows: int = 6
) -> TreeDrawing:
    """The tree of one phase, to be drawn down to `rows` levels of tests."""
    settings = model.settings
    return TreeDrawing(model.tree(phase, what), settings.bias, settings.growth.m, title, rows)


def draw_trees(drawings: Sequence[TreeDrawing], path: Path) -> None:
    """Draw trees one below the other into a PNG file."""
    roots = [_boxes(each.tree, PathFormatter(each.bias), 0, each.rows) for each in drawings]
    wide = max(_columns(root, 0) for root in roots)
    deep = [_deepest(root) + 1 for root in roots]
    figure = new_figure(max(5.0, WIDE * wide), HIGH * sum(deep) + 0.6 * len(deep))
    panels = figure.subplots(len(roots), 1, squeeze=False, gridspec_kw={"height_ratios": deep})[:, 0]
    for axes, root, rows, each in zip(panels, roots, deep, drawings, strict=True):
        axes.set_axis_off()
        axes.set_xlim(-0.6, wide - 0.4)
        axes.set_ylim(0.35 - rows, 0.45)
        _draw(axes, root, each.m)
        axes.set_title(each.title, fontsize=10)
    save_figure(figure, path)


def merged(tree: RelationalTree) -> TreeLeaf:
    """All leaves of a tree merged into one."""
    if isinstance(tree, TreeLeaf):
        return tree
    yes, no = merged(tree.yes), merged(tree.no)
    return TreeLeaf(yes.player + no.player, yes.prior + no.prior)


def _boxes(tree: RelationalTree, formatter: PathFormatter, row: int, rows: int) -> _Box:
    if isinstance(tree, TreeLeaf) or row >= rows:
        return _Box("", row, merged(tree), isinstance(tree, TreeLeaf))
    text, below = formatter.format(tree.test)
    words = text.replace("), ", "),\n")
    return _Box(
        words,
        row,
        below=(_boxes(tree.yes, below, row + 1, rows), _boxes(tree.no, formatter, row + 1, rows)),
    )


def _columns(box: _Box, first: int) -> int:
    """Place leaves side by side from column `first` on and tests above their middle; returns the next."""
    if not box.below:
        box.column = float(first)
        return first + 1
    for part in box.below:
        first = _columns(part, first)
    box.column = (box.below[0].column + box.below[1].column) / 2
    return first


def _deepest(box: _Box) -> int:
    return max((_deepest(part) for part in box.below), default=box.row)


def _draw(axes: Any, box: _Box, m: float) -> None:
    for part, answer in zip(box.below, ("yes", "no"), strict=False):
        axes.plot([box.column, part.column], [-box.row, -part.row], color="0.55", linewidth=1, zorder=1)
        place = (box.column + part.column) / 2, -(box.row + part.row) / 2
        paper = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        axes.text(*place, answer, ha="center", va="center", fontsize=8, bbox=paper, zorder=2)
        _draw(axes, part, m)
    if box.leaf is None:
        frame = {"boxstyle": "round,pad=0.35", "facecolor": "#fff8e7", "edgecolor": "0.4"}
        axes.text(box.column, -box.row, box.words, ha="center", va="center", fontsize=7, bbox=frame, zorder=3)
        return
    _draw_leaf(axes, box, box.leaf.chance(m), box.leaf.player + box.leaf.prior)


def _draw_leaf(axes: Any, box: _Box, chance: float, examples: float) -> None:
    """A bar divided into the shares of player and prior, with percentages."""
    left, top, wide, high = box.column - 0.36, -box.row + 0.06, 0.72, 0.14
    axes.barh(top, wide * chance, high, left, color=PLAYER_COLOUR, zorder=3)
    axes.barh(top, wide * (1 - chance), high, left + wide * chance, color=PRIOR_COLOUR, zorder=3)
    words = f"player {100 * chance:.0f}%\nprior {100 * (1 - chance):.0f}%\n({examples:,.0f} examples)"
    words += "" if box.is_leaf else "\n[more below]"
    axes.text(box.column, top - 0.1, words, ha="center", va="top", fontsize=7)
