"""A page that needs no server: script, style and what it shows in one HTML file."""

import re
from base64 import b64encode
from collections.abc import Iterable
from enum import StrEnum
from hashlib import sha256
from html import escape
from pathlib import Path

from kinetarium.errors import KinetariumError
from kinetarium.studio.http import HttpError, HttpRoute, Response, route

PAGE = Path(__file__).parent / "page"
"""Where the build puts the page."""

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}


def check_page() -> None:
    """Refuse to serve a page that was not built.

    Raises:
        KinetariumError: If it is not there.
    """
    if not (PAGE / "index.html").is_file():
        raise KinetariumError(
            "the page of the studio was not built; install Kinetarium again: pip install -e ."
        )


def page_routes() -> tuple[HttpRoute, ...]:
    """Return the routes of the page and its parts."""
    return (
        route("GET", "/", lambda request: _file("index.html")),
        HttpRoute("GET", re.compile("/(?P<name>.+)"), lambda request: _file(request.parts["name"])),
    )


def _file(name: str) -> Response:
    # What is asked for is compared with what is there, and never becomes a path.
    for path in PAGE.rglob("*"):
        if path.suffix in _TYPES and path.relative_to(PAGE).as_posix() == name:
            return Response(path.read_bytes(), _TYPES[path.suffix])
    raise HttpError(404, "no such page")


class PagePart(StrEnum):
    """What a page can hold."""

    REPLAY = "replay"
    """A replay file, best a compact one."""
    WALKS = "walks"
    """Plan and facts of the walks that the replays are of, as JSON."""
    VOLUME = "volume"
    """A field of a map, as `volume_file` gives it."""


def exported_page(parts: Iterable[tuple[PagePart, bytes]], *, title: str) -> bytes:
    """Return an HTML file that shows things from wherever it lies, and loads nothing.

    Args:
        parts: What it holds.
        title: What the page is called.
    """
    script = _inert((PAGE / "assets" / "studio.js").read_text("utf-8"))
    style = (PAGE / "assets" / "studio.css").read_text("utf-8")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}';"
        " img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    # Scripts of a type that no browser runs.
    data = "\n".join(
        f'<script type="application/x-kinetarium-{part}">{b64encode(held).decode()}</script>'
        for part, held in parts
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="dark light">
<title>{escape(title)}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
{data}
<script type="module">{script}</script>
</body>
</html>
""".encode()


def _inert(script: str) -> str:
    """Write a script so that it cannot end its element, and still means the same."""
    return re.sub(r"<(?=!--|/script)", r"\\x3C", script, flags=re.IGNORECASE)


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
