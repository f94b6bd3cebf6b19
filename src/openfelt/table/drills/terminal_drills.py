"""Drills in the terminal, in the words of the page: single decisions, each judged at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from openfelt.core.errors import FeltError
from openfelt.games.registry import load_game
from openfelt.table.drills.coach import DrillCoach
from openfelt.table.drills.drill import Drill
from openfelt.table.drills.drill_store import DrillStore
from openfelt.table.drills.schedule import DAY, INTERVALS, MINUTE
from openfelt.table.presentation.text import amount
from openfelt.table.terminal import QUIT, choose_action, table_line

UNITS = (("days", DAY), ("hours", 60 * MINUTE), ("minutes", MINUTE))


class TerminalDrills:
    """Asks for decisions until the person quits; answers are kept in a deck of the store."""

    def __init__(
        self,
        coach: DrillCoach,
        store: DrillStore,
        *,
        ask: Callable[[str], str] = input,
        write: Callable[[str], None] = print,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._coach, self._store, self._now = coach, store, now
        self._ask, self._write = ask, write
        self._deck = store.first(now())

    def run(self, following: Callable[[], Drill | None], most: int | None = None) -> None:
        """Ask for the drills of `following` until there is none, for at most so many."""
        self._write(f"Type an action, its first letters or its number; {QUIT} quits.")
        asked = 0
        try:
            while most is None or asked < most:
                drill = following()
                if drill is None:
                    self._write(self._nothing_due())
                    break
                asked += 1
                self._write(f"\n--- drill {asked} ---")
                self._one(drill)
        except (EOFError, KeyboardInterrupt):
            self._write("")
        self._write(self.score())

    def due(self) -> Drill | None:
        """The next decision that is due for repetition."""
        return self._store.due(self._deck, self._now())

    def summary(self) -> dict[str, Any]:
        """The score and the boxes, ready for JSON."""
        return self._store.summary(self._deck, self._now())

    def score(self) -> str:
        """Right answers, EV lost by game, and what is due."""
        found = self.summary()
        if not found["answers"]:
            return "No answer yet."
        games = [
            f"{each['game']}: mean EV loss {each['lost']:.2f} {load_game(each['game']).unit}"
            for each in found["games"]
        ]
        due = f" {found['due']} due for repetition." if found["due"] else ""
        right = f"{found['right']} of {amount(found['answers'], 'answers')} right"
        return f"All drills so far: {right}; {'; '.join(games)}.{due}"

    def _one(self, drill: Drill) -> None:
        try:
            shown = self._coach.show(drill)
        except FeltError as error:  # such as a bot that is gone; other drills must not wait for it
            self._store.postpone(self._deck, drill, self._now())
            return self._write(f"  {error}")
        for line in shown["account"]:
            self._write(f"  {line}")
        self._write(f"  {table_line(shown, shown['made'])}")
        words = tuple(each["word"] for each in shown["actions"])
        with ThreadPoolExecutor(1) as pool:
            evaluated = pool.submit(self._coach.evaluate, drill)  # while the person thinks
            labels = [each["label"] for each in shown["actions"]]
            word = words[choose_action(words, labels, self._ask, self._write)]
            evaluated.result()
        answer, verdict = self._coach.judge(drill, word)
        box = self._store.answer(self._deck, drill, answer, self._now())
        self._write(f"  {_verdict(verdict)}")
        for action in verdict["losses"]["decisions"][0]["actions"]:
            self._write(f"    {_action_line(action, load_game(drill.game).unit)}")
        self._write(f"  {verdict['explain']}")
        if box is not None:
            self._write(f"  It comes back in {_wait(INTERVALS[box])}." if box in INTERVALS else "  Learned.")

    def _nothing_due(self) -> str:
        wait = self.summary()["next_due"]
        if wait is None:
            return "Nothing is due for repetition: no decision was missed yet, or all are learned."
        return f"Nothing is due for repetition; the next one is due in {_wait(wait)}."


def _wait(seconds: float) -> str:
    unit, size = next((each for each in UNITS if seconds >= each[1]), UNITS[-1])
    return amount(max(1, round(seconds / size)), unit)


def _verdict(verdict: dict[str, Any]) -> str:
    if verdict["close"]:
        return f"Right: a close decision; {verdict['best']} has the highest EV."
    return "Right." if verdict["right"] else f"Wrong. The best action is: {verdict['best']}."


def _action_line(action: dict[str, Any], unit: str) -> str:
    return (
        f"{action['label']}: EV {action['value']:+.2f}{_spread(action['value_interval'])} {unit}, "
        f"EV loss {action['loss']:.2f}{_spread(action['interval'])} {unit}"
    )


def _spread(interval: float) -> str:
    return f" ± {interval:.2f}" if interval >= 0.005 else ""
