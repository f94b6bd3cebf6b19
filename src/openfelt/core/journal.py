"""A folder for work that takes long: `KIND.json` holds the setup, `parts.jsonl` one line per finished part.

A kill leaves the parts that were written. A line that was cut off is dropped, and its part is done again.
Every line has a checksum, so that changes are detected.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openfelt.core.errors import FeltError, FileError
from openfelt.core.files import not_written, write_text

PARTS, SEAL, VERSION = "parts.jsonl", "seal", 1
MARKS = "marks"  # key of a setup: fingerprints of the bots


@dataclass
class Journal:
    """The finished parts."""

    path: Path
    parts: list[dict[str, Any]] = field(default_factory=list)

    @staticmethod
    def settings(path: Path, kind: str) -> Path:
        """The file with the setup."""
        return path / f"{kind}.json"

    @staticmethod
    def open(path: Path, kind: str, setup: Mapping[str, Any]) -> Journal:
        """Create a folder, or open one with the same setup to resume."""
        file, journal = Journal.settings(path, kind), Journal(path)
        wanted = {"format": f"openfelt {kind}", "version": VERSION, "setup": dict(setup)}
        if not file.exists():
            if path.exists() and (
                not path.is_dir() or set(path.iterdir()) - {file.with_suffix(".json.part")}
            ):
                raise FeltError(f"{path} holds other files; choose an empty or new folder for the {kind}.")
            try:
                path.mkdir(parents=True, exist_ok=True)
                write_text(file, json.dumps(wanted, indent=2) + "\n")
            except OSError as error:
                raise not_written(path, error) from error
            return journal
        found = _read(file, kind)
        if found.get("format") != wanted["format"]:
            raise FileError(f"{file} is not that of an OpenFelt {kind}.")
        if found["version"] > VERSION:
            raise FileError(f"{path} was written by a newer OpenFelt (format {str(found['version'])[:20]}).")
        for key, value in setup.items():
            was = found["setup"].get(key)
            if was != value and key == MARKS:
                raise FeltError(f"A bot has changed since {path} was started; nothing was written.")
            if was != value:
                raise FeltError(
                    f"{path} is a {kind} with {key} {str(was)[:100]}, not {value}; nothing was written."
                )
        journal._load()
        return journal

    def append(self, part: dict[str, Any]) -> None:
        """Write a finished part to disk."""
        self.parts.append(part)
        try:
            with (self.path / PARTS).open("a", encoding="utf-8") as file:
                file.write(json.dumps({**part, SEAL: _seal(part)}) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise not_written(self.path / PARTS, error) from error

    def _load(self) -> None:
        path = self.path / PARTS
        if not path.exists():
            return
        text = path.read_text(encoding="utf-8", errors="replace")
        whole, _, cut_off = text.rpartition("\n")
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                part = dict(json.loads(line))
                if part.pop(SEAL) != _seal(part):
                    raise ValueError
                self.parts.append(part)
            except (ValueError, TypeError, KeyError, RecursionError):
                raise FileError(f"{path} is damaged in line {number}; remove that line to resume.") from None
        if cut_off:
            write_text(path, whole + "\n" if whole else "")


def _read(path: Path, kind: str) -> dict[str, Any]:
    try:
        found = dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, RecursionError):
        found = {}
    if not isinstance(found.get("version"), int) or not isinstance(found.get("setup"), dict):
        raise FileError(f"{path} is damaged: it is not the JSON of a {kind}.")
    return found


def _seal(part: Mapping[str, Any]) -> str:
    """A checksum; numbers survive a round trip through JSON."""
    return hashlib.sha256(json.dumps(part, sort_keys=True).encode()).hexdigest()[:16]
