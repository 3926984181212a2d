"""KinetariumError and its subclasses: every error that a user can correct."""

from collections.abc import Iterable
from difflib import get_close_matches

_LONGEST_LINE = 300
_LONGEST_NAME = 200


class KinetariumError(Exception):
    """An error that names what is wrong and what would be valid.

    The command line prints it as one line and ends with exit code 2; it is never
    raised for a defect of Kinetarium itself.

    Example:
        >>> from kinetarium import KinetariumError, load_robot
        >>> try:
        ...     load_robot("pandda")
        ... except KinetariumError as error:
        ...     print(str(error).partition(" (")[0])
        unknown robot 'pandda'; did you mean 'panda'?
    """


class UnknownNameError(KinetariumError):
    """A name that is not one of the valid ones."""

    def __init__(self, kind: str, name: str, *, known: Iterable[str]) -> None:
        """Name the unknown name, the nearest valid one and all valid ones.

        Args:
            kind: What is named, such as "robot".
            name: The unknown name.
            known: The valid names.
        """
        valid = sorted(known)
        if len(name) > _LONGEST_NAME:  # it may come from any file
            name = f"{name[:_LONGEST_NAME]}..."
        nearest = get_close_matches(name, valid, n=1)
        hint = f"; did you mean '{nearest[0]}'?" if nearest else ""
        super().__init__(f"unknown {kind} '{name}'{hint} (known: {', '.join(valid) or 'none'})")


class OutputError(KinetariumError):
    """A result that cannot be written to the requested place."""


class MissingPackageError(KinetariumError):
    """An optional package is needed and not installed."""

    def __init__(self, package: str, *, extra: str) -> None:
        """Name the package and the extra that brings it.

        Args:
            package: The package that could not be imported.
            extra: The extra of Kinetarium that installs it.
        """
        super().__init__(f"{package} is not installed; run: pip install 'kinetarium[{extra}]'")


def one_line(text: str) -> str:
    """Return a text as one line of printable characters, cut if it is long."""
    head = text[: 4 * _LONGEST_LINE]
    printable = "".join(letter if letter.isprintable() else " " for letter in head)
    line = " ".join(printable.split())
    return line if len(line) <= _LONGEST_LINE else line[: _LONGEST_LINE - 3] + "..."
