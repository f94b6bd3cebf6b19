"""A match on disk: a journal with one line per finished block."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from openfelt.arena.hand_kernels import STYLE_COLUMNS
from openfelt.arena.match_blocks import BlockResult, Contest, Setup
from openfelt.arena.stored_stats import require_sound
from openfelt.bots.bot import Bot
from openfelt.core.errors import FileError
from openfelt.core.files import MALFORMED, file_checksum
from openfelt.core.journal import MARKS, Journal

KIND = "match"


class MatchFolder:
    """The finished blocks of a match."""

    def __init__(self, path: Path, contest: Contest) -> None:
        bots = [contest.bots[participant] for participant in contest.participants.places]
        marks = bot_fingerprints(contest.setup.bots, bots)
        self._journal = Journal.open(path, KIND, {**_as_dict(contest.setup), MARKS: marks})
        self._blocks: dict[tuple[int, int], BlockResult] = {}  # by first deal and count
        self.seconds_before = 0.0
        for number, part in enumerate(self._journal.parts, 1):
            try:
                block = BlockResult.from_dict(part)
                _require_fit(block, contest, part["count"])
                self._blocks[part["first"], part["count"]] = block
                self.seconds_before = float(part["seconds"])
            except MALFORMED:
                raise FileError(f"{path} is damaged in its block {number}; remove that line.") from None

    def find(self, first: int, count: int) -> BlockResult | None:
        """A block, if it is finished."""
        return self._blocks.get((first, count))

    def append(self, first: int, count: int, block: BlockResult, seconds: float) -> None:
        """Write a block to disk, with the time that the match has taken so far."""
        self._blocks[first, count] = block
        self._journal.append({"first": first, "count": count, "seconds": seconds, **block.as_dict()})


def _require_fit(block: BlockResult, contest: Contest, deals: int) -> None:
    """Raise ValueError unless a block that was read has the sizes of a block of this match."""
    participants, columns = len(contest.participants.names), sum(map(len, contest.columns.values()))
    fits = (
        block.moments.count == deals
        and block.moments.sums.shape == (columns,)
        and np.isfinite(block.moments.products).all()
        and block.hands == deals * contest.times
        and block.seats.shape == (participants, contest.game.players, 2)
        and block.style.shape == (participants, STYLE_COLUMNS)
        and len(block.stats) == participants
        and (block.leaf is None) == (not contest.setup.history)
        and (block.leaf is None or block.leaf.shape == (deals, contest.times))
    )
    if not fits:
        raise ValueError("sizes")
    for stats in block.stats:
        require_sound(stats)


def bot_fingerprints(names: Sequence[str], bots: Sequence[Bot]) -> list[str]:
    """One per bot; it changes if the bot's policy or model is trained further, or its source file edited."""
    return [_fingerprint(name, bot) for name, bot in zip(names, bots, strict=True)]


def _fingerprint(name: str, bot: Bot) -> str:
    path = Path(name.rpartition(":")[0])
    if path.suffix == ".py" and path.is_file():
        return file_checksum(path)[:12]
    return bot.fingerprint


def _as_dict(setup: Setup) -> dict[str, Any]:
    """What the blocks depend on: a match may be resumed with or without `strict`."""
    facts = dataclasses.asdict(setup)
    del facts["strict"]
    return facts | {"bots": list(setup.bots), "limit": None if setup.limit == math.inf else setup.limit}
