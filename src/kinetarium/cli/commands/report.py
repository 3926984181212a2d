"""`kinetarium report`: rewrite the report of a finished folder."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from kinetarium.cli.core.invocation import Invocation


@dataclass(frozen=True, kw_only=True)
class Config:
    """The folder whose report is written.

    Attributes:
        folder: Result folder of a study or batch.
    """

    folder: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="DIR")]


def run(config: Config, invocation: Invocation) -> int:
    """Summarise the folder, and write the report and its figures."""
    from kinetarium.batch.study import open_study
    from kinetarium.batch.sweep import findings_of
    from kinetarium.cli.core.execution import finish, show
    from kinetarium.recording.result_folder import ResultFolder, ResultFolderError
    from kinetarium.report.html.files import write_study_report

    folder = ResultFolder.open(config.folder)
    if not folder.is_finished:
        raise ResultFolderError(
            f"'{folder.path}' is not finished; resume with: kinetarium resume {folder.path}"
        )
    study = open_study(folder.config["study"])
    findings = findings_of(folder, study)
    with folder.writing():
        write_study_report(folder, study, findings)
    show(folder, findings, invocation)
    return finish(folder, findings, invocation)
