"""Bots for the tests of matches: good ones, bad ones, and one that looks around."""

from __future__ import annotations

import time

import numpy as np

from openfelt.bots.bot import Bot

LIMIT = 0.02  # seconds that the slow ones go beyond


class Even(Bot):
    """All actions alike, drawn in Python."""

    def act(self, view, dice, clock):
        return view.actions[int(dice.uniform() * len(view.actions))]


class Caller(Bot):
    """Checks and calls."""

    def act(self, view, dice, clock):
        return view.passive


class Late(Bot):
    """Answers well, but not in time."""

    def act(self, view, dice, clock):
        time.sleep(2 * LIMIT)
        return view.passive


class Endless(Bot):
    """Never answers."""

    def act(self, view, dice, clock):
        while True:
            pass


class Careless(Bot):
    """Never answers, and lets no error out."""

    def act(self, view, dice, clock):
        while True:
            try:
                time.sleep(0.001)
            except Exception:
                continue


class Swallowing(Bot):
    """Never answers, and is busy where errors are lost when its time is up."""

    def act(self, view, dice, clock):
        Trap()
        while True:
            pass


class Trap:
    def __del__(self):
        time.sleep(2 * LIMIT)


class Failing(Bot):
    """Raises an error."""

    def act(self, view, dice, clock):
        raise KeyError("no idea")


class Leaving(Bot):
    """Wants to end the program."""

    def act(self, view, dice, clock):
        raise SystemExit(3)


class Silent(Bot):
    """Returns nothing."""

    def act(self, view, dice, clock):
        return None


class Flying(Bot):
    """Names an action that does not exist."""

    def act(self, view, dice, clock):
        return "fly"


class Counting(Bot):
    """Gives a number, where a word is wanted."""

    def act(self, view, dice, clock):
        return 1


class Listing(Bot):
    """Gives several words in an array, which cannot even be compared."""

    def act(self, view, dice, clock):
        return np.array(["call", "raise"])


class Painting(Bot):
    """Writes into what it is shown."""

    def act(self, view, dice, clock):
        view.actions = ("fold", "call", "raise", "win", "win more")
        return "win more"


class Bluffing(Bot):
    """Draws twice, and raises by the second number."""

    def act(self, view, dice, clock):
        dice.uniform()
        return view.actions[-1] if dice.uniform() < 1 / 3 else view.passive


class Novice(Bot):
    """Folds in the first ten hands of its life, and calls from then on."""

    learns = True

    def __init__(self, game):
        super().__init__(game)
        self.hands = 0

    def act(self, view, dice, clock):
        return view.actions[0] if self.hands < 10 else view.passive

    def end_hand(self, view, won):
        self.hands += 1


class Sleeper(Bot):
    """Plays, but never comes back from looking at how a hand ended."""

    def act(self, view, dice, clock):
        return view.passive

    def end_hand(self, view, won):
        while True:
            pass


class Spy(Bot):
    """Calls, and writes down everything that it can get hold of; `notes` are those of all spies."""

    notes: list = []  # noqa: RUF012 (shared on purpose)

    def act(self, view, dice, clock):
        self.notes.append((self, "act", view, snapshot(view)))
        return view.passive

    def end_hand(self, view, won):
        self.notes.append((self, "end", view, snapshot(view)))


class LearningSpy(Spy):
    """The same, but it may remember from hand to hand."""

    learns = True


class FoldingSpy(Spy):
    """Folds to any bet, so that few hands are shown."""

    def act(self, view, dice, clock):
        super().act(view, dice, clock)
        return view.actions[0]


def snapshot(thing, depth: int = 6) -> object:
    """All that can be read from an object, private or not, as text that can be compared."""
    if isinstance(thing, str | bytes | int | float | np.generic) or thing is None or depth == 0:
        return repr(thing)
    if isinstance(thing, dict):
        return [(snapshot(key, depth - 1), snapshot(value, depth - 1)) for key, value in thing.items()]
    if isinstance(thing, tuple | list | np.ndarray):
        return [snapshot(item, depth - 1) for item in thing]
    names = [name for name in dir(thing) if not name.startswith("__")]
    found = [(name, getattr(thing, name, None)) for name in names]
    return [(name, snapshot(value, depth - 1)) for name, value in found if not callable(value)]
