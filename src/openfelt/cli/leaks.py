"""The leak report of `felt exploit --leaks`, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from openfelt.measure.holdem.leaks import Answer, Leaks
    from openfelt.measure.results import Exploitability

MOST_LINES = 12  # printed of betting lines and of starting hands


def leak_lines(found: Exploitability) -> list[str]:
    """The report, seat by seat."""
    lines: list[str] = []
    for seat, leaks in zip(found.seats, found.leaks, strict=False):
        lines += ["", f"Gains of a best response as {seat} over {found.name} in the same seat, in mbb/h:"]
        lines += [f"  {_streets(leaks)}", "", "  by betting line at the start of a street"]
        for street, line, gain in leaks.by_line()[:MOST_LINES]:
            lines.append(f"  {gain:9.2f}  {street}: {line}")
        lines += ["", "  by starting hand", *_hands(leaks)]
        for answer in leaks.answers[:2]:
            lines += ["", f"  its actions before the flop, after {answer.line}: {_letters(answer)}"]
            lines += [f"  {row}" for row in answer_rows(answer)]
    return lines


def _streets(leaks: Leaks) -> str:
    by_street = ", ".join(f"{street} {gain:.2f}" for street, gain in leaks.by_street.items())
    return f"{by_street}; total {sum(leaks.by_street.values()):.2f}"


def _hands(leaks: Leaks) -> Iterator[str]:
    from openfelt.measure.holdem.leaks import class_names

    gains = leaks.by_hand()
    order = (-gains).argsort()[:MOST_LINES]
    cells = [f"{class_names()[kind]:>4} {gains[kind]:.2f}" for kind in order]
    for first in range(0, len(cells), 6):
        yield "  " + "  ".join(cells[first : first + 6])


def _letters(answer: Answer) -> str:
    return ", ".join(f"{action[0].upper()} {action}" for action in answer.actions)


def answer_rows(answer: Answer) -> Sequence[str]:
    """The 13x13 matrix: suited hands above the diagonal."""
    from openfelt.cards.deck import RANKS
    from openfelt.measure.holdem.leaks import square

    best = answer.worth.argmax(axis=1)[square()]
    ranks = RANKS[::-1]
    rows = ["  ".join([" ", *ranks])]
    for rank, row in zip(ranks, best, strict=True):
        rows.append("  ".join([rank, *(answer.actions[each][0].upper() for each in row)]))
    return rows
