"""Access control: only the server's own pages, from this machine or with the token."""

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
SAFE_METHODS = ("GET", "HEAD")
PUBLIC = "/static/"  # needs no token
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
    """Whether a name or address means this machine only."""
    try:
        return host == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class AccessControl:
    """Wraps the application: every request and every socket passes through it.

    Without a token the server is for this machine only, and requests must use a name of this machine;
    otherwise a foreign page could reach it under another name (DNS rebinding). Browsers send the origin of a
    request. Sockets, and requests that can change something, must come from the server's own pages.
    """

    def __init__(self, app: ASGIApp, *, token: str | None, token_page: Path) -> None:
        self._app, self._token, self._token_page = app, token, token_page
        self._cookie_value = hashlib.sha256((token or "").encode()).hexdigest()  # ASCII, unlike the token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self._app(scope, receive, send)
        refusal = self._refusal(scope)
        if refusal is None:
            return await self._app(scope, receive, _with_headers(send))
        if scope["type"] == "websocket":
            await receive()
            return await send({"type": "websocket.close", "code": 1008})  # before it is accepted: HTTP 403
        await refusal(scope, receive, _with_headers(send))

    def _refusal(self, scope: Scope) -> Response | None:
        """The response to a request that is not allowed; None if it is."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self._token is None and not is_loopback(_split(f"//{host}").hostname or ""):
            return _forbidden("This table accepts connections from its own machine only.")
        origin = headers.get("origin")
        is_change = scope["type"] == "websocket" or scope["method"] not in SAFE_METHODS
        if is_change and origin is not None and _split(origin).netloc != host:
            return _forbidden("Pages of other sites are not allowed to do this.")
        foreign_link = scope["path"] == "/" and headers.get("sec-fetch-site") == "cross-site"
        if foreign_link and b"game=" in scope["query_string"] and b"token=" not in scope["query_string"]:
            return RedirectResponse("/", status_code=303)  # without starting a session
        if self._token is None or scope["path"].startswith(PUBLIC):
            return None
        return self._check_token(scope, headers)

    def _check_token(self, scope: Scope, headers: Headers) -> Response | None:
        query = parse_qs(scope["query_string"].decode("latin-1"))
        token = query.pop(TOKEN, [""])[0]
        if _equal(token, self._token or "") and scope["type"] == "http":
            rest, path = urlencode(query, doseq=True), "/" + scope["path"].lstrip("/\\")  # not to //elsewhere
            answer = RedirectResponse(path + (f"?{rest}" if rest else ""), status_code=303)
            # With "strict" the cookie would not be sent if the link was clicked on a page of another site.
            answer.set_cookie(
                COOKIE, self._cookie_value, httponly=True, samesite="lax", max_age=30 * 24 * 3600
            )
            return answer
        if _equal(_cookie(headers), self._cookie_value):
            return None
        if scope["type"] == "http" and "text/html" in headers.get("accept", ""):
            page = self._token_page.read_text(encoding="utf-8")
            page = page.replace('id="wrong" hidden', 'id="wrong" role="alert"') if token else page
            return Response(page, status_code=401, media_type="text/html")
        return JSONResponse({"error": "This table needs a token."}, status_code=401)


def _equal(first: str, second: str) -> bool:
    return hmac.compare_digest(first.encode(), second.encode())


def _split(address: str) -> SplitResult:
    """The parts of an address; all empty if it is not valid."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


def _cookie(headers: Headers) -> str:
    """The value of our cookie; other cookies of this machine may have any form."""
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
