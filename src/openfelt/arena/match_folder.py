"""A match on disk: a journal with a line for each block that is over."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from pathlib import Path
from typing import Any

import numpy as np

from openfelt.arena.contest import BlockResult, Contest, Setup
from openfelt.bots.bot import Bot
from openfelt.bots.policy_bot import HoldemBot, TreeBot
from openfelt.bots.search_bot import MctsBot, ModelBot
from openfelt.core.errors import FileError
from openfelt.core.files import file_checksum
from openfelt.core.journal import Journal
from openfelt.policy.holdem import HoldemPolicy
from openfelt.policy.policy import Policy

KIND = "match"


class MatchFolder:
    """What was played so far."""

    def __init__(self, path: Path, contest: Contest) -> None:
        seated = [contest.bots[participant] for participant in contest.lineup.seats]
        marks = [mark(name, bot) for name, bot in zip(contest.setup.bots, seated, strict=True)]
        self._journal = Journal.open(path, KIND, {**_plain(contest.setup), "marks": marks})
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


def mark(name: str, bot: Bot) -> str:
    """Tells a policy or model that was trained on, or a file that was changed, from what it was."""
    path = Path(name.rpartition(":")[0])
    if path.suffix == ".py" and path.is_file():
        return file_checksum(path)[:12]
    if isinstance(bot, HoldemBot | TreeBot):
        return _table_mark(bot.policy)
    if isinstance(bot, MctsBot) and bot.policy is not None:
        return _table_mark(bot.policy)
    return bot.model.fingerprint if isinstance(bot, ModelBot) else ""


def _table_mark(policy: Policy) -> str:
    table = policy.weights if isinstance(policy, HoldemPolicy) else policy.probabilities
    return hashlib.sha256(np.ascontiguousarray(table).data).hexdigest()[:12]


def _plain(setup: Setup) -> dict[str, Any]:
    facts = dataclasses.asdict(setup)
    return facts | {"bots": list(setup.bots), "limit": None if setup.limit == math.inf else setup.limit}
