"""Splits the bytes of a connection into lines of the protocol, whatever is sent."""

from __future__ import annotations

MOST_BYTES = 4096  # of a line; the longest of the protocol have about a hundred
END = "\r\n"


class LineReader:
    """Bytes in, lines out. A line of over MOST_BYTES is dropped and counted, so memory is bounded.

    Lines end with CR LF, or LF alone. Bytes that are not ASCII are decoded as Latin-1, which no valid message
    has.
    """

    __slots__ = ("_rest", "_skipping", "dropped")

    def __init__(self) -> None:
        self._rest, self._skipping = b"", False
        self.dropped = 0

    def feed(self, data: bytes) -> list[str]:
        """The lines that these bytes complete."""
        *lines, rest = (self._rest + data).split(b"\n")
        if lines and self._skipping:
            del lines[0]
            self._skipping = False
        if self._skipping:
            rest = b""
        elif len(rest) > MOST_BYTES:
            self.dropped, self._skipping, rest = self.dropped + 1, True, b""
        self._rest = rest
        whole = [line.decode("latin-1").strip(" \t\r") for line in lines if len(line) <= MOST_BYTES]
        self.dropped += len(lines) - len(whole)
        return whole
