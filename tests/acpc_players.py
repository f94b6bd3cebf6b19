"""Players for tests of the dealer: polite ones, and connections without manners."""

from __future__ import annotations

import random
import socket
import threading
from contextlib import contextmanager
from pathlib import Path

import minimal_client

from openfelt.arena.acpc.competition_game import definition_of
from openfelt.arena.acpc.dealer import Dealer, Limits
from openfelt.arena.acpc.log import LogWriter
from openfelt.arena.acpc.protocol_game import card_names, first_line
from openfelt.games.registry import load_game

GAMES = ["holdem", "holdem(players=3)", "kuhn", "kuhn(players=3)"]
RULES = {name: definition_of(load_game(name)) for name in GAMES}


def random_hand(name: str, generator: random.Random, folding: float = 0.15):
    """(line, hole, board) of a hand that was played at random, in the competition's cards."""
    rules = RULES[name]
    definition, deck = rules.definition, list(card_names(rules.game))
    generator.shuffle(deck)
    cards = iter(deck)
    counts = [definition.hole_cards] * definition.players + list(definition.board_cards[1:])
    groups = [tuple(next(cards) for _ in range(count)) for count in counts]
    line, lines = first_line(rules.game), []
    while not line.over:
        lines.append(line)
        letters = sorted(line.legal)
        if "f" in letters and generator.random() > folding:
            letters.remove("f")
        line = line.take(generator.choice(letters))
    return [*lines, line], tuple(groups[: definition.players]), tuple(groups[definition.players :])


class RawPlayer:
    """A raw connection that sends arbitrary data."""

    def __init__(self, port: int) -> None:
        self.connection = socket.create_connection(("127.0.0.1", port))
        self.connection.settimeout(20)
        self.file = self.connection.makefile("rb")

    def send(self, data: bytes | str) -> None:
        self.connection.sendall(data.encode("latin-1") if isinstance(data, str) else data)

    def line(self) -> str:
        return self.file.readline().decode().removesuffix("\r\n")

    def turns(self):
        """The lines in which it is this player's turn, until the dealer closes."""
        while line := self.line():
            position, _, betting, hole, _ = minimal_client.parse(line)
            if minimal_client.who_acts(betting, len(hole), len(hole[position]) // 2)[0] == position:
                yield line

    def close(self) -> None:
        self.file.close()
        self.connection.close()


def polite(port: int, letter: str = "c") -> None:
    """Always the same letter."""
    player = RawPlayer(port)
    player.send("VERSION:2.0.0\r\n")
    for line in player.turns():
        player.send(f"{line}:{letter}\r\n")
    player.close()


@contextmanager
def at_work(*functions):
    """Run players beside the dealer; a fault of theirs is a fault of the test."""
    faults = []

    def guarded(function):
        try:
            function()
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=guarded, args=(function,), daemon=True) for function in functions]
    for thread in threads:
        thread.start()
    yield
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    assert not faults, faults


def against(rude, *, hands=2, name="holdem", seed=5, log=None, **limits):
    """A match of a rude player at the first port against polite ones; `rude` gets a player who has joined."""
    with Dealer(
        RULES[name], hands=hands, seed=seed, limits=Limits(**{"action": 20.0, "start": 20.0, **limits})
    ) as dealer:

        def first():
            player = RawPlayer(dealer.ports[0])
            player.send("VERSION:2.0.0\r\n")
            rude(player)
            player.close()

        others = [lambda port=port: polite(port) for port in dealer.ports[1:]]
        with at_work(first, *others):
            if log is None:
                return dealer.play()
            with LogWriter(log, RULES[name], hands=hands, seed=seed) as writer:
                return dealer.play(writer)


def states_of(log: Path) -> list[str]:
    return [line for line in log.read_text().splitlines() if line.startswith("STATE")]
