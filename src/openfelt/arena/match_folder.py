"""A match on disk: a journal with a line for each block that is over."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

from openfelt.arena.contest import BlockResult, Setup
from openfelt.arena.journal import Journal
from openfelt.base.errors import FileError

KIND = "match"


class MatchFolder:
    """What was played so far."""

    def __init__(self, path: Path, setup: Setup) -> None:
        self._journal = Journal.open(path, KIND, _plain(setup))
        self._blocks: dict[tuple[int, int], BlockResult] = {}  # by first deal and count
        self.seconds_before = 0.0
        for number, part in enumerate(self._journal.parts, 1):
            try:
                self._blocks[part["first"], part["count"]] = BlockResult.from_dict(part)
                self.seconds_before = float(part["seconds"])
            except (ValueError, KeyError, TypeError):
                raise FileError(f"{path} is damaged in its block {number}; remove that line.") from None

    def find(self, first: int, count: int) -> BlockResult | None:
        """A block, if it was played."""
        return self._blocks.get((first, count))

    def keep(self, first: int, count: int, block: BlockResult, seconds: float) -> None:
        """Write down a block, to stay, and how long the match has taken until then."""
        self._blocks[first, count] = block
        self._journal.keep({"first": first, "count": count, "seconds": seconds, **block.as_dict()})


def _plain(setup: Setup) -> dict[str, Any]:
    facts = dataclasses.asdict(setup)
    return facts | {"bots": list(setup.bots), "limit": None if setup.limit == math.inf else setup.limit}
