"""The command table; each command is imported when it is called."""

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
        load: Imports it, given the words after it; returns its config, a frozen dataclass
            whose fields are its flags, and the function that runs it.
        title: What it does, in one line, once it is loaded; `help` if None.
        own: Whether it is part of Kinetarium rather than a plug-in.
    """

    help: str
    load: Callable[[Sequence[str]], tuple[type, Run]]
    title: Callable[[], str] | None = None
    own: bool = True


def _in_module(name: str) -> Callable[[Sequence[str]], tuple[type, Run]]:
    """Load a built-in command from the module of its name: its `Config` and its `run`."""

    def load(words: Sequence[str]) -> tuple[type, Run]:
        module = import_module(f"kinetarium.cli.commands.{name}")
        return module.Config, module.run

    return load


def _of_results(name: str) -> Callable[[Sequence[str]], tuple[type, Run]]:
    """Load a command about result folders, such as `ResumeConfig` and `run_resume`."""

    def load(words: Sequence[str]) -> tuple[type, Run]:
        from kinetarium.cli.commands import results

        return getattr(results, f"{name.capitalize()}Config"), getattr(results, f"run_{name}")

    return load


def studies() -> dict[str, Command]:
    """Return a command for every installed study; plug-ins are not imported."""
    return {
        plugin.name: Command(
            _study_help(plugin), _of_study(plugin.name), _study_title(plugin.name), plugin.own
        )
        for plugin in discover(STUDIES).values()
        if plugin.name not in COMMANDS
    }


def refused_studies() -> dict[str, str]:
    """Return why some plug-in studies have no command, by package and name."""
    taken = {
        f"{plugin.package}:{plugin.name}": "a command of Kinetarium has this name; run it from a"
        " file with: kinetarium batch"
        for plugin in discover(STUDIES).values()
        if plugin.name in COMMANDS
    }
    return {**taken, **{one.name: one.reason for one in refused(STUDIES)}}


def _of_reach(words: Sequence[str]) -> tuple[type, Run]:
    from kinetarium.cli.commands.reach import load

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
    """Return what a study does: built-in ones from the table, plug-ins from their metadata."""
    if not plugin.own:
        return f"{plugin.package}: {plugin.summary}" if plugin.summary else plugin.package
    try:
        return _OWN_STUDIES.get(plugin.name) or str(plugin.load().help)
    except PluginError as error:
        return f"not available: {error}"


_OWN_STUDIES = {
    "calibrate": "identify the track-width multiplier of a skid-steer robot",
    "dock": "dock two satellites with two arms under admittance control",
    "dock-float": "simulate the contact of free-floating satellites on two arms",
    "dock-mission": "fly from 50 m in orbit to the capture of a tumbling target",
    "dock-stability": "map the delay and stiffness at which admittance is stable",
    "drive": "drive a mobile robot along paths, open or closed loop",
    "drop": "drop a body or a robot and compare with the closed form",
    "dynamics": "check that a robot has the same dynamics in every library",
    "grasp": "carry a cube between two fingers along a path",
    "hold": "hold any robot at its home pose: does it stand?",
    "league": "compare engines and their versions: checks, error, speed",
    "pick": "drive to a table, grasp, lift and hold objects",
    "reach-compare": "compare base placement methods with published results",
    "reach-follow": "plan the motion of a mobile base along a tool trajectory",
    "reach-place": "find the best base pose for a set of tool poses",
    "slide": "slide boxes in all directions, compared with Coulomb friction",
    "try": "try any robot on all engines, in one report",
    "walk": "walk a quadruped with pantograph legs, planned or in physics",
}
"""The help of the built-in studies, which are not imported for the list."""

COMMANDS: dict[str, Command] = {
    "robots": Command("list the robots of the catalogue", _in_module("robots")),
    "inspect": Command("check a robot file and show its contents", _in_module("inspect")),
    "roles": Command("show the arms, grippers, wheels and legs of a robot", _in_module("roles")),
    "convert": Command("convert a robot to URDF or MJCF", _in_module("convert")),
    "engines": Command("list the physics engines and their capabilities", _in_module("engines")),
    "conformance": Command("test physics engines against closed forms", _in_module("conformance")),
    "batch": Command("run many cases of a study from a TOML file", _of_results("batch")),
    "sweep": Command("run a study over grids, pairs or samples of values", _in_module("sweep")),
    "resume": Command("resume an interrupted study or batch", _of_results("resume")),
    "runs": Command("list or verify the runs in a folder", _of_results("runs")),
    "report": Command("rewrite the report of a finished folder", _of_results("report")),
    "export": Command("export runs as MCAP, ROS 2 bag, CSV, Parquet, npz", _in_module("export")),
    "compare": Command("compare the results of two folders", _of_results("compare")),
    "compare-engines": Command(
        "compare all engines at grasping and driving, and rate them",
        _in_module("compare_engines"),
    ),
    "reach": Command("build reachability maps and place robot bases", _of_reach),
    "studio": Command("view runs in the browser, in 3-D", _in_module("studio")),
    "dock-serve": Command(
        "serve the docking controller to a robot by UDP (RSI)", _in_module("dock_serve")
    ),
    "completion": Command("print a shell completion script", _in_module("completion")),
}
