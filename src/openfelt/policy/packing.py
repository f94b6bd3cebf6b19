"""Files of compact policies of hold'em: probabilities in 15ths, packed and compressed.

Each action of an infoset except the last takes four bits; the last is 15 minus their sum. The bytes are
compressed by zlib. Files are not trusted: decompression stops at the size that the game requires.
"""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import Bytes
from openfelt.core.errors import FeltError
from openfelt.core.jit import Longs, kernel

COARSE = 15  # parts of a compact policy
STEP = 255 // COARSE
PACKED = "packed"  # the name of the array
LEVEL = 9  # of compression
ActionCounts = NDArray[np.int8]


def pack(nodes: Longs, buckets: Longs, node_actions: ActionCounts, weights: Bytes) -> Bytes:
    """The bytes that are stored for a compact policy; infosets as in `HoldemPolicy`."""
    numbers = np.zeros((_count(nodes, buckets, node_actions) + 1) // 2, np.uint8)
    _pack(nodes, buckets, node_actions, weights, numbers)
    return np.frombuffer(zlib.compress(numbers.tobytes(), LEVEL), np.uint8)


def unpack(nodes: Longs, buckets: Longs, node_actions: ActionCounts, packed: Bytes, slots: int) -> Bytes:
    """The weights [slots] of a compact policy, in 255ths."""
    size = (_count(nodes, buckets, node_actions) + 1) // 2
    if packed.ndim != 1 or packed.dtype != np.uint8:
        raise FeltError("A compact policy is a list of bytes.")
    stream = zlib.decompressobj()
    try:
        expanded = stream.decompress(packed.tobytes(), size + 1)
    except zlib.error as error:
        raise FeltError(f"The compact policy cannot be decompressed: {error}.") from None
    if len(expanded) != size or not stream.eof or stream.unused_data:
        raise FeltError(f"A compact policy of this game has {size:,} bytes.")
    table = np.empty(slots, np.uint8)
    if not _unpack(nodes, buckets, node_actions, np.frombuffer(expanded, np.uint8), table):
        raise FeltError("The probabilities of a policy must sum to 1 at every infoset.")
    return table


def _count(nodes: Longs, buckets: Longs, node_actions: ActionCounts) -> int:
    """The numbers that are stored: one for each action but the last of an infoset."""
    return int(np.repeat(buckets, nodes) @ (node_actions.astype(np.int64) - 1))


@kernel
def _pack(nodes: Longs, buckets: Longs, node_actions: ActionCounts, weights: Bytes, packed: Bytes) -> None:
    slot, first_node, place = 0, 0, 0
    for block in range(len(nodes)):
        for _ in range(buckets[block]):
            for node in range(first_node, first_node + nodes[block]):
                for action in range(node_actions[node] - 1):
                    packed[place >> 1] |= weights[slot + action] // STEP << 4 * (place & 1)
                    place += 1
                slot += node_actions[node]
        first_node += nodes[block]


@kernel
def _unpack(nodes: Longs, buckets: Longs, node_actions: ActionCounts, packed: Bytes, table: Bytes) -> bool:
    """False if the numbers of an infoset are more than the whole."""
    slot, first_node, place = 0, 0, 0
    for block in range(len(nodes)):
        for _ in range(buckets[block]):
            for node in range(first_node, first_node + nodes[block]):
                left = COARSE
                for _ in range(node_actions[node] - 1):
                    part = packed[place >> 1] >> 4 * (place & 1) & 15
                    table[slot] = part * STEP
                    left -= part
                    place += 1
                    slot += 1
                if left < 0:
                    return False
                table[slot] = left * STEP
                slot += 1
        first_node += nodes[block]
    return True
