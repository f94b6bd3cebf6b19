"""Folders of arrays that survive a kill and detect damage, without pickle.

A folder holds `.npy` files and a `manifest.json` that lists them with their checksums. The arrays, with their
checksums in their names, are written and synced first; then the manifest, which has a checksum of its own, is
replaced in one step. A kill at any moment leaves the old folder or the new one, never a mixture.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openfelt.core.errors import FileError

MANIFEST = "manifest.json"
VERSION = 1
NUMBERS = "biuf"  # kinds of types: truth values, whole and floating-point numbers
PLAIN_NAME = re.compile(r"[\w.-]{1,100}")  # of an array
CHECKSUM = re.compile("[0-9a-f]{64}")
# What code raises that reads facts and arrays of other kinds and sizes than expected. Checksums do not
# prevent that: they can be computed again.
MALFORMED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)


def save_folder(
    folder: Path, kind: str, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]
) -> None:
    """Write arrays and facts as a folder of a kind ("policy", "checkpoint", "tree").

    Replaces an earlier folder of the same kind, and never touches files that it did not write.
    """
    before = _files_before(folder, kind, arrays)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        files = {name: _write_array(folder, name, array) for name, array in arrays.items()}
        manifest = {"format": f"openfelt {kind}", "version": VERSION, **facts, "files": files}
        manifest["seal"] = _seal(manifest)
        write_text(folder / MANIFEST, json.dumps(manifest, indent=2) + "\n")
        for name in before - {entry["file"] for entry in files.values()}:
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise not_written(folder, error) from error


def load_folder(folder: Path, kind: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Read what `save_folder` wrote, memory-mapped and verified; raises FileError."""
    manifest = read_manifest(folder, kind)
    return {name: _load_array(folder, entry) for name, entry in manifest["files"].items()}, manifest


def _load_array(folder: Path, entry: Mapping[str, Any]) -> NDArray[Any]:
    path = folder / entry["file"]
    if not path.is_file():
        raise FileError(f"{folder} is incomplete: the file {entry['file']} is missing.")
    if file_checksum(path) != entry["sha256"]:
        raise FileError(f"{path} is damaged: it was cut off or changed after it was saved.")
    try:
        # Copy-on-write: the file stays unchanged, and kernels get an array of the usual type.
        array: NDArray[Any] = np.load(path, mmap_mode="c", allow_pickle=False)
    except Exception as error:  # for a header that makes no sense, numpy raises many kinds
        reason = str(error).rstrip(".")[:200]
        raise FileError(f"{path} cannot be read: {reason}.") from None
    # Kernels read arrays without asking for their type, so only plain numbers pass.
    is_plain = isinstance(array, np.ndarray) and array.dtype.kind in NUMBERS and array.dtype.isnative
    if not is_plain or [list(array.shape), str(array.dtype)] != [entry["shape"], entry["dtype"]]:
        raise FileError(f"{path} is damaged: it does not hold the numbers that the manifest describes.")
    return array if array.flags.c_contiguous else np.ascontiguousarray(array)


def _files_before(folder: Path, kind: str, names: Collection[str]) -> set[str]:
    """The files of a folder that will be replaced; raises FileError if it holds other files."""
    if not folder.exists():
        return set()
    if not folder.is_dir():
        raise FileError(f"{folder} is a file; the {kind} needs a folder.")
    if (folder / MANIFEST).exists():
        try:
            return {entry["file"] for entry in read_manifest(folder, kind)["files"].values()}
        except FileError as error:
            raise FileError(f"{error} It is not overwritten; remove it or choose another folder.") from None
    # A save that was killed before it wrote the manifest leaves files with these names only.
    ours = re.compile(
        f"({'|'.join(map(re.escape, names))})(-[0-9a-f]{{12}}\\.npy|\\.npy\\.part)|{MANIFEST}\\.part"
    )
    found = {path.name for path in folder.iterdir()}
    if not all(map(ours.fullmatch, found)):
        raise FileError(f"{folder} holds other files; choose an empty or new folder for the {kind}.")
    return found


def _seal(manifest: Mapping[str, Any]) -> str:
    """A checksum of the manifest without its seal."""
    content = {key: value for key, value in manifest.items() if key != "seal"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def read_manifest(folder: Path, kind: str) -> dict[str, Any]:
    """The verified manifest of a folder of a kind."""
    path = folder / MANIFEST
    if not path.is_file():
        raise FileError(f"There is no {kind} in {folder} (it has no {MANIFEST}).")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        found, version, sealed = str(manifest["format"]), int(manifest["version"]), manifest["seal"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise FileError(f"{path} is damaged: it is not the manifest of an OpenFelt folder.") from None
    if found != f"openfelt {kind}":
        raise FileError(f"{folder} holds an '{found[:60]}', not an 'openfelt {kind}'.")
    if version > VERSION:
        raise FileError(
            f"{folder} was written by a newer OpenFelt (format {version}, this one reads {VERSION})."
        )
    if sealed != _seal(manifest):
        raise FileError(f"{path} is damaged: it was changed after it was saved.")
    if not _lists_arrays(manifest.get("files")):
        raise FileError(f"{path} is damaged: its list of arrays cannot be read.")
    return dict(manifest)


def _lists_arrays(files: object) -> bool:
    """Whether each entry describes an array and names a file of the folder itself, as `_write_array` does."""
    return isinstance(files, dict) and all(map(_describes_array, files, files.values()))


def _describes_array(name: str, entry: object) -> bool:
    if not isinstance(entry, dict) or not PLAIN_NAME.fullmatch(name):
        return False
    checksum = entry.get("sha256")
    return (
        isinstance(checksum, str)
        and CHECKSUM.fullmatch(checksum) is not None
        and entry.get("file") == f"{name}-{checksum[:12]}.npy"
        and {"shape", "dtype"} <= entry.keys()
    )


def _write_array(folder: Path, name: str, array: NDArray[Any]) -> dict[str, Any]:
    temporary = folder / f"{name}.npy.part"
    try:
        with temporary.open("wb") as file:
            np.save(file, array, allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())
        checksum = file_checksum(temporary)
        final = f"{name}-{checksum[:12]}.npy"
        temporary.replace(folder / final)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return {"file": final, "sha256": checksum, "shape": list(array.shape), "dtype": str(array.dtype)}


def write_text(path: Path, text: str) -> None:
    """Write or replace a text file in one step."""
    temporary = path.with_name(path.name + ".part")
    try:
        with temporary.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def write_sealed(path: Path, document: Mapping[str, Any]) -> None:
    """Write a JSON object with its checksum."""
    write_text(path, json.dumps({**document, "seal": _seal(document)}) + "\n")


def read_sealed(path: Path) -> dict[str, Any]:
    """Read what `write_sealed` wrote; raises FileError if it is missing or was changed."""
    try:
        document = dict(json.loads(path.read_text(encoding="utf-8")))
        if document.pop("seal", None) == _seal(document):
            return document
    except (OSError, ValueError, TypeError, RecursionError):
        pass
    raise FileError(f"{path} is missing or damaged: it is not the JSON that was saved.")


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # Windows opens no folders
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def file_checksum(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def prepare_folder(folder: Path) -> None:
    """Create a folder; raise before the work starts if results cannot be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise not_written(folder, error) from error


def not_written(path: Path, error: OSError) -> FileError:
    """The error for a file that could not be written."""
    reason = error.strerror or f"is the disk full? {error}"
    return FileError(f"{path} could not be written ({reason}); earlier files there are unchanged.")
