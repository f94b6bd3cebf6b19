"""Who may talk to the server: pages of its own, from this machine, or with the token."""

from __future__ import annotations

import hashlib
import hmac
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import SplitResult, parse_qs, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE, TOKEN = "felt_token", "token"
SAFE = ("GET", "HEAD")
OPEN = "/static/"  # what anybody may see, as it is the same everywhere
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; "
        "base-uri 'none'; form-action 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def is_loopback(host: str) -> bool:
    """Whether a name or address means this machine alone."""
    try:
        return host == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class Guard:
    """Around the application: every request and every socket passes here.

    Without a token the server is for this machine: a request must name it so, or a page from elsewhere could
    reach it under a name of its own (DNS rebinding). A browser says which page a request comes from; one that
    could change something, and any socket, must come from our own.
    """

    def __init__(self, app: ASGIApp, *, token: str | None, ask: Path) -> None:
        self._app, self._token, self._ask = app, token, ask  # `ask` is the page that asks for the token
        self._mark = hashlib.sha256((token or "").encode()).hexdigest()  # for the cookie, which is ASCII

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self._app(scope, receive, send)
        refused = self._refused(scope)
        if refused is None:
            return await self._app(scope, receive, _with_headers(send))
        if scope["type"] == "websocket":
            await receive()
            return await send({"type": "websocket.close", "code": 1008})  # before it is accepted: HTTP 403
        await refused(scope, receive, _with_headers(send))

    def _refused(self, scope: Scope) -> Response | None:
        """The answer to what may not pass."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self._token is None and not is_loopback(_split(f"//{host}").hostname or ""):
            return _forbidden("This table is only for the machine that it runs on.")
        origin = headers.get("origin")
        changes = scope["type"] == "websocket" or scope["method"] not in SAFE
        if changes and origin is not None and _split(origin).netloc != host:
            return _forbidden("A page of another site may not do this.")
        foreign_link = scope["path"] == "/" and headers.get("sec-fetch-site") == "cross-site"
        if foreign_link and b"game=" in scope["query_string"] and b"token=" not in scope["query_string"]:
            return RedirectResponse("/", status_code=303)  # it sits nobody down
        if self._token is None or scope["path"].startswith(OPEN):
            return None
        return self._without_token(scope, headers)

    def _without_token(self, scope: Scope, headers: Headers) -> Response | None:
        query = parse_qs(scope["query_string"].decode("latin-1"))
        given = query.pop(TOKEN, [""])[0]
        if _same(given, self._token or "") and scope["type"] == "http":
            rest, path = urlencode(query, doseq=True), "/" + scope["path"].lstrip("/\\")  # not to //elsewhere
            answer = RedirectResponse(path + (f"?{rest}" if rest else ""), status_code=303)
            # "strict" would keep the cookie back where the link was clicked on a page of another site.
            answer.set_cookie(COOKIE, self._mark, httponly=True, samesite="lax", max_age=30 * 24 * 3600)
            return answer
        if _same(_cookie(headers), self._mark):
            return None
        if scope["type"] == "http" and "text/html" in headers.get("accept", ""):
            page = self._ask.read_text(encoding="utf-8")
            page = page.replace('id="wrong" hidden', 'id="wrong" role="alert"') if given else page
            return Response(page, status_code=401, media_type="text/html")
        return JSONResponse({"error": "This table asks for a token."}, status_code=401)


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode(), wanted.encode())


def _split(address: str) -> SplitResult:
    """The parts of an address; all empty where it is none."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


def _cookie(headers: Headers) -> str:
    """The token that was given before; cookies of others on this machine may be of any form."""
    return cookie_parser(headers.get("cookie", "")).get(COOKIE, "")


def _forbidden(sentence: str) -> Response:
    return JSONResponse({"error": sentence}, status_code=403)


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
        await send(message)

    return sending
