"""`kinetarium completion`: teach a shell the commands and flags."""

from dataclasses import dataclass
from enum import StrEnum

import tyro

from kinetarium.cli.arguments import completion_script
from kinetarium.cli.commands import COMMANDS, Invocation, studies


class Shell(StrEnum):
    """The shells that a script can be written for."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


@dataclass(frozen=True, slots=True)
class Config:
    """What to write.

    Attributes:
        shell: The shell. Use it as in: source <(kinetarium completion bash)
    """

    shell: tyro.conf.Positional[Shell]


def run(config: Config, invocation: Invocation) -> None:
    """Print the script."""
    commands = {**COMMANDS, **studies()}
    configs = {name: command.load(())[0] for name, command in commands.items()}
    script = completion_script(config.shell, configs=configs)
    invocation.console.text(script)
    invocation.console.result({"shell": config.shell, "script": script})
