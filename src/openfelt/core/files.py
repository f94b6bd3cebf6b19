"""Folders of arrays that survive a kill, tell damage from health, and never need pickle.

A folder holds `.npy` files and a `manifest.json` that names them with their checksums. The arrays carry
their checksum in their name and are written and synced first; then the manifest, which is sealed with a
checksum of its own, is replaced in one step. A kill at any moment leaves the old folder or the new one,
never a mixture.
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


def save_folder(
    folder: Path, kind: str, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]
) -> None:
    """Write arrays and facts as a folder of that kind ("policy", "checkpoint", "tree").

    Replaces an earlier folder of the same kind; never touches what it did not write itself.
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
    """Read what `save_folder` wrote, memory-mapped and verified; or say in one sentence what is wrong."""
    manifest = read_manifest(folder, kind)
    arrays = {}
    for name, entry in manifest["files"].items():
        path = folder / entry["file"]
        if not path.is_file():
            raise FileError(f"{folder} is incomplete: the file {entry['file']} is missing.")
        if file_checksum(path) != entry["sha256"]:
            raise FileError(f"{path} is damaged: it was cut off or changed after it was saved.")
        try:
            # Copy-on-write: the file stays as it is, and kernels see the type of any other array.
            arrays[name] = np.load(path, mmap_mode="c", allow_pickle=False)
        except (ValueError, OSError) as error:
            raise FileError(f"{path} cannot be read: {error}.") from None
    return arrays, manifest


def _files_before(folder: Path, kind: str, names: Collection[str]) -> set[str]:
    """The files of the folder that is about to be replaced; refuses a folder that is not ours."""
    if not folder.exists():
        return set()
    if not folder.is_dir():
        raise FileError(f"{folder} is a file, where a folder for the {kind} is needed.")
    if (folder / MANIFEST).exists():
        try:
            return {entry["file"] for entry in read_manifest(folder, kind)["files"].values()}
        except FileError as error:
            raise FileError(f"{error} It is not overwritten; remove it or name another folder.") from None
    # A save that was killed before its manifest was written leaves files of these names, and no others.
    ours = re.compile(
        f"({'|'.join(map(re.escape, names))})(-[0-9a-f]{{12}}\\.npy|\\.npy\\.part)|{MANIFEST}\\.part"
    )
    found = {path.name for path in folder.iterdir()}
    if not all(map(ours.fullmatch, found)):
        raise FileError(f"{folder} holds other files; name an empty or new folder for the {kind}.")
    return found


def _seal(manifest: Mapping[str, Any]) -> str:
    """A checksum of everything in the manifest but itself."""
    content = {key: value for key, value in manifest.items() if key != "seal"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def read_manifest(folder: Path, kind: str) -> dict[str, Any]:
    """The facts of a folder of that kind, verified."""
    path = folder / MANIFEST
    if not path.is_file():
        raise FileError(f"There is no {kind} in {folder} (it has no {MANIFEST}).")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        found, version, sealed = str(manifest["format"]), int(manifest["version"]), manifest["seal"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise FileError(f"{path} is damaged: it is not the manifest of an OpenFelt folder.") from None
    if found != f"openfelt {kind}":
        raise FileError(f"{folder} holds an '{found}', not an 'openfelt {kind}'.")
    if version > VERSION:
        raise FileError(
            f"{folder} was written by a newer OpenFelt (format {version}, this one reads {VERSION})."
        )
    if sealed != _seal(manifest):
        raise FileError(f"{path} is damaged: it was changed after it was saved.")
    return dict(manifest)


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
    """Replace a text file in one step."""
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


def _sync_folder(folder: Path) -> None:
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
    """Make a folder and raise now, before the work starts, if results could not be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise not_written(folder, error) from error


def not_written(path: Path, error: OSError) -> FileError:
    """The sentence for a file that could not be written."""
    reason = error.strerror or f"is the disk full? {error}"
    return FileError(f"{path} could not be written ({reason}); what was saved there before is untouched.")
