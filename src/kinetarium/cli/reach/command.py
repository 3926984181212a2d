"""`kinetarium reach ACTION`: maps of what a robot reaches, and where its base stands best."""

from collections.abc import Sequence
from dataclasses import make_dataclass
from functools import reduce
from importlib import import_module
from operator import or_
from typing import Annotated, Any

import tyro

from kinetarium.cli.core.arguments import parse_arguments
from kinetarium.cli.core.invocation import Invocation, Run
from kinetarium.errors import UnknownNameError

ACTIONS = {
    "build": "build a map of what a robot reaches",
    "info": "say what a map is",
    "verify": "compare a map with its hashes",
    "slice": "say where a base may stand to reach one pose",
    "place": "find the base for a set of poses",
    "follow": "drive a base along while its arm follows a trajectory",
    "compare": "compare ways to choose a base, beside the published numbers",
}


def load(words: Sequence[str]) -> tuple[type, Run]:
    """Return the flags and the function of an action.

    Args:
        words: The words after the command, the first of which names the action.

    Raises:
        UnknownNameError: If there is no such action.
        SystemExit: After an action's help was printed, where it was asked for.
    """
    action = words[0] if words else ""
    if action in ACTIONS:
        module = _module(action)
        if {"-h", "--help"} & set(words):
            name, help = f"reach {action}", ACTIONS[action]
            parse_arguments(["--help"], command=name, config=module.Config, help=help)
        bare = tyro.conf.arg(name="")
        arguments = make_dataclass(
            "Arguments",
            [
                ("action", tyro.conf.Positional[str]),
                ("chosen", Annotated[module.Config, bare]),
            ],
            frozen=True,
        )
        return arguments, lambda config, invocation: module.run(config.chosen, invocation)
    if action and not action.startswith("-"):
        raise UnknownNameError("action", action, known=ACTIONS)
    return _overview(), _run_chosen


def _overview() -> type:
    """Return a config of all actions, for the help and for shells to complete."""
    choices: Any = reduce(
        or_,
        (
            Annotated[
                _module(action).Config,
                tyro.conf.subcommand(action, description=help, prefix_name=False),
            ]
            for action, help in ACTIONS.items()
        ),
    )
    bare = tyro.conf.arg(name="")
    return make_dataclass("Overview", [("chosen", Annotated[choices, bare])], frozen=True)


def _run_chosen(config: Any, invocation: Invocation) -> int | None:
    """Run the action whose flags were read, where flags of all commands came before it."""
    run: Run = import_module(type(config.chosen).__module__).run
    return run(config.chosen, invocation)


def _module(action: str) -> Any:
    return import_module(f"kinetarium.cli.reach.{action}")
