"""Pieces that several commands share: numbers on the command line, JSON on the screen."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any


def count(text: str) -> int:
    """A whole number of 1 or more; 1e6 is allowed."""
    try:
        number = float(text)
        if number >= 1 and number == int(number):
            return int(number)
    except (ValueError, OverflowError):
        pass
    raise argparse.ArgumentTypeError(f"a whole number of 1 or more is needed, not '{text}'")


def positive(text: str) -> float:
    """A number above zero."""
    try:
        number = float(text)
        if 0 < number < float("inf"):
            return number
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"a number above 0 is needed, not '{text}'")


def seed(text: str) -> int:
    """A whole number of 0 or more."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"a whole number of 0 or more is needed, not '{text}'")
    return int(text)


def print_json(values: Mapping[str, Any]) -> None:
    """One JSON object."""
    print(json.dumps(values, indent=2))
