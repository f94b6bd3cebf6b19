"""Solutions as one file for download and upload: a zip archive of the folder that `save_solution` writes."""

from __future__ import annotations

import re
import shutil
import tempfile
import zipfile
import zlib
from pathlib import Path

from openfelt.core.errors import FeltError, FileError
from openfelt.core.files import MANIFEST
from openfelt.spots.files import load_solution, save_solution
from openfelt.spots.solution import Solution

MOST_FILES = 10
LARGEST_MANIFEST = 1_000_000  # bytes
PLAIN_NAME = re.compile(r"[\w-][\w.-]{0,149}", re.ASCII)
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
PIECE = 1 << 20  # bytes that are read at once
NOT_ARCHIVES = (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError, ValueError)


def write_archive(solution: Solution, path: Path) -> None:
    """Write a solution as a zip archive."""
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        ):
            save_solution(solution, folder)
            for file in sorted(Path(folder).iterdir()):
                archive.write(file, file.name)
    except OSError as error:
        raise FeltError(f"The solution could not be written ({error.strerror}).") from None


def read_archive(path: Path, most_memory: float) -> Solution:
    """The solution in an archive; raises FeltError unless it is one, within `most_memory` bytes of tables."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            _unpack(path, folder, most_memory)
            return load_solution(folder, most_memory=most_memory)
        except NOT_ARCHIVES:
            raise FeltError("The file is not a zip archive of a solution, or it is damaged.") from None
        except OSError as error:
            raise FeltError(f"The file could not be unpacked ({error.strerror}).") from None
        except FileError as error:
            reason = str(error).replace(f"{folder}/", "").replace(str(folder), "the archive")
            raise FeltError(f"The file cannot be used: {reason}") from None


def _unpack(path: Path, folder: Path, most: float) -> None:
    """Extract the files of an archive, after a look at their names and sizes."""
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        names = {entry.filename for entry in entries}
        if len(names) < len(entries) or len(entries) > MOST_FILES or MANIFEST not in names:
            raise FileError("it does not have the files of a solution.")
        for entry in entries:
            if not PLAIN_NAME.fullmatch(entry.filename) or entry.compress_type not in METHODS:
                raise FileError("it has files that a solution does not have.")
        if archive.getinfo(MANIFEST).file_size > LARGEST_MANIFEST or sum(e.file_size for e in entries) > most:
            raise FileError("its content is too large.")
        for entry in entries:
            with archive.open(entry) as packed, (folder / entry.filename).open("xb") as file:
                shutil.copyfileobj(packed, file, PIECE)  # never more than `file_size`
