"""The betting trees of a spot, street by street, as arrays.

A street has one betting tree for each line that leads to it; such a tree's root is a *street root*. The
*places* of a street are its decisions and the ends of its lines, tree by tree, each before those that follow
it. A line ends in a fold, or it goes on: to a street root of the next street, or after the river to a
showdown. When both players are all-in, the trees of the later streets consist of one such end.

Chips are whole numbers. What a player wins or loses is counted from the middle of the starting pot: a player
who folds at once loses half of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from openfelt.cards.deck import STREETS
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, Ints

OOP, IP, FOLD, ON = range(4)  # kinds of places: the player to act, or how the line ends
BATCH_PLACES = 96  # trees of the river are computed in batches of about so many places
MOST_PLACES = 100_000  # of a street


class Action(NamedTuple):
    """An action and the chips that its player then has put in on this street."""

    name: str  # "fold", "check", "call", "bet", "raise" or "all-in"
    to: int

    def __str__(self) -> str:
        return self.name if self.name in ("fold", "check", "call") else f"{self.name} {self.to}"

    @property
    def code(self) -> str:
        """The action in a line: "f", "x", "c", "b120", "r300"; an all-in is "a"."""
        letter = {"fold": "f", "check": "x", "call": "c", "bet": "b", "raise": "r", "all-in": "a"}[self.name]
        return f"{letter}{self.to}" if letter in "br" else letter


class Situation(NamedTuple):
    """What the rules of betting depend on at a decision."""

    street: int  # FLOP, TURN or RIVER
    pot: int  # before the bets of this street
    stack: int  # each player's at the beginning of this street
    bets: tuple[int, int]  # chips put in on this street
    player: int
    raises: int  # bets and raises on this street so far
    last_raise: int  # by how much the last bet or raise went up


Choose = Callable[[Situation], Sequence[int]]  # the chips to which the player may bet or raise


class Rake(NamedTuple):
    """What the house takes from a pot: a share of it, up to a cap."""

    share: float = 0.0
    cap: float = np.inf

    def of(self, pot: float) -> float:
        """The rake of a pot."""
        return min(self.share * pot, self.cap)


@dataclass
class Place:
    """A decision, or the end of a line on this street."""

    kind: int
    line: tuple[Action, ...]  # actions of this street
    root: int
    paid: tuple[int, int]  # chips put in since the beginning of the spot
    actions: tuple[Action, ...] = ()
    children: list[int] = field(default_factory=list)


class BettingArrays(NamedTuple):
    """The betting trees of one street."""

    kind: Ints  # [places]
    actions: Ints  # [places] their number
    first_child: Ints  # [places] into `child`
    child: Ints  # [edges] places
    entry: Ints  # [places] the first of the decision's rows in its player's tables
    decision: Ints  # [places] the decision's number
    next_root: Ints  # [places] the street root that the line goes on to; -1 after the river
    root: Ints  # [roots + 1] first place of each tree
    # The opponent's reach changes at its own actions only. It is stored in slots: one for each street root,
    # and one for each action of the opponent.
    slot: Ints  # [2, places] by the player whose opponent it is
    slot_root: Ints  # [2, roots + 1] first slot of each tree
    from_slot: Ints  # [2, roots] slot of the previous street that leads to this root
    from_place: Ints  # [roots] place of the previous street that leads to it
    win: Floats  # [2, places] at a showdown; at a fold: what the player gets
    tie: Floats  # [2, places]
    lose: Floats  # [2, places]
    batch: Ints  # [batches + 1] first street root of each batch
    # A lane is a slot at which a line ends: a player who calls or folds does so at the same slot.
    lane: Ints  # [2, batches + 1] first lane of each batch
    lane_slot: Ints  # [2, lanes]
    lane_fold: Ints  # [2, lanes] the place of the fold; -1 if there is none
    lane_on: Ints  # [2, lanes] the place of the showdown; -1 if there is none


class Street:
    """The betting trees of one street: readable places, and the same as arrays."""

    def __init__(self, street: int, roots: Sequence[Root], choose: Choose, rules: Rules) -> None:
        self.street, self.roots = street, list(roots)
        self.places: list[Place] = []
        self._first = [0]
        for number, root in enumerate(roots):
            self._grow(number, root, choose, rules)
            self._first.append(len(self.places))
        self.entries = [0, 0]
        self.next_roots: list[Root] = []
        self.arrays = self._arrays(rules)

    @property
    def name(self) -> str:
        return STREETS[self.street]

    @property
    def decisions(self) -> int:
        return sum(place.kind < FOLD for place in self.places)

    def _grow(self, number: int, root: Root, choose: Choose, rules: Rules) -> None:
        pot, stack = rules.pot + 2 * root.paid, rules.stack - root.paid
        start = Situation(self.street, pot, stack, (0, 0), OOP, 0, 0)

        def add(kind: int, line: tuple[Action, ...], bets: tuple[int, int]) -> int:
            paid = root.paid + bets[0], root.paid + bets[1]
            self.places.append(Place(kind, line, number, paid))
            if len(self.places) > MOST_PLACES:
                raise FeltError(
                    f"The betting tree has more than {MOST_PLACES:,} decisions and ends of lines; give "
                    "fewer sizes."
                )
            return len(self.places) - 1

        def grow(line: tuple[Action, ...], now: Situation) -> int:
            place = add(now.player, line, now.bets)
            actions = legal_actions(now, choose(now))
            children = []
            for action in actions:
                after = (*line, action)
                if action.name == "fold":
                    children.append(add(FOLD, after, now.bets))
                elif action.name == "call" or (action.name == "check" and now.player == IP):
                    called = max(now.bets)
                    children.append(add(ON, after, (called, called)))
                else:
                    children.append(grow(after, follow(now, action)))
            self.places[place].actions, self.places[place].children = tuple(actions), children
            return place

        if stack:
            grow((), start)
        else:
            add(ON, (), (0, 0))

    def _arrays(self, rules: Rules) -> BettingArrays:
        places, roots = self.places, len(self.roots)
        count = len(places)
        kind = np.array([place.kind for place in places], np.int32)
        actions = np.array([len(place.children) for place in places], np.int32)
        first_child = np.concatenate([[0], np.cumsum(actions)[:-1]]).astype(np.int32)
        child = np.array([each for place in places for each in place.children], np.int32)
        entry = np.full(count, -1, np.int32)
        decision = np.full(count, -1, np.int32)
        next_root = np.full(count, -1, np.int32)
        slot = np.zeros((2, count), np.int32)
        slot_root = np.zeros((2, roots + 1), np.int32)
        from_slots: list[tuple[int, int]] = []
        used, decisions = [0, 0], 0
        for number in range(roots):
            slot[:, self._first[number]] = used
            slot_root[:, number] = used
            used = [used[0] + 1, used[1] + 1]
            for at in range(self._first[number], self._first[number + 1]):
                place = places[at]
                if place.kind == ON and self.street < len(STREETS) - 1:
                    next_root[at] = len(self.next_roots)
                    line = (*self.roots[number].lines, place.line)
                    self.next_roots.append(Root(place.paid[0], at, line))
                    from_slots.append((int(slot[0, at]), int(slot[1, at])))
                if place.kind < FOLD:
                    entry[at], decision[at] = self.entries[place.kind], decisions
                    self.entries[place.kind] += len(place.children)
                    decisions += 1
                    for each in place.children:
                        slot[:, each] = slot[:, at]
                        watcher = 1 - place.kind  # the player whose opponent acts here
                        slot[watcher, each] = used[watcher]
                        used[watcher] += 1
        slot_root[:, roots] = used
        self.next_slots = np.array(from_slots, np.int32).reshape(-1, 2).T
        payoffs = self._payoffs(rules)
        batch = self._batches()
        return BettingArrays(
            *(kind, actions, first_child, child, entry, decision, next_root),
            *(np.array(self._first, np.int32), slot, slot_root),
            np.array([root.slots for root in self.roots], np.int32).reshape(-1, 2).T.copy(),
            np.array([root.place for root in self.roots], np.int32),
            payoffs[0],
            payoffs[1],
            payoffs[2],
            batch,
            *self._lanes(slot, batch),
        )

    def _payoffs(self, rules: Rules) -> Floats:
        """[3, 2, places] what each player gets if it wins, ties and loses."""
        payoffs = np.zeros((3, 2, len(self.places)))
        half = rules.pot / 2
        for at, place in enumerate(self.places):
            if place.kind < FOLD or (place.kind == ON and self.street < len(STREETS) - 1):
                continue
            called = min(place.paid)
            rake = rules.rake.of(rules.pot + 2 * called)
            if place.kind == ON:
                payoffs[:, :, at] = np.array([half + called - rake, -rake / 2, -half - called])[:, None]
            else:
                loser = self._folder(place)
                payoffs[0, loser, at], payoffs[0, 1 - loser, at] = -half - called, half + called - rake
        return payoffs

    def _folder(self, place: Place) -> int:
        return int(place.paid[0] > place.paid[1])  # the player who has paid less

    def _batches(self) -> Ints:
        """Street roots in batches of about BATCH_PLACES places."""
        first, batches = 0, [0]
        for root in range(1, len(self.roots)):
            if self._first[root + 1] - first > BATCH_PLACES:
                batches.append(root)
                first = self._first[root]
        return np.array([*batches, len(self.roots)], np.int32)

    def _lanes(self, slot: Ints, batch: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        starts = np.zeros((2, len(batch)), np.int32)
        found: list[list[tuple[int, int, int]]] = [[], []]
        for player in (OOP, IP):
            for number in range(len(batch) - 1):
                ends: dict[int, list[int]] = {}
                for at in range(self._first[batch[number]], self._first[batch[number + 1]]):
                    if self.places[at].kind >= FOLD:
                        ends.setdefault(int(slot[player, at]), [-1, -1])[self.places[at].kind - FOLD] = at
                lanes = [(lane, fold, on) for lane, (fold, on) in ends.items()]
                found[player] += lanes
                starts[player, number + 1] = len(found[player])
        most = max(len(each) for each in found)
        arrays = np.full((3, 2, most), -1, np.int32)
        for player, lanes in enumerate(found):
            arrays[:, player, : len(lanes)] = np.array(lanes, np.int32).reshape(-1, 3).T
        return starts, arrays[0], arrays[1], arrays[2]


class Root(NamedTuple):
    """The root of a street's betting tree."""

    paid: int  # by each player since the beginning of the spot
    place: int = 0  # of the previous street
    lines: tuple[tuple[Action, ...], ...] = ()  # of the streets so far
    slots: tuple[int, int] = (0, 0)  # of the previous street, by player


