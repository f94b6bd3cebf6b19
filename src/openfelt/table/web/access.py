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

from openfelt.table.web.guesses import PERIOD, AddressLimit

COOKIE, TOKEN = "felt_token", "token"
SAFE_METHODS = ("GET", "HEAD")
PUBLIC = "/static/"  # needs no token
API = "/api/"
PROGRAMS = "/bot/"  # sockets of programs, which have no cookies: the token may be in the address
OWN_SITES = ("same-origin", "none")  # Sec-Fetch-Site of our pages and of addresses that a person typed
TOO_MANY = f"There were too many wrong tokens from this address; try again in {PERIOD:.0f} seconds."
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
    request. Sockets, everything under /api, and requests that can change something must come from the
    server's own pages: a page of another port of this machine (`same-site`) is foreign too.
    """

    def __init__(self, app: ASGIApp, *, token: str | None, token_page: Path) -> None:
        self._app, self._token, self._token_page = app, token, token_page
        self._guesses = AddressLimit()
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
        is_foreign = _is_foreign(headers)
        if is_foreign and _needs_own_page(scope):
            return _forbidden("Pages of other sites are not allowed to do this.")
        is_session_link = scope["path"] == "/" and b"game=" in scope["query_string"]
        if is_foreign and is_session_link and b"token=" not in scope["query_string"]:
            return RedirectResponse("/", status_code=303)  # without starting a session
        if self._token is None or scope["path"].startswith(PUBLIC):
            return None
        return self._check_token(scope, headers)

    def _check_token(self, scope: Scope, headers: Headers) -> Response | None:
        query = parse_qs(scope["query_string"].decode("latin-1"))
        token = query.pop(TOKEN, [""])[0]
        cookie, address = _cookie(headers), (scope.get("client") or ("", 0))[0]
        has_cookie = _equal(cookie, self._cookie_value)
        if not has_cookie and self._guesses.is_reached(address):
            return self._ask_for_token(scope, headers, TOO_MANY, 429)
        is_right = _equal(token, self._token or "")
        if is_right and scope["type"] == "websocket" and scope["path"].startswith(PROGRAMS):
            return None
        if is_right and scope["type"] == "http":
            rest, path = urlencode(query, doseq=True), "/" + scope["path"].lstrip("/\\")  # not to //elsewhere
            answer = RedirectResponse(path + (f"?{rest}" if rest else ""), status_code=303)
            # With "strict" the cookie would not be sent if the link was clicked on a page of another site.
            answer.set_cookie(
                COOKIE, self._cookie_value, httponly=True, samesite="lax", max_age=30 * 24 * 3600
            )
            return answer
        if has_cookie:
            return None
        for wrong in filter(None, (token, cookie)):
            self._guesses.add(address, wrong)
        return self._ask_for_token(scope, headers, "This token is not correct." if token else "")

    def _ask_for_token(self, scope: Scope, headers: Headers, sentence: str, status: int = 401) -> Response:
        if scope["type"] == "http" and "text/html" in headers.get("accept", ""):
            page = self._token_page.read_text(encoding="utf-8")
            page = page.replace(" hidden><", f' role="alert">{sentence}<') if sentence else page
            return Response(page, status_code=status, media_type="text/html")
        error = sentence if status == 429 else "This table needs a token."
        return JSONResponse({"error": error}, status_code=status)


def _needs_own_page(scope: Scope) -> bool:
    """Whether only the server's own pages may do this: it changes something or starts work."""
    is_change = scope["type"] == "websocket" or scope["method"] not in SAFE_METHODS
    return is_change or scope["path"].startswith(API)


def _is_foreign(headers: Headers) -> bool:
    """Whether a page of another site sent the request; other programs send neither header."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
    return site not in OWN_SITES or (origin is not None and _split(origin).netloc != headers.get("host", ""))


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
