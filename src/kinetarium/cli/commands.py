"""The command table: what `kinetarium` can do, each command imported when it is called."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from kinetarium.cli.console import Console


@dataclass(frozen=True, slots=True)
class Invocation:
    """One call of a command.

    Attributes:
        command_line: The exact command, quoted for a shell.
        console: Where it prints.
    """

    command_line: str
    console: Console


Run = Callable[[Any, Invocation], int | None]
"""Does what a command does, given its config; gives its exit code, None for 0."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command.

    Attributes:
        help: What it does, in one line.
        load: Imports it; gives its config, a frozen dataclass whose fields are
            its flags, and the function that runs it.
    """

    help: str
    load: Callable[[], tuple[type, Run]]


def _in_module(name: str) -> Callable[[], tuple[type, Run]]:
    """Load a command of our own from the module of its name: its `Config` and its `run`."""

    def load() -> tuple[type, Run]:
        module = import_module(f"kinetarium.cli.{name}")
        return module.Config, module.run

    return load


COMMANDS: dict[str, Command] = {
    "robots": Command("list the robots of the catalogue", _in_module("robots")),
    "inspect": Command("check a robot file and show what is in it", _in_module("inspect")),
    "convert": Command("write a robot as URDF or MJCF", _in_module("convert")),
    "engines": Command("list the physics engines and what they can do", _in_module("engines")),
    "conformance": Command("judge physics engines by closed forms", _in_module("conformance")),
    "completion": Command("print a completion script for a shell", _in_module("completion")),
}
