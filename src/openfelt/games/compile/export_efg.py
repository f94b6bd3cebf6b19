"""Write a compiled game as a Gambit extensive-form file (.efg)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from openfelt.core.errors import GameError
from openfelt.core.files import not_written, write_text
from openfelt.games.compile.compiler import compile_game
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.game import CHANCE, TERMINAL, AnyGame

MOST_NODES = 5_000_000  # a .efg file has about 60 bytes per history


def write_efg(game: AnyGame, path: str | Path) -> None:
    """Write a game as a Gambit extensive-form file.

    Parameters
    ----------
    game : Game, str or Path
        An enumerated game with at most five million histories.
    path : str or Path
        The .efg file. Information sets keep their names.

    Examples
    --------
    >>> felt.write_efg("kuhn", folder / "kuhn.efg")
    >>> felt.exploitability(felt.uniform_policy(folder / "kuhn.efg")).nash_conv
    0.9166...
    """
    tree, path = compile_game(game), Path(path)
    if tree.num_nodes > MOST_NODES:
        raise GameError(
            f"{tree.game} has {tree.num_nodes:,} histories; at most {MOST_NODES:,} can be written."
        )
    try:
        write_text(path, "\n".join(_lines(tree)) + "\n")
    except OSError as error:
        raise not_written(path, error) from error


def _lines(tree: GameTree) -> Iterator[str]:
    players = " ".join(f'"Player {player}"' for player in range(tree.players))
    yield f"EFG 2 R {_quoted(tree.game)} {{ {players} }}"
    yield f'"Payoffs in {tree.unit}."'
    nodes = tree.nodes
    chance_nodes = 0
    stack = [0]
    while stack:
        node = stack.pop()
        player, row = int(nodes.player[node]), int(nodes.row[node])
        if player == TERMINAL:
            values = ", ".join(_number(value) for value in nodes.payoffs[row])
            yield f't "" {row + 1} "" {{ {values} }}'
            continue
        first, count = int(nodes.first_child[node]), int(nodes.num_children[node])
        stack.extend(range(first + count - 1, first - 1, -1))
        if player == CHANCE:
            chance_nodes += 1
            words = " ".join(
                f"{_quoted(tree.labels[label])} {_number(value)}"
                for label, value in zip(
                    tree.rows.chance_label[row:], nodes.chance[row : row + count], strict=False
                )
            )
            yield f'c "" {chance_nodes} "" {{ {words} }} 0'
        else:
            words = " ".join(map(_quoted, tree.actions(row)))
            number = row - int(tree.rows.first_row[player]) + 1
            yield f'p "" {player + 1} {number} {_quoted(tree.row_name(row))} {{ {words} }} 0'


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _number(value: float) -> str:
    """A number as Gambit reads it exactly: a fraction where it is a simple one, else all its digits."""
    simple = Fraction(value).limit_denominator(1_000_000)
    return str(simple) if abs(float(simple) - value) < 1e-15 * max(1.0, abs(value)) else repr(float(value))
