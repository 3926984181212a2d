"""`kinetarium inspect`: check robot files and show their contents."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from kinetarium.cli.core.arguments import UsageError
from kinetarium.cli.core.invocation import Invocation
from kinetarium.cli.core.robot_flags import ReadingFlags
from kinetarium.errors import KinetariumError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kinetarium.cli.core.findings import Finding
    from kinetarium.model.diagnostics import Implausibility
    from kinetarium.model.robot import RobotModel


class Format(StrEnum):
    """The output formats."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    JUNIT = "junit"
    GITHUB = "github"


@dataclass(frozen=True, kw_only=True)
class Config(ReadingFlags):
    """The robots to inspect.

    Attributes:
        robot: Names of robots in the catalogue, or URDF, xacro or MJCF files.
        strict: Exit with 1 on any repair or warning.
        format: Output format; sarif, junit and github are for continuous integration.
    """

    robot: Annotated[
        tyro.conf.Positional[tuple[str, ...]],
        tyro.conf.arg(metavar="FILE|NAME ...", help_behavior_hint=""),
    ] = ()
    strict: bool = False
    format: Format = Format.TEXT


def run(config: Config, invocation: Invocation) -> int:
    """Load the robots and show kinematic tree, moving joints and repairs, or the findings."""
    if not config.robot:
        raise UsageError("inspect needs a robot, FILE|NAME (see: kinetarium inspect --help)")
    if config.format is not Format.TEXT and not invocation.console.speaks:
        raise UsageError("--format writes to standard output: it excludes --quiet and --json -")
    payloads: list[dict[str, Any]] = []
    findings: list[Finding] = []
    code = 0
    for robot in config.robot:
        try:
            model = config.load_robot(robot)
        except KinetariumError as error:
            if config.format is Format.TEXT and len(config.robot) == 1:
                raise
            code = 2
            found, payload = _refused(error, robot, config, invocation)
        else:
            found, payload = _accepted(model, config, invocation)
            if config.strict and found:
                code = code or 1
        findings += found
        payloads.append(payload)
    ok = all(payload["ok"] for payload in payloads)
    payload = payloads[0] if len(payloads) == 1 else {"ok": ok, "robots": payloads}
    _report(findings, payload, config, invocation)
    invocation.console.result(payload)
    return code


def _refused(
    error: KinetariumError, robot: str, config: Config, invocation: Invocation
) -> tuple[list["Finding"], dict[str, Any]]:
    from kinetarium.cli.core.console import failure_lines, failure_payload
    from kinetarium.cli.core.findings import of_error

    if config.format is Format.TEXT:
        for line in failure_lines(error):
            invocation.console.error(line)
    return of_error(error, robot), failure_payload(error)


def _accepted(
    model: "RobotModel", config: Config, invocation: Invocation
) -> tuple[list["Finding"], dict[str, Any]]:
    from kinetarium.cli.core.findings import Level, of_implausibilities, of_repairs
    from kinetarium.cli.core.robot_flags import robot_payload
    from kinetarium.model.plausibility import find_implausibilities
    from kinetarium.storage.serialization import to_builtins

    file, warnings = model.source.file, find_implausibilities(model)
    findings = [
        *of_repairs(model.repairs, Level.ERROR if config.strict else Level.NOTE),
        *of_implausibilities(warnings, Level.ERROR if config.strict else Level.WARNING, file=file),
    ]
    if config.format is Format.TEXT:
        _show(model, warnings, invocation)
        if config.strict and findings:
            invocation.console.error(
                f"kinetarium: {file}: {len(findings)} repairs or warnings (--strict)"
            )
    return findings, {
        "ok": not (config.strict and findings),
        "robot": robot_payload(model),
        "repairs": to_builtins(model.repairs),
        "warnings": to_builtins(warnings),
    }


def _report(
    findings: list["Finding"], payload: dict[str, Any], config: Config, invocation: Invocation
) -> None:
    """Print the findings of all robots in a format for programs."""
    from kinetarium.cli.core.findings import github, junit, sarif

    match config.format:
        case Format.JSON:
            from kinetarium.storage.strict_json import strict_json

            invocation.console.text(strict_json(payload) + "\n")
        case Format.SARIF:
            from importlib.metadata import version

            invocation.console.text(sarif(findings, version=version("kinetarium")))
        case Format.JUNIT:
            invocation.console.text(junit(findings, robots=config.robot))
        case Format.GITHUB:
            invocation.console.text(github(findings))
        case Format.TEXT:
            pass


def _show(
    model: "RobotModel", warnings: "Sequence[Implausibility]", invocation: Invocation
) -> None:
    from kinetarium.figure.robot_page import joint_tables, repair_table
    from kinetarium.figure.text import Table, header

    console = invocation.console
    doubts = Table(
        "Warnings",
        header("line | where | implausible | to check | code"),
        tuple((one.line, one.where, one.message, one.remedy, str(one.code)) for one in warnings),
    )
    console.line(_headline(model, warnings))
    console.line()
    console.tree(_tree(model))
    for table in (*joint_tables(model), repair_table(model), doubts):
        if table.rows:
            console.line()
            console.table(table)


def _headline(model: "RobotModel", warnings: "Sequence[Implausibility]") -> str:
    from kinetarium.figure.text import cell_text

    counts = [
        f"{len(model.links)} links",
        f"{len(model.joints)} joints ({len(model.moving_joints)} moving)",
        *([f"{len(model.loops)} loops"] if model.loops else []),
        f"{cell_text(model.mass)} kg",
        "free base" if model.free_base else "fixed base",
        f"{len(model.repairs)} repaired" if model.repairs else "nothing repaired",
        *([f"{len(warnings)} implausible"] if warnings else []),
    ]
    return f"{model.name}: {', '.join(counts)}"


def _tree(model: "RobotModel") -> list[tuple[int, str]]:
    """Return depth and text of every link; the model's order is depth first already."""
    from kinetarium.figure.text import cell_text

    depth = {model.root: 0}
    nodes: list[tuple[int, str]] = []
    for link in model.links:
        joint = model.parent_joint.get(link.name)
        if joint:
            depth[link.name] = depth[joint.parent] + 1
        mass = f"{cell_text(link.inertia.mass)} kg" if link.inertia else "massless"
        by = f"  by {joint.name}, {joint.type}" if joint else ""
        nodes.append((depth[link.name], f"{link.name}  ({mass}){by}"))
    return nodes
