"""`kinetarium resume`: resume an interrupted study or batch."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from kinetarium.cli.core.execution import ExecutionFlags, execute, finish
from kinetarium.cli.core.invocation import Invocation


@dataclass(frozen=True, kw_only=True)
class Config(ExecutionFlags):
    """The folder to resume.

    Attributes:
        folder: Result folder of a study or batch; finished cases are skipped.
    """

    folder: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="DIR")]


def run(config: Config, invocation: Invocation) -> int:
    """Run the cases that are missing, and write the report."""
    from kinetarium.batch.plan import Plan
    from kinetarium.recording.result_folder import CONFIG, ResultFolderError

    # Anything else that is missing is created again.
    if not (config.folder / CONFIG).is_file():
        raise ResultFolderError(f"'{config.folder}' is not a result folder: no {CONFIG}")
    plan = Plan.read(config.folder)
    return finish(*execute(plan, invocation, out=config.folder, flags=config), invocation)
