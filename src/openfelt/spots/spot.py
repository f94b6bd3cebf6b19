"""A spot: two ranges, a board, a pot, stacks and bet sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import BOARD_CARDS, PAIR_CARDS, STREETS, Cards, cards_text, parse_cards
from openfelt.cards.ranges import check_weights, format_range, parse_range
from openfelt.core.devices import CPU
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.games.bet_size_kinds import BetSpot
from openfelt.games.bet_sizes import BetSizes, Thresholds, parse_sizes
from openfelt.spots.betting import Rake, Rules, Situation, Street, build_streets
from openfelt.spots.runouts import Runouts, build_runouts

if TYPE_CHECKING:
    from openfelt.spots.locks import Lock
    from openfelt.spots.solution import Solution
    from openfelt.spots.solver import Progress

PLAYERS = ("oop", "ip")
LIMIT = "limit"
LIMIT_BETS = 4  # bets and raises on a street of limit hold'em
MOST_CHIPS = 10**9
ROUNDING = 1e-12  # relative sums below this are none
Sizes = str | Mapping[str, str]
RangeLike = str | Sequence[float] | NDArray[np.float64]


class BlockedRangeError(FeltError):
    """No hand of a range is possible on the board, or against the other range."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Spot:
    """A postflop spot of two players: the one out of position (OOP) acts first on every street.

    Parameters
    ----------
    oop, ip : str or array of shape (1326,)
        The ranges: "QQ+, AKs, A5s-A2s:0.5", or a weight for each pair of hole cards.
    board : str
        Three to five cards: "Td9d6h".
    pot, stack : int
        Chips in the pot, and behind for each player (the effective stack).
    bets, raises : str or mapping
        Sizes, for everybody or by street and player: ``{"flop": "33%", "oop river": "75%, a"}``. The most
        specific entry counts; "" is the rest. "60%" is a share of the pot, "2.5x" a multiple of the last bet
        (raises only), "120c" chips, "e" geometric, "a" all-in. ``bets="limit"`` is limit betting: one big
        blind on the flop, two on turn and river, four bets a street.
    big_blind : int
        Used by limit betting only.
    rake, rake_cap : float
        The share of the pot that the house takes, and the most it takes, in chips.
    thresholds : Thresholds
        When to add or force an all-in, and to merge sizes (``openfelt.games.bet_sizes``); off by default.

    Examples
    --------
    >>> spot = felt.Spot(oop="AA,QQ", ip="KK", board="2c3d4h8s9s", pot=100, stack=100, bets="100%")
    >>> solution = spot.solve(until=0.01)
    >>> round(solution.values[0], 1)
    75.0
    """

    oop: RangeLike
    ip: RangeLike
    board: Cards
    pot: int
    stack: int
    bets: Sizes = "60%"
    raises: Sizes = "2.5x"
    big_blind: int = 2
    rake: float = 0.0
    rake_cap: float = float("inf")
    thresholds: Thresholds = field(default=Thresholds())

    def __post_init__(self) -> None:
        cards = parse_cards(self.board)
        if len(cards) not in BOARD_CARDS[1:]:
            raise FeltError(f"The board of a spot has three to five cards, not {len(cards)}.")
        object.__setattr__(self, "board", cards_text(cards))
        object.__setattr__(self, "thresholds", Thresholds(*self.thresholds))  # JSON has lists
        if self.rake_cap is None:  # and no infinity
            object.__setattr__(self, "rake_cap", float("inf"))
        for name in ("pot", "stack", "big_blind"):
            amount = getattr(self, name)
            least = 0 if name == "stack" else 1
            if not isinstance(amount, int | np.integer) or not least <= amount <= MOST_CHIPS:
                label = name.replace("_", " ")
                raise FeltError(
                    f"The {label} is a whole number of chips from {least} to {MOST_CHIPS:,}, not {amount}."
                )
            object.__setattr__(self, name, int(amount))
        if not 0 <= self.rake < 1 or not self.rake_cap >= 0:
            raise FeltError(
                f"The rake is a share of the pot from 0 to 1 with a cap of at least 0 chips, not {self.rake} "
                f"and {self.rake_cap}."
            )
        self._check_ranges()
        for street in range(self.street, len(STREETS)):  # the sizes, before any work
            for player in (0, 1):
                self._sizes(street, player)

    @property
    def cards(self) -> tuple[int, ...]:
        return parse_cards(self.board)

    @property
    def street(self) -> int:
        """The street of the board: FLOP, TURN or RIVER."""
        return BOARD_CARDS.index(len(self.cards))

    @cached_property
    def ranges(self) -> Floats:
        """[2, 1326] the weights of OOP's and IP's hands; 0 for hands that share a card with the board."""
        weights = np.array([_weights(name, getattr(self, name)) for name in PLAYERS])
        weights[:, np.isin(PAIR_CARDS, self.cards).any(axis=1)] = 0.0
        return weights

    @cached_property
    def streets(self) -> list[Street]:
        """The betting trees."""
        rules = Rules(int(self.pot), int(self.stack), Rake(self.rake, self.rake_cap))
        return build_streets(self.street, rules, self._choose)

    @cached_property
    def runouts(self) -> list[Runouts]:
        """The boards, with isomorphic ones merged."""
        return build_runouts(self.cards, self.ranges)

    def solve(
        self,
        until: float = 0.5,
        *,
        iterations: int = 10_000,
        seconds: float = float("inf"),
        locks: Sequence[Lock] = (),
        threads: int = 1,
        compress: bool = False,
        device: str = CPU,
        progress: Progress | None = None,
    ) -> Solution:
        """Solve the spot by discounted CFR.

        Parameters
        ----------
        until : float
            The exploitability to reach, in percent of the pot.
        iterations, seconds
            Budgets; the first that is used up ends the run.
        locks : sequence of Lock
            Decisions whose strategy is given; the rest is solved around them.
        threads : int
            The result does not depend on it.
        compress : bool
            Tables of 16 bits: half the memory, somewhat slower. On the CPU only.
        device : {"cpu", "cuda", "auto"}
            Where to solve. The strategies of a GPU differ from those of the CPU by rounding.
        progress : callable, optional
            Called every ten iterations with iterations, exploitability and seconds; True stops.
        """
        from openfelt.spots.solution import solve
        from openfelt.spots.solver import Budget

        budget = Budget(iterations, seconds)
        options = {"locks": tuple(locks), "threads": threads, "compress": compress, "device": device}
        return solve(self, until, progress=progress, budget=budget, **options)

    def as_dict(self) -> dict[str, object]:
        """The spot as JSON values; `Spot(**...)` makes it again."""
        facts: dict[str, object] = {
            name: format_range(self.ranges[number]) for number, name in enumerate(PLAYERS)
        }
        for name in ("board", "pot", "stack", "bets", "raises", "big_blind", "rake"):
            value = getattr(self, name)
            facts[name] = dict(value) if isinstance(value, Mapping) else value
        facts["rake_cap"] = None if np.isinf(self.rake_cap) else self.rake_cap
        facts["thresholds"] = list(self.thresholds)
        return facts

    def _check_ranges(self) -> None:
        ranges = self.ranges
        for name, weights in zip(PLAYERS, ranges, strict=True):
            if not weights.any():
                raise BlockedRangeError(
                    f"The board {self.board} blocks every hand of the range of {name.upper()}."
                )
        if not any_compatible(ranges):
            raise BlockedRangeError("Each hand of one range shares a card with every hand of the other.")

    def _sizes(self, street: int, player: int) -> tuple[BetSizes | None, BetSizes]:
        """The sizes of bets and raises; None for limit betting."""
        bets, raises = (_chosen(name, getattr(self, name), street, player) for name in ("bets", "raises"))
        if bets.strip().lower() == LIMIT:
            return None, BetSizes()
        return parse_sizes(bets, first_bet=True), parse_sizes(raises)

    def _choose(self, now: Situation) -> list[int]:
        own, other = now.bets[now.player], now.bets[1 - now.player]
        if other >= now.stack:
            return []
        bets, raises = self._sizes_of[now.street, now.player]
        if bets is None:
            if now.raises >= LIMIT_BETS:
                return []
            return [min(other + self.big_blind * (1 if now.street == 1 else 2), now.stack)]
        spot = BetSpot(
            pot=now.pot,
            stack=now.stack,
            last_bet=other,
            committed=own,
            streets=len(STREETS) - now.street,
            raises=max(now.raises - 1, 0),
            min_bet=other + now.last_raise if other else None,
        )
        return (raises if other else bets).amounts(spot, self.thresholds)

    @cached_property
    def _sizes_of(self) -> dict[tuple[int, int], tuple[BetSizes | None, BetSizes]]:
        return {
            (street, player): self._sizes(street, player)
            for street in range(self.street, len(STREETS))
            for player in (0, 1)
        }


