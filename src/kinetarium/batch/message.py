"""Messages of runs: one line of bounded length, whatever a library had to say."""

from kinetarium.errors import one_line

__all__ = ["one_line"]
