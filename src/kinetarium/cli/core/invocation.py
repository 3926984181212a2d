"""Invocation: one call of a command, and its provenance for the footer of a report."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from platform import platform, python_version
from typing import Any

from kinetarium.cli.core.console import Console

_PACKAGES = (
    "kinetarium", "numpy", "matplotlib", "plotly", "jinja2", "example-robot-data", "pybullet",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Invocation:
    """One call of a command.

    Attributes:
        command_line: The exact command, quoted for a shell.
        console: Where it prints.
        force: Whether files that Kinetarium did not write may be overwritten.
    """

    command_line: str
    console: Console
    force: bool = False


Run = Callable[[Any, Invocation], int | None]
"""Runs a command with its config; returns its exit code, None for 0."""


def provenance(command_line: str) -> tuple[tuple[str, str], ...]:
    """Return names and values that say how to reproduce a report.

    Args:
        command_line: The exact command.
    """
    return (
        ("command", command_line),
        *((name, _version(name)) for name in _PACKAGES),
        ("python", python_version()),
        ("platform", platform(terse=True)),
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
