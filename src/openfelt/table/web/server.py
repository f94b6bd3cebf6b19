"""Runs the application: binds the port, opens the browser."""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import Callable
from threading import Timer

import uvicorn

from openfelt.core.errors import FeltError
from openfelt.table.web.access import AccessControl

LARGEST_MESSAGE = 10_000  # bytes
OPEN_AFTER = 0.3  # seconds, until the server is up


def bind(host: str, port: int) -> socket.socket:
    """The listening socket; raises FeltError if the port cannot be used."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen()  # clients can connect as soon as the address is printed
    except (OSError, UnicodeError) as error:
        hint = "; choose another port with --port (0: any free port)" if port else ""
        reason = getattr(error, "strerror", None) or error
        raise FeltError(f"The table cannot listen on {host}, port {port} ({reason}){hint}.") from None
    return listening


def serve(
    app: AccessControl, listening: socket.socket, *, url: str | None, ready: Callable[[], None]
) -> None:
    """Serve until interrupted; opens the browser at `url`, if given."""
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
