"""HTTP requests, responses, routes and access control."""

import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import urlsplit

from kinetarium.errors import KinetariumError
from kinetarium.storage.strict_json import parse_json, strict_json

JSON = "application/json"
BINARY = "application/octet-stream"


class HttpError(KinetariumError):
    """A request that cannot be served.

    Attributes:
        status: The status code.
    """

    def __init__(self, status: int, message: str) -> None:
        """Create an error with a status code and a message of one line."""
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Request:
    """A request that passed the guard.

    Attributes:
        method: Such as GET.
        path: The path, decoded.
        query: The first value of each parameter.
        headers: The headers, names in lower case.
        body: Its body.
        parts: The named parts of the route's pattern.
    """

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes = b""
    parts: Mapping[str, str] = field(default_factory=dict)

    def json(self) -> Any:
        """Return the body as JSON data."""
        if self.headers.get("content-type", "").partition(";")[0] != JSON:
            raise HttpError(415, "the body must be JSON")
        try:
            return parse_json(self.body.decode())
        except (ValueError, RecursionError):
            raise HttpError(400, "the body is not JSON") from None


@dataclass(frozen=True, slots=True)
class Response:
    """An answer.

    Attributes:
        body: What is sent.
        type: Its media type.
        status: The status code.
        headers: Further headers.
    """

    body: bytes
    type: str = BINARY
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


def json_response(data: Any, *, status: int = 200) -> Response:
    """Return a response with JSON data."""
    return Response(strict_json(data, indent=None).encode(errors="replace"), JSON, status)


def error_response(request: Request, error: KinetariumError, *, status: int) -> Response:
    """Return an error as JSON or, where a browser would show it, as a page."""
    if "text/html" not in request.headers.get("accept", ""):
        return json_response({"error": str(error)}, status=status)
    title = "This page needs its key" if status == 403 else "This page cannot be shown"
    help_ = (
        "<p>The studio lets in only those who have the whole address, with its token. Copy it from"
        " the terminal in which <code>kinetarium studio</code> runs, or start it again.</p>"
        if status == 403
        else ""
    )
    text = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title} - Kinetarium</title>'
        f"<h1>{title}</h1><p>{status}: {escape(str(error))}</p>{help_}"
    )
    return Response(text.encode(errors="replace"), "text/html; charset=utf-8", status)


@dataclass(frozen=True, slots=True)
class HttpRoute:
    """A handler of requests, called in a thread of its own.

    Attributes:
        method: GET or POST.
        pattern: What the whole path must match; its named groups become `Request.parts`.
        answer: Returns the response. A KinetariumError becomes a message with status 400.
    """

    method: str
    pattern: re.Pattern[str]
    answer: Callable[[Request], Response]


def route(method: str, pattern: str, answer: Callable[[Request], Response]) -> HttpRoute:
    """Return a route for a pattern such as "/api/runs/{folder}"; a part contains no slash."""
    parts = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", pattern)
    return HttpRoute(method, re.compile(parts), answer)


def ranged(request: Request, data: bytes, *, type: str = BINARY) -> Response:
    """Return data, or the requested range of bytes (RFC 9110, 14)."""
    asked = re.fullmatch(r"bytes=(\d{1,15})-(\d{0,15})", request.headers.get("range", ""))
    whole = (("accept-ranges", "bytes"),)
    if not asked:
        return Response(data, type, headers=whole)
    first = int(asked[1])
    last = min(int(asked[2]) if asked[2] else len(data) - 1, len(data) - 1)
    if first > last:
        return Response(b"", type, 416, (("content-range", f"bytes */{len(data)}"),))
    place = ("content-range", f"bytes {first}-{last}/{len(data)}")
    return Response(data[first : last + 1], type, 206, (*whole, place))


POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:;"
    " connect-src 'self' blob:; base-uri 'none'; form-action 'none'"
)
"""Content security policy: the page may load from this server only."""

HEADERS = (
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cache-control", "no-store"),
)
"""Headers of every response, beside the policy."""


@dataclass(frozen=True, slots=True)
class Guard:
    """Allows requests of the page only.

    Attributes:
        token: The secret in the page's address.
        port: The port that is listened on.
        frames: The origins of pages that may show this one in a frame.
    """

    token: str
    port: int
    frames: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the origins: no wildcard, no path, nothing that could add to the policy."""
        for origin in self.frames:
            if not re.fullmatch(r"https?://(\w[\w.-]*|\[[\da-f:]+\])(:\d{1,5})?", origin, re.ASCII):
                raise KinetariumError(
                    f"{origin!r} is not the origin of a notebook, such as http://localhost:8888"
                )

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """The headers of every response."""
        frames = " ".join(self.frames) or "'none'"
        return (("content-security-policy", f"{POLICY}; frame-ancestors {frames}"), *HEADERS)

    @property
    def cookie(self) -> str:
        """Name of the cookie; with the port, as browsers share cookies between ports of a host."""
        return f"kinetarium-{self.port}"

    @property
    def hosts(self) -> tuple[str, str]:
        """The host names of this server."""
        return f"127.0.0.1:{self.port}", f"localhost:{self.port}"

    def check(self, request: Request, *, acts: bool) -> tuple[tuple[str, str], ...]:
        """Check that a request is allowed.

        Args:
            acts: Whether it changes something, and must come from the page itself.

        Returns:
            Headers for the response.
        """
        if request.headers.get("host") not in self.hosts:
            raise HttpError(421, "wrong host name")
        origin = request.headers.get("origin")
        if origin not in {f"http://{host}" for host in self.hosts} and (acts or origin):
            raise HttpError(403, "cross-origin requests are not allowed")
        if self._equal(_cookies(request).get(self.cookie, "")):
            return ()
        if request.path == "/" and self._equal(request.query.get("token", "")):
            value = f"{self.cookie}={self.token}; Path=/; HttpOnly; {self._reach(request)}"
            return (("set-cookie", value),)
        raise HttpError(403, "open the address that `kinetarium studio` printed")

    def _reach(self, request: Request) -> str:
        """Return the attributes of the cookie that say who sends it.

        In a frame of another site a strict cookie is not sent; one for that site alone is
        (Partitioned). Ports do not matter: a notebook on the same host name is the same site.
        """
        host = request.headers["host"].rpartition(":")[0]
        if all(urlsplit(origin).hostname == host for origin in self.frames):
            return "SameSite=Strict"
        if request.headers.get("sec-fetch-dest") != "iframe":
            return "SameSite=Strict"
        return "SameSite=None; Secure; Partitioned"

    def _equal(self, text: str) -> bool:
        return hmac.compare_digest(text.encode(errors="replace"), self.token.encode())


def _cookies(request: Request) -> dict[str, str]:
    try:
        return {k: m.value for k, m in SimpleCookie(request.headers.get("cookie", "")).items()}
    except CookieError:
        return {}
