"""A page that needs no server: script, style and data in one HTML file."""

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
"""The output folder of the page's build."""

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}


def check_page() -> None:
    """Check that the page was built."""
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
    # The requested name is compared with the existing files, and never becomes a path.
    for path in PAGE.rglob("*"):
        if path.suffix in _TYPES and path.relative_to(PAGE).as_posix() == name:
            return Response(path.read_bytes(), _TYPES[path.suffix])
    raise HttpError(404, "no such page")


class PagePart(StrEnum):
    """The kinds of data in a page."""

    REPLAY = "replay"
    """A replay file, preferably a compact one."""
    WALKS = "walks"
    """Plan and facts of the replayed walks, as JSON."""
    VOLUME = "volume"
    """A field of a map, from `volume_file`."""
    VIEW = "view"
    """What the page shows of it at first: camera, time, channels, as after the # of a link."""


def exported_page(parts: Iterable[tuple[PagePart, bytes]], *, title: str) -> bytes:
    """Return a self-contained HTML file, which loads nothing else."""
    script = _inert((PAGE / "assets" / "studio.js").read_text("utf-8"))
    style = (PAGE / "assets" / "studio.css").read_text("utf-8")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}';"
        " img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    # Script elements of a type that no browser executes.
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
    """Escape a script so that it cannot end its element, without changing its meaning."""
    return re.sub(r"<(?=!--|/script)", r"\\x3C", script, flags=re.IGNORECASE)


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
