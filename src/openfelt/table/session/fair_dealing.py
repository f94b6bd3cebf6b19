"""Fair dealing that the player can verify: the seed of a hand is fixed before the deal and revealed after it.

Before a hand the server shows the SHA-256 of its seed (the *commitment*). Then the browser draws a random
number (the *nonce*), and the deck is shuffled from both. The server does not know the nonce when it fixes the
seed, and cannot change the seed afterwards. After the hand the server reveals the seed, and the player can
repeat the shuffle. `verify.js` does so in the browser; docs/table.md describes the procedure.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterator, Sequence

from openfelt.core.errors import FeltError

SEED_BYTES, NONCE_BYTES = 32, 16
WORD_RANGE = 1 << 32


def new_seed() -> str:
    """A seed that cannot be guessed, in hex."""
    return secrets.token_hex(SEED_BYTES)


def require_nonce(nonce: object) -> str:
    """Raise if it is not a nonce."""
    if not isinstance(nonce, str) or not re.fullmatch(f"[0-9a-f]{{{2 * NONCE_BYTES}}}", nonce):
        raise FeltError(f"A nonce has {2 * NONCE_BYTES} hex digits in lower case.")
    return nonce


def commitment(seed: str) -> str:
    """The SHA-256 of a seed, which is shown before the deal."""
    if not re.fullmatch(f"[0-9a-f]{{{2 * SEED_BYTES}}}", seed):
        raise FeltError(f"A seed has {2 * SEED_BYTES} hex digits in lower case.")
    return hashlib.sha256(bytes.fromhex(seed)).hexdigest()


def shuffled(cards: Sequence[str], seed: str, nonce: str) -> list[str]:
    """The Fisher-Yates shuffle from the front; the first cards are dealt first."""
    order, words = list(cards), _words(seed, nonce)
    for place in range(len(order) - 1):
        other = place + _below(len(order) - place, words)
        order[place], order[other] = order[other], order[place]
    return order


def dice_start(seed: str, nonce: str) -> int:
    """Where the random numbers of the bots start: a position in the period of core/random.py."""
    return int.from_bytes(_block(seed, nonce, "dice")[:8], "big")


def _block(seed: str, nonce: str, name: str) -> bytes:
    return hashlib.sha256(f"{seed}:{nonce}:{name}".encode()).digest()


def _words(seed: str, nonce: str) -> Iterator[int]:
    """An endless stream of 32-bit numbers."""
    count = 0
    while True:
        block = _block(seed, nonce, str(count))
        for place in range(0, len(block), 4):
            yield int.from_bytes(block[place : place + 4], "big")
        count += 1


def _below(count: int, words: Iterator[int]) -> int:
    """A uniform number below `count`; numbers from the incomplete last cycle are skipped."""
    limit = WORD_RANGE - WORD_RANGE % count
    return next(word for word in words if word < limit) % count
