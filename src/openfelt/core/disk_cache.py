"""A cache on disk for arrays that can be computed again: built on first use, verified when loaded."""

from __future__ import annotations

import glob
import hashlib
import inspect
import os
import re
import shutil
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from numpy.typing import NDArray

from openfelt.core.errors import FileError
from openfelt.core.files import MALFORMED, MANIFEST, load_folder, save_folder

T = TypeVar("T")
ABANDONED_AFTER = 24 * 3600.0  # seconds; no table takes that long to build
FolderContents = tuple[dict[str, NDArray[Any]], dict[str, Any]]  # arrays and facts


def cache_name(word: str, modules: Iterable[ModuleType]) -> str:
    """The name of a cache folder: a readable word, its checksum, and that of the sources of the arrays."""
    digest = hashlib.sha256()
    for module in modules:
        digest.update(inspect.getsource(module).encode())
    readable = re.sub(r"[^0-9a-z]+", "-", word.lower()).strip("-")
    return f"{readable}-{hashlib.sha256(word.encode()).hexdigest()[:8]}-{digest.hexdigest()[:12]}"


def load_or_build(
    folder: Path,
    kind: str,
    what: str,
    build: Callable[[], FolderContents],
    restore: Callable[[dict[str, NDArray[Any]], dict[str, Any]], T],
    *,
    is_worth_storing: Callable[[dict[str, NDArray[Any]]], bool] = lambda _: True,
) -> T:
    """Load arrays and facts from a folder, memory-mapped, or build and store them; return `restore` of both.

    A damaged folder is replaced. If the folder cannot be written, there is a warning, and the arrays stay in
    memory. Several processes may build the same arrays at once; those of the first are stored.
    """
    if (folder / MANIFEST).exists():
        try:
            return restore(*load_folder(folder, kind))
        except (FileError, *MALFORMED) as error:
            fault = (
                error
                if isinstance(error, FileError)
                else f"{folder} is damaged: arrays or facts are missing."
            )
            warnings.warn(f"{fault} It is built again.", stacklevel=4)
            shutil.rmtree(folder, ignore_errors=True)
    contents = build()
    if is_worth_storing(contents[0]):
        try:
            _remove_outdated(folder)
            _store(folder, kind, contents)
            return restore(*load_folder(folder, kind))
        except (FileError, OSError) as error:
            warnings.warn(f"{what} is not stored: {error}", stacklevel=4)
    return restore(*contents)


def _store(folder: Path, kind: str, contents: FolderContents) -> None:
    """Write a temporary folder and rename it, unless another process was first."""
    own = folder.with_name(f"{folder.name}.{os.getpid()}")
    try:
        save_folder(own, kind, *contents)
        own.rename(folder)
    except OSError:
        if not (folder / MANIFEST).exists():
            raise
    finally:
        shutil.rmtree(own, ignore_errors=True)


def _remove_outdated(folder: Path) -> None:
    """Remove folders built from earlier sources, and temporary ones of processes that were killed."""
    stem = folder.name.rpartition("-")[0]
    for other in folder.parent.glob(f"{glob.escape(stem)}-*"):
        ours = re.fullmatch(r"([0-9a-f]{12})(\.[0-9]+)?", other.name.removeprefix(f"{stem}-"))
        under_way = ours and ours[2] and time.time() - other.stat().st_mtime < ABANDONED_AFTER
        if ours and not under_way and not (other == folder and (folder / MANIFEST).exists()):
            shutil.rmtree(other, ignore_errors=True)
