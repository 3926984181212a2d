"""A page that needs no server: script, style and replays in one HTML file."""

import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape

from kinetarium.studio.page_files import PAGE

REPLAY_TYPE = "application/x-kinetarium-replay"
"""Of the elements that hold replays; scripts of a type that no browser runs."""


def exported_page(replays: Sequence[bytes], *, title: str) -> bytes:
    """Give an HTML file that plays replays from wherever it lies, and loads nothing.

    Args:
        replays: Replay files, best compact ones.
        title: What the page is called.
    """
    script = _inert((PAGE / "assets" / "studio.js").read_text("utf-8"))
    style = (PAGE / "assets" / "studio.css").read_text("utf-8")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}';"
        " img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    data = "\n".join(
        f'<script type="{REPLAY_TYPE}">{b64encode(replay).decode()}</script>' for replay in replays
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
