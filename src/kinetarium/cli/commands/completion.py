"""`kinetarium completion`: print a shell completion script."""

from dataclasses import dataclass
from enum import StrEnum

import tyro

from kinetarium.cli.core.arguments import check_flags, completion_script
from kinetarium.cli.core.invocation import Invocation
from kinetarium.cli.core.registry import COMMANDS, Command, studies
from kinetarium.errors import KinetariumError
from kinetarium.plugins import running_plugin


class Shell(StrEnum):
    """The supported shells."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


@dataclass(frozen=True, slots=True)
class Config:
    """The shell.

    Attributes:
        shell: Shell to complete in; enable with: source <(kinetarium completion bash)
    """

    shell: tyro.conf.Positional[Shell]


@dataclass(frozen=True, slots=True)
class _NoFlags:
    """The flags of a study that cannot be loaded."""


def run(config: Config, invocation: Invocation) -> None:
    """Print the script."""
    commands = {**studies(), **COMMANDS}
    configs = {name: _config(command) for name, command in commands.items()}
    script = completion_script(config.shell, configs=configs)
    invocation.console.text(script)
    invocation.console.result({"shell": config.shell, "script": script})


def _config(command: Command) -> type:
    """Return the config of a command, an empty one if another package's study is broken."""
    if command.own:
        return command.load(())[0]
    try:
        with running_plugin():
            config = command.load(())[0]
            check_flags(config)
    except KinetariumError:
        return _NoFlags
    return config
