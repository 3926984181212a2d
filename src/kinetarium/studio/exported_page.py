"""A page that needs no server: script, style and what it shows in one HTML file."""

import re
from base64 import b64encode
from collections.abc import Iterable
from enum import StrEnum
from hashlib import sha256
from html import escape

from kinetarium.studio.page_files import PAGE


class Part(StrEnum):
    """What a page can hold."""

    REPLAY = "replay"
    """A replay file, best a compact one."""
    WALKS = "walks"
    """Plan and facts of the walks that the replays are of, as JSON."""
    VOLUME = "volume"
    """A field of a map, as `volume_file` gives it."""


def exported_page(parts: Iterable[tuple[Part, bytes]], *, title: str) -> bytes:
    """Give an HTML file that shows things from wherever it lies, and loads nothing.

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
