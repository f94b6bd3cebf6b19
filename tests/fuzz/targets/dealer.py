"""Players' messages to our dealer: one reply of a match is changed, all others are honest."""

from __future__ import annotations

import re
from collections import deque
from random import Random
from typing import Any

from fuzz.mutations import mutate_any
from fuzz.target import Finding, Mutant, Target
from openfelt.arena.acpc.competition_game import definition_of
from openfelt.arena.acpc.connection_lines import LineReader
from openfelt.arena.acpc.dealer import Dealer
from openfelt.arena.acpc.player_connection import PlayerConnection
from openfelt.games.registry import load_game

GAMES = ("holdem", "holdem(players=3)", "kuhn(players=3)")
HANDS = 5
LETTERS = "ccrcfrccr"
LEGAL = {"f": "f", "c": "c", "r": "r", "k": "c", "b": "r"}  # letters that the ACPC server accepts
WORDS = (
    b"MATCHSTATE",
    b":",
    b"r",
    b"c",
    b"f",
    b"R",
    b"k",
    b"r300",
    b"As",
    b"#",
    b"VERSION:2.0.0",
    b"0",
    b"1",
)
LONGEST = 4096  # bytes of a line; the dealer drops longer ones
FIELDS = re.compile(r"MATCHSTATE:0*([0-9]{1,18}):0*([0-9]{1,18}):([^:]*):([^:]*)")


class Wire:
    """What all players send, and the one reply that is changed."""

    def __init__(self, place: int = -1, changed: bytes = b"") -> None:
        self.place, self.changed = place, changed
        self.replies: list[bytes] = []
        self.asked = ""  # the state that the changed reply answers


class ScriptedPlayer(PlayerConnection):
    """A player without a connection: it answers each state at once, by a fixed script."""

    def __init__(self, name: str, wire: Wire) -> None:
        self.name, self.wire = name, wire
        self.gone, self.left = False, None
        self.invalid = self.late = self.ignored = 0
        self.hand_used = self.match_used = 0.0
        self._reader, self._lines = LineReader(), deque[str]()
        self._state = ""

    def send(self, message: bytes, *, more: bool = False) -> None:
        self._state = message.decode().strip()

    def receive(self, until: float) -> str | None:
        if not self._lines and self._state:
            reply = f"{self._state}:{LETTERS[len(self._state) % len(LETTERS)]}\r\n".encode()
            if len(self.wire.replies) == self.wire.place:
                self.wire.asked, reply = self._state, self.wire.changed
            self.wire.replies.append(reply)
            self._state = ""
            dropped = self._reader.dropped
            self._lines.extend(self._reader.feed(reply))
            self.ignored += self._reader.dropped - dropped
        return self._lines.popleft() if self._lines else None

    def flush(self) -> None:
        pass

    def finish(self, until: float) -> None:
        pass


class Hands:
    """The finished hands, as the dealer logs them."""

    def __init__(self) -> None:
        self.found: list[tuple[Any, ...]] = []

    def hand(self, *words: Any) -> None:
        self.found.append(words)

    def score(self, won: Any, names: Any) -> None:
        self.found.append((tuple(won), tuple(names)))


class DealerTarget(Target):
    """Matches of two and three players."""

    name = "acpc-dealer"
    share = 1.5

    def prepare(self) -> None:
        rules = [definition_of(load_game(game)) for game in GAMES]
        self.dealers = [Dealer(each, hands=HANDS, seed=4) for each in rules]
        self.replies: list[list[bytes]] = []
        for number in range(len(GAMES)):
            wire = Wire()
            self._play(number, wire)
            self.replies.append(wire.replies)
            self.add({"place": b"-1", "reply": b""})

    def mutate(self, random: Random, number: int) -> Mutant:
        place = random.randrange(len(self.replies[number]))
        data, how = mutate_any(random, self.replies[number][place], WORDS)
        return Mutant({"place": str(place).encode(), "reply": data + b"\n"}, how, number)

    def read(self, mutant: Mutant) -> Any:
        self._wire = Wire(int(mutant.files["place"]), mutant.files["reply"])
        hands, result = self._play(mutant.sample, self._wire)
        return hands, result.won

    def _play(self, number: int, wire: Wire) -> tuple[list[tuple[Any, ...]], Any]:
        dealer, hands = self.dealers[number], Hands()
        dealer._players = [ScriptedPlayer(name, wire) for name in dealer.names]
        result = dealer.play(hands)  # type: ignore[arg-type]
        self._counts = sum(result.invalid) + sum(result.late)
        return hands.found, result

    def rule(self, mutant: Mutant, content: Any) -> str:
        before, after = self.contents[mutant.sample][0], content[0]
        changed = int(self._wire.asked.split(":")[2])
        for number, (one, other) in enumerate(zip(before[:-1], after[:-1], strict=True)):
            if number != changed and one != other:
                raise Finding("another hand than that of the reply has changed")
        if abs(sum(after[-1][0])) > 1e-9:
            raise Finding("chips were made or lost")
        letters, asked = after[changed][1], self._wire.asked.split(":")[3]
        taken = letters[len(asked) :].lstrip("/")[:1]
        letter, reason = _expected(mutant.files["reply"], self._wire.asked)
        if letter in ("f", "c", "r") and taken != letter and not (taken == "c" and self._counts):
            raise Finding(f"the reply says {letter}, but the dealer took {taken}")
        if letter not in ("f", "c", "r") and not self._counts:
            raise Finding("a reply without an action was not counted")
        return reason


def _expected(reply: bytes, asked: str) -> tuple[str, str]:
    """The letter of a changed reply by the description of the protocol, and the rule."""
    state = FIELDS.fullmatch(asked)
    assert state is not None
    for raw in reply.split(b"\n"):
        line = raw.decode("latin-1").strip(" \t\r")
        if line.startswith(("#", ";")) or len(raw) > LONGEST:
            continue
        found, _, action = line.rpartition(":")
        same = FIELDS.fullmatch(found)
        if line.startswith(asked) or (same is not None and same.groups() == state.groups()):
            rest = line[len(asked) :] if line.startswith(asked) else f":{action}"
            letter = LEGAL.get(rest[1:2].lower(), "") if rest.startswith(":") else ""
            return (
                letter,
                "an answer to the state with another action" if letter else "an invalid action is a call",
            )
    return "none", "no answer to the state: the player checks or folds, which is counted"
