"""`kinetarium batch`: run many cases of a study from a file."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from kinetarium.cli.core.execution import ExecutionFlags, execute, finish, free_folder
from kinetarium.cli.core.invocation import Invocation


@dataclass(frozen=True, kw_only=True)
class Config(ExecutionFlags):
    """What to run, and how.

    Attributes:
        file: The batch, a TOML file: study = "NAME", values for all cases under [config],
            lists of values to combine under [grid], single cases under [[case]].
        out: Folder of the results; a new one in ./out if not given.
    """

    file: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="FILE.toml")]
    out: Annotated[str, tyro.conf.arg(metavar="DIR", help_behavior_hint="")] = ""


def run(config: Config, invocation: Invocation) -> int:
    """Run every case of the file."""
    from kinetarium.batch.plan import Plan

    plan = Plan.read(config.file)
    out = Path(config.out) if config.out else free_folder(plan.study.name)
    return finish(execute(plan, invocation, out=out, flags=config), invocation)
