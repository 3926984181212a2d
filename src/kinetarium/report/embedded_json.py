"""JSON that can stand inside a page."""

from typing import Any

from kinetarium.recording.strict_json import strict_json

_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def embedded_json(value: Any) -> str:
    """Give a value as JSON without any character that HTML or JavaScript could misread.

    Nothing in it can end or open an element; beyond ASCII (such as U+2028)
    everything is escaped already.
    """
    return strict_json(value, indent=None).translate(_ESCAPES)
