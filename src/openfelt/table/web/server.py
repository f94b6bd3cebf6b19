"""Serving the application: a port, a browser, an end."""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import Callable
from threading import Timer

import uvicorn

from openfelt.core.errors import FeltError
from openfelt.table.web.guard import Guard

LARGEST_MESSAGE = 10_000  # bytes
OPEN_AFTER = 0.3  # seconds, for the server to be up


def bind(host: str, port: int) -> socket.socket:
    """The socket to listen at, or a sentence on why there is none."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, kind, protocol)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen()  # who is told of the address can come at once
    except (OSError, UnicodeError) as error:
        hint = "; choose another with --port (0: any that is free)" if port else ""
        reason = getattr(error, "strerror", None) or error
        raise FeltError(f"The table cannot be at {host}, port {port} ({reason}){hint}.") from None
    return found


def serve(app: Guard, listening: socket.socket, *, url: str | None, ready: Callable[[], None]) -> None:
    """Until it is interrupted; opens the browser at `url`, if one is given."""
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        proxy_headers=False,
        ws_max_size=LARGEST_MESSAGE,
        timeout_graceful_shutdown=2,
    )
    ready()
    if url:
        opening = Timer(OPEN_AFTER, webbrowser.open, [url])
        opening.daemon = True
        opening.start()
    uvicorn.Server(config).run(sockets=[listening])
