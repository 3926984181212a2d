"""Messages of runs: one line of bounded length, whatever a library had to say."""

_LONGEST = 300


def one_line(text: str) -> str:
    """Give a text as one line of printable characters, cut if it is long."""
    printable = "".join(letter if letter.isprintable() else " " for letter in text[: 4 * _LONGEST])
    line = " ".join(printable.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 3] + "..."
