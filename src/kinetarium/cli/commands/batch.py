"""`kinetarium batch`: run many cases of a study from a TOML file."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from kinetarium.cli.core.execution import ExecutionFlags, execute, finish, free_folder
from kinetarium.cli.core.invocation import Invocation


@dataclass(frozen=True, kw_only=True)
class Config(ExecutionFlags):
    """The batch and how it is run.

    Attributes:
        file: Batch file (TOML): study = "NAME", values for all cases under [config],
            lists of values to combine under [grid], single cases under [[case]].
        out: Output folder; a new folder in ./out by default.
    """

    file: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="FILE.toml")]
    out: Annotated[str, tyro.conf.arg(metavar="DIR")] = ""


def run(config: Config, invocation: Invocation) -> int:
    """Run every case of the file."""
    from kinetarium.batch.plan import Plan

    plan = Plan.read(config.file)
    out = Path(config.out) if config.out else free_folder(plan.study.name)
    return finish(*execute(plan, invocation, out=out, flags=config), invocation)
