"""Texts from files, made fit to be shown."""

import re

_UNFIT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def readable(text: str) -> str:
    """Replace what no page may hold by U+FFFD.

    That is control characters and half characters, which XML forbids or no
    file can hold, and those that turn the direction of writing around, with
    which a name could pose as another.
    """
    return _UNFIT.sub("\ufffd", text)


def label(text: str, *, most: int = 40) -> str:
    """Give a text for a label: on one line, and cut where it is long.

    Args:
        text: The text.
        most: The most characters it may have.
    """
    line = " ".join(readable(text).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
