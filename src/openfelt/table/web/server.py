"""Runs the application: binds the port, opens the browser."""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from threading import Timer

import uvicorn

from openfelt.core.errors import FeltError
from openfelt.table.web.access import AccessControl

LARGEST_MESSAGE = 10_000  # bytes
OPEN_AFTER = 0.3  # seconds, until the server is up
# Addresses for documentation: the route to them shows which of this machine's addresses others see.
ROUTED = {socket.AF_INET6: "2001:db8::1", socket.AF_INET: "192.0.2.1"}


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


def network_address(listening: socket.socket) -> str:
    """The address of this machine for others, or its name without a network; no packet is sent."""
    for family, somewhere in ROUTED.items():
        if family in (listening.family, socket.AF_INET):  # an IPv6 socket accepts IPv4 too
            with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((somewhere, 9))
                return str(probe.getsockname()[0])
    return socket.gethostname()


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
