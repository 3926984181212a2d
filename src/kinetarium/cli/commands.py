"""The command table: what `kinetarium` can do, each command imported when it is called."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from kinetarium.cli.console import Console
from kinetarium.plugins import discover

STUDIES = "kinetarium.studies"


@dataclass(frozen=True, slots=True)
class Invocation:
    """One call of a command.

    Attributes:
        command_line: The exact command, quoted for a shell.
        console: Where it prints.
        force: Whether files that Kinetarium did not write may be replaced.
    """

    command_line: str
    console: Console
    force: bool = False


Run = Callable[[Any, Invocation], int | None]
"""Does what a command does, given its config; gives its exit code, None for 0."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command.

    Attributes:
        help: What it does, in one line.
        load: Imports it, given the words after it; gives its config, a frozen dataclass
            whose fields are its flags, and the function that runs it.
    """

    help: str
    load: Callable[[Sequence[str]], tuple[type, Run]]


def _in_module(name: str) -> Callable[[Sequence[str]], tuple[type, Run]]:
    """Load a command of our own from the module of its name: its `Config` and its `run`."""

    def load(words: Sequence[str]) -> tuple[type, Run]:
        module = import_module(f"kinetarium.cli.{name}")
        return module.Config, module.run

    return load


def studies() -> dict[str, Command]:
    """Give a command for every installed study."""
    return {name: Command(_study_help(name), _of_study(name)) for name in discover(STUDIES)}


def _of_reach(words: Sequence[str]) -> tuple[type, Run]:
    from kinetarium.cli.reach import load

    return load(words)


def _of_study(name: str) -> Callable[[Sequence[str]], tuple[type, Run]]:
    def load(words: Sequence[str]) -> tuple[type, Run]:
        from kinetarium.cli.study_command import study_command

        return study_command(name, words)

    return load


def _study_help(name: str) -> str:
    try:
        return str(discover(STUDIES)[name].load().help)
    except Exception as error:  # another package's study must not take our help away
        return f"cannot be loaded: {type(error).__name__}: {error}"


COMMANDS: dict[str, Command] = {
    "robots": Command("list the robots of the catalogue", _in_module("robots")),
    "inspect": Command("check a robot file and show what is in it", _in_module("inspect")),
    "convert": Command("write a robot as URDF or MJCF", _in_module("convert")),
    "engines": Command("list the physics engines and what they can do", _in_module("engines")),
    "conformance": Command("judge physics engines by closed forms", _in_module("conformance")),
    "batch": Command("run many cases of a study from a file", _in_module("batch")),
    "resume": Command("go on with what was stopped", _in_module("resume")),
    "runs": Command("list the runs in a folder", _in_module("runs")),
    "report": Command("write the report of a finished folder again", _in_module("report")),
    "compare": Command("compare the results of two folders", _in_module("compare")),
    "compare-engines": Command(
        "grasp and drive on every engine, and which engine is for what",
        _in_module("compare_engines"),
    ),
    "reach": Command("map what a robot reaches, and place its base", _of_reach),
    "studio": Command("watch runs in the browser, in 3-D", _in_module("studio")),
    "completion": Command("print a completion script for a shell", _in_module("completion")),
}
