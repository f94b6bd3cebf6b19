"""Mutations of folders of arrays with a manifest, with and without checksums computed again."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from fuzz.json_mutations import dump, mutate_json, mutate_json_text
from fuzz.mutations import mutate_any, mutate_bytes
from fuzz.target import Files, Mutant

MANIFEST = "manifest.json"
DTYPES = ("f4", "f8", "i1", "u1", "i4", "i8", "u8", "c16", "U5", "S3", "?", "M8[s]", "f2", ">f8", "V4")
VALUES = (0.0, -1.0, 1.0, 2.0, 0.5, 255.0, 1e9, -1e9, 1e300, float("nan"), float("inf"), -float("inf"))


def read_files(folder: Path) -> Files:
    """All files of a folder and of those in it."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def write_files(folder: Path, files: Files) -> None:
    """The inverse of `read_files`, into a new folder."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def mutate_folder(random: Random, files: Files, sample: int) -> Mutant:
    """Change a file; in most mutants the checksums are then computed again."""
    manifests = [name for name in files if name.endswith(MANIFEST)]
    name, change = random.choice(FOLDER_MUTATIONS if manifests else FOLDER_MUTATIONS[:2])
    changed = dict(files)
    how = change(random, changed, random.choice(manifests) if manifests else "")
    sealed = name in ("facts", "arrays", "entries")
    return Mutant(changed, f"{name}: {how}" if how else name, sample, sealed)


def _plain(random: Random, files: dict[str, bytes], _: str) -> str:
    """Change one file, whatever its checksum says."""
    name = random.choice(sorted(files))
    mutate = mutate_any if name.endswith((".json", ".toml", ".csv", ".jsonl")) else mutate_bytes
    files[name], how = mutate(random, files[name])
    return how


def _missing(random: Random, files: dict[str, bytes], _: str) -> str:
    names = sorted(files)
    first, second = random.choice(names), random.choice(names)
    if random.random() < 0.5:
        del files[first]
        return "remove a file"
    files[first], files[second] = files[second], files[first]
    return "exchange files"


def _facts(random: Random, files: dict[str, bytes], manifest: str) -> str:
    """Change the manifest and seal it again."""
    document = json.loads(files[manifest])
    document.pop("seal")
    if random.random() < 0.02:
        files[manifest], how = mutate_json_text(random, files[manifest])
        return how
    changed, how = mutate_json(random, document)
    files[manifest] = sealed(changed)
    return how


def _arrays(random: Random, files: dict[str, bytes], manifest: str) -> str:
    """Change an array, with its checksum, name, shape and type in the manifest."""
    document = json.loads(files[manifest])
    if not document["files"]:
        return "nothing"
    name = random.choice(sorted(document["files"]))
    entry = document["files"][name]
    where = str(Path(manifest).parent / entry["file"])
    data, how = _mutate_array(random, files.pop(where))
    digest = hashlib.sha256(data).hexdigest()
    final = f"{name}-{digest[:12]}.npy"
    document["files"][name] = {**entry, "file": final, "sha256": digest, **_described(data)}
    files[str(Path(manifest).parent / final)] = data
    files[manifest] = sealed(document)
    return how


def _entries(random: Random, files: dict[str, bytes], manifest: str) -> str:
    """Exchange, drop or repeat entries of the list of arrays."""
    document = json.loads(files[manifest])
    listed = document["files"]
    if not listed:
        return "nothing"
    first, second = random.choice(sorted(listed)), random.choice(sorted(listed))
    what = random.choice(("exchange", "drop", "repeat", "rename"))
    if what == "exchange":
        listed[first], listed[second] = listed[second], listed[first]
    elif what == "drop":
        del listed[first]
    elif what == "repeat":
        listed["more"] = listed[first]
    else:
        listed[random.choice(("", "../x", "x" * 300, "probabilities", "weights"))] = listed.pop(first)
    files[manifest] = sealed(document)
    return what


def sealed(document: Any) -> bytes:
    """The text of a manifest with a valid seal, as docs/architecture.md describes it."""
    if isinstance(document, dict):
        content = {key: value for key, value in document.items() if key != "seal"}
        document["seal"] = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return dump(document)


def _described(data: bytes) -> dict[str, Any]:
    try:
        array = np.load(io.BytesIO(data), allow_pickle=False)
    except Exception:  # numpy's reader raises many kinds for a damaged header
        return {}
    return {"shape": list(array.shape), "dtype": str(array.dtype)}


def _mutate_array(random: Random, data: bytes) -> tuple[bytes, str]:
    if random.random() < 0.25:
        return mutate_bytes(random, data)
    array = np.load(io.BytesIO(data), allow_pickle=False)
    name, change = random.choice(ARRAY_MUTATIONS)
    with np.errstate(all="ignore"):
        try:
            changed = change(random, array.copy())
        except (ValueError, TypeError, OverflowError):
            changed, name = array.ravel()[:-1], "one value less"
    return npy(changed), name


def npy(array: Any) -> bytes:
    """An array as a .npy file."""
    out = io.BytesIO()
    np.save(out, array, allow_pickle=False)
    return out.getvalue()


def _set_value(random: Random, array: Any) -> Any:
    flat = array.reshape(-1)
    if len(flat):
        flat[random.randrange(len(flat))] = random.choice(VALUES)
    return array


def _set_all(random: Random, array: Any) -> Any:
    array[...] = random.choice(VALUES)
    return array


def _nudge(random: Random, array: Any) -> Any:
    flat = array.reshape(-1)
    if len(flat):
        flat[random.randrange(len(flat))] += random.choice((1, -1))
    return array


def _exchange(random: Random, array: Any) -> Any:
    flat = array.reshape(-1)
    if len(flat) > 1:
        first, second = random.randrange(len(flat)), random.randrange(len(flat))
        flat[first], flat[second] = flat[second], flat[first]
    return array


def _resize(random: Random, array: Any) -> Any:
    return np.resize(array, tuple(random.choice((0, 1, side, side + 1, 2 * side)) for side in array.shape))


def _reshape(random: Random, array: Any) -> Any:
    return random.choice((array.reshape(-1), array[None], array.T, array.reshape(-1, 1), array.ravel()[:0]))


def _retype(random: Random, array: Any) -> Any:
    return array.astype(random.choice(DTYPES))


def _order(random: Random, array: Any) -> Any:
    return np.asfortranarray(array)


ARRAY_MUTATIONS: tuple[tuple[str, Callable[[Random, Any], Any]], ...] = (
    ("set a value", _set_value),
    ("set all values", _set_all),
    ("nudge a value", _nudge),
    ("exchange values", _exchange),
    ("other size", _resize),
    ("other shape", _reshape),
    ("other type", _retype),
    ("other order", _order),
)
FOLDER_MUTATIONS: tuple[tuple[str, Callable[[Random, dict[str, bytes], str], str]], ...] = (
    ("plain", _plain),
    ("missing", _missing),
    ("facts", _facts),
    ("arrays", _arrays),
    ("arrays", _arrays),
    ("entries", _entries),
)
