"""A disk that can be filled: a small tmpfs where that can be mounted, else a limit on the size of files."""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
from pathlib import Path

SIZE = 64 << 20  # bytes of the tmpfs
PAGE = 4096  # bytes
INSIDE = "OPENFELT_SOAK_INSIDE"  # set in the process that has its own mounts
NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount"]


def enter_namespace() -> None:
    """Start this program again with mounts of its own, which end with it; if that is permitted."""
    if INSIDE in os.environ:
        return
    try:
        probe = [*NAMESPACE, "mount", "-t", "tmpfs", "tmpfs", "/tmp"]
        if subprocess.run(probe, capture_output=True, check=False).returncode == 0:
            os.environ[INSIDE] = "1"
            os.execvp(NAMESPACE[0], [*NAMESPACE, sys.executable, *sys.orig_argv[1:]])
    except OSError:
        return


class Disk:
    """The folder of the database."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.is_full = folder, False
        self.kind = "RLIMIT_FSIZE"
        if INSIDE in os.environ:
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", folder], check=True)
            self.kind = "tmpfs"
        self._filler = folder / "filler"

    def fill(self, server: int, dice: random.Random) -> None:
        """Leave no room for the server, or for a few pages."""
        self.is_full, room = True, PAGE * dice.choice((0, 0, 1, 2, 5, 20))
        if self.kind == "tmpfs":
            self._fill_up()
            os.truncate(self._filler, max(0, self._filler.stat().st_size - room))
        else:
            sizes = [file.stat().st_size for file in self.folder.glob("table.db*")]
            _limit_files(server, max(sizes) + room)

    def free(self, server: int) -> None:
        """Make room again."""
        self.is_full = False
        if self.kind == "tmpfs":
            self._filler.unlink()
        else:
            _limit_files(server, resource.RLIM_INFINITY)

    def unmount(self) -> None:
        """End the tmpfs."""
        if self.kind == "tmpfs":
            subprocess.run(["umount", self.folder], check=True)

    def _fill_up(self) -> None:
        with self._filler.open("wb", buffering=0) as filler:
            for size in (1 << 20, PAGE, 1):
                try:
                    while True:
                        filler.write(b"\0" * size)
                except OSError:
                    continue


def _limit_files(process: int, size: int) -> None:
    hard = resource.prlimit(process, resource.RLIMIT_FSIZE)[1]
    resource.prlimit(process, resource.RLIMIT_FSIZE, (size, hard))
