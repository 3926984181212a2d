"""The built page: its files, and nothing else of this machine."""

import re
from pathlib import Path

from kinetarium.errors import KinetariumError
from kinetarium.studio.http import HttpError, Response, Route, route

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


def page_routes() -> tuple[Route, ...]:
    """Give the routes of the page and its parts."""
    return (
        route("GET", "/", lambda request: _file("index.html")),
        Route("GET", re.compile("/(?P<name>.+)"), lambda request: _file(request.parts["name"])),
    )


def _file(name: str) -> Response:
    # What is asked for is compared with what is there, and never becomes a path.
    for path in PAGE.rglob("*"):
        if path.suffix in _TYPES and path.relative_to(PAGE).as_posix() == name:
            return Response(path.read_bytes(), _TYPES[path.suffix])
    raise HttpError(404, "no such page")
