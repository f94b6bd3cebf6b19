"""The hold'em policies that come along for bots with a name, a folder each."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from openfelt.policy.files import load_policy
from openfelt.policy.holdem import HoldemPolicy


@cache
def shipped_policy(name: str) -> HoldemPolicy:
    """The policy of a bot."""
    policy = load_policy(Path(__file__).parent / name)
    assert isinstance(policy, HoldemPolicy)
    return policy
