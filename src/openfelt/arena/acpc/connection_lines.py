"""From the bytes of a connection to the lines of the protocol, whatever comes."""

from __future__ import annotations

MOST_BYTES = 4096  # of a line; the longest of the protocol have about a hundred
END = "\r\n"


class LineReader:
    """Bytes in, lines out. Keeps no more than one line may be long: a longer one is dropped and counted.

    Lines end with CR LF; LF alone is understood too. Bytes that are no letters come out as letters that no
    message has.
    """

    __slots__ = ("_rest", "_skipping", "dropped")

    def __init__(self) -> None:
        self._rest, self._skipping = b"", False
        self.dropped = 0

    def feed(self, data: bytes) -> list[str]:
        """The lines that are finished by these bytes."""
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
