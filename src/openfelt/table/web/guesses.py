"""Limits what one address can do in a period: guess tokens, take names."""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address

from openfelt.core.errors import FeltError

SHORTEST_TOKEN = 12  # characters
MOST_GUESSES = 10  # different wrong tokens from one address, before it has to wait
PERIOD = 60.0  # seconds until a guess is forgotten
MOST_ADDRESSES = 10_000  # that are remembered
NETWORK_BITS = 64  # of an IPv6 address, which one person has all of


def require_long_token(token: str) -> str:
    """Raise if a token is easy to guess by trying all of its length."""
    if len(token.strip()) < SHORTEST_TOKEN:
        raise FeltError(
            f"The token has {len(token.strip())} characters and could be guessed; give at least"
            f" {SHORTEST_TOKEN}, or leave out --token for a random one."
        )
    return token


class AddressLimit:
    """Counts the different texts, such as wrong tokens, from each address.

    A token that is repeated counts once: a browser that still has the cookie of an earlier server sends it
    with every request.
    """

    def __init__(
        self,
        now: Callable[[], float] = time.monotonic,
        *,
        most: int = MOST_GUESSES,
        period: float = PERIOD,
    ) -> None:
        self._now, self._most, self._period = now, most, period
        self._texts: OrderedDict[str, dict[bytes, float]] = OrderedDict()  # text -> when, by address

    def add(self, address: str, text: str) -> None:
        """Count a text."""
        own = self._recent(address)
        own[hashlib.sha256(text.encode()).digest()] = self._now()
        self._texts[_network(address)] = own
        self._texts.move_to_end(_network(address))
        if len(self._texts) > MOST_ADDRESSES:
            self._texts.popitem(last=False)

    def is_reached(self, address: str) -> bool:
        """Whether this address has sent so many that more are refused."""
        return len(self._recent(address)) >= self._most

    def _recent(self, address: str) -> dict[bytes, float]:
        since = self._now() - self._period
        texts = self._texts.get(_network(address), {})
        return {text: when for text, when in texts.items() if when > since}


def _network(address: str) -> str:
    """What counts as one address."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if isinstance(found, IPv6Address) and found.ipv4_mapped is None:
        return str(IPv6Address(int(found) >> (128 - NETWORK_BITS) << (128 - NETWORK_BITS)))
    return address