class Rules(NamedTuple):
    """What the payoffs and the betting of a spot depend on."""

    pot: int
    stack: int
    rake: Rake = Rake()


def build_streets(first: int, rules: Rules, choose: Choose) -> list[Street]:
    """The betting trees of all streets from `first` on."""
    roots = [Root(0)]
    streets = []
    for street in range(first, len(STREETS)):
        try:
            streets.append(Street(street, roots, choose, rules))
        except RecursionError:
            raise FeltError("The betting tree is too deep; give larger raises or a smaller stack.") from None
        roots = [
            root._replace(slots=(int(oop), int(ip)))
            for root, (oop, ip) in zip(streets[-1].next_roots, streets[-1].next_slots.T, strict=True)
        ]
    return streets


def legal_actions(now: Situation, sizes: Sequence[int]) -> list[Action]:
    """The legal actions, given the sizes that the player may bet or raise to."""
    own, other = now.bets[now.player], now.bets[1 - now.player]
    actions = [Action("check", own)] if own == other else [Action("fold", own), Action("call", other)]
    name = "raise" if other else "bet"
    for size in sizes:
        actions.append(Action("all-in" if size == now.stack else name, size))
    return actions


def follow(now: Situation, action: Action) -> Situation:
    """The situation after a check, bet or raise that does not end the street."""
    if action.name == "check":
        return now._replace(player=1 - now.player)
    bets = (action.to, now.bets[1]) if now.player == OOP else (now.bets[0], action.to)
    return now._replace(
        bets=bets, player=1 - now.player, raises=now.raises + 1, last_raise=action.to - max(now.bets)
    )
