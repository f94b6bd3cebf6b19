"""The pretrained hold'em policies of named bots, one folder each."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from openfelt.policy.files import load_policy
from openfelt.policy.holdem import HoldemPolicy, require_holdem_policy


@cache
def shipped_policy(name: str) -> HoldemPolicy:
    """The pretrained policy of a bot."""
    return require_holdem_policy(load_policy(Path(__file__).parent / name))
