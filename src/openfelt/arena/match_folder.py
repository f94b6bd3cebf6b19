"""A match on disk: `match.json` says what is played, `blocks.jsonl` has a line for each block that is over.

A kill leaves the blocks that were written; a line that was cut off is played again.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openfelt.arena.contest import BlockResult, Setup
from openfelt.base.errors import FeltError, FileError
from openfelt.base.files import not_written, write_text

SETTINGS, BLOCKS, VERSION = "match.json", "blocks.jsonl", 1


@dataclass
class MatchFolder:
    """What was played so far."""

    path: Path
    blocks: dict[tuple[int, int], BlockResult] = field(default_factory=dict)  # by first deal and count
    seconds_before: float = 0.0

    @staticmethod
    def open(path: Path, setup: Setup) -> MatchFolder:
        """A new folder, or one of the very same match to go on with."""
        wanted: dict[str, Any] = {"format": "openfelt match", "version": VERSION, "setup": _plain(setup)}
        kept = MatchFolder(path)
        if not (path / SETTINGS).exists():
            if path.exists() and (not path.is_dir() or any(path.iterdir())):
                raise FeltError(f"{path} holds other files; name an empty or new folder for the match.")
            kept._write(wanted)
            return kept
        found = _read(path / SETTINGS)
        if found.get("format") != wanted["format"]:
            raise FileError(f"{path / SETTINGS} is not that of an OpenFelt match.")
        if found.get("version", 0) > VERSION:
            raise FileError(f"{path} was written by a newer OpenFelt (format {found['version']}).")
        for key, value in wanted["setup"].items():
            if found.get("setup", {}).get(key) != value:
                was = found.get("setup", {}).get(key)
                raise FeltError(f"{path} is a match with {key} {was}, not {value}; nothing was changed.")
        kept.seconds_before = float(found.get("seconds", 0.0))
        kept._load()
        return kept

    def find(self, first: int, count: int) -> BlockResult | None:
        """A block, if it was played."""
        return self.blocks.get((first, count))

    def keep(self, first: int, count: int, block: BlockResult) -> None:
        """Write down a block, to stay."""
        self.blocks[first, count] = block
        line = json.dumps({"first": first, "count": count, **block.as_dict()})
        try:
            with (self.path / BLOCKS).open("a", encoding="utf-8") as file:
                file.write(line + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise not_written(self.path / BLOCKS, error) from error

    def finish(self, seconds: float) -> None:
        """Note how long it took."""
        self._write({**_read(self.path / SETTINGS), "seconds": seconds})

    def _write(self, facts: dict[str, Any]) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            write_text(self.path / SETTINGS, json.dumps(facts, indent=2) + "\n")
        except OSError as error:
            raise not_written(self.path, error) from error

    def _load(self) -> None:
        path = self.path / BLOCKS
        if not path.exists():
            return
        text = path.read_text(encoding="utf-8", errors="replace")
        whole, _, cut_off = text.rpartition("\n")
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                found = json.loads(line)
                self.blocks[found["first"], found["count"]] = BlockResult.from_dict(found)
            except (ValueError, KeyError, TypeError):
                raise FileError(f"{path} is damaged in line {number}; remove that line to go on.") from None
        if cut_off:
            write_text(path, whole + "\n" if whole else "")


def _plain(setup: Setup) -> dict[str, Any]:
    facts = dataclasses.asdict(setup)
    facts["bots"] = list(setup.bots)
    facts["limit"] = None if setup.limit == math.inf else setup.limit
    return facts


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise FileError(f"{path} is damaged: it is not the JSON of a match.") from None
    if not isinstance(found, dict):
        raise FileError(f"{path} is damaged: it is not the JSON of a match.")
    return found