def any_compatible(ranges: Floats) -> bool:
    """Whether some hand of one range shares no card with some hand of the other."""
    return total_weight((ranges > 0).astype(np.float64)) > 0  # whole numbers: sums are exact


def total_weight(ranges: Floats) -> float:
    """The sum over all pairs of hands without a common card of the product of their weights."""
    return float(ranges[0] @ compatible_weight(ranges[1]))


def compatible_weight(weights: Floats) -> Floats:
    """[1326] for each hand the total weight of the hands that share no card with it."""
    of_card = np.zeros(52)
    for side in (0, 1):
        np.add.at(of_card, PAIR_CARDS[:, side], weights)
    met = weights.sum() - of_card[PAIR_CARDS[:, 0]] - of_card[PAIR_CARDS[:, 1]] + weights
    return np.asarray(np.where(met > ROUNDING * weights.sum(), met, 0.0))


def _weights(name: str, given: RangeLike) -> Floats:
    if isinstance(given, str):
        try:
            return parse_range(given)
        except FeltError as error:
            raise FeltError(f"The range of {name.upper()}: {error}") from None
    return check_weights(np.asarray(given, np.float64))


def _chosen(name: str, sizes: Sizes, street: int, player: int) -> str:
    if isinstance(sizes, str):
        return sizes
    if not isinstance(sizes, Mapping) or not all(isinstance(each, str) for each in sizes.values()):
        raise FeltError(f"The {name} are text ('60%, a') or a mapping from streets and players to text.")
    who, when = PLAYERS[player], STREETS[street]
    known = ["", *PLAYERS, *STREETS[1:], *(f"{one} {two}" for one in PLAYERS for two in STREETS[1:])]
    for key in sizes:
        if key not in known:
            raise FeltError(f"'{key}' is not a street or player of {name}; known: {', '.join(known[1:])}.")
    for key in (f"{who} {when}", when, who, ""):
        if key in sizes:
            return sizes[key]
    return "none"
