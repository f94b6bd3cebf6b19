"""Mutations of JSON documents that stay JSON."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from random import Random
from typing import Any

DEEP = 3000  # levels, more than Python's parser takes
HOSTILE: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 1, 2, 0.5, 2**31, 2**63, 2**70, 10**400, 1e308, float("nan"), float("inf")),
    *("", " ", "\x00", "x", "../../../etc/passwd", "/dev/zero", ".", "a" * 5000, "\ud800", "é", "1", "nan"),
    *([], {}, [[]], [None], {"": None}, [1, 2, 3], ["x"], {"a": {"b": []}}),
)


def mutate_json(random: Random, document: Any) -> tuple[Any, str]:
    """A changed copy of a document."""
    changed = copy.deepcopy(document)
    places = list(_places(changed))
    if not places:
        return random.choice(HOSTILE), "replace the document"
    holder, key = random.choice(places)
    name, change = random.choice(MUTATIONS)
    change(random, holder, key)
    return changed, name


def mutate_json_text(random: Random, data: bytes) -> tuple[bytes, str]:
    """The text of a changed document, or one that nests too deeply for a parser."""
    if random.random() < 0.03:
        bracket = random.choice(("[", '{"a":'))
        return (bracket * 200_000).encode(), "deep nesting"
    document, name = mutate_json(random, json.loads(data))
    return dump(document), name


def dump(document: Any) -> bytes:
    """As the product writes it; half characters stay escaped."""
    return (json.dumps(document, indent=2) + "\n").encode()


def _places(node: Any) -> Iterator[tuple[Any, Any]]:
    """Every value of a document, as its holder and key."""
    keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    for key in keys:
        yield node, key
        yield from _places(node[key])


def _replace(random: Random, holder: Any, key: Any) -> None:
    holder[key] = copy.deepcopy(random.choice(HOSTILE))


def _drop(random: Random, holder: Any, key: Any) -> None:
    del holder[key]


def _rename(random: Random, holder: Any, key: Any) -> None:
    if isinstance(holder, dict):
        holder[random.choice(("", "x", "../x", str(key).upper(), f"{key} "))] = holder.pop(key)
    else:
        holder.insert(random.randrange(len(holder) + 1), copy.deepcopy(holder[key]))


def _exchange(random: Random, holder: Any, key: Any) -> None:
    keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
    other = random.choice(keys)
    holder[key], holder[other] = holder[other], holder[key]


def _nudge(random: Random, holder: Any, key: Any) -> None:
    value = holder[key]
    if isinstance(value, bool) or value is None:
        holder[key] = not value
    elif isinstance(value, int | float):
        holder[key] = value + random.choice((-1, 1, 0.5, -value, value))
    elif isinstance(value, str):
        place = random.randrange(len(value) + 1)
        holder[key] = value[:place] + random.choice(("", "0", "x", "é", "\n")) + value[place + 1 :]
    elif isinstance(value, list):
        holder[key] = value[: random.randrange(len(value) + 1)]
    else:
        holder[key] = list(value)


def _wrap(random: Random, holder: Any, key: Any) -> None:
    holder[key] = random.choice(([holder[key]], {"value": holder[key]}, str(holder[key]), [holder[key]] * 2))


MUTATIONS = (
    ("replace a value", _replace),
    ("drop a value", _drop),
    ("rename or insert", _rename),
    ("exchange values", _exchange),
    ("nudge a value", _nudge),
    ("wrap a value", _wrap),
)
