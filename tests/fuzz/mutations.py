"""Mutations of bytes and of text, the same for every format."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

INTERESTING = (0, 1, 9, 10, 13, 32, 34, 39, 44, 45, 58, 91, 92, 123, 124, 127, 128, 255)
NUMBERS = (
    *("0", "-1", "1", "2", "3", "1e999", "-0", "nan", "inf", "1/0", "0x10", "1_000", "٣", "²"),
    *("9223372036854775807", "9223372036854775808", "18446744073709551616", "1e308", "0.5", "1e-400"),
    *("9" * 30, "9" * 5000),
)
WORD = re.compile(rb"[0-9A-Za-z_.+-]+|[^\s0-9A-Za-z_.+-]")
NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?")
HOSTILE = (b"", b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\xe2\x80\xae", b"\x1b[2J", b'"', b"'", b"\\", b"%s")


def mutate_bytes(random: Random, data: bytes) -> tuple[bytes, str]:
    """Change some bytes, whatever they mean."""
    name, change = random.choice(BYTE_MUTATIONS)
    return change(random, data), name


def mutate_text(random: Random, data: bytes, words: Sequence[bytes] = ()) -> tuple[bytes, str]:
    """Change words, numbers or lines; `words` are those of the format."""
    name, change = random.choice(TEXT_MUTATIONS)
    if name == "known word":
        return _known_word(random, data, words), name
    return change(random, data), name


def mutate_any(random: Random, data: bytes, words: Sequence[bytes] = ()) -> tuple[bytes, str]:
    """One to three mutations of bytes or text."""
    names = []
    for _ in range(random.choice((1, 1, 1, 1, 2, 3))):
        if random.random() < 0.3:
            data, name = mutate_bytes(random, data)
        else:
            data, name = mutate_text(random, data, words)
        names.append(name)
    return data, " + ".join(names)


def _span(random: Random, size: int, most: int = 64) -> slice:
    first = random.randrange(size + 1)
    return slice(first, min(size, first + random.randint(1, most)))


def _flip_bit(random: Random, data: bytes) -> bytes:
    if not data:
        return b"\x01"
    place = random.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << random.randrange(8)]) + data[place + 1 :]


def _set_byte(random: Random, data: bytes) -> bytes:
    place = random.randrange(len(data) + 1)
    return data[:place] + bytes([random.choice(INTERESTING)]) + data[place + 1 :]


def _insert(random: Random, data: bytes) -> bytes:
    place = random.randrange(len(data) + 1)
    return data[:place] + random.randbytes(random.randint(1, 8)) + data[place:]


def _delete(random: Random, data: bytes) -> bytes:
    span = _span(random, len(data))
    return data[: span.start] + data[span.stop :]


def _duplicate(random: Random, data: bytes) -> bytes:
    span = _span(random, len(data))
    return data[: span.stop] + data[span] + data[span.stop :]


def _move(random: Random, data: bytes) -> bytes:
    span = _span(random, len(data))
    rest = data[: span.start] + data[span.stop :]
    place = random.randrange(len(rest) + 1)
    return rest[:place] + data[span] + rest[place:]


def _zero(random: Random, data: bytes) -> bytes:
    span = _span(random, len(data))
    return data[: span.start] + bytes(span.stop - span.start) + data[span.stop :]


def _truncate(random: Random, data: bytes) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _hostile(random: Random, data: bytes) -> bytes:
    place = random.randrange(len(data) + 1)
    return data[:place] + random.choice(HOSTILE) + data[place:]


def _pieces(pattern: re.Pattern[bytes], data: bytes) -> list[re.Match[bytes]]:
    return list(pattern.finditer(data))


def _replace(data: bytes, found: re.Match[bytes], new: bytes) -> bytes:
    return data[: found.start()] + new + data[found.end() :]


def _number(random: Random, data: bytes) -> bytes:
    numbers = _pieces(NUMBER, data)
    if not numbers:
        return _insert(random, data)
    found = random.choice(numbers)
    whole = found[0].lstrip(b"-")
    if whole.isdigit() and len(whole) < 18 and random.random() < 0.6:
        return _replace(data, found, str(int(found[0]) + random.choice((-10, -2, -1, 1, 2, 10))).encode())
    return _replace(data, found, random.choice(NUMBERS).encode())


def _swap_words(random: Random, data: bytes) -> bytes:
    words = _pieces(WORD, data)
    if len(words) < 2:
        return _insert(random, data)
    first, second = sorted(random.sample(words, 2), key=lambda word: word.start())
    between = data[first.end() : second.start()]
    return data[: first.start()] + second[0] + between + first[0] + data[second.end() :]


def _copy_word(random: Random, data: bytes) -> bytes:
    words = _pieces(WORD, data)
    return _replace(data, random.choice(words), random.choice(words)[0]) if words else _insert(random, data)


def _drop_word(random: Random, data: bytes) -> bytes:
    words = _pieces(WORD, data)
    return _replace(data, random.choice(words), b"") if words else _insert(random, data)


def _repeat_word(random: Random, data: bytes) -> bytes:
    words = _pieces(WORD, data)
    if not words:
        return _insert(random, data)
    found = random.choice(words)
    return _replace(data, found, (found[0] + b" ") * random.choice((2, 2, 3, 1000)))


def _known_word(random: Random, data: bytes, words: Sequence[bytes]) -> bytes:
    present = _pieces(WORD, data)
    if not present or not words:
        return _copy_word(random, data)
    return _replace(data, random.choice(present), random.choice(words))


def _lines(random: Random, data: bytes) -> bytes:
    """Drop, repeat or exchange lines."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return _insert(random, data)
    first, second = random.randrange(len(lines)), random.randrange(len(lines))
    what = random.randrange(4)
    if what == 0:
        del lines[first]
    elif what == 1:
        lines.insert(second, lines[first])
    elif what == 2:
        lines[first], lines[second] = lines[second], lines[first]
    else:
        del lines[min(first, second) : max(first, second)]
    return b"".join(lines)


def _nest(random: Random, data: bytes) -> bytes:
    """Nest more deeply than a recursive parser can follow."""
    place = random.randrange(len(data) + 1)
    return data[:place] + random.choice((b"[", b"(", b"{", b'{"a":')) * 3000 + data[place:]


def _spacing(random: Random, data: bytes) -> bytes:
    """White space, line ends and case, which most formats ignore."""
    what = random.randrange(4)
    if what == 0:
        return data.replace(b"\n", b"\r\n")
    if what == 1:
        return data.swapcase()
    if what == 2:
        return data.replace(b" ", b"  ")
    place = random.randrange(len(data) + 1)
    return data[:place] + random.choice((b" ", b"\t", b"\n", b"\r", b"\x0b", b"\xc2\xa0")) + data[place:]


BYTE_MUTATIONS = (
    ("flip a bit", _flip_bit),
    ("set a byte", _set_byte),
    ("insert bytes", _insert),
    ("delete bytes", _delete),
    ("duplicate bytes", _duplicate),
    ("move bytes", _move),
    ("zero bytes", _zero),
    ("truncate", _truncate),
    ("hostile bytes", _hostile),
)
TEXT_MUTATIONS = (
    ("number", _number),
    ("swap words", _swap_words),
    ("copy a word", _copy_word),
    ("drop a word", _drop_word),
    ("repeat a word", _repeat_word),
    ("known word", _copy_word),
    ("lines", _lines),
    ("lines", _lines),
    ("spacing", _spacing),
    ("nest", _nest),
)
