"""Parameters of a test that only `make test-slow` runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def slow(*values: Any) -> Any:
    """One set of parameters."""
    return pytest.param(*values, marks=pytest.mark.slow)


def fast_only(fast: Collection[Any], values: Iterable[Any]) -> list[Any]:
    """All values, of which those that are not in `fast` are slow."""
    return [value if value in fast else slow(value) for value in values]
