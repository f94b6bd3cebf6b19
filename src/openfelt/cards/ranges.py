"""Ranges of hole cards as text and as weights: "QQ+, AKs, A5s-A2s:0.5" and an array [1326].

The notation is that of PioSolver, Flopzilla, Equilab and postflop-solver. Pairs of hole cards are numbered as
in `openfelt.cards.deck`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import PAIR_CARDS, PAIRS, RANKS, cards_text
from openfelt.cards.hand_classes import CELLS, PAIR_CELL, SIZE, cell_means
from openfelt.cards.range_terms import ALLOWED, NO_HAND, PIECE, parse_bracket, parse_term
from openfelt.core.errors import FeltError

MAX_LENGTH = 100_000
DECIMALS = 4  # of a written weight


def parse_range(text: str) -> NDArray[np.float64]:
    """The weights of a range written in the usual notation.

    Terms are separated by commas, semicolons, spaces or line ends; case is ignored.

    ======================  ==========================================================================
    term                    meaning
    ======================  ==========================================================================
    QQ, AKs, AKo, AK        a pair; suited, offsuit or all hands of two ranks
    QQ+                     this pair and all higher ones
    A8s+, ATo+, 96s+        the kicker rises to one below the high card, which is fixed: 96s, 97s, 98s
    QQ-22, 77-99            pairs from one to the other, in either order
    AQs-A2s                 the same high card, kickers from one to the other
    98s-54s                 both ranks fall together (equal gaps)
    AhKd                    one combination of two cards
    random, any, full, \\*   every hand
    none                    no hand
    AKs:0.5                 a weight from 0 to 1; without one, the weight is 1
    [50]AKs,AQs[/50]        weights of PioSolver, in percent, for all terms between the brackets
    ======================  ==========================================================================

    Where several terms contain the same combination, the last one sets its weight: "QQ+, KK:0.5" holds kings
    with 0.5, and "random, 72o:0" is every hand but 72o.

    "JTs+" is JTs alone because the high card is fixed, as in PokerKit; postflop-solver also adds QJs, KQs and
    AKs. Write "AKs-JTs" for those. Top-percent ranges ("50%") are not supported.

    Parameters
    ----------
    text : str
        At most 100,000 characters.

    Returns
    -------
    array [1326]
        Weights from 0 to 1 in the pair order of `openfelt.cards.deck`.

    Examples
    --------
    >>> int(felt.parse_range("QQ+, AKs").sum())
    22
    >>> float(felt.parse_range("AK, AKo:0.25").sum())  # 4 suited, 12 offsuit
    7.0
    """
    _check_text(text)
    weights = np.zeros(PAIRS)
    bracket: float | None = None  # weight of the open bracket
    count = 0
    for piece in PIECE.finditer(_close_up(text)):
        term = piece["term"]
        if term is not None:
            count += 1
            pairs, weight = parse_term(term, bracket)
            weights[pairs] = weight
        else:
            bracket = parse_bracket(piece, bracket)
    if bracket is not None:
        raise FeltError(f"A weight bracket is not closed; end it with [/{100 * bracket:g}].")
    if not count:
        raise FeltError(f"The range is empty; {ALLOWED}, or 'none'.")
    return weights


def format_range(weights: NDArray[np.float64]) -> str:
    """A range in the usual notation, as short as its usual terms allow.

    No term overrides another one, so programs that resolve such terms differently read the same range.
    Weights are written with four decimals: `parse_range` returns the same weights to within 1e-4.

    Parameters
    ----------
    weights : array [1326]
        Weights from 0 to 1.

    Returns
    -------
    str
        Pairs first, then hands of two ranks (all, suited, offsuit), then single combinations; "random" for
        every hand, "none" for no hand.

    Examples
    --------
    >>> felt.format_range(felt.parse_range("AA,KK,QQ; AKs; A5s:0.5 A4s:0.5 A3s:0.5 A2s:0.5"))
    'QQ+, AKs, A5s-A2s:0.5'
    """
    rounded = np.round(check_weights(weights), DECIMALS)
    if np.all(rounded == rounded[0]):
        return _Term("random", float(rounded[0])).text() if rounded[0] else NO_HAND
    least, most = np.ones(CELLS), np.zeros(CELLS)
    np.minimum.at(least, PAIR_CELL, rounded)
    np.maximum.at(most, PAIR_CELL, rounded)
    grid = np.where(least == most, most, 0.0).reshape(SIZE, SIZE)
    mixed = (least != most)[PAIR_CELL] & (rounded > 0)
    combinations = [
        _Term(cards_text(PAIR_CARDS[pair, ::-1].tolist()), float(rounded[pair]))
        for pair in np.flatnonzero(mixed)[::-1]
    ]
    return ", ".join(term.text() for term in [*_class_terms(grid), *combinations])


def range_matrix(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean weight of each class of hole cards in the usual grid.

    Parameters
    ----------
    weights : array [1326]
        Weights from 0 to 1.

    Returns
    -------
    array [13, 13]
        Aces first, suited hands above the diagonal.

    Examples
    --------
    >>> range_matrix(parse_range("AA:0.5, AKs, AhKd"))[:2, :2].round(3).tolist()
    [[0.5, 1.0], [0.083, 0.0]]
    """
    return cell_means(check_weights(weights))


