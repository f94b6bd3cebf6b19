"""The chips of each line of a street, as the kernels of a GPU read them."""

from __future__ import annotations

from typing import Any

import numpy as np

from openfelt.core.jit import Floats
from openfelt.games.holdem import MOST_BETS
from openfelt.solve.vector.betting_lines import LINES, StreetLines

POT, PAID, PAID_NEXT, PAID_LAST, PAID_ASIDE = range(5)
TERMS = 5
ALL_TERMS = LINES * TERMS
LEAST: Any = np.float32(-1e30)  # below every value


def terms_of(lines: StreetLines, opens: bool) -> Floats:
    """[roots, lines, TERMS] the pot of each line, and the terms of `back`.

    These are what was paid before the line's last bet, before the next one, and before the one that it
    raised. If both players check, the next one is the first bet of the raise sequence that we begin. If we
    open, that bet is also faced by hands that the opponent would have bet: PAID_ASIDE.
    """
    terms = np.zeros((lines.pot.shape[1], LINES, TERMS))
    terms[:, :, POT], terms[:, :, PAID] = lines.pot.T, lines.paid.T
    first = 1 + MOST_BETS if opens else 1
    for line in range(1, LINES):
        bet = (line - 1) % MOST_BETS + 1
        terms[:, line, PAID_NEXT] = lines.paid[line + 1] if bet < MOST_BETS else 0.0
        terms[:, line, PAID_LAST] = lines.paid[line - 1] if bet > 1 else 0.0
    terms[:, 0, PAID_NEXT] = lines.paid[first]
    if opens:
        terms[:, 1, PAID_ASIDE] = lines.paid[first]
    return terms
