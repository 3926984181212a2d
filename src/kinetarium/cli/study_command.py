"""The command of a study: its flags are the study's config and how to run it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, make_dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from kinetarium.batch.studies import open_study
from kinetarium.cli.arguments import flag_value
from kinetarium.cli.execution import ExecutionFlags, execute, finish, free_folder
from kinetarium.cli.provenance import Invocation, Run


@dataclass(frozen=True, kw_only=True)
class _Files:
    """Where values come from and results go.

    Attributes:
        out: Folder of the results; a new one in ./out if not given. One that holds the
            same run is gone on with.
        config: Take the values from a config.toml or a finished folder; flags beside it win.
    """

    out: Annotated[str, tyro.conf.arg(metavar="DIR", help_behavior_hint="")] = ""
    config: Annotated[str, tyro.conf.arg(metavar="FILE|DIR", help_behavior_hint="")] = ""


def study_command(name: str, words: Sequence[str]) -> tuple[type, Run]:
    """Give the flags and the function of a study's command.

    Args:
        name: The study.
        words: The words after the command; a --config among them sets the defaults.

    Raises:
        KinetariumError: If the config cannot be read.
    """
    from kinetarium.batch.plan import Plan

    study = open_study(name)
    source = flag_value("--config", words)
    default = _config_from(Path(source), study=name) if source else study.config()
    bare = tyro.conf.arg(name="")
    arguments = make_dataclass(
        "Arguments",
        [
            ("study", Annotated[study.config, bare], field(default=default)),
            ("files", Annotated[_Files, bare], field(default=_Files())),
            ("execution", Annotated[ExecutionFlags, bare], field(default=ExecutionFlags())),
        ],
        frozen=True,
    )

    def run(chosen: Any, invocation: Invocation) -> int:
        out = Path(chosen.files.out) if chosen.files.out else free_folder(name)
        plan = Plan.of(study, chosen.study)
        return finish(execute(plan, invocation, out=out, flags=chosen.execution), invocation)

    return arguments, run


def _config_from(path: Path, *, study: str) -> Any:
    from kinetarium.batch.plan import Plan, PlanError

    plan = Plan.read(path)
    if plan.study.name != study:
        raise PlanError(f"'{path}' is of the study '{plan.study.name}', not '{study}'")
    return plan.single