def check_weights(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights of a range as an array [1326]; raises FeltError unless all are from 0 to 1."""
    array = np.asarray(weights, float)
    if array.shape != (PAIRS,):
        raise FeltError(f"A range has one weight for each of the 1,326 hands; the shape is {array.shape}.")
    if not np.all((array >= 0) & (array <= 1)):
        raise FeltError("The weights of a range are numbers from 0 to 1; at least one is not.")
    return array


def _check_text(text: str) -> None:
    if len(text) > MAX_LENGTH:
        raise FeltError(f"The range has {len(text):,} characters; at most {MAX_LENGTH:,} are allowed.")
    for character in text:
        if not (" " <= character <= "~" or character in "\t\r\n"):
            raise FeltError(f"The range contains {character!a}, which is not printable ASCII; {ALLOWED}.")


def _close_up(text: str) -> str:
    """The text without the spaces that belong to a term: "QQ - 22", "QQ +", "AKs : 0.5"."""
    return re.sub(r" ?([-:]) ?| (\+)", r"\1\2", re.sub(r"\s+", " ", text))


class _Term(NamedTuple):
    """One term of a written range."""

    hands: str
    weight: float

    def text(self) -> str:
        number = f"{self.weight:.{DECIMALS}f}".rstrip("0").rstrip(".")
        return self.hands if self.weight == 1 else f"{self.hands}:{number}"


def _class_terms(grid: NDArray[np.float64]) -> list[_Term]:
    """The terms of all classes; the grid [13, 13] has 0 where a class is not written as a whole."""
    ranks = RANKS[::-1]
    by_suits: dict[str, list[_Term]] = {"": [], "s": [], "o": []}
    for row, high in enumerate(ranks):
        names = [high + kicker for kicker in ranks[row + 1 :]]
        suited, offsuit = grid[row, row + 1 :], grid[row + 1 :, row]
        equal = suited == offsuit
        joint = {
            "": _line_terms(names, "", np.where(equal, suited, 0)),
            "s": _line_terms(names, "s", np.where(equal, 0, suited)),
            "o": _line_terms(names, "o", np.where(equal, 0, offsuit)),
        }
        apart = {"s": _line_terms(names, "s", suited), "o": _line_terms(names, "o", offsuit)}
        for suits, terms in min((joint, apart), key=_length).items():
            by_suits[suits] += terms
    pairs = _line_terms([rank * 2 for rank in ranks], "", grid.diagonal())
    return [*pairs, *(term for terms in by_suits.values() for term in _join_connectors(terms))]


def _length(terms: dict[str, list[_Term]]) -> int:
    return sum(len(term.text()) + len(", ") for group in terms.values() for term in group)


def _line_terms(names: Sequence[str], suits: str, weights: NDArray[np.float64]) -> list[_Term]:
    """Terms of a line of classes from the highest down, such as AKs, AQs, ..., A2s or AA, KK, ..., 22."""
    terms, first = [], 0
    for end in range(1, len(names) + 1):
        if end < len(names) and weights[end] == weights[first]:
            continue
        hands = names[end - 1] + suits
        if end - first > 1:
            hands = f"{names[first]}{suits}-{hands}" if first else hands + "+"
        if weights[first]:
            terms.append(_Term(hands, float(weights[first])))
        first = end
    return terms


def _join_connectors(terms: Sequence[_Term]) -> list[_Term]:
    """Terms from the highest down, with three or more such as 76s, 65s, 54s written as 76s-54s."""
    single = {term for term in terms if len(term.hands) <= 3 and not term.hands.endswith("+")}
    joined, done = [], set[_Term]()
    for term in terms:
        if term in done:
            continue
        chain = [term] if term in single else []
        while chain and (lower := _one_rank_lower(chain[-1])) and lower in single:
            chain.append(lower)
        if len(chain) >= 3:
            done.update(chain)
            joined.append(_Term(f"{chain[0].hands}-{chain[-1].hands}", term.weight))
        else:
            joined.append(term)
    return joined


def _one_rank_lower(term: _Term) -> _Term | None:
    """The term with both ranks one lower, if there is such a hand."""
    high, low = (RANKS.index(rank) for rank in term.hands[:2])
    return _Term(RANKS[high - 1] + RANKS[low - 1] + term.hands[2:], term.weight) if low else None
