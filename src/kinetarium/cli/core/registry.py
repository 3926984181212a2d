"""The command table: what `kinetarium` can do, each command imported when it is called."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module

from kinetarium.cli.core.invocation import Run
from kinetarium.errors import one_line
from kinetarium.plugins import Plugin, PluginError, discover, refused

STUDIES = "kinetarium.studies"


@dataclass(frozen=True, slots=True)
class Command:
    """A command.

    Attributes:
        help: What it does, in one line, for the list of commands.
        load: Imports it, given the words after it; gives its config, a frozen dataclass
            whose fields are its flags, and the function that runs it.
        title: What it does, in one line, once it is loaded; `help` if None.
        own: Whether it is part of Kinetarium.
    """

    help: str
    load: Callable[[Sequence[str]], tuple[type, Run]]
    title: Callable[[], str] | None = None
    own: bool = True


def _in_module(name: str) -> Callable[[Sequence[str]], tuple[type, Run]]:
    """Load a command of our own from the module of its name: its `Config` and its `run`."""

    def load(words: Sequence[str]) -> tuple[type, Run]:
        module = import_module(f"kinetarium.cli.commands.{name}")
        return module.Config, module.run

    return load


def studies() -> dict[str, Command]:
    """Return a command for every installed study; no study of another package is imported."""
    return {
        plugin.name: Command(
            _study_help(plugin), _of_study(plugin.name), _study_title(plugin.name), plugin.own
        )
        for plugin in discover(STUDIES).values()
        if plugin.name not in COMMANDS
    }


def refused_studies() -> dict[str, str]:
    """Return why some studies of other packages have no command, by package and name."""
    taken = {
        f"{plugin.package}:{plugin.name}": "a command of Kinetarium has this name; run it from a"
        " file with: kinetarium batch"
        for plugin in discover(STUDIES).values()
        if plugin.name in COMMANDS
    }
    return {**taken, **{one.name: one.reason for one in refused(STUDIES)}}


def _of_reach(words: Sequence[str]) -> tuple[type, Run]:
    from kinetarium.cli.reach.command import load

    return load(words)


def _of_study(name: str) -> Callable[[Sequence[str]], tuple[type, Run]]:
    def load(words: Sequence[str]) -> tuple[type, Run]:
        from kinetarium.cli.core.execution import study_command

        return study_command(name, words)

    return load


def _study_title(name: str) -> Callable[[], str]:
    def title() -> str:
        from kinetarium.batch.study import open_study

        return one_line(open_study(name).help)

    return title


def _study_help(plugin: Plugin) -> str:
    """Say what a study does: ours as written below, another package's by its metadata."""
    if not plugin.own:
        return f"{plugin.package}: {plugin.summary}" if plugin.summary else plugin.package
    try:
        return _OWN_STUDIES.get(plugin.name) or str(plugin.load().help)
    except PluginError as error:
        return f"not available: {error}"


_OWN_STUDIES = {
    "calibrate": "identify the track multiplier of skidding wheels, in every engine",
    "dock": "dock satellites held by two arms under admittance control, in every engine",
    "dock-float": "let two simulated satellites float, meet and part, held by arms that lag",
    "dock-stability": "map the delay and stiffness at which an admittance loop is stable",
    "drive": "drive a mobile robot along paths, in every engine",
    "drop": "let a box fall and rest, in every engine",
    "dynamics": "check that a robot is the same robot in every library",
    "grasp": "carry a cube between two fingers along a path, in every engine",
    "walk": "walk a robot on four pantograph legs, planned or in physics",
}
"""The help of our own studies, which need not be imported to be listed."""

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
