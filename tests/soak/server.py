"""The server: `felt play` in a process of its own, whose clock is the simulation's."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

PATIENCE = 600.0  # seconds until an answer counts as missing; long, since the machine may be busy
FILES = ("table.db", "table.db-wal", "table.db-shm", "table.db.lock")
# The program, except that its time of day is the number in a file.
PROGRAM = """
import os, struct, sys, time
clock = os.open(sys.argv.pop(1), os.O_RDONLY)
time.time = lambda: struct.unpack("d", os.pread(clock, 8, 0))[0]
from openfelt.cli.app import main
sys.exit(main())
"""


class StartError(Exception):
    """The server ended instead of serving; the message is what it printed."""


class Server:
    """Starts, stops and restarts the server, always at the same port."""

    def __init__(self, folder: Path, database: Path, clock: Path) -> None:
        self.folder, self.database, self._clock = folder, database, clock
        self._log, self._kept = folder / "server.log", database.with_name("kept")
        self._process: subprocess.Popen[bytes] | None = None
        self.port = _free_port()
        self.starts = 0
        self.deleted_at: float | None = None  # on the monotonic clock; None while all files are there

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def launch(self, port: int, log: Path) -> subprocess.Popen[bytes]:
        """A process, which may not be ready yet."""
        words = ["play", "--no-browser", "--json", "--port", str(port), "--database", str(self.database)]
        with log.open("wb") as out:
            program = [sys.executable, "-c", PROGRAM, str(self._clock), *words]
            return subprocess.Popen(program, stdout=out, stderr=out)

    def launch_again(self) -> None:
        """Start it, without waiting until it serves."""
        self._process = self.launch(self.port, self._log)
        self.starts += 1

    async def start(self) -> None:
        """Return when it serves; raises StartError."""
        self.launch_again()
        assert self._process is not None
        end = time.monotonic() + PATIENCE
        while not self._log.read_bytes().endswith(b"}\n"):
            if self._process.poll() is not None or time.monotonic() > end:
                self.kill()
                raise StartError(self._log.read_text())
            await asyncio.sleep(0.02)

    async def start_second(self) -> tuple[int, str]:
        """Exit code and output of another server on the same database."""
        log = self.folder / "second.log"
        other = self.launch(0, log)
        try:
            await asyncio.wait_for(asyncio.to_thread(other.wait), PATIENCE)
        except TimeoutError:
            other.kill()
        return other.wait(), log.read_text()

    def said(self) -> str:
        """All that it printed besides its address."""
        return self._log.read_text().partition("}\n")[2]

    def kill(self) -> None:
        """End it without a warning."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    async def stop(self) -> None:
        """End it with a warning."""
        assert self._process is not None
        self._process.terminate()
        await asyncio.to_thread(self._process.wait, PATIENCE)

    async def suspend(self, seconds: float) -> None:
        """Let it stand still, as if the machine slept."""
        os.kill(self.pid, signal.SIGSTOP)
        await asyncio.sleep(seconds)
        os.kill(self.pid, signal.SIGCONT)

    def delete(self, names: list[str]) -> None:
        """Delete files under it; the operator has other links to them."""
        self._kept.mkdir()
        for name in names:
            os.link(self.database.with_name(name), self._kept / name)
        for name in names:
            self.database.with_name(name).unlink()
        self.deleted_at = time.monotonic()

    def put_back(self) -> None:
        """Put deleted files back, after the server has ended."""
        for file in self._kept.iterdir():
            file.replace(self.database.with_name(file.name))
        self._kept.rmdir()
        self.deleted_at = None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
