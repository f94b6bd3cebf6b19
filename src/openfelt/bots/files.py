"""The files that names of bots and games refer to, which travel with a match to other machines."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from openfelt.bots.registry import BOTS
from openfelt.policy.files import POLICY
from openfelt.solve.run_folder import GREEDY, SETTINGS

SEPARATORS = re.compile(r"[@:()=,'\"\s]+")


def named_files(names: Iterable[str]) -> tuple[str, ...]:
    """Files and folders below the current folder that are mentioned; of a run only its policies."""
    words = {word for name in names for word in SEPARATORS.split(name) if word and word not in BOTS}
    paths = [Path(word) for word in sorted(words) if _is_below(Path(word))]
    return tuple(str(part) for path in paths for part in _parts(path))


def _is_below(path: Path) -> bool:
    try:
        return not path.is_absolute() and ".." not in path.parts and path.parts != () and path.exists()
    except OSError:  # too long for a name
        return False


def _parts(path: Path) -> list[Path]:
    if not (path / SETTINGS).is_file():
        return [path]
    return [path / name for name in (SETTINGS, POLICY, GREEDY) if (path / name).exists()]
