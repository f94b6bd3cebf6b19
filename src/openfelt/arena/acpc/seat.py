"""A player as the dealer sees him: a connection that may be slow, silent, noisy or gone."""

from __future__ import annotations

import selectors
import socket
import time
from collections import deque
from collections.abc import Iterable

from openfelt.arena.acpc.connection_lines import LineReader

CHUNK = 1 << 16  # bytes read at once
MOST_UNSENT = 1 << 20  # bytes that wait for a player who does not read


class Seat:
    """One player. Nothing that he sends or fails to read stops the dealer or fills its memory."""

    def __init__(
        self, name: str, connection: socket.socket, reader: LineReader, lines: Iterable[str]
    ) -> None:
        self.name = name
        self.gone = False
        self.left: int | None = None  # the hand in which he was first missed
        self.invalid = self.late = self.ignored = 0  # actions replaced, and messages that were passed over
        self.hand_used = self.match_used = 0.0  # seconds
        self._connection, self._reader, self._lines = connection, reader, deque(lines)
        self._unsent = bytearray()
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._selector = selectors.DefaultSelector()
        self._events = selectors.EVENT_READ
        self._selector.register(connection, self._events)

    def send(self, message: bytes, *, more: bool = False) -> None:
        """Send what he takes at once; the rest goes with what follows, or while he is waited for.

        With `more` all of it goes with what follows, which is to come without delay.
        """
        if not self.gone:
            self._unsent += message
            if not more:
                self.flush()
            if len(self._unsent) > MOST_UNSENT:
                self.gone = True

    def receive(self, until: float) -> str | None:
        """His next line, or None if there is none by that time (`time.monotonic`) or he has gone."""
        while not self._lines:
            left = until - time.monotonic()
            if self.gone or left <= 0:
                return None
            self._wait(left)
        return self._lines.popleft()

    def _wait(self, seconds: float) -> None:
        """Wait until something can be read, or sent where something is left to be."""
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
        """Send what he takes of what is waiting."""
        try:
            del self._unsent[: self._connection.send(self._unsent)]
        except BlockingIOError:
            pass
        except OSError:
            self.gone = True

    def finish(self, until: float) -> None:
        """Send what is left, say that it was all, and wait for him to close, at most until that time.

        What he still sends is read: closing over unread bytes resets the connection, and what he has not read
        yet is lost.
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
