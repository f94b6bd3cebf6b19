"""Parameters in the name of a bot, as in mcts(c=2,iterations=1000)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

from openfelt.core.errors import FeltError

Parameters = TypeVar("Parameters")
WORDS = {int: "a whole number", float: "a number", str: "a text in quotes", bool: "True or False"}


def read_parameters(kind: type[Parameters], given: Mapping[str, Any], owner: str) -> Parameters:
    """Check parameters against the fields of a dataclass, all of which have defaults, and create it."""
    kinds = {field.name: type(field.default) for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for key, value in given.items():
        if key not in kinds:
            raise FeltError(f"{owner} has no parameter '{key}' (it has {', '.join(kinds)}).")
        if type(value) is not kinds[key] and (kinds[key], type(value)) != (float, int):
            raise FeltError(f"{key} must be {WORDS[kinds[key]]}, not {value!r}.")
    return kind(**given)
