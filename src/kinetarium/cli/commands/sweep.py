"""sweep: run a study over the axes of a TOML file, on this machine or a cluster."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from kinetarium.cli.core.execution import (
    ExecutionFlags,
    cluster_settings,
    execute,
    finish,
    free_folder,
)
from kinetarium.cli.core.invocation import Invocation

if TYPE_CHECKING:
    from kinetarium.batch.plan import Plan


@dataclass(frozen=True, kw_only=True)
class Config(ExecutionFlags):
    """The sweep and how it is run.

    Attributes:
        file: Sweep file (TOML): study = "NAME", values for all cases under [config], axes under
            [grid], [zip], [random] and [latin], what the report shows under [sweep].
        out: Output folder; a new folder in ./out by default. A folder of the same sweep is
            resumed.
        count: Print the number of cases and what is varied, and run nothing.
        job_script: Print the script that would be submitted to the queue of --cluster, and run
            nothing.
    """

    file: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="FILE.toml")]
    out: Annotated[str, tyro.conf.arg(metavar="DIR")] = ""
    count: bool = False
    job_script: bool = False


def run(config: Config, invocation: Invocation) -> int:
    """Run every case of the file, and write the table and the report of the sweep."""
    from kinetarium.batch.plan import Plan

    plan = Plan.read(config.file).as_sweep()
    if config.job_script:
        from kinetarium.batch.cluster.connection import job_script

        script = job_script(cluster_settings(config))
        invocation.console.text(script)
        invocation.console.result({"ok": True, "job_script": script})
        return 0
    if config.count:
        return _count(plan, invocation)
    out = Path(config.out) if config.out else free_folder(f"{plan.study.name}-sweep")
    return finish(*execute(plan, invocation, out=out, flags=config), invocation)


def _count(plan: "Plan", invocation: Invocation) -> int:
    """Print the axes of a plan and the number of values of each."""
    from kinetarium.figure.text import Table, header

    varied = plan.varied_tasks()
    rows = []
    for axis in plan.axes:
        values = list(dict.fromkeys(str(point.get(axis)) for _, point in varied))
        shown = ", ".join(values[:_MOST_SHOWN]) + (", ..." if len(values) > _MOST_SHOWN else "")
        rows.append((axis, len(values), shown))
    invocation.console.table(Table("", header("axis | values | which"), tuple(rows)))
    invocation.console.line(f"{len(varied)} cases of the study '{plan.study.name}'")
    invocation.console.result({"ok": True, "cases": len(varied), "axes": list(plan.axes)})
    return 0


_MOST_SHOWN = 5
