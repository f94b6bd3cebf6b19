"""Where players come in: a port for each, and the version that they must say first."""

from __future__ import annotations

import errno
import re
import selectors
import socket
import time
from collections.abc import Sequence
from typing import NamedTuple

from openfelt.arena.acpc.connection_lines import LineReader
from openfelt.arena.acpc.seat import CHUNK, Seat
from openfelt.core.errors import FeltError

VERSION = re.compile(r"VERSION:2\.0\.[0-9]+")  # of any revision
MOST_WAITING = 8  # connections at one port that have not said their version yet


class _Newcomer(NamedTuple):
    connection: socket.socket
    reader: LineReader


class Door:
    """The ports that players join at. The first at a port that says the right version gets the seat.

    The competition's server ends the match where the first message is not a version; here he who sent it is
    turned away, and the port stays open for another.
    """

    def __init__(self, host: str, ports: Sequence[int], names: Sequence[str]) -> None:
        self._names = names
        self._selector = selectors.DefaultSelector()
        self._listeners: list[socket.socket] = []
        self._waiting: list[list[_Newcomer]] = [[] for _ in ports]
        self._seats: dict[int, Seat] = {}
        try:
            for number, port in enumerate(ports):
                self._listeners.append(_listen(host, port))
                self._selector.register(self._listeners[-1], selectors.EVENT_READ, (number, None))
        except BaseException:
            self.close()
            raise
        self.ports = [int(listener.getsockname()[1]) for listener in self._listeners]

    def wait(self, timeout: float | None) -> list[Seat]:
        """All players, once they have come; one sentence if they have not in time."""
        until = None if timeout is None else time.monotonic() + timeout
        while len(self._seats) < len(self.ports):
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                raise FeltError(f"{self._missing()} had not joined after {timeout:g} seconds.")
            for key, _ in self._selector.select(left):
                number, newcomer = key.data
                if newcomer is None and number not in self._seats:
                    self._let_in(number)
                elif newcomer in self._waiting[number]:  # not turned away a moment ago
                    self._hear(number, newcomer)
        return [self._seats[number] for number in range(len(self.ports))]

    def _missing(self) -> str:
        places = enumerate(zip(self._names, self.ports, strict=True))
        return " and ".join(f"{name} (port {port})" for at, (name, port) in places if at not in self._seats)

    def _let_in(self, number: int) -> None:
        try:
            connection, _ = self._listeners[number].accept()
        except OSError:  # he has gone again
            return
        connection.setblocking(False)
        newcomer = _Newcomer(connection, LineReader())
        self._waiting[number].append(newcomer)
        self._selector.register(connection, selectors.EVENT_READ, (number, newcomer))
        if len(self._waiting[number]) > MOST_WAITING:
            self._turn_away(number, self._waiting[number][0])

    def _hear(self, number: int, newcomer: _Newcomer) -> None:
        try:
            data = newcomer.connection.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        lines = newcomer.reader.feed(data)
        if lines and VERSION.fullmatch(lines[0]) and not newcomer.reader.dropped:
            self._sit_down(number, newcomer, lines[1:])
        elif lines or not data or newcomer.reader.dropped:
            self._turn_away(number, newcomer)

    def _sit_down(self, number: int, newcomer: _Newcomer, lines: list[str]) -> None:
        self._waiting[number].remove(newcomer)
        self._selector.unregister(newcomer.connection)
        self._seats[number] = Seat(self._names[number], newcomer.connection, newcomer.reader, lines)
        self._close_port(number)

    def _turn_away(self, number: int, newcomer: _Newcomer) -> None:
        self._waiting[number].remove(newcomer)
        self._selector.unregister(newcomer.connection)
        newcomer.connection.close()

    def _close_port(self, number: int) -> None:
        for newcomer in list(self._waiting[number]):
            self._turn_away(number, newcomer)
        self._selector.unregister(self._listeners[number])
        self._listeners[number].close()

    def close(self) -> None:
        """Close all that is open, the seats too."""
        for number, listener in enumerate(self._listeners):
            for newcomer in self._waiting[number]:
                newcomer.connection.close()
            listener.close()
        for seat in self._seats.values():
            seat.close()
        self._selector.close()


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError):
        raise FeltError(f"'{host}' is no address of this machine to listen at.") from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen()
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        why = {
            errno.EADDRINUSE: f"Port {port} of {host} is in use; name another, or 0 for any that is free.",
            errno.EADDRNOTAVAIL: f"'{host}' is no address of this machine to listen at.",
        }
        said = f"Port {port} of {host} cannot be listened at ({error.strerror})."
        raise FeltError(why.get(error.errno or 0, said)) from None
    return listener
