"""Guard: who may speak to the studio, and what its answers allow a page to do.

Everything on this machine can reach the port, and every web site can make the browser send
requests to it. So a request must carry the token that only the address of the page holds,
name this server as its host (a site whose name was bound to 127.0.0.1 cannot), and, where
it does more than read, come from the page itself.
"""

import hmac
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie

from kinetarium.studio.http import HttpError, Request

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:;"
    " connect-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What the page may load: nothing but what this server gives."""

HEADERS = (
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cache-control", "no-store"),
)
"""Headers of every answer."""


@dataclass(frozen=True, slots=True)
class Guard:
    """Lets requests of the page pass, and no others.

    Attributes:
        token: The secret in the page's address.
        port: The port that is listened on.
    """

    token: str
    port: int

    @property
    def cookie(self) -> str:
        """Name of the cookie; browsers keep cookies of all ports of a host together."""
        return f"kinetarium-{self.port}"

    @property
    def hosts(self) -> tuple[str, str]:
        """The names this server goes by."""
        return f"127.0.0.1:{self.port}", f"localhost:{self.port}"

    def check(self, request: Request, *, acts: bool) -> tuple[tuple[str, str], ...]:
        """Let a request pass.

        Args:
            request: The request.
            acts: Whether it does more than read, and must come from the page itself.

        Returns:
            Headers for the answer.

        Raises:
            HttpError: If it may not pass.
        """
        if request.headers.get("host") not in self.hosts:
            raise HttpError(421, "this server goes by another name")
        origin = request.headers.get("origin")
        if origin not in {f"http://{host}" for host in self.hosts} and (acts or origin):
            raise HttpError(403, "not from here")
        if self._equal(_cookies(request).get(self.cookie, "")):
            return ()
        if request.path == "/" and self._equal(request.query.get("token", "")):
            value = f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"
            return (("set-cookie", value),)
        raise HttpError(403, "open the address that `kinetarium studio` printed")

    def _equal(self, text: str) -> bool:
        return hmac.compare_digest(text.encode(errors="replace"), self.token.encode())


def _cookies(request: Request) -> dict[str, str]:
    try:
        return {k: m.value for k, m in SimpleCookie(request.headers.get("cookie", "")).items()}
    except CookieError:
        return {}
