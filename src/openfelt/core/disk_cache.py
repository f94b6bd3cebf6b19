"""Arrays that can be made again, kept in the cache folder: made on first need, checked when loaded."""

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
from openfelt.core.files import MANIFEST, load_folder, save_folder

T = TypeVar("T")
A_DAY = 24 * 3600.0  # seconds; nobody makes a table for that long
Made = tuple[dict[str, NDArray[Any]], dict[str, Any]]  # arrays and facts


def kept_name(word: str, modules: Iterable[ModuleType]) -> str:
    """A readable word, a checksum of it, and one of the sources that the arrays depend on."""
    digest = hashlib.sha256()
    for module in modules:
        digest.update(inspect.getsource(module).encode())
    readable = re.sub(r"[^0-9a-z]+", "-", word.lower()).strip("-")
    return f"{readable}-{hashlib.sha256(word.encode()).hexdigest()[:8]}-{digest.hexdigest()[:12]}"


def keep(
    folder: Path,
    kind: str,
    what: str,
    make: Callable[[], Made],
    restore: Callable[[dict[str, NDArray[Any]], dict[str, Any]], T],
    *,
    worth_it: Callable[[dict[str, NDArray[Any]]], bool] = lambda _: True,
) -> T:
    """What `restore` makes of the folder's arrays and facts, memory-mapped; made and written if need be.

    A folder that is damaged is replaced. One that cannot be written is no fault: a warning says so, and the
    arrays stay in memory. Several processes may make the same at once; the first one's is kept.
    """
    if (folder / MANIFEST).exists():
        try:
            return restore(*load_folder(folder, kind))
        except FileError as error:
            warnings.warn(f"{error} It is built again.", stacklevel=4)
            shutil.rmtree(folder, ignore_errors=True)
    made = make()
    if worth_it(made[0]):
        try:
            _remove_outdated(folder)
            _put(folder, kind, made)
            return restore(*load_folder(folder, kind))
        except (FileError, OSError) as error:
            warnings.warn(f"{what} is not kept: {error}", stacklevel=4)
    return restore(*made)


def _put(folder: Path, kind: str, made: Made) -> None:
    """Written beside it, and put there in one step, unless another process was first."""
    own = folder.with_name(f"{folder.name}.{os.getpid()}")
    try:
        save_folder(own, kind, *made)
        own.rename(folder)
    except OSError:
        if not (folder / MANIFEST).exists():
            raise
    finally:
        shutil.rmtree(own, ignore_errors=True)


def _remove_outdated(folder: Path) -> None:
    """Remove what was made of the same by earlier sources, and what a process that was killed has left."""
    stem = folder.name.rpartition("-")[0]
    for other in folder.parent.glob(f"{glob.escape(stem)}-*"):
        ours = re.fullmatch(r"([0-9a-f]{12})(\.[0-9]+)?", other.name.removeprefix(f"{stem}-"))
        under_way = ours and ours[2] and time.time() - other.stat().st_mtime < A_DAY
        if ours and not under_way and not (other == folder and (folder / MANIFEST).exists()):
            shutil.rmtree(other, ignore_errors=True)
