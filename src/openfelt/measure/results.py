"""Results of measurements, for every kind of game: they print themselves and convert to JSON."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from openfelt.measure.holdem.leaks import Leaks
    from openfelt.policy.tabular import TabularPolicy


@dataclass(frozen=True)
class Origin:
    """How a number was computed."""

    flops: int = 0  # number of sampled flops; 0: all
    half_width: float = 0.0  # of the 95% interval of the mean over seats; 0: exact
    seconds: float = 0.0
    device: str = ""
    turns: int = 0  # number of sampled turns of each flop; 0: all
    rivers: int = 0  # number of sampled rivers of each turn; 0: all
    # What a response wins that is fitted to one half of the sampled cards, on the other; and its half width.
    held_out: tuple[float, float] | None = None

    @property
    def is_exact(self) -> bool:
        """Whether nothing was sampled."""
        return self.half_width == 0.0

    def interval(self, mean: float) -> tuple[float, float]:
        """The 95% interval; with a held-out value that of an exploitability, which is not negative."""
        if self.held_out is None:
            return mean - self.half_width, mean + self.half_width
        return max(0.0, self.held_out[0] - self.held_out[1]), mean + self.half_width

    def as_dict(self, mean: float) -> dict[str, Any]:
        """For JSON; `mean` is the number."""
        if not self.device:
            return {}
        sampled = {"turns": self.turns or "all", "rivers": self.rivers or "all"}
        return {
            "interval_95": list(self.interval(mean)),
            "flops": self.flops or "all",
            **(sampled if self.turns or self.rivers else {}),
            **({"held_out": self.held_out[0]} if self.held_out else {}),
            "seconds": self.seconds,
            "device": self.device,
        }

    def lines(self, caveat: str = "") -> list[str]:
        """As text; the caveat is one of estimates."""
        if not self.device:
            return []
        cards = f"{self.flops:,} flops"
        if self.turns or self.rivers:
            cards += f", {self.turns or 'all'} turns of each and {self.rivers or 'all'} rivers of each turn"
        estimate = [f"estimated from {cards}{caveat}"] if self.flops else []
        return [*estimate, f"{self.seconds:.1f} seconds on {self.device}"]


@dataclass(frozen=True)
class Exploitability:
    """What the players of a profile could gain by deviating. All numbers are in `unit`.

    `values` is None if only best responses were computed: in a two-player zero-sum game the values of the
    two players cancel out in nash_conv.
    """

    name: str  # of the policy; that of its game if it has none
    game: str
    unit: str  # "chips per game", "mbb/h"
    seats: tuple[str, ...]  # names of the players
    best_responses: tuple[float, ...]  # value of each player's best response
    values: tuple[float, ...] | None  # value of each player under the profile
    origin: Origin = Origin()
    leaks: tuple[Leaks, ...] = ()  # by seat of the best response, if requested

    @property
    def gains(self) -> tuple[float, ...] | None:
        """What each player gains by a best response."""
        if self.values is None:
            return None
        return tuple(best - value for best, value in zip(self.best_responses, self.values, strict=True))

    @property
    def nash_conv(self) -> float:
        """The sum of the gains; zero if and only if the profile is an equilibrium."""
        return sum(self.best_responses) if self.gains is None else sum(self.gains)

    @property
    def exploitability(self) -> float:
        """nash_conv divided by the number of players."""
        return self.nash_conv / len(self.seats)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "policy": self.name,
            "game": self.game,
            "nash_conv": self.nash_conv,
            "exploitability": self.exploitability,
            "values": self.values,
            "best_responses": self.best_responses,
            "unit": self.unit,
            **_in_mbb(self.exploitability, self.unit),
            **self.origin.as_dict(self.exploitability),
            **({"leaks": [leaks.as_dict() for leaks in self.leaks]} if self.leaks else {}),
        }

    def __str__(self) -> str:
        digits = 2 if self.origin.device else 6
        width = f" ± {self.origin.half_width:.2f} (95%)" if not self.origin.is_exact else ""
        shown = f"{self.exploitability:.2f}" if self.origin.device else f"{self.exploitability:.6g}"
        total = f"{self.nash_conv:.2f}" if self.origin.device else f"{self.nash_conv:.6g}"
        lines = [
            self.name,
            f"  exploitability  {shown}{width} {self.unit} (nash_conv / {len(self.seats)} players)",
            f"  nash_conv       {total} {self.unit} (sum of what each player gains by a best response)",
        ]
        for place, (seat, best) in enumerate(zip(self.seats, self.best_responses, strict=True)):
            if self.values is None:
                lines.append(f"  {seat}: best response {best:+.{digits}f} {self.unit}")
            else:
                value = self.values[place]
                lines.append(
                    f"  {seat}: value {value:+.{digits}f}, best response {best:+.{digits}f}, "
                    f"gain {best - value:.{digits}f} {self.unit}"
                )
        return "\n".join([*lines, *(f"  {line}" for line in self._origin_lines())])

    def _origin_lines(self) -> list[str]:
        if self.origin.held_out is None:
            caveat = "; the preflop best response is fitted to them, so the estimate is biased upwards"
            return self.origin.lines(caveat)
        cards, *rest = self.origin.lines(
            "; the best response is fitted to these cards, so the estimate is biased upwards"
        )
        (won, half_width), (low, high) = self.origin.held_out, self.origin.interval(self.exploitability)
        return [
            cards,
            f"a response fitted to one half of the cards wins {won:.2f} ± {half_width:.2f} {self.unit} (95%) "
            "on the other half",
            f"so the exploitability is between {low:.2f} and {high:.2f} {self.unit} (95%)",
            *rest,
        ]


@dataclass(frozen=True, eq=False)
class BestResponse:
    """The best response of one player to the opponents, and its value."""

    player: int
    value: float
    unit: str
    policy: TabularPolicy | None  # the profile with the player's pure best response

    def __str__(self) -> str:
        return f"A best response of player {self.player} gets {self.value:+.6g} {self.unit}."


@dataclass(frozen=True)
class Value:
    """What a policy wins from another by seat; the opponent takes all other seats."""

    name: str
    opponent: str
    game: str
    unit: str
    seats: tuple[str, ...]
    by_seat: tuple[float, ...]
    origin: Origin = Origin()
    hands: int = 0  # played; 0: expected values
    deals: int = 0  # each played in every seat

    @property
    def mean(self) -> float:
        """Mean over the seats."""
        return float(np.mean(self.by_seat))

    @property
    def half_width(self) -> float:
        """Of the 95% interval of the mean; 0 if it is exact."""
        return self.origin.half_width

    def from_the_other_side(self) -> Value:
        """The same result for the opponent, in a two-player game."""
        won = tuple(-each for each in reversed(self.by_seat))
        return replace(self, name=self.opponent, opponent=self.name, by_seat=won)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        facts: dict[str, Any] = {"policy": self.name, "opponent": self.opponent, "game": self.game}
        facts |= {
            "mean": self.mean,
            "by_seat": self.by_seat,
            "unit": self.unit,
            **_in_mbb(self.mean, self.unit),
        }
        facts |= self.origin.as_dict(self.mean)
        if self.hands:
            low, high = self.mean - self.half_width, self.mean + self.half_width
            facts |= {"interval_95": [low, high], "deals": self.deals, "hands": self.hands}
        return facts

    def __str__(self) -> str:
        digits = 2 if self.hands or self.origin.device else 6
        width = (
            f" ± {self.half_width:.{digits}f} (95%)" if self.hands or not self.origin.is_exact else ", exact"
        )
        seats = ", ".join(
            f"{won:+.{digits}f} as {seat}" for seat, won in zip(self.seats, self.by_seat, strict=True)
        )
        lines = [
            f"{self.name} against {self.opponent}, in {self.game}",
            f"  {self.mean:+.{digits}f} {self.unit}{width}",
            f"  by seat: {seats}",
        ]
        if self.hands:
            lines.append(f"  {self.hands:,} hands: {self.deals:,} deals, each played in every seat")
        return "\n".join([*lines, *(f"  {line}" for line in self.origin.lines())])


def _in_mbb(mean: float, unit: str) -> dict[str, float]:
    """The number under a key that names its unit, where that is mbb/h."""
    return {"mbb_per_hand": mean} if unit == "mbb/h" else {}
