"""A solved spot: what each player wins, and every decision of the tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from openfelt.cards.boards import COMPOSED, IDENTITY, PERMUTED_CARD, PERMUTED_PAIR
from openfelt.cards.deck import BOARD_CARDS, CARDS, PAIRS, STREETS, card_text, cards_text
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.spots.betting import FOLD, ON, Rules, build_streets
from openfelt.spots.decisions import Discounts, Reals
from openfelt.spots.engine import NO_DISCOUNTS, Engine, average_strategy, traverse
from openfelt.spots.lines import Line, find_place, is_card, parse_line
from openfelt.spots.node import NEVER, Node, empty_rows
from openfelt.spots.runouts import Runouts, pairs_of
from openfelt.spots.solver import Budget, Progress, SpotSolver
from openfelt.spots.spot import PLAYERS, Spot, compatible_weight
from openfelt.spots.traversal import (
    EXPECTED,
    Pass,
    Reach,
    Which,
    Workspace,
    begin,
    new_workspace,
    rivers,
)

PASS = Pass(EXPECTED, Discounts(*map(np.float32, NO_DISCOUNTS)))


@dataclass(frozen=True, eq=False)
class Solution:
    """The result of `Spot.solve`.

    Attributes
    ----------
    spot : Spot
    values : tuple of float
        What OOP and IP get of the pot, in chips; without rake they add up to the pot.
    exploitability : float
        The mean over players of what a best response gains, in percent of the pot.
    iterations : int
    seconds : float
    """

    spot: Spot
    engine: Engine
    values: tuple[float, float]
    exploitability: float
    iterations: int
    seconds: float

    def node(self, line: str = "") -> Node:
        """The decision that a line leads to.

        Parameters
        ----------
        line : str
            Actions and cards: "x b120 c 2s x". Actions are f, x, c, b120, r300 and a.
        """
        parsed = parse_line(line)
        street, place = find_place(self.spot, parsed)
        boards = self._boards(parsed, street)
        return self._walker.node(str(parsed), boards, street, place)

    def runouts(self, line: str) -> list[Node]:
        """The decisions after each card that can be dealt at the end of a line: "x x" for all turns."""
        parsed = parse_line(line)
        street, place = find_place(self.spot, parsed)
        here = self.spot.streets[street].places[place]
        missing = street - len(parsed.cards)  # cards of the streets so far that the line does not name
        is_all_in = here.kind == ON and street < len(self.spot.streets) - 1
        if here.line or missing != (0 if is_all_in and missing == 0 else 1):
            raise FeltError(f"No card is dealt after '{line}'.")
        known = {*self.spot.cards, *parsed.cards}
        return [self.node(f"{line} {card_text(card)}") for card in range(CARDS) if card not in known]

    def strategy(self, line: str, board: Sequence[int]) -> Floats:
        """[actions, 1326] what is played after a line without cards, on a board of its street.

        Hands that are not in the player's range take all actions equally often.
        """
        street, place = find_place(self.spot, parse_line(line))
        here = self.spot.streets[street].places[place]
        if not here.actions or len(board) != BOARD_CARDS[self.spot.street + street]:
            raise FeltError(f"There is no decision after '{line}' on the board {cards_text(board)}.")
        cards = self.spot.cards
        if tuple(board[: len(cards)]) != cards:
            raise FeltError(f"The board of this solution begins with {self.spot.board}.")
        number, suits = find_boards(self.engine.runouts, board[len(cards) :], cards)[-1]
        strategy = np.full((len(here.actions), PAIRS), 1.0 / len(here.actions))
        pairs = _pairs(self.engine.runouts[street], here.kind, number, suits)
        strategy[:, pairs] = average_strategy(self.engine.levels[street], number, place)
        return strategy

    @property
    def locked(self) -> list[tuple[int, int]]:
        """The locked decisions: street (0 for the spot's first) and place."""
        found = []
        for street, level in enumerate(self.engine.levels):
            places = np.flatnonzero(level.betting.kind < FOLD)
            locked = level.tables.locked[:, level.betting.decision[places]].any(axis=0)
            found += [(street, int(place)) for place in places[locked]]
        return found

    def as_dict(self) -> dict[str, Any]:
        """The result as JSON values."""
        return {
            "spot": self.spot.as_dict(),
            "values": [round(value, 6) for value in self.values],
            "exploitability": round(self.exploitability, 6),
            "iterations": self.iterations,
            "seconds": round(self.seconds, 3),
        }

    def __str__(self) -> str:
        oop, ip = self.values
        return (
            f"OOP gets {oop:.3f} and IP {ip:.3f} of the pot of {self.spot.pot} chips; exploitability "
            f"{self.exploitability:.3f}% of the pot after {self.iterations} iterations "
            f"({self.seconds:.1f} s)."
        )

    @cached_property
    def _walker(self) -> _Walker:
        return _Walker(self.spot, self.engine)

    def _boards(self, line: Line, street: int) -> list[tuple[int, int]]:
        cards = line.cards
        if len(cards) != street:
            raise FeltError(
                f"The line '{line}' needs the card of the {STREETS[self.spot.street + len(cards) + 1]}."
                if len(cards) < street
                else f"No card is dealt after '{line}'."
            )
        return find_boards(self.engine.runouts, cards, self.spot.cards)


def solve(spot: Spot, until: float, *, progress: Progress | None, budget: Budget, **options: Any) -> Solution:
    """Solve a spot (see `Spot.solve`)."""
    solver = SpotSolver(spot, **options)
    measured = solver.run(budget.iterations, until=until, seconds=budget.seconds, progress=progress)
    values = solver.values()
    solver.fetch()
    solver.engine.release()
    return Solution(
        spot, solver.engine, values, measured.exploitability, measured.iterations, measured.seconds
    )


def find_boards(
    runouts: Sequence[Runouts], cards: Sequence[int], board: Sequence[int]
) -> list[tuple[int, int]]:
    """For each street the board that stands for the cards, and the permutation that leads to them."""
    found = [(0, IDENTITY)]
    for street, card in enumerate(cards, start=1):
        before, suits = found[-1]
        if card in board or card in cards[: street - 1]:
            raise FeltError(f"The card {card_text(card)} is already on the board.")
        here = runouts[street]
        first, last = runouts[street - 1].children[before], runouts[street - 1].children[before + 1]
        for each in range(first, last):
            for image in range(here.image[each], here.image[each + 1]):
                if PERMUTED_CARD[suits, here.image_card[image]] == card:
                    found.append((each, int(COMPOSED[here.image_suits[image], suits])))
    return found


class _Walker:
    """Evaluates decisions of a solved spot."""

    def __init__(self, spot: Spot, engine: Engine) -> None:
        self.spot, self.engine = spot, engine
        last = len(engine.levels) - 1
        self.work = [
            [
                new_workspace(level, np.float32, last=number == last)
                for number, level in enumerate(engine.levels)
            ]
            for _ in PLAYERS
        ]
        free = build_streets(spot.street, Rules(2, 0), lambda now: ())
        self.equity = Engine(free, engine.runouts, engine.weights)
        self.equity_work = [
            new_workspace(level, np.float32, last=number == last)
            for number, level in enumerate(self.equity.levels)
        ]

    def node(self, line: str, boards: list[tuple[int, int]], street: int, place: int) -> Node:
        """The node at a place of a street, on the boards of all streets so far."""
        found = self.spot.streets[street].places[place]
        board, suits = boards[street]
        runouts, betting = self.engine.runouts[street], self.engine.levels[street].betting
        pot = self.spot.pot + sum(found.paid)
        pairs = [_pairs(runouts, player, board, suits) for player in (0, 1)]
        ranges, ev, action_ev = np.zeros((2, 1326)), empty_rows(2), empty_rows(len(found.actions))
        chance = float(np.prod([each.chance[0] for each in self.engine.runouts[: street + 1]]))
        values = []
        for player in (0, 1):
            reach, rows, first = self._evaluate(player, [each for each, _ in boards], street, place)
            slot = betting.slot[player, place] - betting.slot_root[player, first]
            ranges[1 - player, pairs[1 - player]] = reach[slot, : len(pairs[1 - player])] / chance
            values.append(rows[:, : len(pairs[player])] / chance)
            offset = int(betting.root[first])
            met = compatible_weight(ranges[1 - player])[pairs[player]]
            middle = self.spot.pot / 2 + found.paid[player]
            ev[player, pairs[player]] = _per_hand(values[player][place - offset], met) + middle
            if player == found.kind:
                for number, child in enumerate(found.children):
                    after = _per_hand(values[player][child - offset], met)
                    action_ev[number, pairs[player]] = after + middle
        acting = found.kind if found.actions else None
        return Node(
            line,
            cards_text([*self.spot.cards, *_dealt(line)]),
            acting,
            pot,
            (self.spot.stack - found.paid[0], self.spot.stack - found.paid[1]),
            found.actions,
            ranges,
            self._strategy(street, board, place, pairs) if acting is not None else empty_rows(0),
            ev,
            action_ev,
            self._equities(street, board, ranges, pairs),
        )

    def _evaluate(self, player: int, boards: list[int], street: int, place: int) -> tuple[Reals, Reals, int]:
        """The opponent's reach by slot, the player's values by place, and the first street root of both."""
        levels, work, weights = self.engine.levels, self.work[player], self.engine.weights
        root = np.zeros((2, 1, max(map(len, weights)) + 1), np.float32)
        for who in (0, 1):
            root[who, 0, : len(weights[who])] = weights[who]
        before = Reach(root[1 - player], root[player])
        for number in range(street):
            begin(levels[number], player, boards[number], PASS, before, work[number])
            before = Reach(work[number].reach, work[number].own)
        return self._street(self.engine, player, boards[street], street, before, work, place)

    def _street(
        self,
        engine: Engine,
        player: int,
        board: int,
        street: int,
        before: Reach,
        work: Sequence[Workspace],
        place: int,
    ) -> tuple[Reals, Reals, int]:
        level = engine.levels[street]
        if street == len(engine.levels) - 1:
            root = engine.streets[street].places[place].root
            batch = int(np.searchsorted(level.betting.batch, root, side="right")) - 1
            which = Which(board, board + 1, batch, batch + 1)
            rivers(level, player, which, PASS, before, _parent_sums(engine, street, work), work[street])
            return work[street].reach, work[street].value, int(level.betting.batch[batch])
        sums = _parent_sums(engine, street, work)
        traverse(engine.levels[street:], player, board, PASS, before, sums, work[street:])
        return work[street].reach, work[street].value, 0

    def _strategy(self, street: int, board: int, place: int, pairs: list[Any]) -> Floats:
        level = self.engine.levels[street]
        player = int(level.betting.kind[place])
        shares = average_strategy(level, board, place)
        strategy = empty_rows(len(shares))
        strategy[:, pairs[player]] = shares
        return strategy

    def _equities(self, street: int, board: int, ranges: Floats, pairs: list[Any]) -> Floats:
        runouts = self.engine.runouts[street]
        equity = empty_rows(2)
        for player in (0, 1):
            other = 1 - player
            parents = int(runouts.parent.max()) + 2
            root = np.zeros((1, parents), np.float32)
            first, size = runouts.hands[other, board], runouts.size[other, board]
            root[0, runouts.parent[first : first + size]] = ranges[other, pairs[other]] / runouts.chance[0]
            before = Reach(root, root)
            _, rows, _ = self._street(self.equity, player, board, street, before, self.equity_work, 0)
            met = compatible_weight(ranges[other])[pairs[player]]
            won = rows[0, : len(pairs[player])].astype(np.float64)
            equity[player, pairs[player]] = 0.5 + 0.5 * _per_hand(won, met)
        return equity


def _parent_sums(engine: Engine, street: int, work: Sequence[Workspace]) -> Reals:
    """An array like the one that the values of a street are added to."""
    if street:
        return np.zeros_like(work[street - 1].value)
    return np.zeros((1, max(map(len, engine.weights)) + 1), np.float32)


def _pairs(runouts: Runouts, player: int, board: int, suits: int) -> Any:
    """The pairs of a player's list on a board, as seen through a permutation of suits."""
    return PERMUTED_PAIR[suits][pairs_of(runouts, player, board)]


def _per_hand(values: Reals, met: Floats) -> Floats:
    return np.asarray(np.where(met > NEVER, values / np.maximum(met, NEVER), np.nan))


def _dealt(line: str) -> list[int]:
    return list(parse_line(line).cards) if any(is_card(token) for token in line.split()) else []
