"""Fair dealing that a player can check: the seed of a hand is fixed before the deal, and told after it.

Before a hand the server shows the SHA-256 of its seed (the *commitment*). Then the browser draws a number of
its own (the *nonce*), and the deck is shuffled by both: the server cannot choose the cards after it has seen
the nonce, and could not before, not knowing it. After the hand the seed is told, and anybody can repeat all
of it. `verify.js` does the same in the browser; docs/table.md has it in words.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterator, Sequence

from openfelt.cards.deck import CARDS, card_text
from openfelt.core.errors import FeltError
from openfelt.games.game import Game
from openfelt.games.holdem import Holdem
from openfelt.games.kuhn import Kuhn
from openfelt.games.leduc import Leduc

SEED_BYTES, NONCE_BYTES = 32, 16
WORDS = 1 << 32


def new_seed() -> str:
    """The seed of a hand, in hex; nobody can guess it."""
    return secrets.token_hex(SEED_BYTES)


def require_nonce(nonce: object) -> str:
    """Refuse what is none."""
    if not isinstance(nonce, str) or not re.fullmatch(f"[0-9a-f]{{{2 * NONCE_BYTES}}}", nonce):
        raise FeltError(f"A nonce has {2 * NONCE_BYTES} hex digits.")
    return nonce


def commitment(seed: str) -> str:
    """What is shown of a seed before the deal."""
    if not re.fullmatch(f"[0-9a-f]{{{2 * SEED_BYTES}}}", seed):
        raise FeltError(f"A seed has {2 * SEED_BYTES} hex digits.")
    return hashlib.sha256(bytes.fromhex(seed)).hexdigest()


def deck_of(game: Game) -> list[str]:
    """The cards of a game in their order, as the words that chance has for them."""
    if isinstance(game, Holdem):
        return [card_text(card) for card in range(CARDS)]
    if isinstance(game, Leduc):
        return [rank for rank in game.deck for _ in range(2)]
    if isinstance(game, Kuhn):
        return list(game.deck)
    raise FeltError(f"{game.name} has no deck of cards to shuffle.")


def shuffled(cards: Sequence[str], seed: str, nonce: str) -> list[str]:
    """Fisher and Yates' shuffle, from the front; the first cards are dealt first."""
    order, words = list(cards), _words(seed, nonce)
    for place in range(len(order) - 1):
        other = place + _below(len(order) - place, words)
        order[place], order[other] = order[other], order[place]
    return order


def dice_start(seed: str, nonce: str) -> int:
    """Where the bots' dice of the hand start: a place in the period of core/random.py."""
    return int.from_bytes(_block(seed, nonce, "dice")[:8], "big")


def _block(seed: str, nonce: str, name: str) -> bytes:
    return hashlib.sha256(f"{seed}:{nonce}:{name}".encode()).digest()


def _words(seed: str, nonce: str) -> Iterator[int]:
    """Numbers of 32 bits without end."""
    count = 0
    while True:
        block = _block(seed, nonce, str(count))
        for place in range(0, len(block), 4):
            yield int.from_bytes(block[place : place + 4], "big")
        count += 1


def _below(count: int, words: Iterator[int]) -> int:
    """A number below `count`, all equally likely: words from the incomplete last round are passed over."""
    limit = WORDS - WORDS % count
    return next(word for word in words if word < limit) % count
