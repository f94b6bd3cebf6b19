"""The bodies of requests: nothing too large, nothing but JSON objects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from starlette.requests import Request

from openfelt.core.errors import FeltError

LARGEST_REQUEST = 10_000  # bytes


async def read_body(request: Request, largest: int = LARGEST_REQUEST) -> bytes:
    """The body of a request; raises FeltError if it is too large."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > largest:
            raise FeltError(f"The request is too large; the limit is {largest:,} bytes.")
    return body


async def save_body(request: Request, path: Path, largest: int) -> None:
    """Write the body of a request to a file; raises FeltError if it is too large."""
    size = 0
    with path.open("wb") as file:
        async for part in request.stream():
            size += len(part)
            if size > largest:
                raise FeltError(f"The file is too large; the limit is {largest / 1e6:,.0f} MB.")
            file.write(part)


def query_number(request: Request, name: str) -> int:
    """A number in the query of a request; -1 if it is none."""
    text = request.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else -1


async def read_message(request: Request) -> dict[str, Any]:
    """The JSON object in the body of a request."""
    return read_json((await read_body(request)).decode("utf-8", "replace"))


def read_json(text: str) -> dict[str, Any]:
    """Parse a JSON object; raises FeltError if it is not one."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise FeltError("The message is not valid JSON.") from None
    if not isinstance(message, dict):
        raise FeltError("The message is not a JSON object.")
    return message
