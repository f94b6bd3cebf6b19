"""The dealer's connection to one player, which may be slow, silent, flooding or closed."""

from __future__ import annotations

import selectors
import socket
import time
from collections import deque
from collections.abc import Iterable

from openfelt.arena.acpc.connection_lines import LineReader

CHUNK = 1 << 16  # bytes read at once
MOST_UNSENT = 1 << 20  # most bytes to buffer for a player that does not read


class PlayerConnection:
    """One player. Nothing that it sends or fails to read blocks the dealer or fills its memory."""

    def __init__(
        self, name: str, connection: socket.socket, reader: LineReader, lines: Iterable[str]
    ) -> None:
        self.name = name
        self.gone = False
        self.left: int | None = None  # the first hand in which it was missing
        self.invalid = self.late = self.ignored = 0  # replaced actions, and messages without effect
        self.hand_used = self.match_used = 0.0  # seconds
        self._connection, self._reader, self._lines = connection, reader, deque(lines)
        self._unsent = bytearray()
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._selector = selectors.DefaultSelector()
        self._events = selectors.EVENT_READ
        self._selector.register(connection, self._events)

    def send(self, message: bytes, *, more: bool = False) -> None:
        """Send what the socket accepts now; the rest follows with the next message, or while waiting.

        With `more` all of it is sent with the next message, which must follow without delay.
        """
        if not self.gone:
            self._unsent += message
            if not more:
                self.flush()
            if len(self._unsent) > MOST_UNSENT:
                self.gone = True

    def receive(self, until: float) -> str | None:
        """The next line; None if there is none until that time (`time.monotonic`) or the player is gone."""
        while not self._lines:
            left = until - time.monotonic()
            if self.gone or left <= 0:
                return None
            self._wait(left)
        return self._lines.popleft()

    def _wait(self, seconds: float) -> None:
        """Wait until data can be read, or unsent data be sent."""
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._unsent else 0)
        if events != self._events:
            self._selector.modify(self._connection, events)
            self._events = events
        for _, ready in self._selector.select(seconds):
            if ready & selectors.EVENT_WRITE:
                self.flush()
            if ready & selectors.EVENT_READ:
                self._read()

    def _read(self) -> None:
        try:
            data = self._connection.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.gone = True
        dropped = self._reader.dropped
        self._lines.extend(self._reader.feed(data))
        self.ignored += self._reader.dropped - dropped

    def flush(self) -> None:
        """Send what the socket accepts of the unsent data."""
        try:
            del self._unsent[: self._connection.send(self._unsent)]
        except BlockingIOError:
            pass
        except OSError:
            self.gone = True

    def finish(self, until: float) -> None:
        """Send the rest, shut down the sending side, and wait for the player to close, at most until that
        time.

        Incoming data are read and dropped: closing with unread bytes would reset the connection, and the
        player would lose what it has not read yet.
        """
        while self._unsent and not self.gone and (left := until - time.monotonic()) > 0:
            self._lines.clear()
            self._wait(left)
        try:
            self._connection.shutdown(socket.SHUT_WR)
        except OSError:
            self.gone = True
        while not self.gone and (left := until - time.monotonic()) > 0:
            self._lines.clear()
            self._wait(left)

    def close(self) -> None:
        self._selector.close()
        self._connection.close()
