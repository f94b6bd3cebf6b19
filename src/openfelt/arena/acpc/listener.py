"""The dealer's ports, one per player, and the handshake in which players send their protocol version."""

from __future__ import annotations

import errno
import re
import selectors
import socket
import time
from collections.abc import Sequence
from typing import NamedTuple

from openfelt.arena.acpc.connection_lines import LineReader
from openfelt.arena.acpc.player_connection import CHUNK, PlayerConnection
from openfelt.core.errors import FeltError

VERSION = re.compile(r"VERSION:2\.0\.[0-9]+")  # any revision
MOST_PENDING = 8  # connections to one port that have not sent their version yet


class _Pending(NamedTuple):
    connection: socket.socket
    reader: LineReader


class Listener:
    """The ports at which players join. The first connection to a port that sends the right version is
    accepted.

    The ACPC server ends the match if the first message is not a version; here the connection is rejected, and
    the port stays open.
    """

    def __init__(self, host: str, ports: Sequence[int], names: Sequence[str]) -> None:
        self._names = names
        self._selector = selectors.DefaultSelector()
        self._listeners: list[socket.socket] = []
        self._pending: list[list[_Pending]] = [[] for _ in ports]
        self._players: dict[int, PlayerConnection] = {}
        try:
            for number, port in enumerate(ports):
                self._listeners.append(_listen(host, port))
                self._selector.register(self._listeners[-1], selectors.EVENT_READ, (number, None))
        except BaseException:
            self.close()
            raise
        self.ports = [int(listener.getsockname()[1]) for listener in self._listeners]

    def wait(self, timeout: float | None) -> list[PlayerConnection]:
        """Wait for all players; raises FeltError that names those that have not joined in time."""
        until = None if timeout is None else time.monotonic() + timeout
        while len(self._players) < len(self.ports):
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                raise FeltError(f"{self._missing()} had not joined after {timeout:g} seconds.")
            for key, _ in self._selector.select(left):
                number, pending = key.data
                if pending is None and number not in self._players:
                    self._accept(number)
                elif pending in self._pending[number]:  # not rejected a moment ago
                    self._read_version(number, pending)
        return [self._players[number] for number in range(len(self.ports))]

    def _missing(self) -> str:
        places = enumerate(zip(self._names, self.ports, strict=True))
        return " and ".join(f"{name} (port {port})" for at, (name, port) in places if at not in self._players)

    def _accept(self, number: int) -> None:
        try:
            connection, _ = self._listeners[number].accept()
        except OSError:  # closed again
            return
        connection.setblocking(False)
        pending = _Pending(connection, LineReader())
        self._pending[number].append(pending)
        self._selector.register(connection, selectors.EVENT_READ, (number, pending))
        if len(self._pending[number]) > MOST_PENDING:
            self._reject(number, self._pending[number][0])

    def _read_version(self, number: int, pending: _Pending) -> None:
        try:
            data = pending.connection.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        lines = pending.reader.feed(data)
        if lines and VERSION.fullmatch(lines[0]) and not pending.reader.dropped:
            self._seat_player(number, pending, lines[1:])
        elif lines or not data or pending.reader.dropped:
            self._reject(number, pending)

    def _seat_player(self, number: int, pending: _Pending, lines: list[str]) -> None:
        self._pending[number].remove(pending)
        self._selector.unregister(pending.connection)
        self._players[number] = PlayerConnection(
            self._names[number], pending.connection, pending.reader, lines
        )
        self._close_port(number)

    def _reject(self, number: int, pending: _Pending) -> None:
        self._pending[number].remove(pending)
        self._selector.unregister(pending.connection)
        pending.connection.close()

    def _close_port(self, number: int) -> None:
        for pending in list(self._pending[number]):
            self._reject(number, pending)
        self._selector.unregister(self._listeners[number])
        self._listeners[number].close()

    def close(self) -> None:
        """Close all ports and connections."""
        for number, listener in enumerate(self._listeners):
            for pending in self._pending[number]:
                pending.connection.close()
            listener.close()
        for seat in self._players.values():
            seat.close()
        self._selector.close()


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError):
        raise FeltError(f"'{host}' is not an address of this machine to listen at.") from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen()
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        why = {
            errno.EADDRINUSE: f"Port {port} of {host} is in use; choose another, or 0 for any free one.",
            errno.EADDRNOTAVAIL: f"'{host}' is not an address of this machine to listen at.",
        }
        default = f"Port {port} of {host} cannot be opened ({error.strerror})."
        raise FeltError(why.get(error.errno or 0, default)) from None
    return listener
