"""Folders of freeze-outs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fuzz.targets.journal import JournalTarget
from openfelt.arena.freeze_out.freeze_out import freeze_out

BOTS, SETUP = ("always-raise", "always-call"), {"games": 2, "hands": 3, "seed": 3}


class FreezeOutTarget(JournalTarget):
    """Two short freeze-outs, resumed from their folder."""

    name = kind = "freeze-out"
    share = 0.3

    def play(self, folder: Path) -> dict[str, Any]:
        return freeze_out(*BOTS, **SETUP, folder=folder).as_dict()
